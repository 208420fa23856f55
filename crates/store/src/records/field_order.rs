//! The JSON that is kept with a person or a template, with its fields in the order in which they
//! are shown. PostgreSQL keeps them in its own.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Error, Value, from_str, to_string};

type Raw<'t> = &'t RawValue;

macro_rules! shapes {
    ($($shape:ident { $($field:ident),* })*) => {$(
        #[derive(Serialize, Deserialize)]
        struct $shape<'t> {
            $(#[serde(borrow)] $field: Raw<'t>),*
        }
    )*};
}

shapes! {
    Contact { contact_data_type, value }
    Position { title, start_date, end_date, duration_in_months, description, location,
        position_type }
    Education { company_name, start_date, end_date, description, degree, company_social_url,
        company_social_id, company_id }
    Certification { name, credential_id, start_date, end_date, company_name, company_social_url,
        company_social_id, company_id }
    Stage { name, is_rejection_stage, is_interviewing_stage }
}

#[derive(Serialize, Deserialize)]
struct WorkExperience<'t> {
    #[serde(borrow)]
    positions: Vec<Position<'t>>,
    duration_in_months: Raw<'t>,
    company_name: Raw<'t>,
    company_social_url: Raw<'t>,
    company_social_id: Raw<'t>,
    company_id: Raw<'t>,
}

pub fn contacts(text: &str) -> Result<String, Error> {
    to_string(&from_str::<Vec<Contact<'_>>>(text)?)
}

pub fn work_experience(text: &str) -> Result<String, Error> {
    to_string(&from_str::<Vec<WorkExperience<'_>>>(text)?)
}

pub fn education_experience(text: &str) -> Result<String, Error> {
    to_string(&from_str::<Vec<Education<'_>>>(text)?)
}

pub fn certifications(text: &str) -> Result<String, Error> {
    to_string(&from_str::<Vec<Certification<'_>>>(text)?)
}

pub fn stages(text: &str) -> Result<String, Error> {
    to_string(&from_str::<Vec<Stage<'_>>>(text)?)
}

/// Any JSON, with the fields of every object by their names.
pub fn by_name(text: &str) -> Result<String, Error> {
    let mut value: Value = from_str(text)?;
    value.sort_all_objects();
    to_string(&value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};
    use slated_model::career::{CareerCompany, Certification, Education, Position, WorkExperience};
    use slated_model::contact::{Contact, ContactType};
    use slated_model::stage::default_pipeline;

    use super::*;

    /// The same JSON with the fields of every object the wrong way round, and blanks as PostgreSQL
    /// puts them.
    fn disordered(text: &str) -> String {
        fn turn(value: Value) -> Value {
            match value {
                Value::Array(items) => items.into_iter().map(turn).collect(),
                Value::Object(fields) => Value::Object(
                    fields
                        .into_iter()
                        .rev()
                        .map(|(name, value)| (name, turn(value)))
                        .collect::<Map<_, _>>(),
                ),
                other => other,
            }
        }
        serde_json::to_string_pretty(&turn(from_str(text).unwrap())).unwrap()
    }

    fn check(kept: &impl Serialize, order: fn(&str) -> Result<String, Error>) {
        let text = to_string(kept).unwrap();
        assert_ne!(disordered(&text), text);
        assert_eq!(order(&disordered(&text)).unwrap(), text);
    }

    #[test]
    fn the_fields_come_back_as_the_model_writes_them() {
        let company = CareerCompany {
            company_name: "Åre \"Ski\"".to_owned(),
            company_social_url: String::new(),
            company_social_id: 7,
            company_id: None,
        };
        let position = Position {
            title: "Analyst".to_owned(),
            start_date: None,
            end_date: None,
            duration_in_months: 3,
            description: "\n".to_owned(),
            location: String::new(),
            position_type: String::new(),
        };
        let education = Education {
            company_name: "School".to_owned(),
            start_date: None,
            end_date: None,
            description: String::new(),
            degree: "BSc".to_owned(),
            company_social_url: String::new(),
            company_social_id: 0,
            company_id: None,
        };
        let certification = Certification {
            name: "CPA".to_owned(),
            credential_id: String::new(),
            start_date: None,
            end_date: None,
            company: company.clone(),
        };
        check(
            &[Contact { contact_data_type: ContactType::Work, value: "a@example.com".to_owned() }],
            contacts,
        );
        check(
            &[WorkExperience {
                positions: vec![position.clone(), position],
                duration_in_months: 6,
                company,
            }],
            work_experience,
        );
        check(&[education], education_experience);
        check(&[certification], certifications);
        check(&default_pipeline(), stages);
    }
}
