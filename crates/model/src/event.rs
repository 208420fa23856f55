//! What is told of a change. An event is an entry of a log that only grows: numbered within its
//! workspace, and linked to the entry before it by a hash. The hash is taken over hashes of the
//! contents, so that contents can be erased and the log still be proved.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::digest::sha256;
use crate::id::{
    Candidate, CandidateId, Company, EventId, Id, Job, JobId, Key, KeyId, Kind, Person, PersonId,
    Status, Template, Webhook, WorkspaceId,
};

macro_rules! types {
    ($($variant:ident $name:literal $kind:ident $doc:literal)*) => {
        /// The type of an event. Types are part of the interface: they are added, never changed.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EventType { $(#[doc = $doc] $variant,)* }

        impl EventType {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it tells of, in a sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// The id of the record that the event is about, as it is shown.
            #[must_use]
            pub fn record_id(self, bytes: [u8; 16]) -> String {
                match self { $(Self::$variant => Id::<$kind>::from_bytes(bytes).to_string(),)* }
            }
        }
    };
}

types! {
    PersonCreated "person.created" Person "A person was created."
    PersonUpdated "person.updated" Person "Fields of a person changed, or their career history \
        was written."
    PersonNoteAdded "person.note_added" Person "A note was added to a person."
    PersonNoteUpdated "person.note_updated" Person "A note on a person was updated."
    PersonNoteDeleted "person.note_deleted" Person "A note on a person was deleted."
    PersonEnriched "person.enriched" Person "A person was enriched with a provider's data."
    PersonMerged "person.merged" Person "Another person was merged into this one."
    PersonErased "person.erased" Person "A person was erased, with all data held about them."
    CandidateCreated "candidate.created" Candidate "A person was added to a job."
    CandidateMoved "candidate.moved" Candidate "A candidate was moved to another stage."
    CandidateRemoved "candidate.removed" Candidate "A person was removed from a job."
    CandidateMerged "candidate.merged" Candidate "A candidate was merged into another of the same \
        job because their persons were merged."
    JobCreated "job.created" Job "A job was created."
    JobUpdated "job.updated" Job "Fields of a job changed."
    JobArchived "job.archived" Job "A job was archived."
    JobRestored "job.restored" Job "A job was restored from the archive."
    JobStageAdded "job.stage_added" Job "A stage was added to a job's pipeline."
    JobStageUpdated "job.stage_updated" Job "A stage of a job's pipeline was renamed, flagged or \
        moved."
    JobStageRemoved "job.stage_removed" Job "A stage was removed from a job's pipeline."
    JobStagesReordered "job.stages_reordered" Job "The stages of a job's pipeline were \
        reordered."
    StatusCreated "status.created" Status "A job status was created."
    StatusUpdated "status.updated" Status "A job status was renamed."
    TemplateCreated "template.created" Template "A pipeline template was created."
    TemplateUpdated "template.updated" Template "A pipeline template was updated or made the \
        default."
    TemplateDeleted "template.deleted" Template "A pipeline template was deleted."
    CompanyCreated "company.created" Company "A company was created."
    CompanyContactAdded "company.contact_added" Company "A person became a contact of a client \
        company."
    CompanyUpdated "company.updated" Company "A company was renamed."
    CompanyMerged "company.merged" Company "Another company was merged into this one."
    CompanyContactRemoved "company.contact_removed" Company "A person is no longer a contact of a \
        client company."
    KeyCreated "key.created" Key "A key was created."
    KeyRotated "key.rotated" Key "A key was replaced by a new one but keeps working for a while."
    KeyRevoked "key.revoked" Key "A key was revoked."
    WebhookCreated "webhook.created" Webhook "A webhook was created."
    WebhookUpdated "webhook.updated" Webhook "Fields of a webhook changed."
    WebhookDeleted "webhook.deleted" Webhook "A webhook was deleted."
    WebhookSecretRotated "webhook.secret_rotated" Webhook "A webhook got a new secret."
    WebhookPaused "webhook.paused" Webhook "Deliveries to a webhook keep failing; they are \
        retried from time to time."
    WebhookResumed "webhook.resumed" Webhook "A paused webhook accepts calls again and \
        receives the events it missed."
    WebhookTest "webhook.test" Webhook "A webhook is tested; only that webhook gets this event."
}

impl EventType {
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.name() == name)
    }

    /// What stands before the dot.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.name().split_once('.').map_or(self.name(), |(family, _)| family)
    }
}

/// Which types somebody wants, as they wrote it: names, `family.*` and `*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeFilter(Vec<String>);

impl TypeFilter {
    #[must_use]
    pub fn everything() -> Self {
        Self(vec!["*".to_owned()])
    }

    /// The patterns, or the first that fits no type.
    pub fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let mut kept: Vec<String> = Vec::new();
        for pattern in patterns.into_iter().map(str::trim).filter(|pattern| !pattern.is_empty()) {
            if !EventType::ALL.iter().any(|known| fits(pattern, *known)) {
                return Err(pattern.to_owned());
            }
            if kept.iter().all(|known| known != pattern) {
                kept.push(pattern.to_owned());
            }
        }
        Ok(if kept.is_empty() { Self::everything() } else { Self(kept) })
    }

    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    #[must_use]
    pub fn takes(&self, kind: EventType) -> bool {
        self.0.iter().any(|pattern| fits(pattern, kind))
    }

    #[must_use]
    pub fn takes_everything(&self) -> bool {
        self.0.iter().any(|pattern| pattern == "*")
    }

    /// The same but for one type.
    #[must_use]
    pub fn without(&self, kind: EventType) -> Self {
        Self(
            self.types()
                .iter()
                .filter(|taken| **taken != kind)
                .map(|taken| taken.name().to_owned())
                .collect(),
        )
    }

    /// The types that are taken.
    #[must_use]
    pub fn types(&self) -> Vec<EventType> {
        EventType::ALL.iter().copied().filter(|kind| self.takes(*kind)).collect()
    }
}

fn fits(pattern: &str, kind: EventType) -> bool {
    match pattern.strip_suffix(".*") {
        Some(family) => family == kind.family(),
        None => pattern == "*" || pattern == kind.name(),
    }
}

/// The records that an event belongs to: the one that changed, and the person and the job of a
/// candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    pub record: [u8; 16],
    pub person: Option<PersonId>,
    pub job: Option<JobId>,
}

impl Subject {
    #[must_use]
    pub const fn of<K: Kind>(record: Id<K>) -> Self {
        Self { record: record.to_bytes(), person: None, job: None }
    }

    #[must_use]
    pub const fn candidate(id: CandidateId, person: PersonId, job: JobId) -> Self {
        Self { record: id.to_bytes(), person: Some(person), job: Some(job) }
    }

    #[must_use]
    pub const fn with_person(self, person: PersonId) -> Self {
        Self { person: Some(person), ..self }
    }

    /// Events with the same lane are told one after the other: all of a person with their
    /// candidates, all of a job, and so on.
    #[must_use]
    pub fn lane(&self) -> [u8; 16] {
        match (self.person, self.job) {
            (Some(person), Some(_)) => person.to_bytes(),
            _ => self.record,
        }
    }
}

/// An entry of the log.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: EventId,
    pub sequence: i64,
    pub kind: EventType,
    pub created_at: Timestamp,
    pub key_id: Option<KeyId>,
    pub request_id: Option<String>,
    pub subject: Subject,
    /// JSON; nothing once it is erased.
    pub data: Option<String>,
    pub previous_hash: Hash,
}

/// How an event is shown, everywhere.
#[derive(Serialize)]
struct Shown<'e> {
    id: EventId,
    sequence: i64,
    r#type: &'static str,
    created_at: Timestamp,
    key_id: Option<KeyId>,
    request_id: Option<&'e str>,
    record_id: String,
    data: &'e RawValue,
    previous_hash: Hash,
}

impl Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.data.as_deref().unwrap_or("null");
        Shown {
            id: self.id,
            sequence: self.sequence,
            r#type: self.kind.name(),
            created_at: self.created_at,
            key_id: self.key_id,
            request_id: self.request_id.as_deref(),
            record_id: self.kind.record_id(self.subject.record),
            data: serde_json::from_str(data).map_err(serde::ser::Error::custom)?,
            previous_hash: self.previous_hash,
        }
        .serialize(serializer)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first entry is linked to.
    pub const NONE: Self = Self([0; 32]);

    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of what may be erased. The salt is erased with it, so that nobody can try out what
    /// it was.
    #[must_use]
    pub fn of_content(salt: &[u8; 16], request_id: Option<&str>, data: &str) -> Self {
        let request_id = request_id.unwrap_or_default();
        let length = (request_id.len() as u64).to_be_bytes();
        Self(sha256(&[salt, &length, request_id.as_bytes(), data.as_bytes()]))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What stays of an entry for good, and links it to the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Link<'e> {
    pub workspace: WorkspaceId,
    pub sequence: i64,
    pub id: EventId,
    pub kind: &'e str,
    pub created_at: Timestamp,
    pub key_id: Option<KeyId>,
    pub subject: Subject,
    pub content_hash: Hash,
}

impl Link<'_> {
    #[must_use]
    pub fn hash(&self, previous: Hash) -> Hash {
        let optional = |id: Option<[u8; 16]>| {
            let mut marked = [0; 17];
            if let Some(id) = id {
                marked[0] = 1;
                marked[1..].copy_from_slice(&id);
            }
            marked
        };
        Hash(sha256(&[
            &previous.0,
            &self.workspace.number().to_be_bytes(),
            &self.sequence.to_be_bytes(),
            &self.id.to_bytes(),
            &self.created_at.millis().to_be_bytes(),
            &optional(self.key_id.map(Id::to_bytes)),
            &self.subject.record,
            &optional(self.subject.person.map(Id::to_bytes)),
            &optional(self.subject.job.map(Id::to_bytes)),
            &self.content_hash.0,
            self.kind.as_bytes(),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_back_and_belongs_to_a_family() {
        for kind in EventType::ALL {
            assert_eq!(EventType::parse(kind.name()), Some(*kind));
            assert!(kind.name().starts_with(&format!("{}.", kind.family())));
        }
    }

    #[test]
    fn a_filter_takes_names_families_and_everything() {
        let filter = TypeFilter::parse(["person.*", "candidate.moved", "person.*"]).unwrap();
        assert_eq!(filter.patterns(), ["person.*", "candidate.moved"]);
        assert!(filter.takes(EventType::PersonCreated) && filter.takes(EventType::CandidateMoved));
        assert!(!filter.takes(EventType::CandidateCreated) && !filter.takes_everything());
        assert!(TypeFilter::parse([]).unwrap().takes_everything());
        assert_eq!(TypeFilter::parse(["person.*", "persons.*"]), Err("persons.*".to_owned()));
    }

    #[test]
    fn every_part_of_a_link_changes_its_hash() {
        let workspace = WorkspaceId::from_number(7);
        let at = Timestamp::from_millis(1_700_000_000_000);
        let subject = Subject::of(PersonId::at(at, 1));
        let content_hash = Hash::of_content(&[1; 16], Some("req"), "{}");
        let link = Link {
            workspace,
            sequence: 1,
            id: EventId::at(at, 2),
            kind: "person.created",
            created_at: at,
            key_id: None,
            subject,
            content_hash,
        };
        let others = [
            Link { workspace: WorkspaceId::from_number(8), ..link },
            Link { sequence: 2, ..link },
            Link { id: EventId::at(at, 3), ..link },
            Link { kind: "person.updated", ..link },
            Link { created_at: at.plus_millis(1), ..link },
            Link { key_id: Some(KeyId::at(at, 1)), ..link },
            Link { subject: Subject::of(PersonId::at(at, 2)), ..link },
            Link { subject: subject.with_person(PersonId::at(at, 2)), ..link },
            Link { content_hash: Hash::of_content(&[1; 16], None, "req{}"), ..link },
        ];
        for other in others {
            assert_ne!(other.hash(Hash::NONE), link.hash(Hash::NONE), "{other:?}");
        }
        assert_ne!(link.hash(content_hash), link.hash(Hash::NONE));
    }
}
