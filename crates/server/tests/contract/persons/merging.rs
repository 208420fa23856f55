//! Making one person of two.

use serde_json::{Value, json};

use crate::support::{
    Client, Job, Log, Reply, Workspace, apply, each_engine, next_millisecond, strings, together,
    types,
};

fn merge(client: &Client, kept: &str, gone: &str) -> Reply {
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone }))
}

fn named(client: &Client, name: &str) -> String {
    client.new_person(&json!({ "name": name }))
}

/// Puts the person on the job and moves them through these stages; gives back the candidate.
fn put(client: &Client, job: &Job, person: &str, stages: &[&str]) -> String {
    next_millisecond();
    let candidate =
        client.post(&job.candidates_path(), &json!({ "person_id": person })).expect(201).id();
    for stage in stages {
        next_millisecond();
        client
            .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": stage }))
            .expect(200);
    }
    candidate
}

fn history(candidate: &Value) -> Vec<String> {
    strings(&candidate["pipeline_stage_history"], "stage_name")
}

#[apply(each_engine)]
fn what_is_empty_is_filled_and_what_is_known_stays(workspace: &Workspace) {
    let client = workspace.writer();
    let kept =
        client.new_person(&json!({ "name": "Ada Lovelace", "current_job_title": "Countess" }));
    let gone = client.new_person(&json!({
        "name": "A. Lovelace", "current_job_title": "Analyst", "company_name": "Engines",
        "social_location": "London",
        "social_url": "https://social.example/in/ada", "external_source_id": "crm-2",
    }));
    client.update_person(&gone, &json!({ "social_headline": "Poet", "address": "12 Square" }));
    let reply = merge(&client, &kept, &gone).expect(200);
    let read = client.get(&format!("/v1/persons/{kept}")).expect(200);
    assert_eq!((&reply.text, reply.etag()), (&read.text, read.etag()));
    let person = reply.data();
    for (field, value) in [
        ("id", kept.as_str()),
        ("name", "Ada Lovelace"),
        ("current_job_title", "Countess"),
        ("current_company_name", "Engines"),
        ("social_public_id", "ada"),
        ("external_source_id", "crm-2"),
    ] {
        assert_eq!(person[field], value, "{field}");
    }
    let profile =
        client.get(&format!("/v1/persons/{kept}?include=profile")).expect(200).data()["profile"]
            .clone();
    assert_eq!(
        [&profile["social_headline"], &profile["address"], &profile["social_location"]],
        ["Poet", "12 Square", "London"]
    );
}

#[apply(each_engine)]
fn a_stand_in_gives_way_to_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let kept = client.new_person(&json!({ "social_url": "https://social.example/in/ada" }));
    let gone = named(&client, "Ada Lovelace");
    let reply = merge(&client, &kept, &gone).expect(200);
    assert_eq!(
        (reply.string("name"), reply.string("first_name")),
        ("Ada Lovelace".to_owned(), "Ada".to_owned())
    );
}

#[apply(each_engine)]
fn career_lists_are_taken_where_there_are_none(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    let write = |person: &str, body: &Value| {
        client.put(&format!("/v1/persons/{person}/history"), body).expect(200).data().clone()
    };
    let before = write(&kept, &json!({ "certifications": [{ "name": "Own" }] }));
    let other = write(
        &gone,
        &json!({ "certifications": [{ "name": "Other" }], "work_experience": [{ "company_name": "Engines" }] }),
    );
    let person = merge(&client, &kept, &gone).expect(200).data().clone();
    assert_eq!(person["certifications"], before["certifications"]);
    assert_eq!(person["work_experience"], other["work_experience"]);
    assert_eq!(person["education_experience"], json!([]));
}

#[apply(each_engine)]
fn contacts_are_united(workspace: &Workspace) {
    let client = workspace.writer();
    let kept = client.new_person(
        &json!({ "name": "Ada", "emails": ["a@x.example"], "mobile_phone": "+44 20 7946 0000" }),
    );
    let gone = client.new_person(&json!({ "name": "Ada", "personal_email": "b@x.example",
        "phone_numbers": ["442079460000", "555 123"] }));
    let person = merge(&client, &kept, &gone).expect(200).data().clone();
    assert_eq!(strings(&person["emails"], "value"), ["a@x.example", "b@x.example"]);
    assert_eq!(strings(&person["emails"], "contact_data_type"), ["work", "personal"]);
    assert_eq!(strings(&person["phones"], "value"), ["+44 20 7946 0000", "555 123"]);
}

#[apply(each_engine)]
fn more_contacts_than_a_person_has_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let emails = |from: usize, to: usize| {
        (from..to).map(|number| format!("{number}@x.example")).collect::<Vec<_>>()
    };
    let kept = client.new_person(&json!({ "name": "Ada", "emails": emails(0, 30) }));
    let gone = client.new_person(&json!({ "name": "Ada L", "emails": emails(30, 51) }));
    let before = (client.person(&kept), client.person(&gone));
    let reply = merge(&client, &kept, &gone).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("person_id"), "TOO_MANY");
    assert_eq!((client.person(&kept), client.person(&gone)), before);
}

#[apply(each_engine)]
fn what_pointed_at_the_other_points_at_the_one_that_stays(workspace: &Workspace) {
    let client = workspace.writer();
    let kept = client.new_person(&json!({
        "name": "Ada", "external_source_id": "crm-1", "social_url": "https://social.example/in/ada",
        "emails": ["a@x.example"],
    }));
    let gone = client.new_person(&json!({
        "name": "Ada L", "external_source_id": "crm-2",
        "social_url": "https://social.example/in/ada-l", "emails": ["b@x.example"],
    }));
    let merged = merge(&client, &kept, &gone).expect(200).data().clone();
    assert_eq!(
        (&merged["external_source_id"], &merged["social_public_id"]),
        (&json!("crm-1"), &json!("ada"))
    );
    for body in [
        json!({ "name": "x", "external_source_id": "crm-1" }),
        json!({ "name": "x", "external_source_id": "crm-2" }),
        json!({ "name": "x", "social_url": "https://social.example/in/ada-l" }),
        json!({ "name": "x", "emails": ["b@x.example"] }),
        json!({ "name": "x", "external_source_id": "crm-2", "emails": ["a@x.example"] }),
    ] {
        assert_eq!(client.post("/v1/persons", &body).expect(200).id(), kept, "{body}");
    }
    assert_eq!(client.person(&kept)["external_source_id"], "crm-1");
}

#[apply(each_engine)]
fn what_the_other_was_found_by_can_be_taken_as_a_field(workspace: &Workspace) {
    let client = workspace.writer();
    let kept =
        client.new_person(&json!({ "name": "Ada", "social_url": "https://social.example/in/ada" }));
    let gone = client
        .new_person(&json!({ "name": "Ada L", "social_url": "https://social.example/in/ada-l" }));
    merge(&client, &kept, &gone).expect(200);
    let person =
        client.update_person(&kept, &json!({ "social_url": "https://social.example/in/ada-l" }));
    assert_eq!(person["social_public_id"], "ada-l");
    let found = client
        .post("/v1/persons", &json!({ "social_url": "https://social.example/in/ada-l" }))
        .expect(200);
    assert_eq!(found.id(), kept);
}

#[apply(each_engine)]
fn an_address_that_both_have_points_once(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "emails": ["a@x.example"] });
    let gone = client.new_person(&body);
    let kept = client.post("/v1/persons?on_duplicate=create", &body).expect(201).id();
    merge(&client, &kept, &gone).expect(200);
    assert_eq!(client.post("/v1/persons", &body).expect(200).id(), kept);
    client.update_person(&kept, &json!({ "emails": [] }));
    assert_ne!(client.post("/v1/persons", &body).expect(201).id(), kept);
}

#[apply(each_engine)]
fn notes_change_hands(workspace: &Workspace) {
    let client = workspace.writer();
    let kept = client.new_person(&json!({ "name": "Ada", "notes": "First." }));
    let gone = client.new_person(&json!({ "name": "Ada L", "notes": "Second." }));
    merge(&client, &kept, &gone).expect(200);
    let notes = client.get(&format!("/v1/persons/{kept}/notes")).expect(200);
    assert_eq!(strings(notes.data(), "body"), ["First.", "Second."]);
}

#[apply(each_engine)]
fn client_contacts_are_joined_by_company(workspace: &Workspace) {
    let client = workspace.writer();
    let kept = client.new_person(&json!({ "name": "Ada", "client_name": "Acme" }));
    let gone = client.new_person(
        &json!({ "name": "Ada L", "client_name": "Acme", "external_source_id": "crm-2" }),
    );
    client
        .post(
            "/v1/persons",
            &json!({ "name": "Ada L", "client_name": "Umbrella", "external_source_id": "crm-2" }),
        )
        .expect(200);
    merge(&client, &kept, &gone).expect(200);
    let person = client.get(&format!("/v1/persons/{kept}?include=profile")).expect(200);
    let mut companies = strings(&person.data()["profile"]["client_contacts"], "company_name");
    companies.sort();
    assert_eq!(companies, ["Acme", "Umbrella"]);
}

#[apply(each_engine)]
fn candidates_of_other_jobs_change_hands(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two) = (client.new_job("One", "Acme"), client.new_job("Two", "Acme"));
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    let (first, second) =
        (put(&client, &one, &kept, &[]), put(&client, &two, &gone, &["Interview"]));
    let before = client.candidate(&second);
    let person = merge(&client, &kept, &gone).expect(200).data().clone();
    assert_eq!(strings(&person["jobs"], "candidate_id"), [first, second.clone()]);
    let after = client.candidate(&second);
    assert_eq!((&after["person_id"], &after["name"]), (&json!(kept), &json!("Ada")));
    assert_eq!(after["pipeline_stage_history"], before["pipeline_stage_history"]);
    assert_eq!(client.get(&two.path()).data()["candidate_count"], 1);
}

#[apply(each_engine)]
fn candidates_of_one_job_become_one(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    put(&client, &job, &gone, &["Contacted"]);
    let candidate = put(&client, &job, &kept, &["Screening", "Interview"]);
    let before = client.candidate(&candidate);
    let person = merge(&client, &kept, &gone).expect(200).data().clone();
    assert_eq!(strings(&person["jobs"], "candidate_id"), std::slice::from_ref(&candidate));
    let after = client.candidate(&candidate);
    assert_eq!(history(&after), ["Sourced", "Contacted", "Sourced", "Screening", "Interview"]);
    let dates = strings(&after["pipeline_stage_history"], "stage_date");
    assert!(dates.is_sorted(), "{dates:?}");
    for field in
        ["current_pipeline_stage_id", "current_pipeline_stage_name", "current_pipeline_stage_date"]
    {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["created_at"], before["created_at"]);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
    assert_eq!(client.get(&job.candidates_path()).json["meta"]["total"], 1);
}

#[apply(each_engine)]
fn a_candidate_ends_in_the_further_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    put(&client, &job, &gone, &["Offer"]);
    let candidate = put(&client, &job, &kept, &["Screening"]);
    let mut log = Log::begin(&client);
    merge(&client, &kept, &gone).expect(200);
    let after = client.candidate(&candidate);
    assert_eq!(after["current_pipeline_stage_name"], "Offer");
    assert_eq!(history(&after), ["Sourced", "Offer", "Sourced", "Screening", "Offer"]);
    let entries = after["pipeline_stage_history"].as_array().unwrap();
    assert_eq!(entries[4]["stage_date"], after["current_pipeline_stage_date"]);
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.merged", "candidate.moved", "person.merged"]);
    assert_eq!(
        (&events[1]["record_id"], &events[1]["data"]["person"]["id"]),
        (&json!(candidate), &json!(kept))
    );
    assert_eq!(events[1]["data"]["before"]["current_pipeline_stage_name"], "Screening");
    assert_eq!(
        events[1]["data"]["after"]["current_pipeline_stage_id"],
        after["current_pipeline_stage_id"]
    );
    assert_eq!(
        events[1]["data"]["after"]["current_pipeline_stage_date"],
        after["current_pipeline_stage_date"]
    );
}

#[apply(each_engine)]
fn a_rejection_gives_way_to_any_other_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    put(&client, &job, &gone, &[]);
    let candidate = put(&client, &job, &kept, &["Offer", "Rejected"]);
    merge(&client, &kept, &gone).expect(200);
    let after = client.candidate(&candidate);
    assert_eq!(after["current_pipeline_stage_name"], "Sourced");
    assert_eq!(history(&after), ["Sourced", "Sourced", "Offer", "Rejected", "Sourced"]);
}

#[apply(each_engine)]
fn of_two_rejections_the_later_counts(workspace: &Workspace) {
    let client = workspace.writer();
    let stages = json!([{ "name": "In" }, { "name": "No", "is_rejection_stage": true },
        { "name": "Never", "is_rejection_stage": true }]);
    let job = client.new_job_with(
        &json!({ "name": "Engineer", "client_company_name": "Acme", "pipeline_stages": stages }),
    );
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    let candidate = put(&client, &job, &kept, &["Never"]);
    put(&client, &job, &gone, &["No"]);
    merge(&client, &kept, &gone).expect(200);
    let after = client.candidate(&candidate);
    assert_eq!(after["current_pipeline_stage_name"], "No");
    assert_eq!(history(&after), ["In", "Never", "In", "No"]);
}

#[apply(each_engine)]
fn those_behind_a_joined_candidate_move_up(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    put(&client, &job, &gone, &[]);
    put(&client, &job, &kept, &[]);
    put(&client, &job, &named(&client, "Grace"), &[]);
    merge(&client, &kept, &gone).expect(200);
    put(&client, &job, &named(&client, "Mary"), &[]);
    let list = |query: &str| client.get(&format!("{}?{query}", job.candidates_path())).expect(200);
    assert_eq!(strings(list("").data(), "name"), ["Ada", "Grace", "Mary"]);
    assert_eq!(strings(list("offset=1&limit=1").data(), "name"), ["Grace"]);
    assert_eq!(strings(list("sort=-created_at&limit=2").data(), "name"), ["Mary", "Grace"]);
}

#[apply(each_engine)]
fn candidates_stand_in_the_order_of_their_dates_after_a_merge(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let [gone, between, kept] = ["Ada L", "Grace", "Ada"].map(|name| {
        let person = named(&client, name);
        put(&client, &job, &person, &[]);
        person
    });
    merge(&client, &kept, &gone).expect(200);
    for path in [job.candidates_path(), "/v1/candidates".to_owned()] {
        let list = client.get(&path).expect(200);
        assert_eq!(strings(list.data(), "person_id"), [between.as_str(), kept.as_str()], "{path}");
        assert!(strings(list.data(), "created_at").is_sorted(), "{path}");
    }
}

#[apply(each_engine)]
fn the_old_id_leads_to_the_person(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    merge(&client, &kept, &gone).expect(200);
    let reply = client.get(&format!("/v1/persons/{gone}")).expect(200);
    assert_eq!((reply.id(), &reply.json["merged_into"]), (kept.clone(), &json!(kept)));
    assert_eq!(
        client.get(&format!("/v1/persons/{kept}")).expect(200).json.get("merged_into"),
        None
    );
    client
        .patch(&format!("/v1/persons/{gone}"), &json!({ "current_job_title": "Countess" }))
        .expect(200);
    assert_eq!(client.person(&kept)["current_job_title"], "Countess");
}

#[apply(each_engine)]
fn ids_lead_on_over_several_merges(workspace: &Workspace) {
    let client = workspace.writer();
    let [one, two, three] = ["One", "Two", "Three"].map(|name| named(&client, name));
    merge(&client, &two, &one).expect(200);
    merge(&client, &three, &two).expect(200);
    for id in [&one, &two, &three] {
        assert_eq!(client.get(&format!("/v1/persons/{id}")).expect(200).id(), three);
    }
    let four = named(&client, "Four");
    assert_eq!(merge(&client, &one, &four).expect(200).id(), three);
    let five = named(&client, "Five");
    assert_eq!(merge(&client, &five, &two).expect(200).id(), five);
    assert_eq!(client.get(&format!("/v1/persons/{one}")).expect(200).id(), five);
}

/// Two candidates of one job that became one: the one that stays, and the other.
fn joined(client: &Client) -> (String, String) {
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(client, "Ada"), named(client, "Ada L"));
    let candidates = (put(client, &job, &kept, &[]), put(client, &job, &gone, &[]));
    merge(client, &kept, &gone).expect(200);
    candidates
}

#[apply(each_engine)]
fn the_old_id_of_a_candidate_leads_to_the_one_that_stays(workspace: &Workspace) {
    let client = workspace.writer();
    let (candidate, other) = joined(&client);
    let reply = client.get(&format!("/v1/candidates/{other}")).expect(200);
    assert_eq!((reply.id(), &reply.json["merged_into"]), (candidate.clone(), &json!(candidate)));
}

#[apply(each_engine)]
fn nothing_is_written_under_the_old_id_of_a_candidate(workspace: &Workspace) {
    let client = workspace.writer();
    let (candidate, other) = joined(&client);
    let before = client.candidate(&candidate);
    let path = format!("/v1/candidates/{other}");
    client.patch(&path, &json!({ "stage_name": "Contacted" })).refused(404, "NOT_FOUND");
    client.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    client
        .post(
            "/v1/candidates/move",
            &json!({ "candidate_ids": [other], "stage_name": "Contacted" }),
        )
        .refused(404, "NOT_FOUND");
    assert_eq!(client.candidate(&candidate), before);
}

#[apply(each_engine)]
fn a_merge_is_told(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let kept = client.new_person(&json!({ "name": "Ada", "emails": ["a@x.example"] }));
    let gone = client.new_person(
        &json!({ "name": "Ada L", "emails": ["b@x.example"], "current_job_title": "Analyst" }),
    );
    let other = put(&client, &job, &gone, &[]);
    let candidate = put(&client, &job, &kept, &["Interview"]);
    let (before, old) = (client.person(&kept), client.candidate(&other));
    let mut log = Log::begin(&client);
    let reply = merge(&client, &kept, &gone).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.merged", "person.merged"]);
    let stage =
        ["current_pipeline_stage_id", "current_pipeline_stage_name", "current_pipeline_stage_date"];
    let fields = [["person_id", "job_id", "created_at"], stage].concat();
    let last: Value = fields.iter().map(|field| (*field, old[*field].clone())).collect();
    assert_eq!(events[0]["record_id"], other);
    let told = json!({
        "before": last, "after": { "merged_into": candidate },
        "person": { "id": kept, "name": "Ada" }, "job": { "id": job.id, "name": "Engineer" },
    });
    assert_eq!(events[0]["data"], told);
    assert_eq!(events[1]["record_id"], kept);
    let told = json!({
        "before": { "current_job_title": "", "emails": before["emails"] },
        "after": { "current_job_title": "Analyst", "emails": reply.data()["emails"],
        "merged": { "id": gone, "name": "Ada L" } },
    });
    assert_eq!(events[1]["data"], told);
}

#[apply(each_engine)]
fn the_old_timeline_can_still_be_read(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    merge(&client, &kept, &gone).expect(200);
    Log::begin(&client);
    let timeline = |person: &str| {
        client.get(&format!("/v1/persons/{person}/timeline")).expect(200).entries().to_vec()
    };
    assert_eq!(types(&timeline(&gone)), ["person.merged", "person.created"]);
    assert_eq!(types(&timeline(&kept)), ["person.merged", "person.created"]);
}

#[apply(each_engine)]
fn the_other_is_in_no_list_any_more(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (
        named(&client, "Ada"),
        client.new_person(&json!({ "name": "Ada L", "notes": "Turquoise." })),
    );
    merge(&client, &kept, &gone).expect(200);
    let all = client.get("/v1/persons").expect(200);
    assert_eq!(
        (strings(all.data(), "id"), &all.json["meta"]["total"]),
        (vec![kept.clone()], &json!(1))
    );
    assert_eq!(strings(client.get("/v1/persons?q=turquoise").expect(200).data(), "id"), [kept]);
}

#[apply(each_engine)]
fn a_person_does_not_go_into_themselves(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    assert_eq!(
        merge(&client, &kept, &kept).refused(409, "INVALID_MERGE").record_ids(),
        [kept.as_str()]
    );
    merge(&client, &kept, &gone).expect(200);
    merge(&client, &kept, &gone).refused(409, "INVALID_MERGE");
    merge(&client, &gone, &kept).refused(409, "INVALID_MERGE");
}

#[apply(each_engine)]
fn what_is_no_person_cannot_be_merged(workspace: &Workspace) {
    let client = workspace.writer();
    let own = named(&client, "Ada");
    let theirs = named(&workspace.client_of("another", "write"), "Grace");
    let job = client.new_job("Engineer", "Acme").id;
    for other in [theirs.as_str(), "per_00000000000000000000000000", job.as_str(), "nobody"] {
        let reply = merge(&client, &own, other).refused(404, "NOT_FOUND");
        assert_eq!(reply.flaw("person_id"), "NOT_FOUND", "{other}");
        assert!(merge(&client, other, &own).refused(404, "NOT_FOUND").detail_fields().is_empty());
    }
    assert_eq!(workspace.client_of("another", "write").person(&theirs)["name"], "Grace");
}

#[apply(each_engine)]
fn a_bad_body_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("/v1/persons/{}/merge", named(&client, "Ada"));
    for (body, field, flaw) in [
        (json!({}), "person_id", "REQUIRED"),
        (json!({ "person_id": null }), "person_id", "REQUIRED"),
        (json!({ "person_id": " " }), "person_id", "REQUIRED"),
        (json!({ "person_id": 7 }), "person_id", "INVALID_TYPE"),
        (json!({ "person_id": "x".repeat(256) }), "person_id", "TOO_LONG"),
        (
            json!({ "person_id": "per_00000000000000000000000000", "into": "x" }),
            "into",
            "UNKNOWN_FIELD",
        ),
    ] {
        let reply = client.post(&path, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    client
        .post(&format!("{path}?force=true"), &json!({ "person_id": "x" }))
        .refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn a_key_that_may_only_read_merges_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    merge(&workspace.client("read"), &kept, &gone).refused(403, "FORBIDDEN");
    assert_eq!(client.person(&gone)["name"], "Ada L");
}

#[apply(each_engine)]
fn a_merge_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    let once = client.with("idempotency-key", "once");
    let first = merge(&once, &kept, &gone).expect(200);
    let second = merge(&once, &kept, &gone).expect(200);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

#[apply(each_engine)]
fn two_merges_of_the_same_two_leave_one(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for round in 0..5 {
        let pair = [named(&client, "Ada"), named(&client, "Ada L")];
        pair.iter().for_each(|person| drop(put(&client, &job, person, &[])));
        let replies = together(2, |number| merge(&client, &pair[number], &pair[1 - number]));
        let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{replies:#?}");
        let [one, other] = [&pair[0], &pair[1]]
            .map(|id| client.get(&format!("/v1/persons/{id}")).expect(200).id());
        assert_eq!(one, other);
        assert_eq!(client.get(&job.path()).data()["candidate_count"], round + 1);
    }
}

#[apply(each_engine)]
fn an_old_id_in_a_body_leads_on(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (kept, gone) = (named(&client, "Ada"), named(&client, "Ada L"));
    merge(&client, &kept, &gone).expect(200);
    let both = json!({ "person_ids": [kept, gone] });
    let refused = client
        .post(&format!("{}/batch", job.candidates_path()), &both)
        .refused(400, "INVALID_REQUEST");
    assert_eq!(refused.detail_fields(), ["person_ids[1]"]);
    let added = client.post(&job.candidates_path(), &json!({ "person_id": gone })).expect(201);
    assert_eq!(added.data()["person_id"], kept);
    let again = client
        .post(&format!("{}/batch", job.candidates_path()), &json!({ "person_ids": [gone] }))
        .expect(200);
    assert_eq!(
        again.data(),
        &json!([{ "person_id": kept, "candidate_id": added.id(), "is_new": false }])
    );
    assert_eq!(
        strings(
            client.get(&format!("/v1/candidates?person_id={gone}")).expect(200).data(),
            "person_id"
        ),
        std::slice::from_ref(&kept)
    );
    client.send("DELETE", &format!("/v1/persons/{kept}"), None).expect(200);
    for id in [&kept, &gone] {
        client.post(&job.candidates_path(), &json!({ "person_id": id })).refused(410, "ERASED");
        client
            .post(&format!("{}/batch", job.candidates_path()), &json!({ "person_ids": [id] }))
            .refused(410, "ERASED");
    }
}
