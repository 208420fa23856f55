//! Calls to webhooks: what they carry, in which order they come, and what their owner sees of them
//! and can do about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Action, Call, Engine, Hook, Receiver, SOON, Workspace, apply, calling_workspace, each_engine,
    eventually, hooked, is_time, sequences, strings,
};

fn new_person(workspace: &Workspace, name: &str) -> String {
    workspace.writer().new_person(&json!({ "name": name }))
}

fn kinds(calls: &[Call]) -> Vec<String> {
    let mut kinds: Vec<_> = calls.iter().map(Call::kind).collect();
    kinds.sort();
    kinds
}

#[apply(each_engine)]
fn a_call_is_the_event_of_the_feed(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    let hook = Hook::new(&workspace, &receiver.at("/in?token=a%20b"));
    new_person(&workspace, "Žofie \"Zo\" 🦀");
    let call = &receiver.wait_for(1)[0];
    let feed = hook.client.get("/v1/events?types=person.created").expect(200);
    assert_eq!(feed.entries(), [call.event()]);
    assert!(feed.text.contains(call.text()), "{feed:#?}\n{call:#?}");
    assert_eq!([call.method.as_str(), &call.path], ["POST", "/in?token=a%20b"]);
    assert_eq!(call.id(), feed.entries()[0]["id"].as_str().unwrap());
    assert_eq!(call.header("content-type"), "application/json");
    assert!(call.header("user-agent").starts_with("slated/"), "{call:#?}");
}

#[apply(each_engine)]
fn a_call_is_signed_as_standard_webhooks_says(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let other = Hook::new(&workspace, &receiver.at("/other"));
    new_person(&workspace, "Ada");
    for call in receiver.wait_for(2) {
        let (own, foreign) = if call.path == "/other" { (&other, &hook) } else { (&hook, &other) };
        assert_eq!(call.signatures().len(), 1);
        assert!(
            call.is_signed_with(&own.secret) && !call.is_signed_with(&foreign.secret),
            "{call:#?}"
        );
        let mut changed = call.clone();
        changed.body.push(b' ');
        assert!(!changed.is_signed_with(&own.secret));
    }
}

#[apply(each_engine)]
fn a_webhook_is_told_what_comes_after_it(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    new_person(&workspace, "Ada");
    let hook = Hook::new(&workspace, &receiver.url());
    let grace = new_person(&workspace, "Grace");
    hook.wait_delivered(1);
    assert_eq!(receiver.calls().iter().map(Call::record).collect::<Vec<_>>(), [grace]);
}

#[apply(each_engine)]
fn its_own_creation_is_the_first_that_a_webhook_is_told(engine: &Engine) {
    let workspace = calling_workspace(*engine, SOON);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    new_person(&workspace, "Somebody");
                }
            });
        }
        for _ in 0..6 {
            let receiver = Receiver::start();
            let hook = Hook::of_types(&workspace, &receiver.url(), &["*"]);
            let calls = receiver.wait_until("its own creation and more", |calls| {
                calls.len() > 20 && calls.iter().any(|call| call.record() == hook.id)
            });
            let own = calls
                .iter()
                .find(|call| call.record() == hook.id)
                .map(|call| (call.kind(), call.sequence()));
            let first = calls.iter().map(Call::sequence).min();
            assert_eq!(own, first.map(|first| ("webhook.created".to_owned(), first)));
            hook.client.send("DELETE", &hook.path(""), None).expect(200);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[apply(each_engine)]
fn only_events_of_its_types_come(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    let hook = Hook::of_types(&workspace, &receiver.url(), &["candidate.*", "job.created"]);
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    client.patch(&job.path(), &json!({ "name": "Pilot" })).expect(200);
    client
        .patch(
            &format!("/v1/candidates/{}", candidate["id"].as_str().unwrap()),
            &json!({ "stage_name": "Offer" }),
        )
        .expect(200);
    hook.wait_delivered(3);
    assert_eq!(kinds(&receiver.calls()), ["candidate.created", "candidate.moved", "job.created"]);
    assert_eq!(hook.deliveries("").len(), 3);
}

#[apply(each_engine)]
fn everything_comes_if_no_types_are_named(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    workspace.client("admin").post("/v1/webhooks", &json!({ "url": receiver.url() })).expect(201);
    let job = workspace.writer().new_job("Engineer", "Acme");
    workspace.writer().new_candidate(&job, "Ada");
    let wanted = ["candidate.created", "company.created", "job.created", "person.created"];
    receiver.wait_until("all kinds of records", |calls| {
        wanted.iter().all(|kind| kinds(calls).iter().any(|known| known == kind))
    });
}

#[apply(each_engine)]
fn a_failed_call_is_made_again_under_the_same_id(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    receiver.answer_first([
        Action::status(500),
        Action::Reset,
        Action::status(404),
        Action::status(302),
    ]);
    new_person(&workspace, "Ada");
    let calls = receiver.wait_for(5);
    for call in &calls {
        assert_eq!((call.id(), call.text()), (calls[0].id(), calls[0].text()));
        assert!(call.is_signed_with(&hook.secret), "{call:#?}");
    }
    hook.wait_delivered(1);
    assert_eq!(hook.deliveries("")[0]["attempt_count"], 5);
}

#[apply(each_engine)]
fn a_receiver_says_when_to_come_again(engine: &Engine) {
    let (workspace, receiver, _hook) = hooked(*engine, SOON);
    let headers = vec![("retry-after", "2".to_owned())];
    receiver.answer_first([Action::Answer { status: 503, headers, body: String::new() }]);
    new_person(&workspace, "Ada");
    let calls = receiver.wait_for(2);
    let waited = calls[1].at - calls[0].at;
    assert!(waited >= Duration::from_millis(1900), "it came after {waited:?}");
}

#[apply(each_engine)]
fn a_failed_call_holds_back_its_own_record_only(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "1s");
    hook.change(&json!({ "is_enabled": false }));
    let ada = new_person(&workspace, "Ada");
    workspace.writer().update_person(&ada, &json!({ "current_job_title": "Countess" }));
    let grace = new_person(&workspace, "Grace");
    let (first, has_failed) = (ada.clone(), AtomicBool::new(false));
    receiver.behave(move |call| {
        let fails = call.record() == first && !has_failed.swap(true, Ordering::Relaxed);
        Action::status(if fails { 500 } else { 200 })
    });
    hook.change(&json!({ "is_enabled": true }));
    let calls = receiver.wait_for(4);
    let of = |record: &str| calls.iter().filter(|call| call.record() == record).collect::<Vec<_>>();
    let (ada, grace) = (of(&ada), of(&grace));
    assert_eq!(
        ada.iter().map(|call| call.kind()).collect::<Vec<_>>(),
        ["person.created", "person.created", "person.updated"]
    );
    assert!(grace[0].at < ada[1].at);
}

/// Invariant 8.
#[apply(each_engine)]
fn events_of_a_person_and_their_candidates_come_in_order(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    hook.wait_delivered(2);
    let answers = (0..24).map(|number| Action::status(if number % 3 == 0 { 503 } else { 200 }));
    receiver.answer_first(answers.collect::<Vec<_>>());
    let candidate = client.new_candidate(&job, "Ada");
    let [path, person] = [&candidate["id"], &candidate["person_id"]].map(|id| id.as_str().unwrap());
    for stage in ["Contacted", "Interview", "Offer", "Hired"] {
        client
            .patch(&format!("/v1/candidates/{path}"), &json!({ "stage_name": stage }))
            .expect(200);
        client.update_person(person, &json!({ "current_job_title": stage }));
    }
    hook.wait_delivered(12);
    let come: Vec<_> = receiver.calls()[2..].iter().map(Call::sequence).collect();
    assert!(come.is_sorted(), "{come:?}");
    assert!(come.len() > 10, "some came twice: {come:?}");
}

/// Invariant 8.
#[apply(each_engine)]
fn a_candidate_that_changed_hands_is_told_of_in_order(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "1s");
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let [candidate, gone] =
        [&candidate["id"], &candidate["person_id"]].map(|id| id.as_str().unwrap().to_owned());
    let stays = new_person(&workspace, "Ada Lovelace");
    hook.wait_delivered(5);
    let move_to = |stage: &str| {
        drop(
            client
                .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": stage }))
                .expect(200),
        )
    };
    let (record, has_failed) = (candidate.clone(), AtomicBool::new(false));
    receiver.behave(move |call| {
        let fails = call.record() == record && !has_failed.swap(true, Ordering::Relaxed);
        Action::status(if fails { 500 } else { 200 })
    });
    move_to("Contacted");
    receiver.wait_for(6);
    client.post(&format!("/v1/persons/{stays}/merge"), &json!({ "person_id": gone })).expect(200);
    move_to("Interview");
    // Somebody else's events need not wait.
    new_person(&workspace, "Grace");
    eventually("both moves are in the feed", || hook.events("candidate.moved").len() == 2);
    let told = hook.events("candidate.moved");
    let calls = receiver.wait_until("the last move", |calls| {
        calls.iter().any(|call| call.sequence() == told[1]["sequence"])
    });
    let come: Vec<_> =
        calls.iter().filter(|call| call.kind() == "candidate.moved").map(Call::sequence).collect();
    assert_eq!(come, [0, 0, 1].map(|number: usize| told[number]["sequence"].as_u64().unwrap()));
}

#[apply(each_engine)]
fn an_erased_person_who_had_been_merged_is_told_of_in_order(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, "1s");
    let client = workspace.writer();
    let candidate = client.new_candidate(&client.new_job("Engineer", "Acme"), "Ada");
    let [candidate, gone] =
        [&candidate["id"], &candidate["person_id"]].map(|id| id.as_str().unwrap().to_owned());
    let stays = new_person(&workspace, "Ada Lovelace");
    hook.wait_delivered(5);
    let (record, has_failed) = (candidate.clone(), AtomicBool::new(false));
    receiver.behave(move |call| {
        let fails = call.record() == record && !has_failed.swap(true, Ordering::Relaxed);
        Action::status(if fails { 500 } else { 200 })
    });
    let path = format!("/v1/candidates/{candidate}");
    client.patch(&path, &json!({ "stage_name": "Contacted" })).expect(200);
    receiver.wait_for(6);
    client.post(&format!("/v1/persons/{stays}/merge"), &json!({ "person_id": gone })).expect(200);
    client.patch(&path, &json!({ "stage_name": "Interview" })).expect(200);
    client.send("DELETE", &format!("/v1/persons/{stays}"), None).expect(200);
    new_person(&workspace, "Grace");
    let calls = receiver
        .wait_until("the erasure", |calls| calls.iter().any(|call| call.kind() == "person.erased"));
    let come: Vec<_> = calls[5..]
        .iter()
        .filter(|call| [&candidate, &stays].contains(&&call.record()))
        .map(Call::sequence)
        .collect();
    assert!(come.is_sorted() && come.len() >= 5, "{come:?}");
}

#[apply(each_engine)]
fn what_was_told_to_wait_waits_although_the_receiver_recovers(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    hook.change(&json!({ "is_enabled": false }));
    let [ada, grace] = ["Ada", "Grace"].map(|name| new_person(&workspace, name));
    // So that they are told in one turn: what fails alone says that nothing gets through.
    eventually("both are in the feed", || hook.events("person.created").len() == 2);
    let (is_well, ada_was_told) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    let (first, recovers) = (ada.clone(), Arc::clone(&is_well));
    receiver.behave(move |call| match call.record() {
        record if record == first && !ada_was_told.swap(true, Ordering::Relaxed) => {
            Action::busy(503, 3)
        }
        record if record == first || record == grace || recovers.load(Ordering::Relaxed) => {
            Action::ok()
        }
        _ => Action::status(500),
    });
    hook.change(&json!({ "is_enabled": true }));
    eventually("Grace is delivered", || !hook.deliveries("?status=delivered").is_empty());
    new_person(&workspace, "Mary");
    eventually("the webhook fails", || hook.read()["status"] != "active");
    is_well.store(true, Ordering::Relaxed);
    hook.wait_delivered(3);
    let calls = receiver.calls();
    let of_ada: Vec<_> = calls.iter().filter(|call| call.record() == ada).collect();
    let waited = of_ada[1].at - of_ada[0].at;
    assert!(of_ada.len() == 2 && waited >= Duration::from_millis(2900), "it came after {waited:?}");
}

#[apply(each_engine)]
fn both_secrets_sign_while_they_overlap(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let new =
        hook.post("/rotate", &json!({ "overlap_seconds": 3600 })).expect(200).string("secret");
    new_person(&workspace, "Ada");
    let call = &receiver.wait_for(1)[0];
    assert_eq!(call.signatures().len(), 2);
    assert!(call.is_signed_with(&hook.secret) && call.is_signed_with(&new), "{call:#?}");
}

#[apply(each_engine)]
fn without_overlap_the_new_secret_signs_alone(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let new = hook.post("/rotate", &json!({ "overlap_seconds": 0 })).expect(200).string("secret");
    new_person(&workspace, "Ada");
    let call = &receiver.wait_for(1)[0];
    assert_eq!(call.signatures().len(), 1);
    assert!(!call.is_signed_with(&hook.secret) && call.is_signed_with(&new), "{call:#?}");
}

#[apply(each_engine)]
fn an_overlap_ends(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let new = hook.post("/rotate", &json!({ "overlap_seconds": 1 })).expect(200).string("secret");
    eventually("calls have one signature", || {
        let before = receiver.calls().len();
        new_person(&workspace, "Somebody");
        let call = &receiver.wait_for(before + 1)[before];
        assert!(call.is_signed_with(&new), "{call:#?}");
        call.signatures().len() == 1
    });
}

#[apply(each_engine)]
fn attempts_are_listed(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let refusal =
        Action::Answer { status: 500, headers: Vec::new(), body: "no, thanks".to_owned() };
    receiver.answer_first([refusal, Action::Reset]);
    new_person(&workspace, "Ada");
    hook.wait_delivered(1);
    let call = &receiver.calls()[0];
    let listed = &hook.deliveries("")[0];
    let mut delivery = hook.delivery(&listed["sequence"]);
    let attempts = delivery.as_object_mut().unwrap().remove("attempts").unwrap();
    assert_eq!(&delivery, listed);
    let fields = [
        "sequence",
        "event_id",
        "event_type",
        "status",
        "attempt_count",
        "next_attempt_at",
        "created_at",
        "updated_at",
    ]
    .map(str::to_owned);
    assert!(listed.as_object().unwrap().keys().eq(&fields), "{listed:#}");
    assert_eq!(listed["sequence"], call.sequence());
    assert_eq!([&listed["event_id"], &listed["event_type"]], [call.id(), "person.created"]);
    assert_eq!(
        [&listed["status"], &listed["attempt_count"], &listed["next_attempt_at"]],
        [&json!("delivered"), &json!(3), &json!(null)]
    );
    let column = |field: &str| {
        attempts
            .as_array()
            .unwrap()
            .iter()
            .map(|attempt| attempt[field].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(column("status"), [json!(500), json!(null), json!(200)]);
    assert_eq!(column("answer"), ["no, thanks", "", ""]);
    assert!(column("error")[1] != "" && column("error")[2] == "", "{attempts:#}");
    assert!(
        column("at").iter().all(|at| is_time(at.as_str().unwrap()))
            && column("duration_ms").iter().all(Value::is_u64),
        "{attempts:#}"
    );
}

#[apply(each_engine)]
fn deliveries_are_listed_in_pages(engine: &Engine) {
    let (workspace, _receiver, hook) = hooked(*engine, SOON);
    (0..5).for_each(|number| drop(new_person(&workspace, &format!("Person {number}"))));
    hook.wait_delivered(5);
    let mut expected = sequences(&hook.events("person.created"));
    expected.reverse();
    let (mut seen, mut query) = (Vec::new(), String::new());
    for left in [3, 1, 0] {
        let page = hook.client.get(&hook.path(&format!("/deliveries?limit=2{query}"))).expect(200);
        seen.extend(sequences(page.entries()));
        let next = &page.json["meta"]["next_before"];
        assert_eq!(next.is_null(), left == 0, "{page:#?}");
        query = format!("&before={next}");
    }
    assert_eq!(seen, expected);
    for (query, count) in [("?status=delivered", 5), ("?status=pending", 0), ("?status=failed", 0)]
    {
        assert_eq!(hook.deliveries(query).len(), count, "{query}");
    }
    for query in ["status=nonsense", "limit=0", "before=x"] {
        hook.client
            .get(&hook.path(&format!("/deliveries?{query}")))
            .refused(400, "INVALID_REQUEST");
    }
}

#[apply(each_engine)]
fn a_delivery_is_sent_again(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    new_person(&workspace, "Ada");
    hook.wait_delivered(1);
    let path = |sequence: u64| hook.path(&format!("/deliveries/{sequence}/resend"));
    let sequence = receiver.calls()[0].sequence();
    let again = hook.client.send("POST", &path(sequence), None).expect(202);
    assert_eq!(
        (&again.data()["sequence"], again.string("status")),
        (&json!(sequence), "pending".to_owned())
    );
    let calls = receiver.wait_for(2);
    assert_eq!((calls[1].id(), calls[1].text()), (calls[0].id(), calls[0].text()));
    hook.wait_delivered(1);
    hook.client.send("POST", &path(sequence + 1000), None).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_range_is_replayed(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    (0..5).for_each(|number| drop(new_person(&workspace, &format!("Person {number}"))));
    hook.wait_delivered(5);
    let known = sequences(&hook.events("person.created"));
    let replayed =
        hook.post("/replay", &json!({ "after": known[1], "until": known[3] })).expect(202);
    assert_eq!(replayed.data(), &json!({ "count": 2 }));
    let mut again: Vec<_> = receiver.wait_for(7)[5..].iter().map(Call::sequence).collect();
    again.sort_unstable();
    assert_eq!(again, known[2..4]);
    assert_eq!(hook.post("/replay", &json!({ "after": known[0] })).expect(202).data()["count"], 4);
    receiver.wait_for(11);
}

#[apply(each_engine)]
fn a_replay_brings_what_was_before_the_webhook(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    let ada = new_person(&workspace, "Ada");
    let hook = Hook::new(&workspace, &receiver.url());
    eventually("Ada is in the feed", || hook.events("person.created").len() == 1);
    assert_eq!(hook.post("/replay", &json!({ "after": 0 })).expect(202).data()["count"], 1);
    assert_eq!(receiver.wait_for(1)[0].record(), ada);
}

#[apply(each_engine)]
fn a_test_event_comes_to_its_webhook_only(engine: &Engine) {
    let (workspace, receiver) = (calling_workspace(*engine, SOON), Receiver::start());
    let hook = Hook::of_types(&workspace, &receiver.at("/one"), &["job.*"]);
    let other = Hook::of_types(&workspace, &receiver.at("/other"), &["*"]);
    let tests = [
        hook.post("/test", &json!({})).expect(202),
        hook.client.send("POST", &hook.path("/test"), None).expect(202),
    ];
    hook.wait_delivered(2);
    let calls: Vec<_> =
        receiver.calls().into_iter().filter(|call| call.kind() == "webhook.test").collect();
    assert!(
        calls.iter().all(|call| call.path == "/one" && call.is_signed_with(&hook.secret)),
        "{calls:#?}"
    );
    for test in tests {
        assert_eq!(test.string("type"), "webhook.test");
        assert!(calls.iter().any(|call| call.id() == test.id()), "{calls:#?}");
    }
    // What comes after it has come, and it has not.
    let ada = new_person(&workspace, "Ada");
    receiver.wait_until("Ada at the other", |calls| calls.iter().any(|call| call.record() == ada));
    assert!(
        !strings(&json!(other.deliveries("")), "event_type").contains(&"webhook.test".to_owned())
    );
}

#[apply(each_engine)]
fn a_disabled_webhook_goes_on_where_it_stopped(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let witness = Receiver::start();
    let _other = Hook::new(&workspace, &witness.url());
    new_person(&workspace, "Ada");
    hook.wait_delivered(1);
    hook.change(&json!({ "is_enabled": false }));
    let missed = ["Grace", "Mary", "Joan"].map(|name| new_person(&workspace, name));
    witness.wait_for(4);
    assert_eq!((receiver.calls().len(), hook.read()["status"].as_str()), (1, Some("disabled")));
    hook.change(&json!({ "is_enabled": true }));
    let mut come: Vec<_> = receiver.wait_for(4)[1..].iter().map(Call::record).collect();
    come.sort();
    assert_eq!(come, missed);
    hook.wait_status("active");
}

#[apply(each_engine)]
fn a_deleted_webhook_gets_no_more(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    let witness = Receiver::start();
    let _other = Hook::new(&workspace, &witness.url());
    new_person(&workspace, "Ada");
    hook.wait_delivered(1);
    hook.client.send("DELETE", &hook.path(""), None).expect(200);
    new_person(&workspace, "Grace");
    witness.wait_for(2);
    assert_eq!(receiver.calls().len(), 1);
}

#[apply(each_engine)]
fn a_new_address_gets_what_the_old_one_did_not_take(engine: &Engine) {
    let (workspace, receiver, hook) = hooked(*engine, SOON);
    receiver.behave(|_| Action::status(410));
    let ada = new_person(&workspace, "Ada");
    receiver.wait_for(2);
    let other = Receiver::start();
    hook.change(&json!({ "url": other.url() }));
    assert_eq!(other.wait_for(1)[0].record(), ada);
    hook.wait_status("active");
}
