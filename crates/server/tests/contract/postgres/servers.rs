//! Several servers on one database behave as one.

use std::time::Duration;

use serde_json::json;

use crate::support::{
    App, Client, Engine, Log, Process, Reply, eventually, strings, time_taken, together,
};

const THREADS: usize = 16;
/// How soon a key that was revoked is refused everywhere.
const KEY_LIMIT: Duration = Duration::from_secs(5);

/// Two servers; the process is the second one.
fn two_servers() -> (App, Process, [Client; 2]) {
    let app = Engine::Postgres.app().start();
    let (process, address) = app.another_server();
    let clients = [app.writer(), Client::new(&address).with_key(&app.key("write"))];
    (app, process, clients)
}

/// Leaves events without numbers in the outbox, some of them within a millisecond.
fn leave_backlog(app: &App, count: usize) {
    app.database.execute(&format!(
        "INSERT INTO event_outbox (workspace_id, id, written_at, type, created_at, record_id, \
         content_hash, data) \
         SELECT workspace_id, gen_random_uuid(), now() - interval '1 second' + 7 * number * \
         interval '1 microsecond', 'person.created', now(), \
         gen_random_uuid(), sha256('x'), number FROM workspace, generate_series(1, {count}) AS \
         number"
    ));
}

/// PostgreSQL would take any index of the workspace for the right one until it has looked at the
/// rows, which it does when it comes to it.
#[test]
fn a_new_database_learns_of_its_rows_as_they_come() {
    let app = Engine::Postgres.app().start();
    let persons: Vec<_> = (0..1000)
        .map(|number| {
            json!({ "name": format!("Person {number}"),
        "work_email": format!("{number}@x.example") })
        })
        .collect();
    for table in ["person", "person_identifier", "search_document"] {
        app.database.execute(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
    }
    app.writer().post("/v1/persons/batch", &json!({ "persons": persons })).expect(200);
    let known = "SELECT relname FROM pg_class WHERE relname IN ('person', 'person_identifier', \
        'search_document') AND reltuples > 0";
    eventually("the tables are known", || app.database.execute(known).len() == 3);
    let way = app.database.execute(
        "SET plan_cache_mode = force_generic_plan; PREPARE look (bigint, uuid) AS SELECT 1 FROM \
         person WHERE workspace_id = $1 AND id = $2; \
         EXPLAIN EXECUTE look (1, gen_random_uuid())",
    );
    assert!(way.iter().any(|line| line.contains("person_pkey")), "{way:#?}");
}

#[test]
fn what_is_left_of_numbered_events_is_cleared_away() {
    let app = Engine::Postgres.app().start();
    app.database.execute("ALTER TABLE event_outbox SET (autovacuum_enabled = false)");
    let event = "1, gen_random_uuid(), 'person.created', now(), gen_random_uuid(), ''";
    app.database.execute(&format!(
        "INSERT INTO event_outbox (workspace_id, id, type, created_at, record_id, content_hash) \
         SELECT {event} FROM generate_series(1, 25000); DELETE FROM event_outbox WHERE \
         workspace_id = 1"
    ));
    let cleared = "SELECT 1 FROM pg_stat_user_tables WHERE relname = 'event_outbox' AND \
        vacuum_count > 0 AND n_dead_tup < 20000";
    eventually("the rows are cleared away", || app.database.execute(cleared).len() == 1);
}

#[test]
fn a_backlog_of_events_is_numbered_in_the_order_in_which_it_was_written() {
    let app = Engine::Postgres.app().start();
    // More than are numbered at once.
    leave_backlog(&app, 1800);
    eventually("all are numbered", || {
        app.database.execute("SELECT 1 FROM event_outbox").is_empty()
    });
    let numbers =
        "SELECT CAST(data AS integer) AS number, sequence FROM event WHERE data ~ '^[0-9]+$'";
    let out_of_order = format!(
        "SELECT 1 FROM ({numbers}) AS one JOIN ({numbers}) AS next ON next.sequence = \
         one.sequence + 1 AND next.number <> one.number + 1"
    );
    assert_eq!(app.database.execute(numbers).len(), 1800);
    assert_eq!(app.database.execute(&out_of_order), Vec::<String>::new());
}

#[test]
fn what_is_written_comes_behind_what_waits_for_its_number() {
    for waiting in [40, 1800] {
        let app = Engine::Postgres.app().start();
        let client = app.writer();
        let mut log = Log::begin(&client);
        leave_backlog(&app, waiting);
        together(THREADS, |number| {
            client.new_person(&json!({ "name": format!("Person {number}") }))
        });
        log.new_events();
        let first =
            "SELECT MIN(sequence) FROM event WHERE type = 'person.created' AND data LIKE '{%'";
        let last = "SELECT MAX(sequence) FROM event WHERE data = '";
        let [first, last] = [first.to_owned(), format!("{last}{waiting}'")]
            .map(|sql| app.database.execute(&sql)[0].parse::<i64>().unwrap());
        assert!(last < first, "{last} {first}");
    }
}

#[test]
fn events_of_those_who_go_together_are_numbered_at_once() {
    let app = Engine::Postgres.app().environment("SLATED_DATABASE_TIMEOUT", "1500").start();
    let client = app.writer();
    let job = client.new_job("Job", "Acme");
    let candidates: Vec<_> = (0..2 * THREADS)
        .map(|number| client.new_candidate(&job, &format!("Candidate {number}")))
        .collect();
    let candidates = strings(&json!(candidates), "id");
    let log = Log::begin(&client);
    // Whoever goes alone cannot.
    let lock = app.database.hold("LOCK TABLE event_outbox IN EXCLUSIVE MODE");
    let mut done: Vec<(&str, String, String)> = Vec::new();
    let mut note = |kind: &'static str, replies: Vec<(String, Reply)>| {
        let written = replies.into_iter().filter(|(_, reply)| reply.status < 300);
        done.extend(
            written.map(|(id, reply)| (kind, id, reply.header("x-request-id").unwrap().to_owned())),
        );
        done.iter().filter(|(noted, ..)| *noted == kind).count() > THREADS
    };
    let mut made = Vec::new();
    eventually("many are made together", || {
        let replies = together(2 * THREADS, |number| {
            client.post("/v1/persons", &json!({ "name": format!("Person {number}") }))
        });
        let new: Vec<_> = replies
            .into_iter()
            .filter(|reply| reply.status == 201)
            .map(|reply| (reply.id(), reply))
            .collect();
        made.extend(new.iter().map(|(id, _)| id.clone()));
        note("person.created", new)
    });
    let mut titles = 0..;
    eventually("many are changed together", || {
        let body = json!({ "current_job_title": format!("Clerk {}", titles.next().unwrap()) });
        let replies = together(made.len(), |number| {
            client.patch(&format!("/v1/persons/{}", made[number]), &body)
        });
        note("person.updated", made.iter().cloned().zip(replies).collect())
    });
    let mut stages = ["Contacted", "Screening", "Interview", "Final interview", "Offer", "Hired"]
        .into_iter()
        .cycle();
    eventually("many are moved together", || {
        let body = json!({ "stage_name": stages.next().unwrap() });
        let replies = together(candidates.len(), |number| {
            client.patch(&format!("/v1/candidates/{}", candidates[number]), &body)
        });
        note("candidate.moved", candidates.iter().cloned().zip(replies).collect())
    });
    let page = client.get(&format!("/v1/events?after={}&limit=1000", log.position)).expect(200);
    for (kind, id, request) in done {
        let told = page.entries().iter().filter(|event| {
            event["type"] == kind && event["record_id"] == id && event["request_id"] == request
        });
        assert_eq!(told.count(), 1, "{kind} {id}: {page:#?}");
    }
    drop(lock);
}

#[test]
fn who_writes_waits_for_nobody_who_numbers_events() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let mut log = Log::begin(&client);
    let lock = app.database.hold("SELECT * FROM event_numbering FOR UPDATE");
    let ids = together(16, |number| {
        let id = client.new_person(&json!({ "name": format!("Person {number}"),
            "work_email": format!("{number}@x.example") }));
        client
            .patch(&format!("/v1/persons/{id}"), &json!({ "current_job_title": "Clerk" }))
            .expect(200);
        id
    });
    drop(lock);
    let events = log.new_events();
    for id in ids {
        let told: Vec<_> = events
            .iter()
            .filter(|event| event["record_id"] == id)
            .map(|event| &event["type"])
            .collect();
        assert_eq!(told, ["person.created", "person.updated"]);
    }
}

/// Invariant 5.
#[test]
fn servers_that_number_events_at_once_leave_a_log_without_gaps() {
    let (app, _process, clients) = two_servers();
    let mut log = Log::begin(&clients[0]);
    let first = log.position;
    let ids = together(32, |number| {
        (0..6)
            .map(|round| {
                clients[number % 2]
                    .new_person(&json!({ "name": format!("Person {number} {round}") }))
            })
            .collect::<Vec<_>>()
    });
    let events = log.new_events();
    let sequences: Vec<_> =
        events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (first + 1..=first + 32 * 6).collect::<Vec<_>>());
    for id in ids.iter().flatten() {
        assert_eq!(events.iter().filter(|event| event["record_id"] == *id).count(), 1);
    }
    assert!(app.database.run(&["audit", "verify"]).status.success());
}

#[test]
fn what_one_server_wrote_the_other_reads() {
    let (_app, _second, [one, other]) = two_servers();
    let job = one.new_job("Engineer", "Acme");
    let candidate = other.new_candidate(&job, "Ada");
    assert_eq!(one.candidate(candidate["id"].as_str().unwrap()), candidate);
}

#[test]
fn a_statement_from_before_a_schema_step_is_made_anew() {
    // With one connection it is the one that knows the statement.
    let app = Engine::Postgres.app().argument("--database-connections").argument("1").start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let name = || client.get(&format!("/v1/jobs/{}", job.id)).expect(200).data()["name"].clone();
    assert_eq!(name(), "Engineer");
    app.database.execute("ALTER TABLE job ALTER COLUMN name TYPE varchar(500) COLLATE \"C\"");
    assert_eq!(name(), "Engineer");
}

#[test]
fn a_revoked_key_is_refused_by_every_server() {
    let (app, _second, [one, other]) = two_servers();
    let taken = time_taken(KEY_LIMIT, || {
        let key = app.database.create_key("main", "read", &[]);
        let clients = [one.with_key(&key), other.with_key(&key)];
        for client in &clients {
            client.get("/v1/jobs").expect(200);
        }
        let list = app.database.ask(&["key", "list", "--workspace", "main"]);
        let mut keys =
            list.lines().filter(|line| line.contains("main read") && !line.contains("revoked"));
        let id = keys.next_back().unwrap().split_whitespace().next().unwrap();
        app.database.ask(&["key", "revoke", id, "--workspace", "main"]);
        eventually("both servers refuse the key", || {
            clients.iter().all(|client| client.get("/v1/jobs").status == 401)
        });
    });
    assert!(taken < KEY_LIMIT, "it took {taken:?}");
}

/// Invariant 11.
#[test]
fn an_idempotency_key_holds_across_servers() {
    let (_app, _second, clients) = two_servers();
    let replies = together(THREADS, |number| {
        let client = clients[number % 2].with("idempotency-key", "once");
        let reply = client
            .post("/v1/jobs", &json!({ "name": "Pilot", "client_company_name": "Acme" }))
            .expect(201);
        reply.id()
    });
    assert!(replies.iter().all(|id| *id == replies[0]), "{replies:?}");
    assert_eq!(clients[0].get("/v1/jobs").expect(200).json["meta"]["total"], 1);
}

#[test]
fn racing_creates_through_different_servers_make_one_person() {
    let (_app, _second, clients) = two_servers();
    let job = clients[0].new_job("Engineer", "Acme");
    for round in 0..5 {
        let body = json!({ "name": "Ada", "work_email": format!("ada-{round}@example.com"),
            "company_name": format!("Works {round}"), "job_id": job.id });
        let ids = together(THREADS, |number| {
            let reply = clients[number % 2].post("/v1/persons", &body);
            assert!([200, 201].contains(&reply.status), "{reply:#?}");
            (reply.id(), reply.string("candidate_id"))
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
    let candidates = clients[1].get(&format!("/v1/jobs/{}/candidates", job.id)).expect(200);
    assert_eq!(candidates.json["meta"]["total"], 5);
    let ids = strings(candidates.data(), "id");
    assert!(ids.is_sorted(), "{ids:?}");
}

#[test]
fn servers_that_start_at_once_on_an_empty_database_make_one_schema_and_one_key() {
    let app = Engine::Postgres.app().first_start();
    let database = crate::support::Database::new(Engine::Postgres);
    let mut processes: Vec<_> = (0..4).map(|_| app.serve(&database)).collect();
    for process in &processes {
        process.log.wait_for("the address that it listens on", |line| {
            line.contains("\"listening\"").then_some(())
        });
    }
    for process in &mut processes {
        process.terminate();
        process.wait_exit();
    }
    let shown =
        processes.iter().filter(|process| process.output.to_end().contains("slated_")).count();
    assert_eq!(shown, 1);
    assert_eq!(database.execute("SELECT name FROM workspace"), ["default"]);
}

#[test]
fn a_key_whose_answer_is_old_is_carried_out_once_more_and_not_twice() {
    let (app, _second, clients) = two_servers();
    for round in 1..=10 {
        app.database
            .execute("UPDATE idempotent_answer SET created_at = created_at - interval '25 hours'");
        let ids = together(THREADS, |number| {
            let client = clients[number % 2].with("idempotency-key", "once");
            client
                .post("/v1/jobs", &json!({ "name": "Pilot", "client_company_name": "Acme" }))
                .expect(201)
                .id()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(clients[0].get("/v1/jobs").expect(200).json["meta"]["total"], round);
    }
}

#[test]
fn nobody_is_merged_into_a_person_who_gave_the_identifier_up() {
    let (app, _second, [one, other]) = two_servers();
    let body = json!({ "name": "Ada", "work_email": "ada@example.com" });
    let first = one.post("/v1/persons", &body).expect(201).id();
    let path = format!("/v1/persons/{first}");
    let lock = app.database.hold("SELECT * FROM person FOR UPDATE");
    std::thread::scope(|scope| {
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname \
            = current_database()";
        let update = scope.spawn(|| one.patch(&path, &json!({ "emails": [] })));
        eventually("the update waits", || app.database.execute(waiting).len() == 1);
        let push = scope.spawn(|| other.post("/v1/persons", &body));
        eventually("the push waits too", || app.database.execute(waiting).len() == 2);
        drop(lock);
        update.join().unwrap().expect(200);
        let pushed = push.join().unwrap().expect(201);
        assert_ne!(pushed.id(), first);
    });
    assert_eq!(one.person(&first)["emails"], json!([]));
}
