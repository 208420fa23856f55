//! A PostgreSQL server for the time of the benchmark, with the same records as the SQLite database,
//! and what it does at most: one prepared query and one durable insert, asked for by this program
//! with nothing in between.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use slated::progress::Progress;
use slated_model::id::PersonId;
use slated_store::Location;
use slated_store::copy::{Stage, copy};
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls, Statement};

use crate::measurement::Measurement;
use crate::seed::runtime;

/// As many as the server has.
const CONNECTIONS: usize = 16;
/// How long a server may take until it has indexed what was copied.
const TIMEOUT: Duration = Duration::from_secs(900);
/// The row of a person alone.
const ROW: &str = "SELECT version, name, social_public_id, first_name, last_name, \
                   current_job_title, company_id, external_source_id, emails, phones, \
                   work_experience, education_experience, certifications FROM person WHERE \
                   workspace_id = $1 AND id = $2::text::uuid";
const INSERT: &str = "INSERT INTO bare (workspace_id, id, name, emails, created_at) VALUES ($1, \
    gen_random_uuid(), $2, '[]', now())";

/// An empty table that is as dear to write to as that of persons.
const TABLE_OF_PERSONS: &str = "CREATE TABLE bare_person (LIKE person INCLUDING ALL); \
    DO $$ DECLARE foreign_key text; BEGIN \
        FOR foreign_key IN SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = \
        'person'::regclass AND contype = 'f' LOOP \
            EXECUTE 'ALTER TABLE bare_person ADD ' || foreign_key; \
        END LOOP; \
    END $$";
/// The row of whom a create of the benchmark makes, without identifiers, words and events.
const INSERT_PERSON: &str = r#"INSERT INTO bare_person (workspace_id, id, version, created_at, updated_at, name, name_key, first_name, last_name, current_job_title,
    company_id, social_public_id, social_url, social_location, social_headline, address, emails, phones)
    VALUES ($1, $2::text::uuid, 1, now(), now(), 'Robin Bench ' || $2, 'robin bench ' || $2, 'Robin', 'Bench ' || $2, 'Software Engineer',
    $3::text::uuid, 'robin-bench-' || $2, 'https://social.example/in/robin-bench-' || $2, 'Oslo, Norway', '', '',
    '[{"type": "WORK", "value": "robin@bench.example"}]', '[{"type": "MOBILE", "value": "+46 70 174 06 05"}]')"#;

pub struct Cluster {
    directory: PathBuf,
    url: String,
}

impl Cluster {
    /// With durable commits, and memory as an administrator would give it.
    pub fn start() -> Result<Self, String> {
        let directory = env::temp_dir().join(format!("slated-bench-{}", process::id()));
        let settings = "shared_buffers = 2GB\nmax_wal_size = 8GB\ncheckpoint_timeout = 30min";
        let output = script(
            "start",
            &directory,
            &[("POSTGRES_FSYNC", "on"), ("POSTGRES_SETTINGS", settings)],
        )?;
        Ok(Self { directory, url: output })
    }

    /// A new database with all that is in the file.
    pub async fn fill(&self, size: u64, file: &Path) -> Result<Location, String> {
        let name = format!("persons_{size}");
        let client = connect(&self.url).await?;
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .map_err(|error| error.to_string())?;
        let location: Location = self.url_of(&name).parse()?;
        let progress = std::sync::Mutex::new(Progress::start(
            format!("copying {size} persons and candidates into PostgreSQL"),
            1,
        ));
        let report = |stage, done, total| {
            if stage == Stage::Copying
                && let Ok(mut progress) = progress.lock()
            {
                progress.show_of(done, total);
            }
        };
        copy(&Location::Sqlite(file.to_owned()), &location, &report)
            .await
            .map_err(|error| error.to_string())?;
        let client = connect(&self.url_of(&name)).await?;
        // What a server that has run for a while has behind it.
        for sql in [
            "VACUUM ANALYZE",
            "CHECKPOINT",
            "SELECT SUM(LENGTH(work_experience::text)) FROM person",
        ] {
            client.batch_execute(sql).await.map_err(|error| format!("{sql}: {error}"))?;
        }
        progress.into_inner().map_err(|error| error.to_string())?.finish();
        Ok(location)
    }

    pub fn url_of(&self, name: &str) -> String {
        let (base, _) = self.url.rsplit_once('/').unwrap_or((&self.url, ""));
        format!("{base}/{name}")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = script("stop", &self.directory, &[]);
    }
}

fn script(action: &str, directory: &Path, environment: &[(&str, &str)]) -> Result<String, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/postgres");
    let output =
        Command::new(&script).arg(action).arg(directory).envs(environment.iter().copied()).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", script.display()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Clears away behind writers, as autovacuum does sooner or later.
pub fn settle(url: &str) -> Result<(), String> {
    runtime()?.block_on(async {
        let client = connect(url).await?;
        for sql in ["VACUUM ANALYZE", "CHECKPOINT"] {
            client.batch_execute(sql).await.map_err(|error| format!("{sql}: {error}"))?;
        }
        Ok(())
    })
}

/// Waits until the server has taken the words of all persons.
pub fn wait_until_indexed(url: &str) -> Result<(), String> {
    let begun = Instant::now();
    runtime()?.block_on(async {
        let client = connect(url).await?;
        // Whoever is left in the tail is too few for a segment.
        let waiting = "SELECT 1 WHERE EXISTS (SELECT 1 FROM search_queue) OR (SELECT count(*) \
            FROM search_tail) >= 256";
        while !client.query(waiting, &[]).await.map_err(|error| error.to_string())?.is_empty() {
            if begun.elapsed() > TIMEOUT {
                return Err("the persons were not indexed in time".to_owned());
            }
            sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    })
}

async fn connect(url: &str) -> Result<Client, String> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.map_err(|error| format!("{url}: {error}"))?;
    tokio::spawn(connection);
    Ok(client)
}

/// Reads the rows of persons one after the other.
pub async fn bare_row(url: &str, persons: &[String], seconds: u64) -> Result<Measurement, String> {
    bare_query(url, ROW, persons, seconds).await
}

/// The same with all that a read of a person shows, by the statement that the server uses for it.
pub async fn bare_read(url: &str, persons: &[String], seconds: u64) -> Result<Measurement, String> {
    let sql =
        slated_store::records::person::VIEW.replace("?1", "$1").replace("?2", "$2::text::uuid");
    bare_query(url, &sql, persons, seconds).await
}

async fn bare_query(
    url: &str,
    sql: &str,
    persons: &[String],
    seconds: u64,
) -> Result<Measurement, String> {
    let workspace = workspace(url).await?;
    let ids = persons
        .iter()
        .filter_map(|id| PersonId::parse(id))
        .map(|id| hyphenated(id.to_bytes()))
        .collect();
    let ids: Arc<Vec<String>> = Arc::new(ids);
    measure(url, sql, seconds, move |client, statement, number| {
        let ids = Arc::clone(&ids);
        async move {
            client
                .query(&statement, &[&workspace, &ids[number % ids.len()]])
                .await
                .map(|rows| rows.len())
        }
    })
    .await
}

/// Commits one new row after the other.
pub async fn bare_insert(url: &str, seconds: u64) -> Result<Measurement, String> {
    let client = connect(url).await?;
    let table = "CREATE TABLE bare (workspace_id bigint, id uuid, name text, emails jsonb, \
        created_at timestamptz, PRIMARY KEY (workspace_id, id))";
    client.batch_execute(table).await.map_err(|error| error.to_string())?;
    let measurement = measure(url, INSERT, seconds, |client, statement, number| async move {
        client
            .execute(&statement, &[&1_i64, &format!("Robin Bench {number}")])
            .await
            .map(|count| count as usize)
    })
    .await;
    client.batch_execute("DROP TABLE bare").await.map_err(|error| error.to_string())?;
    measurement
}

/// Commits one new row of a person after the other.
pub async fn bare_insert_of_person(url: &str, seconds: u64) -> Result<Measurement, String> {
    let client = connect(url).await?;
    let row = client
        .query_one("SELECT workspace_id, id::text FROM company LIMIT 1", &[])
        .await
        .map_err(|error| error.to_string())?;
    let (workspace, company): (i64, String) = (row.get(0), row.get(1));
    client.batch_execute(TABLE_OF_PERSONS).await.map_err(|error| error.to_string())?;
    let measurement = measure(url, INSERT_PERSON, seconds, move |client, statement, number| {
        let company = company.clone();
        async move {
            client
                .execute(&statement, &[&workspace, &format!("{number:032x}"), &company])
                .await
                .map(|count| count as usize)
        }
    })
    .await;
    client.batch_execute("DROP TABLE bare_person").await.map_err(|error| error.to_string())?;
    measurement
}

async fn workspace(url: &str) -> Result<i64, String> {
    let client = connect(url).await?;
    let row = client
        .query_one("SELECT workspace_id FROM workspace", &[])
        .await
        .map_err(|error| error.to_string())?;
    Ok(row.get(0))
}

fn hyphenated(bytes: [u8; 16]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}

/// Runs the statement on every connection as fast as it goes.
async fn measure<A, F>(url: &str, sql: &str, seconds: u64, ask: A) -> Result<Measurement, String>
where
    A: Fn(Arc<Client>, Statement, usize) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<usize, tokio_postgres::Error>> + Send,
{
    let mut running = Vec::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let begun = Instant::now();
    for place in 0..CONNECTIONS {
        let client = Arc::new(connect(url).await?);
        let statement = client.prepare(sql).await.map_err(|error| error.to_string())?;
        let ask = ask.clone();
        running.push(tokio::spawn(async move {
            let mut times = Vec::new();
            let mut number = place * 1_000_003;
            while Instant::now() < end {
                let asked = Instant::now();
                if ask(Arc::clone(&client), statement.clone(), number)
                    .await
                    .map_err(|error| error.to_string())?
                    != 1
                {
                    return Err("a row is missing".to_owned());
                }
                times.push(asked.elapsed().as_secs_f64() * 1000.0);
                number += 1;
            }
            Ok(times)
        }));
    }
    let mut times: Vec<f64> = Vec::new();
    for task in running {
        times.extend(task.await.map_err(|error| error.to_string())??);
    }
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    times.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(0.0);
    Ok(Measurement { rate, median: at(0.5), slow: at(0.99), failures: 0 })
}
