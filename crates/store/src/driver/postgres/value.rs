//! Values as PostgreSQL sends and takes them: ids are uuid, moments timestamptz, JSON jsonb, flags
//! boolean. Words with blanks between them go into a text or, as a set, into a tsvector.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use slated_model::clock::Timestamp;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::driver::param::Param;

type Wrong = Box<dyn Error + Sync + Send>;

/// Milliseconds from 1970, where we count from, to 2000, where PostgreSQL does.
pub(crate) const MILLIS_TO_2000: i64 = 946_684_800_000;
/// The moments that PostgreSQL can tell: from 4714 BC to 294276, a little less here.
const FIRST_MILLIS: i64 = -210_866_803_200_000;
const LAST_MILLIS: i64 = 9_224_318_015_999_999;
/// What the binary form of jsonb begins with.
pub(crate) const JSONB_VERSION: u8 = 1;

/// A parameter that waits for its statement to be sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Owned {
    Null,
    Int(i64),
    Flag(bool),
    Text(String),
    Json(String),
    Bytes(Vec<u8>),
    Id([u8; 16]),
    Time(Timestamp),
    /// Values for an array.
    List(Vec<Owned>),
}

impl From<&Param<'_>> for Owned {
    fn from(param: &Param<'_>) -> Self {
        match *param {
            Param::Null => Self::Null,
            Param::Int(number) => Self::Int(number),
            Param::Flag(flag) => Self::Flag(flag),
            Param::Text(text) => Self::Text(text.to_owned()),
            Param::Json(text) => Self::Json(text.to_owned()),
            Param::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
            Param::Id(id) => Self::Id(id),
            Param::Time(moment) => Self::Time(moment),
        }
    }
}

/// Microseconds since 2000. What lies before all that PostgreSQL can tell is its `-infinity`, what
/// lies behind it `infinity`.
pub(crate) const fn micros(moment: Timestamp) -> i64 {
    match moment.millis() {
        ..FIRST_MILLIS => i64::MIN,
        LAST_MILLIS.. => i64::MAX,
        millis => (millis - MILLIS_TO_2000) * 1000,
    }
}

impl Owned {
    /// Whether a column or parameter of that type can hold the value. What cannot be sent must be
    /// known before anything is.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        match self {
            Self::Null => true,
            Self::Int(_) => *ty == Type::INT8,
            Self::Flag(_) => *ty == Type::BOOL,
            Self::Text(_) => matches!(*ty, Type::TEXT | Type::VARCHAR | Type::TS_VECTOR),
            Self::Json(_) => *ty == Type::JSONB,
            Self::Bytes(_) => *ty == Type::BYTEA,
            Self::Id(_) => *ty == Type::UUID,
            Self::Time(_) => *ty == Type::TIMESTAMPTZ,
            Self::List(values) => {
                matches!(ty.kind(),
                    Kind::Array(member) if values.iter().all(|value| value.fits(member)))
            }
        }
    }
}

/// The binary form of a tsvector: how many words, and each with its end and how many places it has,
/// which is none. Their order is that of their bytes.
fn put_words(text: &str, out: &mut BytesMut) {
    let mut words: Vec<_> = text.split_ascii_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    out.put_u32(u32::try_from(words.len()).unwrap_or(0));
    for word in words {
        out.put_slice(word.as_bytes());
        out.put_u8(0);
        out.put_u16(0);
    }
}

fn mismatch(value: &Owned, ty: &Type) -> Wrong {
    format!("{value:?} cannot be stored in a column of type {ty}").into()
}

impl ToSql for Owned {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Wrong> {
        match (self, ty) {
            (Self::Null, _) => return Ok(IsNull::Yes),
            (Self::Int(number), &Type::INT8) => out.put_i64(*number),
            (Self::Flag(flag), &Type::BOOL) => out.put_u8(u8::from(*flag)),
            (Self::Text(text), &Type::TEXT | &Type::VARCHAR) => out.put_slice(text.as_bytes()),
            (Self::Text(text), &Type::TS_VECTOR) => put_words(text, out),
            (Self::Json(text), &Type::JSONB) => {
                out.put_u8(JSONB_VERSION);
                out.put_slice(text.as_bytes());
            }
            (Self::Bytes(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (Self::Id(id), &Type::UUID) => out.put_slice(id),
            (Self::Time(moment), &Type::TIMESTAMPTZ) => {
                out.put_i64(micros(*moment));
            }
            (Self::List(values), _) => return values.to_sql(ty, out),
            _ => return Err(mismatch(self, ty)),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A number of any width.
pub(crate) struct Number(pub(crate) i64);

impl<'r> FromSql<'r> for Number {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<Self, Wrong> {
        Ok(Self(match *ty {
            Type::INT8 => i64::from_be_bytes(raw.try_into()?),
            Type::INT4 => i32::from_be_bytes(raw.try_into()?).into(),
            _ => i16::from_be_bytes(raw.try_into()?).into(),
        }))
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::INT2)
    }
}

/// The text of a jsonb value.
pub(crate) struct Json<'r>(pub(crate) &'r str);

impl<'r> FromSql<'r> for Json<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Wrong> {
        match raw {
            [JSONB_VERSION, text @ ..] => Ok(Self(std::str::from_utf8(text)?)),
            _ => Err("jsonb in an unknown form".into()),
        }
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::JSONB
    }
}

pub(crate) struct Uuid(pub(crate) [u8; 16]);

impl<'r> FromSql<'r> for Uuid {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Wrong> {
        Ok(Self(raw.try_into()?))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::UUID
    }
}

pub(crate) struct Moment(pub(crate) Timestamp);

impl<'r> FromSql<'r> for Moment {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Wrong> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(Self(Timestamp::from_millis(micros.div_euclid(1000) + MILLIS_TO_2000)))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::TIMESTAMPTZ
    }
}

/// A column that may hold anything: only whether it does is asked.
pub(crate) struct Anything;

impl<'r> FromSql<'r> for Anything {
    fn from_sql(_: &Type, _: &'r [u8]) -> Result<Self, Wrong> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
