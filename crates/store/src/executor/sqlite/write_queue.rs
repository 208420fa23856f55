//! Operations that wait for the writer, and whose turn it is. Workspaces take turns, so that
//! nobody waits for all that one of them wants. An operation that touches many records goes alone:
//! when it is done, others go first.

use std::collections::{HashMap, VecDeque};

use slated_model::id::WorkspaceId;
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::operation::Pace;
use crate::tx::Tx;

/// An operation together with whoever waits for it.
pub(crate) trait Job: Send {
    /// Runs the work; false if it left something that must be undone.
    fn run(&mut self, tx: &mut Tx) -> bool;
    fn pace(&self) -> Pace;
    fn workspace(&self) -> Option<WorkspaceId>;
    fn answer(self: Box<Self>, committed: Result<(), &StoreError>);
}

type Owner = Option<WorkspaceId>;

pub(crate) struct WriteQueue {
    arriving: mpsc::Receiver<Box<dyn Job>>,
    /// What is in the rounds at most, so that whoever has more to do waits outside.
    most: usize,
    quick: Rounds,
    long: Rounds,
    was_long: bool,
}

/// Operations by workspace, in the order in which these have their turn.
#[derive(Default)]
struct Rounds {
    order: VecDeque<Owner>,
    of_owner: HashMap<Owner, VecDeque<Box<dyn Job>>>,
    length: usize,
}

impl WriteQueue {
    pub(crate) fn new(arriving: mpsc::Receiver<Box<dyn Job>>, most: usize) -> Self {
        Self { arriving, most, quick: Rounds::default(), long: Rounds::default(), was_long: false }
    }

    /// An operation to begin a commit with; nothing when none will come any more.
    pub(crate) fn first(&mut self) -> Option<Box<dyn Job>> {
        self.let_in();
        if self.is_empty() {
            let job = self.arriving.blocking_recv()?;
            self.put(job);
        }
        let is_turn_of_long = !self.was_long || self.quick.length == 0;
        let next = if is_turn_of_long { self.long.next() } else { None };
        self.was_long = next.is_some();
        next.or_else(|| self.quick.next())
    }

    /// More work for the same commit, if it is there. What is quick does not wait for what is not.
    pub(crate) fn more(&mut self) -> Option<Box<dyn Job>> {
        self.let_in();
        let quick = self.quick.next();
        if quick.is_none() && self.was_long { self.long.next() } else { quick }
    }

    pub(crate) fn len(&self) -> usize {
        self.quick.length + self.long.length + self.arriving.len()
    }

    const fn is_empty(&self) -> bool {
        self.quick.length == 0 && self.long.length == 0
    }

    fn let_in(&mut self) {
        while self.quick.length + self.long.length < self.most
            && let Ok(job) = self.arriving.try_recv()
        {
            self.put(job);
        }
    }

    fn put(&mut self, job: Box<dyn Job>) {
        match job.pace() {
            Pace::AtLength => self.long.put(job),
            _ => self.quick.put(job),
        }
    }
}

impl Rounds {
    fn put(&mut self, job: Box<dyn Job>) {
        let owner = job.workspace();
        let jobs = self.of_owner.entry(owner).or_default();
        if jobs.is_empty() {
            self.order.push_back(owner);
        }
        jobs.push_back(job);
        self.length += 1;
    }

    fn next(&mut self) -> Option<Box<dyn Job>> {
        let owner = self.order.pop_front()?;
        let jobs = self.of_owner.get_mut(&owner)?;
        let job = jobs.pop_front()?;
        self.length -= 1;
        match jobs.is_empty() {
            true => {
                self.of_owner.remove(&owner);
            }
            false => self.order.push_back(owner),
        }
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::tx::Tx;

    #[derive(Clone, Copy)]
    struct Waiting(i64, Pace);

    impl Job for Waiting {
        fn run(&mut self, _: &mut Tx) -> bool {
            true
        }

        fn pace(&self) -> Pace {
            self.1
        }

        fn workspace(&self) -> Option<WorkspaceId> {
            Some(WorkspaceId::from_number(self.0))
        }

        fn answer(self: Box<Self>, _: Result<(), &StoreError>) {}
    }

    /// The workspaces in the order in which they have their turn, each commit in its own list.
    fn commits(waiting: &[Waiting]) -> Vec<Vec<i64>> {
        let (sender, arriving) = mpsc::channel(100);
        for waiting in waiting {
            assert!(sender.try_send(Box::new(*waiting) as Box<dyn Job>).is_ok());
        }
        drop(sender);
        let mut line = WriteQueue::new(arriving, 100);
        let number = |job: &dyn Job| job.workspace().unwrap().number();
        let mut commits = Vec::new();
        while let Some(first) = line.first() {
            let mut commit = vec![number(&*first)];
            // One that touches many records leaves no time for more.
            while first.pace() != Pace::AtLength
                && let Some(more) = line.more()
            {
                commit.push(number(&*more));
            }
            commits.push(commit);
        }
        commits
    }

    #[test]
    fn workspaces_take_turns() {
        let waiting = [1, 1, 1, 2, 3, 2].map(|workspace| Waiting(workspace, Pace::Quick));
        assert_eq!(commits(&waiting), [[1, 2, 3, 1, 2, 1]]);
    }

    #[test]
    fn behind_long_work_others_go_first() {
        let long = [1, 1, 2].map(|workspace| Waiting(workspace, Pace::AtLength));
        let quick = [3, 3].map(|workspace| Waiting(workspace, Pace::Quick));
        assert_eq!(commits(&[&long[..], &quick].concat()), [vec![1], vec![3, 3], vec![2], vec![1]]);
    }
}
