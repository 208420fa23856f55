//! The log of changes as a stream: events come as they are written, and a reader who was cut off
//! goes on without gap or double.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    App, Block, DEADLINE, Engine, EventStream, Log, Workspace, World, apply, each_engine,
    eventually, on_sqlite, sequences, types,
};

const STREAM: &str = "/v1/events/stream";
/// How soon a stream ends that has to.
const END_LIMIT: Duration = Duration::from_secs(10);

fn open(workspace: &Workspace, parameters: &str, last_event_id: Option<u64>) -> EventStream {
    EventStream::open(
        &workspace.address,
        &workspace.key("write"),
        &format!("{STREAM}{parameters}"),
        last_event_id,
    )
}

fn take(stream: &mut EventStream, count: usize) -> Vec<Value> {
    let next = |_| {
        let (id, kind, event) = stream.next_event();
        assert_eq!(
            (json!(id), json!(kind)),
            (event["sequence"].clone(), event["type"].clone()),
            "{event}"
        );
        event
    };
    (0..count).map(next).collect()
}

/// All events there are, as the feed shows them.
fn feed(workspace: &Workspace) -> Vec<Value> {
    workspace.writer().get("/v1/events?limit=1000").expect(200).entries().to_vec()
}

#[apply(each_engine)]
fn new_events_come_as_they_are_written(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let mut stream = open(workspace, "", None);
    let world = World::build(&client);
    client.patch(&world.job.path(), &json!({ "name": "Pilot" })).expect(200);
    let events = log.new_events();
    assert_eq!(take(&mut stream, events.len()), events);
    assert_eq!(types(&events).last(), Some(&"job.updated"));
}

#[apply(each_engine)]
fn a_stream_begins_behind_the_position_that_it_is_given(workspace: &Workspace) {
    World::build(&workspace.writer());
    Log::begin(&workspace.writer());
    let all = feed(workspace);
    for (parameters, last_event_id, position) in
        [("?after=0", None, 0), ("?after=3", None, 3), ("", Some(4), 4), ("?after=0", Some(5), 5)]
    {
        let mut stream = open(workspace, parameters, last_event_id);
        assert_eq!(
            take(&mut stream, all.len() - position),
            all[position..],
            "{parameters} {last_event_id:?}"
        );
    }
}

#[apply(each_engine)]
fn a_reader_who_is_cut_off_again_and_again_misses_nothing(workspace: &Workspace) {
    const WRITTEN: u64 = 100;
    const AT_ONCE: u64 = 7;
    let client = workspace.writer();
    let mut last = Log::begin(&client).position;
    let end = last + WRITTEN;
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..WRITTEN).for_each(|number| drop(client.new_job(&format!("Job {number}"), "Fence")))
        });
        while last < end {
            let mut stream = open(workspace, "", Some(last));
            for _ in 0..AT_ONCE.min(end - last) {
                let (id, kind, _) = stream.next_event();
                assert_eq!((id, kind.as_str()), (last + 1, "job.created"));
                last = id;
            }
        }
    });
    assert_eq!(feed(workspace).len() as u64, end);
}

#[apply(each_engine)]
fn only_the_types_that_were_asked_for_come(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let mut stream = open(workspace, "?types=person.*,job.updated", None);
    World::build(&client);
    log.new_events();
    let events = take(&mut stream, 2);
    assert_eq!(types(&events), ["person.created", "job.updated"]);
    assert_eq!(events[1]["sequence"], log.position);
}

#[apply(each_engine)]
fn what_the_command_line_writes_comes_too(app: &App) {
    Log::begin(&app.writer());
    let mut stream = open(app, "", None);
    app.database.create_key("main", "read", &[]);
    let events = take(&mut stream, 1);
    assert_eq!((types(&events), &events[0]["key_id"]), (vec!["key.created"], &Value::Null));
}

#[apply(each_engine)]
fn a_stream_ends_when_the_server_stops(engine: &Engine) {
    let mut app = engine.app().start();
    let mut streams = [open(&app, "", None), open(&app, "?after=0", None)];
    take(&mut streams[1], 1);
    let begun = Instant::now();
    app.process.terminate();
    streams.iter_mut().for_each(EventStream::wait_end);
    assert!(app.process.wait_exit().success(), "{}", app.process.log.to_end());
    assert!(begun.elapsed() < END_LIMIT, "the stop took {:?}", begun.elapsed());
}

#[apply(each_engine)]
fn a_stream_ends_when_its_key_is_revoked(app: &App) {
    let key = app.database.create_key("main", "read", &[]);
    let list = app.database.ask(&["key", "list", "--workspace", "main"]);
    let id = list
        .lines()
        .find(|line| line.contains("main read"))
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    let mut stream = EventStream::open(&app.address, &key, STREAM, None);
    let mut other = open(app, "?types=key.revoked", None);
    app.database.ask(&["key", "revoke", id, "--workspace", "main"]);
    let revoked = Instant::now();
    // However much there is to tell.
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) && revoked.elapsed() < END_LIMIT {
                app.writer().new_person(&json!({ "name": "Ada" }));
            }
        });
        stream.wait_end();
        has_ended.store(true, Ordering::Relaxed);
    });
    assert!(revoked.elapsed() < END_LIMIT, "it took {:?}", revoked.elapsed());
    let client = app.anonymous().with_key(&key);
    eventually("the key is refused", || client.get("/v1/jobs").status == 401);
    client.get(STREAM).refused(401, "UNAUTHENTICATED");
    take(&mut other, 1);
}

#[apply(each_engine)]
fn a_reader_who_fell_out_of_the_retention_is_cut_off_and_told_so(app: &App) {
    let client = app.writer();
    let position = Log::begin(&client).position;
    let mut stream = open(app, &format!("?after={}", position - 1), None);
    take(&mut stream, 1);
    // The log is made what it would be if much had been written and forgotten before the reader
    // could be told: only the newest is kept.
    let newest = position + 1000;
    app.database.execute(&format!("DELETE FROM event WHERE sequence < {position}"));
    app.database
        .execute(&format!("UPDATE event SET sequence = {newest} WHERE sequence = {position}"));
    while let Some(block) = stream.next_block() {
        assert!(matches!(block, Block::Heartbeat), "{block:?}");
    }
    let reply =
        client.with("last-event-id", &position.to_string()).get(STREAM).refused(410, "EVENTS_GONE");
    assert!(reply.text.contains(&newest.to_string()), "{reply:#?}");
    let mut stream = open(app, "", Some(newest - 1));
    assert_eq!(sequences(&take(&mut stream, 1)), [newest]);
}

#[apply(each_engine)]
fn what_cannot_be_followed_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for (parameter, field) in
        [("after=soon", "after"), ("types=person.exploded", "types"), ("limit=7", "limit")]
    {
        let reply = client.get(&format!("{STREAM}?{parameter}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field]);
    }
    workspace.anonymous().get(STREAM).refused(401, "UNAUTHENTICATED");
}

#[apply(each_engine)]
fn a_workspace_has_a_bounded_number_of_streams(workspace: &Workspace) {
    let refused = || workspace.writer().get(STREAM).refused(429, "RATE_LIMITED");
    let mut streams: Vec<_> = (0..100).map(|_| open(workspace, "", None)).collect();
    let reply = refused();
    assert!(
        reply.text.contains("100 streams") && reply.header("retry-after") == Some("2"),
        "{reply:#?}"
    );
    EventStream::open(&workspace.address, &workspace.key_of("other", "read"), STREAM, None);
    streams.pop();
    eventually("there is room for another stream", || {
        workspace.writer().try_send("HEAD", STREAM, None).is_ok_and(|reply| reply.status != 429)
    });
    open(workspace, "", None);
}

#[apply(on_sqlite)]
fn a_stream_without_events_shows_that_it_is_alive(workspace: &Workspace) {
    let begun = Instant::now();
    let mut stream = open(workspace, "?types=candidate.moved", None);
    for _ in 0..2 {
        let block = stream.next_block();
        assert!(matches!(block, Some(Block::Heartbeat)), "{block:?}");
    }
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
}

#[test]
fn what_one_server_wrote_comes_from_the_other() {
    let app = Engine::Postgres.app().start();
    let (_second, address) = app.another_server();
    let mut log = Log::begin(&app.writer());
    let mut stream = EventStream::open(
        &address,
        &app.key("write"),
        &format!("{STREAM}?after={}", log.position),
        None,
    );
    app.writer().new_job("Engineer", "Acme");
    let events = log.new_events();
    assert_eq!(types(&events), ["company.created", "job.created"]);
    assert_eq!(take(&mut stream, 2), events);
}
