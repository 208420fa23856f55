//! Reads beside each other, and beside writes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::support::{App, Workspace, apply, each_engine, together};

const THREADS: usize = 16;

/// Persons with candidates and without, jobs, what is not there and what is another's.
#[apply(each_engine)]
fn reads_at_one_instant_are_each_answered_with_their_own(app: &App) {
    let client = app.writer();
    let foreign = client.with_key(&app.key_of("other", "write"));
    let jobs = ["Smith", "Cook"].map(|name| client.new_job(name, "Acme"));
    let mut paths: Vec<_> = jobs.iter().map(|job| job.path()).collect();
    for number in 0..12 {
        let job = (number % 3 != 0).then(|| jobs[number % 2].id.as_str());
        let reply = client
            .post("/v1/persons", &json!({ "name": format!("Person {number}"), "job_id": job }))
            .expect(201);
        paths.push(format!("/v1/persons/{}", reply.id()));
        paths
            .extend(reply.data()["candidate_id"].as_str().map(|id| format!("/v1/candidates/{id}")));
        let theirs = foreign.new_person(&json!({ "name": format!("Another's {number}") }));
        paths.extend([theirs, format!("per_{number:026}")].map(|id| format!("/v1/persons/{id}")));
    }
    // Every path is read by both, so that those who are found by one are looked for by the other at
    // the same instant.
    let reads: Vec<_> = paths.iter().flat_map(|path| [(&client, path), (&foreign, path)]).collect();
    let read = |number: usize| {
        let (reader, path) = reads[number % reads.len()];
        let reply = reader.get(path);
        (reply.status, reply.json["data"].clone())
    };
    let alone: Vec<_> = (0..reads.len()).map(read).collect();
    let found =
        |first| alone.iter().skip(first).step_by(2).filter(|(status, _)| *status == 200).count();
    assert_eq!((found(0), found(1)), (paths.len() - 24, 12), "{alone:#?}");
    for _ in 0..5 {
        for (number, answer) in together(reads.len(), read).iter().enumerate() {
            assert_eq!(answer, &alone[number], "{}", reads[number].1);
        }
    }
}

#[apply(each_engine)]
fn whatever_is_read_by_many_at_one_instant_is_read_as_by_one(workspace: &Workspace) {
    let client = workspace.writer().with_key(&workspace.key("admin"));
    let job = client.new_job("Smith", "Acme");
    let made = client
        .post("/v1/persons", &json!({ "name": "Ada", "company_name": "Acme", "job_id": job.id }))
        .expect(201);
    let candidate = made.string("candidate_id");
    let person = client.get(&format!("/v1/persons/{}", made.id()));
    let first =
        |path: &str| client.get(path).expect(200).entries()[0]["id"].as_str().unwrap().to_owned();
    let webhook = client
        .post("/v1/webhooks", &json!({ "url": "https://receiver.example/slated" }))
        .expect(201);
    let paths = [
        "/readyz".to_owned(),
        "/v1/me".to_owned(),
        "/v1/keys".to_owned(),
        "/v1/job-statuses".to_owned(),
        "/v1/pipeline-templates".to_owned(),
        format!("/v1/pipeline-templates/{}", first("/v1/pipeline-templates")),
        format!("/v1/companies/{}", person.string("current_company_id")),
        format!("/v1/candidates/{candidate}/stage-times"),
        format!("/v1/webhooks/{}", webhook.id()),
    ];
    let missing = [
        format!("/v1/persons/{}/enrichment", made.id()),
        "/v1/enrichments/enr_00000000000000000000000000".to_owned(),
    ];
    for (path, status) in
        paths.iter().map(|path| (path, 200)).chain(missing.iter().map(|path| (path, 404)))
    {
        let answers = together(4 * THREADS, |_| client.get(path).status);
        assert!(answers.iter().all(|answer| *answer == status), "{path}: {answers:?}");
    }
    let read = |path: &String| without_clock(client.get(path).expect(200).json["data"].clone());
    let alone: Vec<_> = paths.iter().map(read).collect();
    for (number, answer) in
        together(4 * paths.len(), |number| read(&paths[number % paths.len()])).iter().enumerate()
    {
        assert_eq!(answer, &alone[number % paths.len()], "{}", paths[number % paths.len()]);
    }
}

/// Without what changes while it is read: the last use of a key, how long somebody has been in a
/// stage.
fn without_clock(mut data: Value) -> Value {
    match &mut data {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "last_used_at" && name != "seconds");
            fields.values_mut().for_each(|value| *value = without_clock(value.take()));
        }
        Value::Array(entries) => {
            entries.iter_mut().for_each(|entry| *entry = without_clock(entry.take()))
        }
        _ => {}
    }
    data
}

/// One changes a person step by step, and many read them in several ways: nobody sees less than
/// what was answered before they asked, or than what they saw.
/// Invariant 3.
#[apply(each_engine)]
fn what_was_written_is_read_by_all_and_never_undone(workspace: &Workspace) {
    const STEPS: u64 = 200;
    let client = workspace.writer();
    let job = client.new_job("Smith", "Acme");
    let made = client
        .post("/v1/persons", &json!({ "name": "Ada", "current_job_title": "0", "job_id": job.id }))
        .expect(201);
    let person = format!("/v1/persons/{}", made.id());
    let paths = [
        person.clone(),
        format!("/v1/candidates/{}", made.string("candidate_id")),
        job.candidates_path(),
    ];
    let (answered, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let write = || {
        let _over = AtTheEnd(&is_over);
        for step in 1..=STEPS {
            client.patch(&person, &json!({ "current_job_title": step.to_string() })).expect(200);
            answered.store(step, Ordering::SeqCst);
        }
    };
    let read = |number: usize| {
        let (path, mut seen) = (&paths[number % paths.len()], 0);
        while !is_over.load(Ordering::SeqCst) {
            let least = answered.load(Ordering::SeqCst).max(seen);
            seen = step_in(client.get(path).expect(200).data());
            assert!(seen >= least, "{path}: {seen} after {least}");
        }
        step_in(client.get(path).expect(200).data())
    };
    let last = together(1 + paths.len() * 2, |number| match number {
        0 => {
            write();
            STEPS
        }
        reader => read(reader),
    });
    assert!(last.iter().all(|step| *step == STEPS), "{last:?}");
}

/// The step that a person, a candidate or the first of a list shows.
fn step_in(data: &Value) -> u64 {
    let record = data.get(0).unwrap_or(data);
    record["current_job_title"].as_str().and_then(|title| title.parse().ok()).unwrap()
}

/// Says that something is over, also if it failed.
struct AtTheEnd<'f>(&'f AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
