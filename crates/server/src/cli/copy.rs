//! `slated copy`: moves a database from SQLite to PostgreSQL, or back.

use std::sync::Mutex;

use clap::Args;
use slated_store::copy::{self, Stage};

use super::Url;
use super::output::say;
use crate::progress::Progress;

#[derive(Args)]
#[command(after_help = "Example:\n  slated copy --from sqlite:slated.db --to \
        postgres://slated@localhost/slated\n\nSee docs/operations.md, The database.")]
pub struct Copy {
    /// The database to copy: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE; no server
    /// may write to it during the copy
    #[arg(long, env = "SLATED_COPY_FROM", hide_env_values = true, value_name = "URL")]
    from: Url,
    /// The database to copy into; it must be empty
    #[arg(long, env = "SLATED_COPY_TO", hide_env_values = true, value_name = "URL")]
    to: Url,
}

const fn label(stage: Stage) -> &'static str {
    match stage {
        Stage::Copying => "copying rows",
        Stage::Finishing => "creating indexes and constraints",
        Stage::Checking => "comparing the copy with the source",
    }
}

impl Copy {
    pub fn run(self) -> Result<(), String> {
        let (from, to) = (self.from.location("--from")?, self.to.location("--to")?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let shown: Mutex<Option<(Stage, Progress)>> = Mutex::new(None);
        let report = |stage, done, total| {
            let Ok(mut shown) = shown.lock() else { return };
            if shown.as_ref().is_none_or(|(before, _)| *before != stage) {
                finish(shown.take());
                *shown = Some((stage, Progress::start(label(stage).to_owned(), total)));
            }
            if let Some((_, progress)) = shown.as_mut() {
                progress.show_of(done, total);
            }
        };
        let copied = runtime.block_on(copy::copy(&from, &to, &report));
        let moved = copied.map_err(|error| error.to_string())?;
        finish(shown.into_inner().unwrap_or_default());
        for (table, rows) in &moved {
            say!("{rows:>12}  {table}")?;
        }
        let total: u64 = moved.iter().map(|(_, rows)| rows).sum();
        say!("{total:>12}  rows copied from {from} to {to}, counted and compared")?;
        Ok(())
    }
}

fn finish(shown: Option<(Stage, Progress)>) {
    if let Some((_, progress)) = shown {
        progress.finish();
    }
}
