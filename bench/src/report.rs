//! The figures as a table, and how they stand against the targets.

use std::time::Duration;

use crate::desk::{DeskFigures, Search};
use crate::events::EventFigures;
use crate::measurement::Measurement;
use crate::operations::Subject;

/// How much longer the last page of a large list may take than the first.
const MAX_OF_FIRST_PAGE: f64 = 1.25;
/// How much longer a read may take on the largest database than on the smallest.
const MAX_OF_SMALL: f64 = 1.4;
const MAX_TO_FIRST_ANSWER: Duration = Duration::from_millis(300);
const MAX_MEGABYTES: f64 = 200.0;
/// The part of a bare query's rate that a read of a person makes at least, and of a bare insert's
/// that a create does.
const MIN_OF_QUERY: f64 = 0.8;
const MIN_OF_INSERT: f64 = 0.5;
/// The part of a create's rate that events may cost.
const MAX_EVENT_COST: f64 = 0.15;
const MIN_DELIVERIES: f64 = 5000.0;
/// Milliseconds from the start of a change until a subscriber of the stream has it.
const MAX_TO_BE_SEEN: f64 = 100.0;
const MAX_ROUND_TRIPS: f64 = 4.0;
/// Milliseconds.
const MAX_TO_FIND: f64 = 50.0;
const MIN_BATCH_GAIN: f64 = 5.0;
const MIN_BATCH_GAIN_ON_POSTGRES: f64 = 10.0;

pub struct Row {
    pub subject: Subject,
    pub measurement: Measurement,
}

/// All that was measured on one database.
pub struct Run {
    pub size: u64,
    pub bare: Measurement,
    pub rows: Vec<Row>,
    /// What PostgreSQL does when it is asked without a server in between.
    pub peers: Vec<Row>,
    /// Between the server and PostgreSQL for each create of a person.
    pub round_trips: Option<f64>,
    pub started_in: Duration,
    pub memory_megabytes: f64,
    pub desk: Option<DeskFigures>,
    pub events: Option<EventFigures>,
}

impl Run {
    fn rate(&self, subject: Subject) -> Option<f64> {
        self.rows
            .iter()
            .chain(&self.peers)
            .find(|row| row.subject == subject)
            .map(|row| row.measurement.rate)
    }
}

pub fn print_table(runs: &[Run]) {
    println!(
        "\n{:>9}  {:<28} {:>11} {:>10} {:>10} {:>8}",
        "persons", "operation", "requests/s", "p50", "p99", "of bare"
    );
    for run in runs {
        print_row(run, Subject::Bare, &run.bare);
        for row in run.peers.iter().chain(&run.rows) {
            print_row(run, row.subject, &row.measurement);
        }
        if let Some(desk) = &run.desk {
            print_desk(run, desk);
        }
        if let Some(events) = &run.events {
            print_events(run, events);
        }
        println!();
    }
}

fn print_events(run: &Run, events: &EventFigures) {
    print_row(run, Subject::FeedFirst, &events.feed_first);
    print_row(run, Subject::FeedLast, &events.feed_last);
    let rate = |label: &str, rate: f64| {
        println!("{:>9}  {label:<28} {:>11}", grouped(run.size), grouped(rate.round() as u64))
    };
    rate("create, with events", events.create_with);
    rate("create, without events", events.create_without);
    rate("webhook deliveries", events.deliveries);
    let EventFigures { seen_median, seen_slow, .. } = events;
    println!(
        "{:>9}  {:<28} {:>11} {seen_median:>7.2} ms {seen_slow:>7.2} ms",
        grouped(run.size),
        "change seen in a stream",
        ""
    );
    println!(
        "           (a log of {} events; {} delivered)",
        grouped(events.events),
        grouped(events.delivered)
    );
}

fn print_row(run: &Run, subject: Subject, measurement: &Measurement) {
    let Measurement { rate, median, slow, failures } = measurement;
    let ratio = rate / run.bare.rate;
    let complaint =
        if *failures > 0 { format!("  {} FAILED", grouped(*failures)) } else { String::new() };
    println!(
        "{:>9}  {:<28} {:>11} {median:>7.2} ms {slow:>7.2} ms {ratio:>8.3}{complaint}",
        grouped(run.size),
        subject.name(),
        grouped(rate.round() as u64)
    );
}

/// The number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A target, and whether it was met.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    pub target: String,
    pub found: String,
    pub passed: bool,
}

/// One for each target that there are figures for.
pub fn verdicts(runs: &[Run]) -> Vec<Verdict> {
    let mut verdicts: Vec<_> = runs.iter().flat_map(failures).collect();
    // With a database beside it the server has less of the machine than in its bare answer, so it
    // is held against that database.
    let (with_peers, alone): (Vec<_>, Vec<_>) = runs.iter().partition(|run| !run.peers.is_empty());
    verdicts.extend(alone.into_iter().flat_map(parts_of_bare));
    verdicts.extend(with_peers.into_iter().flat_map(parts_of_peers));
    if let Some(largest) = runs.last() {
        verdicts.extend(last_page(largest));
        if let Some(smallest) = runs.first().filter(|smallest| smallest.size < largest.size) {
            verdicts.extend(growth(smallest, largest));
        }
        verdicts.push(start(largest));
    }
    verdicts.extend(runs.iter().map(memory));
    verdicts.extend(
        runs.iter()
            .filter_map(|run| run.desk.as_ref().map(|desk| (run, desk)))
            .flat_map(|(run, desk)| of_desk(run, desk)),
    );
    verdicts.extend(runs.iter().filter_map(|run| run.events.as_ref()).flat_map(of_events));
    verdicts
}

fn print_desk(run: &Run, desk: &DeskFigures) {
    for Search { question, median, slow } in &desk.searches {
        let question = format!("search {question}");
        println!("{:>9}  {question:<40} {median:>8.2} ms {slow:>7.2} ms (p95)", grouped(run.size));
    }
    println!(
        "{:>9}  {:<28} {:>11} persons/s",
        grouped(run.size),
        "created one by one",
        grouped(desk.singly as u64)
    );
    println!(
        "{:>9}  {:<28} {:>11} persons/s",
        grouped(run.size),
        "created 1,000 in a call",
        grouped(desk.in_batches as u64)
    );
}

fn of_desk(run: &Run, desk: &DeskFigures) -> Vec<Verdict> {
    let least_gain = if run.peers.is_empty() { MIN_BATCH_GAIN } else { MIN_BATCH_GAIN_ON_POSTGRES };
    let gain = desk.in_batches / desk.singly;
    let slowest = desk.searches.iter().max_by(|one, other| one.slow.total_cmp(&other.slow));
    let (question, slow) =
        slowest.map_or(("nothing", 0.0), |search| (search.question.as_str(), search.slow));
    vec![
        Verdict {
            target: format!(
                "search at {}: 95 of 100 answers within {MAX_TO_FIND} ms",
                grouped(run.size)
            ),
            found: format!("{slow:.1} ms for {question:?}"),
            passed: slow <= MAX_TO_FIND,
        },
        Verdict {
            target: format!(
                "one caller at {}: batches at least {least_gain} times as fast as single creates",
                grouped(run.size)
            ),
            found: format!("{gain:.1}"),
            passed: gain >= least_gain,
        },
    ]
}

fn of_events(events: &EventFigures) -> Vec<Verdict> {
    let cost = 1.0 - events.create_with / events.create_without;
    let depth = events.feed_first.rate / events.feed_last.rate;
    let verdict = |target: String, found: String, passed: bool| Verdict { target, found, passed };
    vec![
        verdict(
            format!("events cost a create at most {MAX_EVENT_COST} of its rate"),
            format!("{cost:.3}"),
            cost <= MAX_EVENT_COST,
        ),
        verdict(
            format!(
                "webhooks: at least {} deliveries a second to one receiver",
                grouped(MIN_DELIVERIES as u64)
            ),
            grouped(events.deliveries.round() as u64),
            events.deliveries >= MIN_DELIVERIES,
        ),
        verdict(
            format!(
                "feed: the last page of {} events within {MAX_OF_FIRST_PAGE} times the first",
                grouped(events.events)
            ),
            format!("{depth:.2}"),
            depth <= MAX_OF_FIRST_PAGE,
        ),
        verdict(
            format!("stream: 99 of 100 changes seen within {MAX_TO_BE_SEEN} ms"),
            format!("{:.1} ms", events.seen_slow),
            events.seen_slow <= MAX_TO_BE_SEEN,
        ),
    ]
}

fn failures(run: &Run) -> Vec<Verdict> {
    let bare = (Subject::Bare, &run.bare);
    let rows = run.rows.iter().map(|row| (row.subject, &row.measurement));
    let failed =
        std::iter::once(bare).chain(rows).filter(|(_, measurement)| measurement.failures > 0);
    failed
        .map(|(subject, measurement)| Verdict {
            target: format!("{} at {}: no request fails", subject.name(), grouped(run.size)),
            found: format!("{} failed", grouped(measurement.failures)),
            passed: false,
        })
        .collect()
}

fn parts_of_bare(run: &Run) -> Vec<Verdict> {
    let judge = |row: &Row| {
        let least = row.subject.least_of_bare()?;
        let part = row.measurement.rate / run.bare.rate;
        Some(Verdict {
            target: format!(
                "{} at {}: at least {least} of the bare answer",
                row.subject.name(),
                grouped(run.size)
            ),
            found: format!("{part:.3}"),
            passed: part >= least,
        })
    };
    run.rows.iter().filter_map(judge).collect()
}

fn parts_of_peers(run: &Run) -> Vec<Verdict> {
    let part = |subject: Subject, peer: Subject, least: f64| {
        let part = run.rate(subject)? / run.rate(peer)?;
        let target = format!(
            "{} at {}: at least {least} of the {}",
            subject.name(),
            grouped(run.size),
            peer.name()
        );
        Some(Verdict { target, found: format!("{part:.3}"), passed: part >= least })
    };
    let mut verdicts: Vec<_> = [
        part(Subject::ReadPerson, Subject::BareRead, MIN_OF_QUERY),
        part(Subject::CreatePerson, Subject::BareInsert, MIN_OF_INSERT),
    ]
    .into_iter()
    .flatten()
    .collect();
    verdicts.extend(run.round_trips.map(|found| Verdict {
        target: format!(
            "create person v1 at {}: at most {MAX_ROUND_TRIPS} round trips",
            grouped(run.size)
        ),
        found: format!("{found:.2}"),
        passed: found <= MAX_ROUND_TRIPS,
    }));
    verdicts
}

fn last_page(run: &Run) -> Option<Verdict> {
    let times = run.rate(Subject::FirstPage)? / run.rate(Subject::LastPage)?;
    Some(Verdict {
        target: format!(
            "last page at {}: within {MAX_OF_FIRST_PAGE} times the first",
            grouped(run.size)
        ),
        found: format!("{times:.2}"),
        passed: times <= MAX_OF_FIRST_PAGE,
    })
}

fn growth(smallest: &Run, largest: &Run) -> Vec<Verdict> {
    let judge = |row: &Row| {
        let times = smallest.rate(row.subject)? / row.measurement.rate;
        Some(Verdict {
            target: format!(
                "{}: at {} within {MAX_OF_SMALL} times {}",
                row.subject.name(),
                grouped(largest.size),
                grouped(smallest.size)
            ),
            found: format!("{times:.2}"),
            passed: times <= MAX_OF_SMALL,
        })
    };
    largest.rows.iter().filter(|row| row.subject.is_read()).filter_map(judge).collect()
}

fn start(run: &Run) -> Verdict {
    Verdict {
        target: format!(
            "start to first answer at {}: under {} ms",
            grouped(run.size),
            MAX_TO_FIRST_ANSWER.as_millis()
        ),
        found: format!("{} ms", run.started_in.as_millis()),
        passed: run.started_in < MAX_TO_FIRST_ANSWER,
    }
}

fn memory(run: &Run) -> Verdict {
    Verdict {
        target: format!(
            "memory beside mapped files at {}: under {MAX_MEGABYTES} MB",
            grouped(run.size)
        ),
        found: format!("{:.0} MB", run.memory_megabytes),
        passed: run.memory_megabytes < MAX_MEGABYTES,
    }
}

pub fn print_verdicts(verdicts: &[Verdict]) {
    for Verdict { target, found, passed } in verdicts {
        println!("{}  {target} ({found})", if *passed { "PASS" } else { "FAIL" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(rate: f64) -> Measurement {
        Measurement { rate, median: 0.3, slow: 1.0, failures: 0 }
    }

    fn run(size: u64, rates: &[(Subject, f64)]) -> Run {
        Run {
            size,
            bare: measured(100_000.0),
            rows: rates
                .iter()
                .map(|(subject, rate)| Row { subject: *subject, measurement: measured(*rate) })
                .collect(),
            peers: Vec::new(),
            round_trips: None,
            started_in: Duration::from_millis(40),
            memory_megabytes: 80.0,
            desk: None,
            events: None,
        }
    }

    fn missed(runs: &[Run]) -> Vec<String> {
        verdicts(runs)
            .into_iter()
            .filter(|verdict| !verdict.passed)
            .map(|verdict| verdict.target)
            .collect()
    }

    #[test]
    fn good_figures_meet_every_target() {
        let rates = [
            (Subject::ReadPerson, 45_000.0),
            (Subject::CreatePerson, 30_000.0),
            (Subject::FirstPage, 6_000.0),
            (Subject::LastPage, 5_900.0),
        ];
        let runs = [run(1000, &rates), run(1_000_000, &rates)];
        assert_eq!(missed(&runs), Vec::<String>::new());
        assert!(verdicts(&runs).len() > 10);
    }

    #[test]
    fn each_target_can_be_missed() {
        let small = run(1000, &[(Subject::ReadJob, 60_000.0)]);
        let mut large = run(
            1_000_000,
            &[
                (Subject::ReadJob, 39_000.0),
                (Subject::FirstPage, 8_000.0),
                (Subject::LastPage, 6_000.0),
            ],
        );
        large.started_in = Duration::from_millis(300);
        large.memory_megabytes = 200.0;
        large.rows[1].measurement.failures = 1;
        assert_eq!(
            missed(&[small, large]),
            [
                "list candidates, first page at 1,000,000: no request fails",
                "read job at 1,000,000: at least 0.4 of the bare answer",
                "last page at 1,000,000: within 1.25 times the first",
                "read job: at 1,000,000 within 1.4 times 1,000",
                "start to first answer at 1,000,000: under 300 ms",
                "memory beside mapped files at 1,000,000: under 200 MB",
            ]
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
