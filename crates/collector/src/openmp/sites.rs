//! A thread's time in its regions, summed up by the site at which each segment ended.
//!
//! Bounded whatever the count: a thread that meets more sites than there is room for has them written
//! earlier.

use proust_log::operations::Operation;
use proust_log::records::{Segments, Trials};

use crate::arena::{Entry, Table, spread};
use crate::lane::Output;
use crate::path::tree::NodeId;
use crate::room;
use crate::turn::Quiet;

const FIRST_SLOTS: usize = 32;
const MOST_SLOTS: usize = 4096;

/// The key of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The region.
    pub region: u32,
    /// [`Operation`] as number; 0 = free.
    pub operation: u16,
    /// Address behind the call, or another word that identifies the construct; 0 = the region itself.
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
    fn hash(&self) -> u64 {
        let word = self.address ^ self.sp.rotate_left(24) ^ u64::from(self.region) << 40;
        spread(word.wrapping_add(u64::from(self.operation)))
    }
}

/// Times and counts to be added to a site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// When it ended.
    pub end_ns: u64,
    /// Work before it.
    pub work_ns: u64,
    /// Time in it.
    pub wait_ns: u64,
    /// Of that, after the last thread had arrived.
    pub latency_ns: u64,
    /// How often.
    pub executions: u64,
    /// Whether it was only counted, and its times are estimated.
    pub is_estimated: bool,
    /// By how much the variance grows of what is estimated from it, ns².
    pub variance_ns2: f64,
    /// Whether it is not known when the last thread arrived.
    pub is_whole: bool,
    /// Whether it is known which thread arrived last, and whether it was this one.
    pub arrived: Arrived,
    /// Whether the thread had to wait for another one.
    pub contended: bool,
    /// Threads of the team.
    pub team: u16,
    /// Iterations of a loop that the thread got.
    pub iterations: u64,
    /// The cost of measuring, as far as that was timed, and the time that may lie before and after the
    /// readings of the clock, ns.
    pub added: Added,
}

/// The cost of measuring, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Between readings of the clock.
    pub ns: u64,
    /// The time that may lie outside of them.
    pub error_ns: u64,
    /// Between such readings, when the region was over already.
    pub behind_ns: u64,
}

/// Whether the thread was the last to arrive at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrived {
    /// That is not known.
    #[default]
    NotKnown,
    /// Another one arrived later.
    Early,
    /// It did.
    Last,
}

/// A wait in a sum, of which it turns out later when the last thread arrived.
#[derive(Clone, Copy, Debug)]
pub struct Divided {
    /// How long it was.
    pub wait_ns: u64,
    /// Of that, after the last thread had arrived.
    pub latency_ns: u64,
    /// Whether the thread arrived last.
    pub arrived: Arrived,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    site: Site,
    node: NodeId,
    /// Whether the call path was looked for. That of a region as a whole is the region's own.
    is_asked: bool,
    sums: Segments,
    /// Of the time in it, that of which the latency is not known.
    whole_ns: u64,
    /// Variance of the time in it, ns².
    variance_ns2: f64,
}

// SAFETY: numbers, and an operation of zero is none.
unsafe impl Entry for Slot {
    #[inline]
    fn is_free(&self) -> bool {
        self.site.operation == 0
    }
}

impl Slot {
    #[inline]
    fn add(&mut self, segment: &Segment) {
        self.arrived(segment.arrived);
        let sums = &mut self.sums;
        if sums.since_ns == 0 {
            sums.since_ns = segment.end_ns.max(1);
            (sums.team_min, sums.team_max) = (u16::MAX, 0);
        }
        sums.until_ns = sums.until_ns.max(segment.end_ns);
        sums.work_ns += segment.work_ns;
        sums.wait_ns += segment.wait_ns;
        sums.latency_ns += segment.latency_ns;
        sums.executions += segment.executions;
        sums.iterations = sums.iterations.saturating_add(segment.iterations);
        sums.contended = sums.contended.saturating_add(u32::from(segment.contended));
        if segment.is_estimated {
            sums.unmeasured += segment.executions;
        }
        sums.added_ns += segment.added.ns;
        sums.added_error_ns += segment.added.error_ns;
        sums.added_behind_ns += segment.added.behind_ns;
        self.variance_ns2 += segment.variance_ns2;
        if segment.is_whole {
            self.whole_ns += segment.wait_ns;
        }
        if segment.team != 0 && (segment.team != sums.team_min || segment.team != sums.team_max) {
            sums.team_min = sums.team_min.min(segment.team);
            sums.team_max = sums.team_max.max(segment.team);
        }
    }

    fn arrived(&mut self, arrived: Arrived) {
        if arrived != Arrived::NotKnown {
            self.sums.known += 1;
            self.sums.last += u32::from(arrived == Arrived::Last);
        }
    }

    /// A wait of the sum is divided. If it was written since, it was divided as others were.
    fn divide(&mut self, divided: &Divided) {
        if self.sums.since_ns == 0 {
            return;
        }
        self.arrived(divided.arrived);
        if let Some(whole_ns) = self.whole_ns.checked_sub(divided.wait_ns) {
            self.whole_ns = whole_ns;
            self.sums.latency_ns += divided.latency_ns.min(divided.wait_ns);
        }
    }

    /// Of a wait of the sum it turns out how much later the last thread left. If the sum was written since,
    /// it is one of those whose spread is not known.
    fn spread(&mut self, spread_ns: u64) {
        if self.sums.since_ns != 0 {
            self.sums.spread_ns += spread_ns;
            self.sums.spreads += 1;
        }
    }

    /// Takes the sums. Waits that were not split are treated like those that were, of this site, or of all of
    /// the thread's.
    fn take(&mut self, all: &mut Split) -> Segments {
        let mut sums = core::mem::take(&mut self.sums);
        let whole_ns = core::mem::take(&mut self.whole_ns);
        let own = Split { wait_ns: sums.wait_ns.saturating_sub(whole_ns), latency_ns: sums.latency_ns };
        if whole_ns > 0 {
            all.wait_ns += own.wait_ns;
            all.latency_ns += own.latency_ns;
            sums.latency_ns +=
                if own.wait_ns > 0 { own.latency_of(whole_ns) } else { all.latency_of(whole_ns) };
        }
        sums.wait_error_ns = core::mem::take(&mut self.variance_ns2).sqrt() as u64;
        (sums.region, sums.node) = (self.site.region, self.node);
        sums.team_min = sums.team_min.min(sums.team_max);
        sums
    }
}

/// Waits of which it is known when the last thread arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    wait_ns: u64,
    latency_ns: u64,
}

impl Split {
    /// The part of such a wait that is latency, if it was as these were.
    fn latency_of(&self, wait_ns: u64) -> u64 {
        let latency_ns = u128::from(wait_ns) * u128::from(self.latency_ns) / u128::from(self.wait_ns.max(1));
        latency_ns.min(u128::from(wait_ns)) as u64
    }
}

/// The sites of one thread.
#[derive(Default)]
pub struct Sites {
    slots: Table<Slot>,
    /// The slot that was found last: a thread mostly returns to the same site.
    last: usize,
    /// Of sites where not all waits are split.
    split: Split,
}

impl Sites {
    /// The slot of a site, or the free one where it would be.
    #[inline]
    fn slot(&mut self, site: &Site) -> Option<&mut Slot> {
        if self.slots.at(self.last).is_none_or(|slot| slot.site != *site) {
            self.look_up(site);
        }
        self.slots.at(self.last)
    }

    #[inline(never)]
    fn look_up(&mut self, site: &Site) {
        self.last = self.slots.position(site.hash(), |slot| slot.site == *site).unwrap_or(0);
    }

    /// Whether a site's call path was looked for.
    #[inline]
    pub fn knows(&mut self, site: &Site) -> bool {
        site.region == 0 || self.slot(site).is_some_and(|slot| slot.site == *site && slot.is_asked)
    }

    /// Adds to a site; `node` finds its call path, and is asked once.
    #[inline]
    pub fn add(
        &mut self,
        site: &Site,
        segment: &Segment,
        output: &mut Output,
        node: impl FnOnce(&mut Output) -> NodeId,
    ) {
        if self.add_known(site, segment) {
            return;
        }
        self.make(site, output, |output| Some(node(output)));
        self.add_known(site, segment);
    }

    /// As [`Sites::add`], where the thread does not stand at the site: if its call path is not known it is
    /// found when the thread comes there.
    pub fn add_elsewhere(&mut self, site: &Site, segment: &Segment, output: &mut Output) {
        if site.region == 0 {
            return;
        }
        if self.slot(site).is_none_or(|slot| slot.site != *site) {
            self.make(site, output, |_| None);
        }
        if let Some(slot) = self.slot(site).filter(|slot| slot.site == *site) {
            slot.add(segment);
        }
    }

    /// As [`Sites::add`], if the site's call path was looked for; false if it was not.
    #[inline]
    pub fn add_known(&mut self, site: &Site, segment: &Segment) -> bool {
        if site.region == 0 {
            return true;
        }
        match self.slot(site) {
            Some(slot) if slot.site == *site && slot.is_asked => {
                slot.add(segment);
                true
            }
            _ => false,
        }
    }

    /// Adds what was found of the cost of counting, to a site that something was added to.
    pub fn tried(&mut self, site: &Site, trials: &Trials) {
        if trials.count > 0
            && site.region != 0
            && let Some(slot) = self.slot(site).filter(|slot| slot.site == *site)
        {
            let sums = &mut slot.sums.trials;
            sums.count += trials.count;
            sums.visits += trials.visits;
            sums.more_ns += trials.more_ns;
            sums.visits2 = sums.visits2.saturating_add(trials.visits2);
            sums.more_ns2 = sums.more_ns2.saturating_add(trials.more_ns2);
            sums.product = sums.product.saturating_add(trials.product);
        }
    }

    /// A wait that was added to a site is divided.
    pub fn divide(&mut self, site: &Site, divided: &Divided) {
        if let Some(slot) = self.slot(site).filter(|slot| slot.site == *site && site.region != 0) {
            slot.divide(divided);
        }
    }

    /// The last thread left a barrier of this site so much later than this one.
    pub fn spread(&mut self, site: &Site, spread_ns: u64) {
        if let Some(slot) = self.slot(site).filter(|slot| slot.site == *site && site.region != 0) {
            slot.spread(spread_ns);
        }
    }

    /// The call path of a site; 0 = not known.
    pub fn node(&mut self, site: &Site) -> NodeId {
        self.slot(site).filter(|slot| slot.site == *site).map_or(0, |slot| slot.node)
    }

    /// Makes room for a site, at the call path `node`, before anything is added to it.
    pub fn learn(&mut self, site: &Site, output: &mut Output, node: NodeId) {
        if !self.knows(site) {
            self.make(site, output, |_| Some(node));
        }
    }

    /// Makes a site known, at the call path that `node` finds; None = it is found later.
    #[cold]
    #[inline(never)]
    fn make(&mut self, site: &Site, output: &mut Output, node: impl FnOnce(&mut Output) -> Option<NodeId>) {
        let _quiet = Quiet::begin();
        if self.slots.is_full() && !self.grow(output) {
            return;
        }
        let node = node(output);
        self.look_up(site);
        let is_there = self.slots.at(self.last).is_some_and(|slot| slot.site == *site);
        // Not by way of the stack, which may be a small one.
        let slot = if is_there { self.slots.at(self.last) } else { self.slots.occupy(self.last) };
        if let Some(slot) = slot {
            slot.site = *site;
            slot.is_asked = node.is_some() || site.address == 0;
            slot.node = node.unwrap_or(0);
        }
    }

    fn grow(&mut self, output: &mut Output) -> bool {
        // Hooks may be inside each other here, each with its frame on a small stack.
        room::apart(|| {
            if self.slots.capacity() >= MOST_SLOTS {
                self.write(output);
                self.slots.clear();
                return true;
            }
            self.slots.grow(FIRST_SLOTS, |slot| slot.site.hash())
        })
    }

    /// Writes all sums since the last time.
    pub fn write(&mut self, output: &mut Output) {
        for slot in self.slots.iter_mut().filter(|slot| slot.sums.since_ns != 0) {
            let sums = slot.take(&mut self.split);
            output.push(slot.site.operation, 0, &sums);
        }
    }

    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        self.slots.clear();
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
                let segment = Segment { work_ns: number, executions: 1, team: 2, ..Segment::default() };
                sites.add(&site(number), &segment, &mut output, |_| {
                    found += 1;
                    7
                });
            }
        }
        assert_eq!(found, 2_000);
        let slot = sites.slot(&site(1_999)).unwrap();
        assert_eq!((slot.sums.work_ns, slot.sums.executions, slot.node), (3 * 1_999, 3, 7));
        for number in 0..100_000 {
            let segment = Segment { executions: 1, ..Segment::default() };
            sites.add_elsewhere(&site(number), &segment, &mut output);
        }
        assert!(sites.slots.capacity() <= MOST_SLOTS);
        sites.forget();
        assert_eq!(sites.slots.count(), 0);
    }

    #[test]
    fn what_is_added_from_elsewhere_does_not_hide_the_call_path() {
        let (mut sites, mut output) = (Sites::default(), Output::new(None));
        let segment = Segment { executions: 1, ..Segment::default() };
        sites.add_elsewhere(&site(1), &segment, &mut output);
        assert!(!sites.knows(&site(1)) && !sites.add_known(&site(1), &segment));
        sites.add(&site(1), &segment, &mut output, |_| 7);
        sites.add_elsewhere(&site(1), &segment, &mut output);
        let slot = sites.slot(&site(1)).unwrap();
        assert_eq!((slot.sums.executions, slot.node), (3, 7));
        assert_eq!(sites.slots.count(), 1);
        // A region as a whole has its own.
        let region = Site::of_region(1, Operation::OmpRegionEnd);
        sites.add_elsewhere(&region, &segment, &mut output);
        assert!(sites.knows(&region));
    }
}
