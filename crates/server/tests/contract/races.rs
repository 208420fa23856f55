//! Many callers at one instant.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{App, each_engine, strings, together};

each_engine! {
    identical_creates_at_one_instant_make_one_person_and_one_candidate
    a_person_put_on_a_job_by_many_is_put_there_once
    of_many_moves_from_one_stage_exactly_one_wins
    moves_at_one_instant_leave_a_history_without_gaps
    many_candidates_at_once_are_counted_and_listed_once_each
    many_persons_of_a_new_company_share_it
    creates_that_overlap_in_part_never_share_an_identifier
    pushes_of_one_person_with_addresses_in_any_order_all_succeed
}

const THREADS: usize = 16;

fn identical_creates_at_one_instant_make_one_person_and_one_candidate(app: &App) {
    let client = app.writer();
    for (number, identifiers) in [
        json!({ "external_source_id": "crm-1" }),
        json!({ "social_url": "https://social.example/in/ada" }),
        json!({ "emails": ["ada@x.example"] }),
        json!({ "external_source_id": "crm-2", "social_url": "https://social.example/in/grace", "work_email": "grace@x.example" }),
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
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), THREADS - 1, "{replies:#?}");
        let pairs: BTreeSet<_> = replies.iter().map(|reply| (reply.id(), reply.string("candidate_id"))).collect();
        assert_eq!(pairs.len(), 1, "{pairs:?}");
        assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
        assert_eq!(client.get(&job.candidates_path()).json["meta"]["total"], 1);
    }
}

fn a_person_put_on_a_job_by_many_is_put_there_once(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let body = json!({ "person_id": client.new_person(&json!({ "name": "Ada" })) });
    let replies = together(THREADS, |_| client.post(&job.candidates_path(), &body));
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1, "{replies:#?}");
    let ids: BTreeSet<_> = replies.iter().map(|reply| reply.id()).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
}

fn of_many_moves_from_one_stage_exactly_one_wins(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let stages = ["Contacted", "Screening", "Interview", "Final interview", "Offer", "Hired", "Rejected"];
    for round in 0..5 {
        let candidate = client.new_candidate(&job, &format!("Person {round}"));
        let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
        let replies = together(stages.len(), |number| {
            client.patch(&path, &json!({ "stage_name": stages[number], "from_stage_id": job.stage("Sourced") }))
        });
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "{won:#?}");
        let stage = won[0].string("current_pipeline_stage_name");
        for reply in lost {
            reply.refused(409, "STAGE_CONFLICT");
        }
        assert_eq!(strings(&client.get(&path).data()["pipeline_stage_history"], "stage_name"), ["Sourced", &stage]);
    }
}

fn moves_at_one_instant_leave_a_history_without_gaps(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    let stages = ["Contacted", "Screening", "Interview", "Offer"];
    together(THREADS, |number| client.patch(&path, &json!({ "stage_name": stages[number % stages.len()] })).expect(200));
    let data = client.get(&path).data().clone();
    let entered = strings(&data["pipeline_stage_history"], "stage_name");
    let dates = strings(&data["pipeline_stage_history"], "stage_date");
    assert!(entered.windows(2).all(|pair| pair[0] != pair[1]), "{entered:?}");
    assert!(dates.is_sorted(), "{dates:?}");
    assert_eq!(data["current_pipeline_stage_name"], entered.last().unwrap().as_str());
    assert_eq!(data["current_pipeline_stage_date"], dates.last().unwrap().as_str());
}

fn many_candidates_at_once_are_counted_and_listed_once_each(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let made = together(THREADS, |thread| {
        let create = |number| client.post("/v1/persons", &json!({ "name": format!("Person {thread}-{number}"), "job_id": job.id }));
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

fn many_persons_of_a_new_company_share_it(app: &App) {
    let client = app.writer();
    let spellings = ["Initech", "INITECH", " initech ", "iniTech"];
    let persons = together(THREADS, |number| {
        client.new_person(&json!({ "name": format!("Person {number}"), "company_name": spellings[number % spellings.len()] }))
    });
    let companies: BTreeSet<_> = persons.iter().map(|person| client.person(person)["current_company_id"].to_string()).collect();
    assert_eq!(companies.len(), 1, "{companies:?}");
}

fn creates_that_overlap_in_part_never_share_an_identifier(app: &App) {
    let client = app.writer();
    let address = |number: usize| format!("{}@x.example", number % 5);
    together(THREADS, |number| {
        let reply = client.post("/v1/persons", &json!({ "name": "Ada", "emails": [address(number), address(number + 1)] }));
        assert!([200, 201, 409].contains(&reply.status), "{reply:#?}");
    });
    let holder = |number| client.post("/v1/persons", &json!({ "name": "Ada", "emails": [address(number)] })).expect(200).id();
    for number in 0..5 {
        let person = client.person(&holder(number));
        let others = strings(&person["emails"], "value");
        assert!(others.contains(&address(number)), "{person}");
        for other in others {
            let found = client.post("/v1/persons", &json!({ "name": "Ada", "emails": [other] })).expect(200).id();
            assert_eq!(Value::from(found), person["id"], "two persons hold {other}");
        }
    }
}

fn pushes_of_one_person_with_addresses_in_any_order_all_succeed(app: &App) {
    let client = app.writer();
    for round in 0..5 {
        let ids = together(THREADS, |number| {
            let addresses: Vec<_> =
                (0..6).map(|place| format!("{}@{round}.example", (place * (1 + number % 2 * 4) + number) % 6)).collect();
            let body = json!({ "name": "Ada", "emails": addresses, "company_name": format!("Works {}", (round + number) % 3) });
            let reply = client.post("/v1/persons", &body);
            assert!([200, 201].contains(&reply.status), "{reply:#?}");
            reply.id()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}
