//! Companies: made, listed, renamed and merged.

use serde_json::{Value, json};

use crate::support::{
    Client, Log, Workspace, apply, each_engine, next_millisecond, shape, strings, together, types,
};

const PATH: &str = "/v1/companies";

/// Makes a company behind all others.
#[track_caller]
fn new_company(client: &Client, name: &str) -> String {
    next_millisecond();
    client.post(PATH, &json!({ "name": name })).expect(201).id()
}

fn at(id: &str) -> String {
    format!("{PATH}/{id}")
}

#[track_caller]
fn names(client: &Client, query: &str) -> Vec<String> {
    let reply = client.get(&format!("{PATH}{query}")).expect(200);
    let names = strings(reply.data(), "name");
    assert_eq!(reply.json["meta"]["total"], names.len(), "{reply:#?}");
    names
}

#[track_caller]
fn merge(client: &Client, from: &str, into: &str) {
    client.post(&format!("{PATH}/{into}/merge"), &json!({ "company_id": from })).expect(200);
}

fn never(prefix: &str) -> String {
    format!("{prefix}_{}", "0".repeat(26))
}

#[apply(each_engine)]
fn a_company(workspace: &Workspace) {
    let client = workspace.writer();
    let made = client.post(PATH, &json!({ "name": "  Babbage & Co " })).expect(201);
    insta::assert_snapshot!(shape(&made), @r#"
    {
      "success": true,
      "data": {
        "id": "cmp_1",
        "name": "Babbage & Co",
        "created_at": "<time>",
        "updated_at": "<time>"
      }
    }
    "#);
    let read = client.get(&at(&made.id())).expect(200);
    assert_eq!((read.text.as_str(), read.etag()), (made.text.as_str(), made.etag()));
    assert_eq!(client.get(PATH).expect(200).entries(), [read.data().clone()]);
    assert_eq!(read.string("created_at"), read.string("updated_at"));
}

#[apply(each_engine)]
fn a_name_that_is_there_finds_its_company(workspace: &Workspace) {
    let client = workspace.writer();
    let made = client.post(PATH, &json!({ "name": "Babbage & Co" })).expect(201);
    for name in ["Babbage & Co", "BABBAGE & CO", "  babbage   &  co"] {
        assert_eq!(
            client.post(PATH, &json!({ "name": name })).expect(200).text,
            made.text,
            "{name}"
        );
    }
    let employed = client.new_person(&json!({ "name": "Ada", "company_name": "babbage & co" }));
    assert_eq!(client.person(&employed)["current_company_id"], made.id());
}

#[apply(each_engine)]
fn many_at_one_instant_make_one_company(workspace: &Workspace) {
    let client = workspace.writer();
    let replies = together(12, |_| client.post(PATH, &json!({ "name": "Acme" })));
    let mut ids: Vec<_> = replies.iter().map(|reply| reply.id()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{replies:#?}");
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1, "{replies:#?}");
    assert_eq!(names(&client, ""), ["Acme"]);
}

#[apply(each_engine)]
fn whoever_is_named_as_employer_or_client_is_listed(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_job("Engineer", "Acme");
    next_millisecond();
    client.new_person(&json!({ "name": "Ada", "company_name": "Analytical Engines" }));
    next_millisecond();
    client.new_person(&json!({ "name": "Grace", "client_name": "Umbrella" }));
    assert_eq!(names(&client, ""), ["Acme", "Analytical Engines", "Umbrella"]);
}

#[apply(each_engine)]
fn companies_are_listed_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    let ids: Vec<_> =
        (0..7).map(|number| new_company(&client, &format!("Company {number}"))).collect();
    let page = |query: &str| client.get(&format!("{PATH}{query}")).expect(200);
    for limit in 1..=8 {
        let mut seen = Vec::new();
        for offset in (0..ids.len()).step_by(limit) {
            let reply = page(&format!("?offset={offset}&limit={limit}"));
            assert_eq!(reply.json["meta"], json!({ "total": 7, "offset": offset, "limit": limit }));
            seen.extend(strings(reply.data(), "id"));
        }
        assert_eq!(seen, ids, "by {limit}");
        for (order, expected) in
            [("", ids.clone()), ("&sort=-created_at", ids.iter().rev().cloned().collect())]
        {
            let (mut seen, mut cursor) = (Vec::new(), json!(""));
            while let Some(place) = cursor.as_str() {
                let reply = page(&format!("?cursor={place}&limit={limit}{order}"));
                seen.extend(strings(reply.data(), "id"));
                cursor = reply.json["meta"]["next_cursor"].clone();
                assert!(seen.len() <= ids.len(), "{reply:#?}");
            }
            assert_eq!(seen, expected, "by {limit}{order}");
        }
    }
    assert_eq!(
        strings(page("?sort=-created_at&offset=2&limit=2").data(), "id"),
        [ids[4].as_str(), ids[3].as_str()]
    );
    assert_eq!(page("?offset=1000").json["data"], json!([]));
}

#[apply(each_engine)]
fn companies_by_words(workspace: &Workspace) {
    let client = workspace.writer();
    for name in ["Acme", "ACME of Übersee", "100% Initech"] {
        new_company(&client, name);
    }
    assert_eq!(names(&client, "?q=acme"), ["Acme", "ACME of Übersee"]);
    assert_eq!(names(&client, "?q=%C3%9CBERSEE"), ["ACME of Übersee"]);
    assert_eq!(names(&client, "?q=100%25"), ["100% Initech"]);
    assert_eq!(names(&client, "?q=nobody"), [""; 0]);
    assert_eq!(names(&client, "?q=%27%20OR%201%3D1%20--"), [""; 0]);
}

#[apply(each_engine)]
fn companies_by_the_time_of_their_creation_and_change(workspace: &Workspace) {
    let client = workspace.writer();
    let first = new_company(&client, "First");
    next_millisecond();
    let second = client.post(PATH, &json!({ "name": "Second" })).expect(201).string("created_at");
    next_millisecond();
    new_company(&client, "Third");
    assert_eq!(names(&client, &format!("?created_after={second}")), ["Third"]);
    assert_eq!(names(&client, &format!("?created_before={second}")), ["First"]);
    client.patch(&at(&first), &json!({ "name": "Changed" })).expect(200);
    assert_eq!(names(&client, &format!("?updated_after={second}")), ["Changed", "Third"]);
    assert_eq!(names(&client, &format!("?updated_before={second}")), [""; 0]);
    assert_eq!(names(&client, &format!("?updated_after={second}&q=third")), ["Third"]);
}

#[apply(each_engine)]
fn a_bad_filter_is_refused(workspace: &Workspace) {
    let client = workspace.client("read");
    for (query, field) in [
        ("q=", "q"),
        ("created_after=soon", "created_after"),
        ("limit=0", "limit"),
        ("offset=-1", "offset"),
        ("sort=name", "sort"),
        ("cursor=job_00000000000000000000000001.1.00000000", "cursor"),
        ("name=Acme", "name"),
    ] {
        let reply = client.get(&format!("{PATH}?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn a_renamed_company_has_its_name_wherever_it_is_shown(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person =
        client.new_person(&json!({ "name": "Ada", "company_name": "Acme", "job_id": job.id }));
    let before = client.get(&at(&job.client_company)).expect(200);
    next_millisecond();
    let renamed = client
        .patch(&at(&job.client_company), &json!({ "name": " Acme International " }))
        .expect(200);
    assert_eq!(renamed.string("name"), "Acme International");
    assert_eq!(renamed.string("created_at"), before.string("created_at"));
    assert!(renamed.string("updated_at") > before.string("updated_at"), "{renamed:#?}");
    assert_ne!(renamed.etag(), before.etag());
    let read = client.get(&at(&job.client_company)).expect(200);
    assert_eq!((read.text.as_str(), read.etag()), (renamed.text.as_str(), renamed.etag()));
    assert_eq!(client.person(&person)["current_company_name"], "Acme International");
    assert_eq!(client.person(&person)["jobs"][0]["job_client_company_name"], "Acme International");
    assert_eq!(client.get(&job.path()).string("client_company_name"), "Acme International");
    new_company(&client, "Acme");
    assert_eq!(names(&client, ""), ["Acme International", "Acme"]);
}

#[apply(each_engine)]
fn a_name_that_another_company_has_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, other) = (new_company(&client, "Acme"), new_company(&client, "Umbrella"));
    for name in ["Umbrella", "UMBRELLA", " umbrella  "] {
        let reply = client.patch(&at(&one), &json!({ "name": name })).refused(409, "NAME_TAKEN");
        assert_eq!(
            (reply.detail_fields(), reply.record_ids()),
            (vec!["name"], vec![other.as_str()])
        );
    }
    assert_eq!(names(&client, ""), ["Acme", "Umbrella"]);
    let stranger = workspace.client_of("stranger", "write");
    let theirs = new_company(&stranger, "Initech");
    stranger.patch(&at(&theirs), &json!({ "name": "Umbrella" })).expect(200);
}

#[apply(each_engine)]
fn another_spelling_of_its_own_name_is_taken(workspace: &Workspace) {
    let client = workspace.writer();
    let company = new_company(&client, "acme");
    assert_eq!(
        client.patch(&at(&company), &json!({ "name": "ACME" })).expect(200).string("name"),
        "ACME"
    );
    assert_eq!(client.post(PATH, &json!({ "name": "Acme" })).expect(200).id(), company);
}

#[apply(each_engine)]
fn a_name_that_is_none_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let company = new_company(&client, "Acme");
    let long = "x".repeat(256);
    for (name, flaw) in [
        (json!(null), "REQUIRED"),
        (json!(""), "REQUIRED"),
        (json!("   "), "REQUIRED"),
        (json!(7), "INVALID_TYPE"),
        (json!(["Acme"]), "INVALID_TYPE"),
        (json!(long), "TOO_LONG"),
        (json!("A\u{0}cme"), "INVALID_CHARACTER"),
    ] {
        let body = json!({ "name": name });
        assert_eq!(
            client.post(PATH, &body).refused(400, "INVALID_REQUEST").flaw("name"),
            flaw,
            "{body}"
        );
        assert_eq!(
            client.patch(&at(&company), &body).refused(400, "INVALID_REQUEST").flaw("name"),
            flaw,
            "{body}"
        );
    }
    assert_eq!(
        client.post(PATH, &json!({})).refused(400, "INVALID_REQUEST").flaw("name"),
        "REQUIRED"
    );
    assert_eq!(client.patch(&at(&company), &json!({})).expect(200).string("name"), "Acme");
    assert_eq!(names(&client, ""), ["Acme"]);
}

#[apply(each_engine)]
fn a_rename_is_told_once(workspace: &Workspace) {
    let client = workspace.writer();
    let company = new_company(&client, "Acme");
    let mut log = Log::begin(&client);
    for body in [json!({ "name": "Umbrella" }), json!({ "name": "Umbrella" }), json!({})] {
        client.patch(&at(&company), &body).expect(200);
    }
    let events = log.new_events();
    assert_eq!(
        (types(&events), &events[0]["record_id"]),
        (vec!["company.updated"], &json!(company))
    );
    assert_eq!(
        events[0]["data"],
        json!({ "before": { "name": "Acme" }, "after": { "name": "Umbrella" } })
    );
    client.post(PATH, &json!({ "name": "umbrella" })).expect(200);
    assert_eq!(log.new_events(), Vec::<Value>::new());
    let made = new_company(&client, "Initech");
    let events = log.new_events();
    assert_eq!((types(&events), &events[0]["record_id"]), (vec!["company.created"], &json!(made)));
}

#[apply(each_engine)]
fn a_rename_with_an_old_tag_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let path = at(&new_company(&client, "Acme"));
    let old = client.get(&path).expect(200).etag().to_owned();
    next_millisecond();
    client.with("if-match", &old).patch(&path, &json!({ "name": "Umbrella" })).expect(200);
    client
        .with("if-match", &old)
        .patch(&path, &json!({ "name": "Initech" }))
        .refused(412, "PRECONDITION_FAILED");
    assert_eq!(client.get(&path).expect(200).string("name"), "Umbrella");
    client.with("if-match", "*").patch(&path, &json!({ "name": "Initech" })).expect(200);
}

#[apply(each_engine)]
fn a_company_that_has_not_changed_is_not_sent_again(workspace: &Workspace) {
    let client = workspace.writer();
    let path = at(&new_company(&client, "Acme"));
    let tag = client.get(&path).expect(200).etag().to_owned();
    let known = client.with("if-none-match", &tag);
    assert_eq!(known.get(&path).expect(304).text, "");
    client.patch(&path, &json!({ "name": "Umbrella" })).expect(200);
    assert_eq!(known.get(&path).expect(200).string("name"), "Umbrella");
}

#[apply(each_engine)]
fn the_jobs_of_a_company(workspace: &Workspace) {
    let client = workspace.writer();
    let one = client.new_job("One", "Acme");
    client.new_job("Two", "Umbrella");
    client.new_job("Three", "acme");
    let path = format!("{}/jobs", at(&one.client_company));
    let listed = client.get(&path).expect(200);
    let filtered =
        client.get(&format!("/v1/jobs?client_company_id={}", one.client_company)).expect(200);
    assert_eq!(strings(listed.data(), "name"), ["One", "Three"]);
    assert_eq!(listed.text, filtered.text);
    let idle = new_company(&client, "Initech");
    assert_eq!(client.get(&format!("{}/jobs", at(&idle))).expect(200).json["meta"]["total"], 0);
    client.get(&format!("{}/jobs", at(&never("cmp")))).refused(404, "NOT_FOUND");
    workspace.client_of("stranger", "read").get(&path).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn the_jobs_of_a_company_are_narrowed_and_paged(workspace: &Workspace) {
    let client = workspace.writer();
    let first = client.new_job("Engineer 0", "Acme");
    for name in ["Designer", "Engineer 1", "Engineer 2"] {
        client.new_job(name, "Acme");
    }
    client.new_job("Engineer 3", "Umbrella");
    client
        .patch(&first.path(), &json!({ "is_archived": true, "job_status_name": "Filled" }))
        .expect(200);
    let path = format!("{}/jobs", at(&first.client_company));
    let names =
        |query: &str| strings(client.get(&format!("{path}?{query}")).expect(200).data(), "name");
    assert_eq!(names("q=engineer"), ["Engineer 0", "Engineer 1", "Engineer 2"]);
    assert_eq!(names("is_archived=false&q=engineer"), ["Engineer 1", "Engineer 2"]);
    assert_eq!(names("status=filled"), ["Engineer 0"]);
    assert_eq!(names("offset=1&limit=2"), ["Designer", "Engineer 1"]);
    assert_eq!(names("sort=-created_at&limit=1"), ["Engineer 2"]);
    let page = client.get(&format!("{path}?cursor=&limit=3")).expect(200);
    let cursor = page.json["meta"]["next_cursor"].as_str().unwrap();
    assert_eq!(names(&format!("cursor={cursor}")), ["Engineer 2"]);
    for (query, field) in [
        ("client_company_id=x", "client_company_id"),
        ("status=nope", "status"),
        ("limit=0", "limit"),
    ] {
        let reply = client.get(&format!("{path}?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn a_merged_company_leaves_all_it_had_to_the_other(workspace: &Workspace) {
    let client = workspace.writer();
    let old = client.new_job("Engineer", "Acme Inc");
    let kept = client.new_job("Designer", "Acme");
    let employed = client.new_person(&json!({ "name": "Ada", "company_name": "Acme Inc" }));
    let contact = client
        .post("/v1/persons", &json!({ "name": "Grace", "client_id": old.client_company }))
        .expect(201);
    let before =
        [format!("/v1/persons/{employed}"), old.path()].map(|path| client.get(&path).expect(200));
    next_millisecond();
    let merged = client
        .post(
            &format!("{}/merge", at(&kept.client_company)),
            &json!({ "company_id": old.client_company }),
        )
        .expect(200);
    assert_eq!(
        (merged.id(), merged.string("name")),
        (kept.client_company.clone(), "Acme".to_owned())
    );
    assert!(merged.string("updated_at") > merged.string("created_at"), "{merged:#?}");
    assert_eq!(names(&client, ""), ["Acme"]);
    let person = client.person(&employed);
    assert_eq!(
        (&person["current_company_id"], &person["current_company_name"]),
        (&json!(kept.client_company), &json!("Acme"))
    );
    let job = client.get(&old.path()).expect(200);
    assert_eq!(
        (job.string("client_company_id"), job.string("client_company_name")),
        (kept.client_company.clone(), "Acme".to_owned())
    );
    let path = at(&kept.client_company);
    assert_eq!(
        strings(client.get(&format!("{path}/jobs")).expect(200).data(), "name"),
        ["Engineer", "Designer"]
    );
    let contacts = client.get(&format!("{path}/contacts")).expect(200);
    assert_eq!(strings(contacts.data(), "id"), [contact.string("client_contact_id")]);
    for before in before {
        let path =
            if before.id() == employed { format!("/v1/persons/{employed}") } else { old.path() };
        assert_ne!(client.get(&path).expect(200).etag(), before.etag(), "{path}");
    }
}

#[apply(each_engine)]
fn who_is_a_contact_of_both_is_one_contact_then(workspace: &Workspace) {
    let client = workspace.writer();
    let (from, into) = (new_company(&client, "Acme Inc"), new_company(&client, "Acme"));
    let persons = ["Ada", "Grace"].map(|name| client.new_person(&json!({ "name": name })));
    let add = |company: &str, person: &String| {
        client
            .post(&format!("{}/contacts", at(company)), &json!({ "person_id": person }))
            .expect(201)
            .id()
    };
    let dropped = add(&from, &persons[0]);
    let moved = add(&from, &persons[1]);
    let kept = add(&into, &persons[0]);
    let mut log = Log::begin(&client);
    merge(&client, &from, &into);
    let events = log.new_events();
    assert_eq!(types(&events), ["company.contact_removed", "company.merged"]);
    assert_eq!(
        (&events[0]["record_id"], &events[0]["data"]["before"]["client_contact_id"]),
        (&json!(from), &json!(dropped))
    );
    let contacts = client.get(&format!("{}/contacts", at(&into))).expect(200);
    let mut ids = strings(contacts.data(), "id");
    let mut expected = [moved, kept];
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
}

#[apply(each_engine)]
fn the_id_of_a_merged_company_leads_to_the_other(workspace: &Workspace) {
    let client = workspace.writer();
    let (from, into) =
        (new_company(&client, "Acme Inc"), client.new_job("Engineer", "Acme").client_company);
    let direct = client.get(&at(&into)).expect(200);
    assert_eq!(direct.json.get("merged_into"), None);
    merge(&client, &from, &into);
    let read = client.get(&at(&from)).expect(200);
    assert_eq!((read.id(), &read.json["merged_into"]), (into.clone(), &json!(into)));
    let now = client.get(&at(&into)).expect(200);
    assert_eq!((read.data(), read.etag()), (now.data(), now.etag()));
    assert_eq!(
        client.get(&format!("{}/jobs", at(&from))).expect(200).text,
        client.get(&format!("{}/jobs", at(&into))).expect(200).text
    );
    let person = client.new_person(&json!({ "name": "Ada" }));
    let contact = client
        .post(&format!("{}/contacts", at(&from)), &json!({ "person_id": person }))
        .expect(201)
        .id();
    assert_eq!(
        strings(client.get(&format!("{}/contacts", at(&into))).expect(200).data(), "id"),
        std::slice::from_ref(&contact)
    );
    client.send("DELETE", &format!("{}/contacts/{contact}", at(&from)), None).expect(200);
    let job = client
        .post("/v1/jobs", &json!({ "name": "Designer", "client_company_id": from }))
        .expect(201);
    assert_eq!(job.string("client_company_id"), into);
    assert_eq!(
        client.get(&format!("/v1/jobs?client_company_id={from}")).expect(200).json["meta"]["total"],
        2
    );
    let also =
        client.post("/v1/persons", &json!({ "name": "Grace", "client_id": from })).expect(201);
    let contacts = client.get(&format!("{}/contacts", at(&into))).expect(200);
    assert_eq!(strings(contacts.data(), "id"), [also.string("client_contact_id")]);
    let history = json!({ "certifications": [{ "name": "One", "company_id": from }] });
    let written = client.put(&format!("/v1/persons/{person}/history"), &history).expect(200);
    assert_eq!(written.data()["certifications"][0]["company_id"], from);
    assert_eq!(
        client.patch(&at(&from), &json!({ "name": "Acme International" })).expect(200).id(),
        into
    );
    workspace.client_of("stranger", "read").get(&at(&from)).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn ids_lead_on_through_several_merges(workspace: &Workspace) {
    let client = workspace.writer();
    let [one, two, three] = ["One", "Two", "Three"].map(|name| new_company(&client, name));
    merge(&client, &one, &two);
    merge(&client, &two, &three);
    for id in [&one, &two] {
        let read = client.get(&at(id)).expect(200);
        assert_eq!((read.id(), &read.json["merged_into"]), (three.clone(), &json!(three)));
    }
    let four = new_company(&client, "Four");
    merge(&client, &one, &four);
    assert_eq!(client.get(&at(&three)).expect(200).id(), four);
    assert_eq!(names(&client, ""), ["Four"]);
}

#[apply(each_engine)]
fn the_name_of_a_merged_company_is_free_again(workspace: &Workspace) {
    let client = workspace.writer();
    let (from, into) = (new_company(&client, "Acme Inc"), new_company(&client, "Acme"));
    merge(&client, &from, &into);
    let again = new_company(&client, "Acme Inc");
    assert!(again != from && again != into);
    assert_eq!(client.get(&at(&from)).expect(200).id(), into);
}

#[apply(each_engine)]
fn a_merge_is_told_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme Inc");
    client.new_person(&json!({ "name": "Ada", "company_name": "Acme Inc" }));
    let into = new_company(&client, "Acme");
    let mut log = Log::begin(&client);
    merge(&client, &job.client_company, &into);
    let events = log.new_events();
    assert_eq!((types(&events), &events[0]["record_id"]), (vec!["company.merged"], &json!(into)));
    let after = json!({ "merged": { "id": job.client_company, "name": "Acme Inc" } });
    assert_eq!(events[0]["data"], json!({ "before": {}, "after": after }));
}

#[apply(each_engine)]
fn a_merge_that_makes_no_sense_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let (from, into) = (new_company(&client, "Acme Inc"), new_company(&client, "Acme"));
    let theirs = new_company(&workspace.client_of("stranger", "write"), "Theirs");
    let path = format!("{}/merge", at(&into));
    client.post(&path, &json!({ "company_id": into })).refused(409, "INVALID_MERGE");
    for unknown in [never("cmp"), theirs, "nonsense".to_owned()] {
        let reply = client.post(&path, &json!({ "company_id": unknown })).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), ["company_id"]);
    }
    for (body, flaw) in [
        (json!({}), "REQUIRED"),
        (json!({ "company_id": null }), "REQUIRED"),
        (json!({ "company_id": 7 }), "INVALID_TYPE"),
        (json!({ "company_id": " " }), "REQUIRED"),
    ] {
        assert_eq!(
            client.post(&path, &body).refused(400, "INVALID_REQUEST").flaw("company_id"),
            flaw,
            "{body}"
        );
    }
    client
        .post(&format!("{}/merge", at(&never("cmp"))), &json!({ "company_id": from }))
        .refused(404, "NOT_FOUND");
    assert_eq!(names(&client, ""), ["Acme Inc", "Acme"]);
    merge(&client, &from, &into);
    client.post(&path, &json!({ "company_id": from })).refused(409, "INVALID_MERGE");
    client
        .post(&format!("{}/merge", at(&from)), &json!({ "company_id": into }))
        .refused(409, "INVALID_MERGE");
}

#[apply(each_engine)]
fn only_who_may_write_merges(workspace: &Workspace) {
    let client = workspace.writer();
    let (from, into) = (new_company(&client, "Acme Inc"), new_company(&client, "Acme"));
    workspace
        .client("read")
        .post(&format!("{}/merge", at(&into)), &json!({ "company_id": from }))
        .refused(403, "FORBIDDEN");
    workspace
        .client_of("stranger", "write")
        .post(&format!("{}/merge", at(&into)), &json!({ "company_id": from }))
        .refused(404, "NOT_FOUND");
    let once = client.with("idempotency-key", "merge");
    let body = json!({ "company_id": from });
    let first = once.post(&format!("{}/merge", at(&into)), &body).expect(200);
    let again = once.post(&format!("{}/merge", at(&into)), &body).expect(200);
    assert_eq!(
        (again.text.as_str(), again.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

#[apply(each_engine)]
fn of_many_merges_of_one_company_one_is_carried_out(workspace: &Workspace) {
    let client = workspace.writer();
    let from = new_company(&client, "From");
    let targets: Vec<_> =
        (0..6).map(|number| new_company(&client, &format!("Target {number}"))).collect();
    let person = client.new_person(&json!({ "name": "Ada", "company_name": "From" }));
    let path = format!("{}/merge", at(&targets[0]));
    let statuses = together(6, |_| client.post(&path, &json!({ "company_id": from })).status);
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    assert_eq!(client.person(&person)["current_company_id"], targets[0]);
    assert_eq!(client.get(PATH).expect(200).json["meta"]["total"], 6);
}

#[apply(each_engine)]
fn merges_of_two_into_each_other_leave_one(workspace: &Workspace) {
    let client = workspace.writer();
    let companies = [new_company(&client, "One"), new_company(&client, "Two")];
    let statuses = together(8, |number| {
        let (into, from) = (&companies[number % 2], &companies[(number + 1) % 2]);
        client.post(&format!("{}/merge", at(into)), &json!({ "company_id": from })).status
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    assert_eq!(client.get(PATH).expect(200).entries().len(), 1);
}
