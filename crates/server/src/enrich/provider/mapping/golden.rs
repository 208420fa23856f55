//! Each ready mapping against an answer in the shape that its service documents, with the profile
//! that comes of it. The persons are invented.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use slated_model::clock::Date;
use slated_model::enrichment::profile::{Profile, Reading};

use super::ready::{self, READY};

fn file(mapping: &str, name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(mapping).join(name);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(reading: &Reading) -> Value {
    let Reading { profile, refused } = reading;
    json!({
        "name": profile.name.as_ref().map(|name| json!({ "whole": name.whole, "first": name.first,
            "last": name.last })),
        "social": profile.social.as_ref().map(|social| json!({ "url": social.url,
            "handle": social.handle })),
        "current_job_title": profile.current_job_title,
        "company_name": profile.company_name,
        "social_location": profile.social_location,
        "social_headline": profile.social_headline,
        "address": profile.address,
        "emails": profile.emails.entries(),
        "phones": profile.phones.entries(),
        "work_experience": profile.work_experience,
        "education_experience": profile.education_experience,
        "certifications": profile.certifications,
        "refused": refused,
    })
}

#[test]
fn answers_become_the_profiles_that_are_kept_beside_them() {
    let today = Date::parse("2026-11-15").unwrap();
    for (name, _) in READY {
        let mapping = ready::find(name).unwrap_or_else(|reason| panic!("{reason}"));
        let mapped = mapping
            .apply(&file(name, "answer.json"))
            .unwrap_or_else(|reason| panic!("{name}: {reason}"));
        let reading = Profile::read(&mapped.unwrap_or_default(), today);
        let (seen, expected) = (shown(&reading), file(name, "profile.json"));
        assert_eq!(seen, expected, "{name}:\n{seen:#}");
    }
}
