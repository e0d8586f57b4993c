//! The calls of one process by their number: when they began and ended, and where they were made.

use std::ops::Index;

use proust_log::operations::Operation;
use proust_messages::waits::Times;
use proust_profile::{LocationId, NumbersWriter, Spool, SpooledNumbers, far, near};
use rustc_hash::FxHashMap;

use super::site::Site;

/// A call, as the profile knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Made {
    pub(super) location: LocationId,
    pub(super) operation: Operation,
    /// The communicator, by the process's number; 0 = none.
    pub(super) communicator: u32,
    /// Where it was made, if that is known ([`sites`](super::gathered::sites)).
    pub(super) site: Option<Site>,
}

/// The different ways in which a process makes calls, by their number: there are few.
#[derive(Debug, Default)]
pub(super) struct Ways {
    different: Vec<Made>,
    numbers: FxHashMap<Made, u32>,
}

impl Ways {
    pub(super) fn number(&mut self, made: Made) -> u32 {
        let next = self.different.len() as u32;
        let number = *self.numbers.entry(made).or_insert(next);
        if number == next {
            self.different.push(made);
        }
        number
    }

    pub(super) fn get(&self, number: u32) -> Option<&Made> {
        self.different.get(number as usize)
    }
}

/// The calls of a process, in memory.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) times: Vec<Times>,
    /// By call, the number of its way.
    made: Vec<u32>,
}

/// The same with the ways in which they were made.
#[derive(Clone, Copy, Debug)]
pub(super) struct MadeCalls<'c> {
    calls: &'c Calls,
    ways: &'c Ways,
}

impl Calls {
    pub(super) fn with_capacity(calls: usize) -> Calls {
        Calls { times: Vec::with_capacity(calls), made: Vec::with_capacity(calls) }
    }

    pub(super) fn push(&mut self, times: Times, made: u32) {
        self.times.push(times);
        self.made.push(made);
    }

    pub(super) fn made<'c>(&'c self, ways: &'c Ways) -> MadeCalls<'c> {
        MadeCalls { calls: self, ways }
    }

    pub(super) fn stored(&self, spool: &Spool) -> StoredCalls {
        let (mut to, mut last_ns) = (NumbersWriter::new(spool), 0);
        for (Times { begin_ns, end_ns }, made) in self.times.iter().zip(&self.made) {
            to.put(&[near(*begin_ns, last_ns), near(*end_ns, *begin_ns), (*made).into()]);
            last_ns = *end_ns;
        }
        StoredCalls { numbers: to.finish(), calls: self.times.len() }
    }
}

impl MadeCalls<'_> {
    pub(super) fn get(&self, call: usize) -> Option<&Made> {
        self.ways.get(*self.calls.made.get(call)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Made> {
        self.calls.made.iter().map(|&number| &self.ways.different[number as usize])
    }
}

impl Index<usize> for MadeCalls<'_> {
    type Output = Made;

    fn index(&self, call: usize) -> &Made {
        &self.ways.different[self.calls.made[call] as usize]
    }
}

/// The calls of a process as numbers in a spool.
#[derive(Debug, Default)]
pub(super) struct StoredCalls {
    numbers: SpooledNumbers,
    calls: usize,
}

impl StoredCalls {
    pub(super) fn len(&self) -> usize {
        self.calls
    }

    pub(super) fn read(&self) -> Calls {
        let (mut from, mut all, mut last_ns) = (self.numbers.read(), Calls::with_capacity(self.calls), 0);
        let mut next = || {
            let begin_ns = far(from.next()?, last_ns);
            let end_ns = far(from.next()?, begin_ns);
            last_ns = end_ns;
            Some((Times { begin_ns, end_ns }, from.next()? as u32))
        };
        while let Some((times, made)) = next() {
            all.push(times, made);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back() {
        let mut calls = Calls::default();
        for (begin_ns, end_ns, made) in [(5, 9, 0), (2, u64::MAX, 3), (u64::MAX, 0, u32::MAX), (7, 7, 1)] {
            calls.push(Times { begin_ns, end_ns }, made);
        }
        let read = calls.stored(&Spool::default()).read();
        assert_eq!((read.times, read.made), (calls.times, calls.made));
    }
}
