//! A connection to the first host that answers and fits. One that takes connections and says
//! nothing must not keep the others from being asked, and one that is slow must not be given up:
//! after its share of the time the next is asked as well.

use std::fmt;
use std::io;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use rand::seq::SliceRandom;
use tokio::net::lookup_host;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::error::Severity;
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::driver::postgres::error::describe;

/// Why there is no connection.
pub(crate) enum Refusal {
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
pub(crate) fn count_hosts(config: &Config) -> u32 {
    u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX).max(1)
}

pub(crate) struct Opened {
    pub(crate) client: Client,
    pub(crate) driver: AbortHandle,
    /// Of one of the settings.
    pub(crate) row: Option<SimpleQueryRow>,
}

/// A connection with those settings. What the last host said is told if none fits.
pub(crate) async fn open(
    config: &Config,
    tls: &MakeRustlsConnect,
    for_each_host: Duration,
    settings: &[&str],
) -> Result<Opened, Refusal> {
    let mut hosts = each_host(config);
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        hosts.shuffle(&mut rand::rng());
    }
    let asking = hosts.into_iter().map(|host| ask(host, tls, for_each_host, settings)).collect();
    let opened =
        timeout(for_each_host * count_hosts(config), first_of(asking, for_each_host)).await;
    opened.unwrap_or(Err(Refusal::Silence))
}

/// The addresses of a host share its time.
async fn ask(
    host: Config,
    tls: &MakeRustlsConnect,
    patience: Duration,
    settings: &[&str],
) -> Result<Opened, Refusal> {
    let addresses = each_address(&host).await.map_err(Refusal::Unknown)?;
    let patience = patience / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let connecting =
        |address| async move { connect(&address, tls, settings).await.map_err(Refusal::Said) };
    first_of(addresses.into_iter().map(connecting).collect(), patience).await
}

/// What the first gives that does not refuse. Each is begun when one before it refuses, or the last
/// has said nothing for so long.
async fn first_of<T, F: Future<Output = Result<T, Refusal>>>(
    candidates: Vec<F>,
    patience: Duration,
) -> Result<T, Refusal> {
    let mut candidates = candidates.into_iter();
    let mut asked = FuturesUnordered::new();
    let mut refusal = Refusal::Silence;
    loop {
        asked.extend(candidates.next());
        match timeout(patience, asked.next()).await {
            Ok(Some(Ok(given))) => return Ok(given),
            Ok(Some(Err(refused))) => refusal = refused,
            Ok(None) => return Err(refusal),
            Err(_) => {}
        }
    }
}

async fn connect(
    address: &Config,
    tls: &MakeRustlsConnect,
    settings: &[&str],
) -> Result<Opened, Error> {
    let (client, connection) = address.connect(tls.clone()).await?;
    let driver = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = describe(&error), "a connection to the database ended");
        }
    });
    let unless_taken_over = EndedWhenDropped(Some(driver.abort_handle()));
    let answers = join_all(settings.iter().map(|setting| client.simple_query(setting))).await;
    let mut row = None;
    for answer in answers {
        match answer {
            Ok(messages) => row = row.or(messages.into_iter().find_map(as_row)),
            Err(error) if ends_all(&error) => return Err(error),
            // An engine that is only like PostgreSQL may lack one of them, and does without.
            Err(_) => {}
        }
    }
    unless_taken_over.take_over();
    Ok(Opened { client, driver: driver.abort_handle(), row })
}

/// Whether the connection ends with it. Poolers let everybody in, and refuse with the first
/// statement.
fn ends_all(error: &Error) -> bool {
    error.as_db_error().is_none_or(|refusal| {
        matches!(refusal.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
            || refusal.severity() == "FATAL"
    })
}

fn as_row(message: SimpleQueryMessage) -> Option<SimpleQueryRow> {
    match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    }
}

/// What drives a connection goes on while an answer is to come, even if nobody waits for it any
/// more.
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
    let (hosts, ports, addresses) =
        (config.get_hosts(), config.get_ports(), config.get_hostaddrs());
    // What does not go together is refused with whatever is asked for first.
    if (ports.len() > 1 && ports.len() != hosts.len())
        || (!addresses.is_empty() && addresses.len() != hosts.len())
    {
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
async fn each_address(host: &Config) -> io::Result<Vec<Config>> {
    let [Host::Tcp(name)] = host.get_hosts() else { return Ok(vec![host.clone()]) };
    if !host.get_hostaddrs().is_empty() {
        return Ok(vec![host.clone()]);
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
        true => Err(io::Error::new(io::ErrorKind::NotFound, "the host name has no address")),
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
    use std::future::pending;
    use std::pin::Pin;

    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn each_host_is_asked_for_the_same() {
        let url = "postgres://user:secret@one:5001,two:5002/name?application_name=x&options=-c%20a%3Db&connect_timeout=3&tcp_user_timeout=4\
                   &keepalives=0&keepalives_idle=5&keepalives_interval=6&keepalives_retries=7&sslmode=require&sslnegotiation=direct\
                   &target_session_attrs=read-write&channel_binding=require&load_balance_hosts=random";
        let of = |hosts: &str| url.replace("one:5001,two:5002", hosts).parse::<Config>().unwrap();
        assert_eq!(each_host(&of("one:5001,two:5002")), [of("one:5001"), of("two:5002")]);
        let plain = |url: &str| url.parse::<Config>().unwrap();
        assert_eq!(
            each_host(&plain("postgres://one,two")),
            [plain("postgres://one"), plain("postgres://two")]
        );
    }

    #[tokio::test]
    async fn a_host_is_asked_at_each_of_its_addresses() {
        let at = |url: &str, address: &str| {
            let mut config: Config = url.parse().unwrap();
            config.hostaddr(address.parse().unwrap());
            config
        };
        assert_eq!(
            each_address(&"postgres://127.0.0.1".parse().unwrap()).await.unwrap(),
            [at("postgres://127.0.0.1", "127.0.0.1")]
        );
        let named = at("postgres://nowhere.invalid", "127.0.0.1");
        assert_eq!(each_address(&named).await.unwrap(), [named]);
        assert!(
            each_address(&"postgres://localhost".parse().unwrap())
                .await
                .unwrap()
                .contains(&at("postgres://localhost", "127.0.0.1"))
        );
    }

    type Asked = Pin<Box<dyn Future<Output = Result<i32, Refusal>>>>;

    fn given(number: i32) -> Asked {
        Box::pin(async move { Ok(number) })
    }

    fn refused() -> Asked {
        Box::pin(async { Err(Refusal::Unknown(io::Error::other("nobody"))) })
    }

    fn silent() -> Asked {
        Box::pin(pending())
    }

    #[tokio::test]
    async fn who_is_silent_keeps_nobody_from_being_asked() {
        for (candidates, expected) in [
            (vec![given(1), given(2)], Some(1)),
            (vec![silent(), given(2)], Some(2)),
            (vec![refused(), given(2), silent()], Some(2)),
            (vec![silent(), refused(), silent(), given(4)], Some(4)),
            (vec![refused(), refused()], None),
            (Vec::new(), None),
        ] {
            assert_eq!(first_of(candidates, Duration::from_millis(5)).await.ok(), expected);
        }
    }

    #[tokio::test]
    async fn who_is_slow_is_waited_for() {
        let (begun, is_begun) = oneshot::channel();
        let slow: Asked = Box::pin(async { is_begun.await.map_err(|_| Refusal::Silence) });
        let next: Asked = Box::pin(async {
            begun.send(1).unwrap();
            pending().await
        });
        assert_eq!(first_of(vec![slow, next], Duration::from_millis(5)).await.ok(), Some(1));
    }
}
