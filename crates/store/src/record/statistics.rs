//! What PostgreSQL knows of its tables. It plans by that, and learns of a new table only by and by, a minute after rows came. Until then every
//! index that begins with the workspace looks as good to it as the right one, also where it checks foreign keys by itself, and it goes
//! through all rows of a workspace to find one.

use crate::migrations::TABLES;
use crate::{StoreError, Tx, params};

/// Smaller tables are gone through in no time.
const BYTES: i64 = 64 * 1024;

/// Lets the database have a look at tables that have grown and that it knows nothing of. An embedded engine plans by the schema alone.
pub async fn learn(tx: &mut Tx) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    let sql = "SELECT CAST(relname AS text) FROM pg_class WHERE relkind = 'r' AND relpages = 0 AND pg_relation_size(oid) > ?1 \
               AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
    let unknown = tx.rows(sql, params![BYTES], |row| row.text(0)).await?;
    // In an order that other servers have too.
    for table in TABLES.iter().filter(|table| unknown.iter().any(|name| name == **table)) {
        tx.tell(&format!("ANALYZE {table}"), &[]).await?;
    }
    Ok(())
}
