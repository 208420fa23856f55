//! Persons who are likely the same one.

use serde_json::{Value, json};

use crate::support::{Client, Reply, Workspace, apply, each_engine, shape, strings};

const PATH: &str = "/v1/persons/duplicates";

fn duplicates(client: &Client) -> Reply {
    client.get(PATH).expect(200)
}

fn kinds(pair: &Value) -> Vec<String> {
    strings(&pair["reasons"], "kind")
}

/// The ids of each pair.
fn pairs(reply: &Reply) -> Vec<Vec<String>> {
    reply.entries().iter().map(|pair| strings(&pair["persons"], "id")).collect()
}

fn with_phone(client: &Client, name: &str, phone: &str) -> String {
    client.new_person(&json!({ "name": name, "mobile_phone": phone }))
}

#[apply(each_engine)]
fn nobody_is_a_duplicate_of_nobody(workspace: &Workspace) {
    let client = workspace.client("read");
    assert_eq!(
        duplicates(&client).json,
        json!({ "success": true, "data": [], "meta": { "limit": 100, "next_cursor": null } })
    );
    let writer = workspace.writer();
    with_phone(&writer, "Ada", "+44 20 7946 0000");
    with_phone(&writer, "Grace", "+44 20 7946 0001");
    assert_eq!(pairs(&duplicates(&client)), Vec::<Vec<String>>::new());
}

#[apply(each_engine)]
fn a_pair_is_shown_with_its_reasons(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({
        "name": "Ada Lovelace", "company_name": "Engines", "current_job_title": "Analyst",
        "emails": ["ada@x.example"],
        "mobile_phone": "+44 20 7946 0000", "social_url": "https://social.example/in/ada",
    }));
    with_phone(&client, "A. L.", "442079460000");
    insta::assert_snapshot!(shape(&duplicates(&client)), @r#"
    {
      "success": true,
      "data": [
        {
          "persons": [
            {
              "id": "per_1",
              "name": "Ada Lovelace",
              "social_public_id": "ada",
              "current_job_title": "Analyst",
              "current_company_name": "Engines",
              "current_company_id": "cmp_1",
              "emails": [
                {
                  "contact_data_type": "work",
                  "value": "ada@x.example"
                }
              ],
              "phones": [
                {
                  "contact_data_type": "mobile",
                  "value": "+44 20 7946 0000"
                }
              ]
            },
            {
              "id": "per_2",
              "name": "A. L.",
              "social_public_id": "",
              "current_job_title": "",
              "current_company_name": "",
              "current_company_id": "",
              "emails": [],
              "phones": [
                {
                  "contact_data_type": "mobile",
                  "value": "442079460000"
                }
              ]
            }
          ],
          "reasons": [
            {
              "kind": "same_phone",
              "value": "+44 20 7946 0000"
            }
          ]
        }
      ],
      "meta": {
        "limit": 100,
        "next_cursor": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn the_same_phone_number_makes_a_pair(workspace: &Workspace) {
    let client = workspace.writer();
    let pair = [
        with_phone(&client, "Ada", "+44 20 7946 0000"),
        with_phone(&client, "Grace", "(44) 20 7946-0000"),
    ];
    with_phone(&client, "Mary", "555");
    with_phone(&client, "Hedy", "5-5-5");
    let reply = duplicates(&client);
    assert_eq!(pairs(&reply), [pair]);
    assert_eq!(
        reply.entries()[0]["reasons"],
        json!([{ "kind": "same_phone", "value": "+44 20 7946 0000" }])
    );
}

#[apply(each_engine)]
fn the_same_name_makes_a_pair_within_a_company(workspace: &Workspace) {
    let client = workspace.writer();
    let at = |name: &str, company: &str| {
        client.new_person(&json!({ "name": name, "company_name": company }))
    };
    let pair = [at("Ada Lovelace", "Engines"), at("ADA  lovelace", "engines")];
    at("Ada Lovelace", "Acme");
    at("Grace Hopper", "Engines");
    client.new_person(&json!({ "name": "Ada Lovelace" }));
    let reply = duplicates(&client);
    assert_eq!(pairs(&reply), [pair]);
    assert_eq!(
        reply.entries()[0]["reasons"],
        json!([{ "kind": "same_name_and_company", "value": "Engines" }])
    );
}

#[apply(each_engine)]
fn a_handle_makes_a_pair_with_a_similar_name(workspace: &Workspace) {
    let client = workspace.writer();
    let first = client.new_person(
        &json!({ "name": "José Núñez", "social_url": "https://social.example/in/jose-n" }),
    );
    let second =
        client.new_person(&json!({ "name": "Jose Nunez", "emails": ["Jose-N@x.example"] }));
    client.new_person(&json!({ "name": "Grace Hopper", "emails": ["jose-n@y.example"] }));
    let reply = duplicates(&client);
    assert_eq!(pairs(&reply), [[first, second]]);
    assert_eq!(
        reply.entries()[0]["reasons"],
        json!([{ "kind": "similar_name_and_handle", "value": "jose-n" }])
    );
}

#[apply(each_engine)]
fn a_pair_may_have_several_reasons(workspace: &Workspace) {
    let client = workspace.writer();
    for domain in ["x", "y"] {
        let emails = [format!("ada@{domain}.example")];
        let body = json!({ "name": "Ada", "company_name": "Engines", "emails": emails,
            "phone_numbers": ["555 123 456", "555 123 457"] });
        client.new_person(&body);
    }
    let reply = duplicates(&client);
    assert_eq!(
        kinds(&reply.entries()[0]),
        ["same_phone", "same_phone", "same_name_and_company", "similar_name_and_handle"]
    );
    assert_eq!(reply.entries().len(), 1);
}

#[apply(each_engine)]
fn three_alike_are_three_pairs(workspace: &Workspace) {
    let client = workspace.writer();
    let [one, two, three] =
        ["One", "Two", "Three"].map(|name| with_phone(&client, name, "555 123 456"));
    let expected = [[one.clone(), two.clone()], [one, three.clone()], [two, three]];
    assert_eq!(pairs(&duplicates(&client)), expected);
}

#[apply(each_engine)]
fn a_change_makes_and_ends_a_pair(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two) =
        (with_phone(&client, "Ada", "555 123 456"), with_phone(&client, "Grace", "555 123 457"));
    client.update_person(&two, &json!({ "mobile_phone": "555123456" }));
    assert_eq!(pairs(&duplicates(&client)), [[one.clone(), two]]);
    client.update_person(&one, &json!({ "phone_numbers": [] }));
    assert!(pairs(&duplicates(&client)).is_empty());
}

#[apply(each_engine)]
fn names_and_handles_are_those_of_now(workspace: &Workspace) {
    let client = workspace.writer();
    let at = |name: &str, company: &str| {
        client.new_person(&json!({ "name": name, "company_name": company }))
    };
    let (ada, grace) = (at("Ada Lovelace", "Engines"), at("Grace Hopper", "Engines"));
    client.update_person(&grace, &json!({ "name": "ada lovelace" }));
    assert_eq!(pairs(&duplicates(&client)), [[ada, grace.clone()]]);
    client.update_person(&grace, &json!({ "company_name": "Acme" }));
    assert!(pairs(&duplicates(&client)).is_empty());
    let with = |name: &str, address: &str| {
        client.new_person(&json!({ "name": name, "emails": [address] }))
    };
    let (jose, other) = (with("José Núñez", "jn@x.example"), with("Jose Nunez", "jnn@y.example"));
    client.update_person(&other, &json!({ "emails": [{ "value": "JN@y.example" }] }));
    assert_eq!(pairs(&duplicates(&client)), [[jose, other.clone()]]);
    client.update_person(&other, &json!({ "emails": [{ "value": "j@y.example" }] }));
    assert!(pairs(&duplicates(&client)).is_empty());
}

#[apply(each_engine)]
fn a_person_with_one_handle_twice_counts_once(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..20 {
        let addresses = [format!("ada@a{number}.example"), format!("ada@b{number}.example")];
        client.new_person(&json!({ "name": "Ada Lovelace", "emails": addresses }));
    }
    assert!(!pairs(&duplicates(&client)).is_empty());
    client.new_person(&json!({ "name": "Ada Lovelace", "emails": ["ada@c.example"] }));
    assert!(pairs(&duplicates(&client)).is_empty());
}

#[apply(each_engine)]
fn a_merge_ends_a_pair(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two) =
        (with_phone(&client, "Ada", "555 123 456"), with_phone(&client, "Grace", "555 123 456"));
    client.post(&format!("/v1/persons/{one}/merge"), &json!({ "person_id": two })).expect(200);
    assert!(pairs(&duplicates(&client)).is_empty());
}

#[apply(each_engine)]
fn what_very_many_share_says_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..21 {
        with_phone(&client, &format!("Person {number}"), "555 123 456");
    }
    // Two of them are compared for what else they share, which says nothing either.
    for (name, address) in [("Ada Lovelace", "info@a.example"), ("Grace Hopper", "info@b.example")]
    {
        client.new_person(
            &json!({ "name": name, "mobile_phone": "555 123 456", "emails": [address] }),
        );
    }
    assert!(pairs(&duplicates(&client)).is_empty());
}

#[apply(each_engine)]
fn pairs_come_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..5 {
        with_phone(&client, &format!("Person {number}"), "555 123 456");
    }
    for number in 0..3 {
        for name in ["Left", "Right"] {
            with_phone(&client, name, &format!("555 000 00{number}"));
        }
    }
    let all = pairs(&duplicates(&client));
    assert_eq!(all.len(), 13);
    assert!(all.is_sorted(), "{all:?}");
    for limit in [1, 4, 13, 14] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&format!("{PATH}?limit={limit}&cursor={cursor}")).expect(200);
            assert_eq!(page.json["meta"]["limit"], limit);
            assert!(page.entries().len() <= limit);
            found.extend(pairs(&page));
            let Some(next) = page.json["meta"]["next_cursor"].as_str() else { break };
            cursor = next.to_owned();
        }
        assert_eq!(found, all, "{limit}");
    }
}

#[apply(each_engine)]
fn workspaces_have_no_pairs_in_common(workspace: &Workspace) {
    let (ours, theirs) = (workspace.writer(), workspace.client_of("another", "write"));
    with_phone(&ours, "Ada", "555 123 456");
    with_phone(&theirs, "Ada", "555 123 456");
    assert!(pairs(&duplicates(&ours)).is_empty() && pairs(&duplicates(&theirs)).is_empty());
}

#[apply(each_engine)]
fn bad_parameters_are_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    for (parameter, field) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=all", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=job_00000000000000000000000000", "cursor"),
        ("cursor=per_00000000000000000000000000.x", "cursor"),
        ("offset=0", "offset"),
    ] {
        let reply = client.get(&format!("{PATH}?{parameter}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{parameter}");
    }
    client.get(&format!("{PATH}?cursor=")).expect(200);
    client.get(&format!("{PATH}?cursor=per_00000000000000000000000000")).expect(200);
}
