//! Values of a provider that differ from what a caller wrote: made when an answer comes in, listed,
//! and decided.

use std::collections::HashMap;

use serde_json::{Map, Value};
use slated_model::career::CareerPatch;
use slated_model::enrichment::reconcile::{Current, comparable, value_of};
use slated_model::enrichment::{Field, ProposalState, value_hash};
use slated_model::id::{self, PersonId, ProposalId, WorkspaceId};
use slated_model::input::read_body;
use slated_model::listing::Page;
use slated_model::person::PersonPatch;
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::field_source::FieldSource;
use slated_store::records::pagination::PageResult;
use slated_store::records::proposal::{Proposal, Proposer};
use slated_store::records::{field_source, person, proposal};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::{current_as_read, hashed};
use crate::Actor;
use crate::etag::Precondition;
use crate::persons::history::ReplaceHistory;
use crate::persons::resolve_merged;
use crate::persons::update::UpdatePerson;

/// Proposals that are shown of one person.
pub(super) const MAX_SHOWN: i64 = 200;
/// Proposals of a person that are looked at for what was proposed before.
pub const MAX_KNOWN: i64 = 1000;

/// Proposes values of a provider for a person who is held.
pub(super) async fn propose_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    proposer: &Proposer,
    proposed: &[(Field, Value)],
) -> Result<(), StoreError> {
    if proposed.is_empty() {
        return Ok(());
    }
    let known = proposal::of_person(tx, workspace, person, MAX_KNOWN).await?;
    for (field, value) in proposed {
        propose(tx, workspace, person, proposer, &known, (*field, value)).await?;
    }
    Ok(())
}

/// Proposes a value for a person who is held, given what was proposed for them before. What waits
/// to be decided, or was rejected, is not proposed again. Gives back the proposal that has the
/// value.
pub async fn propose(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    proposer: &Proposer,
    known: &[Proposal],
    (field, value): (Field, &Value),
) -> Result<ProposalId, StoreError> {
    let before = find_before(known, proposer, field, value);
    if let Some(open) = before.filter(|before| before.state == ProposalState::Open) {
        // Somebody else says the same; whatever a caller said before does not hold any more.
        if proposer.is_caller() && open.proposer != *proposer {
            proposal::supersede_open(tx, workspace, person, field, proposer).await?;
        }
        return Ok(open.id);
    }
    proposal::supersede_open(tx, workspace, person, field, proposer).await?;
    if let Some(before) = before {
        proposal::reopen_superseded(tx, workspace, before.id).await?;
        return Ok(before.id);
    }
    let text = value.to_string();
    let new = Proposal {
        id: tx.new_id(),
        person,
        field,
        value_hash: value_hash(&text),
        value: text,
        proposer: proposer.clone(),
        state: ProposalState::Open,
        created_at: tx.now(),
        decided_at: None,
        key_id: None,
    };
    proposal::insert(tx, workspace, &new).await?;
    Ok(new.id)
}

/// The proposal that stands for the value already: one that is open, or was rejected, or that the
/// same proposer put another in the place of.
fn find_before<'k>(
    known: &'k [Proposal],
    proposer: &Proposer,
    field: Field,
    value: &Value,
) -> Option<&'k Proposal> {
    let counts = |known: &Proposal| match known.state {
        ProposalState::Open => Some(0),
        ProposalState::Rejected => Some(1),
        ProposalState::Superseded if known.proposer == *proposer => Some(2),
        ProposalState::Superseded | ProposalState::Accepted => None,
    };
    let of_value = known.iter().filter(|known| known.field == field && is_of_value(known, value));
    of_value.filter(|known| counts(known).is_some()).min_by_key(|known| counts(known))
}

/// Takes back what the provider proposed for a field of which it says something else now, or what
/// the record has.
pub(super) async fn withdraw(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    proposer: &Proposer,
    mentioned: &[Field],
    proposed: &[(Field, Value)],
) -> Result<(), StoreError> {
    let known = proposal::of_person(tx, workspace, person, MAX_KNOWN).await?;
    for open in known
        .iter()
        .filter(|known| known.state == ProposalState::Open && known.proposer == *proposer)
    {
        if mentioned.contains(&open.field) && proposed.iter().all(|(field, _)| *field != open.field)
        {
            proposal::supersede_open(tx, workspace, person, open.field, proposer).await?;
        }
    }
    Ok(())
}

/// Whether it is the same value that was proposed.
fn is_of_value(known: &Proposal, value: &Value) -> bool {
    let is_same =
        |before: Value| comparable(known.field, &before) == comparable(known.field, value);
    serde_json::from_str(&known.value).is_ok_and(is_same)
}

/// A list without the durations in it.
fn without_durations(value: &Value) -> Value {
    match value {
        Value::Array(entries) => entries.iter().map(without_durations).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "duration_in_months");
            Value::Object(
                kept.map(|(name, value)| (name.clone(), without_durations(value))).collect(),
            )
        }
        plain => plain.clone(),
    }
}

/// A proposal beside what the person has now.
pub struct ProposalShown {
    pub proposal: Proposal,
    pub current: Value,
}

async fn current_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Current, OperationError> {
    let gone = || StoreError::Conflict("the person was merged or erased meanwhile".to_owned());
    let view = person::view(tx, workspace, person).await?.ok_or_else(gone)?;
    let details = person::details(tx, workspace, person).await?.ok_or_else(gone)?;
    Ok(current_as_read(&view, &details)?)
}

async fn show(
    tx: &mut Tx,
    workspace: WorkspaceId,
    proposals: Vec<Proposal>,
) -> Result<Vec<ProposalShown>, OperationError> {
    let mut persons: HashMap<PersonId, Current> = HashMap::new();
    let mut shown = Vec::with_capacity(proposals.len());
    for proposal in proposals {
        let current = match persons.get(&proposal.person) {
            Some(person) => value_of(person, proposal.field),
            None => {
                let person = current_of(tx, workspace, proposal.person).await?;
                let current = value_of(&person, proposal.field);
                persons.insert(proposal.person, person);
                current
            }
        };
        shown.push(ProposalShown { proposal, current });
    }
    Ok(shown)
}

pub struct ListProposals {
    pub workspace: WorkspaceId,
    pub state: Option<ProposalState>,
    pub page: Page<id::Proposal>,
}

impl Operation for ListProposals {
    type Output = PageResult<ProposalShown>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let PageResult { records, total, more } =
            proposal::list(tx, self.workspace, self.state, &self.page).await?;
        Ok(PageResult { records: show(tx, self.workspace, records).await?, total, more })
    }
}

/// The proposals for a person, the newest first.
pub struct ProposalsOf {
    pub workspace: WorkspaceId,
    pub id: PersonId,
}

impl Operation for ProposalsOf {
    type Output = Vec<ProposalShown>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let person = resolve_merged::current(tx, self.workspace, self.id).await?;
        let proposals = proposal::of_person(tx, self.workspace, person, MAX_SHOWN).await?;
        show(tx, self.workspace, proposals).await
    }
}

/// Accepts a proposal or rejects it.
pub struct DecideProposal {
    pub actor: Actor,
    pub id: ProposalId,
    pub accept: bool,
}

impl Operation for DecideProposal {
    type Output = ProposalShown;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<ProposalShown, OperationError> {
        let workspace = self.actor.workspace;
        let missing = || Problem::not_found("proposal", self.id);
        let gone = || StoreError::Conflict("the person was merged or erased meanwhile".to_owned());
        let person = proposal::find(tx, workspace, self.id).await?.ok_or_else(missing)?.person;
        person::load(tx, workspace, person).await?.ok_or_else(gone)?;
        let mut decided = proposal::load(tx, workspace, self.id).await?.ok_or_else(missing)?;
        let wanted = if self.accept { ProposalState::Accepted } else { ProposalState::Rejected };
        match decided.state {
            ProposalState::Open => {}
            state if state == wanted => return self.shown(tx, decided).await,
            state => return Err(decided_before(self.id, state).into()),
        }
        if self.accept {
            self.accept(tx, &decided).await?;
        }
        proposal::decide(tx, workspace, self.id, wanted, self.actor.key).await?;
        (decided.state, decided.decided_at, decided.key_id) =
            (wanted, Some(tx.now()), self.actor.key);
        self.shown(tx, decided).await
    }
}

impl DecideProposal {
    async fn shown(
        &self,
        tx: &mut Tx,
        proposal: Proposal,
    ) -> Result<ProposalShown, OperationError> {
        let current = current_of(tx, self.actor.workspace, proposal.person).await?;
        Ok(ProposalShown { current: value_of(&current, proposal.field), proposal })
    }

    /// Writes the value as an update of the caller's would. That it came from a provider, if it
    /// did, stays known.
    async fn accept(&self, tx: &mut Tx, proposal: &Proposal) -> Result<(), OperationError> {
        let (workspace, id, field) = (self.actor.workspace, proposal.person, proposal.field);
        let value: Value = serde_json::from_str(&proposal.value)
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        let (actor, precondition) = (self.actor.clone(), Precondition::None);
        match field {
            Field::WorkExperience | Field::EducationExperience | Field::Certifications => {
                // Durations are those of today.
                let (list, today) = (without_durations(&value), tx.now().date());
                let career = read_body(&body(field.name(), list), |fields| {
                    CareerPatch::read(fields, today)
                })?;
                ReplaceHistory { actor, id, career, precondition }.run(tx).await?;
            }
            _ => {
                let name =
                    if field == Field::CurrentCompanyName { "company_name" } else { field.name() };
                let patch = read_body(&body(name, value), PersonPatch::read)?;
                UpdatePerson { actor, id, patch, precondition }.run(tx).await?;
            }
        }
        if proposal.proposer.is_caller() {
            return Ok(());
        }
        let current = current_of(tx, workspace, id).await?;
        let source = FieldSource {
            field,
            value_hash: hashed(&current, field).value_hash,
            provider: proposal.proposer.provider.clone(),
            set_at: tx.now(),
            key_id: self.actor.key,
        };
        Ok(field_source::keep(tx, workspace, id, &[source]).await?)
    }
}

/// The body of a request that says one thing.
fn body(name: &str, value: Value) -> Vec<u8> {
    Value::Object(Map::from_iter([(name.to_owned(), value)])).to_string().into_bytes()
}

fn decided_before(id: ProposalId, state: ProposalState) -> Problem {
    let message = match state {
        ProposalState::Superseded => format!(
            "The proposal {id} was superseded by a newer answer and can no longer be decided."
        ),
        _ => format!("The proposal {id} was already {}.", state.name()),
    };
    Problem::new(ErrorCode::ProposalDecided, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slated_model::clock::Timestamp;

    use super::*;

    fn proposal(field: Field, value: &Value, state: ProposalState) -> Proposal {
        let moment = Timestamp::from_millis(1_700_000_000_000);
        Proposal {
            id: ProposalId::at(moment, 1),
            person: PersonId::at(moment, 1),
            field,
            value: value.to_string(),
            value_hash: value_hash(&value.to_string()),
            proposer: Proposer::provider("people"),
            state,
            created_at: moment,
            decided_at: None,
            key_id: None,
        }
    }

    #[test]
    fn what_is_open_or_was_rejected_stands_and_one_s_own_that_was_superseded() {
        let analyst = json!("Chief Analyst");
        for (state, by_anybody, by_the_same) in [
            (ProposalState::Open, true, true),
            (ProposalState::Rejected, true, true),
            (ProposalState::Accepted, false, false),
            (ProposalState::Superseded, false, true),
        ] {
            let known = [proposal(Field::CurrentJobTitle, &analyst, state)];
            let stands = |proposer: &Proposer, field, value: &str| {
                find_before(&known, proposer, field, &json!(value)).is_some()
            };
            let (people, caller) = (Proposer::provider("people"), Proposer::caller(None));
            assert_eq!(
                stands(&caller, Field::CurrentJobTitle, "chief  analyst"),
                by_anybody,
                "{state:?}"
            );
            assert_eq!(
                stands(&people, Field::CurrentJobTitle, "chief  analyst"),
                by_the_same,
                "{state:?}"
            );
            assert!(!stands(&people, Field::CurrentJobTitle, "Analyst"), "{state:?}");
            assert!(!stands(&people, Field::SocialHeadline, "Chief Analyst"), "{state:?}");
        }
    }

    #[test]
    fn a_list_stands_whatever_the_day_is() {
        let list = |months: i64, company: Option<&str>, title: &str| {
            json!([{"positions": [{"title": title, "duration_in_months": months}],
            "company_id": company}])
        };
        let known = proposal(Field::WorkExperience, &list(3, None, "Analyst"), ProposalState::Open);
        assert!(is_of_value(&known, &list(4, Some("cmp_1"), "Analyst")));
        assert!(!is_of_value(&known, &list(3, None, "Chief Analyst")));
        assert_eq!(
            without_durations(&list(3, None, "Analyst")),
            json!([{"positions": [{"title": "Analyst"}], "company_id": null}])
        );
    }

    #[test]
    fn a_proposal_is_written_as_a_request_would_be() {
        let patch = read_body(&body("company_name", json!("Engines")), PersonPatch::read).unwrap();
        assert_eq!(patch.company_name.set().map(String::as_str), Some("Engines"));
        assert!(!patch.enrich && patch.name.is_absent());
    }
}
