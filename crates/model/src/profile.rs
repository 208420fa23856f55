//! What a read of a person shows when it is asked for more: which parts there are, and where each field comes from.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::event::{Event, EventType};
use crate::id::{EventId, KeyId};
use crate::input::Query;
use crate::problem::Flaw;

/// The parts that a read shows beside what it always shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Include {
    pub profile: bool,
    pub notes: bool,
    pub provenance: bool,
}

impl Include {
    pub fn read(query: &mut Query) -> Self {
        let expected = "profile, notes or provenance, or several of them with a comma between";
        query.parsed("include", Flaw::InvalidValue, expected, Self::parse).unwrap_or_default()
    }

    fn parse(written: &str) -> Option<Self> {
        let mut include = Self::default();
        for part in written.split(',') {
            match part {
                "profile" => include.profile = true,
                "notes" => include.notes = true,
                "provenance" => include.provenance = true,
                _ => return None,
            }
        }
        Some(include)
    }

    #[must_use]
    pub const fn is_nothing(self) -> bool {
        !self.profile && !self.notes && !self.provenance
    }
}

/// The fields of a person as events name them, in the order in which their sources are shown.
const FIELDS: [&str; 17] = [
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

/// The change that a field has its value from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    pub field: &'static str,
    /// Nothing if it was made on the command line.
    pub key_id: Option<KeyId>,
    pub event_id: EventId,
    pub at: Timestamp,
}

/// The sources of a person's fields, as far as the events tell that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    found: [Option<Source>; FIELDS.len()],
}

/// What matters here of what an event says.
#[derive(Deserialize)]
struct Told<'t> {
    #[serde(borrow)]
    after: BTreeMap<String, &'t RawValue>,
}

impl Sources {
    /// Looks at an event. They come newest first, so a field whose source is known keeps it.
    pub fn look_at(&mut self, event: &Event) {
        let Some(told) = event.data.as_deref().and_then(|data| serde_json::from_str::<Told<'_>>(data).ok()) else { return };
        for (field, found) in FIELDS.into_iter().zip(&mut self.found) {
            let Some(value) = told.after.get(field).filter(|_| found.is_none()) else { continue };
            // A new person is told with all their fields; those that are empty come from nowhere.
            if event.kind != EventType::PersonCreated || !matches!(value.get(), "\"\"" | "null" | "[]") {
                *found = Some(Source { field, key_id: event.key_id, event_id: event.id, at: event.created_at });
            }
        }
    }

    /// Whether older events can tell nothing more.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    #[must_use]
    pub fn into_list(self) -> Vec<Source> {
        self.found.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Hash, Subject};
    use crate::id::PersonId;

    fn include(query: &str) -> Option<Include> {
        let mut query = Query::new(query);
        let include = Include::read(&mut query);
        query.finish(include).ok()
    }

    #[test]
    fn parts_are_named_with_commas_between() {
        let profile = Include { profile: true, ..Include::default() };
        let notes = Include { notes: true, ..Include::default() };
        let provenance = Include { provenance: true, ..Include::default() };
        let both = Include { notes: true, ..profile };
        let all = Include { provenance: true, ..both };
        assert_eq!(include(""), Some(Include::default()));
        assert_eq!(include("include=profile"), Some(profile));
        assert_eq!(include("include=notes"), Some(notes));
        assert_eq!(include("include=notes,profile"), Some(both));
        assert_eq!(include("include=notes%2Cprofile,notes"), Some(both));
        assert_eq!(include("include=provenance"), Some(provenance));
        assert_eq!(include("include=profile,notes,provenance"), Some(all));
        assert!(Include::default().is_nothing());
        assert!([profile, notes, provenance, both, all].into_iter().all(|include| !include.is_nothing()));
        for wrong in
            ["include=", "include=,", "include=all", "include=notes,", "include=Notes", "include=notes, profile", "include=proposals"]
        {
            assert_eq!(include(wrong), None, "{wrong}");
        }
    }

    fn event(kind: EventType, number: u32, data: Option<&str>) -> Event {
        let at = Timestamp::from_millis(1_700_000_000_000 + i64::from(number));
        Event {
            id: EventId::at(at, number.into()),
            sequence: number.into(),
            kind,
            created_at: at,
            key_id: Some(KeyId::at(at, number.into())),
            request_id: None,
            subject: Subject::of(PersonId::at(at, 1)),
            data: data.map(str::to_owned),
            previous_hash: Hash::NONE,
        }
    }

    #[test]
    fn a_field_comes_from_the_newest_event_that_names_it() {
        let newest = event(EventType::PersonUpdated, 3, Some(r#"{"before": {"address": "Paris"}, "after": {"address": ""}}"#));
        let erased = event(EventType::PersonUpdated, 2, None);
        let created =
            r#"{"before": {}, "after": {"name": "Ada", "address": "London", "emails": [], "external_source_id": null, "social_url": ""}}"#;
        let oldest = event(EventType::PersonCreated, 1, Some(created));
        let mut sources = Sources::default();
        for event in [&newest, &erased, &oldest] {
            sources.look_at(event);
        }
        assert!(!sources.is_complete());
        let source = |field, event: &Event| Source { field, key_id: event.key_id, event_id: event.id, at: event.created_at };
        assert_eq!(sources.into_list(), [source("name", &oldest), source("address", &newest)]);
    }

    #[test]
    fn what_is_no_field_of_a_person_has_no_source() {
        let merged = r#"{"before": {}, "after": {"merged": {"id": "per_1", "name": "Ada"}, "notes": "x", "phones": [{"value": "1"}]}}"#;
        let mut sources = Sources::default();
        sources.look_at(&event(EventType::PersonMerged, 1, Some(merged)));
        assert_eq!(sources.into_list().iter().map(|source| source.field).collect::<Vec<_>>(), ["phones"]);
    }
}
