//! The program is killed in the middle of its writes, again and again: what it said it had stored
//! is there afterwards.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;

use serde_json::json;

use crate::support::{App, Client, DEADLINE, Engine, apply, each_engine, rounds, strings};

const WRITERS: usize = 4;
const FIRST_STAGE: &str = "Sourced";
const SECOND_STAGE: &str = "Contacted";

/// A candidate that the program said it had stored, and whether it said so of the move as well.
struct Acknowledged {
    name: String,
    person: String,
    candidate: String,
    moved: bool,
}

/// Creates and moves candidates until the program is gone.
fn write(client: &Client, job: &str, prefix: &str, acknowledged: &mpsc::Sender<Acknowledged>) {
    for number in 0.. {
        let name = format!("{prefix} {number}");
        let Ok(created) =
            client.try_send("POST", "/v1/persons", Some(&json!({ "name": name, "job_id": job })))
        else {
            return;
        };
        let created = created.expect(201);
        let (person, candidate) = (created.id(), created.string("candidate_id"));
        let moved = client.try_send(
            "PATCH",
            &format!("/v1/candidates/{candidate}"),
            Some(&json!({ "stage_name": SECOND_STAGE })),
        );
        let moved = moved.is_ok_and(|reply| reply.expect(200).status == 200);
        if acknowledged.send(Acknowledged { name, person, candidate, moved }).is_err() || !moved {
            return;
        }
    }
}

/// Lets writers write, kills the program after so many acknowledged writes, and gives back all that
/// were acknowledged.
fn round(app: &mut App, job: &str, number: usize) -> Vec<Acknowledged> {
    let client = app.writer();
    let (sender, receiver) = mpsc::channel();
    let enough = 1 + number * 7 % 23;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (client, sender) = (client.clone(), sender.clone());
            scope.spawn(move || write(&client, job, &format!("Person {number}-{writer}"), &sender));
        }
        drop(sender);
        let mut acknowledged = Vec::new();
        while acknowledged.len() < enough {
            acknowledged.push(receiver.recv_timeout(DEADLINE).unwrap());
        }
        app.process.kill();
        acknowledged.extend(receiver);
        acknowledged
    })
}

fn assert_there(client: &Client, written: &Acknowledged) {
    let Acknowledged { name, person, candidate, moved } = written;
    let read = client.person(person);
    assert_eq!(read["name"], name.as_str());
    assert_eq!(strings(&read["jobs"], "candidate_id"), [candidate.as_str()]);
    let history = strings(&client.candidate(candidate)["pipeline_stage_history"], "stage_name");
    let expected = [FIRST_STAGE, SECOND_STAGE];
    assert!(history == expected || (!moved && history == expected[..1]), "{name}: {history:?}");
}

/// Invariant 1.
#[apply(each_engine)]
fn every_acknowledged_write_survives_being_killed(engine: &Engine) {
    let mut app = engine.app().start();
    let job = app.writer().new_job("Engineer", "Acme");
    let mut all = Vec::new();
    for number in 0..rounds(10, 100) {
        let acknowledged = round(&mut app, &job.id, number);
        app.restart();
        let client = app.writer();
        acknowledged.iter().for_each(|written| assert_there(&client, written));
        all.extend(acknowledged);
    }
    let client = app.writer();
    all.iter().for_each(|written| assert_there(&client, written));
    let total = client.get(&job.path()).data()["candidate_count"].as_u64().unwrap();
    let mut listed = BTreeSet::new();
    for offset in (0..total).step_by(100) {
        let page = client.get(&format!("{}?offset={offset}", job.candidates_path())).expect(200);
        assert_eq!(page.json["meta"]["total"], total);
        listed.extend(strings(page.data(), "id"));
    }
    assert_eq!(listed.len() as u64, total);
    assert!(all.iter().all(|written| listed.contains(&written.candidate)));
}
