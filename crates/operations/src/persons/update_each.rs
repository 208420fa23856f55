//! Changing many persons in one transaction, each as one update would.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use slated_model::id::{CompanyId, PersonId};
use slated_model::patch::Patch;
use slated_model::person::{Identifier, Person};
use slated_model::problem::Problem;
use slated_store::records::person::SearchSource;
use slated_store::records::{company, identifier, note, person};
use slated_store::{Asked, OperationError, StoreError, Tx};

use super::update::{UpdatePerson, ask_holders, claims, store_change};
use crate::search::index;
use crate::write_batches::{Batchable, Outcomes};

impl Batchable for UpdatePerson {
    /// In which everybody holds persons and changes the index.
    type Order = PersonId;

    fn can_go_together(&self) -> bool {
        self.patch.job_id.is_none() && !self.patch.enrich && !self.precondition.needs_tag()
    }

    fn order(&self) -> PersonId {
        self.id
    }

    /// Nothing becomes of those that have more to look up, to wait for or to make: about somebody
    /// who is not there, went into another, is changed by others at the moment or by an earlier
    /// one; with a company that is new or about to change; with an identifier that an earlier one
    /// claims.
    async fn run_together(
        tx: &mut Tx,
        updates: &[Arc<Self>],
    ) -> Result<Outcomes<()>, OperationError> {
        let mut outcomes: Outcomes<()> = updates.iter().map(|_| None).collect();
        let mut changes = Vec::with_capacity(updates.len());
        for Found { number, source, company } in find(tx, updates).await? {
            match Change::prepare(tx, number, &updates[number], source, company).await? {
                Ok(Some(change)) => changes.push(change),
                Ok(None) => outcomes[number] = Some(Ok(())),
                Err(problem) => outcomes[number] = Some(Err(problem)),
            }
        }
        let notes = notes_of(tx, &changes).await?;
        let mut claimed: BTreeMap<Identifier, PersonId> = BTreeMap::new();
        for change in &mut changes {
            let id = change.before.id;
            outcomes[change.number] = match claims(tx, id, std::mem::take(&mut change.holders))
                .await?
            {
                Ok(free) if free.iter().any(|identifier| claimed.contains_key(identifier)) => None,
                Ok(free) => {
                    claimed.extend(free.into_iter().map(|identifier| (identifier, id)));
                    Some(Ok(()))
                }
                Err(problem) => Some(Err(problem)),
            };
        }
        // In their order, so that no two who do this wait for each other.
        for (identifier, person) in &claimed {
            identifier::claim(tx, updates[0].actor.workspace, identifier, *person).await?;
        }
        for change in changes {
            if matches!(outcomes[change.number], Some(Ok(()))) {
                change.carry_out(tx, &notes).await?;
            }
        }
        Ok(outcomes)
    }
}

/// What there is of an update.
struct Found {
    number: usize,
    source: SearchSource,
    company: Patch<(CompanyId, String)>,
}

/// Finds all that the updates name, and keeps it from others; leaves out those of which something
/// is not there.
async fn find(tx: &mut Tx, updates: &[Arc<UpdatePerson>]) -> Result<Vec<Found>, StoreError> {
    let Some(workspace) = updates.first().map(|update| update.actor.workspace) else {
        return Ok(Vec::new());
    };
    let mut companies = Vec::with_capacity(updates.len());
    for update in updates {
        companies.push(match &update.patch.company_name {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(name) => Patch::Set(company::ask_free_by_name(tx, workspace, name).await?),
        });
    }
    let ids: BTreeSet<_> = updates.iter().map(|update| update.id).collect();
    let persons =
        person::load_skip_locked(tx, workspace, &ids.into_iter().collect::<Vec<_>>()).await?;
    let mut persons: HashMap<_, _> =
        persons.into_iter().map(|source| (source.person.id, source)).collect();
    let mut found = Vec::with_capacity(updates.len());
    for (number, (update, company)) in updates.iter().zip(companies).enumerate() {
        let company = match company {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(asked) => match tx.answer(asked).await?.pop() {
                Some(company) => Patch::Set(company),
                None => continue,
            },
        };
        if let Some(source) = persons.remove(&update.id) {
            found.push(Found { number, source, company });
        }
    }
    Ok(found)
}

/// What search looks at of the notes of those whose words are to be taken anew.
async fn notes_of(
    tx: &mut Tx,
    changes: &[Change<'_>],
) -> Result<Vec<(PersonId, String)>, StoreError> {
    let stale: Vec<_> =
        changes.iter().filter(|change| change.is_stale).map(|change| change.before.id).collect();
    match changes.first() {
        Some(change) if !stale.is_empty() => {
            note::bodies(tx, change.update.actor.workspace, &stale).await
        }
        _ => Ok(Vec::new()),
    }
}

/// What one update makes of a person.
struct Change<'u> {
    number: usize,
    update: &'u UpdatePerson,
    before: Person,
    /// As they are after it, but for the name of a company that stays.
    after: SearchSource,
    /// Whether their words are to be taken anew.
    is_stale: bool,
    /// The name of the company that they worked for.
    old_company: Option<Asked<String>>,
    holders: Vec<(Identifier, Asked<PersonId>)>,
}

impl<'u> Change<'u> {
    /// Asks for all that has to be known for it; nothing if it changes nothing.
    async fn prepare(
        tx: &mut Tx,
        number: usize,
        update: &'u UpdatePerson,
        mut after: SearchSource,
        company: Patch<(CompanyId, String)>,
    ) -> Result<Result<Option<Self>, Problem>, OperationError> {
        let workspace = update.actor.workspace;
        let before = after.person.clone();
        let mut is_changed = match update.patch.apply(&mut after.person) {
            Ok(is_changed) => is_changed,
            Err(problem) => return Ok(Err(problem)),
        };
        match company {
            Patch::Absent => {}
            Patch::Clear => after.person.company_id = None,
            Patch::Set((id, name)) => {
                (after.person.company_id, after.company_name) = (Some(id), name)
            }
        }
        is_changed |= after.person.company_id != before.company_id;
        if !is_changed {
            return Ok(Ok(None));
        }
        let is_stale = index::change(tx, workspace, &before, &after.person).await?;
        let old_company = match before.company_id {
            Some(company) => Some(company::ask_name(tx, workspace, company).await?),
            None => None,
        };
        let holders = ask_holders(tx, workspace, &before, &after.person).await?;
        Ok(Ok(Some(Self { number, update, before, after, is_stale, old_company, holders })))
    }

    async fn carry_out(
        self,
        tx: &mut Tx,
        notes: &[(PersonId, String)],
    ) -> Result<(), OperationError> {
        let Self { update, before, mut after, is_stale, old_company, .. } = self;
        let old_company = match old_company {
            Some(asked) => tx.answer(asked).await?.pop().unwrap_or_default(),
            None => String::new(),
        };
        if after.person.company_id == before.company_id {
            after.company_name.clone_from(&old_company);
        }
        store_change(
            tx,
            &update.actor,
            (&before, &old_company),
            (&after.person, &after.company_name),
        )
        .await?;
        if is_stale {
            index::take_words(tx, update.actor.workspace, &after, notes).await?;
        }
        Ok(())
    }
}
