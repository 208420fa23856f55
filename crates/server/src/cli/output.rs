//! What commands print.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Prints a line.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::output::print(format_args!("{}\n", format_args!($($text)*))) };
}
pub(super) use say;

/// Prints a text. Whoever reads it and has gone, as `head` does, has seen enough.
pub fn print(text: fmt::Arguments<'_>) -> Result<(), String> {
    match put(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("the output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints a line with what is shown this once: somebody must see it.
pub fn reveal(text: fmt::Arguments<'_>) -> Result<(), String> {
    put(format_args!("{text}\n")).map_err(|error| {
        format!(
            "the secret cannot be printed, so create another (slated key create, slated webhook \
            rotate): {error}"
        )
    })
}

fn put(text: fmt::Arguments<'_>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_fmt(text)?;
    output.flush()
}
