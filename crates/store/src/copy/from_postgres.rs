//! Reads the tables of a PostgreSQL database.

use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::Client;

use crate::copy::binary::Reader;
use crate::copy::table::Table;
use crate::driver::param::Param;
use crate::driver::postgres::error::classify;
use crate::error::StoreError;

pub(super) async fn count(client: &Client, tables: &[Table]) -> Result<u64, StoreError> {
    let mut total = 0;
    for table in tables {
        let row = client
            .query_one(&format!("SELECT COUNT(*) FROM {}", table.name), &[])
            .await
            .map_err(|error| classify(&error))?;
        total += u64::try_from(row.get::<_, i64>(0)).unwrap_or(0);
    }
    Ok(total)
}

/// Shows every row of the table: in the order of its primary key, or as they lie, which is faster.
pub(super) async fn each_row(
    client: &Client,
    table: &Table,
    in_order: bool,
    mut look: impl FnMut(&[Param<'_>]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let select = match in_order {
        true => table.select(),
        false => format!("SELECT {} FROM {}", table.column_list(), table.name),
    };
    let stream = client
        .copy_out(&format!("COPY ({select}) TO STDOUT (FORMAT BINARY)"))
        .await
        .map_err(|error| classify(&error))?;
    pin_mut!(stream);
    let mut reader = Reader::new(table);
    while let Some(arrived) = stream.try_next().await.map_err(|error| classify(&error))? {
        reader.push(&arrived);
        while let Some(row) = reader.next_row()? {
            reader.values(&row, &mut look)?;
        }
    }
    Ok(())
}
