//! Creating a person: names, handles and text.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine};

const PATH: &str = "/v1/persons";

#[apply(each_engine)]
fn a_person_needs_a_name_a_profile_or_a_contact(workspace: &Workspace) {
    let client = workspace.writer();
    for body in [
        json!({}),
        json!({ "name": "" }),
        json!({ "name": "  ", "first_name": null, "last_name": "\t" }),
        json!({ "emails": [" "], "external_source_id": "crm-1", "company_name": "Acme" }),
    ] {
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw("name")),
            (vec!["name"], "REQUIRED"),
            "{body}"
        );
    }
    for body in [
        json!({ "name": "Ada" }),
        json!({ "first_name": "Ada" }),
        json!({ "last_name": "Lovelace" }),
        json!({ "social_url": "https://social.example/in/ada" }),
        json!({ "emails": ["ada@x.example"] }),
        json!({ "work_phone": "030 1234" }),
    ] {
        client.new_person(&body);
    }
}

#[apply(each_engine)]
fn a_missing_side_of_the_name_is_derived(workspace: &Workspace) {
    let client = workspace.writer();
    for (body, name, first, last) in [
        (json!({ "name": "Ada Lovelace" }), "Ada Lovelace", "Ada", "Lovelace"),
        (json!({ "name": "Ada King Lovelace" }), "Ada King Lovelace", "Ada King", "Lovelace"),
        (json!({ "name": "Ada" }), "Ada", "Ada", ""),
        (
            json!({ "first_name": "Ada", "last_name": "Lovelace" }),
            "Ada Lovelace",
            "Ada",
            "Lovelace",
        ),
        (json!({ "first_name": "Ada" }), "Ada", "Ada", ""),
        (json!({ "last_name": "Lovelace" }), "Lovelace", "", "Lovelace"),
        (
            json!({ "name": "The Countess", "first_name": "Ada", "last_name": "King" }),
            "The Countess",
            "Ada",
            "King",
        ),
    ] {
        let reply = client.post(PATH, &body).expect(201);
        assert_eq!(reply.data()["name"], name, "{body}");
        let person = client.person(&reply.id());
        assert_eq!(
            [&person["name"], &person["first_name"], &person["last_name"]],
            [name, first, last],
            "{body}"
        );
    }
}

#[apply(each_engine)]
fn a_profile_alone_lends_its_handle_as_the_name(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "social_url": "https://social.example/in/Ada-L" }));
    let person = client.person(&person);
    assert_eq!([&person["name"], &person["first_name"], &person["last_name"]], ["ada-l", "", ""]);
    assert_eq!(person["social_public_id"], "ada-l");
}

#[apply(each_engine)]
fn the_handle_stands_in_until_the_name_is_known(workspace: &Workspace) {
    let client = workspace.writer();
    let profile = "https://social.example/in/ada";
    let person = client.new_person(&json!({ "social_url": profile }));
    let again =
        client.post(PATH, &json!({ "social_url": profile, "name": "Ada Lovelace" })).expect(200);
    assert_eq!((again.id(), again.string("name")), (person.clone(), "Ada Lovelace".to_owned()));
    client.post(PATH, &json!({ "social_url": profile, "name": "Somebody Else" })).expect(200);
    let person = client.person(&person);
    assert_eq!(
        [&person["name"], &person["first_name"], &person["last_name"]],
        ["Ada Lovelace", "Ada", "Lovelace"]
    );
}

#[apply(each_engine)]
fn the_handle_is_read_from_the_address_of_the_profile(workspace: &Workspace) {
    let client = workspace.writer();
    for (url, handle) in [
        ("https://social.example/in/Ada-Lovelace", "ada-lovelace"),
        ("http://www.social.example/in/grace/", "grace"),
        ("https://social.example/in/mary?trk=public#top", "mary"),
        ("https://social.example/in/joan/details/skills/", "joan"),
        ("https://social.example/people/Hedy", "hedy"),
        ("https://social.example/karen", "karen"),
        ("https://social.example/in/J%C3%BCrgen", "jürgen"),
        ("HTTPS://social.example/in/radia", "radia"),
    ] {
        let reply =
            client.post(PATH, &json!({ "name": "Somebody", "social_url": url })).expect(201);
        assert_eq!(reply.data()["social_public_id"], handle, "{url}");
    }
}

#[apply(each_engine)]
fn an_address_that_names_no_profile_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for url in [
        "n/a",
        "ftp://social.example/in/ada",
        "javascript:alert(1)",
        "https://",
        "https:///in/ada",
        "ada",
        "//x/in/ada",
    ] {
        let reply = client
            .post(PATH, &json!({ "name": "Ada", "social_url": url }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw("social_url")),
            (vec!["social_url"], "INVALID_URL"),
            "{url}"
        );
    }
}

#[apply(each_engine)]
fn text_is_trimmed_and_blank_is_absent(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({
        "name": "  Ada Lovelace\n",
        "first_name": "   ",
        "social_url": "",
        "current_job_title": "\t Analyst ",
        "social_location": "  ",
        "company_name": " ",
        "emails": ["  ada@x.example ", "", "   "],
        "work_email": "",
        "phone_numbers": [" 030 1234 ", ""],
        "mobile_phone": " ",
        "notes": "  ",
        "job_id": "",
        "job_name": " ",
        "client_id": "",
        "client_name": "\n",
        "external_source_id": "  ",
    });
    let reply = client.post(PATH, &body).expect(201);
    let data = reply.data();
    assert_eq!(
        [
            &data["name"],
            &data["current_job_title"],
            &data["social_location"],
            &data["company_name"]
        ],
        ["Ada Lovelace", "Analyst", "", ""]
    );
    assert_eq!(
        [&data["candidate_id"], &data["client_contact_id"], &data["external_source_id"]],
        [&Value::Null; 3]
    );
    assert_eq!(data["emails"], json!([{ "contact_data_type": "work", "value": "ada@x.example" }]));
    assert_eq!(data["phones"], json!([{ "contact_data_type": "mobile", "value": "030 1234" }]));
    let person = client.person(&reply.id());
    assert_eq!([&person["first_name"], &person["last_name"]], ["Ada", "Lovelace"]);
}

#[apply(each_engine)]
fn null_is_as_good_as_absent(workspace: &Workspace) {
    let body = json!({
        "name": "Ada", "first_name": null, "last_name": null, "social_url": null,
        "current_job_title": null, "social_location": null,
        "company_name": null, "emails": null, "work_email": null, "work_phone": null,
        "personal_email": null, "mobile_phone": null,
        "phone_numbers": null, "notes": null, "job_id": null, "job_name": null, "client_name": null,
        "client_id": null,
        "external_source_id": null, "enrich_record": null,
    });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    assert_eq!((reply.string("name"), &reply.data()["emails"]), ("Ada".to_owned(), &json!([])));
}

#[apply(each_engine)]
fn text_may_be_as_long_as_allowed_and_no_longer(workspace: &Workspace) {
    let client = workspace.writer();
    let address = |length: usize| format!("{}@x.example", "a".repeat(length - "@x.example".len()));
    let profile = |length: usize| {
        format!(
            "https://social.example/in/ada?{}",
            "x".repeat(length - "https://social.example/in/ada?".len())
        )
    };
    type Case<'c> = (&'static str, usize, &'c dyn Fn(usize) -> Value);
    let cases: [Case<'_>; 11] = [
        ("name", 255, &|length| json!("x".repeat(length))),
        ("name", 255, &|length| json!("é".repeat(length))),
        ("first_name", 255, &|length| json!("x".repeat(length))),
        ("current_job_title", 255, &|length| json!("x".repeat(length))),
        ("company_name", 255, &|length| json!("x".repeat(length))),
        ("work_email", 254, &|length| json!(address(length))),
        ("mobile_phone", 64, &|length| json!("1".repeat(length))),
        ("social_url", 2048, &|length| json!(profile(length))),
        ("notes", 64 * 1024, &|length| json!("x".repeat(length))),
        ("emails", 50, &|count| {
            (0..count).map(|number| format!("{number}@many.example")).collect()
        }),
        ("phone_numbers", 50, &|count| {
            (1000..1000 + count).map(|number| number.to_string()).collect()
        }),
    ];
    for (field, most, value) in cases {
        let mut body = json!({ "name": "Ada" });
        body[field] = value(most);
        client.post(&format!("{PATH}?on_duplicate=create"), &body).expect(201);
        body[field] = value(most + 1);
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        let flaw = if body[field].is_array() { "TOO_MANY" } else { "TOO_LONG" };
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw));
    }
}

#[apply(each_engine)]
fn notes_are_measured_in_bytes(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada", "notes": "é".repeat(32 * 1024) }));
    let reply = client
        .post(PATH, &json!({ "name": "Ada", "notes": "é".repeat(32 * 1024 + 1) }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("notes"), "TOO_LONG");
}

#[apply(each_engine)]
fn text_comes_back_as_it_was_sent(workspace: &Workspace) {
    let client = workspace.writer();
    for name in [
        "Žofie Müller-Łukaszewicz",
        "山田 太郎",
        "O'Neil \"Shorty\" \\ <b>&amp;",
        "🦀 Ferris",
        "a' OR 1=1; --",
        "%_*?",
    ] {
        let person = client.new_person(&json!({ "name": name, "current_job_title": name }));
        let person = client.person(&person);
        assert_eq!([&person["name"], &person["current_job_title"]], [name, name]);
    }
}

#[apply(each_engine)]
fn notes_and_enrichment_do_not_stand_in_the_way(workspace: &Workspace) {
    let client = workspace.writer();
    let body =
        json!({ "name": "Ada", "notes": "First line.\n\tSecond line.", "enrich_record": true });
    let person = client.new_person(&body);
    assert_eq!(client.person(&person).get("notes"), None);
}

#[apply(each_engine)]
fn ids_are_in_the_order_of_creation(workspace: &Workspace) {
    let client = workspace.writer();
    let ids: Vec<_> = (0..20)
        .map(|number| client.new_person(&json!({ "name": format!("Person {number}") })))
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with("per_")), "{ids:?}");
}
