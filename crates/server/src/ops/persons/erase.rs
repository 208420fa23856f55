//! Erasing a person: everything that says who they were goes for good, in one transaction. What stays is that there was somebody with
//! that id.

use model::clock::Timestamp;
use model::id::{PersonId, WorkspaceId};
use store::record::{client_contact, erasure, former, job, person, search};
use store::{Failure, Pace, Tx, Work};

use super::follow;
use crate::ops::candidates::remove::take_off;
use crate::ops::enrichment;
use crate::ops::idempotency::KEPT_FOR_MILLIS;
use crate::ops::tell::Named;
use crate::ops::{Actor, tell};

pub struct ErasePerson {
    pub actor: Actor,
    pub id: PersonId,
}

pub struct Erased {
    pub id: PersonId,
    pub erased_at: Timestamp,
}

impl Work for ErasePerson {
    type Output = Erased;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Erased, Failure> {
        let (actor, workspace) = (&self.actor, self.actor.workspace);
        let erased = follow::load(tx, workspace, self.id).await?;
        let id = erased.id;
        let mut everyone = former::leading_to(tx, workspace, id).await?;
        everyone.push(id);
        let answered_since = tx.now().plus_millis(-KEPT_FOR_MILLIS);
        let mut texts: Vec<String> = everyone.iter().map(ToString::to_string).collect();
        for one in &everyone {
            texts.extend(erasure::notes(tx, workspace, *one, answered_since).await?.iter().map(ToString::to_string));
        }
        for email in erased.emails.entries() {
            texts.extend(serde_json::to_string(&email.value));
        }
        self.take_off_jobs(tx, id).await?;
        search::erase(tx, workspace, &everyone).await?;
        let named = Named { id, name: &erased.name.whole };
        for (contact, company) in client_contact::delete_all_of(tx, workspace, id).await? {
            tell::contact_removed(tx, actor, company, named, contact).await?;
        }
        erasure::remove_belongings(tx, workspace, id).await?;
        enrichment::forget(tx, workspace, id).await?;
        person::remove(tx, workspace, id).await?;
        // From here on nobody can write anything about the person, so what is found now is all that there is.
        erasure::forget_answers(tx, workspace, &texts).await?;
        erasure::forget_events(tx, workspace, &everyone).await?;
        let erased_at = tx.now();
        former::insert(tx, workspace, id, None).await?;
        tell::person_erased(tx, actor, id, &everyone, erased_at).await?;
        tx.scrub();
        Ok(Erased { id, erased_at })
    }
}

impl ErasePerson {
    /// Tells of each candidate that it went; who it was is forgotten with all other events about the person. The jobs are held first, in
    /// the order of their ids.
    async fn take_off_jobs(&self, tx: &mut Tx, person: PersonId) -> Result<(), Failure> {
        let workspace = self.actor.workspace;
        let candidates = erasure::candidates(tx, workspace, person).await?;
        for (job, _) in &candidates {
            job::load(tx, workspace, *job).await?;
        }
        for (_, candidate) in &candidates {
            if let Some(taken) = take_off(tx, workspace, *candidate).await? {
                taken.concerned().removed(tx, &self.actor, &taken.view).await?;
            }
        }
        Ok(())
    }
}
