//! The proof of the feed: whoever reads all records once and follows the feed from there ends with
//! what the reads show, though many write, merge, remove and erase at the same time; and nobody
//! ever sees a gap in it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};

use crate::support::{
    Client, Engine, Job, Reply, Workspace, apply, each_engine, eventually, next_after, rounds,
};

const WRITERS: usize = 6;

/// A mirror begins when so many events were written, in the middle of it all.
const MIDDLE: u64 = 200;
const STAGES: [&str; 4] = ["Contacted", "Interview", "Offer", "Rejected"];
const THE_END: &str = "The end";

/// What the writers bring about.
const KINDS: &[&str] = &[
    "person.created",
    "person.updated",
    "person.merged",
    "person.erased",
    "candidate.created",
    "candidate.moved",
    "candidate.merged",
    "candidate.removed",
    "job.created",
    "job.updated",
    "job.archived",
    "job.restored",
    "company.created",
    "company.updated",
    "company.merged",
    "company.contact_added",
    "company.contact_removed",
];

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
const CANDIDATE: &[&str] = &[
    "person_id",
    "job_id",
    "current_pipeline_stage_id",
    "current_pipeline_stage_name",
    "current_pipeline_stage_date",
    "created_at",
];
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
const COMPANY: &[&str] = &["name"];
const CONTACT: &[&str] = &["company_id", "person_id"];

/// The fields that say whom a record belongs to.
const OWNERS: [&str; 4] = ["person_id", "company_id", "current_company_id", "client_company_id"];

/// The fields of the record with that id that count here; none for keys, which are no part of a
/// mirror.
fn fields(id: &str) -> &'static [&'static str] {
    match id.split_once('_') {
        Some(("job", _)) => JOB,
        Some(("cnd", _)) => CANDIDATE,
        Some(("per", _)) => PERSON,
        Some(("cmp", _)) => COMPANY,
        Some(("ctc", _)) => CONTACT,
        _ => &[],
    }
}

fn keep(state: &mut State, record: &Value) {
    let id = record["id"].as_str().unwrap();
    let known = fields(id).iter().map(|field| (*field, record[*field].clone())).collect();
    state.insert(id.to_owned(), known);
}

/// Does with an event what the documentation says.
fn apply(state: &mut State, event: &Value) {
    let id = event["record_id"].as_str().unwrap();
    let (before, after) = (&event["data"]["before"], &event["data"]["after"]);
    match event["type"].as_str().unwrap() {
        "candidate.removed" | "candidate.merged" => {
            state.remove(id);
        }
        "person.erased" => {
            let ids = after["ids"].as_array().unwrap();
            state.retain(|id, record| {
                !ids.iter().any(|gone| gone == id || *gone == record["person_id"])
            });
        }
        // The person whom it told of is erased further on.
        _ if event["data"].is_null() => {}
        "person.merged" | "company.merged" => {
            hand_over(state, after["merged"]["id"].as_str().unwrap(), id);
            put(state, id, after);
        }
        "company.contact_added" => {
            keep(state, &contact(&after["client_contact_id"], id, &after["person_id"]))
        }
        "company.contact_removed" => {
            state.remove(before["client_contact_id"].as_str().unwrap());
        }
        _ => put(state, id, after),
    }
}

/// Puts fields over what is there of a record.
fn put(state: &mut State, id: &str, after: &Value) {
    let fields = fields(id);
    if fields.is_empty() {
        return;
    }
    let empty = || {
        HISTORY.iter().filter(|list| fields.contains(list)).map(|list| (*list, json!([]))).collect()
    };
    let record = state.entry(id.to_owned()).or_insert_with(empty);
    for (field, value) in after.as_object().unwrap() {
        if fields.contains(&field.as_str()) {
            record[field.as_str()] = value.clone();
        }
    }
}

/// Removes a person or a company and gives what it had to another.
fn hand_over(state: &mut State, from: &str, to: &str) {
    state.remove(from);
    for record in state.values_mut() {
        for owner in OWNERS {
            if record[owner] == from {
                record[owner] = json!(to);
            }
        }
    }
}

fn contact(id: &Value, company: &str, person: &Value) -> Value {
    json!({ "id": id, "company_id": company, "person_id": person })
}

/// Looks up the names of companies by their ids, as a mirror does when it shows a record.
fn name_companies(state: &mut State) {
    let companies = state.iter().filter(|(id, _)| fields(id) == COMPANY);
    let names: BTreeMap<String, Value> =
        companies.map(|(id, company)| (id.clone(), company["name"].clone())).collect();
    for record in state.values_mut() {
        for (id, name) in [
            ("current_company_id", "current_company_name"),
            ("client_company_id", "client_company_name"),
        ] {
            let known =
                record[id].as_str().map(|id| names.get(id).cloned().unwrap_or_else(|| json!("")));
            if let Some(known) = known {
                record[name] = known;
            }
        }
    }
}

/// The entries of a whole list.
fn list(client: &Client, path: &str) -> Vec<Value> {
    let (mut entries, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}?cursor={cursor}")).expect(200);
        entries.extend_from_slice(page.entries());
        match page.json["meta"]["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return entries,
        }
    }
}

/// The record under that path, or the one that it went into; nothing if it is gone.
fn read(client: &Client, path: &str) -> Option<Value> {
    let reply = client.get(path);
    match reply.status {
        404 | 410 => None,
        _ => Some(reply.expect(200).data().clone()),
    }
}

/// The contacts of a company. If it goes into another meanwhile, nobody knows whose they are, and
/// they are read again.
fn read_contacts(client: &Client, path: &str) -> Vec<Value> {
    let company = || client.get(path).expect(200).id();
    loop {
        let holder = company();
        let entries = list(client, &format!("{path}/contacts"));
        if company() == holder {
            return entries
                .iter()
                .map(|entry| contact(&entry["id"], &holder, &entry["person_id"]))
                .collect();
        }
    }
}

/// Everything that can be read.
fn read_all(client: &Client) -> State {
    let mut state = State::new();
    for kind in ["/v1/companies", "/v1/jobs", "/v1/persons", "/v1/candidates"] {
        for entry in list(client, kind) {
            let path = format!("{kind}/{}", entry["id"].as_str().unwrap());
            if let Some(record) = read(client, &path) {
                keep(&mut state, &record);
            }
            if kind == "/v1/companies" {
                read_contacts(client, &path).iter().for_each(|contact| keep(&mut state, contact));
            }
        }
    }
    state
}

/// Reads the feed behind the position until the end. Each page must go on exactly where the last
/// one ended.
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

/// A person whom a writer made, with the candidate on a job.
#[derive(Clone)]
struct Made {
    person: String,
    candidate: String,
    job: String,
}

impl Made {
    fn person_path(&self) -> String {
        format!("/v1/persons/{}", self.person)
    }

    fn candidate_path(&self) -> String {
        format!("/v1/candidates/{}", self.candidate)
    }
}

/// What all writers work on.
struct Shared {
    jobs: Vec<Job>,
    /// The path of a person who stays, of their candidate, and of a company that stays.
    person: String,
    candidate: String,
    company: String,
    /// Those who may be merged and erased by anybody, the newest last.
    made: Mutex<Vec<Made>>,
    /// The paths of contacts that may be removed.
    contacts: Mutex<Vec<String>>,
}

impl Shared {
    fn build(client: &Client) -> Self {
        let jobs: Vec<_> =
            (0..3).map(|number| client.new_job(&format!("Job {number}"), "Acme")).collect();
        let new = |job: &Job, name: &str| {
            let candidate = client.new_candidate(job, name);
            let text = |field: &str| candidate[field].as_str().unwrap().to_owned();
            Made { person: text("person_id"), candidate: text("id"), job: job.id.clone() }
        };
        let ada = new(&jobs[0], "Ada");
        let company = client.post("/v1/companies", &json!({ "name": "Home" })).expect(201).id();
        Self {
            person: ada.person_path(),
            candidate: ada.candidate_path(),
            company: format!("/v1/companies/{company}"),
            made: Mutex::new(jobs.iter().map(|job| new(job, "Grace")).collect()),
            contacts: Mutex::default(),
            jobs,
        }
    }

    /// Somebody who was made lately, on that job if one is given; the newest is 0.
    fn recent(&self, job: Option<&Job>, back: usize) -> Made {
        let made = self.made.lock().unwrap();
        let fitting: Vec<&Made> =
            made.iter().filter(|made| job.is_none_or(|job| job.id == made.job)).collect();
        fitting[fitting.len().saturating_sub(back + 1)].clone()
    }
}

/// What was done; nothing if somebody else was faster, or too many wanted the same.
#[track_caller]
fn done(reply: Reply) -> Option<Reply> {
    match reply.status {
        200 | 201 => Some(reply),
        404 | 409 | 410 | 503 => None,
        _ => panic!("{reply:#?}"),
    }
}

/// Expects that it was done, or that too many wanted the same: it is about something that nobody
/// takes away.
#[track_caller]
fn surely(reply: &Reply) {
    assert!([200, 201, 503].contains(&reply.status), "{reply:#?}");
}

fn remove(client: &Client, path: &str) {
    done(client.send("DELETE", path, None));
}

/// An employer and client that comes and goes.
fn works(number: usize) -> String {
    format!("Works {}", number % 5)
}

fn write(client: &Client, shared: &Shared, writer: usize) {
    for round in 0..rounds(15, 150) {
        let (turn, name) = (writer + round, format!("{writer}-{round}"));
        let job = &shared.jobs[turn % shared.jobs.len()];
        let stage = json!({ "stage_name": STAGES[turn % STAGES.len()] });
        let person = json!({ "name": format!("Person {name}"), "company_name": works(round),
            "job_id": job.id });
        if let Some(made) = done(client.post("/v1/persons", &person)) {
            let made = Made {
                person: made.id(),
                candidate: made.string("candidate_id"),
                job: job.id.clone(),
            };
            shared.made.lock().unwrap().push(made);
        }
        surely(&client.patch(&shared.candidate, &stage));
        let patch = json!({ "current_job_title": name, "company_name": works(turn),
            "work_email": format!("{name}@x.example") });
        surely(&client.patch(&shared.person, &patch));
        surely(&client.put(
            &format!("{}/history", shared.person),
            &json!({ "certifications": [{ "name": name }] }),
        ));
        surely(&client.patch(
            &job.path(),
            &json!({ "name": format!("Job {name}"), "is_archived": turn % 2 == 0 }),
        ));
        if round % 5 == 0 {
            surely(&client.post(
                "/v1/jobs",
                &json!({ "name": format!("Job of {name}"), "client_company_name": works(turn) }),
            ));
        }
        let other = shared.recent(None, turn % 6);
        done(client.patch(&other.candidate_path(), &stage));
        done(client.patch(
            &other.person_path(),
            &json!({ "current_job_title": name, "company_name": works(turn + 1) }),
        ));
        match (turn + round) % 3 {
            0 => merge_persons(client, shared, turn),
            1 => change_companies(client, shared, turn, &name),
            _ => remove_some(client, shared, turn),
        }
    }
}

/// Makes one of two who are on the same job.
fn merge_persons(client: &Client, shared: &Shared, turn: usize) {
    let job = |number: usize| &shared.jobs[number % shared.jobs.len()];
    let (kept, gone) =
        (shared.recent(Some(job(turn)), turn % 2), shared.recent(Some(job(turn)), 1 + turn % 2));
    let gone = json!({ "person_id": gone.person });
    done(client.post(&job(turn + 1).candidates_path(), &gone));
    done(client.post(&format!("{}/merge", kept.person_path()), &gone));
}

/// Gives a company contacts, one of whom is also one of the company that stays, and renames it or
/// lets it go into another.
fn change_companies(client: &Client, shared: &Shared, turn: usize, name: &str) {
    let company = |name: &str| {
        done(client.post("/v1/companies", &json!({ "name": name }))).map(|company| company.id())
    };
    let Some(id) = company(&works(turn)) else { return };
    let path = format!("/v1/companies/{id}");
    let guest = json!({ "name": format!("Guest {name}"), "client_id": id });
    if let Some(guest) = done(client.post("/v1/persons", &guest)) {
        shared
            .contacts
            .lock()
            .unwrap()
            .push(format!("{path}/contacts/{}", guest.string("client_contact_id")));
    }
    let person = json!({ "person_id": shared.recent(None, turn % 4).person });
    for company in [&path, &shared.company] {
        if let Some(contact) = done(client.post(&format!("{company}/contacts"), &person)) {
            shared.contacts.lock().unwrap().push(format!("{company}/contacts/{}", contact.id()));
        }
    }
    let gone = json!({ "company_id": id });
    match turn % 4 {
        0 => {
            done(client.patch(&path, &json!({ "name": format!("Renamed {name}") })));
            surely(&client.patch(&shared.company, &json!({ "name": format!("Home {name}") })));
        }
        1 => {
            if let Some(into) = company(&works(turn + 1)) {
                done(client.post(&format!("/v1/companies/{into}/merge"), &gone));
            }
        }
        _ => {
            done(client.post(&format!("{}/merge", shared.company), &gone));
        }
    }
}

/// Takes somebody off a job, and erases a person or removes a contact.
fn remove_some(client: &Client, shared: &Shared, turn: usize) {
    remove(client, &shared.recent(None, 1 + turn % 5).candidate_path());
    if turn.is_multiple_of(2) {
        remove(client, &shared.recent(None, 2 + turn % 4).person_path());
        return;
    }
    let contact = shared.contacts.lock().unwrap().pop();
    if let Some(contact) = contact {
        remove(client, &contact);
    }
}

#[track_caller]
fn assert_same(mut mirror: State, truth: &State) {
    name_companies(&mut mirror);
    for (id, record) in truth {
        assert_eq!(mirror.get(id), Some(record), "{id}");
    }
    let more: Vec<_> = mirror.iter().filter(|(id, _)| !truth.contains_key(*id)).collect();
    assert!(more.is_empty(), "{more:#?}");
}

/// Whether two readers saw the same events, the second of them perhaps after somebody was erased.
fn tell_the_same(feed: &[Value], later: &[Value]) -> bool {
    let without_contents = |event: &Value| {
        let mut event = event.clone();
        ["data", "request_id"].into_iter().for_each(|field| event[field] = Value::Null);
        event
    };
    let is_same = |(event, later): (&Value, &Value)| {
        event == later || (later["data"].is_null() && without_contents(event) == *later)
    };
    feed.len() == later.len() && feed.iter().zip(later).all(is_same)
}

/// Writers, readers of the whole feed and mirrors at once, spread over the servers.
fn prove(servers: &[Client]) {
    let shared = &Shared::build(&servers[0]);
    let (feeds, mirrors) = thread::scope(|scope| {
        let feeds: Vec<_> =
            servers.iter().map(|client| scope.spawn(move || all_events(client))).collect();
        let mirrors: Vec<_> =
            servers.iter().map(|client| scope.spawn(move || mirror(client))).collect();
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
    let (truth, last_feed) = (read_all(&servers[0]), all_events(&servers[0]));
    assert!(truth.len() > WRITERS * rounds(15, 150) / 2, "only {} records", truth.len());
    for kind in KINDS {
        assert!(
            last_feed.iter().any(|event| event["type"] == *kind && !event["data"].is_null()),
            "there was no {kind}"
        );
    }
    assert!(last_feed.iter().any(|event| event["data"].is_null()), "nothing was forgotten");
    mirrors.into_iter().for_each(|mirror| assert_same(mirror, &truth));
    for feed in feeds.iter().chain([&last_feed]) {
        assert!(tell_the_same(feed, &last_feed), "the servers tell different stories");
        let mut replayed = State::new();
        feed.iter().for_each(|event| apply(&mut replayed, event));
        assert_same(replayed, &truth);
    }
}

/// Invariant 4.
#[apply(each_engine)]
fn who_reads_once_and_follows_the_feed_has_everything(workspace: &Workspace) {
    prove(&[workspace.writer()]);
}

#[test]
fn it_makes_no_difference_which_server_writes_and_which_is_read() {
    let app = Engine::Postgres.app().start();
    let (_second, address) = app.another_server();
    prove(&[app.writer(), Client::new(&address).with_key(&app.key("write"))]);
}
