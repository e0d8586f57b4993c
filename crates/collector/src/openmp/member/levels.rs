//! The teams that a thread has opened and not closed: regions inside regions.

use core::sync::atomic::Ordering;

use super::Member;
use crate::openmp::team::Team;
use crate::room;

impl Member {
    /// The team for the next region that it opens; None if there are too many, or no memory.
    pub fn push_level(&self) -> Option<&'static Team> {
        let depth = self.depth.load(Ordering::Relaxed);
        let level = self.levels.get(depth as usize)?;
        let mut team = level.load(Ordering::Relaxed);
        if team.is_null() {
            team = room::apart(|| core::ptr::from_ref(Team::made()).cast_mut());
            level.store(team, Ordering::Relaxed);
        }
        self.depth.store(depth + 1, Ordering::Relaxed);
        // SAFETY: made above, or when this level was first reached; never freed.
        unsafe { team.as_ref() }
    }

    /// Whether it is in no region, as far as is known.
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.region() == 0 && self.depth.load(Ordering::Relaxed) == 0
    }

    /// The innermost team that it has opened and not closed.
    pub fn last_level(&self) -> Option<&'static Team> {
        let depth = (self.depth.load(Ordering::Relaxed) as usize).checked_sub(1)?;
        // SAFETY: as above.
        unsafe { self.levels.get(depth)?.load(Ordering::Relaxed).as_ref() }
    }

    /// That one is closed.
    pub fn pop_level(&self) {
        let depth = self.depth.load(Ordering::Relaxed);
        self.depth.store(depth.saturating_sub(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVELS;
    use super::*;

    #[test]
    fn no_more_levels_than_there_are() {
        let member = Member::default();
        assert_eq!((0..LEVELS + 5).filter(|_| member.push_level().is_some()).count(), LEVELS);
    }
}
