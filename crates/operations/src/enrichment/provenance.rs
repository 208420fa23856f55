//! Where what is known of a person comes from, value by value. What a provider set is noted with
//! its hash; the change that set a value says who wrote the rest, and stays known when its event is
//! forgotten.

use slated_model::clock::Timestamp;
use slated_model::enrichment::Field;
use slated_model::enrichment::reconcile::{contact_hash, value_of};
use slated_model::event::EventType;
use slated_model::id::{EventId, KeyId, WorkspaceId};
use slated_model::origin::{Change, contact_name};
use slated_store::records::field_source::FieldSource;
use slated_store::records::person::{PersonDetails, PersonView};
use slated_store::records::{field_source, person_origin};
use slated_store::{OperationError, Tx};

use super::{channel_of, current_as_read, entries, hashed, is_nothing, is_written_since};

/// Who a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    Caller,
    Provider,
    /// Nobody with a key: the command line, or the program itself.
    Program,
    /// It was written without an event, or the event was forgotten by a version that kept nothing
    /// of it.
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

/// A value that comes from somewhere.
#[derive(Debug)]
struct Known {
    field: Field,
    value_hash: [u8; 16],
    /// By which its change is known.
    name: String,
    /// If it is a contact.
    value: Option<String>,
}

/// Where each value of the person comes from that is not empty, in the order in which fields are
/// shown.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    view: &PersonView,
    details: &PersonDetails,
) -> Result<Vec<Provenance>, OperationError> {
    let current = current_as_read(view, details)?;
    let mut known = Vec::new();
    for field in Field::ALL.iter().copied() {
        match channel_of(field) {
            Some(channel) => {
                known.extend(entries(&current.person, channel).iter().map(|contact| Known {
                    field,
                    value_hash: contact_hash(channel, &contact.value),
                    name: contact_name(channel, &contact.value),
                    value: Some(contact.value.clone()),
                }))
            }
            None if is_nothing(&value_of(&current, field)) => {}
            None => {
                let value_hash = hashed(&current, field).value_hash;
                known.push(Known { field, value_hash, name: field.name().to_owned(), value: None });
            }
        }
    }
    let sources = field_source::of_person(tx, workspace, view.id).await?;
    let names: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
    let origins = person_origin::of_person(tx, workspace, view.id, &names).await?;
    Ok(known.into_iter().map(|known| judge(origins.of(&known.name), known, &sources)).collect())
}

fn judge(change: Option<&Change>, known: Known, sources: &[FieldSource]) -> Provenance {
    let Known { field, value_hash, value, .. } = known;
    let source =
        sources.iter().find(|source| source.field == field && source.value_hash == value_hash);
    let mut provenance = Provenance {
        field: field.name(),
        value,
        source: Origin::Unknown,
        provider: None,
        key_id: None,
        event_id: None,
        at: None,
    };
    match (source.filter(|source| !is_written_since(source, change)), change) {
        (Some(source), change) => {
            // An update sets it only if it accepts what was proposed.
            let tells = change.filter(|change| {
                change.kind != EventType::PersonUpdated || source.key_id.is_some()
            });
            provenance.source = Origin::Provider;
            provenance.provider = Some(source.provider.clone());
            provenance.key_id = source.key_id;
            provenance.event_id = tells.map(|change| change.event_id);
            provenance.at = Some(source.set_at);
        }
        (None, Some(change)) => {
            provenance.source = match (&change.provider, change.key_id) {
                (Some(_), _) => Origin::Provider,
                (None, Some(_)) => Origin::Caller,
                (None, None) => Origin::Program,
            };
            provenance.provider.clone_from(&change.provider);
            provenance.key_id = change.key_id;
            provenance.event_id = Some(change.event_id);
            provenance.at = Some(change.at);
        }
        (None, None) => {}
    }
    provenance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(number: u32) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + i64::from(number))
    }

    fn key(number: u32) -> KeyId {
        KeyId::at(moment(0), number.into())
    }

    fn change(kind: EventType, key_id: Option<KeyId>, provider: Option<&str>) -> Change {
        Change {
            event_id: EventId::at(moment(2), 2),
            kind,
            at: moment(2),
            key_id,
            provider: provider.map(str::to_owned),
        }
    }

    /// The origin, the provider, the key, and whether an event is named.
    fn judged(
        change: Option<&Change>,
        sources: &[FieldSource],
    ) -> (Origin, Option<String>, Option<KeyId>, bool) {
        let known = Known {
            field: Field::Address,
            value_hash: [1; 16],
            name: "address".to_owned(),
            value: None,
        };
        let Provenance { source, provider, key_id, event_id, .. } = judge(change, known, sources);
        (source, provider, key_id, event_id.is_some())
    }

    fn source(value_hash: [u8; 16], key_id: Option<KeyId>) -> FieldSource {
        FieldSource {
            field: Field::Address,
            value_hash,
            provider: "people".to_owned(),
            set_at: moment(9),
            key_id,
        }
    }

    #[test]
    fn who_made_a_change_is_where_its_values_come_from() {
        let people = || Some("people".to_owned());
        let written = change(EventType::PersonUpdated, Some(key(2)), None);
        assert_eq!(judged(Some(&written), &[]), (Origin::Caller, None, Some(key(2)), true));
        let made = change(EventType::PersonCreated, None, None);
        assert_eq!(judged(Some(&made), &[]), (Origin::Program, None, None, true));
        let enriched = change(EventType::PersonEnriched, None, Some("people"));
        assert_eq!(judged(Some(&enriched), &[]), (Origin::Provider, people(), None, true));
        assert_eq!(judged(None, &[]), (Origin::Unknown, None, None, false));
    }

    #[test]
    fn what_a_provider_set_is_known_without_its_change() {
        assert_eq!(
            judged(None, &[source([1; 16], None)]),
            (Origin::Provider, Some("people".to_owned()), None, false)
        );
        assert_eq!(judged(None, &[source([2; 16], None)]).0, Origin::Unknown);
    }

    #[test]
    fn an_accepted_proposal_names_who_accepted_it() {
        let people = || Some("people".to_owned());
        let updated = change(EventType::PersonUpdated, Some(key(7)), None);
        assert_eq!(
            judged(Some(&updated), &[source([1; 16], Some(key(7)))]),
            (Origin::Provider, people(), Some(key(7)), true)
        );
        assert_eq!(
            judged(Some(&updated), &[source([1; 16], None)]),
            (Origin::Provider, people(), None, false)
        );
    }

    #[test]
    fn what_a_caller_wrote_again_is_the_callers() {
        let again =
            Change { at: moment(10), ..change(EventType::PersonUpdated, Some(key(3)), None) };
        for accepted in [None, Some(key(7))] {
            assert_eq!(
                judged(Some(&again), &[source([1; 16], accepted)]),
                (Origin::Caller, None, Some(key(3)), true)
            );
        }
    }
}
