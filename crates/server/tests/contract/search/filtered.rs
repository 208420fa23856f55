//! Finding persons by words among those whom filters leave.

use std::collections::HashSet;

use serde_json::json;

use super::words::{make_many, make_segments, names_of_all};
use crate::support::{
    App, Client, Engine, apply, each_engine, eventually, next_millisecond, strings,
};

/// The ids of all persons of a list, in its order.
fn ids_of_all(client: &Client, query: &str) -> Vec<String> {
    let page = |offset| {
        strings(
            client
                .get(&format!("/v1/persons?{query}&limit=100&offset={offset}"))
                .expect(200)
                .data(),
            "id",
        )
    };
    let mut ids = page(0);
    while !ids.is_empty() && ids.len() % 100 == 0 {
        let next = page(ids.len());
        if next.is_empty() {
            break;
        }
        ids.extend(next);
    }
    ids
}

/// Lets those made between two moments seem more than could be compared one by one.
fn claim_very_many(app: &App) {
    app.database.execute(
        "INSERT INTO census (workspace_id, list, first_id, count) SELECT workspace_id, 1, id, \
         10000 \
         FROM (SELECT workspace_id, id, ROW_NUMBER() OVER (ORDER BY id) AS number FROM person) \
         numbered WHERE number % 50 = 1",
    );
}

/// When somebody was made.
fn made(client: &Client, place: usize) -> String {
    let reply = client.get(&format!("/v1/persons?limit=1&offset={place}")).expect(200);
    reply.entries()[0]["created_at"].as_str().unwrap().to_owned()
}

#[apply(each_engine)]
fn words_and_filters_find_the_same_whichever_leads(app: &App) {
    const QUESTIONS: [&str; 9] = [
        "rare",
        "comm",
        "common+eng",
        "rare+common",
        "111",
        "1",
        "%E5%BC%A0%E4%BC%9F",
        "alphaville+eng",
        "nobody",
    ];
    const PERSONS: usize = 1200;
    let client = app.writer();
    let job = client.new_job("Engineer", "Client");
    let name = |number: usize| match number % 40 {
        0 => format!("张伟 {number}"),
        1 => format!("111 Numero {number}"),
        2 => format!("1 1 Numero {number}"),
        _ => format!("Person {number}"),
    };
    let title = |number: usize| match (number % 7, number % 3) {
        (0, 0) => "Rare Gem, Common Engineer",
        (0, _) => "Rare Gem",
        (_, 0) => "Common Engineer",
        _ => "Gardener",
    };
    let company =
        |number: usize| if number.is_multiple_of(2) { "Alphaville Ltd" } else { "Betatown" };
    for first in [0, PERSONS / 2] {
        make_many(&client, PERSONS / 2, |row| {
            let number = first + row;
            let mut person = json!({
                "name": name(number), "current_job_title": title(number),
                "company_name": company(number),
                "work_email": format!("p{number}@example.com"), "mobile_phone": format!("+1 555 \
                    {number:04}"),
            });
            if number % 5 == 0 {
                person["job_id"] = json!(job.id);
            }
            person
        });
        next_millisecond();
    }
    let before = made(&client, PERSONS - 1);
    let all = ids_of_all(&client, "sort=created_at");
    assert_eq!(all.len(), PERSONS);
    for id in all.iter().step_by(60) {
        client.patch(&format!("/v1/persons/{id}"), &json!({ "address": "Oslo" })).expect(200);
    }
    let alphaville = client.person(&all[0])["current_company_id"].as_str().unwrap().to_owned();
    let (middle, job) = (made(&client, 0), &job.id);
    let filters = [
        format!("company_id={alphaville}"),
        format!("job_id={job}"),
        format!("company_id={alphaville}&job_id={job}"),
        format!("created_after={middle}"),
        format!("created_before={before}"),
        format!("updated_after={before}"),
        format!("company_id={alphaville}&updated_after={before}"),
        format!("company_id={alphaville}&created_after={middle}&job_id={job}"),
        format!("updated_before={before}&job_id={job}"),
        format!("updated_after={before}&created_before={before}"),
        "email=p21@example.com".to_owned(),
        format!("phone=15550042&company_id={alphaville}"),
    ];
    let left = filters.each_ref().map(|filter| ids_of_all(&client, filter));
    assert_eq!(left.each_ref().map(Vec::len), [600, 240, 120, 600, 600, 20, 20, 60, 110, 10, 1, 1]);
    let expected: Vec<Vec<String>> = QUESTIONS
        .iter()
        .flat_map(|question| {
            let found = ids_of_all(&client, &format!("q={question}"));
            assert!(found.len() < 1000, "{question}");
            left.each_ref()
                .map(|left| found.iter().filter(|id| left.contains(id)).cloned().collect())
        })
        .collect();
    let check = |claim: &str| {
        for (place, expected) in expected.iter().enumerate() {
            let (question, filter) =
                (QUESTIONS[place / filters.len()], &filters[place % filters.len()]);
            assert_eq!(
                &ids_of_all(&client, &format!("q={question}&{filter}")),
                expected,
                "{question} with {filter}, {claim}"
            );
        }
    };
    check("as it is");
    make_segments(app);
    claim_very_many(app);
    for candidates in [20_000, 60_000] {
        app.database.execute(&format!("UPDATE job SET candidate_count = {candidates}"));
        check(&format!("the job said to have {candidates} candidates"));
    }
}

#[apply(each_engine)]
fn of_many_whom_a_filter_leaves_those_with_whole_words_stay(app: &App) {
    let client = app.writer();
    make_many(
        &client,
        1000,
        |number| json!({ "name": format!("Annabel {number}"), "company_name": "Acme" }),
    );
    make_many(
        &client,
        30,
        |number| json!({ "name": format!("Anna {number}"), "company_name": "Acme" }),
    );
    let acme = client.get("/v1/persons?limit=1").entries()[0]["current_company_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let check = || {
        for filter in [
            format!("company_id={acme}"),
            "created_after=2000-01-01".to_owned(),
            "updated_after=2000-01-01".to_owned(),
        ] {
            let names = names_of_all(&client, &format!("anna&{filter}"));
            let count =
                |beginning: &str| names.iter().filter(|name| name.starts_with(beginning)).count();
            assert_eq!((count("Anna "), count("Annabel ")), (30, 970), "{filter}");
        }
    };
    check();
    make_segments(app);
    claim_very_many(app);
    check();
}

#[apply(each_engine)]
fn better_answers_are_found_among_all_whom_a_filter_leaves(app: &App) {
    let client = app.writer();
    let developer = |name: &'static str| {
        move |number| {
            json!({ "name": format!("{name} {number}"),
        "current_job_title": "Developer" })
        }
    };
    make_many(&client, 1000, developer("Older"));
    next_millisecond();
    make_many(&client, 1000, developer("Newer"));
    make_many(&client, 700, developer("Newer"));
    make_many(&client, 20, developer("Devon"));
    let older = made(&client, 0);
    make_segments(app);
    claim_very_many(app);
    let names = names_of_all(&client, &format!("dev&created_after={older}"));
    assert_eq!(names.len(), 1000);
    let (first, rest) = names.split_at(20);
    assert!(first.iter().all(|name| name.starts_with("Devon")), "{first:?}");
    assert!(rest.iter().all(|name| name.starts_with("Newer")), "{rest:?}");
}

#[apply(each_engine)]
fn the_few_who_answer_are_found_among_many_whom_a_filter_leaves(app: &App) {
    let client = app.writer();
    make_many(
        &client,
        1000,
        |number| json!({ "name": format!("Older {number}"), "current_job_title": "Developer" }),
    );
    next_millisecond();
    make_many(
        &client,
        1000,
        |number| json!({ "name": format!("Newer {number}"), "current_job_title": "Gardener" }),
    );
    make_many(
        &client,
        15,
        |number| json!({ "name": format!("Newest {number}"), "current_job_title": "Developer" }),
    );
    let older = made(&client, 0);
    make_segments(app);
    claim_very_many(app);
    let newest: Vec<_> = (0..15).map(|number| format!("Newest {number}")).collect();
    assert_eq!(names_of_all(&client, &format!("dev&created_after={older}")), newest);
}

#[apply(each_engine)]
fn persons_are_found_by_filter_as_soon_as_their_company_has_another_name(app: &App) {
    let client = app.writer();
    let title = |number: usize| match number % 300 {
        0 => "Rare",
        150 => "Scarce",
        _ => "Countess",
    };
    for _ in 0..6 {
        make_many(&client, 1000, |number| {
            json!({ "name": "Ada Lovelace", "current_job_title": title(number),
                "company_name": "Oldname" })
        });
    }
    make_many(&client, 60, |_| {
        json!({ "name": "Ada Oldname", "current_job_title": "Rare Newname",
            "company_name": "Other" })
    });
    make_segments(app);
    let company = client.get("/v1/persons?limit=1").entries()[0]["current_company_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let total = |q: &str| {
        client.get(&format!("/v1/persons?q={q}&company_id={company}")).expect(200).json["meta"]["total"].clone()
    };
    let check = || assert_eq!(["ada", "rare", "scarce"].map(total), [1000, 24, 18]);
    check();
    client.patch(&format!("/v1/companies/{company}"), &json!({ "name": "Newname" })).expect(200);
    for _ in 0..10 {
        check();
    }
    eventually("everybody is indexed under the new name", || {
        app.database.execute("SELECT count(*) FROM search_queue") == ["0"]
    });
    check();
}

/// Segments know whom a company employs; but what a server of an older version writes is unknown to
/// them.
#[apply(each_engine)]
fn segments_lead_to_whom_a_company_employs(app: &App) {
    const QUESTIONS: [&str; 8] = [
        "soft+eng",
        "soft",
        "softb",
        "eng+sof+pe",
        "softer",
        "soft+en+oslo",
        "softwarehouse",
        "xylo",
    ];
    let client = app.writer();
    let title = |number: usize| match number % 20 {
        0 => "Software Engineer",
        1 => "Softball English",
        2 => "Soft Engraver",
        _ => "Gardener",
    };
    for _ in 0..6 {
        make_many(&client, 1000, |number| {
            let notes =
                if number.is_multiple_of(100) { "Softer engines, in Oslo" } else { "Bergen" };
            json!({ "name": format!("Person {number}"), "current_job_title": title(number),
                "company_name": "Acme", "notes": notes })
        });
    }
    make_many(&client, 60, |_| {
        json!({ "name": "Soft Engineer", "current_job_title": "Software Acme",
            "company_name": "Other" })
    });
    make_many(
        &client,
        1,
        |_| json!({ "name": "Softley Engel", "company_name": "Acme", "notes": "Oslo" }),
    );
    let company = client.get("/v1/persons?limit=1").entries()[0]["current_company_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let search = |q: &str| ids_of_all(&client, &format!("q={q}&company_id={company}"));
    let expected = QUESTIONS.map(search);
    assert_eq!(expected.each_ref().map(Vec::len), [901, 901, 300, 900, 60, 61, 0, 0]);
    make_segments(app);
    assert_eq!(QUESTIONS.map(search), expected);
    let other = client.get("/v1/persons?q=other+software").entries()[0]["current_company_id"]
        .as_str()
        .unwrap()
        .to_owned();
    client
        .post(&format!("/v1/companies/{company}/merge"), &json!({ "company_id": other }))
        .expect(200);
    assert_eq!(search("soft").len(), 961);
    eventually("everybody is indexed under the company", || {
        app.database.execute("SELECT count(*) FROM search_queue") == ["0"]
    });
    let expected = QUESTIONS.map(search);
    assert_eq!(expected.each_ref().map(Vec::len), [961, 961, 300, 900, 60, 61, 0, 0]);
    // With these, those who changed are enough for a segment.
    make_many(&client, 300, |_| json!({ "name": "Filler" }));
    eventually("everybody is in segments", || {
        app.database.execute("SELECT count(*) FROM search_tail") == ["0"]
    });
    let check = |state: &str| assert_eq!(QUESTIONS.map(search), expected, "{state}");
    check("in segments");
    let later = format!("created_after={}", made(&client, 3000));
    let newer: HashSet<_> = ids_of_all(&client, &later).into_iter().collect();
    let softer = expected[1].iter().filter(|id| newer.contains(*id)).cloned().collect::<Vec<_>>();
    assert_eq!(softer.len(), 361);
    assert_eq!(search(&format!("soft&{later}")), softer);
    let Engine::Postgres = app.database.engine else { return };
    app.database.execute(
        "UPDATE person SET current_job_title = 'Softball Oldster' WHERE \
        current_job_title = 'Softball English'",
    );
    let words = "ts_delete(replace(words::text, '2english', '2oldster')::tsvector, '=s')";
    app.database.execute(&format!(
        "UPDATE search_document SET words = {words} WHERE words::text LIKE '%softball%'"
    ));
    app.database.execute(
        "INSERT INTO search_document SELECT workspace_id, gen_random_uuid(), \
        'nobody' FROM search_document LIMIT 1",
    );
    assert_eq!(search("old").len(), 300, "written by an older server");
    let unknown = "SELECT count(*) FROM search_document WHERE NOT words @@ '''=s'''::tsquery";
    eventually("those whom segments know nothing of are indexed anew", || {
        app.database.execute(unknown) == ["0"]
    });
    assert_eq!((search("old").len(), search("soft+engl").len()), (300, 0), "indexed anew");
}

#[apply(each_engine)]
fn of_those_whom_a_company_employs_for_what_others_seldom_do_the_best_are_found(app: &App) {
    let client = app.writer();
    let title = |number: usize| if number.is_multiple_of(20) { "Zookeeper" } else { "Gardener" };
    make_many(&client, 1000, |number| {
        json!({ "name": format!("Other {number}"), "current_job_title": title(number),
        "company_name": "Acme" })
    });
    let keeper = |name: &'static str| {
        move |number| {
            json!({ "name": format!("{name} {number}"),
        "current_job_title": "Zookeeper", "company_name": "Wildlife" })
        }
    };
    for _ in 0..6 {
        make_many(&client, 1000, keeper("Keeper"));
    }
    make_many(&client, 20, keeper("Zookia"));
    make_segments(app);
    let company = client.get("/v1/persons?q=zookia").entries()[0]["current_company_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for question in ["zook", "zoo"] {
        let names = names_of_all(&client, &format!("{question}&company_id={company}"));
        let (first, rest) = names.split_at(20);
        assert!(first.iter().all(|name| name.starts_with("Zookia")), "{question}: {first:?}");
        assert!(
            rest.len() == 980 && rest.iter().all(|name| name.starts_with("Keeper")),
            "{question}: {rest:?}"
        );
    }
}

#[apply(each_engine)]
fn of_those_made_between_two_moments_enough_are_compared(app: &App) {
    let client = app.writer();
    let titled = |name: &'static str, title: &'static str| {
        move |number| {
            json!({ "name": format!("{name} {number}"),
        "current_job_title": title })
        }
    };
    make_many(&client, 300, titled("Older", "Pilot"));
    next_millisecond();
    make_many(&client, 600, titled("Other", "Gardener"));
    make_many(&client, 1000, titled("Middle", "Pilot"));
    make_many(&client, 200, titled("Middle", "Pilot"));
    next_millisecond();
    make_many(&client, 300, titled("Newer", "Pilot"));
    let (older, newer) = (made(&client, 299), made(&client, 2100));
    make_segments(app);
    claim_very_many(app);
    let query = format!("pil&created_after={older}&created_before={newer}");
    let names = names_of_all(&client, &query);
    assert!(
        names.len() == 1000 && names.iter().all(|name| name.starts_with("Middle")),
        "{names:?}"
    );
    let ids: HashSet<_> = ids_of_all(&client, &format!("q={query}")).into_iter().collect();
    assert_eq!(ids.len(), 1000);
}
