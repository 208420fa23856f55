//! What a browser is shown: a page at the address itself, and the interface to read and to try.

use crate::support::{Workspace, apply, each_engine};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[apply(each_engine)]
fn a_browser_gets_a_page_and_a_program_the_document(workspace: &Workspace) {
    let page = workspace.anonymous().with("accept", BROWSER).get("/").expect(200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page:#?}");
    assert!(
        page.header("content-security-policy").unwrap().contains("default-src 'self'"),
        "{page:#?}"
    );
    for words in
        ["<title>slated</title>", "href=\"/docs/\"", "href=\"/openapi.json\"", "slated key create"]
    {
        assert!(page.text.contains(words), "no {words} in {}", page.text);
    }
    let document = workspace.anonymous().with("accept", "application/json").get("/");
    assert!(
        document.status == 303 && document.header("location") == Some("/openapi.json"),
        "{document:#?}"
    );
}

#[apply(each_engine)]
fn the_interface_can_be_searched_and_keeps_the_key(workspace: &Workspace) {
    let page = workspace.anonymous().get("/docs/").expect(200);
    assert!(page.text.contains("<title>slated: API reference</title>"), "{}", page.text);
    let settings = workspace.anonymous().get("/docs/swagger-initializer.js").expect(200).text;
    for setting in [
        "\"filter\": true",
        "\"persistAuthorization\": true",
        "\"docExpansion\": \"none\"",
        "/openapi.json",
    ] {
        assert!(settings.contains(setting), "no {setting} in {settings}");
    }
}
