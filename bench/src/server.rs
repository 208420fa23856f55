//! The server that is measured: the real program, as it is built for production, as a process of
//! its own with keys, limits and logs on.

use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Requests a minute: a limit that is kept but never reached.
const RATE_LIMIT: &str = "1000000000";

/// Where cargo puts what it builds; this program stands in a directory of its profile below.
pub fn target_directory() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let directory = program.parent().and_then(Path::parent);
    directory
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} stands in no target directory", program.display()))
}

/// Builds the program; says where it is.
pub fn build() -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = target_directory()?;
    let mut command = Command::new(cargo);
    // What cargo told this program of itself would be taken for a change by build scripts that look
    // at it, and half of the program built anew.
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    let built = command
        .args(["build", "--profile", "dist", "--package", "slated", "--target-dir"])
        .arg(&target)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    match built.success() {
        true => Ok(target.join("dist").join("slated")),
        false => Err("slated could not be built".to_owned()),
    }
}

fn is_of_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// A running server. It is killed when it goes out of scope.
pub struct Server {
    child: Child,
    address: SocketAddr,
    started_in: Duration,
}

impl Server {
    pub fn start(program: &Path, database: &str, log: &Path) -> Result<Self, String> {
        Self::start_with(program, database, log, &[])
    }

    /// The same with more options.
    pub fn start_with(
        program: &Path,
        database: &str,
        log: &Path,
        more: &[&str],
    ) -> Result<Self, String> {
        let address = free_address()?;
        let log_file = File::create(log)
            .map_err(|error| format!("{} cannot be written: {error}", log.display()))?;
        let mut command = Command::new(program);
        for (name, _) in
            env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SLATED_"))
        {
            command.env_remove(name);
        }
        command
            .args(["serve", "--listen", &address.to_string(), "--database", database])
            .args(more)
            .env("SLATED_RATE_LIMIT", RATE_LIMIT)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log_file);
        let begun = Instant::now();
        let child = command
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        let mut server = Self { child, address, started_in: Duration::ZERO };
        server.wait_for_first_answer(begun, log)?;
        Ok(server)
    }

    fn wait_for_first_answer(&mut self, begun: Instant, log: &Path) -> Result<(), String> {
        while status_of(self.address, "/readyz") != Some(200) {
            let ended = self.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || begun.elapsed() > TIMEOUT {
                let said = fs::read_to_string(log).unwrap_or_default();
                return Err(format!("the server does not come up; it says:\n{said}"));
            }
            sleep(Duration::from_millis(1));
        }
        self.started_in = begun.elapsed();
        Ok(())
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From the start of the process to its first answer from the database.
    pub const fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Resident memory without the pages of mapped files, which the system takes back when it needs
    /// them.
    pub fn memory_megabytes(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let field = |name| kilobytes(&status, name).ok_or_else(|| format!("{path} has no {name}"));
        Ok((field("VmRSS:")? - field("RssFile:")?) / 1024.0)
    }

    /// A counter of the server.
    pub fn counter(&self, name: &str) -> Result<u64, String> {
        let metrics = get(self.address, "/metrics").ok_or("the server gives no metrics")?;
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .ok_or_else(|| format!("there is no {name}"))?;
        line.trim().parse().map_err(|_| format!("{name} is no number"))
    }

    /// Asks the server to end and waits until it has.
    pub fn stop(mut self) -> Result<(), String> {
        let process = self.child.id().to_string();
        Command::new("kill")
            .args(["-TERM", &process])
            .status()
            .map_err(|error| format!("kill cannot be run: {error}"))?;
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}")),
                None => sleep(Duration::from_millis(10)),
            }
        }
        Err("the server does not end".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> Result<SocketAddr, String> {
    let listener =
        TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no port is free: {error}"))?;
    listener.local_addr().map_err(|error| error.to_string())
}

fn status_of(address: SocketAddr, path: &str) -> Option<u16> {
    get(address, path)?.split(' ').nth(1)?.parse().ok()
}

/// The whole answer.
fn get(address: SocketAddr, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// One request with a key; gives back the status and the rest of the answer.
pub fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    key: &str,
    body: &str,
) -> Result<(u16, String), String> {
    let failed = |error: std::io::Error| format!("{method} {path}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(failed)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: \
         Bearer {key}\r\n"
    );
    let request = match body.is_empty() {
        true => format!("{head}\r\n"),
        false => format!(
            "{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    };
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(failed)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(|| format!("{method} {path} was not answered"))?, answer))
}

fn kilobytes(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_system_writes_it() {
        let status = "Name:\tslated\nVmRSS:\t   81920 kB\nRssFile:\t    4096 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(81920.0));
        assert_eq!(kilobytes(status, "RssFile:"), Some(4096.0));
        assert_eq!(kilobytes(status, "RssShmem:"), None);
    }
}
