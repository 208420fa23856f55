//! What every test stands on: the real program, a workspace of its own on it, a client, and a
//! fixture of records.

mod client;
mod database;
mod engine;
mod enriching;
mod hook;
mod operations;
pub mod postgres;
mod preload;
mod process;
mod provider;
mod raw;
mod receiver;
mod records;
mod server;
mod shared;
mod snapshot;
mod stream;
mod wait;
mod workspace;

pub use macro_rules_attribute::apply;

pub use client::{Client, Reply};
pub use database::Database;
pub use engine::{Engine, Setup};
pub(crate) use engine::{each_engine, on_sqlite};
pub use enriching::{config, configured, enriching, run_path, social_url};
pub use hook::{Hook, NEVER, SOON, calling_app, calling_workspace, hooked, hooked_app};
pub use operations::{OPERATIONS, OTHER_OPERATIONS, Operation, World};
pub use preload::preloaded;
pub use process::{Process, program};
pub use provider::{Provider, who};
pub use raw::{Connection, HttpReply};
pub use receiver::{Action, Call, Receiver};
pub use records::{Job, strings, together};
pub use server::{App, AppBuilder, address_of};
pub use snapshot::{is_id, is_time, shape};
pub use stream::{Block, EventStream, Log, next_after, sequences, types};
pub use wait::{DEADLINE, eventually, next_millisecond, rounds, time_taken};
pub use workspace::{MAIN, Workspace};
