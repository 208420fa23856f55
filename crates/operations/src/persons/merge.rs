//! Making one person of two: the one that is named goes into the other, with all that belongs to
//! it.

use slated_model::clock::Timestamp;
use slated_model::enrichment::reconcile::{Current, Sourced};
use slated_model::id::{self, PersonId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::merge::{CandidatePosition, absorb, further};
use slated_model::person::Person;
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_model::stage::Stage;
use slated_store::records::candidate::{CandidateView, StageEntry};
use slated_store::records::field_source::FieldSource;
use slated_store::records::merge::SharedJob;
use slated_store::records::person::PersonView;
use slated_store::records::search::documents;
use slated_store::records::{
    candidate, client_contact, company, field_source, job, merge, merged_ids, person, stage,
};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::resolve_merged;
use crate::candidates::remove::take_off;
use crate::emit::{Concerned, RecordRef};
use crate::enrichment;
use crate::search::index;
use crate::{Actor, emit};

pub struct MergePersons {
    pub actor: Actor,
    /// The person that stays.
    pub id: PersonId,
    /// The person that goes.
    pub other: Reference<id::Person>,
}

impl Operation for MergePersons {
    type Output = PersonView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<PersonView, OperationError> {
        let workspace = self.actor.workspace;
        let id = resolve_merged::current(tx, workspace, self.id).await?;
        let other = resolve_merged::named(tx, workspace, &self.other, "person_id").await?;
        if id == other {
            return Err(self.same(id)?.into());
        }
        company::keep_of(tx, workspace, &[id, other], &[]).await?;
        // Whoever holds two persons takes the lower id first, so that of two who merge them none
        // waits for the other for ever.
        let first = hold(tx, workspace, id.min(other), other).await?;
        let second = hold(tx, workspace, id.max(other), other).await?;
        let (before, gone) = if first.id == id { (first, second) } else { (second, first) };
        let mut kept = before.clone();
        absorb(&mut kept, &gone)?;
        let view = person::view(tx, workspace, id).await?.ok_or_else(changed)?;
        self.join_candidates(tx, RecordRef { id, name: &kept.name.whole }, other).await?;
        self.drop_contacts(tx, id, RecordRef { id: other, name: &gone.name.whole }).await?;
        merge::move_belongings(tx, workspace, id, other).await?;
        person::update(tx, workspace, &before, &kept).await?;
        merge::fill_career(tx, workspace, id, other).await?;
        documents::remove(tx, workspace, other).await?;
        let sources = field_source::of_person(tx, workspace, other).await?;
        enrichment::forget(tx, workspace, other).await?;
        person::remove(tx, workspace, other).await?;
        merged_ids::insert(tx, workspace, other, Some(id)).await?;
        index::refresh(tx, workspace, id).await?;
        let after = person::view(tx, workspace, id).await?.ok_or_else(changed)?;
        let (was, is) =
            (enrichment::current(before.clone(), &view), enrichment::current(kept.clone(), &after));
        field_source::keep(tx, workspace, id, &taken_over(sources, &was, &is)).await?;
        let named = RecordRef { id: other, name: &gone.name.whole };
        emit::person_merged(tx, &self.actor, (&before, &view), (&kept, &after), named).await?;
        Ok(after)
    }
}

/// Keeps a person from others until the work is done; nobody may even begin to point at the one who
/// goes.
async fn hold(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
    going: PersonId,
) -> Result<Person, OperationError> {
    if id == going {
        person::lock_for_delete(tx, workspace, id).await?;
    }
    Ok(person::load(tx, workspace, id).await?.ok_or_else(changed)?)
}

impl MergePersons {
    /// Why there are no two persons to merge.
    fn same(&self, id: PersonId) -> Result<Problem, Problem> {
        let named = self.other.resolve("person_id")?;
        let message = match [named, self.id].into_iter().find(|one| *one != id) {
            Some(former) => format!("The person {former} was already merged into {id}."),
            None => "A person cannot be merged into themselves; give another person_id.".to_owned(),
        };
        Ok(Problem::new(ErrorCode::InvalidMerge, message).with(FieldError::about(
            "person_id",
            format!("is {id}, the person to merge into"),
            id,
        )))
    }

    /// Candidates change hands; on a job that both are on, they become one. The jobs are held
    /// first, in the order of their ids.
    async fn join_candidates(
        &self,
        tx: &mut Tx,
        kept: RecordRef<'_, PersonId>,
        gone: PersonId,
    ) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        let shared = merge::shared_jobs(tx, workspace, kept.id, gone).await?;
        let mut names = Vec::with_capacity(shared.len());
        for on_both in &shared {
            names.push(job::load(tx, workspace, on_both.job).await?.ok_or_else(changed)?.name);
        }
        merge::move_candidates(tx, workspace, kept.id, gone).await?;
        for (on_both, name) in shared.iter().zip(&names) {
            self.join(tx, kept, on_both, name).await?;
        }
        Ok(())
    }

    /// Where both are contacts of a company, that of the one who goes is removed; the others change
    /// hands.
    async fn drop_contacts(
        &self,
        tx: &mut Tx,
        kept: PersonId,
        gone: RecordRef<'_, PersonId>,
    ) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        for (contact, company) in
            client_contact::delete_shared_by_persons(tx, workspace, gone.id, kept).await?
        {
            emit::contact_removed(tx, &self.actor, company, gone, contact).await?;
        }
        Ok(())
    }

    async fn join(
        &self,
        tx: &mut Tx,
        person: RecordRef<'_, PersonId>,
        on_both: &SharedJob,
        job_name: &str,
    ) -> Result<(), OperationError> {
        let (actor, workspace) = (&self.actor, self.actor.workspace);
        let SharedJob { job, kept, gone } = *on_both;
        let stages = stage::of_job(tx, workspace, job).await?;
        candidate::place(tx, workspace, kept).await?.ok_or_else(changed)?;
        let before = candidate::view(tx, workspace, kept).await?.ok_or_else(changed)?;
        let taken = take_off(tx, workspace, gone).await?.ok_or_else(changed)?.view;
        let standing = |view: &CandidateView| CandidatePosition {
            stage: view.stage_id,
            since: view.stage_entered_at,
        };
        let stage = stage_of(&stages, further(&stages, standing(&before), standing(&taken)))?;
        let history = joined(&before.history, &taken.history, stage, tx.now());
        let since = history.last().map_or(before.stage_entered_at, |last| last.entered_at);
        merge::replace_history(tx, workspace, kept, &history).await?;
        merged_ids::insert(tx, workspace, gone, Some(kept)).await?;
        let concerned =
            |candidate| Concerned { candidate, person, job: RecordRef { id: job, name: job_name } };
        concerned(gone).merged(tx, actor, &taken, kept).await?;
        if (stage.id, since) != (before.stage_id, before.stage_entered_at) {
            let from = stage_of(&stages, standing(&before))?;
            concerned(kept)
                .moved(tx, actor, (from, before.stage_entered_at), (stage, since))
                .await?;
        }
        Ok(())
    }
}

/// The sources of those values that the person has from the one who went.
fn taken_over(
    mut sources: Vec<FieldSource>,
    before: &Current,
    after: &Current,
) -> Vec<FieldSource> {
    let (had, has) = (enrichment::values(before), enrichment::values(after));
    let is_among = |values: &[Sourced], source: &FieldSource| {
        values
            .iter()
            .any(|value| value.field == source.field && value.value_hash == source.value_hash)
    };
    sources.retain(|source| is_among(&has, source) && !is_among(&had, source));
    sources
}

fn changed() -> StoreError {
    StoreError::Conflict("the persons or their candidates changed meanwhile".to_owned())
}

fn stage_of(stages: &[Stage], standing: CandidatePosition) -> Result<&Stage, StoreError> {
    let found = stages.iter().find(|stage| stage.id == standing.stage);
    found.ok_or_else(|| {
        StoreError::Internal(format!("a candidate is in stage {} of another job", standing.stage))
    })
}

/// Both histories by their dates. A history ends in the stage that the candidate is in, so if the
/// other one went on for longer, the stage is entered again.
fn joined(
    one: &[StageEntry],
    other: &[StageEntry],
    stage: &Stage,
    now: Timestamp,
) -> Vec<StageEntry> {
    let mut entries = [one, other].concat();
    entries.sort_by_key(|entry| entry.entered_at);
    if entries.last().is_none_or(|last| last.stage_id != stage.id) {
        let entered_at = entries.last().map_or(now, |last| last.entered_at.max(now));
        entries.push(StageEntry {
            number: 0,
            stage_id: stage.id,
            stage_name: stage.name.clone(),
            entered_at,
        });
    }
    for (number, entry) in (1..).zip(&mut entries) {
        entry.number = number;
    }
    entries
}

#[cfg(test)]
mod tests {
    use slated_model::id::StageId;

    use super::*;

    fn stage(number: u128) -> Stage {
        Stage {
            id: StageId::at(Timestamp::from_millis(1), number),
            name: format!("Stage {number}"),
            stage_order: 1,
            is_rejection_stage: false,
            is_interviewing_stage: false,
        }
    }

    fn entered(stages: &[(u128, i64)]) -> Vec<StageEntry> {
        let entry = |(number, (of, at)): (i64, &(u128, i64))| StageEntry {
            number,
            stage_id: stage(*of).id,
            stage_name: stage(*of).name,
            entered_at: Timestamp::from_millis(*at),
        };
        (1..).zip(stages).map(entry).collect()
    }

    fn places(entries: &[StageEntry]) -> Vec<(i64, String, i64)> {
        entries
            .iter()
            .map(|entry| (entry.number, entry.stage_name.clone(), entry.entered_at.millis()))
            .collect()
    }

    #[test]
    fn histories_are_interleaved_by_date() {
        let history = joined(
            &entered(&[(1, 10), (3, 30)]),
            &entered(&[(1, 20), (2, 30)]),
            &stage(2),
            Timestamp::from_millis(99),
        );
        assert_eq!(places(&history), places(&entered(&[(1, 10), (1, 20), (3, 30), (2, 30)])));
    }

    #[test]
    fn a_history_ends_in_the_stage_that_the_candidate_is_in() {
        let history = joined(
            &entered(&[(1, 10), (2, 20)]),
            &entered(&[(1, 30)]),
            &stage(2),
            Timestamp::from_millis(99),
        );
        assert_eq!(places(&history), places(&entered(&[(1, 10), (2, 20), (1, 30), (2, 99)])));
        let history = joined(
            &entered(&[(1, 10), (2, 20)]),
            &entered(&[(1, 300)]),
            &stage(2),
            Timestamp::from_millis(99),
        );
        assert_eq!(
            places(&history).last(),
            places(&entered(&[(2, 300), (2, 300), (2, 300), (2, 300)])).last()
        );
    }
}
