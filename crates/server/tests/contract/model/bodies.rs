//! Random valid bodies. They draw from few values, so that names and identifiers collide often.

use rand::RngExt;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use serde_json::{Value, json};

use super::learned::placeholder;
use super::world::World;

const FIRST_NAMES: [&str; 6] = ["Ada", "Grace", "Ludwig van", "Mary", "Jürgen", "Zoë"];
const LAST_NAMES: [&str; 6] = ["Lovelace", "Hopper", "Beethoven", "Shelley", "Okafor", "O'Neil"];
const TITLES: [&str; 4] = ["Analyst", "Engineer", " Head of Design ", "Änderungsmanagerin"];
const COMPANIES: [&str; 7] =
    ["Acme", "ACME ", "Globex", "Initech", " initech", "Umbrella  Corp", "umbrella corp"];
const PLACES: [&str; 3] = ["London", "Zürich", "Remote"];
const NOTES: [&str; 4] =
    ["Met at the fair.", "Wants to\nmove.", " Called back. ", "Prefers mornings."];
const JOBS: [&str; 5] = ["Engineer", "Chief Analyst", "Designer", "  Painter", "Poet"];
const STAGES: [&str; 6] = ["Applied", "Interview", "interview", "Offer", "Hired", "Turned down"];
const STATUSES: [&str; 8] =
    ["Open", "open ", "Won", "Lost", "On  hold", "Waiting", "Closed", "Filled"];
/// The persons who are pushed, each with identifiers of their own.
const KNOWN: usize = 24;

fn pick<'t>(random: &mut SmallRng, texts: &[&'t str]) -> &'t str {
    texts.choose(random).unwrap()
}

fn add(
    random: &mut SmallRng,
    body: &mut Value,
    in_so_many: u32,
    field: &str,
    value: impl FnOnce(&mut SmallRng) -> Value,
) {
    if random.random_ratio(1, in_so_many) {
        body[field] = value(random);
    }
}

pub fn email(random: &mut SmallRng) -> String {
    let known = random.random_range(0..KNOWN);
    email_of(random, known)
}

fn email_of(random: &mut SmallRng, known: usize) -> String {
    let box_name = pick(random, &["a", "b"]);
    let domain = pick(random, &["x.example", "X.Example"]);
    format!("{box_name}{known}@{domain}")
}

fn phone_of(random: &mut SmallRng, known: usize) -> String {
    let form = pick(random, &["+44 20 7946 00", "44(20)794600", "0044 161 496 0"]);
    format!("{form}{known:02}")
}

fn social_url(random: &mut SmallRng, known: usize) -> String {
    let end = pick(random, &["", "/", "/?trk=x", "/details"]);
    let (scheme, name) =
        (pick(random, &["https://", "http://", ""]), pick(random, &["person", "Person"]));
    // Mostly the same network, sometimes somebody else's handle on it.
    let host = pick(
        random,
        &[
            "social.example",
            "social.example",
            "www.social.example",
            "de.social.example",
            "code.example",
        ],
    );
    let other = if random.random_ratio(1, 8) { "-other" } else { "" };
    format!("{scheme}{host}/in/{name}-{known}{other}{end}")
}

fn add_name(random: &mut SmallRng, body: &mut Value) {
    let (first, last) = (pick(random, &FIRST_NAMES), pick(random, &LAST_NAMES));
    match random.random_range(0..6) {
        0..3 => body["name"] = json!(format!("{first} {last}")),
        3 => (body["first_name"], body["last_name"]) = (json!(first), json!(last)),
        4 => (body["name"], body["first_name"]) = (json!(format!(" {first} {last}")), json!(first)),
        _ => body["last_name"] = json!(last),
    }
}

pub fn new_person(random: &mut SmallRng, world: &World) -> Value {
    let known = random.random_range(0..KNOWN);
    let mut body = json!({});
    if random.random_ratio(1, 2) {
        body["social_url"] = json!(social_url(random, known));
    }
    add(random, &mut body, 3, "external_source_id", |random| {
        json!(format!("{}-{known}", pick(random, &["crm", "crm", "crm", "ats"])))
    });
    add(random, &mut body, 2, "emails", |random| {
        json!([email_of(random, known), email_of(random, known), " "])
    });
    add(random, &mut body, 5, "work_email", |random| json!(email_of(random, known)));
    add(random, &mut body, 5, "personal_email", |random| json!(email_of(random, known)));
    // The address of another person, which makes a conflict or joins the two.
    add(random, &mut body, 15, "personal_email", |random| json!(email(random)));
    add(random, &mut body, 4, "phone_numbers", |random| {
        json!([phone_of(random, known), phone_of(random, known)])
    });
    add(random, &mut body, 6, "work_phone", |random| json!(phone_of(random, known)));
    let is_known_otherwise =
        ["social_url", "emails", "work_email", "personal_email", "phone_numbers", "work_phone"]
            .iter()
            .any(|field| body.get(*field).is_some());
    if !is_known_otherwise || random.random_ratio(4, 5) {
        add_name(random, &mut body);
    }
    add(random, &mut body, 3, "current_job_title", |random| json!(pick(random, &TITLES)));
    add(random, &mut body, 3, "company_name", |random| json!(pick(random, &COMPANIES)));
    add(random, &mut body, 4, "social_location", |random| json!(pick(random, &PLACES)));
    add(random, &mut body, 5, "notes", |random| json!(pick(random, &NOTES)));
    if let Some(job) = world.jobs.keys().choose(random).filter(|_| random.random_ratio(1, 3)) {
        body["job_id"] = json!(placeholder("job", *job));
    }
    body
}

fn entries(
    random: &mut SmallRng,
    types: &[&str],
    value: impl Fn(&mut SmallRng) -> String,
) -> Value {
    let count = random.random_range(0..4);
    let entry = |random: &mut SmallRng| match random.random_ratio(1, 3) {
        true => json!({ "value": value(random) }),
        false => json!({ "contact_data_type": pick(random, types), "value": value(random) }),
    };
    (0..count).map(|_| entry(random)).collect()
}

/// The text, or a value that clears the field.
fn or_clear(random: &mut SmallRng, text: &str) -> Value {
    match random.random_range(0..8) {
        0 => Value::Null,
        1 => json!(" "),
        _ => json!(text),
    }
}

pub fn person_patch(random: &mut SmallRng, world: &World) -> Value {
    let known = random.random_range(0..KNOWN);
    let mut body = json!({});
    for _ in 0..random.random_range(0..4) {
        let (field, value) = match random.random_range(0..14) {
            0..2 => {
                ("name", format!("{} {}", pick(random, &FIRST_NAMES), pick(random, &LAST_NAMES)))
            }
            2 => ("first_name", pick(random, &FIRST_NAMES).to_owned()),
            3 => ("last_name", pick(random, &LAST_NAMES).to_owned()),
            4 => ("social_url", social_url(random, known)),
            5..7 => ("current_job_title", pick(random, &TITLES).to_owned()),
            7..9 => ("company_name", pick(random, &COMPANIES).to_owned()),
            9 => ("social_location", pick(random, &PLACES).to_owned()),
            10 => ("social_headline", "First programmer".to_owned()),
            11 => ("address", "12 St James's Square\nLondon".to_owned()),
            12 => ("mobile_phone", phone_of(random, known)),
            _ => ("work_phone", phone_of(random, known)),
        };
        body[field] = or_clear(random, &value);
    }
    match random.random_range(0..8) {
        0 => {
            body["emails"] =
                entries(random, &["work", "personal", "other", "work_email"], |random| {
                    email_of(random, known)
                })
        }
        1 => body["work_email"] = json!(email(random)),
        2 => body["personal_email"] = json!(email(random)),
        3 => body["work_email"] = Value::Null,
        4 => {
            body["emails"] =
                entries(random, &["work", "personal"], |random| email_of(random, known));
            let address = email_of(random, known);
            body["work_email"] = or_clear(random, &address);
        }
        _ => {}
    }
    if body.get("mobile_phone").or(body.get("work_phone")).is_none() && random.random_ratio(1, 8) {
        body["phone_numbers"] =
            entries(random, &["mobile", "home", "other", "mobile_phone"], |random| {
                phone_of(random, known)
            });
    }
    if let Some(job) = world.jobs.keys().choose(random).filter(|_| random.random_ratio(1, 8)) {
        body["job_id"] = json!(placeholder("job", *job));
    }
    body
}

fn add_client(random: &mut SmallRng, body: &mut Value, world: &World) {
    match world.jobs.values().choose(random).filter(|_| random.random_ratio(1, 3)) {
        Some(job) => body["client_company_id"] = json!(placeholder("cmp", job.client)),
        None => body["client_company_name"] = json!(pick(random, &COMPANIES)),
    }
}

fn status_of(random: &mut SmallRng, world: &World) -> String {
    world.statuses.iter().choose(random).map(|(_, name)| name.to_uppercase()).unwrap_or_default()
}

pub fn new_job(random: &mut SmallRng, world: &World) -> Value {
    let mut body = json!({ "name": pick(random, &JOBS) });
    add_client(random, &mut body, world);
    add(random, &mut body, 3, "job_status_name", |random| json!(status_of(random, world)));
    add(random, &mut body, 2, "pipeline_stages", |random| {
        let mut stages: Vec<_> =
            (0..random.random_range(1..5)).map(|_| new_stage(random)).collect();
        stages
            .iter_mut()
            .for_each(|stage| drop(stage.as_object_mut().unwrap().remove("stage_order")));
        stages[0]["is_rejection_stage"] = json!(false);
        json!(stages)
    });
    body
}

pub fn job_patch(random: &mut SmallRng, world: &World) -> Value {
    let mut body = json!({});
    add(random, &mut body, 2, "name", |random| json!(pick(random, &JOBS)));
    add(random, &mut body, 3, "is_archived", |random| json!(random.random_bool(0.5)));
    match world.statuses.iter().choose(random).filter(|_| random.random_ratio(1, 3)) {
        Some((number, _)) if random.random_bool(0.5) => {
            body["job_status_id"] = json!(placeholder("sts", *number))
        }
        Some(_) => body["job_status_name"] = json!(status_of(random, world)),
        None => {}
    }
    if random.random_ratio(1, 4) {
        add_client(random, &mut body, world);
    }
    body
}

pub fn status(random: &mut SmallRng) -> &'static str {
    pick(random, &STATUSES)
}

pub fn new_stage(random: &mut SmallRng) -> Value {
    let mut body = json!({ "name": pick(random, &STAGES) });
    add_flags(random, &mut body);
    body
}

fn add_flags(random: &mut SmallRng, body: &mut Value) {
    add(random, body, 3, "stage_order", |random| json!(random.random_range(1..=12)));
    add(random, body, 4, "is_rejection_stage", |random| json!(random.random_bool(0.5)));
    add(random, body, 4, "is_interviewing_stage", |random| json!(random.random_bool(0.5)));
}

pub fn stage_patch(random: &mut SmallRng) -> Value {
    let mut body = json!({});
    add(random, &mut body, 2, "name", |random| json!(pick(random, &STAGES)));
    add_flags(random, &mut body);
    body
}

pub fn note(random: &mut SmallRng) -> &'static str {
    pick(random, &NOTES)
}
