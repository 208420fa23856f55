//! Asking for the enrichment of one person, and looking at how far it has come.

use slated_model::id::{PersonId, ProposalId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::enrichment::Enrichment;
use slated_store::records::{enrichment, proposal};
use slated_store::{Operation, OperationError, Tx};

use super::ask_for;
use super::proposals::MAX_SHOWN;
use crate::Actor;
use crate::persons::resolve_merged;

/// An enrichment with the proposals that came of it.
pub struct EnrichmentShown {
    pub enrichment: Enrichment,
    pub proposals: Vec<ProposalId>,
}

async fn shown(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<EnrichmentShown, OperationError> {
    let unasked = || {
        Problem::new(
            ErrorCode::NotFound,
            format!("Enrichment of person {person} was never requested; request it with POST."),
        )
    };
    let enrichment = enrichment::find(tx, workspace, person).await?.ok_or_else(unasked)?;
    let proposals = proposal::of_person(tx, workspace, person, MAX_SHOWN).await?;
    let proposals = enrichment.those_that_came_of_it(&proposals);
    Ok(EnrichmentShown { enrichment, proposals })
}

/// Puts the person into the queue.
pub struct RequestEnrichment {
    pub actor: Actor,
    pub id: PersonId,
    /// Answers that are kept do not count.
    pub refresh: bool,
}

impl Operation for RequestEnrichment {
    type Output = EnrichmentShown;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<EnrichmentShown, OperationError> {
        let workspace = self.actor.workspace;
        let person = resolve_merged::load(tx, workspace, self.id).await?.id;
        ask_for(tx, workspace, person, self.refresh).await?;
        shown(tx, workspace, person).await
    }
}

pub struct ReadEnrichment {
    pub workspace: WorkspaceId,
    pub id: PersonId,
}

impl Operation for ReadEnrichment {
    type Output = EnrichmentShown;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<EnrichmentShown, OperationError> {
        let person = resolve_merged::current(tx, self.workspace, self.id).await?;
        shown(tx, self.workspace, person).await
    }
}
