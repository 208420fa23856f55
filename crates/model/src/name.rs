//! A person's name in its two forms: whole, and as first and last. Whichever side is missing is
//! derived from the other.

use crate::patch::Patch;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PersonName {
    pub whole: String,
    pub first: String,
    pub last: String,
}

impl PersonName {
    /// The name that a request gives, any part of which may be empty.
    #[must_use]
    pub fn complete(whole: String, first: String, last: String) -> Self {
        let mut name = Self { whole, first, last };
        if name.whole.is_empty() {
            name.whole = join(&name.first, &name.last);
        } else if name.first.is_empty() && name.last.is_empty() {
            (name.first, name.last) = split(&name.whole);
        } else if name.last.is_empty() {
            name.last = name
                .whole
                .strip_prefix(&name.first)
                .and_then(|rest| rest.strip_prefix(' '))
                .unwrap_or_default()
                .trim()
                .to_owned();
        } else if name.first.is_empty() {
            name.first = name
                .whole
                .strip_suffix(&name.last)
                .and_then(|rest| rest.strip_suffix(' '))
                .unwrap_or_default()
                .trim()
                .to_owned();
        }
        name
    }

    /// A handle, an address or a number in the place of a name that nobody gave yet.
    #[must_use]
    pub fn stand_in(known_as: &str) -> Self {
        Self { whole: known_as.to_owned(), ..Self::default() }
    }

    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.first.is_empty() || !self.last.is_empty()
    }

    /// The name after a patch; empty when the patch took all of it away.
    #[must_use]
    pub fn patched(
        &self,
        whole: &Patch<String>,
        first: &Patch<String>,
        last: &Patch<String>,
    ) -> Self {
        if let Some(whole) = whole.set() {
            return Self::renamed(whole, first, last);
        }
        let mut name = if self.is_known() { self.clone() } else { Self::default() };
        if whole.is_absent() && first.is_absent() && last.is_absent() {
            return name;
        }
        first.apply(&mut name.first);
        last.apply(&mut name.last);
        Self::complete(String::new(), name.first, name.last)
    }

    /// The name under which somebody is known from now on. A part that is not given belongs to the
    /// old name, and the new one says what it is; of the two one may be cleared.
    fn renamed(whole: &str, first: &Patch<String>, last: &Patch<String>) -> Self {
        let given = |part: &Patch<String>| part.set().cloned().unwrap_or_default();
        let (mut first_name, mut last_name) = (given(first), given(last));
        match (first, last) {
            (Patch::Clear, Patch::Absent) => whole.clone_into(&mut last_name),
            (Patch::Absent, Patch::Clear) => whole.clone_into(&mut first_name),
            (Patch::Clear, Patch::Set(_)) | (Patch::Set(_), Patch::Clear) => {}
            _ => return Self::complete(whole.to_owned(), first_name, last_name),
        }
        Self { whole: whole.to_owned(), first: first_name, last: last_name }
    }
}

fn split(whole: &str) -> (String, String) {
    match whole.rsplit_once(char::is_whitespace) {
        Some((first, last)) => (first.trim().to_owned(), last.to_owned()),
        None => (whole.to_owned(), String::new()),
    }
}

fn join(first: &str, last: &str) -> String {
    match (first.is_empty(), last.is_empty()) {
        (false, false) => format!("{first} {last}"),
        _ => format!("{first}{last}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn complete(whole: &str, first: &str, last: &str) -> (String, String, String) {
        let name = PersonName::complete(whole.to_owned(), first.to_owned(), last.to_owned());
        (name.whole, name.first, name.last)
    }

    fn parts(whole: &str, first: &str, last: &str) -> (String, String, String) {
        (whole.to_owned(), first.to_owned(), last.to_owned())
    }

    #[test]
    fn the_missing_side_is_derived() {
        assert_eq!(
            complete("Ada King Lovelace", "", ""),
            parts("Ada King Lovelace", "Ada King", "Lovelace")
        );
        assert_eq!(complete("Ada", "", ""), parts("Ada", "Ada", ""));
        assert_eq!(complete("", "Ada", "Lovelace"), parts("Ada Lovelace", "Ada", "Lovelace"));
        assert_eq!(complete("", "", "Lovelace"), parts("Lovelace", "", "Lovelace"));
        assert_eq!(complete("Ada Lovelace", "Ada", ""), parts("Ada Lovelace", "Ada", "Lovelace"));
        assert_eq!(
            complete("Ada Lovelace", "", "Lovelace"),
            parts("Ada Lovelace", "Ada", "Lovelace")
        );
        assert_eq!(
            complete("The Countess", "Ada", "Lovelace"),
            parts("The Countess", "Ada", "Lovelace")
        );
        assert_eq!(complete("The Countess", "Ada", ""), parts("The Countess", "Ada", ""));
    }

    #[test]
    fn a_patch_without_a_name_leaves_it_as_it_is() {
        for (whole, first, last) in [
            ("The Countess", "Ada", "Lovelace"),
            ("王小明", "小明", "王"),
            ("Lovelace, Ada", "Ada", ""),
            ("Ada  Lovelace", "", ""),
        ] {
            let name = PersonName::complete(whole.to_owned(), first.to_owned(), last.to_owned());
            assert_eq!(name.patched(&Patch::Absent, &Patch::Absent, &Patch::Absent), name);
        }
    }

    #[test]
    fn a_patch_of_one_side_brings_the_other_along() {
        let ada = PersonName::complete("Ada Lovelace".to_owned(), String::new(), String::new());
        let set = |text: &str| Patch::Set(text.to_owned());
        let married = ada.patched(&Patch::Absent, &Patch::Absent, &set("King"));
        assert_eq!((married.whole.as_str(), married.first.as_str()), ("Ada King", "Ada"));
        let renamed = ada.patched(&set("Grace Hopper"), &Patch::Absent, &Patch::Absent);
        assert_eq!((renamed.first.as_str(), renamed.last.as_str()), ("Grace", "Hopper"));
        assert_eq!(ada.patched(&Patch::Clear, &Patch::Absent, &Patch::Absent), ada);
        let gone = ada.patched(&Patch::Clear, &Patch::Clear, &Patch::Clear);
        assert_eq!(gone, PersonName::default());
        let both = ada.patched(&set("Countess"), &set("A."), &Patch::Absent);
        assert_eq!(
            (both.whole.as_str(), both.first.as_str(), both.last.as_str()),
            ("Countess", "A.", "")
        );
    }

    #[test]
    fn a_part_that_is_cleared_beside_a_new_name_is_empty() {
        let ada = PersonName::complete("Ada Lovelace".to_owned(), String::new(), String::new());
        let king = Patch::Set("Ada King".to_owned());
        let patched = |first: Patch<String>, last: Patch<String>| {
            let name = ada.patched(&king, &first, &last);
            (name.whole, name.first, name.last)
        };
        assert_eq!(patched(Patch::Absent, Patch::Clear), parts("Ada King", "Ada King", ""));
        assert_eq!(patched(Patch::Clear, Patch::Absent), parts("Ada King", "", "Ada King"));
        assert_eq!(
            patched(Patch::Set("Ada".to_owned()), Patch::Clear),
            parts("Ada King", "Ada", "")
        );
        assert_eq!(
            patched(Patch::Clear, Patch::Set("King".to_owned())),
            parts("Ada King", "", "King")
        );
        assert_eq!(
            patched(Patch::Clear, Patch::Clear),
            parts("Ada King", "Ada", "King"),
            "somebody has a name"
        );
    }

    proptest! {
        #[test]
        fn a_split_name_joins_to_itself(whole in "[a-z]{1,8}( [a-z]{1,8}){0,3}") {
            let name = PersonName::complete(whole.clone(), String::new(), String::new());
            prop_assert_eq!(join(&name.first, &name.last), whole);
            prop_assert!(name.is_known());
        }

        #[test]
        fn completing_twice_is_completing_once(whole in "[a-z ]{0,12}", first in "[a-z]{0,5}",
            last in "[a-z]{0,5}") {
            let once = PersonName::complete(whole.trim().to_owned(), first, last);
            let twice = PersonName::complete(once.whole.clone(), once.first.clone(),
                once.last.clone());
            prop_assert_eq!(once, twice);
        }
    }
}
