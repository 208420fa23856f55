//! Pages of jobs and candidates: every record once, in order, whatever the size of the page.

use serde_json::{Value, json};

use crate::support::{Client, Workspace, apply, each_engine, strings};

const COUNT: usize = 13;

/// Both lists with some records in each, and the ids that they must hold in their order.
fn lists(client: &Client) -> [(String, Vec<String>); 2] {
    let jobs: Vec<_> =
        (0..COUNT).map(|number| client.new_job(&format!("Job {number}"), "Acme")).collect();
    let candidate = |number| {
        client.new_candidate(&jobs[0], &format!("Person {number}"))["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let candidates = (0..COUNT).map(candidate).collect();
    let path = jobs[0].candidates_path();
    [("/v1/jobs".to_owned(), jobs.into_iter().map(|job| job.id).collect()), (path, candidates)]
}

fn ids(client: &Client, path: &str) -> Vec<String> {
    strings(client.get(path).expect(200).data(), "id")
}

/// Follows the cursors from the first page to the last.
fn walk(client: &Client, path: &str, parameters: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut cursor = String::new();
    for _ in 0..1000 {
        let reply = client.get(&format!("{path}?cursor={cursor}{parameters}")).expect(200);
        seen.extend(strings(reply.data(), "id"));
        match &reply.json["meta"]["next_cursor"] {
            Value::Null => return seen,
            next => next.as_str().unwrap().clone_into(&mut cursor),
        }
    }
    panic!("the cursors of {path} never end");
}

#[apply(each_engine)]
fn pages_of_every_size_hold_each_record_once_in_order(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, expected) in lists(&client) {
        for limit in 1..=COUNT + 2 {
            let mut seen = Vec::new();
            for offset in (0..COUNT).step_by(limit) {
                let reply =
                    client.get(&format!("{path}?offset={offset}&limit={limit}")).expect(200);
                assert_eq!(
                    reply.json["meta"],
                    json!({ "total": COUNT, "offset": offset, "limit": limit })
                );
                let page = strings(reply.data(), "id");
                assert_eq!(page.len(), limit.min(COUNT - offset));
                seen.extend(page);
            }
            assert_eq!(seen, expected, "{path} by {limit}");
        }
    }
}

#[apply(each_engine)]
fn cursors_walk_to_the_end_and_no_further(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, expected) in lists(&client) {
        let reversed: Vec<_> = expected.iter().rev().cloned().collect();
        for limit in 1..=COUNT + 1 {
            assert_eq!(
                walk(&client, &path, &format!("&limit={limit}")),
                expected,
                "{path} by {limit}"
            );
            assert_eq!(
                walk(&client, &path, &format!("&limit={limit}&sort=-created_at")),
                reversed,
                "{path} by {limit}"
            );
        }
        let reply = client.get(&format!("{path}?cursor=&limit={COUNT}")).expect(200);
        assert_eq!(
            reply.json["meta"],
            json!({ "total": COUNT, "limit": COUNT, "next_cursor": null })
        );
    }
}

#[apply(each_engine)]
fn newest_first_is_oldest_first_turned_round(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, expected) in lists(&client) {
        assert_eq!(ids(&client, &format!("{path}?sort=created_at")), expected);
        let mut newest = ids(&client, &format!("{path}?sort=-created_at"));
        assert_eq!(
            ids(&client, &format!("{path}?sort=-created_at&offset=3&limit=4")),
            newest[3..7]
        );
        newest.reverse();
        assert_eq!(newest, expected);
    }
}

#[apply(each_engine)]
fn records_added_while_paging_neither_shift_nor_repeat_a_page(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, expected) in lists(&client) {
        let first = client.get(&format!("{path}?cursor=&limit=6")).expect(200);
        let cursor = first.json["meta"]["next_cursor"].as_str().unwrap();
        let by_offset = ids(&client, &format!("{path}?offset=6&limit=7"));
        match path.as_str() {
            "/v1/jobs" => drop(client.new_job("A late one", "Acme")),
            _ => {
                let person = client.new_person(&json!({ "name": "A late one" }));
                client.post(&path, &json!({ "person_id": person })).expect(201);
            }
        }
        assert_eq!(by_offset, expected[6..]);
        assert_eq!(ids(&client, &format!("{path}?offset=6&limit=7")), by_offset);
        let second = client.get(&format!("{path}?cursor={cursor}&limit=7")).expect(200);
        assert_eq!(strings(second.data(), "id"), by_offset);
        assert_eq!(second.json["meta"]["total"], COUNT + 1);
        assert_eq!(client.get(&path).json["meta"]["total"], COUNT + 1);
    }
}

#[apply(each_engine)]
fn a_list_holds_a_hundred_unless_it_is_told_otherwise(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for number in 0..101 {
        client
            .post("/v1/persons", &json!({ "name": format!("Person {number}"), "job_id": job.id }))
            .expect(201);
    }
    let reply = client.get(&job.candidates_path()).expect(200);
    assert_eq!(reply.entries().len(), 100);
    assert_eq!(reply.json["meta"], json!({ "total": 101, "offset": 0, "limit": 100 }));
    assert_eq!(ids(&client, &format!("{}?offset=100", job.candidates_path())).len(), 1);
}

#[apply(each_engine)]
fn an_absent_empty_or_null_offset_is_zero(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, expected) in lists(&client) {
        for offset in ["", "?offset=", "?offset=null", "?offset=0", "?offset", "?offset=000"] {
            let reply = client.get(&format!("{path}{offset}")).expect(200);
            assert_eq!(strings(reply.data(), "id"), expected, "{offset}");
            assert_eq!(reply.json["meta"]["offset"], 0);
        }
    }
}

#[apply(each_engine)]
fn past_the_end_a_page_is_empty_with_the_true_total(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, _) in lists(&client) {
        for offset in [COUNT, COUNT + 1, 1_000_000, 9_007_199_254_740_991] {
            let reply = client.get(&format!("{path}?offset={offset}&limit=5")).expect(200);
            assert_eq!(reply.entries().len(), 0);
            assert_eq!(reply.json["meta"], json!({ "total": COUNT, "offset": offset, "limit": 5 }));
        }
    }
}

#[apply(each_engine)]
fn bad_paging_values_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for path in ["/v1/jobs", &job.candidates_path()] {
        for (query, fields) in [
            ("limit=0", vec!["limit"]),
            ("limit=101", vec!["limit"]),
            ("limit=-1", vec!["limit"]),
            ("limit=", vec!["limit"]),
            ("limit=null", vec!["limit"]),
            ("limit=ten", vec!["limit"]),
            ("limit=10.0", vec!["limit"]),
            ("limit=1e1", vec!["limit"]),
            ("limit=%2B5", vec!["limit"]),
            ("limit=99999999999999999999", vec!["limit"]),
            ("limit=%20", vec!["limit"]),
            ("limit=5&limit=5", vec!["limit"]),
            ("offset=-1", vec!["offset"]),
            ("offset=1.5", vec!["offset"]),
            ("offset=x", vec!["offset"]),
            ("offset=99999999999999999999", vec!["offset"]),
            ("offset=NULL", vec!["offset"]),
            ("offset=-1&limit=0", vec!["limit", "offset"]),
            ("sort=", vec!["sort"]),
            ("sort=name", vec!["sort"]),
            ("sort=-created_at,id", vec!["sort"]),
            ("cursor=nonsense", vec!["cursor"]),
            ("page=2", vec!["page"]),
            ("Limit=5", vec!["Limit"]),
        ] {
            let reply = client.get(&format!("{path}?{query}")).refused(400, "INVALID_REQUEST");
            assert_eq!(reply.detail_fields(), fields, "{path}?{query}");
        }
    }
}

#[apply(each_engine)]
fn a_cursor_belongs_to_its_list(workspace: &Workspace) {
    let client = workspace.writer();
    let lists = lists(&client);
    let cursor = client.get("/v1/jobs?cursor=&limit=2").expect(200).json["meta"]["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    client.get(&format!("/v1/jobs?cursor={cursor}&limit=5")).expect(200);
    for path in [format!("{}?cursor={cursor}", lists[1].0), format!("/v1/jobs?cursor={cursor}x")] {
        let reply = client.get(&path).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), ["cursor"], "{path}");
    }
}

#[apply(each_engine)]
fn a_cursor_goes_on_from_its_record_whatever_else_is_asked(workspace: &Workspace) {
    let client = workspace.writer();
    lists(&client);
    let all = client.get("/v1/jobs").expect(200).json["data"].as_array().unwrap().clone();
    let cursor = client.get("/v1/jobs?cursor=&limit=2").expect(200).json["meta"]["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let rest = client.get(&format!("/v1/jobs?cursor={cursor}&offset=7")).expect(200);
    assert_eq!(rest.json["data"].as_array().unwrap(), &all[2..]);
    let back = client.get(&format!("/v1/jobs?cursor={cursor}&sort=-created_at")).expect(200);
    assert_eq!(back.json["data"].as_array().unwrap(), &all[..1]);
    assert_eq!(back.json["meta"]["total"], all.len());
}

#[apply(each_engine)]
fn the_candidates_of_an_unknown_job_are_not_found(workspace: &Workspace) {
    for query in ["", "?cursor=", "?offset=5", "?q=x"] {
        workspace
            .client("read")
            .get(&format!("/v1/jobs/job_00000000000000000000000000/candidates{query}"))
            .refused(404, "NOT_FOUND");
    }
}
