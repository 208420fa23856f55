//! Spreads the tables over the machines of a Citus cluster, each workspace on one of them.

use crate::driver::postgres::address::Address;
use crate::driver::postgres::constraints::{TakenOff, execute};
use crate::driver::postgres::error::classify;
use crate::driver::postgres::pool::connect;
use crate::error::StoreError;
use crate::migrations::postgres;
use crate::purpose::Purpose;
use crate::schema::{ONLY_POSTGRES, SEARCH, TABLES};

const BY: &str = "workspace_id";

/// Brings the schema up to date and distributes the tables that are not yet; says which.
pub async fn distribute(address: &Address) -> Result<Vec<&'static str>, StoreError> {
    let client = connect(address).await?;
    let extension = client
        .query_opt("SELECT 1 FROM pg_extension WHERE extname = 'citus'", &[])
        .await
        .map_err(|error| classify(&error))?;
    if extension.is_none() {
        return Err(StoreError::Unusable(format!(
            "{address} lacks the citus extension; run CREATE EXTENSION citus on every \
             machine of the cluster, and use the URL of the coordinator's database"
        )));
    }
    postgres::bring_up_to_date(address, Purpose::Command).await?;
    execute(&client, "BEGIN").await?;
    // Foreign keys between tables of which one is distributed and one is not yet are not possible,
    // so they come off; and what one transaction does to many tables goes over one connection to
    // each machine.
    execute(&client, "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'").await?;
    let mut distributed = Vec::new();
    let mut missing = Vec::new();
    let tables = || TABLES.iter().chain(&ONLY_POSTGRES).chain(&SEARCH);
    for table in tables() {
        let sql = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass($1::text)";
        if client.query_opt(sql, &[table]).await.map_err(|error| classify(&error))?.is_none() {
            missing.push(*table);
        }
    }
    if !missing.is_empty() {
        let foreign_keys = TakenOff::foreign_keys(&client).await?;
        for table in missing {
            let beside = if table == TABLES[0] { "default" } else { TABLES[0] };
            execute(
                &client,
                &format!(
                    "SELECT create_distributed_table('{table}', '{BY}', \
                colocate_with => '{beside}')"
                ),
            )
            .await?;
            distributed.push(table);
        }
        foreign_keys.put_back(&client, |_, _| {}).await?;
    }
    execute(&client, "COMMIT").await?;
    // The rows are on the machines now, and still on this one, where nobody would ever change or
    // erase them. All tables are looked at: an earlier run may have been broken off here.
    for table in tables() {
        execute(
            &client,
            &format!(
                "SELECT \
            truncate_local_data_after_distributing_table('{table}')"
            ),
        )
        .await
        .map_err(|error| {
            StoreError::Unusable(format!(
                "the tables are distributed, but rows of {table} are left on the coordinator \
                 ({error}); \
                 call truncate_local_data_after_distributing_table there for each table"
            ))
        })?;
    }
    Ok(distributed)
}
