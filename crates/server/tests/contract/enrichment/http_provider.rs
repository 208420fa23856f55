//! A provider that is asked over HTTP: what it is told, and how its answer is read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    Action, App, Engine, Receiver, apply, config, configured, each_engine, social_url, strings,
};

/// A server that asks this URL of the receiver, with more settings.
fn asking(engine: Engine, receiver: &Receiver, path: &str, more: &str) -> App {
    let section = format!(
        "[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\nurl = \"{}\"\n{more}\n",
        receiver.at(path)
    );
    configured(engine, &config(&[section])).environment("PEOPLE_TOKEN", "hush-3141").start()
}

fn answering(answer: &Value) -> Receiver {
    let receiver = Receiver::start();
    let body = answer.to_string();
    receiver.behave(move |_| Action::json(body.clone()));
    receiver
}

#[apply(each_engine)]
fn a_call_says_what_is_known_and_leaves_out_the_rest(engine: &Engine) {
    let receiver = answering(&Value::Null);
    let query = "exact=true&mail={email}&phone={phone}&who={name}&first={first_name}&at={company_name}&url={social_url}";
    let app = asking(*engine, &receiver, &format!("/v2/{{social_public_id}}/find?{query}"), "");
    let client = app.writer();
    let person = client.new_person(&json!({
        "name": "Ada & Co? Lovelace", "social_url": "https://social.example/in/Ada/?trk=x",
        "company_name": "Engines/Söhne #1",
        "emails": ["ada+1@x.example", "second@x.example"],
    }));
    client.enrich(&person);
    let call = &receiver.calls()[0];
    assert!(
        call.method == "GET"
            && call.path.starts_with("/v2/ada/find?exact=true&mail=ada%2B1%40x.example&"),
        "{}",
        call.path
    );
    for (name, value) in [
        ("mail", "ada+1@x.example"),
        ("who", "Ada & Co? Lovelace"),
        ("first", "Ada & Co?"),
        ("at", "Engines/Söhne #1"),
        ("url", "https://social.example/in/Ada/?trk=x"),
    ] {
        assert_eq!(call.parameter(name).as_deref(), Some(value), "{}", call.path);
    }
    assert_eq!((call.parameter("phone"), call.body.len()), (None, 0));
    assert!(call.header("user-agent").starts_with("slated/"), "{call:#?}");
    let key = call.header("idempotency-key");
    assert!(key.len() >= 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
}

#[apply(each_engine)]
fn a_call_may_be_a_post_with_a_body(engine: &Engine) {
    let receiver = answering(&json!({ "current_job_title": "Analyst" }));
    let body = "method = \"POST\"\nbody = { email = \"{email}\", phone = \"{phone}\", who = { \
        name = \"{name}\" }, limit = 1 }";
    let app = asking(*engine, &receiver, "/find", body);
    let client = app.writer();
    let person =
        client.new_person(&json!({ "name": "Ada \"Countess\"", "emails": ["ada@x.example"] }));
    assert_eq!(client.enrich(&person)["fields"], json!(["current_job_title"]));
    let call = &receiver.calls()[0];
    assert_eq!(
        [call.method.as_str(), &call.path, call.header("content-type")],
        ["POST", "/find", "application/json"]
    );
    let sent: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(
        sent,
        json!({ "email": "ada@x.example", "who": { "name": "Ada \"Countess\"" }, "limit": 1 })
    );
}

#[apply(each_engine)]
fn nobody_is_asked_about_by_name_unless_that_is_said(engine: &Engine) {
    let person = json!({ "name": "Ada Lovelace", "company_name": "Engines" });
    for (needs, state, calls) in [("", "skipped", 0), ("needs = [\"email\", \"name\"]", "done", 1)]
    {
        let receiver = answering(&Value::Null);
        let app =
            asking(*engine, &receiver, "/find?mail={email}&who={name}&at={company_name}", needs);
        let client = app.writer();
        let seen = client.enrich(&client.new_person(&person));
        assert_eq!(
            (&seen["state"], receiver.calls().len()),
            (&json!(state), calls),
            "{needs}: {seen:#}"
        );
    }
}

#[apply(each_engine)]
fn a_header_takes_its_secret_from_the_environment(engine: &Engine) {
    let receiver = answering(&Value::Null);
    let headers = "headers = { Authorization = \"Bearer ${PEOPLE_TOKEN}\", X-Plan = \"pro\" }";
    let app = asking(*engine, &receiver, "/?handle={social_public_id}", headers);
    let client = app.writer();
    client.enrich(&client.new_handle("ada"));
    let call = &receiver.calls()[0];
    assert_eq!([call.header("authorization"), call.header("x-plan")], ["Bearer hush-3141", "pro"]);
}

/// A mapping with every form there is.
const MAPPING: &str = r#"
[enrichment.provider.mapping]
root = "/data/person"
name = "/full name"
current_job_title = ["/titles/0", "/job/title"]
social_location = { join = ["/city", "/region", "/country"], with = ", " }
social_headline = { text = "Found by people" }
social_url = "/links/a~1b"
emails = [
    { each = "/mails", value = "/address", type = "/kind" },
    { each = "/private", value = "", type = { text = "personal" } },
]
work_experience = { each = "/jobs", company_name = "/company/name", title = "/title", start_date = "/from", end_date = "/to" }
cost = { header = "X-Credits" }
"#;

#[apply(each_engine)]
fn an_answer_is_read_by_a_mapping(engine: &Engine) {
    let receiver = answering(&json!({ "data": { "person": {
        "full name": "Ada Lovelace", "titles": [], "job": { "title": "Analyst" }, "city": "London",
        "region": null, "country": "England",
        "links": { "a/b": social_url("ada-l") },
        "mails": [{ "address": "a@x.example", "kind": "personal" }, { "address": "b@x.example" }],
        "private": ["c@x.example"], "jobs": [
            { "company": { "name": "Engines" }, "title": "Analyst", "from": "2019-05",
                "to": "2020" },
            { "company": { "name": "Engines" }, "title": "Clerk", "from": "2018", "to": "2019-04" },
        ],
    } } }));
    let app = asking(*engine, &receiver, "/?email={email}", MAPPING);
    let client = app.writer();
    let person =
        client.new_person(&json!({ "name": "Ada Lovelace", "emails": ["known@x.example"] }));
    let seen = client.enrich(&person);
    assert_eq!(seen["refused"], json!([]));
    let (read, profile) = (client.person(&person), client.profile(&person));
    assert_eq!([&read["current_job_title"], &read["social_public_id"]], ["Analyst", "ada-l"]);
    assert_eq!(
        [&profile["social_location"], &profile["social_headline"]],
        ["London, England", "Found by people"]
    );
    assert_eq!(
        strings(&read["emails"], "value"),
        ["known@x.example", "a@x.example", "b@x.example", "c@x.example"]
    );
    assert_eq!(
        strings(&read["emails"], "contact_data_type"),
        ["work", "personal", "work", "personal"]
    );
    assert_eq!(strings(&read["work_experience"][0]["positions"], "title"), ["Analyst", "Clerk"]);
}

#[apply(each_engine)]
fn a_mapping_that_finds_nothing_says_that_nobody_is_known(engine: &Engine) {
    for answer in [
        json!({ "data": { "person": null } }),
        json!({ "data": {} }),
        json!({ "message": "no such person" }),
    ] {
        let receiver = answering(&answer);
        let app = asking(*engine, &receiver, "/?handle={social_public_id}", MAPPING);
        let client = app.writer();
        let seen = client.enrich(&client.new_handle("ada"));
        assert_eq!((&seen["state"], &seen["provider"]), (&json!("done"), &Value::Null), "{answer}");
    }
}

#[apply(each_engine)]
fn every_ready_mapping_reads_the_answer_of_its_service(engine: &Engine) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut tried = 0;
    for folder in
        fs::read_dir(&golden).unwrap_or_else(|error| panic!("{}: {error}", golden.display()))
    {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let receiver = answering(
            &serde_json::from_str(&fs::read_to_string(folder.join("answer.json")).unwrap())
                .unwrap(),
        );
        let app = asking(
            *engine,
            &receiver,
            "/?handle={social_public_id}",
            &format!("mapping = \"{name}\""),
        );
        let client = app.writer();
        let person = client.new_handle("somebody");
        let seen = client.enrich(&person);
        assert_eq!(
            (&seen["state"], &seen["provider"]),
            (&json!("done"), &json!("people")),
            "{name}: {seen:#}"
        );
        let read = client.person(&person);
        assert!(
            read["current_job_title"] != ""
                && read["work_experience"][0]["company_name"].is_string(),
            "{name}: {read:#}"
        );
        tried += 1;
    }
    assert!(tried > 0);
}

#[apply(each_engine)]
fn what_answers_cost_is_counted(engine: &Engine) {
    let receiver = Receiver::start();
    receiver.behave(|_| Action::Answer {
        status: 200,
        headers: vec![("x-credits", "2.5".to_owned())],
        body: "{}".to_owned(),
    });
    let app = asking(*engine, &receiver, "/?handle={social_public_id}", MAPPING);
    let client = app.writer();
    client.enrich(&client.new_handle("ada"));
    client.enrich(&client.new_handle("grace"));
    let text = app.anonymous().get("/metrics").expect(200).text;
    let line = text
        .lines()
        .find(|line| line.starts_with("slated_enrichment_cost_total{"))
        .unwrap_or_else(|| panic!("no cost in\n{text}"));
    assert!(line.contains("provider=\"people\"") && line.ends_with(" 5"), "{line}");
}
