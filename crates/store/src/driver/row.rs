//! Values on their way out of a statement. Ids, times, flags and JSON are kept by each engine in
//! its own way.

use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;
use slated_model::clock::Timestamp;
use slated_model::id::{Id, Kind, WorkspaceId};
use tokio_postgres::types::FromSql;

use crate::driver::postgres::value::{Anything, Json, Moment, Number, Uuid};
use crate::error::StoreError;

/// A row that a statement gave, valid while it is looked at.
pub enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

fn wrong(column: usize, expected: &str) -> StoreError {
    StoreError::Internal(format!("column {column} does not hold the expected type: {expected}"))
}

fn value<'r>(row: &'r rusqlite::Row<'_>, column: usize) -> Result<ValueRef<'r>, StoreError> {
    row.get_ref(column).map_err(|error| StoreError::Internal(error.to_string()))
}

fn get<'r, T: FromSql<'r>>(
    row: &'r tokio_postgres::Row,
    column: usize,
    expected: &str,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(|_| wrong(column, expected))
}

impl Row<'_> {
    pub fn is_null(&self, column: usize) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(matches!(value(row, column)?, ValueRef::Null)),
            Self::Postgres(row) => {
                get::<Option<Anything>>(row, column, "value").map(|found| found.is_none())
            }
        }
    }

    pub fn str(&self, column: usize) -> Result<&str, StoreError> {
        match self {
            Self::Sqlite(row) => value(row, column)?.as_str().map_err(|_| wrong(column, "text")),
            Self::Postgres(row) => get(row, column, "text"),
        }
    }

    pub fn text(&self, column: usize) -> Result<String, StoreError> {
        self.str(column).map(str::to_owned)
    }

    pub fn optional_text(&self, column: usize) -> Result<Option<String>, StoreError> {
        self.optional(column, Self::text)
    }

    /// What was kept as JSON, for rules to work on.
    pub fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T, StoreError> {
        serde_json::from_str(self.json_str(column)?).map_err(|error| {
            StoreError::Internal(format!("column {column} is not readable: {error}"))
        })
    }

    /// What was kept as JSON, as the engine has it.
    pub fn json_str(&self, column: usize) -> Result<&str, StoreError> {
        match self {
            Self::Sqlite(_) => self.str(column),
            Self::Postgres(row) => get::<Json<'_>>(row, column, "JSON").map(|json| json.0),
        }
    }

    /// What was kept as JSON, as text. PostgreSQL orders the fields of objects in its own way, so
    /// there `in_order` puts them in ours.
    pub fn json_text(
        &self,
        column: usize,
        in_order: fn(&str) -> serde_json::Result<String>,
    ) -> Result<String, StoreError> {
        match self {
            Self::Sqlite(_) => self.text(column),
            Self::Postgres(row) => match get::<Json<'_>>(row, column, "JSON")?.0 {
                "[]" => Ok("[]".to_owned()),
                // What does not have its shape is shown as it is.
                text => Ok(in_order(text).unwrap_or_else(|_| text.to_owned())),
            },
        }
    }

    pub fn int(&self, column: usize) -> Result<i64, StoreError> {
        match self {
            Self::Sqlite(row) => value(row, column)?.as_i64().map_err(|_| wrong(column, "number")),
            Self::Postgres(row) => get::<Number>(row, column, "number").map(|number| number.0),
        }
    }

    pub fn optional_int(&self, column: usize) -> Result<Option<i64>, StoreError> {
        self.optional(column, Self::int)
    }

    pub fn flag(&self, column: usize) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(_) => self.int(column).map(|number| number != 0),
            Self::Postgres(row) => get(row, column, "flag"),
        }
    }

    pub fn time(&self, column: usize) -> Result<Timestamp, StoreError> {
        match self {
            Self::Sqlite(_) => self.int(column).map(Timestamp::from_millis),
            Self::Postgres(row) => get::<Moment>(row, column, "time").map(|moment| moment.0),
        }
    }

    pub fn optional_time(&self, column: usize) -> Result<Option<Timestamp>, StoreError> {
        self.optional(column, Self::time)
    }

    pub fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self {
            Self::Sqlite(row) => value(row, column)?.as_blob().map_err(|_| wrong(column, "bytes")),
            Self::Postgres(row) => get(row, column, "bytes"),
        }
    }

    pub fn id<K: Kind>(&self, column: usize) -> Result<Id<K>, StoreError> {
        let bytes = match self {
            Self::Sqlite(_) => self.bytes(column)?.try_into().map_err(|_| wrong(column, "id"))?,
            Self::Postgres(row) => get::<Uuid>(row, column, "id")?.0,
        };
        Ok(Id::from_bytes(bytes))
    }

    pub fn optional_id<K: Kind>(&self, column: usize) -> Result<Option<Id<K>>, StoreError> {
        self.optional(column, Self::id)
    }

    pub fn workspace(&self, column: usize) -> Result<WorkspaceId, StoreError> {
        self.int(column).map(WorkspaceId::from_number)
    }

    fn optional<T>(
        &self,
        column: usize,
        read: impl FnOnce(&Self, usize) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match self.is_null(column)? {
            true => Ok(None),
            false => read(self, column).map(Some),
        }
    }
}
