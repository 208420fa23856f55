//! The fields that have a source.

named! {
    /// A field that has a source. They stand in the order in which the sources of fields are shown.
    /// Enrichment may set all of them but the outside id, which is the caller's own.
    Field {
        Name "name"
        SocialUrl "social_url"
        SocialLocation "social_location"
        SocialHeadline "social_headline"
        Address "address"
        CurrentJobTitle "current_job_title"
        CurrentCompanyName "current_company_name"
        ExternalSourceId "external_source_id"
        Emails "emails"
        Phones "phones"
        WorkExperience "work_experience"
        EducationExperience "education_experience"
        Certifications "certifications"
    }
}
