use std::collections::HashSet;
use std::path::PathBuf;

use slated_model::enrichment::profile::Profile;
use slated_model::input::Query;
use slated_model::key::Scope;
use slated_model::listing::Page;
use slated_model::person::{Identifier, NewPerson, identifiers};
use slated_operations::candidates::list_of_job::{CandidateQuery, ListCandidates};
use slated_operations::jobs::list::{JobQuery, ListJobs};
use slated_operations::keys::CreateKey;
use slated_operations::read::{ReadCandidate, ReadPerson};
use slated_store::records::candidate::CandidateItem;
use slated_store::records::enrichment;
use slated_store::records::job::JobView;
use slated_store::{Location, Options, Purpose, Store};

use super::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

struct Fill {
    workspace: WorkspaceId,
}

impl Operation for Fill {
    type Output = DemoSummary;

    async fn run(&self, tx: &mut Tx) -> Result<DemoSummary, OperationError> {
        fill(tx, self.workspace).await
    }
}

/// A database of its own for one test, removed with it.
struct Database {
    directory: PathBuf,
}

impl Database {
    fn new(test: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("slated-demo-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        Self { directory }
    }

    /// The demo as `slated serve --demo` makes it: the first key comes before it, in the same
    /// store.
    async fn demo(&self, now: Timestamp) -> (Store, WorkspaceId, DemoSummary) {
        let store = Store::open(
            &Location::Sqlite(self.directory.join("slated.db")),
            Purpose::Serve,
            &Options::default(),
        )
        .await
        .unwrap();
        let key = CreateKey {
            workspace: "demo".to_owned(),
            name: "demo".to_owned(),
            scope: Scope::Admin,
            expires_at: None,
        };
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
    store.read_consistent(ListJobs { workspace, query: filters, page }).await.unwrap().records
}

async fn candidates(store: &Store, workspace: WorkspaceId, job: JobId) -> Vec<CandidateItem> {
    let mut query = Query::new("");
    let filters = CandidateQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    store
        .read_consistent(ListCandidates { workspace, job, query: filters, page })
        .await
        .unwrap()
        .0
        .records
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
    assert_eq!(statuses, HashSet::from(slated_model::job::DEFAULT_STATUSES));
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
        assert!(
            (opening.days_ago - 3..=opening.days_ago).contains(&days_ago),
            "{} was opened {days_ago} days ago",
            job.name
        );
        let candidates = candidates(&store, workspace, job.id).await;
        assert!(
            candidates
                .iter()
                .all(|candidate| job.created_at < candidate.created_at
                    && candidate.created_at <= now)
        );
        assert!(candidates.windows(2).all(|pair| pair[0].created_at <= pair[1].created_at));
        for candidate in &candidates {
            let view = store.read(ReadCandidate { workspace, id: candidate.id }).await.unwrap();
            assert!(
                view.history.windows(2).all(|pair| pair[0].entered_at < pair[1].entered_at),
                "{:?}",
                view.history
            );
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
                let view =
                    store.read(ReadPerson { workspace, id: candidate.person_id }).await.unwrap();
                persons.push((
                    view.name,
                    view.emails,
                    view.education_experience,
                    candidate.created_at,
                ));
            }
        }
        seen.push((summary, persons));
    }
    assert!(seen[0] == seen[1]);
}

/// A line of the directory. The outside id is what it is found by, and no part of the profile.
struct Line {
    profile: Profile,
    source_id: Option<String>,
}

/// Whom the directory tells of.
fn directory() -> Vec<Line> {
    let today = Timestamp::now().date();
    let lines = DIRECTORY.lines().enumerate().map(|(number, line)| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let reading = Profile::read(&line, today);
        assert!(reading.refused.is_empty(), "line {}: {:?}", number + 1, reading.refused);
        Line {
            profile: reading.profile,
            source_id: line["external_source_id"].as_str().map(str::to_owned),
        }
    });
    lines.collect()
}

fn identifiers_of(line: &Line) -> Vec<Identifier> {
    let social = line.profile.social.clone().unwrap_or_default();
    identifiers(line.source_id.as_deref(), &social, &line.profile.emails)
}

fn is_about(line: &Line, new: &NewPerson) -> bool {
    let (theirs, profile) = (identifiers_of(line), &line.profile);
    let is_namesake = profile.name.as_ref().is_some_and(|name| name.whole == new.name.whole);
    let is_colleague = new.company_name.is_some() && new.company_name == profile.company_name;
    let wanted = identifiers(new.external_source_id.as_deref(), &new.social, &new.emails);
    wanted.iter().any(|identifier| theirs.contains(identifier)) || (is_namesake && is_colleague)
}

#[test]
fn nobody_stands_twice_in_the_directory() {
    let mut seen = Vec::new();
    for identifier in directory().iter().flat_map(identifiers_of) {
        assert!(!seen.contains(&identifier), "{identifier:?}");
        seen.push(identifier);
    }
}

#[test]
fn the_directory_knows_the_leads_but_one_and_some_others() {
    let directory = directory();
    let knows = |new: &NewPerson| directory.iter().filter(|line| is_about(line, new)).count();
    let leads: Vec<_> = LEADS.iter().map(|lead| knows(&lead.new_person())).collect();
    assert_eq!(leads, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    let now = Timestamp::now();
    let others = plan::plan(now).into_iter().filter_map(|action| match action.step {
        Step::AddPerson { person, place } => {
            Some(people::person_as(person as u64, &place.role(person), now).new)
        }
        _ => None,
    });
    assert_eq!(others.map(|new| knows(&new)).sum::<usize>(), 12);
}

/// Takes all who wait to be enriched. Says how many.
struct TakeAll {
    workspace: WorkspaceId,
}

impl Operation for TakeAll {
    type Output = usize;

    async fn run(&self, tx: &mut Tx) -> Result<usize, OperationError> {
        let (lease, until) = (tx.new_id(), tx.now().plus_millis(1000));
        Ok(enrichment::take(tx, self.workspace, lease, until, 1000).await?.len())
    }
}

#[tokio::test]
async fn leads_ask_to_be_enriched_and_nobody_else_does() {
    let database = Database::new("leads");
    let (store, workspace, _) = database.demo(Timestamp::now()).await;
    assert_eq!(store.write(TakeAll { workspace }).await.unwrap(), LEADS.len());
}
