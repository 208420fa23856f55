//! What a caller is told of itself.

use serde_json::json;

use crate::support::{Engine, MAIN, Workspace, apply, each_engine, shape};

#[apply(each_engine)]
fn who_calls(workspace: &Workspace) {
    let client = workspace.client("read");
    let reply = client.get("/v1/me").expect(200);
    let id = reply.data()["workspace"]["id"].as_str().unwrap();
    assert_eq!(&workspace.key("read")["slated_".len()..][..13], id);
    assert_eq!(reply.data()["workspace"]["name"], workspace.name_of(MAIN));
    let mut without = client.get("/v1/me").expect(200);
    without.json["data"]["workspace"] = json!({ "id": "<workspace>", "name": "<name>" });
    insta::assert_snapshot!(shape(&without), @r#"
    {
      "success": true,
      "data": {
        "key": {
          "id": "key_1",
          "name": "main read",
          "scope": "read",
          "expires_at": null,
          "created_at": "<time>"
        },
        "workspace": {
          "id": "<workspace>",
          "name": "<name>"
        },
        "rate_limit": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn every_scope_may_ask(workspace: &Workspace) {
    let workspaces: Vec<_> = ["read", "write", "admin"]
        .map(|scope| {
            let reply = workspace.client(scope).get("/v1/me").expect(200);
            assert_eq!(reply.data()["key"]["scope"], scope);
            reply.data()["workspace"].clone()
        })
        .into();
    assert!(workspaces.iter().all(|other| *other == workspaces[0]), "{workspaces:?}");
    let elsewhere = workspace.client_of("elsewhere", "read").get("/v1/me").expect(200);
    assert_eq!(elsewhere.data()["workspace"]["name"], workspace.name_of("elsewhere"));
    assert_ne!(elsewhere.data()["workspace"]["id"], workspaces[0]["id"]);
    workspace.anonymous().get("/v1/me").refused(401, "UNAUTHENTICATED");
}

#[apply(each_engine)]
fn what_is_left_of_the_limit(engine: &Engine) {
    let app = engine.app().environment("SLATED_RATE_LIMIT", "6").start();
    let client = app.writer();
    for left in [5, 4] {
        let reply = client.get("/v1/me").expect(200);
        let limit = &reply.data()["rate_limit"];
        assert_eq!((&limit["limit"], &limit["remaining"]), (&json!(6), &json!(left)), "{reply:#?}");
        assert_eq!(limit["reset_seconds"].to_string(), reply.header("x-ratelimit-reset").unwrap());
    }
}

#[apply(each_engine)]
fn it_takes_no_parameters(workspace: &Workspace) {
    let reply = workspace.client("read").get("/v1/me?verbose=true").refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields(), ["verbose"]);
}
