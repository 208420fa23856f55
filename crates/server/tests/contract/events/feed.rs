//! The log of changes, read page by page.

use serde_json::{Value, json};

use crate::support::{Client, Log, Workspace, World, apply, each_engine, next_after, sequences};

const FEED: &str = "/v1/events";

/// All events there are, or all that the parameters choose, in pages of three.
fn walk(client: &Client, parameters: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = client.get(&format!("{FEED}?after={after}&limit=3{parameters}")).expect(200);
        assert!(page.entries().len() <= 3, "{page:#?}");
        all.extend(page.entries().to_vec());
        if page.json["meta"]["has_more"] == false {
            return all;
        }
        assert!(next_after(&page) > after, "{page:#?}");
        after = next_after(&page);
    }
}

#[apply(each_engine)]
fn pages_go_on_where_the_last_one_ended(workspace: &Workspace) {
    let client = workspace.client("read");
    World::build(&workspace.writer());
    let last = Log::begin(&workspace.writer()).position;
    let all = client.get(FEED).expect(200);
    assert_eq!(all.json["meta"], json!({ "next_after": last, "has_more": false }));
    assert_eq!(walk(&client, ""), all.entries());
    let page = client.get(&format!("{FEED}?after=2&limit=3")).expect(200);
    assert_eq!(
        (sequences(page.entries()), &page.json["meta"]),
        (vec![3, 4, 5], &json!({ "next_after": 5, "has_more": true }))
    );
    let page = client.get(&format!("{FEED}?after={}&limit=2", last - 2)).expect(200);
    assert_eq!(
        (page.entries().len(), &page.json["meta"]),
        (2, &json!({ "next_after": last, "has_more": false }))
    );
    let page = client.get(&format!("{FEED}?after={last}")).expect(200);
    assert_eq!(
        (page.entries().len(), &page.json["meta"]),
        (0, &json!({ "next_after": last, "has_more": false }))
    );
}

#[apply(each_engine)]
fn types_are_chosen_by_name_by_family_or_all(workspace: &Workspace) {
    let client = workspace.writer();
    World::build(&client);
    Log::begin(&client);
    let all = walk(&client, "");
    for (chosen, kinds) in [
        ("job.created", &["job.created"][..]),
        ("job.*", &["job.created", "job.updated"]),
        ("person.*,job.updated", &["person.created", "job.updated"]),
        ("candidate.moved", &[]),
        (
            "candidate.*,*",
            &[
                "key.created",
                "company.created",
                "person.created",
                "candidate.created",
                "job.created",
                "job.updated",
            ],
        ),
    ] {
        let expected: Vec<_> = all
            .iter()
            .filter(|event| kinds.contains(&event["type"].as_str().unwrap()))
            .cloned()
            .collect();
        assert_eq!(walk(&client, &format!("&types={chosen}")), expected, "{chosen}");
    }
}

#[apply(each_engine)]
fn latest_is_the_position_behind_everything(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let latest = client.get(&format!("{FEED}?after=latest")).expect(200);
    assert_eq!(
        (latest.data(), &latest.json["meta"]),
        (&json!([]), &json!({ "next_after": log.position, "has_more": false }))
    );
    client.new_job("Engineer", "Acme");
    let events = log.new_events();
    let page = client.get(&format!("{FEED}?after={}", next_after(&latest))).expect(200);
    assert_eq!(page.entries()[..2], events);
}

#[apply(each_engine)]
fn bad_parameters_are_refused_by_name(workspace: &Workspace) {
    let client = workspace.client("read");
    for (parameter, field) in [
        ("types=person.exploded", "types"),
        ("types=person.created,persons.*", "types"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=many", "limit"),
        ("after=soon", "after"),
        ("after=-1", "after"),
        ("after=1.5", "after"),
        ("before=7", "before"),
    ] {
        let reply = client.get(&format!("{FEED}?{parameter}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{parameter}");
    }
    workspace.anonymous().get(FEED).refused(401, "UNAUTHENTICATED");
}

#[apply(each_engine)]
fn workspaces_have_logs_of_their_own(workspace: &Workspace) {
    let clients = [workspace.client_of("one", "write"), workspace.client_of("two", "write")];
    let worlds = clients.each_ref().map(World::build);
    let positions = clients.each_ref().map(|client| Log::begin(client).position);
    for (own, other) in [(0, 1), (1, 0)] {
        let feed = clients[own].get(&format!("{FEED}?limit=1000")).expect(200);
        assert_eq!(sequences(feed.entries()), (1..=positions[own]).collect::<Vec<_>>());
        let World { person, candidate, job, employer } = &worlds[other];
        assert!(
            [person, candidate, &job.id, employer]
                .iter()
                .all(|id| !feed.text.contains(id.as_str())),
            "{}",
            feed.text
        );
    }
}

#[apply(each_engine)]
fn pages_end_early_where_events_say_much(workspace: &Workspace) {
    const MOST: usize = 9 * 1024 * 1024;
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    for number in 0..60 {
        client
            .update_person(&person, &json!({ "current_job_title": format!("Countess {number}") }));
    }
    for letter in ["a", "b", "c", "d", "e", "f", "g"] {
        let education: Vec<_> = (0..90)
            .map(|_| json!({ "company_name": "Home", "description": letter.repeat(10_000) }))
            .collect();
        client
            .put(
                &format!("/v1/persons/{person}/history"),
                &json!({ "education_experience": education }),
            )
            .expect(200);
    }
    let last = Log::begin(&client).position;
    let (mut seen, mut after, mut pages) = (Vec::new(), 0, 0);
    while after < last {
        let page = client.get(&format!("{FEED}?after={after}&limit=1000")).expect(200);
        assert!(
            page.json.to_string().len() < MOST,
            "a page of {} bytes",
            page.json.to_string().len()
        );
        assert_eq!(page.json["meta"]["has_more"], next_after(&page) < last);
        (after, pages) = (next_after(&page), pages + 1);
        seen.extend(sequences(page.entries()));
    }
    assert_eq!((seen, pages), ((1..=last).collect(), 2));
    let (mut seen, mut before, mut pages) = (Vec::new(), Some(last + 1), 0);
    while let Some(number) = before {
        let page = client
            .get(&format!("/v1/persons/{person}/timeline?before={number}&limit=100"))
            .expect(200);
        assert!(
            page.json.to_string().len() < MOST,
            "a page of {} bytes",
            page.json.to_string().len()
        );
        (before, pages) = (page.json["meta"]["next_before"].as_u64(), pages + 1);
        seen.extend(sequences(page.entries()));
    }
    assert!(seen.is_sorted_by(|one, next| one > next), "{seen:?}");
    assert_eq!((seen.len(), pages), (1 + 60 + 7, 2));
}
