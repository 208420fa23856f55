use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::records::Job;
use super::wait::{DEADLINE, eventually};

/// Follows the feed, and knows when all that was written has come: a change of a job of its own
/// marks the end.
pub struct Log {
    client: Client,
    fence: Job,
    fences: usize,
    /// The sequence of the last event that was read.
    pub position: u64,
}

impl Log {
    /// Begins behind all that was written before.
    #[track_caller]
    pub fn begin(client: &Client) -> Self {
        let position = next_after(&client.get("/v1/events?after=latest").expect(200));
        let fence = client.new_job("Fence", "Fence");
        let mut log = Self { client: client.clone(), fence, fences: 0, position };
        log.new_events();
        log
    }

    /// The events that were written since the last time.
    #[track_caller]
    pub fn new_events(&mut self) -> Vec<Value> {
        self.fences += 1;
        let name = format!("Fence {}", self.fences);
        self.client.patch(&self.fence.path(), &json!({ "name": name })).expect(200);
        let mut events: Vec<Value> = Vec::new();
        eventually("all that was written is in the feed", || {
            events.extend(self.next_page());
            let is_fence = |event: &Value| {
                event["record_id"] == self.fence.id && event["data"]["after"]["name"] == name
            };
            events.last().is_some_and(is_fence)
        });
        events.pop();
        events
    }

    fn next_page(&mut self) -> Vec<Value> {
        let page =
            self.client.get(&format!("/v1/events?after={}&limit=1000", self.position)).expect(200);
        self.position = next_after(&page);
        page.entries().to_vec()
    }
}

/// Where the next page of the feed begins.
#[track_caller]
pub fn next_after(page: &Reply) -> u64 {
    page.json["meta"]["next_after"].as_u64().unwrap_or_else(|| panic!("{page:#?}"))
}

#[track_caller]
pub fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[track_caller]
pub fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

/// What comes between two blank lines of a stream.
#[derive(Debug)]
pub enum Block {
    Event {
        id: u64,
        kind: String,
        data: Value,
    },
    /// A comment, which says only that the server is there.
    Heartbeat,
}

impl Block {
    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            values
                .map(|value| value.strip_prefix(' ').unwrap_or(value))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let data = field("data");
        if data.is_empty() {
            return Self::Heartbeat;
        }
        let data = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error} in {text}"));
        Self::Event { id: field("id").parse().unwrap(), kind: field("event"), data }
    }
}

/// A stream of server-sent events, read as it comes.
pub struct EventStream {
    connection: BufReader<TcpStream>,
    /// What has come and was not taken yet.
    unread: Vec<u8>,
}

impl EventStream {
    #[track_caller]
    pub fn open(address: &str, key: &str, path: &str, last_event_id: Option<u64>) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut connection = BufReader::new(stream);
        let position =
            last_event_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer \
             {key}\r\n{position}\r\n"
        );
        connection.get_mut().write_all(head.as_bytes()).unwrap();
        let head = read_head(&mut connection);
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(
            head.contains("\r\ncontent-type: text/event-stream")
                && head.contains("\r\ntransfer-encoding: chunked"),
            "{head}"
        );
        Self { connection, unread: Vec::new() }
    }

    /// The next block; nothing once the server has ended the stream.
    #[track_caller]
    pub fn next_block(&mut self) -> Option<Block> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|bytes| bytes == b"\n\n") {
                let block: Vec<u8> = self.unread.drain(..end + 2).collect();
                return Some(Block::parse(&String::from_utf8(block).unwrap()));
            }
            let chunk = self.next_chunk()?;
            self.unread.extend(chunk);
        }
    }

    /// Sequence, type and contents of the next event.
    #[track_caller]
    pub fn next_event(&mut self) -> (u64, String, Value) {
        let begun = Instant::now();
        while begun.elapsed() < DEADLINE {
            match self.next_block() {
                Some(Block::Event { id, kind, data }) => return (id, kind, data),
                Some(Block::Heartbeat) => {}
                None => panic!("the stream ended"),
            }
        }
        panic!("no event came for {DEADLINE:?}");
    }

    /// Takes what still comes until the server ends the stream.
    #[track_caller]
    pub fn wait_end(&mut self) {
        let begun = Instant::now();
        while self.next_block().is_some() {
            assert!(begun.elapsed() < DEADLINE, "the stream goes on and on");
        }
    }

    fn next_chunk(&mut self) -> Option<Vec<u8>> {
        match self.read_chunk() {
            Ok(chunk) => Some(chunk).filter(|chunk| !chunk.is_empty()),
            Err(error)
                if [io::ErrorKind::ConnectionReset, io::ErrorKind::UnexpectedEof]
                    .contains(&error.kind()) =>
            {
                None
            }
            Err(error) => panic!("the stream is open and nothing comes: {error}"),
        }
    }

    fn read_chunk(&mut self) -> io::Result<Vec<u8>> {
        let mut size = String::new();
        if self.connection.read_line(&mut size)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let size = usize::from_str_radix(size.trim_end(), 16)
            .unwrap_or_else(|_| panic!("{size:?} is no size of a chunk"));
        let mut chunk = vec![0; size + 2];
        self.connection.read_exact(&mut chunk)?;
        chunk.truncate(size);
        Ok(chunk)
    }
}

/// The head of an answer, in lower case.
fn read_head(connection: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(
            connection.read_line(&mut head).unwrap(),
            0,
            "the connection was closed: {head}"
        );
    }
    head.to_lowercase()
}
