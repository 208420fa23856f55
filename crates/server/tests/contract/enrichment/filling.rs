//! What enrichment makes of an answer: empty fields are filled, contacts added, careers put in
//! order, and bad values left out.

use serde_json::{Value, json};

use crate::support::{
    App, Client, Engine, Log, Provider, apply, each_engine, enriching, social_url, strings,
};

const CAREER: [&str; 3] = ["work_experience", "education_experience", "certifications"];

/// All that a provider may know of a person, and an id of its own that nobody asked for.
fn everything() -> Value {
    json!({
        "name": "Ada Lovelace", "social_url": social_url("ada"), "current_job_title": "Analyst",
        "company_name": "Analytical Engines",
        "social_location": "London", "social_headline": "Poet of numbers", "address": "12 St \
            James's Square",
        "external_source_id": "people-7", "emails": ["ada@engines.example"],
        "phone_numbers": ["+44 20 7946 0018"],
        "work_experience": [{ "company_name": "Analytical Engines", "title": "Analyst",
            "start_date": "2019-05", "end_date": "2021-03" }],
        "education_experience": [{ "company_name": "Royal Society", "degree": "Mathematics",
            "start_date": "2015", "end_date": "2018" }],
        "certifications": [{ "name": "Bernoulli numbers", "company_name": "Babbage",
            "credential_id": "G-1" }],
        "shoe_size": 38,
    })
}

/// A server whose provider gives this answer about `ada`, and a person with that handle who was
/// enriched.
fn enriched(engine: Engine, answer: &Value) -> (App, Provider, Client, String) {
    let (app, provider) = enriching(engine, "");
    let client = app.writer();
    provider.knows("ada", answer);
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["state"], "done");
    (app, provider, client, person)
}

fn refused_fields(enrichment: &Value) -> Vec<String> {
    for refused in enrichment["refused"].as_array().unwrap() {
        assert!(
            refused["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
            "{enrichment:#}"
        );
    }
    strings(&enrichment["refused"], "field")
}

#[apply(each_engine)]
fn what_is_empty_is_filled(engine: &Engine) {
    let (_app, _provider, client, person) = enriched(*engine, &everything());
    let (read, profile) = (client.person(&person), client.profile(&person));
    for (field, value) in [
        ("name", "Ada Lovelace"),
        ("first_name", "Ada"),
        ("last_name", "Lovelace"),
        ("social_public_id", "ada"),
        ("current_job_title", "Analyst"),
        ("current_company_name", "Analytical Engines"),
    ] {
        assert_eq!(read[field], value, "{field}");
    }
    // It is the caller's own, whatever a provider calls the person.
    assert_eq!(read["external_source_id"], Value::Null);
    assert_eq!(
        [&profile["social_location"], &profile["social_headline"]],
        ["London", "Poet of numbers"]
    );
    assert_eq!(profile["address"], "12 St James's Square");
    assert_eq!(
        [&read["emails"][0]["value"], &read["phones"][0]["value"]],
        ["ada@engines.example", "+44 20 7946 0018"]
    );
    assert_eq!(read["work_experience"][0]["positions"][0]["title"], "Analyst");
    assert_eq!(read["education_experience"][0]["degree"], "Mathematics");
    assert_eq!(read["certifications"][0]["credential_id"], "G-1");
    let filled = [
        "name",
        "social_location",
        "social_headline",
        "address",
        "current_job_title",
        "current_company_name",
        "emails",
        "phones",
        "work_experience",
        "education_experience",
        "certifications",
    ];
    assert_eq!(client.enrichment(&person)["fields"], json!(filled));
    assert_eq!(client.proposals(&person), Vec::<Value>::new());
}

#[apply(each_engine)]
fn what_a_caller_wrote_stays(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_person(&json!({
        "name": "Grace Hopper", "social_url": social_url("grace"), "current_job_title": "Admiral",
        "company_name": "Navy",
        "social_location": "At sea", "external_source_id": "crm-1",
        "emails": ["ADA@engines.example"], "phone_numbers": ["442079460018"],
    }));
    client.update_person(&person, &json!({ "social_headline": "Amazing", "address": "Arlington" }));
    let own = json!({ "work_experience": [{}], "education_experience": [{}],
        "certifications": [{ "name": "COBOL" }] });
    client.put(&format!("/v1/persons/{person}/history"), &own).expect(200);
    // All events have their numbers then, so that every read finds the same sources.
    Log::begin(&client);
    let read = |client: &Client| {
        client.get(&format!("/v1/persons/{person}?include=profile")).expect(200).text
    };
    let before = read(&client);
    let mut answer = everything();
    answer["social_url"] = json!(social_url("ada"));
    provider.knows("grace", &answer);
    let seen = client.enrich(&person);
    assert_eq!([&seen["state"], &seen["fields"]], [&json!("done"), &json!([])]);
    assert_eq!(read(&client), before);
}

#[apply(each_engine)]
fn what_differs_in_letters_only_is_the_same(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_person(&json!({
        "name": "Ada Lovelace", "social_url": social_url("ada"), "current_job_title": "Chief \
            Analyst", "company_name": "Engines",
        "social_location": "London", "emails": ["ada@engines.example"],
    }));
    let before = client.person(&person);
    provider.knows(
        "ada",
        &json!({
            "name": "ADA  LOVELACE", "current_job_title": "chief analyst ",
            "company_name": "ENGINES", "social_location": "london",
            "emails": ["Ada@Engines.example"],
        }),
    );
    assert_eq!(client.enrich(&person)["fields"], json!([]));
    assert_eq!((client.person(&person), client.proposals(&person)), (before, Vec::new()));
}

#[apply(each_engine)]
fn a_handle_that_was_found_is_what_the_person_is_found_by(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada", "emails": ["ada@engines.example"] }));
    provider.knows(
        "ada@engines.example",
        &json!({ "social_url": social_url("ada"), "emails": ["countess@engines.example"] }),
    );
    assert_eq!(client.enrich(&person)["fields"], json!(["social_url", "emails"]));
    assert_eq!(client.person(&person)["social_public_id"], "ada");
    for body in [
        json!({ "social_url": social_url("ada") }),
        json!({ "name": "x", "emails": ["countess@engines.example"] }),
    ] {
        assert_eq!(client.post("/v1/persons", &body).expect(200).id(), person, "{body}");
    }
}

#[apply(each_engine)]
fn contacts_are_added_with_their_types(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_person(
        &json!({ "social_url": social_url("ada"), "personal_email": "own@engines.example" }),
    );
    provider.knows(
        "ada",
        &json!({
            "emails": [
                "OWN@engines.example", "ada@engines.example", "ada@gmail.com",
                { "value": "lovelace@engines.example", "type": "personal" },
                { "address": "countess@gmail.com", "type": "work_email" },
                { "value": "x@engines.example", "type": "carrier pigeon" },
            ],
            "phones": [
                "+44 20 7946 0018", { "number": "555 100 200", "type": "work" }, { "value": "555 \
                    100 300", "contact_data_type": "home" },
            ],
        }),
    );
    client.enrich(&person);
    let read = client.person(&person);
    let entries = |list: &str| {
        strings(&read[list], "value")
            .into_iter()
            .zip(strings(&read[list], "contact_data_type"))
            .collect::<Vec<_>>()
    };
    let expected = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(value, kind)| ((*value).to_owned(), (*kind).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        entries("emails"),
        expected(&[
            ("own@engines.example", "personal"),
            ("ada@engines.example", "work"),
            ("ada@gmail.com", "personal"),
            ("lovelace@engines.example", "personal"),
            ("countess@gmail.com", "work"),
            ("x@engines.example", "work"),
        ])
    );
    assert_eq!(
        entries("phones"),
        expected(&[
            ("+44 20 7946 0018", "mobile"),
            ("555 100 200", "work"),
            ("555 100 300", "home")
        ])
    );
}

#[apply(each_engine)]
fn no_more_contacts_are_added_than_a_person_has(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let emails = |from: usize, to: usize| {
        (from..to).map(|number| format!("{number}@x.example")).collect::<Vec<_>>()
    };
    let person =
        client.new_person(&json!({ "social_url": social_url("ada"), "emails": emails(0, 49) }));
    provider.knows("ada", &json!({ "emails": emails(49, 52) }));
    let seen = client.enrich(&person);
    assert_eq!(strings(&client.person(&person)["emails"], "value"), emails(0, 50));
    let refused = refused_fields(&seen);
    assert!(
        !refused.is_empty() && refused.iter().all(|field| field.starts_with("emails")),
        "{seen:#}"
    );
}

#[apply(each_engine)]
fn dates_are_read_in_many_forms(engine: &Engine) {
    let forms = [
        (json!("2019"), "2019-01-01", "2019-12-31"),
        (json!(2019), "2019-01-01", "2019-12-31"),
        (json!("2020-02"), "2020-02-01", "2020-02-29"),
        (json!("05/2019"), "2019-05-01", "2019-05-31"),
        (json!("2019-05-14"), "2019-05-14", "2019-05-14"),
        (json!("Sept. 2019"), "2019-09-01", "2019-09-30"),
        (json!("may 2019"), "2019-05-01", "2019-05-31"),
        (json!("14 May 2019"), "2019-05-14", "2019-05-14"),
        (json!("2019-05-14T10:00:00+02:00"), "2019-05-14", "2019-05-14"),
        (json!({ "year": 2019, "month": 5 }), "2019-05-01", "2019-05-31"),
        (json!({ "year": "2019", "month": null }), "2019-01-01", "2019-12-31"),
        (json!(""), "", ""),
        (json!(null), "", ""),
    ];
    let name = |number: usize| format!("School {number:02}");
    let entry = |number: usize, date: &Value| json!({ "company_name": name(number), "start_date": date, "end_date": date });
    let schools: Vec<_> =
        forms.iter().enumerate().map(|(number, (date, ..))| entry(number, date)).collect();
    let work = json!([{ "company_name": "Engines", "title": "Analyst", "start_date": "2019",
        "end_date": "Present" }]);
    let (_app, _provider, client, person) =
        enriched(*engine, &json!({ "education_experience": schools, "work_experience": work }));
    let read = client.person(&person);
    let schools = read["education_experience"].as_array().unwrap();
    for (number, (form, start, end)) in forms.iter().enumerate() {
        let school = schools
            .iter()
            .find(|school| school["company_name"] == name(number))
            .unwrap_or_else(|| panic!("{number}: {read:#}"));
        assert_eq!([&school["start_date"], &school["end_date"]], [start, end], "{form}");
    }
    let position = &read["work_experience"][0]["positions"][0];
    assert_eq!(
        [&position["start_date"], &position["end_date"]],
        [&json!("2019-01-01"), &Value::Null]
    );
    assert_eq!(client.enrichment(&person)["refused"], json!([]));
}

#[apply(each_engine)]
fn a_bad_date_is_left_out_and_told(engine: &Engine) {
    let schools = json!([
        { "company_name": "School 0", "start_date": "30 February 2019", "end_date": "2020" },
        { "company_name": "School 1", "start_date": "1815-12-10" },
        { "company_name": "School 2", "start_date": "2999" },
        { "company_name": "School 3", "end_date": "some day" },
        { "company_name": "School 4", "start_date": "2020", "end_date": "2018" },
        { "company_name": "School 5", "start_date": true },
    ]);
    let (_app, _provider, client, person) =
        enriched(*engine, &json!({ "education_experience": schools }));
    let read = client.person(&person);
    let schools = read["education_experience"].as_array().unwrap();
    assert_eq!(schools.len(), 6, "{read:#}");
    for school in schools {
        let expected = if school["company_name"] == "School 0" { "2020-12-31" } else { "" };
        assert_eq!([&school["start_date"], &school["end_date"]], ["", expected], "{school:#}");
    }
    let refused = refused_fields(&client.enrichment(&person));
    for (number, field) in [
        (0, "start_date"),
        (1, "start_date"),
        (2, "start_date"),
        (3, "end_date"),
        (4, "end_date"),
        (5, "start_date"),
    ] {
        let wanted = format!("education_experience[{number}].{field}");
        assert!(refused.contains(&wanted), "{wanted}: {refused:?}");
    }
}

#[apply(each_engine)]
fn positions_are_grouped_by_company_and_the_newest_come_first(engine: &Engine) {
    let work = json!([
        { "company_name": "Engines", "title": "Clerk", "start_date": "2010-01",
            "end_date": "2010-12" },
        { "company_name": "Umbrella", "title": "Driver", "start_date": "2011-01",
            "end_date": "2012-12" },
        { "company_name": " ENGINES ", "title": "Chief", "start_date": "2021-04",
            "end_date": "present", "location": "London" },
        { "company_name": "Once upon a time", "title": "Child" },
        { "company_name": "Engines",
            "positions": [{ "title": "Analyst", "start_date": "2019-05", "end_date": "2021-03" }] },
    ]);
    let (_app, _provider, client, person) = enriched(*engine, &json!({ "work_experience": work }));
    let read = client.person(&person);
    let work = read["work_experience"].as_array().unwrap();
    let companies: Vec<_> = strings(&read["work_experience"], "company_name")
        .iter()
        .map(|name| name.to_lowercase())
        .collect();
    assert_eq!(companies, ["engines", "umbrella", "once upon a time"], "{read:#}");
    assert_eq!(strings(&work[0]["positions"], "title"), ["Chief", "Analyst", "Clerk"]);
    assert_eq!(work[0]["positions"][0]["location"], "London");
    let months = |value: &Value| value["duration_in_months"].as_i64().unwrap();
    assert!(
        (22..=23).contains(&months(&work[0]["positions"][1]))
            && (23..=24).contains(&months(&work[1])),
        "{read:#}"
    );
    assert!(months(&work[0]) > months(&work[0]["positions"][0]) + 30, "{read:#}");
    assert_eq!(months(&work[2]), 0);
}

#[apply(each_engine)]
fn the_current_position_gives_title_and_company(engine: &Engine) {
    let work = json!([
        { "company_name": "Umbrella", "title": "Driver", "start_date": "2022", "end_date": "2023" },
        { "company_name": "Engines", "title": "Chief", "start_date": "2021" },
    ]);
    let (_app, _provider, client, person) = enriched(*engine, &json!({ "work_experience": work }));
    let read = client.person(&person);
    assert_eq!([&read["current_job_title"], &read["current_company_name"]], ["Chief", "Engines"]);
}

#[apply(each_engine)]
fn title_and_company_are_those_of_one_position(engine: &Engine) {
    let work = json!([
        { "company_name": "Board", "title": "Adviser", "start_date": "2016" },
        { "company_name": "Engines", "title": "Chief", "start_date": "2021" },
    ]);
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    for (number, (said, title, company)) in [
        (json!({ "current_job_title": "adviser" }), "adviser", "Board"),
        (json!({ "company_name": "BOARD" }), "Adviser", "BOARD"),
        (json!({ "current_job_title": "Countess" }), "Countess", ""),
        (json!({ "company_name": "Home" }), "", "Home"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut answer = json!({ "work_experience": work });
        answer.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let handle = format!("ada-{number}");
        provider.knows(&handle, &answer);
        let person = client.new_handle(&handle);
        client.enrich(&person);
        let read = client.person(&person);
        let seen = [&read["current_job_title"], &read["current_company_name"]]
            .map(|value| value.as_str().unwrap().to_lowercase());
        assert_eq!(seen, [title.to_lowercase(), company.to_lowercase()], "{said}");
    }
}

#[apply(each_engine)]
fn companies_of_the_workspace_are_named_by_their_ids(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let acme = client.new_job("Engineer", "Acme").client_company;
    let entry =
        |name: &str| json!({ "company_name": name, "start_date": "2010", "end_date": "2011" });
    let lists = json!([entry("ACME"), entry("Unknown")]);
    provider.knows(
        "ada",
        &json!({ "company_name": "Engines", "work_experience": lists, "education_experience": lists,
            "certifications": lists }),
    );
    let person = client.new_handle("ada");
    client.enrich(&person);
    let read = client.person(&person);
    for list in CAREER {
        for entry in read[list].as_array().unwrap() {
            let expected =
                if entry["company_name"] == "Unknown" { Value::Null } else { json!(acme) };
            assert_eq!(entry["company_id"], expected, "{list}: {entry:#}");
        }
    }
    let companies = client.get("/v1/companies").expect(200);
    let engines = companies
        .entries()
        .iter()
        .find(|company| company["name"] == "Engines")
        .unwrap_or_else(|| panic!("{companies:#?}"));
    assert_eq!(read["current_company_id"], engines["id"]);
    assert_eq!(companies.json["meta"]["total"], 2);
}

#[apply(each_engine)]
fn a_bad_value_is_left_out_and_told_and_the_rest_is_taken(engine: &Engine) {
    let answer = json!({
        "name": 7, "current_job_title": "x".repeat(256), "social_location": "Lon\u{7}don",
        "social_headline": ["Poet"],
        "social_url": "nowhere", "address": "12 St James's Square",
        "emails": ["nonsense", "ada@engines.example", 7],
        "phone_numbers": ["one"], "certifications": "none",
        "work_experience": [{ "description": "Nowhere, as nobody" }, { "company_name": "Engines" }],
    });
    let (_app, _provider, client, person) = enriched(*engine, &answer);
    let read = client.person(&person);
    assert_eq!(
        (strings(&read["emails"], "value"), &read["phones"]),
        (vec!["ada@engines.example".to_owned()], &json!([]))
    );
    assert_eq!(strings(&read["work_experience"], "company_name"), ["Engines"]);
    assert_eq!([&read["current_job_title"], &read["certifications"]], [&json!(""), &json!([])]);
    assert_eq!(client.profile(&person)["address"], "12 St James's Square");
    let refused = refused_fields(&client.enrichment(&person));
    for field in [
        "name",
        "current_job_title",
        "social_location",
        "social_headline",
        "social_url",
        "emails[0]",
        "emails[2]",
        "certifications",
    ] {
        assert!(refused.iter().any(|known| known == field), "{field}: {refused:?}");
    }
    assert!(refused.iter().any(|field| field.starts_with("work_experience[0]")), "{refused:?}");
    assert!(refused.iter().any(|field| field.starts_with("phone")), "{refused:?}");
}

#[apply(each_engine)]
fn what_belongs_to_another_person_is_left_out_and_told(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let other = client.new_person(&json!({ "name": "Grace", "emails": ["grace@x.example"],
        "social_url": social_url("grace") }));
    let before = client.person(&other);
    let person = client.new_person(&json!({ "name": "Ada", "emails": ["a@x.example"] }));
    let answer = json!({ "emails": ["Grace@x.example", "ada@x.example"],
        "social_url": social_url("grace"), "address": "London" });
    provider.knows("a@x.example", &answer);
    let seen = client.enrich(&person);
    assert_eq!(seen["fields"], json!(["address", "emails"]));
    let read = client.person(&person);
    assert_eq!(strings(&read["emails"], "value"), ["a@x.example", "ada@x.example"]);
    assert_eq!(read["social_public_id"], "");
    assert_eq!(client.person(&other), before);
    let refused = seen["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 2, "{seen:#}");
    assert!(
        refused.iter().all(|entry| entry["reason"].as_str().unwrap().contains(&other)),
        "{seen:#}"
    );
}

#[apply(each_engine)]
fn what_enrichment_set_is_renewed(engine: &Engine) {
    let (_app, provider, client, person) = enriched(*engine, &everything());
    let mut newer = everything();
    newer["current_job_title"] = json!("Chief Analyst");
    newer["company_name"] = json!("Umbrella");
    newer["certifications"] = json!([{ "name": "Difference engines" }]);
    provider.knows("ada", &newer);
    let seen = client.enrich_anew(&person);
    assert_eq!(
        seen["fields"],
        json!(["current_job_title", "current_company_name", "certifications"])
    );
    let read = client.person(&person);
    assert_eq!(
        [&read["current_job_title"], &read["current_company_name"]],
        ["Chief Analyst", "Umbrella"]
    );
    assert_eq!(strings(&read["certifications"], "name"), ["Difference engines"]);
    assert_eq!(client.proposals(&person), Vec::<Value>::new());
}

/// Invariant 14.
#[apply(each_engine)]
fn what_a_caller_wrote_again_stays(engine: &Engine) {
    let (_app, provider, client, person) =
        enriched(*engine, &json!({ "current_job_title": "Analyst", "address": "London" }));
    for title in ["Countess", "Analyst"] {
        client.update_person(&person, &json!({ "current_job_title": title }));
    }
    assert_eq!(client.provenance_of(&person, "current_job_title")["source"], "caller");
    assert_eq!(client.provenance_of(&person, "address")["source"], "provider");
    provider.knows("ada", &json!({ "current_job_title": "Lead", "address": "Paris" }));
    assert_eq!(client.enrich_anew(&person)["fields"], json!(["address"]));
    assert_eq!(client.person(&person)["current_job_title"], "Analyst");
    assert_eq!(client.proposals(&person)[0]["proposed"], "Lead");
}

/// Takes away, as a caller, what enrichment set; the name stays.
fn clear(client: &Client, person: &str) {
    let body = json!({
        "social_location": null, "social_headline": null, "address": null,
        "current_job_title": null, "company_name": null,
        "emails": [], "phone_numbers": [],
    });
    client.update_person(person, &body);
    let empty = json!({ "work_experience": [], "education_experience": [], "certifications": [] });
    client.put(&format!("/v1/persons/{person}/history"), &empty).expect(200);
}

#[apply(each_engine)]
fn what_a_caller_took_away_does_not_come_back(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    // The workspace writes the company otherwise, and the entries of the career get its id.
    client.new_job("Engineer", "ANALYTICAL ENGINES");
    let mut answer = everything();
    answer["work_experience"][0]["end_date"] = json!("Present");
    provider.knows("ada", &answer);
    let person = client.new_handle("ada");
    client.enrich(&person);
    assert_eq!(client.person(&person)["current_company_name"], "ANALYTICAL ENGINES");
    clear(&client, &person);
    let read = |client: &Client| {
        client.get(&format!("/v1/persons/{person}?include=profile")).expect(200).data().clone()
    };
    Log::begin(&client);
    let before = read(&client);
    for seen in [client.enrich(&person), client.enrich_anew(&person)] {
        assert_eq!(
            [&seen["state"], &seen["provider"], &seen["fields"]],
            [&json!("done"), &json!("people"), &json!([])]
        );
    }
    assert_eq!((read(&client), client.proposals(&person)), (before, Vec::new()));
}

#[apply(each_engine)]
fn what_a_caller_cleared_is_filled_with_another_value(engine: &Engine) {
    let (_app, provider, client, person) = enriched(*engine, &everything());
    clear(&client, &person);
    let mut newer = everything();
    newer["current_job_title"] = json!("Chief Analyst");
    newer["emails"] = json!(["ada@engines.example", "countess@engines.example"]);
    newer["certifications"] = json!([{ "name": "Difference engines" }]);
    provider.knows("ada", &newer);
    assert_eq!(
        client.enrich_anew(&person)["fields"],
        json!(["current_job_title", "emails", "certifications"])
    );
    let read = client.person(&person);
    assert_eq!([&read["current_job_title"], &read["current_company_name"]], ["Chief Analyst", ""]);
    assert_eq!(strings(&read["emails"], "value"), ["countess@engines.example"]);
    assert_eq!(strings(&read["certifications"], "name"), ["Difference engines"]);
}
