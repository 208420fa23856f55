//! The tables, and what their columns hold. PostgreSQL knows more of that than SQLite does, so it
//! is asked.

use tokio_postgres::Client;

use crate::driver::param::Param;
use crate::driver::postgres::error::classify;
use crate::error::StoreError;
use crate::records::field_order;
use crate::schema::{PERMITS, TABLES};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Int,
    Flag,
    Text,
    Json,
    Bytes,
    Id,
    Time,
}

pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Puts the fields of JSON in the order in which they are shown.
    in_order: fn(&str) -> serde_json::Result<String>,
}

impl Column {
    /// JSON in a form in which that of one engine can be compared with that of the other.
    pub(super) fn in_order(&self, json: &str) -> Result<String, StoreError> {
        let ordered = (self.in_order)(json).or_else(|_| field_order::by_name(json));
        ordered.map_err(|error| {
            StoreError::Internal(format!("column {} does not hold valid JSON: {error}", self.name))
        })
    }
}

pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) primary_key: Vec<String>,
}

impl Table {
    pub(super) fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    /// A row as it is compared.
    pub(super) fn in_order(
        &self,
        row: &[Param<'_>],
        look: impl FnOnce(&[Param<'_>]),
    ) -> Result<(), StoreError> {
        let ordered = self.columns.iter().zip(row).map(|(column, value)| match value {
            Param::Json("[]") => Ok(None),
            Param::Json(json) => column.in_order(json).map(Some),
            _ => Ok(None),
        });
        let ordered: Vec<_> = ordered.collect::<Result<_, StoreError>>()?;
        let row: Vec<_> = row
            .iter()
            .zip(&ordered)
            .map(|(value, ordered)| ordered.as_deref().map_or(*value, Param::Json))
            .collect();
        look(&row);
        Ok(())
    }

    pub(super) fn select(&self) -> String {
        format!(
            "SELECT {} FROM {} ORDER BY {}",
            self.column_list(),
            self.name,
            self.primary_key.join(", ")
        )
    }
}

/// All tables with records, in an order in which none points at a later one, and what providers
/// were asked.
pub(super) async fn all(client: &Client) -> Result<Vec<Table>, StoreError> {
    let mut tables = Vec::new();
    for name in TABLES.iter().chain([&PERMITS]) {
        let sql = "SELECT column_name::text, data_type::text FROM information_schema.columns \
                   WHERE table_schema = current_schema() AND table_name = $1 ORDER BY \
                   ordinal_position";
        let mut columns = Vec::new();
        for row in client.query(sql, &[name]).await.map_err(|error| classify(&error))? {
            let (column, data_type): (String, String) = (row.get(0), row.get(1));
            columns.push(Column {
                in_order: order_of(&column),
                kind: kind_of(name, &column, &data_type)?,
                name: column,
            });
        }
        // The other schema tells of keys to those only who may change the table.
        let sql = "SELECT a.attname::text FROM pg_constraint c CROSS JOIN LATERAL \
                   unnest(c.conkey) WITH ORDINALITY AS k (number, place) \
                   JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number \
                   WHERE c.conrelid = to_regclass(quote_ident(current_schema()) || '.' || $1) AND \
                   c.contype = 'p' ORDER BY k.place";
        let primary_key = client
            .query(sql, &[name])
            .await
            .map_err(|error| classify(&error))?
            .iter()
            .map(|row| row.get(0))
            .collect();
        tables.push(Table { name: (*name).to_owned(), columns, primary_key });
    }
    Ok(tables)
}

fn kind_of(table: &str, column: &str, data_type: &str) -> Result<Kind, StoreError> {
    Ok(match data_type {
        "bigint" => Kind::Int,
        "boolean" => Kind::Flag,
        "text" => Kind::Text,
        "jsonb" => Kind::Json,
        "bytea" => Kind::Bytes,
        "uuid" => Kind::Id,
        "timestamp with time zone" => Kind::Time,
        other => {
            return Err(StoreError::Internal(format!(
                "{table}.{column} is of type {other}, which cannot be copied"
            )));
        }
    })
}

fn order_of(column: &str) -> fn(&str) -> serde_json::Result<String> {
    match column {
        "emails" | "phones" => field_order::contacts,
        "work_experience" => field_order::work_experience,
        "education_experience" => field_order::education_experience,
        "certifications" => field_order::certifications,
        "stages" => field_order::stages,
        _ => field_order::by_name,
    }
}
