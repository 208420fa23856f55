//! The career history of an answer: where somebody worked, what they learned and what they are
//! certified for.

use super::dates::{Edge, Written};
use super::group_positions::{FlatPosition, group};
use super::lenient_reader::Reader;
use crate::career::{
    CareerCompany, Certification, Education, MAX_ENTRIES, MAX_SOCIAL_ID, Position, WorkExperience,
};
use crate::clock::Date;
use crate::social::http_url;
use crate::text::limit;

type Span = (Option<Date>, Option<Date>);

/// Entries come with the positions at a company, or with one position beside the company.
pub(super) fn read_work(reader: &mut Reader<'_, '_>, today: Date) -> Vec<WorkExperience> {
    const LIST: &str = "work_experience";
    const POSITIONS: &str = "positions";
    let mut flat = Vec::new();
    for (index, value) in reader.list(LIST, MAX_ENTRIES).iter().enumerate() {
        let Some(mut entry) = reader.entry(LIST, index, value) else { continue };
        let company = read_company(&mut entry);
        let positions = entry.list(POSITIONS, MAX_ENTRIES);
        if positions.is_empty() {
            flat.extend(read_position(&mut entry, &company, today));
        }
        for (index, value) in positions.iter().enumerate() {
            let Some(mut position) = entry.entry(POSITIONS, index, value) else { continue };
            flat.extend(read_position(&mut position, &company, today));
        }
    }
    if flat.len() > MAX_ENTRIES {
        flat.truncate(MAX_ENTRIES);
        reader.refuse(LIST, format!("has more than {MAX_ENTRIES} positions"));
    }
    group(flat, today)
}

fn read_position(
    entry: &mut Reader<'_, '_>,
    company: &CareerCompany,
    today: Date,
) -> Option<FlatPosition> {
    let title = entry.line("title", limit::NAME).unwrap_or_default();
    if title.is_empty() && company.company_name.is_empty() {
        entry.refuse_whole("has neither a company name nor a title");
        return None;
    }
    let (start_date, end_date) = read_held(entry, today);
    let position = Position {
        title,
        start_date,
        end_date,
        duration_in_months: 0,
        description: entry.lines("description", limit::DESCRIPTION).unwrap_or_default(),
        location: entry.line("location", limit::NAME).unwrap_or_default(),
        position_type: entry.line("position_type", limit::NAME).unwrap_or_default(),
    };
    Some(FlatPosition { company: company.clone(), position })
}

/// When a position was held. An end that is wrong takes the start along: with a start alone the
/// position would be held to this day.
fn read_held(entry: &mut Reader<'_, '_>, today: Date) -> Span {
    match (read_start(entry, today), read_end(entry, today)) {
        (start, Some(end)) => in_order(entry, start, end),
        (_, None) => (None, None),
    }
}

/// When something was learned or is certified. Here an end that is not known says nothing.
fn read_span(entry: &mut Reader<'_, '_>, today: Date) -> Span {
    let start = read_start(entry, today);
    let end = read_end(entry, today).flatten();
    in_order(entry, start, end)
}

fn read_start(entry: &mut Reader<'_, '_>, today: Date) -> Option<Date> {
    match entry.date("start_date", Edge::Start, today)? {
        Written::Day(day) => Some(day),
        Written::Nothing => None,
        Written::Current => {
            entry.refuse("start_date", "is not in a known date format");
            None
        }
    }
}

/// Nothing if the end cannot be read; else the last day, or none if it goes on.
fn read_end(entry: &mut Reader<'_, '_>, today: Date) -> Option<Option<Date>> {
    match entry.date("end_date", Edge::End, today)? {
        Written::Day(day) => Some(Some(day)),
        Written::Current | Written::Nothing => Some(None),
    }
}

/// Neither date is taken if they are the wrong way round: one of them is wrong, and nobody knows
/// which.
fn in_order(entry: &mut Reader<'_, '_>, start: Option<Date>, end: Option<Date>) -> Span {
    match (start, end) {
        (Some(first), Some(last)) if last < first => {
            entry.refuse("end_date", "is before start_date");
            (None, None)
        }
        span => span,
    }
}

pub(super) fn read_education(reader: &mut Reader<'_, '_>, today: Date) -> Vec<Education> {
    const LIST: &str = "education_experience";
    let mut schools = Vec::new();
    for (index, value) in reader.list(LIST, MAX_ENTRIES).iter().enumerate() {
        let Some(mut entry) = reader.entry(LIST, index, value) else { continue };
        let CareerCompany { company_name, company_social_url, company_social_id, company_id } =
            read_company(&mut entry);
        let degree = entry.line("degree", limit::NAME).unwrap_or_default();
        if company_name.is_empty() && degree.is_empty() {
            entry.refuse_whole("has neither a company name nor a degree");
            continue;
        }
        let (start_date, end_date) = read_span(&mut entry, today);
        let description = entry.lines("description", limit::DESCRIPTION).unwrap_or_default();
        schools.push(Education {
            company_name,
            start_date,
            end_date,
            description,
            degree,
            company_social_url,
            company_social_id,
            company_id,
        });
    }
    schools
}

pub(super) fn read_certifications(reader: &mut Reader<'_, '_>, today: Date) -> Vec<Certification> {
    const LIST: &str = "certifications";
    let mut certifications = Vec::new();
    for (index, value) in reader.list(LIST, MAX_ENTRIES).iter().enumerate() {
        let Some(mut entry) = reader.entry(LIST, index, value) else { continue };
        let name = entry.line("name", limit::NAME).unwrap_or_default();
        if name.is_empty() {
            entry.refuse_whole("has no name");
            continue;
        }
        let company = read_company(&mut entry);
        let credential_id = entry.line("credential_id", limit::NAME).unwrap_or_default();
        let (start_date, end_date) = read_span(&mut entry, today);
        certifications.push(Certification { name, credential_id, start_date, end_date, company });
    }
    certifications
}

/// The company as others know it. Which of the workspace's it is, they cannot say.
fn read_company(entry: &mut Reader<'_, '_>) -> CareerCompany {
    CareerCompany {
        company_name: entry.line("company_name", limit::NAME).unwrap_or_default(),
        company_social_url: entry
            .parsed("company_social_url", limit::URL, |url| http_url(with_scheme(url)))
            .unwrap_or_default(),
        company_social_id: entry.count("company_social_id", MAX_SOCIAL_ID).unwrap_or(0),
        company_id: None,
    }
}

/// Some write addresses without what stands before the host.
pub(super) fn with_scheme(url: String) -> String {
    match url.contains("://") {
        true => url,
        false => format!("https://{url}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::enrichment::Refused;

    fn today() -> Date {
        Date::parse("2026-11-15").unwrap()
    }

    fn read<T>(value: &Value, read: fn(&mut Reader<'_, '_>, Date) -> T) -> (T, Vec<Refused>) {
        let mut refused = Vec::new();
        let found = read(&mut Reader::new(value.as_object().unwrap(), &mut refused), today());
        (found, refused)
    }

    fn work(entries: &Value) -> (Vec<WorkExperience>, Vec<Refused>) {
        read(&json!({ "work_experience": entries }), read_work)
    }

    fn dates(position: &Position) -> (String, String) {
        let text = |date: Option<Date>| date.map_or_else(String::new, |date| date.to_string());
        (text(position.start_date), text(position.end_date))
    }

    fn day(text: &str) -> Option<Date> {
        Date::parse(text)
    }

    #[test]
    fn flat_and_grouped_entries_say_the_same() {
        let grouped = json!([{
            "company_name": "Acme", "company_social_url": "https://social.example/acme",
            "company_social_id": "77", "company_id": "cmp_x",
            "positions": [
                { "title": "Engineer", "start_date": "2018", "end_date": "2019",
                    "description": "Built\nthings", "duration_in_months": 3 },
                { "title": "CTO", "start_date": "Jan 2020", "end_date": "Present",
                    "location": " Paris ", "position_type": "Full-time" },
            ],
        }]);
        let flat = json!([
            { "company_name": "Acme", "title": "Engineer", "start_date": "2018", "end_date": "2019",
                "description": "Built\nthings" },
            {
                "company_name": "ACME", "company_social_url": "social.example/acme",
                "company_social_id": 77, "title": "CTO",
                "start_date": { "year": 2020, "month": 1 }, "location": "Paris",
                "position_type": "Full-time",
            },
        ]);
        let ((grouped, refused), (flat, refused_flat)) = (work(&grouped), work(&flat));
        assert_eq!((refused, refused_flat), (vec![], vec![]));
        assert_eq!(grouped.len(), 1);
        assert_eq!(grouped[0].positions, flat[0].positions);
        assert_eq!((flat.len(), flat[0].company.company_name.as_str()), (1, "ACME"));
        assert_eq!(grouped[0].company.company_social_url, flat[0].company.company_social_url);
        let CareerCompany { company_social_id, company_id, .. } = grouped[0].company;
        assert_eq!((company_social_id, company_id), (77, None));
        let [cto, engineer] = grouped[0].positions.as_slice() else { panic!("{grouped:?}") };
        assert_eq!(
            (cto.title.as_str(), cto.location.as_str(), cto.duration_in_months),
            ("CTO", "Paris", 82)
        );
        assert_eq!(
            (engineer.duration_in_months, engineer.description.as_str()),
            (24, "Built\nthings")
        );
        assert_eq!(dates(engineer), ("2018-01-01".to_owned(), "2019-12-31".to_owned()));
        assert_eq!(grouped[0].duration_in_months, 106);
    }

    #[test]
    fn an_end_that_is_wrong_takes_the_start_along() {
        let (found, refused) = work(&json!([
            { "company_name": "A", "title": "1", "start_date": "2019-05", "end_date": "soon" },
            { "company_name": "B", "title": "2", "start_date": "2019-05-02",
                "end_date": "2019-05-01" },
            { "company_name": "C", "title": "3", "start_date": "soon", "end_date": "2019" },
            { "company_name": "D", "title": "4", "start_date": "Present" },
            { "company_name": "E", "title": "5", "start_date": "2019-05", "end_date": "2019-05" },
        ]));
        let of = |title: &str| {
            found
                .iter()
                .flat_map(|entry| &entry.positions)
                .find(|position| position.title == title)
                .map(dates)
                .unwrap()
        };
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        assert_eq!((of("1"), of("2"), of("4")), (pair("", ""), pair("", ""), pair("", "")));
        assert_eq!((of("3"), of("5")), (pair("", "2019-12-31"), pair("2019-05-01", "2019-05-31")));
        assert_eq!(
            refused,
            [
                Refused::new("work_experience[0].end_date", "is not in a known date format"),
                Refused::new("work_experience[1].end_date", "is before start_date"),
                Refused::new("work_experience[2].start_date", "is not in a known date format"),
                Refused::new("work_experience[3].start_date", "is not in a known date format"),
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_left_out_and_named() {
        let (found, refused) = work(&json!([
            7,
            { "title": " ", "start_date": "2019" },
            { "positions": [{ "title": "Freelancer" }, { "start_date": "2019" }, "x"] },
            {
                "company_name": "Acme", "company_social_url": "javascript:alert(1)",
                "company_social_id": -1,
                "location": ["Paris"], "positions": "x",
            },
            null,
        ]));
        let names: Vec<_> = found
            .iter()
            .map(|entry| (entry.company.company_name.as_str(), entry.positions[0].title.as_str()))
            .collect();
        assert_eq!(names, [("", "Freelancer"), ("Acme", "")]);
        let fields: Vec<_> = refused.iter().map(|refused| refused.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "work_experience[0]",
                "work_experience[1]",
                "work_experience[2].positions[1]",
                "work_experience[2].positions[2]",
                "work_experience[3].company_social_url",
                "work_experience[3].company_social_id",
                "work_experience[3].positions",
                "work_experience[3].location",
            ]
        );
        assert_eq!(refused[1].reason, "has neither a company name nor a title");
    }

    #[test]
    fn there_are_no_more_positions_than_a_list_may_have() {
        let flat: Vec<_> =
            (0..101).map(|number| json!({ "company_name": format!("Company {number}") })).collect();
        let (found, refused) = work(&json!(flat));
        assert_eq!(
            (found.len(), refused),
            (100, vec![Refused::new("work_experience", "has more than 100 entries")])
        );
        let positions: Vec<_> =
            (0..60).map(|number| json!({ "title": number.to_string() })).collect();
        let entry = |name: &str| json!({ "company_name": name, "positions": positions });
        let (found, refused) = work(&json!([entry("A"), entry("a")]));
        assert_eq!((found.len(), found[0].positions.len()), (1, 100));
        assert_eq!(refused, [Refused::new("work_experience", "has more than 100 positions")]);
    }

    #[test]
    fn schools_are_read_in_their_order() {
        let value = json!({ "education_experience": [
            {
                "company_name": "Oxford", "degree": "BSc", "start_date": 2001, "end_date": 2004,
                "description": "Maths",
                "company_social_url": "https://social.example/oxford",
            },
            { "degree": "PhD", "start_date": "2005", "end_date": "never" },
            { "company_name": "Backwards", "start_date": "2005", "end_date": "2004" },
            { "description": "nothing else" },
        ] });
        let (schools, refused) = read(&value, read_education);
        let names: Vec<_> = schools
            .iter()
            .map(|school| (school.company_name.as_str(), school.degree.as_str()))
            .collect();
        assert_eq!(names, [("Oxford", "BSc"), ("", "PhD"), ("Backwards", "")]);
        let spans: Vec<_> =
            schools.iter().map(|school| (school.start_date, school.end_date)).collect();
        assert_eq!(
            spans,
            [(day("2001-01-01"), day("2004-12-31")), (day("2005-01-01"), None), (None, None)]
        );
        assert_eq!(
            (schools[0].description.as_str(), schools[0].company_social_url.as_str()),
            ("Maths", "https://social.example/oxford")
        );
        let fields: Vec<_> = refused.iter().map(|refused| refused.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "education_experience[1].end_date",
                "education_experience[2].end_date",
                "education_experience[3]"
            ]
        );
    }

    #[test]
    fn certifications_are_read_in_their_order() {
        let value = json!({ "certifications": [
            { "name": "CPA", "credential_id": "77", "company_name": "Board",
                "start_date": "05/2019", "end_date": "Present" },
            { "credential_id": "78" },
            { "company_name": "Board" },
        ] });
        let (found, refused) = read(&value, read_certifications);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].credential_id.as_str()), ("CPA", "77"));
        assert_eq!(found[0].company.company_name, "Board");
        assert_eq!((found[0].start_date, found[0].end_date), (day("2019-05-01"), None));
        assert_eq!(
            refused,
            [1, 2].map(|place| Refused::new(format!("certifications[{place}]"), "has no name"))
        );
    }
}
