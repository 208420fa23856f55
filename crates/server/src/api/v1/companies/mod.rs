pub mod contacts;
pub mod create;
pub mod jobs;
pub mod list;
pub mod merge;
pub mod read;
pub mod update;

use axum::http::StatusCode;
use store::record::company::CompanyView;

use super::shape::company::CompanyRead;
use crate::http::answer::{answer, with_etag};
use crate::ops::etag;
use crate::ops::idempotency::Answer;

fn shown(status: StatusCode, view: CompanyView) -> Answer {
    let tag = etag::of(&view);
    with_etag(answer(status, CompanyRead::from(view)), tag)
}
