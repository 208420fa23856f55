//! Which change each value of a person comes from. Events tell it, the newest first; of those that
//! are forgotten it is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::contact::Channel;
use crate::enrichment::reconcile::contact_hash;
use crate::event::{Event, EventType};
use crate::id::{EventId, KeyId};

/// The fields of a person as events name them, in the order in which they are shown.
pub const FIELDS: [&str; 17] = [
    "name",
    "first_name",
    "last_name",
    "social_public_id",
    "social_url",
    "social_location",
    "social_headline",
    "address",
    "current_job_title",
    "current_company_id",
    "current_company_name",
    "external_source_id",
    "emails",
    "phones",
    "work_experience",
    "education_experience",
    "certifications",
];

/// The lists of which each entry comes from somewhere.
const CHANNELS: [(&str, Channel); 2] = [("emails", Channel::Email), ("phones", Channel::Phone)];

/// A change of a person.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Change {
    pub event_id: EventId,
    pub kind: EventType,
    pub at: Timestamp,
    /// Nothing if no caller made it.
    pub key_id: Option<KeyId>,
    /// Who knew it, if it was an enrichment.
    pub provider: Option<String>,
}

/// A change with the values that it set and that none after it did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub change: Change,
    /// Names of fields, and of single contacts, as `contact_name` gives them.
    pub values: BTreeSet<String>,
}

/// Where the values of one person come from, the newest change first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins {
    found: Vec<Origin>,
    /// What was seen set or taken away; older changes say nothing of it any more.
    settled: BTreeSet<String>,
}

/// How a single contact is named here: it does not say what it is.
#[must_use]
pub fn contact_name(channel: Channel, value: &str) -> String {
    use std::fmt::Write;
    let list = CHANNELS.iter().find(|(_, known)| *known == channel).map_or("", |(list, _)| list);
    let mut name = format!("{list}:");
    for byte in contact_hash(channel, value) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// The field that a value belongs to.
#[must_use]
pub fn field_of(name: &str) -> &str {
    name.split_once(':').map_or(name, |(list, _)| list)
}

/// What matters here of what an event says.
#[derive(Deserialize)]
struct Told<'t> {
    #[serde(borrow, default)]
    before: BTreeMap<String, &'t RawValue>,
    #[serde(borrow, default)]
    after: BTreeMap<String, &'t RawValue>,
}

/// What matters of a contact.
#[derive(Deserialize)]
struct ToldContact {
    value: String,
}

#[derive(Deserialize)]
struct ToldEnrichment {
    provider: Option<String>,
}

impl Origins {
    /// Looks at an event. They come newest first, so what is settled stays so.
    pub fn look_at(&mut self, event: &Event) {
        if !matches!(
            event.kind,
            EventType::PersonCreated
                | EventType::PersonUpdated
                | EventType::PersonMerged
                | EventType::PersonEnriched
        ) {
            return;
        }
        let Some(told) =
            event.data.as_deref().and_then(|data| serde_json::from_str::<Told<'_>>(data).ok())
        else {
            return;
        };
        let enrichment = told
            .after
            .get("enrichment")
            .and_then(|told| serde_json::from_str::<ToldEnrichment>(told.get()).ok());
        let change = Change {
            event_id: event.id,
            kind: event.kind,
            at: event.created_at,
            key_id: event.key_id,
            provider: enrichment.and_then(|told| told.provider),
        };
        let mut values = BTreeSet::new();
        for field in FIELDS {
            // A new person is told with all their fields; those that are empty come from nowhere.
            let is_set = |value: &&&RawValue| {
                event.kind != EventType::PersonCreated
                    || !matches!(value.get(), "\"\"" | "null" | "[]")
            };
            if told.after.get(field).filter(is_set).is_some()
                && self.settled.insert(field.to_owned())
            {
                values.insert(field.to_owned());
            }
        }
        for (list, channel) in CHANNELS {
            let (before, after) =
                (contacts(&told.before, list, channel), contacts(&told.after, list, channel));
            values.extend(
                after
                    .difference(&before)
                    .filter(|name| self.settled.insert((*name).clone()))
                    .cloned(),
            );
            self.settled.extend(before.difference(&after).cloned());
        }
        self.push(change, values);
    }

    /// Takes over what older changes tell of values that none of these settles.
    pub fn go_on_with(&mut self, older: Self) {
        let older = self.left_of(older);
        self.settled.extend(older.iter().flat_map(|origin| origin.values.iter().cloned()));
        self.found.extend(older);
    }

    /// Of older changes those that set values which none of these settles.
    #[must_use]
    pub fn left_of(&self, older: Self) -> Vec<Origin> {
        let mut left = older.found;
        for origin in &mut left {
            origin.values.retain(|name| !self.settled.contains(name));
        }
        left.retain(|origin| !origin.values.is_empty());
        left
    }

    fn push(&mut self, change: Change, values: BTreeSet<String>) {
        if !values.is_empty() {
            self.found.push(Origin { change, values });
        }
    }

    /// The change that a value comes from, as far as is known.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&Change> {
        self.found.iter().find(|origin| origin.values.contains(name)).map(|origin| &origin.change)
    }

    /// Whether older changes could tell nothing more of these values.
    #[must_use]
    pub fn settle<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        names.all(|name| self.settled.contains(name))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    #[must_use]
    pub fn into_list(self) -> Vec<Origin> {
        self.found
    }
}

fn contacts(told: &BTreeMap<String, &RawValue>, list: &str, channel: Channel) -> BTreeSet<String> {
    let listed =
        told.get(list).and_then(|list| serde_json::from_str::<Vec<ToldContact>>(list.get()).ok());
    listed.unwrap_or_default().iter().map(|contact| contact_name(channel, &contact.value)).collect()
}

/// How an origin is kept.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    event_id: String,
    #[serde(rename = "type")]
    kind: String,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    values: BTreeSet<String>,
}

impl Origins {
    #[must_use]
    pub fn to_kept(&self) -> Vec<Kept> {
        let keep = |Origin { change, values }: &Origin| Kept {
            event_id: change.event_id.to_string(),
            kind: change.kind.name().to_owned(),
            at: change.at.millis(),
            key_id: change.key_id.map(|key| key.to_string()),
            provider: change.provider.clone(),
            values: values.clone(),
        };
        self.found.iter().map(keep).collect()
    }

    /// What cannot be understood was written by a newer program, and is left out.
    #[must_use]
    pub fn from_kept(kept: Vec<Kept>) -> Self {
        let mut origins = Self::default();
        for Kept { event_id, kind, at, key_id, provider, values } in kept {
            let (Some(event_id), Some(kind)) = (EventId::parse(&event_id), EventType::parse(&kind))
            else {
                continue;
            };
            let key_id = key_id.as_deref().and_then(KeyId::parse);
            let change =
                Change { event_id, kind, at: Timestamp::from_millis(at), key_id, provider };
            origins.settled.extend(values.iter().cloned());
            origins.push(change, values);
        }
        origins
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::event::{Hash, Subject};
    use crate::id::PersonId;

    fn event(kind: EventType, number: u32, before: &Value, after: &Value) -> Event {
        let at = Timestamp::from_millis(1_700_000_000_000 + i64::from(number));
        Event {
            id: EventId::at(at, number.into()),
            sequence: number.into(),
            kind,
            created_at: at,
            key_id: (number % 2 == 1).then(|| KeyId::at(at, number.into())),
            request_id: None,
            subject: Subject::of(PersonId::at(at, 1)),
            data: Some(json!({"before": before, "after": after}).to_string()),
            previous_hash: Hash::NONE,
        }
    }

    fn origins(newest_first: &[Event]) -> Origins {
        let mut origins = Origins::default();
        newest_first.iter().for_each(|event| origins.look_at(event));
        origins
    }

    fn number(origins: &Origins, name: &str) -> Option<EventId> {
        origins.of(name).map(|change| change.event_id)
    }

    #[test]
    fn a_field_comes_from_the_newest_event_that_names_it() {
        let newest = event(
            EventType::PersonUpdated,
            3,
            &json!({"address": "Paris"}),
            &json!({"address": ""}),
        );
        let erased =
            Event { data: None, ..event(EventType::PersonUpdated, 2, &json!({}), &json!({})) };
        let created = json!({"name": "Ada", "address": "London", "emails": [],
            "external_source_id": null, "social_url": ""});
        let oldest = event(EventType::PersonCreated, 1, &json!({}), &created);
        let origins = origins(&[newest.clone(), erased, oldest.clone()]);
        assert_eq!(number(&origins, "address"), Some(newest.id));
        assert_eq!(number(&origins, "name"), Some(oldest.id));
        for name in ["emails", "external_source_id", "social_url"] {
            assert_eq!(origins.of(name), None, "{name}");
        }
        assert!(origins.settle(["name", "address"].into_iter()));
        assert!(!origins.settle(["name", "emails"].into_iter()));
    }

    #[test]
    fn each_contact_comes_from_the_change_that_added_it() {
        let list = |values: &[&str]| {
            json!(values.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>())
        };
        let (one, both) =
            (list(&["ada@x.example"]), list(&["ADA@x.example", "lovelace@x.example"]));
        let removed = event(
            EventType::PersonUpdated,
            4,
            &json!({ "emails": both }),
            &json!({ "emails": one }),
        );
        let enriched =
            json!({"emails": both, "enrichment": {"provider": "people", "fields": ["emails"]}});
        let enriched = event(EventType::PersonEnriched, 2, &json!({ "emails": one }), &enriched);
        let created = event(EventType::PersonCreated, 1, &json!({}), &json!({ "emails": one }));
        let (ada, lovelace) = (
            contact_name(Channel::Email, "Ada@X.example"),
            contact_name(Channel::Email, "lovelace@x.example"),
        );
        let known = origins(&[enriched.clone(), created.clone()]);
        assert_eq!(number(&known, &ada), Some(created.id));
        assert_eq!(
            known.of(&lovelace).and_then(|change| change.provider.as_deref()),
            Some("people")
        );
        assert_eq!(number(&known, "emails"), Some(enriched.id));
        let known = origins(&[removed, enriched, created]);
        assert_eq!(known.of(&lovelace), None);
        assert!(known.of(&ada).is_some());
    }

    #[test]
    fn what_is_no_field_of_a_person_has_no_origin() {
        let merged = json!({"merged": {"id": "per_1", "name": "Ada"}, "notes": "x",
            "phones": [{"value": "1"}]});
        let found = origins(&[event(EventType::PersonMerged, 1, &json!({}), &merged)]).into_list();
        let names: Vec<_> = found.iter().flat_map(|origin| &origin.values).collect();
        assert_eq!(names, ["phones", &contact_name(Channel::Phone, "1")]);
    }

    #[test]
    fn what_a_newer_program_kept_is_left_out() {
        let known =
            origins(&[event(EventType::PersonCreated, 1, &json!({}), &json!({"name": "Ada"}))]);
        let mut kept = serde_json::to_value(known.to_kept()).expect("kept");
        let mut other = kept[0].clone();
        other["type"] = json!("person.split");
        other["values"] = json!(["address"]);
        kept.as_array_mut().expect("a list").push(other);
        assert_eq!(Origins::from_kept(serde_json::from_value(kept).expect("kept")), known);
    }

    fn changes() -> impl Strategy<Value = Vec<Event>> {
        let contacts = || prop::collection::vec(0..4_u8, 0..3);
        let change = (0..4_usize, prop::option::of("[a-b]?"), contacts(), contacts());
        prop::collection::vec(change, 0..12).prop_map(|changes| {
            let list = |some: Vec<u8>| {
                some.iter()
                    .map(|one| json!({"value": format!("{one}@x.example")}))
                    .collect::<Vec<_>>()
            };
            let one = |(number, (kind, title, before, after))| {
                let kinds = [
                    EventType::PersonCreated,
                    EventType::PersonUpdated,
                    EventType::PersonMerged,
                    EventType::PersonEnriched,
                ];
                let mut told = json!({"emails": list(after)});
                if let Some(title) = title {
                    told["current_job_title"] = json!(title);
                }
                event(kinds[kind], number, &json!({"emails": list(before)}), &told)
            };
            let mut events: Vec<_> = (1_u32..).zip(changes).map(one).collect();
            events.reverse();
            events
        })
    }

    proptest! {
        /// However often the older part of the log is forgotten, the origins stay as they were.
        #[test]
        fn origins_outlive_their_events(events in changes(),
            cuts in prop::collection::vec(0..12_usize, 0..4)) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(events.len())).collect();
            cuts.sort_unstable_by(|one, other| other.cmp(one));
            let mut kept = Origins::default();
            let mut end = events.len();
            for cut in cuts {
                let mut known = origins(&events[cut..end]);
                known.go_on_with(kept);
                let text = serde_json::to_string(&known.to_kept()).expect("kept");
                kept = Origins::from_kept(serde_json::from_str(&text).expect("kept"));
                end = cut;
            }
            let mut known = origins(&events[..end]);
            known.go_on_with(kept);
            prop_assert_eq!(known.into_list(), origins(&events).into_list());
        }
    }
}
