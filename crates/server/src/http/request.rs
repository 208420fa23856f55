//! What a handler is given: a request whose caller may do this. The scope is in the type, so that
//! no handler can forget it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use percent_encoding::percent_decode_str;
use slated_model::digest::sha256;
use slated_model::id::{Id, KeyId, Kind, WorkspaceId};
use slated_model::input::{Fields, Query, read_body};
use slated_model::key::Scope;
use slated_model::listing::{MAX_OFFSET, Page, whole_number};
use slated_model::problem::{ErrorCode, FieldErrorCode, Problem};
use slated_operations::Actor;
use slated_operations::etag::Precondition;
use slated_operations::idempotency::{Answered, IdempotencyKey};
use slated_operations::write_batches::{Batchable, WriteBatcher};
use slated_store::{Operation, OperationError, StoreError};
use tokio::task::block_in_place;

use super::api_key_cache::{Allowance, KnownKey};
use super::app::App;
use super::body::{BodyPolicy, ReadBody, drain, json_body};
use super::error_response::ErrorResponse;
use super::peer::Peer;
use super::response::{ApiResponse, ApiResult, with_changes};
use super::shares::Share;

pub const MAX_IDEMPOTENCY_KEY_LENGTH: usize = 255;
/// A body up to this length is read within some milliseconds.
const MAX_BYTES_READ_AT_ONCE: usize = 256 * 1024;

/// The id of a request, as its answer and the log name it.
#[derive(Clone)]
pub struct RequestName(pub Arc<str>);

/// A request of a caller that may read.
pub struct ReadRequest {
    pub app: Arc<App>,
    pub workspace: WorkspaceId,
    /// The key that it came with.
    pub key: KeyId,
    parts: Parts,
}

impl FromRequest<Arc<App>> for ReadRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        Self::read_from(request, app, Scope::Read)
    }
}

impl ReadRequest {
    fn read_from(request: Request, app: &Arc<App>, needed: Scope) -> Result<Self, ErrorResponse> {
        let (parts, _) = request.into_parts();
        let caller = authorise(&parts, needed)?;
        let (workspace, key) = (caller.workspace, caller.id);
        Ok(Self { app: Arc::clone(app), workspace, key, parts })
    }

    /// Looks at one state of the data with work that may take long, when it is the caller's turn.
    pub async fn look_at_length<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        let looking = async {
            let _turn = self.app.questions.turn(self.workspace, self.key).await?;
            self.app.store.read_consistent_slow(work).await
        };
        unless_gone(&self.parts, looking).await
    }

    /// The same with work that is quick to find what it reads, and may read much.
    pub async fn look_at_much<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        let looking = async {
            let _turn = self.app.large_reads.turn(self.workspace, self.key).await?;
            self.app.store.read_consistent_large(work).await
        };
        unless_gone(&self.parts, looking).await
    }

    /// A place for an answer that is read while it is sent.
    pub fn place_for_document(&self) -> Result<Share<WorkspaceId>, Problem> {
        self.app.unread.place_for_document(self.workspace)
    }

    /// Looks for a page of a list: of all records, where it is found by their number as a rule, or
    /// of those that filters leave.
    pub async fn look_for_page<W: Operation, K: Kind>(
        &self,
        wants_all: bool,
        page: &Page<K>,
        work: W,
    ) -> Result<W::Output, OperationError> {
        match wants_all {
            true if page.is_far() => self.look_at_much(work).await,
            true => self.app.store.read_consistent(work).await,
            false => self.look_at_length(work).await,
        }
    }

    /// What is left of the key's rate limit, if it has one.
    pub fn allowance(&self) -> Option<Allowance> {
        self.parts.extensions.get::<Allowance>().copied()
    }

    pub const fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A number at the end of the path, behind the id.
    pub fn number(&self, noun: &str) -> Result<i64, Problem> {
        number_in(&self.parts, noun)
    }

    pub fn id<K: Kind>(&self) -> Result<Id<K>, Problem> {
        id_in(&self.parts)
    }

    /// The id behind the first one: `/v1/persons/{id}/notes/{note_id}`.
    pub fn second_id<K: Kind>(&self) -> Result<Id<K>, Problem> {
        id_at(&self.parts, 5)
    }

    pub fn query(&self) -> Query {
        Query::new(self.parts.uri.query().unwrap_or_default())
    }

    /// Refuses any query: the route takes none.
    pub fn no_query(&self) -> Result<(), Problem> {
        no_query(&self.parts)
    }

    /// The answer, or 304 if the caller has it already.
    pub fn unless_known(&self, answer: ApiResponse) -> ApiResponse {
        let is_known = answer.etag.as_ref().is_some_and(|etag| {
            let known = entity_tags(&self.parts.headers, &IF_NONE_MATCH);
            known.iter().any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
        });
        match is_known {
            true => ApiResponse {
                status: StatusCode::NOT_MODIFIED.as_u16(),
                body: Vec::new(),
                ..answer
            },
            false => answer,
        }
    }
}

/// A request of a caller that may write, with its body.
pub struct WriteRequest {
    pub app: Arc<App>,
    pub actor: Actor,
    pub precondition: Precondition,
    key: KeyId,
    idempotency: Option<IdempotencyKey>,
    parts: Parts,
    body: ReadBody,
}

impl FromRequest<Arc<App>> for WriteRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        Self::read_from(request, app, Scope::Write, BodyPolicy::BODY).await
    }
}

impl WriteRequest {
    async fn read_from(
        request: Request,
        app: &Arc<App>,
        needed: Scope,
        taken: BodyPolicy,
    ) -> Result<Self, ErrorResponse> {
        let (parts, mut body) = request.into_parts();
        let key = match authorise(&parts, needed) {
            Ok(key) => key,
            Err(refusal) => {
                drain(&parts.headers, &mut body, app.settings.body_timeout).await;
                return Err(refusal);
            }
        };
        let request_id = parts.extensions.get::<RequestName>().map(|name| Arc::clone(&name.0));
        let actor = Actor {
            workspace: key.workspace,
            key: Some(key.id),
            request_id,
            is_silent: app.settings.is_silent,
        };
        let body = json_body(app, key, &parts.headers, body, taken).await?;
        let key = key.id;
        let idempotency = idempotency_key(&parts, &body.bytes)?;
        let precondition = precondition(&parts.headers);
        Ok(Self { app: Arc::clone(app), actor, precondition, key, idempotency, parts, body })
    }

    pub fn id<K: Kind>(&self) -> Result<Id<K>, Problem> {
        id_in(&self.parts)
    }

    pub fn query(&self) -> Query {
        Query::new(self.parts.uri.query().unwrap_or_default())
    }

    /// Refuses any query: the route takes none.
    pub fn no_query(&self) -> Result<(), Problem> {
        no_query(&self.parts)
    }

    /// The id behind the first one: `/v1/persons/{id}/notes/{note_id}`.
    pub fn second_id<K: Kind>(&self) -> Result<Id<K>, Problem> {
        id_at(&self.parts, 5)
    }

    /// A number in the path, behind the id.
    pub fn number(&self, noun: &str) -> Result<i64, Problem> {
        number_in(&self.parts, noun)
    }

    /// Looks, when it is the caller's turn, at what the change cannot be made without, however long
    /// that takes.
    pub async fn look_to_the_end<W: Operation>(
        &self,
        work: W,
    ) -> Result<W::Output, OperationError> {
        let _turn = self.app.questions.turn(self.actor.workspace, self.key).await?;
        self.app.store.read_consistent_unbounded(work).await
    }

    pub fn read<T>(&self, read: impl FnOnce(&mut Fields<'_>) -> T) -> Result<T, Problem> {
        match self.body.bytes.len() > MAX_BYTES_READ_AT_ONCE {
            // Others are served meanwhile.
            true => block_in_place(|| read_body(&self.body.bytes, read)),
            false => read_body(&self.body.bytes, read),
        }
    }

    /// Tries the work out: the answer says what would have changed, and nothing is kept.
    pub async fn dry_run<W: Operation>(
        self,
        work: W,
        render: impl Fn(W::Output) -> ApiResponse,
    ) -> ApiResult {
        let (output, tried) = self.app.store.dry_run(work).await?;
        Ok(with_changes(render(output), &tried))
    }

    /// Carries out the work and tells its outcome, once for each idempotency key.
    pub async fn execute<W: Operation>(
        self,
        work: W,
        render: impl Fn(W::Output) -> ApiResponse + Send + Sync + 'static,
    ) -> ApiResult {
        Ok(match self.idempotency {
            Some(key) => {
                let now = self.app.believed_time();
                let render = move |output| render(output).into();
                self.app
                    .store
                    .write(Answered { actor: self.actor, now, key, work, render })
                    .await?
                    .into()
            }
            // Without a key nobody else needs the answer, so it is made outside the transaction,
            // where others wait.
            None => render(self.app.store.write(work).await?),
        })
    }

    /// The same together with whoever else does work of that kind at the moment.
    pub async fn execute_batched<W: Batchable>(
        self,
        gathering: impl Fn(&App) -> &Arc<WriteBatcher<W>>,
        work: W,
        render: impl Fn(W::Output) -> ApiResponse + Send + Sync + 'static,
    ) -> ApiResult {
        match self.idempotency {
            Some(_) => self.execute(work, render).await,
            None => Ok(render(gathering(&self.app).write(work).await?)),
        }
    }
}

/// A request of a caller that may write, to a route that needs no body.
pub struct BodilessWriteRequest(pub WriteRequest);

impl FromRequest<Arc<App>> for BodilessWriteRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        WriteRequest::read_from(request, app, Scope::Write, BodyPolicy::PERHAPS_NO_BODY)
            .await
            .map(Self)
    }
}

/// A request of a caller that may write, with a body that holds many records.
pub struct BulkRequest(pub WriteRequest);

impl FromRequest<Arc<App>> for BulkRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        WriteRequest::read_from(request, app, Scope::Write, BodyPolicy::MANY_RECORDS)
            .await
            .map(Self)
    }
}

/// A request of a caller that may read, to a route that takes a body to look with.
pub struct QueryRequest(pub WriteRequest);

impl FromRequest<Arc<App>> for QueryRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        WriteRequest::read_from(request, app, Scope::Read, BodyPolicy::BODY).await.map(Self)
    }
}

/// A request of a caller that may manage the workspace. What needs no body may come without one.
pub struct AdminRequest(pub WriteRequest);

impl FromRequest<Arc<App>> for AdminRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        WriteRequest::read_from(request, app, Scope::Admin, BodyPolicy::PERHAPS_NO_BODY)
            .await
            .map(Self)
    }
}

/// A request of a caller that may look at what is managed.
pub struct AdminReadRequest(pub ReadRequest);

impl FromRequest<Arc<App>> for AdminReadRequest {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ErrorResponse> {
        ReadRequest::read_from(request, app, Scope::Admin).map(Self)
    }
}

/// Looks for an answer for as long as somebody waits for it.
async fn unless_gone<T>(
    parts: &Parts,
    looking: impl Future<Output = Result<T, OperationError>>,
) -> Result<T, OperationError> {
    let Some(peer) = parts.extensions.get::<Peer>() else { return looking.await };
    tokio::select! {
        biased;
        outcome = looking => outcome,
        () = peer.gone() => Err(StoreError::TookTooLong.into()),
    }
}

fn authorise(parts: &Parts, needed: Scope) -> Result<&KnownKey, ErrorResponse> {
    let key = parts.extensions.get::<Arc<KnownKey>>();
    let key =
        key.ok_or_else(|| StoreError::Internal("a route was reached without a caller".to_owned()))?;
    match key.scope >= needed {
        true => Ok(key),
        false => {
            let message = format!(
                "This operation needs a key with the scope {}; yours has {}.",
                needed.name(),
                key.scope.name()
            );
            Err(Problem::new(ErrorCode::Forbidden, message).into())
        }
    }
}

/// The id in the path: `/v1/persons/{id}` and below.
fn id_in<K: Kind>(parts: &Parts) -> Result<Id<K>, Problem> {
    id_at(parts, 3)
}

fn id_at<K: Kind>(parts: &Parts, place: usize) -> Result<Id<K>, Problem> {
    let written = segment(parts, place);
    Id::parse(&written).ok_or_else(|| Problem::not_found(K::NOUN, repeated(&written)))
}

fn segment(parts: &Parts, place: usize) -> Cow<'_, str> {
    percent_decode_str(parts.uri.path().split('/').nth(place).unwrap_or_default())
        .decode_utf8_lossy()
}

/// What was written instead of an id, as far as an answer repeats it: not a whole key that somebody
/// took for one.
fn repeated(written: &str) -> String {
    const LONGEST: usize = 40;
    match written.chars().nth(LONGEST) {
        Some(_) => written.chars().take(LONGEST / 2).chain(['…']).collect(),
        None => written.to_owned(),
    }
}

/// The number in the path: `/v1/webhooks/{id}/deliveries/{sequence}` and below.
fn number_in(parts: &Parts, noun: &str) -> Result<i64, Problem> {
    let written = segment(parts, 5);
    whole_number(&written)
        .filter(|number| *number <= MAX_OFFSET)
        .ok_or_else(|| Problem::not_found(noun, repeated(&written)))
}

fn no_query(parts: &Parts) -> Result<(), Problem> {
    match parts.uri.query() {
        None => Ok(()),
        Some(query) => Query::new(query).finish(()),
    }
}

fn precondition(headers: &HeaderMap) -> Precondition {
    match entity_tags(headers, &IF_MATCH).as_slice() {
        [] => Precondition::None,
        [only] if only == "*" => Precondition::AnyVersion,
        tags => Precondition::OneOf(tags.to_vec()),
    }
}

/// The entity tags in a header, as they are written. What is no tag of ours matches nothing.
fn entity_tags(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let values =
        headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    values
        .flat_map(|value| value.split(',').map(|tag| tag.trim().to_owned()).collect::<Vec<_>>())
        .collect()
}

fn idempotency_key(parts: &Parts, body: &[u8]) -> Result<Option<IdempotencyKey>, Problem> {
    const NAME: &str = "Idempotency-Key";
    let mut values = parts.headers.get_all(NAME).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().unwrap_or_default().trim();
    let is_sound = (1..=MAX_IDEMPOTENCY_KEY_LENGTH).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sound || values.next().is_some() {
        let message = format!(
            "must be given once, with 1 to {MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters"
        );
        return Err(Problem::invalid(NAME, FieldErrorCode::InvalidValue, message));
    }
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let request_hash =
        sha256(&[parts.method.as_str().as_bytes(), b"\0", path.as_bytes(), b"\0", body]);
    Ok(Some(IdempotencyKey { key: key.to_owned(), request_hash }))
}
