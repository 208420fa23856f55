use std::collections::VecDeque;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use serde_json::Value;
use slated_model::id::{NoteId, PersonId, WorkspaceId};
use slated_model::problem::ErrorCode;
use slated_operations::persons::export::{ExportEvents, ExportNotes, ExportPerson, pages};
use slated_store::records::events::reading::Size;
use slated_store::{Operation, OperationError, StoreError};
use tokio::time::sleep;

use crate::api::v1::responses::export::PersonExport;
use crate::api::v1::responses::note::NoteRead;
use crate::http::{ErrorResponse, MaybeMerged, ReadRequest, Share};

/// Export a person
///
/// All data stored about the person in one document, for an access request. It is read while it is
/// sent: a change made meanwhile may be in one part of it and not in another.
#[utoipa::path(get, path = "/v1/persons/{id}/export", operation_id = "exportPerson",
    tag = "Persons",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "All data stored about the person.",
        body = MaybeMerged<PersonExport>)))]
pub async fn export_person(request: ReadRequest) -> Result<Response, ErrorResponse> {
    request.no_query()?;
    let place = request.place_for_document()?;
    let id = request.id()?;
    let exported =
        request.look_at_length(ExportPerson { workspace: request.workspace, id }).await?;
    let person = exported.view.id;
    let events = pages(&exported.events).map(<[Size]>::to_vec).collect();
    let merged_into = (person != id).then(|| person.to_string());
    let parts =
        parts_of(&MaybeMerged { success: true, data: PersonExport::from(exported), merged_into })?;
    let document =
        Document { request, _place: place, person, parts, behind: None, events, is_first: true };
    let sent = stream::unfold(Some(document), |document| async { document?.next().await });
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(sent)).into_response())
}

/// How long a database that is away or busy is waited for in the middle of a document.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// What a document is made of.
enum Part {
    Text(String),
    Notes,
    Events,
}

/// Cuts a document where its long lists belong.
fn parts_of(document: &impl Serialize) -> Result<VecDeque<Part>, StoreError> {
    let written = |value: &Value| {
        serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
    };
    let mut parts = VecDeque::new();
    let document =
        serde_json::to_value(document).map_err(|error| StoreError::Internal(error.to_string()))?;
    let mut text = String::from("{");
    for (place, (field, value)) in document.as_object().into_iter().flatten().enumerate() {
        text.push_str(&format!("{}\"{field}\":", if place > 0 { "," } else { "" }));
        let Some(fields) = value.as_object().filter(|_| field == "data") else {
            text.push_str(&written(value)?);
            continue;
        };
        for (place, (field, value)) in fields.iter().enumerate() {
            text.push_str(&format!("{}\"{field}\":", if place > 0 { "," } else { "{" }));
            let list = match field.as_str() {
                "notes" => Part::Notes,
                "events" => Part::Events,
                _ => {
                    text.push_str(&written(value)?);
                    continue;
                }
            };
            text.push('[');
            parts.extend([Part::Text(std::mem::take(&mut text)), list]);
            text.push(']');
        }
        text.push('}');
    }
    text.push('}');
    parts.push_back(Part::Text(text));
    Ok(parts)
}

/// A document that is being sent.
struct Document {
    request: ReadRequest,
    _place: Share<WorkspaceId>,
    person: PersonId,
    parts: VecDeque<Part>,
    /// The last note that was sent.
    behind: Option<NoteId>,
    events: VecDeque<Vec<Size>>,
    /// Whether nothing of the list was sent yet.
    is_first: bool,
}

impl Document {
    /// What comes next, and the rest; nothing at the end. One that cannot be read on ends in the
    /// middle, and whoever reads it sees that it does.
    async fn next(mut self) -> Option<(Result<Bytes, Failed>, Option<Self>)> {
        match self.read().await {
            Ok(Some(text)) => Some((Ok(text.into()), Some(self))),
            Ok(None) => None,
            Err(failure) => {
                tracing::error!(error = %failure, "an export was aborted");
                Some((Err(Failed(failure.to_string())), None))
            }
        }
    }

    async fn read(&mut self) -> Result<Option<String>, OperationError> {
        while let Some(part) = self.parts.pop_front() {
            let some = match &part {
                Part::Text(_) => None,
                Part::Notes => self.some_notes().await?,
                Part::Events => self.some_events().await?,
            };
            match (some, part) {
                (_, Part::Text(text)) => return Ok(Some(text)),
                (Some(text), list) => {
                    self.parts.push_front(list);
                    return Ok(Some(text));
                }
                (None, _) => self.is_first = true,
            }
        }
        Ok(None)
    }

    async fn some_notes(&mut self) -> Result<Option<String>, OperationError> {
        let work = ExportNotes {
            workspace: self.request.workspace,
            person: self.person,
            behind: self.behind,
        };
        let notes = self.look(work).await?;
        let Some(last) = notes.last() else { return Ok(None) };
        self.behind = Some(last.id);
        let notes: Vec<_> = notes.into_iter().map(NoteRead::from).collect();
        self.elements(&notes).map(Some)
    }

    async fn some_events(&mut self) -> Result<Option<String>, OperationError> {
        let Some(page) = self.events.pop_front() else { return Ok(None) };
        let events = self.look(ExportEvents { workspace: self.request.workspace, page }).await?;
        self.elements(&events).map(Some)
    }

    /// The rest of a document that was begun is worth some waiting.
    async fn look<W: Operation + Clone>(&self, work: W) -> Result<W::Output, OperationError> {
        let begun = Instant::now();
        loop {
            match self.request.look_at_much(work.clone()).await {
                Err(failure) if is_busy(&failure) && begun.elapsed() < RETRY_TIMEOUT => {
                    sleep(RETRY_INTERVAL).await
                }
                outcome => return outcome,
            }
        }
    }

    /// More elements of a list. None of them may be there any more.
    fn elements(&mut self, elements: &[impl Serialize]) -> Result<String, OperationError> {
        let mut text = String::new();
        for element in elements {
            if !std::mem::take(&mut self.is_first) {
                text.push(',');
            }
            text.push_str(
                &serde_json::to_string(element)
                    .map_err(|error| StoreError::Internal(error.to_string()))?,
            );
        }
        Ok(text)
    }
}

fn is_busy(failure: &OperationError) -> bool {
    match failure {
        OperationError::Rejected(problem) => problem.code == ErrorCode::Unavailable,
        OperationError::Store(error) => error.is_for_now(),
    }
}

/// Why a document ends in the middle.
#[derive(Debug, thiserror::Error)]
#[error("the document was aborted: {0}")]
struct Failed(String);
