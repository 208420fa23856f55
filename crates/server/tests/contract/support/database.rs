//! Databases for tests, and keys for them.

use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Once};
use std::{env, fs};

use slated_model::key::Scope;
use slated_operations::keys::CreateKey;
use slated_store::{Location, Options, Purpose, Store};
use tokio::runtime::{Builder, Runtime};

use super::engine::Engine;
use super::postgres;
use super::process::program;
use super::workspace::MAIN;

const RUN_ON_SQLITE: &str = "
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    for row in database.execute(sys.argv[2]):
        print(row[0])
";

/// What the names of all databases of tests begin with; the number of the process that made it
/// follows.
const PREFIX: &str = "contract_";

/// A database that nobody else knows, removed when it goes out of scope.
pub struct Database {
    pub engine: Engine,
    /// Where the program runs, and keeps its file if it has one.
    directory: PathBuf,
    name: String,
    given: Option<String>,
}

impl Database {
    /// One without a schema.
    pub fn new(engine: Engine) -> Self {
        let database = Self::without_data(engine);
        if let Engine::Postgres = engine {
            postgres::create_database(&database.name);
        }
        database
    }

    /// One with the schema, and a key of the workspace [`MAIN`] that may write: a copy of one that
    /// is made once.
    pub fn with_key(engine: Engine) -> (Self, &'static str) {
        let template = Template::of(engine);
        let database = Self::without_data(engine);
        match engine {
            Engine::Sqlite => drop(fs::copy(template.database.file(), database.file()).unwrap()),
            Engine::Postgres => postgres::copy_database(&template.database.name, &database.name),
        }
        (database, &template.key)
    }

    fn without_data(engine: Engine) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        remove_leftovers(engine);
        let name = format!("{PREFIX}{}_{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let directory = env::temp_dir().join(&name);
        fs::create_dir_all(&directory).unwrap();
        Self { engine, directory, name, given: None }
    }

    /// A PostgreSQL database that is there already, and stays.
    pub fn at(url: &str) -> Self {
        let mut database = Self::without_data(Engine::Postgres);
        database.given = Some(url.to_owned());
        database
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a file into the directory, in the place of the one that may be there.
    pub fn write_file(&self, name: &str, text: &str) {
        let path = self.directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn file(&self) -> PathBuf {
        self.directory.join("slated.db")
    }

    pub fn url(&self) -> String {
        match (self.engine, &self.given) {
            (Engine::Sqlite, _) => format!("sqlite:{}", self.file().display()),
            (Engine::Postgres, Some(given)) => given.clone(),
            (Engine::Postgres, None) => postgres::url(&self.name),
        }
    }

    /// Runs a statement in a transaction of its own that stays open, on PostgreSQL.
    pub fn hold(&self, sql: &str) -> postgres::Held {
        postgres::Held::new(self.url(), sql.to_owned())
    }

    /// Runs a statement behind the program's back; gives back the first column of each row.
    pub fn execute(&self, sql: &str) -> Vec<String> {
        match self.engine {
            Engine::Sqlite => {
                let output = Command::new("python3")
                    .args(["-c", RUN_ON_SQLITE])
                    .arg(self.file())
                    .arg(sql)
                    .output()
                    .unwrap();
                assert!(
                    output.status.success(),
                    "{sql}: {}",
                    String::from_utf8_lossy(&output.stderr)
                );
                String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
            }
            Engine::Postgres => postgres::execute(&self.url(), sql),
        }
    }

    /// The program with these arguments, on this database.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(arguments).arg("--database").arg(self.url()).current_dir(&self.directory);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What the program writes to its standard output when it succeeds.
    #[track_caller]
    pub fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "slated {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A key that the program made.
    #[track_caller]
    pub fn create_key(&self, workspace: &str, scope: &str, more: &[&str]) -> String {
        let name = key_name(workspace, scope);
        let arguments =
            ["key", "create", "--name", &name, "--scope", scope, "--workspace", workspace];
        let key = self.ask(&[&arguments[..], more].concat());
        assert!(
            key.starts_with("slated_") && !key.contains(char::is_whitespace),
            "not just a key: {key}"
        );
        key
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        if let (Engine::Postgres, None) = (self.engine, &self.given) {
            postgres::drop_database(&self.name);
        }
    }
}

/// What the copies of [`Database::with_key`] are made of.
struct Template {
    database: Database,
    key: String,
}

impl Template {
    fn of(engine: Engine) -> &'static Self {
        static SQLITE: LazyLock<Template> = LazyLock::new(|| Template::make(Engine::Sqlite));
        static POSTGRES: LazyLock<Template> = LazyLock::new(|| Template::make(Engine::Postgres));
        match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        }
    }

    fn make(engine: Engine) -> Self {
        let database = Database::new(engine);
        let key = KeyMaker::open(&database.url()).make(MAIN, &key_name(MAIN, "write"), "write");
        Self { database, key }
    }
}

/// Makes keys in a database without a process for each.
pub struct KeyMaker {
    store: Store,
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

impl KeyMaker {
    pub fn open(url: &str) -> Self {
        let (location, options): (Location, _) = (url.parse().unwrap(), Options::default());
        Self {
            store: RUNTIME.block_on(Store::open(&location, Purpose::Command, &options)).unwrap(),
        }
    }

    pub fn make(&self, workspace: &str, name: &str, scope: &str) -> String {
        let work = CreateKey {
            workspace: workspace.to_owned(),
            name: name.to_owned(),
            scope: Scope::parse(scope).unwrap(),
            expires_at: None,
        };
        RUNTIME.block_on(self.store.write(work)).unwrap().secret.reveal().to_owned()
    }
}

/// What the tests call a key of that workspace.
pub fn key_name(workspace: &str, scope: &str) -> String {
    format!("{workspace} {scope}")
}

/// Removes what tests left that were stopped, and what lives as long as the process that runs them.
fn remove_leftovers(engine: Engine) {
    static FILES: Once = Once::new();
    static DATABASES: Once = Once::new();
    let is_left = |name: &str| {
        let number = name.strip_prefix(PREFIX).and_then(|rest| rest.split('_').next());
        number.is_some_and(|number| !Path::new("/proc").join(number).exists())
    };
    FILES.call_once(|| {
        for entry in fs::read_dir(env::temp_dir())
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(is_left))
        {
            // Somebody else may be at it.
            let _ = fs::remove_dir_all(entry.path());
        }
    });
    if let Engine::Sqlite = engine {
        return;
    }
    DATABASES.call_once(|| {
        for name in postgres::databases().into_iter().filter(|name| is_left(name)) {
            postgres::drop_database(&name);
        }
    });
}
