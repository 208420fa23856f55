use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::KeyId;
use slated_store::records::key::KeyRecord;
use utoipa::ToSchema;

/// A key, without its secret.
#[derive(Serialize, ToSchema)]
pub struct KeyRead {
    #[schema(value_type = String, example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")]
    pub id: KeyId,
    /// What the key is for.
    #[schema(example = "importer")]
    pub name: String,
    #[schema(value_type = ScopeName)]
    pub scope: &'static str,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    /// When it expires; null for never.
    #[schema(value_type = Option<String>, required, example = "2027-01-31T00:00:00.000Z")]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; null if it was not.
    #[schema(value_type = Option<String>, required)]
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to within ten seconds; null for never.
    #[schema(value_type = Option<String>, required)]
    pub last_used_at: Option<Timestamp>,
    /// The key itself; only in responses that create it, and empty if such a response is
    /// replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        nullable = false,
        example = "slated_4mnwxjwpdv3re_tvvhjg8ya8mpqaa075hs3h51aez2v0j7m5fe82"
    )]
    pub key: Option<String>,
}

/// What a key may do; each scope includes those before it.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ScopeName {
    Read,
    Write,
    Admin,
}

impl From<&KeyRecord> for KeyRead {
    fn from(key: &KeyRecord) -> Self {
        Self {
            id: key.id,
            name: key.name.clone(),
            scope: key.scope.name(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
            key: None,
        }
    }
}
