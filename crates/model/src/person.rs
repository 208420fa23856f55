//! A person: who they are, how to reach them and what they do now. What is new about a person
//! either makes a record, fills the gaps of the one that it matches, or patches it.

use crate::company::read_company_name;
use crate::contact::{Channel, Contacts, ContactsPatch, EMAIL_FIELDS, PHONE_FIELDS, too_many};
use crate::id::{self, CompanyId, PersonId};
use crate::input::{Fields, Reference};
use crate::name::PersonName;
use crate::patch::Patch;
use crate::problem::{FieldError, FieldErrorCode, Problem};
use crate::social::SocialProfile;
use crate::text::{Lines, limit};

/// What is kept of a person, beside career history and notes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    pub id: PersonId,
    pub name: PersonName,
    pub social: SocialProfile,
    pub current_job_title: String,
    pub company_id: Option<CompanyId>,
    pub social_location: String,
    pub social_headline: String,
    pub address: String,
    pub external_source_id: Option<String>,
    pub emails: Contacts,
    pub phones: Contacts,
}

/// What a create says of the job or the client that the person belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Association {
    pub job_id: Option<Reference<id::Job>>,
    pub job_name: Option<String>,
    pub client_id: Option<Reference<id::Company>>,
    pub client_name: Option<String>,
}

/// The person that a create describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPerson {
    pub name: PersonName,
    pub social: SocialProfile,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub social_location: String,
    pub external_source_id: Option<String>,
    pub emails: Contacts,
    pub phones: Contacts,
    pub notes: Option<String>,
    pub association: Association,
    /// Whether more about them is to be asked for.
    pub enrich: bool,
    /// What was not valid and left out, if that is to be done.
    pub dropped: Vec<FieldError>,
}

impl NewPerson {
    /// The fields that both versions of the interface share; how contacts are written differs.
    pub fn read(
        fields: &mut Fields<'_>,
        on_invalid: OnInvalid,
        contacts: impl FnOnce(&mut Fields<'_>) -> (Contacts, Contacts),
    ) -> Self {
        let ((name, social, emails, phones), is_clean) = fields.is_clean(|fields| {
            let mut part = |name| fields.text(name, limit::NAME).unwrap_or_default();
            let name = PersonName::complete(part("name"), part("first_name"), part("last_name"));
            fields.tolerate(on_invalid == OnInvalid::Drop);
            let social =
                fields.parsed("social_url", limit::URL, SocialProfile::parse).unwrap_or_default();
            let (emails, phones) = contacts(fields);
            fields.tolerate(false);
            (name, social, emails, phones)
        });
        let name =
            if name.whole.is_empty() { name_in_place_of(&social, &emails, &phones) } else { name };
        if name.whole.is_empty() && is_clean {
            fields.refuse("name", FieldErrorCode::Required, NAME_NEEDED);
        }
        let current_job_title = fields.text("current_job_title", limit::NAME).unwrap_or_default();
        let social_location = fields.text("social_location", limit::NAME).unwrap_or_default();
        let company_name = read_company_name(fields, "company_name");
        let notes = fields.lines("notes", limit::NOTE, Lines::Many);
        let association = Association {
            job_id: fields.id("job_id"),
            job_name: fields.text("job_name", limit::NAME),
            client_name: read_company_name(fields, "client_name"),
            client_id: fields.id("client_id"),
        };
        let external_source_id = fields.text("external_source_id", limit::NAME);
        Self {
            name,
            social,
            current_job_title,
            company_name,
            social_location,
            external_source_id,
            emails,
            phones,
            notes,
            association,
            enrich: false,
            dropped: fields.take_dropped(),
        }
    }

    #[must_use]
    pub fn into_person(self, id: PersonId, company_id: Option<CompanyId>) -> Person {
        Person {
            id,
            name: self.name,
            social: self.social,
            current_job_title: self.current_job_title,
            company_id,
            social_location: self.social_location,
            social_headline: String::new(),
            address: String::new(),
            external_source_id: self.external_source_id,
            emails: self.emails,
            phones: self.phones,
        }
    }
}

const NAME_TO_STAY: &str = "cannot be cleared without first_name, last_name, social_url, an e-mail \
    address or a phone number to replace it";
const NAME_NEEDED: &str = "is required unless first_name, last_name, social_url, an e-mail address \
    or a phone number is given";

/// What a person is called of whom nobody said how: by their handle, else an address, else a
/// number. Empty if there is nothing.
pub fn name_in_place_of(
    social: &SocialProfile,
    emails: &Contacts,
    phones: &Contacts,
) -> PersonName {
    let contacts =
        emails.entries().iter().chain(phones.entries()).map(|contact| contact.value.as_str());
    let known_as = Some(social.handle.as_str())
        .filter(|handle| !handle.is_empty())
        .into_iter()
        .chain(contacts)
        .next();
    PersonName::stand_in(known_as.unwrap_or_default())
}

impl Person {
    /// Fills what is empty here from `new` and unites the contacts; nothing that is known is
    /// overwritten. True if anything changed.
    pub fn fill_from(
        &mut self,
        new: &NewPerson,
        company_id: Option<CompanyId>,
    ) -> Result<bool, Problem> {
        let mut changed = false;
        if !self.name.is_known() && new.name.is_known() {
            self.name = new.name.clone();
            changed = true;
        }
        if self.social.handle.is_empty() && !new.social.handle.is_empty() {
            self.social = new.social.clone();
            changed = true;
        }
        changed |= fill(&mut self.current_job_title, &new.current_job_title);
        changed |= fill(&mut self.social_location, &new.social_location);
        if self.company_id.is_none() && company_id.is_some() {
            self.company_id = company_id;
            changed = true;
        }
        if self.external_source_id.is_none() && new.external_source_id.is_some() {
            self.external_source_id.clone_from(&new.external_source_id);
            changed = true;
        }
        changed |= self.emails.unite(&new.emails);
        changed |= self.phones.unite(&new.phones);
        for (field, contacts) in [("emails", &self.emails), ("phone_numbers", &self.phones)] {
            if contacts.entries().len() > limit::CONTACTS {
                return Err(Problem::invalid(
                    field,
                    FieldErrorCode::TooMany,
                    format!("{}, including those that {} already has", too_many(), self.id),
                ));
            }
        }
        Ok(changed)
    }

    /// The identifiers by which this person is found again.
    pub fn identifiers(&self) -> Vec<Identifier> {
        identifiers(self.external_source_id.as_deref(), &self.social, &self.emails)
    }
}

fn fill(field: &mut String, value: &str) -> bool {
    let fills = field.is_empty() && !value.is_empty();
    if fills {
        value.clone_into(field);
    }
    fills
}

/// What points at one person, in the order in which it is tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IdentifierKind {
    ExternalSource = 1,
    SocialProfile = 2,
    Email = 3,
}

impl IdentifierKind {
    /// The kind that is kept under that number.
    #[must_use]
    pub fn of_number(number: i64) -> Option<Self> {
        [Self::ExternalSource, Self::SocialProfile, Self::Email]
            .into_iter()
            .find(|kind| *kind as i64 == number)
    }

    /// The field of a request in which it stands.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::ExternalSource => "external_source_id",
            Self::SocialProfile => "social_url",
            Self::Email => "emails",
        }
    }

    /// As which it is told by what somebody was matched.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExternalSource => "external_source_id",
            Self::SocialProfile => "social_url",
            Self::Email => "email",
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Identifier {
    pub kind: IdentifierKind,
    pub key: String,
}

impl Identifier {
    /// The identifier for people to read: a profile as its network and handle.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.key.rsplit_once('/') {
            Some((handle, network)) if self.kind == IdentifierKind::SocialProfile => {
                format!("{network}/{handle}")
            }
            _ => self.key.clone(),
        }
    }
}

pub fn identifiers(
    external_source_id: Option<&str>,
    social: &SocialProfile,
    emails: &Contacts,
) -> Vec<Identifier> {
    let mut found = Vec::with_capacity(2 + emails.entries().len());
    if let Some(key) = external_source_id {
        found.push(Identifier { kind: IdentifierKind::ExternalSource, key: key.to_owned() });
    }
    let identity = social.identity();
    if !identity.is_empty() {
        found.push(Identifier { kind: IdentifierKind::SocialProfile, key: identity });
    }
    found.extend(emails.keys().map(|key| Identifier { kind: IdentifierKind::Email, key }));
    found
}

/// `enrich_record`: whether more about the person is to be asked for.
pub fn read_enrichment(fields: &mut Fields<'_>) -> bool {
    fields.flag("enrich_record")
}

/// What a create does when it matches a person who is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnDuplicate {
    #[default]
    Merge,
    Error,
    Create,
}

impl OnDuplicate {
    pub const NAMES: &'static str = "merge, error or create";

    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        match written {
            "merge" => Some(Self::Merge),
            "error" => Some(Self::Error),
            "create" => Some(Self::Create),
            _ => None,
        }
    }
}

/// What a create does with a contact or a URL that is not valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnInvalid {
    #[default]
    Refuse,
    /// Leaves it out, says so, and keeps the rest.
    Drop,
}

impl OnInvalid {
    pub const NAMES: &'static str = "refuse or drop";

    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        match written {
            "refuse" => Some(Self::Refuse),
            "drop" => Some(Self::Drop),
            _ => None,
        }
    }
}

/// What an update says of a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonPatch {
    pub name: Patch<String>,
    pub first_name: Patch<String>,
    pub last_name: Patch<String>,
    pub social: Patch<SocialProfile>,
    pub current_job_title: Patch<String>,
    pub company_name: Patch<String>,
    pub social_location: Patch<String>,
    pub social_headline: Patch<String>,
    pub address: Patch<String>,
    pub emails: ContactsPatch,
    pub phones: ContactsPatch,
    pub job_id: Option<Reference<id::Job>>,
    /// Whether more about them is to be asked for.
    pub enrich: bool,
}

impl PersonPatch {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            enrich: read_enrichment(fields),
            social: fields.patch_parsed("social_url", limit::URL, SocialProfile::parse),
            emails: ContactsPatch::read(fields, Channel::Email, "emails", &EMAIL_FIELDS),
            phones: ContactsPatch::read(fields, Channel::Phone, "phone_numbers", &PHONE_FIELDS),
            name: fields.patch_line("name", limit::NAME),
            first_name: fields.patch_line("first_name", limit::NAME),
            last_name: fields.patch_line("last_name", limit::NAME),
            current_job_title: fields.patch_line("current_job_title", limit::NAME),
            company_name: fields.patch_line("company_name", limit::NAME),
            social_location: fields.patch_line("social_location", limit::NAME),
            social_headline: fields.patch_line("social_headline", limit::NAME),
            address: fields.patch_text("address", limit::ADDRESS, Lines::Many),
            job_id: fields.id("job_id"),
        }
    }

    /// Brings all but the company, the job and the wish for more into the person. True if anything
    /// changed.
    pub fn apply(&self, person: &mut Person) -> Result<bool, Problem> {
        let before = person.clone();
        self.social.apply(&mut person.social);
        self.current_job_title.apply(&mut person.current_job_title);
        self.social_location.apply(&mut person.social_location);
        self.social_headline.apply(&mut person.social_headline);
        self.address.apply(&mut person.address);
        self.emails.apply(&mut person.emails);
        self.phones.apply(&mut person.phones);
        for (field, contacts) in [("emails", &person.emails), ("phone_numbers", &person.phones)] {
            if contacts.entries().len() > limit::CONTACTS {
                return Err(Problem::invalid(field, FieldErrorCode::TooMany, too_many()));
            }
        }
        person.name = before.name.patched(&self.name, &self.first_name, &self.last_name);
        if person.name.whole.is_empty() {
            person.name = name_in_place_of(&person.social, &person.emails, &person.phones);
        }
        if person.name.whole.is_empty() {
            return Err(Problem::invalid("name", FieldErrorCode::Required, NAME_TO_STAY));
        }
        Ok(*person != before)
    }
}
