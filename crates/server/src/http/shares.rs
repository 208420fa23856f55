//! What all callers have together, such as memory or connections, and how much of it one of them
//! may take.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub struct Shares<K> {
    most: usize,
    most_each: usize,
    taken: Mutex<BodyPolicy<K>>,
}

struct BodyPolicy<K> {
    in_all: usize,
    by_owner: HashMap<K, usize>,
}

/// What nobody may take more of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// The owner has their share.
    Share,
    /// Others and the owner have all there is.
    All,
}

/// What one owner has taken, until it is dropped.
pub struct Share<K: Eq + Hash + Copy> {
    shares: Arc<Shares<K>>,
    owner: K,
    amount: usize,
}

impl<K: Eq + Hash + Copy> Shares<K> {
    pub fn new(most: usize, most_each: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            most_each,
            taken: Mutex::new(BodyPolicy { in_all: 0, by_owner: HashMap::new() }),
        })
    }

    pub fn take(self: &Arc<Self>, owner: K, amount: usize) -> Result<Share<K>, Full> {
        let mut share = Share { shares: Arc::clone(self), owner, amount: 0 };
        share.grow(amount)?;
        Ok(share)
    }

    /// Takes what cannot be refused any more. It counts as far as the owner's share goes, so that
    /// it takes no more from others.
    pub fn take_anyway(self: &Arc<Self>, owner: K, amount: usize) -> Share<K> {
        let mut taken = self.lock();
        let own = taken.by_owner.get(&owner).copied().unwrap_or_default();
        let amount = amount.min(self.most_each.saturating_sub(own));
        taken.add(owner, amount);
        drop(taken);
        Share { shares: Arc::clone(self), owner, amount }
    }

    /// Whether the owner has their share.
    pub fn is_used_up(&self, owner: K) -> bool {
        self.lock().by_owner.get(&owner).is_some_and(|own| *own >= self.most_each)
    }

    fn lock(&self) -> MutexGuard<'_, BodyPolicy<K>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Copy> BodyPolicy<K> {
    fn add(&mut self, owner: K, amount: usize) {
        self.in_all += amount;
        *self.by_owner.entry(owner).or_default() += amount;
    }
}

impl<K: Eq + Hash + Copy> Share<K> {
    pub fn grow(&mut self, amount: usize) -> Result<(), Full> {
        let mut taken = self.shares.lock();
        let own = taken.by_owner.get(&self.owner).copied().unwrap_or_default();
        if own + amount > self.shares.most_each {
            return Err(Full::Share);
        }
        if taken.in_all + amount > self.shares.most {
            return Err(Full::All);
        }
        taken.add(self.owner, amount);
        drop(taken);
        self.amount += amount;
        Ok(())
    }
}

impl<K: Eq + Hash + Copy> Drop for Share<K> {
    fn drop(&mut self) {
        let mut taken = self.shares.lock();
        taken.in_all -= self.amount;
        if let Some(own) = taken.by_owner.get_mut(&self.owner) {
            *own -= self.amount;
            if *own == 0 {
                taken.by_owner.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_has_a_share_and_gives_it_back() {
        let shares = Shares::new(10, 4);
        let mut first = shares.take('a', 3).unwrap();
        assert_eq!(first.grow(2).unwrap_err(), Full::Share);
        first.grow(1).unwrap();
        assert_eq!(shares.take('a', 1).err(), Some(Full::Share));
        let second = shares.take('b', 4).unwrap();
        assert_eq!(shares.take('c', 3).err(), Some(Full::All));
        drop(second);
        assert!(shares.take('c', 3).is_ok());
        drop(first);
        assert!(shares.lock().by_owner.is_empty());
        assert_eq!(shares.lock().in_all, 0);
    }

    #[test]
    fn what_cannot_be_refused_counts_as_far_as_the_share_goes() {
        let shares = Shares::new(4, 2);
        let much = shares.take_anyway('a', 9);
        let more = shares.take_anyway('a', 9);
        assert!(shares.is_used_up('a') && !shares.is_used_up('b'));
        assert!(shares.take('b', 2).is_ok());
        drop((much, more));
        assert!(!shares.is_used_up('a') && shares.lock().by_owner.is_empty());
    }
}
