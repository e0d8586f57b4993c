//! The slots of one owner of processors over time: how many are filled, and the accounts of the empty ones.

use super::demand::{Demand, ONE, Place};
use super::fixed::{Level, Units, fraction, units};
use super::owners::Owner;
use super::windows::{Window, Windows};

/// What an owner's empty slots mean at a time, whatever its locations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Look at the locations.
    Alive,
    /// The owner has not started or has ended: `idle`.
    Absent,
    /// A process of the owner was not recorded: it is not known that the slots were empty.
    Paused,
}

/// Integrates an owner's slots. Time is moved on by [`Slots::advance`], always before a location's state
/// changes.
///
/// At each instant there are P slots, P the owner's processors. With A < P active locations the P − A empty
/// ones are shared by those that work; if none does, by those that wait; if all are passive they are asleep.
/// With A > P the slots are filled in the order of [`Place`]; where a place finds room for a part of those in
/// it, each has his share of that. The rest is beyond the processors.
#[derive(Debug)]
pub(super) struct Slots {
    processors: u64,
    phases: Vec<(Window, Phase)>,
    /// Locations working now.
    pub working: u64,
    /// Locations waiting now, blocked or polling.
    pub waiting: u64,
    /// The present demand of all of them.
    demand: [u64; Place::ALL.len()],
    now: Integrals,
}

/// What was integrated up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Integrals {
    at_ns: u64,
    next_phase: usize,
    /// For each place, for how long a location that was in it throughout was beyond the processors.
    pub beyond: [Units; Place::ALL.len()],
    /// The empty slots charged to each location that worked throughout.
    pub to_workers: Level,
    /// The same for those that waited while none worked.
    pub to_waiters: Level,
    pub sums: SlotSums,
}

/// Integrals over an owner's slots, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotSums {
    /// ∫ P dt.
    pub total_ns: u64,
    /// ∫ max(A − P, 0) dt.
    pub beyond_ns: u64,
    pub asleep_ns: u64,
    pub idle_ns: u64,
    pub paused_ns: u64,
}

impl Slots {
    /// The slots of `owner` within `windows`, which must lie within the run's time.
    pub fn new(owner: &Owner, processors: u32, windows: &Windows) -> Slots {
        let life: Windows = [owner.life].into_iter().collect();
        let mut phases = Vec::new();
        for stretch in windows.cut_by(&life) {
            if stretch.inside {
                let alive: Windows = [stretch.window].into_iter().collect();
                phases.extend(
                    alive
                        .cut_by(&owner.paused)
                        .into_iter()
                        .map(|part| (part.window, if part.inside { Phase::Paused } else { Phase::Alive })),
                );
            } else {
                phases.push((stretch.window, Phase::Absent));
            }
        }
        Slots {
            processors: u64::from(processors),
            phases,
            working: 0,
            waiting: 0,
            demand: Default::default(),
            now: Integrals::default(),
        }
    }

    /// Moves on to `to_ns`, the locations having been as they are now since the last call.
    pub fn advance(&mut self, to_ns: u64) {
        if to_ns > self.now.at_ns {
            let mut now = self.now;
            self.integrate_until(to_ns, &mut now);
            self.now = now;
        }
    }

    /// The integrals up to the instant that was moved on to.
    pub fn now(&self) -> &Integrals {
        &self.now
    }

    /// What the integrals will be at a later instant, if all locations stay as they are until then.
    pub fn at(&self, to_ns: u64) -> Integrals {
        let mut then = self.now;
        if to_ns > then.at_ns {
            self.integrate_until(to_ns, &mut then);
        }
        then
    }

    fn integrate_until(&self, to_ns: u64, to: &mut Integrals) {
        while let Some(&(window, phase)) = self.phases.get(to.next_phase) {
            if window.start_ns >= to_ns {
                break;
            }
            let from_ns = window.start_ns.max(to.at_ns);
            self.integrate(window.end_ns.min(to_ns) - from_ns, phase, to);
            if window.end_ns > to_ns {
                break;
            }
            to.next_phase += 1;
        }
        to.at_ns = to_ns;
    }

    /// A location goes from one demand to another.
    pub fn change(&mut self, from: Demand, to: Demand) {
        for (sum, (from, to)) in self.demand.iter_mut().zip(from.of_place.into_iter().zip(to.of_place)) {
            *sum = *sum - from + to;
        }
    }

    /// Of the queued locations, the share that is beyond the processors now, of one location as a rate.
    pub fn queue_beyond(&self) -> u64 {
        if self.working + self.waiting <= self.processors {
            return 0;
        }
        let (beyond, all) = self.split()[Place::Queued as usize];
        if beyond == 0 { 0 } else { (u128::from(beyond) * u128::from(ONE) / u128::from(all)) as u64 }
    }

    /// For each place how much of it is beyond the processors now, and how much there is.
    fn split(&self) -> [(u64, u64); Place::ALL.len()] {
        let active = self.working + self.waiting;
        let mut too_many = active.saturating_sub(self.processors) * ONE;
        let mut split = self.demand.map(|all| (0, all));
        for (beyond, all) in split.iter_mut().rev() {
            *beyond = too_many.min(*all);
            too_many -= *beyond;
        }
        split
    }

    /// Moves on to the end of the last window.
    pub fn finish(&mut self) {
        if let Some(&(window, _)) = self.phases.last() {
            self.advance(window.end_ns);
        }
    }

    fn integrate(&self, ns: u64, phase: Phase, to: &mut Integrals) {
        let active = self.working + self.waiting;
        let empty = self.processors.saturating_sub(active);
        to.sums.total_ns += self.processors * ns;
        if active > self.processors {
            to.sums.beyond_ns += (active - self.processors) * ns;
            let split = self.split();
            for (level, (beyond, all)) in to.beyond.iter_mut().zip(split) {
                if beyond > 0 {
                    *level += fraction(units(ns), beyond, all);
                }
            }
        }
        if empty == 0 {
            return;
        }
        match phase {
            Phase::Absent => to.sums.idle_ns += empty * ns,
            Phase::Paused => to.sums.paused_ns += empty * ns,
            Phase::Alive if self.working > 0 => to.to_workers.pour(empty, ns, self.working),
            Phase::Alive if self.waiting > 0 => to.to_waiters.pour(empty, ns, self.waiting),
            Phase::Alive => to.sums.asleep_ns += empty * ns,
        }
    }
}
