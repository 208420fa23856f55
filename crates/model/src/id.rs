//! Identifiers: opaque, typed and time-ordered. An id is a version 7 UUID, shown as a short prefix
//! for its kind and 26 characters of Crockford's base 32, so that ids sort by the time at which
//! they were made.

use std::fmt;
use std::marker::PhantomData;

use serde::{Serialize, Serializer};

use crate::clock::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS: usize = 26;
/// The random bits of a version 7 UUID: 12 beside the version and 62 behind the variant.
const RANDOM_BITS: u32 = 74;
/// As many of them, the first, count those that are made after each other in one millisecond.
const COUNTING_BITS: u32 = 21;
const UNCOUNTED_BITS: u32 = RANDOM_BITS - COUNTING_BITS;

pub trait Kind: Copy + Ord + std::hash::Hash + fmt::Debug + Send + Sync + 'static {
    const PREFIX: &'static str;
    const NOUN: &'static str;
}

macro_rules! kinds {
    ($($kind:ident $alias:ident $prefix:literal $noun:literal)*) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $kind {}
        impl Kind for $kind {
            const PREFIX: &'static str = $prefix;
            const NOUN: &'static str = $noun;
        }
        pub type $alias = Id<$kind>;
    )*};
}

kinds! {
    Person PersonId "per" "person"
    Candidate CandidateId "cnd" "candidate"
    Job JobId "job" "job"
    Stage StageId "stg" "pipeline stage"
    Status StatusId "sts" "job status"
    Template TemplateId "tpl" "pipeline template"
    Company CompanyId "cmp" "company"
    ClientContact ClientContactId "ctc" "client contact"
    Note NoteId "nte" "note"
    Key KeyId "key" "key"
    Request RequestId "req" "request"
    Event EventId "evt" "event"
    Webhook WebhookId "whk" "webhook"
    Lease LeaseId "lse" "lease"
    EnrichmentRun EnrichmentRunId "enr" "enrichment"
    Proposal ProposalId "prp" "proposal"
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<K>(u128, PhantomData<K>);

impl<K: Kind> Id<K> {
    /// An id of that moment. `random` gives its 74 random bits.
    #[must_use]
    pub fn at(moment: Timestamp, random: u128) -> Self {
        let millis = u128::from(moment.millis().max(0).unsigned_abs()) << 80;
        let low = random & ((1 << 62) - 1);
        let high = (random >> 62) & 0xfff;
        Self(millis | 0x7 << 76 | high << 64 | 0b10 << 62 | low, PhantomData)
    }

    /// An id that sorts behind `last`, even when the clock did not move or went back since.
    #[must_use]
    pub fn after(last: Self, moment: Timestamp, random: u128) -> Self {
        if moment > last.moment() {
            return Self::at(moment, random);
        }
        let count = (last.random_bits() >> UNCOUNTED_BITS) + 1;
        let next = count << UNCOUNTED_BITS | random & ((1 << UNCOUNTED_BITS) - 1);
        match next >> RANDOM_BITS {
            0 => Self::at(last.moment(), next),
            _ => Self::at(Timestamp::from_millis(last.moment().millis() + 1), random),
        }
    }

    const fn random_bits(self) -> u128 {
        ((self.0 >> 64) & 0xfff) << 62 | self.0 & ((1 << 62) - 1)
    }

    /// A number that no two ids share that were made after each other. Until the year 2109 such
    /// numbers sort as the ids do.
    #[must_use]
    pub const fn number(self) -> i64 {
        let number = (self.0 >> 80) << COUNTING_BITS | self.random_bits() >> UNCOUNTED_BITS;
        number as i64 & i64::MAX
    }

    #[must_use]
    pub fn moment(self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.0 >> 80).unwrap_or(i64::MAX))
    }

    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes), PhantomData)
    }

    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The id that a client wrote, or none if it is no id of this kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(K::PREFIX)?.strip_prefix('_')?.as_bytes();
        if digits.len() != DIGITS || digits[0] > b'7' {
            return None;
        }
        let mut value = 0;
        for digit in digits {
            value = value << 5 | u128::from(decode_digit(*digit)?);
        }
        Some(Self(value, PhantomData))
    }

    fn write_to(self, buffer: &mut [u8; 32]) -> &str {
        let prefix = K::PREFIX.as_bytes();
        buffer[..prefix.len()].copy_from_slice(prefix);
        buffer[prefix.len()] = b'_';
        let start = prefix.len() + 1;
        encode_digits(self.0, &mut buffer[start..start + DIGITS]);
        std::str::from_utf8(&buffer[..start + DIGITS]).unwrap_or_default()
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.write_to(&mut [0; 32]))
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.write_to(&mut [0; 32]))
    }
}

/// A tenant. Its number leads every primary key, so it is small; it stands in clear in the tenant's
/// keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkspaceId(i64);

impl WorkspaceId {
    pub(crate) const DIGITS: usize = 13;

    #[must_use]
    pub fn from_random(random: u64) -> Self {
        Self::from_number((random >> 1).max(1).cast_signed())
    }

    #[must_use]
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    #[must_use]
    pub const fn number(self) -> i64 {
        self.0
    }

    pub(crate) fn parse(digits: &str) -> Option<Self> {
        let mut value: u128 = 0;
        for digit in digits.bytes() {
            value = value << 5 | u128::from(decode_digit(digit)?);
        }
        (digits.len() == Self::DIGITS).then_some(())?;
        i64::try_from(value).ok().map(Self)
    }
}

impl fmt::Display for WorkspaceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; Self::DIGITS];
        encode_digits(u128::from(self.0.unsigned_abs()), &mut digits);
        formatter.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

pub(crate) fn encode_digits(mut value: u128, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(value & 31) as usize];
        value >>= 5;
    }
}

fn decode_digit(digit: u8) -> Option<u8> {
    const VALUES: [u8; 256] = {
        let mut values = [u8::MAX; 256];
        let mut value = 0;
        while value < 32 {
            values[ALPHABET[value as usize] as usize] = value;
            value += 1;
        }
        values
    };
    let value = VALUES[digit as usize];
    (value != u8::MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_survives_being_written_and_read(millis in 0..1i64 << 47, random: u128) {
            let id = PersonId::at(Timestamp::from_millis(millis), random);
            prop_assert_eq!(PersonId::parse(&id.to_string()), Some(id));
            prop_assert_eq!(id.moment().millis(), millis);
            prop_assert_eq!(PersonId::from_bytes(id.to_bytes()), id);
        }

        #[test]
        fn an_id_made_after_another_sorts_behind_it(last in 0..1i64 << 40, now in 0..1i64 << 40,
            one: u128, two: u128) {
            let last = JobId::at(Timestamp::from_millis(last), one);
            let next = JobId::after(last, Timestamp::from_millis(now), two);
            prop_assert!(next > last);
            prop_assert!(next.to_string() > last.to_string());
            prop_assert!(next.number() > last.number());
        }

        #[test]
        fn the_number_of_an_id_is_never_negative(bytes: [u8; 16]) {
            prop_assert!(PersonId::from_bytes(bytes).number() >= 0);
        }

        #[test]
        fn a_workspace_id_survives_being_written_and_read(random: u64) {
            let id = WorkspaceId::from_random(random);
            prop_assert_eq!(WorkspaceId::parse(&id.to_string()), Some(id));
        }

        #[test]
        fn reading_an_id_never_panics(text in "\\PC*") {
            let _ = PersonId::parse(&text);
        }
    }

    #[test]
    fn the_last_of_a_millisecond_is_followed_by_one_of_the_next() {
        let moment = Timestamp::from_millis(1_700_000_000_000);
        let last = PersonId::at(moment, u128::MAX);
        let next = PersonId::after(last, moment, 0);
        assert!(next > last && next.number() > last.number());
        assert_eq!(next.moment().millis(), moment.millis() + 1);
    }

    #[test]
    fn an_id_of_another_kind_is_none_of_ours() {
        let id = PersonId::at(Timestamp::from_millis(1_700_000_000_000), 7);
        assert_eq!(JobId::parse(&id.to_string()), None);
        assert_eq!(PersonId::parse(&id.to_string().to_uppercase()), None);
        assert_eq!(PersonId::parse(&format!("{id}0")), None);
    }
}
