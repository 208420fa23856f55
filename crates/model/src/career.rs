//! Career history: where a person worked, what they learned and what they are certified for. It is
//! kept as the JSON that a read gives back, so everything about it is decided here, when it is
//! written.

use serde::{Serialize, Serializer};

use crate::clock::Date;
use crate::id::{self, CompanyId};
use crate::input::{Fields, Reference};
use crate::patch::Patch;
use crate::social::http_url;
use crate::text::{Lines, limit};

pub const MAX_ENTRIES: usize = 100;
/// Past a thousand years something is wrong.
pub const MAX_MONTHS: i64 = 12_000;
pub const MAX_SOCIAL_ID: i64 = 9_007_199_254_740_991;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Position {
    pub title: String,
    #[serde(serialize_with = "date_or_empty")]
    pub start_date: Option<Date>,
    #[serde(serialize_with = "date_or_null")]
    pub end_date: Option<Date>,
    pub duration_in_months: i64,
    pub description: String,
    pub location: String,
    pub position_type: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WorkExperience {
    pub positions: Vec<Position>,
    pub duration_in_months: i64,
    #[serde(flatten)]
    pub company: CareerCompany,
}

/// The company, school or issuer of an entry.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CareerCompany {
    pub company_name: String,
    pub company_social_url: String,
    pub company_social_id: i64,
    pub company_id: Option<CompanyId>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Education {
    pub company_name: String,
    #[serde(serialize_with = "date_or_empty")]
    pub start_date: Option<Date>,
    #[serde(serialize_with = "date_or_empty")]
    pub end_date: Option<Date>,
    pub description: String,
    pub degree: String,
    pub company_social_url: String,
    pub company_social_id: i64,
    pub company_id: Option<CompanyId>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Certification {
    pub name: String,
    pub credential_id: String,
    #[serde(serialize_with = "date_or_empty")]
    pub start_date: Option<Date>,
    #[serde(serialize_with = "date_or_empty")]
    pub end_date: Option<Date>,
    #[serde(flatten)]
    pub company: CareerCompany,
}

fn date_or_empty<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    match date {
        Some(date) => serializer.collect_str(date),
        None => serializer.serialize_str(""),
    }
}

fn date_or_null<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    match date {
        Some(date) => serializer.collect_str(date),
        None => serializer.serialize_none(),
    }
}

/// A company of the workspace that an entry names by id, and where it does so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompanyReference {
    pub field: String,
    pub company: Reference<id::Company>,
}

/// A new career history: each list that is there takes the place of the old one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CareerPatch {
    pub work_experience: Patch<Vec<WorkExperience>>,
    pub education_experience: Patch<Vec<Education>>,
    pub certifications: Patch<Vec<Certification>>,
    /// All the companies that the lists name by id; each must exist.
    pub companies: Vec<CompanyReference>,
}

impl CareerPatch {
    /// True if the patch says nothing at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.work_experience.is_absent()
            && self.education_experience.is_absent()
            && self.certifications.is_absent()
    }

    /// `today` is the last day that counts for a position that has not ended.
    pub fn read(fields: &mut Fields<'_>, today: Date) -> Self {
        let mut companies = Vec::new();
        let mut index = 0;
        let work_experience = fields.patch_objects("work_experience", MAX_ENTRIES, |entry| {
            let positions = entry
                .patch_objects("positions", MAX_ENTRIES, |position| read_position(position, today));
            let positions = positions.set().cloned().unwrap_or_default();
            let months = entry.count("duration_in_months", MAX_MONTHS);
            let company = read_company(entry, "work_experience", next(&mut index), &mut companies);
            WorkExperience {
                duration_in_months: months
                    .unwrap_or_else(|| months_covered(&positions, today).min(MAX_MONTHS)),
                positions,
                company,
            }
        });
        index = 0;
        let education_experience =
            fields.patch_objects("education_experience", MAX_ENTRIES, |entry| {
                let (start_date, end_date) = read_dates(entry);
                let description =
                    entry.lines("description", limit::DESCRIPTION, Lines::Many).unwrap_or_default();
                let degree = entry.text("degree", limit::NAME).unwrap_or_default();
                let school =
                    read_company(entry, "education_experience", next(&mut index), &mut companies);
                let CareerCompany {
                    company_name,
                    company_social_url,
                    company_social_id,
                    company_id,
                } = school;
                Education {
                    company_name,
                    start_date,
                    end_date,
                    description,
                    degree,
                    company_social_url,
                    company_social_id,
                    company_id,
                }
            });
        index = 0;
        let certifications = fields.patch_objects("certifications", MAX_ENTRIES, |entry| {
            let name = entry.text("name", limit::NAME).unwrap_or_default();
            let credential_id = entry.text("credential_id", limit::NAME).unwrap_or_default();
            let (start_date, end_date) = read_dates(entry);
            let company = read_company(entry, "certifications", next(&mut index), &mut companies);
            Certification { name, credential_id, start_date, end_date, company }
        });
        Self { work_experience, education_experience, certifications, companies }
    }
}

fn next(index: &mut usize) -> usize {
    *index += 1;
    *index - 1
}

fn read_position(entry: &mut Fields<'_>, today: Date) -> Position {
    let title = entry.text("title", limit::NAME).unwrap_or_default();
    let (start_date, end_date) = read_dates(entry);
    let months = entry.count("duration_in_months", MAX_MONTHS);
    Position {
        title,
        start_date,
        end_date,
        duration_in_months: months.unwrap_or_else(|| {
            start_date
                .map_or(0, |start| start.months_through(end_date.unwrap_or(today)).min(MAX_MONTHS))
        }),
        description: entry
            .lines("description", limit::DESCRIPTION, Lines::Many)
            .unwrap_or_default(),
        location: entry.text("location", limit::NAME).unwrap_or_default(),
        position_type: entry.text("position_type", limit::NAME).unwrap_or_default(),
    }
}

fn read_dates(entry: &mut Fields<'_>) -> (Option<Date>, Option<Date>) {
    (entry.date("start_date"), entry.date("end_date"))
}

fn read_company(
    entry: &mut Fields<'_>,
    list: &str,
    index: usize,
    companies: &mut Vec<CompanyReference>,
) -> CareerCompany {
    let company = entry.id::<id::Company>("company_id");
    let company_id = company.as_ref().and_then(|company| company.id);
    companies.extend(
        company.map(|company| CompanyReference {
            field: format!("{list}[{index}].company_id"),
            company,
        }),
    );
    CareerCompany {
        company_name: entry.text("company_name", limit::NAME).unwrap_or_default(),
        company_social_url: entry
            .parsed("company_social_url", limit::URL, http_url)
            .unwrap_or_default(),
        company_social_id: entry.count("company_social_id", MAX_SOCIAL_ID).unwrap_or(0),
        company_id,
    }
}

/// The months in which at least one of the positions was held.
pub(crate) fn months_covered(positions: &[Position], today: Date) -> i64 {
    let mut spans: Vec<_> = positions
        .iter()
        .filter_map(|position| Some((position.start_date?, position.end_date.unwrap_or(today))))
        .filter(|(start, end)| start <= end)
        .collect();
    spans.sort_unstable();
    let mut months = 0;
    let mut open: Option<(Date, Date)> = None;
    for (start, end) in spans {
        open = Some(match open {
            Some((first, last)) if start <= last.next_day() => (first, last.max(end)),
            Some((first, last)) => {
                months += first.months_through(last);
                (start, end)
            }
            None => (start, end),
        });
    }
    months + open.map_or(0, |(first, last)| first.months_through(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::read_body;

    fn today() -> Date {
        Date::parse("2026-11-15").unwrap()
    }

    fn read(body: &str) -> Result<CareerPatch, crate::problem::Problem> {
        read_body(body.as_bytes(), |fields| CareerPatch::read(fields, today()))
    }

    #[test]
    fn durations_are_computed_when_absent() {
        let body = r#"{"work_experience": [{"company_name": "Acme", "positions": [
            {"title": "CTO", "start_date": "2024-01-01"},
            {"title": "Engineer", "start_date": "2020-01-01", "end_date": "2023-12-31"},
            {"title": "Adviser", "start_date": "2021-01-01", "end_date": "2022-12-31", "duration_in_months": 7},
            {"title": "Founder"}]}]}"#;
        let patch = read(body).unwrap();
        let work = &patch.work_experience.set().unwrap()[0];
        let months: Vec<_> =
            work.positions.iter().map(|position| position.duration_in_months).collect();
        assert_eq!(months, [34, 48, 7, 0]);
        assert_eq!(work.duration_in_months, 48 + 34);
    }

    #[test]
    fn entries_are_written_in_the_order_of_the_interface() {
        let body = r#"{"work_experience": [{"positions": [{}]}], "education_experience": [{}], "certifications": [{}]}"#;
        let patch = read(body).unwrap();
        assert_eq!(
            serde_json::to_string(patch.work_experience.set().unwrap()).unwrap(),
            concat!(
                r#"[{"positions":[{"title":"","start_date":"","end_date":null,"duration_in_months":0,"description":"","location":"","position_type":""}],"#,
                r#""duration_in_months":0,"company_name":"","company_social_url":"","company_social_id":0,"company_id":null}]"#
            )
        );
        assert_eq!(
            serde_json::to_string(patch.education_experience.set().unwrap()).unwrap(),
            r#"[{"company_name":"","start_date":"","end_date":"","description":"","degree":"","company_social_url":"","company_social_id":0,"company_id":null}]"#
        );
        assert_eq!(
            serde_json::to_string(patch.certifications.set().unwrap()).unwrap(),
            r#"[{"name":"","credential_id":"","start_date":"","end_date":"","company_name":"","company_social_url":"","company_social_id":0,"company_id":null}]"#
        );
    }

    #[test]
    fn bad_entries_are_named_by_their_path() {
        let problem = read(
            r#"{"work_experience": [{}, {"positions": [{"start_date": "May 2019"}]}], "certifications": [{"end_date": "2020-02-30"}]}"#,
        )
        .unwrap_err();
        let fields: Vec<_> = problem.details.iter().map(|detail| detail.field.as_str()).collect();
        assert_eq!(
            fields,
            ["work_experience[1].positions[0].start_date", "certifications[0].end_date"]
        );
    }

    proptest! {
        #[test]
        fn the_months_at_a_company_are_no_more_than_those_of_its_positions(spans in proptest::collection::vec((1990i16..2026, 1i8..=12, 0i16..5), 0..6)) {
            let positions: Vec<_> = spans.into_iter().map(|(year, month, years)| {
                let start = Date::new(year, month, 1).unwrap();
                let end = Date::new(year + years, month, 28).unwrap();
                Position { title: String::new(), start_date: Some(start), end_date: Some(end),
                    duration_in_months: start.months_through(end), description: String::new(),
                    location: String::new(), position_type: String::new() }
            }).collect();
            let covered = months_covered(&positions, today());
            let longest = positions.iter().map(|position| position.duration_in_months).max().unwrap_or(0);
            let earliest = positions.iter().filter_map(|position| position.start_date).min();
            let latest = positions.iter().filter_map(|position| position.end_date).max();
            prop_assert!(covered >= longest);
            if let (Some(earliest), Some(latest)) = (earliest, latest) {
                prop_assert!(covered <= earliest.months_through(latest) + 1);
            }
        }
    }
}
