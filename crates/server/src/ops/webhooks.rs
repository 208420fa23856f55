//! Webhooks: made, changed, tried, and what was delivered to them.

use std::collections::HashMap;

use model::clock::Timestamp;
use model::event::{Event, EventType, Subject};
use model::id::{WebhookId, WorkspaceId};
use model::problem::{Code, Problem};
use model::webhook::{MOST_WEBHOOKS, NewWebhook, WebhookPatch};
use reqwest::Url;
use serde::Serialize;
use store::record::event_reading::{Beside, Head};
use store::record::webhook::{Delivery, DeliveryStatus, Webhook};
use store::record::{event, event_outbox, event_reading, webhook, workspace};
use store::{Failure, StoreError, Tx, Work};

use super::Actor;
use super::keys::random_bytes;
use super::tell::{Nothing, Told, differences, tell};

/// Events that one replay sends again at most.
pub const MOST_REPLAYED: i64 = 10_000;

/// A webhook as events show it. Of its URL only the host: the rest may be nobody else's business.
#[derive(Serialize)]
struct WebhookFields<'w> {
    host: String,
    types: &'w [String],
    description: &'w str,
    is_enabled: bool,
}

impl<'w> WebhookFields<'w> {
    fn of(webhook: &'w Webhook) -> Self {
        let host = Url::parse(&webhook.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        Self { host, types: webhook.types.patterns(), description: &webhook.description, is_enabled: webhook.is_enabled }
    }
}

fn missing(id: WebhookId) -> Problem {
    Problem::not_found("webhook", id)
}

/// The number of the newest event, once all that were told of have one.
async fn newest_of_all(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    while event_outbox::number(tx, workspace).await? {}
    event::newest(tx, workspace).await
}

/// What the secret of a webhook is made from.
pub fn new_seed() -> Result<Vec<u8>, StoreError> {
    random_bytes::<32>().map(Vec::from)
}

pub struct CreateWebhook {
    pub actor: Actor,
    pub new: NewWebhook,
    pub seed: Vec<u8>,
}

impl Work for CreateWebhook {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, Failure> {
        let workspace = self.actor.workspace;
        // So that two at once do not make one too many.
        workspace::lock(tx, workspace).await?;
        if webhook::all(tx, workspace).await?.len() >= MOST_WEBHOOKS {
            let message = format!("The workspace has {MOST_WEBHOOKS} webhooks, which is all it may have; delete one first.");
            return Err(Problem::new(Code::TooManyWebhooks, message).into());
        }
        let NewWebhook { url, types, description } = self.new.clone();
        let created = Webhook {
            id: tx.new_id(),
            url,
            types,
            description,
            is_enabled: true,
            secret_seed: self.seed.clone(),
            old_secret: None,
            created_at: tx.now(),
            updated_at: tx.now(),
            settled_sequence: newest_of_all(tx, workspace).await?,
            failed_rounds: 0,
            paused_at: None,
            due_at: None,
            last_success_at: None,
            last_error: String::new(),
            lease: None,
        };
        webhook::insert(tx, workspace, &created).await?;
        let told = Told::new(Nothing {}, WebhookFields::of(&created));
        tell(tx, &self.actor, EventType::WebhookCreated, Subject::of(created.id), &told).await?;
        Ok(created)
    }
}

pub struct ListWebhooks {
    pub workspace: WorkspaceId,
}

impl Work for ListWebhooks {
    type Output = Vec<Webhook>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Webhook>, Failure> {
        Ok(webhook::all(tx, self.workspace).await?)
    }
}

pub struct ReadWebhook {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
}

impl Work for ReadWebhook {
    type Output = Webhook;

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, Failure> {
        Ok(webhook::find(tx, self.workspace, self.id).await?.ok_or_else(|| missing(self.id))?)
    }
}

pub struct UpdateWebhook {
    pub actor: Actor,
    pub id: WebhookId,
    pub patch: WebhookPatch,
}

impl Work for UpdateWebhook {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, Failure> {
        let workspace = self.actor.workspace;
        let before = webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let WebhookPatch { url, types, description, is_enabled } = self.patch.clone();
        let mut updated = before.clone();
        updated.url = url.unwrap_or(updated.url);
        updated.types = types.unwrap_or(updated.types);
        updated.description = description.unwrap_or(updated.description);
        updated.is_enabled = is_enabled.unwrap_or(updated.is_enabled);
        let changes = differences(&WebhookFields::of(&before), &WebhookFields::of(&updated))?;
        if changes.is_none() && updated.url == before.url {
            return Ok(before);
        }
        updated.updated_at = tx.now();
        // Whatever was wrong may be mended by this, so it is tried at once.
        if updated.failed_rounds > 0 {
            updated.due_at = Some(tx.now());
        }
        webhook::update(tx, workspace, &updated).await?;
        let (was, is) = changes.unwrap_or_default();
        tell(tx, &self.actor, EventType::WebhookUpdated, Subject::of(self.id), &Told::new(was, is)).await?;
        Ok(updated)
    }
}

pub struct DeleteWebhook {
    pub actor: Actor,
    pub id: WebhookId,
}

impl Work for DeleteWebhook {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        let before = webhook::load(tx, self.actor.workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        webhook::delete(tx, self.actor.workspace, self.id).await?;
        let told = Told::new(WebhookFields::of(&before), Nothing {});
        tell(tx, &self.actor, EventType::WebhookDeleted, Subject::of(self.id), &told).await?;
        Ok(())
    }
}

/// Removes some of what is left of webhooks that were deleted; says whether there is more.
pub struct ClearWebhooksAway {
    pub workspace: WorkspaceId,
}

impl ClearWebhooksAway {
    const MOST: i64 = 1000;
}

impl Work for ClearWebhooksAway {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let mut has_more = false;
        if let Some(id) = webhook::deleted(tx, self.workspace).await?.first() {
            webhook::clear_away(tx, self.workspace, *id, Self::MOST).await?;
            has_more = true;
        }
        Ok(has_more)
    }
}

/// The webhooks of a workspace that were deleted and are still being cleared away.
pub struct DeletedWebhooks {
    pub workspace: WorkspaceId,
}

impl Work for DeletedWebhooks {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        Ok(!webhook::deleted(tx, self.workspace).await?.is_empty())
    }
}

/// Gives the webhook a new secret; the old one signs along for a while.
pub struct RotateSecret {
    pub actor: Actor,
    pub id: WebhookId,
    pub seed: Vec<u8>,
    pub overlap_seconds: i64,
}

#[derive(Serialize)]
struct OldSecret {
    old_secret_until: Timestamp,
}

impl Work for RotateSecret {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, Failure> {
        let workspace = self.actor.workspace;
        let mut rotated = webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let until = tx.now().plus_millis(self.overlap_seconds * 1000);
        let old = std::mem::replace(&mut rotated.secret_seed, self.seed.clone());
        rotated.old_secret = Some((old, until));
        rotated.updated_at = tx.now();
        webhook::update(tx, workspace, &rotated).await?;
        let told = Told::new(Nothing {}, OldSecret { old_secret_until: until });
        tell(tx, &self.actor, EventType::WebhookSecretRotated, Subject::of(self.id), &told).await?;
        Ok(rotated)
    }
}

/// Writes an event that only this webhook gets.
pub struct TestWebhook {
    pub actor: Actor,
    pub id: WebhookId,
}

#[derive(Serialize)]
struct TestFields {
    message: &'static str,
}

impl Work for TestWebhook {
    type Output = Event;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let mut tested = webhook::load(tx, self.actor.workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        if tested.failed_rounds > 0 {
            tested.due_at = Some(tx.now());
            webhook::update(tx, self.actor.workspace, &tested).await?;
        }
        let told = Told::new(Nothing {}, TestFields { message: "If you can read this, the webhook works." });
        let told = tell(tx, &self.actor, EventType::WebhookTest, Subject::of(self.id), &told).await?;
        newest_of_all(tx, self.actor.workspace).await?;
        let (events, _) = event_reading::timeline(tx, self.actor.workspace, self.id, Beside::Nothing, i64::MAX, 1).await?;
        let event = events.into_iter().find(|event| Some(event.id) == told);
        Ok(event.ok_or_else(|| StoreError::Conflict("other events came in between".to_owned()))?)
    }
}

/// Deliveries before a number, newest first.
pub struct ListDeliveries {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub status: Option<DeliveryStatus>,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Work for ListDeliveries {
    /// With the number to go on before, if there is more.
    type Output = (Vec<(Delivery, Head)>, Option<i64>);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let Self { workspace, id, status, before, limit } = *self;
        webhook::find(tx, workspace, id).await?.ok_or_else(|| missing(id))?;
        let mut found = webhook::deliveries(tx, workspace, id, status, before.unwrap_or(i64::MAX), limit + 1).await?;
        let has_more = found.len() as i64 > limit;
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let next = found.last().filter(|_| has_more).map(|delivery| delivery.sequence);
        let sequences: Vec<_> = found.iter().map(|delivery| delivery.sequence).collect();
        let heads = event_reading::heads(tx, workspace, &sequences).await?;
        Ok((together(found, heads, |head| head.sequence), next))
    }
}

/// Puts deliveries together with what is known of the events that they deliver; those whose event is forgotten go with it.
pub fn together<E>(deliveries: Vec<Delivery>, events: Vec<E>, sequence: impl Fn(&E) -> i64) -> Vec<(Delivery, E)> {
    let mut events: HashMap<i64, E> = events.into_iter().map(|event| (sequence(&event), event)).collect();
    deliveries.into_iter().filter_map(|delivery| events.remove(&delivery.sequence).map(|event| (delivery, event))).collect()
}

pub struct ReadDelivery {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub sequence: i64,
}

impl Work for ReadDelivery {
    type Output = (Delivery, Head);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let Self { workspace, id, sequence } = *self;
        webhook::find(tx, workspace, id).await?.ok_or_else(|| missing(id))?;
        let delivery = webhook::find_delivery(tx, workspace, id, sequence).await?;
        let event = event_reading::heads(tx, workspace, &[sequence]).await?.pop();
        Ok(delivery.zip(event).ok_or_else(|| Problem::not_found("delivery", sequence))?)
    }
}

/// Sends one event again.
pub struct ResendDelivery {
    pub actor: Actor,
    pub id: WebhookId,
    pub sequence: i64,
}

impl Work for ResendDelivery {
    type Output = (Delivery, Head);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let workspace = self.actor.workspace;
        let mut resent = webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let delivery = webhook::find_delivery(tx, workspace, self.id, self.sequence).await?;
        let event = event_reading::heads(tx, workspace, &[self.sequence]).await?.pop();
        let (delivery, event) = delivery.zip(event).ok_or_else(|| Problem::not_found("delivery", self.sequence))?;
        let delivery =
            Delivery { status: DeliveryStatus::Pending, failure_count: 0, next_attempt_at: None, updated_at: tx.now(), ..delivery };
        webhook::keep_deliveries(tx, workspace, self.id, std::slice::from_ref(&delivery)).await?;
        resent.due_at = Some(tx.now());
        webhook::update(tx, workspace, &resent).await?;
        tx.wake(workspace);
        Ok((delivery, event))
    }
}

/// Sends the events of a range again that the webhook wants; says how many.
pub struct ReplayEvents {
    pub actor: Actor,
    pub id: WebhookId,
    pub after: i64,
    pub until: Option<i64>,
}

impl Work for ReplayEvents {
    type Output = usize;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize, Failure> {
        let workspace = self.actor.workspace;
        let mut replayed = webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        // What comes behind is not settled yet, and will be delivered anyway.
        let until = self.until.unwrap_or(i64::MAX).min(replayed.settled_sequence);
        // Tests are for the moment, and for one webhook.
        let types = replayed.types.without(EventType::WebhookTest);
        let wanted = event_reading::numbers(tx, workspace, self.after, until, &types, MOST_REPLAYED).await?;
        let wanted = wanted.map_err(|gone| super::events::forgotten(&gone))?;
        let deliveries: Vec<_> = wanted.into_iter().map(|sequence| Delivery::pending(sequence, tx.now())).collect();
        webhook::keep_deliveries(tx, workspace, self.id, &deliveries).await?;
        if !deliveries.is_empty() {
            replayed.due_at = Some(tx.now());
            webhook::update(tx, workspace, &replayed).await?;
            tx.wake(workspace);
        }
        Ok(deliveries.len())
    }
}
