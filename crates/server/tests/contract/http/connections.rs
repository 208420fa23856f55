//! Clients that are slow, or do nothing at all, cost little and hurt nobody.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{App, Client, Connection, Engine, apply, each_engine};

const IDLE: usize = 10_000;
const SLOW: usize = 1_000;
/// Handles that the rest of the test process may need.
const KEPT_BACK: usize = 2_000;
const BETWEEN_BYTES: Duration = Duration::from_millis(500);
/// Longer than any honest request may take, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Lets this process open all the connections that the test is about. With fewer it would show
/// nothing.
fn allow_connections() {
    let needed = u64::try_from(IDLE + SLOW + KEPT_BACK).unwrap();
    let allowed = rlimit::increase_nofile_limit(needed).unwrap();
    assert!(
        allowed >= needed,
        "this test needs {needed} file handles and may have {allowed}; raise the hard limit \
         (ulimit -Hn)"
    );
}

fn assert_served(client: &Client, times: usize) {
    for number in 0..times {
        let begun = Instant::now();
        client.get("/v1/jobs").expect(200);
        client.post("/v1/persons", &json!({ "name": format!("Person {number}") })).expect(201);
        assert!(begun.elapsed() < PATIENCE, "two honest requests took {:?}", begun.elapsed());
    }
}

#[apply(each_engine)]
fn idle_and_slow_connections_leave_honest_requests_answered(app: &App) {
    // Together they would need more file handles than a process may have.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    allow_connections();
    let open = |count: usize| {
        (0..count).map(|_| TcpStream::connect(&app.address).unwrap()).collect::<Vec<_>>()
    };
    let _idle = open(IDLE);
    let slow = open(SLOW);
    for mut stream in &slow {
        stream.write_all(b"GET /v1/jobs HTTP/1.1\r\nX-Slow: ").unwrap();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for mut stream in &slow {
                    let _ = stream.write(b"x");
                }
                thread::park_timeout(BETWEEN_BYTES);
            }
        });
        let served = scope.spawn(|| assert_served(&app.writer(), 100)).join();
        done.store(true, Ordering::Relaxed);
        served.unwrap();
    });
}

/// Less than a server waits that is not told how long.
const SOON: Duration = Duration::from_secs(20);

/// A server that waits a second for a head and a second for a body.
fn impatient(engine: Engine) -> App {
    engine.app().argument("--head-timeout=1").environment("SLATED_BODY_TIMEOUT", "1").start()
}

#[apply(each_engine)]
fn a_head_that_comes_too_slowly_is_cut_off(engine: &Engine) {
    let app = impatient(*engine);
    let mut connection = Connection::open(&app.address);
    connection.write(b"GET /healthz HTTP/1.1\r\nX-Slow: ").unwrap();
    let (reply, waited) = connection.trickle(b'x');
    assert!(reply.status().is_none_or(|status| status == 408), "{reply:?}");
    assert!(waited > Duration::from_millis(500) && waited < SOON, "{waited:?}");
    assert_served(&app.writer(), 1);
}

#[apply(each_engine)]
fn a_body_that_comes_too_slowly_is_cut_off(engine: &Engine) {
    let app = impatient(*engine);
    let mut connection = Connection::open(&app.address);
    let (address, key) = (&app.address, app.key("write"));
    let head = format!(
        "POST /v1/persons HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer \
         {key}\r\nContent-Type: application/json\r\n"
    );
    connection
        .write(format!("{head}Content-Length: 100000\r\n\r\n{{\"name\": \"").as_bytes())
        .unwrap();
    let (reply, waited) = connection.trickle(b'x');
    assert_eq!(reply.status(), Some(408), "{reply:?}");
    assert!(reply.0.contains("REQUEST_TIMEOUT"), "{reply:?}");
    assert!(waited > Duration::from_millis(500) && waited < SOON, "{waited:?}");
}

#[apply(each_engine)]
fn a_connection_that_says_nothing_is_closed(engine: &Engine) {
    let app = impatient(*engine);
    let opened = Instant::now();
    let reply = Connection::open(&app.address).read_to_end();
    let waited = opened.elapsed();
    assert!(reply.status().is_none_or(|status| status == 408), "{reply:?}");
    assert!(waited > Duration::from_millis(500) && waited < SOON, "{waited:?}");
}

#[apply(each_engine)]
fn a_connection_that_has_nothing_more_to_say_is_closed(engine: &Engine) {
    let app = impatient(*engine);
    let mut connection = Connection::open(&app.address);
    connection.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let asked = Instant::now();
    let reply = connection.read_to_end();
    assert_eq!(reply.status(), Some(200), "{reply:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
}

#[apply(each_engine)]
fn a_client_that_stops_sending_still_gets_its_answer(app: &App) {
    for _ in 0..20 {
        let mut connection = Connection::open(&app.address);
        connection.write(b"GET /v1/jobs HTTP/1.1\r\nHost: slated\r\n\r\n").unwrap();
        connection.stop_sending();
        let reply = connection.read_to_end();
        assert!(reply.0.starts_with("HTTP/1.1 401"), "{}", reply.0);
    }
}
