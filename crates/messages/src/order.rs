//! Messages that a process could have taken while it waited for another one.
//!
//! A receive waited for a late sender although messages that the process took afterwards had been sent
//! already. Had it taken them first, what it did with them would have filled the wait: at most the time that
//! it computed after each of them until its next call, and no more for each than after the message that it
//! waited for. So a process that takes all messages before it computes has nothing to win by another order.
//! Scalasca looks for the same pattern (late sender, wrong order) and counts the whole wait.

use std::collections::VecDeque;

use crate::call::CallId;
use crate::waits::Times;

/// How many of the messages that are taken after a wait are looked at.
pub const LOOKED_AT: usize = 100;

/// A message as its receiver took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The call that completed it.
    pub call: CallId,
    /// When its send began, ns.
    pub sent_ns: u64,
}

/// A wait for a late sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The call that waited.
    pub call: CallId,
    /// When it began, ns.
    pub begin_ns: u64,
    /// When the message was sent, ns.
    pub until_ns: u64,
}

/// The calls of one process that waited although others of its messages were there, in the order of `late`,
/// and how much of the wait these could have filled, ns.
///
/// `taken` and `late` are in the order of calls, `calls` has the times of each call of the process.
pub fn misordered(taken: &[Taken], late: &[Late], calls: &[Times]) -> Vec<(CallId, u64)> {
    // What the process computes after a call, as far as no other wait was filled with it.
    let mut left_ns: VecDeque<(usize, u64)> = VecDeque::new();
    let (mut found, mut next) = (Vec::new(), 0);
    for wait in late {
        while left_ns.front().is_some_and(|&(at, _)| taken[at].call <= wait.call) {
            left_ns.pop_front();
        }
        next = next.max(taken.partition_point(|one| one.call <= wait.call));
        let first = left_ns.front().map_or(next, |&(at, _)| at);
        while next < taken.len() && next < first + LOOKED_AT {
            // Of several that one call completed, the last one is followed by what is computed.
            let is_last = taken.get(next + 1).is_none_or(|after| after.call != taken[next].call);
            left_ns.push_back((next, if is_last { after_ns(calls, taken[next].call) } else { 0 }));
            next += 1;
        }
        let each_ns = after_ns(calls, wait.call);
        let length_ns = wait.until_ns.saturating_sub(wait.begin_ns);
        let mut filled_ns = 0;
        for (at, left_ns) in &mut left_ns {
            let idle_ns = wait.until_ns.saturating_sub(taken[*at].sent_ns.max(wait.begin_ns));
            let part_ns = (*left_ns).min(each_ns).min(idle_ns.saturating_sub(filled_ns));
            *left_ns -= part_ns;
            filled_ns += part_ns;
        }
        if filled_ns > 0 {
            found.push((wait.call, filled_ns.min(length_ns)));
        }
    }
    found
}

/// From the end of a call until the begin of the next one of its process.
fn after_ns(calls: &[Times], call: CallId) -> u64 {
    let at = call as usize;
    let next = calls.get(at + 1).zip(calls.get(at));
    next.map_or(0, |(next, call)| next.begin_ns.saturating_sub(call.end_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receives one after the other, each followed by 40 ns of work: when each began, its message was sent,
    /// and it ended.
    fn run(receives: &[(u64, u64, u64)]) -> Vec<(CallId, u64)> {
        let calls: Vec<Times> =
            receives.iter().map(|&(begin_ns, _, end_ns)| Times { begin_ns, end_ns }).collect();
        let taken: Vec<Taken> =
            (0..).zip(receives).map(|(call, &(_, sent_ns, _))| Taken { call, sent_ns }).collect();
        let late: Vec<Late> = (0..)
            .zip(receives)
            .filter(|(_, (begin_ns, sent_ns, _))| sent_ns > begin_ns)
            .map(|(call, &(begin_ns, until_ns, _))| Late { call, begin_ns, until_ns })
            .collect();
        misordered(&taken, &late, &calls)
    }

    #[test]
    fn messages_that_were_there_could_have_been_taken_first() {
        // It waits 100 ns for the first one; the two others had been sent, and 40 ns are spent on each that
        // another call follows.
        let found = run(&[(0, 100, 100), (140, 5, 141), (181, 5, 182), (222, 5, 223)]);
        assert_eq!(found, [(0, 80)]);
        // One of them was sent 30 ns before the late one.
        assert_eq!(run(&[(0, 100, 100), (140, 70, 141), (181, 70, 182)]), [(0, 30)]);
    }

    #[test]
    fn work_fills_one_wait_only() {
        let found = run(&[(0, 100, 100), (140, 170, 171), (211, 5, 212), (252, 253, 254)]);
        assert_eq!(found, [(0, 40)]);
    }

    #[test]
    fn what_is_taken_all_at_once_has_no_order() {
        // Nothing is computed after the message that it waited for.
        assert_eq!(run(&[(0, 100, 100), (100, 5, 101), (181, 181, 182)]), []);
        // The other one had not been sent.
        assert_eq!(run(&[(0, 100, 100), (140, 120, 141), (181, 181, 182)]), []);
        assert_eq!(run(&[]), []);
    }
}
