//! Changing a person by merge patch.

use model::id::{PersonId, WorkspaceId};
use model::patch::Patch;
use model::person::{Association, Identifier, PersonPatch};
use model::problem::{Code, Problem};
use store::record::{company, identifier, person};
use store::{Failure, Tx, Work};

use super::Actor;
use super::associate::{ask_stages, attach, resolve};
use super::create_person::held_by;
use super::etag::Precondition;

pub struct UpdatePerson {
    pub actor: Actor,
    pub id: PersonId,
    pub patch: PersonPatch,
    pub precondition: Precondition,
}

impl Work for UpdatePerson {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        let Self { actor, id, patch, precondition } = self;
        let workspace = actor.workspace;
        let missing = || Problem::not_found("person", id);
        let stages = ask_stages(tx, workspace, patch.job_id.as_ref()).await?;
        let mut updated = person::load(tx, workspace, *id).await?.ok_or_else(missing)?;
        if precondition.needs_tag() {
            precondition.check(&person::view(tx, workspace, *id).await?.ok_or_else(missing)?)?;
        }
        let association = Association { job_id: patch.job_id.clone(), ..Association::default() };
        let target = resolve(tx, workspace, &association, stages).await?;
        let before = updated.identifiers();
        let company_before = updated.company_id;
        let mut changed = patch.apply(&mut updated)?;
        match &patch.company_name {
            Patch::Absent => {}
            Patch::Clear => updated.company_id = None,
            Patch::Set(name) => updated.company_id = Some(company::find_or_insert(tx, workspace, name).await?.0),
        }
        changed |= updated.company_id != company_before;
        if changed {
            self.move_identifiers(tx, &before, &updated.identifiers()).await?;
            person::update(tx, workspace, &updated).await?;
        }
        attach(tx, workspace, *id, false, &target).await?;
        Ok(())
    }
}

impl UpdatePerson {
    /// Releases the identifiers that the person lost and claims those that are new.
    async fn move_identifiers(&self, tx: &mut Tx, before: &[Identifier], after: &[Identifier]) -> Result<(), Failure> {
        let workspace = self.actor.workspace;
        let mut conflict = Problem::new(Code::IdentifierConflict, "An identifier belongs to another person.");
        for added in identifier::in_order(after.iter().filter(|added| !before.contains(added))) {
            match identifier::holder(tx, workspace, added).await? {
                Some(holder) => conflict.details.push(held_by(holder, added)),
                None => identifier::claim(tx, workspace, added, self.id).await?,
            }
        }
        if !conflict.details.is_empty() {
            return Err(conflict.into());
        }
        for lost in before.iter().filter(|lost| !after.contains(lost)) {
            identifier::release(tx, workspace, lost, self.id).await?;
        }
        Ok(())
    }
}
