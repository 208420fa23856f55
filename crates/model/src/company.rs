//! A company: an employer of persons, a client with jobs, or both. Names that differ in case or
//! spaces are one company.

use crate::id;
use crate::input::{Fields, Reference};
use crate::text::limit;

pub fn read_company_name(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    fields.text(name, limit::NAME)
}

/// A company to make, unless there is one of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCompany {
    pub name: String,
}

impl NewCompany {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let name = fields.needed("name", |fields| fields.patch_line("name", limit::NAME));
        Self { name: name.unwrap_or_default() }
    }
}

/// What to change of a company. One without a name is none, so the name cannot be cleared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompanyPatch {
    pub name: Option<String>,
}

impl CompanyPatch {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        Self { name: fields.kept("name", |fields| fields.patch_line("name", limit::NAME)) }
    }
}

/// The company that goes into another.
pub fn read_merged(fields: &mut Fields<'_>) -> Option<Reference<id::Company>> {
    fields
        .needed("company_id", |fields| fields.patch_line("company_id", limit::NAME))
        .map(Reference::new)
}
