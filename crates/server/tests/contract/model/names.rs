//! The name of a person in the model: whole, first and last. Missing ones are derived from the
//! others.

use super::fields::Patch;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Name {
    pub whole: String,
    pub first: String,
    pub last: String,
}

impl Name {
    pub fn given(whole: &str, first: &str, last: &str) -> Self {
        let [mut first, mut last] = [first, last].map(str::to_owned);
        let rest = |rest: Option<&str>| rest.unwrap_or_default().trim().to_owned();
        match (whole.is_empty(), first.is_empty(), last.is_empty()) {
            (true, ..) => {
                return Self { whole: format!("{first} {last}").trim().to_owned(), first, last };
            }
            (_, true, true) => match whole.rsplit_once(' ') {
                Some((front, end)) => (first, last) = (front.trim().to_owned(), end.to_owned()),
                None => whole.clone_into(&mut first),
            },
            (_, false, true) => last = rest(whole.strip_prefix(&format!("{first} "))),
            (_, true, false) => first = rest(whole.strip_suffix(&format!(" {last}"))),
            (_, false, false) => {}
        }
        Self { whole: whole.to_owned(), first, last }
    }

    /// A handle, an address or a number in the place of a name that is not known yet.
    pub fn standing_in(known_as: &str) -> Self {
        Self { whole: known_as.to_owned(), ..Self::default() }
    }

    pub fn is_known(&self) -> bool {
        !self.first.is_empty() || !self.last.is_empty()
    }

    /// The name after a patch; empty if the patch cleared all of it.
    pub fn patched(&self, whole: &Patch, first: &Patch, last: &Patch) -> Self {
        let is_untouched = [whole, first, last].into_iter().all(|patch| *patch == Patch::Absent);
        let Patch::Set(whole) = whole else {
            let mut name = if self.is_known() { self.clone() } else { Self::default() };
            if is_untouched {
                return name;
            }
            first.apply(&mut name.first);
            last.apply(&mut name.last);
            return Self::given("", &name.first, &name.last);
        };
        let parts = |first: &str, last: &str| Self {
            whole: whole.clone(),
            first: first.to_owned(),
            last: last.to_owned(),
        };
        match (first, last) {
            (Patch::Clear, Patch::Absent) => parts("", whole),
            (Patch::Absent, Patch::Clear) => parts(whole, ""),
            (Patch::Clear, Patch::Set(last)) => parts("", last),
            (Patch::Set(first), Patch::Clear) => parts(first, ""),
            (Patch::Set(first), Patch::Set(last)) => parts(first, last),
            (Patch::Set(first), Patch::Absent) => Self::given(whole, first, ""),
            (Patch::Absent, Patch::Set(last)) => Self::given(whole, "", last),
            (Patch::Absent, Patch::Absent) | (Patch::Clear, Patch::Clear) => {
                Self::given(whole, "", "")
            }
        }
    }
}
