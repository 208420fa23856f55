//! What a caller is told of itself.

use serde_json::json;

use crate::support::{App, Engine, apply, each_engine, shape};

#[apply(each_engine)]
fn who_calls(app: &App) {
    let client = app.client("read");
    let reply = client.get("/v1/me").expect(200);
    let workspace = reply.data()["workspace"]["id"].as_str().unwrap();
    assert_eq!(&app.key("main", "read")["slated_".len()..][..13], workspace);
    let mut without = client.get("/v1/me").expect(200);
    without.json["data"]["workspace"]["id"] = json!("<workspace>");
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
          "name": "main"
        },
        "rate_limit": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn every_scope_may_ask(app: &App) {
    let workspaces: Vec<_> = ["read", "write", "admin"]
        .map(|scope| {
            let reply = app.client(scope).get("/v1/me").expect(200);
            assert_eq!(reply.data()["key"]["scope"], scope);
            reply.data()["workspace"].clone()
        })
        .into();
    assert!(workspaces.iter().all(|workspace| *workspace == workspaces[0]), "{workspaces:?}");
    let elsewhere = app.client_of("elsewhere", "read").get("/v1/me").expect(200);
    assert_eq!(elsewhere.data()["workspace"]["name"], "elsewhere");
    assert_ne!(elsewhere.data()["workspace"]["id"], workspaces[0]["id"]);
    app.anonymous().get("/v1/me").refused(401, "UNAUTHENTICATED");
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
fn it_takes_no_parameters(app: &App) {
    let reply = app.client("read").get("/v1/me?verbose=true").refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields(), ["verbose"]);
}
