//! A model test: random operations go to the program and to a plain model of it, and every answer
//! is compared. It finds combinations that no other test thinks of, such as an address that two
//! persons share when the first is erased between two pages of a list.
//!
//! `world` is the model, with a file for each kind of record; `steps`, `bodies` and `mistakes`
//! choose requests; `run` sends and compares them.

mod answers;
mod bodies;
mod candidates;
mod contacts;
mod fields;
mod jobs;
mod learned;
mod mistakes;
mod names;
mod notes;
mod persons;
mod run;
mod shapes;
mod stages;
mod steps;
mod world;

use self::run::Run;
use crate::support::{Engine, Workspace, apply, each_engine, rounds};

/// The number of steps between two comparisons of all records and events. The program is killed as
/// often, in turn during a change and after one.
const BETWEEN_LOOKS: usize = 50;

/// Invariant 15.
#[apply(each_engine)]
fn random_operations_are_answered_as_a_plain_model_says(workspace: &Workspace) {
    let mut run = Run::begin(workspace);
    for number in 1..=rounds(400, 20_000) {
        run.step();
        if number % BETWEEN_LOOKS == 0 {
            run.compare_all();
            run.compare_feed();
        }
    }
    run.compare_whole_feed();
}

/// Invariant 2.
#[apply(each_engine)]
fn a_plain_model_is_right_although_the_program_is_killed_in_between(engine: &Engine) {
    let mut app = engine.app().start();
    let mut run = Run::begin(&app);
    for number in 1..=rounds(400, 20_000) {
        run.step();
        match number % (2 * BETWEEN_LOOKS) {
            0 => run.crash(&mut app),
            BETWEEN_LOOKS => run.crash_during_a_change(&mut app),
            _ => continue,
        }
        run.compare_all();
        run.compare_feed();
    }
    run.compare_whole_feed();
}
