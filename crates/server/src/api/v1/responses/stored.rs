use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// The name under which serde_json passes JSON through as it is. Its own `RawValue` would parse the
/// text anew on every read.
const PASS_THROUGH: &str = "$serde_json::private::RawValue";

/// JSON that was checked when it was written, and goes out as it is.
pub struct StoredJson(pub String);

impl Serialize for StoredJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut passed = serializer.serialize_struct(PASS_THROUGH, 1)?;
        passed.serialize_field(PASS_THROUGH, &self.0)?;
        passed.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_json_goes_out_as_it_is() {
        let stored = StoredJson(r#"[{"value": "ada@example.com"}]"#.to_owned());
        assert_eq!(serde_json::to_string(&stored).unwrap(), stored.0);
    }
}
