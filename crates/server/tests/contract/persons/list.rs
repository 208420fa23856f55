//! Listing the persons of a workspace, all of them or some.

use serde_json::{Value, json};

use crate::support::{App, Client, Workspace, apply, each_engine, next_millisecond, strings};

fn names(client: &Client, query: &str) -> Vec<String> {
    let reply = client.get(&format!("/v1/persons?{query}")).expect(200);
    let names = strings(reply.data(), "name");
    assert_eq!(reply.json["meta"]["total"], names.len(), "{reply:#?}");
    names
}

fn numbered(client: &Client, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| client.new_person(&json!({ "name": format!("Person {number}") })))
        .collect()
}

#[apply(each_engine)]
fn an_item_has_all_that_a_list_shows(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({
        "name": "Ada Lovelace", "social_url": "https://social.example/in/ada",
        "social_location": "London", "current_job_title": "Analyst",
        "company_name": "Engines", "work_email": "Ada@Engines.example", "mobile_phone": "+44 20 \
            1815", "external_source_id": "crm-1",
    });
    let id = client.new_person(&body);
    let read = client.person(&id);
    let list = client.get("/v1/persons").expect(200);
    let item = &list.entries()[0];
    let created_at = item["created_at"].clone();
    assert_eq!(
        item,
        &json!({
            "id": id, "name": "Ada Lovelace", "first_name": "Ada", "last_name": "Lovelace",
            "social_public_id": "ada", "social_location": "London",
            "current_job_title": "Analyst", "current_company_name": "Engines",
            "current_company_id": read["current_company_id"],
            "external_source_id": "crm-1", "emails": read["emails"], "phones": read["phones"],
            "created_at": created_at, "updated_at": created_at,
            "matched_fields": [],
        })
    );
    let fields: Vec<_> = item.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields[..3], ["id", "name", "first_name"]);
    assert_eq!(list.json["meta"], json!({ "total": 1, "offset": 0, "limit": 100 }));
}

#[apply(each_engine)]
fn persons_come_oldest_first_on_pages_of_every_size(workspace: &Workspace) {
    let client = workspace.writer();
    let ids = numbered(&client, 7);
    for limit in 1..=9 {
        let mut seen = Vec::new();
        for offset in (0..7).step_by(limit) {
            let reply =
                client.get(&format!("/v1/persons?limit={limit}&offset={offset}")).expect(200);
            assert_eq!(reply.json["meta"], json!({ "total": 7, "offset": offset, "limit": limit }));
            seen.extend(strings(reply.data(), "id"));
        }
        assert_eq!(seen, ids);
    }
    let past = client.get("/v1/persons?offset=7").expect(200);
    assert_eq!((past.entries().len(), &past.json["meta"]["total"]), (0, &json!(7)));
}

fn walk(client: &Client, query: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let reply = client.get(&format!("/v1/persons?cursor={cursor}&{query}")).expect(200);
        seen.extend(strings(reply.data(), "id"));
        assert!(seen.len() < 100);
        match &reply.json["meta"]["next_cursor"] {
            Value::Null => return seen,
            next => next.as_str().unwrap().clone_into(&mut cursor),
        }
    }
}

#[apply(each_engine)]
fn cursors_and_newest_first_hold_each_person_once(workspace: &Workspace) {
    let client = workspace.writer();
    let ids = numbered(&client, 5);
    let reversed: Vec<_> = ids.iter().rev().cloned().collect();
    for limit in 1..=6 {
        assert_eq!(walk(&client, &format!("limit={limit}")), ids);
        assert_eq!(walk(&client, &format!("limit={limit}&sort=-created_at")), reversed);
        let mut seen = Vec::new();
        for offset in (0..5).step_by(limit) {
            seen.extend(strings(
                client
                    .get(&format!("/v1/persons?sort=-created_at&limit={limit}&offset={offset}"))
                    .data(),
                "id",
            ));
        }
        assert_eq!(seen, reversed);
    }
}

/// Cuts a list of seven into stretches behind the server's back, as it does by itself once a list
/// is long: two, three, and the rest, which is open.
fn count_before(app: &App) {
    let engine_id =
        |place: usize| format!("(SELECT id FROM person ORDER BY id LIMIT 1 OFFSET {place})");
    let zero = if app.database.url().starts_with("sqlite") {
        "zeroblob(16)"
    } else {
        "'00000000-0000-0000-0000-000000000000'"
    };
    for (first, count) in [(zero.to_owned(), 2), (engine_id(2), 3), (engine_id(5), -1)] {
        app.database.execute(&format!(
            "INSERT INTO census (workspace_id, list, first_id, count) SELECT workspace_id, 1, \
             {first}, {count} FROM person ORDER BY id LIMIT 1"
        ));
    }
}

#[apply(each_engine)]
fn pages_are_found_by_what_was_counted_before(app: &App) {
    let client = app.writer();
    let ids = numbered(&client, 7);
    count_before(app);
    let all = |ids: &[String]| {
        for limit in 1..=8 {
            let mut seen = Vec::new();
            for offset in (0..ids.len()).step_by(limit) {
                let reply =
                    client.get(&format!("/v1/persons?limit={limit}&offset={offset}")).expect(200);
                assert_eq!(reply.json["meta"]["total"], ids.len());
                seen.extend(strings(reply.data(), "id"));
            }
            assert_eq!(seen, ids);
        }
    };
    all(&ids);
    let mut left = ids;
    for place in [3, 0, 4] {
        let gone = left.remove(place);
        client.send("DELETE", &format!("/v1/persons/{gone}"), None).expect(200);
        all(&left);
    }
}

#[apply(each_engine)]
fn persons_by_their_identifiers(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada", "emails": ["Ada@Engines.example"],
        "social_url": "https://social.example/in/ada", "external_source_id": "crm-1" }));
    client.new_person(&json!({ "name": "Grace", "emails": ["grace@navy.example"] }));
    assert_eq!(names(&client, "email=ADA@engines.example"), ["Ada"]);
    assert_eq!(names(&client, "social_public_id=ADA"), ["Ada"]);
    assert_eq!(names(&client, "external_source_id=crm-1"), ["Ada"]);
    assert_eq!(names(&client, "external_source_id=CRM-1"), [""; 0]);
    assert_eq!(names(&client, "email=nobody@engines.example"), [""; 0]);
    client
        .post(
            "/v1/persons?on_duplicate=create",
            &json!({ "name": "Other Ada", "emails": ["ada@engines.example"] }),
        )
        .expect(201);
    assert_eq!(names(&client, "email=ada@engines.example"), ["Ada", "Other Ada"]);
}

#[apply(each_engine)]
fn persons_by_phone_number(workspace: &Workspace) {
    let client = workspace.writer();
    let ada = client.new_person(&json!({ "name": "Ada", "mobile_phone": "+44 (20) 7946-0000" }));
    client.new_person(&json!({ "name": "Grace", "mobile_phone": "+44 20 7946 0001" }));
    assert_eq!(names(&client, "phone=442079460000"), ["Ada"]);
    assert_eq!(names(&client, "phone=%2B44-20-7946-0000"), ["Ada"]);
    client
        .patch(&format!("/v1/persons/{ada}"), &json!({ "mobile_phone": "+1 555 0100" }))
        .expect(200);
    assert_eq!(names(&client, "phone=442079460000"), [""; 0]);
    assert_eq!(names(&client, "phone=15550100"), ["Ada"]);
}

#[apply(each_engine)]
fn persons_by_company_and_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Client");
    let ada =
        client.new_person(&json!({ "name": "Ada", "company_name": "Acme", "job_id": job.id }));
    client.new_person(&json!({ "name": "Grace", "company_name": "Navy" }));
    client.new_person(&json!({ "name": "Joan", "company_name": "ACME" }));
    let acme = client.person(&ada)["current_company_id"].as_str().unwrap().to_owned();
    assert_eq!(names(&client, &format!("company_id={acme}")), ["Ada", "Joan"]);
    assert_eq!(names(&client, &format!("job_id={}", job.id)), ["Ada"]);
    assert_eq!(names(&client, &format!("company_id={acme}&job_id={}", job.id)), ["Ada"]);
    client.patch(&format!("/v1/persons/{ada}"), &json!({ "company_name": null })).expect(200);
    assert_eq!(names(&client, &format!("company_id={acme}")), ["Joan"]);
}

#[apply(each_engine)]
fn persons_by_times(workspace: &Workspace) {
    let client = workspace.writer();
    let one = client.new_person(&json!({ "name": "One" }));
    next_millisecond();
    client.new_person(&json!({ "name": "Two" }));
    let list = client.get("/v1/persons").expect(200);
    let second = list.entries()[1]["created_at"].as_str().unwrap().to_owned();
    assert_eq!(names(&client, &format!("created_before={second}")), ["One"]);
    assert_eq!(names(&client, &format!("created_after={second}")), [""; 0]);
    next_millisecond();
    client.patch(&format!("/v1/persons/{one}"), &json!({ "address": "London" })).expect(200);
    assert_eq!(names(&client, &format!("updated_after={second}")), ["One"]);
}

#[apply(each_engine)]
fn filters_narrow_each_other_and_page_like_any_list(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..6 {
        client.new_person(&json!({ "name": format!("Person {number}"),
            "company_name": if number % 2 == 0 { "Even" } else { "Odd" } }));
    }
    let even =
        client.get("/v1/persons").entries()[0]["current_company_id"].as_str().unwrap().to_owned();
    let ids = walk(&client, &format!("company_id={even}&limit=2"));
    assert_eq!(ids.len(), 3);
    let reply = client.get(&format!("/v1/persons?company_id={even}&limit=1&offset=2")).expect(200);
    assert_eq!(
        (strings(reply.data(), "name"), &reply.json["meta"]["total"]),
        (vec!["Person 4".to_owned()], &json!(3))
    );
    assert_eq!(names(&client, &format!("company_id={even}&external_source_id=none")), [""; 0]);
}

/// A filter that leaves many is paged in another way; here it is said to leave as many.
#[apply(each_engine)]
fn filters_page_alike_however_many_they_leave(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Client");
    let rows: Vec<_> = (0..90)
        .map(|number| {
            let company = ["Acme", "Other"][number % 2];
            let mut row = json!({ "name": format!("Person {number}"), "company_name": company,
                "mobile_phone": format!("+1 555 {number:04}") });
            if number % 3 == 0 {
                row["job_id"] = json!(job.id);
            }
            row
        })
        .collect();
    client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
    let all = strings(client.get("/v1/persons").data(), "id");
    let made = client.get("/v1/persons").entries()[0]["created_at"].as_str().unwrap().to_owned();
    next_millisecond();
    for id in all.iter().step_by(4) {
        client.patch(&format!("/v1/persons/{id}"), &json!({ "address": "Oslo" })).expect(200);
    }
    let acme = client.person(&all[0])["current_company_id"].as_str().unwrap().to_owned();
    let job = &job.id;
    let every = |step: usize| all.iter().step_by(step).cloned().collect::<Vec<_>>();
    let cases = [
        (format!("job_id={job}"), every(3)),
        (format!("job_id={job}&company_id={acme}"), every(6)),
        (format!("job_id={job}&updated_after={made}"), every(12)),
        (format!("job_id={job}&created_after=2000-01-01&created_before=2999-12-31"), every(3)),
        (format!("job_id={job}&created_before={made}"), Vec::new()),
        (format!("job_id={job}&phone=15550006"), vec![all[6].clone()]),
        (format!("company_id={acme}&updated_after={made}"), every(4)),
        (format!("updated_after={made}"), every(4)),
    ];
    let check = || {
        for (filter, expected) in &cases {
            let reversed: Vec<_> = expected.iter().rev().cloned().collect();
            for (sort, expected) in [("created_at", expected), ("-created_at", &reversed)] {
                for limit in [4, 7, 100] {
                    assert_eq!(
                        &walk(&client, &format!("{filter}&sort={sort}&limit={limit}")),
                        expected,
                        "{filter} {sort} {limit}"
                    );
                    let page = |offset: usize| {
                        client.get(&format!(
                            "/v1/persons?{filter}&sort={sort}&limit={limit}&offset={offset}"
                        ))
                    };
                    let pages = (0..expected.len()).step_by(limit).map(page);
                    let by_offset: Vec<_> =
                        pages.flat_map(|page| strings(page.expect(200).data(), "id")).collect();
                    assert_eq!(&by_offset, expected, "{filter} {sort} {limit}");
                }
            }
        }
    };
    for (filter, expected) in &cases {
        assert_eq!(
            client.get(&format!("/v1/persons?{filter}&limit=1")).expect(200).json["meta"]["total"],
            expected.len(),
            "{filter}"
        );
    }
    check();
    app.database.execute("UPDATE job SET candidate_count = 20000");
    check();
}

#[apply(each_engine)]
fn times_are_told_apart_by_the_millisecond(workspace: &Workspace) {
    let client = workspace.writer();
    for batch in 0..3 {
        let rows: Vec<_> =
            (0..3).map(|number| json!({ "name": format!("Person {batch} {number}") })).collect();
        client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
        next_millisecond();
    }
    let list = client.get("/v1/persons").expect(200);
    let made: Vec<_> =
        list.entries().iter().map(|item| item["created_at"].as_str().unwrap()).collect();
    let all = strings(list.data(), "name");
    for (query, expected) in [
        (format!("created_after={}", made[3]), &all[6..]),
        (format!("created_before={}", made[3]), &all[..3]),
        (format!("created_after={}&created_before={}", made[0], made[6]), &all[3..6]),
        (format!("created_after={}&created_before={}", made[6], made[0]), &[]),
        (format!("created_after={}&updated_before={}", made[0], made[6]), &all[3..6]),
        ("created_after=-004800-01-01T00:00:00Z".to_owned(), &all[..]),
        ("created_before=-004800-01-01T00:00:00Z".to_owned(), &[]),
        ("created_before=1969-12-31T23:59:59.999Z".to_owned(), &[]),
        (
            "created_after=1969-12-31T23:59:59.999Z&updated_after=-004800-01-01T00:00:00Z"
                .to_owned(),
            &all[..],
        ),
        ("created_after=9999-12-30T22:00:00Z".to_owned(), &[]),
        ("created_before=9999-12-30T22:00:00Z".to_owned(), &all[..]),
    ] {
        assert_eq!(names(&client, &query), expected, "{query}");
    }
}

#[apply(each_engine)]
fn totals_by_time_are_those_of_what_was_counted_before(app: &App) {
    let client = app.writer();
    for number in 0..7 {
        client.new_person(&json!({ "name": format!("Person {number}") }));
        next_millisecond();
    }
    count_before(app);
    let check = |places: &[usize]| {
        let list = client.get("/v1/persons").expect(200);
        assert_eq!(list.entries().len(), places.len());
        let all = strings(list.data(), "name");
        for (place, item) in list.entries().iter().enumerate() {
            let made = item["created_at"].as_str().unwrap();
            assert_eq!(names(&client, &format!("created_after={made}")), all[place + 1..]);
            assert_eq!(names(&client, &format!("created_before={made}")), all[..place]);
        }
    };
    check(&[0, 1, 2, 3, 4, 5, 6]);
    let gone = client.get("/v1/persons").entries()[3]["id"].as_str().unwrap().to_owned();
    client.send("DELETE", &format!("/v1/persons/{gone}"), None).expect(200);
    check(&[0, 1, 2, 4, 5, 6]);
}

#[apply(each_engine)]
fn a_bad_filter_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for (query, field) in [
        ("email=ada", "email"),
        ("phone=x", "phone"),
        ("q=--", "q"),
        ("company_id=cmp_unknown", "company_id"),
        ("job_id=job_unknown", "job_id"),
        ("created_after=yesterday", "created_after"),
        ("sort=name", "sort"),
        ("limit=101", "limit"),
        ("mail=a@b.example", "mail"),
    ] {
        let refused = client.get(&format!("/v1/persons?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(refused.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn nobody_sees_the_persons_of_another_workspace(workspace: &Workspace) {
    let (ours, theirs) = (workspace.writer(), workspace.client_of("other", "write"));
    ours.new_person(&json!({ "name": "Ada Lovelace", "emails": ["ada@engines.example"],
        "mobile_phone": "+44 1815" }));
    for query in ["", "q=ada", "email=ada@engines.example", "phone=441815"] {
        assert_eq!(names(&theirs, query), [""; 0], "{query}");
        assert_eq!(names(&ours, query), ["Ada Lovelace"], "{query}");
    }
}
