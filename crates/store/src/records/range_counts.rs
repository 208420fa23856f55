//! How many records a long list has, and where its pages are, without counting. Ids are in the
//! order in which records were made, so a list is cut into stretches of ids whose records are
//! counted once. What was made lately is counted when it is asked for; maintenance turns it into
//! stretches. A record whose id is older than what is open, since the clock was behind, counts
//! itself where it belongs on the embedded engine; on the other, work that began long ago is not
//! committed. Should a stretch be wrong all the same, maintenance finds it in time: it counts one
//! after the other again.

use std::sync::LazyLock;

use slated_model::clock::Timestamp;
use slated_model::id::{Id, Kind, WorkspaceId};
use slated_model::listing::{Order, Page, Start};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, finish};
use crate::tx::Tx;

/// Records in a stretch.
const STRETCH: i64 = 4096;
/// The count of the last stretch, which is open: its records are not counted yet.
const OPEN: i64 = -1;
/// Records younger than that may still be joined by others before them, from servers that are a
/// little behind.
const SETTLED_AFTER_MILLIS: i64 = 60_000;
/// Stretches that are closed in one go.
const MAX_CLOSED: usize = 64;

/// A list of all records of a kind in a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    Persons = 1,
    Companies = 2,
    Candidates = 3,
}

impl List {
    pub const ALL: [Self; 3] = [Self::Persons, Self::Companies, Self::Candidates];

    const fn table(self) -> &'static str {
        match self {
            Self::Persons => "person",
            Self::Companies => "company",
            Self::Candidates => "candidate",
        }
    }
}

struct IdRange {
    first_id: [u8; 16],
    count: i64,
}

fn stretch(row: &Row<'_>) -> Result<IdRange, StoreError> {
    Ok(IdRange { first_id: row.id::<slated_model::id::Person>(0)?.to_bytes(), count: row.int(1)? })
}

async fn stretches(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
) -> Result<Vec<IdRange>, StoreError> {
    let sql = "SELECT first_id, count FROM census WHERE workspace_id = ?1 AND list = ?2 ORDER BY \
        first_id";
    let mut stretches = tx.rows(sql, params![workspace, list as i64], stretch).await?;
    let open_from = stretches.pop().map_or([0; 16], |last| last.first_id);
    let sql = format!("SELECT COUNT(*) FROM {} WHERE workspace_id = ?1 AND id >= ?2", list.table());
    let count = tx
        .row(&sql, &[workspace.into(), Param::Id(open_from)], |row| row.int(0))
        .await?
        .unwrap_or(0);
    stretches.push(IdRange { first_id: open_from, count });
    Ok(stretches)
}

/// How many records of a list are between two ids.
pub(super) async fn count_between<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
    from: Option<Id<K>>,
    until: Option<Id<K>>,
) -> Result<i64, StoreError> {
    let from = from.map_or([0; 16], Id::to_bytes);
    let until = until.map_or([u8::MAX; 16], Id::to_bytes);
    let stretches = stretches(tx, workspace, list).await?;
    let ends = stretches.iter().skip(1).map(|stretch| stretch.first_id).chain([[u8::MAX; 16]]);
    let sql = format!(
        "SELECT COUNT(*) FROM {} WHERE workspace_id = ?1 AND id >= ?2 AND id < ?3",
        list.table()
    );
    let mut count = 0;
    for (stretch, end) in stretches.iter().zip(ends) {
        let (first, last) = (stretch.first_id.max(from), end.min(until));
        if first == stretch.first_id && last == end {
            count += stretch.count;
        } else if first < last {
            count += tx
                .row(&sql, &[workspace.into(), Param::Id(first), Param::Id(last)], |row| row.int(0))
                .await?
                .unwrap_or(0);
        }
    }
    Ok(count)
}

/// A page of a list in the order of its ids. `select` gives the columns and `tables` where they are
/// from, with the list's own table as `alias`; `conditions` begin with the workspace.
pub async fn list_by_id<T, K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
    page: &Page<K>,
    mut conditions: Conditions<'_>,
    (select, tables, alias): (&str, &str, &str),
    map: impl Fn(&Row<'_>) -> Result<T, StoreError> + Send,
) -> Result<PageResult<T>, StoreError> {
    let is_filtered = conditions.is_filtered();
    let stretches = match is_filtered {
        true => Vec::new(),
        false => stretches(tx, workspace, list).await?,
    };
    let total = match (is_filtered, page.known_total()) {
        (false, _) => stretches.iter().map(|stretch| stretch.count).sum(),
        (true, Some(total)) => total,
        (true, None) => tx
            .row(&conditions.count(tables), conditions.params(), |row| row.int(0))
            .await?
            .unwrap_or(0),
    };
    let newest_first = page.order == Order::NewestFirst;
    let direction = if newest_first { " DESC" } else { "" };
    let (mut is_reversed, mut order) = (false, direction);
    let (limit, skip) = match page.start {
        Start::Cursor(cursor) => {
            if let Some(cursor) = cursor {
                let sign = if newest_first { "<" } else { ">" };
                conditions.narrow(&format!("{alias}.id {sign} {{}}"), cursor.last);
            }
            (page.limit + 1, 0)
        }
        Start::Offset(offset) if is_filtered => (page.limit, offset),
        Start::Offset(offset) if offset >= total => {
            return Ok(PageResult { records: Vec::new(), total, more: false });
        }
        Start::Offset(offset) => {
            // The page is found from the oldest record on, and turned round if the newest is wanted
            // first.
            let limit = page.limit.min(total - offset);
            let mut before = if newest_first { total - offset - limit } else { offset };
            is_reversed = newest_first;
            order = "";
            for stretch in &stretches {
                if before < stretch.count {
                    conditions.narrow(&format!("{alias}.id >= {{}}"), Param::Id(stretch.first_id));
                    break;
                }
                before -= stretch.count;
            }
            (limit, before)
        }
    };
    let params = [conditions.params(), &[limit.into(), skip.into()]].concat();
    let (limit_at, skip_at) = (params.len() - 1, params.len());
    let sql = format!(
        "{select} {tables} WHERE {} ORDER BY {alias}.id{order} LIMIT ?{limit_at} OFFSET ?{skip_at}",
        conditions.sql()
    );
    let mut records = tx.rows(&sql, &params, map).await?;
    if is_reversed {
        records.reverse();
    }
    Ok(finish(records, total, page))
}

/// Holds the list, so that of those who remove records and those who close stretches one goes at a
/// time. Says where it is open from.
async fn hold(tx: &mut Tx, workspace: WorkspaceId, list: List) -> Result<[u8; 16], StoreError> {
    // The first stretch is always there, and always the same row.
    let sql = "INSERT INTO census (workspace_id, list, first_id, count) VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (workspace_id, list, first_id) DO NOTHING";
    let first = [workspace.into(), (list as i64).into(), Param::Id([0; 16])];
    tx.execute(sql, &[first[0], first[1], first[2], OPEN.into()]).await?;
    let sql = "SELECT count FROM census WHERE workspace_id = ?1 AND list = ?2 AND first_id = ?3";
    tx.row_for_update(sql, &first, |_| Ok(())).await?;
    // Only a statement that begins now sees what was waited for.
    let sql = format!(
        "SELECT first_id FROM census WHERE workspace_id = ?1 AND list = ?2 AND count = {OPEN}"
    );
    let open = tx
        .row(&sql, params![workspace, list as i64], |row| {
            Ok(row.id::<slated_model::id::Person>(0)?.to_bytes())
        })
        .await?;
    Ok(open.unwrap_or([0; 16]))
}

/// Lets those who make many records at once go one at a time.
pub async fn hold_batches(tx: &mut Tx, workspace: WorkspaceId) -> Result<(), StoreError> {
    const NO_LIST: i64 = 0;
    let row = [workspace.into(), NO_LIST.into(), Param::Id([0; 16])];
    let sql = "INSERT INTO census (workspace_id, list, first_id, count) VALUES (?1, ?2, ?3, 0) ON \
        CONFLICT (workspace_id, list, first_id) DO NOTHING";
    tx.execute(sql, &row).await?;
    let sql = "SELECT count FROM census WHERE workspace_id = ?1 AND list = ?2 AND first_id = ?3";
    tx.row_for_update(sql, &row, |_| Ok(())).await.map(|_| ())
}

/// The stretch in which a record is.
const ITS_STRETCH: &str = "(SELECT first_id FROM census WHERE workspace_id = ?1 AND list = ?2 AND \
    first_id <= ?3 ORDER BY first_id DESC LIMIT 1)";

/// Adds a record that was made to its stretch, if that is closed.
pub async fn added<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
    id: Id<K>,
) -> Result<(), StoreError> {
    // Over a network each statement counts. There work is not committed that long after it began,
    // and what goes wrong all the same is found.
    if !tx.is_embedded() {
        return Ok(());
    }
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "UPDATE census SET count = count + 1 WHERE workspace_id = ?1 AND list = ?2 AND \
             first_id = {ITS_STRETCH} AND count <> {OPEN}"
        )
    });
    tx.execute_deferred(&SQL, params![workspace, list as i64, id]).await
}

/// Takes a record that is about to be removed off its stretch.
pub async fn removed<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
    id: Id<K>,
) -> Result<(), StoreError> {
    if id.to_bytes() >= hold(tx, workspace, list).await? {
        return Ok(());
    }
    let sql = format!(
        "UPDATE census SET count = count - 1 WHERE workspace_id = ?1 AND list = ?2 AND first_id = \
         {ITS_STRETCH}"
    );
    tx.execute_deferred(&sql, params![workspace, list as i64, id]).await
}

/// The first id that a record may get that is made so lately that it is not counted yet.
fn settled(tx: &Tx) -> [u8; 16] {
    Id::<slated_model::id::Person>::at(
        Timestamp::from_millis(tx.real_now().millis() - SETTLED_AFTER_MILLIS),
        0,
    )
    .to_bytes()
}

/// Closes stretches of a list that are full and settled, those that can be closed quickly.
pub async fn close_stretches(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
) -> Result<(), StoreError> {
    let settled = settled(tx);
    let mut open_from = hold(tx, workspace, list).await?;
    for _ in 0..MAX_CLOSED {
        let sql = format!(
            "SELECT id FROM {} WHERE workspace_id = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT \
             1 OFFSET {STRETCH}",
            list.table()
        );
        let params = [workspace.into(), Param::Id(open_from), Param::Id(settled)];
        let Some(next) = tx
            .row(&sql, &params, |row| Ok(row.id::<slated_model::id::Person>(0)?.to_bytes()))
            .await?
        else {
            break;
        };
        let sql =
            "UPDATE census SET count = ?4 WHERE workspace_id = ?1 AND list = ?2 AND first_id = ?3";
        tx.execute_deferred(
            sql,
            &[workspace.into(), (list as i64).into(), Param::Id(open_from), STRETCH.into()],
        )
        .await?;
        insert(tx, workspace, list, next).await?;
        open_from = next;
    }
    Ok(())
}

/// Whether there is a stretch to close.
pub async fn is_due(tx: &mut Tx, workspace: WorkspaceId, list: List) -> Result<bool, StoreError> {
    let settled = settled(tx);
    let sql = format!(
        "SELECT 1 FROM {} WHERE workspace_id = ?1 AND id < ?2 AND id >= COALESCE((SELECT first_id \
         FROM census WHERE workspace_id = ?1 \
         AND list = ?3 AND count = {OPEN}), ?4) ORDER BY id LIMIT 1 OFFSET {STRETCH}",
        list.table()
    );
    let params = [workspace.into(), Param::Id(settled), (list as i64).into(), Param::Id([0; 16])];
    Ok(tx.row(&sql, &params, |_| Ok(())).await?.is_some())
}

/// A closed stretch, by its first id.
#[derive(Clone, Copy)]
pub struct Closed {
    pub list: i64,
    pub first_id: [u8; 16],
}

/// The closed stretch behind that one, the first if that was the last, and whether its count is
/// wrong.
pub async fn look_again(
    tx: &mut Tx,
    workspace: WorkspaceId,
    behind: Option<Closed>,
) -> Result<Option<(Closed, bool)>, StoreError> {
    let sql = format!(
        "SELECT list, first_id, count FROM census WHERE workspace_id = ?1 AND list > 0 AND count \
         <> {OPEN} AND (list, first_id) > (?2, ?3) \
         ORDER BY list, first_id LIMIT 1"
    );
    let map = |row: &Row<'_>| {
        Ok((
            Closed {
                list: row.int(0)?,
                first_id: row.id::<slated_model::id::Person>(1)?.to_bytes(),
            },
            row.int(2)?,
        ))
    };
    let behind = behind.unwrap_or(Closed { list: 0, first_id: [0; 16] });
    let Some((closed, known)) = tx
        .row(&sql, &[workspace.into(), behind.list.into(), Param::Id(behind.first_id)], map)
        .await?
    else {
        return Ok(None);
    };
    let is_wrong = count_closed(tx, workspace, closed).await?.is_some_and(|count| count != known);
    Ok(Some((closed, is_wrong)))
}

/// Counts a closed stretch again. Says by how much it was wrong.
pub async fn count_again(
    tx: &mut Tx,
    workspace: WorkspaceId,
    closed: Closed,
) -> Result<i64, StoreError> {
    let row = [workspace.into(), closed.list.into(), Param::Id(closed.first_id)];
    // Whoever adds to it or takes from it has done so, or waits.
    let sql = "SELECT count FROM census WHERE workspace_id = ?1 AND list = ?2 AND first_id = ?3";
    let Some(known) = tx.row_for_update(sql, &row, |row| row.int(0)).await? else { return Ok(0) };
    let Some(count) = count_closed(tx, workspace, closed).await? else { return Ok(0) };
    if known == OPEN || known == count {
        return Ok(0);
    }
    let sql =
        "UPDATE census SET count = ?4 WHERE workspace_id = ?1 AND list = ?2 AND first_id = ?3";
    tx.execute_deferred(sql, &[row[0], row[1], row[2], count.into()]).await?;
    Ok(count - known)
}

async fn count_closed(
    tx: &mut Tx,
    workspace: WorkspaceId,
    closed: Closed,
) -> Result<Option<i64>, StoreError> {
    let Some(list) = List::ALL.into_iter().find(|list| *list as i64 == closed.list) else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT COUNT(*) FROM {} WHERE workspace_id = ?1 AND id >= ?3 AND id < \
         (SELECT MIN(first_id) FROM census WHERE workspace_id = ?1 AND list = ?2 AND first_id > \
         ?3)",
        list.table()
    );
    tx.row(&sql, &[workspace.into(), closed.list.into(), Param::Id(closed.first_id)], |row| {
        row.int(0)
    })
    .await
}

async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    list: List,
    first_id: [u8; 16],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO census (workspace_id, list, first_id, count) VALUES (?1, ?2, ?3, ?4)";
    tx.execute_deferred(
        sql,
        &[workspace.into(), (list as i64).into(), Param::Id(first_id), OPEN.into()],
    )
    .await
}
