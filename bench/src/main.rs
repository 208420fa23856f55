//! Measures slated under load: how many requests a second each operation makes, how long they take,
//! and how that compares to a bare HTTP answer of the same server, on a small and on a large
//! database. Then it holds the figures against the targets.
//!
//! The load comes from wrk, which shares the machine with the server; so every figure, the bare one
//! included, is made with the same kind of client, and it is the ratio between them that says
//! something on another machine.

mod arguments;
mod desk;
mod events;
mod load;
mod measurement;
mod operations;
mod postgres;
mod report;
mod sample;
mod seed;
mod server;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use slated_store::Location;

use crate::arguments::{Arguments, Engine, HELP};
use crate::desk::DeskFigures;
use crate::events::Bench;
use crate::load::Load;
use crate::measurement::Measurement;
use crate::operations::{Operation, Subject, bare, operations};
use crate::postgres::Cluster;
use crate::report::{Row, Run};
use crate::sample::Sample;
use crate::server::Server;

/// What `--only` calls the figures of events, which are taken on the smallest database.
const EVENTS: &str = "events";
const DESK: &str = "desk";

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
    fs::create_dir_all(&directory)
        .map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    load::find_wrk()?;
    let program = server::build()?;
    let cluster = match arguments.engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let mut runs = Vec::new();
    for size in &arguments.sizes {
        let seeded = seed::database(&directory, *size)?;
        runs.push(match &cluster {
            None => measure_file(&arguments, &directory, &program, &seeded, *size)?,
            Some(cluster) => {
                measure_cluster(&arguments, &directory, &program, cluster, &seeded, *size)?
            }
        });
    }
    report::print_table(&runs);
    let verdicts = report::verdicts(&runs);
    report::print_verdicts(&verdicts);
    Ok(verdicts.iter().all(|verdict| verdict.passed))
}

/// Drives a server on a copy of the database, so that what one run writes is not there in the next.
fn measure_file(
    arguments: &Arguments,
    directory: &Path,
    program: &Path,
    seeded: &Path,
    size: u64,
) -> Result<Run, String> {
    let database = directory.join("running.db");
    seed::copy(seeded, &database)?;
    let location = Location::Sqlite(database.clone());
    let sample = sample::draw(&location)?;
    let run = measure(arguments, directory, program, &location.to_string(), &sample, size)?;
    seed::remove(&database)?;
    Ok(run)
}

/// The same on PostgreSQL, beside what PostgreSQL does when it is asked without a server in
/// between.
fn measure_cluster(
    arguments: &Arguments,
    directory: &Path,
    program: &Path,
    cluster: &Cluster,
    seeded: &Path,
    size: u64,
) -> Result<Run, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let location = runtime.block_on(cluster.fill(size, seeded))?;
    let url = cluster.url_of(&format!("persons_{size}"));
    let sample = sample::draw(&location)?;
    eprintln!("measuring: bare queries and bare inserts");
    let row_before =
        runtime.block_on(postgres::bare_row(&url, &sample.persons, arguments.seconds))?;
    let read_before =
        runtime.block_on(postgres::bare_read(&url, &sample.persons, arguments.seconds))?;
    let insert_before = runtime.block_on(postgres::bare_insert(&url, arguments.seconds))?;
    let person_before =
        runtime.block_on(postgres::bare_insert_of_person(&url, arguments.seconds))?;
    let mut run = measure(arguments, directory, program, &url, &sample, size)?;
    let row_after =
        runtime.block_on(postgres::bare_row(&url, &sample.persons, arguments.seconds))?;
    let read_after =
        runtime.block_on(postgres::bare_read(&url, &sample.persons, arguments.seconds))?;
    let insert_after = runtime.block_on(postgres::bare_insert(&url, arguments.seconds))?;
    let person_after =
        runtime.block_on(postgres::bare_insert_of_person(&url, arguments.seconds))?;
    run.peers = vec![
        Row {
            subject: Subject::BareRow,
            measurement: Measurement::average(&row_before, &row_after),
        },
        Row {
            subject: Subject::BareRead,
            measurement: Measurement::average(&read_before, &read_after),
        },
        Row {
            subject: Subject::BareInsert,
            measurement: Measurement::average(&insert_before, &insert_after),
        },
        Row {
            subject: Subject::BareInsertOfPerson,
            measurement: Measurement::average(&person_before, &person_after),
        },
    ];
    Ok(run)
}

fn measure(
    arguments: &Arguments,
    directory: &Path,
    program: &Path,
    database: &str,
    sample: &Sample,
    size: u64,
) -> Result<Run, String> {
    let log = directory.join("server.log");
    let server = Server::start(program, database, &log)?;
    let mut load = Load::new(arguments, directory, server.address(), &sample.key, database);
    load.wait_until_indexed()?;
    // Before anything is written, so that there are as many persons as are said to be.
    let searches = match arguments.wants(DESK) {
        true => Some(desk::measure_searches(&server, &load, sample, size)?),
        false => None,
    };
    let bare_before = load.measure(&bare())?;
    let rows = measure_operations(arguments, &mut load, sample)?;
    let bare_after = load.measure(&bare())?;
    let round_trips = match arguments.engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(round_trips_of_create(&server, &mut load, sample)?),
    };
    let (started_in, memory_megabytes) = (server.started_in(), server.memory_megabytes()?);
    let desk = match searches {
        Some(searches) => {
            let run = u64::from(std::process::id());
            let (singly, in_batches) =
                desk::measure_creates(&server, &load, &sample.key, run, arguments.seconds)?;
            Some(DeskFigures { searches, singly, in_batches })
        }
        None => None,
    };
    server.stop()?;
    let events = match arguments.wants(EVENTS) && arguments.sizes.first() == Some(&size) {
        true => {
            let create = create_of(sample)?;
            let bench = Bench {
                program,
                database,
                log: &log,
                admin_key: &sample.admin_key,
                create: &create,
            };
            Some(bench.measure(&mut load)?)
        }
        false => None,
    };
    let run = Run {
        size,
        bare: Measurement::average(&bare_before, &bare_after),
        rows,
        peers: Vec::new(),
        round_trips,
        started_in,
        memory_megabytes,
        desk,
        events,
    };
    load.clean_up();
    let _ = fs::remove_file(&log);
    Ok(run)
}

/// Round trips to the database for each create of a person, the look-up of the key and of conflicts
/// among them.
fn round_trips_of_create(server: &Server, load: &mut Load, sample: &Sample) -> Result<f64, String> {
    let creates = create_of(sample)?;
    let before = server.counter("slated_store_round_trips_total")?;
    let made = load.count(&creates)?;
    Ok((server.counter("slated_store_round_trips_total")? - before) as f64 / made as f64)
}

fn create_of(sample: &Sample) -> Result<Operation, String> {
    operations(sample)
        .into_iter()
        .find(|operation| operation.subject == Subject::CreatePerson)
        .ok_or_else(|| "no create".to_owned())
}

fn measure_operations(
    arguments: &Arguments,
    load: &mut Load,
    sample: &Sample,
) -> Result<Vec<Row>, String> {
    let wanted: Vec<Operation> = operations(sample)
        .into_iter()
        .filter(|operation| arguments.wants(operation.subject.name()))
        .collect();
    if wanted.is_empty() && !arguments.wants(EVENTS) && !arguments.wants(DESK) {
        return Err(format!(
            "no operation has {:?} in its name",
            arguments.only.as_deref().unwrap_or_default()
        ));
    }
    let mut rows = Vec::with_capacity(wanted.len());
    for operation in &wanted {
        rows.push(Row { subject: operation.subject, measurement: load.measure(operation)? });
    }
    Ok(rows)
}
