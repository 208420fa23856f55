//! What a merge patch says of one field: nothing, clear it, or set it.

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Patch<T> {
    #[default]
    Absent,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub const fn set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Absent | Self::Clear => None,
        }
    }
}

impl<T: Clone + Default + PartialEq> Patch<T> {
    /// Brings the patch into `field`, where the default stands for "not known". True when that
    /// changed it.
    pub fn apply(&self, field: &mut T) -> bool {
        let value = match self {
            Self::Absent => return false,
            Self::Clear => T::default(),
            Self::Set(value) => value.clone(),
        };
        let changed = *field != value;
        *field = value;
        changed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patches() -> impl Strategy<Value = Patch<String>> {
        prop_oneof![Just(Patch::Absent), Just(Patch::Clear), ".*".prop_map(Patch::Set)]
    }

    proptest! {
        #[test]
        fn a_patch_applied_twice_is_a_patch_applied_once(patch in patches(), start: String) {
            let mut once = start;
            patch.apply(&mut once);
            let mut twice = once.clone();
            prop_assert!(!patch.apply(&mut twice));
            prop_assert_eq!(once, twice);
        }

        #[test]
        fn a_patch_says_whether_it_changed_anything(patch in patches(), start: String) {
            let mut field = start.clone();
            prop_assert_eq!(patch.apply(&mut field), field != start);
        }
    }
}
