//! The command line.

mod copy;
mod duration;
mod key;
mod migrate;
mod serve;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use store::{Location, Options, Purpose, Store};

/// A recruiting data service over HTTP and JSON.
#[derive(Parser)]
#[command(name = "slated", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service
    Serve(Box<serve::Serve>),
    /// Make, list, rotate and revoke API keys
    Key(key::Key),
    /// Move a whole database from SQLite to PostgreSQL, or back
    Copy(copy::Copy),
    /// Bring the schema of a database up to date, as serve does too
    Migrate(migrate::Migrate),
    /// Print the OpenAPI document
    Openapi,
}

#[derive(Args)]
struct Database {
    /// The database: sqlite:PATH, which is made if it is not there, or postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, env = "SLATED_DATABASE", hide_env_values = true, default_value = "sqlite:slated.db", value_name = "URL")]
    database: Location,
}

impl Database {
    async fn open(&self, purpose: Purpose, options: &Options) -> Result<Store, String> {
        Store::open(&self.database, purpose, options).await.map_err(|error| error.to_string())
    }
}

pub fn run() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(serve) => serve.run(),
        Command::Key(key) => key.run(),
        Command::Copy(copy) => copy.run(),
        Command::Migrate(migrate) => migrate.run(),
        Command::Openapi => {
            print!("{}", crate::http::openapi::text());
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("slated: {message}");
            ExitCode::FAILURE
        }
    }
}
