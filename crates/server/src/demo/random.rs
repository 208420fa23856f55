//! Chance that comes out the same every time: the same seed gives the same data on every machine.
//! Nothing secret is made of it.

/// The splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to just below `bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % (bound as u64).max(1)) as usize
    }

    /// A number from `low` to `high`, both included; `low` if `high` is less.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let choices = high.saturating_sub(low).max(0).unsigned_abs() + 1;
        low + (self.draw() % choices).cast_signed()
    }

    /// True that many times in a hundred.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.draw() % 100 < percent
    }

    /// One entry of a list that has at least one.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// One entry of a list that is written as `one|other|third`.
    pub fn word(&mut self, list: &'static str) -> &'static str {
        word_at(list, self.below(list.split('|').count()))
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for unplaced in (1..list.len()).rev() {
            let other = self.below(unplaced + 1);
            list.swap(unplaced, other);
        }
    }
}

/// The entry at that place of a list that is written as `one|other|third`.
#[must_use]
pub fn word_at(list: &'static str, place: usize) -> &'static str {
    list.split('|').nth(place).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut random = Random::new(1_234_567);
        let drawn = [random.draw(), random.draw(), random.draw()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_stay_in_their_bounds() {
        let mut random = Random::new(7);
        for _ in 0..1000 {
            assert!(random.below(3) < 3);
            assert!((-2..=2).contains(&random.between(-2, 2)));
            assert!("one|other|third".contains(random.word("one|other|third")));
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.between(5, 4), 5);
    }

    #[test]
    fn a_shuffled_list_has_the_same_entries() {
        let mut list: Vec<_> = (0..50).collect();
        Random::new(3).shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
