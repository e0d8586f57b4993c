//! The information on a region that its threads get in the one word that the runtime hands on to them.
//!
//! They read it anyway. Reading anything else that the opener has just written takes some tenths of a
//! microsecond if their processors share no cache: more than all the rest. So the word says which team it is,
//! when the region was opened, and how long before that the one before was over; and the team's own lines
//! stay as they are.

use super::Team;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};

/// No address of a program has this bit.
const IS_GIVEN: u64 = 1 << 63;
/// In a model there are few teams: each has a word of the checker.
const NUMBER_BITS: u32 = if cfg!(loom) { 2 } else { 12 };
const FORK_BITS: u32 = 37;
const GAP_BITS: u32 = 14;
/// A gap as long as that or longer.
const LONG_GAP: u64 = (1 << GAP_BITS) - 1;

/// When a region was opened, and when the one of the same team before it was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// When it was opened.
    pub fork_ns: u64,
    /// When the one before was over; None if that is longer ago than can be said.
    pub before_end_ns: Option<u64>,
}

/// Teams that have a number.
#[derive(Debug)]
pub struct Numbers {
    /// By number; the first has none.
    teams: [AtomicPtr<Team>; 1 << NUMBER_BITS],
    last: AtomicU32,
}

#[cfg(not(loom))]
static NUMBERS: Numbers = Numbers {
    teams: [const { AtomicPtr::new(core::ptr::null_mut()) }; 1 << NUMBER_BITS],
    last: AtomicU32::new(0),
};

impl Numbers {
    /// None yet; a checker's words are not made by the compiler.
    #[cfg(loom)]
    pub fn new() -> Numbers {
        let teams = core::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut()));
        Numbers { teams, last: AtomicU32::new(0) }
    }

    /// A number for a new team; 0 if there is none left.
    pub fn number(&self, team: &'static Team) -> u32 {
        let number = self.last.load(Ordering::Relaxed) + 1;
        match self.teams.get(number as usize) {
            Some(place)
                if self
                    .last
                    .compare_exchange(number - 1, number, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok() =>
            {
                place.store(core::ptr::from_ref(team).cast_mut(), Ordering::Release);
                number
            }
            // Two threads at once: one of them goes without.
            _ => 0,
        }
    }
}

/// A number for a new team; 0 if there is none left.
#[cfg(not(loom))]
pub fn number(team: &'static Team) -> u32 {
    NUMBERS.number(team)
}

/// The word for the team of this number.
#[inline]
pub fn word(number: u32, fork_ns: u64, before_end_ns: u64) -> u64 {
    let gap = fork_ns.saturating_sub(before_end_ns).min(LONG_GAP);
    let fork = fork_ns & ((1 << FORK_BITS) - 1);
    IS_GIVEN | u64::from(number) << (FORK_BITS + GAP_BITS) | fork << GAP_BITS | gap
}

/// The team's number that a word says; None if the word is the team's address.
#[inline]
fn number_in(word: u64) -> Option<usize> {
    let number = word >> (FORK_BITS + GAP_BITS) & ((1 << NUMBER_BITS) - 1);
    (word & IS_GIVEN != 0).then_some(number as usize)
}

/// The content of a word at `now_ns`, less than two minutes after the region was opened.
#[inline]
fn opened(word: u64, now_ns: u64) -> Opened {
    let fork = word >> GAP_BITS & ((1 << FORK_BITS) - 1);
    let since = now_ns.wrapping_sub(fork) & ((1 << FORK_BITS) - 1);
    let fork_ns = now_ns.saturating_sub(since);
    let gap = word & LONG_GAP;
    Opened { fork_ns, before_end_ns: (gap != LONG_GAP).then(|| fork_ns.saturating_sub(gap)) }
}

/// A word that a thread of a team was given.
#[derive(Clone, Copy, Debug)]
pub struct Given(u64);

impl Given {
    /// # Safety
    /// The word is one that [`Team::given`] made.
    #[inline]
    pub unsafe fn from_word(word: usize) -> Given {
        Given(word as u64)
    }

    /// The team.
    #[cfg(not(loom))]
    #[inline]
    pub fn team(self) -> &'static Team {
        self.team_of(&NUMBERS)
    }

    /// The team, which got its number from `numbers`.
    #[inline]
    pub fn team_of(self, numbers: &Numbers) -> &'static Team {
        let team = match number_in(self.0) {
            Some(number) => numbers.teams[number].load(Ordering::Acquire),
            None => self.0 as *mut Team,
        };
        // SAFETY: the word was made of this team, and teams are never freed.
        unsafe { &*team }
    }

    /// Its content at `now_ns` for the region; None if there is none.
    #[inline]
    pub fn opened(self, now_ns: u64) -> Option<Opened> {
        number_in(self.0).map(|_| opened(self.0, now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_it_was_made_of() {
        for fork_ns in [5_u64, 1 << 36, (1 << 37) + 12_345, 0x1234_5678_9abc_def0] {
            for (gap_ns, is_known) in
                [(0, true), (1, true), (16_382, true), (16_383, false), (1 << 40, false)]
            {
                let before_end_ns = fork_ns.saturating_sub(gap_ns);
                let is_known = is_known || fork_ns - before_end_ns < 16_383;
                let made = word(4095, fork_ns, before_end_ns);
                assert_eq!(number_in(made), Some(4095));
                for later_ns in [0, 1, 1 << 30, (1 << 37) - 1] {
                    let found = opened(made, fork_ns + later_ns);
                    let before_end_ns = is_known.then_some(before_end_ns);
                    assert_eq!(found, Opened { fork_ns, before_end_ns }, "{fork_ns} {gap_ns} {later_ns}");
                }
            }
        }
    }

    #[test]
    fn an_address_is_no_word_with_times() {
        let team: &'static Team = Box::leak(Box::default());
        // SAFETY: a team without a number gives its address.
        let given = unsafe { Given::from_word(team.given()) };
        assert!(core::ptr::eq(given.team(), team));
        assert_eq!(given.opened(1_000), None);
        let team = Team::made();
        team.times.open(2_000);
        // SAFETY: as above, with a number.
        let given = unsafe { Given::from_word(team.given()) };
        assert!(core::ptr::eq(given.team(), team));
        assert_eq!(given.opened(2_500).map(|opened| opened.fork_ns), Some(2_000));
    }
}
