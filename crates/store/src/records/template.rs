use slated_model::id::{TemplateId, WorkspaceId};
use slated_model::stage::NewStage;
use slated_model::template::Template;
use slated_model::text::comparison_key;

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::to_json;
use crate::tx::{Asked, Tx};

const COLUMNS: &str = "id, name, is_default, stages, created_at, updated_at";

fn template(row: &Row<'_>) -> Result<Template, StoreError> {
    Ok(Template {
        id: row.id(0)?,
        name: row.text(1)?,
        is_default: row.flag(2)?,
        stages: row.json(3)?,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
    })
}

/// Puts the template behind all others of the workspace.
pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    template: &Template,
) -> Result<(), StoreError> {
    let Template { id, name, is_default, stages, created_at, updated_at } = template;
    // Looked up by itself: where tables are spread over machines, the values of an insert may not
    // look anything up.
    let sql =
        "SELECT COALESCE(MAX(position), 0) + 1 FROM pipeline_template WHERE workspace_id = ?1";
    let position = tx.row(sql, params![workspace], |row| row.int(0)).await?.unwrap_or(1);
    let sql = "INSERT INTO pipeline_template (workspace_id, id, name, name_key, position, \
               is_default, stages, created_at, updated_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let stages = to_json(stages)?;
    tx.execute_deferred(
        sql,
        params![
            workspace,
            *id,
            name,
            &comparison_key(name),
            position,
            *is_default,
            Param::Json(&stages),
            *created_at,
            *updated_at
        ],
    )
    .await
}

pub async fn update(
    tx: &mut Tx,
    workspace: WorkspaceId,
    template: &Template,
) -> Result<(), StoreError> {
    let Template { id, name, is_default, stages, created_at: _, updated_at } = template;
    let sql = "UPDATE pipeline_template SET name = ?3, name_key = ?4, is_default = ?5, stages = \
               ?6, updated_at = ?7 \
               WHERE workspace_id = ?1 AND id = ?2";
    let stages = to_json(stages)?;
    tx.execute_deferred(
        sql,
        params![
            workspace,
            *id,
            name,
            &comparison_key(name),
            *is_default,
            Param::Json(&stages),
            *updated_at
        ],
    )
    .await
}

pub async fn remove(tx: &mut Tx, workspace: WorkspaceId, id: TemplateId) -> Result<(), StoreError> {
    tx.execute_deferred(
        "DELETE FROM pipeline_template WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
    )
    .await
}

/// The templates of the workspace, in the order in which they were made.
pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Template>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM pipeline_template WHERE workspace_id = ?1 ORDER BY position, id"
    );
    tx.rows(&sql, params![workspace], template).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: TemplateId,
) -> Result<Option<Template>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM pipeline_template WHERE workspace_id = ?1 AND id = ?2");
    tx.row(&sql, params![workspace, id], template).await
}

/// Asks for the pipeline of the default template.
pub async fn ask_default(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Asked<Vec<NewStage>>, StoreError> {
    let sql = "SELECT stages FROM pipeline_template WHERE workspace_id = ?1 AND is_default = ?2";
    tx.ask(sql, params![workspace, true], |row| row.json(0)).await
}
