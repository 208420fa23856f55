//! A file of profiles as a provider: by what persons are found in it, and what becomes of it when
//! it changes.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    App, Client, Engine, apply, config, each_engine, eventually, social_url, strings,
};

const FILE: &str = "people.jsonl";

fn line(profile: &Value) -> String {
    format!("{profile}\n")
}

/// A server with a directory of that text.
fn with_directory(engine: Engine, text: &str) -> App {
    let section = format!(
        "[[enrichment.provider]]\nname = \"own-data\"\nkind = \"directory\"\npath = \"{FILE}\"\n"
    );
    engine.app().config(&config(&[section])).file(FILE, text).start()
}

fn title(client: &Client, person: &str) -> Value {
    client.person(person)["current_job_title"].clone()
}

/// What title the person with these fields gets.
fn title_of(client: &Client, person: &Value) -> Value {
    let person = client.new_person(person);
    let seen = client.enrich(&person);
    let provider = if seen["fields"] == json!([]) { Value::Null } else { json!("own-data") };
    assert_eq!((&seen["state"], &seen["provider"]), (&json!("done"), &provider), "{seen:#}");
    title(client, &person)
}

#[apply(each_engine)]
fn a_person_is_found_by_what_identifies_them(engine: &Engine) {
    let profile = |title: &str, more: Value| {
        let mut profile = json!({ "name": "Somebody", "current_job_title": title });
        profile.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line(&profile)
    };
    let text = [
        profile("By handle", json!({ "social_url": "https://elsewhere.example/in/Ada/" })),
        profile(
            "By e-mail",
            json!({ "emails": ["one@x.example", { "value": "Grace@X.example" }] }),
        ),
        profile("By outside id", json!({ "external_source_id": "crm-7" })),
        profile("By work e-mail", json!({ "work_email": "mary@x.example" })),
    ];
    let app = with_directory(*engine, &text.concat());
    let client = app.writer();
    for (person, expected) in [
        (json!({ "name": "Somebody", "social_url": social_url("ada") }), "By handle"),
        (
            json!({ "name": "Somebody", "emails": ["other@x.example", "GRACE@x.example"] }),
            "By e-mail",
        ),
        (json!({ "name": "Somebody", "external_source_id": "crm-7" }), "By outside id"),
        (json!({ "name": "Somebody", "personal_email": "mary@x.example" }), "By work e-mail"),
    ] {
        assert_eq!(title_of(&client, &person), expected, "{person}");
    }
}

#[apply(each_engine)]
fn a_person_is_found_by_name_and_company_if_only_one_has_both(engine: &Engine) {
    let entry = |name: &str, company: &str, title: &str| {
        line(&json!({ "name": name, "company_name": company, "current_job_title": title }))
    };
    let text = [
        entry("Ada Lovelace", "Engines", "Analyst"),
        entry("Ada Lovelace", "Navy", "Sailor"),
        entry("Grace Hopper", "Navy", "Admiral"),
        entry("Grace Hopper", "Navy", "Captain"),
    ];
    let app = with_directory(*engine, &text.concat());
    let client = app.writer();
    for (name, company, expected) in [
        ("ada  LOVELACE", "engines", "Analyst"),
        ("Ada Lovelace", "Navy", "Sailor"),
        ("Grace Hopper", "Navy", ""),
        ("Ada Lovelace", "Acme", ""),
    ] {
        assert_eq!(
            title_of(&client, &json!({ "name": name, "company_name": company })),
            expected,
            "{name} at {company}"
        );
    }
}

#[apply(each_engine)]
fn a_line_about_somebody_else_is_passed_over(engine: &Engine) {
    let outside = |id: &str| {
        line(&json!({ "external_source_id": id, "social_url": social_url(&format!("other-{id}")),
                "current_job_title": "By outside id" }))
    };
    let named =
        line(&json!({ "name": "Ada", "company_name": "Engines", "emails": ["ada@x.example"],
            "current_job_title": "By name" }));
    let app = with_directory(*engine, &[outside("1"), outside("2"), outside("3"), named].concat());
    let client = app.writer();
    for (person, expected) in [
        (json!({ "name": "Somebody", "external_source_id": "1" }), "By outside id"),
        (
            json!({ "name": "Somebody", "external_source_id": "2",
                "social_url": social_url("somebody") }),
            "",
        ),
        (json!({ "name": "Ada", "company_name": "Engines", "emails": ["another@x.example"] }), ""),
        (
            json!({ "name": "Ada", "company_name": "Engines", "external_source_id": "3",
                "social_url": social_url("ada") }),
            "By name",
        ),
    ] {
        assert_eq!(title_of(&client, &person), expected, "{person}");
    }
}

#[apply(each_engine)]
fn a_line_is_a_profile(engine: &Engine) {
    let profile = json!({
        "name": "Ada Lovelace", "social_url": social_url("ada"),
        "emails": ["nonsense", "ada@x.example"], "phones": ["555 1234"],
        "work_experience": [{ "company_name": "Engines", "title": "Analyst", "start_date": "May \
            2019" }], "favourite_colour": "turquoise",
    });
    let app = with_directory(*engine, &line(&profile));
    let client = app.writer();
    let person = client.new_handle("ada");
    let seen = client.enrich(&person);
    assert_eq!(strings(&seen["refused"], "field"), ["emails[0]"]);
    let read = client.person(&person);
    assert_eq!(
        [&read["name"], &read["current_job_title"], &read["current_company_name"]],
        ["Ada Lovelace", "Analyst", "Engines"]
    );
    assert_eq!(client.provenance_of(&person, "name")["provider"], "own-data");
}

#[apply(each_engine)]
fn a_changed_file_is_read_anew(engine: &Engine) {
    let entry = |handle: &str, title: &str| {
        line(&json!({ "social_url": social_url(handle), "current_job_title": title }))
    };
    let app = with_directory(*engine, &entry("ada", "Analyst"));
    let client = app.writer();
    let (ada, grace) = (client.new_handle("ada"), client.new_handle("grace"));
    client.enrich(&ada);
    assert_eq!(title(&client, &ada), "Analyst");
    let newer = [
        entry("mary", "A title that is rather long"),
        entry("grace", "Admiral"),
        entry("ada", "Chief Analyst"),
    ];
    app.database.write_file("new.jsonl", &newer.concat());
    fs::rename(app.database.directory().join("new.jsonl"), app.database.directory().join(FILE))
        .unwrap();
    // Answers of a file are not kept, so what it says now counts.
    eventually("the new file is read", || {
        client.enrich(&grace);
        title(&client, &grace) == "Admiral"
    });
    assert_eq!(client.enrich(&ada)["is_cached"], false);
    assert_eq!(title(&client, &ada), "Chief Analyst");
}

#[apply(each_engine)]
fn a_file_that_goes_away_is_still_known(engine: &Engine) {
    let app = with_directory(
        *engine,
        &line(&json!({ "social_url": social_url("ada"), "current_job_title": "Analyst" })),
    );
    let client = app.writer();
    fs::remove_file(app.database.directory().join(FILE)).unwrap();
    let person = client.new_handle("ada");
    // The file is looked at when somebody is asked about.
    eventually("the loss is told", || {
        client.enrich_anew(&person);
        app.process.log.text().lines().any(|line| line.contains("WARN") && line.contains(FILE))
    });
    assert_eq!(title(&client, &person), "Analyst");
}

#[apply(each_engine)]
fn bad_lines_are_left_out_and_named(engine: &Engine) {
    let good = |handle: &str| {
        json!({ "social_url": social_url(handle), "current_job_title": "Analyst" }).to_string()
    };
    let long =
        json!({ "social_url": social_url("long"), "address": "x".repeat(300 * 1024) }).to_string();
    let lines = [
        good("first"),
        "gibberish-2718".to_owned(),
        "[1, 2]".to_owned(),
        String::new(),
        long,
        good("last"),
    ];
    let app = with_directory(*engine, &lines.join("\n"));
    let client = app.writer();
    for (handle, provider) in
        [("first", json!("own-data")), ("long", Value::Null), ("last", json!("own-data"))]
    {
        assert_eq!(client.enrich(&client.new_handle(handle))["provider"], provider, "{handle}");
    }
    let log = app.process.log.text();
    let warnings: Vec<Value> = log
        .lines()
        .filter(|line| line.contains("WARN"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for number in [2, 3, 5] {
        let names_it = |entry: &Value| {
            entry["fields"].as_object().unwrap().values().any(|value| says_number(value, number))
        };
        assert!(warnings.iter().any(names_it), "line {number} is not named: {warnings:#?}");
    }
    assert!(!log.contains("gibberish") && !log.contains("xxxx"), "{log}");
}

/// Whether the value is that number, or a text with it.
fn says_number(value: &Value, number: u64) -> bool {
    let in_text = |text: &str| {
        text.split(|character: char| !character.is_ascii_digit())
            .any(|word| word == number.to_string())
    };
    value.as_u64() == Some(number) || value.as_str().is_some_and(in_text)
}
