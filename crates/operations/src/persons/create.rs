//! Creating a person, or finding the one who is there already. Pushing the same person twice is
//! safe.

use std::collections::HashMap;
use std::sync::OnceLock;

use slated_model::enrichment::{Field, ProposalState};
use slated_model::id::{
    CandidateId, ClientContactId, CompanyId, JobId, NoteId, PersonId, ProposalId, WorkspaceId,
};
use slated_model::matched::{self, Differing, differing};
use slated_model::person::{
    Association, Identifier, IdentifierKind, NewPerson, OnDuplicate, Person,
};
use slated_model::problem::{ErrorCode, FieldError, Problem, listed};
use slated_model::search::Document;
use slated_model::stage::Stage;
use slated_model::text::comparison_key;
use slated_store::records::identifier::in_order;
use slated_store::records::proposal;
use slated_store::records::proposal::{Proposal, Proposer};
use slated_store::records::search::documents;
use slated_store::records::{candidate, company, enrichment, identifier, note, person};
use slated_store::{Asked, Operation, OperationError, StoreError, Tx};

use crate::candidates::associate::{Target, ask_stages, make_contact, resolve};
use crate::companies::{answer_or_make, find_or_make};
use crate::emit::RecordRef;
use crate::enrichment::ask_for;
use crate::enrichment::proposals::{self, MAX_KNOWN};
use crate::persons::deferred_steps::DeferredSteps;
use crate::persons::matching::{
    Looking, Matching, Pointed, held_by, identifiers_of, is_somebody_else,
};
use crate::persons::notes::refuse_if_full;
use crate::search::index;
use crate::{Actor, emit};

pub struct CreatePerson {
    actor: Actor,
    new: NewPerson,
    on_duplicate: OnDuplicate,
    /// What search is to know of the person, once it is asked for.
    document: OnceLock<Document>,
}

/// The name of a company as it was given, and the company of that name as it was asked for.
type Employer<'n> = (&'n str, Asked<(CompanyId, String)>);

/// What a create looked up: it is known once it is taken.
pub struct LookedUp {
    /// None if the person is to be new in any case.
    looking: Option<Looking>,
    employer: Option<Asked<(CompanyId, String)>>,
    stages: Option<Asked<Stage>>,
}

/// A create that knows whom it is about.
pub struct Ready {
    matched: Option<Pointed>,
    /// Identifiers that stay with somebody else, who is not meant.
    shared: Vec<Identifier>,
    existing: Option<Existing>,
    employer: Option<Asked<(CompanyId, String)>>,
    stages: Option<Asked<Stage>>,
}

/// Who is there already, and what is asked about them.
struct Existing {
    person: Person,
    /// Who holds the identifier by which they were found, if it is none of their fields: it came
    /// with somebody who was merged into them.
    holder: Option<Asked<PersonId>>,
    /// The name of the company that they work for.
    company_name: Option<Asked<String>>,
    /// Who holds the identifiers that are new to them.
    holders: Vec<(Identifier, Asked<PersonId>)>,
    /// A note like the one that comes with them.
    same_note: Option<Asked<NoteId>>,
    /// Whether that note is to be written.
    has_new_note: bool,
    /// What was proposed for them before.
    proposals: Asked<Proposal>,
    /// Their candidate on the job that they are to be put on.
    candidate: Option<Asked<CandidateId>>,
}

impl Ready {
    pub fn matched(&self) -> Option<PersonId> {
        self.matched.as_ref().map(|matched| matched.person)
    }

    /// True if somebody is there already who was not met.
    pub const fn is_incomplete(&self) -> bool {
        self.matched.is_some() && self.existing.is_none()
    }

    /// The names of the companies that are not there, folded.
    pub async fn missing_companies(
        self,
        tx: &mut Tx,
        create: &CreatePerson,
    ) -> Result<Vec<String>, StoreError> {
        let [employer, client] = create.companies();
        let has_employer = match self.employer {
            Some(asked) => !tx.answer(asked).await?.is_empty(),
            None => true,
        };
        let has_client = match &client {
            Some(name) => company::find_by_name(tx, create.actor.workspace, name).await?.is_some(),
            None => true,
        };
        let missing = [employer.filter(|_| !has_employer), client.filter(|_| !has_client)];
        Ok(missing.into_iter().flatten().collect())
    }

    /// The same where the company is known that the person works for.
    pub fn working_for(self, company: (CompanyId, String)) -> Self {
        Self { employer: Some(Asked::known(vec![company])), ..self }
    }
}

pub struct CreatedPerson {
    /// False when the person was there already.
    pub is_new: bool,
    pub person: Person,
    pub company_name: String,
    pub candidate_id: Option<CandidateId>,
    pub client_contact_id: Option<ClientContactId>,
    pub changes: Changes,
}

/// What became of the values of a create, beside what the answer shows.
#[derive(Default)]
pub struct Changes {
    /// By what the person was found, if they were there already.
    pub matched_by: Option<IdentifierKind>,
    /// The fields of the create that filled gaps of the person, or added to their lists.
    pub filled: Vec<&'static str>,
    /// What differs from what the person has.
    pub kept_back: Vec<KeptBack>,
    /// What was not valid and left out.
    pub dropped: Vec<FieldError>,
}

pub struct KeptBack {
    pub differing: Differing,
    /// The proposal that waits to be decided, or was rejected before.
    pub proposal: Option<ProposalId>,
}

impl CreatedPerson {
    /// Takes the candidate that was made for the person by a follow-up, if one was.
    pub fn take_candidate(&mut self, made: &HashMap<PersonId, CandidateId>) {
        self.candidate_id = self.candidate_id.or_else(|| made.get(&self.person.id).copied());
    }
}

impl Operation for CreatePerson {
    type Output = CreatedPerson;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CreatedPerson, OperationError> {
        let looked_up = self.prefetch(tx).await?;
        let mut ready = self.match_identifiers(tx, looked_up).await?;
        if let Some(id) = ready.matched() {
            let existing = person::load(tx, self.actor.workspace, id).await?.ok_or_else(changed)?;
            self.load_existing(tx, &mut ready, existing).await?;
        }
        let mut deferred = DeferredSteps::default();
        let mut created = self.apply(tx, ready, &mut deferred).await?;
        created.take_candidate(&deferred.apply(tx, self.actor.workspace).await?);
        Ok(created)
    }
}

impl CreatePerson {
    pub fn new(actor: Actor, new: NewPerson, on_duplicate: OnDuplicate) -> Self {
        Self { actor, new, on_duplicate, document: OnceLock::new() }
    }

    /// Makes ready what takes its time, before anybody waits for it.
    pub fn precomputed(self) -> Self {
        self.precompute();
        self
    }

    pub fn precompute(&self) {
        self.document();
    }

    fn document(&self) -> &Document {
        self.document.get_or_init(|| index::document_of(&self.new))
    }

    /// Asks for all that has to be looked up, at once.
    pub async fn prefetch(&self, tx: &mut Tx) -> Result<LookedUp, OperationError> {
        let Self { actor, new, .. } = self;
        let looking = match self.on_duplicate {
            OnDuplicate::Create => None,
            OnDuplicate::Merge | OnDuplicate::Error => {
                Some(Looking::ask(tx, actor.workspace, new).await?)
            }
        };
        let employer = self.ask_employer(tx).await?;
        let stages = ask_stages(tx, actor.workspace, new.association.job_id.as_ref()).await?;
        Ok(LookedUp { looking, employer, stages })
    }

    /// Finds out who is there already.
    pub async fn match_identifiers(
        &self,
        tx: &mut Tx,
        looked_up: LookedUp,
    ) -> Result<Ready, OperationError> {
        let LookedUp { looking, employer, stages } = looked_up;
        let Some(looking) = looking else {
            return Ok(Ready {
                matched: None,
                shared: self.claims(),
                existing: None,
                employer,
                stages,
            });
        };
        let matching = looking.answer(tx, self.actor.workspace, &self.new).await?;
        let shared = matching.held_by_others().cloned().collect();
        let matched = only_one(matching)?;
        if let (Some(matched), OnDuplicate::Error) = (&matched, self.on_duplicate) {
            return Err(duplicate(matched).into());
        }
        Ok(Ready { matched, shared, existing: None, employer, stages })
    }

    /// Asks once more for the company that the person works for.
    pub async fn look_again(&self, tx: &mut Tx, ready: Ready) -> Result<Ready, StoreError> {
        Ok(Ready { employer: self.ask_employer(tx).await?, ..ready })
    }

    async fn ask_employer(
        &self,
        tx: &mut Tx,
    ) -> Result<Option<Asked<(CompanyId, String)>>, StoreError> {
        match &self.new.company_name {
            Some(name) => {
                Ok(Some(company::ask_to_keep_by_name(tx, self.actor.workspace, name).await?))
            }
            None => Ok(None),
        }
    }

    /// Takes note of whom it is about, who is kept from others, and asks for all that has to be
    /// known of them, at once.
    pub async fn load_existing(
        &self,
        tx: &mut Tx,
        ready: &mut Ready,
        person: Person,
    ) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        let Some(Pointed { person: id, by }) = &ready.matched else { return Ok(()) };
        let had = person.identifiers();
        let holder = match by.first().filter(|by| !had.contains(by)) {
            Some(by) => Some(identifier::ask_holder(tx, workspace, by).await?),
            None => None,
        };
        let company_name = match person.company_id {
            Some(company) => Some(company::ask_name(tx, workspace, company).await?),
            None => None,
        };
        let mut filled = person.clone();
        // What is refused is refused when it is carried out.
        let has_more = filled.fill_from(&self.new, None).unwrap_or(false);
        let added = if has_more { filled.identifiers() } else { Vec::new() };
        let mut holders = Vec::new();
        for added in in_order(added.iter().filter(|added| !had.contains(added))) {
            holders.push((added.clone(), identifier::ask_holder(tx, workspace, added).await?));
        }
        let same_note = match &self.new.notes {
            Some(body) => Some(note::ask_like(tx, workspace, *id, body).await?),
            None => None,
        };
        let candidate = match self.onto_job() {
            Some(job) => Some(candidate::ask(tx, workspace, job, *id).await?),
            None => None,
        };
        let proposals = proposal::ask_of_person(tx, workspace, *id, MAX_KNOWN).await?;
        ready.existing = Some(Existing {
            person,
            holder,
            company_name,
            holders,
            same_note,
            has_new_note: false,
            proposals,
            candidate,
        });
        Ok(())
    }

    /// The job that the person is to be put on, if it is named by its id.
    pub fn onto_job(&self) -> Option<JobId> {
        self.new.association.job_id.as_ref().and_then(|reference| reference.id)
    }

    /// Makes the person, or adds to the one who is there, but for what is left to the follow-up.
    /// What is refused is refused before anything is written.
    pub async fn apply<'c>(
        &'c self,
        tx: &mut Tx,
        ready: Ready,
        deferred: &mut DeferredSteps<'c>,
    ) -> Result<CreatedPerson, OperationError> {
        let Self { actor, new, .. } = self;
        if ready.is_incomplete() {
            return Err(changed().into());
        }
        let Ready { matched, shared, mut existing, employer, stages } = ready;
        let by = matched.map(|matched| matched.by).unwrap_or_default();
        let employer = new.company_name.as_deref().zip(employer);
        let target = resolve(tx, actor.workspace, &new.association, stages).await?;
        if let Some(existing) = &mut existing {
            self.check(tx, existing, &by).await?;
        }
        // Companies are made in the order of their names, so that of two who make the same ones
        // none waits for the other for ever.
        if let (Target::NewClient(client), Some((name, _))) = (&target, &employer)
            && comparison_key(client) < comparison_key(name)
        {
            find_or_make(tx, actor, client).await?;
        }
        let is_new = existing.is_none();
        let candidate = existing.as_mut().and_then(|existing| existing.candidate.take());
        let (person, company_name, changes) = match existing {
            Some(existing) => {
                self.merge_into(tx, existing, (&by, &shared), employer, deferred).await?
            }
            None => self.insert(tx, &shared, employer).await?,
        };
        let named = RecordRef { id: person.id, name: &person.name.whole };
        let client_contact_id = make_contact(tx, actor, named, &target).await?;
        let mut candidate_id = None;
        if let Target::Job(job, stages) = target {
            candidate_id = match candidate {
                Some(asked) => tx.answer(asked).await?.pop(),
                // Who is new is on no job yet.
                None if is_new => None,
                None => candidate::find(tx, actor.workspace, job, person.id).await?,
            };
            if candidate_id.is_none() {
                deferred.put_on_job(actor, named, job, stages);
            }
        }
        Ok(CreatedPerson { is_new, person, company_name, candidate_id, client_contact_id, changes })
    }

    /// Whether nothing has to be found but the person, their company, and a job by its id.
    pub fn is_plain(&self) -> bool {
        let Association { job_id: _, job_name, client_id, client_name } = &self.new.association;
        job_name.is_none() && client_id.is_none() && client_name.is_none()
    }

    /// What others may look up and this claims: its identifiers.
    pub fn claims(&self) -> Vec<Identifier> {
        identifiers_of(&self.new)
    }

    /// The names of companies that are looked up, folded: that of the employer and that of a
    /// client.
    pub fn companies(&self) -> [Option<String>; 2] {
        [&self.new.company_name, &self.new.association.client_name]
            .map(|name| name.as_deref().map(comparison_key))
    }

    /// Makes sure that the person is the one who was meant, and that all that is new can be added
    /// to them.
    async fn check(
        &self,
        tx: &mut Tx,
        existing: &mut Existing,
        by: &[Identifier],
    ) -> Result<(), OperationError> {
        if by.first().is_none_or(|by| is_somebody_else(&self.new, by.kind, &existing.person)) {
            return Err(changed().into());
        }
        if let Some(holder) = existing.holder.take()
            && tx.answer(holder).await?.pop() != Some(existing.person.id)
        {
            return Err(changed().into());
        }
        existing.person.clone().fill_from(&self.new, None)?;
        if let Some(same) = existing.same_note.take()
            && tx.answer(same).await?.is_empty()
        {
            refuse_if_full(tx, self.actor.workspace, existing.person.id).await?;
            existing.has_new_note = true;
        }
        Ok(())
    }

    /// The company that the person works for, made if it is new.
    async fn company(
        &self,
        tx: &mut Tx,
        employer: Option<Employer<'_>>,
    ) -> Result<(Option<CompanyId>, String), OperationError> {
        Ok(match employer {
            Some((name, asked)) => {
                let (id, name) = answer_or_make(tx, &self.actor, name, asked).await?;
                (Some(id), name)
            }
            None => (None, String::new()),
        })
    }

    async fn insert(
        &self,
        tx: &mut Tx,
        shared: &[Identifier],
        employer: Option<Employer<'_>>,
    ) -> Result<(Person, String, Changes), OperationError> {
        let workspace = self.actor.workspace;
        let (company_id, company_name) = self.company(tx, employer).await?;
        let created = self.new.clone().into_person(tx.new_id(), company_id);
        person::insert(tx, workspace, &created).await?;
        for wanted in in_order(&self.claims()) {
            match shared.contains(wanted) {
                true => identifier::share(tx, workspace, wanted, created.id).await?,
                false => identifier::claim(tx, workspace, wanted, created.id).await?,
            }
        }
        if let Some(body) = &self.new.notes {
            note::insert(tx, workspace, created.id, self.actor.key, body).await?;
        }
        documents::insert(tx, workspace, created.id, &index::tokens_of(self.document(), &created))
            .await?;
        if self.new.enrich {
            enrichment::queue_new(tx, workspace, created.id).await?;
        }
        emit::person_created(tx, &self.actor, &created, &company_name, self.new.notes.as_deref())
            .await?;
        Ok((
            created,
            company_name,
            Changes { dropped: self.new.dropped.clone(), ..Changes::default() },
        ))
    }

    async fn merge_into(
        &self,
        tx: &mut Tx,
        existing: Existing,
        (by, shared): (&[Identifier], &[Identifier]),
        employer: Option<Employer<'_>>,
        deferred: &mut DeferredSteps<'_>,
    ) -> Result<(Person, String, Changes), OperationError> {
        let Existing { person: before, company_name, holders, has_new_note, proposals, .. } =
            existing;
        let (workspace, id) = (self.actor.workspace, before.id);
        // A person who has a company keeps it, and no other is made for nothing.
        let (company_id, company_name) = match company_name {
            Some(name) => (None, tx.answer(name).await?.pop().unwrap_or_default()),
            None => self.company(tx, employer).await?,
        };
        let mut person = before.clone();
        let is_filled = person.fill_from(&self.new, company_id)?;
        if is_filled {
            person::update(tx, workspace, &before, &person).await?;
            for (added, holder) in holders {
                match tx.answer(holder).await?.pop() {
                    None => identifier::claim(tx, workspace, &added, id).await?,
                    Some(holder) if holder == id => {}
                    // They may stand behind the holder already.
                    Some(_) if identifier::of_person(tx, workspace, id).await?.contains(&added) => {
                    }
                    Some(_) if shared.contains(&added) => {
                        identifier::share(tx, workspace, &added, id).await?
                    }
                    Some(_) => return Err(changed().into()),
                }
            }
        }
        let note = self.new.notes.as_deref().filter(|_| has_new_note);
        if let Some(body) = note {
            note::insert(tx, workspace, id, self.actor.key, body).await?;
            if !is_filled {
                person::touch(tx, workspace, id).await?;
            }
        }
        if note.is_some() || index::change(tx, workspace, &before, &person).await? {
            deferred.stale.push(id);
        }
        if self.new.enrich {
            ask_for(tx, workspace, id, false).await?;
        }
        let old_name = if before.company_id.is_some() { company_name.as_str() } else { "" };
        let known = tx.answer(proposals).await?;
        let kept_back = self
            .propose(tx, id, differing(&before, old_name, &self.new, by), &known, shared)
            .await?;
        emit::person_updated(tx, &self.actor, (&before, old_name), (&person, &company_name), note)
            .await?;
        let mut filled = matched::filled(&before, &person);
        filled.extend(note.map(|_| "notes"));
        let changes = Changes {
            matched_by: by.first().map(|by| by.kind),
            filled,
            kept_back,
            dropped: self.new.dropped.clone(),
        };
        Ok((person, company_name, changes))
    }

    /// Proposes what differs from what is known, as far as it can be. What the caller proposed
    /// before and does not say any more is taken back.
    async fn propose(
        &self,
        tx: &mut Tx,
        person: PersonId,
        differing: Vec<Differing>,
        known: &[Proposal],
        shared: &[Identifier],
    ) -> Result<Vec<KeptBack>, StoreError> {
        let (workspace, proposer) = (self.actor.workspace, Proposer::caller(self.actor.key));
        let own = known
            .iter()
            .filter(|known| known.state == ProposalState::Open && known.proposer == proposer);
        for open in own.filter(|open| matched::says(&self.new, open.field)) {
            if differing.iter().all(|differing| differing.proposable != Some(open.field)) {
                proposal::supersede_open(tx, workspace, person, open.field, &proposer).await?;
            }
        }
        let is_taken = |field| {
            field == Field::SocialUrl
                && shared.iter().any(|shared| shared.kind == IdentifierKind::SocialProfile)
        };
        let mut kept_back = Vec::with_capacity(differing.len());
        for differing in differing {
            let proposal = match differing.proposable.filter(|field| !is_taken(*field)) {
                Some(field) => {
                    let value = differing.value.as_str().into();
                    Some(
                        proposals::propose(
                            tx,
                            workspace,
                            person,
                            &proposer,
                            known,
                            (field, &value),
                        )
                        .await?,
                    )
                }
                None => None,
            };
            kept_back.push(KeptBack { differing, proposal });
        }
        Ok(kept_back)
    }
}

/// The one person who is meant, if anybody is.
fn only_one(mut matching: Matching) -> Result<Option<Pointed>, Problem> {
    if matching.persons.len() <= 1 {
        return Ok(matching.persons.pop());
    }
    let ids: Vec<_> = matching.persons.iter().map(|pointed| pointed.person).collect();
    let message =
        format!("The identifiers belong to {} different persons: {}.", ids.len(), listed(&ids));
    let details = matching.persons.iter().filter_map(first_held).collect();
    Err(Problem { code: ErrorCode::IdentifierConflict, message, details })
}

/// The work runs again, and looks again.
pub fn changed() -> StoreError {
    StoreError::Conflict("the person or their identifiers changed meanwhile".to_owned())
}

fn duplicate(matched: &Pointed) -> Problem {
    let problem = Problem::new(
        ErrorCode::DuplicatePerson,
        format!("The person already exists as {}.", matched.person),
    );
    Problem { details: first_held(matched).into_iter().collect(), ..problem }
}

/// Says by what the person was found.
fn first_held(pointed: &Pointed) -> Option<FieldError> {
    pointed.by.first().map(|by| held_by(pointed.person, by))
}
