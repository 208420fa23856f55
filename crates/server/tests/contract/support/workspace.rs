use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::client::Client;
use super::database::{KeyMaker, key_name};

/// The workspace of a test that does not care which one.
pub const MAIN: &str = "main";

/// A running program as one test sees it: what the test calls its workspaces is theirs alone,
/// whoever else uses the program.
pub struct Workspace {
    pub address: String,
    keys: Mutex<HashMap<(String, String), String>>,
    database: KeyPlace,
    /// What the names of this test's workspaces end in.
    suffix: String,
}

/// Where the keys are made.
enum KeyPlace {
    Open(Arc<KeyMaker>),
    Url(String),
}

impl Workspace {
    /// All workspaces of a program that one test has for itself.
    pub fn alone(address: String, url: String) -> Self {
        Self {
            address,
            keys: Mutex::default(),
            database: KeyPlace::Url(url),
            suffix: String::new(),
        }
    }

    /// A part of a program that other tests use at the same time.
    pub fn among_others(address: String, database: Arc<KeyMaker>) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(1);
        let suffix = format!("-{}", MADE.fetch_add(1, Ordering::Relaxed));
        Self { address, keys: Mutex::default(), database: KeyPlace::Open(database), suffix }
    }

    /// Takes over a key that is there.
    pub fn with_key(self, workspace: &str, scope: &str, key: &str) -> Self {
        self.keys.lock().unwrap().insert((workspace.to_owned(), scope.to_owned()), key.to_owned());
        self
    }

    /// The name that the program knows that workspace by.
    pub fn name_of(&self, workspace: &str) -> String {
        format!("{workspace}{}", self.suffix)
    }

    pub fn key(&self, scope: &str) -> String {
        self.key_of(MAIN, scope)
    }

    pub fn key_of(&self, workspace: &str, scope: &str) -> String {
        let mut keys = self.keys.lock().unwrap();
        keys.entry((workspace.to_owned(), scope.to_owned()))
            .or_insert_with(|| self.new_key(workspace, scope))
            .clone()
    }

    /// Another key than all that there are.
    pub fn new_key(&self, workspace: &str, scope: &str) -> String {
        let (name, workspace) = (key_name(workspace, scope), self.name_of(workspace));
        match &self.database {
            KeyPlace::Open(maker) => maker.make(&workspace, &name, scope),
            KeyPlace::Url(url) => KeyMaker::open(url).make(&workspace, &name, scope),
        }
    }

    pub fn client(&self, scope: &str) -> Client {
        self.client_of(MAIN, scope)
    }

    pub fn client_of(&self, workspace: &str, scope: &str) -> Client {
        self.anonymous().with_key(&self.key_of(workspace, scope))
    }

    /// A client without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(&self.address)
    }

    /// A client that may write, which is what most tests need.
    pub fn writer(&self) -> Client {
        self.client("write")
    }
}
