//! What the OpenAPI document says of single fields and parameters. It mirrors the rules of the
//! model, which it takes its bounds from.

use serde_json::{Value, json};
use slated_model::candidate::MAX_TOGETHER;
use slated_model::career::{MAX_MONTHS, MAX_SOCIAL_ID};
use slated_model::enrichment::Field;
use slated_model::enrichment::run::{self, RunFilter};
use slated_model::event::EventType;
use slated_model::key::{self, Scope};
use slated_model::listing::{MAX_OFFSET, MAX_PER_PAGE};
use slated_model::text::limit;
use slated_model::webhook::{MAX_DESCRIPTION_LENGTH, MAX_OVERLAP_SECONDS, MAX_TYPES};

use crate::api::v1::events::list::MAX_EVENTS_PER_PAGE;
use crate::api::v1::persons::create_many::MAX_PERSONS;

/// White space, which is trimmed, for use inside brackets.
macro_rules! blank {
    () => {
        r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    };
}

/// White space and control characters, for use inside brackets.
macro_rules! space {
    () => {
        r"\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    };
}

/// What may stand in neither part of an e-mail address.
macro_rules! barred {
    () => {
        concat!(space!(), r#"@<>,;"()"#)
    };
}

/// A host with at least as many dots as given and at most 253 characters: a few long labels or many
/// short ones.
macro_rules! host {
    ($dots:literal) => {
        concat!(
            "([A-Za-z0-9][A-Za-z0-9-]{0,61}(\\.[A-Za-z0-9-]{1,62}){",
            $dots,
            ",3}|[A-Za-z0-9][A-Za-z0-9-]{0,13}(\\.[A-Za-z0-9-]{1,14}){",
            $dots,
            ",15})"
        )
    };
}

/// How an http or https URL begins.
macro_rules! origin {
    () => {
        concat!("https?://", host!(0), r"\.?", port!())
    };
}

macro_rules! port {
    () => {
        "(:([0-9]{1,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    };
}

/// White space around a value is trimmed, so it may stand there even where a line must hold no
/// control characters.
const LINE: &str = r"^[\t-\r ]*[^\u0000-\u001f\u007f]*[\t-\r ]*$";
const LINE_NOT_BLANK: &str = concat!(
    r"^[",
    blank!(),
    r"]*[^\u0000-\u001f\u007f",
    blank!(),
    r"][^\u0000-\u001f\u007f]*[\t-\r ]*$"
);
const TEXT_NOT_BLANK: &str = concat!(
    r"^[",
    blank!(),
    r"]*[^\u0000-\u001f\u007f",
    blank!(),
    r"][^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*[\t-\r ]*$"
);
const TEXT: &str = r"^[\t-\r ]*[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*[\t-\r ]*$";
const EMAIL: &str = concat!(
    r"^[\t-\r ]*[^",
    barred!(),
    r"]+@[^",
    barred!(),
    r".]+(\.[^",
    barred!(),
    r".]+)+[\t-\r ]*$"
);
const PHONE: &str = r"^[\t-\r ]*([^\u0000-\u001f\u007f]*[0-9\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0de6-\u0def\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049\u1090-\u1099\u17e0-\u17e9\u1810-\u1819\u1946-\u194f\u19d0-\u19d9\u1a80-\u1a89\u1a90-\u1a99\u1b50-\u1b59\u1bb0-\u1bb9\u1c40-\u1c49\u1c50-\u1c59\ua620-\ua629\ua8d0-\ua8d9\ua900-\ua909\ua9d0-\ua9d9\ua9f0-\ua9f9\uaa50-\uaa59\uabf0-\uabf9\uff10-\uff19]){3}[^\u0000-\u001f\u007f]*[\t-\r ]*$";
/// The scheme may be left out where the host has a dot.
const SOCIAL_URL: &str = concat!(
    r"^[\t-\r ]*(https?://",
    host!(0),
    "|",
    host!(1),
    r")\.?",
    port!(),
    "(/[^/?#",
    space!(),
    r"]+)+/?([?#][^",
    space!(),
    r"]*)?[\t-\r ]*$"
);
const URL: &str = concat!(r"^[\t-\r ]*", origin!(), "([/?#][^", space!(), r"]*)?[\t-\r ]*$");
/// Names only: of an address it depends on whether it is public.
const WEBHOOK_URL: &str = r"^https?://([a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?\.){1,7}[a-z]([a-z0-9-]{0,28}[a-z0-9])?(:[1-9][0-9]{0,3}|:[1-5][0-9]{4})?(/([A-Za-z0-9/_.~-]|%[0-9A-F]{2})*)?(\?([A-Za-z0-9/_.~=&-]|%[0-9A-F]{2})*)?$";
const NOT_BLANK: &str = concat!("[^", blank!(), "]");
const BLANK: &str = r"^[\t-\r ]*$";
const PERSON_ID: &str = "per_[0-7][0-9a-hjkmnp-tv-z]{25}";

/// Adds to every request body what its fields may hold, and that it holds nothing else.
pub fn constrain_bodies(schemas: &mut Value) {
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if !(name.contains("Body") || name.ends_with("Input")) {
            continue;
        }
        schema["additionalProperties"] = false.into();
        for (field, property) in schema["properties"].as_object_mut().into_iter().flatten() {
            constrain(name, field, property);
        }
        match name.as_str() {
            "CreatePersonBody" | "CreatePersonBodyV0" => {
                let mut ways: Vec<_> = ["name", "first_name", "last_name"]
                    .map(|field| filled(field, LINE_NOT_BLANK))
                    .into();
                // What these hold, if anything, the fields themselves say.
                let others = match name.as_str() {
                    "CreatePersonBody" => &[
                        "social_url",
                        "work_email",
                        "personal_email",
                        "mobile_phone",
                        "work_phone",
                    ][..],
                    _ => &["social_url", "email", "phone_number"],
                };
                ways.extend(others.iter().map(|field| filled(field, NOT_BLANK)));
                ways.extend(["emails", "phone_numbers"].map(|field| holding(field, NOT_BLANK)));
                schema["allOf"] = json!([{"anyOf": ways}]);
            }
            "CreateJobBody" => {
                let ways = [
                    filled("client_company_name", LINE_NOT_BLANK),
                    filled("client_company_id", LINE_NOT_BLANK),
                ];
                schema["allOf"] = json!([{"anyOf": ways}]);
                let template = json!({"type": "string", "pattern": LINE_NOT_BLANK});
                let pipelines = json!({"required": ["pipeline_template_id", "pipeline_stages"],
                    "properties": {"pipeline_template_id": template,
                        "pipeline_stages": {"type": "array", "items": {}}}});
                schema["not"] =
                    json!({"anyOf": [both("client_company_id", "client_company_name"), pipelines]});
                schema["properties"]["pipeline_stages"]["contains"] = no_rejection_stage();
            }
            "CreateTemplateBody" | "UpdateTemplateBody" => {
                schema["properties"]["pipeline_stages"]["contains"] = no_rejection_stage()
            }
            "MoveCandidateBody" | "MoveCandidatesBody" => {
                schema["allOf"] = json!([{"anyOf": [filled("stage_id", LINE_NOT_BLANK),
                    filled("stage_name", LINE_NOT_BLANK)]}]);
                schema["not"] = both("stage_id", "stage_name");
            }
            "UpdateJobBody" => {
                schema["not"] = json!({"anyOf": [both("client_company_id", "client_company_name"),
                    both("job_status_id", "job_status_name")]});
            }
            _ => {}
        }
    }
}

/// Lets envelopes name the shape that they hold, which stands in each of them as a copy.
pub fn refer_to_shapes(schemas: &mut Value) {
    let names: Vec<String> =
        schemas.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for name in &names {
        let Some((_, held)) = name.rsplit_once('_') else { continue };
        if !names.iter().any(|known| known == held) {
            continue;
        }
        let data = &mut schemas[name]["properties"]["data"];
        let copy = if data["type"] == "array" { &mut data["items"] } else { data };
        if copy["type"] == "object" {
            *copy = json!({"$ref": format!("#/components/schemas/{held}")});
        }
    }
}

/// Says of each moment that it is one. Answers are open: they may get more fields.
pub fn describe_moments(schemas: &mut Value) {
    for (_, schema) in schemas.as_object_mut().into_iter().flatten() {
        for (field, property) in
            schema.pointer_mut("/properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            let is_text =
                property["type"] == "string" || property["type"] == json!(["string", "null"]);
            if (field.ends_with("_at") || field == "at") && is_text && property["format"].is_null()
            {
                property["format"] = "date-time".into();
            }
        }
    }
}

fn no_rejection_stage() -> Value {
    json!({"type": "object", "properties": {"is_rejection_stage": {"enum": [false, null]}}})
}

/// A field that must be there and hold something.
fn filled(field: &str, pattern: &str) -> Value {
    json!({"required": [field], "properties": {field: {"type": "string", "pattern": pattern}}})
}

/// A list that must be there and hold something.
fn holding(field: &str, pattern: &str) -> Value {
    let list =
        json!({"type": "array", "items": {}, "contains": {"type": "string", "pattern": pattern}});
    json!({"required": [field], "properties": {field: list}})
}

/// Two fields that say the same thing in two ways.
fn both(one: &str, other: &str) -> Value {
    let given = json!({"type": "string", "pattern": LINE_NOT_BLANK});
    json!({"required": [one, other], "properties": {one: given, other: given}})
}

fn or_blank(pattern: &str) -> String {
    format!("{pattern}|{BLANK}")
}

fn text(property: &mut Value, longest: usize, pattern: &str) {
    property["maxLength"] = longest.into();
    property["pattern"] = pattern.into();
}

fn constrain(body: &str, field: &str, property: &mut Value) {
    let is_needed = property["type"] == "string";
    match (body, field) {
        ("EmailInput", "value") => text(property, limit::EMAIL, EMAIL),
        ("PhoneInput", "value") => text(property, limit::PHONE, PHONE),
        ("EmailInput", "contact_data_type") => {
            property["pattern"] =
                r"^[\t-\r ]*(work|personal|other|work_email|personal_email)?[\t-\r ]*$".into()
        }
        ("PhoneInput", "contact_data_type") => {
            property["pattern"] =
                r"^[\t-\r ]*(mobile|work|home|other|mobile_phone|work_phone)?[\t-\r ]*$".into()
        }
        ("CreatePersonBody" | "CreatePersonBodyV0", "emails") => {
            list_of(property, limit::EMAIL, &or_blank(EMAIL))
        }
        ("CreatePersonBody" | "CreatePersonBodyV0", "phone_numbers") => {
            list_of(property, limit::PHONE, &or_blank(PHONE))
        }
        ("UpdatePersonBody", "emails" | "phone_numbers") => {
            property["maxItems"] = limit::CONTACTS.into()
        }
        (_, "email" | "work_email" | "personal_email") => {
            text(property, limit::EMAIL, &or_blank(EMAIL))
        }
        (_, "phone_number" | "work_phone" | "mobile_phone") => {
            text(property, limit::PHONE, &or_blank(PHONE))
        }
        ("CreateWebhookBody" | "UpdateWebhookBody", "url") => {
            property["type"] = "string".into();
            text(property, limit::URL, WEBHOOK_URL);
        }
        ("CreateWebhookBody" | "UpdateWebhookBody", "types") => {
            property["maxItems"] = MAX_TYPES.into();
            property["items"]["pattern"] =
                format!("{}$", type_patterns().split("(,").next().unwrap_or_default()).into();
        }
        ("CreateWebhookBody" | "UpdateWebhookBody", "description") => {
            text(property, MAX_DESCRIPTION_LENGTH, TEXT)
        }
        ("RotateSecretBody", _) => number(property, MAX_OVERLAP_SECONDS),
        ("RotateKeyBody", _) => number(property, key::MAX_OVERLAP_SECONDS),
        ("CreateKeyBody", "scope") => {
            property["enum"] = Scope::ALL.map(Scope::name).to_vec().into()
        }
        ("CreateKeyBody", "expires_at")
        | (
            "RunFilterInput",
            "created_after" | "created_before" | "updated_after" | "updated_before",
        ) => {
            let about = property["description"].take();
            *property = json!({"anyOf": [{"type": "string", "format": "date-time"},
                {"type": "string", "format": "date"}, {"type": "string", "pattern": BLANK},
                {"type": "null"}], "description": about});
        }
        ("CreatePersonsBody", "persons") => {
            (property["minItems"], property["maxItems"]) = (1.into(), MAX_PERSONS.into())
        }
        ("RunFilterInput", "person_ids") => ids(property, run::MAX_PERSONS),
        ("RunFilterInput", "missing") => {
            (property["minItems"], property["maxItems"]) =
                (1.into(), RunFilter::MISSABLE.len().into());
            text(&mut property["items"], limit::NAME, &missable());
        }
        ("ReplayBody", _) => number(property, MAX_OFFSET),
        ("ReorderStagesBody", "stage_ids") => {
            property["uniqueItems"] = true.into();
            text(&mut property["items"], limit::NAME, LINE_NOT_BLANK);
        }
        ("AddCandidatesBody", _) | ("MoveCandidatesBody", "candidate_ids") => {
            ids(property, MAX_TOGETHER)
        }
        ("NoteBody", _) => text(property, limit::NOTE, TEXT_NOT_BLANK),
        (_, "social_url") => text(property, limit::URL, &or_blank(SOCIAL_URL)),
        (_, "company_social_url") => text(property, limit::URL, &or_blank(URL)),
        (_, "notes") => text(property, limit::NOTE, TEXT),
        (_, "description") => text(property, limit::DESCRIPTION, TEXT),
        (_, "address") => text(property, limit::ADDRESS, TEXT),
        (_, "start_date" | "end_date") => {
            let about = property["description"].take();
            *property = json!({"anyOf": [{"type": "string", "format": "date",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, {"type": "string", "pattern": BLANK},
                {"type": "null"}]});
            if about.is_string() {
                property["description"] = about;
            }
        }
        (_, "duration_in_months") => number(property, MAX_MONTHS),
        (_, "company_social_id") => number(property, MAX_SOCIAL_ID),
        ("UpdateJobBody", "is_archived") => {}
        ("UpdateJobBody", _) => text(property, limit::NAME, LINE_NOT_BLANK),
        (_, _) if is_needed => text(property, limit::NAME, LINE_NOT_BLANK),
        (_, _)
            if property["type"]
                .as_array()
                .is_some_and(|types| types.contains(&json!("string"))) =>
        {
            text(property, limit::NAME, LINE)
        }
        _ => {}
    }
}

fn list_of(property: &mut Value, longest: usize, pattern: &str) {
    property["maxItems"] = limit::CONTACTS.into();
    text(&mut property["items"], longest, pattern);
}

/// A field that a person may lack. Blank entries are left out.
fn missable() -> String {
    format!("^[{0}]*({1})[{0}]*$", blank!(), RunFilter::MISSABLE.map(Field::name).join("|"))
}

/// References to 1 to `most` records, each once. They are compared without the white space around
/// them, so here they have none.
fn ids(property: &mut Value, most: usize) {
    (property["minItems"], property["maxItems"], property["uniqueItems"]) =
        (1.into(), most.into(), true.into());
    text(&mut property["items"], limit::NAME, "^[!-~]+$");
}

fn number(property: &mut Value, most: i64) {
    property["minimum"] = 0.into();
    property["maximum"] = most.into();
}

/// A parameter that is there holds something, even if its type would let it be null or empty.
pub fn constrain_query(path: &str, parameter: &mut Value) {
    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
    let (is_feed, is_list) = (path == "/v1/events", path.ends_with("/jobs"));
    let schema = &mut parameter["schema"];
    if let Some(types) = schema["type"].as_array()
        && let Some(kind) = types.iter().find(|kind| *kind != "null").cloned()
    {
        schema["type"] = kind;
    }
    match name.as_str() {
        "after" => {
            *schema = json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_OFFSET},
                {"const": "latest"}]})
        }
        "before" => number(schema, MAX_OFFSET),
        "offset" => *schema = offset_schema(),
        "limit" => {
            (schema["minimum"], schema["maximum"]) =
                (1.into(), if is_feed { MAX_EVENTS_PER_PAGE } else { MAX_PER_PAGE }.into());
            schema["default"] = 100.into();
        }
        "types" => schema["pattern"] = type_patterns().into(),
        "cursor" if path == "/v1/persons/duplicates" => {
            schema["pattern"] = format!("^({PERSON_ID}(\\.{PERSON_ID})?)?$").into()
        }
        "entered_stage_after" | "entered_stage_before" => *schema = moment_schema(),
        "email" => text(schema, limit::EMAIL, EMAIL),
        "phone" => text(schema, limit::PHONE, PHONE),
        "q" if path.ends_with("/persons") || path.ends_with("/candidates") => {
            text(schema, limit::NAME, r"[^\W_]")
        }
        "include" if path.starts_with("/v1/persons/{id}") => {
            schema["pattern"] = "^(profile|notes|provenance)(,(profile|notes|provenance))*$".into()
        }
        "status" if !is_list => schema["enum"] = json!(["pending", "delivered", "failed"]),
        _ if schema["type"] == "string" => text(schema, limit::NAME, LINE_NOT_BLANK),
        _ => {}
    }
}

/// Types of events with commas between: names, families and everything.
fn type_patterns() -> String {
    let mut known: Vec<_> =
        EventType::ALL.iter().map(|kind| kind.name().replace('.', "\\.")).collect();
    known.extend(EventType::ALL.iter().map(|kind| format!("{}\\.\\*", kind.family())));
    known.push("\\*".to_owned());
    known.sort_unstable();
    known.dedup();
    let one = format!("({})", known.join("|"));
    format!("^{one}(,{one})*$")
}

fn offset_schema() -> Value {
    json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_OFFSET}, {"type": "null"},
        {"enum": ["", "null"]}], "default": 0})
}

fn moment_schema() -> Value {
    json!({"anyOf": [{"type": "string", "format": "date-time"},
        {"type": "string", "format": "date"}]})
}

fn query_parameter(name: &str, description: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "query", "required": false, "description": description,
        "schema": schema})
}

/// How the ids of the records in a list begin.
fn listed_kind(path: &str) -> &'static str {
    match path.rsplit('/').next() {
        Some("candidates") => "cnd",
        Some("companies") => "cmp",
        Some("contacts") => "ctc",
        Some("enrichments") => "enr",
        Some("job-statuses") => "sts",
        Some("keys") => "key",
        Some("notes") => "nte",
        Some("persons") => "per",
        Some("pipeline-templates") => "tpl",
        Some("proposals") => "prp",
        Some("stages") => "stg",
        Some("webhooks") => "whk",
        _ => "job",
    }
}

/// The parameters that every list has: those of a page, and the times of its records.
pub fn list_parameters(path: &str) -> Vec<Value> {
    let moment = moment_schema();
    let mut parameters = page_parameters(path);
    parameters.extend([
        query_parameter(
            "created_after",
            "Only records created after this time; a date means 00:00 UTC on that day.",
            &moment,
        ),
        query_parameter("created_before", "Only records created before this time.", &moment),
        query_parameter("updated_after", "Only records changed after this time.", &moment),
        query_parameter("updated_before", "Only records changed before this time.", &moment),
    ]);
    parameters
}

/// The parameters of a list that comes in pages.
pub fn page_parameters(path: &str) -> Vec<Value> {
    let kind = listed_kind(path);
    vec![
        query_parameter(
            "offset",
            "The number of records to skip; empty and `null` mean 0.",
            &offset_schema(),
        ),
        query_parameter(
            "limit",
            "The maximum number of records on a page.",
            &json!({"type": "integer", "minimum": 1, "maximum": MAX_PER_PAGE,
                "default": MAX_PER_PAGE}),
        ),
        query_parameter(
            "cursor",
            "Pages by cursor; `offset` is then ignored. Empty for the first page, then \
             `next_cursor` of the previous page.",
            &json!({"type": "string",
                "pattern": format!("^({kind}_[0-7][0-9a-hjkmnp-tv-z]{{25}}\\.[0-9]{{1,15}}\\.[0-9a-f]{{8}})?$")}),
        ),
        query_parameter(
            "sort",
            "`-created_at` for newest first.",
            &json!({"enum": ["created_at", "-created_at"], "default": "created_at"}),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_number_may_have_the_digits_of_all_scripts_that_are_read() {
        let ranges: String = slated_model::text::ZEROS
            .iter()
            .map(|zero| format!(r"\u{zero:04x}-\u{:04x}", zero + 9))
            .collect();
        assert!(PHONE.contains(&format!("[0-9{ranges}]")), "{ranges}");
    }
}
