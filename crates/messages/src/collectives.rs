//! Members to instances: the k-th collective that a member of a communicator calls is a part of the same
//! instance as the k-th of each other member, since all members call collectives in the same order. Those
//! that start one prepared collective are a series of their own.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A member of a communicator: its rank, and whether it is on the second side of an intercommunicator.
pub type Member = (bool, u32);

/// A communicator, and which of its series; 0 = of those that were not prepared.
pub type Series = (u32, u32);

/// Matches the collectives of all communicators.
#[derive(Debug)]
pub struct Collectives<E> {
    communicators: FxHashMap<Series, Instances<E>>,
    open: usize,
    most_open: usize,
}

#[derive(Debug)]
struct Instances<E> {
    /// How many each member has called.
    called: FxHashMap<Member, u64>,
    /// How many instances are over.
    over: u64,
    /// Those after them.
    open: VecDeque<Vec<(Member, E)>>,
}

impl<E> Default for Collectives<E> {
    fn default() -> Collectives<E> {
        Collectives { communicators: FxHashMap::default(), open: 0, most_open: 0 }
    }
}

impl<E: Copy> Collectives<E> {
    /// The next collective of a series that a member of this communicator, which has so many, has called. The
    /// members of the instance if it was the last of them, in the order in which they were given.
    pub fn call(
        &mut self,
        series: Series,
        members: u64,
        member: Member,
        call: E,
    ) -> Option<Vec<(Member, E)>> {
        let instances = self.communicators.entry(series).or_insert_with(|| Instances {
            called: FxHashMap::default(),
            over: 0,
            open: VecDeque::new(),
        });
        let called = instances.called.entry(member).or_default();
        // Of one that is over all members have called it.
        let at = usize::try_from(called.saturating_sub(instances.over)).unwrap_or(usize::MAX);
        *called += 1;
        while instances.open.len() <= at {
            instances.open.push_back(Vec::new());
            self.open += 1;
            self.most_open = self.most_open.max(self.open);
        }
        let instance = &mut instances.open[at];
        instance.push((member, call));
        // All have called those before, too.
        if at > 0 || (instance.len() as u64) < members {
            return None;
        }
        instances.over += 1;
        self.open -= 1;
        instances.open.pop_front()
    }

    /// The most instances that were open at once.
    pub fn most_open(&self) -> usize {
        self.most_open
    }

    /// Instances that some members never called, by communicator and series.
    pub fn finish(self) -> Vec<(Series, Vec<(Member, E)>)> {
        let mut communicators: Vec<(Series, Instances<E>)> = self.communicators.into_iter().collect();
        communicators.sort_unstable_by_key(|(communicator, _)| *communicator);
        let instances = communicators.into_iter().flat_map(|(communicator, instances)| {
            instances.open.into_iter().map(move |instance| (communicator, instance))
        });
        instances.collect()
    }
}
