//! Puts a person on a job or makes them a contact of a client.

use slated_model::id::{
    self, CandidateId, ClientContactId, Company, CompanyId, JobId, PersonId, WorkspaceId,
};
use slated_model::input::Reference;
use slated_model::person::Association;
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem, listed};
use slated_model::stage::Stage;
use slated_model::text::comparison_key;
use slated_store::records::stage_entry;
use slated_store::records::stage_entry::Entered;
use slated_store::records::{candidate, client_contact, company, job, stage};
use slated_store::{Asked, OperationError, Tx};

use crate::companies::{self, find_or_make};
use crate::emit::{Concerned, RecordRef};
use crate::filter_errors::FilterErrors;
use crate::{Actor, emit};

/// What an association comes down to once its names are looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    Nothing,
    /// With the stages of the job, in order.
    Job(JobId, Vec<Stage>),
    Client(CompanyId),
    NewClient(String),
}

/// Asks for the stages of the job that an association names by id.
pub async fn ask_stages(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: Option<&Reference<id::Job>>,
) -> Result<Option<Asked<Stage>>, OperationError> {
    match job.and_then(|reference| reference.id) {
        Some(id) => Ok(Some(stage::ask_of_job(tx, workspace, id).await?)),
        None => Ok(None),
    }
}

/// Finds the job or client that is meant, without making anything. `asked` is what [`ask_stages`]
/// gave.
pub async fn resolve(
    tx: &mut Tx,
    workspace: WorkspaceId,
    association: &Association,
    asked: Option<Asked<Stage>>,
) -> Result<Target, OperationError> {
    let Association { job_id, job_name, client_id, client_name } = association;
    if let Some(reference) = job_id {
        let id = reference.resolve("job_id")?;
        let stages = match asked {
            Some(asked) => stage::answer(tx, asked).await?,
            None => stage::of_job(tx, workspace, id).await?,
        };
        if stages.is_empty() {
            return Err(reference.not_found("job_id").into());
        }
        if job_name.is_some() || client_id.is_some() || client_name.is_some() {
            refuse_contradictions(tx, workspace, id, association).await?;
        }
        return Ok(Target::Job(id, stages));
    }
    let client = match client_id {
        Some(reference) => {
            Some(known_client(tx, workspace, reference, client_name.as_deref()).await?)
        }
        None => match client_name {
            Some(name) => company::find_by_name(tx, workspace, name).await?,
            None => None,
        },
    };
    match (job_name, client, client_name) {
        (Some(name), None, Some(client_name)) => Err(Problem::reference_not_found(
            "job_name",
            "job",
            format_args!("{name:?} of client {client_name:?} (archived jobs are excluded)"),
        )
        .into()),
        (Some(name), client, _) => {
            let job = job_by_name(tx, workspace, name, client).await?;
            Ok(Target::Job(job, stage::of_job(tx, workspace, job).await?))
        }
        (None, Some(client), _) => Ok(Target::Client(client)),
        (None, None, Some(name)) => Ok(Target::NewClient(name.clone())),
        (None, None, None) => Ok(Target::Nothing),
    }
}

/// What stands beside the id of a job must be true of that job.
async fn refuse_contradictions(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
    association: &Association,
) -> Result<(), OperationError> {
    let Association { job_id: _, job_name, client_id, client_name } = association;
    let Some((job, _)) = job::view(tx, workspace, id).await? else {
        return Err(Problem::reference_not_found("job_id", "job", id).into());
    };
    let mut flaws = FilterErrors::default();
    let contradiction = |field: &str, message: String| {
        Problem::invalid(field, FieldErrorCode::Contradiction, message)
    };
    if job_name.as_ref().is_some_and(|name| comparison_key(name) != comparison_key(&job.name)) {
        flaws.add(contradiction(
            "job_name",
            format!("must match the name of {id}, {:?}, or be omitted", job.name),
        ));
    }
    if let Some(reference) = client_id {
        let client = reference.resolve("client_id")?;
        let client = companies::find(tx, workspace, client)
            .await?
            .ok_or_else(|| reference.not_found("client_id"))?;
        if client.id != job.client_company_id {
            flaws.add(contradiction(
                "client_id",
                format!("must match the client of {id}, {}, or be omitted", job.client_company_id),
            ));
        }
    }
    if client_name
        .as_ref()
        .is_some_and(|name| comparison_key(name) != comparison_key(&job.client_company_name))
    {
        let message = format!(
            "must match the client name of {id}, {:?}, or be omitted",
            job.client_company_name
        );
        flaws.add(contradiction("client_name", message));
    }
    Ok(flaws.check()?)
}

async fn job_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
    client: Option<CompanyId>,
) -> Result<JobId, OperationError> {
    let found = job::find_by_name(tx, workspace, name, client).await?;
    match found.as_slice() {
        [] => {
            let of_client =
                client.map_or_else(String::new, |client| format!(" of client {client}"));
            Err(Problem::reference_not_found(
                "job_name",
                "job",
                format_args!("{name:?}{of_client} (archived jobs are excluded)"),
            )
            .into())
        }
        [only] => Ok(*only),
        several => {
            let (count, ids) = (several.len(), listed(several));
            let message = format!(
                "{count} jobs that are not archived are named {name:?}: {ids}; choose one with \
                 job_id, or give its client."
            );
            let details = several
                .iter()
                .map(|job| FieldError::about("job_name", format!("is the name of job {job}"), job))
                .collect();
            Err(Problem { code: ErrorCode::AmbiguousJob, message, details }.into())
        }
    }
}

/// The company with that id, which must have the name that stands beside it, if one does.
async fn known_client(
    tx: &mut Tx,
    workspace: WorkspaceId,
    reference: &Reference<Company>,
    name: Option<&str>,
) -> Result<CompanyId, OperationError> {
    let id = reference.resolve("client_id")?;
    let kept = companies::find(tx, workspace, id)
        .await?
        .ok_or_else(|| reference.not_found("client_id"))?;
    match name {
        Some(name) if comparison_key(name) != comparison_key(&kept.name) => {
            let message = format!("must match the name of {id}, {:?}, or be omitted", kept.name);
            Err(Problem::invalid("client_name", FieldErrorCode::Contradiction, message).into())
        }
        _ => Ok(kept.id),
    }
}

/// Makes the person a contact of the client, if there is one.
pub async fn make_contact(
    tx: &mut Tx,
    actor: &Actor,
    person: RecordRef<'_, PersonId>,
    target: &Target,
) -> Result<Option<ClientContactId>, OperationError> {
    match target {
        Target::Nothing | Target::Job(..) => Ok(None),
        Target::Client(client) => Ok(Some(add_contact(tx, actor, *client, person).await?)),
        Target::NewClient(name) => {
            let (client, _) = find_or_make(tx, actor, name).await?;
            Ok(Some(add_contact(tx, actor, client, person).await?))
        }
    }
}

async fn add_contact(
    tx: &mut Tx,
    actor: &Actor,
    client: CompanyId,
    person: RecordRef<'_, PersonId>,
) -> Result<ClientContactId, OperationError> {
    let (contact, is_new) =
        client_contact::find_or_insert(tx, actor.workspace, client, person.id).await?;
    if is_new {
        emit::contact_added(tx, actor, client, person, contact).await?;
    }
    Ok(contact)
}

/// The person's candidate on the job, and whether it was made just now: in the lowest stage that is
/// no rejection stage.
pub async fn put_on_job(
    tx: &mut Tx,
    actor: &Actor,
    person: RecordRef<'_, PersonId>,
    job: JobId,
    stages: &[Stage],
) -> Result<(CandidateId, bool), OperationError> {
    if let Some(found) = candidate::find(tx, actor.workspace, job, person.id).await? {
        return Ok((found, false));
    }
    let made = put_all_on_jobs(
        tx,
        actor.workspace,
        &[OntoJob { job, stages, persons: vec![(actor, person)] }],
    )
    .await?;
    Ok((made[0][0], true))
}

/// Persons who are to be put on a job and are not on it, each for the one who asks for it.
pub struct OntoJob<'p> {
    pub job: JobId,
    pub stages: &'p [Stage],
    /// In the order in which they come to the job.
    pub persons: Vec<(&'p Actor, RecordRef<'p, PersonId>)>,
}

/// Puts them there; the jobs come in the order of their ids. Gives back the candidates of each job.
pub async fn put_all_on_jobs(
    tx: &mut Tx,
    workspace: WorkspaceId,
    all: &[OntoJob<'_>],
) -> Result<Vec<Vec<CandidateId>>, OperationError> {
    let mut ends = Vec::with_capacity(all.len());
    for OntoJob { job, persons, .. } in all {
        ends.push(stage_entry::make_room(tx, workspace, *job, persons.len()).await?);
    }
    let mut made = Vec::with_capacity(all.len());
    for (OntoJob { job, stages, persons }, end) in all.iter().zip(ends) {
        let ids: Vec<_> = persons.iter().map(|(_, person)| person.id).collect();
        let Entered { candidates, job_name, stage } =
            stage_entry::enter_job(tx, workspace, end, &ids, stages).await?;
        for ((actor, person), candidate) in persons.iter().zip(&candidates) {
            let concerned = Concerned {
                candidate: *candidate,
                person: *person,
                job: RecordRef { id: *job, name: &job_name },
            };
            concerned.created(tx, actor, &stage).await?;
        }
        made.push(candidates);
    }
    Ok(made)
}
