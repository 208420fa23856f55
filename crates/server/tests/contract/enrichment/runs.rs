//! Enrichment of many: whom a filter fits, how far a run is, and how it ends.

use serde_json::{Value, json};

use crate::support::{
    Action, Client, Engine, Workspace, apply, each_engine, enriching, is_time, next_millisecond,
    run_path, shape, social_url, strings, who,
};

const PATH: &str = "/v1/enrichments";
const COUNTS: [&str; 5] =
    ["person_count", "waiting_count", "done_count", "skipped_count", "failed_count"];

fn counts(run: &Value) -> [u64; 5] {
    COUNTS.map(|count| run[count].as_u64().unwrap_or_else(|| panic!("no {count}: {run:#}")))
}

fn named(client: &Client, name: &str) -> String {
    client.new_person(&json!({ "name": name }))
}

/// Makes many persons at once, each with a handle.
fn make_many(client: &Client, count: usize) -> Vec<String> {
    let mut made = Vec::new();
    for first in (0..count).step_by(500) {
        let row = |number: usize| json!({ "social_url": social_url(&format!("person-{number}")) });
        let rows: Vec<_> = (first..count.min(first + 500)).map(row).collect();
        let reply = client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
        made.extend(
            reply.entries().iter().map(|row| row["data"]["id"].as_str().unwrap().to_owned()),
        );
    }
    made
}

/// Runs over the filter and gives back the names of those whom it fitted, in the order of their
/// ids.
fn fitted(client: &Client, filter: &Value) -> Vec<String> {
    let run = client.start_run(filter);
    let ended = client.wait_run(&run);
    let persons = client.get("/v1/persons").expect(200);
    let is_of_run = |person: &&Value| {
        let path = format!("/v1/persons/{}/enrichment", person["id"].as_str().unwrap());
        client.get(&path).json["data"]["run_id"] == run.as_str()
    };
    let names: Vec<_> = persons
        .entries()
        .iter()
        .filter(is_of_run)
        .map(|person| person["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ended["person_count"], names.len(), "{ended:#}");
    names
}

#[apply(each_engine)]
fn a_run_that_was_started(workspace: &Workspace) {
    let reply = workspace
        .writer()
        .post(PATH, &json!({ "filter": { "never_enriched": true, "missing": ["emails"] } }))
        .expect(202);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "enr_1",
        "state": "running",
        "filter": {
          "missing": [
            "emails"
          ],
          "never_enriched": true
        },
        "refresh": false,
        "is_counting": true,
        "person_count": 0,
        "waiting_count": 0,
        "done_count": 0,
        "skipped_count": 0,
        "failed_count": 0,
        "created_at": "<time>",
        "finished_at": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn everybody_is_enriched_and_counted(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.receiver.behave(|call| match who(call).as_str() {
        "broken" => Action::status(500),
        "nobody" => Action::status(404),
        _ => Action::json(r#"{"current_job_title": "Analyst"}"#),
    });
    let known = ["ada", "grace", "mary"].map(|handle| client.new_handle(handle));
    for handle in ["nobody", "broken"] {
        client.new_handle(handle);
    }
    named(&client, "Of whom nothing can be asked");
    app.client_of("another", "write").new_handle("stranger");
    let run = client.start_run(&json!({}));
    let ended = client.wait_run(&run);
    assert_eq!(
        (&ended["state"], &ended["is_counting"], counts(&ended)),
        (&json!("done"), &json!(false), [6, 0, 4, 1, 1])
    );
    assert!(ended["finished_at"].as_str().is_some_and(is_time), "{ended:#}");
    for person in known {
        assert_eq!(client.person(&person)["current_job_title"], "Analyst");
        assert_eq!(client.enrichment(&person)["run_id"], run.as_str());
    }
    assert!(!provider.asked().contains(&"stranger".to_owned()));
}

#[apply(each_engine)]
fn a_run_of_nobody_is_done(workspace: &Workspace) {
    let client = workspace.writer();
    let ended = client.wait_run(&client.start_run(&json!({})));
    assert_eq!((&ended["state"], counts(&ended)), (&json!("done"), [0; 5]));
}

#[apply(each_engine)]
fn a_run_asks_about_each_person_once(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 16");
    let client = app.writer();
    make_many(&client, 300);
    let ended = client.wait_run(&client.start_run(&json!({})));
    assert_eq!(counts(&ended), [300, 0, 300, 0, 0]);
    let mut asked = provider.asked();
    asked.sort();
    asked.dedup();
    assert_eq!((asked.len(), provider.calls().len()), (300, 300));
}

#[apply(each_engine)]
fn kept_answers_count_unless_it_is_a_refresh(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_handle("ada");
    for (refresh, calls) in [(false, 1), (false, 1), (true, 2)] {
        let run = client.post(PATH, &json!({ "filter": {}, "refresh": refresh })).expect(202);
        assert_eq!(run.data()["refresh"], refresh);
        assert_eq!(counts(&client.wait_run(&run.id())), [1, 0, 1, 0, 0]);
        assert_eq!(provider.calls().len(), calls);
        assert_eq!(client.enrichment(&person)["run_id"], run.id().as_str());
    }
}

#[apply(each_engine)]
fn a_run_of_named_persons(workspace: &Workspace) {
    let client = workspace.writer();
    let ids = ["Ada", "Grace", "Mary"].map(|name| named(&client, name));
    let filter = json!({ "person_ids": [ids[2], ids[0]] });
    assert_eq!(fitted(&client, &filter), ["Ada", "Mary"]);
    let run = &client.get(PATH).expect(200).entries()[0].clone();
    assert_eq!(run["filter"], filter);
}

#[apply(each_engine)]
fn a_run_of_a_company_and_of_a_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_person(&json!({ "name": "Ada", "company_name": "Acme" }));
    client.new_candidate(&job, "Grace");
    named(&client, "Mary");
    assert_eq!(fitted(&client, &json!({ "company_id": job.client_company })), ["Ada"]);
    assert_eq!(fitted(&client, &json!({ "job_id": job.id })), ["Grace"]);
}

#[apply(each_engine)]
fn a_run_by_times(workspace: &Workspace) {
    let client = workspace.writer();
    let ada = named(&client, "Ada");
    next_millisecond();
    named(&client, "Grace");
    let times = strings(client.get("/v1/persons").expect(200).data(), "created_at");
    next_millisecond();
    client.update_person(&ada, &json!({ "address": "London" }));
    for (filter, expected) in [
        (json!({ "created_after": times[0] }), vec!["Grace"]),
        (json!({ "created_before": times[1] }), vec!["Ada"]),
        (json!({ "updated_after": times[1] }), vec!["Ada"]),
        (json!({ "updated_before": times[1] }), vec![]),
        (
            json!({ "created_after": "2020-01-01", "updated_before": "2999-12-31T00:00:00Z" }),
            vec!["Ada", "Grace"],
        ),
    ] {
        assert_eq!(fitted(&client, &filter), expected, "{filter}");
    }
}

/// A person who misses nothing.
fn full(client: &Client, name: &str) -> String {
    let person = client.new_person(&json!({
        "name": name, "social_url": social_url(&name.to_lowercase()),
        "current_job_title": "Analyst", "company_name": "Engines",
        "social_location": "London", "emails": [format!("{name}@x.example")],
        "phone_numbers": ["555 1234"],
    }));
    client.update_person(&person, &json!({ "social_headline": "Poet", "address": "12 Square" }));
    let history =
        json!({ "work_experience": [{}], "education_experience": [{}], "certifications": [{}] });
    client.put(&format!("/v1/persons/{person}/history"), &history).expect(200);
    person
}

#[apply(each_engine)]
fn a_run_of_those_who_miss_something(workspace: &Workspace) {
    let client = workspace.writer();
    full(&client, "Ada");
    let grace = full(&client, "Grace");
    client.update_person(&grace, &json!({ "emails": [] }));
    named(&client, "Mary");
    for field in [
        "current_job_title",
        "current_company_name",
        "social_url",
        "social_location",
        "social_headline",
        "address",
        "phones",
        "work_experience",
        "education_experience",
        "certifications",
    ] {
        assert_eq!(fitted(&client, &json!({ "missing": [field] })), ["Mary"], "{field}");
    }
    assert_eq!(fitted(&client, &json!({ "missing": ["emails"] })), ["Grace", "Mary"]);
    assert_eq!(fitted(&client, &json!({ "missing": ["address", "emails"] })), ["Grace", "Mary"]);
}

#[apply(each_engine)]
fn a_run_of_those_who_were_never_enriched(workspace: &Workspace) {
    let client = workspace.writer();
    client.enrich(&named(&client, "Ada"));
    named(&client, "Grace");
    assert_eq!(fitted(&client, &json!({ "never_enriched": true })), ["Grace"]);
    assert_eq!(fitted(&client, &json!({ "never_enriched": true })), Vec::<String>::new());
    assert_eq!(fitted(&client, &json!({ "never_enriched": false })), ["Ada", "Grace"]);
}

#[apply(each_engine)]
fn filters_narrow_each_other(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let [ada, grace] = ["Ada", "Grace"]
        .map(|name| client.new_candidate(&job, name)["person_id"].as_str().unwrap().to_owned());
    client.update_person(&grace, &json!({ "address": "At sea" }));
    let mary = named(&client, "Mary");
    assert_eq!(fitted(&client, &json!({ "job_id": job.id, "missing": ["address"] })), ["Ada"]);
    assert_eq!(
        fitted(&client, &json!({ "person_ids": [grace, mary], "missing": ["address"] })),
        ["Mary"]
    );
    assert_eq!(
        fitted(
            &client,
            &json!({ "person_ids": [ada, mary], "job_id": job.id, "never_enriched": true })
        ),
        Vec::<String>::new()
    );
}

#[apply(each_engine)]
fn a_bad_filter_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let person = named(&client, "Ada");
    for (body, field, flaw) in [
        (json!({}), "filter", "REQUIRED"),
        (json!({ "filter": null }), "filter", "REQUIRED"),
        (json!({ "filter": [] }), "filter", "INVALID_TYPE"),
        (json!({ "filter": {}, "refresh": "yes" }), "refresh", "INVALID_TYPE"),
        (json!({ "filter": { "persons": [person] } }), "filter.persons", "UNKNOWN_FIELD"),
        (json!({ "filter": { "person_ids": [] } }), "filter.person_ids", "TOO_FEW"),
        (json!({ "filter": { "person_ids": vec!["x"; 1001] } }), "filter.person_ids", "TOO_MANY"),
        (json!({ "filter": { "person_ids": [7] } }), "filter.person_ids[0]", "INVALID_TYPE"),
        (
            json!({ "filter": { "missing": ["emails", "shoes"] } }),
            "filter.missing[1]",
            "INVALID_VALUE",
        ),
        (json!({ "filter": { "missing": ["name"] } }), "filter.missing[0]", "INVALID_VALUE"),
        (
            json!({ "filter": { "created_after": "yesterday" } }),
            "filter.created_after",
            "INVALID_DATE",
        ),
        (json!({ "filter": { "never_enriched": 1 } }), "filter.never_enriched", "INVALID_TYPE"),
        (json!({ "filter": { "company_id": 7 } }), "filter.company_id", "INVALID_TYPE"),
    ] {
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    assert_eq!(client.get(PATH).expect(200).json["meta"]["total"], 0);
    client.get(&format!("/v1/persons/{person}/enrichment")).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn what_a_filter_names_must_be_there(workspace: &Workspace) {
    let client = workspace.writer();
    let own = named(&client, "Ada");
    let theirs = named(&workspace.client_of("another", "write"), "Grace");
    for (filter, fields) in [
        (json!({ "person_ids": [own, theirs] }), vec!["filter.person_ids[1]"]),
        (
            json!({ "person_ids": ["nobody", own, theirs] }),
            vec!["filter.person_ids[0]", "filter.person_ids[2]"],
        ),
        (json!({ "company_id": "cmp_00000000000000000000000000" }), vec!["filter.company_id"]),
        (json!({ "job_id": "job_00000000000000000000000000" }), vec!["filter.job_id"]),
    ] {
        let reply = client.post(PATH, &json!({ "filter": filter })).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), fields, "{filter}");
    }
    client.get(&format!("/v1/persons/{own}/enrichment")).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn whoever_waits_already_is_skipped(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let client = app.writer();
    provider.hold();
    let persons = make_many(&client, 5);
    let first = client.start_run(&json!({}));
    client.wait_run_until(&first, "has found all", |run| run["is_counting"] == false);
    provider.wait_for(1);
    let second = client.start_run(&json!({ "person_ids": persons[1..] }));
    let ended = client.wait_run(&second);
    assert_eq!(counts(&ended), [4, 0, 0, 4, 0]);
    provider.let_go();
    assert_eq!(counts(&client.wait_run(&first)), [5, 0, 5, 0, 0]);
    assert_eq!(provider.calls().len(), 5);
}

#[apply(each_engine)]
fn a_cancelled_run_asks_about_nobody_more(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 2");
    let client = app.writer();
    provider.hold();
    let persons = make_many(&client, 30);
    let run = client.start_run(&json!({}));
    client.wait_run_until(&run, "has found all", |run| run["person_count"] == 30);
    provider.wait_for(2);
    let cancelled = client.send("POST", &format!("{}/cancel", run_path(&run)), None).expect(200);
    let [found, waiting, done, skipped, failed] = counts(cancelled.data());
    assert_eq!(
        (cancelled.string("state"), found, waiting + skipped, done, failed),
        ("cancelled".to_owned(), 30, 30, 0, 0)
    );
    assert!(
        skipped >= 26 && cancelled.data()["finished_at"].as_str().is_some_and(is_time),
        "{cancelled:#?}"
    );
    let last = client.enrichment(&persons[29]);
    assert_eq!([&last["state"], &last["reason"]], ["skipped", "the run was cancelled"]);
    provider.let_go();
    let ended = client.wait_run_until(&run, "has nobody at work", |run| run["waiting_count"] == 0);
    assert_eq!(ended["state"], "cancelled");
    let done = ended["done_count"].as_u64().unwrap() as usize;
    assert_eq!(
        (done, done + ended["skipped_count"].as_u64().unwrap() as usize),
        (provider.calls().len(), 30),
        "{ended:#}"
    );
    assert_eq!(client.enrich(&persons[29])["state"], "done");
}

#[apply(each_engine)]
fn what_somebody_else_asked_for_outlives_a_cancelled_run(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let client = app.writer();
    provider.hold();
    let persons: Vec<_> =
        (0..6).map(|number| client.new_handle(&format!("person-{number}"))).collect();
    let run = client.start_run(&json!({}));
    client.wait_run_until(&run, "all are found", |run| run["is_counting"] == false);
    provider.wait_for(1);
    client.ask_enrichment(&persons[4], None).expect(202);
    client
        .patch(&format!("/v1/persons/{}", persons[5]), &json!({ "enrich_record": true }))
        .expect(200);
    let cancelled = client.send("POST", &format!("{}/cancel", run_path(&run)), None).expect(200);
    assert_eq!(cancelled.data()["person_count"], 6);
    provider.let_go();
    for person in &persons[4..] {
        let enrichment = client.wait_enriched(person);
        assert_eq!([&enrichment["state"], &enrichment["run_id"]], [&json!("done"), &Value::Null]);
    }
    assert_eq!(client.wait_enriched(&persons[3])["state"], "skipped");
    let ended = client.wait_run_until(&run, "nobody waits", |run| run["waiting_count"] == 0);
    assert_eq!([&ended["done_count"], &ended["skipped_count"]], [1, 5]);
}

#[apply(each_engine)]
fn a_run_that_is_over_cannot_be_cancelled(workspace: &Workspace) {
    let client = workspace.writer();
    named(&client, "Ada");
    let run = client.start_run(&json!({}));
    let ended = client.wait_run(&run);
    let path = format!("{}/cancel", run_path(&run));
    for body in [None, Some(json!({}))] {
        assert_eq!(client.send("POST", &path, body.as_ref()).expect(200).data(), &ended);
    }
    client.post(&path, &json!({ "now": true })).refused(400, "INVALID_REQUEST");
    client.send("POST", &format!("{path}?now=true"), None).refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn at_most_a_thousand_wait(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let client = app.writer();
    provider.hold();
    let persons = make_many(&client, 1300);
    let run = client.start_run(&json!({}));
    let seen =
        client.wait_run_until(&run, "is fed", |run| run["waiting_count"].as_u64() >= Some(900));
    assert!(
        seen["waiting_count"].as_u64() <= Some(1000) && seen["is_counting"] == true,
        "{seen:#}"
    );
    client.get(&format!("/v1/persons/{}/enrichment", persons[1299])).refused(404, "NOT_FOUND");
    client.send("POST", &format!("{}/cancel", run_path(&run)), None).expect(200);
    provider.let_go();
    let ended = client.wait_run_until(&run, "has nobody at work", |run| run["waiting_count"] == 0);
    assert!(
        ended["person_count"].as_u64() <= Some(1000) && ended["is_counting"] == false,
        "{ended:#}"
    );
    client.get(&format!("/v1/persons/{}/enrichment", persons[1299])).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn who_is_erased_is_not_waited_for(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let client = app.writer();
    provider.hold();
    let persons = make_many(&client, 4);
    let run = client.start_run(&json!({}));
    client.wait_run_until(&run, "has found all", |run| run["is_counting"] == false);
    provider.wait_for(1);
    client.send("DELETE", &format!("/v1/persons/{}", persons[3]), None).expect(200);
    client
        .post(&format!("/v1/persons/{}/merge", persons[0]), &json!({ "person_id": persons[2] }))
        .expect(200);
    provider.let_go();
    let ended = client.wait_run(&run);
    assert_eq!((&ended["state"], counts(&ended)), (&json!("done"), [4, 0, 2, 2, 0]));
}

#[apply(each_engine)]
fn runs_are_listed_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    let mut started: Vec<_> = (0..5).map(|_| client.start_run(&json!({}))).collect();
    let ended: Vec<_> = started.iter().map(|run| client.wait_run(run)).collect();
    assert_eq!(client.get(PATH).expect(200).entries(), ended);
    for sort in ["created_at", "-created_at"] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page =
                client.get(&format!("{PATH}?sort={sort}&limit=2&cursor={cursor}")).expect(200);
            assert_eq!(page.json["meta"]["total"], 5);
            seen.extend(strings(page.data(), "id"));
            let Some(next) = page.json["meta"]["next_cursor"].as_str() else { break };
            cursor = next.to_owned();
        }
        assert_eq!(seen, started, "{sort}");
        started.reverse();
    }
    let page = client.get(&format!("{PATH}?limit=2&offset=3")).expect(200);
    assert_eq!(
        (strings(page.data(), "id"), &page.json["meta"]["total"]),
        (started[3..].to_vec(), &json!(5))
    );
    for (parameter, field) in [
        ("limit=0", "limit"),
        ("sort=state", "sort"),
        ("cursor=x", "cursor"),
        ("state=done", "state"),
    ] {
        assert_eq!(
            client
                .get(&format!("{PATH}?{parameter}"))
                .refused(400, "INVALID_REQUEST")
                .detail_fields(),
            [field]
        );
    }
}

#[apply(each_engine)]
fn a_run_belongs_to_its_workspace(workspace: &Workspace) {
    let (client, stranger) = (workspace.writer(), workspace.client_of("another", "write"));
    let theirs = stranger.start_run(&json!({}));
    let own = named(&client, "Ada");
    for id in [theirs.as_str(), "enr_00000000000000000000000000", own.as_str(), "x"] {
        client.get(&run_path(id)).refused(404, "NOT_FOUND");
        client.send("POST", &format!("{}/cancel", run_path(id)), None).refused(404, "NOT_FOUND");
    }
    assert_eq!(client.get(PATH).expect(200).json["meta"]["total"], 0);
    assert_eq!(stranger.wait_run(&theirs)["state"], "done");
}

#[apply(each_engine)]
fn a_reader_may_look_and_no_more(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let run = client.start_run(&json!({}));
    client.wait_run(&run);
    assert_eq!(reader.read_run(&run), client.read_run(&run));
    reader.post(PATH, &json!({ "filter": {} })).refused(403, "FORBIDDEN");
    reader.send("POST", &format!("{}/cancel", run_path(&run)), None).refused(403, "FORBIDDEN");
    assert_eq!(client.get(PATH).expect(200).json["meta"]["total"], 1);
}
