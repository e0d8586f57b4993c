//! Collectives of a random program, called or prepared: all members have the same ones in the same order.

use proust_messages::call::{Act, Collective, Partner};

use super::meetings::act;
use super::{Proc, Recorded, World};

const KINDS: [Collective; 5] =
    [Collective::Barrier, Collective::AllToAll, Collective::OneToAll, Collective::AllToOne, Collective::Scan];

/// Prepared collectives of a communicator, in the order in which all members prepare them.
#[derive(Default)]
pub(super) struct Series {
    /// Slot, whether it is under way, how often it was started.
    pub(super) all: Vec<(u16, bool, u64)>,
}

impl World {
    /// The next collective of a communicator.
    pub(super) fn collective(&mut self, process: usize, communicator: u32, a: u8) {
        // Calls of one communicator only wait for each other, so that what waits can always go on.
        let waits = self.with.waits && communicator == 0 && !a.is_multiple_of(2);
        let begin_ns = self.tick();
        let end_ns = if waits { begin_ns } else { self.tick() };
        let called = self.procs[process].called.entry(communicator).or_default();
        let nth = *called;
        *called += 1;
        let kind = KINDS[(nth + u64::from(communicator)) as usize % KINDS.len()];
        let has_root = matches!(kind, Collective::OneToAll | Collective::AllToOne);
        let root = Partner::Rank((nth % self.procs.len() as u64) as u32);
        let starts = a.is_multiple_of(2) || self.with.waits && !waits;
        let slot = starts.then(|| self.slot(process));
        let act = act(starts, kind);
        let call = Recorded {
            operation: nth as u32,
            communicator: communicator + 1,
            partner: if has_root { root } else { Partner::None },
            bytes: 8,
            slots: slot.map(|slot| (slot, 1)).into_iter().collect(),
            ..self.call(begin_ns, end_ns, act)
        };
        self.more();
        if !self.with.waits {
            self.record(process, call);
            self.procs[process].done.extend(slot.map(|slot| (slot, None)));
            return;
        }
        let goes_on = match slot {
            Some(slot) => {
                self.record(process, call);
                Ok(slot)
            }
            None => Err(call),
        };
        let root = (nth % self.procs.len() as u64) as usize;
        self.meet((communicator, None, nth), (kind, root), process, goes_on);
    }

    /// Prepares the next collective of a communicator.
    pub(super) fn prepare_collective(&mut self, process: usize, communicator: u32) {
        let slot = self.slot(process);
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let series = self.procs[process].series.entry(communicator).or_default();
        let kind = KINDS[(series.all.len() + communicator as usize) % KINDS.len()];
        series.all.push((slot, false, 0));
        let operation = 1000 + series.all.len() as u32;
        let has_root = matches!(kind, Collective::OneToAll | Collective::AllToOne);
        let call = Recorded {
            operation,
            communicator: communicator + 1,
            partner: if has_root { Partner::Rank(0) } else { Partner::None },
            bytes: 16,
            slots: vec![(slot, 1)],
            ..self.call(begin_ns, end_ns, Act::PrepareCollective(kind))
        };
        self.record(process, call);
    }

    /// Starts one of those, if it is not under way.
    pub(super) fn start_collective(&mut self, process: usize, communicator: u32, which: usize) {
        let series = self.procs[process].series.entry(communicator).or_default();
        let Some((slot, is_active @ false, started)) = series.all.get_mut(which) else { return };
        (*is_active, *started) = (true, *started + 1);
        let (slot, times) = (*slot, *started);
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let call = Recorded { slots: vec![(slot, 1)], ..self.call(begin_ns, end_ns, Act::Start) };
        self.record(process, call);
        self.more();
        if self.with.waits {
            let kind = KINDS[(which + communicator as usize) % KINDS.len()];
            self.meet((communicator, Some(which as u64), times), (kind, 0), process, Ok(slot));
        } else {
            self.procs[process].done.push((slot, None));
        }
    }

    /// All prepare and start the collectives that others have.
    pub(super) fn end_series(&mut self, communicator: u32) {
        let count = |proc: &Proc| proc.series.get(&communicator).map_or(0, |series| series.all.len());
        let started =
            |proc: &Proc, at: usize| proc.series[&communicator].all.get(at).map_or(0, |prepared| prepared.2);
        let most = self.procs.iter().map(count).max().unwrap_or(0);
        for process in 0..self.procs.len() {
            while count(&self.procs[process]) < most {
                self.prepare_collective(process, communicator);
            }
        }
        for at in 0..most {
            let times = self.procs.iter().map(|proc| started(proc, at)).max().unwrap_or(0);
            for process in 0..self.procs.len() {
                while started(&self.procs[process], at) < times {
                    self.complete(process, usize::MAX, Act::Wait);
                    self.start_collective(process, communicator, at);
                }
            }
            self.played.instances += times;
        }
    }
}
