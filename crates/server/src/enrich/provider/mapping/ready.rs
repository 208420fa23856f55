//! Mappings that are there: the shapes in which well-known services answer, as they document them.
//! Each is a file in the form in which an operator writes one.

use serde_json::Value;

use super::{Mapping, form};

pub const READY: [(&str, &str); 3] = [
    ("apollo", include_str!("../../mappings/apollo.toml")),
    ("coresignal", include_str!("../../mappings/coresignal.toml")),
    ("people-data-labs", include_str!("../../mappings/people-data-labs.toml")),
];

pub fn find(name: &str) -> Result<Mapping, String> {
    let Some((_, text)) = READY.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = READY.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "mapping {name:?} is unknown; use one of {}, or write your own as \
             [enrichment.provider.mapping]",
            known.join(", ")
        ));
    };
    let written: Value =
        toml::from_str(text).map_err(|error| format!("mapping {name:?}: {}", error.message()))?;
    form::read(&written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_can_be_read() {
        for (name, _) in READY {
            assert!(find(name).is_ok(), "{:?}", find(name).err());
        }
        assert!(
            find("acme")
                .is_err_and(|reason| reason.contains("apollo, coresignal, people-data-labs"))
        );
    }
}
