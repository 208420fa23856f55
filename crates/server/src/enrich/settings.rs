//! Who is asked and how, ready to be used: a configuration in which everything was checked.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use slated_operations::webhook_delivery::RetryDelays;

use super::provider::Provider;
use super::provider::command::Program;
use super::provider::directory::Directory;
use super::provider::http::Http;
use crate::config::{Breaker, EnrichmentConfig, ProviderConfig, ProviderKind, Span};
use crate::demo;
use crate::outbound::AllowedAddresses;

const MAX_NAME_LENGTH: usize = 40;
const MIN_TIMEOUT: Span = Span::from_millis(1);
/// A server holds a person for as long as all providers may take.
const MAX_TIMEOUT: Span = Span::from_millis(5 * 60 * 1000);
const MAX_PAUSE: Span = Span::from_millis(24 * 60 * 60 * 1000);
const MAX_AT_ONCE: i64 = 64;
const MAX_FAILURES: i64 = 1000;
/// Calls are spread evenly: a service that counts in windows of its own must not see a window with
/// too many.
const BURST_MILLIS: i64 = 0;
const DEMO_NAME: &str = "demo-directory";

pub struct Enriching {
    /// In the order in which they are asked.
    pub providers: Vec<Configured>,
    /// An answer counts for so long.
    pub cache_millis: i64,
    pub retry_delays: RetryDelays,
}

/// A provider and the bounds within which it is asked.
pub struct Configured {
    pub name: String,
    pub provider: Arc<dyn Provider>,
    pub timeout: Duration,
    /// Calls at once.
    pub concurrency: usize,
    /// The least time between two calls of all servers together.
    pub interval_millis: Option<i64>,
    /// How much earlier than that a call may be made.
    pub burst_millis: i64,
    /// Calls in a day, of all servers together.
    pub daily_budget: Option<i64>,
    /// After so many failures in a row it is left alone for a while.
    pub breaker_failures: u32,
    pub breaker_pause: Duration,
}

impl Enriching {
    /// Nobody is asked.
    #[must_use]
    pub fn none() -> Self {
        Self::with(Vec::new(), &EnrichmentConfig::default())
    }

    /// Paths are those from `base`.
    pub fn from_config(
        config: &EnrichmentConfig,
        base: &Path,
        targets: &AllowedAddresses,
    ) -> Result<Self, String> {
        Self::read(config, base, targets, &|name: &str| std::env::var(name).ok())
    }

    /// The directory that comes with the demo data.
    #[must_use]
    pub fn demo() -> Self {
        let breaker = Breaker::default();
        let demo = Configured {
            name: DEMO_NAME.to_owned(),
            provider: Arc::new(Directory::embedded(DEMO_NAME, demo::DIRECTORY)),
            timeout: Duration::from_secs(10),
            concurrency: 4,
            interval_millis: None,
            burst_millis: BURST_MILLIS,
            daily_budget: None,
            breaker_failures: u32::try_from(breaker.failures).unwrap_or(u32::MAX),
            breaker_pause: breaker.pause.duration(),
        };
        Self::with(vec![demo], &EnrichmentConfig::default())
    }

    fn with(providers: Vec<Configured>, config: &EnrichmentConfig) -> Self {
        Self {
            providers,
            cache_millis: config.cache.millis(),
            retry_delays: RetryDelays(config.retry_delays.millis()),
        }
    }

    fn read(
        config: &EnrichmentConfig,
        base: &Path,
        targets: &AllowedAddresses,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut names = BTreeSet::new();
        let mut providers = Vec::new();
        for provider in &config.providers {
            let provider = provider.get_ref();
            let wrong = |reason: String| {
                format!("{}: provider {:?}: {reason}", provider.place, provider.name)
            };
            check_name(&provider.name).map_err(wrong)?;
            if !names.insert(&provider.name) {
                return Err(wrong("another provider has the same name".to_owned()));
            }
            providers.push(configure(provider, base, targets, variable).map_err(wrong)?);
        }
        Ok(Self::with(providers, config))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_sound =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    match is_sound && (1..=MAX_NAME_LENGTH).contains(&name.len()) {
        true => Ok(()),
        false => Err(format!(
            "name must have 1 to {MAX_NAME_LENGTH} lowercase letters, digits and \
                hyphens"
        )),
    }
}

fn configure(
    config: &ProviderConfig,
    base: &Path,
    targets: &AllowedAddresses,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Configured, String> {
    check_kind(config)?;
    within("timeout", config.timeout, MIN_TIMEOUT, MAX_TIMEOUT, "1ms to 5m")?;
    within("breaker.pause", config.breaker.pause, MIN_TIMEOUT, MAX_PAUSE, "1ms to 1d")?;
    let concurrency = within("concurrency", config.concurrency, 1, MAX_AT_ONCE, "1 to 64")?;
    let failures =
        within("breaker.failures", config.breaker.failures, 1, MAX_FAILURES, "1 to 1000")?;
    if let Some(budget) = config.daily_budget {
        within("daily_budget", budget, 1, i64::MAX, "1 or more; omit it for no limit")?;
    }
    let provider: Arc<dyn Provider> = match config.kind {
        ProviderKind::Http => Arc::new(Http::new(config, targets, variable)?),
        ProviderKind::Directory => {
            let path = config.path.as_deref().ok_or(
                "path is missing; set it as in path = \
                    \"people.jsonl\"",
            )?;
            Arc::new(Directory::open(&base.join(path))?)
        }
        ProviderKind::Command => Arc::new(Program::new(config, base, variable)?),
    };
    Ok(Configured {
        name: config.name.clone(),
        provider,
        timeout: config.timeout.duration(),
        concurrency: usize::try_from(concurrency).unwrap_or(1),
        interval_millis: config.rate_limit.map(|limit| limit.interval_millis),
        burst_millis: BURST_MILLIS,
        daily_budget: config.daily_budget,
        breaker_failures: u32::try_from(failures).unwrap_or(u32::MAX),
        breaker_pause: config.breaker.pause.duration(),
    })
}

/// A setting that means nothing for its kind was meant for something.
fn check_kind(config: &ProviderConfig) -> Result<(), String> {
    let settings = [
        ("url", config.url.is_some(), ProviderKind::Http),
        ("method", config.method.is_some(), ProviderKind::Http),
        ("headers", config.headers.is_some(), ProviderKind::Http),
        ("body", config.body.is_some(), ProviderKind::Http),
        ("needs", config.needs.is_some(), ProviderKind::Http),
        ("mapping", config.mapping.is_some(), ProviderKind::Http),
        ("path", config.path.is_some(), ProviderKind::Directory),
        ("command", config.command.is_some(), ProviderKind::Command),
        ("environment", config.environment.is_some(), ProviderKind::Command),
    ];
    match settings.iter().find(|(_, is_given, kind)| *is_given && *kind != config.kind) {
        Some((name, _, kind)) => Err(format!(
            "{name} is for kind = \"{}\", not for \"{}\"",
            kind.name(),
            config.kind.name()
        )),
        None => Ok(()),
    }
}

fn within<T: PartialOrd + Copy>(
    name: &str,
    value: T,
    least: T,
    most: T,
    expected: &str,
) -> Result<T, String> {
    match least <= value && value <= most {
        true => Ok(value),
        false => Err(format!("{name} must be {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use slated_model::enrichment::Question;

    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> Result<Enriching, String> {
        let config = Config::parse("slated.toml", text)?;
        let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        Enriching::read(
            &config.enrichment,
            &std::env::temp_dir(),
            &AllowedAddresses::default(),
            &variable,
        )
    }

    fn http(more: &str) -> String {
        format!(
            "[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\nurl = \
             \"https://api.example.com/?e={{email}}\"\n{more}\n"
        )
    }

    #[test]
    fn settings_are_taken_as_they_are_written() {
        let text = format!(
            "[enrichment]\ncache = \"2d\"\nretry_delays = [\"1s\", \"2s\"]\n{}",
            http(
                "timeout = \"3s\"\nconcurrency = 2\nrate_limit = \"100/m\"\ndaily_budget = \
                 9\nbreaker = { failures = 3, pause = \"1m\" }"
            )
        );
        let enriching = read(&text).unwrap_or_else(|reason| panic!("{reason}"));
        assert_eq!(enriching.cache_millis, 2 * 86_400_000);
        assert_eq!(enriching.retry_delays, RetryDelays(vec![1000, 2000]));
        let people = &enriching.providers[0];
        assert_eq!(
            (people.name.as_str(), people.timeout, people.concurrency),
            ("people", Duration::from_secs(3), 2)
        );
        assert_eq!((people.interval_millis, people.daily_budget), (Some(600), Some(9)));
        assert_eq!((people.breaker_failures, people.breaker_pause), (3, Duration::from_secs(60)));
    }

    #[test]
    fn nobody_is_asked_without_a_configuration() {
        let none = Enriching::none();
        assert!(none.providers.is_empty());
        assert_eq!(none.retry_delays.0.len(), 5);
        assert!(read("").is_ok_and(|enriching| enriching.providers.is_empty()));
    }

    #[test]
    fn the_demo_has_its_directory() {
        let demo = Enriching::demo();
        let question = Question { social_public_id: "somebody".to_owned(), ..Question::default() };
        assert_eq!(demo.providers[0].name, "demo-directory");
        assert!(demo.providers[0].provider.can_ask(&question));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let twice = format!("{}{}", http(""), http(""));
        for (text, place, part) in [
            (
                http("path = \"people.jsonl\""),
                1,
                "path is for kind = \"directory\", not for \
                \"http\"",
            ),
            (http("timeout = \"0s\""), 1, "timeout must be 1ms to 5m"),
            (http("timeout = \"1h\""), 1, "timeout must be 1ms to 5m"),
            (http("concurrency = 0"), 1, "concurrency must be 1 to 64"),
            (http("daily_budget = 0"), 1, "daily_budget must be 1 or more"),
            (http("breaker = { failures = 0 }"), 1, "breaker.failures must be 1 to 1000"),
            (
                http("headers = { A = \"${MISSING}\" }"),
                1,
                "environment variable MISSING, which is \
                not set",
            ),
            (http("mapping = \"acme\""), 1, "people-data-labs"),
            (twice, 6, "another provider has the same name"),
            (
                "[[enrichment.provider]]\nname = \"My Data\"\nkind = \"directory\"\n".to_owned(),
                1,
                "lowercase letters",
            ),
            (
                "\n[[enrichment.provider]]\nname = \"own\"\nkind = \"directory\"\n".to_owned(),
                2,
                "path is missing",
            ),
            (
                "[[enrichment.provider]]\nname = \"own\"\nkind = \"directory\"\npath = \
                \"no-such.jsonl\"\n"
                    .to_owned(),
                1,
                "no-such.jsonl",
            ),
            (
                "[[enrichment.provider]]\nname = \"own\"\nkind = \"command\"\n".to_owned(),
                1,
                "command is missing",
            ),
        ] {
            let reason = read(&text).err().unwrap_or_else(|| panic!("taken: {text}"));
            assert!(reason.starts_with(&format!("slated.toml:{place}: provider \"")), "{reason}");
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_relative_path_is_one_beside_the_configuration() {
        let name = format!("slated-settings-{}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(&name);
        std::fs::write(&path, "{\"name\": \"Ada\"}\n").unwrap();
        let read = read(&format!(
            "[[enrichment.provider]]\nname = \"own\"\nkind = \"directory\"\npath = \"{name}\"\n"
        ));
        let _ = std::fs::remove_file(&path);
        assert!(read.is_ok(), "{:?}", read.err());
    }
}
