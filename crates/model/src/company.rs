//! A company: an employer of persons, a client with jobs, or both. Names that differ in case or spaces are one company.

use crate::input::Fields;
use crate::text::limit;

pub fn read_company_name(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    fields.text(name, limit::NAME)
}
