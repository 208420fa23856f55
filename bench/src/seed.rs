//! The databases that are measured. Each is made once through the operations of the service and
//! kept; a run works on a copy.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use slated::demo::people::{self, AddPerson};
use slated::progress::Progress;
use slated_model::candidate::StageMove;
use slated_model::clock::Timestamp;
use slated_model::id::{self, JobId, StageId};
use slated_model::input::Reference;
use slated_model::job::{ClientReference, NewJob, StatusReference};
use slated_model::key::Scope;
use slated_model::patch::Patch;
use slated_model::stage::Stage;
use slated_operations::Actor;
use slated_operations::candidates::move_stage::MoveCandidate;
use slated_operations::etag::Precondition;
use slated_operations::jobs::create::CreateJob;
use slated_operations::keys::{CreateKey, CreatedKey};
use slated_operations::search::segments;
use slated_store::{Location, Operation, OperationError, Options, Purpose, Store, Tx};
use tokio::runtime::{Builder, Runtime};

/// Counted up when what is made here changes, so that kept databases are made anew.
const VERSION: u8 = 2;
const WORKSPACE: &str = "bench";
/// Persons in one transaction.
const BATCH: u64 = 1000;
/// Jobs beside the one that everybody is a candidate of.
const OTHER_JOBS: usize = 300;
const CLIENTS: usize = 60;
/// Employers that a person has at most: what is read of a person is then some 2 KB.
const MAX_EMPLOYERS: usize = 2;
const TIMEOUT: Duration = Duration::from_secs(300);

/// A database with that many persons, all of them candidates of one job: the one that is kept, or
/// else a new one.
pub fn database(directory: &Path, size: u64) -> Result<PathBuf, String> {
    let path = directory.join(format!("persons-{size}-{:016x}.db", fingerprint()?));
    if path.exists() {
        return Ok(path);
    }
    let unfinished = directory.join("unfinished.db");
    remove(&unfinished)?;
    runtime()?.block_on(fill(&unfinished, size))?;
    wait_until_complete(&unfinished)?;
    fs::rename(&unfinished, &path)
        .map_err(|error| format!("{} cannot be renamed: {error}", unfinished.display()))?;
    Ok(path)
}

/// Changes with the schema and with what is made here.
fn fingerprint() -> Result<u64, String> {
    let steps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/store/src/migrations/sqlite");
    let failed = |error: std::io::Error| format!("{} cannot be read: {error}", steps.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&steps).map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(VERSION);
    for file in files {
        hasher.write(&fs::read(file).map_err(failed)?);
    }
    Ok(hasher.finish())
}

pub fn runtime() -> Result<Runtime, String> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}

pub async fn open(location: &Location) -> Result<Store, String> {
    Store::open(location, Purpose::Command, &Options::default())
        .await
        .map_err(|error| error.to_string())
}

/// A new key; the workspace comes into being with the first.
pub async fn make_key(store: &Store, scope: Scope) -> Result<CreatedKey, String> {
    let work = CreateKey {
        workspace: WORKSPACE.to_owned(),
        name: "bench".to_owned(),
        scope,
        expires_at: None,
    };
    store.write(work).await.map_err(|failure| failure.to_string())
}

async fn fill(path: &Path, size: u64) -> Result<(), String> {
    let store = Arc::new(open(&Location::Sqlite(path.to_owned())).await?);
    let actor = Actor {
        is_silent: true,
        ..Actor::program(make_key(&store, Scope::Write).await?.workspace)
    };
    let (job, stages) = store
        .write(MakeJobs { actor: actor.clone() })
        .await
        .map_err(|failure| failure.to_string())?;
    let second_stage = stages.get(1).ok_or("the job has but one stage")?.id;
    let mut progress =
        Progress::start(format!("making a database of {size} persons and candidates"), size);
    let mut batch = Some(AddPersons::new(actor.clone(), job, second_stage, 0..size.min(BATCH)));
    let mut done = 0;
    while let Some(work) = batch.take() {
        let end = done + work.persons.len() as u64;
        let writing = tokio::spawn({
            let store = Arc::clone(&store);
            async move { store.write(work).await }
        });
        // The next persons are made up while these are written.
        if end < size {
            batch =
                Some(AddPersons::new(actor.clone(), job, second_stage, end..size.min(end + BATCH)));
        }
        writing.await.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())?;
        done = end;
        progress.show(done);
    }
    progress.finish();
    // A server would do that while it is measured.
    while segments::make(&store, actor.workspace).await.map_err(|failure| failure.to_string())? {}
    Ok(())
}

/// Makes the job that everybody is a candidate of, which it gives back, and then the others.
struct MakeJobs {
    actor: Actor,
}

impl Operation for MakeJobs {
    type Output = (JobId, Vec<Stage>);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let (first, stages) =
            self.job("Software Engineer, all locations".to_owned(), 0).run(tx).await?;
        for number in 1..=OTHER_JOBS {
            self.job(format!("Project Engineer, site {number}"), number % CLIENTS).run(tx).await?;
        }
        Ok((first.id, stages))
    }
}

impl MakeJobs {
    fn job(&self, name: String, client: usize) -> CreateJob {
        let client = ClientReference { id: None, name: Some(format!("Northgate Works {client}")) };
        let new = NewJob {
            name,
            client,
            status: StatusReference::default(),
            stages: None,
            template: None,
        };
        CreateJob { actor: self.actor.clone(), new }
    }
}

/// Adds persons with their careers to the job; every other one has moved on to the second stage.
struct AddPersons {
    actor: Actor,
    second_stage: Reference<id::Stage>,
    persons: Vec<AddPerson>,
}

impl AddPersons {
    fn new(actor: Actor, job: JobId, second_stage: StageId, numbers: std::ops::Range<u64>) -> Self {
        let now = Timestamp::now();
        let job = Reference { written: job.to_string(), id: Some(job) };
        let make = |number| {
            let mut profile = people::person(number, now);
            profile.new.association.job_id = Some(job.clone());
            if let Patch::Set(work) = &mut profile.history.work_experience {
                work.truncate(MAX_EMPLOYERS);
            }
            AddPerson { actor: actor.clone(), profile }
        };
        let second_stage = Reference { written: second_stage.to_string(), id: Some(second_stage) };
        let persons = numbers.map(make).collect();
        Self { actor, second_stage, persons }
    }
}

impl Operation for AddPersons {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        for (number, person) in self.persons.iter().enumerate() {
            let created = person.run(tx).await?;
            if let Some(id) = created.candidate_id.filter(|_| number % 2 == 0) {
                let to = StageMove {
                    stage_id: Some(self.second_stage.clone()),
                    stage_name: None,
                    from_stage_id: None,
                };
                MoveCandidate {
                    actor: self.actor.clone(),
                    id,
                    to,
                    precondition: Precondition::None,
                }
                .run(tx)
                .await?;
            }
        }
        Ok(())
    }
}

/// A database file has companions while it is open.
fn companion(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The last connection to close brings the log into the file and removes it. Some close on threads
/// of their own.
pub fn wait_until_complete(database: &Path) -> Result<(), String> {
    let log = companion(database, "-wal");
    let begun = Instant::now();
    while log.exists() {
        if begun.elapsed() > TIMEOUT {
            return Err(format!(
                "{} is still there; is the database open elsewhere?",
                log.display()
            ));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

pub fn remove(database: &Path) -> Result<(), String> {
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let file = companion(database, suffix);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{}: {error}", file.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies the kept database and waits until the copy is on the disk, so that nothing but the
/// server's own writes go there later.
pub fn copy(kept: &Path, database: &Path) -> Result<(), String> {
    remove(database)?;
    fs::copy(kept, database)
        .map_err(|error| format!("{} cannot be copied: {error}", kept.display()))?;
    Command::new("sync")
        .arg(database)
        .status()
        .map_err(|error| format!("sync cannot be run: {error}"))?;
    Ok(())
}
