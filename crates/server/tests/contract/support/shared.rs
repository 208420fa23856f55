//! Servers that tests share: one for each engine and configuration, as long as the process lives
//! that runs the tests.

use std::collections::BTreeMap;
use std::mem;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use super::database::{Database, KeyMaker};
use super::engine::Engine;
use super::process::Process;
use super::server::address_of;
use super::workspace::Workspace;

struct Shared {
    address: String,
    keys: Arc<KeyMaker>,
}

/// A workspace of its own on the server of that engine with these settings in its environment,
/// which is started if it does not run yet.
pub fn workspace(engine: Engine, settings: &[(&str, &str)]) -> Workspace {
    static RUNNING: Mutex<BTreeMap<String, Shared>> = Mutex::new(BTreeMap::new());
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = running
        .entry(format!("{engine:?} {settings:?}"))
        .or_insert_with(|| Shared::start(engine, settings));
    Workspace::among_others(shared.address.clone(), Arc::clone(&shared.keys))
}

impl Shared {
    fn start(engine: Engine, settings: &[(&str, &str)]) -> Self {
        let (database, _) = Database::with_key(engine);
        let builder = settings
            .iter()
            .fold(engine.app(), |builder, (name, value)| builder.environment(name, value));
        let process = Process::start(&mut with_this_process(&builder.command(&database)));
        let (address, keys) = (address_of(&process.log), Arc::new(KeyMaker::open(&database.url())));
        // No destructor runs at the end of the process; the database is removed by the next one.
        mem::forget((process, database));
        Self { address, keys }
    }
}

/// The same command, which is killed when this process ends, however it does: its standard input is
/// closed then.
fn with_this_process(command: &Command) -> Command {
    const SCRIPT: &str = r#""$@" </dev/null & cat >/dev/null; kill -KILL $!"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(command.get_current_dir().unwrap());
    shell.stdin(std::process::Stdio::piped());
    shell
}
