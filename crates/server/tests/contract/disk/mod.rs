//! What is there after the power was cut, on a disk that forgets what was not flushed and tears
//! what was being written.
//!
//! The program runs once, and all that it does to its files is recorded. From the record any number
//! of disks are made as they may be after a cut at any moment; on each of them the database must be
//! whole, and hold every write that was acknowledged by then, and of the next one all or nothing.

mod image;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, mem};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use self::image::{Damage, Disk, File, Record};
use crate::support::{App, Client, Database, Engine, Job, preloaded, rounds, together};

/// Tables that maintenance writes to, or the index of words, at moments of their own.
const OWN_PACE: [&str; 6] =
    ["search_", "census", "api_key", "sqlite_", "schema_migration", "enrichment_permit"];

/// A program whose disk is recorded.
struct Recorded {
    app: App,
    /// The database before the program was started.
    before: Vec<u8>,
    record: PathBuf,
}

impl Recorded {
    fn start(more: &[(&str, &str)]) -> Self {
        let (database, key) = Database::with_key(Engine::Sqlite);
        let before = fs::read(database.file()).unwrap();
        let record = database.directory().join("record");
        let builder = Engine::Sqlite
            .app()
            .environment("LD_PRELOAD", preloaded("disk/recorder.c").to_str().unwrap())
            .environment("DISK_DIRECTORY", database.directory().to_str().unwrap())
            .environment("DISK_RECORD", record.to_str().unwrap());
        let builder =
            more.iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
        Self { app: builder.start_with_key(database, key), before, record }
    }

    fn length(&self) -> u64 {
        // It begins with the first write.
        fs::metadata(&self.record).map_or(0, |record| record.len())
    }
}

/// All that the writes of callers changed, whatever maintenance did beside.
fn contents(connection: &Connection) -> Vec<String> {
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut contents = Vec::new();
    for table in names.iter().filter(|name| !OWN_PACE.iter().any(|own| name.starts_with(own))) {
        let mut rows = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|column| match row.get_ref(column).unwrap() {
                ValueRef::Null => "-".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                ValueRef::Blob(bytes) => format!("{bytes:x?}"),
            });
            contents.push(format!("{table}: {}", values.collect::<Vec<_>>().join("|")));
        }
    }
    contents
}

/// The state after each write, and how long the record was when it was acknowledged.
struct States {
    acknowledged: Vec<u64>,
    contents: Vec<Vec<String>>,
}

impl States {
    fn first(recorded: &Recorded) -> Self {
        let mut states = Self { acknowledged: Vec::new(), contents: Vec::new() };
        states.add(recorded);
        states
    }

    fn add(&mut self, recorded: &Recorded) {
        self.acknowledged.push(recorded.length());
        self.contents.push(contents(&Connection::open(recorded.app.database.file()).unwrap()));
    }
}

/// What is wrong with a database after a power cut; nothing, if it is in one of the states.
fn flaw(files: &BTreeMap<File, Vec<u8>>, states: &[Vec<String>]) -> Option<String> {
    let place = Database::new(Engine::Sqlite);
    fs::write(place.file(), &files[&File::Database]).unwrap();
    fs::write(place.file().with_extension("db-wal"), &files[&File::Log]).unwrap();
    let connection = Connection::open(place.file()).unwrap();
    let checked = connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    match checked {
        Err(error) => return Some(error.to_string()),
        Ok(said) if said != "ok" => return Some(said),
        Ok(_) => {}
    }
    let found = contents(&connection);
    if states.contains(&found) {
        return None;
    }
    let wanted = &states[0];
    let missing = wanted.iter().filter(|row| !found.contains(row)).count();
    let strange =
        found.iter().filter(|row| !states.iter().any(|state| state.contains(row))).count();
    Some(format!(
        "of what was acknowledged {missing} rows are missing, and {strange} are of no state"
    ))
}

/// Writes of all kinds, one after the other.
struct Script {
    client: Client,
    jobs: Vec<Job>,
    persons: Vec<String>,
    candidates: Vec<(String, usize)>,
}

impl Script {
    fn new(client: Client) -> Self {
        Self { client, jobs: Vec::new(), persons: Vec::new(), candidates: Vec::new() }
    }

    fn write(&mut self, number: usize) {
        let last = self.persons.len().wrapping_sub(1);
        match number % 10 {
            0 => self.jobs.push(
                self.client.new_job(&format!("Job {number}"), &format!("Client {}", number % 3)),
            ),
            1 | 2 | 5 => {
                let job = self.jobs.len() - 1;
                let body = json!({
                    "name": format!("Person {number}"),
                    "emails": [format!("person-{number}@x.example")],
                    "company_name": format!("Employer {}", number % 7),
                    "job_id": self.jobs[job].id,
                });
                let made = self.client.post("/v1/persons", &body).expect(201);
                self.candidates.push((made.string("candidate_id"), job));
                self.persons.push(made.id());
            }
            3 => {
                let title = json!({ "current_job_title": format!("Title {number}"),
                    "social_headline": "x".repeat(200) });
                self.client
                    .patch(&format!("/v1/persons/{}", self.persons[last]), &title)
                    .expect(200);
            }
            4 => {
                let (candidate, job) = &self.candidates[last];
                let stage = json!({ "stage_id": self.jobs[*job].stage("Interview") });
                self.client.patch(&format!("/v1/candidates/{candidate}"), &stage).expect(200);
            }
            6 => {
                let note = json!({ "body": format!("Note {number} {}", "y".repeat(20_000)) });
                self.client
                    .post(&format!("/v1/persons/{}/notes", self.persons[last]), &note)
                    .expect(201);
            }
            7 => {
                let persons: Vec<Value> = (0..5)
                    .map(|place| json!({ "name": format!("Batch {number}-{place}") }))
                    .collect();
                self.client.post("/v1/persons/batch", &json!({ "persons": persons })).expect(200);
            }
            8 => {
                let name = json!({ "name": format!("Job {number} renamed") });
                self.client.patch(&self.jobs[self.jobs.len() - 1].path(), &name).expect(200);
            }
            // The log is copied and cut off then.
            _ => {
                let person = self.persons.remove(last / 2);
                self.candidates.remove(last / 2);
                self.client.send("DELETE", &format!("/v1/persons/{person}"), None).expect(200);
            }
        }
    }
}

/// Cuts the power at flushes and around them, and says what went wrong, if anything did.
fn sweep(recorded: &Recorded, states: &States, every: usize, damages: u64) -> Vec<String> {
    let record = Record::read(&recorded.record);
    let mut disk = Disk::new(&record, recorded.before.clone());
    let mut flaws = Vec::new();
    let flushes = record.flushes();
    let moments = if flushes.is_empty() { (0..record.len()).collect() } else { flushes };
    for moment in moments.into_iter().step_by(every) {
        // Right behind the flush, or with nothing of what comes next flushed.
        disk.play_until(moment);
        let known = states
            .acknowledged
            .iter()
            .filter(|length| record.entries_at(**length) <= moment)
            .count();
        let Some(last) = known.checked_sub(1) else { continue };
        let possible = &states.contents[last..states.contents.len().min(last + 2)];
        for number in 0..damages {
            let damage = Damage::number(number);
            if let Some(flaw) = flaw(&disk.cut(damage, number), possible) {
                flaws.push(format!(
                    "cut before entry {moment} of {}, {damage:?} {number}: {flaw}",
                    record.len()
                ));
            }
        }
    }
    flaws
}

fn run_script(recorded: &Recorded, writes: usize) -> States {
    let mut states = States::first(recorded);
    let mut script = Script::new(recorded.app.writer());
    for number in 0..writes {
        script.write(number);
        states.add(recorded);
    }
    states
}

/// Invariant 1.
#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let recorded = Recorded::start(&[]);
    let states = run_script(&recorded, rounds(60, 200));
    let flaws = sweep(&recorded, &states, rounds(3, 1), rounds(4, 20) as u64);
    assert!(
        flaws.is_empty(),
        "{} of them:\n{}",
        flaws.len(),
        flaws[..flaws.len().min(10)].join("\n")
    );
}

/// So that it is known that the sweep would notice.
#[test]
fn a_disk_that_is_not_flushed_is_found_out() {
    let recorded = Recorded::start(&[("DISK_IGNORE", "1")]);
    let states = run_script(&recorded, 40);
    assert!(!sweep(&recorded, &states, 10, 4).is_empty());
}

/// Writes so much that the log is copied while writers go on.
fn write_much(client: &Client) {
    together(4, |writer| {
        for number in 0..40 {
            let noted = json!({ "name": format!("Noted {writer} {number}"),
                "notes": format!("{number} {}", "z".repeat(60_000)) });
            client.post("/v1/persons", &noted).expect(201);
        }
    });
}

fn a_failed_flush_of_the_database_loses_nothing(number: &str) {
    let mut recorded = Recorded::start(&[("DISK_FAIL", &format!("database {number}"))]);
    let client = recorded.app.writer();
    let has_failed = || recorded.app.process.log.text().contains("could not be flushed");
    while !has_failed() {
        write_much(&client);
    }
    // Without a log that is held whole it would begin afresh in these.
    write_much(&client);
    write_much(&client);
    let last = [contents(&Connection::open(recorded.app.database.file()).unwrap())];
    let length = recorded.length();
    recorded.app.process.terminate();
    assert!(recorded.app.process.wait_exit().success(), "{}", recorded.app.process.log.to_end());
    let record = Record::read(&recorded.record);
    let mut disk = Disk::new(&record, mem::take(&mut recorded.before));
    for (moment, damage) in
        [(record.entries_at(length), Damage::Torn), (record.len(), Damage::Lost)]
    {
        disk.play_until(moment);
        assert_eq!(
            flaw(&disk.cut(damage, 0), &last),
            None,
            "cut before entry {moment} of {}",
            record.len()
        );
    }
    // The next start copies all of the log, and everything goes on.
    recorded.app.restart();
    recorded.app.writer().new_person(&json!({ "name": "After the restart" }));
}

#[test]
fn a_first_failed_flush_of_the_database_loses_nothing() {
    a_failed_flush_of_the_database_loses_nothing("1");
}

#[test]
fn a_later_failed_flush_of_the_database_loses_nothing() {
    a_failed_flush_of_the_database_loses_nothing("2");
}

/// Invariant 2.
#[test]
fn a_write_that_failed_is_not_there_after_a_crash() {
    let mut recorded = Recorded::start(&[("DISK_FAIL", "log 12")]);
    let client = recorded.app.writer();
    let mut states = States::first(&recorded);
    for number in 0.. {
        let reply = client.post("/v1/persons", &json!({ "name": format!("Person {number}") }));
        if reply.status == 503 {
            break;
        }
        reply.expect(201);
        states.add(&recorded);
    }
    recorded.app.process.kill();
    let found = contents(&Connection::open(recorded.app.database.file()).unwrap());
    assert_eq!(Some(&found), states.contents.last());
}
