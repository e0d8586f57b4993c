//! One record of many, drawn with a probability in proportion to its length: for pictures only.

use crate::record::Key;

/// A record that stands for those of a node. It depends on the sizes of blocks: no number may be made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// When it began, ns.
    pub begin_ns: u64,
    /// When it ended, ns.
    pub end_ns: u64,
    /// Its key.
    pub key: Key,
}

/// Draws among what it is offered, one after the other: each replaces the one before with the probability
/// weight ÷ sum of all weights so far. Integers only, so the same on every machine.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    seed: u64,
    offered: u64,
    total: u128,
    drawn: Option<Drawn>,
}

impl Drawing {
    pub fn new(seed: [u64; 3]) -> Drawing {
        Drawing {
            seed: seed.into_iter().fold(0, |hash, word| mix(hash ^ word)),
            offered: 0,
            total: 0,
            drawn: None,
        }
    }

    pub fn offer(&mut self, weight: u128, record: Drawn) {
        self.total += weight;
        self.offered += 1;
        let hash = mix(self.seed ^ self.offered);
        let shift = (128 - self.total.leading_zeros()).saturating_sub(64);
        if (u128::from(hash) * (self.total >> shift)) >> 64 < weight >> shift {
            self.drawn = Some(record);
        }
    }

    pub fn drawn(&self) -> Option<Drawn> {
        self.drawn
    }
}

/// Every bit of the answer depends on every bit of the word (the finalizer of SplitMix64).
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::{Drawing, Drawn};

    #[test]
    fn each_is_drawn_in_proportion_to_its_weight() {
        let weights = [1u128, 0, 5, 10, 4];
        let mut count_of = [0u32; 5];
        for seed in 0..20_000 {
            let mut drawing = Drawing::new([seed, 2, 3]);
            for (at, &weight) in weights.iter().enumerate() {
                drawing.offer(weight, Drawn { begin_ns: at as u64, ..Drawn::default() });
            }
            count_of[drawing.drawn().unwrap().begin_ns as usize] += 1;
        }
        for (count, weight) in count_of.into_iter().zip(weights) {
            // Five standard deviations of a binomial distribution are 354 at most.
            let expected = weight as f64 * 1000.0;
            assert!((f64::from(count) - expected).abs() <= 354.0, "{count} for {expected}");
            assert!(weight > 0 || count == 0);
        }
    }
}
