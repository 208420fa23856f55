//! Changing many persons in one transaction, each as one update would.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::id::{CompanyId, PersonId};
use model::patch::Patch;
use model::person::{Identifier, Person};
use model::problem::Problem;
use store::record::person::SearchSource;
use store::record::{company, identifier, note, person};
use store::{Asked, Failure, StoreError, Tx};

use super::gathering::Outcomes;
use super::index;
use super::update::{UpdatePerson, added_identifiers, free_identifiers, store_change};

/// Changes those of the persons whom nobody else changes at the moment, and says what became of each update. Nothing becomes of those that have more to
/// look up or to make: about somebody whom an earlier one is about, or who went into another, or with a company that is new.
pub async fn update_free(tx: &mut Tx, updates: &[Arc<UpdatePerson>]) -> Result<Outcomes<()>, Failure> {
    let mut outcomes: Outcomes<()> = updates.iter().map(|_| None).collect();
    let mut changes = Vec::with_capacity(updates.len());
    for (number, Found { source, company }) in find(tx, updates).await? {
        match Change::prepare(tx, number, &updates[number], source, company).await? {
            Ok(Some(change)) => changes.push(change),
            Ok(None) => outcomes[number] = Some(Ok(())),
            Err(problem) => outcomes[number] = Some(Err(problem)),
        }
    }
    let stale: Vec<_> = changes.iter().filter(|change| change.is_stale).map(|change| change.before.id).collect();
    let notes = match stale.is_empty() {
        true => Vec::new(),
        false => note::bodies(tx, updates[0].actor.workspace, &stale).await?,
    };
    // In their order, in which everybody claims them.
    let mut claims: BTreeMap<Identifier, PersonId> = BTreeMap::new();
    for change in &mut changes {
        outcomes[change.number] = match change.claims(tx).await? {
            // An earlier one claims the same; whoever looks again finds it claimed.
            Ok(free) if free.iter().any(|identifier| claims.contains_key(identifier)) => None,
            Ok(free) => {
                claims.extend(free.into_iter().map(|identifier| (identifier, change.before.id)));
                Some(Ok(()))
            }
            Err(problem) => Some(Err(problem)),
        };
    }
    for (identifier, person) in &claims {
        identifier::claim(tx, updates[0].actor.workspace, identifier, *person).await?;
    }
    for change in changes {
        if matches!(outcomes[change.number], Some(Ok(()))) {
            change.carry_out(tx, &notes).await?;
        }
    }
    Ok(outcomes)
}

/// Whom an update is about, and the company that it names.
struct Found {
    source: SearchSource,
    company: Option<(CompanyId, String)>,
}

/// What there is of the updates of which all is there, with their numbers.
async fn find(tx: &mut Tx, updates: &[Arc<UpdatePerson>]) -> Result<Vec<(usize, Found)>, StoreError> {
    let Some(workspace) = updates.first().map(|update| update.actor.workspace) else { return Ok(Vec::new()) };
    let mut companies = Vec::with_capacity(updates.len());
    for update in updates {
        companies.push(match &update.patch.company_name {
            Patch::Set(name) => Some(company::ask_by_name(tx, workspace, name).await?),
            Patch::Absent | Patch::Clear => None,
        });
    }
    let ids: BTreeSet<_> = updates.iter().map(|update| update.id).collect();
    let persons = person::load_free(tx, workspace, &ids.into_iter().collect::<Vec<_>>()).await?;
    let mut persons: HashMap<_, _> = persons.into_iter().map(|source| (source.person.id, source)).collect();
    let mut found = Vec::with_capacity(updates.len());
    for (number, (update, company)) in updates.iter().zip(companies).enumerate() {
        let company = match company {
            Some(asked) => match tx.answer(asked).await?.pop() {
                Some(company) => Some(company),
                None => continue,
            },
            None => None,
        };
        if let Some(source) = persons.remove(&update.id) {
            found.push((number, Found { source, company }));
        }
    }
    Ok(found)
}

/// What one update makes of a person.
struct Change<'u> {
    number: usize,
    update: &'u UpdatePerson,
    before: Person,
    /// As they are after it.
    after: SearchSource,
    /// Whether their words are to be taken anew.
    is_stale: bool,
    /// Whom they worked for, if that changes.
    old_company: Option<Asked<String>>,
    /// Whom they work for, if that stays.
    company: Option<Asked<String>>,
    holders: Vec<(Identifier, Asked<PersonId>)>,
}

impl<'u> Change<'u> {
    /// Asks for all that has to be known for it; nothing if it changes nothing.
    async fn prepare(
        tx: &mut Tx,
        number: usize,
        update: &'u UpdatePerson,
        mut after: SearchSource,
        company: Option<(CompanyId, String)>,
    ) -> Result<Result<Option<Self>, Problem>, Failure> {
        let workspace = update.actor.workspace;
        let before = after.person.clone();
        let mut is_changed = match update.patch.apply(&mut after.person) {
            Ok(is_changed) => is_changed,
            Err(problem) => return Ok(Err(problem)),
        };
        match (&update.patch.company_name, company) {
            (Patch::Set(_), Some((id, name))) => (after.person.company_id, after.company_name) = (Some(id), name),
            (Patch::Clear, _) => after.person.company_id = None,
            _ => {}
        }
        let stays_employed = after.person.company_id == before.company_id;
        is_changed |= !stays_employed;
        if !is_changed {
            return Ok(Ok(None));
        }
        let is_stale = index::change(tx, workspace, &before, &after.person).await?;
        let (mut old_company, mut company) = (None, None);
        if let Some(employer) = before.company_id {
            let asked = company::ask_name(tx, workspace, employer).await?;
            *(if stays_employed { &mut company } else { &mut old_company }) = Some(asked);
        }
        let mut holders = Vec::new();
        for added in added_identifiers(&before, &after.person) {
            let holder = identifier::ask_holder(tx, workspace, &added).await?;
            holders.push((added, holder));
        }
        Ok(Ok(Some(Self { number, update, before, after, is_stale, old_company, company, holders })))
    }

    /// The identifiers that the person is to get, if nobody else has one of them.
    async fn claims(&mut self, tx: &mut Tx) -> Result<Result<Vec<Identifier>, Problem>, StoreError> {
        let mut holders = Vec::with_capacity(self.holders.len());
        for (added, holder) in std::mem::take(&mut self.holders) {
            holders.push((added, tx.answer(holder).await?.pop()));
        }
        Ok(free_identifiers(self.before.id, holders))
    }

    async fn carry_out(self, tx: &mut Tx, notes: &[(PersonId, String)]) -> Result<(), Failure> {
        let Self { update, before, mut after, is_stale, old_company, company, .. } = self;
        if let Some(asked) = company {
            after.company_name = tx.answer(asked).await?.pop().unwrap_or_default();
        }
        let old_company = match old_company {
            Some(asked) => tx.answer(asked).await?.pop().unwrap_or_default(),
            None if before.company_id.is_some() => after.company_name.clone(),
            None => String::new(),
        };
        store_change(tx, &update.actor, (&before, &old_company), (&after.person, &after.company_name)).await?;
        if is_stale {
            index::take_words(tx, update.actor.workspace, &after, notes).await?;
        }
        Ok(())
    }
}
