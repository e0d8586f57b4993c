//! Sums by key: so many of them in memory, the others in the spool.
//!
//! When so many different sums are there, they are written as a run, in order, and begun again. At the end
//! the runs are read side by side. Where that happens depends on nothing but the sums themselves, so that
//! they are rounded in the same way on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::hash::Hash;

use proust_profile::{NumbersReader, NumbersWriter, Spool, SpooledNumbers};
use rustc_hash::FxHashMap as Map;

/// What is summed up, by what, and how both are written.
pub(super) trait Summed: fmt::Debug {
    /// Sums have one each.
    type Key: Copy + Ord + Hash + fmt::Debug;
    /// An amount; the default is none.
    type Sum: Copy + Default + fmt::Debug;

    /// Adds to a sum.
    fn add(sum: &mut Self::Sum, more: &Self::Sum);

    /// Writes a sum behind another one; `before` is for the numbers of that one's key, all 0 at first.
    fn put(to: &mut NumbersWriter, before: &mut [u64; 3], key: &Self::Key, sum: &Self::Sum);

    /// Reads what [`Summed::put`] wrote.
    fn get(from: &mut NumbersReader<'_>, before: &mut [u64; 3]) -> Option<(Self::Key, Self::Sum)>;
}

/// The sums of all keys.
#[derive(Debug)]
pub(super) struct SpooledSums<S: Summed> {
    spool: Spool,
    sums: Map<S::Key, S::Sum>,
    runs: Vec<SpooledNumbers>,
    most: usize,
}

impl<S: Summed> SpooledSums<S> {
    /// None yet; at most `most` will be in memory.
    pub(super) fn new(spool: &Spool, most: usize) -> SpooledSums<S> {
        SpooledSums { spool: spool.clone(), sums: Map::default(), runs: Vec::new(), most }
    }

    /// Adds to the sum of a key.
    #[inline]
    pub(super) fn add(&mut self, key: S::Key, more: &S::Sum) {
        if self.sums.len() == self.most && !self.sums.contains_key(&key) {
            self.write_run();
        }
        S::add(self.sums.entry(key).or_default(), more);
    }

    /// How many sums there are in memory.
    #[cfg(test)]
    pub(super) fn in_memory(&self) -> usize {
        self.sums.len()
    }

    #[cold]
    fn write_run(&mut self) {
        let mut writer = NumbersWriter::new(&self.spool);
        let mut before = [0; 3];
        for (key, sum) in in_order::<S>(&mut self.sums) {
            S::put(&mut writer, &mut before, &key, &sum);
        }
        self.runs.push(writer.finish());
    }

    /// All of them, in the order of their keys. What cannot be read from the spool's file is left out; then
    /// the spool is damaged.
    pub(super) fn sorted(mut self) -> Sorted<S> {
        let last = in_order::<S>(&mut self.sums);
        self.sums = Map::default();
        let mut sources: Vec<Source<S>> = (self.runs.into_iter())
            .map(|run| Source::Run { numbers: run.into_reader(), before: [0; 3] })
            .collect();
        sources.push(Source::Last(last.into_iter()));
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (at, source) in sources.iter_mut().enumerate() {
            heads.extend(source.next().map(|(key, sum)| Reverse(Head::<S> { key, at, sum })));
        }
        Sorted { sources, heads }
    }
}

/// Takes all of them, in order.
fn in_order<S: Summed>(sums: &mut Map<S::Key, S::Sum>) -> Vec<(S::Key, S::Sum)> {
    let mut all: Vec<(S::Key, S::Sum)> = sums.drain().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}

/// Sums in the order of their keys, each key once.
pub(super) struct Sorted<S: Summed> {
    sources: Vec<Source<S>>,
    heads: BinaryHeap<Reverse<Head<S>>>,
}

impl<S: Summed> Sorted<S> {
    fn pop(&mut self) -> Option<(S::Key, S::Sum)> {
        let Reverse(Head { key, at, sum }) = self.heads.pop()?;
        self.heads.extend(self.sources[at].next().map(|(key, sum)| Reverse(Head { key, at, sum })));
        Some((key, sum))
    }
}

impl<S: Summed> Iterator for Sorted<S> {
    type Item = (S::Key, S::Sum);

    fn next(&mut self) -> Option<(S::Key, S::Sum)> {
        let (key, mut sum) = self.pop()?;
        while self.heads.peek().is_some_and(|Reverse(head)| head.key == key) {
            if let Some((_, more)) = self.pop() {
                S::add(&mut sum, &more);
            }
        }
        Some((key, sum))
    }
}

/// The next sum of a source; of equal ones that of the earlier run is first.
struct Head<S: Summed> {
    key: S::Key,
    at: usize,
    sum: S::Sum,
}

impl<S: Summed> Ord for Head<S> {
    fn cmp(&self, other: &Head<S>) -> std::cmp::Ordering {
        (&self.key, self.at).cmp(&(&other.key, other.at))
    }
}

impl<S: Summed> PartialOrd for Head<S> {
    fn partial_cmp(&self, other: &Head<S>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Summed> PartialEq for Head<S> {
    fn eq(&self, other: &Head<S>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Summed> Eq for Head<S> {}

enum Source<S: Summed> {
    Run { numbers: NumbersReader<'static>, before: [u64; 3] },
    Last(std::vec::IntoIter<(S::Key, S::Sum)>),
}

impl<S: Summed> Iterator for Source<S> {
    type Item = (S::Key, S::Sum);

    fn next(&mut self) -> Option<(S::Key, S::Sum)> {
        match self {
            Source::Run { numbers, before } => S::get(numbers, before),
            Source::Last(sums) => sums.next(),
        }
    }
}

/// A number that is small if it is a whole one: its low bits come first.
pub(super) fn bits(float: f64) -> u64 {
    float.to_bits().reverse_bits()
}

/// The number that [`bits`] was given.
pub(super) fn float(bits: u64) -> f64 {
    f64::from_bits(bits.reverse_bits())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug)]
    struct ByNumber;

    impl Summed for ByNumber {
        type Key = u64;
        type Sum = f64;

        fn add(sum: &mut f64, more: &f64) {
            *sum += more;
        }

        fn put(to: &mut NumbersWriter, _: &mut [u64; 3], key: &u64, sum: &f64) {
            to.put(&[*key, bits(*sum)]);
        }

        fn get(from: &mut NumbersReader<'_>, _: &mut [u64; 3]) -> Option<(u64, f64)> {
            Some((from.next()?, float(from.next()?)))
        }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_table_without_limit(
            added in proptest::collection::vec((0_u64..60, 0_u32..1000), 0..400),
            most in 1_usize..40,
        ) {
            let mut sums = SpooledSums::<ByNumber>::new(&Spool::default(), most);
            let mut all: BTreeMap<u64, f64> = BTreeMap::new();
            for (key, more) in added {
                // Halves are exact: the order in which they are added does not matter.
                let more = f64::from(more) / 2.0;
                sums.add(key, &more);
                prop_assert!(sums.in_memory() <= most);
                *all.entry(key).or_default() += more;
            }
            prop_assert!(sums.sorted().eq(all));
        }

        #[test]
        fn any_float_is_read_back(float_bits: u64) {
            let one = f64::from_bits(float_bits);
            prop_assert_eq!(float(bits(one)).to_bits(), float_bits);
        }
    }
}
