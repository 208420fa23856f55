//! Connections to the database: how they are made, kept and given out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{
    Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult, TimeoutType,
};
use tokio::task::AbortHandle;
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use xxhash_rust::xxh3::Xxh3DefaultBuilder;

use crate::driver::postgres::address::Address;
use crate::driver::postgres::connect::{Opened, Refusal, count_hosts, open};
use crate::driver::postgres::tls;
use crate::error::StoreError;

/// Statements that a connection keeps prepared. Lists with filters make many; past that they are
/// prepared anew.
const STATEMENTS_KEPT: usize = 512;
/// How long a connection that lies idle may go unseen by routers in between.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// How long a server that stands still may keep a transaction open: others count records as settled
/// that are a little older.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(30);
/// What is taken for granted of a URL that says nothing of it.
const KEEP_ALIVE_UNSAID: Duration = Duration::from_secs(2 * 60 * 60);

/// Every statement finds its few rows through indexes that begin with the workspace, whatever it is
/// asked for. So a plan that was made once is good until the database knows more of its tables, and
/// plans that read whole tables or start helpers are never better. Only Citus has to see what is
/// asked for, to know on which machine it is. So there the second value is missing; the first is
/// who works for us.
const SESSION: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin \
                       = off; SET jit = off; \
                       SET max_parallel_workers_per_gather = 0; \
                       SELECT pg_backend_pid(), CASE WHEN NOT EXISTS (SELECT 1 FROM pg_extension \
                       WHERE extname = 'citus') \
                       THEN set_config('plan_cache_mode', 'force_generic_plan', false) END";
/// New words are put into their index in the background, often; until there are so many, no writer
/// has to do it.
const WORDS_APART: &str = "SET gin_pending_list_limit = '16MB'";
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// What work that looks at or touches many rows may take at least.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(30);
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Connection {
    pub(crate) client: Arc<Client>,
    /// Whether this is PostgreSQL itself. What spreads it over machines looks at each statement to
    /// know where to send it, and does not see through all that could be made one.
    pub(crate) is_plain_postgres: bool,
    /// The number of the server's process, where it says so.
    pub(crate) backend: Option<i32>,
    driver: AbortHandle,
    tls: MakeRustlsConnect,
    statements: HashMap<Box<str>, Statement, Xxh3DefaultBuilder>,
}

impl Connection {
    /// Gives the connection up at once, without waiting for answers that may never come. With
    /// `cancel` the server is asked to stop what it does for us; a commit must not be, since it
    /// might then end before it is on the other machines.
    pub(crate) fn abandon(self, cancel: bool) {
        self.driver.abort();
        if cancel {
            let (token, tls) = (self.client.cancel_token(), self.tls);
            tokio::spawn(async move {
                tokio::time::timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await
            });
        }
    }

    pub(crate) fn prepared(&self, sql: &str) -> Option<&Statement> {
        self.statements.get(sql)
    }

    /// The statement, prepared once on each connection.
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.prepared(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql)).await?;
        if self.statements.len() >= STATEMENTS_KEPT {
            self.statements.clear();
        }
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }
}

/// Parameters are written `?1`; PostgreSQL wants `$1`.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

pub(crate) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    for_each_host: Duration,
    /// How long a statement waits for a row that another transaction has; less than we wait for its
    /// answer.
    lock_patience: Duration,
}

impl Manager for Connector {
    type Type = Connection;
    type Error = Refusal;

    /// It is seldom needed, and too big to be carried along by all who ask for a connection.
    async fn create(&self) -> Result<Connection, Refusal> {
        Box::pin(self.connect()).await
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<Refusal> {
        match connection.client.is_closed() {
            true => Err(RecycleError::message("closed")),
            false => Ok(()),
        }
    }
}

impl Connector {
    async fn connect(&self) -> Result<Connection, Refusal> {
        // What is refused is told anyway; what the server remarks beside that is no news to us.
        let lock_timeout = self.lock_patience.as_millis();
        let idle_timeout = IDLE_IN_TRANSACTION_TIMEOUT.as_millis();
        let others = format!(
            "SET lock_timeout = {lock_timeout}; SET idle_in_transaction_session_timeout = \
             {idle_timeout}; SET client_min_messages = error; \
             SET standard_conforming_strings = on"
        );
        let settings = [SESSION, WORDS_APART, &others];
        let Opened { client, driver, row } =
            open(&self.config, &self.tls, self.for_each_host, &settings).await?;
        let said = |place| row.as_ref().and_then(|row| row.try_get(place).ok().flatten());
        Ok(Connection {
            client: Arc::new(client),
            is_plain_postgres: said(1).is_some(),
            backend: said(0).and_then(|number| number.parse().ok()),
            driver,
            tls: self.tls.clone(),
            statements: HashMap::default(),
        })
    }
}

/// A connection for work that takes its time, whatever its role may take otherwise. Each host has
/// some seconds, unless the URL says how many.
pub(crate) async fn connect(address: &Address) -> Result<Client, StoreError> {
    let for_each_host = address.config.get_connect_timeout().copied().unwrap_or(START_TIMEOUT);
    let settings = ["SET statement_timeout = 0", "SET standard_conforming_strings = on"];
    let opened =
        open(&kept_alive(address), &tls::connector(address)?, for_each_host, &settings).await;
    opened
        .map(|opened| opened.client)
        .map_err(|refusal| StoreError::Unusable(format!("{address} cannot be reached: {refusal}")))
}

fn kept_alive(address: &Address) -> Config {
    let mut config = address.config.clone();
    if config.get_keepalives_idle() == KEEP_ALIVE_UNSAID {
        config.keepalives_idle(KEEP_ALIVE);
    }
    config
}

pub(crate) type PooledConnection = Object<Connector>;

/// The connections to one database.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool<Connector>,
    /// How long one waits for a connection, and for each answer on it.
    pub(crate) patience: Duration,
}

pub(crate) fn all_busy() -> StoreError {
    StoreError::Unavailable("all connections are busy".to_owned())
}

impl Connections {
    pub(crate) fn new(
        address: &Address,
        most: usize,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let mut config = kept_alive(address);
        if config.get_tcp_user_timeout().is_none() {
            // A server that works does not take in what is sent ahead meanwhile.
            config.tcp_user_timeout(patience.max(LONG_TIMEOUT));
        }
        let share = patience / count_hosts(&config);
        let for_each_host = config.get_connect_timeout().map_or(share, |wanted| share.min(*wanted));
        let pool = Pool::builder(Connector {
            config,
            tls: tls::connector(address)?,
            for_each_host,
            lock_patience: patience * 4 / 5,
        })
        .max_size(most)
        .wait_timeout(Some(patience))
        .create_timeout(Some(patience))
        .recycle_timeout(Some(patience))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Unusable(error.to_string()))?;
        Ok(Self { pool, patience })
    }

    pub(crate) async fn lend(&self) -> Result<PooledConnection, StoreError> {
        let lent = tokio::time::timeout(self.patience, self.pool.get())
            .await
            .unwrap_or(Err(PoolError::Timeout(TimeoutType::Create)));
        lent.map_err(|error| match error {
            PoolError::Backend(refusal) => StoreError::Unavailable(refusal.to_string()),
            PoolError::Timeout(TimeoutType::Wait) => all_busy(),
            PoolError::Timeout(_) => StoreError::Unavailable(Refusal::Silence.to_string()),
            other => StoreError::Unavailable(other.to_string()),
        })
    }

    /// Connections that there may be.
    pub(crate) fn most(&self) -> usize {
        self.pool.status().max_size
    }

    /// Connections that there are, and how many of them are idle.
    pub(crate) fn count(&self) -> (usize, usize) {
        let status = self.pool.status();
        (status.size, status.available)
    }
}
