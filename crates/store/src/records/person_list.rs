//! Lists of persons: all of them, those that filters leave, and those that search finds.

use slated_model::clock::Timestamp;
use slated_model::id::{self, CompanyId, PersonId, WorkspaceId};
use slated_model::listing::{Order, Page, Start};
use slated_model::search::Question;

use crate::driver::row::Row;
use crate::error::StoreError;
use crate::records::pagination::{Conditions, PageResult, finish};
use crate::records::person_filter::{ENOUGH_COUNTED, MAX_COUNTED, PersonFilter};
use crate::records::range_counts::{self, List};
use crate::records::search::persons::find;
use crate::records::{field_order, places, with_ids};
use crate::tx::Tx;

/// All that a list shows of a person.
#[derive(Clone, Debug)]
pub struct PersonItem {
    pub id: PersonId,
    pub name: String,
    pub first_name: String,
    pub last_name: String,
    pub social_public_id: String,
    pub social_location: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub external_source_id: Option<String>,
    pub emails: String,
    pub phones: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

const SELECT: &str = "SELECT p.id, p.name, p.first_name, p.last_name, p.social_public_id, \
                      p.social_location, p.current_job_title, \
                      employer.name, p.company_id, p.external_source_id, p.emails, p.phones, \
                      p.created_at, p.updated_at";
const TABLES: &str = "FROM person p LEFT JOIN company employer ON employer.workspace_id = \
    p.workspace_id AND employer.id = p.company_id";

fn item(row: &Row<'_>) -> Result<PersonItem, StoreError> {
    Ok(PersonItem {
        id: row.id(0)?,
        name: row.text(1)?,
        first_name: row.text(2)?,
        last_name: row.text(3)?,
        social_public_id: row.text(4)?,
        social_location: row.text(5)?,
        current_job_title: row.text(6)?,
        company_name: row.optional_text(7)?,
        company_id: row.optional_id(8)?,
        external_source_id: row.optional_text(9)?,
        emails: row.json_text(10, field_order::contacts)?,
        phones: row.json_text(11, field_order::contacts)?,
        created_at: row.time(12)?,
        updated_at: row.time(13)?,
    })
}

pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &PersonFilter,
    page: &Page<id::Person>,
) -> Result<PageResult<PersonItem>, StoreError> {
    if filter.is_empty() {
        let conditions = Conditions::new("p.workspace_id = ?1", vec![workspace.into()]);
        return range_counts::list_by_id(
            tx,
            workspace,
            List::Persons,
            page,
            conditions,
            (SELECT, TABLES, "p"),
            item,
        )
        .await;
    }
    let most_counted = if page.known_total().is_some() { ENOUGH_COUNTED } else { MAX_COUNTED };
    let led = filter.led(tx, workspace, most_counted).await?;
    let total = match page.known_total() {
        Some(total) => total,
        None => led.total(tx).await?,
    };
    let shown = led.page(tx, page).await?;
    let records = in_order(tx, workspace, &shown).await?;
    Ok(finish(records, total, page))
}

/// The persons who have all words of the question: first those who have them in fields that say
/// most, and among equals the oldest. A page asked for with an order has that order. Nothing if a
/// cursor stands on a person who is not found any more.
pub async fn search(
    tx: &mut Tx,
    workspace: WorkspaceId,
    question: &Question,
    filter: &PersonFilter,
    page: &Page<id::Person>,
) -> Result<Option<PageResult<PersonItem>>, StoreError> {
    let mut found = find(tx, workspace, question, filter).await?;
    if page.order == Order::NewestFirst {
        found.sort_unstable_by(|one, other| other.cmp(one));
    }
    let start = match page.start {
        Start::Offset(offset) => usize::try_from(offset).unwrap_or(usize::MAX),
        Start::Cursor(None) => 0,
        Start::Cursor(Some(cursor)) if page.order == Order::NewestFirst => {
            found.partition_point(|id| *id >= cursor.last)
        }
        Start::Cursor(Some(cursor)) => match found.iter().position(|id| *id == cursor.last) {
            Some(place) => place + 1,
            None => return Ok(None),
        },
    };
    let limit = usize::try_from(page.limit).unwrap_or(0);
    let shown: Vec<_> = found.iter().copied().skip(start).take(limit).collect();
    let more = found.len() > start.saturating_add(limit);
    let total = i64::try_from(found.len()).unwrap_or(0);
    let records = in_order(tx, workspace, &shown).await?;
    Ok(Some(PageResult { records, total, more }))
}

async fn in_order(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<PersonItem>, StoreError> {
    let mut records = items(tx, workspace, ids).await?;
    records.sort_unstable_by_key(|record| ids.iter().position(|id| *id == record.id));
    Ok(records)
}

/// Those persons, in any order.
pub async fn items(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<PersonItem>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "{SELECT} {TABLES} WHERE p.workspace_id = ?1 AND p.id IN ({})",
        places(ids.len(), 2)
    );
    tx.rows(&sql, &with_ids(workspace, ids), item).await
}
