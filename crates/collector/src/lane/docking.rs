//! A lane whose owner has done its part of a region and waits for the others, then for work: what its header
//! says ([`docked`](super::docked)), or without a log its place in the region.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;

use super::Lane;
use super::docked::{Docked, Released};

const OPERATION: u32 = Operation::OmpRegionEnd as u32;

impl Lane {
    /// What its header says; None of a lane without a log.
    fn docked(&self) -> Option<Docked> {
        // SAFETY: a header stays mapped for the process's life, and only its owner and openers of regions
        // write these words.
        unsafe { Docked::of(self.header.load(Ordering::Relaxed)) }
    }

    /// The owner has done its part of a region, and waits for the others of `team`: the log says so before it
    /// blocks.
    pub fn dock(&self, now_ns: u64, team: u64, region: u32) {
        if let Some(docked) = self.docked() {
            docked.dock(now_ns, (team, region), self.member.idle_node(), OPERATION);
        }
        if self.operations.open.has_alarm() {
            self.suspend_alarm();
        }
    }

    /// The owner has work again; when the region was over at whose end it waited since `docked_ns`. None
    /// where no thread wrote it.
    pub fn undock(&self, docked_ns: u64) -> Option<Released> {
        if self.operations.open.has_alarm() {
            self.resume_alarm();
        }
        self.docked()?.undock(docked_ns)
    }

    /// The team at the end of whose region the owner waits.
    pub fn docked_for(&self) -> u64 {
        self.docked().map_or(0, Docked::team)
    }

    /// Whether the owner waits at the end of a region of `team`, and began to when it was opened or later.
    /// For the thread that opened it: one that was in the team before may be docked for another one by now,
    /// or have ended, and its lane be another's.
    pub fn is_docked_for(&self, team: u64, since_ns: u64) -> bool {
        match self.docked() {
            Some(docked) => docked.is_for(team, since_ns, OPERATION),
            None => self.member.docked_ns() >= since_ns,
        }
    }

    /// Since when the owner waits at a region's end, for the thread that opened it.
    pub fn docked_since_ns(&self) -> u64 {
        self.docked().map_or_else(|| self.member.docked_ns(), Docked::since_ns)
    }

    /// The region at whose end the owner waits is over; for the thread that opened it.
    pub fn release_docked(&self, at_ns: u64, latency_ns: u64) {
        if let Some(docked) = self.docked() {
            docked.release(Released { at_ns, latency_ns });
        }
    }

    /// Whether the owner waits for work, the region at whose end it waited being over.
    pub fn is_idle(&self) -> bool {
        let docked_ns = self.member.docked_ns();
        let Some(docked) = self.docked().filter(|_| docked_ns != 0) else { return false };
        docked.is_released() || self.member.docked_in().is_some_and(|team| team.ended_ns(docked_ns).is_some())
    }
}
