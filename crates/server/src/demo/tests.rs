use std::collections::HashSet;
use std::path::PathBuf;

use model::input::Query;
use model::key::Scope;
use model::listing::Page;
use store::record::candidate::CandidateItem;
use store::record::job::JobView;
use store::{Location, Options, Purpose, Store};

use super::*;
use crate::ops::candidates::list_of_job::{CandidateQuery, ListCandidates};
use crate::ops::jobs::list::{JobQuery, ListJobs};
use crate::ops::keys::CreateKey;
use crate::ops::read::{ReadCandidate, ReadPerson};

const DAY: i64 = 24 * 60 * 60 * 1000;

struct Fill {
    workspace: WorkspaceId,
}

impl Work for Fill {
    type Output = DemoSummary;

    async fn run(&self, tx: &mut Tx) -> Result<DemoSummary, Failure> {
        fill(tx, self.workspace).await
    }
}

/// A database of its own for one test, removed with it.
struct Database {
    directory: PathBuf,
}

impl Database {
    fn new(test: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("slated-demo-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        Self { directory }
    }

    /// The demo as `slated serve --demo` makes it: the first key comes before it, in the same store.
    async fn demo(&self, now: Timestamp) -> (Store, WorkspaceId, DemoSummary) {
        let store = Store::open(&Location::Sqlite(self.directory.join("slated.db")), Purpose::Serve, &Options::default()).await.unwrap();
        let key = CreateKey { workspace: "demo".to_owned(), name: "demo".to_owned(), scope: Scope::Admin, expires_at: None };
        let workspace = store.write(key).await.unwrap().workspace;
        let summary = store.write(At { moment: now, work: Fill { workspace } }).await.unwrap();
        (store, workspace, summary)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

async fn jobs(store: &Store, workspace: WorkspaceId) -> Vec<JobView> {
    let mut query = Query::new("");
    let filters = JobQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    store.read_snapshot(ListJobs { workspace, query: filters, page }).await.unwrap().records
}

async fn candidates(store: &Store, workspace: WorkspaceId, job: JobId) -> Vec<CandidateItem> {
    let mut query = Query::new("");
    let filters = CandidateQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    store.read_snapshot(ListCandidates { workspace, job, query: filters, page }).await.unwrap().0.records
}

#[tokio::test]
async fn the_demo_has_what_it_promises() {
    let database = Database::new("promises");
    let (store, workspace, summary) = database.demo(Timestamp::now()).await;
    assert_eq!((summary.persons, summary.jobs, summary.client_contacts), (500, 20, 14));
    assert!(summary.candidates > 470, "{summary:?}");
    assert!(summary.moves > 900, "{summary:?}");
    let jobs = jobs(&store, workspace).await;
    let statuses: HashSet<_> = jobs.iter().map(|job| job.status_name.as_str()).collect();
    assert_eq!(statuses, HashSet::from(model::job::DEFAULT_STATUSES));
    assert_eq!(jobs.iter().filter(|job| job.is_archived).count(), 2);
    assert_eq!(jobs.iter().map(|job| job.client_company_id).collect::<HashSet<_>>().len(), 12);
    assert_eq!(jobs.iter().map(|job| job.candidate_count).sum::<i64>(), summary.candidates as i64);
}

#[tokio::test]
async fn records_are_dated_when_they_are_said_to_have_been_made() {
    let database = Database::new("dates");
    let now = Timestamp::now();
    let (store, workspace, _) = database.demo(now).await;
    let jobs = jobs(&store, workspace).await;
    for (job, opening) in jobs.iter().zip(&OPENINGS) {
        assert_eq!(job.name, opening.name);
        let days_ago = (now.millis() - job.created_at.millis()) / DAY;
        assert!((opening.days_ago - 3..=opening.days_ago).contains(&days_ago), "{} was opened {days_ago} days ago", job.name);
        let candidates = candidates(&store, workspace, job.id).await;
        assert!(candidates.iter().all(|candidate| job.created_at < candidate.created_at && candidate.created_at <= now));
        assert!(candidates.windows(2).all(|pair| pair[0].created_at <= pair[1].created_at));
        for candidate in &candidates {
            let view = store.read(ReadCandidate { workspace, id: candidate.id }).await.unwrap();
            assert!(view.history.windows(2).all(|pair| pair[0].entered_at < pair[1].entered_at), "{:?}", view.history);
            assert_eq!(view.history[0].entered_at, view.created_at);
        }
    }
}

#[tokio::test]
async fn the_demo_is_the_same_every_time() {
    let now = Timestamp::now();
    let mut seen = Vec::new();
    for test in ["same-one", "same-other"] {
        let database = Database::new(test);
        let (store, workspace, summary) = database.demo(now).await;
        let mut persons = Vec::new();
        for job in jobs(&store, workspace).await {
            for candidate in candidates(&store, workspace, job.id).await {
                let view = store.read(ReadPerson { workspace, id: candidate.person_id }).await.unwrap();
                persons.push((view.name, view.emails, view.education_experience, candidate.created_at));
            }
        }
        seen.push((summary, persons));
    }
    assert!(seen[0] == seen[1]);
}
