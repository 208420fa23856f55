//! What is stored in an odd form, by hand or by another version, breaks nothing: what is written is
//! checked, what is read is not.

use serde_json::json;

use crate::support::{App, apply, each_engine, eventually, on_sqlite};

#[apply(each_engine)]
fn a_person_with_odd_contacts_and_an_odd_career_is_like_any_other(app: &App) {
    let client = app.writer().with_key(&app.key("admin"));
    let known =
        json!({ "name": "Ada Lovelace", "external_source_id": "crm-1", "company_name": "Engines" });
    let [ada, grace] = [&known, &json!({ "name": "Grace Hopper", "company_name": "Engines" })]
        .map(|body| client.new_person(body));
    app.database.execute(
        "UPDATE person SET emails = '[{\"contact_data_type\": \"fax\", \"value\": \
         \"ada@x.example\"}, {\"odd\": 1}]', \
         work_experience = '[{\"company_name\": \"n\"}]', education_experience = '[7]', \
         certifications = '[{\"name\": \"n\"}]' \
         WHERE name = 'Ada Lovelace'",
    );
    let path = format!("/v1/persons/{ada}");
    let read = client.get(&path).expect(200);
    assert_eq!(
        read.data()["emails"][0],
        json!({ "contact_data_type": "fax", "value": "ada@x.example" })
    );
    for path in [
        format!("{path}?include=profile"),
        format!("{path}?include=provenance"),
        format!("{path}/export"),
        "/v1/persons".to_owned(),
    ] {
        client.get(&path).expect(200);
    }
    assert_eq!(client.get("/v1/persons?q=ada").expect(200).entries().len(), 1);
    client.post("/v1/persons", &known).expect(200);
    client.post("/v1/persons/batch", &json!({ "persons": [known] })).expect(200);
    client.post(&format!("{path}/notes"), &json!({ "body": "Met at the fair." })).expect(201);
    client.update_person(&ada, &json!({ "current_job_title": "Countess" }));
    let company = read.string("current_company_id");
    client.patch(&format!("/v1/companies/{company}"), &json!({ "name": "Difference" })).expect(200);
    eventually("the new name is found with both", || {
        client.get("/v1/persons?q=difference").expect(200).entries().len() == 2
    });
    client.put(&format!("{path}/history"), &json!({ "education_experience": [] })).expect(200);
    assert_eq!(
        client.update_person(&ada, &json!({ "emails": [{ "value": "ada@y.example" }] }))["emails"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    client.post(&format!("/v1/persons/{grace}/merge"), &json!({ "person_id": ada })).expect(200);
    client.send("DELETE", &format!("/v1/persons/{grace}"), None).expect(200);
}

/// The embedded engine keeps a person at a row that follows from the id. Nothing depends on that.
#[apply(on_sqlite)]
fn a_person_who_is_kept_elsewhere_is_found_all_the_same(app: &App) {
    let client = app.writer();
    let job = client.new_job("Pilot", "Acme");
    let names = ["Ada Lovelace", "Grace Hopper", "Emmy Noether"];
    let persons =
        names.map(|name| client.new_person(&json!({ "name": name, "external_source_id": name })));
    let put = |person| {
        client.post(&job.candidates_path(), &json!({ "person_id": person })).expect(201).id()
    };
    let candidates = persons.each_ref().map(put);
    let read = || {
        let paths = persons
            .iter()
            .map(|id| format!("/v1/persons/{id}"))
            .chain(candidates.iter().map(|id| format!("/v1/candidates/{id}")));
        paths.map(|path| client.get(&path).expect(200).data().clone()).collect::<Vec<_>>()
    };
    let before = read();
    // Grace is kept where Ada should be, Ada at the end, and Emmy before all others.
    let place_of_ada =
        app.database.execute("SELECT rowid FROM person WHERE name = 'Ada Lovelace'").concat();
    for (name, place) in
        names.iter().zip(["(SELECT MAX(rowid) + 1 FROM person)", &place_of_ada, "1"])
    {
        app.database.execute(&format!("UPDATE person SET rowid = {place} WHERE name = '{name}'"));
    }
    assert_eq!(read(), before);
    for (person, name) in persons.iter().zip(names) {
        client.update_person(person, &json!({ "current_job_title": "Pilot" }));
        assert_eq!(
            client.get(&format!("/v1/persons/{person}")).expect(200).data()["current_job_title"],
            "Pilot"
        );
        let again = client
            .post("/v1/persons", &json!({ "name": name, "external_source_id": name }))
            .expect(200);
        assert_eq!(again.id(), *person);
    }
    client.new_person(&json!({ "name": "Mary Jackson" }));
}
