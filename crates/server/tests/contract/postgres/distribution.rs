//! A database that is spread over machines gets every statement by itself: what routes them looks
//! at each, and not into all that PostgreSQL could be told at once.

use std::thread::{self, available_parallelism};

use serde_json::{Value, json};

use crate::support::{App, Database, Engine, eventually, together};

const COMPANIES: usize = 3;
const PERSONS: usize = 12;

/// The extension is not here, so only its name is: nothing but the way in which statements are sent
/// depends on it in this test.
const NAME_OF_CITUS: &str = "INSERT INTO pg_extension (oid, extname, extowner, extnamespace, \
                             extrelocatable, extversion) \
                             SELECT 99999, 'citus', extowner, extnamespace, false, '13.0' FROM \
                             pg_extension LIMIT 1";
/// Lets the statements be kept that write persons and what points at them.
const KEEP_STATEMENTS: &str = "CREATE TABLE sent (text text); \
     CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO sent VALUES \
     (current_query()); RETURN NULL; END'; \
     CREATE TRIGGER keep AFTER INSERT ON person EXECUTE FUNCTION keep(); \
     CREATE TRIGGER keep AFTER INSERT ON person_identifier EXECUTE FUNCTION keep()";

fn start(spread: bool) -> App {
    let database = Database::new(Engine::Postgres);
    if spread {
        database.execute(NAME_OF_CITUS);
    }
    let app =
        Engine::Postgres.app().argument("--database-timeout").argument("10000").start_on(database);
    app.database.execute(KEEP_STATEMENTS);
    app
}

fn person(number: usize) -> Value {
    json!({ "name": format!("Person {number}"), "work_email": format!("{number}@x.example"),
        "company_name": format!("Company {}", number % COMPANIES) })
}

/// Creates persons in every way; gives back what was sent to write them.
fn statements(app: &App) -> Vec<String> {
    let client = app.writer();
    for number in 0..COMPANIES {
        client.post("/v1/persons", &person(number)).expect(201);
    }
    let rows: Vec<_> = (10..10 + PERSONS).map(person).collect();
    let reply = client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
    assert!(reply.entries().iter().all(|row| row["status"] == 201), "{reply:?}");
    together(PERSONS, |number| client.post("/v1/persons", &person(100 + number)).expect(201));
    assert_eq!(
        client.get("/v1/persons?q=person").expect(200).json["meta"]["total"],
        2 * PERSONS + COMPANIES
    );
    assert_eq!(client.get("/v1/persons?email=15@x.example").expect(200).entries().len(), 1);
    app.database.execute("SELECT text FROM sent")
}

fn is_plain(statement: &str) -> bool {
    statement.starts_with("INSERT INTO person") && !statement.contains("unnest")
}

/// Lets more read persons than can at once; gives back what each connection was asked last.
fn looks(app: &App, paths: &[String]) -> Vec<String> {
    let client = app.writer();
    let readers = available_parallelism().unwrap().get() + 32;
    let lock = app.database.hold("LOCK TABLE person IN ACCESS EXCLUSIVE MODE");
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            together(readers, |number| client.get(&paths[number % paths.len()]).expect(200))
        });
        let waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND \
            wait_event_type = 'Lock' AND query LIKE '%FROM person p %'";
        eventually("some read", || app.database.execute(waiting).len() > 1);
        drop(lock);
        reading.join().unwrap();
    });
    app.database.execute("SELECT query FROM pg_stat_activity WHERE datname = current_database()")
}

fn paths(app: &App) -> Vec<String> {
    (0..PERSONS)
        .map(|number| format!("/v1/persons/{}", app.writer().new_person(&person(number))))
        .collect()
}

fn are_many_persons(query: &str) -> bool {
    query.contains("unnest") && query.contains("FROM person p ")
}

#[test]
fn many_who_read_at_once_are_answered_by_one_statement() {
    let app = start(false);
    let paths = paths(&app);
    eventually("many are read at once", || {
        looks(&app, &paths).iter().any(|query| are_many_persons(query))
    });
}

#[test]
fn who_reads_from_a_database_that_is_spread_is_answered_alone() {
    let app = start(true);
    let asked = looks(&app, &paths(&app));
    assert!(asked.iter().any(|query| query.contains("FROM person p ")), "{asked:#?}");
    assert!(!asked.iter().any(|query| are_many_persons(query)), "{asked:#?}");
}

#[test]
fn a_database_that_is_spread_gets_every_statement_by_itself() {
    let sent = statements(&start(true));
    assert!(
        sent.len() >= 2 * (2 * PERSONS + COMPANIES)
            && sent.iter().all(|statement| is_plain(statement)),
        "{sent:#?}"
    );
}

#[test]
fn postgres_itself_gets_many_at_once() {
    let sent = statements(&start(false));
    assert!(sent.iter().any(|statement| statement.contains("unnest")), "{sent:#?}");
    assert!(sent.iter().any(|statement| statement.starts_with("WITH insert_0")), "{sent:#?}");
}
