pub mod contacts;
pub mod create;
pub mod jobs;
pub mod list;
pub mod merge;
pub mod read;
pub mod update;

use axum::http::StatusCode;
use slated_operations::etag;
use slated_store::records::company::CompanyView;

use super::responses::company::CompanyRead;
use crate::http::response::ApiResponse;
use crate::http::response::{answer, with_etag};

fn shown(status: StatusCode, view: CompanyView) -> ApiResponse {
    let tag = etag::of(&view);
    with_etag(answer(status, CompanyRead::from(view)), tag)
}
