//! Persons with exactly the fields of the interface, in its order.

use serde_json::{Value, json};

use crate::support::{Job, Workspace, apply, each_engine, shape};

fn ada(job: &Job) -> Value {
    json!({
        "first_name": "Ada",
        "last_name": "Lovelace",
        "social_url": "https://social.example/in/Ada-Lovelace/?ref=fair",
        "current_job_title": "Analyst",
        "social_location": "London",
        "company_name": "Analytical Engines",
        "emails": ["ada@engines.example"],
        "personal_email": "ada@home.example",
        "phone_numbers": ["+44 20 7946 0018"],
        "work_phone": "+44 20 7946 0100",
        "notes": "Met at the fair.",
        "job_id": job.id,
        "external_source_id": "crm-1",
        "enrich_record": false,
    })
}

#[apply(each_engine)]
fn a_created_person(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let reply = client.post("/v1/persons", &ada(&job)).expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "per_1",
        "name": "Ada Lovelace",
        "social_public_id": "ada-lovelace",
        "current_job_title": "Analyst",
        "company_name": "Analytical Engines",
        "social_location": "London",
        "emails": [
          {
            "contact_data_type": "work",
            "value": "ada@engines.example"
          },
          {
            "contact_data_type": "personal",
            "value": "ada@home.example"
          }
        ],
        "phones": [
          {
            "contact_data_type": "mobile",
            "value": "+44 20 7946 0018"
          },
          {
            "contact_data_type": "work",
            "value": "+44 20 7946 0100"
          }
        ],
        "candidate_id": "cnd_1",
        "client_contact_id": null,
        "external_source_id": "crm-1"
      }
    }
    "#);
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[apply(each_engine)]
fn a_created_person_of_whom_little_is_known(workspace: &Workspace) {
    let reply = workspace
        .writer()
        .post("/v1/persons", &json!({ "name": "Ada", "client_name": "Acme" }))
        .expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "per_1",
        "name": "Ada",
        "social_public_id": "",
        "current_job_title": "",
        "company_name": "",
        "social_location": "",
        "emails": [],
        "phones": [],
        "candidate_id": null,
        "client_contact_id": "ctc_1",
        "external_source_id": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_read_person(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(&ada(&job));
    let history = client.put(
        &format!("/v1/persons/{person}/history"),
        &json!({
            "work_experience": [{
                "company_name": "Acme",
                "company_social_url": "https://social.example/company/acme",
                "company_social_id": 42,
                "company_id": job.client_company,
                "positions": [{
                    "title": "Analyst",
                    "start_date": "2020-01-01",
                    "end_date": "2023-01-01",
                    "description": "Notes on\nthe engine.",
                    "location": "London",
                    "position_type": "full-time",
                }, { "title": "Founder", "duration_in_months": 7 }],
                "duration_in_months": 43,
            }],
            "education_experience": [{ "company_name": "Royal Society", "degree": "Mathematics",
                "start_date": "2015-09-01" }],
            "certifications": [
                { "name": "Bernoulli numbers", "credential_id": "G-1", "company_name": "Babbage",
                    "end_date": "2030-12-31" },
            ],
        }),
    );
    let reply = client.get(&format!("/v1/persons/{person}")).expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "per_1",
        "name": "Ada Lovelace",
        "social_public_id": "ada-lovelace",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "current_job_title": "Analyst",
        "current_company_name": "Analytical Engines",
        "current_company_id": "cmp_1",
        "external_source_id": "crm-1",
        "emails": [
          {
            "contact_data_type": "work",
            "value": "ada@engines.example"
          },
          {
            "contact_data_type": "personal",
            "value": "ada@home.example"
          }
        ],
        "phones": [
          {
            "contact_data_type": "mobile",
            "value": "+44 20 7946 0018"
          },
          {
            "contact_data_type": "work",
            "value": "+44 20 7946 0100"
          }
        ],
        "work_experience": [
          {
            "positions": [
              {
                "title": "Analyst",
                "start_date": "2020-01-01",
                "end_date": "2023-01-01",
                "duration_in_months": 36,
                "description": "Notes on\nthe engine.",
                "location": "London",
                "position_type": "full-time"
              },
              {
                "title": "Founder",
                "start_date": "",
                "end_date": null,
                "duration_in_months": 7,
                "description": "",
                "location": "",
                "position_type": ""
              }
            ],
            "duration_in_months": 43,
            "company_name": "Acme",
            "company_social_url": "https://social.example/company/acme",
            "company_social_id": 42,
            "company_id": "cmp_2"
          }
        ],
        "education_experience": [
          {
            "company_name": "Royal Society",
            "start_date": "2015-09-01",
            "end_date": "",
            "description": "",
            "degree": "Mathematics",
            "company_social_url": "",
            "company_social_id": 0,
            "company_id": null
          }
        ],
        "certifications": [
          {
            "name": "Bernoulli numbers",
            "credential_id": "G-1",
            "start_date": "",
            "end_date": "2030-12-31",
            "company_name": "Babbage",
            "company_social_url": "",
            "company_social_id": 0,
            "company_id": null
          }
        ],
        "jobs": [
          {
            "candidate_id": "cnd_1",
            "job_name": "Engineer",
            "job_id": "job_1",
            "job_client_company_name": "Acme",
            "current_pipeline_stage_name": "Sourced",
            "current_pipeline_stage_id": "stg_1"
          }
        ]
      }
    }
    "#);
    assert_eq!(history.expect(200).text, reply.text);
}

#[apply(each_engine)]
fn a_read_person_of_whom_little_is_known(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    insta::assert_snapshot!(shape(&client.get(&format!("/v1/persons/{person}")).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "id": "per_1",
        "name": "Ada",
        "social_public_id": "",
        "first_name": "Ada",
        "last_name": "",
        "current_job_title": "",
        "current_company_name": "",
        "current_company_id": "",
        "external_source_id": null,
        "emails": [],
        "phones": [],
        "work_experience": [],
        "education_experience": [],
        "certifications": [],
        "jobs": []
      }
    }
    "#);
}

#[apply(each_engine)]
fn an_updated_person(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let reply = client
        .patch(
            &format!("/v1/persons/{person}"),
            &json!({ "address": "12 St James's Square\nLondon" }),
        )
        .expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "message": "<sentence>"
      }
    }
    "#);
}
