//! Career histories that hang together: one employer after another, titles that rise, degrees
//! before the first job and certificates behind it. Time runs in whole months, counted from year 0.

use jiff::tz::TimeZone;
use slated_model::career::{
    CareerCompany, CareerPatch, Certification, Education, Position, WorkExperience,
};
use slated_model::clock::{Date, Timestamp};
use slated_model::patch::Patch;

use super::random::{Random, word_at};
use super::regions::{Region, slug};
use super::role::Role;
use super::tracks::{EMPLOYERS, TITLES};

const POSITION_TYPES: &str = "Full-time|Full-time|Full-time|Full-time|Contract|Part-time";

/// A history, and what it says of today.
pub(super) struct Career {
    pub history: CareerPatch,
    pub title: String,
    /// None for a person between two jobs.
    pub employer: Option<&'static str>,
}

impl Career {
    pub(super) fn draw(random: &mut Random, role: &Role, region: &Region, now: Timestamp) -> Self {
        let this_month = month_of(now);
        let first_month = this_month - random.between(20, 230);
        let mut stints = draw_stints(random, first_month, this_month);
        let is_between_jobs = role.employer.is_none() && random.chance(8);
        if is_between_jobs && let Some(last) = stints.last_mut().and_then(|stint| stint.last_mut())
        {
            last.until = Some(this_month - 1);
        }
        let mut writer = Writer { random, role, region, today: now.date() };
        let employers = writer.draw_employers(stints.len());
        let work = writer.write_work(&stints, &employers, this_month - first_month);
        let title = work
            .first()
            .and_then(|newest| newest.positions.first())
            .map_or_else(String::new, |position| position.title.clone());
        let history = CareerPatch {
            work_experience: Patch::Set(work),
            education_experience: Patch::Set(writer.write_education(first_month)),
            certifications: Patch::Set(writer.write_certifications(first_month, this_month)),
            companies: Vec::new(),
        };
        let employer = employers.last().copied().filter(|_| !is_between_jobs);
        Self { history, title, employer }
    }
}

/// The months in which a position was held; `until` is the first that does not count, and none if
/// it is held today.
#[derive(Clone, Copy)]
struct Span {
    from: i64,
    until: Option<i64>,
}

/// The time at one employer after another, the oldest first, each as a row of positions.
fn draw_stints(random: &mut Random, first_month: i64, this_month: i64) -> Vec<Vec<Span>> {
    let mut stints = Vec::new();
    let mut from = first_month;
    while from < this_month {
        let until = Some(from + random.between(14, 66)).filter(|until| *until <= this_month - 6);
        stints.push(draw_positions(random, from, until, this_month));
        from = until.map_or(this_month, |until| until + random.between(0, 3));
    }
    stints
}

fn draw_positions(
    random: &mut Random,
    from: i64,
    until: Option<i64>,
    this_month: i64,
) -> Vec<Span> {
    let months = until.unwrap_or(this_month) - from;
    let count = match months {
        ..24 => 1,
        24..48 => 1 + i64::from(random.chance(60)),
        _ => 1 + i64::from(random.chance(80)) + i64::from(random.chance(40)),
    };
    let border = |number: i64| from + months * number / count;
    let mut positions: Vec<_> = (0..count)
        .map(|number| Span { from: border(number), until: Some(border(number + 1)) })
        .collect();
    if let Some(last) = positions.last_mut() {
        last.until = until;
    }
    positions
}

/// Puts a career into words.
struct Writer<'w> {
    random: &'w mut Random,
    role: &'w Role,
    region: &'w Region,
    today: Date,
}

impl Writer<'_> {
    /// As many different companies, the one of today last.
    fn draw_employers(&mut self, count: usize) -> Vec<&'static str> {
        let first = self.random.below(EMPLOYERS.len());
        // Steps that have no factor in common with the length of the list, so that it takes long to
        // come round.
        let step = *self.random.pick(&[5, 7, 11, 13]);
        let mut employers: Vec<_> =
            (0..count).map(|number| EMPLOYERS[(first + number * step) % EMPLOYERS.len()]).collect();
        if let (Some(last), Some(employer)) = (employers.last_mut(), self.role.employer) {
            *last = employer;
        }
        employers
    }

    /// The newest first, and the newest position of each first.
    fn write_work(
        &mut self,
        stints: &[Vec<Span>],
        employers: &[&'static str],
        months: i64,
    ) -> Vec<WorkExperience> {
        let total: usize = stints.iter().map(Vec::len).sum();
        let highest = highest_title(months);
        let mut number = 0;
        let mut work = Vec::with_capacity(stints.len());
        for (stint, employer) in stints.iter().zip(employers) {
            let city = self.random.word(self.region.cities);
            let mut positions: Vec<_> = Vec::with_capacity(stint.len());
            for span in stint {
                let title = word_at(self.role.track.titles, number * (highest + 1) / total);
                positions.push(self.write_position(*span, title, city));
                number += 1;
            }
            positions.reverse();
            let duration_in_months =
                positions.iter().map(|position| position.duration_in_months).sum();
            work.push(WorkExperience { positions, duration_in_months, company: company(employer) });
        }
        work.reverse();
        if let (Some(title), Some(newest)) =
            (self.role.title, work.first_mut().and_then(|newest| newest.positions.first_mut()))
        {
            title.clone_into(&mut newest.title);
        }
        work
    }

    fn write_position(&mut self, span: Span, title: &str, city: &str) -> Position {
        let start_date = first_day(span.from);
        let end_date = span.until.and_then(|until| last_day(until - 1));
        let description = match self.random.chance(70) {
            true => (*self.random.pick(self.role.track.duties)).to_owned(),
            false => String::new(),
        };
        Position {
            title: title.to_owned(),
            start_date,
            end_date,
            duration_in_months: start_date
                .map_or(0, |start| start.months_through(end_date.unwrap_or(self.today))),
            description,
            location: city.to_owned(),
            position_type: self.random.word(POSITION_TYPES).to_owned(),
        }
    }

    /// The newest first; the last ends two months before the first job.
    fn write_education(&mut self, first_month: i64) -> Vec<Education> {
        let mut end = first_month - 2;
        let mut education = Vec::with_capacity(2);
        if self.random.chance(30) {
            education.push(self.write_degree(end - 21, end));
            end -= 24;
        }
        education.push(self.write_degree(end - 45, end));
        education
    }

    fn write_degree(&mut self, first_month: i64, last_month: i64) -> Education {
        let CareerCompany { company_name, company_social_url, company_social_id, company_id } =
            company(self.random.word(self.region.schools));
        let description = match self.random.chance(25) {
            true => self
                .random
                .word(
                    "Graduated with distinction.|Thesis awarded the faculty \
                prize.|One year abroad.",
                )
                .to_owned(),
            false => String::new(),
        };
        Education {
            company_name,
            start_date: first_day(first_month),
            end_date: last_day(last_month),
            description,
            degree: self.random.word(self.role.track.degrees).to_owned(),
            company_social_url,
            company_social_id,
            company_id,
        }
    }

    /// Those of the first certificates of the line of work, each at some time in the career; some
    /// run out after three years.
    fn write_certifications(&mut self, first_month: i64, this_month: i64) -> Vec<Certification> {
        let certificates = self.role.track.certificates;
        let count = self.random.below(certificates.len() + 1);
        let mut certifications = Vec::with_capacity(count);
        for (name, issuer) in &certificates[..count] {
            let month = self.random.between(first_month + 6, this_month - 1);
            certifications.push(Certification {
                name: (*name).to_owned(),
                credential_id: format!("{}-{:05}", initials(issuer), self.random.below(100_000)),
                start_date: first_day(month),
                end_date: last_day(month + 35).filter(|_| self.random.chance(60)),
                company: company(issuer),
            });
        }
        certifications
    }
}

/// How far up the titles go in a career of that length.
const fn highest_title(months: i64) -> usize {
    match months {
        ..40 => 1,
        40..90 => 2,
        90..150 => 3,
        _ => TITLES - 1,
    }
}

fn company(name: &str) -> CareerCompany {
    CareerCompany {
        company_name: name.to_owned(),
        company_social_url: format!("https://social.example/company/{}", slug(name)),
        company_social_id: name
            .bytes()
            .fold(7, |number, byte| (number * 31 + i64::from(byte)) % 9_000_000)
            + 1_000_000,
        company_id: None,
    }
}

fn initials(name: &str) -> String {
    name.split(' ')
        .filter_map(|word| word.chars().next())
        .filter(|first| first.is_uppercase())
        .collect()
}

fn month_of(moment: Timestamp) -> i64 {
    let moment = jiff::Timestamp::from_millisecond(moment.millis()).unwrap_or_default();
    let date = TimeZone::UTC.to_datetime(moment);
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

fn day(month: i64, day: i8) -> Option<Date> {
    Date::new(
        i16::try_from(month.div_euclid(12)).ok()?,
        i8::try_from(month.rem_euclid(12) + 1).ok()?,
        day,
    )
}

fn first_day(month: i64) -> Option<Date> {
    day(month, 1)
}

fn last_day(month: i64) -> Option<Date> {
    (28..=31).rev().find_map(|last| day(month, last))
}
