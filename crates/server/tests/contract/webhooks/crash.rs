//! Servers are killed in the middle of their calls: every event arrives all the same, and those of
//! a person in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde_json::json;

use crate::support::{
    App, Call, Client, Engine, Hook, Process, Receiver, SOON, apply, each_engine, eventually,
    hooked_app, rounds, together,
};

const WRITERS: usize = 3;
const PERSONS: usize = 25;

/// Makes and changes persons until it is enough or the program is gone; how many writes were
/// acknowledged.
fn write(client: &Client, prefix: &str) -> usize {
    for number in 0..PERSONS {
        let body = json!({ "name": format!("{prefix} {number}") });
        let Ok(made) = client.try_send("POST", "/v1/persons", Some(&body)) else {
            return number * 2;
        };
        let path = format!("/v1/persons/{}", made.expect(201).id());
        let changed =
            client.try_send("PATCH", &path, Some(&json!({ "current_job_title": "Analyst" })));
        if changed.is_err() {
            return number * 2 + 1;
        }
    }
    PERSONS * 2
}

/// Lets writers write and kills the program after some more calls; how many writes were
/// acknowledged.
fn round(app: &mut App, receiver: &Receiver, number: usize) -> usize {
    let client = app.writer();
    let enough = receiver.calls().len() + 5 + number * 7;
    thread::scope(|scope| {
        let start = |writer| {
            let client = client.clone();
            scope.spawn(move || write(&client, &format!("Person {number}-{writer}")))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        receiver.wait_for(enough);
        app.process.kill();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    })
}

fn arrived(calls: &[Call]) -> BTreeSet<String> {
    calls.iter().map(|call| call.id().to_owned()).collect()
}

fn in_feed(hook: &Hook) -> BTreeSet<String> {
    hook.events("person.*").iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

/// Expects that each event came, the first time, after all that were before it on its record.
fn assert_in_order(calls: &[Call]) {
    let mut records: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for call in calls {
        let come = records.entry(call.record()).or_default();
        if !come.contains(&call.sequence()) {
            come.push(call.sequence());
        }
    }
    assert!(records.values().all(|come| come.is_sorted()), "{records:#?}");
}

/// Invariant 7.
#[apply(each_engine)]
fn every_event_arrives_although_the_program_is_killed(engine: &Engine) {
    let (mut app, receiver, mut hook) = hooked_app(*engine, SOON);
    let mut acknowledged = 0;
    for number in 0..rounds(4, 40) {
        acknowledged += round(&mut app, &receiver, number);
        app.restart();
    }
    hook.client = app.client("admin");
    eventually("every write is in the feed", || in_feed(&hook).len() >= acknowledged);
    let expected = in_feed(&hook);
    let calls = receiver.wait_until("every event", |calls| {
        calls.len() >= expected.len() && arrived(calls).is_superset(&expected)
    });
    assert!(arrived(&calls).is_subset(&in_feed(&hook)));
    assert_in_order(&calls);
    assert!(calls.iter().all(|call| call.is_signed_with(&hook.secret)));
}

/// Two servers, their clients, and a receiver with a webhook; the process is the second server.
fn two_servers() -> (App, Process, [Client; 2], Receiver, Hook) {
    let (app, receiver, hook) = hooked_app(Engine::Postgres, SOON);
    let (process, address) = app.another_server();
    let clients = [app.writer(), Client::new(&address).with_key(&app.key("write"))];
    (app, process, clients, receiver, hook)
}

#[test]
fn two_servers_make_each_call_once() {
    let (_app, _second, clients, receiver, hook) = two_servers();
    together(8, |thread| {
        for number in 0..10 {
            clients[thread % 2].new_person(&json!({ "name": format!("Person {thread}-{number}") }));
        }
    });
    receiver.wait_for(80);
    eventually("nothing is left to do", || {
        in_feed(&hook).len() == 80 && hook.deliveries("?status=pending").is_empty()
    });
    let calls = receiver.calls();
    assert_eq!((calls.len(), arrived(&calls).len()), (80, 80));
}

#[test]
fn when_a_server_is_killed_the_other_delivers_the_rest() {
    for victim in 0..2 {
        let (mut app, mut second, clients, receiver, hook) = two_servers();
        thread::scope(|scope| {
            let survivor = &clients[1 - victim];
            scope.spawn(move || {
                (0..100).for_each(|number| {
                    drop(survivor.new_person(&json!({ "name": format!("Person {number}") })))
                })
            });
            receiver.wait_for(10);
            let killed = if victim == 0 { &mut app.process } else { &mut second };
            killed.kill();
        });
        let calls = receiver.wait_until("every event", |calls| arrived(calls).len() == 100);
        assert!(calls.iter().all(|call| call.is_signed_with(&hook.secret)));
    }
}
