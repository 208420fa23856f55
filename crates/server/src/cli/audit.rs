//! `slated audit`: proves the log of changes.

use clap::{Args, Subcommand};
use slated_model::id::WorkspaceId;
use slated_operations::events::read::NewestEvent;
use slated_operations::events::verify::{Broken, Checked, Proved, VerifyEvents};
use slated_operations::workspaces::AllWorkspaces;
use slated_store::{Options, Purpose, Store};

use super::output::say;
use super::{DATABASE_TIMEOUT, Database};
use crate::events::publisher::number_all;
use crate::progress::Progress;

#[derive(Args)]
#[command(after_help = "Example:\n  slated audit verify\n\nSee docs/operations.md, Proving the \
        log.")]
pub struct Audit {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Check that no log entry was changed, removed or added
    Verify(Verify),
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated audit verify --database \
        sqlite:slated.db\n\nSee docs/operations.md, Proving the log.")]
struct Verify {
    /// Check only this workspace; all if absent
    #[arg(long, env = "SLATED_WORKSPACE", value_name = "NAME")]
    workspace: Option<String>,
    #[command(flatten)]
    database: Database,
}

impl Audit {
    pub fn run(self) -> Result<(), String> {
        let AuditCommand::Verify(verify) = self.command;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(verify.run())
    }
}

impl Verify {
    async fn run(self) -> Result<(), String> {
        let store = self
            .database
            .open(Purpose::Inspect, &Options { patience: DATABASE_TIMEOUT, ..Options::default() })
            .await?;
        // Where nothing can be written, what has no number yet is not looked at.
        let _ = number_all(&store).await;
        let mut workspaces =
            store.read(AllWorkspaces).await.map_err(|failure| failure.to_string())?;
        if let Some(name) = &self.workspace {
            workspaces.retain(|(_, known)| {
                slated_model::text::comparison_key(known)
                    == slated_model::text::comparison_key(name)
            });
            if workspaces.is_empty() {
                return Err(format!("workspace {name:?} does not exist"));
            }
        }
        let mut broken = 0;
        for (id, name) in workspaces {
            broken += u32::from(!verify(&store, id, &name).await?);
        }
        match broken {
            0 => Ok(()),
            _ => Err("the log was tampered with, or the database is damaged".to_owned()),
        }
    }
}

/// Says how far the log of a workspace is proved; false if it is not.
async fn verify(store: &Store, workspace: WorkspaceId, name: &str) -> Result<bool, String> {
    let newest =
        store.read(NewestEvent { workspace }).await.map_err(|failure| failure.to_string())?;
    let mut progress = Progress::start(
        format!("checking the log of workspace {name:?}"),
        u64::try_from(newest).unwrap_or(0),
    );
    let mut checked = Checked::default();
    loop {
        match store
            .read_consistent(VerifyEvents { workspace, checked })
            .await
            .map_err(|failure| failure.to_string())?
        {
            Err(Broken { sequence, reason }) => {
                progress.finish();
                say!("workspace {name:?}: entry {sequence} is wrong: {reason}")?;
                return Ok(false);
            }
            Ok((further, has_more)) => {
                checked = further;
                progress.show(
                    checked.proved.map_or(0, |proved| u64::try_from(proved.sequence).unwrap_or(0)),
                );
                if !has_more {
                    break;
                }
            }
        }
    }
    progress.finish();
    match checked.proved {
        None => say!("workspace {name:?}: the log is empty")?,
        Some(Proved { first, sequence, hash }) => {
            let entries = sequence - first + 1;
            let entries = match entries {
                1 => format!("1 entry, {sequence}, is intact"),
                _ => format!("{entries} entries, {first} to {sequence}, are intact"),
            };
            say!("workspace {name:?}: {entries}; the last hash is {hash}")?;
        }
    }
    Ok(true)
}
