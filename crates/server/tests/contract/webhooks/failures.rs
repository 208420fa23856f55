//! Endpoints that are away, hang, lie, redirect or never stop talking: they harm neither this
//! program nor each other.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Action, Call, Engine, Hook, NEVER, Receiver, SOON, Workspace, apply, calling_workspace,
    each_engine, eventually, hooked, is_time,
};

/// How long a call may take.
const TIME_OUT: Duration = Duration::from_secs(10);
/// What the error of an attempt says about an address that must not be called.
const REFUSED: &str = "a public address";

fn new_person(workspace: &Workspace, name: &str) -> String {
    workspace.writer().new_person(&json!({ "name": name }))
}

/// The first attempt at the first delivery, once it was made.
fn attempt(hook: &Hook) -> Value {
    let mut made = Value::Null;
    eventually("an attempt is listed", || {
        let Some(oldest) = hook.deliveries("").pop() else { return false };
        made = hook.delivery(&oldest["sequence"])["attempts"][0].clone();
        !made.is_null()
    });
    made
}

fn ids(calls: &[Call]) -> BTreeSet<String> {
    calls.iter().map(|call| call.id().to_owned()).collect()
}

#[apply(each_engine)]
fn a_webhook_shows_how_it_fares(engine: &Engine) {
    let workspace = calling_workspace(*engine, "1s");
    // No receiver gets this address by chance.
    let nobody = TcpListener::bind("127.0.0.3:0").unwrap().local_addr().unwrap();
    let hook = Hook::new(&workspace, &format!("http://{nobody}/"));
    new_person(&workspace, "Ada");
    hook.wait_status("failing");
    let failing = hook.read();
    assert!(failing["last_error"] != "" && failing["last_success_at"].is_null(), "{failing:#}");
    let failed = attempt(&hook);
    assert!(failed["error"] != "" && failed["status"].is_null(), "{failed:#}");
    let receiver = Receiver::start();
    hook.change(&json!({ "url": receiver.url() }));
    hook.wait_status("active");
    assert!(hook.read()["last_success_at"].as_str().is_some_and(is_time));
}

/// Invariant 7.
#[apply(each_engine)]
fn a_webhook_says_which_events_it_lost(engine: &Engine) {
    let app = engine
        .app()
        .environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
        .environment("SLATED_WEBHOOK_RETRY_DELAYS", "100ms")
        .argument("--event-retention=1s")
        .start();
    let nobody = TcpListener::bind("127.0.0.3:0").unwrap().local_addr().unwrap();
    let hook = Hook::new(&app, &format!("http://{nobody}/"));
    hook.change(&json!({ "types": ["person.*"] }));
    new_person(&app, "Ada");
    new_person(&app, "Grace");
    let says_so = |text: &str| {
        text.contains("events ") && text.contains(" were forgotten before they could be delivered")
    };
    eventually("the webhook misses them", || {
        hook.read()["last_error"].as_str().is_some_and(says_so)
    });
    app.process.log.wait_for("which they are", |line| {
        (line.contains("a webhook misses events") && says_so(line)).then_some(())
    });
    // There is nothing left to try it with, and what it lost is still said.
    hook.wait_status("active");
    assert!(hook.read()["last_error"].as_str().is_some_and(says_so), "{:#}", hook.read());
    let receiver = Receiver::start();
    hook.change(&json!({ "url": receiver.url() }));
    new_person(&app, "Mary");
    eventually("a success makes it whole", || hook.read()["last_error"] == "");
}

#[apply(each_engine)]
fn an_endpoint_that_fails_is_paused_and_goes_on_by_itself(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "20ms,50ms");
    receiver.behave(|_| Action::status(500));
    for name in ["Ada", "Grace", "Mary"] {
        let person = new_person(&workspace, name);
        workspace.writer().update_person(&person, &json!({ "current_job_title": "Analyst" }));
    }
    hook.wait_status("paused");
    eventually("the pause is in the feed", || hook.events("webhook.paused").len() == 1);
    let failed = receiver.calls().len();
    receiver.wait_for(failed + 3);
    assert!(hook.deliveries("?status=failed").is_empty());
    receiver.behave(|_| Action::ok());
    hook.wait_delivered(6);
    hook.wait_status("active");
    eventually("the end of the pause is in the feed", || hook.events("webhook.resumed").len() == 1);
    for event in [hook.events("webhook.paused"), hook.events("webhook.resumed")].concat() {
        assert_eq!(event["record_id"], hook.id.as_str());
    }
    let expected: BTreeSet<_> = hook
        .events("person.*")
        .iter()
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((expected.len(), ids(&receiver.calls())), (6, expected));
}

#[apply(each_engine)]
fn an_event_that_is_never_taken_is_given_up_and_those_behind_it_go_on(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "20ms,20ms");
    receiver.behave(|call| {
        Action::status(if call.event()["data"]["after"]["name"] == "Ada" { 500 } else { 200 })
    });
    let ada = new_person(&workspace, "Ada");
    workspace.writer().update_person(&ada, &json!({ "current_job_title": "Countess" }));
    eventually("it is given up", || {
        new_person(&workspace, "Somebody");
        !hook.deliveries("?status=failed").is_empty()
    });
    let of_ada = |calls: &[Call]| {
        calls.iter().filter(|call| call.record() == ada).map(Call::kind).collect::<Vec<_>>()
    };
    receiver.wait_until("what is behind it", |calls| {
        of_ada(calls).last().is_some_and(|kind| kind == "person.updated")
    });
    let failed = hook.deliveries("?status=failed");
    assert_eq!((failed.len(), &failed[0]["event_type"]), (1, &json!("person.created")));
    assert!(
        failed[0]["attempt_count"].as_u64() >= Some(3) && failed[0]["next_attempt_at"].is_null(),
        "{failed:#?}"
    );
}

#[apply(each_engine)]
fn a_bad_event_says_nothing_of_an_endpoint_that_takes_others(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "20ms,20ms,20ms,20ms,20ms,20ms,20ms");
    receiver.behave(|call| {
        Action::status(if call.event()["data"]["after"]["name"] == "Ada" { 400 } else { 200 })
    });
    hook.change(&json!({ "is_enabled": false }));
    new_person(&workspace, "Ada");
    new_person(&workspace, "Somebody");
    eventually("both are in the feed", || hook.events("person.created").len() == 2);
    // From here on nothing else comes.
    hook.change(&json!({ "is_enabled": true }));
    eventually("it is given up", || hook.deliveries("?status=failed").len() == 1);
    assert!(hook.events("webhook.paused").is_empty());
    assert_eq!(hook.read()["status"], "active");
}

#[apply(each_engine)]
fn an_endpoint_that_goes_away_behind_a_success_loses_nothing(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "20ms,20ms,20ms");
    receiver.behave(|call| match call.kind().as_str() {
        "person.created" => Action::Later(Duration::from_millis(20), Box::new(Action::ok())),
        _ => Action::status(503),
    });
    hook.change(&json!({ "is_enabled": false }));
    let ada = new_person(&workspace, "Ada");
    workspace.writer().update_person(&ada, &json!({ "current_job_title": "Countess" }));
    eventually("both are in the feed", || hook.events("person.*").len() == 2);
    // From here on nothing else comes.
    hook.change(&json!({ "is_enabled": true }));
    hook.wait_status("paused");
    assert!(hook.deliveries("?status=failed").is_empty());
    receiver.behave(|_| Action::ok());
    hook.wait_delivered(2);
}

#[apply(each_engine)]
fn hanging_and_dead_endpoints_do_not_delay_another(engine: &Engine) {
    const HANGING: usize = 20;
    let (workspace, receiver, _hook) = hooked(*engine, SOON);
    let nobody = TcpListener::bind("127.0.0.3:0").unwrap().local_addr().unwrap();
    let dead = Hook::new(&workspace, &format!("http://{nobody}/"));
    let hanging = Receiver::start();
    hanging.behave(|_| Action::Hang);
    for number in 0..HANGING {
        Hook::new(&workspace, &hanging.at(&format!("/{number}")));
    }
    new_person(&workspace, "Ada");
    hanging.wait_for(HANGING);
    (0..20).for_each(|number| drop(new_person(&workspace, &format!("Person {number}"))));
    receiver.wait_for(21);
    let hung = hanging.calls()[0].at.elapsed();
    assert!(hung < TIME_OUT, "they had to wait for one that hung for {hung:?}");
    dead.wait_status("paused");
}

#[apply(each_engine)]
fn nothing_secret_is_logged_of_calls(engine: &Engine) {
    let builder = engine
        .app()
        .environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
        .environment("SLATED_LOG", "trace");
    let mut app = builder
        .environment("SLATED_WEBHOOK_RETRY_DELAYS", SOON)
        .environment("SLATED_SECRET_KEY", "salt-of-the-operator")
        .start();
    let receiver = Receiver::start();
    let hook = Hook::new(&app, &receiver.at("/in?token=hush-hush"));
    receiver.answer_first([
        Action::status(500),
        Action::Reset,
        Action::Redirect(307, receiver.at("/in?token=hush-hush")),
    ]);
    new_person(&app, "Ada");
    hook.wait_delivered(1);
    let rotated = hook.post("/rotate", &json!({})).expect(200).string("secret");
    hook.post("/test", &json!({})).expect(202);
    hook.wait_delivered(2);
    let signatures: Vec<_> = receiver
        .calls()
        .iter()
        .flat_map(|call| call.signatures().into_iter().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    app.process.terminate();
    app.process.wait_exit();
    let log = app.process.log.to_end();
    for secret in [&hook.secret, &rotated, "hush-hush", "salt-of-the-operator"]
        .into_iter()
        .chain(signatures.iter().map(String::as_str))
    {
        assert!(
            !log.contains(secret.trim_start_matches("whsec_").trim_start_matches("v1,")),
            "{secret}"
        );
    }
    assert!(log.contains("a webhook call failed"), "the log says what happens");
}

#[apply(each_engine)]
fn a_permanent_or_temporary_redirect_is_followed(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, NEVER);
    let other = Receiver::start();
    for (number, (status, location)) in
        [(307, other.at("/new?a=b")), (308, other.at("/new?a=b"))].into_iter().enumerate()
    {
        receiver.behave(move |_| Action::Redirect(status, location.clone()));
        new_person(&workspace, "Ada");
        let (first, last) =
            (&receiver.wait_for(number + 1)[number], &other.wait_for(number + 1)[number]);
        assert_eq!([last.method.as_str(), &last.path], ["POST", "/new?a=b"]);
        assert_eq!((last.id(), last.text()), (first.id(), first.text()));
        assert!(last.is_signed_with(&hook.secret), "{last:#?}");
        hook.wait_delivered(number + 1);
    }
}

#[apply(each_engine)]
fn any_other_redirect_is_a_failure(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, NEVER), Receiver::start());
    let location = receiver.at("/new");
    receiver
        .behave(move |call| Action::Redirect(call.path[1..].parse().unwrap(), location.clone()));
    for status in [300, 301, 302, 303, 304] {
        let hook = Hook::new(&workspace, &receiver.at(&format!("/{status}")));
        new_person(&workspace, "Ada");
        assert_eq!(attempt(&hook)["status"], status);
        hook.wait_status("failing");
    }
    assert!(receiver.calls().iter().all(|call| call.path != "/new"));
}

#[apply(each_engine)]
fn three_redirects_are_followed_and_no_more(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, NEVER), Receiver::start());
    receiver.behave(|call| match call.path[1..].parse::<u32>().unwrap() {
        0 => Action::ok(),
        left => Action::Redirect(307, format!("/{}", left - 1)),
    });
    let (three, four) =
        (Hook::new(&workspace, &receiver.at("/3")), Hook::new(&workspace, &receiver.at("/14")));
    new_person(&workspace, "Ada");
    three.wait_delivered(1);
    let failed = attempt(&four);
    assert!(failed["error"] != "" || failed["status"] == 307, "{failed:#}");
    let mut paths: Vec<_> = receiver.calls().into_iter().map(|call| call.path).collect();
    paths.sort();
    assert_eq!(paths, ["/0", "/1", "/11", "/12", "/13", "/14", "/2", "/3"]);
}

#[apply(each_engine)]
fn a_redirect_to_a_forbidden_address_is_not_followed(engine: &Engine) {
    let builder = engine.app().environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.1/32");
    let app = builder.environment("SLATED_WEBHOOK_RETRY_DELAYS", NEVER).start();
    let (receiver, forbidden) = (Receiver::on("127.0.0.1"), Receiver::on("127.0.0.2"));
    let target = forbidden.url();
    receiver.behave(move |call| {
        Action::Redirect(
            307,
            if call.path == "/web" { target.clone() } else { "file:///etc/passwd".to_owned() },
        )
    });
    let [web, file] = ["/web", "/file"].map(|path| Hook::new(&app, &receiver.at(path)));
    new_person(&app, "Ada");
    let (web, file) = (attempt(&web), attempt(&file));
    assert!(web["error"].as_str().unwrap().contains(REFUSED), "{web:#}");
    assert_eq!(file["status"], 307, "{file:#}");
    assert_eq!(receiver.calls().len(), 2);
    assert!(forbidden.calls().is_empty());
}

#[apply(each_engine)]
fn a_name_of_a_forbidden_address_is_not_called(engine: &Engine) {
    let app = engine.app().environment("SLATED_WEBHOOK_RETRY_DELAYS", NEVER).start();
    let receiver = Receiver::on("127.0.0.1");
    let hook = Hook::new(&app, &format!("http://localhost:{}/", receiver.port()));
    new_person(&app, "Ada");
    let failed = attempt(&hook);
    assert!(
        failed["status"].is_null() && failed["error"].as_str().unwrap().contains(REFUSED),
        "{failed:#}"
    );
    assert!(receiver.calls().is_empty());
}

#[apply(each_engine)]
fn a_proxy_of_the_environment_is_not_used(engine: &Engine) {
    let (receiver, proxy) = (Receiver::start(), Receiver::start());
    let mut builder = engine.app().environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8");
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        builder = builder.environment(name, &proxy.at(""));
    }
    let app = builder.environment("NO_PROXY", "").environment("no_proxy", "").start();
    let hook = Hook::new(&app, &receiver.url());
    new_person(&app, "Ada");
    hook.wait_delivered(1);
    assert_eq!((receiver.calls().len(), proxy.calls().len()), (1, 0));
}

#[apply(each_engine)]
fn an_endless_answer_is_cut_off(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, NEVER);
    receiver.behave(|_| Action::Huge);
    new_person(&workspace, "Ada");
    let made = attempt(&hook);
    assert_eq!((&made["status"], &made["answer"]), (&json!(200), &json!("x".repeat(512))));
    // Most of it lies in buffers of the system.
    assert!(receiver.sent() < 32 * 1024 * 1024, "{} bytes", receiver.sent());
    hook.wait_delivered(1);
}

#[apply(each_engine)]
fn an_answer_may_be_slow_but_not_endlessly(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, NEVER), Receiver::start());
    receiver.behave(|call| {
        Action::Slow(Duration::from_secs(if call.path == "/slow" { 2 } else { 600 }))
    });
    let (slow, endless) = (
        Hook::new(&workspace, &receiver.at("/slow")),
        Hook::new(&workspace, &receiver.at("/endless")),
    );
    new_person(&workspace, "Ada");
    slow.wait_delivered(1);
    let failed = attempt(&endless);
    assert!(
        failed["error"] != ""
            && failed["duration_ms"].as_u64().is_some_and(|time| (9_000..30_000).contains(&time)),
        "{failed:#}"
    );
}
