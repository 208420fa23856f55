//! The load: runs wrk and reads what it prints.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::{Arguments, Engine};
use crate::measurement::Measurement;
use crate::operations::{Operation, Setting};
use crate::postgres;

const WARM_UP_SECONDS: u64 = 1;

/// Makes sure that wrk is there.
pub fn find_wrk() -> Result<(), String> {
    if is_wrk_there() {
        return Ok(());
    }
    eprintln!("wrk is not there; trying to install it");
    let installed = Command::new("apt-get")
        .args(["install", "-y", "wrk"])
        .output()
        .is_ok_and(|output| output.status.success());
    match installed && is_wrk_there() {
        true => Ok(()),
        false => Err("the load comes from wrk, which is not there: install it, on Debian with \
            `apt-get install wrk` as root"
            .to_owned()),
    }
}

/// It prints its version with an exit code of 1, so only its being there counts.
fn is_wrk_there() -> bool {
    Command::new("wrk").arg("--version").output().is_ok()
}

/// Requests that a run made in all.
fn requests(printed: &str) -> Option<u64> {
    printed
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .and_then(|(count, _)| count.parse().ok())
}

impl Measurement {
    pub fn average(one: &Self, other: &Self) -> Self {
        Self {
            rate: f64::midpoint(one.rate, other.rate),
            median: f64::midpoint(one.median, other.median),
            slow: f64::midpoint(one.slow, other.slow),
            failures: one.failures + other.failures,
        }
    }
}

pub struct Load {
    seconds: u64,
    connections: u64,
    threads: u64,
    url: String,
    key: String,
    script_file: PathBuf,
    paths_file: PathBuf,
    runs: u64,
    /// The database that is brought to rest before each measurement, if it has work left over from
    /// the one before.
    cluster: Option<String>,
}

impl Load {
    pub fn new(
        arguments: &Arguments,
        directory: &Path,
        address: SocketAddr,
        key: &str,
        database: &str,
    ) -> Self {
        let Arguments { seconds, connections, threads, engine, .. } = *arguments;
        let url = format!("http://{address}");
        let cluster = (engine == Engine::Postgres).then(|| database.to_owned());
        let (script_file, paths_file) = (directory.join("wrk.lua"), directory.join("wrk.paths"));
        Self {
            seconds,
            connections,
            threads,
            url,
            key: key.to_owned(),
            script_file,
            paths_file,
            runs: 0,
            cluster,
        }
    }

    /// Goes on with another server.
    pub fn turn_to(&mut self, address: SocketAddr) {
        self.url = format!("http://{address}");
    }

    /// Measures the operation, after a moment in which the server gets used to it.
    pub fn measure(&mut self, operation: &Operation) -> Result<Measurement, String> {
        self.settle()?;
        eprintln!("measuring: {}", operation.subject.name());
        write(&self.paths_file, &operation.paths.join("\n"))?;
        self.run(operation, WARM_UP_SECONDS, true)?;
        self.run(operation, self.seconds, false)
    }

    /// Lets the database do what the operation before left it to do, which would be done in the
    /// middle of the next.
    pub fn settle(&self) -> Result<(), String> {
        self.cluster.as_deref().map_or(Ok(()), postgres::settle)
    }

    /// What was copied into a database is indexed by the server in the background.
    pub fn wait_until_indexed(&self) -> Result<(), String> {
        self.cluster.as_deref().map_or(Ok(()), postgres::wait_until_indexed)
    }

    /// Runs the operation for a moment; says how many requests that made.
    pub fn count(&mut self, operation: &Operation) -> Result<u64, String> {
        write(&self.paths_file, &operation.paths.join("\n"))?;
        let printed = self.drive(operation, WARM_UP_SECONDS, true)?;
        requests(&printed)
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("wrk made no requests:\n{printed}"))
    }

    fn run(
        &mut self,
        operation: &Operation,
        seconds: u64,
        is_warm_up: bool,
    ) -> Result<Measurement, String> {
        let printed = self.drive(operation, seconds, is_warm_up)?;
        read(&printed).ok_or_else(|| {
            format!("wrk came to nothing with {}:\n{printed}", operation.subject.name())
        })
    }

    /// What wrk prints.
    fn drive(
        &mut self,
        operation: &Operation,
        seconds: u64,
        is_warm_up: bool,
    ) -> Result<String, String> {
        self.runs += 1;
        let paths_file = self.paths_file.to_string_lossy();
        let setting = Setting {
            key: &self.key,
            threads: self.threads,
            run: self.runs,
            is_warm_up,
            paths_file: &paths_file,
        };
        write(&self.script_file, &operation.script(&setting))?;
        let output = Command::new("wrk")
            .args(["--latency", "--timeout", "10s"])
            .args([
                "--threads",
                &self.threads.to_string(),
                "--connections",
                &self.connections.to_string(),
            ])
            .args(["--duration", &format!("{seconds}s"), "--script"])
            .arg(&self.script_file)
            .arg(&self.url)
            .output()
            .map_err(|error| format!("wrk cannot be run: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr))
    }

    pub fn clean_up(&self) {
        for file in [&self.script_file, &self.paths_file] {
            let _ = fs::remove_file(file);
        }
    }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// What wrk printed, or none if it did not come to an end.
fn read(printed: &str) -> Option<Measurement> {
    let after = |label: &str| {
        printed.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim)
    };
    let refused =
        after("Non-2xx or 3xx responses:").and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    let broken: u64 = after("Socket errors:").map_or(0, |counts| {
        counts.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok()).sum()
    });
    Some(Measurement {
        rate: after("Requests/sec:")?.parse().ok()?,
        median: milliseconds(after("50%")?)?,
        slow: milliseconds(after("99%")?)?,
        failures: refused + broken,
    })
}

/// A time as wrk writes it: `635.91us`, `1.04ms`, `2.13s`, `1.50m`.
fn milliseconds(written: &str) -> Option<f64> {
    let unit = written.find(|character: char| character.is_ascii_alphabetic())?;
    let number: f64 = written[..unit].parse().ok()?;
    match &written[unit..] {
        "us" => Some(number / 1000.0),
        "ms" => Some(number),
        "s" => Some(number * 1000.0),
        "m" => Some(number * 60_000.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
Running 8s test @ http://127.0.0.1:8080
  2 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  898484 requests in 8.00s, 213.45MB read
Requests/sec: 112310.52
Transfer/sec:     26.68MB
";

    #[test]
    fn figures_are_read_as_wrk_prints_them() {
        let expected = Measurement { rate: 112_310.52, median: 0.25, slow: 5.8, failures: 0 };
        assert_eq!(read(PRINTED), Some(expected));
        assert_eq!(read("unable to connect"), None);
    }

    #[test]
    fn failures_are_counted() {
        let failures = "  Socket errors: connect 0, read 3, write 0, timeout 2\n  Non-2xx or 3xx \
            responses: 40\nRequests/sec:";
        let printed = PRINTED.replace("Requests/sec:", failures);
        assert_eq!(read(&printed).map(|measurement| measurement.failures), Some(45));
    }

    #[test]
    fn times_are_read_in_every_unit() {
        assert_eq!(milliseconds("500.00us"), Some(0.5));
        assert_eq!(milliseconds("1.50s"), Some(1500.0));
        assert_eq!(milliseconds("2.00m"), Some(120_000.0));
        assert_eq!(milliseconds("fast"), None);
    }
}
