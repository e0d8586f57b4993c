//! Each thread's state of marks, for the thread that has taken its record.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::records::{EXECUTION_OPEN, NoteCode};

use super::definitions::Definitions;
use super::executions::{self, Rate};
use super::mark::{Name, pop};
use super::open::Open;
use super::unmatched::Unmatched;
use crate::arena::Lazily;
use crate::control;
use crate::lane::Record;
use crate::operation::known_paths::{FewPaths, Keeps};
use crate::operation::rehearsal::hook_ns;
use crate::path::memo::{Memo, State};
use crate::path::tree::NodeId;

/// Sums are written this often, so that a killed process loses little of them.
const WRITTEN_EVERY_NS: u64 = 500_000_000;

/// Marks that were not followed, in the whole process.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// A mark is not followed.
#[cold]
pub fn miss() {
    MISSED.fetch_add(1, Ordering::Relaxed);
}

/// The part of a record that marks use. A thread without marks has only this.
#[derive(Debug, Default)]
pub struct Owned {
    of_thread: Lazily<OfThread>,
    interval: u32,
    paused_before_ns: u64,
}

/// What a thread with marks has.
#[derive(Debug, Default)]
pub struct OfThread {
    /// The intervals that it is in.
    pub open: Open,
    /// Those that it was ever in.
    pub definitions: Definitions,
    /// Call paths of marks.
    pub paths: Paths,
    /// How many of the call paths that are not known it may look for.
    pub allowance: Allowance,
    /// How often it marks.
    pub rate: Rate,
    /// Marks that end nothing.
    pub unmatched: Unmatched,
    /// Marks since their cost was last added up.
    pub marks: u64,
    /// When sums were last written.
    pub written_ns: u64,
}

impl Owned {
    /// Number of the innermost interval; 0 = none.
    #[inline]
    pub fn interval(&self) -> u32 {
        self.interval
    }

    /// Sets that number, for records from now on.
    #[inline]
    pub fn set_interval(&mut self, interval: u32) {
        self.interval = interval;
    }

    /// How long the process had been paused when the thread began, ns.
    pub fn paused_before(&self) -> u64 {
        self.paused_before_ns
    }

    /// What the thread has, if it ever marked anything.
    #[inline]
    pub fn of_thread(&mut self) -> Option<&mut OfThread> {
        self.of_thread.get()
    }

    /// Whether there is memory for marks.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.of_thread.get().is_some()
    }

    /// Takes memory for marks.
    pub fn make(&mut self) {
        self.of_thread.get_or_make(OfThread::default);
    }

    /// A thread begins.
    pub fn begin(&mut self) {
        self.interval = 0;
        self.paused_before_ns = control::paused_ns();
        if let Some(of_thread) = self.of_thread.get() {
            of_thread.open.forget();
            of_thread.paths.forget();
            of_thread.unmatched.forget();
            of_thread.rate = Rate::default();
        }
    }

    /// Marks of the process that were not followed, once.
    pub fn missed(&self) -> u64 {
        MISSED.swap(0, Ordering::Relaxed)
    }
}

/// Call paths of marks, by name: programs have more places with marks than with locks.
#[derive(Debug, Default)]
pub struct Paths([FewPaths; 8]);

impl Paths {
    fn of(&self, name: Name) -> &FewPaths {
        &self.0[(name.number() >> 61) as usize]
    }

    /// The node of the path that begins at `state`; 0 = not known.
    #[inline]
    pub fn find(&self, state: &State, name: Name) -> NodeId {
        self.of(name).find(state)
    }

    /// Notes the path that `memo` has just found for `state`.
    pub fn keep(&self, state: &State, name: Name, node: NodeId, memo: &Memo) {
        self.of(name).keep(state, node, memo);
    }

    fn forget(&self) {
        self.0.iter().for_each(FewPaths::forget);
    }
}

/// A thread whose marks are on ever new call paths looks for this many of them at once, and after that for
/// one in so much time: other marks are those of the newest path.
#[derive(Debug)]
pub struct Allowance {
    left: u32,
    since_ns: u64,
}

const AT_ONCE: u32 = 1024;
const EACH_NS: u64 = 20_000;

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { left: AT_ONCE, since_ns: 0 }
    }
}

impl Allowance {
    /// Whether it may look for one at `now_ns`.
    pub fn takes(&mut self, now_ns: u64) -> bool {
        let more = now_ns.saturating_sub(self.since_ns) / EACH_NS;
        if more > 0 {
            self.left = self.left.saturating_add(more.min(AT_ONCE.into()) as u32).min(AT_ONCE);
            self.since_ns = now_ns;
        }
        let may = self.left > 0;
        self.left -= u32::from(may);
        may
    }
}

/// Writes what was summed up.
pub fn settle(record: &mut Record) {
    let Record { marks, output, .. } = record;
    let Some(of_thread) = marks.of_thread() else { return };
    executions::write_sums(&mut of_thread.definitions, output);
    of_thread.unmatched.write(output);
    let count = core::mem::take(&mut of_thread.marks);
    let not_recorded = [
        (NoteCode::IntervalsTooDeep, of_thread.open.take_too_deep()),
        (NoteCode::IntervalsTooMany, of_thread.definitions.take_too_many()),
    ];
    if count > 0 {
        record.spent(count * hook_ns());
    }
    for (code, executions) in not_recorded.into_iter().filter(|&(_, executions)| executions > 0) {
        record.note(code, executions);
    }
}

/// The same, if that was not done for some time.
pub fn write_now_and_then(record: &mut Record, time_ns: u64) {
    let Some(of_thread) = record.marks.of_thread() else { return };
    if time_ns.saturating_sub(of_thread.written_ns) >= WRITTEN_EVERY_NS {
        of_thread.written_ns = time_ns;
        settle(record);
    }
}

/// The thread's record ends: so do the intervals that it is in.
pub fn leave_all(record: &mut Record, end_ns: u64) {
    while let Some(done) = pop(record, end_ns, EXECUTION_OPEN) {
        if done.is_followed() {
            executions::write(record, &done);
        }
    }
    record.output.header(|header| header.interval = 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_new_paths_is_looked_for_and_then_some() {
        let mut allowance = Allowance::default();
        let begin_ns = 1_000_000_000;
        let taken = (0..10_000).filter(|_| allowance.takes(begin_ns)).count();
        assert_eq!(taken, AT_ONCE as usize);
        let later = (0..10_000_u64).filter(|at| allowance.takes(begin_ns + at * 1_000)).count();
        assert!((490..=500).contains(&later), "{later}");
    }
}
