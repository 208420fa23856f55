//! Delivering events to a webhook, as turns: take a lease, plan what is due, call, settle what came of it. All that is known of a turn
//! before it is settled is what the endpoint answered, so a server may die at any point and another goes on.

use std::collections::{HashMap, HashSet};

use model::clock::Timestamp;
use model::event::{Event, EventType, Subject, TypeFilter};
use model::id::{LeaseId, WebhookId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::record::webhook::{Delivery, DeliveryStatus, Waiting, Webhook};
use store::record::{event, webhook};
use store::{Failure, StoreError, Tx, Work};

use super::Actor;
use super::tell::{Nothing, Told, tell};
use super::webhooks::with_events;

/// How long a server has a webhook to itself, unless it renews that.
pub const LEASE_MILLIS: i64 = 10_000;
/// New events in one turn.
const MOST_FRESH: i64 = 500;
/// Deliveries in one turn that waited.
const MOST_AT_ONCE: usize = 500;
/// Deliveries that may wait at once; new events are not looked at until some are through or given up.
const MOST_WAITING: i64 = 5000;
/// Attempts of a delivery that are kept.
const ATTEMPTS_KEPT: usize = 20;
/// Rounds without any success after which a webhook is paused.
const ROUNDS_TO_PAUSE: i64 = 5;

/// One call and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    pub at: String,
    pub duration_ms: i64,
    pub status: Option<u16>,
    pub error: String,
    /// How the answer began.
    pub answer: String,
}

/// The webhooks that somebody should work on.
pub struct DueWebhooks;

impl Work for DueWebhooks {
    type Output = Vec<(WorkspaceId, WebhookId)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        Ok(webhook::due(tx).await?)
    }
}

/// Lets go of all webhooks: nobody else is there to work on them.
pub struct ClearLeases;

impl Work for ClearLeases {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        Ok(webhook::clear_leases(tx).await?)
    }
}

pub struct RenewLease {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub lease: LeaseId,
}

impl Work for RenewLease {
    /// False if another server has it now.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        Ok(webhook::renew_lease(tx, self.workspace, self.id, self.lease, tx.now().plus_millis(LEASE_MILLIS)).await?)
    }
}

/// Takes a webhook for a while, unless another server has it.
pub struct TakeLease {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub lease: LeaseId,
}

impl Work for TakeLease {
    /// False if there is nothing to take.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let Self { workspace, id, lease } = *self;
        let Some(webhook) = webhook::load(tx, workspace, id).await? else { return Ok(false) };
        let is_taken = webhook.lease.is_some_and(|(holder, until)| holder != lease && until > tx.now());
        if is_taken || !webhook.is_enabled {
            return Ok(false);
        }
        webhook::set_lease(tx, workspace, id, Some((lease, tx.now().plus_millis(LEASE_MILLIS)))).await?;
        Ok(true)
    }
}

/// An event on its way, with what is known of its delivery so far.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub event: Event,
    pub delivery: Option<Delivery>,
}

/// What a server does for a webhook in one go.
pub struct Turn {
    pub webhook: Webhook,
    /// Each in its order; the lanes beside each other.
    pub lanes: Vec<Vec<Parcel>>,
    /// New events that have to wait for others of their lane.
    held: Vec<Event>,
    /// Everything up to here is in this turn or was before.
    settled_sequence: i64,
    has_more: bool,
    /// Why events are missing, if they are.
    gap: Option<String>,
}

/// Whether a webhook still is what it was when its turn was planned: somebody may have switched it off or sent it elsewhere.
pub struct IsAsPlanned {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub url: String,
}

impl Work for IsAsPlanned {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let webhook = webhook::find(tx, self.workspace, self.id).await?;
        Ok(webhook.is_some_and(|webhook| webhook.is_enabled && webhook.url == self.url))
    }
}

/// Looks what is to be delivered now. Whoever does holds the lease.
pub struct PlanTurn {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
}

impl Work for PlanTurn {
    /// Nothing if the webhook is gone.
    type Output = Option<Turn>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Turn>, Failure> {
        let Self { workspace, id } = *self;
        let Some(webhook) = webhook::find(tx, workspace, id).await? else { return Ok(None) };
        let waiting = webhook::waiting(tx, workspace, id, MOST_WAITING).await?;
        let has_room = (waiting.len() as i64) < MOST_WAITING;
        let mut turn = Turn::empty(webhook);
        match turn.webhook.failed_rounds {
            0 => self.whole_turn(tx, &mut turn, &waiting, has_room).await?,
            _ => self.probe(tx, &mut turn, &waiting, has_room).await?,
        }
        Ok(Some(turn))
    }
}

impl PlanTurn {
    async fn whole_turn(&self, tx: &mut Tx, turn: &mut Turn, waiting: &[Waiting], has_room: bool) -> Result<(), StoreError> {
        let queues = Queues::of(waiting, tx.now());
        let mut places: HashMap<[u8; 16], usize> = HashMap::new();
        let due: Vec<i64> = queues.due.iter().flatten().copied().take(MOST_AT_ONCE).collect();
        for parcel in self.parcels(tx, &due).await? {
            turn.add(&mut places, parcel);
        }
        if !has_room {
            return Ok(());
        }
        for event in self.fresh(tx, turn, MOST_FRESH).await? {
            let lane = event.subject.lane();
            // What is not in this turn and waits in the same lane comes first.
            match queues.is_behind(lane, &due) {
                true => turn.held.push(event),
                false => turn.add(&mut places, Parcel { event, delivery: None }),
            }
        }
        Ok(())
    }

    /// One call, to see whether anything gets through again: something that was not tried yet, so that one bad event does not stand for
    /// all, or else what was tried the least.
    async fn probe(&self, tx: &mut Tx, turn: &mut Turn, waiting: &[Waiting], has_room: bool) -> Result<(), StoreError> {
        if turn.webhook.due_at.is_some_and(|due| due > tx.now()) {
            return Ok(());
        }
        let queues = Queues::of(waiting, Timestamp::from_millis(i64::MAX));
        let heads: Vec<i64> = queues.due.iter().filter_map(|lane| lane.first().copied()).collect();
        let least_tried = waiting
            .iter()
            .filter(|waiting| heads.contains(&waiting.sequence))
            .min_by_key(|waiting| (waiting.attempt_count, waiting.sequence));
        if has_room
            && least_tried.is_none_or(|waiting| waiting.attempt_count > 0)
            && let Some(event) = self.fresh_head(tx, turn, &queues).await?
        {
            turn.lanes.push(vec![Parcel { event, delivery: None }]);
        } else if let Some(waiting) = least_tried {
            turn.lanes.push(self.parcels(tx, &[waiting.sequence]).await?);
        }
        Ok(())
    }

    /// The first new event that need not wait for others of its lane; those before it are held.
    async fn fresh_head(&self, tx: &mut Tx, turn: &mut Turn, queues: &Queues) -> Result<Option<Event>, StoreError> {
        for event in self.fresh(tx, turn, MOST_FRESH).await? {
            if !queues.lanes.contains_key(&event.subject.lane()) {
                turn.settled_sequence = event.sequence;
                return Ok(Some(event));
            }
            turn.held.push(event);
        }
        Ok(None)
    }

    async fn parcels(&self, tx: &mut Tx, sequences: &[i64]) -> Result<Vec<Parcel>, StoreError> {
        let mut deliveries = webhook::find_deliveries(tx, self.workspace, self.id, sequences).await?;
        deliveries.sort_unstable_by_key(|delivery| delivery.sequence);
        let parcels = with_events(tx, self.workspace, deliveries).await?;
        Ok(parcels.into_iter().map(|(delivery, event)| Parcel { event, delivery: Some(delivery) }).collect())
    }

    /// New events that the webhook wants.
    async fn fresh(&self, tx: &mut Tx, turn: &mut Turn, limit: i64) -> Result<Vec<Event>, StoreError> {
        let mut wanted: Vec<_> = turn.webhook.types.patterns().to_vec();
        wanted.push(EventType::WebhookTest.name().to_owned());
        let wanted = TypeFilter::parse(wanted.iter().map(String::as_str)).unwrap_or_else(|_| TypeFilter::everything());
        let mut after = turn.webhook.settled_sequence;
        let page = match event::page(tx, self.workspace, Some(after), &wanted, limit).await? {
            Ok(page) => page,
            Err(gone) => {
                turn.gap = Some(format!("events {} to {} were forgotten before they could be delivered", after + 1, gone.oldest - 1));
                after = gone.oldest - 1;
                match event::page(tx, self.workspace, Some(after), &wanted, limit).await? {
                    Ok(page) => page,
                    Err(_) => return Err(StoreError::Conflict("events are being forgotten".to_owned())),
                }
            }
        };
        turn.settled_sequence = page.next_after.max(after);
        turn.has_more = page.has_more;
        let id = turn.webhook.id;
        Ok(page.events.into_iter().filter(|event| event.kind != EventType::WebhookTest || event.subject == Subject::of(id)).collect())
    }
}

impl Turn {
    fn empty(webhook: Webhook) -> Self {
        let settled_sequence = webhook.settled_sequence;
        Self { webhook, lanes: Vec::new(), held: Vec::new(), settled_sequence, has_more: false, gap: None }
    }

    /// Whether there is nothing to do, and nothing to note.
    pub fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.held.is_empty() && self.settled_sequence == self.webhook.settled_sequence
    }

    /// Whether a probe was due and there is no event to probe with.
    fn has_nothing_to_try(&self, now: Timestamp) -> bool {
        let is_due = self.webhook.failed_rounds > 0 && self.webhook.due_at.is_none_or(|due| due <= now);
        is_due && self.lanes.is_empty() && self.held.is_empty()
    }

    /// Puts it at the end of its lane.
    fn add(&mut self, places: &mut HashMap<[u8; 16], usize>, parcel: Parcel) {
        let place = *places.entry(parcel.event.subject.lane()).or_insert_with(|| {
            self.lanes.push(Vec::new());
            self.lanes.len() - 1
        });
        self.lanes[place].push(parcel);
    }
}

/// What waits, lane by lane.
struct Queues {
    /// Those whose first may be tried now.
    due: Vec<Vec<i64>>,
    /// The last that waits in each lane.
    lanes: HashMap<[u8; 16], i64>,
    /// When the first of the others may be tried.
    next_due: Option<Timestamp>,
}

impl Queues {
    fn of(waiting: &[Waiting], now: Timestamp) -> Self {
        let mut queues = Self { due: Vec::new(), lanes: HashMap::new(), next_due: None };
        let mut places: HashMap<[u8; 16], Option<usize>> = HashMap::new();
        for Waiting { sequence, lane, next_attempt_at, .. } in waiting {
            queues.lanes.insert(*lane, *sequence);
            let place = *places.entry(*lane).or_insert_with(|| match next_attempt_at.filter(|at| *at > now) {
                Some(later) => {
                    queues.next_due = Some(queues.next_due.map_or(later, |next| next.min(later)));
                    None
                }
                None => {
                    queues.due.push(Vec::new());
                    Some(queues.due.len() - 1)
                }
            });
            if let Some(place) = place {
                queues.due[place].push(*sequence);
            }
        }
        queues
    }

    /// Whether something waits in the lane that is not among those that are tried now.
    fn is_behind(&self, lane: [u8; 16], tried: &[i64]) -> bool {
        self.lanes.get(&lane).is_some_and(|last| !tried.contains(last))
    }
}

/// What came of a delivery in a turn.
#[derive(Clone, Debug)]
pub enum Outcome {
    Delivered(Attempt),
    /// With the seconds that the endpoint asked to wait.
    Failed(Attempt, Option<i64>),
    /// One before it in its lane failed, or the turn was over.
    Untried,
}

/// How long to wait before each new attempt, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RetryDelays(pub Vec<i64>);

/// A webhook that gets nothing is tried at least so often.
const LONGEST_PROBE_DELAY: i64 = 60 * 60 * 1000;
/// No more than that is waited because an endpoint asks for it.
const LONGEST_RETRY_AFTER: i64 = 24 * 60 * 60 * 1000;

impl RetryDelays {
    /// The delay after so many attempts, a fifth more or less; none if that were enough. `chance` is between 0 and 1.
    fn after(&self, attempts: i64, chance: f64) -> Option<i64> {
        let place = usize::try_from(attempts - 1).unwrap_or(0);
        self.0.get(place).map(|delay| jittered(*delay, chance))
    }

    fn before_probe(&self, failed_rounds: i64, chance: f64) -> i64 {
        let place = usize::try_from(failed_rounds - 1).unwrap_or(0).min(self.0.len().saturating_sub(1));
        jittered(self.0.get(place).copied().unwrap_or(LONGEST_PROBE_DELAY).min(LONGEST_PROBE_DELAY), chance)
    }
}

fn jittered(delay: i64, chance: f64) -> i64 {
    (delay as f64 * (0.8 + 0.4 * chance)) as i64
}

/// Keeps what came of a turn.
pub struct Settle {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    pub turn: Turn,
    /// One for each parcel, lane by lane.
    pub outcomes: Vec<Vec<Outcome>>,
    pub delays: RetryDelays,
    /// The server stops, so another has to go on.
    pub is_last: bool,
}

impl Work for Settle {
    /// Whether there is more to do at once.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let Self { workspace, lease, turn, .. } = self;
        let id = turn.webhook.id;
        let Some(mut webhook) = webhook::load(tx, *workspace, id).await? else { return Ok(false) };
        if webhook.lease.is_none_or(|(holder, _)| holder != *lease) {
            // It took too long: another server has delivered the same, or will.
            return Ok(false);
        }
        // Somebody asked for something meanwhile, by changing the webhook or sending events again.
        let was_asked = webhook.due_at != turn.webhook.due_at || webhook.url != turn.webhook.url;
        let is_failing = self.is_failing();
        let kept = self.deliveries(tx.now(), is_failing)?;
        let kept = self.unchanged(tx, kept).await?;
        webhook::keep_deliveries(tx, *workspace, id, &kept).await?;
        webhook.settled_sequence = turn.settled_sequence.max(webhook.settled_sequence);
        if self.successes() > 0 {
            webhook.last_success_at = Some(tx.now());
        }
        // With nothing left to try it with, a webhook counts as whole too.
        if self.successes() > 0 || turn.has_nothing_to_try(tx.now()) {
            self.note_recovery(tx, &mut webhook).await?;
        }
        if let Some(gap) = &turn.gap {
            tracing::warn!(webhook.id = %id, gap, "a webhook misses events");
            webhook.last_error.clone_from(gap);
        }
        match is_failing {
            true => self.note_failure(tx, &mut webhook).await?,
            // A webhook that is failing waits for its probe.
            false if webhook.failed_rounds > 0 => {}
            false => {
                let waiting = webhook::waiting(tx, *workspace, id, MOST_WAITING).await?;
                let queues = Queues::of(&waiting, tx.now());
                webhook.due_at = if queues.due.is_empty() { queues.next_due } else { Some(tx.now()) };
            }
        }
        if was_asked {
            webhook.due_at = Some(tx.now());
        }
        webhook::update(tx, *workspace, &webhook).await?;
        let is_due = webhook.due_at.is_some_and(|due| due <= tx.now());
        let goes_on = webhook.is_enabled && !turn.is_idle() && !self.is_last && (is_due || (webhook.failed_rounds == 0 && turn.has_more));
        if !goes_on {
            webhook::set_lease(tx, *workspace, id, None).await?;
        }
        Ok(goes_on)
    }
}

impl Settle {
    fn tried(&self) -> impl Iterator<Item = (&Parcel, &Outcome)> {
        self.turn.lanes.iter().flatten().zip(self.outcomes.iter().flatten())
    }

    fn successes(&self) -> usize {
        self.tried().filter(|(_, outcome)| matches!(outcome, Outcome::Delivered(_))).count()
    }

    /// Whether nothing got through. Events that failed before, while others got through since, are the cause themselves: they say nothing
    /// of the endpoint, unless it is failing anyway.
    fn is_failing(&self) -> bool {
        let webhook = &self.turn.webhook;
        let is_bad = |parcel: &Parcel| {
            let earlier = parcel.delivery.as_ref().filter(|delivery| delivery.attempt_count > 0);
            earlier.is_some_and(|delivery| webhook.last_success_at.is_some_and(|success| success >= delivery.created_at))
        };
        let mut failed = self.tried().filter(|(_, outcome)| matches!(outcome, Outcome::Failed(..))).peekable();
        let any_failed = failed.peek().is_some();
        any_failed && self.successes() == 0 && (webhook.failed_rounds > 0 || !failed.all(|(parcel, _)| is_bad(parcel)))
    }

    /// Leaves out deliveries that somebody asked for anew since they were looked at.
    async fn unchanged(&self, tx: &mut Tx, kept: Vec<Delivery>) -> Result<Vec<Delivery>, StoreError> {
        let known: HashMap<i64, Timestamp> = self
            .tried()
            .filter_map(|(parcel, _)| parcel.delivery.as_ref().map(|delivery| (delivery.sequence, delivery.updated_at)))
            .collect();
        let sequences: Vec<_> = known.keys().copied().collect();
        let now = webhook::find_deliveries(tx, self.workspace, self.turn.webhook.id, &sequences).await?;
        let changed: HashSet<i64> = now
            .iter()
            .filter(|delivery| known.get(&delivery.sequence) != Some(&delivery.updated_at))
            .map(|delivery| delivery.sequence)
            .collect();
        Ok(kept.into_iter().filter(|delivery| !changed.contains(&delivery.sequence)).collect())
    }

    fn deliveries(&self, now: Timestamp, is_failing: bool) -> Result<Vec<Delivery>, StoreError> {
        let mut kept = Vec::new();
        for (parcel, outcome) in self.tried() {
            let is_known = parcel.delivery.is_some();
            let delivery = parcel.delivery.clone().unwrap_or_else(|| new_delivery(&parcel.event, now));
            match outcome {
                Outcome::Delivered(attempt) => {
                    let status = DeliveryStatus::Delivered;
                    kept.push(Delivery { status, next_attempt_at: None, ..tried(delivery, attempt, now)? });
                }
                Outcome::Failed(attempt, retry_after) => {
                    kept.push(self.failed(tried(delivery, attempt, now)?, *retry_after, now, is_failing))
                }
                Outcome::Untried if !is_known => kept.push(delivery),
                Outcome::Untried => {}
            }
        }
        kept.extend(self.turn.held.iter().map(|event| new_delivery(event, now)));
        Ok(kept)
    }

    /// When it is tried again, if it is. While nothing gets through at all, nothing is given up.
    fn failed(&self, delivery: Delivery, retry_after: Option<i64>, now: Timestamp, is_failing: bool) -> Delivery {
        if is_failing {
            return Delivery { next_attempt_at: None, ..delivery };
        }
        let delivery = Delivery { failure_count: delivery.failure_count + 1, ..delivery };
        match self.delays.after(delivery.failure_count, rand::random()) {
            None => Delivery { status: DeliveryStatus::Failed, next_attempt_at: None, ..delivery },
            Some(delay) => Delivery { next_attempt_at: Some(now.plus_millis(delay.max(asked_for(retry_after)))), ..delivery },
        }
    }

    fn last_error(&self) -> Option<String> {
        self.outcomes.iter().flatten().rev().find_map(|outcome| match outcome {
            Outcome::Failed(attempt, _) => Some(match attempt.status {
                Some(status) => format!("it answered {status}"),
                None => attempt.error.clone(),
            }),
            _ => None,
        })
    }

    async fn note_recovery(&self, tx: &mut Tx, webhook: &mut Webhook) -> Result<(), Failure> {
        webhook.last_error.clear();
        if webhook.failed_rounds > 0 {
            webhook::make_pending_due(tx, self.workspace, webhook.id).await?;
        }
        webhook.failed_rounds = 0;
        if let Some(paused_at) = webhook.paused_at.take() {
            let told = Told::new(Pause { paused_at: Some(paused_at) }, Pause { paused_at: None });
            tell(tx, &Actor::program(self.workspace), EventType::WebhookResumed, Subject::of(webhook.id), &told).await?;
        }
        Ok(())
    }

    async fn note_failure(&self, tx: &mut Tx, webhook: &mut Webhook) -> Result<(), Failure> {
        webhook.failed_rounds += 1;
        webhook.last_error = self.last_error().unwrap_or_default();
        let asked = self.outcomes.iter().flatten().filter_map(|outcome| match outcome {
            Outcome::Failed(_, retry_after) => Some(asked_for(*retry_after)),
            _ => None,
        });
        let delay = self.delays.before_probe(webhook.failed_rounds, rand::random()).max(asked.max().unwrap_or(0));
        webhook.due_at = Some(tx.now().plus_millis(delay));
        if webhook.failed_rounds == ROUNDS_TO_PAUSE {
            webhook.paused_at = Some(tx.now());
            let told = Told::new(Nothing {}, Paused { paused_at: tx.now(), last_error: &webhook.last_error });
            tell(tx, &Actor::program(self.workspace), EventType::WebhookPaused, Subject::of(webhook.id), &told).await?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Pause {
    paused_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Paused<'w> {
    paused_at: Timestamp,
    last_error: &'w str,
}

fn asked_for(retry_after: Option<i64>) -> i64 {
    retry_after.unwrap_or(0).saturating_mul(1000).clamp(0, LONGEST_RETRY_AFTER)
}

fn new_delivery(event: &Event, now: Timestamp) -> Delivery {
    Delivery {
        sequence: event.sequence,
        status: DeliveryStatus::Pending,
        attempt_count: 0,
        failure_count: 0,
        attempts: "[]".to_owned(),
        next_attempt_at: None,
        created_at: now,
        updated_at: now,
    }
}

fn tried(mut delivery: Delivery, attempt: &Attempt, now: Timestamp) -> Result<Delivery, StoreError> {
    let broken = |error: serde_json::Error| StoreError::Internal(error.to_string());
    let mut attempts: Vec<Attempt> = serde_json::from_str(&delivery.attempts).map_err(broken)?;
    attempts.push(attempt.clone());
    let from = attempts.len().saturating_sub(ATTEMPTS_KEPT);
    let attempts = serde_json::to_string(&attempts[from..]).map_err(broken)?;
    delivery.attempt_count += 1;
    delivery.attempts = attempts;
    delivery.updated_at = now;
    Ok(delivery)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_grow_as_they_are_given_and_come_to_an_end() {
        let delays = RetryDelays(vec![1000, 5000]);
        assert_eq!(delays.after(1, 0.5), Some(1000));
        assert_eq!(delays.after(2, 0.5), Some(5000));
        assert_eq!(delays.after(3, 0.5), None);
        assert_eq!(delays.before_probe(1, 0.5), 1000);
        assert_eq!(delays.before_probe(9, 0.5), 5000);
        assert_eq!(RetryDelays(vec![9 * LONGEST_PROBE_DELAY]).before_probe(1, 0.5), LONGEST_PROBE_DELAY);
    }

    #[test]
    fn what_an_endpoint_asks_for_is_bounded() {
        assert_eq!(asked_for(None), 0);
        assert_eq!(asked_for(Some(7)), 7000);
        assert_eq!(asked_for(Some(i64::MAX)), LONGEST_RETRY_AFTER);
        assert_eq!(asked_for(Some(-1)), 0);
    }

    proptest! {
        #[test]
        fn jitter_is_a_fifth_at_most(delay in 10..100_000_000i64, chance in 0.0..1.0f64) {
            let waited = jittered(delay, chance);
            prop_assert!(waited >= delay * 8 / 10 - 1 && waited <= delay * 12 / 10 + 1);
        }
    }
}
