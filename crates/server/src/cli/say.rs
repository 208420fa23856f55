//! What commands print.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Prints a line.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::say::print(format_args!("{}\n", format_args!($($text)*))) };
}
pub(super) use say;

/// Prints a text. Whoever reads it and has gone, as `head` does, has seen enough.
pub fn print(text: fmt::Arguments<'_>) -> Result<(), String> {
    let mut output = io::stdout().lock();
    match output.write_fmt(text).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("nothing can be printed: {error}")),
        _ => Ok(()),
    }
}
