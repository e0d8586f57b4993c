//! Whether a run crowds itself out of its processors.

use super::demand::{Demand, ONE};
use super::fixed::{Units, fraction, units};
use proust_profile::processor_set::ProcessorSet;

/// The sets of processors of a run, and the share of delays in each that the run itself explains.
///
/// With `h` locations on the `C` processors of a set and `n` more that queue for one, the run wants `h + n −
/// C` processors more than there are: with so many fewer locations none would queue because of it. And a
/// queued location waits for all that have a processor, of which the run's own are `h ÷ C`. The run explains
/// the smaller of both; the rest was taken by others. So a run that has little of the processors does not
/// count as crowding itself out, however many of its threads queue because of the load of others.
///
/// Locations are counted wherever they belong, service ones included, since all of them take processors. A
/// delay is explained by any set that covers the location's own.
#[derive(Debug)]
pub(super) struct Crowds {
    sets: Vec<Set>,
    /// By owner: the sets and lines of its queue.
    of_owners: Vec<Vec<LineId>>,
    now_ns: u64,
}

/// Where the queue of one owner's locations with one set of processors is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineId {
    set: usize,
    line: usize,
}

#[derive(Debug)]
struct Set {
    /// C, as a rate.
    capacity: u64,
    /// The sets in which its locations count, itself included.
    outer: Vec<usize>,
    /// The sets whose locations count in it, itself included.
    inner: Vec<usize>,
    /// h and n of the locations whose sets it covers.
    on_processor: u64,
    queued: u64,
    /// The share of delays that the demand for this set explains.
    own: u64,
    /// The largest of the sets that cover it: the share of the delays of its locations.
    share: u64,
    /// ∫ share dt up to `since_ns`.
    level: Units,
    since_ns: u64,
    /// Owners' slots whose queue its locations are in.
    lines: Vec<Line>,
}

/// The part of one owner's queue that is beyond its slots, of the locations with one set of processors.
#[derive(Debug, Default)]
struct Line {
    /// The share of the queued that is beyond.
    beyond: u64,
    /// ∫ min(beyond, share) dt up to `since_ns`: those crowded out by the run itself are at the end of the
    /// queue.
    level: Units,
    since_ns: u64,
}

impl Crowds {
    /// `used` says which sets processes have.
    pub fn new(sets: &[ProcessorSet], used: &[bool], owners: usize) -> Crowds {
        let covers =
            |outer: usize, inner: usize| used[outer] && used[inner] && sets[outer].covers(&sets[inner]);
        let set = |index: usize| Set {
            capacity: (u128::from(sets[index].capacity_milli()) * u128::from(ONE) / 1000) as u64,
            outer: (0..sets.len()).filter(|&other| covers(other, index)).collect(),
            inner: (0..sets.len()).filter(|&other| covers(index, other)).collect(),
            on_processor: 0,
            queued: 0,
            own: 0,
            share: 0,
            level: 0,
            since_ns: 0,
            lines: Vec::new(),
        };
        Crowds { sets: (0..sets.len()).map(set).collect(), of_owners: vec![Vec::new(); owners], now_ns: 0 }
    }

    /// The position of the queue of an owner's locations with this set.
    pub fn line(&mut self, owner: usize, set: usize) -> LineId {
        if let Some(&known) = self.of_owners[owner].iter().find(|line| line.set == set) {
            return known;
        }
        let lines = &mut self.sets[set].lines;
        let new = LineId { set, line: lines.len() };
        lines.push(Line::default());
        self.of_owners[owner].push(new);
        new
    }

    /// Moves on to `to_ns`.
    pub fn advance(&mut self, to_ns: u64) {
        self.now_ns = to_ns;
    }

    /// A location with this set goes from one demand to another.
    pub fn change(&mut self, set: usize, from: Demand, to: Demand) {
        if (from.on_processor, from.queued()) == (to.on_processor, to.queued()) {
            return;
        }
        for n in 0..self.sets[set].outer.len() {
            let outer = self.sets[set].outer[n];
            let one = &mut self.sets[outer];
            one.on_processor = one.on_processor - from.on_processor + to.on_processor;
            one.queued = one.queued - from.queued() + to.queued();
            let own = one.explained();
            if own == one.own {
                continue;
            }
            one.own = own;
            for n in 0..self.sets[outer].inner.len() {
                let inner = self.sets[outer].inner[n];
                let largest = self.sets[inner].outer.iter().map(|&outer| self.sets[outer].own).max();
                self.sets[inner].set_share(largest.unwrap_or(0), self.now_ns);
            }
        }
    }

    /// So much of the queue of an owner is beyond its slots from now on, of one location as a rate.
    pub fn set_beyond(&mut self, owner: usize, beyond: u64) {
        for &LineId { set, line } in &self.of_owners[owner] {
            let set = &mut self.sets[set];
            set.lines[line].settle(set.share, self.now_ns);
            set.lines[line].beyond = beyond;
        }
    }

    /// The instant that was moved on to.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// ∫ of the share of delays that the run explains, up to now or to a later instant until which all stays
    /// as it is.
    pub fn explained(&self, set: usize, at_ns: u64) -> Units {
        let set = &self.sets[set];
        set.level + fraction(units(at_ns - set.since_ns), set.share, ONE)
    }

    /// ∫ of the part of it that is beyond the slots of this owner, likewise.
    pub fn beyond(&self, line: LineId, at_ns: u64) -> Units {
        let set = &self.sets[line.set];
        set.lines[line.line].at(set.share, at_ns)
    }
}

impl Set {
    fn explained(&self) -> u64 {
        let wanted = self.on_processor + self.queued;
        if self.queued == 0 || wanted <= self.capacity {
            return 0;
        }
        let share = |part: u64, of: u64| (u128::from(part) * u128::from(ONE) / u128::from(of)) as u64;
        let held = share(self.on_processor.min(self.capacity), self.capacity.max(1));
        let too_many = wanted - self.capacity;
        if too_many >= self.queued { held } else { held.min(share(too_many, self.queued)) }
    }

    fn set_share(&mut self, share: u64, now_ns: u64) {
        if share == self.share {
            return;
        }
        self.level += fraction(units(now_ns - self.since_ns), self.share, ONE);
        self.since_ns = now_ns;
        for line in &mut self.lines {
            line.settle(self.share, now_ns);
        }
        self.share = share;
    }
}

impl Line {
    fn at(&self, share: u64, now_ns: u64) -> Units {
        self.level + fraction(units(now_ns - self.since_ns), self.beyond.min(share), ONE)
    }

    fn settle(&mut self, share: u64, now_ns: u64) {
        self.level = self.at(share, now_ns);
        self.since_ns = now_ns;
    }
}
