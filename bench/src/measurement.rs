//! What was measured.

/// What a run of wrk came to. Times are in milliseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    pub rate: f64,
    pub median: f64,
    pub slow: f64,
    /// Answers that were no success, and connections that broke.
    pub failures: u64,
}
