use axum::http::StatusCode;
use serde::Serialize;
use slated_model::id::PersonId;
use slated_model::person::{Identifier, OnInvalid};
use slated_operations::persons::resolve::{Match, ResolvePerson, Resolved};
use utoipa::ToSchema;

use super::create::{CreatePersonBody, read_new_person};
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, QueryRequest};

/// The outcome that a create of the person would have.
#[derive(Serialize, ToSchema)]
pub struct Resolution {
    /// `create`: nobody has any of the identifiers. `match`: one person has. `conflict`: several
    /// have.
    #[schema(value_type = ResolutionOutcome)]
    pub outcome: &'static str,
    /// Every person that an identifier belongs to, in the order of matching.
    pub matches: Vec<MatchedPerson>,
    /// Persons who share an identifier but are different persons: their `external_source_id`, or
    /// their handle on the same network, differs.
    pub others: Vec<MatchedPerson>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ResolutionOutcome {
    Create,
    Match,
    Conflict,
}

/// A person that identifiers belong to.
#[derive(Serialize, ToSchema)]
pub struct MatchedPerson {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    /// The identifiers that belong to the person.
    pub by: Vec<MatchedBy>,
}

/// An identifier that belongs to a person.
#[derive(Serialize, ToSchema)]
pub struct MatchedBy {
    #[schema(value_type = MatchedField)]
    pub field: &'static str,
    /// The identifier in the form that is compared: a profile as its network and handle, an e-mail
    /// address in lower case.
    #[schema(example = "ada@example.com")]
    pub value: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum MatchedField {
    ExternalSourceId,
    SocialUrl,
    Emails,
}

impl From<Resolved> for Resolution {
    fn from(Resolved { matches, others }: Resolved) -> Self {
        let outcome = match matches.len() {
            0 => "create",
            1 => "match",
            _ => "conflict",
        };
        let shown = |persons: Vec<Match>| persons.into_iter().map(Into::into).collect();
        Self { outcome, matches: shown(matches), others: shown(others) }
    }
}

impl From<Match> for MatchedPerson {
    fn from(found: Match) -> Self {
        let by = |identifier: Identifier| MatchedBy {
            field: identifier.kind.field(),
            value: identifier.shown(),
        };
        Self {
            person_id: found.person_id,
            name: found.name,
            by: found.by.into_iter().map(by).collect(),
        }
    }
}

/// Check whether a person already exists
///
/// Takes the body of a create and returns the persons that it would match, without writing
/// anything: none, one, or several, which a create refuses. A key with the scope `read` is enough.
/// Jobs and clients are not looked up.
#[utoipa::path(post, path = "/v1/persons/resolve", operation_id = "resolvePerson", tag = "Persons",
    request_body = CreatePersonBody,
    extensions(("x-asks" = json!(true))),
    responses((status = 200, description = "The matching persons.", body = Envelope<Resolution>)))]
pub async fn resolve_person(QueryRequest(request): QueryRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(|fields| read_new_person(fields, OnInvalid::Refuse))?;
    let work = ResolvePerson { workspace: request.actor.workspace, new };
    let resolved = request.app.store.read_consistent(work).await?;
    Ok(answer(StatusCode::OK, Resolution::from(resolved)))
}
