//! The records as the interface shows them: exactly these fields, in this order.

pub mod candidate;
pub mod contact;
pub mod job;
pub mod person;

use serde_json::value::RawValue;

/// JSON that was checked when it was written, and goes out as it is.
fn raw(stored: String) -> Box<RawValue> {
    RawValue::from_string(stored).unwrap_or_else(|error| {
        // One odd stored value must not break a read.
        tracing::error!(error = %error, "stored JSON is not readable");
        RawValue::NULL.to_owned()
    })
}
