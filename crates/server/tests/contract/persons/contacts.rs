//! E-mail addresses and phone numbers of a new person.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine, strings};

const PATH: &str = "/v1/persons";

fn text<'v>(entry: &'v Value, field: &str) -> &'v str {
    entry[field].as_str().unwrap()
}

/// Type and value of each contact, in the order of the values.
fn contacts(entries: &Value) -> Vec<(&str, &str)> {
    let entries = entries.as_array().unwrap().iter();
    let mut pairs: Vec<_> =
        entries.map(|entry| (text(entry, "contact_data_type"), text(entry, "value"))).collect();
    pairs.sort_unstable_by_key(|(_, value)| *value);
    pairs
}

#[apply(each_engine)]
fn a_contact_takes_its_type_from_its_field(workspace: &Workspace) {
    let body = json!({
        "name": "Ada",
        "emails": ["a@x.example"],
        "work_email": "b@x.example",
        "personal_email": "c@x.example",
        "phone_numbers": ["111 1111"],
        "mobile_phone": "222 2222",
        "work_phone": "333 3333",
    });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    let data = reply.data();
    assert_eq!(
        contacts(&data["emails"]),
        [("work", "a@x.example"), ("work", "b@x.example"), ("personal", "c@x.example")]
    );
    assert_eq!(
        contacts(&data["phones"]),
        [("mobile", "111 1111"), ("mobile", "222 2222"), ("work", "333 3333")]
    );
    let person = workspace.writer().person(&reply.id());
    assert_eq!([&person["emails"], &person["phones"]], [&data["emails"], &data["phones"]]);
}

#[apply(each_engine)]
fn a_value_that_also_stands_in_a_typed_field_takes_that_type(workspace: &Workspace) {
    let body = json!({
        "name": "Ada",
        "emails": ["a@x.example", "b@x.example"],
        "personal_email": "a@x.example",
        "phone_numbers": ["111 1111", "222 2222"],
        "work_phone": "222 2222",
    });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    let data = reply.data();
    assert_eq!(contacts(&data["emails"]), [("personal", "a@x.example"), ("work", "b@x.example")]);
    assert_eq!(contacts(&data["phones"]), [("mobile", "111 1111"), ("work", "222 2222")]);
}

#[apply(each_engine)]
fn the_same_contact_is_kept_once(workspace: &Workspace) {
    let body = json!({
        "name": "Ada",
        "emails": ["Ada@x.example", "ADA@X.EXAMPLE", "ada@x.example"],
        "phone_numbers": ["+49 30 1234", "+49 (30) 12-34", "004930 1234"],
    });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    let data = reply.data();
    assert_eq!(contacts(&data["emails"]), [("work", "Ada@x.example")]);
    assert_eq!(contacts(&data["phones"]), [("mobile", "+49 30 1234"), ("mobile", "004930 1234")]);
}

#[apply(each_engine)]
fn contacts_come_back_as_they_were_written(workspace: &Workspace) {
    let body = json!({ "name": "Ada", "emails": ["Ada.Lovelace+jobs@X.Example"],
        "phone_numbers": ["+44 (0)20 7946-0018 ext. 5"] });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    let person = workspace.writer().person(&reply.id());
    assert_eq!(contacts(&person["emails"]), [("work", "Ada.Lovelace+jobs@X.Example")]);
    assert_eq!(contacts(&person["phones"]), [("mobile", "+44 (0)20 7946-0018 ext. 5")]);
}

#[apply(each_engine)]
fn what_is_no_address_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for wrong in [
        "ada",
        "@x.example",
        "ada@",
        "a@b@x.example",
        "a da@x.example",
        "Ada <ada@x.example>",
        "a@x.example, b@x.example",
    ] {
        for (field, body) in [
            ("emails[1]", json!({ "name": "Ada", "emails": ["good@x.example", wrong] })),
            ("work_email", json!({ "name": "Ada", "work_email": wrong })),
            ("personal_email", json!({ "name": "Ada", "personal_email": wrong })),
        ] {
            let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
            assert_eq!(
                (reply.detail_fields(), reply.flaw(field)),
                (vec![field], "INVALID_EMAIL"),
                "{body}"
            );
        }
    }
}

#[apply(each_engine)]
fn what_is_no_phone_number_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for (field, body) in [
        ("phone_numbers[0]", json!({ "name": "Ada", "phone_numbers": ["call me"] })),
        ("mobile_phone", json!({ "name": "Ada", "mobile_phone": "unknown" })),
        ("work_phone", json!({ "name": "Ada", "work_phone": "+" })),
    ] {
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw(field)),
            (vec![field], "INVALID_PHONE"),
            "{body}"
        );
    }
}

#[apply(each_engine)]
fn digits_of_any_script_tell_numbers_apart(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Jp", "phone_numbers": ["０３-1234-5678", "０６-1234-5678", "03 1234 \
        5678", "٠٥٠١٢٣٤٥٦٧"] });
    let person = client.new_person(&body);
    let phones = client.get(&format!("{PATH}/{person}")).expect(200).data()["phones"].clone();
    assert_eq!(strings(&phones, "value"), ["０３-1234-5678", "０６-1234-5678", "٠٥٠١٢٣٤٥٦٧"]);
    let found = client.get(&format!("{PATH}?phone=050-123-4567")).expect(200);
    assert_eq!(strings(found.data(), "id"), [person]);
}

#[apply(each_engine)]
fn a_create_takes_plain_strings_only(workspace: &Workspace) {
    let entry = json!([{ "contact_data_type": "work", "value": "ada@x.example" }]);
    for field in ["emails", "phone_numbers"] {
        let reply = workspace
            .writer()
            .post(PATH, &json!({ "name": "Ada", field: entry }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw(&format!("{field}[0]")), "INVALID_TYPE");
    }
}
