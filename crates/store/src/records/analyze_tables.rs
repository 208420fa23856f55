//! What PostgreSQL knows of its tables. It plans by that, and learns of a new table only by and by,
//! a minute after rows came. Until then every index that begins with the workspace looks as good to
//! it as the right one, also where it checks foreign keys by itself, and it goes through all rows
//! of a workspace to find one.

use crate::error::StoreError;
use crate::params;
use crate::schema::TABLES;
use crate::tx::Tx;

/// The tables of search that grow with the persons. The others are empty from time to time, and
/// better planned by guess than by that.
const OF_SEARCH: [&str; 3] = ["search_document", "search_posting", "search_place"];

/// Smaller tables are gone through in no time.
const BYTES: i64 = 64 * 1024;

/// A table that has grown and that the database knows no rows of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    pub table: &'static str,
    pub bytes: i64,
}

/// Tables that have grown and that the database knows no rows of. An embedded engine plans by the
/// schema alone.
pub async fn unknown(tx: &mut Tx) -> Result<Vec<Unknown>, StoreError> {
    if tx.is_embedded() {
        return Ok(Vec::new());
    }
    let sql = "SELECT CAST(relname AS text), pg_relation_size(oid) FROM pg_class \
               WHERE relkind = 'r' AND reltuples <= 0 AND pg_table_is_visible(oid) AND \
               pg_relation_size(oid) > ?1";
    let found = tx.rows(sql, params![BYTES], |row| Ok((row.text(0)?, row.int(1)?))).await?;
    let tables = || TABLES.iter().chain(&OF_SEARCH);
    let ours = |(name, bytes): (String, i64)| {
        tables().find(|table| **table == name).map(|table| Unknown { table, bytes })
    };
    Ok(found.into_iter().filter_map(ours).collect())
}

/// Lets the database have a look at a table, unless somebody else does.
pub async fn learn(tx: &mut Tx, table: &'static str) -> Result<(), StoreError> {
    match tx.is_embedded() {
        true => Ok(()),
        false => tx.execute_deferred(&format!("ANALYZE (SKIP_LOCKED) {table}"), &[]).await,
    }
}
