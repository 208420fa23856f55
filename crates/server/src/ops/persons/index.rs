//! What search knows of a person, kept in step with the record: whatever changes a person takes their words anew in the same transaction.

use model::clock::Timestamp;
use model::id::{CompanyId, PersonId, WorkspaceId};
use model::person::NewPerson;
use model::search::{Document, Field, Key};
use serde_json::Value;
use store::record::person::SearchSource;
use store::record::{note, person, search};
use store::{Failure, Pace, Tx, Work};

/// Persons that are indexed in one transaction, so that no writer waits long behind them.
const AT_ONCE: i64 = 100;
/// Parts of a career that are no words.
const NOT_SEARCHED: [&str; 6] = ["company_social_url", "company_id", "start_date", "end_date", "credential_id", "position_type"];

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
    texts.extend(new.notes.iter().map(|notes| (Field::Notes, notes.as_str())));
    Document::new(texts)
}

/// The keys of a person who is to be made.
pub fn keys_of(new: &NewPerson, company: Option<CompanyId>) -> Vec<Key> {
    let emails = new.emails.entries().iter().map(|email| email.value.as_str());
    let phones = new.phones.entries().iter().map(|phone| phone.value.as_str());
    Key::all_of(&new.name.whole, &new.social.handle, company, emails, phones)
}

/// All texts of a person that are searched. `notes` may be those of others too.
pub fn texts(source: &SearchSource, notes: &[(PersonId, String)]) -> Vec<(Field, String)> {
    let mut texts: Vec<_> = [
        (Field::Name, &source.name),
        (Field::Name, &source.first_name),
        (Field::Name, &source.last_name),
        (Field::Handle, &source.social_public_id),
        (Field::Title, &source.current_job_title),
        (Field::Company, &source.company_name),
        (Field::Headline, &source.social_headline),
        (Field::Location, &source.social_location),
        (Field::Address, &source.address),
    ]
    .map(|(field, text)| (field, text.clone()))
    .into();
    texts.extend(source.emails.iter().map(|email| (Field::Emails, email.value.clone())));
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
    texts.extend(notes.iter().filter(|(person, _)| *person == source.id).map(|(_, note)| (Field::Notes, note.clone())));
    texts
}

fn gather(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() => words.push(text.clone()),
        Value::Array(entries) => entries.iter().for_each(|entry| gather(entry, words)),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| !NOT_SEARCHED.contains(&name.as_str())).for_each(|(_, value)| gather(value, words));
        }
        _ => {}
    }
}

/// Takes the words of a person who changed.
pub async fn refresh(tx: &mut Tx, workspace: WorkspaceId, person: PersonId) -> Result<(), Failure> {
    refresh_all(tx, workspace, &[person]).await
}

async fn refresh_all(tx: &mut Tx, workspace: WorkspaceId, persons: &[PersonId]) -> Result<(), Failure> {
    if persons.is_empty() {
        return Ok(());
    }
    let notes = note::bodies(tx, workspace, persons).await?;
    for source in person::search_sources(tx, workspace, persons).await? {
        let texts = texts(&source, &notes);
        let document = Document::new(texts.iter().map(|(field, text)| (*field, text.as_str())));
        let emails = source.emails.iter().map(|email| email.value.as_str());
        let phones = source.phones.iter().map(|phone| phone.value.as_str());
        let keys = Key::all_of(&source.name, &source.social_public_id, source.company_id, emails, phones);
        search::replace(tx, workspace, source.id, &document, &keys).await?;
    }
    Ok(())
}

/// The workspaces that have persons whose words are to be taken anew.
pub struct WaitingForIndex;

impl Work for WaitingForIndex {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<WorkspaceId>, Failure> {
        Ok(search::waiting(tx).await?)
    }
}

/// Takes the words of some of the persons that wait for it; says how many.
pub struct IndexSome {
    pub workspace: WorkspaceId,
}

impl Work for IndexSome {
    type Output = usize;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize, Failure> {
        let queued = search::queued(tx, self.workspace, AT_ONCE).await?;
        // Held, so that they are not changed between the look at them and the index; off the queue before that, so that nothing that puts
        // them there meanwhile is lost.
        for person in &queued {
            person::load(tx, self.workspace, *person).await?;
        }
        for person in &queued {
            search::unqueue(tx, self.workspace, *person).await?;
        }
        refresh_all(tx, self.workspace, &queued).await?;
        Ok(queued.len())
    }
}

/// Puts the words that writers left for later into the index, so that none of them has to.
pub struct TidyIndex;

impl Work for TidyIndex {
    type Output = ();

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    fn is_seen(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        Ok(search::tidy(tx).await?)
    }
}

/// Whether words that left the index are to be wiped out of its pages.
pub struct MergeWanted;

impl Work for MergeWanted {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, Failure> {
        Ok(search::merge_wanted(tx).await?)
    }
}

/// Wipes some more of them; false once that is done.
pub struct MergeSome {
    pub wanted_at: Timestamp,
    pub is_first: bool,
}

impl Work for MergeSome {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        Ok(search::merge(tx, self.wanted_at, self.is_first).await?)
    }
}
