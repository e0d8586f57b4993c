//! A thread of such a run: what it does in each turn, its records, and its part of the answer.

use std::collections::{HashMap, hash_map};
use std::io::{self, Write};

use proust_log::operations::Operation;
use proust_log::records::{
    Event, Execution, Interval, NO_NUMBER, Release, Sample, Subject, ThreadBegin, ThreadEnd, ThreadOrigin,
};

use super::{Answer, CALLEES, CODE, FUNCTION_BYTES, Kind, START_NS, Spent, Waits, interval};
use crate::synthetic::LaneBuilder;

/// Computation from one sample to the next, ns.
const SAMPLE_NS: u64 = 5_000_000;
/// Turns in which a thread calls from the same functions, and how many these are.
const PHASE: u64 = 512;
const AT_ONCE: u64 = 40;
/// Turns of an execution of the innermost interval, and of how many each one around it consists.
const EXECUTION: u64 = 512;
const EXECUTIONS: u64 = 4;
/// So many functions of a thread use the same lock, and as many of each other thread of the process.
const OF_LOCK: u32 = 4;

pub(super) struct Thread<'w> {
    of: &'w Waits,
    location: u32,
    tid: u32,
    /// Number of its first interval in its process.
    first_interval: u32,
    turns: u64,
}

/// What a thread does in a turn.
struct Turn {
    begin_ns: u64,
    wait_ns: (u64, u64),
    end_ns: u64,
    kind: Kind,
    object: u64,
    function: u32,
    /// The release of the lock is recorded.
    is_released: bool,
}

/// Any number, by others (splitmix64).
fn any(numbers: [u64; 3]) -> u64 {
    numbers.into_iter().fold(0, |state, number| {
        let mut z = (state ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}

impl<'w> Thread<'w> {
    pub fn of(of: &'w Waits, location: u32, tid: u32, number: u32, turns: u64) -> Thread<'w> {
        Thread { of, location, tid, first_interval: 1 + number * of.nesting, turns }
    }

    fn turn(&self, number: u64, wall_ns: u64) -> Turn {
        let at = |turn: u64| (u128::from(wall_ns) * u128::from(turn) / u128::from(self.turns)) as u64;
        let (begin_ns, end_ns) = (at(number), at(number + 1));
        let length_ns = end_ns - begin_ns;
        let chance = any([self.of.seed, self.location.into(), number]);
        let part_ns = |bits: u64| length_ns * (64 + bits % 64) / 512;
        let before_ns = match chance & 63 {
            0 => 0,
            _ => part_ns(chance >> 6),
        };
        let length_ns = match chance >> 12 & 63 {
            0 => 0,
            _ => length_ns / 4 + part_ns(chance >> 18),
        };
        let functions = self.of.functions(self.location);
        let function = |at_once: u64| {
            let from = number / PHASE * AT_ONCE + at_once;
            functions.start + (from % u64::from(functions.end - functions.start)) as u32
        };
        // Of barriers and conditions a program has fewer places than of locks.
        let first = function(0);
        let locks = function((chance >> 36) % AT_ONCE);
        let (kind, object, function) = match chance >> 24 & 15 {
            0..12 => (Kind::Lock, 0x1000 + u64::from((locks - functions.start) / OF_LOCK) * 64, locks),
            12 | 13 => (Kind::Barrier, 0x100, first),
            _ => (Kind::Condition, 0x200, first),
        };
        let wait_begin_ns = begin_ns + before_ns;
        Turn {
            begin_ns,
            wait_ns: (wait_begin_ns, wait_begin_ns + length_ns),
            end_ns,
            kind,
            object,
            function,
            is_released: kind == Kind::Lock && (chance >> 48).is_multiple_of(self.of.released.into()),
        }
    }

    /// Writes all of it but what is left in the lane.
    pub fn write(
        &self,
        lane: &mut LaneBuilder,
        to: &mut impl Write,
        answer: &mut Answer,
    ) -> io::Result<Spent> {
        let mut nodes = Nodes::default();
        let (mut spent, mut sampled_ns) = (Spent::default(), 0);
        let first = nodes.node(self.turn(0, answer.wall_ns).function, lane);
        begin(lane, self.tid, first);
        self.describe_intervals(lane);
        let innermost = if self.of.nesting > 0 { self.first_interval + self.of.nesting - 1 } else { 0 };
        let mut sampled = self.turn(0, answer.wall_ns).function;
        let mut begins_ns = vec![START_NS; self.of.nesting as usize];
        for number in 0..self.turns {
            let turn = self.turn(number, answer.wall_ns);
            let node = nodes.node(turn.function, lane);
            let by_function = answer.functions.entry(turn.function).or_default();
            let (begin_ns, end_ns) = turn.wait_ns;
            spent.computed_ns += begin_ns - turn.begin_ns;
            for of in [&mut spent, &mut *by_function] {
                of.wait(turn.kind, end_ns - begin_ns);
                of.releases += u64::from(turn.is_released);
            }
            let event = Event {
                begin_ns: START_NS + begin_ns,
                end_ns: START_NS + end_ns,
                object: turn.object,
                node,
                interval: innermost,
                ..Event::default()
            };
            lane.push_shaped(operation(turn.kind) as u16, 0, &event);
            let after_ns = turn.end_ns - end_ns;
            if turn.is_released {
                let release = Release {
                    time_ns: START_NS + end_ns + after_ns / 4,
                    object: turn.object,
                    held_ns: after_ns / 4,
                    weight_ns: after_ns / 4 * u64::from(self.of.released),
                    since_ns: START_NS + end_ns,
                    node,
                    interval: innermost,
                    ..Release::default()
                };
                lane.push_shaped(Operation::MutexUnlock as u16, 0, &release);
            }
            if spent.computed_ns - sampled_ns >= SAMPLE_NS {
                spent.computed_ns += after_ns / 2;
                by_function.computed_ns += spent.computed_ns - sampled_ns;
                for of in [&mut spent, by_function] {
                    of.samples += 1;
                }
                let sample = Sample {
                    time_ns: START_NS + end_ns + after_ns / 2,
                    cpu_ns: spent.computed_ns,
                    node,
                    interval: innermost,
                    user_us: ((spent.computed_ns - sampled_ns) / 1000) as u32,
                    ..Sample::default()
                };
                lane.push(0, &sample);
                (sampled, sampled_ns) = (turn.function, spent.computed_ns);
                spent.computed_ns += after_ns - after_ns / 2;
            } else {
                spent.computed_ns += after_ns;
            }
            self.end_executions(number + 1, turn.end_ns, &mut begins_ns, lane, answer);
            if number.is_multiple_of(256) {
                lane.write_full_chunks(to)?;
            }
        }
        // Charged as the last sample was.
        let tail_ns = spent.computed_ns - sampled_ns;
        answer.functions.entry(sampled).or_default().computed_ns += tail_ns;
        end(lane, self.tid, answer.wall_ns, spent.computed_ns, tail_ns);
        lane.write_full_chunks(to)?;
        Ok(spent)
    }

    fn describe_intervals(&self, lane: &mut LaneBuilder) {
        for around in 0..self.of.nesting {
            let id = self.first_interval + around;
            lane.text(Subject::IntervalName, id, interval(around));
            lane.text(Subject::IntervalFile, id, "synthetic.c");
            let parent = if around > 0 { id - 1 } else { 0 };
            let begun = Interval { id, parent, number: NO_NUMBER, line: 1 + around, ..Interval::default() };
            lane.push_head(0, 1, &begun);
        }
    }

    /// Ends the executions that end behind so many turns, the inner ones first, and begins the next ones.
    fn end_executions(
        &self,
        turns: u64,
        now_ns: u64,
        begins_ns: &mut [u64],
        lane: &mut LaneBuilder,
        answer: &mut Answer,
    ) {
        let mut length = EXECUTION;
        for around in (0..self.of.nesting).rev() {
            if !turns.is_multiple_of(length) && turns != self.turns {
                break;
            }
            length *= EXECUTIONS;
            let begin_ns = std::mem::replace(&mut begins_ns[around as usize], START_NS + now_ns);
            let interval = self.first_interval + around;
            let end_ns = START_NS + now_ns;
            lane.push_shaped(0, 0, &Execution { begin_ns, end_ns, interval, ..Execution::default() });
            let executed = answer.intervals.entry(around).or_default();
            executed.executions += 1;
            executed.ns += end_ns - begin_ns;
        }
    }
}

fn operation(kind: Kind) -> Operation {
    match kind {
        Kind::Lock => Operation::MutexLock,
        Kind::Barrier => Operation::Barrier,
        Kind::Condition => Operation::ConditionWait,
    }
}

fn begin(lane: &mut LaneBuilder, tid: u32, start_node: u32) {
    let begin = ThreadBegin { time_ns: START_NS, tid, start_node, ..ThreadBegin::default() };
    lane.push(ThreadOrigin::Created as u16, &begin);
}

fn end(lane: &mut LaneBuilder, tid: u32, wall_ns: u64, cpu_ns: u64, tail_ns: u64) {
    let user_us = (tail_ns / 1000) as u32;
    let end = ThreadEnd { time_ns: START_NS + wall_ns, cpu_ns, tid, user_us, ..ThreadEnd::default() };
    lane.push(0, &end);
}

/// A thread that waits for a lock as long as the run, in the first function.
pub(super) fn write_longest(lane: &mut LaneBuilder, tid: u32, answer: &mut Answer) -> Spent {
    let node = Nodes::default().node(1, lane);
    begin(lane, tid, node);
    let (begin_ns, end_ns) = (START_NS, START_NS + answer.wall_ns);
    let event = Event { begin_ns, end_ns, object: 0x1000, node, ..Event::default() };
    lane.push_shaped(Operation::MutexLock as u16, 0, &event);
    end(lane, tid, answer.wall_ns, 0, 0);
    let mut spent = Spent::default();
    for of in [&mut spent, answer.functions.entry(1).or_default()] {
        of.wait(Kind::Lock, answer.wall_ns);
    }
    spent
}

/// The nodes that a lane has: functions with their callers.
#[derive(Default)]
struct Nodes(HashMap<u32, u32>);

impl Nodes {
    /// The node of a function, which is written if it is new.
    fn node(&mut self, function: u32, lane: &mut LaneBuilder) -> u32 {
        if function == 0 {
            return 0;
        }
        if let Some(&known) = self.0.get(&function) {
            return known;
        }
        let parent = self.node(function / CALLEES, lane);
        let id = self.0.len() as u32 + 1;
        let hash_map::Entry::Vacant(place) = self.0.entry(function) else { return id };
        place.insert(id);
        lane.node(id, parent, 0, CODE + u64::from(function) * FUNCTION_BYTES + 5);
        id
    }
}
