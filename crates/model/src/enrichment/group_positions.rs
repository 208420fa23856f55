//! Positions put together by company, the newest first, as a career history is shown.

use std::cmp::Reverse;

use crate::career::{CareerCompany, MAX_MONTHS, Position, WorkExperience, months_covered};
use crate::clock::Date;
use crate::text::comparison_key;

/// A position, and where it was held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlatPosition {
    pub company: CareerCompany,
    pub position: Position,
}

/// One entry for each company, with all the positions that were held there. Positions come by their
/// start, the newest first: before them those that are held now, behind them those of which no
/// start is known. Companies come by their newest position.
#[must_use]
pub fn group(positions: Vec<FlatPosition>, today: Date) -> Vec<WorkExperience> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, flat) in positions.into_iter().enumerate() {
        // Two groups become one by a position that has the name of the one and the address of the
        // other.
        let (same, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| belongs_to(&flat.company, group));
        groups = others;
        groups.push(same.into_iter().flatten().chain([(index, flat)]).collect());
    }
    for group in &mut groups {
        group.sort_by_key(rank_of);
    }
    groups.sort_by_key(|group| group.first().map(rank_of));
    groups
        .into_iter()
        .map(|group| entry_of(group.into_iter().map(|(_, flat)| flat).collect(), today))
        .collect()
}

/// Positions at one company, each with its place in what was given.
type Group = Vec<(usize, FlatPosition)>;

/// Those of which dates do not decide stay as they were given.
fn rank_of((index, flat): &(usize, FlatPosition)) -> (Place, usize) {
    (place_of(&flat.position), *index)
}

/// Whether the position is held now. Without a start it is not known when it was.
#[must_use]
pub fn is_current(position: &Position) -> bool {
    position.start_date.is_some() && position.end_date.is_none()
}

/// Where a position stands among others, from the newest to the oldest.
type Place = (u8, Reverse<Option<Date>>, Reverse<Option<Date>>);

fn place_of(position: &Position) -> Place {
    let kind = match (is_current(position), position.start_date) {
        (true, _) => 0,
        (false, Some(_)) => 1,
        (false, None) => 2,
    };
    (kind, Reverse(position.start_date), Reverse(position.end_date))
}

fn belongs_to(company: &CareerCompany, group: &[(usize, FlatPosition)]) -> bool {
    group.iter().any(|(_, flat)| is_same(company, &flat.company))
}

/// A company that nobody named is like no other.
fn is_same(one: &CareerCompany, other: &CareerCompany) -> bool {
    let same = |one: &str, other: &str| !one.is_empty() && one == other;
    same(&comparison_key(&one.company_name), &comparison_key(&other.company_name))
        || same(&address_of(&one.company_social_url), &address_of(&other.company_social_url))
}

/// An address without what may be left out of it.
fn address_of(url: &str) -> String {
    let url = url.to_lowercase();
    let url = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    url.strip_prefix("www.").unwrap_or(url).trim_end_matches('/').to_owned()
}

/// The company is called as it was at the newest position that says so.
fn entry_of(group: Vec<FlatPosition>, today: Date) -> WorkExperience {
    let companies = || group.iter().map(|flat| &flat.company);
    let text = |part: fn(&CareerCompany) -> &String| {
        companies().map(part).find(|text| !text.is_empty()).cloned().unwrap_or_default()
    };
    let company = CareerCompany {
        company_name: text(|company| &company.company_name),
        company_social_url: text(|company| &company.company_social_url),
        company_social_id: companies()
            .map(|company| company.company_social_id)
            .find(|id| *id != 0)
            .unwrap_or(0),
        company_id: companies().find_map(|company| company.company_id),
    };
    let timed = |mut position: Position| {
        let last = position.end_date.unwrap_or(today);
        position.duration_in_months =
            position.start_date.map_or(0, |start| start.months_through(last).min(MAX_MONTHS));
        position
    };
    let positions: Vec<_> = group.into_iter().map(|flat| timed(flat.position)).collect();
    WorkExperience {
        duration_in_months: months_covered(&positions, today).min(MAX_MONTHS),
        positions,
        company,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn today() -> Date {
        Date::parse("2026-11-15").unwrap()
    }

    fn company(name: &str, url: &str) -> CareerCompany {
        CareerCompany {
            company_name: name.to_owned(),
            company_social_url: url.to_owned(),
            company_social_id: 0,
            company_id: None,
        }
    }

    fn position(title: &str, start: &str, end: &str) -> Position {
        Position {
            title: title.to_owned(),
            start_date: Date::parse(start),
            end_date: Date::parse(end),
            duration_in_months: 7,
            description: String::new(),
            location: String::new(),
            position_type: String::new(),
        }
    }

    fn at(name: &str, url: &str, title: &str, start: &str, end: &str) -> FlatPosition {
        FlatPosition { company: company(name, url), position: position(title, start, end) }
    }

    fn shape(entries: &[WorkExperience]) -> Vec<(&str, Vec<&str>)> {
        entries
            .iter()
            .map(|entry| {
                let titles =
                    entry.positions.iter().map(|position| position.title.as_str()).collect();
                (entry.company.company_name.as_str(), titles)
            })
            .collect()
    }

    #[test]
    fn positions_at_one_company_are_one_entry() {
        let entries = group(
            vec![
                at("Acme", "", "Engineer", "2018-01-01", "2019-12-31"),
                at("Engines", "", "Analyst", "2012-01-01", "2017-12-31"),
                at(" ACME ", "", "CTO", "2022-01-01", ""),
                at("acme", "", "Lead", "2020-01-01", "2021-12-31"),
            ],
            today(),
        );
        assert_eq!(
            shape(&entries),
            [(" ACME ", vec!["CTO", "Lead", "Engineer"]), ("Engines", vec!["Analyst"])]
        );
        let months: Vec<_> =
            entries[0].positions.iter().map(|position| position.duration_in_months).collect();
        assert_eq!(months, [58, 24, 24]);
        assert_eq!((entries[0].duration_in_months, entries[1].duration_in_months), (106, 72));
    }

    #[test]
    fn an_address_tells_a_company_by_any_name() {
        let entries = group(
            vec![
                at("Meta", "https://www.social.example/company/meta/", "Lead", "2022-01-01", ""),
                at(
                    "Facebook",
                    "http://social.example/Company/Meta",
                    "Engineer",
                    "2018-01-01",
                    "2021-12-31",
                ),
                at("facebook", "", "Intern", "2017-01-01", "2017-06-30"),
                at(
                    "Other",
                    "https://social.example/company/other",
                    "Trainee",
                    "2016-01-01",
                    "2016-06-30",
                ),
            ],
            today(),
        );
        assert_eq!(
            shape(&entries),
            [("Meta", vec!["Lead", "Engineer", "Intern"]), ("Other", vec!["Trainee"])]
        );
        assert_eq!(
            entries[0].company.company_social_url,
            "https://www.social.example/company/meta/"
        );
    }

    #[test]
    fn a_late_link_makes_one_of_two() {
        let entries = group(
            vec![
                at("Acme", "", "One", "2010-01-01", "2010-12-31"),
                at(
                    "Acme Holding",
                    "https://social.example/acme",
                    "Two",
                    "2012-01-01",
                    "2012-12-31",
                ),
                at("Acme", "https://social.example/acme", "Three", "2014-01-01", "2014-12-31"),
            ],
            today(),
        );
        assert_eq!(shape(&entries), [("Acme", vec!["Three", "Two", "One"])]);
        assert_eq!(entries[0].duration_in_months, 36);
    }

    #[test]
    fn companies_that_nobody_named_are_not_one() {
        let entries = group(
            vec![at("", "", "One", "2010-01-01", ""), at("", "", "Two", "2012-01-01", "")],
            today(),
        );
        assert_eq!(shape(&entries), [("", vec!["Two"]), ("", vec!["One"])]);
    }

    #[test]
    fn what_is_held_now_comes_first_and_what_has_no_start_last() {
        let entries = group(
            vec![
                at("A", "", "undated", "", ""),
                at("A", "", "only ended", "", "2026-01-01"),
                at("A", "", "past", "2024-01-01", "2025-01-01"),
                at("A", "", "held for long", "2001-01-01", ""),
                at("A", "", "held since lately", "2020-01-01", ""),
                at("A", "", "shorter", "2024-01-01", "2024-06-01"),
            ],
            today(),
        );
        let expected =
            ["held since lately", "held for long", "past", "shorter", "only ended", "undated"];
        assert_eq!(shape(&entries), [("A", expected.to_vec())]);
        assert_eq!(entries[0].positions[4].duration_in_months, 0);
        assert_eq!(group(Vec::new(), today()), []);
    }

    fn dates() -> impl Strategy<Value = Option<Date>> {
        proptest::option::of(
            (1990i16..2028, 1i8..=12, 1i8..=28)
                .prop_map(|(year, month, day)| Date::new(year, month, day).unwrap()),
        )
    }

    #[test]
    fn what_dates_do_not_decide_stays_as_it_was_given() {
        let undated = ["c", "a", "b"].map(|name| at(name, "", name, "", ""));
        let entries = group(undated.to_vec(), today());
        assert_eq!(shape(&entries), [("c", vec!["c"]), ("a", vec!["a"]), ("b", vec!["b"])]);
    }

    /// Positions whose titles tell them apart. They do not end before they start.
    fn positions() -> impl Strategy<Value = Vec<FlatPosition>> {
        let one = ("[ab]{0,1}", "(https://x\\.example/[cd])?", dates(), dates());
        proptest::collection::vec(one, 0..12).prop_map(|all| {
            let flat = |(index, (name, url, one, other)): (
                usize,
                (String, String, Option<Date>, Option<Date>),
            )| FlatPosition {
                company: company(&name, &url),
                position: Position {
                    start_date: one,
                    end_date: other.filter(|end| one.is_none_or(|start| start <= *end)),
                    ..position(&index.to_string(), "", "")
                },
            };
            all.into_iter().enumerate().map(flat).collect()
        })
    }

    proptest! {
        #[test]
        fn no_position_is_lost_or_doubled(all in positions()) {
            let positions = group(all.clone(),
                today()).into_iter().flat_map(|entry| entry.positions);
            let mut titles: Vec<_> = positions.map(|position| position.title).collect();
            let mut expected: Vec<_> = all.into_iter().map(|flat| flat.position.title).collect();
            titles.sort();
            expected.sort();
            prop_assert_eq!(titles, expected);
        }

        #[test]
        fn each_company_is_there_once(all in positions()) {
            let entries = group(all, today());
            for (index, one) in entries.iter().enumerate() {
                prop_assert!(!one.positions.is_empty());
                prop_assert!(entries[index + 1..].iter().all(|other| !is_same(&one.company,
                    &other.company)));
            }
        }

        #[test]
        fn positions_and_companies_are_in_order(all in positions()) {
            let entries = group(all, today());
            for entry in &entries {
                prop_assert!(entry.positions.is_sorted_by_key(place_of));
            }
            prop_assert!(entries.is_sorted_by_key(|entry| place_of(&entry.positions[0])));
        }

        #[test]
        fn the_months_at_a_company_are_those_of_its_positions(all in positions()) {
            for entry in group(all, today()) {
                let months: Vec<_> = entry.positions.iter().map(|position| position.duration_in_months).collect();
                let longest = months.iter().copied().max().unwrap_or(0);
                let span = |position: &Position| Some((position.start_date?,
                    position.end_date.unwrap_or(today())));
                let spans: Vec<_> = entry.positions.iter().filter_map(span).collect();
                prop_assert!(entry.duration_in_months >= longest);
                if let (Some(first), Some(last)) = (spans.iter().map(|span| span.0).min(),
                    spans.iter().map(|span| span.1).max()) {
                    prop_assert!(entry.duration_in_months <= first.months_through(last) + 1);
                }
            }
        }

        #[test]
        fn grouping_what_is_grouped_changes_nothing(all in positions()) {
            let once = group(all, today());
            let flat = |entry: WorkExperience| {
                let company = entry.company;
                entry.positions.into_iter().map(move |position| FlatPosition { company: company.clone(), position }).collect::<Vec<_>>()
            };
            let twice = group(once.clone().into_iter().flat_map(flat).collect(), today());
            prop_assert_eq!(twice, once);
        }
    }
}
