//! Writing the career history of a person.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine};

/// The largest whole number that every JSON client reads exactly.
const MAX_SOCIAL_ID: i64 = 9_007_199_254_740_991;

fn path(person: &str) -> String {
    format!("/v1/persons/{person}/history")
}

fn lists(person: &Value) -> [Value; 3] {
    ["work_experience", "education_experience", "certifications"].map(|list| person[list].clone())
}

#[apply(each_engine)]
fn each_list_is_replaced_on_its_own(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    client.put(&path(&person), &json!({ "certifications": [{ "name": "One" }] })).expect(200);
    client
        .put(&path(&person), &json!({ "education_experience": [{ "degree": "Mathematics" }] }))
        .expect(200);
    client
        .put(&path(&person), &json!({ "certifications": [{ "name": "Two" }, { "name": "Three" }] }))
        .expect(200);
    let unchanged = client.put(&path(&person), &json!({})).expect(200);
    let read = client.person(&person);
    assert_eq!(unchanged.data(), &read);
    assert_eq!(read["work_experience"], json!([]));
    assert_eq!(read["education_experience"][0]["degree"], "Mathematics");
    assert_eq!(read["certifications"].as_array().unwrap().len(), 2);
    assert_eq!(
        [&read["certifications"][0]["name"], &read["certifications"][1]["name"]],
        ["Two", "Three"]
    );
}

#[apply(each_engine)]
fn an_empty_list_clears(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let full =
        json!({ "work_experience": [{}], "education_experience": [{}], "certifications": [{}] });
    client.put(&path(&person), &full).expect(200);
    client.put(&path(&person), &json!({ "work_experience": [], "certifications": [] })).expect(200);
    let [work, education, certifications] = lists(&client.person(&person));
    assert_eq!([&work, &certifications], [&json!([]), &json!([])]);
    assert_eq!(education.as_array().unwrap().len(), 1);
}

#[apply(each_engine)]
fn what_was_read_can_be_written_back(workspace: &Workspace) {
    let client = workspace.writer();
    let company = client.new_job("Engineer", "Acme").client_company;
    let person = client.new_person(&json!({ "name": "Ada" }));
    let history = json!({
        "work_experience": [
            { "company_name": "Acme", "company_id": company, "positions": [
                { "title": "CTO", "start_date": "2021-05-01", "end_date": null,
                    "position_type": "full-time" },
                { "title": "Engineer", "start_date": "2018-05-01", "end_date": "2021-04-30",
                    "location": "Zürich" },
            ] },
            { "company_name": "Umbrella", "company_social_url": "https://social.example/umbrella",
                "company_social_id": MAX_SOCIAL_ID },
        ],
        "education_experience": [
            { "company_name": "ETH", "degree": "MSc", "description": "Two\nlines",
                "start_date": "2012-09-01", "end_date": "2017-07-31" },
        ],
        "certifications": [
            { "name": "CKA", "credential_id": "123", "company_name": "CNCF",
                "start_date": "2020-02-29", "end_date": "2023-02-28" },
        ],
    });
    let first = client.put(&path(&person), &history).expect(200);
    let [work, education, certifications] = lists(first.data());
    let again = json!({ "work_experience": work, "education_experience": education,
        "certifications": certifications });
    assert_eq!(client.put(&path(&person), &again).expect(200).text, first.text);
    assert_eq!(client.get(&format!("/v1/persons/{person}")).text, first.text);
}

#[apply(each_engine)]
fn durations_are_computed_when_they_are_absent(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let history = json!({ "work_experience": [
        { "positions": [
            { "start_date": "2019-01-01", "end_date": "2020-01-01" },
            { "start_date": "2019-03-15", "end_date": "2019-03-16" },
        ] },
        { "positions": [{ "start_date": "2015-01-01", "end_date": "2016-01-01",
            "duration_in_months": 3 }], "duration_in_months": 5 },
        { "positions": [{ "title": "Once upon a time" }] },
        { "positions": [{ "start_date": "2010-01-01" }] },
    ] });
    let reply = client.put(&path(&person), &history).expect(200);
    let work = &reply.data()["work_experience"];
    let months = |entry: usize, position: usize| {
        work[entry]["positions"][position]["duration_in_months"].as_i64().unwrap()
    };
    assert_eq!([months(0, 0), months(0, 1), months(1, 0), months(2, 0)], [12, 0, 3, 0]);
    assert_eq!(
        [
            &work[0]["duration_in_months"],
            &work[1]["duration_in_months"],
            &work[2]["duration_in_months"]
        ],
        [&json!(12), &json!(5), &json!(0)]
    );
    assert!(months(3, 0) > 15 * 12, "a position without an end goes on");
    assert_eq!(work[3]["duration_in_months"], months(3, 0));
}

#[apply(each_engine)]
fn companies_are_those_of_the_workspace(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    for list in ["work_experience", "education_experience", "certifications"] {
        for company in ["cmp_00000000000000000000000000", person.as_str(), "Acme"] {
            let reply = client
                .put(&path(&person), &json!({ list: [{}, { "company_id": company }] }))
                .refused(404, "NOT_FOUND");
            assert_eq!(reply.detail_fields(), [format!("{list}[1].company_id")]);
        }
    }
    assert_eq!(lists(&client.person(&person)), [json!([]), json!([]), json!([])]);
}

#[apply(each_engine)]
fn bad_entries_are_named_by_their_path(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    for (body, field, flaw) in [
        (json!({ "work_experience": {} }), "work_experience", "INVALID_TYPE"),
        (json!({ "work_experience": ["Acme"] }), "work_experience[0]", "INVALID_TYPE"),
        (
            json!({ "work_experience": [{ "positions": "CTO" }] }),
            "work_experience[0].positions",
            "INVALID_TYPE",
        ),
        (
            json!({ "work_experience": [{ "positions": [{}, { "start_date": "May 2019" }] }] }),
            "work_experience[0].positions[1].start_date",
            "INVALID_DATE",
        ),
        (
            json!({ "work_experience": [{ "positions": [{ "start_date": "2019-02-30" }] }] }),
            "work_experience[0].positions[0].start_date",
            "INVALID_DATE",
        ),
        (
            json!({ "work_experience": [{ "positions": [{ "titel": "CTO" }] }] }),
            "work_experience[0].positions[0].titel",
            "UNKNOWN_FIELD",
        ),
        (
            json!({ "work_experience": [{ "duration_in_months": "7" }] }),
            "work_experience[0].duration_in_months",
            "INVALID_TYPE",
        ),
        (
            json!({ "work_experience": [{ "duration_in_months": -1 }] }),
            "work_experience[0].duration_in_months",
            "OUT_OF_RANGE",
        ),
        (
            json!({ "work_experience": [{ "company_social_id": 1.5 }] }),
            "work_experience[0].company_social_id",
            "OUT_OF_RANGE",
        ),
        (
            json!({ "education_experience": [{ "company_social_url": "acme" }] }),
            "education_experience[0].company_social_url",
            "INVALID_URL",
        ),
        (
            json!({ "education_experience": [{ "degree": 7 }] }),
            "education_experience[0].degree",
            "INVALID_TYPE",
        ),
        (
            json!({ "certifications": [{ "end_date": "2020-1-1" }] }),
            "certifications[0].end_date",
            "INVALID_DATE",
        ),
        (json!({ "certificates": [] }), "certificates", "UNKNOWN_FIELD"),
    ] {
        let reply = client.put(&path(&person), &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
}

#[apply(each_engine)]
fn bounds_are_kept(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let entries = |count: usize| json!({ "certifications": vec![json!({ "name": "x" }); count] });
    client.put(&path(&person), &entries(100)).expect(200);
    let reply = client.put(&path(&person), &entries(101)).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("certifications"), "TOO_MANY");
    let name = |length: usize| json!({ "certifications": [{ "name": "x".repeat(length) }] });
    client.put(&path(&person), &name(255)).expect(200);
    let reply = client.put(&path(&person), &name(256)).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("certifications[0].name"), "TOO_LONG");
}

#[apply(each_engine)]
fn nothing_of_a_refused_history_is_stored(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let body = json!({ "certifications": [{ "name": "Good" }],
        "education_experience": [{ "start_date": "bad" }] });
    client.put(&path(&person), &body).refused(400, "INVALID_REQUEST");
    assert_eq!(lists(&client.person(&person)), [json!([]), json!([]), json!([])]);
}
