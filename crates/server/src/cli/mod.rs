//! The command line.

mod audit;
mod copy;
mod key;
mod listening;
mod migrate;
mod outbound_options;
mod output;
mod serve;
mod webhook;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use slated_store::{Location, Options, Purpose, Store};

/// How long a command waits for a database that is reached over a network.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "Examples:
  slated serve --demo                     run with demo data, on http://127.0.0.1:8080
  slated key create --name my-tool        create a key for a program

README.md is a tour, docs/api.md the reference, docs/operations.md the operator's guide.";

/// A recruiting data service over HTTP and JSON.
#[derive(Parser)]
#[command(name = "slated", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service
    Serve(Box<serve::Serve>),
    /// Create, list, rotate and revoke API keys
    Key(key::Key),
    /// Create, list, rotate and delete webhooks
    Webhook(webhook::Webhook),
    /// Verify that the event log was not tampered with
    Audit(audit::Audit),
    /// Copy a whole database from SQLite to PostgreSQL, or back
    Copy(copy::Copy),
    /// Update the schema of a database, as serve does when it starts
    Migrate(migrate::Migrate),
    /// Print the OpenAPI document
    #[command(after_help = "Example:\n  slated openapi > openapi.json\n\nA running server has it \
            at /openapi.json.")]
    Openapi,
}

#[derive(Args)]
struct Database {
    /// The database: sqlite:PATH, which serve, key create and migrate create if it is missing, or
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(
        long,
        help_heading = "Database",
        env = "SLATED_DATABASE",
        hide_env_values = true,
        default_value = "sqlite:slated.db",
        value_name = "URL"
    )]
    database: Url,
}

impl Database {
    fn location(&self) -> Result<Location, String> {
        self.database.location("--database")
    }

    async fn open(&self, purpose: Purpose, options: &Options) -> Result<Store, String> {
        Store::open(&self.location()?, purpose, options).await.map_err(|error| error.to_string())
    }
}

/// The URL of a database as it was written. It is read only later, since the message about one that
/// cannot be read would show all of it, with the password.
#[derive(Clone)]
struct Url(String);

impl From<String> for Url {
    fn from(written: String) -> Self {
        Self(written)
    }
}

impl Url {
    fn location(&self, option: &str) -> Result<Location, String> {
        self.0.parse().map_err(|reason| format!("{option} {}: {reason}", self.without_password()))
    }

    /// Of what may hold a password anywhere, only how it begins.
    fn without_password(&self) -> String {
        if self.0.starts_with("sqlite:") || !self.0.contains([':', '=', '@']) {
            return self.0.clone();
        }
        let is_scheme =
            |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some((scheme, rest)) = self.0.split_once("://").filter(|(scheme, _)| is_scheme(scheme))
        else {
            return self
                .0
                .split_once(':')
                .map(|(scheme, _)| scheme)
                .filter(is_scheme)
                .map_or("…".to_owned(), |scheme| format!("{scheme}:…"));
        };
        match rest.rsplit_once('@') {
            Some((_, host)) if !rest.contains('?') => format!("{scheme}://…@{host}"),
            _ => format!("{scheme}://…"),
        }
    }
}

pub fn run() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(serve) => serve.run(),
        Command::Key(key) => key.run(),
        Command::Webhook(webhook) => webhook.run(),
        Command::Audit(audit) => audit.run(),
        Command::Copy(copy) => copy.run(),
        Command::Migrate(migrate) => migrate.run(),
        Command::Openapi => output::print(format_args!("{}", crate::router::openapi::text())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "slated: {message}");
            ExitCode::FAILURE
        }
    }
}
