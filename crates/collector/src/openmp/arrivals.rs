//! When the last thread of a team arrived at a barrier: until then the others waited for threads, from then
//! on for the runtime.
//!
//! Each thread stores when it arrived, and the last to arrive has stored last. That cache line moves from one
//! thread to the next, which takes about as long as the runtime's own barrier. So where barriers follow each
//! other closely some, randomly selected, are *shared* in this way and represent the others: then how a wait
//! is divided is an estimate, how long it was is not.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// About so far apart are shared barriers: the cost of sharing one, up to 800 ns where processors share no
/// cache, then stays below 1 % of the time.
const APART_NS: u64 = 100_000;
/// Of many barriers one in so many is shared at least, on average.
const MOST_APART: u64 = 128;

/// A cache line: data that several threads write often have one of their own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Arrival {
    /// When the last one arrived.
    ns: AtomicU64,
    /// When the last one left, as soon as all of the team are known to have left.
    left_ns: AtomicU64,
    /// The next barrier to be shared, as the team's first thread says.
    next: AtomicU32,
    /// The level of the site from now on, as it says, too.
    level: AtomicU32,
}

/// The team's knowledge after a shared barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// When the last one arrived.
    pub ns: u64,
    /// The level of the barrier's site from now on.
    pub level: u32,
    /// When the last one left, where all of the team are known to have left; else any time before that.
    pub left_ns: u64,
}

/// The team's side. Two in turn are enough: no thread can be two shared barriers ahead.
#[derive(Debug, Default)]
pub struct Arrivals([Arrival; 2]);

/// A thread's side. Used by its thread alone.
#[derive(Debug, Default)]
pub struct Barriers {
    count: AtomicU32,
    shared: AtomicU32,
    next: AtomicU32,
    is_shared: AtomicU32,
    shared_count: AtomicU32,
    shared_ns: AtomicU64,
    awaited: AtomicU32,
    awaited_arrival_ns: AtomicU64,
    awaited_since_ns: AtomicU64,
    awaited_end_ns: AtomicU64,
}

/// The state of [`Barriers`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierState {
    /// Barriers at which the thread arrived.
    count: u32,
    /// Those of them that were shared.
    shared: u32,
    /// The next one that is.
    next: u32,
    /// Whether the newest one is.
    is_shared: u32,
    /// The newest shared one, and when the thread arrived there. For the team's first thread.
    shared_count: u32,
    shared_ns: u64,
    /// A shared one of which the team's side is not known yet: 1 + the place of its site; 0 = none.
    awaited: u32,
    /// When the thread arrived there, since when it waited there, and until when.
    awaited_arrival_ns: u64,
    awaited_since_ns: u64,
    awaited_end_ns: u64,
}

/// A visit to a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// The place of its site.
    pub at: usize,
    /// When the thread arrived.
    pub arrived_ns: u64,
    /// Since when it waited there: later than it arrived if it did a task first.
    pub since_ns: u64,
    /// When it left.
    pub end_ns: u64,
}

impl Barriers {
    /// The state that [`Barriers::restore`] sets again.
    pub fn state(&self) -> BarrierState {
        BarrierState {
            count: self.count.load(Ordering::Relaxed),
            shared: self.shared.load(Ordering::Relaxed),
            next: self.next.load(Ordering::Relaxed),
            is_shared: self.is_shared.load(Ordering::Relaxed),
            shared_count: self.shared_count.load(Ordering::Relaxed),
            shared_ns: self.shared_ns.load(Ordering::Relaxed),
            awaited: self.awaited.load(Ordering::Relaxed),
            awaited_arrival_ns: self.awaited_arrival_ns.load(Ordering::Relaxed),
            awaited_since_ns: self.awaited_since_ns.load(Ordering::Relaxed),
            awaited_end_ns: self.awaited_end_ns.load(Ordering::Relaxed),
        }
    }

    /// Continues from that state.
    pub fn restore(&self, state: &BarrierState) {
        self.count.store(state.count, Ordering::Relaxed);
        self.shared.store(state.shared, Ordering::Relaxed);
        self.next.store(state.next, Ordering::Relaxed);
        self.is_shared.store(state.is_shared, Ordering::Relaxed);
        self.shared_count.store(state.shared_count, Ordering::Relaxed);
        self.shared_ns.store(state.shared_ns, Ordering::Relaxed);
        self.awaited.store(state.awaited, Ordering::Relaxed);
        self.awaited_arrival_ns.store(state.awaited_arrival_ns, Ordering::Relaxed);
        self.awaited_since_ns.store(state.awaited_since_ns, Ordering::Relaxed);
        self.awaited_end_ns.store(state.awaited_end_ns, Ordering::Relaxed);
    }

    /// Counts a measured barrier; which one, and whether the team shares it. A thread shares none until it
    /// has read what the team knows of the one before: so all share the same ones, and no thread writes where
    /// another one has still to read.
    fn count(&self) -> (u32, bool) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
        let is_shared =
            self.awaited.load(Ordering::Relaxed) == 0 && count >= self.next.load(Ordering::Relaxed);
        (count, is_shared)
    }

    /// The team's words of the barrier that is shared now.
    fn share<'t>(&self, team: &'t Arrivals) -> &'t Arrival {
        let shared = self.shared.load(Ordering::Relaxed);
        self.shared.store(shared.wrapping_add(1), Ordering::Relaxed);
        &team.0[shared as usize % 2]
    }

    /// The team's data of the newest one that was shared.
    fn learn(&self, team: &Arrivals) -> Shared {
        let arrival = &team.0[self.shared.load(Ordering::Relaxed).wrapping_sub(1) as usize % 2];
        // All of the team read this between the same two barriers: so all share the same ones.
        self.next.store(arrival.next.load(Ordering::Relaxed), Ordering::Relaxed);
        Shared {
            ns: arrival.ns.load(Ordering::Relaxed),
            level: arrival.level.load(Ordering::Relaxed),
            left_ns: arrival.left_ns.load(Ordering::Relaxed),
        }
    }

    /// The barrier after this one that the team shares, where this thread arrived at this one, `count`, at
    /// `now_ns`.
    fn following(&self, count: u32, now_ns: u64) -> u32 {
        let since = self.shared_count.load(Ordering::Relaxed);
        let passed_ns = now_ns.saturating_sub(self.shared_ns.load(Ordering::Relaxed));
        self.shared_count.store(count, Ordering::Relaxed);
        self.shared_ns.store(now_ns, Ordering::Relaxed);
        if since >= count {
            return count.wrapping_add(1);
        }
        let one_ns = passed_ns / u64::from(count - since);
        let one_in = (APART_NS / one_ns.max(1)).clamp(1, MOST_APART);
        // From one to twice the mean, in no step with the program's loops.
        let chance = (now_ns ^ u64::from(count)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        count.wrapping_add(1 + (chance % (2 * one_in - 1)) as u32)
    }
}

impl Arrivals {
    /// A thread arrives at its next barrier that is measured, as the team's first one if `leads`: then it
    /// decides which `level` the barrier's site gets.
    #[inline]
    pub fn arrive(&self, own: &Barriers, leads: bool, now_ns: u64, level: impl FnOnce() -> u32) {
        let (count, is_shared) = own.count();
        own.is_shared.store(u32::from(is_shared), Ordering::Relaxed);
        if is_shared {
            let arrival = own.share(self);
            // Later barriers have later times, so nothing is to be set back.
            arrival.ns.fetch_max(now_ns, Ordering::Relaxed);
            if leads {
                arrival.next.store(own.following(count, now_ns), Ordering::Relaxed);
                arrival.level.store(level(), Ordering::Relaxed);
            }
        }
    }

    /// The team's data of the barrier that the thread has just left; None if that one was not shared.
    #[inline]
    pub fn last(&self, own: &Barriers) -> Option<Shared> {
        if own.is_shared.load(Ordering::Relaxed) == 0 {
            return None;
        }
        own.is_shared.store(0, Ordering::Relaxed);
        Some(own.learn(self))
    }

    /// The thread leaves the barrier whose data [`Arrivals::last`] has just given; in which of the team's
    /// lines it is noted. All of the team have done so when they are at their next barrier.
    #[inline]
    pub fn leave(&self, own: &Barriers, now_ns: u64) -> u32 {
        let line = own.shared.load(Ordering::Relaxed).wrapping_sub(1) % 2;
        self.0[line as usize].left_ns.fetch_max(now_ns, Ordering::Relaxed);
        line
    }

    /// When the last thread left the barrier that this line is of: for a thread that has passed another
    /// barrier since, or the end of the region.
    #[inline]
    pub fn left_ns(&self, line: u32) -> u64 {
        self.0[line as usize % 2].left_ns.load(Ordering::Relaxed)
    }

    /// A thread has passed its next measured barrier, and wrote nothing before it: a write to memory that
    /// others read would have delayed it, and so changed the measurement. If this one is shared, it writes
    /// now when it arrived; all of the team have done so when they are at their next measured one. Returns
    /// what is known by then of the one before. `leads` and `level` as above.
    pub fn passed(
        &self,
        own: &Barriers,
        leads: bool,
        visit: &Visit,
        level: impl FnOnce() -> u32,
    ) -> Option<(Visit, Shared)> {
        let (count, is_shared) = own.count();
        if !is_shared {
            return self.awaited(own);
        }
        let arrival = own.share(self);
        // Later barriers have later times, so nothing is to be set back.
        arrival.ns.fetch_max(visit.arrived_ns, Ordering::Relaxed);
        arrival.left_ns.fetch_max(visit.end_ns, Ordering::Relaxed);
        if leads {
            arrival.next.store(own.following(count, visit.arrived_ns), Ordering::Relaxed);
            arrival.level.store(level(), Ordering::Relaxed);
        }
        own.awaited.store(visit.at as u32 + 1, Ordering::Relaxed);
        own.awaited_arrival_ns.store(visit.arrived_ns, Ordering::Relaxed);
        own.awaited_since_ns.store(visit.since_ns, Ordering::Relaxed);
        own.awaited_end_ns.store(visit.end_ns, Ordering::Relaxed);
        None
    }

    /// The team's data of the barrier that was shared by [`Arrivals::passed`], after the next one at which
    /// the thread arrived by [`Arrivals::arrive`].
    #[inline]
    pub fn awaited(&self, own: &Barriers) -> Option<(Visit, Shared)> {
        let awaited = own.awaited.load(Ordering::Relaxed);
        if awaited == 0 {
            return None;
        }
        own.awaited.store(0, Ordering::Relaxed);
        let visit = Visit {
            at: awaited as usize - 1,
            arrived_ns: own.awaited_arrival_ns.load(Ordering::Relaxed),
            since_ns: own.awaited_since_ns.load(Ordering::Relaxed),
            end_ns: own.awaited_end_ns.load(Ordering::Relaxed),
        };
        Some((visit, own.learn(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The barriers of two threads, `apart_ns` from one to the next; when the last one arrived, as both of
    /// them found it.
    fn found(barriers: u64, apart_ns: u64) -> Vec<[Option<u64>; 2]> {
        let (team, first, second) = (Arrivals::default(), Barriers::default(), Barriers::default());
        let barrier = |number: u64| {
            let now_ns = 1_000_000_000 + number * apart_ns;
            let second_is_late = number % 2 == 1;
            if second_is_late {
                team.arrive(&first, true, now_ns, || 0);
                team.arrive(&second, false, now_ns + 5, || 0);
            } else {
                team.arrive(&second, false, now_ns, || 0);
                team.arrive(&first, true, now_ns + 5, || 0);
            }
            [team.last(&first), team.last(&second)].map(|last| last.map(|last| last.ns - now_ns))
        };
        (0..barriers).map(barrier).collect()
    }

    #[test]
    fn all_barriers_that_are_far_apart_are_shared() {
        assert!(found(1_000, 101_000).iter().all(|both| *both == [Some(5); 2]));
    }

    #[test]
    fn of_many_some_are_shared_by_all_threads() {
        let found = found(100_000, 800);
        assert!(found.iter().all(|both| both[0] == both[1] && both[0].is_none_or(|ns| ns == 5)));
        let shared =
            |late: usize| found.iter().skip(late).step_by(2).filter(|both| both[0].is_some()).count();
        // One in 125, and as many of the one kind as of the other: 400 of each.
        assert!((320..480).contains(&shared(0)) && (320..480).contains(&shared(1)));
    }

    /// The barriers of two threads that write nothing before them; each time one of them is later. The
    /// results of both, by their number.
    fn found_later(barriers: u64, apart_ns: u64) -> [Vec<(u64, u64)>; 2] {
        let (team, own) = (Arrivals::default(), [Barriers::default(), Barriers::default()]);
        let mut learnt = [vec![], vec![]];
        for number in 0..barriers {
            let now_ns = 1_000_000_000 + number * apart_ns;
            let late = number as usize % 2;
            // Each of them is first to leave now and then.
            for who in [number as usize / 2 % 2, 1 - number as usize / 2 % 2] {
                let arrived_ns = now_ns + if who == late { 5 } else { 0 };
                let end_ns = now_ns + if who == late { 13 } else { 9 };
                let visit = Visit { at: 3, arrived_ns, since_ns: arrived_ns, end_ns };
                if let Some((visit, shared)) = team.passed(&own[who], who == 0, &visit, || number as u32) {
                    let of = (visit.arrived_ns - 1_000_000_000) / apart_ns;
                    let is_late = of as usize % 2 == who;
                    assert_eq!(shared.left_ns - visit.end_ns, if is_late { 0 } else { 4 });
                    assert_eq!((visit.at, shared.level), (3, of as u32));
                    learnt[who].push((of, shared.ns - (1_000_000_000 + of * apart_ns)));
                }
            }
        }
        learnt
    }

    #[test]
    fn a_thread_that_writes_its_arrival_afterwards_learns_of_the_same_barriers() {
        for apart_ns in [800, 50_000] {
            let learnt = found_later(20_000, apart_ns);
            assert_eq!(learnt[0], learnt[1]);
            assert!(learnt[0].len() > 100, "{}", learnt[0].len());
            assert!(learnt[0].iter().all(|&(_, late_ns)| late_ns == 5));
            let even = learnt[0].iter().filter(|(number, _)| number % 2 == 0).count();
            assert!(even > 30 && learnt[0].len() - even > 30, "{even} of {}", learnt[0].len());
        }
    }

    #[test]
    fn a_region_inside_leaves_the_outer_ones_barriers_alone() {
        let (outer, inner, own) = (Arrivals::default(), Arrivals::default(), Barriers::default());
        outer.arrive(&own, true, 1_000, || 3);
        let state = own.state();
        own.restore(&BarrierState::default());
        inner.arrive(&own, true, 2_000, || 0);
        assert_eq!(inner.last(&own), Some(Shared { ns: 2_000, level: 0, left_ns: 0 }));
        own.restore(&state);
        assert_eq!(outer.last(&own), Some(Shared { ns: 1_000, level: 3, left_ns: 0 }));
    }
}
