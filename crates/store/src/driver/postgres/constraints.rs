//! Constraints and indexes that are off for the time being, because what is done meanwhile is
//! faster or only possible without them.

use tokio_postgres::Client;

use crate::driver::postgres::error::{classify, describe};
use crate::error::StoreError;
use crate::schema::TABLES;

/// How each is put back, in order.
pub(crate) struct TakenOff {
    put_back: Vec<String>,
}

impl TakenOff {
    /// Takes off keys, indexes and what rests on them.
    pub(crate) async fn all(client: &Client) -> Result<Self, StoreError> {
        let foreign_keys = Self::foreign_keys(client).await?;
        let mut taken_off = Self::constraints(client, "contype IN ('p', 'u')").await?;
        let sql = "SELECT quote_ident(c.relname), pg_get_indexdef(i.indexrelid) FROM pg_index i \
                   JOIN pg_class c ON c.oid = i.indexrelid \
                   WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND \
                   i.indrelid::regclass::text = ANY($1) \
                   AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) \
                   ORDER BY 1";
        for row in client.query(sql, &[&TABLES]).await.map_err(|error| classify(&error))? {
            let (name, definition): (String, String) = (row.get(0), row.get(1));
            execute(client, &format!("DROP INDEX {name}")).await?;
            taken_off.put_back.push(definition);
        }
        taken_off.put_back.extend(foreign_keys.put_back);
        Ok(taken_off)
    }

    pub(crate) async fn foreign_keys(client: &Client) -> Result<Self, StoreError> {
        Self::constraints(client, "contype = 'f'").await
    }

    async fn constraints(client: &Client, which: &str) -> Result<Self, StoreError> {
        let sql = format!(
            "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) \
             FROM pg_constraint \
             WHERE connamespace = quote_ident(current_schema())::regnamespace AND conparentid = 0 \
             AND conrelid::regclass::text = ANY($1) AND {which} ORDER BY 1, 2"
        );
        let mut put_back = Vec::new();
        for row in client.query(&sql, &[&TABLES]).await.map_err(|error| classify(&error))? {
            let (table, name, definition): (String, String, String) =
                (row.get(0), row.get(1), row.get(2));
            execute(client, &format!("ALTER TABLE {table} DROP CONSTRAINT {name}")).await?;
            put_back.push(format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"));
        }
        Ok(Self { put_back })
    }

    pub(crate) async fn put_back(
        &self,
        client: &Client,
        report: impl Fn(u64, u64),
    ) -> Result<(), StoreError> {
        for (done, sql) in (1..).zip(&self.put_back) {
            execute(client, sql).await?;
            report(done, self.put_back.len() as u64);
        }
        Ok(())
    }
}

pub(crate) async fn execute(client: &Client, sql: &str) -> Result<(), StoreError> {
    client
        .batch_execute(sql)
        .await
        .map_err(|error| StoreError::Unusable(format!("{sql}: {}", describe(&error))))
}
