//! Marked intervals as a lane records them, and what its threads executed.

use std::ops::RangeInclusive;

use proust_log::layout::LaneHeader;
use proust_log::records::{EXECUTION_OPEN, Execution, ExecutionSum, Interval, IntervalKind, Unmatched};

/// No end yet: it lasts as long as anything is known of its process.
const NO_END: u64 = u64::MAX;

/// An interval as its lane records it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawInterval {
    /// The process's number.
    pub(super) id: u32,
    /// Number of the interval of its thread around it; 0 = none.
    pub(super) parent: u32,
    /// Node of the lane: the call of the mark; 0 = not known.
    pub(super) node: u32,
    /// Number of the parallel region in which it was begun; 0 = none.
    pub(super) region: u32,
    pub(super) kind: IntervalKind,
    pub(super) number: i64,
    pub(super) line: u32,
    pub(super) degree: u32,
}

impl RawInterval {
    pub(super) fn new(kind: u16, interval: &Interval) -> RawInterval {
        RawInterval {
            id: interval.id,
            // One begins after those around it; anything else could make a path without end.
            parent: if interval.parent < interval.id { interval.parent } else { 0 },
            node: interval.node.min(i32::MAX as u32),
            region: interval.region,
            kind: IntervalKind::from_number(kind),
            number: interval.number,
            line: interval.line,
            degree: interval.degree,
        }
    }
}

impl RawInterval {
    /// A mark that ends nothing, as far as its place is concerned.
    pub(super) fn of_unmatched(mark: &Unmatched) -> RawInterval {
        let interval = Interval {
            id: mark.id,
            node: mark.node,
            number: mark.number,
            line: mark.line,
            ..Interval::default()
        };
        RawInterval::new(IntervalKind::Plain as u16, &interval)
    }
}

/// What one thread executed.
#[derive(Debug, Default)]
pub(super) struct Executed {
    /// First their flags.
    pub(super) executions: Vec<(u16, Execution)>,
    pub(super) sums: Vec<ExecutionSum>,
    pub(super) unmatched: Vec<Unmatched>,
}

impl Executed {
    /// Takes an execution; false if it contradicts itself or the thread.
    pub(super) fn execution(
        &mut self,
        flags: u16,
        execution: &Execution,
        within: &RangeInclusive<u64>,
    ) -> bool {
        let Execution { begin_ns, end_ns, .. } = *execution;
        if begin_ns > end_ns || !within.contains(&end_ns) {
            return false;
        }
        let begin_ns = begin_ns.max(*within.start());
        self.executions.push((flags, Execution { begin_ns, ..*execution }));
        true
    }

    /// Takes a sum; false if it contradicts itself or the thread.
    pub(super) fn sum(&mut self, sum: &ExecutionSum, within: &RangeInclusive<u64>) -> bool {
        let ordered = sum.since_ns <= sum.until_ns
            && within.contains(&sum.until_ns)
            && sum.min_ns <= sum.max_ns
            && sum.executions > 0;
        if ordered {
            let ns = sum.ns.min(i64::MAX as u64);
            self.sums.push(ExecutionSum { since_ns: sum.since_ns.max(*within.start()), ns, ..*sum });
        }
        ordered
    }

    pub(super) fn unmatched(&mut self, unmatched: &Unmatched) {
        self.unmatched.push(*unmatched);
    }

    /// The intervals that the thread was in when its record ended without a last record.
    pub(super) fn open(
        &mut self,
        header: &LaneHeader,
        intervals: &[RawInterval],
        within: &RangeInclusive<u64>,
    ) {
        let mut around = Vec::new();
        let mut id = header.interval;
        while id != 0
            && let Some(interval) = intervals.iter().find(|interval| interval.id == id)
        {
            around.push(id);
            id = interval.parent;
        }
        around.reverse();
        let mut begin_ns = *within.start();
        for (level, interval) in around.into_iter().enumerate() {
            // Of the innermost ones the begin is not kept: not before those around them.
            if let Some(&said_ns) = header.interval_begins_ns.get(level) {
                begin_ns = said_ns.clamp(begin_ns, (*within.end()).max(begin_ns));
            }
            let execution = Execution { begin_ns, end_ns: NO_END, interval, ..Execution::default() };
            self.executions.push((EXECUTION_OPEN, execution));
        }
    }

    /// The executions that have no end yet end here.
    pub(super) fn last_until(&mut self, end_ns: u64) {
        for (_, execution) in &mut self.executions {
            if execution.end_ns == NO_END {
                execution.end_ns = end_ns.max(execution.begin_ns);
            }
        }
    }

    /// Without what was executed wholly within one of these stretches.
    pub(super) fn cut(&mut self, pauses: &[(u64, u64)]) {
        let is_kept = |begin_ns: u64, end_ns: u64| {
            !pauses.iter().any(|&(from_ns, to_ns)| from_ns <= begin_ns && end_ns <= to_ns)
        };
        self.executions.retain(|(_, execution)| is_kept(execution.begin_ns, execution.end_ns));
        self.sums.retain(|sum| is_kept(sum.since_ns, sum.until_ns));
    }
}
