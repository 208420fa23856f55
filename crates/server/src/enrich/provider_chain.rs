//! Asking one provider after the other about a person, until one knows them. What was answered
//! before and still counts is not asked again.

use std::sync::Arc;

use serde_json::Value;
use slated_model::clock::Timestamp;
use slated_model::digest::sha256;
use slated_model::enrichment::Question;
use slated_model::enrichment::profile::{Profile, known_parts};
use slated_model::id::{LeaseId, WorkspaceId};
use slated_operations::enrichment::record_outcome::{Found, KeepAnswers, Outcome};
use slated_operations::webhook_delivery::RetryDelays;
use slated_store::Store;
use slated_store::records::enrichment::Task;
use slated_store::records::enrichment_answer::KeptAnswer;

use super::provider::Trouble;
use super::provider_limiter::{NotAsked, ProviderLimiter, rest_millis};
use super::settings::{Configured, Enriching};

const NOBODY_CONFIGURED: &str = "no provider is configured";
const NOTHING_TO_ASK_WITH: &str = "too little is known of the person to ask a provider";
/// Bytes of a hash that make the id of a call.
const CALL_BYTES: usize = 16;

/// All providers, in their order.
pub struct Chain {
    store: Arc<Store>,
    enriching: Arc<Enriching>,
    limiters: Vec<ProviderLimiter>,
}

/// Whose turn it is, and under which lease.
#[derive(Clone, Copy)]
pub struct Held<'t> {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    pub task: &'t Task,
}

/// What came of a provider that did not know the person.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Met {
    Nobody,
    Refused(String),
    Failed { error: String, rest_millis: i64 },
    Away { until: Timestamp, reason: String },
}

/// How a round ends in which nobody knew the person.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Conclusion {
    /// Nobody knows them; one may have had an error of its own.
    Nobody(Option<String>),
    Nothing,
    Again {
        until: Timestamp,
        error: String,
        is_attempt: bool,
    },
    GivenUp(String),
}

/// What follows from those who were met. Those who are merely away have their time; if somebody
/// failed, it is tried again until the delays are used up.
fn conclude(
    met: &[Met],
    failed_before: i64,
    delays: &RetryDelays,
    now: Timestamp,
    chance: f64,
) -> Conclusion {
    let failed = met.iter().rev().find_map(|met| match met {
        Met::Failed { error, .. } => Some(error.clone()),
        _ => None,
    });
    if let Some(error) = failed {
        let rests = met
            .iter()
            .map(|met| if let Met::Failed { rest_millis, .. } = met { *rest_millis } else { 0 });
        let rest = rests.max().unwrap_or(0);
        return match delays.after(failed_before + 1, chance) {
            Some(delay) => Conclusion::Again {
                until: now.plus_millis(delay.max(rest)),
                error,
                is_attempt: true,
            },
            None => Conclusion::GivenUp(error),
        };
    }
    let away = met.iter().filter_map(|met| match met {
        Met::Away { until, reason } => Some((*until, reason)),
        _ => None,
    });
    if let Some((until, reason)) = away.min_by_key(|(until, _)| *until) {
        return Conclusion::Again { until, error: reason.clone(), is_attempt: false };
    }
    let refusal = met.iter().find_map(|met| match met {
        Met::Refused(error) => Some(error.clone()),
        _ => None,
    });
    match (met.contains(&Met::Nobody), refusal) {
        (true, refusal) => Conclusion::Nobody(refusal),
        (false, Some(error)) => Conclusion::GivenUp(error),
        (false, None) => Conclusion::Nothing,
    }
}

/// What was answered before.
#[derive(Clone, PartialEq, Debug)]
enum Recalled {
    Profile(Value),
    Nobody,
    /// Nothing that counts.
    Nothing,
}

/// An answer to the same question counts for a while, unless new ones are wanted; one to the
/// request itself always does.
fn recall(
    kept: &[KeptAnswer],
    provider: &str,
    task: &Task,
    question: [u8; 32],
    fresh_since: Timestamp,
) -> Recalled {
    let Some(answer) = kept.iter().find(|answer| answer.provider == provider) else {
        return Recalled::Nothing;
    };
    let is_fresh = answer.asked_at >= fresh_since && !task.refresh;
    if !is_fresh && answer.asked_at < task.requested_at {
        return Recalled::Nothing;
    }
    if answer.question != question {
        return Recalled::Nothing;
    }
    match &answer.profile {
        Some(profile) => serde_json::from_str(profile).map_or(Recalled::Nothing, Recalled::Profile),
        None => Recalled::Nobody,
    }
}

/// A round through the providers.
#[derive(Default)]
struct Round {
    met: Vec<Met>,
    /// Those that are new and not kept yet.
    answers: Vec<KeptAnswer>,
    /// Somebody knew the person, and nothing of it could be read.
    unreadable: Option<Found>,
    was_asked: bool,
}

impl Round {
    /// The same, unless nothing of it can be read: then another provider may know more.
    fn readable(&mut self, found: Found) -> Option<Found> {
        let reading = Profile::read(&found.profile, Timestamp::now().date());
        if !reading.profile.is_empty() {
            return Some(found);
        }
        self.met.push(Met::Nobody);
        self.unreadable = self.unreadable.take().or(Some(found));
        None
    }

    fn attempts(&self, task: &Task) -> i64 {
        task.attempts + i64::from(self.was_asked)
    }

    /// What came of it, and how often somebody was asked with this time.
    fn found(self, found: Found, task: &Task) -> (Outcome, i64) {
        let attempts = self.attempts(task);
        (Outcome::Answered { answers: self.answers, found: Some(found), error: None }, attempts)
    }

    /// The same if it is not the turn of this call before that moment. Who failed before is not
    /// asked again any sooner for it.
    fn later(self, until: Timestamp, task: &Task, delays: &RetryDelays) -> (Outcome, i64) {
        let Self { met, answers, .. } = self;
        match conclude(&met, task.attempts, delays, Timestamp::now(), rand::random()) {
            Conclusion::Again { until: again, error, is_attempt: true } => (
                Outcome::Postponed { answers, until: until.max(again), error: Some(error) },
                task.attempts + 1,
            ),
            // They are through; those whose turn is to come may still know more.
            Conclusion::GivenUp(error) => {
                (Outcome::Postponed { answers, until, error: Some(error) }, task.attempts + 1)
            }
            _ => (Outcome::Postponed { answers, until, error: None }, task.attempts),
        }
    }

    /// The same if nobody knew the person.
    fn end(self, task: &Task, delays: &RetryDelays) -> (Outcome, i64) {
        let attempts = self.attempts(task);
        let Self { met, answers, unreadable, .. } = self;
        match conclude(&met, task.attempts, delays, Timestamp::now(), rand::random()) {
            Conclusion::Nobody(error) => {
                (Outcome::Answered { answers, found: unreadable, error }, attempts)
            }
            Conclusion::Nothing => {
                (Outcome::Skipped { reason: NOTHING_TO_ASK_WITH.to_owned() }, task.attempts)
            }
            Conclusion::Again { until, error, is_attempt } => (
                Outcome::Postponed { answers, until, error: Some(error) },
                task.attempts + i64::from(is_attempt),
            ),
            Conclusion::GivenUp(error) => (Outcome::Failed { answers, error }, task.attempts + 1),
        }
    }
}

impl Chain {
    pub fn new(store: &Arc<Store>, enriching: Arc<Enriching>) -> Self {
        let limiters = enriching.providers.iter().map(ProviderLimiter::new).collect();
        Self { store: Arc::clone(store), enriching, limiters }
    }

    pub fn close(&self) {
        self.limiters.iter().for_each(ProviderLimiter::close);
    }

    pub fn report(&self) {
        self.limiters.iter().for_each(ProviderLimiter::report);
    }

    /// What came of asking for a task that is held, and how often somebody was asked with this
    /// time.
    pub async fn ask(
        &self,
        held: Held<'_>,
        question: &Question,
        kept: &[KeptAnswer],
    ) -> (Outcome, i64) {
        let Held { workspace, task, .. } = held;
        let Enriching { providers, cache_millis, retry_delays } = &*self.enriching;
        if providers.is_empty() {
            return (Outcome::Skipped { reason: NOBODY_CONFIGURED.to_owned() }, task.attempts);
        }
        let fresh_since = Timestamp::now().plus_millis(cache_millis.saturating_neg());
        let mut round = Round::default();
        for (configured, limiter) in providers.iter().zip(&self.limiters) {
            let kept = if configured.provider.is_local() { &[] } else { kept };
            let found = match recall(kept, &configured.name, task, question.hash(), fresh_since) {
                Recalled::Profile(profile) => {
                    Some(Found { provider: configured.name.clone(), profile, is_cached: true })
                }
                Recalled::Nobody => {
                    round.met.push(Met::Nobody);
                    None
                }
                Recalled::Nothing if !configured.provider.can_ask(question) => None,
                Recalled::Nothing => {
                    self.keep(held, &mut round).await;
                    let call = call_id(workspace, task, &configured.name, question);
                    match self.ask_one(configured, limiter, question, &call, &mut round).await {
                        Ok(found) => found,
                        Err(until) => return round.later(until, task, retry_delays),
                    }
                }
            };
            if let Some(found) = found.and_then(|found| round.readable(found)) {
                return round.found(found, task);
            }
        }
        round.end(task, retry_delays)
    }

    /// Keeps what was answered before the next is asked: should the server die meanwhile, nobody
    /// has to say it again.
    async fn keep(&self, held: Held<'_>, round: &mut Round) {
        if round.answers.is_empty() {
            return;
        }
        let Held { workspace, lease, task } = held;
        let answers = Arc::new(std::mem::take(&mut round.answers));
        if let Err(failure) = self
            .store
            .write(KeepAnswers {
                workspace,
                lease,
                person: task.person,
                answers: Arc::clone(&answers),
            })
            .await
        {
            tracing::warn!(person.id = %task.person, error = %failure, "provider answers could not \
                be stored yet");
            round.answers = Arc::unwrap_or_clone(answers);
        }
    }

    /// Asks one of them; if it has to wait for its turn, until when.
    async fn ask_one(
        &self,
        configured: &Configured,
        limiter: &ProviderLimiter,
        question: &Question,
        call: &str,
        round: &mut Round,
    ) -> Result<Option<Found>, Timestamp> {
        let name = &configured.name;
        let asked_at = Timestamp::now();
        let answered = match limiter.ask(&self.store, configured, question, call).await {
            Ok(answered) => answered,
            Err(NotAsked::Later { until }) => return Err(until),
            Err(NotAsked::Away { until, reason }) => {
                round.met.push(Met::Away { until, reason });
                return Ok(None);
            }
        };
        round.was_asked = true;
        let answer = match answered {
            Ok(answer) => answer,
            Err(trouble) => {
                let error = format!("{name}: {}", trouble.reason());
                round.met.push(match trouble {
                    Trouble::Refused(_) => Met::Refused(error),
                    Trouble::Failed(_) => Met::Failed { error, rest_millis: 0 },
                    Trouble::Busy { retry_after, .. } => {
                        Met::Failed { error, rest_millis: rest_millis(retry_after) }
                    }
                });
                return Ok(None);
            }
        };
        let profile = answer.profile.map(known_parts);
        if !configured.provider.is_local() {
            let text = profile.as_ref().map(Value::to_string);
            round.answers.push(KeptAnswer {
                provider: name.clone(),
                asked_at,
                question: question.hash(),
                profile: text,
            });
        }
        match profile {
            Some(profile) => Ok(Some(Found { provider: name.clone(), profile, is_cached: false })),
            None => {
                round.met.push(Met::Nobody);
                Ok(None)
            }
        }
    }
}

/// The id of a call: the same whenever the same is asked again for the same request, so that a
/// provider can tell.
fn call_id(workspace: WorkspaceId, task: &Task, provider: &str, question: &Question) -> String {
    let request = format!(
        "{}\n{}\n{provider}\n{}",
        workspace.number(),
        task.person,
        task.requested_at.millis()
    );
    let call = sha256(&[request.as_bytes(), &question.hash()]);
    call.iter().take(CALL_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slated_model::id::PersonId;

    use super::*;

    const DAY: i64 = 86_400_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    fn failed(error: &str, rest_millis: i64) -> Met {
        Met::Failed { error: error.to_owned(), rest_millis }
    }

    fn away(until: i64, reason: &str) -> Met {
        Met::Away { until: at(until), reason: reason.to_owned() }
    }

    fn refused(error: &str) -> Met {
        Met::Refused(error.to_owned())
    }

    fn again(until: i64, error: &str, is_attempt: bool) -> Conclusion {
        Conclusion::Again { until: at(until), error: error.to_owned(), is_attempt }
    }

    #[test]
    fn a_round_ends_as_those_who_were_met_say() {
        let delays = RetryDelays(vec![1000, 5000]);
        let text = |text: &str| Some(text.to_owned());
        for (met, failed_before, expected) in [
            (vec![], 0, Conclusion::Nothing),
            (vec![Met::Nobody], 0, Conclusion::Nobody(None)),
            (vec![refused("a"), Met::Nobody, refused("b")], 0, Conclusion::Nobody(text("a"))),
            (vec![refused("a"), refused("b")], 0, Conclusion::GivenUp("a".to_owned())),
            (vec![Met::Nobody, failed("a", 0)], 0, again(1000, "a", true)),
            (vec![failed("a", 0), failed("b", 0)], 1, again(5000, "b", true)),
            (vec![failed("a", 0)], 2, Conclusion::GivenUp("a".to_owned())),
            (vec![failed("a", 9000), failed("b", 0)], 0, again(9000, "b", true)),
            (vec![failed("a", 9000)], 2, Conclusion::GivenUp("a".to_owned())),
            (vec![away(700, "a"), away(300, "b"), Met::Nobody], 7, again(300, "b", false)),
            (vec![away(300, "a"), failed("b", 0)], 0, again(1000, "b", true)),
            (vec![away(300, "a"), refused("b")], 0, again(300, "a", false)),
        ] {
            assert_eq!(conclude(&met, failed_before, &delays, at(0), 0.5), expected, "{met:?}");
        }
    }

    fn task(requested_at: i64, refresh: bool) -> Task {
        Task {
            person: PersonId::at(at(0), 1),
            requested_at: at(requested_at),
            refresh,
            attempts: 0,
            run: None,
        }
    }

    fn answer(asked_at: i64, profile: Option<&str>) -> [KeptAnswer; 1] {
        let profile = profile.map(str::to_owned);
        [KeptAnswer {
            provider: "people".to_owned(),
            asked_at: at(asked_at),
            question: [1; 32],
            profile,
        }]
    }

    #[test]
    fn an_answer_counts_for_a_while_and_for_its_request() {
        let known = || Recalled::Profile(json!({"name": "Ada"}));
        let profile = Some(r#"{"name": "Ada"}"#);
        for (asked_at, requested_at, refresh, expected) in [
            (-DAY / 2, 0, false, known()),
            (-2 * DAY, 0, false, Recalled::Nothing),
            (-DAY / 2, 0, true, Recalled::Nothing),
            (10, 0, true, known()),
            // The request waited for longer than answers count.
            (-2 * DAY, -3 * DAY, false, known()),
        ] {
            let recalled = recall(
                &answer(asked_at, profile),
                "people",
                &task(requested_at, refresh),
                [1; 32],
                at(-DAY),
            );
            assert_eq!(recalled, expected, "{asked_at} {requested_at} {refresh}");
        }
    }

    #[test]
    fn an_answer_counts_for_the_same_question() {
        let recalled =
            |question| recall(&answer(-10, None), "people", &task(0, false), question, at(-DAY));
        assert_eq!((recalled([1; 32]), recalled([2; 32])), (Recalled::Nobody, Recalled::Nothing));
        let profile =
            recall(&answer(-10, Some("{}")), "people", &task(0, false), [2; 32], at(-DAY));
        assert_eq!(profile, Recalled::Nothing);
    }

    #[test]
    fn what_others_said_or_what_cannot_be_read_does_not_count() {
        let recalled = |provider, profile| {
            recall(&answer(-10, Some(profile)), provider, &task(0, false), [1; 32], at(-DAY))
        };
        assert_eq!(
            (recalled("others", "{}"), recalled("people", "{")),
            (Recalled::Nothing, Recalled::Nothing)
        );
    }

    #[test]
    fn a_call_has_the_same_id_when_it_is_made_again() {
        let workspace = WorkspaceId::from_number(7);
        let asked = Question { social_public_id: "ada".to_owned(), ..Question::default() };
        let id = call_id(workspace, &task(0, false), "people", &asked);
        assert_eq!(id.len(), 32);
        assert_eq!(
            id,
            call_id(workspace, &Task { attempts: 3, ..task(0, true) }, "people", &asked)
        );
        for other in [
            call_id(WorkspaceId::from_number(8), &task(0, false), "people", &asked),
            call_id(workspace, &task(1, false), "people", &asked),
            call_id(workspace, &task(0, false), "others", &asked),
            call_id(workspace, &task(0, false), "people", &Question::default()),
        ] {
            assert_ne!(id, other);
        }
    }
}
