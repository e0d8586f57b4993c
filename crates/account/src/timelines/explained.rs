//! The explanation of the time in each gap.
//!
//! Processor time goes to the time outside operations first; only the part without room there was spent
//! inside them. Time off the processor outside operations is explained by sums of short ones as far as it
//! goes, then by the run queue; the rest is not explained.

use std::ops::Range;

use proust_profile::samples::NOT_READ;
use proust_profile::{ContextId, Location, SampleRow, Spool};

use super::faults::FaultCost;
use super::gaps::Gap;
use super::operations::{Operations, Short, Single};
use super::parts::{Part, Parts, PartsWriter};
use super::room::{Room, Turn};
use super::shares::{Claim, Spread, by_room, by_weight};
use super::states::{Class, TIERS};
use crate::ledger::{State, Work};

/// The part of a gap that short operations explain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) state: State,
    pub(super) context: ContextId,
    pub(super) time_ns: u64,
}

/// A gap, and the explanation of the time outside the operations that were recorded by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explained {
    pub(super) gap: Gap,
    /// Of its parts of operations those in which the thread lets others go first, off the processor.
    yielded_ns: u64,
    /// Its shares of short operations end here in [`Explanation::shares`].
    pub(super) shares_end: usize,
    /// Taken to be on the processor in short operations that may as well have blocked: those that poll for a
    /// while, and I/O.
    pub(super) perhaps_blocked_ns: u64,
    /// On the processor and in no operation; `measurement_ns` and `fault_ns` are parts of it.
    pub(super) compute_ns: u64,
    pub(super) measurement_ns: u64,
    pub(super) fault_ns: u64,
    /// Off the processor for no known reason; `queued_ns` is the part of it in the run queue, `stopped_ns`
    /// that in which the process was stopped.
    pub(super) unexplained_ns: u64,
    pub(super) queued_ns: u64,
    pub(super) stopped_ns: u64,
}

impl Explained {
    fn room_for_faults_ns(&self) -> u64 {
        self.compute_ns - self.measurement_ns
    }

    /// Off the processor, neither in the run queue nor stopped.
    fn unknown_ns(&self) -> u64 {
        self.unexplained_ns - self.queued_ns - self.stopped_ns
    }

    /// The thread slept for so long of the unexplained time, in operations that were taken to have had the
    /// processor: their processor time was computation.
    fn sleeps(&mut self, time_ns: u64) {
        self.unexplained_ns -= time_ns;
        self.compute_ns += time_ns;
        self.perhaps_blocked_ns = self.perhaps_blocked_ns.saturating_sub(time_ns);
    }
}

/// Processor time that was taken from a thread without a switch to another one: the host of a virtual
/// machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Theft {
    /// The thread switched neither by its own will nor otherwise.
    pub(super) certain_ns: u64,
    /// The thread was off the processor for an unknown reason.
    pub(super) undecided_ns: u64,
}

/// All gaps of a location, explained.
#[derive(Debug)]
pub(super) struct Explanation {
    pub(super) gaps: Vec<Explained>,
    pub(super) parts: Parts,
    pub(super) shares: Vec<Share>,
    /// Where its parts are.
    spool: Spool,
    /// Time without a processor in which the thread never left one, as far as the kernel knows: stolen, as is
    /// what interrupts take.
    stolen_ns: u64,
    /// Off the processor for no reason that is known before [`Explanation::place_rest_of_sleep`].
    undecided_ns: u64,
}

impl Explanation {
    /// Cuts operations at the borders of a location's gaps and divides each gap's processor time; all else
    /// is not explained yet.
    pub(super) fn divided(
        gaps: &[Gap],
        mut singles: impl Iterator<Item = Single>,
        spool: Spool,
    ) -> Explanation {
        let mut explained = Vec::with_capacity(gaps.len());
        let mut writer = PartsWriter::new(&spool, gaps.len());
        let mut parts: Vec<Part> = Vec::new();
        let mut next = singles.next();
        for &gap in gaps {
            parts.clear();
            let mut in_operations_ns = 0;
            while let Some(single) = next.filter(|single| single.start_ns < gap.end_ns) {
                let (start_ns, end_ns) = (single.start_ns.max(gap.start_ns), single.end_ns.min(gap.end_ns));
                in_operations_ns += end_ns - start_ns;
                let ends = single.end_ns <= gap.end_ns;
                parts.push(Part {
                    start_ns,
                    end_ns,
                    class: single.class,
                    context: single.context,
                    cpu_ns: 0,
                    queued_ns: 0,
                    asleep_until_ns: single.asleep_until_ns,
                    may_queue: ends && single.queues,
                });
                if !ends {
                    break;
                }
                next = singles.next();
            }
            let outside_ns = gap.length_ns() - in_operations_ns;
            let compute_ns = gap.cpu_ns.min(outside_ns);
            give_processor_time(gap.cpu_ns - compute_ns, &mut parts);
            writer.add(&parts);
            let yielded = parts.iter().filter(|part| part.class == Class::Yield);
            explained.push(Explained {
                gap,
                yielded_ns: yielded.map(Part::off_ns).sum(),
                shares_end: 0,
                perhaps_blocked_ns: 0,
                compute_ns,
                measurement_ns: 0,
                fault_ns: 0,
                unexplained_ns: outside_ns - compute_ns,
                queued_ns: 0,
                stopped_ns: 0,
            });
        }
        // Sums may follow the last of them.
        singles.for_each(drop);
        let (parts, shares) = (writer.finish(), Vec::new());
        Explanation { gaps: explained, parts, shares, spool, stolen_ns: 0, undecided_ns: 0 }
    }

    /// Explains the rest. `waits` is for each row whether its processor time counts as waiting, or as a
    /// runtime's work, which may block as well. `stolen_ns`: the time that may have been stolen from it,
    /// beyond the certain part.
    pub(super) fn explain(
        &mut self,
        location: &Location,
        rows: &[SampleRow],
        operations: &Operations,
        waits: impl Fn(usize) -> bool,
        stolen_ns: u64,
        fault: FaultCost,
    ) {
        self.place_measurement(rows);
        self.place_shorts(&operations.shorts);
        self.place_sleep(rows, &waits);
        self.place_stolen(rows);
        self.place_queue(location.queued.unsigned().saturating_add(stolen_ns), rows);
        self.place_stops(operations);
        self.undecided_ns = self.unknown_ns();
        if rows.iter().any(|row| row.queued_us != NOT_READ) {
            self.place_rest_of_sleep(rows, waits);
        }
        self.place_faults(rows, fault);
    }

    /// The time certainly stolen from the thread, and the time possibly stolen besides.
    pub(super) fn theft(&self) -> Theft {
        Theft { certain_ns: self.stolen_ns, undecided_ns: self.undecided_ns }
    }

    fn unknown_ns(&self) -> u64 {
        self.gaps.iter().map(Explained::unknown_ns).sum()
    }

    /// Proust's own time is spent on the processor and outside operations, whose clocks are read next to the
    /// call.
    fn place_measurement(&mut self, rows: &[SampleRow]) {
        for gaps in self.gaps.chunk_by_mut(same_row) {
            let own_ns = rows.get(gaps[0].gap.row).map_or(0, |row| row.measurement_ns);
            let mut spread = Spread::new(own_ns, gaps.iter().map(|gap| gap.compute_ns).sum());
            for gap in gaps {
                gap.measurement_ns = spread.next(gap.compute_ns);
            }
        }
    }

    /// Short operations explain time off the processor, and their known computation.
    fn place_shorts(&mut self, mut shorts: &[Short]) {
        for gap in &mut self.gaps {
            let count = shorts.iter().take_while(|short| short.end_ns <= gap.gap.end_ns).count();
            let (here, later) = shorts.split_at(count);
            shorts = later;
            let mut room =
                Room { off_ns: gap.unexplained_ns, cpu_ns: gap.room_for_faults_ns(), perhaps_blocked_ns: 0 };
            // First those that are certainly no computation, last those that are assumed to compute as far as
            // they can.
            for turn in [Turn::Waits, Turn::Works, Turn::Passive] {
                for short in here.iter().filter(|short| Turn::of(short.class) == turn) {
                    for (state, time_ns) in room.take(short) {
                        if time_ns > 0 {
                            self.shares.push(Share { state, context: short.context, time_ns });
                        }
                    }
                }
            }
            gap.perhaps_blocked_ns = room.perhaps_blocked_ns;
            gap.unexplained_ns = room.off_ns;
            gap.compute_ns = room.cpu_ns + gap.measurement_ns;
            gap.shares_end = self.shares.len();
        }
    }

    /// Where a thread blocked, and nothing else explains that, it did so where it was sampled, if that is a
    /// runtime's code: its own locks are not visible to others. Otherwise it was in operations that were
    /// taken to have had the processor: a thread that polls for a while may sleep then, and I/O may wait for
    /// its device. Their processor time was computation.
    fn place_sleep(&mut self, rows: &[SampleRow], waits: &impl Fn(usize) -> bool) {
        for gap in &mut self.gaps {
            let (blocked, displaced) = (rows.get(gap.gap.row))
                .map_or((0, 0), |row| (row.voluntary_switches, row.involuntary_switches));
            let switches = u128::from(blocked) + u128::from(displaced);
            let asleep_ns = u128::from(gap.unexplained_ns) * u128::from(blocked) / switches.max(1);
            let most_ns = if waits(gap.gap.row) { gap.unexplained_ns } else { gap.perhaps_blocked_ns };
            gap.sleeps((asleep_ns as u64).min(most_ns));
        }
    }

    /// The number of times that a thread was displaced says nothing of how long: the scheduler was asked for
    /// that, and the time that it counted, or that may have been stolen, is placed already. A thread that
    /// also blocked was asleep for the rest, where [`Explanation::place_sleep`] has found that it may have
    /// been.
    fn place_rest_of_sleep(&mut self, rows: &[SampleRow], waits: impl Fn(usize) -> bool) {
        for gap in &mut self.gaps {
            let (blocked, displaced) = switches(gap, rows);
            if blocked > 0 && displaced > 0 {
                let rest_ns = gap.unknown_ns();
                gap.sleeps(if waits(gap.gap.row) { rest_ns } else { rest_ns.min(gap.perhaps_blocked_ns) });
            }
        }
    }

    /// A thread that never switched had the processor all the time, as far as the kernel knows.
    fn place_stolen(&mut self, rows: &[SampleRow]) {
        for gap in &mut self.gaps {
            // Rows that stand for lost samples have no counts.
            let never_switched = (rows.get(gap.gap.row))
                .is_some_and(|row| !row.tail && row.voluntary_switches == 0 && row.involuntary_switches == 0);
            if never_switched {
                gap.queued_ns = gap.unexplained_ns;
                self.stolen_ns += gap.queued_ns;
            }
        }
    }

    /// A thread that was displaced and never blocked was runnable all the time, whatever was read of the run
    /// queue. Other run-queue delay goes where nothing else explains that the thread was off the processor
    /// although it switched; what finds no room there to the ends of operations that block, since a woken
    /// thread queues; the rest to where there is any room.
    ///
    /// The kernel was asked at some rows: what was queued between two of them goes there, as far as there is
    /// room, and only the rest anywhere.
    fn place_queue(&mut self, queued_ns: u64, rows: &[SampleRow]) {
        let known_ns = self.known_to_queue(rows);
        let (mut read_ns, mut left_ns, mut from) = (0_u64, 0_u64, 0);
        for (row, queued_us) in rows.iter().map(|row| row.queued_us).enumerate() {
            if queued_us == NOT_READ {
                continue;
            }
            let to = from + self.gaps[from..].partition_point(|gap| gap.gap.row <= row);
            let here_ns = 1000 * u64::from(queued_us);
            let known_ns: u64 = known_ns[from..to].iter().sum();
            read_ns += here_ns;
            left_ns += self.spread_queue(from..to, here_ns.saturating_sub(known_ns), rows, false);
            from = to;
        }
        let known_ns: u64 = known_ns[from..].iter().sum();
        let rest_ns = queued_ns.saturating_sub(read_ns).saturating_sub(known_ns).saturating_add(left_ns);
        self.spread_queue(0..self.gaps.len(), rest_ns, rows, true);
    }

    /// By gap, the time for which the thread certainly was runnable: it let others go first, or was displaced
    /// and never blocked, which is noted.
    fn known_to_queue(&mut self, rows: &[SampleRow]) -> Vec<u64> {
        let mut share = 0;
        let mut known_ns = Vec::with_capacity(self.gaps.len());
        for gap in &mut self.gaps {
            let shares = self.shares[share..gap.shares_end].iter();
            let shares = shares.filter(|share| share.state == State::Working(Work::Delayed));
            let yielded_ns = gap.yielded_ns + shares.map(|share| share.time_ns).sum::<u64>();
            share = gap.shares_end;
            let (blocked, displaced) = switches(gap, rows);
            let mut displaced_ns = 0;
            if blocked == 0 && displaced > 0 {
                displaced_ns = gap.unexplained_ns - gap.queued_ns;
                gap.queued_ns = gap.unexplained_ns;
            }
            known_ns.push(yielded_ns + displaced_ns);
        }
        known_ns
    }

    /// Places time in the run queue in some gaps; returns the part without room. `anywhere`: at last also
    /// where the thread never switched.
    fn spread_queue(
        &mut self,
        gaps: Range<usize>,
        queued_ns: u64,
        rows: &[SampleRow],
        anywhere: bool,
    ) -> u64 {
        if queued_ns == 0 || gaps.is_empty() {
            return queued_ns;
        }
        let here = gaps.clone();
        let gaps = &mut self.gaps[gaps];
        let claim = |gaps: &[Explained]| {
            let (blocked, displaced) = switches(&gaps[0], rows);
            let most_ns = gaps.iter().map(|gap| gap.unexplained_ns - gap.queued_ns).sum();
            Claim { weight: u64::from(blocked) + u64::from(displaced), most_ns, given_ns: 0 }
        };
        let mut of_rows: Vec<Claim> = gaps.chunk_by(same_row).map(claim).collect();
        let mut left_ns = by_weight(queued_ns, &mut of_rows);
        if left_ns > 0 {
            left_ns = self.parts.queue(here, left_ns, &self.spool);
        }
        if anywhere {
            left_ns = by_room(left_ns, &mut of_rows);
        }
        for (gaps, claim) in gaps.chunk_by_mut(same_row).zip(of_rows) {
            let mut spread = Spread::new(claim.given_ns, claim.most_ns);
            for gap in gaps {
                gap.queued_ns += spread.next(gap.unexplained_ns - gap.queued_ns);
            }
        }
        left_ns
    }

    /// Where the process may have been stopped, that explains time that nothing else does.
    fn place_stops(&mut self, operations: &Operations) {
        for gap in &mut self.gaps {
            let stopped_ns = operations.perhaps_stopped_ns(gap.gap.start_ns, gap.gap.end_ns);
            gap.stopped_ns = stopped_ns.min(gap.unexplained_ns - gap.queued_ns);
        }
    }

    /// Faults are computation, and cannot have taken more than the thread's whole system time.
    fn place_faults(&mut self, rows: &[SampleRow], fault: FaultCost) {
        let system_ns = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.system_ns));
        let faults = rows.iter().map(|row| u64::from(row.minor_faults)).sum();
        let faults_ns = fault.of_faults_ns(faults, system_ns);
        if faults_ns == 0 {
            return;
        }
        let mut of_rows = self.claims(|gaps| Claim {
            weight: rows.get(gaps[0].gap.row).map_or(0, |row| row.minor_faults.into()),
            most_ns: gaps.iter().map(Explained::room_for_faults_ns).sum(),
            given_ns: 0,
        });
        let left_ns = by_weight(faults_ns, &mut of_rows);
        by_room(left_ns, &mut of_rows);
        for (gaps, claim) in self.gaps.chunk_by_mut(same_row).zip(of_rows) {
            let mut spread = Spread::new(claim.given_ns, claim.most_ns);
            for gap in gaps {
                gap.fault_ns = spread.next(gap.room_for_faults_ns());
            }
        }
    }

    /// One claim for the gaps of each row: what rows count is known for all of their gaps together.
    fn claims(&self, claim: impl Fn(&[Explained]) -> Claim) -> Vec<Claim> {
        self.gaps.chunk_by(same_row).map(claim).collect()
    }
}

/// Voluntary and involuntary switches of the row that a gap belongs to.
fn switches(gap: &Explained, rows: &[SampleRow]) -> (u32, u32) {
    rows.get(gap.gap.row).map_or((0, 0), |row| (row.voluntary_switches, row.involuntary_switches))
}

fn same_row(a: &Explained, b: &Explained) -> bool {
    a.gap.row == b.gap.row
}

/// Gives the parts of operations in one gap the processor time that was spent inside them: those that run
/// before those that block, in one tier to each by its length.
fn give_processor_time(cpu_ns: u64, parts: &mut [Part]) {
    if cpu_ns == 0 {
        return;
    }
    let mut left_ns = cpu_ns;
    for tier in 0..TIERS {
        let of_tier = |part: &&mut Part| part.class.tier() == tier;
        let over_ns = parts.iter().filter(|part| part.class.tier() == tier).map(Part::length_ns).sum();
        let mut spread = Spread::new(left_ns, over_ns);
        left_ns -= left_ns.min(over_ns);
        for part in parts.iter_mut().filter(of_tier) {
            part.cpu_ns = spread.next(part.length_ns());
        }
    }
}
