//! Persons in the model: made, found again, changed, listed and erased.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::answers::{Outcome, Page, Query, Refusal, message, record};
use super::contacts::{Channel, Contacts, EMAIL_ENTRIES, PHONE_ENTRIES};
use super::fields::{Form, Patch, check, full_url, handle, network, patch, text};
use super::learned::{number, placeholder};
use super::names::Name;
use super::notes::Note;
use super::world::World;

#[derive(Clone, PartialEq)]
pub struct Person {
    pub name: Name,
    pub social_url: String,
    pub title: String,
    pub company: Option<u64>,
    pub location: String,
    pub headline: String,
    pub address: String,
    pub external: Option<String>,
    pub emails: Contacts,
    pub phones: Contacts,
    pub created: String,
    pub updated: String,
    pub notes: BTreeMap<u64, Note>,
    /// Deleted notes: kept answers that name them go with the person.
    pub former_notes: Vec<u64>,
}

/// The field of a request, and the value in the form in which it is compared.
pub type Identifier = (&'static str, String);

const CREATED: &[(&str, Form)] = &[
    ("name", Form::Line),
    ("first_name", Form::Line),
    ("last_name", Form::Line),
    ("social_url", Form::Url),
    ("current_job_title", Form::Line),
    ("social_location", Form::Line),
    ("company_name", Form::Line),
    ("emails", Form::List(&Form::Email)),
    ("work_email", Form::Email),
    ("personal_email", Form::Email),
    ("phone_numbers", Form::List(&Form::Phone)),
    ("mobile_phone", Form::Phone),
    ("work_phone", Form::Phone),
    ("notes", Form::Text),
    ("job_id", Form::Line),
    ("external_source_id", Form::Line),
];

const UPDATED: &[(&str, Form)] = &[
    ("name", Form::Line),
    ("first_name", Form::Line),
    ("last_name", Form::Line),
    ("social_url", Form::Url),
    ("current_job_title", Form::Line),
    ("social_location", Form::Line),
    ("social_headline", Form::Line),
    ("address", Form::Text),
    ("company_name", Form::Line),
    ("emails", EMAIL_ENTRIES),
    ("work_email", Form::Email),
    ("personal_email", Form::Email),
    ("phone_numbers", PHONE_ENTRIES),
    ("mobile_phone", Form::Phone),
    ("work_phone", Form::Phone),
    ("job_id", Form::Line),
];

impl Person {
    /// The person that a create describes, without a company.
    fn new(body: &Value) -> Self {
        let line = |field: &str| text(body, field).unwrap_or_default();
        let mut person = Self {
            name: Name::given(&line("name"), &line("first_name"), &line("last_name")),
            social_url: full_url(&line("social_url")),
            title: line("current_job_title"),
            company: None,
            location: line("social_location"),
            headline: String::new(),
            address: String::new(),
            external: text(body, "external_source_id"),
            emails: Contacts::new(Channel::Emails, body),
            phones: Contacts::new(Channel::Phones, body),
            created: String::new(),
            updated: String::new(),
            notes: BTreeMap::new(),
            former_notes: Vec::new(),
        };
        person.name_by_what_is_known();
        person
    }

    /// A handle, an address or a number stands in for a name that nobody gave.
    fn name_by_what_is_known(&mut self) {
        if self.name.whole.is_empty() {
            let handle = Some(self.handle()).filter(|handle| !handle.is_empty());
            let contact =
                self.emails.values().chain(self.phones.values()).next().map(str::to_owned);
            self.name = Name::standing_in(&handle.or(contact).unwrap_or_default());
        }
    }

    fn handle(&self) -> String {
        handle(&self.social_url).unwrap_or_default()
    }

    /// All identifiers, in the order in which a create tries them.
    fn identifiers(&self) -> Vec<Identifier> {
        let external = self.external.clone().map(|id| ("external_source_id", id));
        let handle = Some(self.handle()).filter(|handle| !handle.is_empty());
        let handle =
            handle.map(|handle| ("social_url", format!("{handle}/{}", network(&self.social_url))));
        let emails = self.emails.values().map(|email| ("emails", email.to_lowercase()));
        external.into_iter().chain(handle).chain(emails).collect()
    }

    /// Whether this is somebody else than the person whom an identifier in that field found.
    fn is_somebody_else(&self, found_by: &str, other: &Self) -> bool {
        let differs_outside =
            self.external.is_some() && other.external.is_some() && self.external != other.external;
        let [one, another] =
            [self, other].map(|person| (person.handle(), network(&person.social_url)));
        let differs_on_a_network =
            !one.0.is_empty() && !another.0.is_empty() && one.1 == another.1 && one.0 != another.0;
        match found_by {
            "external_source_id" => false,
            "social_url" => differs_outside,
            _ => differs_outside || differs_on_a_network,
        }
    }

    fn fill_from(&mut self, new: &Self) {
        if !self.name.is_known() && new.name.is_known() {
            self.name = new.name.clone();
        }
        if self.social_url.is_empty() {
            new.social_url.clone_into(&mut self.social_url);
        }
        for (field, value) in [(&mut self.title, &new.title), (&mut self.location, &new.location)] {
            if field.is_empty() {
                value.clone_into(field);
            }
        }
        self.external = self.external.take().or_else(|| new.external.clone());
        self.emails.unite(&new.emails);
        self.phones.unite(&new.phones);
    }

    fn update(&mut self, body: &Value) -> Result<(), Refusal> {
        for (name, field) in [
            ("social_url", &mut self.social_url),
            ("current_job_title", &mut self.title),
            ("social_location", &mut self.location),
            ("social_headline", &mut self.headline),
            ("address", &mut self.address),
        ] {
            patch(body, name).apply(field);
        }
        self.social_url = full_url(&self.social_url);
        self.emails.update(body);
        self.phones.update(body);
        let [whole, first, last] =
            ["name", "first_name", "last_name"].map(|field| patch(body, field));
        self.name = self.name.patched(&whole, &first, &last);
        self.name_by_what_is_known();
        if self.name.whole.is_empty() { Err(Refusal::flaw("name", "REQUIRED")) } else { Ok(()) }
    }
}

impl World {
    pub fn person(&self, id: &str) -> Result<u64, Refusal> {
        match number("per", id) {
            Some(number) if self.persons.contains_key(&number) => Ok(number),
            Some(number) if self.erased.contains(&number) => Err(Refusal::new(410, "ERASED")),
            _ => Err(Refusal::not_found()),
        }
    }

    pub fn create_person(&mut self, query: &Query<'_>, body: &Value) -> Outcome {
        let on_duplicate =
            query.choice("on_duplicate", &["merge", "error", "create"])?.unwrap_or("merge");
        query.expect_only(&["on_duplicate"])?;
        check(body, CREATED)?;
        let new = Person::new(body);
        if new.name.whole.is_empty() {
            return Err(Refusal::flaw("name", "REQUIRED"));
        }
        let matched = self.matched(&new, on_duplicate)?;
        let job = self.job_in(body)?;
        let (status, number) = match matched {
            None => (201, self.make_person(new, body)),
            Some(number) => (200, self.add_to_person(number, &new, body)),
        };
        let candidate = job.map(|job| placeholder("cnd", self.put_on_job(number, job).0));
        record(status, self.created_person(number, candidate.as_deref()))
    }

    /// The person to whom all identifiers lead, but for those who are somebody else.
    fn matched(&self, new: &Person, on_duplicate: &str) -> Result<Option<u64>, Refusal> {
        let mut found: Vec<(u64, &str)> = Vec::new();
        let mut others = BTreeSet::new();
        let wanted = new.identifiers();
        for identifier in wanted.iter().filter(|_| on_duplicate != "create") {
            let Some(holder) = self.holder(identifier) else { continue };
            if found.iter().any(|(known, _)| *known == holder) || others.contains(&holder) {
                continue;
            }
            // What the one who was found first has too points at them.
            let has_it = |(first, _): &(u64, &str)| self.identifiers[identifier].contains(first);
            if new.is_somebody_else(identifier.0, &self.persons[&holder]) {
                others.insert(holder);
            } else if !found.first().is_some_and(has_it) {
                found.push((holder, identifier.0));
            }
        }
        let refuse = |code| {
            found.iter().fold(Refusal::new(409, code), |refusal, (holder, field)| {
                refusal.about(field, placeholder("per", *holder))
            })
        };
        match found.as_slice() {
            [] => Ok(None),
            [_] if on_duplicate == "error" => Err(refuse("DUPLICATE_PERSON")),
            [(holder, _)] => Ok(Some(*holder)),
            _ => Err(refuse("IDENTIFIER_CONFLICT")),
        }
    }

    fn holder(&self, identifier: &Identifier) -> Option<u64> {
        self.identifiers.get(identifier)?.first().copied()
    }

    fn make_person(&mut self, mut new: Person, body: &Value) -> u64 {
        new.company = text(body, "company_name").map(|name| self.find_or_make_company(&name));
        let number = self.next();
        new.created = self.moment();
        new.updated = new.created.clone();
        for identifier in new.identifiers() {
            self.identifiers.entry(identifier).or_default().push(number);
        }
        self.persons.insert(number, new);
        let note = text(body, "notes");
        if let Some(note) = &note {
            self.insert_note(number, note);
        }
        let mut after = self.person_fields(&self.persons[&number]);
        note.into_iter().for_each(|note| after["notes"] = json!(note));
        self.emit(
            "person.created",
            placeholder("per", number),
            Some(number),
            json!({ "before": {}, "after": after }),
        );
        number
    }

    /// Fills the empty fields of a person, and adds the note unless they have it.
    fn add_to_person(&mut self, number: u64, new: &Person, body: &Value) -> u64 {
        let before = self.persons[&number].clone();
        let mut after = before.clone();
        after.fill_from(new);
        after.company = after
            .company
            .or_else(|| text(body, "company_name").map(|name| self.find_or_make_company(&name)));
        let note = text(body, "notes")
            .filter(|note| before.notes.values().all(|known| known.body != *note));
        if after != before || note.is_some() {
            self.keep_person(number, &before, after.clone());
        }
        if let Some(note) = &note {
            self.insert_note(number, note);
        }
        let (was, mut is) = (self.person_fields(&before), self.person_fields(&after));
        note.into_iter().for_each(|note| is["notes"] = json!(note));
        self.emit_change("person.updated", placeholder("per", number), Some(number), &was, &is);
        number
    }

    /// Stores a changed person and their identifiers.
    fn keep_person(&mut self, number: u64, before: &Person, mut after: Person) {
        let (old, new) = (before.identifiers(), after.identifiers());
        for lost in old.iter().filter(|lost| !new.contains(lost)) {
            self.release(lost, number);
        }
        for gained in new.into_iter().filter(|gained| !old.contains(gained)) {
            self.identifiers.entry(gained).or_default().push(number);
        }
        after.updated = self.moment();
        self.persons.insert(number, after);
    }

    fn release(&mut self, identifier: &Identifier, number: u64) {
        let Some(persons) = self.identifiers.get_mut(identifier) else { return };
        persons.retain(|person| *person != number);
        if persons.is_empty() {
            self.identifiers.remove(identifier);
        }
    }

    pub fn update_person(&mut self, id: &str, body: &Value) -> Outcome {
        check(body, UPDATED)?;
        let number = self.person(id)?;
        let job = self.job_in(body)?;
        let before = self.persons[&number].clone();
        let mut after = before.clone();
        after.update(body)?;
        let old = before.identifiers();
        let mut gained: Vec<_> = after
            .identifiers()
            .into_iter()
            .filter(|identifier| !old.contains(identifier))
            .collect();
        gained.sort_by_key(|(field, key)| (*field == "emails", key.clone()));
        let held =
            gained.iter().filter_map(|identifier| Some((identifier.0, self.holder(identifier)?)));
        let held: Vec<_> = held.filter(|(_, holder)| *holder != number).collect();
        if !held.is_empty() {
            let refusal = Refusal::new(409, "IDENTIFIER_CONFLICT");
            return Err(held.into_iter().fold(refusal, |refusal, (field, holder)| {
                refusal.about(field, placeholder("per", holder))
            }));
        }
        match patch(body, "company_name") {
            Patch::Absent => {}
            Patch::Clear => after.company = None,
            Patch::Set(name) => after.company = Some(self.find_or_make_company(&name)),
        }
        if after != before {
            self.keep_person(number, &before, after.clone());
            let (was, is) = (self.person_fields(&before), self.person_fields(&after));
            self.emit_change("person.updated", placeholder("per", number), Some(number), &was, &is);
        }
        if let Some(job) = job {
            self.put_on_job(number, job);
        }
        message("The person was updated.")
    }

    pub fn read_person(&mut self, id: &str) -> Outcome {
        let number = self.person(id)?;
        record(200, self.shown_person(number))
    }

    pub fn erase_person(&mut self, id: &str) -> Outcome {
        let number = self.person(id)?;
        let mut candidates: Vec<_> =
            self.candidates_where(|candidate| candidate.person == number).collect();
        candidates.sort_by_key(|candidate| self.candidates[candidate].job);
        for candidate in candidates {
            self.candidates.remove(&candidate);
            self.emit(
                "candidate.removed",
                placeholder("cnd", candidate),
                Some(number),
                Value::Null,
            );
        }
        let Some(person) = self.persons.remove(&number) else { return Err(Refusal::not_found()) };
        person.identifiers().iter().for_each(|identifier| self.release(identifier, number));
        self.erased.insert(number);
        let notes =
            person.notes.keys().chain(&person.former_notes).map(|note| placeholder("nte", *note));
        let traces: BTreeSet<_> = notes
            .chain(person.emails.values().map(str::to_owned))
            .chain([placeholder("per", number)])
            .collect();
        self.forget_answers(&traces);
        let (id, at) = (placeholder("per", number), self.moment());
        let after = json!({ "id": id, "ids": [id], "erased_at": at });
        self.emit("person.erased", id.clone(), None, json!({ "before": {}, "after": after }));
        record(200, json!({ "id": id, "erased_at": at }))
    }

    pub fn list_persons(&mut self, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &["email", "external_source_id"])?;
        let filters = [
            ("emails", query.get("email").map(str::to_lowercase)),
            ("external_source_id", query.get("external_source_id").map(str::to_owned)),
        ];
        let wanted: Vec<Identifier> =
            filters.into_iter().filter_map(|(field, key)| Some((field, key?))).collect();
        let has_all =
            |person: &Person| wanted.iter().all(|wanted| person.identifiers().contains(wanted));
        let fitting: Vec<_> = self
            .persons
            .iter()
            .filter(|(_, person)| has_all(person))
            .map(|(number, _)| *number)
            .collect();
        let entries =
            fitting.into_iter().map(|number| (number, self.listed_person(number))).collect();
        self.page(&page, entries, !wanted.is_empty())
    }
}
