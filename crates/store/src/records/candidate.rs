use slated_model::clock::Timestamp;
use slated_model::id::{self, CandidateId, CompanyId, JobId, PersonId, StageId, WorkspaceId};
use slated_model::listing::{Order, Page, Start, TimeFilter};
use slated_model::search::{Question, Weight};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{self, Conditions, PageResult, finish};
use crate::records::position_gaps::{self, Gaps};
use crate::records::search::documents::Wanted;
use crate::records::statement::{among, list_of_ids};
use crate::records::{job, range_counts};
use crate::tx::{Asked, Tx};

/// All that a single read shows of a candidate.
#[derive(Clone, Hash, Debug)]
pub struct CandidateView {
    pub id: CandidateId,
    pub version: i64,
    pub person_id: PersonId,
    pub job_id: JobId,
    pub name: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub stage_name: String,
    pub stage_id: StageId,
    pub stage_entered_at: Timestamp,
    pub created_at: Timestamp,
    pub history: Vec<StageEntry>,
}

/// A stage that the candidate entered, under the name that it had then.
#[derive(Clone, Hash, Debug)]
pub struct StageEntry {
    pub number: i64,
    pub stage_id: StageId,
    pub stage_name: String,
    pub entered_at: Timestamp,
}

/// Candidates with their histories, in one statement: a row for each stage that one of them
/// entered.
macro_rules! views_where {
    ($of_person:literal, $condition:literal) => {
        concat!(
            "SELECT c.version, c.person_id, c.job_id, p.name, p.current_job_title, employer.name, \
             p.company_id, s.name, c.stage_id, \
             c.stage_entered_at, c.created_at, h.number, h.stage_id, h.stage_name, h.entered_at, \
             c.id \
             FROM candidate c \
             JOIN person p ON ",
            $of_person,
            "p.workspace_id = c.workspace_id AND p.id = c.person_id \
             JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = c.job_id AND \
             s.id = c.stage_id \
             LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id \
             = p.company_id \
             JOIN stage_entry h ON h.workspace_id = c.workspace_id AND h.candidate_id = c.id \
             WHERE c.workspace_id = ?1 AND ",
            $condition
        )
    };
}

const VIEW: &str = views_where!("", "c.id = ?2");
/// The same without a look at an index for the person, if they stand at their
/// [place](super::person_rowid).
const VIEW_AT_PLACE: &str = views_where!("p.rowid = place_of(c.person_id) AND ", "c.id = ?2");

pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Option<CandidateView>, StoreError> {
    if tx.is_embedded()
        && let Some(view) = read_views(tx, VIEW_AT_PLACE, params![workspace, id]).await?.pop()
    {
        return Ok(Some(view));
    }
    Ok(read_views(tx, VIEW, params![workspace, id]).await?.pop())
}

/// Those of the candidates that are there, in the order of their ids.
pub async fn views(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[CandidateId],
) -> Result<Vec<CandidateView>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("{}{} ORDER BY c.id", views_where!("", ""), among(tx, "c.id", "?2"));
    read_views(tx, &sql, params![workspace, &list_of_ids(tx, ids)]).await
}

/// The rows of a candidate follow each other.
async fn read_views(
    tx: &mut Tx,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<CandidateView>, StoreError> {
    let mut views: Vec<CandidateView> = Vec::new();
    tx.rows(sql, params, |row| {
        let id = row.id(15)?;
        if views.last().is_none_or(|last| last.id != id) {
            views.push(candidate_part(row, id)?);
        }
        let entry = StageEntry {
            number: row.int(11)?,
            stage_id: row.id(12)?,
            stage_name: row.text(13)?,
            entered_at: row.time(14)?,
        };
        if let Some(view) = views.last_mut() {
            view.history.push(entry);
        }
        Ok(())
    })
    .await?;
    views.iter_mut().for_each(|view| view.history.sort_unstable_by_key(|entry| entry.number));
    Ok(views)
}

fn candidate_part(row: &Row<'_>, id: CandidateId) -> Result<CandidateView, StoreError> {
    Ok(CandidateView {
        id,
        version: row.int(0)?,
        person_id: row.id(1)?,
        job_id: row.id(2)?,
        name: row.text(3)?,
        current_job_title: row.text(4)?,
        company_name: row.optional_text(5)?,
        company_id: row.optional_id(6)?,
        stage_name: row.text(7)?,
        stage_id: row.id(8)?,
        stage_entered_at: row.time(9)?,
        created_at: row.time(10)?,
        history: Vec::new(),
    })
}

/// All that a list shows of a candidate, but for the name of its stage: the list has few stages and
/// many candidates.
#[derive(Clone, Debug)]
pub struct CandidateItem {
    pub id: CandidateId,
    pub person_id: PersonId,
    pub name: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub stage_id: StageId,
    pub created_at: Timestamp,
}

const ITEM: &str = "c.id, c.person_id, p.name, p.current_job_title, employer.name, p.company_id, \
    c.stage_id, c.created_at";

/// The candidate of a row that begins with [`ITEM`].
fn item(row: &Row<'_>) -> Result<CandidateItem, StoreError> {
    Ok(CandidateItem {
        id: row.id(0)?,
        person_id: row.id(1)?,
        name: row.text(2)?,
        current_job_title: row.text(3)?,
        company_name: row.optional_text(4)?,
        company_id: row.optional_id(5)?,
        stage_id: row.id(6)?,
        created_at: row.time(7)?,
    })
}

/// What narrows a list of candidates.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CandidateFilter {
    pub times: TimeFilter,
    pub stage_id: Option<StageId>,
    pub q: Option<Question>,
}

/// The person behind a candidate, and where they work.
const PERSON: &str = " JOIN person p ON p.workspace_id = c.workspace_id AND p.id = c.person_id \
     LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id = \
     p.company_id";

/// What candidates are searched for, by the words of the persons behind them, in fields that say
/// much of them.
fn wanted(tx: &Tx, workspace: WorkspaceId, question: Option<&Question>) -> Option<Wanted> {
    question.map(|question| Wanted::words(tx, workspace, question, Weight::Good, false))
}

/// The candidates of a job, or none if there is no such job.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    filter: &CandidateFilter,
    page: &Page<id::Candidate>,
) -> Result<Option<PageResult<CandidateItem>>, StoreError> {
    let CandidateFilter { times, stage_id, q } = filter;
    let Some(places) = job::places(tx, workspace, job).await? else { return Ok(None) };
    let wanted = wanted(tx, workspace, q.as_ref());
    let mut conditions = Conditions::new(
        "c.workspace_id = ?1 AND c.job_id = ?2",
        vec![workspace.into(), job.into()],
    );
    conditions.filter_times("c", times);
    if let Some(stage) = stage_id {
        conditions.filter("c.stage_id = {}", *stage);
    }
    if let Some(wanted) = &wanted {
        conditions.filter(&wanted.condition(tx, "c.person_id"), wanted.text());
    }
    let tables = "FROM candidate c";
    let total = match (conditions.is_filtered(), page.known_total()) {
        (false, _) => places.taken(),
        (true, Some(total)) => total,
        (true, None) => tx
            .row(&conditions.count(tables), conditions.params(), |row| row.int(0))
            .await?
            .unwrap_or(0),
    };
    let number_of =
        "SELECT position FROM candidate WHERE id = ?1 AND workspace_id = ?2 AND job_id = ?3";
    let id_at = "SELECT id FROM candidate WHERE position >= ?1 AND workspace_id = ?2 AND job_id = \
        ?3 ORDER BY position LIMIT 1";
    let mut from =
        pagination::place(tx, page, places.last, number_of, id_at, params![workspace, job]).await?;
    if let (Start::Offset(offset), true, false) =
        (page.start, places.empty > 0, conditions.is_filtered())
    {
        let number = if page.order == Order::NewestFirst { total - 1 - offset } else { offset };
        let first = match (0..total).contains(&number) {
            true => {
                Gaps::of_job(tx, workspace, job).await?.place_of(tx, workspace, job, number).await?
            }
            false => None,
        };
        let Some(first) = first else {
            return Ok(Some(PageResult { records: Vec::new(), total, more: false }));
        };
        from.first_of_page = Some(first);
    }
    // Which ones the page has is found out first, so that what is shown of them is read for no
    // others. The workspace is named again for Citus, which looks for it outside.
    let select = format!(
        "SELECT c.workspace_id, c.position, c.id, c.person_id, c.stage_id, c.created_at {tables}"
    );
    let (found, params) = conditions.page(&select, "c", page, total, from);
    let direction = if page.order == Order::NewestFirst { " DESC" } else { "" };
    let sql = format!(
        "SELECT {ITEM} FROM ({found}) c{PERSON} WHERE p.workspace_id = ?1 ORDER BY \
         c.position{direction}"
    );
    Ok(Some(finish(tx.rows(&sql, &params, item).await?, total, page)))
}

/// All that the list of all candidates shows of one.
#[derive(Clone, Debug)]
pub struct CandidateOnJob {
    pub item: CandidateItem,
    pub stage_name: String,
    pub stage_entered_at: Timestamp,
    pub job_id: JobId,
    pub job_name: String,
    pub updated_at: Timestamp,
}

/// What narrows the list of all candidates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllCandidatesFilter {
    pub times: TimeFilter,
    pub job_id: Option<JobId>,
    pub person_id: Option<PersonId>,
    pub stage_id: Option<StageId>,
    /// The spellings of a stage's name, of which there is at least one.
    pub stage_names: Option<Vec<String>>,
    pub is_rejected: Option<bool>,
    pub entered_stage_after: Option<Timestamp>,
    pub entered_stage_before: Option<Timestamp>,
    pub q: Option<Question>,
}

/// The candidates of all jobs. Which ones a page has is found out first, so that what is shown of
/// them is read for no others.
pub async fn list_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &AllCandidatesFilter,
    page: &Page<id::Candidate>,
) -> Result<PageResult<CandidateOnJob>, StoreError> {
    let wanted = wanted(tx, workspace, filter.q.as_ref());
    let mut conditions = Conditions::new("c.workspace_id = ?1", vec![workspace.into()]);
    conditions.filter_times("c", &filter.times);
    if let Some(job) = filter.job_id {
        conditions.filter("c.job_id = {}", job);
    }
    if let Some(person) = filter.person_id {
        conditions.filter("c.person_id = {}", person);
    }
    if let Some(stage) = filter.stage_id {
        conditions.filter("c.stage_id = {}", stage);
    }
    if let Some(moment) = filter.entered_stage_after {
        conditions.filter("c.stage_entered_at > {}", moment);
    }
    if let Some(moment) = filter.entered_stage_before {
        conditions.filter("c.stage_entered_at < {}", moment);
    }
    let mut tables = "FROM candidate c".to_owned();
    if filter.stage_names.is_some() || filter.is_rejected.is_some() {
        tables.push_str(
            " JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = \
            c.job_id AND s.id = c.stage_id",
        );
    }
    if let Some(names) = &filter.stage_names {
        conditions.filter_among("s.name", names);
    }
    if let Some(is_rejected) = filter.is_rejected {
        conditions.filter("s.is_rejection_stage = {}", is_rejected);
    }
    if let Some(wanted) = &wanted {
        conditions.filter(&wanted.condition(tx, "c.person_id"), wanted.text());
    }
    let from = ("SELECT c.id", tables.as_str(), "c");
    let PageResult { records, total, more } = range_counts::list_by_id(
        tx,
        workspace,
        range_counts::List::Candidates,
        page,
        conditions,
        from,
        |row| row.id::<id::Candidate>(0),
    )
    .await?;
    let mut records = on_jobs(tx, workspace, &records).await?;
    if page.order == Order::NewestFirst {
        records.reverse();
    }
    Ok(PageResult { records, total, more })
}

/// The candidates with these ids, in the order of their ids.
async fn on_jobs(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[CandidateId],
) -> Result<Vec<CandidateOnJob>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut conditions = Conditions::new("c.workspace_id = ?1", vec![workspace.into()]);
    conditions.filter_among("c.id", ids.iter().copied());
    let sql = format!(
        "SELECT {ITEM}, s.name, c.stage_entered_at, c.job_id, j.name, c.updated_at FROM candidate \
         c{PERSON} \
         JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = c.job_id AND \
         s.id = c.stage_id \
         JOIN job j ON j.workspace_id = c.workspace_id AND j.id = c.job_id WHERE {} ORDER BY c.id",
        conditions.sql()
    );
    let on_job = |row: &Row<'_>| {
        Ok(CandidateOnJob {
            item: item(row)?,
            stage_name: row.text(8)?,
            stage_entered_at: row.time(9)?,
            job_id: row.id(10)?,
            job_name: row.text(11)?,
            updated_at: row.time(12)?,
        })
    };
    tx.rows(&sql, conditions.params(), on_job).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    person: PersonId,
) -> Result<Option<CandidateId>, StoreError> {
    let asked = ask(tx, workspace, job, person).await?;
    Ok(tx.answer(asked).await?.pop())
}

/// Asks for the person's candidate on the job.
pub async fn ask(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    person: PersonId,
) -> Result<Asked<CandidateId>, StoreError> {
    let sql = "SELECT id FROM candidate WHERE workspace_id = ?1 AND person_id = ?2 AND job_id = ?3";
    tx.ask(sql, params![workspace, person, job], |row| row.id(0)).await
}

/// The candidate as rules work on it, kept from others until they are done: its job and its stage.
#[derive(Clone, Debug)]
pub struct CandidatePlace {
    pub job_id: JobId,
    pub stage_id: StageId,
    pub entered_at: Timestamp,
}

const PLACE: &str =
    "SELECT job_id, stage_id, stage_entered_at FROM candidate WHERE workspace_id = ?1 AND id = ?2";

fn place_part(row: &Row<'_>) -> Result<CandidatePlace, StoreError> {
    Ok(CandidatePlace { job_id: row.id(0)?, stage_id: row.id(1)?, entered_at: row.time(2)? })
}

pub async fn place(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Option<CandidatePlace>, StoreError> {
    tx.row_for_update(PLACE, params![workspace, id], place_part).await
}

/// Those of the candidates that nobody else changes at the moment, in the order of their ids.
pub async fn free_places(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[CandidateId],
) -> Result<Vec<(CandidateId, CandidatePlace)>, StoreError> {
    let lock = if tx.is_embedded() { "" } else { " FOR NO KEY UPDATE SKIP LOCKED" };
    let sql = format!(
        "SELECT job_id, stage_id, stage_entered_at, id FROM candidate WHERE workspace_id = ?1 AND \
         {} ORDER BY id{lock}",
        among(tx, "id", "?2")
    );
    let places = tx
        .rows(&sql, params![workspace, &list_of_ids(tx, ids)], |row| {
            Ok((row.id(3)?, place_part(row)?))
        })
        .await?;
    tx.refresh_now_after_lock();
    Ok(places)
}

/// Asks for the same. Who asks for several asks for the lowest id first.
pub async fn ask_place(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Asked<CandidatePlace>, StoreError> {
    tx.ask_for_update(PLACE, params![workspace, id], place_part).await
}

/// Asks for the candidate's person, with the name, and how many stages the candidate has entered.
pub async fn ask_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Asked<(PersonId, String, i64)>, StoreError> {
    let sql = "SELECT p.id, p.name, (SELECT COALESCE(MAX(h.number), 0) FROM stage_entry h WHERE \
               h.workspace_id = ?1 AND h.candidate_id = ?2) \
               FROM candidate c JOIN person p ON p.workspace_id = c.workspace_id AND p.id = \
               c.person_id \
               WHERE c.workspace_id = ?1 AND c.id = ?2";
    tx.ask(sql, params![workspace, id], |row| Ok((row.id(0)?, row.text(1)?, row.int(2)?))).await
}

/// Asks for the name of a person, and for their candidate on the job if they have one.
pub async fn ask_of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    person: PersonId,
) -> Result<Asked<(String, Option<CandidateId>)>, StoreError> {
    let sql = "SELECT p.name, c.id FROM person p \
               LEFT JOIN candidate c ON c.workspace_id = p.workspace_id AND c.person_id = p.id \
               AND c.job_id = ?3 \
               WHERE p.workspace_id = ?1 AND p.id = ?2";
    tx.ask(sql, params![workspace, person, job], |row| Ok((row.text(0)?, row.optional_id(1)?)))
        .await
}

/// Where a candidate is, and the stages that it entered, the oldest first.
#[derive(Clone, Debug)]
pub struct History {
    pub stage_id: StageId,
    pub entries: Vec<(StageId, Timestamp)>,
}

/// The histories of the candidates of a job whose places are behind `after` and not behind `until`.
pub async fn histories(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    after: i64,
    until: i64,
) -> Result<Vec<History>, StoreError> {
    let sql = "SELECT c.id, c.stage_id, h.stage_id, h.entered_at FROM candidate c \
               JOIN stage_entry h ON h.workspace_id = c.workspace_id AND h.candidate_id = c.id \
               WHERE c.workspace_id = ?1 AND c.job_id = ?2 AND c.position > ?3 AND c.position <= \
               ?4 ORDER BY c.position, h.number";
    let mut histories: Vec<History> = Vec::new();
    let mut last: Option<CandidateId> = None;
    tx.rows(sql, params![workspace, job, after, until], |row| {
        let id = row.id(0)?;
        if last != Some(id) {
            last = Some(id);
            histories.push(History { stage_id: row.id(1)?, entries: Vec::new() });
        }
        if let Some(history) = histories.last_mut() {
            history.entries.push((row.id(2)?, row.time(3)?));
        }
        Ok(())
    })
    .await?;
    Ok(histories)
}

/// The job that the candidate is on.
pub async fn job_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Option<JobId>, StoreError> {
    tx.row(
        "SELECT job_id FROM candidate WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
        |row| row.id(0),
    )
    .await
}

/// Removes the candidate with its history. The job must be kept from others meanwhile.
pub async fn remove(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: CandidateId,
) -> Result<(), StoreError> {
    range_counts::removed(tx, workspace, range_counts::List::Candidates, id).await?;
    position_gaps::leave(tx, workspace, job, id).await?;
    tx.execute_deferred(
        "DELETE FROM stage_entry WHERE workspace_id = ?1 AND candidate_id = ?2",
        params![workspace, id],
    )
    .await?;
    tx.execute_deferred(
        "DELETE FROM candidate WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
    )
    .await?;
    job::count_candidate_off(tx, workspace, job).await
}
