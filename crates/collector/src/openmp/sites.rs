//! What a thread did in its regions, summed up by the site at which each segment ended.
//!
//! Bounded whatever the count: a thread that meets more sites than there is room for has them told earlier.

use proust_log::operations::Operation;
use proust_log::records::Segments;

use crate::arena;
use crate::lane::Output;
use crate::path::tree::NodeId;

const FIRST_SLOTS: usize = 32;
const MOST_SLOTS: usize = 4096;

/// What makes a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The region.
    pub region: u32,
    /// [`Operation`] as number; 0 = free.
    pub operation: u16,
    /// Address behind the call, or another word that tells the construct; 0 = the region itself.
    pub address: u64,
    /// Stack pointer there.
    pub sp: u64,
}

impl Site {
    /// Of a region, as a whole: its begin or its end.
    pub fn of_region(region: u32, operation: Operation) -> Site {
        Site { region, operation: operation as u16, address: 0, sp: 0 }
    }

    #[inline]
    fn hash(&self) -> usize {
        let mixed = (self.address ^ self.sp.rotate_left(24) ^ u64::from(self.region) << 40)
            .wrapping_add(u64::from(self.operation))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize
    }
}

/// What is added to a site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// When it ended.
    pub end_ns: u64,
    /// Work before it.
    pub work_ns: u64,
    /// Time in it.
    pub wait_ns: u64,
    /// Of that, when there was nobody to wait for any more.
    pub latency_ns: u64,
    /// How often.
    pub executions: u64,
    /// Whether somebody had to be waited for.
    pub contended: bool,
    /// Threads of the team.
    pub team: u16,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    site: Site,
    node: NodeId,
    sums: Segments,
}

/// The sites of one thread.
pub struct Sites {
    slots: *mut Slot,
    /// A power of two, or 0.
    capacity: usize,
    count: usize,
}

impl Default for Sites {
    fn default() -> Sites {
        Sites { slots: core::ptr::null_mut(), capacity: 0, count: 0 }
    }
}

impl Sites {
    #[inline]
    fn slot(&mut self, site: &Site) -> Option<&mut Slot> {
        if self.capacity == 0 {
            return None;
        }
        let mut at = site.hash() & (self.capacity - 1);
        loop {
            // SAFETY: `at` is below the capacity, so many slots are mapped, and this thread alone uses them.
            let slot = unsafe { &mut *self.slots.add(at) };
            // At most three quarters are taken, so a free one is met.
            if slot.site == *site || slot.site.operation == 0 {
                return Some(slot);
            }
            at = (at + 1) & (self.capacity - 1);
        }
    }

    /// Whether a site was met before.
    #[inline]
    pub fn knows(&mut self, site: &Site) -> bool {
        site.region == 0 || self.slot(site).is_some_and(|slot| slot.site == *site)
    }

    /// Adds to a site; `node` finds its call path, and is asked once.
    #[inline]
    pub fn add(
        &mut self,
        site: &Site,
        passed: &Passed,
        output: &mut Output,
        node: impl FnOnce(&mut Output) -> NodeId,
    ) {
        if site.region == 0 {
            return;
        }
        if !self.slot(site).is_some_and(|slot| slot.site == *site) {
            self.make(site, output, node);
        }
        let Some(slot) = self.slot(site).filter(|slot| slot.site == *site) else { return };
        let sums = &mut slot.sums;
        if sums.since_ns == 0 {
            sums.since_ns = passed.end_ns.max(1);
            (sums.team_min, sums.team_max) = (u16::MAX, 0);
        }
        sums.until_ns = sums.until_ns.max(passed.end_ns);
        sums.work_ns += passed.work_ns;
        sums.wait_ns += passed.wait_ns;
        sums.latency_ns += passed.latency_ns;
        sums.executions += passed.executions;
        sums.contended = sums.contended.saturating_add(u32::from(passed.contended));
        if passed.team != 0 {
            sums.team_min = sums.team_min.min(passed.team);
            sums.team_max = sums.team_max.max(passed.team);
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, site: &Site, output: &mut Output, node: impl FnOnce(&mut Output) -> NodeId) {
        if self.count * 4 >= self.capacity * 3 && !self.grow(output) {
            return;
        }
        let node = node(output);
        if let Some(slot) = self.slot(site) {
            *slot = Slot { site: *site, node, sums: Segments::default() };
            self.count += 1;
        }
    }

    fn grow(&mut self, output: &mut Output) -> bool {
        if self.capacity >= MOST_SLOTS {
            self.tell(output);
            // SAFETY: so many slots are mapped, and this thread alone uses them.
            unsafe { core::slice::from_raw_parts_mut(self.slots, self.capacity) }.fill(Slot::default());
            self.count = 0;
            return true;
        }
        let capacity = (self.capacity * 2).max(FIRST_SLOTS);
        let fresh = arena::pages(capacity * size_of::<Slot>()).cast::<Slot>();
        if fresh.is_null() {
            return false;
        }
        let mut grown = Sites { slots: fresh, capacity, count: 0 };
        for at in 0..self.capacity {
            // SAFETY: as above.
            let slot = unsafe { *self.slots.add(at) };
            if slot.site.operation != 0
                && let Some(place) = grown.slot(&slot.site)
            {
                *place = slot;
                grown.count += 1;
            }
        }
        if !self.slots.is_null() {
            // SAFETY: made here with this size, and not used any more.
            unsafe { arena::give_back(self.slots.cast(), self.capacity * size_of::<Slot>()) };
        }
        *self = grown;
        true
    }

    /// Tells all that came together since the last time.
    pub fn tell(&mut self, output: &mut Output) {
        for at in 0..self.capacity {
            // SAFETY: as above.
            let slot = unsafe { &mut *self.slots.add(at) };
            if slot.sums.since_ns == 0 {
                continue;
            }
            let mut sums = slot.sums;
            (sums.region, sums.node) = (slot.site.region, slot.node);
            sums.team_min = sums.team_min.min(sums.team_max);
            output.push(slot.site.operation, 0, &sums);
            slot.sums = Segments::default();
        }
    }

    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        if self.count > 0 {
            // SAFETY: as above.
            unsafe { core::slice::from_raw_parts_mut(self.slots, self.capacity) }.fill(Slot::default());
            self.count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(number: u64) -> Site {
        Site { region: 1 + number as u32 % 3, operation: 192, address: 0x1000 + number * 5, sp: 0x7fff_0000 }
    }

    #[test]
    fn any_number_of_sites_finds_room_and_each_has_its_path_found_once() {
        let (mut sites, mut output) = (Sites::default(), Output::new(None));
        let mut found = 0;
        for _ in 0..3 {
            for number in 0..2_000 {
                let passed = Passed { work_ns: number, executions: 1, team: 2, ..Passed::default() };
                sites.add(&site(number), &passed, &mut output, |_| {
                    found += 1;
                    7
                });
            }
        }
        assert_eq!(found, 2_000);
        let slot = sites.slot(&site(1_999)).unwrap();
        assert_eq!((slot.sums.work_ns, slot.sums.executions, slot.node), (3 * 1_999, 3, 7));
        for number in 0..100_000 {
            sites.add(&site(number), &Passed { executions: 1, ..Passed::default() }, &mut output, |_| 0);
        }
        assert!(sites.capacity <= MOST_SLOTS);
        sites.forget();
        assert_eq!(sites.count, 0);
    }
}
