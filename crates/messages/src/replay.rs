//! A run replayed on an ideal network: no latency, unlimited bandwidth, and calls that cost nothing.
//!
//! Each process computes between its calls as long as it did. A call that completes a receive goes on when
//! the message's send has begun, a member of a collective when those have arrived that it depends on (all of
//! them, the root, all but the root, or lower ranks). A send waits for nobody, as if its data always found a
//! buffer. So what is left beside the longest computation are dependencies: the run's serialisation
//! (Dimemas replays traces in this way; OTF-CPT carries the same clock on messages).
//!
//! A call is replayed as soon as all that it depends on has been, so the clocks of processes decide nothing.
//! Where records contradict each other and nothing could go on, dependencies are dropped and counted.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::call::{CallId, Collective, Place};
use crate::waits::Times;

/// What calls depend on, of one run.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// By process: a call, and what it waits for.
    calls: Vec<Vec<(CallId, On)>>,
    instances: Vec<Instance>,
    /// By process: a call that arrives at an instance, which, and as which member.
    arrivals: Vec<Vec<(CallId, u32, u32)>>,
}

#[derive(Clone, Copy, Debug)]
enum On {
    /// The begin of this call.
    Call(Place),
    /// A collective, as this member of it.
    Member(u32, u32),
}

#[derive(Clone, Debug)]
struct Instance {
    kind: Collective,
    root: Option<u32>,
    /// When each member arrived in the replay, in the order of ranks.
    arrived_ns: Vec<Option<u64>>,
    /// Members that have not.
    missing: u32,
    last_ns: u64,
}

/// A member of a collective: the call that began its part, and the one that waited for it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its rank; those of an intercommunicator's second side are above all of the first.
    pub rank: u64,
    /// Whether it is the root.
    pub is_root: bool,
    /// Where it arrived.
    pub start: Place,
    /// The call that waited; None = none did.
    pub waited: Option<CallId>,
}

/// A process's part of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Time between its calls, ns.
    pub outside_ns: u64,
    /// When it reached its end, ns since its begin.
    pub ideal_ns: u64,
}

impl Dependencies {
    /// For so many processes.
    pub fn new(processes: usize) -> Dependencies {
        Dependencies {
            calls: vec![Vec::new(); processes],
            instances: Vec::new(),
            arrivals: vec![Vec::new(); processes],
        }
    }

    /// A message: the call that began to send it, and the one that completed its receive.
    pub fn message(&mut self, sent: Place, received: Place) {
        self.calls[received.0 as usize].push((received.1, On::Call(sent)));
    }

    /// A collective of which all members are known.
    pub fn collective(&mut self, kind: Collective, members: &[Member]) {
        let number = self.instances.len() as u32;
        let mut order: Vec<&Member> = members.iter().collect();
        order.sort_by_key(|member| member.rank);
        for (at, member) in (0_u32..).zip(&order) {
            self.arrivals[member.start.0 as usize].push((member.start.1, number, at));
            if let Some(call) = member.waited {
                self.calls[member.start.0 as usize].push((call, On::Member(number, at)));
            }
        }
        self.instances.push(Instance {
            kind,
            root: order.iter().position(|member| member.is_root).map(|at| at as u32),
            arrived_ns: vec![None; order.len()],
            missing: order.len() as u32,
            last_ns: 0,
        });
    }

    /// Replays the calls of all processes, which are given with the begins and ends of MPI in them: calls
    /// before and after these take no part. Also the number of dependencies that were dropped.
    pub fn replay(mut self, calls: &[(&[Times], std::ops::Range<usize>)]) -> (Vec<Replayed>, u64) {
        for of in &mut self.calls {
            of.sort_by_key(|&(call, _)| call);
        }
        for of in &mut self.arrivals {
            of.sort_unstable();
        }
        Replay::new(self, calls).run()
    }
}

/// Where a process is.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// Its next call.
    next: usize,
    /// Whether that has begun.
    has_begun: bool,
    clock_ns: u64,
    outside_ns: u64,
    /// The end of the last call as it was recorded.
    end_ns: u64,
    /// How far its dependencies and arrivals have been followed.
    dependency: usize,
    arrival: usize,
}

struct Replay<'c> {
    of: Dependencies,
    calls: &'c [(&'c [Times], std::ops::Range<usize>)],
    cursors: Vec<Cursor>,
    /// When each call began in the replay.
    begins_ns: Vec<Vec<u64>>,
    /// By process: its calls that others wait for, and who does. Few at a time.
    waiting_for_call: Vec<Vec<(CallId, usize)>>,
    waiting_for_instance: FxHashMap<u32, Vec<usize>>,
    ready: VecDeque<usize>,
    dropped: u64,
}

impl<'c> Replay<'c> {
    fn new(of: Dependencies, calls: &'c [(&'c [Times], std::ops::Range<usize>)]) -> Replay<'c> {
        let cursor = |(times, range): &(&[Times], std::ops::Range<usize>)| Cursor {
            next: range.start,
            end_ns: range.start.checked_sub(1).and_then(|at| times.get(at)).map_or(0, |call| call.end_ns),
            ..Cursor::default()
        };
        let cursors: Vec<Cursor> = calls.iter().map(cursor).collect();
        Replay {
            begins_ns: calls.iter().map(|(times, _)| vec![u64::MAX; times.len()]).collect(),
            ready: (0..cursors.len()).collect(),
            of,
            calls,
            cursors,
            waiting_for_call: vec![Vec::new(); calls.len()],
            waiting_for_instance: FxHashMap::default(),
            dropped: 0,
        }
    }

    fn run(mut self) -> (Vec<Replayed>, u64) {
        loop {
            while let Some(process) = self.ready.pop_front() {
                self.advance(process, false);
            }
            // What is left waits for each other, or for calls outside of what is replayed.
            let stuck = (0..self.cursors.len()).find(|&at| self.cursors[at].next < self.end(at));
            let Some(stuck) = stuck else { break };
            self.dropped += 1;
            self.advance(stuck, true);
        }
        let replayed = self.cursors.iter().zip(self.calls).map(|(cursor, (times, range))| {
            // Until the end of MPI begins.
            let end = times.get(range.end).filter(|_| range.end > 0);
            let left_ns = end.map_or(0, |end| end.begin_ns.saturating_sub(cursor.end_ns));
            Replayed { outside_ns: cursor.outside_ns + left_ns, ideal_ns: cursor.clock_ns + left_ns }
        });
        (replayed.collect(), self.dropped)
    }

    fn end(&self, process: usize) -> usize {
        self.calls[process].1.end.min(self.calls[process].0.len())
    }

    /// Replays calls of a process until one depends on what has not happened yet; if `drop`, its first such
    /// dependency is left out.
    fn advance(&mut self, process: usize, mut drop: bool) {
        while self.cursors[process].next < self.end(process) {
            let call = self.cursors[process].next;
            if !self.cursors[process].has_begun {
                self.begin(process, call);
            }
            loop {
                let at = self.cursors[process].dependency;
                let Some(&(of, on)) = self.of.calls[process].get(at) else { break };
                if of as usize > call {
                    break;
                }
                if of as usize == call {
                    match self.known_ns(on) {
                        Some(known_ns) => {
                            let cursor = &mut self.cursors[process];
                            cursor.clock_ns = cursor.clock_ns.max(known_ns);
                        }
                        None if drop => drop = false,
                        None => return self.wait(process, on),
                    }
                }
                self.cursors[process].dependency += 1;
            }
            let cursor = &mut self.cursors[process];
            cursor.end_ns = cursor.end_ns.max(self.calls[process].0[call].end_ns);
            (cursor.next, cursor.has_begun) = (call + 1, false);
        }
    }

    fn begin(&mut self, process: usize, call: usize) {
        let begin_ns = self.calls[process].0[call].begin_ns;
        let cursor = &mut self.cursors[process];
        // Nothing is known of the time before the first call.
        let between_ns = if call == 0 { 0 } else { begin_ns.saturating_sub(cursor.end_ns) };
        cursor.clock_ns += between_ns;
        cursor.outside_ns += between_ns;
        cursor.has_begun = true;
        let clock_ns = cursor.clock_ns;
        self.begins_ns[process][call] = clock_ns;
        let Replay { waiting_for_call, ready, .. } = self;
        let waiting = &mut waiting_for_call[process];
        if !waiting.is_empty() {
            ready.extend(waiting.extract_if(.., |(of, _)| *of as usize == call).map(|(_, waiting)| waiting));
        }
        while let Some(&(of, instance, at)) = self.of.arrivals[process].get(self.cursors[process].arrival) {
            if of as usize > call {
                break;
            }
            self.cursors[process].arrival += 1;
            self.arrive(instance, at, clock_ns);
        }
    }

    fn arrive(&mut self, number: u32, at: u32, clock_ns: u64) {
        let instance = &mut self.of.instances[number as usize];
        instance.arrived_ns[at as usize] = Some(clock_ns);
        instance.missing -= 1;
        instance.last_ns = instance.last_ns.max(clock_ns);
        if !self.waiting_for_instance.is_empty()
            && let Some(waiting) = self.waiting_for_instance.remove(&number)
        {
            self.ready.extend(waiting);
        }
    }

    /// When what a call depends on has happened; None = it has not yet.
    fn known_ns(&self, on: On) -> Option<u64> {
        match on {
            On::Call((process, call)) => {
                let begin_ns = *self.begins_ns[process as usize].get(call as usize)?;
                (begin_ns != u64::MAX).then_some(begin_ns)
            }
            On::Member(number, at) => {
                let instance = &self.of.instances[number as usize];
                let arrived = |members: &[Option<u64>]| {
                    members.iter().try_fold(0, |last, arrived| arrived.map(|ns| u64::max(last, ns)))
                };
                match instance.kind {
                    Collective::Barrier | Collective::AllToAll => {
                        (instance.missing == 0).then_some(instance.last_ns)
                    }
                    Collective::OneToAll => match instance.root {
                        Some(root) => instance.arrived_ns[root as usize],
                        None => Some(0),
                    },
                    Collective::AllToOne if instance.root == Some(at) => {
                        (instance.missing == 0).then_some(instance.last_ns)
                    }
                    Collective::Scan => arrived(&instance.arrived_ns[..at as usize]),
                    Collective::AllToOne | Collective::Loose | Collective::Neighbours => Some(0),
                }
            }
        }
    }

    fn wait(&mut self, process: usize, on: On) {
        match on {
            On::Call((of, call)) => {
                // A call of a process that is not known never begins.
                if let Some(waiting) = self.waiting_for_call.get_mut(of as usize) {
                    waiting.push((call, process));
                }
            }
            On::Member(number, _) => self.waiting_for_instance.entry(number).or_default().push(process),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(times: &[(u64, u64)]) -> Vec<Times> {
        times.iter().map(|&(begin_ns, end_ns)| Times { begin_ns, end_ns }).collect()
    }

    /// The first call of each process begins MPI, the last one ends it.
    fn replay(of: Dependencies, processes: &[Vec<Times>]) -> (Vec<(u64, u64)>, u64) {
        let calls: Vec<_> = processes.iter().map(|calls| (&calls[..], 1..calls.len() - 1)).collect();
        let (replayed, dropped) = of.replay(&calls);
        (replayed.iter().map(|one| (one.outside_ns, one.ideal_ns)).collect(), dropped)
    }

    #[test]
    fn receives_wait_for_the_begin_of_the_send() {
        // Rank 0 computes 100, sends for 50 and computes 10; rank 1 computes 20, receives, and computes 30.
        let processes = [calls(&[(0, 10), (110, 160), (170, 171)]), calls(&[(0, 10), (30, 165), (195, 196)])];
        let mut of = Dependencies::new(2);
        of.message((0, 1), (1, 1));
        assert_eq!(replay(of, &processes), (vec![(110, 110), (50, 130)], 0));
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
        assert_eq!(replay(of, &processes), (vec![(100, 100), (100, 200), (100, 300)], 0));
        let mut of = Dependencies::new(2);
        let member =
            |rank: u32| Member { rank: rank.into(), is_root: false, start: (rank, 1), waited: Some(1) };
        of.collective(Collective::AllToAll, &[member(0), member(1)]);
        let one = calls(&[(0, 0), (100, 150), (150, 151)]);
        assert_eq!(replay(of, &[one.clone(), one]), (vec![(100, 100), (100, 100)], 0));
    }

    /// Computation of 10, 20 and 30 before a collective, and none after it.
    fn collective(kind: Collective) -> Vec<u64> {
        let mut of = Dependencies::new(3);
        let member =
            |rank: u32| Member { rank: rank.into(), is_root: rank == 1, start: (rank, 1), waited: Some(1) };
        of.collective(kind, &[member(2), member(0), member(1)]);
        let one = |begin_ns| calls(&[(0, 0), (begin_ns, 40), (40, 41)]);
        replay(of, &[one(10), one(20), one(30)]).0.iter().map(|&(_, ideal_ns)| ideal_ns).collect()
    }

    #[test]
    fn members_wait_for_those_that_they_depend_on() {
        assert_eq!(collective(Collective::Barrier), [30, 30, 30]);
        assert_eq!(collective(Collective::OneToAll), [20, 20, 30]);
        assert_eq!(collective(Collective::AllToOne), [10, 30, 30]);
        assert_eq!(collective(Collective::Scan), [10, 20, 30]);
        assert_eq!(collective(Collective::Neighbours), [10, 20, 30]);
    }

    #[test]
    fn contradictions_are_dropped_and_do_not_hang() {
        // Each receives before it sends.
        let processes =
            [calls(&[(0, 0), (10, 20), (20, 30), (30, 31)]), calls(&[(0, 0), (10, 20), (20, 30), (30, 31)])];
        let mut of = Dependencies::new(2);
        of.message((0, 2), (1, 1));
        of.message((1, 2), (0, 1));
        assert_eq!(replay(of, &processes), (vec![(10, 10), (10, 10)], 1));
    }
}
