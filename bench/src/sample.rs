//! What requests are made of. It is read from the database that is about to be served.

use slated::demo::random::Random;
use slated_model::id::{JobId, WorkspaceId};
use slated_model::input::Query;
use slated_model::key::Scope;
use slated_model::listing::Page;
use slated_operations::candidates::list_of_job::{CandidateQuery, ListCandidates};
use slated_operations::jobs::list::{JobQuery, ListJobs};
use slated_operations::keys::CreatedKey;
use slated_operations::read::ReadJob;
use slated_store::{Location, Store};

use crate::seed::{make_key, open, runtime, wait_until_complete};

/// Persons and candidates that requests are spread over.
const SAMPLE: i64 = 20_000;

/// A key, and ids from all over the database in no order.
pub struct Sample {
    pub key: String,
    pub admin_key: String,
    /// The job that everybody is a candidate of.
    pub job: String,
    pub candidates_of_job: i64,
    pub jobs: Vec<String>,
    pub stages: Vec<String>,
    pub persons: Vec<String>,
    pub candidates: Vec<String>,
}

pub fn draw(database: &Location) -> Result<Sample, String> {
    let sample = runtime()?.block_on(read(database))?;
    if let Location::Sqlite(file) = database {
        wait_until_complete(file)?;
    }
    Ok(sample)
}

async fn read(database: &Location) -> Result<Sample, String> {
    let store = open(database).await?;
    let CreatedKey { workspace, secret, .. } = make_key(&store, Scope::Write).await?;
    let admin = make_key(&store, Scope::Admin).await?;
    let jobs = list_jobs(&store, workspace).await?;
    let first = *jobs.first().ok_or("the database has no job")?;
    let (job, stages) = store
        .read(ReadJob { workspace, id: first })
        .await
        .map_err(|failure| failure.to_string())?;
    let (mut persons, mut candidates) = (Vec::new(), Vec::new());
    for offset in spread(job.candidate_count) {
        let (person, candidate) = candidate_at(&store, workspace, first, offset).await?;
        persons.push(person);
        candidates.push(candidate);
    }
    Ok(Sample {
        key: secret.reveal().to_owned(),
        admin_key: admin.secret.reveal().to_owned(),
        job: first.to_string(),
        candidates_of_job: job.candidate_count,
        jobs: jobs.iter().map(ToString::to_string).collect(),
        stages: stages.iter().map(|stage| stage.id.to_string()).collect(),
        persons,
        candidates,
    })
}

/// Places all over a list of that length, in no order.
fn spread(length: i64) -> Vec<i64> {
    let mut random = Random::new(1);
    let count = length.min(SAMPLE);
    let mut places: Vec<_> = (0..count)
        .map(|part| random.between(part * length / count, (part + 1) * length / count - 1))
        .collect();
    random.shuffle(&mut places);
    places
}

async fn list_jobs(store: &Store, workspace: WorkspaceId) -> Result<Vec<JobId>, String> {
    let mut query = Query::new("");
    let filters = JobQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let listed = store
        .read_consistent(ListJobs { workspace, query: filters, page })
        .await
        .map_err(|failure| failure.to_string())?;
    Ok(listed.records.iter().map(|job| job.id).collect())
}

async fn candidate_at(
    store: &Store,
    workspace: WorkspaceId,
    job: JobId,
    offset: i64,
) -> Result<(String, String), String> {
    let mut query = Query::new(&format!("offset={offset}&limit=1"));
    let filters = CandidateQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let (listed, _) = store
        .read_consistent(ListCandidates { workspace, job, query: filters, page })
        .await
        .map_err(|failure| failure.to_string())?;
    let found =
        listed.records.first().ok_or_else(|| format!("the job has no candidate at {offset}"))?;
    Ok((found.person_id.to_string(), found.id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spread_over_the_whole_list() {
        for length in [1, 7, 1000, SAMPLE, 1_000_000] {
            let mut places = spread(length);
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len() as i64, length.min(SAMPLE));
            assert!(places.iter().all(|place| (0..length).contains(place)));
        }
    }
}
