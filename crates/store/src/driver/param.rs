//! Values on their way into a statement. Ids, times, flags and JSON have a type of their own here,
//! since the engines keep them differently.

use rusqlite::types::{ToSqlOutput, ValueRef};
use slated_model::clock::Timestamp;
use slated_model::id::{Id, Kind, WorkspaceId};

/// A value that a statement is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param<'p> {
    Null,
    Int(i64),
    Flag(bool),
    Text(&'p str),
    Json(&'p str),
    Bytes(&'p [u8]),
    Id([u8; 16]),
    Time(Timestamp),
}

impl<'p> Param<'p> {
    #[must_use]
    pub fn json(text: Option<&'p str>) -> Self {
        text.map_or(Self::Null, Self::Json)
    }
}

impl<K: Kind> From<Id<K>> for Param<'_> {
    fn from(id: Id<K>) -> Self {
        Self::Id(id.to_bytes())
    }
}

impl From<WorkspaceId> for Param<'_> {
    fn from(workspace: WorkspaceId) -> Self {
        Self::Int(workspace.number())
    }
}

impl<'p> From<&'p str> for Param<'p> {
    fn from(text: &'p str) -> Self {
        Self::Text(text)
    }
}

impl<'p> From<&'p String> for Param<'p> {
    fn from(text: &'p String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Param<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Timestamp> for Param<'_> {
    fn from(moment: Timestamp) -> Self {
        Self::Time(moment)
    }
}

impl<'p, T: Into<Self>> From<Option<T>> for Param<'p> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The parameters of a statement, in order.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::Param::from($value)),*] };
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => (*number).into(),
            Self::Flag(flag) => i64::from(*flag).into(),
            Self::Text(text) | Self::Json(text) => {
                ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
            }
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Id(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Time(moment) => moment.millis().into(),
        })
    }
}
