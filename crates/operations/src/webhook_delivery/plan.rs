//! What is to be delivered in a turn, and in which order.

use std::collections::{HashMap, HashSet};

use slated_model::clock::Timestamp;
use slated_model::event::{Event, EventType, Subject, TypeFilter};
use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::events::reading;
use slated_store::records::events::reading::Most;
use slated_store::records::webhook::{Delivery, Waiting, Webhook};
use slated_store::records::{merged_ids, webhook};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::outcome::{Gap, MAX_WAITING};
use crate::webhooks::deliveries::together;

/// New events in one turn.
const MAX_FRESH: i64 = 500;
/// Deliveries in one turn that waited.
const MAX_AT_ONCE: usize = 500;

/// An event on its way, with what is known of its delivery so far.
#[derive(Clone, Debug)]
pub struct PendingDelivery {
    pub event: Event,
    pub delivery: Option<Delivery>,
}

/// What a server does for a webhook in one go.
pub struct DeliveryBatch {
    pub webhook: Webhook,
    /// Each in its order; the lanes beside each other.
    pub lanes: Vec<Vec<PendingDelivery>>,
    /// New events that have to wait for others of their lane.
    pub(super) held: Vec<Event>,
    /// Everything up to here is in this turn or was before.
    pub(super) settled_sequence: i64,
    pub(super) has_more: bool,
    /// When the first of those that wait may be tried, if all of them have to wait for their time.
    pub(super) next_due: Option<Timestamp>,
    /// Whether a probe was due and there is no event to probe with.
    pub(super) has_nothing_to_try: bool,
    /// Which new events are missing, if any are.
    pub(super) gap: Option<Gap>,
}

/// Whether a webhook still is what it was when its turn was planned: somebody may have switched it
/// off or sent it elsewhere.
pub struct IsAsPlanned {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub url: String,
}

impl Operation for IsAsPlanned {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let webhook = webhook::find(tx, self.workspace, self.id).await?;
        Ok(webhook.is_some_and(|webhook| webhook.is_enabled && webhook.url == self.url))
    }
}

/// Looks what is to be delivered now. Whoever does holds the lease.
pub struct PlanBatch {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
}

impl Operation for PlanBatch {
    /// Nothing if the webhook is gone.
    type Output = Option<DeliveryBatch>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<DeliveryBatch>, OperationError> {
        let Self { workspace, id } = *self;
        let Some(webhook) = webhook::find(tx, workspace, id).await? else { return Ok(None) };
        let waiting = webhook::waiting(tx, workspace, id, MAX_WAITING).await?;
        let has_room = (waiting.len() as i64) < MAX_WAITING;
        let mut turn = DeliveryBatch::empty(webhook);
        match turn.webhook.failed_rounds {
            // It was switched off since it was taken: what happens from then on has to wait.
            _ if !turn.webhook.is_enabled => {}
            0 => self.whole_turn(tx, &mut turn, &waiting, has_room).await?,
            _ => self.probe(tx, &mut turn, &waiting, has_room).await?,
        }
        Ok(Some(turn))
    }
}

impl PlanBatch {
    async fn whole_turn(
        &self,
        tx: &mut Tx,
        turn: &mut DeliveryBatch,
        waiting: &[Waiting],
        has_room: bool,
    ) -> Result<(), StoreError> {
        let fresh = if has_room { self.fresh(tx, turn, MAX_FRESH).await? } else { Vec::new() };
        let lanes = Lanes::of(tx, self.workspace, waiting, &fresh).await?;
        let queues = Queues::of(waiting, &lanes, tx.now());
        let mut places: HashMap<Lane, usize> = HashMap::new();
        let due = queues.due.iter().flatten().copied().take(MAX_AT_ONCE).collect();
        let due = reading::some_of(tx, self.workspace, due).await?;
        for parcel in self.parcels(tx, &due).await? {
            turn.add(&mut places, lanes.lane_of(&parcel.event), parcel);
        }
        for event in fresh {
            let lane = lanes.lane_of(&event);
            // What is not in this turn and waits in the same lane comes first.
            match queues.is_behind(lane, &due) {
                true => turn.held.push(event),
                false => turn.add(&mut places, lane, PendingDelivery { event, delivery: None }),
            }
        }
        Ok(())
    }

    /// One call, to see whether anything gets through again: something that was not tried yet, so
    /// that one bad event does not stand for all, or else what was tried the least. What has to
    /// wait for a time of its own waits for it all the same.
    async fn probe(
        &self,
        tx: &mut Tx,
        turn: &mut DeliveryBatch,
        waiting: &[Waiting],
        has_room: bool,
    ) -> Result<(), StoreError> {
        if turn.webhook.due_at.is_some_and(|due| due > tx.now()) {
            return Ok(());
        }
        let lanes = Lanes::of(tx, self.workspace, waiting, &[]).await?;
        let queues = Queues::of(waiting, &lanes, tx.now());
        let heads: Vec<i64> = queues.due.iter().filter_map(|lane| lane.first().copied()).collect();
        let least_tried = waiting
            .iter()
            .filter(|waiting| heads.contains(&waiting.sequence))
            .min_by_key(|waiting| (waiting.attempt_count, waiting.sequence));
        if has_room
            && least_tried.is_none_or(|waiting| waiting.attempt_count > 0)
            && let Some(event) = self.fresh_head(tx, turn, waiting).await?
        {
            turn.lanes.push(vec![PendingDelivery { event, delivery: None }]);
        } else if let Some(waiting) = least_tried {
            turn.lanes.push(self.parcels(tx, &[waiting.sequence]).await?);
        } else {
            turn.next_due = queues.next_due;
            turn.has_nothing_to_try = waiting.is_empty() && turn.held.is_empty();
        }
        Ok(())
    }

    /// The first new event that need not wait for others of its lane; those before it are held.
    async fn fresh_head(
        &self,
        tx: &mut Tx,
        turn: &mut DeliveryBatch,
        waiting: &[Waiting],
    ) -> Result<Option<Event>, StoreError> {
        let fresh = self.fresh(tx, turn, MAX_FRESH).await?;
        let lanes = Lanes::of(tx, self.workspace, waiting, &fresh).await?;
        let waiting: HashSet<Lane> =
            waiting.iter().map(|waiting| lanes.now(waiting.lane)).collect();
        for event in fresh {
            if !waiting.contains(&lanes.lane_of(&event)) {
                turn.settled_sequence = event.sequence;
                return Ok(Some(event));
            }
            turn.held.push(event);
        }
        Ok(None)
    }

    async fn parcels(
        &self,
        tx: &mut Tx,
        sequences: &[i64],
    ) -> Result<Vec<PendingDelivery>, StoreError> {
        let mut deliveries =
            webhook::find_deliveries(tx, self.workspace, self.id, sequences).await?;
        deliveries.sort_unstable_by_key(|delivery| delivery.sequence);
        let events = reading::find_all(tx, self.workspace, sequences).await?;
        let parcels = together(deliveries, events, |event| event.sequence);
        Ok(parcels
            .into_iter()
            .map(|(delivery, event)| PendingDelivery { event, delivery: Some(delivery) })
            .collect())
    }

    /// New events that the webhook wants.
    async fn fresh(
        &self,
        tx: &mut Tx,
        turn: &mut DeliveryBatch,
        limit: i64,
    ) -> Result<Vec<Event>, StoreError> {
        let mut wanted: Vec<_> = turn.webhook.types.patterns().to_vec();
        wanted.push(EventType::WebhookTest.name().to_owned());
        let wanted = TypeFilter::parse(wanted.iter().map(String::as_str))
            .unwrap_or_else(|_| TypeFilter::everything());
        let mut after = turn.webhook.settled_sequence;
        let page =
            match reading::page(tx, self.workspace, Some(after), &wanted, Most::events(limit))
                .await?
            {
                Ok(page) => page,
                Err(gone) => {
                    turn.gap = Some(Gap { first: after + 1, last: gone.oldest - 1 });
                    after = gone.oldest - 1;
                    match reading::page(
                        tx,
                        self.workspace,
                        Some(after),
                        &wanted,
                        Most::events(limit),
                    )
                    .await?
                    {
                        Ok(page) => page,
                        Err(_) => {
                            return Err(StoreError::Conflict(
                                "events are being deleted by retention".to_owned(),
                            ));
                        }
                    }
                }
            };
        turn.settled_sequence = page.next_after.max(after);
        turn.has_more = page.has_more;
        let id = turn.webhook.id;
        Ok(page
            .events
            .into_iter()
            .filter(|event| {
                event.kind != EventType::WebhookTest || event.subject == Subject::of(id)
            })
            .collect())
    }
}

impl DeliveryBatch {
    fn empty(webhook: Webhook) -> Self {
        let settled_sequence = webhook.settled_sequence;
        Self {
            webhook,
            lanes: Vec::new(),
            held: Vec::new(),
            settled_sequence,
            has_more: false,
            next_due: None,
            has_nothing_to_try: false,
            gap: None,
        }
    }

    /// Whether there is nothing to do, and nothing to note.
    pub fn is_idle(&self) -> bool {
        self.lanes.is_empty()
            && self.held.is_empty()
            && self.settled_sequence == self.webhook.settled_sequence
    }

    /// Puts it at the end of its lane.
    fn add(&mut self, places: &mut HashMap<Lane, usize>, lane: Lane, parcel: PendingDelivery) {
        let place = *places.entry(lane).or_insert_with(|| {
            self.lanes.push(Vec::new());
            self.lanes.len() - 1
        });
        self.lanes[place].push(parcel);
    }
}

/// What has to be delivered in order: a record, with what goes with it.
type Lane = [u8; 16];

/// Who of the erased had been merged with whom is forgotten, so all of them share a lane.
const OF_THE_ERASED: Lane = [0; 16];

/// Which records went into which others: what is told of both is told in one lane, since what
/// belonged to one belongs to the other now.
pub(super) struct Lanes(HashMap<Lane, Lane>);

impl Lanes {
    /// Of what waits and what is new.
    pub(super) async fn of(
        tx: &mut Tx,
        workspace: WorkspaceId,
        waiting: &[Waiting],
        fresh: &[Event],
    ) -> Result<Self, StoreError> {
        let lanes: HashSet<Lane> = waiting
            .iter()
            .map(|waiting| waiting.lane)
            .chain(fresh.iter().map(|event| event.subject.lane()))
            .collect();
        let lanes: Vec<Lane> = lanes.into_iter().collect();
        let gone = merged_ids::gone_among(tx, workspace, &lanes).await?;
        Ok(Self(
            gone.into_iter().map(|(lane, into)| (lane, into.unwrap_or(OF_THE_ERASED))).collect(),
        ))
    }

    fn lane_of(&self, event: &Event) -> Lane {
        self.now(event.subject.lane())
    }

    fn now(&self, lane: Lane) -> Lane {
        self.0.get(&lane).copied().unwrap_or(lane)
    }
}

/// What waits, lane by lane.
pub(super) struct Queues {
    /// Those whose first may be tried now.
    pub(super) due: Vec<Vec<i64>>,
    /// The last that waits in each lane.
    lanes: HashMap<Lane, i64>,
    /// When the first of the others may be tried.
    pub(super) next_due: Option<Timestamp>,
}

impl Queues {
    pub(super) fn of(waiting: &[Waiting], lanes: &Lanes, now: Timestamp) -> Self {
        let mut queues = Self { due: Vec::new(), lanes: HashMap::new(), next_due: None };
        let mut places: HashMap<Lane, Option<usize>> = HashMap::new();
        for Waiting { sequence, lane, next_attempt_at, .. } in waiting {
            let lane = lanes.now(*lane);
            queues.lanes.insert(lane, *sequence);
            let place = *places.entry(lane).or_insert_with(|| {
                match next_attempt_at.filter(|at| *at > now) {
                    Some(later) => {
                        queues.next_due =
                            Some(queues.next_due.map_or(later, |next| next.min(later)));
                        None
                    }
                    None => {
                        queues.due.push(Vec::new());
                        Some(queues.due.len() - 1)
                    }
                }
            });
            if let Some(place) = place {
                queues.due[place].push(*sequence);
            }
        }
        queues
    }

    /// Whether something waits in the lane that is not among those that are tried now.
    fn is_behind(&self, lane: Lane, tried: &[i64]) -> bool {
        self.lanes.get(&lane).is_some_and(|last| !tried.contains(last))
    }
}
