//! The cost of counting a visit, found within the run: in some stretches between two drawn visits each visit
//! is counted twice, and those stretches take longer by as many times the cost of counting once.
//!
//! The second counting executes the same instructions on a cache line of its own, and its result is not used.
//! All threads of a team do it in the same stretches
//! ([`draws::is_doubled`](crate::openmp::draws::is_doubled)), so that what is seen is what the program loses,
//! the waits of the others included. A stretch is compared with the ones before and after it: the program may
//! do more or less from one phase to the next.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proust_log::records::Trials;

use super::{CallSite, Inside, SITES, Visit, Visits};
use crate::openmp::own_cost;
use crate::openmp::runtime::routes;
use crate::{clock, lane, life};

/// Of a thread's sites; used by that thread alone.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Doubled {
    /// Takes the second counting.
    shadow: Visit,
    /// Whether visits are counted twice at all: not where a runtime reports them by two calls, which the
    /// second counting would have to separate.
    is_on: AtomicBool,
    /// Up to this visit to the site all are counted twice; 0 = none is.
    until: [AtomicU64; SITES],
    /// How many were counted twice.
    made: [AtomicU64; SITES],
    /// When the program continued after the newest drawn visit.
    since_ns: [AtomicU64; SITES],
    /// The cost of recording drawn visits since the last call, ns.
    added_ns: [AtomicU64; SITES],
}

impl Default for Doubled {
    fn default() -> Doubled {
        let zeros = || [const { AtomicU64::new(0) }; SITES];
        Doubled {
            shadow: Visit::default(),
            is_on: AtomicBool::new(false),
            until: zeros(),
            made: zeros(),
            since_ns: zeros(),
            added_ns: zeros(),
        }
    }
}

impl Doubled {
    /// Whether a visit is counted twice.
    #[inline(always)]
    pub(super) fn has(&self, at: usize, count: u64) -> bool {
        count < self.until[at].load(Ordering::Relaxed)
    }

    /// How visits to barriers are observed, which is the same for all of a region.
    pub(super) fn observe_by(&self, inside: Inside) {
        self.is_on.store(inside == Inside::WithFrame, Ordering::Relaxed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    pub(super) fn set_until(&self, at: usize, visit: u64, epoch: u64) {
        self.until[at].store(visit, Ordering::Relaxed);
        self.shadow.epoch.store(epoch, Ordering::Relaxed);
    }

    /// The next second counting is of a visit to this site.
    #[inline(always)]
    fn is_for(&self, call: CallSite) {
        self.shadow.address.store(call.address, Ordering::Relaxed);
        self.shadow.sp.store(call.sp, Ordering::Relaxed);
    }

    #[inline(always)]
    fn was_made(&self, at: usize) {
        let made = &self.made[at];
        made.store(made.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn forget_site(&self, at: usize) {
        for of_site in [&self.until, &self.made, &self.since_ns, &self.added_ns] {
            of_site[at].store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn forget(&self) {
        (0..SITES).for_each(|at| self.forget_site(at));
    }
}

/// Stands for the runtime's own function in the second counting.
extern "C" fn nothing() {}

impl Visits {
    /// Counts a visit that is not drawn, and does it a second time without effect.
    #[inline(never)]
    pub(super) fn count_twice(&'static self, at: usize, call: CallSite, inside: Inside) {
        let site = &self.sites[at];
        self.doubled.is_for(call);
        if self.count_for_nothing(at, call, inside) {
            self.doubled.was_made(at);
        }
        site.count.store(site.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        site.undrawn.store(site.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.now.at.store(at as u32, Ordering::Relaxed);
        self.enter(inside);
    }

    /// As [`pass`](super::pass), the call of the runtime and [`Visits::over`] do it.
    #[inline(never)]
    fn count_for_nothing(&'static self, at: usize, call: CallSite, inside: Inside) -> bool {
        if inside == Inside::WithFrame {
            black_box(routes::known(call.address));
        }
        if !life::records_here() {
            return false;
        }
        let Some(visits) = lane::visits() else { return false };
        let shadow = black_box(&visits.doubled.shadow);
        let count = shadow.count.load(Ordering::Relaxed);
        if !shadow.is_of_now(visits, call) || count < shadow.next.load(Ordering::Relaxed) {
            return false;
        }
        shadow.count.store(count + 1, Ordering::Relaxed);
        shadow.undrawn.store(shadow.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        visits.now.at.store(at as u32, Ordering::Relaxed);
        visits.enter(inside);
        let runtime: extern "C" fn() = black_box(nothing);
        runtime();
        visits.over(|_| {});
        true
    }

    /// Counts a visit as [`pass_alone`](super::pass_alone) does, without using the result.
    #[inline(never)]
    pub(super) fn count_alone_once_more(&'static self, at: usize, call: CallSite) {
        self.doubled.is_for(call);
        black_box(routes::known(call.address));
        if !life::records_here() {
            return;
        }
        let Some(visits) = lane::visits() else { return };
        let shadow = black_box(&visits.doubled.shadow);
        let count = shadow.count.load(Ordering::Relaxed);
        if !visits.now.is_alone.load(Ordering::Relaxed) || !shadow.is_of_now(visits, call) {
            return;
        }
        shadow.count.store(count + 1, Ordering::Relaxed);
        shadow.undrawn.store(shadow.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        visits.now.at.store(at as u32, Ordering::Relaxed);
        self.doubled.was_made(at);
    }

    /// The cost of measuring a visit since the clock was read, at `since_ns`, is no time of the program's.
    pub fn took(&self, since_ns: u64) {
        let at = self.at();
        let Some(added_ns) = self.doubled.added_ns.get(at) else { return };
        let now_ns = clock::ordered_ns();
        self.doubled.since_ns[at].store(now_ns, Ordering::Relaxed);
        let took_ns = now_ns.saturating_sub(since_ns) + clock::reading_ns();
        // The thread lost its processor meanwhile.
        if took_ns > own_cost::MOST_NS {
            return;
        }
        added_ns.store(added_ns.load(Ordering::Relaxed) + took_ns, Ordering::Relaxed);
    }

    /// The cost of measuring visits to the site at a place since the last call, ns.
    pub fn take_added(&self, at: usize) -> u64 {
        let added_ns = &self.doubled.added_ns[at];
        let ns = added_ns.load(Ordering::Relaxed);
        added_ns.store(0, Ordering::Relaxed);
        ns
    }

    /// Whether there is anything to take at a place.
    pub fn has_added_at(&self, at: usize) -> bool {
        self.doubled.added_ns[at].load(Ordering::Relaxed) != 0
    }

    /// Whether there is anything to take.
    pub fn has_added(&self) -> bool {
        (0..SITES).any(|at| self.has_added_at(at))
    }

    /// A drawn visit began at `arrived_ns`: the stretch since the one before is over. `pending` is that of
    /// the thread.
    pub fn end_stretch(&self, trial: &mut Trial, at: usize, arrived_ns: u64, longest_ns: u64) {
        let (Some(site), Some(made)) = (self.sites.get(at), self.doubled.made.get(at)) else { return };
        let (count, made) = (site.count.load(Ordering::Relaxed), made.load(Ordering::Relaxed));
        let epoch = site.epoch.load(Ordering::Relaxed);
        let since_ns = self.doubled.since_ns[at].load(Ordering::Relaxed);
        let begin = core::mem::replace(&mut trial.begin, Begin { epoch, count, made });
        if begin.epoch != epoch || since_ns == 0 || since_ns > arrived_ns {
            trial.breaks_off();
            return;
        }
        trial.add(
            Stretch {
                ns: arrived_ns - since_ns,
                visits: count.saturating_sub(begin.count),
                twice: made.saturating_sub(begin.made),
            },
            longest_ns,
        );
    }
}

/// A stretch between two drawn visits to a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stretch {
    ns: u64,
    /// Visits, the last one included.
    visits: u64,
    /// Of them, how many were counted twice.
    twice: u64,
}

/// The state when a stretch began.
#[derive(Clone, Copy, Debug, Default)]
struct Begin {
    epoch: u64,
    count: u64,
    made: u64,
}

/// Stretches with visits that are counted twice, compared with those beside them. Of one site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    begin: Begin,
    /// The newest stretch in which all were counted once.
    before: Option<Stretch>,
    /// One after it in which they were counted twice.
    twice: Option<Stretch>,
    sums: Trials,
}

impl Trial {
    /// The newest stretches cannot be continued.
    fn breaks_off(&mut self) {
        (self.before, self.twice) = (None, None);
    }

    fn add(&mut self, stretch: Stretch, longest_ns: u64) {
        // A thread lost its processor, or did something else: that would hide the effect that is measured.
        if stretch.visits == 0 || stretch.ns > longest_ns {
            return self.breaks_off();
        }
        if stretch.twice > 0 {
            self.twice = self.before.map(|_| stretch);
            return;
        }
        if let (Some(before), Some(twice)) = (self.before, self.twice) {
            self.compare(&twice, &before, &stretch);
        }
        (self.before, self.twice) = (Some(stretch), None);
    }

    fn compare(&mut self, twice: &Stretch, before: &Stretch, behind: &Stretch) {
        let (ns, visits) = (before.ns + behind.ns, before.visits + behind.visits);
        let expected_ns = twice.visits * ns / visits;
        let more_ns = twice.ns as i64 - expected_ns as i64;
        let sums = &mut self.sums;
        sums.count = sums.count.saturating_add(1);
        sums.visits += twice.twice;
        sums.more_ns += more_ns;
        sums.visits2 = sums.visits2.saturating_add(twice.twice * twice.twice);
        sums.more_ns2 = sums.more_ns2.saturating_add(more_ns.unsigned_abs().saturating_pow(2));
        sums.product = sums.product.saturating_add(more_ns.saturating_mul(twice.twice as i64));
    }

    /// The sums since the last call.
    pub fn take(&mut self) -> Trials {
        core::mem::take(&mut self.sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(visits: u64, each_ns: u64, twice_ns: u64) -> Stretch {
        let twice = if twice_ns > 0 { visits - 1 } else { 0 };
        Stretch { ns: visits * each_ns + twice * twice_ns, visits, twice }
    }

    #[test]
    fn what_is_more_is_what_was_counted_twice_whatever_the_program_does() {
        let mut trial = Trial::default();
        for round in 0..100 {
            // It becomes slower and slower, by the same from stretch to stretch.
            let each_ns = 200 + 3 * round;
            trial.add(stretch(20, each_ns, 0), 1_000_000);
            trial.add(stretch(30, each_ns + 1, 14), 1_000_000);
            trial.add(stretch(20, each_ns + 2, 0), 1_000_000);
        }
        let sums = trial.take();
        assert_eq!((sums.count, sums.visits), (100, 2_900));
        assert_eq!(sums.more_ns, 14 * 2_900);
        assert_eq!(trial.take(), Trials::default());
    }

    #[test]
    fn a_long_stretch_is_compared_with_nothing() {
        let mut trial = Trial::default();
        trial.add(stretch(20, 200, 0), 50_000);
        trial.add(stretch(30, 200, 14), 50_000);
        trial.add(stretch(20, 9_000, 0), 50_000);
        trial.add(stretch(30, 200, 14), 50_000);
        trial.add(stretch(20, 200, 0), 50_000);
        assert_eq!(trial.take(), Trials::default());
    }
}
