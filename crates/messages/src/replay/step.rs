//! What the replay reads of a process: its calls, and what they depend on.

use crate::call::{CallId, Collective};
use crate::waits::Times;

/// What a call depends on, or others on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It begins to send the message of this number.
    Sends(u64),
    /// It begins to take part in a collective.
    Arrives(Arrival),
    /// It goes on when this message's send has begun.
    Takes(u64),
    /// It goes on when others have arrived at the collective of this number, of which it is this member.
    Meets {
        /// The collective.
        number: u64,
        /// The member.
        member: u32,
    },
}

impl Dependency {
    /// Whether the call depends on others.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Dependency::Takes(_) | Dependency::Meets { .. })
    }
}

/// A member's begin of a collective that members depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The collective; messages are numbered with them.
    pub number: u64,
    /// Who depends on whom.
    pub kind: Collective,
    /// Whether the member is the root.
    pub is_root: bool,
    /// How many members there are.
    pub members: u32,
    /// How many of them go on when others have arrived ([`Dependency::Meets`]).
    pub depending: u32,
    /// The member that arrives; of a scan by its place in the order of ranks.
    pub member: u32,
}

/// What is read of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its next call begins; the one before is over.
    Call(Times),
    /// Of that call. Those on which others depend are first.
    Depends(Dependency),
}

/// The calls in `range`, and what they depend on, of which the process's are given in any order.
pub fn steps<'c>(
    calls: &'c [Times],
    dependencies: &[(CallId, Dependency)],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = Step> + 'c {
    // By call, as the calls are numbered: that takes less time than sorting.
    let mut ends: Vec<u32> = vec![0; calls.len() + 1];
    let all = || dependencies.iter().filter(|(call, _)| (*call as usize) < calls.len());
    all().for_each(|(call, _)| ends[*call as usize + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![Dependency::Sends(0); all().count()];
    for is_waiting in [false, true] {
        for (call, on) in all().filter(|(_, on)| on.is_waiting() == is_waiting) {
            let place = &mut ends[*call as usize];
            sorted[*place as usize] = *on;
            *place += 1;
        }
    }
    // `ends` are those of each call's own now.
    let begin = range.start.checked_sub(1).map_or(0, |before| ends.get(before).copied().unwrap_or(0));
    let (mut at, mut left, mut call) = (begin as usize, 0, range.start);
    std::iter::from_fn(move || {
        if left > 0 {
            (left, at) = (left - 1, at + 1);
            return Some(Step::Depends(sorted[at - 1]));
        }
        let times = *calls.get(call).filter(|_| call < range.end)?;
        left = ends[call] as usize - at;
        call += 1;
        Some(Step::Call(times))
    })
}
