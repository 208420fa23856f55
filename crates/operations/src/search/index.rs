//! What search knows of a person, kept in step with the record: whatever changes a person changes
//! their words in the same transaction.

use serde_json::Value;
use slated_model::clock::Timestamp;
use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::{NewPerson, Person};
use slated_model::search::{Document, Field, may_mention};
use slated_store::records::person::SearchSource;
use slated_store::records::search::documents;
use slated_store::records::{company, note, person};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

/// Persons that are indexed in one transaction, so that no writer waits long behind them.
const AT_ONCE: i64 = 100;
/// Workspaces that are looked for with persons whom the segments know nothing of.
const MAX_WORKSPACES: usize = 100;
/// Parts of a career that are no words.
const NOT_SEARCHED: [&str; 6] = [
    "company_social_url",
    "company_id",
    "start_date",
    "end_date",
    "credential_id",
    "position_type",
];

/// The words of a person who is to be made.
pub fn document_of(new: &NewPerson) -> Document {
    let mut texts = vec![
        (Field::Name, new.name.whole.as_str()),
        (Field::Name, &new.name.first),
        (Field::Name, &new.name.last),
        (Field::Handle, &new.social.handle),
        (Field::Title, &new.current_job_title),
        (Field::Location, &new.social_location),
    ];
    texts.extend(new.company_name.iter().map(|name| (Field::Company, name.as_str())));
    texts.extend(new.emails.entries().iter().map(|email| (Field::Emails, email.value.as_str())));
    texts.extend(new.notes.iter().map(|note| (Field::Notes, note::searched(note))));
    Document::new(texts)
}

/// What search knows of the fields of a person that became others, without career and notes.
struct Differing {
    document: Document,
    tokens: String,
}

impl Differing {
    /// As they were and as they are.
    fn of(before: (&Person, &str), after: (&Person, &str)) -> [Self; 2] {
        let [old, new] =
            Document::differing(&texts_of(before.0, before.1), &texts_of(after.0, after.1));
        let tokens = |document: &Document, person| match before.0.phones == after.0.phones {
            true => document.tokens(std::iter::empty()),
            false => tokens_of(document, person),
        };
        [
            Self { tokens: tokens(&old, before.0), document: old },
            Self { tokens: tokens(&new, after.0), document: new },
        ]
    }
}

fn texts_of<'p>(person: &'p Person, company_name: &'p str) -> Vec<(Field, &'p str)> {
    let mut texts = vec![
        (Field::Name, person.name.whole.as_str()),
        (Field::Name, &person.name.first),
        (Field::Name, &person.name.last),
        (Field::Handle, &person.social.handle),
        (Field::Title, &person.current_job_title),
        (Field::Company, company_name),
        (Field::Headline, &person.social_headline),
        (Field::Location, &person.social_location),
        (Field::Address, &person.address),
    ];
    texts.extend(person.emails.entries().iter().map(|email| (Field::Emails, email.value.as_str())));
    texts
}

/// The words of a person as they stand in the index, with the phone numbers, by which persons are
/// looked up too.
pub fn tokens_of(document: &Document, person: &Person) -> String {
    document.tokens(person.phones.entries().iter().map(|phone| phone.value.as_str()))
}

/// All texts of a person that are searched. `notes` may be those of others too.
pub fn texts(source: &SearchSource, notes: &[(PersonId, String)]) -> Vec<(Field, String)> {
    let mut texts: Vec<_> = texts_of(&source.person, &source.company_name)
        .into_iter()
        .map(|(field, text)| (field, text.to_owned()))
        .collect();
    let career = [
        (Field::Work, &source.work_experience),
        (Field::Education, &source.education_experience),
        (Field::Certifications, &source.certifications),
    ];
    for (field, list) in career {
        let mut words = Vec::new();
        gather(list, &mut words);
        texts.extend(words.into_iter().map(|word| (field, word)));
    }
    texts.extend(
        notes
            .iter()
            .filter(|(person, _)| *person == source.person.id)
            .map(|(_, note)| (Field::Notes, note.clone())),
    );
    texts
}

fn gather(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() => words.push(text.clone()),
        Value::Array(entries) => entries.iter().for_each(|entry| gather(entry, words)),
        Value::Object(fields) => {
            fields
                .iter()
                .filter(|(name, _)| !NOT_SEARCHED.contains(&name.as_str()))
                .for_each(|(_, value)| gather(value, words));
        }
        _ => {}
    }
}

/// Takes the words of a person of whom nothing changed but fields, from what they were to what they
/// are. Career and notes are only looked at for words that leave: they may have those too. True if
/// that is not enough, and the person is to be indexed anew.
pub async fn change(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: &Person,
    after: &Person,
) -> Result<bool, OperationError> {
    let id = after.id;
    if before == after {
        return Ok(false);
    }
    let stays_employed = after.company_id == before.company_id;
    if !documents::takes_changes(tx) {
        // The name of a company that stays does not matter.
        let [old, new] = Differing::of((before, ""), (after, ""));
        return Ok(!stays_employed || old.tokens != new.tokens);
    }
    let old_company = company_name(tx, workspace, before).await?;
    let new_company = match stays_employed {
        true => old_company.clone(),
        false => company_name(tx, workspace, after).await?,
    };
    let [old, new] = Differing::of((before, &old_company), (after, &new_company));
    if old.tokens == new.tokens && stays_employed {
        return Ok(false);
    }
    let leaving = old.document.beside(&new.document);
    let may_stay = !leaving.is_empty() && {
        let career = person::career(tx, workspace, id).await?;
        let notes = note::bodies(tx, workspace, &[id]).await?;
        career
            .iter()
            .chain(notes.iter().map(|(_, note)| note))
            .any(|text| may_mention(text, &leaving))
    };
    Ok(may_stay || !documents::change(tx, workspace, id, &old.tokens, &new.tokens).await?)
}

async fn company_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: &Person,
) -> Result<String, StoreError> {
    match person.company_id {
        Some(company) => Ok(company::name(tx, workspace, company).await?.unwrap_or_default()),
        None => Ok(String::new()),
    }
}

/// Takes the words of a person who changed.
pub async fn refresh(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), OperationError> {
    refresh_all(tx, workspace, &[person]).await
}

/// The same of many.
pub async fn refresh_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<(), OperationError> {
    for some in persons.chunks(AT_ONCE as usize) {
        refresh_some(tx, workspace, some).await?;
    }
    Ok(())
}

async fn refresh_some(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<(), OperationError> {
    let notes = note::bodies(tx, workspace, persons).await?;
    let mut sources = person::search_sources(tx, workspace, persons).await?;
    sources.sort_unstable_by_key(|source| source.person.id);
    for gone in persons.iter().filter(|id| !sources.iter().any(|source| source.person.id == **id)) {
        documents::remove(tx, workspace, *gone).await?;
    }
    for source in sources {
        take_words(tx, workspace, &source, &notes).await?;
    }
    Ok(())
}

/// Takes the words of a person of whom all is known. `notes` may be those of others too.
pub async fn take_words(
    tx: &mut Tx,
    workspace: WorkspaceId,
    source: &SearchSource,
    notes: &[(PersonId, String)],
) -> Result<(), OperationError> {
    let texts = texts(source, notes);
    let document = Document::new(texts.iter().map(|(field, text)| (*field, text.as_str())));
    Ok(documents::replace(tx, workspace, source.person.id, &tokens_of(&document, &source.person))
        .await?)
}

/// The workspaces that have persons whose words are to be taken anew, those first that changed
/// them; only some of those with persons whom the segments know nothing of.
pub struct WaitingForIndex;

impl Operation for WaitingForIndex {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<WorkspaceId>, OperationError> {
        let mut waiting = documents::waiting(tx).await?;
        let mut behind = None;
        for _ in 0..MAX_WORKSPACES {
            let Some(workspace) = documents::unknown_workspace(tx, behind).await? else { break };
            if !waiting.contains(&workspace) {
                waiting.push(workspace);
            }
            behind = Some(workspace);
        }
        Ok(waiting)
    }
}

/// Takes the words of some of the persons that wait for it: of those in the queue, or else of the
/// next whom the segments know nothing of.
pub struct IndexSome {
    pub workspace: WorkspaceId,
    /// Who was the last of those.
    pub behind: Option<PersonId>,
}

/// How far that came.
pub struct Indexed {
    pub persons: usize,
    pub behind: Option<PersonId>,
    pub is_all: bool,
}

impl Operation for IndexSome {
    type Output = Indexed;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Indexed, OperationError> {
        let queued = documents::ask_queued(tx, self.workspace, AT_ONCE).await?;
        let queued = tx.answer(queued).await?;
        if !queued.is_empty() {
            self.take(tx, &queued).await?;
            return Ok(Indexed { persons: queued.len(), behind: self.behind, is_all: false });
        }
        let unknown = documents::ask_unknown(tx, self.workspace, self.behind, AT_ONCE).await?;
        let unknown = tx.answer(unknown).await?;
        self.take(tx, &unknown).await?;
        let is_all = (unknown.len() as i64) < AT_ONCE;
        Ok(Indexed {
            persons: unknown.len(),
            behind: unknown.last().copied().or(self.behind),
            is_all,
        })
    }
}

impl IndexSome {
    async fn take(&self, tx: &mut Tx, persons: &[PersonId]) -> Result<(), OperationError> {
        // Held, so that they are not changed between the look at them and the index; off the queue
        // before that, so that nothing that puts them there meanwhile is lost.
        person::lock_all(tx, self.workspace, persons).await?;
        for person in persons {
            documents::unqueue(tx, self.workspace, *person).await?;
        }
        refresh_all(tx, self.workspace, persons).await
    }
}

/// Puts the words that writers left for later into the index, so that none of them has to.
pub struct TidyIndex;

impl Operation for TidyIndex {
    type Output = ();

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    fn replicas_must_show(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(documents::tidy(tx).await?)
    }
}

/// Whether words that left the index are to be wiped out of its pages.
pub struct MergeWanted;

impl Operation for MergeWanted {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, OperationError> {
        Ok(documents::merge_wanted(tx).await?)
    }
}

/// Wipes some more of them; false once that is done.
pub struct MergeSome {
    pub wanted_at: Timestamp,
    pub is_first: bool,
}

impl Operation for MergeSome {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(documents::merge(tx, self.wanted_at, self.is_first).await?)
    }
}
