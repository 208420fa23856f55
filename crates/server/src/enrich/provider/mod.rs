//! Who may know more of a person: a service that is called over HTTP, a file of the operator's own,
//! or a program. Each is asked the same question and answers in one shape, the one that
//! `slated_model::enrichment::profile` reads.

pub mod command;
pub mod directory;
pub mod http;
pub mod mapping;
mod template;

use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;
use slated_model::enrichment::Question;

/// An answer on its way.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Answer, Trouble>> + Send + 'a>>;

/// The most that is read of an answer.
const MAX_RESPONSE_BYTES: usize = 2 * 1024 * 1024;

#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// None if nobody is known who fits the question.
    pub profile: Option<Value>,
    /// What the provider says that the answer cost, in its own units.
    pub cost: Option<f64>,
}

impl Answer {
    /// A profile that says nothing is none.
    #[must_use]
    fn free(profile: Value) -> Self {
        let says_something = profile.as_object().is_some_and(|fields| !fields.is_empty());
        Self { profile: says_something.then_some(profile), cost: None }
    }

    #[must_use]
    const fn nobody() -> Self {
        Self { profile: None, cost: None }
    }
}

/// Why there is no answer. Nothing of the person and no secret stands in a reason, but for what a
/// program of the operator's own says when it fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// It asks to be asked later.
    Busy { retry_after: Option<Duration>, reason: String },
    /// It may answer another time.
    Failed(String),
    /// It does not take this question, and would not later either.
    Refused(String),
}

impl Trouble {
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Busy { reason, .. } | Self::Failed(reason) | Self::Refused(reason) => reason,
        }
    }
}

pub trait Provider: Send + Sync {
    /// Whether enough is known of the person to ask.
    fn can_ask(&self, question: &Question) -> bool;

    /// `call` is the same whenever the same question is asked again, so that nobody pays twice for
    /// it.
    fn ask<'a>(&'a self, question: &'a Question, call: &'a str) -> Asking<'a>;

    /// Whether it answers from a file that lies here. Its answers are not kept, since asking again
    /// costs nothing and the file may have changed.
    fn is_local(&self) -> bool {
        false
    }
}
