//! Members to instances: the k-th collective that a member of a communicator calls is a part of the same
//! instance as the k-th of each other member, since all members call collectives in the same order. Those
//! that start one prepared collective are a series of their own.

use std::collections::VecDeque;

use proust_streams::Spool;
use rustc_hash::FxHashMap;

use crate::line::{Line, Stored};

/// A member of a communicator: whether it is on the second side of an intercommunicator, and its rank.
pub type Member = (bool, u32);

/// A communicator, and which of its series; 0 = of those that were not prepared.
pub type Series = (u32, u32);

/// So many instances of a series are in memory, from the first one on that some members have not called.
const IN_MEMORY: u64 = 64;

/// Matches the collectives of all communicators.
#[derive(Debug)]
pub struct Collectives<E> {
    series: FxHashMap<Series, Instances<E>>,
    spool: Spool,
    under_way: usize,
    most_under_way: usize,
}

#[derive(Debug)]
struct Instances<E> {
    /// How many each member has called.
    called: FxHashMap<Member, u64>,
    /// How many instances are over.
    over: u64,
    /// Those after them.
    open: VecDeque<Vec<(Member, E)>>,
    /// What members that are far ahead have called after these.
    ahead: FxHashMap<Member, Line<E>>,
}

impl<E> Default for Instances<E> {
    fn default() -> Instances<E> {
        let (called, open, ahead) = (FxHashMap::default(), VecDeque::new(), FxHashMap::default());
        Instances { called, over: 0, open, ahead }
    }
}

impl<E: Stored> Collectives<E> {
    /// Of which long lines lie in `spool`.
    pub fn new(spool: &Spool) -> Collectives<E> {
        let spool = spool.clone();
        Collectives { series: FxHashMap::default(), spool, under_way: 0, most_under_way: 0 }
    }

    /// The next collective of a series that a member of this communicator, which has so many, has called. The
    /// members of the instance if it was the last of them.
    pub fn call(
        &mut self,
        series: Series,
        members: u64,
        member: Member,
        call: E,
    ) -> Option<Vec<(Member, E)>> {
        let instances = self.series.entry(series).or_default();
        let called = instances.called.entry(member).or_default();
        // Of one that is over all members have called it.
        let at = called.saturating_sub(instances.over);
        *called += 1;
        self.under_way += 1;
        self.most_under_way = self.most_under_way.max(self.under_way);
        if at >= IN_MEMORY {
            instances.ahead.entry(member).or_default().push(call, &self.spool);
            return None;
        }
        let called_by = instances.put(at, member, call);
        // All have called those before, too.
        if at > 0 || (called_by as u64) < members {
            return None;
        }
        let instance = instances.finish_first(&self.spool);
        self.under_way -= instance.as_ref().map_or(0, Vec::len);
        instance
    }

    /// The most members' parts that waited for others at once.
    pub fn most_under_way(&self) -> usize {
        self.most_under_way
    }

    /// Calls `each` with the parts of instances that some members never called.
    pub fn finish(self, mut each: impl FnMut(E)) {
        for mut instances in self.series.into_values() {
            instances.open.into_iter().flatten().for_each(|(_, one)| each(one));
            for line in instances.ahead.values_mut() {
                while let Some(one) = line.pop(&self.spool) {
                    each(one);
                }
            }
        }
    }
}

impl<E: Stored> Instances<E> {
    /// A member's part of an open instance; how many have called that.
    fn put(&mut self, at: u64, member: Member, call: E) -> usize {
        let at = at as usize;
        while self.open.len() <= at {
            self.open.push_back(Vec::new());
        }
        self.open[at].push((member, call));
        self.open[at].len()
    }

    fn finish_first(&mut self, spool: &Spool) -> Option<Vec<(Member, E)>> {
        self.over += 1;
        let first = self.open.pop_front();
        if !self.ahead.is_empty() {
            let mut next: Vec<(Member, E)> = Vec::new();
            self.ahead.retain(|&member, line| {
                next.extend(line.pop(spool).map(|call| (member, call)));
                !line.is_empty()
            });
            next.sort_unstable_by_key(|(member, _)| *member);
            for (member, call) in next {
                self.put(IN_MEMORY - 1, member, call);
            }
        }
        first
    }
}
