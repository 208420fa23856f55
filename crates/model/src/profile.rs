//! The parts that a read of a person shows when it is asked for more.

use crate::input::Query;
use crate::problem::FieldErrorCode;

/// The parts that a read shows beside what it always shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Include {
    pub profile: bool,
    pub notes: bool,
    pub provenance: bool,
}

impl Include {
    pub fn read(query: &mut Query) -> Self {
        let expected = "one or more of profile, notes and provenance, separated by commas";
        query
            .parsed("include", FieldErrorCode::InvalidValue, expected, Self::parse)
            .unwrap_or_default()
    }

    fn parse(written: &str) -> Option<Self> {
        let mut include = Self::default();
        for part in written.split(',') {
            match part {
                "profile" => include.profile = true,
                "notes" => include.notes = true,
                "provenance" => include.provenance = true,
                _ => return None,
            }
        }
        Some(include)
    }

    #[must_use]
    pub const fn is_nothing(self) -> bool {
        !self.profile && !self.notes && !self.provenance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn include(query: &str) -> Option<Include> {
        let mut query = Query::new(query);
        let include = Include::read(&mut query);
        query.finish(include).ok()
    }

    #[test]
    fn parts_are_named_with_commas_between() {
        let profile = Include { profile: true, ..Include::default() };
        let notes = Include { notes: true, ..Include::default() };
        let provenance = Include { provenance: true, ..Include::default() };
        let both = Include { notes: true, ..profile };
        let all = Include { provenance: true, ..both };
        assert_eq!(include(""), Some(Include::default()));
        assert_eq!(include("include=profile"), Some(profile));
        assert_eq!(include("include=notes"), Some(notes));
        assert_eq!(include("include=notes,profile"), Some(both));
        assert_eq!(include("include=notes%2Cprofile,notes"), Some(both));
        assert_eq!(include("include=provenance"), Some(provenance));
        assert_eq!(include("include=profile,notes,provenance"), Some(all));
        assert!(Include::default().is_nothing());
        assert!(
            [profile, notes, provenance, both, all]
                .into_iter()
                .all(|include| !include.is_nothing())
        );
        for wrong in [
            "include=",
            "include=,",
            "include=all",
            "include=notes,",
            "include=Notes",
            "include=notes, profile",
            "include=proposals",
        ] {
            assert_eq!(include(wrong), None, "{wrong}");
        }
    }
}
