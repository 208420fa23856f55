//! Erasing a person: everything that says who they were goes for good, in one transaction. What
//! stays is that there was somebody with that id.

use slated_model::clock::Timestamp;
use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::Person;
use slated_store::records::answers_mentioning;
use slated_store::records::answers_mentioning::{Mentions, Traces};
use slated_store::records::search::documents;
use slated_store::records::{client_contact, erasure, job, merged_ids, person};
use slated_store::{Operation, OperationError, Pace, Tx};

use super::resolve_merged;
use crate::candidates::remove::take_off;
use crate::emit::RecordRef;
use crate::enrichment;
use crate::idempotency::KEPT_FOR_MILLIS;
use crate::{Actor, emit};

/// Looks for kept answers about a person. While they are erased there is no time for that, since
/// nobody else can write.
pub struct FindMentions {
    pub workspace: WorkspaceId,
    pub id: PersonId,
}

impl Operation for FindMentions {
    type Output = Mentions;

    async fn run(&self, tx: &mut Tx) -> Result<Mentions, OperationError> {
        let traces = match resolve_merged::current(tx, self.workspace, self.id).await {
            Ok(id) => match person::search_sources(tx, self.workspace, &[id]).await?.pop() {
                Some(source) => traces_of(tx, self.workspace, &source.person).await?,
                None => Traces::default(),
            },
            // Whether they can be erased is not said here.
            Err(OperationError::Rejected(_)) => Traces::default(),
            Err(failure) => return Err(failure),
        };
        Ok(answers_mentioning::find(tx, self.workspace, traces).await?)
    }
}

async fn traces_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: &Person,
) -> Result<Traces, OperationError> {
    let mut persons = merged_ids::leading_to(tx, workspace, person.id).await?;
    persons.push(person.id);
    let answered_since = tx.now().plus_millis(-KEPT_FOR_MILLIS);
    let mut notes = Vec::new();
    for one in &persons {
        notes.extend(erasure::notes(tx, workspace, *one, answered_since).await?);
    }
    let emails = person
        .emails
        .entries()
        .iter()
        .filter_map(|email| serde_json::to_string(&email.value).ok())
        .collect();
    Ok(Traces { persons, notes, emails })
}

pub struct ErasePerson {
    pub actor: Actor,
    pub id: PersonId,
    pub mentions: Mentions,
}

pub struct Erased {
    pub id: PersonId,
    pub erased_at: Timestamp,
}

impl Operation for ErasePerson {
    type Output = Erased;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Erased, OperationError> {
        let (actor, workspace) = (&self.actor, self.actor.workspace);
        let id = resolve_merged::current(tx, workspace, self.id).await?;
        person::lock_for_delete(tx, workspace, id).await?;
        let erased = resolve_merged::load(tx, workspace, id).await?;
        let id = erased.id;
        let traces = traces_of(tx, workspace, &erased).await?;
        let everyone = &traces.persons;
        self.take_off_jobs(tx, id).await?;
        documents::erase(tx, workspace, everyone).await?;
        let named = RecordRef { id, name: &erased.name.whole };
        for (contact, company) in client_contact::delete_all_of(tx, workspace, id).await? {
            emit::contact_removed(tx, actor, company, named, contact).await?;
        }
        erasure::remove_belongings(tx, workspace, id).await?;
        enrichment::forget(tx, workspace, id).await?;
        person::remove(tx, workspace, id).await?;
        // From here on nobody can write anything about the person, so what is found now is all that
        // there is.
        answers_mentioning::forget(tx, workspace, &traces, &self.mentions).await?;
        erasure::forget_events(tx, workspace, everyone).await?;
        let erased_at = tx.now();
        merged_ids::insert(tx, workspace, id, None).await?;
        emit::person_erased(tx, actor, id, everyone, erased_at).await?;
        tx.truncate_wal_after_commit();
        Ok(Erased { id, erased_at })
    }
}

impl ErasePerson {
    /// Tells of each candidate that it went; who it was is forgotten with all other events about
    /// the person. The jobs are held first, in the order of their ids.
    async fn take_off_jobs(&self, tx: &mut Tx, person: PersonId) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        let candidates = erasure::candidates(tx, workspace, person).await?;
        for (job, _) in &candidates {
            job::load(tx, workspace, *job).await?;
        }
        for (_, candidate) in &candidates {
            if let Some(taken) = take_off(tx, workspace, *candidate).await? {
                taken.concerned().removed(tx, &self.actor, &taken.view).await?;
                merged_ids::forget_leading_to(tx, workspace, *candidate).await?;
            }
        }
        Ok(())
    }
}
