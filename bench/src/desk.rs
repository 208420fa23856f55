//! How long a search takes, and how much faster many persons are created in one call than one by
//! one. One caller asks, over one connection at a time, as an import or somebody at a screen does.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::load::Load;
use crate::sample::Sample;
use crate::server::{Server, call};

/// What is searched for: names, beginnings, words that very many persons have, several of those,
/// beginnings that very many have, several of which hardly anybody has all, and a word that nobody
/// has.
const QUESTIONS: [&str; 17] = [
    "amara+okafor",
    "oka",
    "li",
    "engineer",
    "software+engineer",
    "operations+manager+berlin",
    "example",
    "engi",
    "soft+eng",
    "eng+oslo",
    "ka",
    "so+tha",
    "con+leg+exa",
    "com+comp+part",
    "nurs+tim+the",
    "dat+turbi+scien",
    "xyzzy",
];
/// What is searched for among those whom a filter leaves: words that few, some and very many of
/// them have.
const FILTERED: [(&str, Filter); 15] = [
    ("amara", Filter::Company),
    ("oslo", Filter::Company),
    ("ber", Filter::Company),
    ("engineer", Filter::Company),
    ("soft+eng", Filter::Company),
    ("wo", Filter::Company),
    ("em+se", Filter::Company),
    ("nurs+tim+the", Filter::Company),
    ("amara", Filter::Job),
    ("engi", Filter::Job),
    ("con+leg+exa", Filter::Job),
    ("amara", Filter::Newer),
    ("engineer", Filter::Newer),
    ("soft+eng", Filter::Newer),
    ("nurs+tim+the", Filter::Newer),
];
const TIMES_ASKED: usize = 40;
const PERSONS_IN_A_BATCH: usize = 1000;

/// The figures. Times are in milliseconds.
pub struct DeskFigures {
    pub searches: Vec<Search>,
    /// Persons a second, with a call for each.
    pub singly: f64,
    /// Persons a second, with many in a call.
    pub in_batches: f64,
}

/// What is searched for, with the time that half of its answers took at most, and nearly all of
/// them.
pub struct Search {
    pub question: String,
    pub median: f64,
    pub slow: f64,
}

/// Whom a filter leaves.
#[derive(Clone, Copy)]
enum Filter {
    /// Those whom one of some fifty companies employs.
    Company,
    /// The candidates of the job that everybody is a candidate of.
    Job,
    /// The newer half.
    Newer,
}

pub fn measure_searches(
    server: &Server,
    load: &Load,
    sample: &Sample,
    size: u64,
) -> Result<Vec<Search>, String> {
    let caller = Caller { address: server.address(), key: &sample.key };
    load.settle()?;
    eprintln!("measuring: search");
    let middle = caller.ask("GET", &format!("/v1/persons?limit=1&offset={}", size / 2), "")?;
    let of_middle = |field: &str| -> Result<&str, String> {
        let value = middle
            .split_once(&format!("\"{field}\":\""))
            .and_then(|(_, rest)| rest.split('"').next());
        value.ok_or_else(|| format!("somebody in the middle has no {field}: {middle}"))
    };
    let mut searches = Vec::with_capacity(QUESTIONS.len() + FILTERED.len());
    for question in QUESTIONS {
        searches.push(caller.search(question.replace('+', " "), &format!("q={question}"))?);
    }
    for (question, filter) in FILTERED {
        let (filter, whom) = match filter {
            Filter::Company => {
                (format!("company_id={}", of_middle("current_company_id")?), "at a company")
            }
            Filter::Job => (format!("job_id={}", sample.job), "on a job"),
            Filter::Newer => {
                (format!("created_after={}", of_middle("created_at")?), "in the newer half")
            }
        };
        searches.push(caller.search(
            format!("{} {whom}", question.replace('+', " ")),
            &format!("q={question}&{filter}"),
        )?);
    }
    Ok(searches)
}

/// How many persons a second are created one by one and in batches.
pub fn measure_creates(
    server: &Server,
    load: &Load,
    key: &str,
    run: u64,
    seconds: u64,
) -> Result<(f64, f64), String> {
    let caller = Caller { address: server.address(), key };
    let seconds = Duration::from_secs(seconds);
    load.settle()?;
    eprintln!("measuring: creates one by one and in batches");
    let mut number = 0;
    let singly = caller.rate(seconds, 1, || {
        number += 1;
        ("/v1/persons", person(run, "single", number))
    })?;
    load.settle()?;
    let mut number = 0;
    let in_batches = caller.rate(seconds, PERSONS_IN_A_BATCH, || {
        number += 1;
        let persons: Vec<_> = (0..PERSONS_IN_A_BATCH)
            .map(|row| person(run, "batch", number * PERSONS_IN_A_BATCH + row))
            .collect();
        ("/v1/persons/batch", format!(r#"{{"persons":[{}]}}"#, persons.join(",")))
    })?;
    Ok((singly, in_batches))
}

/// Somebody who is not there yet.
fn person(run: u64, how: &str, number: usize) -> String {
    format!(
        r#"{{"name":"Created {number}","social_url":"https://social.example/in/{how}-{run}-{number}","work_email":"{how}.{run}.{number}@example.com","mobile_phone":"+1 555 {number:07}","current_job_title":"Engineer","company_name":"Company {}"}}"#,
        number % 500
    )
}

struct Caller<'c> {
    address: SocketAddr,
    key: &'c str,
}

impl Caller<'_> {
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<String, String> {
        let (status, answer) = call(self.address, method, path, self.key, body)?;
        match status {
            200..300 if !answer.contains(r#""success":false"#) => Ok(answer),
            _ => Err(format!("{method} {path} was answered {status}: {answer}")),
        }
    }

    fn search(&self, question: String, query: &str) -> Result<Search, String> {
        let mut times = Vec::with_capacity(TIMES_ASKED);
        for _ in 0..TIMES_ASKED {
            let begun = Instant::now();
            self.ask("GET", &format!("/v1/persons?{query}&limit=25"), "")?;
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok(Search { question, median: times[times.len() / 2], slow: times[times.len() * 95 / 100] })
    }

    /// Persons a second.
    fn rate(
        &self,
        seconds: Duration,
        persons: usize,
        mut next: impl FnMut() -> (&'static str, String),
    ) -> Result<f64, String> {
        let (mut made, mut busy) = (0, Duration::ZERO);
        while busy < seconds {
            let (path, body) = next();
            let begun = Instant::now();
            self.ask("POST", path, &body)?;
            busy += begun.elapsed();
            made += persons;
        }
        Ok(made as f64 / busy.as_secs_f64())
    }
}
