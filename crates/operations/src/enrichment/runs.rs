//! Enriching many persons: a run is started with a filter, looked at while it goes on, and may be
//! cancelled.

use std::collections::BTreeSet;

use slated_model::enrichment::{NewRun, RunFilter, RunState};
use slated_model::id::{self, CompanyId, EnrichmentRunId, JobId, PersonId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::listing::Page;
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::enrichment_run::{Run, RunPersons};
use slated_store::records::pagination::PageResult;
use slated_store::records::{enrichment, enrichment_run, job, person};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::CANCELLED;
use crate::merged_ids::{erased_too, resolve_merged_id};
use crate::references::all_known;
use crate::{Actor, companies};

/// What becomes of a person whom a filter names and who is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsRefused,
    IsLeftOut,
}

/// Whom a filter is about. What it names must be there; what went into something else leads on.
async fn resolve(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunFilter,
    missing: Missing,
) -> Result<RunPersons, OperationError> {
    Ok(RunPersons {
        times: filter.times(),
        company_id: resolve_company(tx, workspace, filter).await?,
        job_id: resolve_job(tx, workspace, filter).await?,
        person_ids: resolve_persons(tx, workspace, filter, missing).await?,
        missing: filter.missing_fields(),
        never_enriched: filter.never_enriched,
    })
}

/// The same for a run that was started; nothing if all whom it names are gone since.
pub(super) async fn resolve_again(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunFilter,
) -> Result<Option<RunPersons>, OperationError> {
    match resolve(tx, workspace, filter, Missing::IsLeftOut).await {
        // Nobody to name would mean everybody.
        Ok(persons) => Ok(Some(persons)
            .filter(|persons| filter.person_ids.is_empty() || !persons.person_ids.is_empty())),
        Err(OperationError::Rejected(_)) => Ok(None),
        Err(broken) => Err(broken),
    }
}

async fn resolve_company(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunFilter,
) -> Result<Option<CompanyId>, OperationError> {
    const FIELD: &str = "filter.company_id";
    let Some(written) = &filter.company_id else { return Ok(None) };
    let reference = Reference::<id::Company>::new(written.clone());
    let named = reference.resolve(FIELD)?;
    Ok(Some(
        companies::find(tx, workspace, named).await?.ok_or_else(|| reference.not_found(FIELD))?.id,
    ))
}

async fn resolve_job(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunFilter,
) -> Result<Option<JobId>, OperationError> {
    const FIELD: &str = "filter.job_id";
    let Some(written) = &filter.job_id else { return Ok(None) };
    let reference = Reference::<id::Job>::new(written.clone());
    let named = reference.resolve(FIELD)?;
    job::places(tx, workspace, named).await?.ok_or_else(|| reference.not_found(FIELD))?;
    Ok(Some(named))
}

async fn resolve_persons(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunFilter,
    missing: Missing,
) -> Result<Vec<PersonId>, OperationError> {
    const FIELD: &str = "filter.person_ids";
    let named: Vec<_> = filter
        .person_ids
        .iter()
        .map(|written| Reference::<id::Person>::new(written.clone()))
        .collect();
    let ids: Vec<_> = named.iter().filter_map(|reference| reference.id).collect();
    let known: BTreeSet<_> =
        person::names(tx, workspace, &ids).await?.into_iter().map(|(id, _)| id).collect();
    let (mut found, mut erased) = (Vec::with_capacity(named.len()), None);
    for (place, reference) in named.iter().enumerate() {
        found.push(match reference.id {
            Some(id) if !known.contains(&id) => match resolve_merged_id(tx, workspace, id).await {
                Ok(survivor) => Some(survivor),
                Err(OperationError::Rejected(problem)) if problem.code == ErrorCode::NotFound => {
                    None
                }
                Err(OperationError::Rejected(problem)) => {
                    erased = Some(erased_too(
                        erased.unwrap_or(problem),
                        &format!("{FIELD}[{place}]"),
                        id,
                    ));
                    None
                }
                Err(failure) => return Err(failure),
            },
            id => id,
        });
    }
    let persons: BTreeSet<_> = match (missing, erased) {
        (Missing::IsLeftOut, _) => found.into_iter().flatten().collect(),
        (Missing::IsRefused, Some(erased)) => return Err(erased.into()),
        (Missing::IsRefused, None) => all_known(FIELD, &named, found)?.into_iter().collect(),
    };
    Ok(persons.into_iter().collect())
}

pub struct StartRun {
    pub actor: Actor,
    pub new: NewRun,
}

impl Operation for StartRun {
    type Output = Run;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Run, OperationError> {
        resolve(tx, self.actor.workspace, &self.new.filter, Missing::IsRefused).await?;
        let NewRun { filter, refresh } = self.new.clone();
        let run = Run {
            id: tx.new_id(),
            state: RunState::Running,
            filter,
            refresh,
            position: None,
            is_fed: false,
            person_count: 0,
            done_count: 0,
            skipped_count: 0,
            failed_count: 0,
            key_id: self.actor.key,
            created_at: tx.now(),
            finished_at: None,
        };
        enrichment_run::insert(tx, self.actor.workspace, &run).await?;
        Ok(run)
    }
}

fn unknown(id: EnrichmentRunId) -> Problem {
    Problem::not_found("enrichment", id)
}

pub struct ReadRun {
    pub workspace: WorkspaceId,
    pub id: EnrichmentRunId,
}

impl Operation for ReadRun {
    type Output = Run;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Run, OperationError> {
        Ok(enrichment_run::find(tx, self.workspace, self.id)
            .await?
            .ok_or_else(|| unknown(self.id))?)
    }
}

pub struct ListRuns {
    pub workspace: WorkspaceId,
    pub page: Page<id::EnrichmentRun>,
}

impl Operation for ListRuns {
    type Output = PageResult<Run>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<Run>, OperationError> {
        Ok(enrichment_run::list(tx, self.workspace, &self.page).await?)
    }
}

/// Ends a run: who waits for it is skipped, and nobody else is found for it. Who is being worked on
/// comes to an end.
pub struct CancelRun {
    pub actor: Actor,
    pub id: EnrichmentRunId,
}

impl Operation for CancelRun {
    type Output = Run;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Run, OperationError> {
        let workspace = self.actor.workspace;
        let before =
            enrichment_run::find(tx, workspace, self.id).await?.ok_or_else(|| unknown(self.id))?;
        if before.state != RunState::Running {
            return Ok(before);
        }
        let skipped = enrichment::skip_queued_of(tx, workspace, self.id, CANCELLED).await?;
        let now =
            enrichment_run::load(tx, workspace, self.id).await?.ok_or_else(|| unknown(self.id))?;
        if (now.state, now.position) != (before.state, before.position) {
            return Err(
                StoreError::Conflict("the run was advanced by another server".to_owned()).into()
            );
        }
        enrichment_run::cancel(tx, workspace, self.id, skipped).await?;
        Ok(enrichment_run::find(tx, workspace, self.id).await?.ok_or_else(|| unknown(self.id))?)
    }
}
