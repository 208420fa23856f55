use super::server::{App, AppBuilder};

/// Where the program under test keeps its data.
#[derive(Clone, Copy, Debug)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// A machine that stood still for a moment is no database that went away: tests about the latter build the program their own way.
    pub fn app(self) -> AppBuilder {
        match self {
            Self::Sqlite => AppBuilder::new(self),
            Self::Postgres => AppBuilder::new(self).environment("SLATED_DATABASE_TIMEOUT", "10000"),
        }
    }
}

/// What a test may ask for: a running program, or just the engine when it starts the program its own way.
pub trait Setup {
    fn on(engine: Engine) -> Self;
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

/// The tests of a file: each named function becomes one test per engine.
macro_rules! each_engine {
    (@ $name:ident $engine:ident $variant:ident) => {
        #[test]
        fn $engine() {
            insta::allow_duplicates! {
                super::$name(&$crate::support::Setup::on($crate::support::Engine::$variant));
            }
        }
    };
    ($($name:ident)*) => {$(
        mod $name {
            $crate::support::each_engine!(@ $name sqlite Sqlite);
            $crate::support::each_engine!(@ $name postgres Postgres);
        }
    )*};
}
pub(crate) use each_engine;

/// Tests of what only the embedded engine has: a file, and one server at a time.
macro_rules! on_sqlite {
    ($($name:ident)*) => {$(
        mod $name {
            $crate::support::each_engine!(@ $name sqlite Sqlite);
        }
    )*};
}
pub(crate) use on_sqlite;
