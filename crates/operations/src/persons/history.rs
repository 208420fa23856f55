//! Writing a person's career history.

use slated_model::career::CareerPatch;
use slated_model::id::{PersonId, WorkspaceId};
use slated_model::problem::{FieldError, FieldErrorCode, Problem};
use slated_store::records::person::PersonView;
use slated_store::records::{company, person};
use slated_store::{Operation, OperationError, Tx};

use crate::etag::Precondition;
use crate::persons::resolve_merged;
use crate::search::index;
use crate::{Actor, emit};

pub struct ReplaceHistory {
    pub actor: Actor,
    pub id: PersonId,
    pub career: CareerPatch,
    pub precondition: Precondition,
}

impl Operation for ReplaceHistory {
    type Output = PersonView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PersonView, OperationError> {
        let workspace = self.actor.workspace;
        let id = resolve_merged::load(tx, workspace, self.id).await?.id;
        let before = resolve_merged::view(tx, workspace, id).await?;
        if self.precondition.needs_tag() {
            self.precondition.check(&before)?;
        }
        self.check_companies(tx).await?;
        if !person::differs(&before, &self.career)? {
            return Ok(before);
        }
        person::replace_career(tx, workspace, id, &self.career).await?;
        index::refresh(tx, workspace, id).await?;
        let after = resolve_merged::view(tx, workspace, id).await?;
        emit::history_replaced(tx, &self.actor, &before, &after).await?;
        Ok(after)
    }
}

impl ReplaceHistory {
    async fn check_companies(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let named: Vec<_> =
            self.career.companies.iter().filter_map(|named| named.company.id).collect();
        let existing = company::existing(tx, self.actor.workspace, &named).await?;
        let unknown: Vec<_> = self
            .career
            .companies
            .iter()
            .filter(|named| named.company.id.is_none_or(|id| !existing.contains(&id)))
            .map(|named| {
                FieldError::new(
                    &named.field,
                    FieldErrorCode::NotFound,
                    format!("There is no company {}.", named.company.written),
                )
            })
            .collect();
        match unknown.first() {
            None => Ok(()),
            Some(first) => Err(Problem {
                code: slated_model::problem::ErrorCode::NotFound,
                message: first.message.clone(),
                details: unknown,
            }
            .into()),
        }
    }
}
