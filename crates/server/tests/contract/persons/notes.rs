//! Notes on a person: written, listed, changed and deleted.

use serde_json::{Value, json};

use crate::support::{
    Client, Log, Workspace, apply, each_engine, next_millisecond, shape, strings, types,
};

fn path_of(person: &str) -> String {
    format!("/v1/persons/{person}/notes")
}

fn add(client: &Client, person: &str, body: &str) -> String {
    client.post(&path_of(person), &json!({ "body": body })).expect(201).id()
}

fn bodies(client: &Client, person: &str) -> Vec<String> {
    strings(client.get(&path_of(person)).expect(200).data(), "body")
}

#[apply(each_engine)]
fn a_written_note(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let reply = client.post(&path_of(&person), &json!({ "body": "Met at the fair." })).expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "nte_1",
        "body": "Met at the fair.",
        "key_id": "key_1",
        "created_at": "<time>",
        "updated_at": "<time>"
      }
    }
    "#);
    assert_eq!(reply.data()["created_at"], reply.data()["updated_at"]);
}

#[apply(each_engine)]
fn a_list_of_notes(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    add(&client, &person, "Met at the fair.");
    let reply = client.get(&path_of(&person)).expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": [
        {
          "id": "nte_1",
          "body": "Met at the fair.",
          "key_id": "key_1",
          "created_at": "<time>",
          "updated_at": "<time>"
        }
      ],
      "meta": {
        "total": 1,
        "offset": 0,
        "limit": 100
      }
    }
    "#);
}

#[apply(each_engine)]
fn the_text_is_trimmed_and_otherwise_kept(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let written = "  First line\n\tsecond  line\r\n  ";
    let reply = client.post(&path_of(&person), &json!({ "body": written })).expect(201);
    assert_eq!(reply.string("body"), written.trim());
    assert_eq!(bodies(&client, &person), [written.trim()]);
}

#[apply(each_engine)]
fn the_note_of_a_create_is_a_note_like_any_other(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(
        &json!({ "name": "Ada", "external_source_id": "crm-1", "notes": "Met at the fair." }),
    );
    client
        .post(
            "/v1/persons",
            &json!({ "name": "Ada", "external_source_id": "crm-1", "notes": "Called back." }),
        )
        .expect(200);
    client
        .post(
            "/v1/persons",
            &json!({ "name": "Ada", "external_source_id": "crm-1", "notes": "Called back." }),
        )
        .expect(200);
    assert_eq!(bodies(&client, &person), ["Met at the fair.", "Called back."]);
    add(&client, &person, "Called back.");
    assert_eq!(bodies(&client, &person), ["Met at the fair.", "Called back.", "Called back."]);
}

#[apply(each_engine)]
fn pages_go_by_offset_and_by_cursor_in_either_order(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let mut written: Vec<_> =
        (1..=5).map(|number| add(&client, &person, &format!("Note {number}"))).collect();
    let path = path_of(&person);
    for sort in ["created_at", "-created_at"] {
        let mut by_offset = Vec::new();
        for offset in [0, 2, 4, 6] {
            let page =
                client.get(&format!("{path}?sort={sort}&limit=2&offset={offset}")).expect(200);
            assert_eq!(page.json["meta"], json!({ "total": 5, "offset": offset, "limit": 2 }));
            by_offset.extend(strings(page.data(), "id"));
        }
        assert_eq!(by_offset, written, "{sort}");
        let (mut by_cursor, mut cursor) = (Vec::new(), String::new());
        loop {
            let page =
                client.get(&format!("{path}?sort={sort}&limit=2&cursor={cursor}")).expect(200);
            assert_eq!(
                [&page.json["meta"]["total"], &page.json["meta"]["limit"]],
                [&json!(5), &json!(2)]
            );
            by_cursor.extend(strings(page.data(), "id"));
            let Some(next) = page.json["meta"]["next_cursor"].as_str() else { break };
            cursor = next.to_owned();
        }
        assert_eq!(by_cursor, written, "{sort}");
        written.reverse();
    }
    for (parameter, field) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("offset=-1", "offset"),
        ("sort=body", "sort"),
        ("cursor=x", "cursor"),
    ] {
        let reply = client.get(&format!("{path}?{parameter}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field]);
    }
}

#[apply(each_engine)]
fn notes_are_filtered_by_their_times(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let path = path_of(&person);
    let first = client.post(&path, &json!({ "body": "First" })).expect(201);
    next_millisecond();
    let second = client.post(&path, &json!({ "body": "Second" })).expect(201);
    next_millisecond();
    client
        .patch(&format!("{path}/{}", first.id()), &json!({ "body": "First, changed" }))
        .expect(200);
    let (made_first, made_second) = (first.string("created_at"), second.string("created_at"));
    for (filter, expected) in [
        (format!("created_after={made_first}"), vec![second.id()]),
        (format!("created_before={made_second}"), vec![first.id()]),
        (format!("updated_after={made_second}"), vec![first.id()]),
        (format!("updated_before={made_second}"), vec![]),
        (format!("created_after={made_second}"), vec![]),
    ] {
        let page = client.get(&format!("{path}?{filter}")).expect(200);
        assert_eq!(strings(page.data(), "id"), expected, "{filter}");
        assert_eq!(page.json["meta"]["total"], json!(expected.len()), "{filter}");
    }
}

#[apply(each_engine)]
fn a_note_takes_its_new_text(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let before = client.post(&path_of(&person), &json!({ "body": "Met at the fair." })).expect(201);
    next_millisecond();
    let after = client
        .patch(
            &format!("{}/{}", path_of(&person), before.id()),
            &json!({ "body": "Met in London." }),
        )
        .expect(200);
    assert_eq!(
        [&after.data()["id"], &after.data()["created_at"]],
        [&before.data()["id"], &before.data()["created_at"]]
    );
    assert_eq!(after.data()["body"], "Met in London.");
    assert!(after.string("updated_at") > before.string("updated_at"), "{after:#?}");
    assert_eq!(client.get(&path_of(&person)).expect(200).entries(), [after.data().clone()]);
}

#[apply(each_engine)]
fn a_deleted_note_is_gone(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let (first, second) = (add(&client, &person, "One"), add(&client, &person, "Two"));
    let path = format!("{}/{first}", path_of(&person));
    let reply = client.send("DELETE", &path, None).expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "message": "<sentence>"
      }
    }
    "#);
    let left = client.get(&path_of(&person)).expect(200);
    assert_eq!(
        (strings(left.data(), "id"), &left.json["meta"]["total"]),
        (vec![second], &json!(1))
    );
    client.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    client.patch(&path, &json!({ "body": "Again" })).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn notes_are_told_of_the_person(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let mut log = Log::begin(&client);
    let added = client.post(&path_of(&person), &json!({ "body": "One" })).expect(201);
    let path = format!("{}/{}", path_of(&person), added.id());
    let changed = client.patch(&path, &json!({ "body": "Two" })).expect(200);
    client.send("DELETE", &path, None).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.note_added", "person.note_updated", "person.note_deleted"]);
    assert!(events.iter().all(|event| event["record_id"] == person.as_str()), "{events:#?}");
    let (added, changed) = (json!({ "note": added.data() }), json!({ "note": changed.data() }));
    assert_eq!(events[0]["data"], json!({ "before": {}, "after": added }));
    assert_eq!(events[1]["data"], json!({ "before": added, "after": changed }));
    assert_eq!(events[2]["data"], json!({ "before": changed, "after": {} }));
    let timeline = client.get(&format!("/v1/persons/{person}/timeline")).expect(200);
    assert_eq!(
        types(timeline.entries())[..3],
        ["person.note_deleted", "person.note_updated", "person.note_added"]
    );
}

#[apply(each_engine)]
fn a_text_that_stays_the_same_changes_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let note = client.post(&path_of(&person), &json!({ "body": "One" })).expect(201);
    let before = client.get(&format!("/v1/persons/{person}")).expect(200);
    let mut log = Log::begin(&client);
    next_millisecond();
    let same = client
        .patch(&format!("{}/{}", path_of(&person), note.id()), &json!({ "body": " One " }))
        .expect(200);
    assert_eq!(same.data(), note.data());
    assert_eq!(log.new_events(), Vec::<Value>::new());
    assert_eq!(client.get(&format!("/v1/persons/{person}")).expect(200).etag(), before.etag());
}

#[apply(each_engine)]
fn a_note_changes_its_person(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada", "external_source_id": "crm-1" }));
    let state = || {
        let tag = client.get(&format!("/v1/persons/{person}")).expect(200).etag().to_owned();
        let profile = client
            .get(&format!("/v1/persons/{person}?include=profile"))
            .expect(200)
            .data()["profile"]
            .clone();
        next_millisecond();
        (tag, profile["updated_at"].as_str().unwrap().to_owned())
    };
    let mut last = state();
    let note = add(&client, &person, "One");
    let path = format!("{}/{note}", path_of(&person));
    let writes: [(&str, &str, Option<Value>); 3] = [
        ("PATCH", path.as_str(), Some(json!({ "body": "Two" }))),
        ("DELETE", path.as_str(), None),
        (
            "POST",
            "/v1/persons",
            Some(json!({ "name": "Ada", "external_source_id": "crm-1", "notes": "Three" })),
        ),
    ];
    for write in [None].into_iter().chain(writes.into_iter().map(Some)) {
        if let Some((method, path, body)) = &write {
            client.send(method, path, body.as_ref()).expect(200);
        }
        let next = state();
        assert!(next.0 != last.0 && next.1 > last.1, "{write:?}: {last:?} {next:?}");
        last = next;
    }
}

#[apply(each_engine)]
fn bad_text_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let path = path_of(&person);
    let note = format!("{path}/{}", add(&client, &person, "One"));
    for (body, field, flaw) in [
        (json!({}), "body", "REQUIRED"),
        (json!({ "body": null }), "body", "REQUIRED"),
        (json!({ "body": "" }), "body", "REQUIRED"),
        (json!({ "body": " \n\t " }), "body", "REQUIRED"),
        (json!({ "body": 7 }), "body", "INVALID_TYPE"),
        (json!({ "body": "bell\u{7}" }), "body", "INVALID_CHARACTER"),
        (json!({ "body": "One", "text": "Two" }), "text", "UNKNOWN_FIELD"),
    ] {
        for reply in [client.post(&path, &body), client.patch(&note, &body)] {
            let reply = reply.refused(400, "INVALID_REQUEST");
            assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
        }
    }
    client.send("DELETE", &note, Some(&json!({ "body": "One" }))).refused(400, "INVALID_REQUEST");
    for reply in [
        client.post(&format!("{path}?a=b"), &json!({ "body": "x" })),
        client.send("DELETE", &format!("{note}?a=b"), None),
    ] {
        assert_eq!(reply.refused(400, "INVALID_REQUEST").flaw("a"), "UNKNOWN_FIELD");
    }
    assert_eq!(bodies(&client, &person), ["One"]);
}

#[apply(each_engine)]
fn a_text_may_be_64_kibibytes_and_no_more(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let longest = "ä".repeat(32 * 1024);
    assert_eq!(
        client.post(&path_of(&person), &json!({ "body": longest })).expect(201).string("body"),
        longest
    );
    let reply = client
        .post(&path_of(&person), &json!({ "body": format!("{longest}x") }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("body"), "TOO_LONG");
}

#[apply(each_engine)]
fn what_is_not_there_has_no_notes(workspace: &Workspace) {
    let stranger = workspace.client_of("another", "write");
    let theirs = stranger.new_person(&json!({ "name": "Ada" }));
    let note = add(&stranger, &theirs, "Theirs");
    let client = workspace.writer();
    for person in [theirs.as_str(), "per_00000000000000000000000000", "nobody"] {
        let path = path_of(person);
        client.get(&path).refused(404, "NOT_FOUND");
        client.post(&path, &json!({ "body": "Mine" })).refused(404, "NOT_FOUND");
        client
            .patch(&format!("{path}/{note}"), &json!({ "body": "Mine" }))
            .refused(404, "NOT_FOUND");
        client.send("DELETE", &format!("{path}/{note}"), None).refused(404, "NOT_FOUND");
    }
    assert_eq!(bodies(&stranger, &theirs), ["Theirs"]);
}

#[apply(each_engine)]
fn a_note_is_found_under_its_person_only(workspace: &Workspace) {
    let client = workspace.writer();
    let [ada, grace] = ["Ada", "Grace"].map(|name| client.new_person(&json!({ "name": name })));
    let note = add(&client, &ada, "On Ada");
    for wrong in [note.as_str(), "nte_00000000000000000000000000", "nte", ada.as_str()] {
        let path = format!("{}/{wrong}", path_of(&grace));
        client.patch(&path, &json!({ "body": "On Grace" })).refused(404, "NOT_FOUND");
        client.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    }
    assert_eq!(
        (bodies(&client, &ada), bodies(&client, &grace)),
        (vec!["On Ada".to_owned()], vec![])
    );
}

#[apply(each_engine)]
fn a_reader_may_look_and_no_more(workspace: &Workspace) {
    let client = workspace.writer();
    let reader = workspace.client("read");
    let person = client.new_person(&json!({ "name": "Ada" }));
    let note = format!("{}/{}", path_of(&person), add(&client, &person, "One"));
    reader.get(&path_of(&person)).expect(200);
    reader.post(&path_of(&person), &json!({ "body": "Two" })).refused(403, "FORBIDDEN");
    reader.patch(&note, &json!({ "body": "Two" })).refused(403, "FORBIDDEN");
    reader.send("DELETE", &note, None).refused(403, "FORBIDDEN");
    assert_eq!(bodies(&client, &person), ["One"]);
}

#[apply(each_engine)]
fn a_repeated_request_writes_one_note(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let once = client.with("idempotency-key", "note-1");
    let first = once.post(&path_of(&person), &json!({ "body": "One" })).expect(201);
    let second = once.post(&path_of(&person), &json!({ "body": "One" })).expect(201);
    assert_eq!((second.header("idempotency-replayed"), &second.text), (Some("true"), &first.text));
    let once = client.with("idempotency-key", "note-2");
    let path = format!("{}/{}", path_of(&person), first.id());
    once.send("DELETE", &path, None).expect(200);
    assert_eq!(
        once.send("DELETE", &path, None).expect(200).header("idempotency-replayed"),
        Some("true")
    );
    assert_eq!(bodies(&client, &person), Vec::<String>::new());
}
