//! Those who come while enough of their kind are at work wait, and then go together. Nobody waits
//! for company: who comes first is seen to at once.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::Xxh3DefaultBuilder;

/// A line of those who wait for each kind of work.
pub struct BatchQueue<K, W> {
    lines: Mutex<Waiters<K, W>>,
    most_at_work: usize,
    most_in_one: usize,
}

type Waiters<K, W> = HashMap<K, Waiting<W>, Xxh3DefaultBuilder>;

struct Waiting<W> {
    waiting: VecDeque<W>,
    at_work: usize,
}

impl<K: Hash + Eq + Clone, W> BatchQueue<K, W> {
    /// So many work a line off at once, and take so many together.
    #[must_use]
    pub fn new(most_at_work: usize, most_in_one: usize) -> Arc<Self> {
        Arc::new(Self { lines: Mutex::default(), most_at_work, most_in_one })
    }

    fn lines(&self) -> MutexGuard<'_, Waiters<K, W>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for who can go at once and need not wait, if there is one.
    pub fn enter(self: &Arc<Self>, kind: &K) -> Option<BatchSlot<K, W>> {
        self.slot_in(self.lines().entry(kind.clone()).or_default(), kind)
    }

    /// Waits. If a place is left, somebody has to take it and see to the line.
    pub fn enqueue(self: &Arc<Self>, kind: &K, waiting: W) -> Option<BatchSlot<K, W>> {
        let mut lines = self.lines();
        let line = lines.entry(kind.clone()).or_default();
        line.waiting.push_back(waiting);
        self.slot_in(line, kind)
    }

    fn slot_in(self: &Arc<Self>, line: &mut Waiting<W>, kind: &K) -> Option<BatchSlot<K, W>> {
        if line.at_work >= self.most_at_work {
            return None;
        }
        line.at_work += 1;
        Some(BatchSlot { lines: Arc::clone(self), kind: kind.clone(), is_left: false })
    }
}

impl<W> Default for Waiting<W> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), at_work: 0 }
    }
}

/// The place of one who works a line off.
pub struct BatchSlot<K: Hash + Eq + Clone, W> {
    lines: Arc<BatchQueue<K, W>>,
    kind: K,
    is_left: bool,
}

impl<K: Hash + Eq + Clone, W> BatchSlot<K, W> {
    pub const fn kind(&self) -> &K {
        &self.kind
    }

    /// The first of those who wait. If nobody does, the place is left, before anybody else can come
    /// and rely on it.
    pub fn take(&mut self) -> Option<Vec<W>> {
        let mut lines = self.lines.lines();
        let waiting = &mut lines.get_mut(&self.kind).filter(|_| !self.is_left)?.waiting;
        let taken: Vec<_> = waiting.drain(..waiting.len().min(self.lines.most_in_one)).collect();
        if taken.is_empty() {
            self.is_left = true;
            leave(&mut lines, &self.kind);
            return None;
        }
        Some(taken)
    }
}

/// Even if the work was broken off.
impl<K: Hash + Eq + Clone, W> Drop for BatchSlot<K, W> {
    fn drop(&mut self) {
        if !self.is_left {
            leave(&mut self.lines.lines(), &self.kind);
        }
    }
}

/// With the last who leaves go those who still wait: nobody would see to them.
fn leave<K: Hash + Eq, W>(lines: &mut Waiters<K, W>, kind: &K) {
    if let Some(line) = lines.get_mut(kind) {
        line.at_work -= 1;
        if line.at_work == 0 {
            lines.remove(kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_first_is_seen_to_at_once_and_the_others_go_together() {
        let lines = BatchQueue::new(2, 3);
        let mut one = lines.enqueue(&"a", 0).unwrap();
        let mut other = lines.enqueue(&"a", 1).unwrap();
        assert!([2, 3, 4].into_iter().all(|number| lines.enqueue(&"a", number).is_none()));
        assert_eq!(lines.enqueue(&"b", 5).unwrap().kind(), &"b");
        assert_eq!((one.take(), other.take()), (Some(vec![0, 1, 2]), Some(vec![3, 4])));
        assert_eq!(one.take(), None);
        assert!(lines.enqueue(&"a", 6).is_some(), "one of the two has left");
        assert_eq!(other.take(), Some(vec![6]));
    }

    #[test]
    fn who_entered_sees_to_those_who_came_meanwhile() {
        let lines = BatchQueue::new(1, 3);
        let mut place = lines.enter(&()).unwrap();
        assert!(lines.enter(&()).is_none());
        assert!(lines.enqueue(&(), 1).is_none());
        assert_eq!((place.take(), place.take()), (Some(vec![1]), None));
        assert!(lines.enter(&()).is_some());
    }

    #[test]
    fn a_place_is_left_once() {
        let lines = BatchQueue::new(1, 1);
        let mut place = lines.enqueue(&(), 1).unwrap();
        assert_eq!((place.take(), place.take()), (Some(vec![1]), None));
        let _next = lines.enqueue(&(), 2).unwrap();
        assert_eq!(place.take(), None);
        drop(place);
        assert!(
            lines.enqueue(&(), 3).is_none(),
            "the place that was left before counts for nobody"
        );
    }

    #[test]
    fn nobody_waits_for_work_that_was_broken_off() {
        let lines = BatchQueue::new(1, 1);
        let (answer, answered) = std::sync::mpsc::channel::<()>();
        let place = lines.enqueue(&(), answer.clone());
        assert!(lines.enqueue(&(), answer).is_none());
        drop(place);
        assert!(answered.recv().is_err());
        assert!(lines.enter(&()).is_some());
    }
}
