//! `slated webhook`: works beside a running server, on the same database.

use clap::{Args, Subcommand};
use serde_json::json;
use slated_model::id::WebhookId;
use slated_model::input::read_body;
use slated_model::problem::Problem;
use slated_model::webhook::{MAX_OVERLAP_SECONDS, NewWebhook};
use slated_operations::Actor;
use slated_operations::webhooks::create::CreateWebhook;
use slated_operations::webhooks::delete::DeleteWebhook;
use slated_operations::webhooks::read::ListWebhooks;
use slated_operations::webhooks::secret::{RotateSecret, new_seed};
use slated_store::Purpose;

use super::Database;
use super::key::{In, Workspace, execute, look_up, overlap_seconds};
use super::outbound_options::{Addressing, Signing};
use super::output::{reveal, say};
use crate::config::duration::parse_duration;

#[derive(Args)]
#[command(after_help = "Example:\n  slated webhook list\n\nSee docs/events.md, Webhooks.")]
pub struct Webhook {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Subcommand)]
enum WebhookCommand {
    /// Create a webhook and print only its secret
    Create(Create),
    /// List the webhooks of a workspace
    List(List),
    /// Rotate a webhook's secret and print it; calls are also signed with the old one for the
    /// overlap
    Rotate(Rotate),
    /// Delete a webhook
    Delete(Delete),
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  slated webhook create --url https://hooks.example.com/slated --type \
        person.*\n\nSee docs/events.md, Webhooks."
)]
struct Create {
    /// The URL to call
    #[arg(long, value_name = "URL")]
    url: String,
    /// An event type to send, such as person.created, person.* or *; all if absent
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// What the webhook is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    #[command(flatten)]
    addressing: Addressing,
    #[command(flatten)]
    signing: Signing,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  slated webhook list --workspace default\n\nSee docs/events.md, \
        Webhooks."
)]
struct List {
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated webhook rotate \
        whk_01m1v0e8k7f3vs8xq2zr6c4ybd\n\nSee docs/events.md, Webhooks.")]
struct Rotate {
    /// The id of the webhook, as webhook list shows it
    #[arg(value_name = "WEBHOOK_ID", value_parser = parse_id)]
    id: WebhookId,
    /// How long calls are also signed with the old secret
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = parse_duration)]
    overlap: i64,
    #[command(flatten)]
    signing: Signing,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

#[derive(Args)]
#[command(after_help = "Example:\n  slated webhook delete \
        whk_01m1v0e8k7f3vs8xq2zr6c4ybd\n\nSee docs/events.md, Webhooks.")]
struct Delete {
    /// The id of the webhook, as webhook list shows it
    #[arg(value_name = "WEBHOOK_ID", value_parser = parse_id)]
    id: WebhookId,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    database: Database,
}

fn parse_id(written: &str) -> Result<WebhookId, String> {
    WebhookId::parse(written)
        .ok_or_else(|| "this is not a webhook id; slated webhook list shows the ids".to_owned())
}

impl Webhook {
    pub fn run(self) -> Result<(), String> {
        match self.command {
            WebhookCommand::Create(create) => create.run(),
            WebhookCommand::List(list) => list.run(),
            WebhookCommand::Rotate(rotate) => rotate.run(),
            WebhookCommand::Delete(delete) => delete.run(),
        }
    }
}

impl Create {
    fn run(self) -> Result<(), String> {
        // The same rules as for a request.
        let body = json!({ "url": self.url, "types": self.types, "description": self.description })
            .to_string();
        let rule = self.addressing.targets();
        let new = read_body(body.as_bytes(), |fields| NewWebhook::read(fields, &rule))
            .map_err(all_flaws)?;
        let seed = new_seed().map_err(|error| error.to_string())?;
        let secret = self.signing.secret_key().reveal(&seed);
        let work = move |actor| CreateWebhook { actor, new: new.clone(), seed: seed.clone() };
        execute(
            &self.database,
            Purpose::Inspect,
            In { workspace: self.workspace.workspace, work },
        )?;
        reveal(format_args!("{secret}"))
    }
}

impl List {
    fn run(self) -> Result<(), String> {
        let work = |actor: Actor| ListWebhooks { workspace: actor.workspace };
        let webhooks = look_up(&self.database, In { workspace: self.workspace.workspace, work })?;
        say!("{:<30}  {:<8}  {:<24}  {:<24}  URL", "ID", "STATUS", "CREATED", "LAST SUCCESS")?;
        for webhook in &webhooks {
            say!(
                "{:<30}  {:<8}  {:<24}  {:<24}  {}",
                webhook.id.to_string(),
                webhook.status(),
                webhook.created_at.to_string(),
                webhook
                    .last_success_at
                    .map_or_else(|| "never".to_owned(), |moment| moment.to_string()),
                webhook.url
            )?;
        }
        Ok(())
    }
}

impl Rotate {
    fn run(self) -> Result<(), String> {
        let (id, overlap_seconds) = (self.id, overlap_seconds(self.overlap, MAX_OVERLAP_SECONDS)?);
        let seed = new_seed().map_err(|error| error.to_string())?;
        let secret = self.signing.secret_key().reveal(&seed);
        let work = move |actor| RotateSecret { actor, id, seed: seed.clone(), overlap_seconds };
        execute(
            &self.database,
            Purpose::Inspect,
            In { workspace: self.workspace.workspace, work },
        )?;
        reveal(format_args!("{secret}"))
    }
}

impl Delete {
    fn run(self) -> Result<(), String> {
        let id = self.id;
        execute(
            &self.database,
            Purpose::Inspect,
            In {
                workspace: self.workspace.workspace,
                work: move |actor| DeleteWebhook { actor, id },
            },
        )
    }
}

/// What is wrong with each option.
fn all_flaws(problem: Problem) -> String {
    match problem.details.as_slice() {
        [] | [_] => problem.message,
        several => several
            .iter()
            .map(|flaw| format!("{}: {}", flaw.field, flaw.message))
            .collect::<Vec<_>>()
            .join("; "),
    }
}
