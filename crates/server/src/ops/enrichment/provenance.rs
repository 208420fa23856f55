//! Where what is known of a person comes from, value by value. What a provider set is noted with its hash, for good; for the rest, and for
//! the event that tells of it, the log says who wrote it, as far back as it goes.

use model::clock::Timestamp;
use model::contact::Channel;
use model::enrichment::Field;
use model::enrichment::filling::{contact_hash, value_of};
use model::event::{Event, EventType};
use model::id::{EventId, KeyId, WorkspaceId};
use serde::Deserialize;
use serde_json::{Map, Value};
use store::record::event::Beside;
use store::record::field_source::FieldSource;
use store::record::person::{PersonDetails, PersonView};
use store::record::{event, field_source};
use store::{Failure, StoreError, Tx};

use super::{channel_of, current_as_read, entries, hashed, is_nothing};

/// How many events are looked at, and at how much of what they say.
const EVENTS_AT_ONCE: i64 = 50;
const MOST_EVENTS: usize = 500;
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Who a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    Caller,
    Provider,
    /// Nobody with a key: the command line, or the program itself.
    Program,
    /// The change is older than the events that are kept.
    Unknown,
}

impl Origin {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Provider => "provider",
            Self::Program => "program",
            Self::Unknown => "unknown",
        }
    }
}

/// Where one value comes from.
#[derive(Hash, Debug)]
pub struct Provenance {
    pub field: &'static str,
    /// The contact that it is about, where it is about one.
    pub value: Option<String>,
    pub source: Origin,
    pub provider: Option<String>,
    /// The key that wrote it, or that accepted it from a provider.
    pub key_id: Option<KeyId>,
    pub event_id: Option<EventId>,
    pub at: Option<Timestamp>,
}

/// A value whose change is looked for.
#[derive(Debug)]
struct Wanted {
    field: Field,
    value_hash: [u8; 16],
    contact: Option<(Channel, String)>,
    change: Option<Change>,
}

/// The change that a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Change {
    kind: EventType,
    id: EventId,
    at: Timestamp,
    key: Option<KeyId>,
    /// Who knew it, if it was an enrichment.
    provider: Option<String>,
}

/// Where each value of the person comes from that is not empty, in the order in which fields are shown.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    view: &PersonView,
    details: &PersonDetails,
) -> Result<Vec<Provenance>, Failure> {
    let current = current_as_read(view, details)?;
    let mut wanted = Vec::new();
    for field in Field::ALL.iter().copied() {
        match channel_of(field) {
            Some(channel) => wanted.extend(entries(&current.person, channel).iter().map(|contact| Wanted {
                field,
                value_hash: contact_hash(channel, &contact.value),
                contact: Some((channel, contact.value.clone())),
                change: None,
            })),
            None if is_nothing(&value_of(&current, field)) => {}
            None => wanted.push(Wanted { field, value_hash: hashed(&current, field).value_hash, contact: None, change: None }),
        }
    }
    let sources = field_source::of_person(tx, workspace, view.id).await?;
    find_changes(tx, workspace, view, &mut wanted).await?;
    Ok(wanted.into_iter().map(|wanted| judge(wanted, &sources)).collect())
}

/// Looks through the newest events about the person for those that set the values.
async fn find_changes(tx: &mut Tx, workspace: WorkspaceId, view: &PersonView, wanted: &mut [Wanted]) -> Result<(), StoreError> {
    let (mut before, mut count, mut bytes) = (i64::MAX, 0, 0);
    while count < MOST_EVENTS && bytes < MOST_BYTES && wanted.iter().any(|wanted| wanted.change.is_none()) {
        let events = event::timeline(tx, workspace, view.id, Beside::Nothing, before, EVENTS_AT_ONCE).await?;
        for event in &events {
            look_at(event, wanted);
        }
        count += events.len();
        bytes += events.iter().map(|event| event.data.as_ref().map_or(0, String::len)).sum::<usize>();
        match events.last() {
            Some(last) if events.len() as i64 == EVENTS_AT_ONCE => before = last.sequence,
            _ => break,
        }
    }
    Ok(())
}

/// What matters here of what an event says.
#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    before: Map<String, Value>,
    #[serde(default)]
    after: Map<String, Value>,
}

/// Events come newest first, so a value whose change is known keeps it.
fn look_at(event: &Event, wanted: &mut [Wanted]) {
    if !matches!(event.kind, EventType::PersonCreated | EventType::PersonUpdated | EventType::PersonMerged | EventType::PersonEnriched) {
        return;
    }
    let Some(told) = event.data.as_deref().and_then(|data| serde_json::from_str::<Told>(data).ok()) else { return };
    let provider = told.after.get("enrichment").and_then(|told| told.get("provider")).and_then(Value::as_str);
    for wanted in wanted.iter_mut().filter(|wanted| wanted.change.is_none()) {
        let name = wanted.field.name();
        let is_set = match &wanted.contact {
            Some((channel, value)) => {
                let has = |fields: &Map<String, Value>| fields.get(name).is_some_and(|list| holds(list, *channel, value));
                has(&told.after) && !has(&told.before)
            }
            None => told.after.get(name).is_some_and(|value| !is_nothing(value)),
        };
        if is_set {
            let (provider, key) = (provider.map(str::to_owned), event.key_id);
            wanted.change = Some(Change { kind: event.kind, id: event.id, at: event.created_at, key, provider });
        }
    }
}

fn holds(list: &Value, channel: Channel, value: &str) -> bool {
    let mut values = list.as_array().into_iter().flatten().filter_map(|entry| entry.get("value").and_then(Value::as_str));
    values.any(|known| channel.key(known) == channel.key(value))
}

fn judge(wanted: Wanted, sources: &[FieldSource]) -> Provenance {
    let Wanted { field, value_hash, contact, change } = wanted;
    let source = sources.iter().find(|source| source.field == field && source.value_hash == value_hash);
    let mut provenance = Provenance {
        field: field.name(),
        value: contact.map(|(_, value)| value),
        source: Origin::Unknown,
        provider: None,
        key_id: None,
        event_id: None,
        at: None,
    };
    match (source, change) {
        (Some(source), change) => {
            // An update sets it only if it accepts what was proposed.
            let tells = change.filter(|change| change.kind != EventType::PersonUpdated || source.key_id.is_some());
            provenance.source = Origin::Provider;
            provenance.provider = Some(source.provider.clone());
            provenance.key_id = source.key_id;
            provenance.event_id = tells.map(|change| change.id);
            provenance.at = Some(source.set_at);
        }
        (None, Some(change)) => {
            provenance.source = match (&change.provider, change.key) {
                (Some(_), _) => Origin::Provider,
                (None, Some(_)) => Origin::Caller,
                (None, None) => Origin::Program,
            };
            provenance.provider = change.provider;
            provenance.key_id = change.key;
            provenance.event_id = Some(change.id);
            provenance.at = Some(change.at);
        }
        (None, None) => {}
    }
    provenance
}

#[cfg(test)]
mod tests {
    use model::event::{Hash, Subject};
    use model::id::PersonId;
    use serde_json::json;

    use super::*;

    fn moment(number: u32) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + i64::from(number))
    }

    fn key(number: u32) -> KeyId {
        KeyId::at(moment(0), number.into())
    }

    fn event(kind: EventType, number: u32, key_id: Option<KeyId>, before: &Value, after: &Value) -> Event {
        Event {
            id: EventId::at(moment(number), number.into()),
            sequence: number.into(),
            kind,
            created_at: moment(number),
            key_id,
            request_id: None,
            subject: Subject::of(PersonId::at(moment(0), 1)),
            data: Some(json!({ "before": before, "after": after }).to_string()),
            previous_hash: Hash::NONE,
        }
    }

    fn wanted(field: Field) -> Wanted {
        Wanted { field, value_hash: [1; 16], contact: None, change: None }
    }

    fn email(value: &str) -> Wanted {
        let value_hash = contact_hash(Channel::Email, value);
        Wanted { field: Field::Emails, value_hash, contact: Some((Channel::Email, value.to_owned())), change: None }
    }

    /// The origin, the provider, the key, and the number of the event.
    fn judged(wanted: Wanted, events: &[Event], sources: &[FieldSource]) -> (Origin, Option<String>, Option<KeyId>, Option<i64>) {
        let mut wanted = [wanted];
        events.iter().for_each(|event| look_at(event, &mut wanted));
        let [wanted] = wanted;
        let Provenance { source, provider, key_id, event_id, .. } = judge(wanted, sources);
        let number = event_id.and_then(|id| events.iter().find(|event| event.id == id)).map(|event| event.sequence);
        (source, provider, key_id, number)
    }

    fn source(field: Field, value_hash: [u8; 16], key_id: Option<KeyId>) -> FieldSource {
        FieldSource { field, value_hash, provider: "people".to_owned(), set_at: moment(9), key_id }
    }

    #[test]
    fn a_value_comes_from_the_newest_change_that_set_it() {
        let updated = event(EventType::PersonUpdated, 2, Some(key(2)), &json!({"address": ""}), &json!({"address": "Paris"}));
        let created = event(EventType::PersonCreated, 1, None, &json!({}), &json!({"name": "Ada", "address": "", "social_url": ""}));
        let events = [updated, created];
        assert_eq!(judged(wanted(Field::Address), &events, &[]), (Origin::Caller, None, Some(key(2)), Some(2)));
        assert_eq!(judged(wanted(Field::Name), &events, &[]), (Origin::Program, None, None, Some(1)));
        assert_eq!(judged(wanted(Field::SocialUrl), &events, &[]), (Origin::Unknown, None, None, None));
    }

    #[test]
    fn each_contact_comes_from_the_change_that_added_it() {
        let list = |values: &[&str]| json!(values.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>());
        let (one, both) = (list(&["ada@x.example"]), list(&["ADA@x.example", "lovelace@x.example"]));
        let enriched = json!({"emails": both, "enrichment": {"provider": "people", "fields": ["emails"]}});
        let enriched = event(EventType::PersonEnriched, 2, None, &json!({ "emails": one }), &enriched);
        let created = event(EventType::PersonCreated, 1, Some(key(1)), &json!({}), &json!({ "emails": one }));
        let events = [enriched, created];
        assert_eq!(judged(email("ada@x.example"), &events, &[]), (Origin::Caller, None, Some(key(1)), Some(1)));
        let added = (Origin::Provider, Some("people".to_owned()), None, Some(2));
        assert_eq!(judged(email("lovelace@x.example"), &events, &[]), added);
        let sources = [source(Field::Emails, contact_hash(Channel::Email, "lovelace@x.example"), None)];
        assert_eq!(judged(email("lovelace@x.example"), &events, &sources), added);
        assert_eq!(judged(email("ada@x.example"), &events, &sources).0, Origin::Caller);
    }

    #[test]
    fn what_a_provider_set_is_known_without_events() {
        let sources = [source(Field::Address, [1; 16], None), source(Field::Name, [2; 16], None)];
        assert_eq!(judged(wanted(Field::Address), &[], &sources), (Origin::Provider, Some("people".to_owned()), None, None));
        assert_eq!(judged(wanted(Field::Name), &[], &sources).0, Origin::Unknown);
    }

    #[test]
    fn an_accepted_proposal_names_who_accepted_it() {
        let updated = [event(EventType::PersonUpdated, 2, Some(key(7)), &json!({}), &json!({"address": "Paris"}))];
        let accepted = [source(Field::Address, [1; 16], Some(key(7)))];
        let people = || Some("people".to_owned());
        assert_eq!(judged(wanted(Field::Address), &updated, &accepted), (Origin::Provider, people(), Some(key(7)), Some(2)));
        let own = [source(Field::Address, [1; 16], None)];
        assert_eq!(judged(wanted(Field::Address), &updated, &own), (Origin::Provider, people(), None, None));
    }
}
