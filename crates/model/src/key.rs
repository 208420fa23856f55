//! API keys: how they are written, checked before any look-up, and hashed.
//!
//! `slated_` + the workspace's id (13 characters) + `_` + the secret (32) + the checksum (6). The
//! fixed beginning and the checksum let secret scanners know a key from other text, and a mistyped
//! one is refused without touching the database.

use std::fmt;

use subtle::ConstantTimeEq;

use crate::clock::Timestamp;
use crate::digest::sha256;
use crate::id::{WorkspaceId, encode_digits};
use crate::input::Fields;
use crate::problem::FieldErrorCode;
use crate::text::limit;

/// Keys of a workspace that may be good at the same time.
pub const MAX_KEYS: i64 = 1000;
/// How long an old key works on beside the new one, unless it is said otherwise, and at most.
pub const OVERLAP_SECONDS: i64 = 24 * 60 * 60;
pub const MAX_OVERLAP_SECONDS: i64 = 7 * OVERLAP_SECONDS;

const PREFIX: &str = "slated_";
const SECRET_DIGITS: usize = 32;
const CHECKSUM_DIGITS: usize = 6;
const LENGTH: usize = PREFIX.len() + WorkspaceId::DIGITS + 1 + SECRET_DIGITS + CHECKSUM_DIGITS;

/// What a key may do; each scope includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    Read,
    Write,
    Admin,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// A key to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewKey {
    pub name: String,
    pub scope: Scope,
    pub expires_at: Option<Timestamp>,
}

impl NewKey {
    pub fn read(fields: &mut Fields<'_>, now: Timestamp) -> Self {
        let name = fields.needed("name", |fields| fields.patch_line("name", limit::NAME));
        let scope = fields.needed("scope", |fields| {
            fields.patch_parsed("scope", limit::NAME, |written| {
                Scope::parse(&written).ok_or_else(|| {
                    (FieldErrorCode::InvalidValue, "must be read, write or admin".to_owned())
                })
            })
        });
        let expires_at =
            fields.parsed("expires_at", limit::NAME, |written| match Timestamp::parse(&written) {
                Some(moment) if moment > now => Ok(moment),
                Some(_) => Err((FieldErrorCode::InvalidValue, "must be in the future".to_owned())),
                None => Err((
                    FieldErrorCode::InvalidDate,
                    "must be a time such as 2027-01-31T09:30:00Z or a date such as 2027-01-31"
                        .to_owned(),
                )),
            });
        Self { name: name.unwrap_or_default(), scope: scope.unwrap_or(Scope::Read), expires_at }
    }
}

/// A key in clear. It exists in memory only, and is never shown by accident.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new key of the workspace from 20 bytes of a secure random source.
    #[must_use]
    pub fn new(workspace: WorkspaceId, random: [u8; 20]) -> Self {
        let mut digits = [0; SECRET_DIGITS];
        for (chunk, digits) in random.chunks(5).zip(digits.chunks_mut(8)) {
            encode_digits(
                chunk.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)),
                digits,
            );
        }
        let secret = std::str::from_utf8(&digits).unwrap_or_default();
        let body = format!("{PREFIX}{workspace}_{secret}");
        let checksum = checksum(&body);
        Self(format!("{body}{}", std::str::from_utf8(&checksum).unwrap_or_default()))
    }

    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }

    /// The key itself, for the one time at which it is shown.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// The workspace whose key this is, if it is written like a key at all.
#[must_use]
pub fn workspace_of(key: &str) -> Option<WorkspaceId> {
    if key.len() != LENGTH || !key.is_ascii() {
        return None;
    }
    let (body, written) = key.split_at(LENGTH - CHECKSUM_DIGITS);
    if checksum(body) != written.as_bytes() {
        return None;
    }
    let rest = body.strip_prefix(PREFIX)?;
    WorkspaceId::parse(&rest[..WorkspaceId::DIGITS])
}

fn checksum(body: &str) -> [u8; CHECKSUM_DIGITS] {
    // FNV-1a: short, well known and enough to tell a slip of the pen. Secrecy is the hash's
    // business.
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut digits = [0; CHECKSUM_DIGITS];
    encode_digits(u128::from(hash ^ (hash >> 32)), &mut digits);
    digits
}

/// What is kept of a key. The secret has 160 random bits, so a plain hash cannot be turned back.
#[derive(Clone, Copy, Debug)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(sha256(&[key.as_bytes()]))
    }

    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Compares in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::read_body;
    use crate::problem::Problem;

    fn read(body: &str) -> Result<NewKey, Problem> {
        read_body(body.as_bytes(), |fields| {
            NewKey::read(fields, Timestamp::from_millis(1_700_000_000_000))
        })
    }

    #[test]
    fn a_key_to_make_has_a_name_and_a_scope_and_may_end() {
        let read_only = read(r#"{"name": " importer ", "scope": "read"}"#).unwrap();
        assert_eq!(
            read_only,
            NewKey { name: "importer".to_owned(), scope: Scope::Read, expires_at: None }
        );
        let ending =
            read(r#"{"name": "importer", "scope": "admin", "expires_at": "2027-01-31"}"#).unwrap();
        assert_eq!(
            (ending.scope, ending.expires_at),
            (Scope::Admin, Timestamp::parse("2027-01-31T00:00:00Z"))
        );
    }

    #[test]
    fn a_key_that_makes_no_sense_is_refused_field_by_field() {
        for (body, field, flaw) in [
            (r#"{"scope": "read"}"#, "name", FieldErrorCode::Required),
            (r#"{"name": "importer"}"#, "scope", FieldErrorCode::Required),
            (r#"{"name": "importer", "scope": "owner"}"#, "scope", FieldErrorCode::InvalidValue),
            (
                r#"{"name": "importer", "scope": "read", "expires_at": "2020-01-31"}"#,
                "expires_at",
                FieldErrorCode::InvalidValue,
            ),
            (
                r#"{"name": "importer", "scope": "read", "expires_at": "soon"}"#,
                "expires_at",
                FieldErrorCode::InvalidDate,
            ),
            (
                r#"{"name": "importer", "scope": "read", "expires_at": 7}"#,
                "expires_at",
                FieldErrorCode::InvalidType,
            ),
        ] {
            let named: Vec<_> = read(body)
                .unwrap_err()
                .details
                .into_iter()
                .map(|detail| (detail.field, detail.code))
                .collect();
            assert_eq!(named, [(field.to_owned(), flaw)], "{body}");
        }
    }

    proptest! {
        #[test]
        fn a_key_names_its_workspace(number: u64, random: [u8; 20]) {
            let workspace = WorkspaceId::from_random(number);
            let key = Secret::new(workspace, random);
            prop_assert_eq!(workspace_of(key.reveal()), Some(workspace));
        }

        #[test]
        fn a_slip_of_the_pen_is_seen(number: u64, random: [u8; 20], at in 0..LENGTH,
            written in "[a-z0-9]") {
            let key = Secret::new(WorkspaceId::from_random(number), random);
            let mut slip = key.reveal().to_owned();
            slip.replace_range(at..=at, &written);
            prop_assert_eq!(workspace_of(&slip).is_some(), slip == key.reveal());
        }

        #[test]
        fn reading_a_key_never_panics(text in "\\PC*") {
            let _ = workspace_of(&text);
        }
    }

    #[test]
    fn a_key_in_clear_does_not_show_itself() {
        let key = Secret::new(WorkspaceId::from_random(1), [7; 20]);
        assert!(!format!("{key:?}").contains(key.reveal()));
    }

    #[test]
    fn each_scope_includes_those_before() {
        assert!(Scope::Admin > Scope::Write && Scope::Write > Scope::Read);
        assert_eq!(Scope::parse("write"), Some(Scope::Write));
        assert_eq!(Scope::parse("owner"), None);
    }
}
