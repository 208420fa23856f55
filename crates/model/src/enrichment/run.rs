//! Enrichment of many persons at once: of whom, and how far it is.

use serde::{Deserialize, Serialize};

use super::field::Field;
use crate::clock::Timestamp;
use crate::id;
use crate::input::Fields;
use crate::listing::TimeFilter;
use crate::patch::Patch;
use crate::problem::FieldErrorCode;
use crate::text::{did_you_mean, limit};

/// Persons that a filter may name.
pub const MAX_PERSONS: usize = 1000;
const MAX_TIME: usize = 64;

named! {
    RunState {
        Running "running"
        Done "done"
        Cancelled "cancelled"
    }
}

/// The persons that a run is about: those whom all of it fits. It is shown again as it was given.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFilter {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub person_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_before: Option<String>,
    /// Fields of which at least one is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub never_enriched: bool,
}

const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl RunFilter {
    /// The fields that somebody may miss. A person always has a name, and an outside id is nothing
    /// that others know.
    pub const MISSABLE: [Field; 11] = [
        Field::CurrentJobTitle,
        Field::CurrentCompanyName,
        Field::SocialUrl,
        Field::SocialLocation,
        Field::SocialHeadline,
        Field::Address,
        Field::Emails,
        Field::Phones,
        Field::WorkExperience,
        Field::EducationExperience,
        Field::Certifications,
    ];

    /// Whether the records exist that it names is not looked at here.
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let person_ids = match fields.patch_ids::<id::Person>("person_ids", MAX_PERSONS) {
            Patch::Set(references) => {
                references.into_iter().map(|reference| reference.written).collect()
            }
            Patch::Absent | Patch::Clear => Vec::new(),
        };
        Self {
            person_ids,
            company_id: fields.text("company_id", limit::NAME),
            job_id: fields.text("job_id", limit::NAME),
            created_after: read_time(fields, "created_after"),
            created_before: read_time(fields, "created_before"),
            updated_after: read_time(fields, "updated_after"),
            updated_before: read_time(fields, "updated_before"),
            missing: fields.names("missing", Self::MISSABLE.len(), check_missable),
            never_enriched: fields.flag("never_enriched"),
        }
    }

    #[must_use]
    pub fn times(&self) -> TimeFilter {
        let after = |written: &Option<String>| written.as_deref().and_then(Timestamp::parse);
        let before = |written: &Option<String>| written.as_deref().and_then(Timestamp::parse_bound);
        TimeFilter {
            created_after: after(&self.created_after),
            created_before: before(&self.created_before),
            updated_after: after(&self.updated_after),
            updated_before: before(&self.updated_before),
        }
    }

    #[must_use]
    pub fn missing_fields(&self) -> Vec<Field> {
        self.missing.iter().filter_map(|name| Field::parse(name)).collect()
    }
}

fn read_time(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    fields.parsed(name, MAX_TIME, |written| match Timestamp::parse(&written) {
        Some(_) => Ok(written),
        None => Err((
            FieldErrorCode::InvalidDate,
            "must be a time such as 2026-11-15T09:30:00Z or a date such as 2026-11-15".to_owned(),
        )),
    })
}

fn check_missable(written: String) -> Result<String, (FieldErrorCode, String)> {
    let names = RunFilter::MISSABLE.map(Field::name);
    if names.contains(&written.as_str()) {
        return Ok(written);
    }
    let hint = did_you_mean(&written, &names)
        .map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Err((FieldErrorCode::InvalidValue, format!("must be one of {}{hint}", names.join(", "))))
}

/// A run to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRun {
    pub filter: RunFilter,
    /// Whether to ask although an answer is kept.
    pub refresh: bool,
}

impl NewRun {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let filter =
            fields.needed("filter", |fields| fields.patch_object("filter", RunFilter::read));
        Self { filter: filter.unwrap_or_default(), refresh: fields.flag("refresh") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::read_body;
    use crate::problem::Problem;

    fn read(body: &str) -> Result<NewRun, Problem> {
        read_body(body.as_bytes(), NewRun::read)
    }

    fn flaws(body: &str) -> Vec<(String, FieldErrorCode)> {
        read(body)
            .unwrap_err()
            .details
            .into_iter()
            .map(|detail| (detail.field, detail.code))
            .collect()
    }

    #[test]
    fn states_are_read_back() {
        for state in RunState::ALL {
            assert_eq!(RunState::parse(state.name()), Some(*state));
        }
        assert_eq!(RunState::parse("finished"), None);
    }

    #[test]
    fn a_filter_is_needed_and_may_be_empty() {
        assert_eq!(
            read(r#"{"filter": {}}"#),
            Ok(NewRun { filter: RunFilter::default(), refresh: false })
        );
        assert!(read(r#"{"filter": {}, "refresh": true}"#).unwrap().refresh);
        for body in ["{}", r#"{"filter": null}"#, r#"{"refresh": true}"#] {
            assert_eq!(flaws(body), [("filter".to_owned(), FieldErrorCode::Required)], "{body}");
        }
        assert_eq!(
            flaws(r#"{"filter": []}"#),
            [("filter".to_owned(), FieldErrorCode::InvalidType)]
        );
        assert_eq!(flaws(r#"{"filter": {"persons": []}, "all": true}"#).len(), 2);
    }

    #[test]
    fn a_filter_is_shown_as_it_was_given() {
        let given = concat!(
            r#"{"person_ids":["per_1"],"company_id":"cmp_1","job_id":"job_1","created_after":"2026-01-01","#,
            r#""created_before":"2026-02-01T00:00:00+01:00","updated_after":"2026-01-01","updated_before":"2026-11-15","#,
            r#""missing":["current_job_title","emails"],"never_enriched":true}"#
        );
        let filter = read(&format!(r#"{{"filter": {given}}}"#)).unwrap().filter;
        assert_eq!(serde_json::to_string(&filter).unwrap(), given);
        assert_eq!(serde_json::from_str::<RunFilter>(given).unwrap(), filter);
        assert_eq!(serde_json::to_string(&RunFilter::default()).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<RunFilter>("{}").unwrap(), RunFilter::default());
    }

    #[test]
    fn a_filter_says_what_it_means() {
        let filter = read(
            r#"{"filter": {"created_after": "2026-01-01", "missing": ["phones", "address"]}}"#,
        )
        .unwrap()
        .filter;
        let after = Timestamp::parse("2026-01-01");
        assert_eq!(filter.times(), TimeFilter { created_after: after, ..TimeFilter::default() });
        assert_eq!(filter.missing_fields(), [Field::Phones, Field::Address]);
        assert_eq!(RunFilter::default().times(), TimeFilter::default());
    }

    #[test]
    fn what_cannot_be_filtered_by_is_refused_with_its_path() {
        let body = concat!(
            r#"{"filter": {"person_ids": [], "created_after": "May", "missing": ["emails", "name", "phone"], "#,
            r#""never_enriched": 1, "company_id": 7}}"#
        );
        assert_eq!(
            flaws(body),
            [
                ("filter.person_ids".to_owned(), FieldErrorCode::TooFew),
                ("filter.company_id".to_owned(), FieldErrorCode::InvalidType),
                ("filter.created_after".to_owned(), FieldErrorCode::InvalidDate),
                ("filter.missing[1]".to_owned(), FieldErrorCode::InvalidValue),
                ("filter.missing[2]".to_owned(), FieldErrorCode::InvalidValue),
                ("filter.never_enriched".to_owned(), FieldErrorCode::InvalidType),
            ]
        );
        assert!(read(body).unwrap_err().details[4].message.contains("did you mean phones?"));
        assert_eq!(
            flaws(r#"{"filter": {"person_ids": ["per_1", "per_1"]}}"#),
            [("filter.person_ids[1]".to_owned(), FieldErrorCode::InvalidValue)]
        );
        let many = format!(
            r#"{{"filter": {{"person_ids": [{}]}}}}"#,
            vec!["\"x\""; MAX_PERSONS + 1].join(",")
        );
        assert_eq!(flaws(&many), [("filter.person_ids".to_owned(), FieldErrorCode::TooMany)]);
    }

    #[test]
    fn a_list_of_no_fields_does_not_mean_everybody() {
        assert_eq!(
            flaws(r#"{"filter": {"missing": []}}"#),
            [("filter.missing".to_owned(), FieldErrorCode::TooFew)]
        );
        assert_eq!(
            flaws(r#"{"filter": {"missing": [" "]}}"#),
            [("filter.missing[0]".to_owned(), FieldErrorCode::InvalidValue)]
        );
    }

    #[test]
    fn a_list_that_is_null_is_absent() {
        let body = r#"{"filter": {"person_ids": null, "missing": null, "never_enriched": null, "company_id": " "}}"#;
        assert_eq!(read(body).unwrap().filter, RunFilter::default());
    }
}
