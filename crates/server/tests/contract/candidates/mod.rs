//! Candidates: persons on jobs, their stages and what became of them.

mod add_and_move;
mod all_jobs;
mod batches;
mod funnel;
mod removal;
