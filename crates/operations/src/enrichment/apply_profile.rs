//! Filling a person with what a provider knows. What a caller wrote stays; what stands against it
//! is proposed.

use std::collections::HashMap;

use serde_json::{Map, Value};
use slated_model::career::CareerPatch;
use slated_model::contact::{Channel, Contacts};
use slated_model::enrichment::profile::{Profile, Reading};
use slated_model::enrichment::reconcile::{Current, Decision, Sourced, contact_hash, decide};
use slated_model::enrichment::{Field, Question, Refused};
use slated_model::id::{CompanyId, WorkspaceId};
use slated_model::patch::Patch;
use slated_model::person::{Identifier, IdentifierKind, Person};
use slated_model::text::comparison_key;
use slated_store::records::field_source::FieldSource;
use slated_store::records::proposal::Proposer;
use slated_store::records::{
    company, enrichment_answer, field_source, identifier, person, person_origin,
};
use slated_store::{OperationError, StoreError, Tx};

use super::{channel_of, current, hashed, is_written_since, proposals};
use crate::companies::find_or_make;
use crate::search::index;
use crate::{Actor, emit};

/// What came of an answer.
pub(super) struct Filled {
    pub(super) fields: Vec<&'static str>,
    pub(super) refused: Vec<Refused>,
}

/// Fills the person, who is held.
pub(super) async fn fill(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: &Person,
    provider: &str,
    profile: &Value,
) -> Result<Filled, OperationError> {
    let view = person::view(tx, workspace, before.id).await?.ok_or_else(changed)?;
    let present = current(before.clone(), &view);
    let sourced = sourced(tx, workspace, &present).await?;
    let Reading { profile, mut refused } = Profile::read(profile, tx.now().date());
    let mut decision = decide(&present, &profile, &sourced);
    refused.append(&mut decision.refused);
    let actor = Actor::program(workspace);
    if let Some(name) = &decision.company_name {
        decision.person.company_id = Some(find_or_make(tx, &actor, name).await?.0);
    }
    refused.extend(move_identifiers(tx, workspace, before, &mut decision).await?);
    match_companies(tx, workspace, &mut decision).await?;
    let fields: Vec<_> = decision.fields().into_iter().map(Field::name).collect();
    let updated = decision.person.clone();
    let career = CareerPatch {
        work_experience: patch(decision.work_experience.take()),
        education_experience: patch(decision.education_experience.take()),
        certifications: patch(decision.certifications.take()),
        companies: Vec::new(),
    };
    if updated != *before {
        person::update(tx, workspace, before, &updated).await?;
    }
    if !career.is_empty() {
        person::replace_career(tx, workspace, updated.id, &career).await?;
    }
    if updated != *before || !career.is_empty() {
        index::refresh(tx, workspace, updated.id).await?;
        let after = person::view(tx, workspace, updated.id).await?.ok_or_else(changed)?;
        let sources = sources(&decision.set, &current(updated.clone(), &after), provider, tx);
        field_source::keep(tx, workspace, updated.id, &sources).await?;
        emit::person_enriched(tx, &actor, (before, &view), (&updated, &after), provider, &fields)
            .await?;
    }
    let proposer = Proposer::provider(provider);
    proposals::propose_all(tx, workspace, updated.id, &proposer, &decision.proposals).await?;
    proposals::withdraw(
        tx,
        workspace,
        updated.id,
        &proposer,
        &mentioned(&profile),
        &decision.proposals,
    )
    .await?;
    let hash = |person: &Person| Question::of(person, "").hash();
    if hash(before) != hash(&updated) {
        enrichment_answer::carry_over(tx, workspace, updated.id, hash(before), hash(&updated))
            .await?;
    }
    Ok(Filled { fields, refused })
}

/// The values that came from providers, but for those that the person has because a caller wrote
/// them again.
async fn sourced(
    tx: &mut Tx,
    workspace: WorkspaceId,
    present: &Current,
) -> Result<Vec<Sourced>, StoreError> {
    let mut sources = field_source::of_person(tx, workspace, present.person.id).await?;
    let is_present = |source: &FieldSource| {
        channel_of(source.field).is_none()
            && hashed(present, source.field).value_hash == source.value_hash
    };
    let names: Vec<_> = sources
        .iter()
        .filter(|source| is_present(source))
        .map(|source| source.field.name())
        .collect();
    if !names.is_empty() {
        let origins = person_origin::of_person(tx, workspace, present.person.id, &names).await?;
        sources.retain(|source| {
            !is_present(source) || !is_written_since(source, origins.of(source.field.name()))
        });
    }
    Ok(sources
        .into_iter()
        .map(|source| Sourced { field: source.field, value_hash: source.value_hash })
        .collect())
}

/// The fields of which a profile says something and for which values may be proposed.
fn mentioned(profile: &Profile) -> Vec<Field> {
    let fields = [
        (Field::Name, profile.name.is_some()),
        (Field::SocialUrl, profile.social.is_some()),
        (Field::SocialLocation, profile.social_location.is_some()),
        (Field::SocialHeadline, profile.social_headline.is_some()),
        (Field::Address, profile.address.is_some()),
        (Field::CurrentJobTitle, profile.current_job_title.is_some()),
        (Field::CurrentCompanyName, profile.company_name.is_some()),
        (Field::WorkExperience, !profile.work_experience.is_empty()),
        (Field::EducationExperience, !profile.education_experience.is_empty()),
        (Field::Certifications, !profile.certifications.is_empty()),
    ];
    fields.into_iter().filter(|(_, is_there)| *is_there).map(|(field, _)| field).collect()
}

fn changed() -> StoreError {
    StoreError::Conflict("the person was merged or erased meanwhile".to_owned())
}

fn patch<T>(list: Option<Vec<T>>) -> Patch<Vec<T>> {
    list.map_or(Patch::Absent, Patch::Set)
}

/// The sources of what was set. Values are hashed as they are kept now: a company may be written
/// otherwise than the provider does.
fn sources(set: &[Sourced], after: &Current, provider: &str, tx: &Tx) -> Vec<FieldSource> {
    let source = |set: &Sourced| {
        let value_hash = match channel_of(set.field) {
            Some(_) => set.value_hash,
            None => hashed(after, set.field).value_hash,
        };
        FieldSource {
            field: set.field,
            value_hash,
            provider: provider.to_owned(),
            set_at: tx.now(),
            key_id: None,
        }
    };
    set.iter().map(source).collect()
}

/// Claims the identifiers that are new and releases those that the person lost. What belongs to
/// another person is not taken over.
async fn move_identifiers(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: &Person,
    decision: &mut Decision,
) -> Result<Vec<Refused>, StoreError> {
    let had = before.identifiers();
    let wanted = decision.person.identifiers();
    let mut refused = Vec::new();
    for added in identifier::in_order(wanted.iter().filter(|wanted| !had.contains(wanted))) {
        match identifier::holder(tx, workspace, added).await? {
            None => identifier::claim(tx, workspace, added, before.id).await?,
            // Left behind by somebody who went into this person.
            Some(holder) if holder == before.id => {}
            Some(holder) => {
                take_back(before, decision, added);
                let reason = format!("belongs to another person, {holder}");
                refused.push(Refused { field: added.kind.field().to_owned(), reason });
            }
        }
    }
    let has = decision.person.identifiers();
    for lost in had.iter().filter(|lost| !has.contains(lost)) {
        identifier::release(tx, workspace, lost, before.id).await?;
    }
    Ok(refused)
}

/// Leaves out what an identifier stands for.
fn take_back(before: &Person, decision: &mut Decision, identifier: &Identifier) {
    let person = &mut decision.person;
    match identifier.kind {
        IdentifierKind::ExternalSource => {
            person.external_source_id.clone_from(&before.external_source_id);
            decision.set.retain(|set| set.field != Field::ExternalSourceId);
        }
        IdentifierKind::SocialProfile => {
            person.social.clone_from(&before.social);
            // The handle may have stood in for a name.
            if !person.name.is_known() {
                person.name.clone_from(&before.name);
            }
            decision.set.retain(|set| set.field != Field::SocialUrl);
        }
        IdentifierKind::Email => {
            let mut entries = person.emails.entries().to_vec();
            entries.retain(|entry| Channel::Email.key(&entry.value) != identifier.key);
            person.emails = Contacts::of(Channel::Email, entries);
            let left_out = contact_hash(Channel::Email, &identifier.key);
            decision.set.retain(|set| set.field != Field::Emails || set.value_hash != left_out);
        }
    }
}

/// Lets entries of a career point at the companies of their names that are there, those of
/// proposals too. None is made for them.
async fn match_companies(
    tx: &mut Tx,
    workspace: WorkspaceId,
    decision: &mut Decision,
) -> Result<(), StoreError> {
    let mut kept: Vec<(&str, &mut Option<CompanyId>)> = Vec::new();
    for entry in decision.work_experience.iter_mut().flatten() {
        kept.push((&entry.company.company_name, &mut entry.company.company_id));
    }
    for entry in decision.education_experience.iter_mut().flatten() {
        kept.push((&entry.company_name, &mut entry.company_id));
    }
    for entry in decision.certifications.iter_mut().flatten() {
        kept.push((&entry.company.company_name, &mut entry.company.company_id));
    }
    let lists = decision.proposals.iter_mut().filter_map(|(_, value)| value.as_array_mut());
    let proposed: Vec<_> = lists.flatten().filter_map(Value::as_object_mut).collect();
    let mut names: Vec<String> = kept.iter().map(|(name, _)| comparison_key(name)).collect();
    names.extend(proposed.iter().map(|entry| company_of(entry)));
    let found = find_companies(tx, workspace, names).await?;
    for (name, id) in kept {
        *id = found.get(&comparison_key(name)).copied();
    }
    for entry in proposed {
        if let Some(id) = found.get(&company_of(entry)) {
            entry.insert("company_id".to_owned(), id.to_string().into());
        }
    }
    Ok(())
}

/// The folded name of the company of an entry.
fn company_of(entry: &Map<String, Value>) -> String {
    entry.get("company_name").and_then(Value::as_str).map(comparison_key).unwrap_or_default()
}

/// The companies of those folded names that are there. They are asked for together.
async fn find_companies(
    tx: &mut Tx,
    workspace: WorkspaceId,
    mut names: Vec<String>,
) -> Result<HashMap<String, CompanyId>, StoreError> {
    names.sort_unstable();
    names.dedup();
    let mut asked = Vec::with_capacity(names.len());
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        let company = company::ask_by_name(tx, workspace, &name).await?;
        asked.push((name, company));
    }
    let mut found = HashMap::new();
    for (name, company) in asked {
        found.extend(tx.answer(company).await?.pop().map(|(id, _)| (name, id)));
    }
    Ok(found)
}
