//! `slated serve`: runs the service until it is told to stop.

use std::ffi::OsString;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use slated_model::clock::Timestamp;
use slated_model::key::Scope;
use slated_operations::events::retain::NewestRecord;
use slated_operations::keys::{CreateKey, CreatedKey};
use slated_operations::workspaces::{AnyWorkspace, TryToRead};
use slated_store::records::workspace;
use slated_store::{
    Address, Location, Operation, OperationError, Options, Pace, Purpose, Store, Tx,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::listening::Listen;
use super::outbound_options::Calling;
use super::output::{reveal, say};
use super::{Database, Url};
use crate::config::Config;
use crate::config::duration::parse_duration;
use crate::demo::{self, DemoSummary};
use crate::enrich::settings::Enriching;
use crate::events::publisher;
use crate::http::listen;
use crate::http::{App, Settings};
use crate::outbound::AllowedAddresses;
use crate::router::router;
use crate::trusted_clock::TrustedClock;
use crate::{enrich, maintenance, telemetry, webhooks};

const FIRST_WORKSPACE: &str = "default";
const FIRST_KEY: &str = "first admin key";
/// How long a database that does not answer is asked for, before the start is given up.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// File descriptors that are needed beside those of connections.
const RESERVED_DESCRIPTORS: u64 = 256;
const MAX_CONNECTIONS: u64 = 50_000;
const DEFAULT_LOG: &str = "info";

const EXAMPLES: &str = "Examples:
  slated serve --demo                                         try it with demo data
  slated serve --database sqlite:/var/lib/slated/slated.db    one server, one file
  slated serve --database postgres://slated@db/slated --listen :8080

Each option can also be set with the environment variable shown beside it. docs/operations.md \
explains all of them.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    database: Database,
    /// A PostgreSQL replica that serves reads; callers still read their own writes made through
    /// this server
    #[arg(
        long,
        help_heading = "Database",
        env = "SLATED_READ_DATABASE",
        hide_env_values = true,
        value_name = "URL"
    )]
    read_database: Option<Url>,
    /// Maximum open PostgreSQL connections (the replica gets as many again)
    #[arg(long, help_heading = "Database", env = "SLATED_DATABASE_CONNECTIONS",
        default_value_t = 16, value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    database_connections: u16,
    /// Milliseconds that a request waits for a PostgreSQL connection, and for each PostgreSQL
    /// response, before it fails with 503
    #[arg(long, help_heading = "Database", env = "SLATED_DATABASE_TIMEOUT", default_value_t = 1500,
        value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(50..=600_000))]
    database_timeout: u64,
    /// A configuration file, which sets up the enrichment providers
    #[arg(long, help_heading = "Enrichment", env = "SLATED_CONFIG", value_name = "FILE")]
    config: Option<OsString>,
    /// Where to listen: HOST:PORT, :PORT for all addresses of the machine, or PORT for local
    /// connections only; port 0 picks a free port
    #[arg(
        long,
        help_heading = "Network",
        env = "SLATED_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS"
    )]
    listen: Listen,
    /// Requests per minute that each key may make; 0 for no limit
    #[arg(
        long,
        help_heading = "Network",
        env = "SLATED_RATE_LIMIT",
        default_value_t = 60_000,
        value_name = "NUMBER"
    )]
    rate_limit: u32,
    /// Fill an empty database with demo data: about 500 persons, 20 jobs and their candidates
    #[arg(long, help_heading = "Database", env = "SLATED_DEMO",
        value_parser = clap::builder::FalseyValueParser::new())]
    demo: bool,
    /// Maximum open connections per client address (per /64 for IPv6); a quarter of all connections
    /// if absent. Raise it behind a proxy
    #[arg(long, help_heading = "Network", env = "SLATED_CONNECTIONS_PER_ADDRESS",
        value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    connections_per_address: Option<u16>,
    /// Seconds that a client may take to send a request's head, or leave a connection idle
    #[arg(long, help_heading = "Network", env = "SLATED_HEAD_TIMEOUT", default_value_t = 30,
        value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    head_timeout: u64,
    /// Seconds that a client may take to send a request's body
    #[arg(long, help_heading = "Network", env = "SLATED_BODY_TIMEOUT", default_value_t = 30,
        value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    body_timeout: u64,
    /// How long events are kept: forever, or a span such as 90d. Timelines are built from
    /// events
    #[arg(
        long,
        help_heading = "Events",
        env = "SLATED_EVENT_RETENTION",
        default_value = "forever",
        value_name = "SPAN"
    )]
    event_retention: Retention,
    /// Trust the clock even if it is far ahead of the newest record; otherwise nothing expires for
    /// a day in that case
    #[arg(long, help_heading = "Events", env = "SLATED_TRUST_CLOCK",
        value_parser = clap::builder::FalseyValueParser::new())]
    trust_clock: bool,
    #[command(flatten)]
    webhooks: Calling,
    /// Write no events, to measure their cost; changes are then not announced
    #[arg(long, hide = true)]
    without_events: bool,
    /// What to log: error, warn, info, debug, or a filter such as info,slated=debug
    #[arg(long, help_heading = "Log", env = "SLATED_LOG", default_value = DEFAULT_LOG,
        value_name = "FILTER")]
    log: String,
}

/// How long something is kept; none for good.
#[derive(Clone, Copy)]
struct Retention(Option<i64>);

impl FromStr for Retention {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "forever" => Ok(Self(None)),
            span => parse_duration(span)
                .map(|millis| Self(Some(millis)))
                .map_err(|reason| format!("{reason}, or forever")),
        }
    }
}

impl Retention {
    const fn millis(self) -> Option<i64> {
        self.0
    }
}

// Of the log, the replica and the configuration an empty value is none: it comes from a variable.
impl Serve {
    pub fn run(self) -> Result<(), String> {
        let _log = telemetry::start_log(if self.log.is_empty() { DEFAULT_LOG } else { &self.log })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(self.serve())
    }

    fn replica(&self, database: &Location) -> Result<Option<Address>, String> {
        let Some(url) = self.read_database.as_ref().filter(|url| !url.0.is_empty()) else {
            return Ok(None);
        };
        match (database, url.location("--read-database")?) {
            (Location::Postgres(_), Location::Postgres(address)) => Ok(Some(*address)),
            _ => Err("--read-database needs a PostgreSQL database in --database and a replica of \
                it"
            .to_owned()),
        }
    }

    /// Who is asked to enrich persons. The demo data have somebody of their own.
    fn enriching(&self, targets: &AllowedAddresses) -> Result<Enriching, String> {
        match self.config.as_ref().filter(|path| !path.is_empty()).map(Path::new) {
            Some(path) => {
                let base = path.parent().unwrap_or(Path::new(""));
                Enriching::from_config(&Config::load(path)?.enrichment, base, targets)
            }
            None if self.demo => Ok(Enriching::demo()),
            None => Ok(Enriching::none()),
        }
    }

    async fn serve(self) -> Result<(), String> {
        let delivering = self.webhooks.delivering()?;
        let enriching = Arc::new(self.enriching(&delivering.targets)?);
        let location = self.database.location()?;
        let options = Options {
            connections: self.database_connections.into(),
            patience: Duration::from_millis(self.database_timeout),
            read_from: self.replica(&location)?,
        };
        let metrics = telemetry::start_metrics().map_err(|error| error.to_string())?;
        let listener = self.listen.bind().await?;
        let store = Arc::new(self.database.open(Purpose::Serve, &options).await?);
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        // Nothing may go wrong between the making of the key and the only time that it is shown.
        // Who calls at once is answered a moment later.
        if let Some(key) = prepare(&store, self.demo).await? {
            welcome(address, &key)?;
        }
        let max_connections = connections_allowed();
        let settings = Settings {
            rate_limit: NonZeroU32::new(self.rate_limit),
            head_timeout: Duration::from_secs(self.head_timeout),
            body_timeout: Duration::from_secs(self.body_timeout),
            max_connections,
            max_connections_of_address: self
                .connections_per_address
                .map_or(max_connections / 4, usize::from)
                .clamp(1, max_connections),
            is_silent: self.without_events,
        };
        let newest_record = store.read(NewestRecord).await.unwrap_or_else(|failure| {
            tracing::warn!(error = %failure, "the time of the newest record cannot be read, so the \
                clock is not trusted for a day");
            Some(Timestamp::default())
        });
        let clock = TrustedClock::start(newest_record, self.trust_clock, TrustedClock::now());
        let (stopper, stopping) = watch::channel(false);
        let app = Arc::new(App::new(
            store,
            settings.clone(),
            metrics.clone(),
            clock,
            delivering,
            stopping,
        ));
        let stop = stop_signal()?;
        let stop = async move {
            stop.await;
            let _ = stopper.send(true);
        };
        let announcing = publisher::start(&app.store, &app.subscribers);
        let dispatching =
            webhooks::start(&app.store, &app.subscribers, &app.delivering, app.stopping.clone())?;
        let enriching = enrich::start(&app.store, enriching, app.stopping.clone());
        let chores = maintenance::start(&app, metrics, self.event_retention.millis());
        tracing::info!(listen.address = %address, database = %location, "listening");
        listen::serve(listener, router(Arc::clone(&app)), &settings, stop).await;
        let _ = dispatching.await;
        let _ = enriching.await;
        chores.stop().await;
        maintenance::finish_erasures(&app).await;
        drop(announcing);
        maintenance::note_used_keys(&app).await;
        tracing::info!("stopped");
        Ok(())
    }
}

/// On an empty database, makes a workspace and its first key, and the demo data if they are wanted.
async fn prepare(store: &Store, with_demo: bool) -> Result<Option<CreatedKey>, String> {
    if has_workspace(store).await? {
        if with_demo {
            tracing::warn!(
                "the database is not empty, so no demo data was added; use an empty one with \
                 --database sqlite:PATH"
            );
        }
        return Ok(None);
    }
    let Some((key, demo)) =
        store.write(FirstStart { with_demo }).await.map_err(|failure| failure.to_string())?
    else {
        return Ok(None);
    };
    if let Some(DemoSummary { persons, jobs, candidates, client_contacts, moves }) = demo {
        tracing::info!(persons, jobs, candidates, client_contacts, moves, "demo data added");
    }
    Ok(Some(key))
}

fn is_for_now(failure: &OperationError) -> bool {
    matches!(failure, OperationError::Store(error) if error.is_for_now())
}

/// The first that is asked of the database. One that is slow to answer is waited for longer than a
/// caller would: nobody waits for us yet.
async fn has_workspace(store: &Store) -> Result<bool, String> {
    let begun = Instant::now();
    loop {
        match store.read(AnyWorkspace).await {
            Err(failure) if is_for_now(&failure) && begun.elapsed() < START_TIMEOUT => {
                tracing::warn!(error = %failure, "retrying the database before the start");
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            // Of a database that is spread over machines one may be away; it is not empty then.
            Err(failure) if is_for_now(&failure) && store.read(TryToRead).await.is_ok() => {
                tracing::warn!(error = %failure, "a part of the database is unavailable");
                return Ok(true);
            }
            outcome => return outcome.map_err(|failure| failure.to_string()),
        }
    }
}

/// All that an empty database is given, together or not at all.
struct FirstStart {
    with_demo: bool,
}

impl Operation for FirstStart {
    /// Nothing if another server was faster.
    type Output = Option<(CreatedKey, Option<DemoSummary>)>;

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        workspace::lock_all(tx).await?;
        if workspace::any(tx).await? {
            return Ok(None);
        }
        let work = CreateKey {
            workspace: FIRST_WORKSPACE.to_owned(),
            name: FIRST_KEY.to_owned(),
            scope: Scope::Admin,
            expires_at: None,
        };
        let key = work.run(tx).await?;
        let demo = match self.with_demo {
            true => Some(demo::fill(tx, key.workspace).await?),
            false => None,
        };
        Ok(Some((key, demo)))
    }
}

/// What a new user needs to see once.
fn welcome(address: SocketAddr, key: &CreatedKey) -> Result<(), String> {
    let reachable = match address.ip() {
        // Whoever listens on all addresses of IPv6 does so on those of IPv4.
        ip if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        _ => address,
    };
    let secret = key.secret.reveal();
    reveal(format_args!(
        "\nThe database was empty, so a workspace \"{FIRST_WORKSPACE}\" and an admin key for it \
         were created.\n\
         This is the only time that the key is shown:\n\n    {secret}\n"
    ))?;
    say!("Try it:\n\n    curl -H 'Authorization: Bearer {secret}' http://{reachable}/v1/jobs\n")?;
    say!("Read the API reference and try calls on http://{reachable}/docs\n")
}

fn stop_signal() -> Result<impl Future<Output = ()>, String> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Asks the system for as many connections as it gives. Where it gives few, most of what it gives
/// is needed for the database.
fn connections_allowed() -> usize {
    let descriptors =
        rlimit::increase_nofile_limit(MAX_CONNECTIONS + RESERVED_DESCRIPTORS).unwrap_or(1024);
    let allowed = descriptors
        .saturating_sub(RESERVED_DESCRIPTORS)
        .max(descriptors / 4)
        .clamp(1, MAX_CONNECTIONS);
    if descriptors < 2 * RESERVED_DESCRIPTORS {
        tracing::warn!(
            descriptors,
            connections = allowed,
            "the limit of open files is low; raise it (ulimit -n) for more connections"
        );
    }
    usize::try_from(allowed).unwrap_or(1)
}
