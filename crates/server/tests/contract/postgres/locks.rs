//! Rows that others hold, on PostgreSQL: who waits for one lets nobody wait who does not need it,
//! and holds nothing that its holder may want next.

use serde_json::json;

use crate::support::{Engine, Job, Reply, enriching, eventually, social_url, strings, together};

const CALLERS: usize = 16;
const WAITING: &str = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname \
    = current_database()";

#[test]
fn who_waits_for_a_person_lets_no_others_wait() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let known = json!({ "name": "Known", "work_email": "known@x.example" });
    client.new_person(&known);
    let lock = app.database.hold("SELECT * FROM person FOR UPDATE");
    std::thread::scope(|scope| {
        let pushes: Vec<_> =
            (0..8).map(|_| scope.spawn(|| client.post("/v1/persons", &known))).collect();
        eventually("somebody waits for the person", || !app.database.execute(WAITING).is_empty());
        let made = together(CALLERS, |number| {
            client.post(
                "/v1/persons",
                &json!({ "name": format!("New {number}"),
                    "work_email": format!("{number}@x.example") }),
            )
        });
        assert!(made.iter().all(|reply| reply.status == 201), "{made:#?}");
        assert!(!app.database.execute(WAITING).is_empty(), "nobody waits any more");
        drop(lock);
        for push in pushes {
            let status = push.join().unwrap().status;
            assert!([200, 503].contains(&status), "{status}");
        }
    });
}

#[test]
fn who_waits_for_a_job_lets_no_others_wait() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let [held, free] = ["Held", "Free"].map(|name| client.new_job(name, "Acme"));
    let lock = app.database.hold("SELECT * FROM job WHERE name = 'Held' FOR UPDATE");
    let create = |name: String, job: &Job| {
        client.post("/v1/persons", &json!({ "name": name, "job_id": job.id }))
    };
    std::thread::scope(|scope| {
        let (create, held) = (&create, &held);
        let pushes: Vec<_> = (0..12)
            .map(|number| scope.spawn(move || create(format!("Held {number}"), held)))
            .collect();
        eventually("somebody waits for the job", || !app.database.execute(WAITING).is_empty());
        let made = together(CALLERS, |number| create(format!("Free {number}"), &free));
        assert!(made.iter().all(|reply| reply.status == 201), "{made:#?}");
        let waiting = app.database.execute(WAITING).len();
        assert!(waiting <= 4, "{waiting} connections wait for one job");
        let person = client.new_person(&json!({ "name": "Ada" }));
        client.post(&free.candidates_path(), &json!({ "person_id": person })).expect(201);
        assert!(!app.database.execute(WAITING).is_empty(), "nobody waits any more");
        drop(lock);
        for push in pushes {
            assert_eq!(push.join().unwrap().status, 201);
        }
    });
    assert_eq!(
        [held, free].map(|job| client.get(&job.path()).data()["candidate_count"].clone()),
        [json!(12), json!(CALLERS + 1)]
    );
}

#[test]
fn who_waits_for_a_row_leaves_connections_to_others() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Held", "Acme");
    let lock = app.database.hold("SELECT * FROM job FOR UPDATE");
    std::thread::scope(|scope| {
        let (client, job) = (&client, &job);
        let changes: Vec<_> = (0..20)
            .map(|number| {
                scope.spawn(move || {
                    client.patch(&job.path(), &json!({ "name": format!("{number}") }))
                })
            })
            .collect();
        eventually("all who may wait for the job do", || app.database.execute(WAITING).len() == 14);
        assert_eq!(client.get(&job.path()).expect(200).string("name"), "Held");
        assert_eq!(client.get("/v1/jobs").expect(200).entries().len(), 1);
        assert_eq!(app.database.execute(WAITING).len(), 14);
        drop(lock);
        for change in changes {
            let status = change.join().unwrap().status;
            assert!([200, 503].contains(&status), "{status}");
        }
    });
}

/// Whoever creates a single person claims their identifiers, and then waits for the job.
#[test]
fn a_batch_that_waits_for_an_identifier_holds_no_job() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_person(&json!({ "name": "Ada", "work_email": "ada@x.example" }));
    let claim = "INSERT INTO person_identifier (workspace_id, kind, key, rank, person_id) \
                 SELECT workspace_id, kind, 'wanted@x.example', rank, person_id FROM \
                 person_identifier";
    let lock = app.database.hold(claim);
    let rows = ["new@x.example", "new@x.example", "wanted@x.example"]
        .map(|email| json!({ "name": "New", "work_email": email, "job_id": job.id }));
    std::thread::scope(|scope| {
        let batch = scope.spawn(|| client.post("/v1/persons/batch", &json!({ "persons": rows })));
        eventually("the batch waits for the identifier", || {
            !app.database.execute(WAITING).is_empty()
        });
        assert_eq!(app.database.execute("SELECT 1 FROM job FOR UPDATE NOWAIT").len(), 1);
        drop(lock);
        let reply = batch.join().unwrap().expect(200);
        let statuses: Vec<_> = reply.entries().iter().map(|row| row["status"].clone()).collect();
        assert_eq!(statuses, [201, 200, 201]);
    });
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 2);
}

/// Whom a create finds by an address may lose it before the create gets to them.
#[test]
fn an_address_that_is_given_up_while_a_create_waits_leads_to_nobody() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let ada = client.new_person(&json!({ "name": "Ada", "work_email": "desk@x.example" }));
    let lock = app.database.hold(
        "UPDATE person SET emails = '[]', version = version + 1; DELETE FROM person_identifier",
    );
    std::thread::scope(|scope| {
        let push = scope.spawn(|| {
            client.post("/v1/persons", &json!({ "name": "Grace", "work_email": "desk@x.example" }))
        });
        eventually("the create waits for the person", || !app.database.execute(WAITING).is_empty());
        lock.commit();
        let reply = push.join().unwrap().expect(201);
        assert!(reply.id() != ada && reply.header("x-matched-by").is_none(), "{reply:#?}");
    });
    assert_eq!(client.person(&ada)["emails"], json!([]));
}

/// Whoever merges or renames a company holds it, and then those who work there.
#[test]
fn a_merge_that_waits_for_a_company_holds_no_person() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let [kept, gone] = ["Ada", "Ada L"]
        .map(|name| client.new_person(&json!({ "name": name, "company_name": "Acme" })));
    let lock = app.database.hold("SELECT * FROM company FOR UPDATE");
    std::thread::scope(|scope| {
        let merge = scope.spawn(|| {
            client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone }))
        });
        eventually("the merge waits for the company", || !app.database.execute(WAITING).is_empty());
        assert_eq!(app.database.execute("SELECT 1 FROM person FOR UPDATE NOWAIT").len(), 2);
        drop(lock);
        merge.join().unwrap().expect(200);
    });
}

/// Whoever merges a company holds it, and then its jobs and those who work there. What a batch
/// changes twice is looked up again with its company.
#[test]
fn a_batch_that_waits_for_a_company_holds_neither_its_persons_nor_its_jobs() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_person(
        &json!({ "name": "Ada", "work_email": "ada@x.example", "company_name": "Acme" }),
    );
    let rows = [
        json!({ "name": "Ada", "work_email": "ada@x.example", "current_job_title": "Engineer" }),
        json!({ "name": "Ada", "work_email": "ada@x.example", "social_location": "Oslo",
        "job_id": job.id }),
        json!({ "name": "New", "work_email": "new@x.example", "job_id": job.id }),
    ];
    let lock = app.database.hold("SELECT * FROM company FOR UPDATE");
    std::thread::scope(|scope| {
        let batch = scope.spawn(|| client.post("/v1/persons/batch", &json!({ "persons": rows })));
        eventually("the batch waits for the company", || !app.database.execute(WAITING).is_empty());
        for table in ["person", "job"] {
            assert_eq!(
                app.database.execute(&format!("SELECT 1 FROM {table} FOR UPDATE NOWAIT")).len(),
                1,
                "{table}"
            );
        }
        drop(lock);
        let reply = batch.join().unwrap().expect(200);
        let statuses: Vec<_> = reply.entries().iter().map(|row| row["status"].clone()).collect();
        assert_eq!(statuses, [200, 200, 201]);
    });
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 2);
}

/// Whoever is filled may be written twice, and is looked up again with their company the second
/// time.
#[test]
fn who_waits_for_a_company_to_fill_a_person_does_not_hold_the_person() {
    let (app, provider) = enriching(Engine::Postgres, "");
    let work = json!([{ "company_name": "Acme", "title": "Analyst", "start_date": "2019-05" }]);
    provider.knows("ada", &json!({ "current_job_title": "Analyst", "work_experience": work }));
    let client = app.writer();
    let person =
        client.new_person(&json!({ "social_url": social_url("ada"), "company_name": "Acme" }));
    let lock = app.database.hold("SELECT * FROM company FOR UPDATE");
    client.ask_enrichment(&person, None);
    eventually("the company is waited for", || !app.database.execute(WAITING).is_empty());
    assert_eq!(app.database.execute("SELECT 1 FROM person FOR UPDATE NOWAIT").len(), 1);
    drop(lock);
    assert_eq!(client.wait_enriched(&person)["state"], "done");
    assert_eq!(client.person(&person)["work_experience"][0]["positions"][0]["title"], "Analyst");
}

/// Whoever puts a person on a job keeps the person first, and wants the job next.
#[test]
fn who_waits_to_remove_a_person_holds_nothing_else() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let [erased, gone, kept] = ["Erased", "Gone", "Kept"].map(|name| {
        let candidate = client.new_candidate(&job, name);
        candidate["person_id"].as_str().unwrap().to_owned()
    });
    let erase = || client.send("DELETE", &format!("/v1/persons/{erased}"), None);
    let merge = || client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone }));
    for (name, remove) in [("Erased", &erase as &(dyn Fn() -> Reply + Sync)), ("Gone", &merge)] {
        let lock =
            app.database.hold(&format!("SELECT * FROM person WHERE name = '{name}' FOR KEY SHARE"));
        std::thread::scope(|scope| {
            let removal = scope.spawn(remove);
            eventually("the person is waited for", || !app.database.execute(WAITING).is_empty());
            assert_eq!(app.database.execute("SELECT 1 FROM job FOR UPDATE NOWAIT").len(), 1);
            drop(lock);
            removal.join().unwrap().expect(200);
        });
    }
}

/// Whoever moves candidates holds them first, and keeps the stage next that they come to.
#[test]
fn who_waits_for_candidates_of_a_stage_does_not_hold_the_stage() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_candidate(&job, "Ada");
    let stages = strings(client.get(&job.stages_path()).expect(200).data(), "id");
    let lock = app.database.hold("SELECT * FROM candidate FOR NO KEY UPDATE");
    std::thread::scope(|scope| {
        let removal = scope.spawn(|| {
            client.send(
                "DELETE",
                &format!("{}/{}?move_to={}", job.stages_path(), stages[0], stages[1]),
                None,
            )
        });
        eventually("the candidate is waited for", || !app.database.execute(WAITING).is_empty());
        assert_eq!(
            app.database.execute("SELECT 1 FROM pipeline_stage FOR KEY SHARE NOWAIT").len(),
            stages.len()
        );
        drop(lock);
        assert_eq!(removal.join().unwrap().expect(200).entries()[0]["candidate_count"], 1);
    });
}

/// Each of them rests on the job as the other left it.
#[test]
fn changes_of_one_job_at_once_all_hold() {
    let app = Engine::Postgres.app().start();
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let path = job.path();
    let lock = app.database.hold("SELECT * FROM job FOR UPDATE");
    std::thread::scope(|scope| {
        let changes = [json!({ "name": "Pilot" }), json!({ "is_archived": true })];
        let (client, path) = (&client, &path);
        let sent =
            changes.map(|change| scope.spawn(move || client.patch(path, &change).expect(200)));
        eventually("both wait for the job", || app.database.execute(WAITING).len() == 2);
        drop(lock);
        sent.into_iter().for_each(|change| drop(change.join().unwrap()));
    });
    let job = client.get(&job.path()).expect(200);
    assert_eq!((&job.data()["name"], &job.data()["is_archived"]), (&json!("Pilot"), &json!(true)));
}
