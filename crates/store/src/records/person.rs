use std::fmt::Write;
use std::sync::LazyLock;

use slated_model::career::CareerPatch;
use slated_model::clock::Timestamp;
use slated_model::contact::{Channel, Contacts};
use slated_model::id::{CandidateId, CompanyId, JobId, PersonId, StageId, WorkspaceId};
use slated_model::name::PersonName;
use slated_model::patch::Patch;
use slated_model::person::Person;
use slated_model::social::SocialProfile;
use slated_model::text::comparison_key;

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::person_rowid::free_place;
use crate::records::statement::{among, list_of_ids};
use crate::records::{field_order, places, range_counts, to_json, with_ids};
use crate::tx::Tx;

/// All that a read of a person shows. What is kept as JSON stays text.
#[derive(Clone, Hash, Debug)]
pub struct PersonView {
    pub id: PersonId,
    pub version: i64,
    pub name: String,
    pub social_public_id: String,
    pub first_name: String,
    pub last_name: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub external_source_id: Option<String>,
    pub emails: String,
    pub phones: String,
    pub work_experience: String,
    pub education_experience: String,
    pub certifications: String,
    pub jobs: Vec<PersonJob>,
}

/// A job that the person is a candidate of.
#[derive(Clone, Hash, Debug)]
pub struct PersonJob {
    pub candidate_id: CandidateId,
    pub job_name: String,
    pub job_id: JobId,
    pub client_company_name: String,
    pub stage_name: String,
    pub stage_id: StageId,
}

/// Reads a person with all their jobs: a row for each job, or one without.
macro_rules! view_where {
    ($condition:literal) => {
        concat!(
            "SELECT p.version, p.name, p.social_public_id, p.first_name, p.last_name, \
             p.current_job_title, employer.name, p.company_id, \
             p.external_source_id, p.emails, p.phones, p.work_experience, p.education_experience, \
             p.certifications, \
             c.id, j.name, j.id, client.name, s.name, s.id \
             FROM person p \
             LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id \
             = p.company_id \
             LEFT JOIN candidate c ON c.workspace_id = p.workspace_id AND c.person_id = p.id \
             LEFT JOIN job j ON j.workspace_id = c.workspace_id AND j.id = c.job_id \
             LEFT JOIN company client ON client.workspace_id = j.workspace_id AND client.id = \
             j.company_id \
             LEFT JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = \
             c.job_id AND s.id = c.stage_id \
             WHERE ",
            $condition
        )
    };
}

/// Reads the person `?2` of the workspace `?1`.
pub const VIEW: &str = view_where!("p.workspace_id = ?1 AND p.id = ?2");
/// The same without a look at an index, if they stand at their [place](super::person_rowid).
const VIEW_AT_PLACE: &str =
    view_where!("p.rowid = place_of(?2) AND p.workspace_id = ?1 AND p.id = ?2");

/// The person with all their jobs, in one statement.
pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Option<PersonView>, StoreError> {
    if tx.is_embedded()
        && let Some(view) = read_view(tx, VIEW_AT_PLACE, workspace, id).await?
    {
        return Ok(Some(view));
    }
    read_view(tx, VIEW, workspace, id).await
}

async fn read_view(
    tx: &mut Tx,
    sql: &str,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Option<PersonView>, StoreError> {
    let mut view: Option<PersonView> = None;
    tx.rows(sql, params![workspace, id], |row| {
        let view = match &mut view {
            Some(view) => view,
            None => view.insert(person_part(row, id)?),
        };
        if !row.is_null(14)? {
            view.jobs.push(job_part(row)?);
        }
        Ok(())
    })
    .await?;
    if let Some(view) = &mut view {
        view.jobs.sort_unstable_by_key(|job| job.candidate_id);
    }
    Ok(view)
}

fn person_part(row: &Row<'_>, id: PersonId) -> Result<PersonView, StoreError> {
    Ok(PersonView {
        id,
        version: row.int(0)?,
        name: row.text(1)?,
        social_public_id: row.text(2)?,
        first_name: row.text(3)?,
        last_name: row.text(4)?,
        current_job_title: row.text(5)?,
        company_name: row.optional_text(6)?,
        company_id: row.optional_id(7)?,
        external_source_id: row.optional_text(8)?,
        emails: row.json_text(9, field_order::contacts)?,
        phones: row.json_text(10, field_order::contacts)?,
        work_experience: row.json_text(11, field_order::work_experience)?,
        education_experience: row.json_text(12, field_order::education_experience)?,
        certifications: row.json_text(13, field_order::certifications)?,
        jobs: Vec::new(),
    })
}

fn job_part(row: &Row<'_>) -> Result<PersonJob, StoreError> {
    Ok(PersonJob {
        candidate_id: row.id(14)?,
        job_name: row.text(15)?,
        job_id: row.id(16)?,
        client_company_name: row.text(17)?,
        stage_name: row.text(18)?,
        stage_id: row.id(19)?,
    })
}

/// What search looks at of a person.
#[derive(Clone, Debug)]
pub struct SearchSource {
    pub person: Person,
    pub company_name: String,
    pub work_experience: serde_json::Value,
    pub education_experience: serde_json::Value,
    pub certifications: serde_json::Value,
}

pub async fn search_sources(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<SearchSource>, StoreError> {
    let sql = format!(
        "SELECT {FIELDS}, employer.name, p.work_experience, p.education_experience, \
         p.certifications \
         FROM person p LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND \
         employer.id = p.company_id \
         WHERE p.workspace_id = ?1 AND p.id IN ({})",
        places(ids.len(), 2)
    );
    tx.rows(&sql, &with_ids(workspace, ids), search_source).await
}

/// Of a row with [`FIELDS`], the name of the company and the career.
fn search_source(row: &Row<'_>) -> Result<SearchSource, StoreError> {
    Ok(SearchSource {
        person: person_of(row)?,
        company_name: row.optional_text(14)?.unwrap_or_default(),
        work_experience: row.json(15)?,
        education_experience: row.json(16)?,
        certifications: row.json(17)?,
    })
}

/// The career of a person, as JSON.
pub async fn career(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT work_experience, education_experience, certifications FROM person WHERE \
        workspace_id = ?1 AND id = ?2";
    let lists = |row: &Row<'_>| {
        Ok(vec![
            row.json_text(0, field_order::work_experience)?,
            row.json_text(1, field_order::education_experience)?,
            row.json_text(2, field_order::certifications)?,
        ])
    };
    Ok(tx.row(sql, params![workspace, id], lists).await?.unwrap_or_default())
}

pub async fn name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Option<String>, StoreError> {
    tx.row(
        "SELECT name FROM person WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
        |row| row.text(0),
    )
    .await
}

/// What is kept of a person and shown only when it is asked for.
#[derive(Clone, Hash, Debug)]
pub struct PersonDetails {
    pub social_url: String,
    pub social_location: String,
    pub social_headline: String,
    pub address: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

pub async fn details(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Option<PersonDetails>, StoreError> {
    let sql = "SELECT social_url, social_location, social_headline, address, created_at, \
               updated_at FROM person \
               WHERE workspace_id = ?1 AND id = ?2";
    tx.row(sql, params![workspace, id], |row| {
        Ok(PersonDetails {
            social_url: row.text(0)?,
            social_location: row.text(1)?,
            social_headline: row.text(2)?,
            address: row.text(3)?,
            created_at: row.time(4)?,
            updated_at: row.time(5)?,
        })
    })
    .await
}

/// The names of those of the persons who are there.
pub async fn names(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<(PersonId, String)>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT id, name FROM person WHERE workspace_id = ?1 AND id IN ({})",
        places(ids.len(), 2)
    );
    tx.rows(&sql, &with_ids(workspace, ids), |row| Ok((row.id(0)?, row.text(1)?))).await
}

/// Notes that something that belongs to the person changed.
pub async fn touch(tx: &mut Tx, workspace: WorkspaceId, id: PersonId) -> Result<(), StoreError> {
    let sql = "UPDATE person SET version = version + 1, updated_at = ?3 WHERE workspace_id = ?1 \
        AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, tx.now()]).await
}

/// Removes a person whom nothing points at any more.
pub async fn remove(tx: &mut Tx, workspace: WorkspaceId, id: PersonId) -> Result<(), StoreError> {
    range_counts::removed(tx, workspace, range_counts::List::Persons, id).await?;
    tx.execute_deferred(
        "DELETE FROM person WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
    )
    .await
}

/// Keeps others from removing the person until this work is done; says whether they are there
/// still.
pub async fn lock_key_share(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<bool, StoreError> {
    match tx.is_embedded() {
        true => Ok(true),
        false => {
            let sql = "SELECT id FROM person WHERE workspace_id = ?1 AND id = ?2 FOR KEY SHARE";
            Ok(tx.row(sql, params![workspace, id], |_| Ok(())).await?.is_some())
        }
    }
}

/// Keeps others even from pointing at a person who is to be removed, until this work is done.
/// Before it holds anything else: whoever points at them may want that next.
pub async fn lock_for_delete(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    let sql = "SELECT id FROM person WHERE workspace_id = ?1 AND id = ?2 FOR UPDATE";
    tx.row(sql, params![workspace, id], |_| Ok(())).await?;
    tx.refresh_now_after_lock();
    Ok(())
}

/// Keeps those of the persons who are there from others until this work is done, in the order of
/// their ids; says who they are.
pub async fn lock_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<PersonId>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let lock = if tx.is_embedded() { "" } else { " FOR NO KEY UPDATE" };
    let sql = format!(
        "SELECT id FROM person WHERE workspace_id = ?1 AND id IN ({}) ORDER BY id{lock}",
        places(ids.len(), 2)
    );
    tx.rows(&sql, &with_ids(workspace, ids), |row| row.id(0)).await
}

/// The fields of a person that rules work on.
const FIELDS: &str = "p.id, p.name, p.first_name, p.last_name, p.social_url, p.social_public_id, \
                      p.current_job_title, p.company_id, \
                      p.social_location, p.social_headline, p.address, p.external_source_id, \
                      p.emails, p.phones";

/// The person of a row that begins with [`FIELDS`].
fn person_of(row: &Row<'_>) -> Result<Person, StoreError> {
    Ok(Person {
        id: row.id(0)?,
        name: PersonName { whole: row.text(1)?, first: row.text(2)?, last: row.text(3)? },
        social: SocialProfile { url: row.text(4)?, handle: row.text(5)? },
        current_job_title: row.text(6)?,
        company_id: row.optional_id(7)?,
        social_location: row.text(8)?,
        social_headline: row.text(9)?,
        address: row.text(10)?,
        external_source_id: row.optional_text(11)?,
        emails: Contacts::from_stored(Channel::Email, row.json_str(12)?),
        phones: Contacts::from_stored(Channel::Phone, row.json_str(13)?),
    })
}

/// The person as rules work on it, kept from others until they are done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Option<Person>, StoreError> {
    tx.row_for_update(&by_id(), params![workspace, id], person_of).await
}

/// The same of all of them who are there, in that order.
pub async fn load_each(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: impl IntoIterator<Item = PersonId>,
) -> Result<Vec<Person>, StoreError> {
    let mut asked = Vec::new();
    for id in ids {
        asked.push(tx.ask_for_update(&by_id(), params![workspace, id], person_of).await?);
    }
    let mut loaded = Vec::with_capacity(asked.len());
    for person in asked {
        loaded.extend(tx.answer(person).await?);
    }
    tx.refresh_now_after_lock();
    Ok(loaded)
}

/// The persons of a list whom nobody else changes at the moment, kept from others until this work
/// is done, with all that search looks at of them but the name of their company.
pub async fn load_skip_locked(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<SearchSource>, StoreError> {
    let lock = if tx.is_embedded() { "" } else { " FOR NO KEY UPDATE SKIP LOCKED" };
    let sql = format!(
        "SELECT {FIELDS}, NULL, p.work_experience, p.education_experience, p.certifications FROM \
         person p \
         WHERE p.workspace_id = ?1 AND {} ORDER BY p.id{lock}",
        among(tx, "p.id", "?2")
    );
    let found = tx.rows(&sql, params![workspace, &list_of_ids(tx, ids)], search_source).await?;
    tx.refresh_now_after_lock();
    Ok(found)
}

fn by_id() -> String {
    format!("SELECT {FIELDS} FROM person p WHERE p.workspace_id = ?1 AND p.id = ?2")
}

/// What is kept of a person in another form than that in which rules work on it.
struct Kept {
    name_key: String,
    emails: String,
    phones: String,
}

impl Kept {
    fn of(person: &Person) -> Result<Self, StoreError> {
        Ok(Self {
            name_key: comparison_key(&person.name.whole),
            emails: to_json(&person.emails.entries())?,
            phones: to_json(&person.phones.entries())?,
        })
    }
}

/// The columns of a person's fields, in the order in which they are inserted.
fn columns<'p>(person: &'p Person, kept: &'p Kept) -> [(&'static str, Param<'p>); 14] {
    let Person {
        id: _,
        name,
        social,
        current_job_title,
        company_id,
        social_location,
        social_headline,
        address,
        external_source_id,
        emails: _,
        phones: _,
    } = person;
    [
        ("name", (&name.whole).into()),
        ("name_key", (&kept.name_key).into()),
        ("first_name", (&name.first).into()),
        ("last_name", (&name.last).into()),
        ("current_job_title", current_job_title.into()),
        ("company_id", (*company_id).into()),
        ("social_public_id", (&social.handle).into()),
        ("social_url", (&social.url).into()),
        ("social_location", social_location.into()),
        ("social_headline", social_headline.into()),
        ("address", address.into()),
        ("external_source_id", external_source_id.as_deref().into()),
        ("emails", Param::Json(&kept.emails)),
        ("phones", Param::Json(&kept.phones)),
    ]
}

static INSERT: LazyLock<String> = LazyLock::new(|| insertion("", ""));
static INSERT_AT_PLACE: LazyLock<String> =
    LazyLock::new(|| insertion(", rowid", &format!(", {}", free_place("?2"))));

fn insertion(last_column: &str, last_value: &str) -> String {
    format!(
        "INSERT INTO person (workspace_id, id, version, created_at, updated_at, name, name_key, \
         first_name, last_name, current_job_title, company_id, \
         social_public_id, social_url, social_location, social_headline, address, \
         external_source_id, emails, phones{last_column}) \
         VALUES (?1, ?2, 1, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
         ?17{last_value})"
    )
}

/// Keeps a new person. Their id says when they were made, so that lists by that time go by ids.
pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: &Person,
) -> Result<(), StoreError> {
    let sql = if tx.is_embedded() { &*INSERT_AT_PLACE } else { &*INSERT };
    let kept = Kept::of(person)?;
    let mut params = vec![workspace.into(), person.id.into(), person.id.moment().into()];
    params.extend(columns(person, &kept).into_iter().map(|(_, value)| value));
    tx.execute_deferred(sql, &params).await?;
    range_counts::added(tx, workspace, range_counts::List::Persons, person.id).await
}

/// Keeps what changed of a person. Nothing else is mentioned: an engine writes an index anew if one
/// of its columns is, changed or not.
pub async fn update(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: &Person,
    after: &Person,
) -> Result<(), StoreError> {
    let (was, is) = (Kept::of(before)?, Kept::of(after)?);
    let mut sql = String::from("UPDATE person SET version = version + 1, updated_at = ?3");
    let mut params = vec![workspace.into(), after.id.into(), tx.now().into()];
    for ((_, old), (column, value)) in columns(before, &was).into_iter().zip(columns(after, &is)) {
        if old != value {
            params.push(value);
            let _ = write!(sql, ", {column} = ?{}", params.len());
        }
    }
    sql.push_str(" WHERE workspace_id = ?1 AND id = ?2");
    tx.execute_deferred(&sql, &params).await
}

/// Whether any of the lists that are given differs from what is kept.
pub fn differs(kept: &PersonView, career: &CareerPatch) -> Result<bool, StoreError> {
    let work = list_json(&career.work_experience)?;
    let education = list_json(&career.education_experience)?;
    let certifications = list_json(&career.certifications)?;
    let pairs = [
        (work, &kept.work_experience),
        (education, &kept.education_experience),
        (certifications, &kept.certifications),
    ];
    Ok(pairs.iter().any(|(given, kept)| given.as_ref().is_some_and(|given| given != *kept)))
}

/// Puts the lists that are given in the place of those that are kept.
pub async fn replace_career(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
    career: &CareerPatch,
) -> Result<(), StoreError> {
    let work = list_json(&career.work_experience)?;
    let education = list_json(&career.education_experience)?;
    let certifications = list_json(&career.certifications)?;
    let sql = "UPDATE person SET version = version + 1, updated_at = ?3, work_experience = \
               COALESCE(?4, work_experience), \
               education_experience = COALESCE(?5, education_experience), certifications = \
               COALESCE(?6, certifications) \
               WHERE workspace_id = ?1 AND id = ?2";
    let lists = [work.as_deref(), education.as_deref(), certifications.as_deref()].map(Param::json);
    tx.execute_deferred(
        sql,
        &[workspace.into(), id.into(), tx.now().into(), lists[0], lists[1], lists[2]],
    )
    .await
}

fn list_json<T: serde::Serialize>(list: &Patch<Vec<T>>) -> Result<Option<String>, StoreError> {
    match list {
        Patch::Absent => Ok(None),
        Patch::Clear => Ok(Some("[]".to_owned())),
        Patch::Set(list) => to_json(list).map(Some),
    }
}
