//! Webhooks, and what was delivered to them. A delivery gets a row when its outcome is known:
//! delivered, given up, or to be tried again.

use slated_model::clock::Timestamp;
use slated_model::event::TypeFilter;
use slated_model::id::{LeaseId, WebhookId, WorkspaceId};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::events::entry::subject;
use crate::records::places;
use crate::tx::Tx;

#[derive(Clone, Debug)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    pub types: TypeFilter,
    pub description: String,
    pub is_enabled: bool,
    pub secret_seed: Vec<u8>,
    pub old_secret: Option<(Vec<u8>, Timestamp)>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Events up to here are delivered or have a delivery of their own.
    pub settled_sequence: i64,
    /// How often nothing got through, since something last did.
    pub failed_rounds: i64,
    pub paused_at: Option<Timestamp>,
    /// When there is something to try again.
    pub due_at: Option<Timestamp>,
    pub last_success_at: Option<Timestamp>,
    pub last_error: String,
    /// Which server works on it, and until when nobody else may.
    pub lease: Option<(LeaseId, Timestamp)>,
}

impl Webhook {
    /// In one word.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self {
            Self { is_enabled: false, .. } => "disabled",
            Self { paused_at: Some(_), .. } => "paused",
            Self { failed_rounds: 1.., .. } => "failing",
            _ => "active",
        }
    }
}

const COLUMNS: &str = "id, url, types, description, is_enabled, secret_seed, old_secret_seed, \
     old_secret_until, created_at, updated_at, \
     settled_sequence, failed_rounds, paused_at, due_at, last_success_at, last_error, lease, \
     leased_until";

fn webhook(row: &Row<'_>) -> Result<Webhook, StoreError> {
    let old_seed = if row.is_null(6)? { None } else { Some(row.bytes(6)?.to_vec()) };
    let types = TypeFilter::parse(row.str(2)?.split(','));
    Ok(Webhook {
        id: row.id(0)?,
        url: row.text(1)?,
        types: types.map_err(|unknown| {
            StoreError::Internal(format!(
                "a webhook subscribes to the unknown event type \
                {unknown}"
            ))
        })?,
        description: row.text(3)?,
        is_enabled: row.flag(4)?,
        secret_seed: row.bytes(5)?.to_vec(),
        old_secret: old_seed.zip(row.optional_time(7)?),
        created_at: row.time(8)?,
        updated_at: row.time(9)?,
        settled_sequence: row.int(10)?,
        failed_rounds: row.int(11)?,
        paused_at: row.optional_time(12)?,
        due_at: row.optional_time(13)?,
        last_success_at: row.optional_time(14)?,
        last_error: row.text(15)?,
        lease: row.optional_id(16)?.zip(row.optional_time(17)?),
    })
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: &Webhook,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO webhook (workspace_id, id, url, types, description, is_enabled, \
               secret_seed, created_at, updated_at, settled_sequence) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)";
    let Webhook {
        id,
        url,
        types,
        description,
        is_enabled,
        secret_seed,
        created_at,
        settled_sequence,
        ..
    } = webhook;
    let types = types.patterns().join(",");
    let params = [
        workspace.into(),
        (*id).into(),
        url.into(),
        (&types).into(),
        description.into(),
        (*is_enabled).into(),
        Param::Bytes(secret_seed),
        (*created_at).into(),
        (*settled_sequence).into(),
    ];
    tx.execute_deferred(sql, &params).await
}

/// Keeps all of it but the lease.
pub async fn update(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: &Webhook,
) -> Result<(), StoreError> {
    let sql = "UPDATE webhook SET url = ?3, types = ?4, description = ?5, is_enabled = ?6, \
               secret_seed = ?7, old_secret_seed = ?8, \
               old_secret_until = ?9, updated_at = ?10, settled_sequence = ?11, failed_rounds = \
               ?12, paused_at = ?13, due_at = ?14, \
               last_success_at = ?15, last_error = ?16 WHERE workspace_id = ?1 AND id = ?2";
    let types = webhook.types.patterns().join(",");
    let (old_seed, old_until) = webhook
        .old_secret
        .as_ref()
        .map_or((None, None), |(seed, until)| (Some(seed), Some(*until)));
    let params = [
        workspace.into(),
        webhook.id.into(),
        (&webhook.url).into(),
        (&types).into(),
        (&webhook.description).into(),
        webhook.is_enabled.into(),
        Param::Bytes(&webhook.secret_seed),
        old_seed.map_or(Param::Null, |seed| Param::Bytes(seed)),
        old_until.into(),
        webhook.updated_at.into(),
        webhook.settled_sequence.into(),
        webhook.failed_rounds.into(),
        webhook.paused_at.into(),
        webhook.due_at.into(),
        webhook.last_success_at.into(),
        (&webhook.last_error).into(),
    ];
    tx.execute_deferred(sql, &params).await
}

pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Webhook>, StoreError> {
    tx.rows(
        &format!(
            "SELECT {COLUMNS} FROM webhook WHERE workspace_id = ?1 AND deleted_at IS NULL \
            ORDER BY id"
        ),
        params![workspace],
        webhook,
    )
    .await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: WebhookId,
) -> Result<Option<Webhook>, StoreError> {
    tx.row(
        &format!(
            "SELECT {COLUMNS} FROM webhook WHERE workspace_id = ?1 AND id = ?2 AND \
            deleted_at IS NULL"
        ),
        params![workspace, id],
        webhook,
    )
    .await
}

/// The webhook as rules work on it, kept from others until they are done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: WebhookId,
) -> Result<Option<Webhook>, StoreError> {
    tx.row_for_update(
        &format!(
            "SELECT {COLUMNS} FROM webhook WHERE workspace_id = ?1 AND id = ?2 AND \
            deleted_at IS NULL"
        ),
        params![workspace, id],
        webhook,
    )
    .await
}

/// Nobody sees it any more; [`clear_away`] does the rest.
pub async fn delete(tx: &mut Tx, workspace: WorkspaceId, id: WebhookId) -> Result<(), StoreError> {
    let sql =
        "UPDATE webhook SET deleted_at = ?3, is_enabled = ?4 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, tx.now(), false]).await
}

/// Webhooks of a workspace that were deleted and still have to be cleared away.
pub async fn deleted(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<WebhookId>, StoreError> {
    let sql = "SELECT id FROM webhook WHERE workspace_id = ?1 AND deleted_at IS NOT NULL";
    tx.rows(sql, params![workspace], |row| row.id(0)).await
}

/// Removes some deliveries of a deleted webhook, and itself when none is left.
pub async fn clear_away(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: WebhookId,
    most: i64,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM webhook_delivery WHERE workspace_id = ?1 AND webhook_id = ?2 AND \
               sequence IN \
               (SELECT sequence FROM webhook_delivery WHERE workspace_id = ?1 AND webhook_id = ?2 \
               ORDER BY sequence LIMIT ?3)";
    if tx.execute(sql, params![workspace, id, most]).await? as i64 == most {
        return Ok(());
    }
    tx.execute_deferred(
        "DELETE FROM webhook WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
    )
    .await
}

/// The webhooks that nobody works on and that have something to be told, in all workspaces: new
/// events, or something to try again.
pub async fn due(tx: &mut Tx) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError> {
    let sql = "SELECT w.workspace_id, w.id FROM webhook w WHERE w.is_enabled = ?2 AND \
               (w.leased_until IS NULL OR w.leased_until <= ?1) \
               AND (w.due_at <= ?1 OR (w.failed_rounds = 0 AND w.settled_sequence < \
               (SELECT e.sequence FROM event e WHERE e.workspace_id = w.workspace_id ORDER BY \
               e.sequence DESC LIMIT 1)))";
    tx.rows(sql, params![tx.now(), true], |row| Ok((row.workspace(0)?, row.id(1)?))).await
}

pub async fn set_lease(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: WebhookId,
    lease: Option<(LeaseId, Timestamp)>,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE webhook SET lease = ?3, leased_until = ?4 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(
        sql,
        params![workspace, id, lease.map(|(lease, _)| lease), lease.map(|(_, until)| until)],
    )
    .await
}

/// Holds on to a webhook for longer, if it is still held; says whether it is.
pub async fn renew_lease(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: WebhookId,
    lease: LeaseId,
    until: Timestamp,
) -> Result<bool, StoreError> {
    let sql =
        "UPDATE webhook SET leased_until = ?4 WHERE workspace_id = ?1 AND id = ?2 AND lease = ?3";
    Ok(tx.execute(sql, params![workspace, id, lease, until]).await? > 0)
}

/// Lets go of all webhooks, for a server that has them all to itself and was stopped in the middle.
pub async fn clear_leases(tx: &mut Tx) -> Result<(), StoreError> {
    tx.execute_deferred(
        "UPDATE webhook SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL",
        &[],
    )
    .await
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeliveryStatus {
    Pending,
    Delivered,
    /// Given up.
    Failed,
}

impl DeliveryStatus {
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub sequence: i64,
    pub status: DeliveryStatus,
    pub attempt_count: i64,
    /// Attempts that failed while others got through.
    pub failure_count: i64,
    /// JSON.
    pub attempts: String,
    pub next_attempt_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Delivery {
    /// One that is still to be tried.
    #[must_use]
    pub fn pending(sequence: i64, now: Timestamp) -> Self {
        Self {
            sequence,
            status: DeliveryStatus::Pending,
            attempt_count: 0,
            failure_count: 0,
            attempts: "[]".to_owned(),
            next_attempt_at: None,
            created_at: now,
            updated_at: now,
        }
    }
}

const DELIVERY_COLUMNS: &str = "sequence, status, attempt_count, failure_count, attempts, \
    next_attempt_at, created_at, updated_at";

fn delivery(row: &Row<'_>) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        sequence: row.int(0)?,
        status: DeliveryStatus::parse(row.str(1)?)
            .ok_or_else(|| StoreError::Internal("a delivery has an unknown status".to_owned()))?,
        attempt_count: row.int(2)?,
        failure_count: row.int(3)?,
        attempts: row.text(4)?,
        next_attempt_at: row.optional_time(5)?,
        created_at: row.time(6)?,
        updated_at: row.time(7)?,
    })
}

/// Deliveries before a number, newest first, perhaps only those with one status.
pub async fn deliveries(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: WebhookId,
    status: Option<DeliveryStatus>,
    before: i64,
    limit: i64,
) -> Result<Vec<Delivery>, StoreError> {
    let condition = match status {
        None => "",
        Some(DeliveryStatus::Pending) => " AND status = 'pending'",
        Some(DeliveryStatus::Delivered) => " AND status = 'delivered'",
        Some(DeliveryStatus::Failed) => " AND status = 'failed'",
    };
    let sql = format!(
        "SELECT {DELIVERY_COLUMNS} FROM webhook_delivery WHERE workspace_id = ?1 AND webhook_id = \
         ?2 AND sequence < ?3{condition} \
         ORDER BY sequence DESC LIMIT ?4"
    );
    tx.rows(&sql, params![workspace, webhook, before, limit], delivery).await
}

/// A delivery that waits, without what it is about.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub sequence: i64,
    /// What it has to be delivered in order with.
    pub lane: [u8; 16],
    pub attempt_count: i64,
    pub next_attempt_at: Option<Timestamp>,
}

/// What waits to be delivered, oldest first.
pub async fn waiting(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: WebhookId,
    limit: i64,
) -> Result<Vec<Waiting>, StoreError> {
    let sql = "SELECT d.sequence, d.attempt_count, d.next_attempt_at, e.record_id, e.person_id, \
               e.job_id FROM webhook_delivery d \
               JOIN event e ON e.workspace_id = d.workspace_id AND e.sequence = d.sequence \
               WHERE d.workspace_id = ?1 AND d.webhook_id = ?2 AND d.status = 'pending' ORDER BY \
               d.sequence LIMIT ?3";
    tx.rows(sql, params![workspace, webhook, limit], |row| {
        let lane = subject(row, 3)?.lane();
        Ok(Waiting {
            sequence: row.int(0)?,
            lane,
            attempt_count: row.int(1)?,
            next_attempt_at: row.optional_time(2)?,
        })
    })
    .await
}

/// Those of the deliveries that there are.
pub async fn find_deliveries(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: WebhookId,
    sequences: &[i64],
) -> Result<Vec<Delivery>, StoreError> {
    let mut found = Vec::with_capacity(sequences.len());
    for some in sequences.chunks(100) {
        let places = places(some.len(), 3);
        let sql = format!(
            "SELECT {DELIVERY_COLUMNS} FROM webhook_delivery WHERE workspace_id = ?1 AND \
             webhook_id = ?2 AND sequence IN ({places})"
        );
        let mut params = vec![workspace.into(), webhook.into()];
        params.extend(some.iter().map(|sequence| Param::Int(*sequence)));
        found.extend(tx.rows(&sql, &params, delivery).await?);
    }
    Ok(found)
}

pub async fn find_delivery(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: WebhookId,
    sequence: i64,
) -> Result<Option<Delivery>, StoreError> {
    let sql = format!(
        "SELECT {DELIVERY_COLUMNS} FROM webhook_delivery WHERE workspace_id = ?1 AND webhook_id = \
         ?2 AND sequence = ?3"
    );
    tx.row(&sql, params![workspace, webhook, sequence], delivery).await
}

/// Keeps deliveries as they are now, in place of what was known of them.
pub async fn keep_deliveries(
    tx: &mut Tx,
    workspace: WorkspaceId,
    webhook: WebhookId,
    deliveries: &[Delivery],
) -> Result<(), StoreError> {
    const ROWS: usize = 50;
    for some in deliveries.chunks(ROWS) {
        let mut sql = format!(
            "INSERT INTO webhook_delivery (workspace_id, webhook_id, {DELIVERY_COLUMNS}) VALUES "
        );
        let mut params = vec![workspace.into(), webhook.into()];
        for delivery in some {
            let first = params.len() + 1;
            sql.push_str(if first > 3 { ", " } else { "" });
            sql.push_str(&format!("(?1, ?2, {})", places(8, first)));
            params.extend::<[Param<'_>; 8]>([
                delivery.sequence.into(),
                delivery.status.name().into(),
                delivery.attempt_count.into(),
                delivery.failure_count.into(),
                (&delivery.attempts).into(),
                delivery.next_attempt_at.into(),
                delivery.created_at.into(),
                delivery.updated_at.into(),
            ]);
        }
        sql.push_str(
            " ON CONFLICT (workspace_id, webhook_id, sequence) DO UPDATE SET status = \
             excluded.status, attempt_count = excluded.attempt_count, \
             failure_count = excluded.failure_count, attempts = excluded.attempts, \
             next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at",
        );
        tx.execute_deferred(&sql, &params).await?;
    }
    Ok(())
}

/// Forgets deliveries of events that are forgotten. Gives back the webhooks that had still to get
/// some of them, kept from others, and the first and the last of those.
pub async fn forget_deliveries(
    tx: &mut Tx,
    workspace: WorkspaceId,
    end: i64,
) -> Result<Vec<(Webhook, i64, i64)>, StoreError> {
    let mut missing = Vec::new();
    for Webhook { id, .. } in all(tx, workspace).await? {
        // Before its deliveries, as everybody does who changes both.
        let Some(held) = load(tx, workspace, id).await? else { continue };
        let sql = "SELECT MIN(sequence), MAX(sequence) FROM webhook_delivery \
                   WHERE workspace_id = ?1 AND webhook_id = ?2 AND sequence <= ?3 AND status = \
                   'pending'";
        let pending = tx
            .row(sql, params![workspace, id, end], |row| {
                Ok(row.optional_int(0)?.zip(row.optional_int(1)?))
            })
            .await?;
        let sql = "DELETE FROM webhook_delivery WHERE workspace_id = ?1 AND webhook_id = ?2 AND \
            sequence <= ?3";
        tx.execute_deferred(sql, params![workspace, id, end]).await?;
        missing.extend(pending.flatten().map(|(first, last)| (held, first, last)));
    }
    Ok(missing)
}
