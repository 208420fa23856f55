//! The log as JSON lines: `{"timestamp": …, "level": …, "fields": {…}, "span": …}`, with the spans
//! that are open at `debug` only. Every request writes one,
//! so it is made in one pass, without anything between.

use std::fmt::{Debug, Result, Write};

use slated_model::clock::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

pub struct JsonLines;

impl<S: Subscriber + for<'l> LookupSpan<'l>, N: for<'w> FormatFields<'w> + 'static>
    FormatEvent<S, N> for JsonLines
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> Result {
        let level = event.metadata().level();
        write!(
            writer,
            "{{\"timestamp\":\"{}\",\"level\":\"{level}\",\"fields\":{{",
            Timestamp::now()
        )?;
        let mut line = Line { writer, is_first: true, outcome: Ok(()) };
        event.record(&mut line);
        line.outcome?;
        let mut writer = line.writer;
        writer.write_char('}')?;
        if let Some(spans) = context.event_scope() {
            writer.write_str(",\"span\":")?;
            write_quoted(&mut writer, |inside| {
                spans.from_root().try_for_each(|span| {
                    let fields = span.extensions();
                    let fields = fields.get::<FormattedFields<N>>().map_or("", |of| of.as_str());
                    write!(inside, "/{}{{{fields}}}", span.name())
                })
            })?;
        }
        writer.write_str("}\n")
    }
}

struct Line<'w> {
    writer: Writer<'w>,
    is_first: bool,
    outcome: Result,
}

impl Line<'_> {
    fn add(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> Result) {
        if self.outcome.is_ok() {
            self.outcome = self.try_add(field, value);
        }
    }

    fn try_add(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> Result) -> Result {
        if !std::mem::take(&mut self.is_first) {
            self.writer.write_char(',')?;
        }
        // A field's name is an identifier of the program.
        self.writer.write_char('"')?;
        self.writer.write_str(field.name())?;
        self.writer.write_str("\":")?;
        value(&mut self.writer)
    }
}

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, |writer| write_quoted(writer, |inside| inside.write_str(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, |writer| write_quoted(writer, |inside| write!(inside, "{value:?}")));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        match value.is_finite() {
            true => self.add(field, |writer| write!(writer, "{value}")),
            false => self.add(field, |writer| writer.write_str("null")),
        }
    }
}

fn write_quoted(
    writer: &mut Writer<'_>,
    write: impl FnOnce(&mut Escaping<'_, '_>) -> Result,
) -> Result {
    writer.write_char('"')?;
    write(&mut Escaping(writer))?;
    writer.write_char('"')
}

/// Writes the inside of a JSON string.
struct Escaping<'e, 'w>(&'e mut Writer<'w>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> Result {
        let mut rest = text;
        while let Some(at) =
            rest.bytes().position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'))
        {
            self.0.write_str(&rest[..at])?;
            write!(self.0, "\\u{:04x}", rest.as_bytes()[at])?;
            rest = &rest[at + 1..];
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_written_as_json(text: String) {
            let mut written = String::new();
            write_quoted(&mut Writer::new(&mut written), |inside| inside.write_str(&text)).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }

        #[test]
        fn text_that_comes_in_parts_is_written_as_json(parts: Vec<String>) {
            let mut written = String::new();
            write_quoted(&mut Writer::new(&mut written),
                |inside| parts.iter().try_for_each(|part| write!(inside, "{part}"))).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), parts.concat());
        }
    }
}
