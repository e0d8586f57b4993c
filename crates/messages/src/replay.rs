//! A run replayed on an ideal network: no latency, unlimited bandwidth, and calls that cost nothing.
//!
//! Each process computes between its calls as long as it did. A call that completes a receive goes on when
//! the message's send has begun, a member of a collective when those have arrived that it depends on (all of
//! them, the root, all but the root, or lower ranks). A send waits for nobody, as if its data always found a
//! buffer. So what is left beside the longest computation are dependencies: the run's serialisation
//! (Dimemas replays traces in this way; OTF-CPT carries the same clock on messages).
//!
//! The calls of each process are read in order, and a process goes on as far as all that it depends on has
//! happened; of those that can go on the one that is earliest by the records is next. So in memory are
//! messages under way, and the clocks of processes decide nothing. Where records contradict each other and
//! nothing could go on, dependencies are dropped and counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use proust_streams::Spool;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::waits::Times;

mod instance;
mod sent;
mod step;

use instance::{Instance, gone_on};
use sent::Sent;
pub use step::{Arrival, Dependency, Step, steps};

/// So many calls of a process are replayed at once.
const AT_ONCE: usize = 16;

/// The calls of a process between its begin and its end of MPI.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part<S> {
    /// When the call before the first one ended; None = there was none, and nothing is known of the time
    /// before the first one.
    pub before_ns: Option<u64>,
    /// When the call after the last one began, if there was one.
    pub after_ns: Option<u64>,
    /// Its calls, in the order in which they ended.
    pub steps: S,
}

/// A process's part of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Time between its calls, ns.
    pub outside_ns: u64,
    /// When it reached its end, ns since its begin.
    pub ideal_ns: u64,
}

/// Replays the calls of all processes. Also the number of dependencies that were dropped. Messages of senders
/// that are far ahead go through the spool.
pub fn replay<S: Iterator<Item = Step>>(processes: Vec<Part<S>>, spool: &Spool) -> (Vec<Replayed>, u64) {
    Replay::new(processes, spool).run()
}

/// Where a process is.
struct Cursor<S> {
    part: Part<S>,
    /// Read, and to be done again.
    next: Option<Step>,
    /// When its call began, by the records.
    at_ns: u64,
    clock_ns: u64,
    outside_ns: u64,
    /// The last end of a call as it was recorded; None = nothing is known of the time before.
    end_ns: Option<u64>,
    is_over: bool,
}

struct Replay<S> {
    cursors: Vec<Cursor<S>>,
    sent: Sent,
    /// Who waits for which message.
    waiting: FxHashMap<u64, usize>,
    /// Messages that nobody waits for any more.
    dropped_messages: FxHashSet<u64>,
    instances: FxHashMap<u64, Instance>,
    /// Those that can go on, by the records' time.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    dropped: u64,
}

impl<S: Iterator<Item = Step>> Replay<S> {
    fn new(processes: Vec<Part<S>>, spool: &Spool) -> Replay<S> {
        let cursor = |part: Part<S>| Cursor {
            end_ns: part.before_ns,
            part,
            next: None,
            at_ns: 0,
            clock_ns: 0,
            outside_ns: 0,
            is_over: false,
        };
        let cursors: Vec<Cursor<S>> = processes.into_iter().map(cursor).collect();
        Replay {
            ready: (0..cursors.len()).map(|process| Reverse((0, process))).collect(),
            cursors,
            sent: Sent::new(spool),
            waiting: FxHashMap::default(),
            dropped_messages: FxHashSet::default(),
            instances: FxHashMap::default(),
            dropped: 0,
        }
    }

    fn run(mut self) -> (Vec<Replayed>, u64) {
        loop {
            while let Some(Reverse((_, process))) = self.ready.pop() {
                self.advance(process);
            }
            // What is left waits for each other, or for calls outside of what is replayed.
            let Some(stuck) = (0..self.cursors.len()).find(|&at| !self.cursors[at].is_over) else { break };
            self.drop_dependency(stuck);
            self.advance(stuck);
        }
        let replayed = self.cursors.iter().map(|cursor| {
            // Until the end of MPI begins.
            let left = cursor.part.after_ns.zip(cursor.end_ns);
            let left_ns = left.map_or(0, |(after_ns, end_ns)| after_ns.saturating_sub(end_ns));
            Replayed { outside_ns: cursor.outside_ns + left_ns, ideal_ns: cursor.clock_ns + left_ns }
        });
        (replayed.collect(), self.dropped)
    }

    /// The next step of a process waits for nobody.
    fn drop_dependency(&mut self, process: usize) {
        self.dropped += 1;
        match self.cursors[process].next.take() {
            Some(Step::Depends(Dependency::Takes(message))) => {
                self.waiting.remove(&message);
                self.dropped_messages.insert(message);
            }
            Some(Step::Depends(Dependency::Meets { number, .. })) => {
                if let Entry::Occupied(mut instance) = self.instances.entry(number) {
                    instance.get_mut().waiting.retain(|&waiting| waiting != process);
                    gone_on(instance);
                }
            }
            other => self.cursors[process].next = other,
        }
    }

    /// Replays calls of a process until one depends on what has not happened yet, or another process is next.
    fn advance(&mut self, process: usize) {
        let mut calls = 0;
        loop {
            let cursor = &mut self.cursors[process];
            let Some(step) = cursor.next.take().or_else(|| cursor.part.steps.next()) else {
                cursor.is_over = true;
                return;
            };
            let is_done = match step {
                Step::Call(times) if calls == AT_ONCE => {
                    cursor.next = Some(step);
                    return self.ready.push(Reverse((times.begin_ns, process)));
                }
                Step::Call(times) => {
                    calls += 1;
                    cursor.begin(times);
                    true
                }
                Step::Depends(Dependency::Sends(message)) => {
                    let clock_ns = cursor.clock_ns;
                    self.send(message, clock_ns);
                    true
                }
                Step::Depends(Dependency::Arrives(arrival)) => {
                    let clock_ns = cursor.clock_ns;
                    self.arrive(&arrival, clock_ns);
                    true
                }
                Step::Depends(Dependency::Takes(message)) => self.take(process, message),
                Step::Depends(Dependency::Meets { number, member }) => self.meet(process, number, member),
            };
            if !is_done {
                self.cursors[process].next = Some(step);
                return;
            }
        }
    }

    fn wake(&mut self, process: usize) {
        self.ready.push(Reverse((self.cursors[process].at_ns, process)));
    }

    fn send(&mut self, message: u64, clock_ns: u64) {
        if !self.dropped_messages.is_empty() && self.dropped_messages.remove(&message) {
            return;
        }
        self.sent.insert(message, clock_ns);
        if !self.waiting.is_empty()
            && let Some(waiting) = self.waiting.remove(&message)
        {
            self.wake(waiting);
        }
    }

    /// Whether the message has been sent; if not, the process waits for that.
    fn take(&mut self, process: usize, message: u64) -> bool {
        match self.sent.remove(message) {
            Some(sent_ns) => {
                let cursor = &mut self.cursors[process];
                cursor.clock_ns = cursor.clock_ns.max(sent_ns);
                true
            }
            None => {
                self.waiting.insert(message, process);
                false
            }
        }
    }

    fn arrive(&mut self, arrival: &Arrival, clock_ns: u64) {
        let instance = self.instances.entry(arrival.number).or_insert_with(|| Instance::of(arrival));
        instance.missing = instance.missing.saturating_sub(1);
        instance.last_ns = instance.last_ns.max(clock_ns);
        if let Some(arrived_ns) = instance.arrived_ns.get_mut(arrival.member as usize) {
            *arrived_ns = Some(clock_ns);
        }
        if arrival.is_root {
            instance.root_ns = Some(clock_ns);
        }
        for waiting in std::mem::take(&mut instance.waiting) {
            self.wake(waiting);
        }
    }

    /// Whether those have arrived that the member depends on; if not, the process waits for that.
    fn meet(&mut self, process: usize, number: u64, member: u32) -> bool {
        let Entry::Occupied(mut instance) = self.instances.entry(number) else {
            // It never arrived itself.
            return true;
        };
        match instance.get().known_ns(member) {
            Some(known_ns) => {
                gone_on(instance);
                let cursor = &mut self.cursors[process];
                cursor.clock_ns = cursor.clock_ns.max(known_ns);
                true
            }
            None => {
                instance.get_mut().waiting.push(process);
                false
            }
        }
    }
}

impl<S> Cursor<S> {
    fn begin(&mut self, Times { begin_ns, end_ns }: Times) {
        let between_ns = self.end_ns.map_or(0, |end_ns| begin_ns.saturating_sub(end_ns));
        self.clock_ns += between_ns;
        self.outside_ns += between_ns;
        self.end_ns = self.end_ns.max(Some(end_ns));
        self.at_ns = begin_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{CallId, Collective};

    fn calls(times: &[(u64, u64)]) -> Vec<Times> {
        times.iter().map(|&(begin_ns, end_ns)| Times { begin_ns, end_ns }).collect()
    }

    /// The first call of each process begins MPI, the last one ends it.
    fn replayed(of: Dependencies, processes: &[Vec<Times>]) -> (Vec<(u64, u64)>, u64) {
        let part = |(calls, of): (&Vec<Times>, &Vec<_>)| {
            let range = 1..calls.len() - 1;
            let steps: Vec<Step> = steps(calls, of, range.clone()).collect();
            let (before, after) = (calls[0], calls[range.end]);
            Part { before_ns: Some(before.end_ns), after_ns: Some(after.begin_ns), steps: steps.into_iter() }
        };
        let parts = processes.iter().zip(&of.calls).map(part).collect();
        let (replayed, dropped) = replay(parts, &Spool::default());
        (replayed.iter().map(|one| (one.outside_ns, one.ideal_ns)).collect(), dropped)
    }

    /// By process.
    struct Dependencies {
        calls: Vec<Vec<(CallId, Dependency)>>,
        numbered: u64,
    }

    impl Dependencies {
        fn new(processes: usize) -> Dependencies {
            Dependencies { calls: vec![Vec::new(); processes], numbered: 0 }
        }

        fn message(&mut self, sent: (usize, CallId), received: (usize, CallId)) {
            self.calls[received.0].push((received.1, Dependency::Takes(self.numbered)));
            self.calls[sent.0].push((sent.1, Dependency::Sends(self.numbered)));
            self.numbered += 1;
        }

        /// The second call of each process.
        fn collective(&mut self, kind: Collective, root: u32) {
            let (number, members) = (self.numbered, self.calls.len() as u32);
            for (member, calls) in (0..).zip(&mut self.calls) {
                let is_root = member == root;
                let (waits, depending) = match kind {
                    Collective::AllToOne => (is_root, 1),
                    Collective::OneToAll => (!is_root, members - 1),
                    _ => (true, members),
                };
                let arrival = Arrival { number, kind, is_root, members, depending, member };
                calls.push((1, Dependency::Arrives(arrival)));
                if waits {
                    calls.push((1, Dependency::Meets { number, member }));
                }
            }
            self.numbered += 1;
        }
    }

    #[test]
    fn receives_wait_for_the_begin_of_the_send() {
        // Rank 0 computes 100, sends for 50 and computes 10; rank 1 computes 20, receives, and computes 30.
        let processes = [calls(&[(0, 10), (110, 160), (170, 171)]), calls(&[(0, 10), (30, 165), (195, 196)])];
        let mut of = Dependencies::new(2);
        of.message((0, 1), (1, 1));
        assert_eq!(replayed(of, &processes), (vec![(110, 110), (50, 130)], 0));
    }

    #[test]
    fn a_pipeline_is_serial_and_a_balanced_run_is_not() {
        // Each computes 100 when it has got the message of the one before it.
        let mut of = Dependencies::new(3);
        of.message((0, 1), (1, 1));
        of.message((1, 2), (2, 1));
        let processes = [
            calls(&[(0, 0), (100, 101), (101, 102)]),
            calls(&[(0, 0), (0, 101), (201, 202), (202, 203)]),
            calls(&[(0, 0), (0, 202), (302, 303)]),
        ];
        assert_eq!(replayed(of, &processes), (vec![(100, 100), (100, 200), (100, 300)], 0));
        let mut of = Dependencies::new(2);
        of.collective(Collective::AllToAll, 0);
        let one = calls(&[(0, 0), (100, 150), (150, 151)]);
        assert_eq!(replayed(of, &[one.clone(), one]), (vec![(100, 100), (100, 100)], 0));
    }

    /// Computation of 10, 20 and 30 before a collective, and none after it.
    fn collective(kind: Collective) -> Vec<u64> {
        let mut of = Dependencies::new(3);
        of.collective(kind, 1);
        let one = |begin_ns| calls(&[(0, 0), (begin_ns, 40), (40, 41)]);
        replayed(of, &[one(10), one(20), one(30)]).0.iter().map(|&(_, ideal_ns)| ideal_ns).collect()
    }

    #[test]
    fn members_wait_for_those_that_they_depend_on() {
        assert_eq!(collective(Collective::Barrier), [30, 30, 30]);
        assert_eq!(collective(Collective::OneToAll), [20, 20, 30]);
        assert_eq!(collective(Collective::AllToOne), [10, 30, 30]);
        assert_eq!(collective(Collective::Scan), [10, 20, 30]);
        assert_eq!(collective(Collective::Neighbours), [10, 20, 30]);
    }

    /// Recording began late: all that is known of a process is that it ended.
    #[test]
    fn where_nothing_is_known_before_the_end_no_time_is_counted() {
        let part = Part { before_ns: None, after_ns: Some(500), steps: std::iter::empty() };
        assert_eq!(replay(vec![part], &Spool::default()), (vec![Replayed::default()], 0));
    }

    #[test]
    fn contradictions_are_dropped_and_do_not_hang() {
        // Each receives before it sends.
        let processes =
            [calls(&[(0, 0), (10, 20), (20, 30), (30, 31)]), calls(&[(0, 0), (10, 20), (20, 30), (30, 31)])];
        let mut of = Dependencies::new(2);
        of.message((0, 2), (1, 1));
        of.message((1, 2), (0, 1));
        assert_eq!(replayed(of, &processes), (vec![(10, 10), (10, 10)], 1));
    }
}
