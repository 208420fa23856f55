//! Creating a person, or finding the one who is there already. Pushing the same person twice is safe.

use model::id::{CandidateId, ClientContactId, PersonId};
use model::person::{Identifier, NewPerson, OnDuplicate, Person, identifiers};
use model::problem::{Code, Detail, Problem};
use store::record::{company, identifier, note, person};
use store::{Failure, Tx, Work};

use super::Actor;
use super::associate::{attach, resolve};

pub struct CreatePerson {
    pub actor: Actor,
    pub new: NewPerson,
    pub on_duplicate: OnDuplicate,
}

pub struct CreatedPerson {
    /// False when the person was there already.
    pub is_new: bool,
    pub person: Person,
    pub company_name: String,
    pub candidate_id: Option<CandidateId>,
    pub client_contact_id: Option<ClientContactId>,
}

impl Work for CreatePerson {
    type Output = CreatedPerson;

    async fn run(&self, tx: &mut Tx) -> Result<CreatedPerson, Failure> {
        let Self { actor, new, on_duplicate } = self;
        let workspace = actor.workspace;
        let wanted = identifiers(new.external_source_id.as_deref(), &new.social, &new.emails);
        let matched = match on_duplicate {
            OnDuplicate::Create => None,
            OnDuplicate::Merge => self.find_match(tx, &wanted).await?,
            OnDuplicate::Error => match self.find_match(tx, &wanted).await? {
                Some((id, identifier)) => return Err(duplicate(id, &identifier).into()),
                None => None,
            },
        };
        let target = resolve(tx, workspace, &new.association).await?;
        let company_id = match &new.company_name {
            Some(name) => Some(company::find_or_insert(tx, workspace, name).await?),
            None => None,
        };
        let (person, is_new) = match matched {
            Some((id, _)) => (self.merge_into(tx, id, company_id, &wanted).await?, false),
            None => (self.insert(tx, company_id, &wanted).await?, true),
        };
        if let Some(body) = &new.notes
            && (is_new || !note::exists(tx, workspace, person.id, body).await?)
        {
            note::insert(tx, workspace, person.id, actor.key, body).await?;
        }
        let (candidate_id, client_contact_id) = attach(tx, workspace, person.id, &target).await?;
        let company_name = match (person.company_id, &new.company_name) {
            (Some(id), _) => company::name(tx, workspace, id).await?.unwrap_or_default(),
            (None, _) => String::new(),
        };
        Ok(CreatedPerson { is_new, person, company_name, candidate_id, client_contact_id })
    }
}

impl CreatePerson {
    /// The one person at whom the identifiers point, and the first that does.
    async fn find_match(&self, tx: &mut Tx, wanted: &[Identifier]) -> Result<Option<(PersonId, Identifier)>, Failure> {
        let mut found: Vec<(PersonId, &Identifier)> = Vec::new();
        for candidate in wanted {
            if let Some(holder) = identifier::holder(tx, self.actor.workspace, candidate).await?
                && found.iter().all(|(id, _)| *id != holder)
            {
                found.push((holder, candidate));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(id, identifier)] => Ok(Some((*id, (*identifier).clone()))),
            several => {
                let message = format!("The identifiers point at {} different persons.", several.len());
                let details = several.iter().map(|(id, identifier)| held_by(*id, identifier)).collect();
                Err(Problem { code: Code::IdentifierConflict, message, details }.into())
            }
        }
    }

    async fn insert(&self, tx: &mut Tx, company_id: Option<model::id::CompanyId>, wanted: &[Identifier]) -> Result<Person, Failure> {
        let workspace = self.actor.workspace;
        let created = self.new.clone().into_person(tx.new_id(), company_id);
        person::insert(tx, workspace, &created).await?;
        for wanted in wanted {
            match self.on_duplicate {
                OnDuplicate::Create => identifier::share(tx, workspace, wanted, created.id).await?,
                OnDuplicate::Merge | OnDuplicate::Error => identifier::claim(tx, workspace, wanted, created.id).await?,
            }
        }
        Ok(created)
    }

    async fn merge_into(
        &self,
        tx: &mut Tx,
        id: PersonId,
        company_id: Option<model::id::CompanyId>,
        wanted: &[Identifier],
    ) -> Result<Person, Failure> {
        let workspace = self.actor.workspace;
        let mut existing = person::load(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("person", id))?;
        if !existing.fill_from(&self.new, company_id)? {
            return Ok(existing);
        }
        person::update(tx, workspace, &existing).await?;
        let kept = existing.identifiers();
        for wanted in wanted.iter().filter(|wanted| kept.contains(wanted)) {
            if identifier::holder(tx, workspace, wanted).await?.is_none() {
                identifier::claim(tx, workspace, wanted, id).await?;
            }
        }
        Ok(existing)
    }
}

fn duplicate(id: PersonId, identifier: &Identifier) -> Problem {
    Problem::new(Code::DuplicatePerson, format!("The person exists already as {id}.")).with(held_by(id, identifier))
}

/// Says that an identifier belongs to a person.
pub fn held_by(id: PersonId, identifier: &Identifier) -> Detail {
    Detail::about(identifier.kind.field(), format!("{} belongs to person {id}", identifier.key), id)
}
