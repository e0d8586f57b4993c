//! A thread between its part of a region and the next one.
//!
//! A thread that has done its part of a region it did not open is *docked*: it waits for the others, and then
//! for the next region. It does not know when the one becomes the other; the thread that opened the region
//! writes that into the lane's header.

use core::sync::atomic::Ordering;

use super::Member;
use crate::openmp::team::Team;
use crate::path::tree::NodeId;

/// Parts of regions that are shorter are brief.
const BRIEF_NS: u64 = 20_000;

impl Member {
    /// When the newest region that it opened was over.
    #[inline]
    pub fn closed_ns(&self) -> u64 {
        self.closed_ns.load(Ordering::Relaxed)
    }

    /// Keeps it.
    #[inline]
    pub fn set_closed(&self, now_ns: u64) {
        self.closed_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Since when it is docked; 0 = it is not.
    #[inline]
    pub fn docked_ns(&self) -> u64 {
        self.docked_ns.load(Ordering::Relaxed)
    }

    /// It docks, or with 0 undocks.
    #[inline]
    pub fn set_docked(&self, now_ns: u64) {
        self.docked_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Whether its part of the last region was so brief that the next one must cost as little as can be. By
    /// chance one of 16 was not.
    #[inline]
    pub fn was_brief(&self) -> bool {
        let docked_ns = self.docked_ns();
        let chance = docked_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        docked_ns != 0 && docked_ns.saturating_sub(self.begin_ns()) < BRIEF_NS && chance != 0
    }

    /// The team at the end of whose region it docked last.
    #[inline]
    pub fn docked_in(&self) -> Option<&'static Team> {
        // SAFETY: null, or a team, and those are never freed.
        unsafe { self.docked_in.load(Ordering::Relaxed).as_ref() }
    }

    /// It docks at the end of a region of `team`.
    #[inline]
    pub fn set_docked_in(&self, team: &'static Team) {
        self.docked_in.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
    }

    /// Whether it closed a region without notifying the others.
    #[inline]
    pub fn owes(&self) -> bool {
        !self.owed.load(Ordering::Relaxed).is_null()
    }

    /// The others of this team are to be notified that its newest region is over, if it takes long until the
    /// next one.
    #[inline]
    pub fn owe(&self, team: &'static Team) {
        self.owed.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
    }

    /// The team whose others are to be notified; returned only once.
    #[inline]
    pub fn take_owed(&self) -> Option<&'static Team> {
        if !self.owes() {
            return None;
        }
        // SAFETY: null, or a team, and those are never freed.
        unsafe { self.owed.swap(core::ptr::null_mut(), Ordering::Relaxed).as_ref() }
    }

    /// Path of the thread without work.
    #[inline]
    pub fn idle_node(&self) -> NodeId {
        self.idle_node.load(Ordering::Relaxed)
    }

    /// Keeps it.
    pub fn set_idle_node(&self, node: NodeId) {
        self.idle_node.store(node, Ordering::Relaxed);
    }
}
