use utoipa::ToSchema;

/// An e-mail address or a phone number.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes JSON that is stored as it is shown")]
pub struct ContactEntry {
    /// E-mail: `work`, `personal` or `other`. Phone: `mobile`, `work`, `home` or `other`.
    #[schema(example = "work")]
    contact_data_type: ContactDataType,
    /// The address or number, as it was written.
    #[schema(example = "ada@example.com")]
    value: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ContactDataType {
    Work,
    Personal,
    Mobile,
    Home,
    Other,
}
