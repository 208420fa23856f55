use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::{HeaderMap, HeaderName};

use super::wait::DEADLINE;

/// `v1,` and 32 bytes in base 64.
const SIGNATURE_LENGTH: usize = 47;

/// A request that came to a receiver.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Call {
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:#?}")).to_str().unwrap()
    }

    /// The id of the event, the same on every attempt.
    #[track_caller]
    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub fn event(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    pub fn sequence(&self) -> u64 {
        self.event()["sequence"].as_u64().unwrap()
    }

    pub fn kind(&self) -> String {
        self.event()["type"].as_str().unwrap().to_owned()
    }

    pub fn record(&self) -> String {
        self.event()["record_id"].as_str().unwrap().to_owned()
    }

    pub fn signatures(&self) -> Vec<&str> {
        self.header("webhook-signature").split(' ').collect()
    }

    /// Whether the library that receivers use takes the call for genuine.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        // The library takes a signature that is cut off for a good one.
        assert!(
            self.signatures().iter().all(|signature| signature.len() == SIGNATURE_LENGTH),
            "{self:#?}"
        );
        standardwebhooks::Webhook::new(secret).unwrap().verify(&self.body, &self.headers).is_ok()
    }
}

/// What a receiver does about a call.
pub enum Action {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    Redirect(u16, String),
    /// Never answers.
    Hang,
    /// Breaks the connection off in the middle of the first line.
    Reset,
    /// Answers 200 byte by byte, in that time.
    Slow(Duration),
    /// Answers 200 with a body that does not end.
    Huge,
    /// Waits that long, and does this then.
    Later(Duration, Box<Self>),
}

impl Action {
    pub fn ok() -> Self {
        Self::status(200)
    }

    pub fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: String::new() }
    }

    /// Answers 200 with that body.
    pub fn json(body: impl Into<String>) -> Self {
        Self::Answer {
            status: 200,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into(),
        }
    }

    /// Asks to come again after so many seconds.
    pub fn busy(status: u16, seconds: u32) -> Self {
        Self::Answer {
            status,
            headers: vec![("retry-after", seconds.to_string())],
            body: String::new(),
        }
    }
}

type Behaviour = Arc<dyn Fn(&Call) -> Action + Send + Sync>;

/// An HTTP server that keeps what it is sent and behaves as well or badly as a test wants.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Receiver {
    /// On an address that no other receiver has, so that none gets the late calls of a test that
    /// has ended.
    pub fn start() -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let [_, high, middle, low] = STARTED.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        Self::on(&format!("127.{}.{middle}.{low}", high + 1))
    }

    pub fn on(host: &str) -> Self {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::new());
        let listening = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in
                listener.incoming().map_while(Result::ok).take_while(|_| !listening.lock().closed)
            {
                let shared = Arc::clone(&listening);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self) -> String {
        self.at("/hook")
    }

    /// The URL of another path here.
    pub fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on calls are dealt with this way.
    pub fn behave(&self, behaviour: impl Fn(&Call) -> Action + Send + Sync + 'static) {
        self.shared.lock().behaviour = Arc::new(behaviour);
    }

    /// The next calls are dealt with these ways, all others are answered with 200.
    pub fn answer_first(&self, actions: impl Into<VecDeque<Action>>) {
        let left: Mutex<VecDeque<Action>> = Mutex::new(actions.into());
        self.behave(move |_| left.lock().unwrap().pop_front().unwrap_or_else(Action::ok));
    }

    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// How many bytes of endless bodies were sent.
    pub fn sent(&self) -> usize {
        self.shared.lock().sent
    }

    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Call> {
        self.wait_until(&format!("{count} calls"), |calls| calls.len() >= count)
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let waiting =
            self.shared
                .changed
                .wait_timeout_while(self.shared.lock(), DEADLINE, |state| !condition(&state.calls));
        let (state, waited) = waiting.unwrap();
        let calls = state.calls.clone();
        drop(state);
        assert!(
            !waited.timed_out(),
            "still waiting after {DEADLINE:?} and {} calls: {what}",
            calls.len()
        );
        calls
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        // Whoever waits for connections sees it with the next one.
        let _ = TcpStream::connect(self.address);
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    behaviour: Behaviour,
    calls: Vec<Call>,
    sent: usize,
    closed: bool,
}

impl Shared {
    fn new() -> Self {
        let state = State {
            behaviour: Arc::new(|_| Action::ok()),
            calls: Vec::new(),
            sent: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one call after the other from a connection, until either side has had enough.
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(call) = read_call(&mut reader)? {
            let behaviour = self.record(&call)?;
            self.act(behaviour(&call), &mut stream)?;
        }
        Ok(())
    }

    fn record(&self, call: &Call) -> io::Result<Behaviour> {
        let mut state = self.lock();
        if state.closed {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        state.calls.push(call.clone());
        self.changed.notify_all();
        Ok(Arc::clone(&state.behaviour))
    }

    fn act(&self, action: Action, stream: &mut TcpStream) -> io::Result<()> {
        match action {
            Action::Answer { status, headers, body } => {
                stream.write_all(answer(status, &headers, &body).as_bytes())
            }
            Action::Redirect(status, location) => {
                stream.write_all(answer(status, &[("location", location)], "").as_bytes())
            }
            Action::Hang => self.pause(Duration::from_secs(3600)),
            Action::Reset => {
                stream.write_all(b"HTTP/1.1 2")?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Action::Slow(time) => self.trickle(&answer(200, &[], "slow"), time, stream),
            Action::Huge => self.flood(stream),
            Action::Later(time, action) => {
                self.pause(time)?;
                self.act(*action, stream)
            }
        }
    }

    fn trickle(&self, text: &str, time: Duration, stream: &mut TcpStream) -> io::Result<()> {
        let pause = time.div_f64(text.len() as f64);
        text.bytes().try_for_each(|byte| {
            stream.write_all(&[byte])?;
            self.pause(pause)
        })
    }

    fn flood(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        let part = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
        while !self.lock().closed {
            stream.write_all(part.as_bytes())?;
            self.lock().sent += part.len();
        }
        Ok(())
    }

    /// Waits that long; it is an error if the receiver goes away meanwhile.
    fn pause(&self, time: Duration) -> io::Result<()> {
        let (state, _) =
            self.changed.wait_timeout_while(self.lock(), time, |state| !state.closed).unwrap();
        if state.closed { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

fn answer(status: u16, headers: &[(&str, String)], body: &str) -> String {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn read_call(reader: &mut impl BufRead) -> io::Result<Option<Call>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers = read_headers(reader)?;
    let length =
        headers.get("content-length").map_or(0, |length| length.to_str().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Call { method, path, headers, body, at: Instant::now() }))
}

fn read_headers(reader: &mut impl BufRead) -> io::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(headers) };
        headers.append(name.parse::<HeaderName>().unwrap(), value.trim().parse().unwrap());
    }
}
