//! The proof of the feed: whoever reads all records once and follows the feed from there ends with what the reads show, though many
//! write at the same time; and nobody ever sees a gap in it.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Value, json};

use crate::support::{App, Client, Engine, Job, each_engine, eventually, next_after, strings};

each_engine! {
    who_reads_once_and_follows_the_feed_has_everything
}

const WRITERS: usize = 6;
const ROUNDS: usize = 20;
/// A mirror begins when so many events were written, in the middle of it all.
const MIDDLE: u64 = 200;
const STAGES: [&str; 4] = ["Contacted", "Interview", "Offer", "Rejected"];
const THE_END: &str = "The end";

/// The records by their ids, with the fields that both reads and events show.
type State = BTreeMap<String, Value>;

const JOB: &[&str] = &[
    "name",
    "is_archived",
    "client_company_name",
    "client_company_id",
    "job_status_name",
    "job_status_id",
    "pipeline_stages",
    "created_at",
];
const CANDIDATE: &[&str] =
    &["person_id", "job_id", "current_pipeline_stage_id", "current_pipeline_stage_name", "current_pipeline_stage_date", "created_at"];
const HISTORY: [&str; 3] = ["work_experience", "education_experience", "certifications"];
const PERSON: &[&str] = &[
    "name",
    "first_name",
    "last_name",
    "social_public_id",
    "current_job_title",
    "current_company_id",
    "current_company_name",
    "external_source_id",
    "emails",
    "phones",
    HISTORY[0],
    HISTORY[1],
    HISTORY[2],
];

/// The fields of the record with that id that count here; none for companies and keys, which cannot be read.
fn fields(id: &str) -> &'static [&'static str] {
    match id.split_once('_') {
        Some(("job", _)) => JOB,
        Some(("cnd", _)) => CANDIDATE,
        Some(("per", _)) => PERSON,
        _ => &[],
    }
}

fn keep(state: &mut State, record: &Value) {
    let id = record["id"].as_str().unwrap();
    let known = fields(id).iter().map(|field| (*field, record[*field].clone())).collect();
    state.insert(id.to_owned(), known);
}

/// Puts what an event says over what is there.
fn apply(state: &mut State, event: &Value) {
    let id = event["record_id"].as_str().unwrap();
    let fields = fields(id);
    if fields.is_empty() {
        return;
    }
    let empty = || HISTORY.iter().filter(|list| fields.contains(list)).map(|list| (*list, json!([]))).collect();
    let record = state.entry(id.to_owned()).or_insert_with(empty);
    for (field, value) in event["data"]["after"].as_object().unwrap() {
        if fields.contains(&field.as_str()) {
            record[field.as_str()] = value.clone();
        }
    }
}

/// The ids of a whole list.
fn ids(client: &Client, path: &str) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}?cursor={cursor}")).expect(200);
        ids.extend(strings(page.data(), "id"));
        match page.json["meta"]["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return ids,
        }
    }
}

/// Everything that can be read.
fn read_all(client: &Client) -> State {
    let mut state = State::new();
    for job in ids(client, "/v1/jobs") {
        let path = format!("/v1/jobs/{job}");
        keep(&mut state, client.get(&path).expect(200).data());
        for candidate in ids(client, &format!("{path}/candidates")) {
            let candidate = client.candidate(&candidate);
            keep(&mut state, &client.person(candidate["person_id"].as_str().unwrap()));
            keep(&mut state, &candidate);
        }
    }
    state
}

/// Reads the feed behind the position until the end. Each page must go on exactly where the last one ended.
fn follow(client: &Client, position: u64, mut seen: impl FnMut(&Value)) {
    let mut last = position;
    eventually("the end is in the feed", || {
        let page = client.get(&format!("/v1/events?after={last}&limit=50")).expect(200);
        for event in page.entries() {
            assert_eq!(event["sequence"], last + 1, "{event}");
            last += 1;
            seen(event);
        }
        assert_eq!(next_after(&page), last);
        page.entries().last().is_some_and(|event| event["data"]["after"]["name"] == THE_END)
    });
}

fn position(client: &Client) -> u64 {
    next_after(&client.get("/v1/events?after=latest").expect(200))
}

/// What a client has in the end that began in the middle.
fn mirror(client: &Client) -> State {
    eventually("much is written", || position(client) >= MIDDLE);
    let position = position(client);
    let mut state = read_all(client);
    follow(client, position, |event| apply(&mut state, event));
    state
}

/// All events, as they came.
fn all_events(client: &Client) -> Vec<Value> {
    let mut events = Vec::new();
    follow(client, 0, |event| events.push(event.clone()));
    events
}

/// The records that all writers change.
struct Shared {
    jobs: Vec<Job>,
    person: String,
    candidate: String,
}

impl Shared {
    fn build(client: &Client) -> Self {
        let jobs: Vec<_> = (0..3).map(|number| client.new_job(&format!("Job {number}"), "Acme")).collect();
        let candidate = client.new_candidate(&jobs[0], "Ada");
        let text = |field: &str| candidate[field].as_str().unwrap().to_owned();
        Self { jobs, person: format!("/v1/persons/{}", text("person_id")), candidate: format!("/v1/candidates/{}", text("id")) }
    }
}

fn write(client: &Client, shared: &Shared, writer: usize) {
    for round in 0..ROUNDS {
        let (turn, name) = (writer + round, format!("{writer}-{round}"));
        let job = &shared.jobs[turn % shared.jobs.len()];
        let stage = json!({ "stage_name": STAGES[turn % STAGES.len()] });
        let person = json!({ "name": format!("Person {name}"), "company_name": format!("Works {}", round % 5), "job_id": job.id });
        let created = client.post("/v1/persons", &person).expect(201);
        client.patch(&format!("/v1/candidates/{}", created.string("candidate_id")), &stage).expect(200);
        client.patch(&shared.candidate, &stage).expect(200);
        let patch =
            json!({ "current_job_title": name, "company_name": format!("Works {}", turn % 5), "work_email": format!("{name}@x.example") });
        client.patch(&shared.person, &patch).expect(200);
        client.put(&format!("{}/history", shared.person), &json!({ "certifications": [{ "name": name }] })).expect(200);
        client.patch(&job.path(), &json!({ "name": format!("Job {name}"), "is_archived": turn % 2 == 0 })).expect(200);
        if round % 5 == 0 {
            client.new_job(&format!("Job of {name}"), &format!("Client {}", round / 5));
        }
    }
}

#[track_caller]
fn assert_same(mirror: &State, truth: &State) {
    for (id, record) in truth {
        assert_eq!(mirror.get(id), Some(record), "{id}");
    }
    assert_eq!(mirror.len(), truth.len());
}

/// Writers, readers of the whole feed and mirrors at once, spread over the servers.
fn prove(servers: &[Client]) {
    let shared = &Shared::build(&servers[0]);
    let (feeds, mirrors) = thread::scope(|scope| {
        let feeds: Vec<_> = servers.iter().map(|client| scope.spawn(move || all_events(client))).collect();
        let mirrors: Vec<_> = servers.iter().map(|client| scope.spawn(move || mirror(client))).collect();
        let start = |writer: usize| {
            let client = &servers[writer % servers.len()];
            scope.spawn(move || write(client, shared, writer))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        servers[0].new_job(THE_END, "Acme");
        let feeds: Vec<_> = feeds.into_iter().map(|feed| feed.join().unwrap()).collect();
        let mirrors: Vec<_> = mirrors.into_iter().map(|mirror| mirror.join().unwrap()).collect();
        (feeds, mirrors)
    });
    let truth = read_all(&servers[0]);
    assert!(truth.len() > 2 * WRITERS * ROUNDS, "only {} records", truth.len());
    mirrors.iter().for_each(|mirror| assert_same(mirror, &truth));
    let mut replayed = State::new();
    feeds[0].iter().for_each(|event| apply(&mut replayed, event));
    assert_same(&replayed, &truth);
    assert!(feeds.iter().all(|feed| *feed == feeds[0]), "the servers tell different stories");
}

fn who_reads_once_and_follows_the_feed_has_everything(app: &App) {
    prove(&[app.writer()]);
}

#[test]
fn it_makes_no_difference_which_server_writes_and_which_is_read() {
    let app = Engine::Postgres.app().start();
    let (_second, address) = app.another_server();
    prove(&[app.writer(), Client::new(&address).with_key(&app.key("main", "write"))]);
}
