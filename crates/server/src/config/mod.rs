//! The configuration file: what is too much for the command line. It is read once, at the start,
//! and whatever is wrong in it keeps the program from starting.

mod delays;
pub(crate) mod duration;
mod enrichment;
mod rate;

use std::fs;
use std::path::Path;

use serde::Deserialize;

pub use self::delays::Delays;
pub use self::duration::Span;
pub use self::enrichment::{Breaker, EnrichmentConfig, Method, ProviderConfig, ProviderKind};
pub use self::rate::RateLimit;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub enrichment: EnrichmentConfig,
}

impl Config {
    pub fn load(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("the configuration file {name} cannot be read: {error}"))?;
        Self::parse(&name.to_string(), &text)
    }

    /// `name` is what the file is called in messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut config: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            format!("{name}:{line}: {}", without_values(error.message()))
        })?;
        for provider in &mut config.enrichment.providers {
            let line = line_of(text, provider.span().start);
            provider.get_mut().place = format!("{name}:{line}");
        }
        Ok(config)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// A text that stands where something else was expected may be a secret.
fn without_values(message: &str) -> String {
    for kind in ["invalid type: string", "invalid value: string"] {
        if let (true, Some(end)) = (message.starts_with(kind), message.rfind(", expected ")) {
            return format!("{kind}{}", &message[end..]);
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Config::parse("slated.toml", text).err().unwrap_or_else(|| panic!("taken: {text}"))
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let config = Config::parse("slated.toml", "").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.enrichment.cache.millis(), 30 * 86_400_000);
        assert_eq!(
            config.enrichment.retry_delays.millis(),
            [10_000, 60_000, 600_000, 3_600_000, 21_600_000]
        );
        assert!(config.enrichment.providers.is_empty());
    }

    #[test]
    fn a_provider_knows_where_it_stands() {
        let text = "[enrichment]\ncache = \"1d\"\n\n[[enrichment.provider]]\nname = \
            \"people\"\nkind = \"http\"\nrate_limit = \"100/m\"\n";
        let config = Config::parse("slated.toml", text).unwrap_or_else(|error| panic!("{error}"));
        let provider = config.enrichment.providers[0].get_ref();
        assert_eq!((provider.name.as_str(), provider.place.as_str()), ("people", "slated.toml:4"));
        assert_eq!(provider.kind, ProviderKind::Http);
        assert_eq!(provider.timeout.millis(), 10_000);
        assert_eq!(provider.breaker, Breaker { failures: 5, pause: Span::from_millis(30_000) });
    }

    #[test]
    fn messages_name_the_file_the_line_and_what_is_expected() {
        let provider = |more: &str| {
            format!(
                "[enrichment]\n[[enrichment.provider]]\nname = \"people\"\nkind = \
                 \"http\"\n{more}\n"
            )
        };
        for (text, line, part) in [
            ("[enrichment]\ncash = \"1d\"\n".to_owned(), 2, "cash"),
            ("[enrichment]\ncache = \"1 day\"\n".to_owned(), 2, "not a time span"),
            ("[enrichment]\ncache = 30\n".to_owned(), 2, "expected a string"),
            (
                format!("[enrichment]\n\nretry_delays = [{}]\n", "\"1s\", ".repeat(101)),
                3,
                "101 time spans are too many",
            ),
            ("[enrichment]\nretry_delays = [\"1s\", \"soon\"]\n".to_owned(), 2, "not a time span"),
            ("[enrichment\n".to_owned(), 1, ""),
            ("\n[logging]\n".to_owned(), 2, "enrichment"),
            ("[[enrichment.provider]]\nname = \"people\"\n".to_owned(), 1, "kind"),
            (
                "[[enrichment.provider]]\nname = \"people\"\nkind = \"ftp\"\n".to_owned(),
                3,
                "command",
            ),
            (provider("rate_limit = \"fast\""), 5, "100/m"),
            (provider("method = \"PUT\""), 5, "POST"),
            (provider("breaker = { failures = 5, pauses = \"1s\" }"), 5, "pause"),
            (provider("concurrency = \"four\""), 5, "expected i64"),
        ] {
            let message = refused(&text);
            assert!(message.starts_with(&format!("slated.toml:{line}: ")), "{message}");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_text_in_the_wrong_place_is_not_told() {
        let message = refused(
            "[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\nheaders = \"Bearer \
             s3cret, expected \"\n",
        );
        assert!(message.starts_with("slated.toml:4: invalid type: string, expected "), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let message = Config::load(Path::new("/nowhere/slated.toml")).err().unwrap();
        assert!(message.contains("/nowhere/slated.toml"), "{message}");
    }
}
