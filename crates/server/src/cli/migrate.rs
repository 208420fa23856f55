//! `slated migrate`: brings the schema of a database up to date, as every server does when it
//! starts.

use clap::Args;
use slated_store::{Location, Options, Purpose};

use super::Database;
use super::output::say;

#[derive(Args)]
#[command(after_help = "Example:\n  slated migrate --database \
        postgres://slated@localhost/slated\n\nSee docs/operations.md, Upgrading.")]
pub struct Migrate {
    #[command(flatten)]
    database: Database,
    /// Also distribute the tables over a Citus cluster by workspace; the URL must be the
    /// coordinator's
    #[arg(long, env = "SLATED_DISTRIBUTE", value_parser = clap::builder::FalseyValueParser::new())]
    distribute: bool,
}

impl Migrate {
    pub fn run(self) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let location = self.database.location()?;
            let spread_over = match (&location, self.distribute) {
                (_, false) => None,
                (Location::Postgres(address), true) => Some(address),
                (Location::Sqlite(_), true) => {
                    return Err("a SQLite file cannot be distributed; --distribute is for \
                        PostgreSQL with Citus"
                        .to_owned());
                }
            };
            let Some(address) = spread_over else {
                self.database.open(Purpose::Command, &Options::default()).await?;
                return say!("the schema of {location} is up to date");
            };
            let distributed =
                slated_store::distribute(address).await.map_err(|error| error.to_string())?;
            say!("the schema of {location} is up to date")?;
            match distributed.is_empty() {
                true => say!("all tables were already distributed"),
                false => say!("distributed by workspace: {}", distributed.join(", ")),
            }
        })
    }
}
