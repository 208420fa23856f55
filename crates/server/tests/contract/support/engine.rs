use super::server::{App, AppBuilder};
use super::shared;
use super::workspace::Workspace;

/// Where the program under test keeps its data.
#[derive(Clone, Copy, Debug)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// A machine that stood still for a moment is no database that went away: tests about the
    /// latter build the program their own way.
    pub fn app(self) -> AppBuilder {
        match self {
            Self::Sqlite => AppBuilder::new(self),
            Self::Postgres => AppBuilder::new(self).environment("SLATED_DATABASE_TIMEOUT", "10000"),
        }
    }
}

/// What a test may ask for: a workspace of its own; a running program of its own when it is about
/// the program, or looks past its interface; or just the engine when it starts the program its own
/// way.
pub trait Setup {
    fn on(engine: Engine) -> Self;
}

impl Setup for Workspace {
    fn on(engine: Engine) -> Self {
        shared::workspace(engine, &[])
    }
}

impl Setup for App {
    fn on(engine: Engine) -> Self {
        engine.app().start()
    }
}

impl Setup for Engine {
    fn on(engine: Engine) -> Self {
        engine
    }
}

/// A test on each engine: `#[apply(each_engine)]` above a function makes the tests `name::sqlite`
/// and `name::postgres`.
macro_rules! each_engine {
    ($(#[$attribute:meta])* fn $name:ident($parameter:ident: &$setup:ty) $body:block) => {
        $crate::support::on_sqlite! { $(#[$attribute])* fn $name($parameter: &$setup) $body; postgres Postgres }
    };
}
pub(crate) use each_engine;

/// A test of what only the embedded engine has: a file, and one server at a time.
macro_rules! on_sqlite {
    ($(#[$attribute:meta])* fn $name:ident($parameter:ident: &$setup:ty) $body:block $(; $other:ident $variant:ident)?) => {
        $(#[$attribute])*
        fn $name($parameter: &$setup) $body

        mod $name {
            use $crate::support::{Engine, Setup};

            #[test]
            fn sqlite() {
                insta::allow_duplicates! { super::$name(&Setup::on(Engine::Sqlite)) }
            }

            $(
                #[test]
                fn $other() {
                    insta::allow_duplicates! { super::$name(&Setup::on(Engine::$variant)) }
                }
            )?
        }
    };
}
pub(crate) use on_sqlite;
