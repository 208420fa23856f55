use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use url::form_urlencoded;

use super::receiver::{Action, Call, Receiver};
use super::wait::DEADLINE;

/// A service that knows persons by their handle, or by their first e-mail address, and answers in
/// the shape that the program reads.
pub struct Provider {
    pub receiver: Receiver,
    knowledge: Arc<Knowledge>,
}

impl Provider {
    pub fn start() -> Self {
        let provider = Self { receiver: Receiver::on("127.0.0.1"), knowledge: Arc::default() };
        provider.recover();
        provider
    }

    /// What is to be answered about whoever has that handle or e-mail address. Nobody else is
    /// known.
    pub fn knows(&self, who: &str, profile: &Value) {
        self.knowledge.lock().profiles.insert(who.to_owned(), profile.to_string());
    }

    /// The next calls are dealt with these ways, all others are answered with what is known.
    pub fn answer_first(&self, actions: impl Into<VecDeque<Action>>) {
        let left: Mutex<VecDeque<Action>> = Mutex::new(actions.into());
        let knowledge = Arc::clone(&self.knowledge);
        self.receiver.behave(move |call| {
            let next = left.lock().unwrap().pop_front();
            next.unwrap_or_else(|| knowledge.answer(call))
        });
    }

    /// All calls are answered with what is known.
    pub fn recover(&self) {
        self.answer_first(VecDeque::new());
    }

    /// From now on calls get their answers only when they are let go.
    pub fn hold(&self) {
        self.knowledge.lock().is_held = true;
    }

    pub fn let_go(&self) {
        self.knowledge.lock().is_held = false;
        self.knowledge.changed.notify_all();
    }

    pub fn calls(&self) -> Vec<Call> {
        self.receiver.calls()
    }

    /// Who was asked about, in the order of the calls.
    pub fn asked(&self) -> Vec<String> {
        self.calls().iter().map(who).collect()
    }

    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Call> {
        self.receiver.wait_for(count)
    }

    /// Its section in a configuration file, with more settings.
    pub fn section(&self, name: &str, more: &str) -> String {
        let url = self.receiver.at("/people?handle={social_public_id}&email={email}");
        format!(
            "[[enrichment.provider]]\nname = \"{name}\"\nkind = \"http\"\nurl = \"{url}\"\n{more}\n"
        )
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.let_go();
    }
}

#[derive(Default)]
struct Knowledge {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    profiles: BTreeMap<String, String>,
    is_held: bool,
}

impl Knowledge {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, call: &Call) -> Action {
        let (state, _) =
            self.changed.wait_timeout_while(self.lock(), DEADLINE, |state| state.is_held).unwrap();
        match state.profiles.get(&who(call)) {
            Some(profile) => Action::json(profile.clone()),
            None => Action::status(404),
        }
    }
}

/// Whom a call asks about: the handle, else the e-mail address.
pub fn who(call: &Call) -> String {
    call.parameter("handle").or_else(|| call.parameter("email")).unwrap_or_default()
}

impl Call {
    /// A parameter in the query of a call, if it is there.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.path.split_once('?')?;
        form_urlencoded::parse(query.as_bytes())
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.into_owned())
    }
}
