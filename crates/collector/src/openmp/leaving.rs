//! By how much later than a thread the last one of its team left a barrier: known once the thread has passed
//! another one, since all of the team have left the first by then.
//!
//! Of barriers that the team shares ([`Arrivals`](super::arrivals::Arrivals)). At the last one of a region
//! the opener learns it behind the region, and another thread where it begins its part of the team's next
//! region.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::sites::Site;
use super::team::Team;

/// The newest shared barrier that the thread has left, until it knows when the last one did. Used by its
/// thread alone.
#[derive(Debug, Default)]
pub struct Leaving {
    /// Null = there is none.
    team: AtomicPtr<Team>,
    line: AtomicU32,
    /// The execution of the region.
    epoch: AtomicU64,
    end_ns: AtomicU64,
    region: AtomicU32,
    operation: AtomicU32,
    address: AtomicU64,
    sp: AtomicU64,
}

impl Leaving {
    /// It has left a barrier at `end_ns`, in the execution `epoch` of a region.
    pub fn left(&self, team: &'static Team, line: u32, (epoch, end_ns): (u64, u64), site: &Site) {
        self.team.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
        self.line.store(line, Ordering::Relaxed);
        self.epoch.store(epoch, Ordering::Relaxed);
        self.end_ns.store(end_ns, Ordering::Relaxed);
        self.region.store(site.region, Ordering::Relaxed);
        self.operation.store(site.operation.into(), Ordering::Relaxed);
        self.address.store(site.address, Ordering::Relaxed);
        self.sp.store(site.sp, Ordering::Relaxed);
    }

    /// Whether it waits to learn of a barrier of this team.
    #[inline]
    pub fn is_of(&self, team: &Team) -> bool {
        core::ptr::eq(self.team.load(Ordering::Relaxed), team)
    }

    /// The execution of the region in which that barrier is.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// The site of that barrier, and how much later the last thread left. For a thread that has passed
    /// another barrier of this team since, or knows in another way that all have left, and none has left the
    /// second one after it.
    #[inline]
    pub fn learn(&self, team: &Team) -> Option<(Site, u64)> {
        if self.is_of(team) { Some(self.take(team)) } else { None }
    }

    #[inline(never)]
    fn take(&self, team: &Team) -> (Site, u64) {
        self.forget();
        let left_ns = team.arrivals.left_ns(self.line.load(Ordering::Relaxed));
        let site = Site {
            region: self.region.load(Ordering::Relaxed),
            operation: self.operation.load(Ordering::Relaxed) as u16,
            address: self.address.load(Ordering::Relaxed),
            sp: self.sp.load(Ordering::Relaxed),
        };
        (site, left_ns.saturating_sub(self.end_ns.load(Ordering::Relaxed)))
    }

    /// It will not learn of that barrier.
    pub fn forget(&self) {
        self.team.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::arrivals::Barriers;

    #[test]
    fn who_leaves_early_learns_by_how_much_after_the_next_barrier() {
        let (team, other) = (Team::made(), Team::made());
        let own: [(Barriers, Leaving); 2] = Default::default();
        let site = Site { region: 1, operation: 2, address: 3, sp: 4 };
        let mut found = [Vec::new(), Vec::new()];
        for number in 1..=5 {
            let now_ns = number * 1_000_000;
            for (who, (barriers, _)) in own.iter().enumerate() {
                team.arrivals.arrive(barriers, who == 0, now_ns, || 0);
            }
            for (who, (barriers, leaving)) in own.iter().enumerate() {
                assert!(team.arrivals.last(barriers).is_some(), "each is shared");
                let end_ns = now_ns + 10 + if who == 0 { 0 } else { number };
                let line = team.arrivals.leave(barriers, end_ns);
                assert_eq!(leaving.learn(other), None);
                found[who].extend(leaving.learn(team));
                leaving.left(team, line, (7, end_ns), &site);
            }
        }
        assert_eq!(found[0], (1..=4).map(|number| (site, number)).collect::<Vec<_>>());
        assert_eq!(found[1], vec![(site, 0); 4]);
    }
}
