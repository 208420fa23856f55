//! What does not change while the program runs: made once, compressed for those who take that, and
//! not sent again to who has it.

use std::io::Write;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use xxhash_rust::xxh3::xxh3_64;

/// An answer that is not read holds no copy of its own.
#[derive(Clone)]
pub struct Fixed {
    content_type: HeaderValue,
    etag: HeaderValue,
    plain: Bytes,
    compressed: Option<Bytes>,
}

impl Fixed {
    pub fn new(content_type: &str, plain: Vec<u8>) -> Self {
        let header =
            |text: &str| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let compressed = encoder
            .write_all(&plain)
            .and_then(|()| encoder.finish())
            .ok()
            .filter(|compressed| compressed.len() < plain.len());
        Self {
            content_type: header(content_type),
            etag: header(&format!("\"{:016x}\"", xxh3_64(&plain))),
            compressed: compressed.map(Bytes::from),
            plain: plain.into(),
        }
    }

    pub fn answer(&self, asked: &HeaderMap) -> Response {
        let same = [
            (ETAG, self.etag.clone()),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            (VARY, HeaderValue::from_static("accept-encoding")),
        ];
        let etag = self.etag.to_str().unwrap_or_default();
        if says(asked, &IF_NONE_MATCH, |tag| {
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
        }) {
            return (StatusCode::NOT_MODIFIED, same).into_response();
        }
        let takes_gzip = |coding: &str| {
            coding == "gzip" || coding.starts_with("gzip;") && !coding.ends_with("q=0")
        };
        let kind = [(CONTENT_TYPE, self.content_type.clone())];
        match self.compressed.as_ref().filter(|_| says(asked, &ACCEPT_ENCODING, takes_gzip)) {
            Some(compressed) => {
                (same, kind, [(CONTENT_ENCODING, "gzip")], compressed.clone()).into_response()
            }
            None => (same, kind, self.plain.clone()).into_response(),
        }
    }
}

/// Whether one of the values of the header fits.
fn says(headers: &HeaderMap, name: &HeaderName, fits: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| fits(value.trim()))
}
