//! Many callers at one instant.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    App, Log, MAIN, Reply, Workspace, apply, each_engine, eventually, strings, together,
};

const THREADS: usize = 16;

#[apply(each_engine)]
fn identical_creates_at_one_instant_make_one_person_and_one_candidate(workspace: &Workspace) {
    let client = workspace.writer();
    for (number, identifiers) in [
        json!({ "external_source_id": "crm-1" }),
        json!({ "social_url": "https://social.example/in/ada" }),
        json!({ "emails": ["ada@x.example"] }),
        json!({ "external_source_id": "crm-2", "social_url": "https://social.example/in/grace",
            "work_email": "grace@x.example" }),
    ]
    .into_iter()
    .enumerate()
    {
        let job = client.new_job(&format!("Job {number}"), "Acme");
        let mut body = identifiers;
        body["name"] = json!("Ada");
        body["company_name"] = json!(format!("Company {number}"));
        body["job_id"] = json!(job.id);
        let replies = together(THREADS, |_| client.post("/v1/persons", &body));
        assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1, "{replies:#?}");
        assert_eq!(
            replies.iter().filter(|reply| reply.status == 200).count(),
            THREADS - 1,
            "{replies:#?}"
        );
        let pairs: BTreeSet<_> =
            replies.iter().map(|reply| (reply.id(), reply.string("candidate_id"))).collect();
        assert_eq!(pairs.len(), 1, "{pairs:?}");
        assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
        assert_eq!(client.get(&job.candidates_path()).json["meta"]["total"], 1);
    }
}

/// New persons, persons who are there, wrong ones and such as only one may make, all at once, each
/// under a key of its own.
#[apply(each_engine)]
fn creates_at_one_instant_are_each_answered_for_themselves(app: &App) {
    const MANY: usize = 48;
    let known =
        app.writer().new_person(&json!({ "name": "Known", "work_email": "known@x.example" }));
    let clients: Vec<_> =
        (0..4).map(|_| app.writer().with_key(&app.new_key(MAIN, "write"))).collect();
    let mut log = Log::begin(&app.writer());
    let body = |number: usize| match number % 6 {
        0 => json!({ "name": format!("Known {number}"), "work_email": "known@x.example" }),
        1 => json!({ "name": "Wrong", "emails": ["x"] }),
        2 => json!({ "name": format!("Lost {number}"), "job_id": "job_no" }),
        3 => json!({ "name": format!("Twin {number}"), "work_email": "twin@x.example" }),
        _ => {
            json!({ "name": format!("New {number}"), "work_email": format!("{number}@x.example"),
                "company_name": format!("Company {}", number % 8) })
        }
    };
    let path = |number: usize| {
        if number % 6 == 3 { "/v1/persons?on_duplicate=error" } else { "/v1/persons" }
    };
    let replies = together(MANY, |number| clients[number % 4].post(path(number), &body(number)));
    let of = |kind: usize| (kind..MANY).step_by(6).map(|number| &replies[number]);
    of(0).for_each(|reply| assert_eq!((reply.status, reply.id()), (200, known.clone())));
    of(1).for_each(|reply| assert_eq!(reply.status, 400));
    of(2).for_each(|reply| assert_eq!(reply.status, 404));
    let mut twins: Vec<_> = of(3).map(|reply| reply.status).collect();
    twins.sort_unstable();
    assert_eq!(twins, [&[201][..], &[409; MANY / 6 - 1]].concat());
    let events = log.new_events();
    for number in (0..MANY).filter(|number| number % 6 > 3) {
        let reply = &replies[number];
        assert_eq!((reply.status, &reply.data()["name"]), (201, &json!(format!("New {number}"))));
        assert_eq!(
            app.writer().person(&reply.id())["emails"][0]["value"],
            format!("{number}@x.example")
        );
        let created = events
            .iter()
            .find(|event| event["type"] == "person.created" && event["record_id"] == reply.id())
            .unwrap();
        assert_eq!(created["request_id"], reply.header("x-request-id").unwrap());
    }
    let keys: BTreeSet<_> = events
        .iter()
        .filter(|event| event["type"] == "person.created")
        .map(|event| event["key_id"].to_string())
        .collect();
    assert_eq!(keys.len(), clients.len());
}

/// Changes of all kinds, wrong ones, and such as change nothing or are about the same person, all
/// at once.
#[apply(each_engine)]
fn updates_at_one_instant_are_each_answered_for_themselves(workspace: &Workspace) {
    const KINDS: usize = 12;
    const MANY: usize = 5 * KINDS;
    let client = workspace.writer();
    let other = client.new_person(&json!({ "name": "Other", "work_email": "other@x.example" }));
    client.new_job("Job", "Known Company");
    let persons: Vec<_> = (0..MANY)
        .map(|number| {
            let mut body = json!({ "name": format!("Person{number:02}"),
                "work_email": format!("{number}@x.example"), "notes": format!("note{number:02}") });
            if number % KINDS != 3 {
                body["company_name"] = json!("Old Company");
            }
            client.new_person(&body)
        })
        .collect();
    let (gone, shared) = (
        client.new_person(&json!({ "name": "Gone" })),
        client.new_person(&json!({ "name": "Shared" })),
    );
    client.post(&format!("/v1/persons/{other}/merge"), &json!({ "person_id": gone })).expect(200);
    let mut log = Log::begin(&client);
    let body = |number: usize| match number % KINDS {
        0 => json!({ "current_job_title": format!("Title{number:02}") }),
        1 => {
            json!({ "work_email": format!("new{number}@x.example"), "mobile_phone": format!("+44 \
                20 7946 {number:04}") })
        }
        2 => json!({ "company_name": "known company", "address": format!("Street{number:02}") }),
        3 => json!({ "company_name": format!("New Company {}", number / KINDS % 2) }),
        4 => json!({ "company_name": null, "first_name": format!("First{number:02}") }),
        5 => json!({ "emails": [{ "value": "other@x.example" }] }),
        6 => json!({ "emails": [{ "value": "x" }] }),
        7 => json!({ "name": format!("Person{number:02}"), "company_name": "OLD COMPANY" }),
        8 => json!({ "current_job_title": "Nowhere" }),
        9 => json!({ "current_job_title": format!("Merged{number:02}") }),
        10 => {
            json!({ "social_url": format!("https://social.example/in/person-{number}"),
                "emails": null })
        }
        _ => json!({ "social_headline": format!("Headline{number:02}") }),
    };
    let path = |number: usize| match number % KINDS {
        8 => "/v1/persons/per_01m1v0e8k7f3vs8xq2zr6c4ybd".to_owned(),
        9 => format!("/v1/persons/{gone}"),
        11 => format!("/v1/persons/{shared}"),
        _ => format!("/v1/persons/{}", persons[number]),
    };
    let replies = together(MANY, |number| client.patch(&path(number), &body(number)));
    let statuses = [200, 200, 200, 200, 200, 409, 400, 200, 404, 200, 200, 200];
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(reply.status, statuses[number % KINDS], "{number}: {reply:#?}");
    }
    let events = log.new_events();
    let found = |words: &str| -> Vec<String> {
        strings(&client.get(&format!("/v1/persons?q={words}")).json["data"], "name")
    };
    for number in 0..MANY {
        let person = client.person(&persons[number]);
        let name = format!("Person{number:02}");
        let told: Vec<_> =
            events.iter().filter(|event| event["record_id"] == persons[number]).collect();
        let after = match number % KINDS {
            0 => json!({ "current_job_title": format!("Title{number:02}") }),
            1 => {
                json!({ "emails": [{ "contact_data_type": "work",
                    "value": format!("new{number}@x.example") }] })
            }
            2 => {
                json!({ "current_company_name": "Known Company",
                    "address": format!("Street{number:02}") })
            }
            3 => json!({ "current_company_name": format!("New Company {}", number / KINDS % 2) }),
            4 => json!({ "first_name": format!("First{number:02}") }),
            10 => json!({ "social_url": format!("https://social.example/in/person-{number}") }),
            _ => {
                assert!(told.is_empty(), "{told:#?}");
                continue;
            }
        };
        assert_eq!(told.len(), 1, "{told:#?}");
        assert_eq!(told[0]["request_id"], replies[number].header("x-request-id").unwrap());
        for (field, value) in after.as_object().unwrap() {
            assert_eq!(told[0]["data"]["after"][field], *value, "{told:#?}");
            if let Some(shown) = person.get(field) {
                assert_eq!(shown, value, "{person:#}");
            }
        }
        let whole = format!("note{number:02}");
        assert_eq!(found(&whole).len(), 1);
        match number % KINDS {
            0 => assert_eq!(found(&format!("{name}%20title{number:02}%20old%20{whole}")), [name]),
            1 => {
                assert_eq!(strings(&person["emails"], "value"), [format!("new{number}@x.example")]);
                assert_eq!(
                    client
                        .post(
                            "/v1/persons",
                            &json!({ "name": "X", "work_email": format!("new{number}@x.example") })
                        )
                        .expect(200)
                        .id(),
                    persons[number]
                );
                client
                    .post(
                        "/v1/persons",
                        &json!({ "name": "X", "work_email": format!("{number}@x.example") }),
                    )
                    .expect(201);
            }
            2 => {
                assert_eq!(found(&format!("{name}%20known%20company%20street{number:02}")), [name])
            }
            3 => assert_eq!(found(&format!("{name}%20new%20company")), [name]),
            4 => assert!(found(&format!("{name}%20company")).is_empty()),
            _ => assert_eq!(strings(&person["emails"], "value"), Vec::<String>::new()),
        }
    }
    assert_eq!(events.iter().filter(|event| event["type"] == "company.created").count(), 2);
    for (id, field) in [(&other, "current_job_title"), (&shared, "social_headline")] {
        let told: Vec<_> = events
            .iter()
            .filter(|event| event["record_id"] == *id)
            .map(|event| &event["data"])
            .collect();
        assert_eq!((told.len(), &told[0]["before"][field]), (5, &json!("")));
        told.windows(2)
            .for_each(|pair| assert_eq!(pair[0]["after"][field], pair[1]["before"][field]));
        let profile = client.get(&format!("/v1/persons/{id}?include=profile")).expect(200);
        let last = told[4]["after"][field].as_str().unwrap();
        assert!(profile.json.to_string().contains(last), "{last}: {profile:#?}");
        assert_eq!(found(last).len(), 1);
    }
    assert_eq!(client.person(&other)["emails"][0]["value"], "other@x.example");
}

/// Invariant 10.
#[apply(each_engine)]
fn updates_that_want_the_same_identifier_give_it_to_one(workspace: &Workspace) {
    let client = workspace.writer();
    let persons: Vec<_> = (0..THREADS)
        .map(|number| client.new_person(&json!({ "name": format!("Person {number}") })))
        .collect();
    for round in 0..5 {
        let address = |number: usize| format!("{}@{round}.example", number % 4);
        let replies = together(THREADS, |number| {
            client.patch(
                &format!("/v1/persons/{}", persons[number]),
                &json!({ "emails": [{ "value": address(number) },
                    { "value": address(number + 1) }] }),
            )
        });
        for (number, reply) in replies.iter().enumerate() {
            let has: Vec<_> = strings(&client.person(&persons[number])["emails"], "value");
            match reply.status {
                200 => assert_eq!(has, [address(number), address(number + 1)]),
                _ => {
                    assert_eq!(
                        (reply.status, reply.error_code()),
                        (409, "IDENTIFIER_CONFLICT"),
                        "{reply:#?}"
                    );
                    assert!(
                        !has.contains(&address(number)) && !has.contains(&address(number + 1)),
                        "{has:?}"
                    );
                }
            }
        }
        for wanted in 0..4 {
            let holds = |id: &&String| {
                strings(&client.person(id)["emails"], "value").contains(&address(wanted))
            };
            let holders: Vec<_> = persons.iter().filter(holds).collect();
            assert!(holders.len() <= 1, "{holders:?} hold {}", address(wanted));
            if let [holder] = holders[..] {
                let found = client
                    .post("/v1/persons", &json!({ "name": "X", "emails": [address(wanted)] }))
                    .expect(200)
                    .id();
                assert_eq!(found, *holder);
            }
        }
        assert!(replies.iter().any(|reply| reply.status == 200));
    }
}

/// What happened to a person stands in the log in its order.
/// Invariant 5.
#[apply(each_engine)]
fn what_is_written_at_one_instant_is_numbered_without_gaps(app: &App) {
    let client = app.writer();
    let job = client.new_job("Job", "Acme");
    let mut log = Log::begin(&client);
    let first = log.position;
    let ids = together(THREADS, |number| {
        let mut ids = Vec::new();
        for round in 0..8 {
            let body = json!({ "name": format!("Person {number} {round}"),
                "work_email": format!("{number}.{round}@x.example") });
            let id = client.new_person(&body);
            client
                .patch(&format!("/v1/persons/{id}"), &json!({ "current_job_title": "One" }))
                .expect(200);
            if round % 2 == 0 {
                client.post(&job.candidates_path(), &json!({ "person_id": id })).expect(201);
            }
            client
                .patch(&format!("/v1/persons/{id}"), &json!({ "current_job_title": "Two" }))
                .expect(200);
            ids.push(id);
        }
        ids
    });
    let events = log.new_events();
    let sequences: Vec<_> =
        events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (first + 1..first + 1 + sequences.len() as u64).collect::<Vec<_>>());
    for id in ids.iter().flatten() {
        let told: Vec<_> = events.iter().filter(|event| event["record_id"] == *id).collect();
        let titles: Vec<_> =
            told.iter().map(|event| &event["data"]["after"]["current_job_title"]).collect();
        assert_eq!(titles, [&json!(""), &json!("One"), &json!("Two")], "{told:#?}");
        assert_eq!(told[0]["type"], "person.created");
    }
    let output = app.database.run(&["audit", "verify"]);
    assert!(output.status.success(), "{output:?}");
}

#[apply(each_engine)]
fn who_comes_to_a_company_while_it_is_renamed_is_found_by_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    for round in 0..6 {
        let person = |number: usize| format!("Person{round}x{number:02}");
        let company = client.new_job("Job", &format!("Acme{round}")).client_company;
        let ids: Vec<_> = (0..THREADS)
            .map(|number| client.new_person(&json!({ "name": person(number) })))
            .collect();
        let ids = together(2 * THREADS, |number| match number {
            0 => {
                client
                    .patch(
                        &format!("/v1/companies/{company}"),
                        &json!({ "name": format!("Beta{round}") }),
                    )
                    .expect(200);
                ids[0].clone()
            }
            1..THREADS => {
                client
                    .patch(
                        &format!("/v1/persons/{}", ids[number]),
                        &json!({ "company_name": format!("Acme{round}") }),
                    )
                    .expect(200);
                ids[number].clone()
            }
            _ => client.new_person(
                &json!({ "name": person(number), "company_name": format!("Acme{round}") }),
            ),
        });
        for (number, id) in ids.iter().enumerate().skip(1) {
            let employer = client.person(id)["current_company_name"].as_str().unwrap().to_owned();
            let found = |company: &str| {
                client
                    .get(&format!("/v1/persons?q={}%20{company}", person(number)))
                    .expect(200)
                    .entries()
                    .len()
            };
            eventually("who is there is found", || found(&employer) == 1);
            let other = if employer.starts_with("Acme") { "Beta" } else { "Acme" };
            assert_eq!(found(&format!("{other}{round}")), 0, "{employer}");
        }
    }
}

#[apply(each_engine)]
fn a_person_put_on_a_job_by_many_is_put_there_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let body = json!({ "person_id": client.new_person(&json!({ "name": "Ada" })) });
    let replies = together(THREADS, |_| client.post(&job.candidates_path(), &body));
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1, "{replies:#?}");
    let ids: BTreeSet<_> = replies.iter().map(|reply| reply.id()).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
}

/// New persons, and such as are there, are on the job, went into others, or are not there at all,
/// onto several jobs, all at once.
#[apply(each_engine)]
fn who_is_put_on_jobs_at_one_instant_is_on_each_once(workspace: &Workspace) {
    const KINDS: usize = 8;
    const MANY: usize = 6 * KINDS;
    let client = workspace.writer();
    let jobs = ["Engineer", "Clerk", "Driver"].map(|name| client.new_job(name, "Acme"));
    let job = |number: usize| &jobs[number / KINDS % jobs.len()];
    let persons: Vec<_> = (0..MANY)
        .map(|number| client.new_person(&json!({ "name": format!("Person {number}") })))
        .collect();
    let [shared, gone, stays] =
        ["Shared", "Gone", "Stays"].map(|name| client.new_person(&json!({ "name": name })));
    client.post(&format!("/v1/persons/{stays}/merge"), &json!({ "person_id": gone })).expect(200);
    let on_already: Vec<_> = (0..MANY)
        .map(|number| match number % KINDS {
            2 => client
                .post(&job(number).candidates_path(), &json!({ "person_id": persons[number] }))
                .expect(201)
                .id(),
            _ => String::new(),
        })
        .collect();
    let mut log = Log::begin(&client);
    let replies = together(MANY, |number| {
        let person = match number % KINDS {
            0 => {
                let body = json!({ "name": format!("New {number}"),
                    "work_email": format!("{number}@x.example"), "job_id": job(number).id });
                return client.post("/v1/persons", &body);
            }
            1 => {
                return client.post(
                    "/v1/persons",
                    &json!({ "name": "Lost", "job_id": "job_01m1v0e8k7a9t6r3p5n8w2x4cz" }),
                );
            }
            3 => "per_01m1v0e8k7f3vs8xq2zr6c4ybd",
            4 => &shared,
            5 => &gone,
            _ => &persons[number],
        };
        let path = if number % KINDS == 6 {
            "/v1/jobs/job_01m1v0e8k7a9t6r3p5n8w2x4cz/candidates".to_owned()
        } else {
            job(number).candidates_path()
        };
        client.post(&path, &json!({ "person_id": person }))
    });
    let events = log.new_events();
    let told = |id: &str| {
        events
            .iter()
            .filter(|event| event["type"] == "candidate.created" && event["record_id"] == *id)
            .collect::<Vec<_>>()
    };
    let mut expected = vec![BTreeSet::new(); jobs.len()];
    for (number, reply) in replies.iter().enumerate() {
        let (status, person) = match number % KINDS {
            0 => (201, reply.string("id")),
            2 => (200, persons[number].clone()),
            4 => (if told_by(&events, reply) { 201 } else { 200 }, shared.clone()),
            5 => (if told_by(&events, reply) { 201 } else { 200 }, stays.clone()),
            7 => (201, persons[number].clone()),
            _ => {
                assert_eq!(
                    (reply.status, reply.error_code()),
                    (404, "NOT_FOUND"),
                    "{number}: {reply:#?}"
                );
                continue;
            }
        };
        assert_eq!(reply.status, status, "{number}: {reply:#?}");
        let id = if number % KINDS == 0 { reply.string("candidate_id") } else { reply.id() };
        let candidate = client.candidate(&id);
        assert_eq!(
            (&candidate["person_id"], &candidate["job_id"]),
            (&json!(person), &json!(job(number).id))
        );
        if number % KINDS == 0 {
            assert!(told_by(&events, reply));
        } else {
            assert_eq!(reply.data(), &candidate);
        }
        match number % KINDS {
            2 => assert_eq!((&id, told(&id).len()), (&on_already[number], 0)),
            _ => assert_eq!(told(&id).len(), 1),
        }
        expected[number / KINDS % jobs.len()].insert(id);
    }
    for (job, expected) in jobs.iter().zip(expected) {
        let listed = client.get(&job.candidates_path()).expect(200);
        let ids = strings(listed.data(), "id");
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(client.get(&job.path()).data()["candidate_count"], expected.len());
        assert_eq!(
            (ids.len(), ids.into_iter().collect::<BTreeSet<_>>()),
            (expected.len(), expected)
        );
    }
}

/// Whether a candidate was made by the request that was answered so.
fn told_by(events: &[Value], reply: &Reply) -> bool {
    let request = json!(reply.header("x-request-id").unwrap());
    events
        .iter()
        .any(|event| event["type"] == "candidate.created" && event["request_id"] == request)
}

#[apply(each_engine)]
fn of_many_moves_from_one_stage_exactly_one_wins(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let stages =
        ["Contacted", "Screening", "Interview", "Final interview", "Offer", "Hired", "Rejected"];
    for round in 0..5 {
        let candidate = client.new_candidate(&job, &format!("Person {round}"));
        let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
        let replies = together(stages.len(), |number| {
            client.patch(
                &path,
                &json!({ "stage_name": stages[number], "from_stage_id": job.stage("Sourced") }),
            )
        });
        let (won, lost): (Vec<_>, Vec<_>) =
            replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "{won:#?}");
        let stage = won[0].string("current_pipeline_stage_name");
        for reply in lost {
            reply.refused(409, "STAGE_CONFLICT");
        }
        assert_eq!(
            strings(&client.get(&path).data()["pipeline_stage_history"], "stage_name"),
            ["Sourced", &stage]
        );
    }
}

#[apply(each_engine)]
fn moves_at_one_instant_leave_a_history_without_gaps(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    let stages = ["Contacted", "Screening", "Interview", "Offer"];
    together(THREADS, |number| {
        client.patch(&path, &json!({ "stage_name": stages[number % stages.len()] })).expect(200)
    });
    let data = client.get(&path).data().clone();
    let entered = strings(&data["pipeline_stage_history"], "stage_name");
    let dates = strings(&data["pipeline_stage_history"], "stage_date");
    assert!(entered.windows(2).all(|pair| pair[0] != pair[1]), "{entered:?}");
    assert!(dates.is_sorted(), "{dates:?}");
    assert_eq!(data["current_pipeline_stage_name"], entered.last().unwrap().as_str());
    assert_eq!(data["current_pipeline_stage_date"], dates.last().unwrap().as_str());
}

/// Moves of all kinds, wrong ones, and such as change nothing or are about the same candidate, all
/// at once.
#[apply(each_engine)]
fn moves_at_one_instant_are_each_answered_for_themselves(workspace: &Workspace) {
    const KINDS: usize = 10;
    const MANY: usize = 5 * KINDS;
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let short = client.new_job_with(&json!({ "name": "Clerk", "client_company_name": "Acme",
            "pipeline_stages": [{ "name": "Sourced" }, { "name": "Talk" }] }));
    let id_of = |candidate: &Value| candidate["id"].as_str().unwrap().to_owned();
    let candidates: Vec<_> = (0..MANY)
        .map(|number| {
            id_of(&client.new_candidate(
                if number % KINDS < 8 { &job } else { &short },
                &format!("Person {number}"),
            ))
        })
        .collect();
    let shared = id_of(&client.new_candidate(&job, "Shared"));
    let mut log = Log::begin(&client);
    let (sourced, offer) = (job.stage("Sourced"), job.stage("Offer"));
    let stages = ["Contacted", "Screening", "Interview", "Offer", "Hired"];
    let body = |number: usize| match number % KINDS {
        0 => json!({ "stage_name": "interview" }),
        1 => json!({ "stage_id": offer }),
        2 => json!({ "stage_name": "Sourced" }),
        3 => json!({ "stage_name": "Talk" }),
        4 => json!({ "stage_id": offer, "from_stage_id": job.stage("Hired") }),
        5 => json!({ "stage_id": offer, "from_stage_id": sourced }),
        6 => json!({ "stage_id": offer }),
        7 => json!({ "stage_name": stages[number / KINDS] }),
        8 => json!({ "stage_name": "Talk" }),
        _ => json!({ "stage_id": offer }),
    };
    let path = |number: usize| match number % KINDS {
        6 => "/v1/candidates/cnd_01m1v0e8k7ez4gy9v5n1tq8rja".to_owned(),
        7 => format!("/v1/candidates/{shared}"),
        _ => format!("/v1/candidates/{}", candidates[number]),
    };
    let replies = together(MANY, |number| client.patch(&path(number), &body(number)));
    let statuses = [200, 200, 200, 404, 409, 200, 404, 200, 200, 404];
    let events = log.new_events();
    let told = |id: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["record_id"] == *id).collect()
    };
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(reply.status, statuses[number % KINDS], "{number}: {reply:#?}");
        let id = &candidates[number];
        let entered = strings(&client.candidate(id)["pipeline_stage_history"], "stage_name");
        let target = match number % KINDS {
            0 => "Interview",
            1 | 5 => "Offer",
            8 => "Talk",
            _ => {
                assert_eq!((entered, told(id).len()), (vec!["Sourced".to_owned()], 0));
                continue;
            }
        };
        assert_eq!(entered, ["Sourced", target]);
        let now = client.get(&path(number)).expect(200);
        assert_eq!((reply.data(), reply.etag()), (now.data(), now.etag()));
        let [event] = told(id)[..] else { panic!("{number}: {:#?}", told(id)) };
        assert_eq!(
            (&event["type"], &event["request_id"]),
            (&json!("candidate.moved"), &json!(reply.header("x-request-id").unwrap()))
        );
        let stages = [&event["data"]["before"], &event["data"]["after"]]
            .map(|side| &side["current_pipeline_stage_name"]);
        assert_eq!(stages, ["Sourced", target]);
        assert_eq!(
            event["data"]["after"]["current_pipeline_stage_date"],
            now.data()["current_pipeline_stage_date"]
        );
    }
    assert!(
        (2..MANY)
            .step_by(KINDS)
            .all(|number| replies[number].data() == &client.candidate(&candidates[number]))
    );
    let entered = strings(&client.candidate(&shared)["pipeline_stage_history"], "stage_name");
    let moves: Vec<_> = told(&shared)
        .iter()
        .map(|event| event["data"]["after"]["current_pipeline_stage_name"].clone())
        .collect();
    assert_eq!((entered.len(), &json!(entered[1..])), (1 + MANY / KINDS, &json!(moves)));
}

#[apply(each_engine)]
fn many_candidates_at_once_are_counted_and_listed_once_each(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let made = together(THREADS, |thread| {
        let create = |number| {
            client.post(
                "/v1/persons",
                &json!({ "name": format!("Person {thread}-{number}"), "job_id": job.id }),
            )
        };
        (0..6).map(|number| create(number).expect(201).string("candidate_id")).collect::<Vec<_>>()
    });
    let made: BTreeSet<_> = made.into_iter().flatten().collect();
    let listed = client.get(&job.candidates_path()).expect(200);
    let ids = strings(listed.data(), "id");
    assert!(ids.is_sorted(), "{ids:?}");
    assert_eq!(ids.len(), THREADS * 6);
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), made);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], THREADS * 6);
    assert_eq!(listed.json["meta"]["total"], THREADS * 6);
}

#[apply(each_engine)]
fn many_persons_of_a_new_company_share_it(workspace: &Workspace) {
    let client = workspace.writer();
    let spellings = ["Initech", "INITECH", " initech ", "iniTech"];
    let persons = together(THREADS, |number| {
        client.new_person(&json!({ "name": format!("Person {number}"),
            "company_name": spellings[number % spellings.len()] }))
    });
    let companies: BTreeSet<_> = persons
        .iter()
        .map(|person| client.person(person)["current_company_id"].to_string())
        .collect();
    assert_eq!(companies.len(), 1, "{companies:?}");
}

/// Invariant 10.
#[apply(each_engine)]
fn creates_that_overlap_in_part_never_share_an_identifier(workspace: &Workspace) {
    let client = workspace.writer();
    let address = |number: usize| format!("{}@x.example", number % 5);
    together(THREADS, |number| {
        let reply = client.post(
            "/v1/persons",
            &json!({ "name": "Ada", "emails": [address(number), address(number + 1)] }),
        );
        assert!([200, 201, 409].contains(&reply.status), "{reply:#?}");
    });
    let holder = |number| {
        client
            .post("/v1/persons", &json!({ "name": "Ada", "emails": [address(number)] }))
            .expect(200)
            .id()
    };
    for number in 0..5 {
        let person = client.person(&holder(number));
        let others = strings(&person["emails"], "value");
        assert!(others.contains(&address(number)), "{person}");
        for other in others {
            let found = client
                .post("/v1/persons", &json!({ "name": "Ada", "emails": [other] }))
                .expect(200)
                .id();
            assert_eq!(Value::from(found), person["id"], "two persons hold {other}");
        }
    }
}

#[apply(each_engine)]
fn pushes_of_one_person_with_addresses_in_any_order_all_succeed(workspace: &Workspace) {
    let client = workspace.writer();
    for round in 0..5 {
        let ids = together(THREADS, |number| {
            let addresses: Vec<_> = (0..6)
                .map(|place| {
                    format!("{}@{round}.example", (place * (1 + number % 2 * 4) + number) % 6)
                })
                .collect();
            let body = json!({ "name": "Ada", "emails": addresses, "company_name": format!("Works \
                {}", (round + number) % 3) });
            let reply = client.post("/v1/persons", &body);
            assert!([200, 201].contains(&reply.status), "{reply:#?}");
            reply.id()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}
