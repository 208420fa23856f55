//! Measures slated under load: how many requests a second each operation makes, how long they take, and how that compares to a bare
//! HTTP answer of the same server, on a small and on a large database. Then it holds the figures against the targets.
//!
//! The load comes from wrk, which shares the machine with the server; so every figure, the bare one included, is made with the same
//! kind of client, and it is the ratio between them that says something on another machine.

mod arguments;
mod load;
mod operations;
mod report;
mod sample;
mod seed;
mod server;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::{Arguments, HELP};
use crate::load::{Load, Measurement};
use crate::operations::{Operation, Subject, bare, operations};
use crate::report::{Row, Run};
use crate::sample::Sample;
use crate::server::Server;

/// 0 if every target is met, 1 if one is missed, 2 if nothing could be measured.
fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let Some(arguments) = Arguments::read(std::env::args().skip(1))? else {
        println!("{HELP}");
        return Ok(true);
    };
    let directory = match &arguments.data {
        Some(directory) => directory.clone(),
        None => server::target_directory()?.join("bench"),
    };
    fs::create_dir_all(&directory).map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    load::find_wrk()?;
    let program = server::build()?;
    let mut runs = Vec::new();
    for size in &arguments.sizes {
        let seeded = seed::database(&directory, *size)?;
        runs.push(measure(&arguments, &directory, &program, &seeded, *size)?);
    }
    report::print_table(&runs);
    let verdicts = report::verdicts(&runs);
    report::print_verdicts(&verdicts);
    Ok(verdicts.iter().all(|verdict| verdict.passed))
}

/// Drives a server on a copy of the database, so that what one run writes is not there in the next.
fn measure(arguments: &Arguments, directory: &Path, program: &Path, seeded: &Path, size: u64) -> Result<Run, String> {
    let database = directory.join("running.db");
    let log = directory.join("server.log");
    seed::copy(seeded, &database)?;
    let sample = sample::draw(&database)?;
    let server = Server::start(program, &database, &log)?;
    let mut load = Load::new(arguments, directory, server.address(), &sample.key);
    let bare_before = load.measure(&bare())?;
    let rows = measure_operations(arguments, &mut load, &sample)?;
    let bare_after = load.measure(&bare())?;
    let run = Run {
        size,
        bare: Measurement::average(&bare_before, &bare_after),
        rows,
        started_in: server.started_in(),
        memory_megabytes: server.memory_megabytes()?,
    };
    server.stop()?;
    seed::remove(&database)?;
    load.clean_up();
    let _ = fs::remove_file(&log);
    Ok(run)
}

fn measure_operations(arguments: &Arguments, load: &mut Load, sample: &Sample) -> Result<Vec<Row>, String> {
    let is_wanted = |subject: Subject| arguments.only.as_deref().is_none_or(|only| subject.name().contains(only));
    let wanted: Vec<Operation> = operations(sample).into_iter().filter(|operation| is_wanted(operation.subject)).collect();
    if wanted.is_empty() {
        return Err(format!("no operation has {:?} in its name", arguments.only.as_deref().unwrap_or_default()));
    }
    let mut rows = Vec::with_capacity(wanted.len());
    for operation in &wanted {
        rows.push(Row { subject: operation.subject, measurement: load.measure(operation)? });
    }
    Ok(rows)
}
