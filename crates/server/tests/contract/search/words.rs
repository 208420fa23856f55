//! Finding persons by words.

use serde_json::{Value, json};

use crate::support::{App, Client, Workspace, apply, each_engine, eventually, strings, together};

fn found(client: &Client, q: &str) -> Vec<String> {
    let encoded: String = q.bytes().map(|byte| format!("%{byte:02x}")).collect();
    strings(client.get(&format!("/v1/persons?q={encoded}")).expect(200).data(), "name")
}

fn fields(client: &Client, q: &str) -> Vec<Value> {
    let reply = client.get(&format!("/v1/persons?q={q}")).expect(200);
    reply.entries().iter().map(|item| item["matched_fields"].clone()).collect()
}

#[apply(each_engine)]
fn a_person_is_found_by_every_field_that_is_searched(workspace: &Workspace) {
    let client = workspace.writer();
    let id = client.new_person(&json!({
        "name": "Ada Lovelace", "social_url": "https://social.example/in/enchantress",
        "current_job_title": "Analyst", "company_name": "Engines",
        "work_email": "countess@letters.example", "social_location": "Marylebone",
        "notes": "Likes horses",
    }));
    client
        .patch(
            &format!("/v1/persons/{id}"),
            &json!({ "social_headline": "Poetical science", "address": "St James Square" }),
        )
        .expect(200);
    let history = json!({
        "work_experience": [{ "company_name": "Babbage",
            "positions": [{ "title": "Translator", "description": "Bernoulli numbers" }] }],
        "education_experience": [{ "company_name": "Somerville", "degree": "Mathematics" }],
        "certifications": [{ "name": "Jacquard", "company_name": "Weavers" }],
    });
    client.put(&format!("/v1/persons/{id}/history"), &history).expect(200);
    for (word, field) in [
        ("lovelace", "name"),
        ("enchantress", "social_public_id"),
        ("analyst", "current_job_title"),
        ("engines", "current_company_name"),
        ("letters", "emails"),
        ("poetical", "social_headline"),
        ("marylebone", "social_location"),
        ("james", "address"),
        ("babbage", "work_experience"),
        ("bernoulli", "work_experience"),
        ("somerville", "education_experience"),
        ("jacquard", "certifications"),
        ("horses", "notes"),
    ] {
        assert_eq!(fields(&client, word), [json!([field])], "{word}");
    }
    assert_eq!(fields(&client, "ada+horses"), [json!(["name", "notes"])]);
}

#[apply(each_engine)]
fn words_are_beginnings_without_case_and_accents(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "José Núñez" }));
    client.new_person(&json!({ "name": "Søren Ångström" }));
    client.new_person(&json!({ "name": "张伟" }));
    for q in ["jose", "JOSÉ", "jo", "nunez", "NÚÑ", "jose nun"] {
        assert_eq!(found(&client, q), ["José Núñez"], "{q}");
    }
    assert_eq!(found(&client, "angstrom soren"), ["Søren Ångström"]);
    assert_eq!(found(&client, "张伟"), ["张伟"]);
    assert_eq!(found(&client, "ose"), [""; 0]);
    assert_eq!(found(&client, "j"), [""; 0], "one letter is a word and no beginning");
}

#[apply(each_engine)]
fn all_words_must_be_there_in_whatever_field(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada Lovelace", "company_name": "Engines" }));
    client.new_person(&json!({ "name": "Ada Byron", "company_name": "Poems" }));
    assert_eq!(found(&client, "ada"), ["Ada Lovelace", "Ada Byron"]);
    assert_eq!(found(&client, "engines ada"), ["Ada Lovelace"]);
    assert_eq!(found(&client, "ada engines poems"), [""; 0]);
}

#[apply(each_engine)]
fn the_best_answers_come_first(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Note", "notes": "Knows Hopper" }));
    client.new_person(&json!({ "name": "Company", "company_name": "Hopper & Co" }));
    client.new_person(&json!({ "name": "Grace Hopper" }));
    client.new_person(&json!({ "name": "Edward Hopper" }));
    assert_eq!(found(&client, "hopper"), ["Grace Hopper", "Edward Hopper", "Company", "Note"]);
    let newest = client.get("/v1/persons?q=hopper&sort=-created_at").expect(200);
    assert_eq!(
        strings(newest.data(), "name"),
        ["Edward Hopper", "Grace Hopper", "Company", "Note"]
    );
}

pub fn make_many(client: &Client, count: usize, person: impl Fn(usize) -> Value) {
    let rows: Vec<_> = (0..count).map(person).collect();
    client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
}

/// More persons than a search gives have words that begin like the one that is asked for.
#[apply(each_engine)]
fn of_very_many_those_with_whole_words_stay(workspace: &Workspace) {
    let client = workspace.writer();
    make_many(&client, 1000, |number| json!({ "name": format!("Annabel {number}") }));
    make_many(&client, 30, |number| json!({ "name": format!("Anna {number}") }));
    make_many(
        &client,
        30,
        |number| json!({ "name": format!("Guest {number}"), "notes": "Friend of Anna" }),
    );
    let search =
        |page: &str| client.get(&format!("/v1/persons?q=anna&limit=100{page}")).expect(200);
    assert_eq!(search("").json["meta"]["total"], 1000);
    let names: Vec<_> = (0..10)
        .flat_map(|page| strings(search(&format!("&offset={}", page * 100)).data(), "name"))
        .collect();
    let count = |beginning: &str| names.iter().filter(|name| name.starts_with(beginning)).count();
    assert_eq!((count("Anna "), count("Annabel "), count("Guest ")), (30, 970, 0));
}

/// Waits until segments were made of nearly everybody; whoever is left is compared one by one.
pub fn make_segments(app: &App) {
    eventually("segments are made", || {
        app.database
            .execute("SELECT count(*) < 256 FROM search_tail")
            .concat()
            .starts_with(['1', 't'])
    });
    assert_ne!(app.database.execute("SELECT count(*) FROM search_segment"), ["0"]);
}

/// The names of all who are found.
pub fn names_of_all(client: &Client, q: &str) -> Vec<String> {
    let pages = (0..10).map(|page| {
        client.get(&format!("/v1/persons?q={q}&limit=100&offset={}", page * 100)).expect(200)
    });
    pages.flat_map(|page| strings(page.data(), "name")).collect()
}

/// The engine finds them where there are no segments yet.
#[apply(each_engine)]
fn segments_find_whom_the_engine_finds(app: &App) {
    const QUESTIONS: [&str; 12] = [
        "soft",
        "soft+eng",
        "softw",
        "soft+ozy",
        "alp+bet",
        "engi+alpha",
        "pers+soft+gard",
        "ozy",
        "so+al",
        "c",
        "coa+10",
        "xyzzy+soft",
    ];
    let client = app.writer();
    let company = |number: usize| ["Alphaville", "Betatown"][number % 2];
    let engineer = |number| {
        json!({ "name": format!("Person {number}"),
        "current_job_title": "Software Engineer", "company_name": company(number) })
    };
    make_many(&client, 100, |number| {
        json!({ "name": format!("Coach {number}"),
            "current_job_title": "Softball Coach" })
    });
    make_many(&client, 200, engineer);
    make_many(&client, 20, |_| json!({ "name": "Softley Engel", "notes": "Knows C" }));
    make_many(&client, 200, engineer);
    let title = |number| if number == 0 { "Gardener" } else { "Software Tester" };
    make_many(&client, 4, |number| {
        json!({ "name": format!("Ozymandias {number}"),
        "current_job_title": title(number) })
    });
    make_many(
        &client,
        2,
        |number| json!({ "name": format!("Both {number}"), "company_name": "Alphaville Betatown" }),
    );
    let search = |q: &str| names_of_all(&client, q);
    let before = QUESTIONS.map(search);
    assert_eq!(before.each_ref().map(Vec::len), [523, 420, 403, 3, 2, 200, 0, 4, 200, 20, 1, 0]);
    make_segments(app);
    assert_eq!(QUESTIONS.map(search), before);
}

#[apply(each_engine)]
fn of_more_than_are_shown_the_best_are_found_in_segments(app: &App) {
    let client = app.writer();
    make_many(
        &client,
        300,
        |number| json!({ "name": format!("Person {number}"), "current_job_title": "Developer" }),
    );
    make_many(
        &client,
        1000,
        |number| json!({ "name": format!("Devon{number}"), "current_job_title": "Developer" }),
    );
    make_many(&client, 30, |number| json!({ "name": format!("Dev {number}") }));
    let check = || {
        let names = names_of_all(&client, "dev");
        let count =
            |beginning: &str| names.iter().filter(|name| name.starts_with(beginning)).count();
        assert_eq!((names.len(), count("Dev "), count("Devon")), (1000, 30, 970));
    };
    make_segments(app);
    check();
    // Those who come next stand in the tail.
    make_many(
        &client,
        100,
        |number| json!({ "name": format!("Later {number}"), "current_job_title": "Dev" }),
    );
    check();
}

/// What segments have of somebody who changed is old, and what they have of somebody who is gone is
/// nothing.
#[apply(each_engine)]
fn what_changed_since_segments_were_made_is_found_as_it_is(app: &App) {
    let client = app.writer();
    let named = |number: usize| {
        if number == 4 { "Smithson".to_owned() } else { format!("Person {number}") }
    };
    make_many(
        &client,
        300,
        |number| json!({ "name": named(number), "current_job_title": "Smith" }),
    );
    make_segments(app);
    let search = |q: &str| names_of_all(&client, q);
    let ids: Vec<_> = (0..3)
        .flat_map(|page| {
            strings(
                client.get(&format!("/v1/persons?limit=100&offset={}", page * 100)).data(),
                "id",
            )
        })
        .collect();
    let change = |place: usize, change: Value| {
        drop(client.patch(&format!("/v1/persons/{}", ids[place]), &change).expect(200))
    };
    change(0, json!({ "current_job_title": "Baker" }));
    client
        .post(&format!("/v1/persons/{}/notes", ids[1]), &json!({ "body": "Bakes too" }))
        .expect(201);
    client
        .post(&format!("/v1/persons/{}/merge", ids[1]), &json!({ "person_id": ids[2] }))
        .expect(200);
    client.send("DELETE", &format!("/v1/persons/{}", ids[3]), None).expect(200);
    // These answer less well now, and better.
    change(4, json!({ "name": "Person 4" }));
    change(299, json!({ "name": "Smithers" }));
    for title in ["Tailor", "Weaver", "Tailor"] {
        (20..120).for_each(|place| change(place, json!({ "current_job_title": title })));
    }
    let check = || {
        assert_eq!(search("bak"), ["Person 0", "Person 1"]);
        let smiths = search("smi");
        assert_eq!(
            (smiths.len(), &smiths[..4]),
            (197, &["Smithers", "Person 1", "Person 4", "Person 5"].map(str::to_owned)[..])
        );
        assert_eq!((search("tai").len(), search("wea").len()), (100, 0));
    };
    check();
    // Whoever changed comes into another segment, and what the first has of them stays old.
    make_many(&client, 300, |number| json!({ "name": format!("Filler {number}") }));
    eventually("all are in segments", || {
        app.database.execute("SELECT count(*) FROM search_tail") == ["0"]
    });
    assert_ne!(app.database.execute("SELECT count(*) FROM search_segment"), ["1"]);
    check();
}

/// So does whoever went into them before.
#[apply(each_engine)]
fn an_erased_person_leaves_the_segments(app: &App) {
    let client = app.writer();
    let groups = |letters: &str| {
        app.database
            .execute(&format!("SELECT count(*) FROM search_posting WHERE letters = '{letters}'"))
    };
    let other = client.new_person(&json!({ "name": "Zyxomma Zyxt" }));
    make_many(&client, 300, |number| json!({ "name": format!("Person {number}") }));
    make_segments(app);
    let id = client.new_person(&json!({ "name": "Yzaak Yzerd" }));
    make_many(&client, 300, |number| json!({ "name": format!("Later {number}") }));
    eventually("everybody is in segments", || {
        (groups("zyx"), groups("yza")) == (vec!["1".to_owned()], vec!["1".to_owned()])
    });
    client.post(&format!("/v1/persons/{id}/merge"), &json!({ "person_id": other })).expect(200);
    client.send("DELETE", &format!("/v1/persons/{id}"), None).expect(200);
    assert_eq!([names_of_all(&client, "zyx"), names_of_all(&client, "yza")], [[""; 0]; 2]);
    eventually("the words are gone", || [groups("zyx"), groups("yza")].concat() == ["0", "0"]);
    assert_eq!(
        (names_of_all(&client, "later+29").len(), names_of_all(&client, "person+29").len()),
        (11, 11)
    );
}

#[apply(each_engine)]
fn a_person_is_found_as_soon_as_the_write_is_answered(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..20 {
        let word = format!("unique{number}x");
        client.new_person(&json!({ "name": word }));
        assert_eq!(found(&client, &word), [word.as_str()]);
    }
}

#[apply(each_engine)]
fn what_changed_is_found_and_what_is_gone_is_not(workspace: &Workspace) {
    let client = workspace.writer();
    let id = client.new_person(&json!({ "name": "Ada Byron", "emails": ["ada@letters.example"] }));
    client.patch(&format!("/v1/persons/{id}"), &json!({ "name": "Ada King" })).expect(200);
    assert_eq!(found(&client, "byron"), [""; 0]);
    assert_eq!(found(&client, "king"), ["Ada King"]);
    client
        .post(
            "/v1/persons",
            &json!({ "emails": ["ada@letters.example"], "name": "Ada", "notes": "plays the harp" }),
        )
        .expect(200);
    assert_eq!(found(&client, "harp"), ["Ada King"]);
    client.send("DELETE", &format!("/v1/persons/{id}"), None).expect(200);
    assert_eq!(found(&client, "king"), [""; 0]);
}

#[apply(each_engine)]
fn a_word_that_leaves_a_field_is_found_where_else_it_stands(workspace: &Workspace) {
    let client = workspace.writer();
    let id = client.new_person(&json!({
        "name": "Marie Curie", "current_job_title": "Chemist Physicist Lecturer Curie",
        "company_name": "Sorbonne Labs", "notes": "Was a LECTURER\nonce",
        "phone_numbers": ["555 0100"],
    }));
    let history = json!({ "work_experience": [{ "company_name": "Élan",
        "positions": [{ "title": "Première CHIMISTE, chemist" }] }] });
    client.put(&format!("/v1/persons/{id}/history"), &history).expect(200);
    let change =
        |patch: &Value| drop(client.patch(&format!("/v1/persons/{id}"), patch).expect(200));

    change(&json!({ "current_job_title": "Director, Élan" }));
    assert_eq!(fields(&client, "chemist"), [json!(["work_experience"])]);
    assert_eq!(fields(&client, "lecturer"), [json!(["notes"])]);
    assert_eq!(fields(&client, "curie"), [json!(["name"])]);
    assert_eq!(fields(&client, "elan"), [json!(["current_job_title", "work_experience"])]);
    assert!(found(&client, "physicist").is_empty());

    change(&json!({ "current_job_title": "Labs director", "company_name": "Radium Institute" }));
    assert_eq!(fields(&client, "labs"), [json!(["current_job_title"])]);
    assert_eq!(fields(&client, "elan"), [json!(["work_experience"])]);
    assert!(found(&client, "sorbonne").is_empty());

    // Nothing but what is found by no word leaves, again and again.
    change(&json!({ "phone_numbers": null }));
    change(&json!({ "current_job_title": null }));
    change(&json!({ "company_name": null }));
    for gone in ["labs", "director", "radium"] {
        assert!(found(&client, gone).is_empty(), "{gone}");
    }
    assert_eq!(found(&client, "marie curie"), ["Marie Curie"]);
    assert_eq!(found(&client, "chimiste chemist lecturer"), ["Marie Curie"]);
}

#[apply(each_engine)]
fn updates_at_the_same_instant_leave_the_words_of_the_last(workspace: &Workspace) {
    let client = workspace.writer();
    let id = client.new_person(&json!({ "name": "Ada", "current_job_title": "Start" }));
    let titles: Vec<_> = (0..24).map(|number| format!("Title{number:02}")).collect();
    together(titles.len(), |number| {
        client
            .patch(&format!("/v1/persons/{id}"), &json!({ "current_job_title": titles[number] }))
            .expect(200);
    });
    let last = client.person(&id)["current_job_title"].as_str().unwrap().to_owned();
    let answering: Vec<_> =
        titles.iter().filter(|title| !found(&client, title).is_empty()).collect();
    assert_eq!(answering, [&last]);
    assert!(found(&client, "start").is_empty());
}

#[apply(each_engine)]
fn who_takes_the_place_of_somebody_erased_is_found_in_their_own_workspace(workspace: &Workspace) {
    let (one, other) = (workspace.writer(), workspace.client_of("other", "write"));
    for round in 0..10 {
        let gone = one.new_person(&json!({ "name": format!("Gone{round} Common") }));
        together(6, |number| match number {
            0 => drop(one.send("DELETE", &format!("/v1/persons/{gone}"), None).expect(200)),
            _ => drop(other.new_person(&json!({ "name": format!("Here{round}x{number} Common") }))),
        });
    }
    for (round, number) in (0..10).flat_map(|round| (1..6).map(move |number| (round, number))) {
        let name = format!("Here{round}x{number} Common");
        assert_eq!(found(&other, &name), [name.as_str()]);
    }
    assert!(found(&one, "common").is_empty());
    assert_eq!(other.get("/v1/persons?q=common").expect(200).json["meta"]["total"], 50);
}

#[apply(each_engine)]
fn a_search_pages_by_offset_and_by_cursor(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..7 {
        let body = match number % 2 {
            0 => json!({ "name": format!("Common {number}") }),
            _ => json!({ "name": format!("Person {number}"), "notes": "common" }),
        };
        client.new_person(&body);
    }
    let all = found(&client, "common");
    assert_eq!(
        all,
        ["Common 0", "Common 2", "Common 4", "Common 6", "Person 1", "Person 3", "Person 5"]
    );
    for limit in 1..=8 {
        let (mut by_offset, mut by_cursor, mut cursor) = (Vec::new(), Vec::new(), String::new());
        for offset in (0..7).step_by(limit) {
            let reply = client
                .get(&format!("/v1/persons?q=common&limit={limit}&offset={offset}"))
                .expect(200);
            assert_eq!(reply.json["meta"]["total"], 7);
            by_offset.extend(strings(reply.data(), "name"));
        }
        loop {
            let reply = client
                .get(&format!("/v1/persons?q=common&limit={limit}&cursor={cursor}"))
                .expect(200);
            by_cursor.extend(strings(reply.data(), "name"));
            match &reply.json["meta"]["next_cursor"] {
                Value::Null => break,
                next => next.as_str().unwrap().clone_into(&mut cursor),
            }
        }
        assert_eq!((&by_offset, &by_cursor), (&all, &all));
    }
}

#[apply(each_engine)]
fn search_and_filters_narrow_each_other(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada One", "company_name": "Acme" }));
    client.new_person(
        &json!({ "name": "Ada Two", "company_name": "Other", "mobile_phone": "+1 555" }),
    );
    client.new_person(&json!({ "name": "Grace", "company_name": "Acme" }));
    let acme =
        client.get("/v1/persons").entries()[0]["current_company_id"].as_str().unwrap().to_owned();
    let by = |query: &str| {
        strings(client.get(&format!("/v1/persons?{query}")).expect(200).data(), "name")
    };
    assert_eq!(by(&format!("q=ada&company_id={acme}")), ["Ada One"]);
    assert_eq!(by("q=ada&phone=1555"), ["Ada Two"]);
    assert_eq!(by(&format!("q=two&company_id={acme}")), [""; 0]);
}

#[apply(each_engine)]
fn persons_of_a_renamed_company_are_found_under_its_new_name(workspace: &Workspace) {
    let client = workspace.writer();
    let id = client.new_person(&json!({ "name": "Ada", "company_name": "Oldname" }));
    let company = client.person(&id)["current_company_id"].as_str().unwrap().to_owned();
    client.patch(&format!("/v1/companies/{company}"), &json!({ "name": "Newname" })).expect(200);
    eventually("the person is found under the new name", || {
        found(&client, "newname") == ["Ada"] && found(&client, "oldname").is_empty()
    });
}

#[apply(each_engine)]
fn signs_that_mean_something_to_the_engines_mean_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "O'Neil \"Shaq\" (Big) AND|OR & NOT: Near* \\ =p" }));
    for q in [
        "o'neil",
        "\"shaq\"",
        "(big",
        "and or not near",
        "neil*",
        "shaq:*",
        "-big",
        "neil & shaq",
        "' OR 1=1 neil",
        "p",
        "\\",
    ] {
        let has_words = q.chars().any(char::is_alphanumeric);
        let is_there = has_words && !q.contains('1');
        let encoded: String = q.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let reply = client.get(&format!("/v1/persons?q={encoded}"));
        match has_words {
            true => assert_eq!(reply.expect(200).entries().len(), usize::from(is_there), "{q}"),
            false => drop(reply.refused(400, "INVALID_REQUEST")),
        }
    }
}

#[apply(each_engine)]
fn a_cursor_on_somebody_who_is_not_found_any_more_is_gone(workspace: &Workspace) {
    let client = workspace.writer();
    let ids: Vec<_> = (0..3)
        .map(|number| client.new_person(&json!({ "name": format!("Common {number}") })))
        .collect();
    let page = |query: &str| client.get(&format!("/v1/persons?q=common&limit=1&{query}"));
    let cursor =
        page("cursor=").expect(200).json["meta"]["next_cursor"].as_str().unwrap().to_owned();
    let newest = page("cursor=&sort=-created_at").expect(200).json["meta"]["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    for id in [&ids[0], &ids[2]] {
        client.patch(&format!("/v1/persons/{id}"), &json!({ "name": "Rare" })).expect(200);
    }
    page(&format!("cursor={cursor}")).refused(410, "CURSOR_GONE");
    assert_eq!(
        strings(page(&format!("cursor={newest}&sort=-created_at")).expect(200).data(), "id"),
        [ids[1].as_str()]
    );
}
