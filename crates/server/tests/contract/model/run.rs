//! Runs random steps: sends each request to the program, asks the model too, and compares the
//! answers, the records and the feed.

use std::env;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::{Value, json};

use super::answers::{Answer, Request};
use super::learned::{Learned, number, placeholder};
use super::mistakes::Foreign;
use super::steps::Steps;
use super::world::{ExpectedEvent, World};
use crate::support::{
    App, Client, Engine, Reply, Workspace, eventually, next_after, next_millisecond,
};

/// The number of erased persons that are read again, the last ones first.
const ERASED_READ: usize = 10;
/// The longest time from a request to the kill during it.
const MAX_DELAY: Duration = Duration::from_millis(15);

/// A workspace that the model does not know.
const ELSEWHERE: &str = "elsewhere";

pub struct Run {
    pub steps: Steps,
    journal: Journal,
    client: Client,
    world: World,
    learned: Learned,
    /// All events that the feed must have.
    log: Vec<Logged>,
    /// The number of them that were read.
    seen: usize,
    /// The sequence of the last event before them.
    first: u64,
    requests: usize,
}

struct Logged {
    event: ExpectedEvent,
    request_id: Value,
}

/// Prints the seed and the last requests when a run fails.
struct Journal {
    seed: u64,
    requests: Vec<String>,
}

impl Drop for Journal {
    fn drop(&mut self) {
        if thread::panicking() {
            let last = self.requests.len().saturating_sub(20);
            eprintln!(
                "TEST_SEED={} repeats this run, but for the moments of kills. The last of {} \
                 requests:",
                self.seed,
                self.requests.len()
            );
            self.requests[last..].iter().for_each(|request| eprintln!("  {request}"));
        }
    }
}

impl Run {
    /// Begins in a workspace without records.
    pub fn begin(workspace: &Workspace) -> Self {
        let seed = env::var("TEST_SEED")
            .map_or_else(|_| rand::random(), |written| written.parse().unwrap());
        let client = workspace.writer();
        let foreign = Foreign::build(&workspace.client_of(ELSEWHERE, "write"));
        let mut first = 0;
        eventually("the log of a workspace begins", || {
            first = next_after(&client.get("/v1/events?after=latest").expect(200));
            first > 0
        });
        let journal = Journal { seed, requests: Vec::new() };
        let (steps, world) = (Steps::new(seed, foreign), World::new());
        let mut run = Self {
            steps,
            journal,
            client,
            world,
            learned: Learned::default(),
            log: Vec::new(),
            seen: 0,
            first,
            requests: 0,
        };
        // This binds the ids of the statuses.
        run.compare_all();
        run
    }

    pub fn step(&mut self) {
        let request = self.steps.next(&self.world);
        self.bind_path(&request);
        self.send(&request);
    }

    /// Binds ids in the path that no answer has shown: those of candidates and notes that a write
    /// of a person made.
    #[track_caller]
    fn bind_path(&mut self, request: &Request) {
        if self.learned.knows(&request.path) {
            return;
        }
        let candidate = request.route().rsplit('/').next().and_then(|id| number("cnd", id));
        let person =
            candidate.map(|number| placeholder("per", self.world.candidates[&number].person));
        let found = match (person, request.path.split_once("/notes/")) {
            (Some(person), _) => read(
                &self.client,
                &mut self.world,
                &mut self.learned,
                &format!("/v1/persons/{person}"),
            )
            .map(drop),
            (None, Some((person, _))) => read_list(
                &self.client,
                &mut self.world,
                &mut self.learned,
                &format!("{person}/notes"),
            ),
            (None, None) => Err(format!("no read shows the ids in {}", request.path)),
        };
        found.unwrap_or_else(|flaw| panic!("{flaw}"));
    }

    #[track_caller]
    fn send(&mut self, request: &Request) {
        let id = self.new_request(request);
        let (answer, events) = self.world.answer(request, &id);
        let reply = try_send(&self.client, &self.learned, request, &id).unwrap();
        compare(&mut self.learned, request, &answer, &reply)
            .unwrap_or_else(|flaw| panic!("{flaw}"));
        self.expect_events(events, &id);
        self.steps.see(request, &answer);
    }

    fn new_request(&mut self, request: &Request) -> String {
        self.requests += 1;
        let id = format!("request-{}", self.requests);
        let Request { method, path, body, key } = request;
        let body = body.as_ref().map(|body| format!(" {body}")).unwrap_or_default();
        let key = key.as_ref().map(|key| format!(" under {key}")).unwrap_or_default();
        self.journal.requests.push(format!("{id}: {method} {path}{body}{key}"));
        id
    }

    /// Expects these events in the feed. An erasure removes the contents of those about the person.
    fn expect_events(&mut self, events: Vec<ExpectedEvent>, request_id: &str) {
        let erased = events
            .iter()
            .filter(|event| event.kind == "person.erased")
            .find_map(|event| number("per", &event.record));
        self.log.extend(
            events.into_iter().map(|event| Logged { event, request_id: json!(request_id) }),
        );
        if erased.is_some() {
            for entry in self.log.iter_mut().filter(|entry| entry.event.about == erased) {
                (entry.event.data, entry.request_id) = (Value::Null, Value::Null);
            }
        }
    }

    /// Compares all records.
    #[track_caller]
    pub fn compare_all(&mut self) {
        read_all(&self.client, &mut self.world, &mut self.learned)
            .unwrap_or_else(|flaw| panic!("{flaw}"));
    }

    /// Compares the new part of the feed: one event for each change, and none for repeats, refusals
    /// and reads.
    #[track_caller]
    pub fn compare_feed(&mut self) {
        let expected: Vec<_> =
            (self.seen..self.log.len()).map(|place| self.shown_event(place)).collect();
        let mut found: Vec<Value> = Vec::new();
        eventually("all that was written is in the feed", || {
            let position = self.first + (self.seen + found.len()) as u64;
            let page =
                self.client.get(&format!("/v1/events?after={position}&limit=1000")).expect(200);
            assert_eq!(next_after(&page), position + page.entries().len() as u64, "{page:#?}");
            found.extend_from_slice(page.entries());
            found.len() >= expected.len()
        });
        for (expected, found) in expected.iter().zip(&found) {
            let compared = self.learned.compare(expected, found);
            compared
                .unwrap_or_else(|flaw| panic!("{flaw}\nexpected {expected:#}\nfound {found:#}"));
        }
        assert_eq!(
            found.len(),
            expected.len(),
            "behind all that was expected came {:#?}",
            found.get(expected.len()..)
        );
        self.seen = self.log.len();
    }

    /// Compares the feed from the beginning: old events stay as they were, but for contents that
    /// were erased.
    #[track_caller]
    pub fn compare_whole_feed(&mut self) {
        self.seen = 0;
        self.compare_feed();
    }

    fn shown_event(&self, place: usize) -> Value {
        let Logged { event: ExpectedEvent { kind, record, data, id, at, hash, .. }, request_id } =
            &self.log[place];
        json!({
            "id": id,
            "sequence": self.first + place as u64 + 1,
            "type": kind,
            "created_at": at,
            "key_id": placeholder("key", 0),
            "request_id": request_id,
            "record_id": record,
            "data": data,
            "previous_hash": hash,
        })
    }

    pub fn crash(&mut self, app: &mut App) {
        app.process.kill();
        self.restart(app);
    }

    fn restart(&mut self, app: &mut App) {
        if let Engine::Postgres = app.database.engine {
            // PostgreSQL may still commit what the program sent before it died.
            let open = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND \
                application_name = 'slated'";
            eventually("the sessions of the program that was killed end", || {
                app.database.execute(open).is_empty()
            });
        }
        app.restart();
        self.client = app.writer();
    }

    /// Kills the program during a change, which must happen as a whole or not at all. The model
    /// follows the records that are found.
    #[track_caller]
    pub fn crash_during_a_change(&mut self, app: &mut App) {
        let request = self.steps.next_change(&self.world);
        self.bind_path(&request);
        let id = self.new_request(&request);
        let mut after = self.world.clone();
        let (answer, events) = after.answer(&request, &id);
        let time = self.steps.random.random_range(Duration::ZERO..MAX_DELAY);
        let reply = thread::scope(|scope| {
            let sending = scope.spawn(|| try_send(&self.client, &self.learned, &request, &id));
            let begun = Instant::now();
            while begun.elapsed() < time {
                thread::yield_now();
            }
            app.process.kill();
            sending.join().unwrap()
        });
        if let Ok(reply) = &reply {
            compare(&mut self.learned, &request, &answer, reply)
                .unwrap_or_else(|flaw| panic!("{flaw}"));
        }
        self.restart(app);
        let mut learned = self.learned.clone();
        let happened = read_all(&self.client, &mut after, &mut learned);
        match (happened, reply) {
            (Ok(()), _) => {
                (self.world, self.learned) = (after, learned);
                self.expect_events(events, &id);
            }
            (Err(flaw), Ok(_)) => panic!("an acknowledged change is gone: {flaw}"),
            (Err(flaw), Err(_)) => {
                let was_not = read_all(&self.client, &mut self.world, &mut self.learned);
                was_not.unwrap_or_else(|other| {
                    panic!(
                        "{request:?} was done in part.\nUnlike the change: {flaw}\nUnlike the \
                        state before: {other}"
                    )
                });
            }
        }
        if request.key.is_some() {
            self.send(&request);
        }
    }
}

fn try_send(
    client: &Client,
    learned: &Learned,
    request: &Request,
    id: &str,
) -> Result<Reply, ureq::Error> {
    let client = client.with("x-request-id", id);
    let client = match &request.key {
        Some(key) => client.with("idempotency-key", key),
        None => client,
    };
    if request.method == "POST" {
        // Ids of one millisecond are in no order on PostgreSQL, and lists follow the ids.
        next_millisecond();
    }
    let body = request.body.as_ref().map(|body| learned.write_body(body));
    client.try_send(request.method, &learned.write(&request.path), body.as_ref())
}

fn compare(
    learned: &mut Learned,
    request: &Request,
    answer: &Answer,
    reply: &Reply,
) -> Result<(), String> {
    let Answer { status, body, is_replay } = answer;
    let compared = if *status == reply.status {
        learned.compare(body, &reply.json)
    } else {
        Err(format!("the status is {}, not {status}", reply.status))
    };
    let replayed = (reply.header("idempotency-replayed") == Some("true")) == *is_replay;
    let compared = compared.and_then(|()| {
        if replayed { Ok(()) } else { Err(format!("a replay was expected: {is_replay}")) }
    });
    compared.map_err(|flaw| {
        format!(
            "{flaw}\nof {request:?}\nexpected {status} {body:#}\nfound {} {:#}",
            reply.status, reply.json
        )
    })
}

fn read_all(client: &Client, world: &mut World, learned: &mut Learned) -> Result<(), String> {
    for list in ["/v1/job-statuses", "/v1/persons", "/v1/jobs", "/v1/candidates"] {
        read_list(client, world, learned, list)?;
    }
    for person in world.persons.keys().copied().collect::<Vec<_>>() {
        let path = format!("/v1/persons/{}", placeholder("per", person));
        read(client, world, learned, &path)?;
        read_list(client, world, learned, &format!("{path}/notes"))?;
    }
    for person in world.erased.iter().rev().take(ERASED_READ).copied().collect::<Vec<_>>() {
        read(client, world, learned, &format!("/v1/persons/{}", placeholder("per", person)))?;
    }
    for job in world.jobs.keys().copied().collect::<Vec<_>>() {
        let path = format!("/v1/jobs/{}", placeholder("job", job));
        read(client, world, learned, &path)?;
        read(client, world, learned, &format!("{path}/stages"))?;
        read_list(client, world, learned, &format!("{path}/candidates"))?;
    }
    for candidate in world.candidates.keys().copied().collect::<Vec<_>>() {
        read(client, world, learned, &format!("/v1/candidates/{}", placeholder("cnd", candidate)))?;
    }
    Ok(())
}

fn read_list(
    client: &Client,
    world: &mut World,
    learned: &mut Learned,
    list: &str,
) -> Result<(), String> {
    let mut cursor = String::new();
    loop {
        let answer = read(client, world, learned, &format!("{list}?cursor={cursor}&limit=30"))?;
        match answer.next_cursor() {
            Some(next) => next.clone_into(&mut cursor),
            None => return Ok(()),
        }
    }
}

fn read(
    client: &Client,
    world: &mut World,
    learned: &mut Learned,
    path: &str,
) -> Result<Answer, String> {
    let request = Request::read(path);
    let id = "reading-all";
    let (answer, _) = world.answer(&request, id);
    let reply =
        try_send(client, learned, &request, id).map_err(|error| format!("{path}: {error}"))?;
    compare(learned, &request, &answer, &reply)?;
    Ok(answer)
}
