//! Changing a person by merge patch.

use model::id::{PersonId, WorkspaceId};
use model::patch::Patch;
use model::person::{Association, Identifier, PersonPatch};
use model::problem::{Code, Problem};
use store::record::{company, identifier, person};
use store::{Failure, Tx, Work};

use crate::ops::candidates::associate::{Target, ask_stages, put_on_job, resolve};
use crate::ops::companies::find_or_make;
use crate::ops::enrichment::ask_for;
use crate::ops::etag::Precondition;
use crate::ops::persons::create::held_by;
use crate::ops::persons::{follow, index};
use crate::ops::tell::Named;
use crate::ops::{Actor, tell};

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
        let Self { actor, patch, precondition, .. } = self;
        let workspace = actor.workspace;
        let stages = ask_stages(tx, workspace, patch.job_id.as_ref()).await?;
        let mut updated = follow::load(tx, workspace, self.id).await?;
        let id = updated.id;
        if precondition.needs_tag() {
            precondition.check(&follow::view(tx, workspace, id).await?)?;
        }
        let association = Association { job_id: patch.job_id.clone(), ..Association::default() };
        let target = resolve(tx, workspace, &association, stages).await?;
        let before = updated.clone();
        let mut changed = patch.apply(&mut updated)?;
        let mut company_name = String::new();
        match &patch.company_name {
            Patch::Absent => {}
            Patch::Clear => updated.company_id = None,
            Patch::Set(name) => {
                let (id, name) = find_or_make(tx, actor, name).await?;
                (updated.company_id, company_name) = (Some(id), name);
            }
        }
        changed |= updated.company_id != before.company_id;
        if changed {
            self.move_identifiers(tx, id, &before.identifiers(), &updated.identifiers()).await?;
            person::update(tx, workspace, &before, &updated).await?;
            let old_name = match before.company_id {
                // Only what changed is told, so the name of a company that stays does not matter.
                company if company == updated.company_id => company_name.clone(),
                Some(company) => company::name(tx, workspace, company).await?.unwrap_or_default(),
                None => String::new(),
            };
            if index::change(tx, workspace, &before, &updated).await? {
                index::refresh(tx, workspace, id).await?;
            }
            tell::person_updated(tx, actor, (&before, &old_name), (&updated, &company_name), None).await?;
        }
        if patch.enrich {
            ask_for(tx, workspace, id, false).await?;
        }
        if let Target::Job(job, stages) = &target {
            put_on_job(tx, actor, Named { id, name: &updated.name.whole }, *job, stages).await?;
        }
        Ok(())
    }
}

impl UpdatePerson {
    /// Releases the identifiers that the person lost and claims those that are new.
    async fn move_identifiers(&self, tx: &mut Tx, id: PersonId, before: &[Identifier], after: &[Identifier]) -> Result<(), Failure> {
        let workspace = self.actor.workspace;
        let mut conflict = Problem::new(Code::IdentifierConflict, "An identifier belongs to another person.");
        for added in identifier::in_order(after.iter().filter(|added| !before.contains(added))) {
            match identifier::holder(tx, workspace, added).await? {
                // Left behind by somebody who went into this person.
                Some(holder) if holder == id => {}
                Some(holder) => conflict.details.push(held_by(holder, added)),
                None => identifier::claim(tx, workspace, added, id).await?,
            }
        }
        if !conflict.details.is_empty() {
            return Err(conflict.into());
        }
        for lost in before.iter().filter(|lost| !after.contains(lost)) {
            identifier::release(tx, workspace, lost, id).await?;
        }
        Ok(())
    }
}
