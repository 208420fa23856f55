//! What events cost, and how fast they reach those who asked for them: the feed, a stream and a
//! webhook.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::load::Load;
use crate::measurement::Measurement;
use crate::operations::{Operation, Subject, feed};
use crate::seed::runtime;
use crate::server::{Server, call};

/// How often creates are measured with and without events, in turns, first one way round and then
/// the other.
const TURNS: usize = 4;
/// Changes that a subscriber waits for.
const SEEN: usize = 200;
const TIMEOUT: Duration = Duration::from_secs(120);
const WITHOUT_EVENTS: &str = "--without-events";
const CALL_THIS_MACHINE: [&str; 2] = ["--allow-private-targets", "127.0.0.0/8"];

/// The figures. Times are in milliseconds.
pub struct EventFigures {
    pub create_with: f64,
    pub create_without: f64,
    pub events: u64,
    pub feed_first: Measurement,
    pub feed_last: Measurement,
    pub seen_median: f64,
    pub seen_slow: f64,
    pub deliveries: f64,
    pub delivered: u64,
}

/// Drives servers on the database, one after the other.
pub struct Bench<'b> {
    pub program: &'b Path,
    pub database: &'b str,
    pub log: &'b Path,
    pub admin_key: &'b str,
    pub create: &'b Operation,
}

impl Bench<'_> {
    fn start(&self, more: &[&str]) -> Result<Server, String> {
        Server::start_with(self.program, self.database, self.log, more)
    }

    pub fn measure(&self, load: &mut Load) -> Result<EventFigures, String> {
        let (create_with, create_without) = self.cost(load)?;
        let server = self.start(&CALL_THIS_MACHINE)?;
        load.turn_to(server.address());
        let receiver = Receiver::start()?;
        let webhook = self.make_webhook(&server, receiver.address)?;
        load.measure(self.create)?;
        let newest = self.newest(&server)?;
        let (first, last) = (
            feed(Subject::FeedFirst, self.first_creates(&server)?),
            feed(Subject::FeedLast, newest.saturating_sub(1000)),
        );
        // In turns, there and back, so that what else the machine does falls on both.
        let (first_before, last_before) = (load.measure(&first)?, load.measure(&last)?);
        let (last_after, first_after) = (load.measure(&last)?, load.measure(&first)?);
        let feed_first = Measurement::average(&first_before, &first_after);
        let feed_last = Measurement::average(&last_before, &last_after);
        let (seen_median, seen_slow) = self.watch(&server)?;
        let (delivered, deliveries) = self.deliver(&server, &webhook, &receiver)?;
        server.stop()?;
        Ok(EventFigures {
            create_with,
            create_without,
            events: newest,
            feed_first,
            feed_last,
            seen_median,
            seen_slow,
            deliveries,
            delivered,
        })
    }

    /// The rate of creates with events and without.
    fn cost(&self, load: &mut Load) -> Result<(f64, f64), String> {
        let (mut with, mut without) = (0.0, 0.0);
        for turn in 0..TURNS {
            let is_even = turn % 2 == 0;
            for has_events in [is_even, !is_even] {
                let server = self.start(if has_events { &[] } else { &[WITHOUT_EVENTS] })?;
                load.turn_to(server.address());
                let sum = if has_events { &mut with } else { &mut without };
                *sum += load.measure(self.create)?.rate / TURNS as f64;
                server.stop()?;
            }
        }
        Ok((with, without))
    }

    fn ask(&self, server: &Server, method: &str, path: &str, body: &str) -> Result<String, String> {
        let (status, answer) = call(server.address(), method, path, self.admin_key, body)?;
        match status {
            200..300 => Ok(answer),
            _ => Err(format!("{method} {path} was answered {status}: {answer}")),
        }
    }

    /// A webhook that takes nothing yet; gives back its path.
    fn make_webhook(&self, server: &Server, receiver: SocketAddr) -> Result<String, String> {
        let body = format!(r#"{{"url":"http://{receiver}/","types":["person.*"]}}"#);
        let made = self.ask(server, "POST", "/v1/webhooks", &body)?;
        let path = format!("/v1/webhooks/{}", field(&made, "id").ok_or("the webhook has no id")?);
        self.ask(server, "PATCH", &path, r#"{"is_enabled":false}"#)?;
        Ok(path)
    }

    /// Where the first page begins that is as the last one: all of it creates, which are longer
    /// than other events.
    fn first_creates(&self, server: &Server) -> Result<u64, String> {
        let mut after = 0;
        loop {
            let page =
                self.ask(server, "GET", &format!("/v1/events?after={after}&limit=1000"), "")?;
            if page.matches(r#""type":"person.created""#).count() == 1000 {
                return Ok(after);
            }
            let next = field(&page, "next_after")
                .and_then(|number| number.parse().ok())
                .ok_or("the feed has no next_after")?;
            if next == after {
                return Err("the feed has no page of creates".to_owned());
            }
            after = next;
        }
    }

    /// The number of the newest event, once it stays the same.
    fn newest(&self, server: &Server) -> Result<u64, String> {
        let mut newest = 0;
        loop {
            let page = self.ask(server, "GET", "/v1/events?after=latest", "")?;
            let now = field(&page, "next_after")
                .and_then(|number| number.parse().ok())
                .ok_or("the feed has no next_after")?;
            if now == newest {
                return Ok(newest);
            }
            newest = now;
            sleep(Duration::from_millis(500));
        }
    }

    /// How long it takes from the start of a change until a subscriber of the stream sees it.
    fn watch(&self, server: &Server) -> Result<(f64, f64), String> {
        eprintln!("measuring: time until a stream shows a change");
        let failed = |error: std::io::Error| format!("the stream cannot be read: {error}");
        let mut stream = TcpStream::connect(server.address()).map_err(failed)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        let head = format!(
            "GET /v1/events/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n\r\n",
            self.admin_key
        );
        stream.write_all(head.as_bytes()).map_err(failed)?;
        let mut lines = BufReader::new(stream).lines();
        // The head of the answer comes once the server listens for events.
        wait_for_line(&mut lines, "")?;
        let mut times = Vec::with_capacity(SEEN);
        for number in 0..SEEN {
            let begun = Instant::now();
            self.ask(server, "POST", "/v1/persons", &format!(r#"{{"name":"Watched {number}"}}"#))?;
            wait_for_line(&mut lines, "data:")?;
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_unstable_by(f64::total_cmp);
        Ok((times[SEEN / 2], times[SEEN * 99 / 100]))
    }

    /// Delivers all that gathered; says how many that was and how many a second.
    fn deliver(
        &self,
        server: &Server,
        webhook: &str,
        receiver: &Receiver,
    ) -> Result<(u64, f64), String> {
        eprintln!("measuring: deliveries to one receiver");
        let begun = Instant::now();
        self.ask(server, "PATCH", webhook, r#"{"is_enabled":true}"#)?;
        let mut last = (0, begun);
        loop {
            let count = receiver.calls.load(Ordering::Relaxed);
            if count != last.0 {
                last = (count, Instant::now());
            } else if last.1.elapsed() > Duration::from_secs(2) || begun.elapsed() > TIMEOUT {
                let seconds = last.1.duration_since(begun).as_secs_f64();
                return Ok((count, count as f64 / seconds));
            }
            sleep(Duration::from_millis(5));
        }
    }
}

fn wait_for_line(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    beginning: &str,
) -> Result<(), String> {
    for line in lines {
        let line = line.map_err(|error| format!("the stream cannot be read: {error}"))?;
        if (beginning.is_empty() && line.is_empty())
            || (!beginning.is_empty() && line.starts_with(beginning))
        {
            return Ok(());
        }
    }
    Err("the stream ended".to_owned())
}

/// The first value of that name in a JSON text, without its quotes.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("\"{name}\":"))?;
    let end = rest.find([',', '}'])?;
    Some(rest[..end].trim_matches('"'))
}

/// Takes calls as fast as they come and counts them.
struct Receiver {
    address: SocketAddr,
    calls: Arc<AtomicU64>,
    _runtime: tokio::runtime::Runtime,
}

impl Receiver {
    fn start() -> Result<Self, String> {
        let runtime = runtime()?;
        let failed = |error: std::io::Error| format!("no receiver can be started: {error}");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let calls = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&calls);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(take_calls(stream, Arc::clone(&counter)));
            }
        });
        Ok(Self { address, calls, _runtime: runtime })
    }
}

async fn take_calls(mut stream: tokio::net::TcpStream, calls: Arc<AtomicU64>) {
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        while let Some(length) = whole_request(&buffer) {
            buffer.drain(..length);
            calls.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.is_err() {
                return;
            }
        }
        if !matches!(stream.read_buf(&mut buffer).await, Ok(1..)) {
            return;
        }
    }
}

/// The length of the first request, once all of it is there.
fn whole_request(buffer: &[u8]) -> Option<usize> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&buffer[..end]).ok()?.to_ascii_lowercase();
    let (_, rest) = head.split_once("content-length:")?;
    let length: usize = rest.split("\r\n").next()?.trim().parse().ok()?;
    (buffer.len() >= end + length).then_some(end + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_with_its_body() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPOST";
        assert_eq!(whole_request(request), Some(request.len() - 4));
        assert_eq!(whole_request(&request[..request.len() - 5]), None);
        assert_eq!(whole_request(b"POST / HTTP/1.1\r\n"), None);
    }

    #[test]
    fn a_field_is_found_in_json() {
        let text = r#"{"success":true,"data":{"id":"whk_1","x":2},"meta":{"next_after":7,"has_more":false}}"#;
        assert_eq!(field(text, "id"), Some("whk_1"));
        assert_eq!(field(text, "next_after"), Some("7"));
        assert_eq!(field(text, "nothing"), None);
    }
}
