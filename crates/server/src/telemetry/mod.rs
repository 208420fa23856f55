//! Logs and metrics. Logs are text on a terminal and JSON otherwise, on standard error.

mod json_lines;
mod log_writer;

use std::io::{IsTerminal, stderr};

use metrics::{describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::json_lines::JsonLines;
use self::log_writer::{LogGuard, LogWriter};

/// What these have to say in detail holds the values of statements and the URLs of calls: personal
/// data and secrets.
const KEPT_QUIET: [&str; 4] = ["tokio_postgres", "postgres_protocol", "reqwest", "hyper_util"];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts the log. What is still on its way is written when the guard is dropped.
pub fn start_log(filter: &str) -> Result<LogGuard, String> {
    let filter = read_filter(filter)?;
    let (writer, guard) =
        LogWriter::start().map_err(|error| format!("the log cannot be written: {error}"))?;
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter).with_target(false).with_writer(writer);
    let discretion = filter_fn(|metadata| is_discreet(metadata.target(), *metadata.level()));
    match stderr().is_terminal() {
        true => subscriber.finish().with(discretion).init(),
        false => {
            subscriber.with_ansi(false).event_format(JsonLines).finish().with(discretion).init()
        }
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let reason = panic.payload_as_str().unwrap_or("no reason given");
        tracing::error!(panic.location = place, panic.reason = reason, "something panicked");
    }));
    Ok(guard)
}

/// A word alone that is no level would be taken for the name of a part of the program, and nothing
/// else be written.
fn read_filter(written: &str) -> Result<EnvFilter, String> {
    let refused = |reason: String| format!("--log {written:?} is not understood: {reason}");
    // What stands in brackets may hold commas of its own.
    if written.contains('[') {
        return EnvFilter::try_new(written).map_err(|error| refused(error.to_string()));
    }
    let parts: Vec<_> = written.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let is_level = |word: &str| {
        LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word))
            || matches!(word, "0" | "1" | "2" | "3" | "4" | "5")
    };
    let odd = parts
        .iter()
        .find(|part| !part.contains('=') && !is_level(part))
        .or(if parts.is_empty() { Some(&written) } else { None });
    if let Some(word) = odd {
        return Err(refused(format!(
            "{word:?} is not a level; write one of {}, or PART=LEVEL",
            LEVELS.join(", ")
        )));
    }
    EnvFilter::try_new(parts.join(",")).map_err(|error| refused(error.to_string()))
}

/// Whether it may be logged, even if all that there is was asked for.
fn is_discreet(target: &str, level: Level) -> bool {
    let is_of = |part: &&str| {
        target.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    level <= Level::INFO || !KEPT_QUIET.iter().any(is_of)
}

pub fn start_metrics() -> Result<PrometheusHandle, BuildError> {
    let seconds =
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)?
        .set_buckets_for_metric(Matcher::Suffix("_size".to_owned()), &sizes)?
        .install_recorder()?;
    describe();
    gauge!("slated_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

fn describe() {
    describe_gauge!("slated_build_info", "The running version.");
    describe_gauge!("slated_http_connections", "Open connections.");
    describe_counter!("slated_http_requests_total", "Requests by route, method and status.");
    describe_histogram!(
        "slated_http_request_seconds",
        "Time from a request's head to its answer, by route and method."
    );
    describe_gauge!(
        "slated_store_writable",
        "1 while the database can be written, 0 while it cannot, as on a full disk."
    );
    describe_gauge!("slated_store_queue_depth", "Writes that are queued for the writer.");
    describe_histogram!("slated_store_commit_batch_size", "Writes that shared a commit.");
    describe_histogram!(
        "slated_store_commit_seconds",
        "Time from the first write of a commit until it is durable."
    );
    describe_counter!(
        "slated_webhook_calls_total",
        "Webhook calls by outcome: delivered or failed."
    );
    describe_counter!(
        "slated_enrichment_asked_total",
        "Calls to enrichment providers, by provider."
    );
    describe_counter!(
        "slated_enrichment_answers_total",
        "Provider responses, by provider and outcome: found, empty or failed."
    );
    describe_histogram!(
        "slated_enrichment_seconds",
        "Time that a provider took to answer, by provider."
    );
    describe_gauge!(
        "slated_enrichment_cost_total",
        "The cost of responses as reported by providers, by provider."
    );
    describe_gauge!(
        "slated_enrichment_paused",
        "1 while a provider is paused because it failed or asked for a pause, by provider."
    );
    describe_histogram!(
        "slated_store_read_seconds",
        "Database time of a read; on SQLite, of one read in sixteen."
    );
    describe_gauge!(
        "slated_store_connections",
        "PostgreSQL connections: all that are open, and those of them that are idle."
    );
    describe_counter!("slated_store_round_trips_total", "Round trips to PostgreSQL.");
    describe_counter!(
        "slated_store_retries_total",
        "PostgreSQL transactions that were retried after a conflict or a broken \
         connection."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels() {
        for (written, understood) in [
            ("info", "info"),
            (" WARN ", "warn"),
            ("off", "off"),
            ("3", "info"),
            ("info, hyper=debug", "hyper=debug,info"),
            ("slated::http=trace, warn,", "slated::http=trace,warn"),
            ("[request]=debug,info", "info,[request]=debug"),
        ] {
            assert_eq!(read_filter(written).unwrap().to_string(), understood, "{written:?}");
        }
        for written in ["warning", "inof", "info,bogus", "info=loud", ",", " "] {
            let refused = read_filter(written).map(|_| ()).unwrap_err();
            assert!(
                refused.starts_with("--log ") && refused.contains("is not understood"),
                "{refused}"
            );
        }
    }

    #[test]
    fn who_would_tell_secrets_is_kept_quiet() {
        assert!(
            is_discreet("tokio_postgres::query", Level::INFO)
                && is_discreet("slated::http", Level::TRACE)
        );
        assert!(
            !is_discreet("tokio_postgres::query", Level::DEBUG)
                && !is_discreet("reqwest", Level::TRACE)
        );
        assert!(is_discreet("reqwest_like", Level::TRACE));
    }
}
