//! Listing and searching the persons of a workspace.

use slated_model::contact::Channel;
use slated_model::id::{self, PersonId, WorkspaceId};
use slated_model::input::Query;
use slated_model::listing::{Page, TimeFilter};
use slated_model::person::{Identifier, IdentifierKind};
use slated_model::problem::{ErrorCode, FieldErrorCode, Problem};
use slated_model::search::{Field, Question};
use slated_model::text::limit;
use slated_store::records::pagination::PageResult;
use slated_store::records::person_filter::PersonFilter;
use slated_store::records::person_list::PersonItem;
use slated_store::records::{note, person, person_list};
use slated_store::{Operation, OperationError, Tx};

use crate::filter_errors::FilterErrors;
use crate::search::index;
use crate::{companies, jobs};

/// The filters as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PersonQuery {
    pub times: TimeFilter,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub external_source_id: Option<String>,
    pub social_public_id: Option<String>,
    pub company_id: Option<String>,
    pub job_id: Option<String>,
    pub q: Option<Question>,
}

impl PersonQuery {
    /// True if every record is wanted, so that a page is found by its place.
    pub fn wants_all(&self) -> bool {
        *self == Self::default()
    }

    pub fn read(query: &mut Query) -> Self {
        Self {
            times: TimeFilter::read(query),
            email: query.parsed(
                "email",
                FieldErrorCode::InvalidEmail,
                "an e-mail address",
                |written| {
                    Some(written.trim())
                        .filter(|written| Channel::Email.accepts(written))
                        .map(|written| Channel::Email.key(written))
                },
            ),
            phone: query.parsed(
                "phone",
                FieldErrorCode::InvalidPhone,
                "a phone number",
                |written| {
                    Some(written.trim())
                        .filter(|written| Channel::Phone.accepts(written))
                        .map(str::to_owned)
                },
            ),
            external_source_id: query.words("external_source_id"),
            social_public_id: query.words("social_public_id").map(|handle| handle.to_lowercase()),
            company_id: query.words("company_id"),
            job_id: query.words("job_id"),
            q: read_question(query),
        }
    }
}

/// Words to look for.
pub fn read_question(query: &mut Query) -> Option<Question> {
    query.parsed(
        "q",
        FieldErrorCode::InvalidValue,
        "up to 255 characters with at least one letter or digit",
        |written| {
            Some(written)
                .filter(|written| written.chars().count() <= limit::NAME)
                .and_then(Question::parse)
        },
    )
}

pub struct ListPersons {
    pub workspace: WorkspaceId,
    pub query: PersonQuery,
    pub page: Page<id::Person>,
}

/// A person on the list, and the fields in which search found them.
pub type Found = (PersonItem, Vec<Field>);

impl Operation for ListPersons {
    type Output = PageResult<Found>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<Found>, OperationError> {
        let filter = self.filter(tx).await?;
        let Some(question) = &self.query.q else {
            let PageResult { records, total, more } =
                person_list::list(tx, self.workspace, &filter, &self.page).await?;
            return Ok(PageResult {
                records: records.into_iter().map(|item| (item, Vec::new())).collect(),
                total,
                more,
            });
        };
        let message = "The person at the position of the cursor no longer matches; restart the \
            search.";
        let lost = || Problem::new(ErrorCode::CursorGone, message);
        let listed = person_list::search(tx, self.workspace, question, &filter, &self.page).await?;
        let PageResult { records, total, more } = listed.ok_or_else(lost)?;
        let ids: Vec<_> = records.iter().map(|item| item.id).collect();
        let matched = matched_fields(tx, self.workspace, question, &ids).await?;
        let fields = |id: PersonId| {
            matched
                .iter()
                .find(|(known, _)| *known == id)
                .map(|(_, fields)| fields.clone())
                .unwrap_or_default()
        };
        let records = records.into_iter().map(|item| {
            let fields = fields(item.id);
            (item, fields)
        });
        Ok(PageResult { records: records.collect(), total, more })
    }
}

impl ListPersons {
    async fn filter(&self, tx: &mut Tx) -> Result<PersonFilter, OperationError> {
        let PersonQuery {
            times,
            email,
            phone,
            external_source_id,
            social_public_id,
            company_id,
            job_id,
            q: _,
        } = &self.query;
        let mut flaws = FilterErrors::default();
        let company_id = match company_id {
            Some(written) => {
                flaws.note(companies::filtered(tx, self.workspace, "company_id", written).await)?
            }
            None => None,
        };
        let job_id = match job_id {
            Some(written) => flaws.note(jobs::filtered(tx, self.workspace, written).await)?,
            None => None,
        };
        flaws.check()?;
        let wanted =
            [(IdentifierKind::ExternalSource, external_source_id), (IdentifierKind::Email, email)];
        let identifiers = wanted
            .into_iter()
            .filter_map(|(kind, key)| key.clone().map(|key| Identifier { kind, key }))
            .collect();
        Ok(PersonFilter {
            times: times.clone(),
            identifiers,
            handle: social_public_id.clone(),
            phone: phone.clone(),
            company_id,
            job_id,
        })
    }
}

/// The fields of each of those persons in which words of the question stand.
async fn matched_fields(
    tx: &mut Tx,
    workspace: WorkspaceId,
    question: &Question,
    ids: &[PersonId],
) -> Result<Vec<(PersonId, Vec<Field>)>, OperationError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let notes = note::bodies(tx, workspace, ids).await?;
    let sources = person::search_sources(tx, workspace, ids).await?;
    let matched = sources.iter().map(|source| {
        let texts = index::texts(source, &notes);
        (
            source.person.id,
            question.matched(texts.iter().map(|(field, text)| (*field, text.as_str()))),
        )
    });
    Ok(matched.collect())
}
