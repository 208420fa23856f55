//! Changing a person by merge patch.

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::patch::Patch;
use slated_model::person::{Association, Identifier, Person, PersonPatch};
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::{company, identifier, person};
use slated_store::{Asked, Operation, OperationError, StoreError, Tx};

use crate::candidates::associate::{Target, ask_stages, put_on_job, resolve};
use crate::companies::find_or_make;
use crate::emit::RecordRef;
use crate::enrichment::ask_for;
use crate::etag::Precondition;
use crate::persons::matching::held_by;
use crate::persons::resolve_merged;
use crate::search::index;
use crate::{Actor, emit};

pub struct UpdatePerson {
    pub actor: Actor,
    pub id: PersonId,
    pub patch: PersonPatch,
    pub precondition: Precondition,
}

impl Operation for UpdatePerson {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let Self { actor, patch, precondition, .. } = self;
        let workspace = actor.workspace;
        let stages = ask_stages(tx, workspace, patch.job_id.as_ref()).await?;
        let mut updated = resolve_merged::load(tx, workspace, self.id).await?;
        let id = updated.id;
        if precondition.needs_tag() {
            precondition.check(&resolve_merged::view(tx, workspace, id).await?)?;
        }
        let association = Association { job_id: patch.job_id.clone(), ..Association::default() };
        let target = resolve(tx, workspace, &association, stages).await?;
        let before = updated.clone();
        let mut is_changed = patch.apply(&mut updated)?;
        let mut company = String::new();
        match &patch.company_name {
            Patch::Absent => {}
            Patch::Clear => updated.company_id = None,
            Patch::Set(name) => {
                let (id, name) = find_or_make(tx, actor, name).await?;
                (updated.company_id, company) = (Some(id), name);
            }
        }
        is_changed |= updated.company_id != before.company_id;
        if is_changed {
            let asked = ask_holders(tx, workspace, &before, &updated).await?;
            for added in claims(tx, id, asked).await?? {
                identifier::claim(tx, workspace, &added, id).await?;
            }
            let old_company = match before.company_id {
                // Only what changed is told, so the name of a company that stays does not matter.
                employer if employer == updated.company_id => company.clone(),
                Some(employer) => company::name(tx, workspace, employer).await?.unwrap_or_default(),
                None => String::new(),
            };
            store_change(tx, actor, (&before, &old_company), (&updated, &company)).await?;
            if index::change(tx, workspace, &before, &updated).await? {
                index::refresh(tx, workspace, id).await?;
            }
        }
        if patch.enrich {
            ask_for(tx, workspace, id, false).await?;
        }
        if let Target::Job(job, stages) = &target {
            put_on_job(tx, actor, RecordRef { id, name: &updated.name.whole }, *job, stages)
                .await?;
        }
        Ok(())
    }
}

/// Asks who holds the identifiers that a person is to get, in the order in which they are claimed.
pub(super) async fn ask_holders(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: &Person,
    after: &Person,
) -> Result<Vec<(Identifier, Asked<PersonId>)>, StoreError> {
    let (old, new) = (before.identifiers(), after.identifiers());
    let mut holders = Vec::new();
    for added in identifier::in_order(new.iter().filter(|added| !old.contains(added))) {
        holders.push((added.clone(), identifier::ask_holder(tx, workspace, added).await?));
    }
    Ok(holders)
}

/// Those of them that the person can claim, unless others have some.
pub(super) async fn claims(
    tx: &mut Tx,
    id: PersonId,
    holders: Vec<(Identifier, Asked<PersonId>)>,
) -> Result<Result<Vec<Identifier>, Problem>, StoreError> {
    let mut conflict =
        Problem::new(ErrorCode::IdentifierConflict, "An identifier belongs to another person.");
    let mut free = Vec::new();
    for (added, holder) in holders {
        match tx.answer(holder).await?.pop() {
            // Left behind by somebody who went into this person.
            Some(holder) if holder == id => {}
            Some(holder) => conflict.details.push(held_by(holder, &added)),
            None => free.push(added),
        }
    }
    Ok(if conflict.details.is_empty() { Ok(free) } else { Err(conflict) })
}

/// Writes down what changed of a person who has claimed all that is new, and tells of it, given the
/// names of the companies they work for.
pub(super) async fn store_change(
    tx: &mut Tx,
    actor: &Actor,
    before: (&Person, &str),
    after: (&Person, &str),
) -> Result<(), OperationError> {
    let kept = after.0.identifiers();
    for lost in before.0.identifiers().iter().filter(|lost| !kept.contains(lost)) {
        identifier::release(tx, actor.workspace, lost, after.0.id).await?;
    }
    person::update(tx, actor.workspace, before.0, after.0).await?;
    emit::person_updated(tx, actor, before, after, None).await
}
