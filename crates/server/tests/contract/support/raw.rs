use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::wait::DEADLINE;

/// A connection on which a test decides about every byte.
pub struct Connection {
    stream: TcpStream,
}

impl Connection {
    pub fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Says that nothing more will be sent.
    pub fn stop_sending(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Reads until what has come ends in `end`.
    pub fn read_until(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(end.as_bytes()) {
            self.stream.read_exact(&mut byte).unwrap();
            text.push(byte[0]);
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads until the server closes the connection.
    pub fn read_to_end(&mut self) -> HttpReply {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
                Err(error) => panic!("the server keeps the connection open: {error}"),
            }
        }
        HttpReply(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Sends a byte now and then, until the server has had enough. What it answered, and after how
    /// long.
    pub fn trickle(&mut self, byte: u8) -> (HttpReply, Duration) {
        let begun = Instant::now();
        self.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            let waited = begun.elapsed();
            assert!(waited < DEADLINE, "the server is still listening");
            let _ = self.write(&[byte]);
            match self.stream.read(&mut part) {
                Ok(0) => return (HttpReply(String::from_utf8_lossy(&bytes).into_owned()), waited),
                Ok(count) => bytes.extend_from_slice(&part[..count]),
                Err(error)
                    if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut]
                        .contains(&error.kind()) => {}
                Err(_) => return (HttpReply(String::from_utf8_lossy(&bytes).into_owned()), waited),
            }
        }
    }
}

/// A whole answer as it came over the wire; empty when the connection was just closed.
#[derive(Debug)]
pub struct HttpReply(pub String);

impl HttpReply {
    /// The status, if there was an answer at all.
    pub fn status(&self) -> Option<u16> {
        self.0.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
    }
}
