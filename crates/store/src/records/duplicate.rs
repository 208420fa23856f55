//! Persons as they are compared with each other.

use slated_model::contact::{Channel, Contacts};
use slated_model::duplicate::{MatchSignal, Profile};
use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::IdentifierKind;
use slated_model::social::SocialProfile;

use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::search::documents::{Wanted, having};
use crate::records::statement::Values;
use crate::records::{places, with_ids};
use crate::tx::{Asked, Tx};

/// Names and contacts with one sign that are worth looking at: more than those are who are
/// compared, with all of their contacts.
const MAX_SHARING: i64 = 1100;

const SELECT: &str = "SELECT p.id, p.name, p.social_url, p.social_public_id, p.current_job_title, \
     p.company_id, employer.name, p.emails, p.phones \
     FROM person p LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND \
     employer.id = p.company_id";

fn profile(row: &Row<'_>) -> Result<Profile, StoreError> {
    Ok(Profile {
        id: row.id(0)?,
        name: row.text(1)?,
        social: SocialProfile { url: row.text(2)?, handle: row.text(3)? },
        current_job_title: row.text(4)?,
        company_id: row.optional_id(5)?,
        company_name: row.optional_text(6)?.unwrap_or_default(),
        emails: Contacts::from_stored(Channel::Email, row.json_str(7)?),
        phones: Contacts::from_stored(Channel::Phone, row.json_str(8)?),
    })
}

/// Some persons in the order of their ids, from one on.
pub async fn profiles_from(
    tx: &mut Tx,
    workspace: WorkspaceId,
    first: PersonId,
    limit: i64,
) -> Result<Vec<Profile>, StoreError> {
    let sql = format!("{SELECT} WHERE p.workspace_id = ?1 AND p.id >= ?2 ORDER BY p.id LIMIT ?3");
    tx.rows(&sql, params![workspace, first, limit], profile).await
}

/// Those of the persons who are there.
pub async fn profiles(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[PersonId],
) -> Result<Vec<Profile>, StoreError> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(100) {
        let sql =
            format!("{SELECT} WHERE p.workspace_id = ?1 AND p.id IN ({})", places(some.len(), 2));
        found.extend(tx.rows(&sql, &with_ids(workspace, some), profile).await?);
    }
    Ok(found)
}

/// The persons who have each of the signs, perhaps twice; some of them if there are very many.
pub async fn sharing(
    tx: &mut Tx,
    workspace: WorkspaceId,
    signs: &[MatchSignal],
) -> Result<Vec<Vec<PersonId>>, StoreError> {
    let mut asked = Vec::with_capacity(signs.len());
    for sign in signs {
        asked.push(ask_sharing(tx, workspace, sign).await?);
    }
    let mut found = Vec::with_capacity(signs.len());
    for asked in asked {
        found.push(tx.answer(asked).await?);
    }
    Ok(found)
}

async fn ask_sharing(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sign: &MatchSignal,
) -> Result<Asked<PersonId>, StoreError> {
    match sign {
        MatchSignal::Phone(number) => {
            let wanted = Wanted::phone(tx, workspace, number);
            let mut values = Values::new(workspace);
            let sql =
                format!("{} LIMIT {MAX_SHARING}", having(tx, "d.person_id", &wanted, &mut values));
            tx.ask(&sql, values.params(), |row| row.id(0)).await
        }
        MatchSignal::NameAtCompany(name, company) => {
            let sql = format!(
                "SELECT id FROM person WHERE workspace_id = ?1 AND company_id = ?2 AND name_key = \
                 ?3 LIMIT {MAX_SHARING}"
            );
            tx.ask(&sql, params![workspace, *company, name], |row| row.id(0)).await
        }
        MatchSignal::Identifier(identifier) => {
            let sql = format!(
                "SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 \
                 AND key = ?3 ORDER BY rank LIMIT {MAX_SHARING}"
            );
            tx.ask(&sql, params![workspace, identifier.kind as i64, &identifier.key], |row| {
                row.id(0)
            })
            .await
        }
        // Identities and addresses that begin with the handle and a slash or an @ are those before
        // the handle with what comes next.
        MatchSignal::Handle(handle) => {
            let sql = format!(
                "SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND kind = {} \
                 AND key >= ?2 AND key < ?3 \
                 UNION ALL SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND \
                 kind = {} AND key >= ?4 AND key < ?5 \
                 LIMIT {MAX_SHARING}",
                IdentifierKind::SocialProfile as i64,
                IdentifierKind::Email as i64
            );
            let [slash, behind_slash, at, behind_at] =
                ['/', '0', '@', 'A'].map(|next| format!("{handle}{next}"));
            tx.ask(&sql, params![workspace, &slash, &behind_slash, &at, &behind_at], |row| {
                row.id(0)
            })
            .await
        }
    }
}
