//! Candidates, jobs and lists with exactly the fields of the interface, in its order.

use serde_json::json;

use crate::support::{Client, Job, Workspace, apply, each_engine, shape};

/// A job with three stages and Ada, who got to the second.
fn moved_candidate(client: &Client) -> (Job, String) {
    let job = client.new_job_with(&json!({
        "name": "Engineer",
        "client_company_name": "Acme",
        "pipeline_stages": [
            { "name": "Applied" },
            { "name": "Interview", "is_interviewing_stage": true },
            { "name": "Rejected", "is_rejection_stage": true },
        ],
    }));
    let ada = json!({
        "name": "Ada Lovelace",
        "current_job_title": "Analyst",
        "company_name": "Analytical Engines",
        "job_id": job.id,
    });
    let candidate = client.post("/v1/persons", &ada).expect(201).string("candidate_id");
    client
        .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": "Interview" }))
        .expect(200);
    (job, candidate)
}

#[apply(each_engine)]
fn a_candidate(workspace: &Workspace) {
    let client = workspace.writer();
    let (_, candidate) = moved_candidate(&client);
    insta::assert_snapshot!(shape(&client.get(&format!("/v1/candidates/{candidate}")).expect(200)),
        @r#"
    {
      "success": true,
      "data": {
        "id": "cnd_1",
        "person_id": "per_1",
        "job_id": "job_1",
        "name": "Ada Lovelace",
        "current_job_title": "Analyst",
        "current_company_name": "Analytical Engines",
        "current_company_id": "cmp_1",
        "current_pipeline_stage_name": "Interview",
        "current_pipeline_stage_id": "stg_1",
        "current_pipeline_stage_date": "<time>",
        "created_at": "<time>",
        "pipeline_stage_history": [
          {
            "stage_id": "stg_2",
            "stage_name": "Applied",
            "stage_date": "<time>"
          },
          {
            "stage_id": "stg_1",
            "stage_name": "Interview",
            "stage_date": "<time>"
          }
        ]
      }
    }
    "#);
}

#[apply(each_engine)]
fn the_candidates_of_a_job(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, _) = moved_candidate(&client);
    client.new_candidate(&job, "Grace");
    insta::assert_snapshot!(shape(&client.get(&job.candidates_path()).expect(200)), @r#"
    {
      "success": true,
      "data": [
        {
          "id": "cnd_1",
          "person_id": "per_1",
          "name": "Ada Lovelace",
          "current_job_title": "Analyst",
          "current_company_name": "Analytical Engines",
          "current_company_id": "cmp_1",
          "current_pipeline_stage_name": "Interview",
          "current_pipeline_stage_id": "stg_1",
          "created_at": "<time>"
        },
        {
          "id": "cnd_2",
          "person_id": "per_2",
          "name": "Grace",
          "current_job_title": "",
          "current_company_name": "",
          "current_company_id": "",
          "current_pipeline_stage_name": "Applied",
          "current_pipeline_stage_id": "stg_2",
          "created_at": "<time>"
        }
      ],
      "meta": {
        "total": 2,
        "offset": 0,
        "limit": 100
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_job(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, _) = moved_candidate(&client);
    insta::assert_snapshot!(shape(&client.get(&job.path()).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "id": "job_1",
        "name": "Engineer",
        "created_at": "<time>",
        "is_archived": false,
        "client_company_name": "Acme",
        "client_company_id": "cmp_1",
        "job_status_name": "Open",
        "job_status_id": "sts_1",
        "candidate_count": 1,
        "pipeline_stages": [
          {
            "id": "stg_1",
            "name": "Applied",
            "stage_order": 1,
            "is_rejection_stage": false,
            "is_interviewing_stage": false
          },
          {
            "id": "stg_2",
            "name": "Interview",
            "stage_order": 2,
            "is_rejection_stage": false,
            "is_interviewing_stage": true
          },
          {
            "id": "stg_3",
            "name": "Rejected",
            "stage_order": 3,
            "is_rejection_stage": true,
            "is_interviewing_stage": false
          }
        ]
      }
    }
    "#);
}

#[apply(each_engine)]
fn the_jobs(workspace: &Workspace) {
    let client = workspace.writer();
    moved_candidate(&client);
    insta::assert_snapshot!(shape(&client.get("/v1/jobs?limit=7").expect(200)), @r#"
    {
      "success": true,
      "data": [
        {
          "id": "job_1",
          "name": "Engineer",
          "created_at": "<time>",
          "is_archived": false,
          "client_company_name": "Acme",
          "client_company_id": "cmp_1",
          "job_status_name": "Open",
          "job_status_id": "sts_1",
          "candidate_count": 1
        }
      ],
      "meta": {
        "total": 1,
        "offset": 0,
        "limit": 7
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_list_by_cursor(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_candidate(&job, "Ada");
    client.new_candidate(&job, "Grace");
    let path = format!("{}?cursor=&limit=1", job.candidates_path());
    let mut first = client.get(&path).expect(200);
    first.json["data"].take();
    insta::assert_snapshot!(shape(&first), @r#"
    {
      "success": true,
      "data": null,
      "meta": {
        "total": 2,
        "limit": 1,
        "next_cursor": "<cursor>"
      }
    }
    "#);
    let last = client.get("/v1/jobs?cursor=").expect(200);
    assert_eq!(last.json["meta"].to_string(), r#"{"total":1,"limit":100,"next_cursor":null}"#);
}

#[apply(each_engine)]
fn an_empty_list(workspace: &Workspace) {
    let reply = workspace.client("read").get("/v1/jobs").expect(200);
    assert_eq!(
        reply.text,
        r#"{"success":true,"data":[],"meta":{"total":0,"offset":0,"limit":100}}"#
    );
}
