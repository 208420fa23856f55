//! `slated key`: works beside a running server, on the same database.

use clap::{Args, Subcommand, ValueEnum};
use slated_model::clock::Timestamp;
use slated_model::id::KeyId;
use slated_model::key::{MAX_OVERLAP_SECONDS, Scope, Secret};
use slated_model::text::{Lines, limit};
use slated_operations::Actor;
use slated_operations::keys::{
    CreateKey, ListKeys, RevokeKey, RotateKey, random_bytes, workspace_named,
};
use slated_store::{Operation, OperationError, Options, Purpose, Store, Tx};

use super::output::{reveal, say};
use super::{DATABASE_TIMEOUT, Database};
use crate::config::duration::parse_duration;

#[derive(Args)]
#[command(after_help = "Example:\n  slated key create --name my-tool\n\nSee docs/operations.md, \
        Keys.")]
pub struct Key {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Create a key and print only the key; the first key of a workspace creates the workspace
    Create(Create),
    /// List the keys of a workspace; their secrets cannot be shown again
    List(List),
    /// Replace a key with a new one and print it; the old one keeps working for the overlap
    Rotate(Rotate),
    /// Revoke a key; it is refused from now on
    Revoke(Revoke),
}

#[derive(Args)]
pub(super) struct Workspace {
    /// The workspace
    #[arg(long, env = "SLATED_WORKSPACE", default_value = "default", value_name = "NAME",
        value_parser = parse_name)]
    pub(super) workspace: String,
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated key create --name my-tool --scope write --expires \
        90d\n\nSee docs/operations.md, Keys.")]
struct Create {
    /// A name that says what the key is for
    #[arg(long, env = "SLATED_KEY_NAME", value_name = "NAME", value_parser = parse_name)]
    name: String,
    /// What the key may do; each scope includes those before it
    #[arg(
        long = "scope",
        env = "SLATED_KEY_SCOPE",
        value_name = "SCOPE",
        default_value = "write",
        value_delimiter = ','
    )]
    scopes: Vec<ScopeName>,
    #[command(flatten)]
    workspace: Workspace,
    /// When the key stops working: after a span such as 90d, or at a time such as 2027-01-01
    #[arg(long, env = "SLATED_KEY_EXPIRES", value_name = "WHEN", value_parser = parse_expiry)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  slated key list --workspace default\n\nSee docs/operations.md, \
        Keys."
)]
struct List {
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated key rotate key_01m1v0e8k7f3vs8xq2zr6c4ybd --overlap \
        1h\n\nSee docs/operations.md, Keys.")]
struct Rotate {
    /// The id of the key, as key list shows it
    #[arg(value_name = "KEY_ID")]
    id: String,
    /// How long the old key keeps working
    #[arg(long, env = "SLATED_KEY_OVERLAP", value_name = "SPAN", default_value = "24h",
        value_parser = parse_duration)]
    overlap: i64,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated key revoke \
        key_01m1v0e8k7f3vs8xq2zr6c4ybd\n\nSee docs/operations.md, Keys.")]
struct Revoke {
    /// The id of the key, as key list shows it
    #[arg(value_name = "KEY_ID")]
    id: String,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScopeName {
    Read,
    Write,
    Admin,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Read => Self::Read,
            ScopeName::Write => Self::Write,
            ScopeName::Admin => Self::Admin,
        }
    }
}

fn parse_name(written: &str) -> Result<String, String> {
    let name = written.trim();
    let sound = (1..=limit::NAME).contains(&name.chars().count())
        && name.chars().all(|character| Lines::One.allow(character));
    sound.then(|| name.to_owned()).ok_or_else(|| {
        format!("a name must have 1 to {} characters and no control characters", limit::NAME)
    })
}

/// How long what was replaced goes on working.
pub(super) fn overlap_seconds(millis: i64, most: i64) -> Result<i64, String> {
    match (millis / 1000, millis % 1000) {
        (_, 1..) => Err("--overlap must be in whole seconds".to_owned()),
        (seconds, _) if seconds > most => {
            Err(format!("--overlap must be at most {} days", most / 86_400))
        }
        (seconds, _) => Ok(seconds),
    }
}

/// Not while the command line is read: what is wrong with that is shown, and it may be the key
/// itself.
fn parse_key_id(written: &str) -> Result<KeyId, String> {
    KeyId::parse(written).ok_or_else(|| {
        "that is not a key id, which is key_ and 26 letters and digits; slated key list shows the \
            ids"
        .to_owned()
    })
}

fn parse_expiry(written: &str) -> Result<Timestamp, String> {
    let now = Timestamp::now();
    let moment = match Timestamp::parse(written) {
        Some(moment) => moment,
        None => now.plus_millis(parse_duration(written).map_err(|_| {
            format!("{written:?} is neither a span such as 90d nor a time such as 2027-01-01")
        })?),
    };
    match moment > now {
        true => Ok(moment),
        false => Err("the key would already be expired; give a time in the future".to_owned()),
    }
}

impl Key {
    pub fn run(self) -> Result<(), String> {
        match self.command {
            KeyCommand::Create(create) => create.run(),
            KeyCommand::List(list) => list.run(),
            KeyCommand::Rotate(rotate) => rotate.run(),
            KeyCommand::Revoke(revoke) => revoke.run(),
        }
    }
}

/// An operation in the workspace of that name.
pub(super) struct In<F> {
    pub(super) workspace: String,
    pub(super) work: F,
}

impl<W: Operation, F: Fn(Actor) -> W + Send + Sync + 'static> Operation for In<F> {
    type Output = W::Output;

    async fn run(&self, tx: &mut Tx) -> Result<W::Output, OperationError> {
        let workspace = workspace_named(tx, &self.workspace).await?;
        (self.work)(Actor::program(workspace)).run(tx).await
    }
}

pub(super) fn execute<W: Operation>(
    database: &Database,
    purpose: Purpose,
    work: W,
) -> Result<W::Output, String> {
    with_store(database, purpose, async |store| store.write(work).await)
}

/// The same for work that only looks.
pub(super) fn look_up<W: Operation>(database: &Database, work: W) -> Result<W::Output, String> {
    with_store(database, Purpose::Inspect, async |store| store.read_consistent(work).await)
}

fn with_store<T>(
    database: &Database,
    purpose: Purpose,
    run: impl AsyncFnOnce(Store) -> Result<T, OperationError>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let store = database
            .open(purpose, &Options { patience: DATABASE_TIMEOUT, ..Options::default() })
            .await?;
        run(store).await.map_err(|failure| match failure {
            OperationError::Rejected(problem) => problem.message,
            OperationError::Store(error) => error.to_string(),
        })
    })
}

impl Create {
    fn run(self) -> Result<(), String> {
        let scope = self.scopes.into_iter().map(Scope::from).max().unwrap_or(Scope::Write);
        let work = CreateKey {
            workspace: self.workspace.workspace,
            name: self.name,
            scope,
            expires_at: self.expires,
        };
        reveal(format_args!("{}", execute(&self.database, Purpose::Command, work)?.secret.reveal()))
    }
}

impl List {
    fn run(self) -> Result<(), String> {
        let work = |actor: Actor| ListKeys { workspace: actor.workspace };
        let keys = look_up(&self.database, In { workspace: self.workspace.workspace, work })?;
        say!(
            "{:<30}  {:<6}  {:<24}  {:<24}  {:<24}  NAME",
            "ID",
            "SCOPE",
            "CREATED",
            "LAST USED",
            "ENDS"
        )?;
        for key in keys {
            let ends = match (key.revoked_at, key.expires_at) {
                (Some(_), _) => "revoked".to_owned(),
                (None, Some(moment)) => moment.to_string(),
                (None, None) => "never".to_owned(),
            };
            let used =
                key.last_used_at.map_or_else(|| "never".to_owned(), |moment| moment.to_string());
            say!(
                "{:<30}  {:<6}  {:<24}  {used:<24}  {ends:<24}  {}",
                key.id.to_string(),
                key.scope.name(),
                key.created_at.to_string(),
                key.name
            )?;
        }
        Ok(())
    }
}

impl Rotate {
    fn run(self) -> Result<(), String> {
        let Self { id, overlap, workspace, database } = self;
        let id = parse_key_id(&id)?;
        let overlap_millis = overlap_seconds(overlap, MAX_OVERLAP_SECONDS)? * 1000;
        let random = random_bytes().map_err(|error| error.to_string())?;
        let work = move |actor: Actor| RotateKey {
            id,
            overlap_millis,
            secret: Secret::new(actor.workspace, random),
            actor,
        };
        let rotated =
            execute(&database, Purpose::Inspect, In { workspace: workspace.workspace, work })?;
        reveal(format_args!("{}", rotated.secret.reveal()))
    }
}

impl Revoke {
    fn run(self) -> Result<(), String> {
        let Self { id, workspace, database } = self;
        let id = parse_key_id(&id)?;
        let work = move |actor: Actor| RevokeKey { actor, id };
        execute(&database, Purpose::Inspect, In { workspace: workspace.workspace, work })
            .map(|_| ())
    }
}
