//! Several servers may start at once. Each locks the same row before it applies a step, so that one
//! does and the others find it done.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::driver::postgres::address::Address;
use crate::driver::postgres::error::{classify, describe};
use crate::driver::postgres::pool::connect;
use crate::error::StoreError;
use crate::migrations::{failed, log_applied, missing_from, newest_version};
use crate::purpose::Purpose;

/// The row that is locked.
const GUARD: i64 = 0;
const MAX_TRIES: usize = 20;

pub(crate) async fn bring_up_to_date(
    address: &Address,
    purpose: Purpose,
) -> Result<(), StoreError> {
    let client = connect(address).await?;
    let encoding: String = client
        .query_one("SHOW server_encoding", &[])
        .await
        .map_err(|error| classify(&error))?
        .get(0);
    if encoding != "UTF8" {
        return Err(StoreError::Unusable(format!(
            "{address} has encoding {encoding}, which cannot store all characters; create the \
             database with ENCODING 'UTF8'"
        )));
    }
    if current_version(&client).await? == Some(newest_version()) {
        return Ok(());
    }
    if purpose == Purpose::Inspect && current_version(&client).await?.is_none() {
        return Err(StoreError::Unusable(format!(
            "{address} holds no slated database; create one with slated serve or slated key create"
        )));
    }
    for _ in 0..MAX_TRIES {
        match prepare_and_apply(&client).await {
            Err(StoreError::Conflict(_)) => {
                // A statement that failed inside leaves the transaction open.
                client.batch_execute("ROLLBACK").await.map_err(|error| classify(&error))?;
            }
            outcome => return outcome,
        }
    }
    Err(StoreError::Unavailable("other servers are changing the schema".to_owned()))
}

async fn prepare_and_apply(client: &Client) -> Result<(), StoreError> {
    let broken = |error: Error| classify(&error);
    if current_version(client).await?.is_none() {
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS schema_migration (version bigint NOT NULL PRIMARY KEY, \
             name text NOT NULL, applied_at timestamptz NOT NULL); \
             INSERT INTO schema_migration (version, name, applied_at) VALUES ({GUARD}, 'guard', \
             now()) ON CONFLICT (version) DO NOTHING"
        );
        client.batch_execute(&sql).await.map_err(|error| match error.code() {
            // Another server was faster by a moment.
            Some(&(SqlState::DUPLICATE_OBJECT | SqlState::DUPLICATE_TABLE)) => {
                StoreError::Conflict(describe(&error))
            }
            _ => classify(&error),
        })?;
    }
    // CockroachDB compares text byte by byte without being told, and knows no collation of that
    // name.
    let is_cockroach = client
        .query_one("SELECT version() LIKE '%CockroachDB%'", &[])
        .await
        .map_err(broken)?
        .get(0);
    for step in missing_from(current_version(client).await?.unwrap_or(0))? {
        client.batch_execute("BEGIN").await.map_err(broken)?;
        let lock =
            format!("SELECT version FROM schema_migration WHERE version = {GUARD} FOR UPDATE");
        client.batch_execute(&lock).await.map_err(broken)?;
        let is_missing = current_version(client).await?.unwrap_or(0) < step.version;
        if is_missing {
            let sql = if is_cockroach {
                step.postgres.replace(" COLLATE \"C\"", "")
            } else {
                step.postgres.to_owned()
            };
            for statement in statements(&sql) {
                client.batch_execute(statement).await.map_err(|error| match classify(&error) {
                    conflict @ StoreError::Conflict(_) => conflict,
                    _ => failed(step, &describe(&error)),
                })?;
            }
            let sql =
                "INSERT INTO schema_migration (version, name, applied_at) VALUES ($1, $2, now())";
            client.execute(sql, &[&step.version, &step.name]).await.map_err(broken)?;
        }
        client.batch_execute("COMMIT").await.map_err(broken)?;
        if is_missing {
            log_applied(step);
        }
    }
    Ok(())
}

/// One by one: where tables are spread over machines, each of them is told what was sent, as it
/// stands, and takes one statement at a time.
fn statements(step: &str) -> impl Iterator<Item = &str> {
    let says_something = |line: &str| !line.is_empty() && !line.starts_with("--");
    step.split_inclusive(";\n")
        .map(str::trim)
        .filter(move |statement| statement.lines().any(says_something))
}

/// Whether there is a table of that name, readable or not, in the schema in which ours are made.
pub(crate) async fn has_table(client: &Client, name: &str) -> Result<bool, StoreError> {
    let sql = "SELECT to_regclass(quote_ident(current_schema()) || '.' || $1) IS NOT NULL";
    Ok(client.query_one(sql, &[&name]).await.map_err(|error| classify(&error))?.get(0))
}

/// Nothing if the database was never ours.
async fn current_version(client: &Client) -> Result<Option<i64>, StoreError> {
    let broken = |error: Error| classify(&error);
    if !has_table(client, "schema_migration").await? {
        return Ok(None);
    }
    let row = client
        .query_one("SELECT COALESCE(MAX(version), 0) FROM schema_migration", &[])
        .await
        .map_err(broken)?;
    row.try_get(0).map(Some).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrations::STEPS;

    #[test]
    fn a_step_is_cut_into_its_statements() {
        let said = |line: &&str| !line.is_empty() && !line.starts_with("--");
        let ends = |text: &str| {
            text.lines().filter(said).map(|line| line.matches(';').count()).sum::<usize>()
        };
        for step in STEPS {
            for statement in statements(step.postgres) {
                let first = statement.lines().find(said).unwrap();
                let begins = ["CREATE ", "ALTER ", "DROP ", "INSERT ", "UPDATE ", "DELETE "]
                    .iter()
                    .any(|word| first.starts_with(word));
                assert!(
                    begins && statement.ends_with(';') && ends(statement) == 1,
                    "{}: {statement}",
                    step.name
                );
            }
            assert_eq!(statements(step.postgres).count(), ends(step.postgres), "{}", step.name);
        }
    }
}
