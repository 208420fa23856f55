//! A connection to the first host that answers and fits. Each has its share of the time for all that is said until then: one that takes connections and
//! says nothing must not keep the others from being asked.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::Duration;

use rand::seq::SliceRandom;
use tokio::net::lookup_host;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::describe;

/// Why there is no connection.
pub(super) enum Refusal {
    /// The server said so, or the way to it is closed.
    Said(Error),
    /// The host is known to nobody.
    Unknown(io::Error),
    Silence,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(error) => formatter.write_str(&describe(error)),
            Self::Unknown(error) => write!(formatter, "error connecting to server: {error}"),
            Self::Silence => formatter.write_str("no server answers in time"),
        }
    }
}

/// How many hosts are named.
pub(super) fn count_hosts(config: &Config) -> u32 {
    u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX).max(1)
}

pub(super) struct Opened {
    pub(super) client: Client,
    pub(super) driver: AbortHandle,
    /// Of one of the settings.
    pub(super) row: Option<SimpleQueryRow>,
}

/// A connection with those settings. What the last host said is told if none fits.
pub(super) async fn open(config: &Config, tls: &MakeRustlsConnect, for_each_host: Duration, settings: &[&str]) -> Result<Opened, Refusal> {
    let mut hosts = each_host(config);
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        hosts.shuffle(&mut rand::rng());
    }
    let mut refusal = Refusal::Silence;
    for host in hosts {
        match ask(&host, tls, Instant::now() + for_each_host, settings).await {
            Ok(opened) => return Ok(opened),
            Err(refused) => refusal = refused,
        }
    }
    Err(refusal)
}

/// The addresses of a host share its time.
async fn ask(host: &Config, tls: &MakeRustlsConnect, until: Instant, settings: &[&str]) -> Result<Opened, Refusal> {
    let found = timeout_at(until, each_address(host)).await;
    let mut addresses = found.map_err(|_| Refusal::Silence)?.map_err(Refusal::Unknown)?;
    let mut refusal = Refusal::Silence;
    while let Some(address) = addresses.pop_front() {
        let now = Instant::now();
        let left = until.saturating_duration_since(now) / u32::try_from(addresses.len() + 1).unwrap_or(u32::MAX);
        match timeout_at(now + left, connect(&address, tls, settings)).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(error)) => refusal = Refusal::Said(error),
            Err(_) => refusal = Refusal::Silence,
        }
    }
    Err(refusal)
}

async fn connect(address: &Config, tls: &MakeRustlsConnect, settings: &[&str]) -> Result<Opened, Error> {
    let (client, connection) = address.connect(tls.clone()).await?;
    let driver = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = describe(&error), "a connection to the database ended");
        }
    });
    let unless_taken_over = EndedWhenDropped(Some(driver.abort_handle()));
    let mut row = None;
    for setting in settings {
        // An engine that is only like PostgreSQL may lack one of these, and does without.
        let answer = client.simple_query(setting).await.unwrap_or_default();
        row = answer.into_iter().find_map(as_row).or(row);
    }
    unless_taken_over.take_over();
    Ok(Opened { client, driver: driver.abort_handle(), row })
}

fn as_row(message: SimpleQueryMessage) -> Option<SimpleQueryRow> {
    match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    }
}

/// What drives a connection goes on while an answer is to come, even if nobody waits for it any more.
struct EndedWhenDropped(Option<AbortHandle>);

impl EndedWhenDropped {
    fn take_over(mut self) {
        self.0 = None;
    }
}

impl Drop for EndedWhenDropped {
    fn drop(&mut self) {
        if let Some(driver) = self.0.take() {
            driver.abort();
        }
    }
}

/// The same for each host alone.
fn each_host(config: &Config) -> Vec<Config> {
    let (hosts, ports, addresses) = (config.get_hosts(), config.get_ports(), config.get_hostaddrs());
    // What does not go together is refused with whatever is asked for first.
    if (ports.len() > 1 && ports.len() != hosts.len()) || (!addresses.is_empty() && addresses.len() != hosts.len()) {
        return vec![config.clone()];
    }
    let alone = |(number, host): (usize, &Host)| {
        let mut alone = without_hosts(config);
        match host {
            Host::Tcp(name) => alone.host(name),
            Host::Unix(path) => alone.host_path(path),
        };
        if let Some(port) = ports.get(number).or(ports.first()) {
            alone.port(*port);
        }
        if let Some(address) = addresses.get(number) {
            alone.hostaddr(*address);
        }
        alone
    };
    hosts.iter().enumerate().map(alone).collect()
}

/// The same for each address of the one host.
async fn each_address(host: &Config) -> io::Result<VecDeque<Config>> {
    let [Host::Tcp(name)] = host.get_hosts() else { return Ok(VecDeque::from([host.clone()])) };
    if !host.get_hostaddrs().is_empty() {
        return Ok(VecDeque::from([host.clone()]));
    }
    let found = lookup_host((name.as_str(), 0)).await?;
    let mut addresses: Vec<_> = found.map(|address| address.ip()).collect();
    if host.get_load_balance_hosts() == LoadBalanceHosts::Random {
        addresses.shuffle(&mut rand::rng());
    }
    let at = |address| {
        let mut config = host.clone();
        config.hostaddr(address);
        config
    };
    match addresses.is_empty() {
        true => Err(io::Error::new(io::ErrorKind::NotFound, "the name stands for no address")),
        false => Ok(addresses.into_iter().map(at).collect()),
    }
}

fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    config.get_user().map(|user| copy.user(user));
    config.get_password().map(|password| copy.password(password));
    config.get_dbname().map(|name| copy.dbname(name));
    config.get_options().map(|options| copy.options(options));
    config.get_application_name().map(|name| copy.application_name(name));
    config.get_connect_timeout().map(|patience| copy.connect_timeout(*patience));
    config.get_tcp_user_timeout().map(|patience| copy.tcp_user_timeout(*patience));
    config.get_keepalives_interval().map(|interval| copy.keepalives_interval(interval));
    config.get_keepalives_retries().map(|retries| copy.keepalives_retries(retries));
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_is_asked_for_the_same() {
        let url = "postgres://user:secret@one:5001,two:5002/name?application_name=x&options=-c%20a%3Db&connect_timeout=3&tcp_user_timeout=4\
                   &keepalives=0&keepalives_idle=5&keepalives_interval=6&keepalives_retries=7&sslmode=require&sslnegotiation=direct\
                   &target_session_attrs=read-write&channel_binding=require&load_balance_hosts=random";
        let of = |hosts: &str| url.replace("one:5001,two:5002", hosts).parse::<Config>().unwrap();
        assert_eq!(each_host(&of("one:5001,two:5002")), [of("one:5001"), of("two:5002")]);
        let plain = |url: &str| url.parse::<Config>().unwrap();
        assert_eq!(each_host(&plain("postgres://one,two")), [plain("postgres://one"), plain("postgres://two")]);
    }

    #[tokio::test]
    async fn a_host_is_asked_at_each_of_its_addresses() {
        let at = |url: &str, address: &str| {
            let mut config: Config = url.parse().unwrap();
            config.hostaddr(address.parse().unwrap());
            config
        };
        assert_eq!(each_address(&"postgres://127.0.0.1".parse().unwrap()).await.unwrap(), [at("postgres://127.0.0.1", "127.0.0.1")]);
        let named = at("postgres://nowhere.invalid", "127.0.0.1");
        assert_eq!(each_address(&named).await.unwrap(), [named]);
        assert!(each_address(&"postgres://localhost".parse().unwrap()).await.unwrap().contains(&at("postgres://localhost", "127.0.0.1")));
    }
}
