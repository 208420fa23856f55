//! `[enrichment]`: who is asked for what is not known of a person, and how. What the settings of a
//! provider mean together is checked where the provider is made, in `enrich::settings`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::delays::Delays;
use super::duration::Span;
use super::rate::RateLimit;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnrichmentConfig {
    /// An answer counts for so long.
    pub cache: Span,
    /// How long to wait before each new attempt.
    pub retry_delays: Delays,
    /// In the order in which they are asked.
    #[serde(rename = "provider")]
    pub providers: Vec<Spanned<ProviderConfig>>,
}

impl Default for EnrichmentConfig {
    fn default() -> Self {
        let delays = [10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];
        let retry_delays = Delays(delays.map(Span::from_millis).to_vec());
        Self { cache: Span::from_millis(30 * DAY), retry_delays, providers: Vec::new() }
    }
}

/// It may hold secrets, so it is not for logs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// The file and the line in which it begins.
    #[serde(skip)]
    pub place: String,
    pub name: String,
    pub kind: ProviderKind,

    /// For `http`.
    pub url: Option<String>,
    pub method: Option<Method>,
    pub headers: Option<BTreeMap<String, String>>,
    pub body: Option<Map<String, Value>>,
    pub needs: Option<Vec<String>>,
    pub mapping: Option<Value>,

    /// For `directory`.
    pub path: Option<PathBuf>,

    /// For `command`.
    pub command: Option<Vec<String>>,
    pub environment: Option<Vec<String>>,

    #[serde(default = "default_timeout")]
    pub timeout: Span,
    #[serde(default = "default_concurrency")]
    pub concurrency: i64,
    pub rate_limit: Option<RateLimit>,
    pub daily_budget: Option<i64>,
    #[serde(default)]
    pub breaker: Breaker,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    Http,
    Directory,
    Command,
}

impl ProviderKind {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Directory => "directory",
            Self::Command => "command",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    Get,
    Post,
}

/// After so many failures in a row a provider is left alone for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Breaker {
    pub failures: i64,
    pub pause: Span,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: 5, pause: Span::from_millis(30 * SECOND) }
    }
}

const fn default_timeout() -> Span {
    Span::from_millis(10 * SECOND)
}

const fn default_concurrency() -> i64 {
    4
}
