//! Messages that a process could have taken while it waited for another one.
//!
//! A receive waited for a late sender although messages that the process took afterwards had been sent
//! already. Had it taken them first, what it did with them would have filled the wait: at most the time that
//! it computed after each of them until its next call, and no more for each than after the message that it
//! waited for. So a process that takes all messages before it computes has nothing to win by another order.
//! Scalasca looks for the same pattern (late sender, wrong order) and counts the whole wait.

use std::cmp::Reverse;

use crate::call::CallId;
use crate::waits::{Pattern, Times, Wait};

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

/// Messages whose earliest send is known without looking at each.
const BLOCK: usize = 16;

/// The calls of one process that waited although others of its messages were there, in the order of `late`,
/// and how much of the wait these could have filled, ns.
///
/// `taken` and `late` are in the order of calls, `calls` has the times of each call of the process.
pub fn misordered(taken: &[Taken], late: &[Late], calls: &[Times]) -> Vec<(CallId, u64)> {
    if late.is_empty() {
        return Vec::new();
    }
    let earliest_ns = |block: &[Taken]| block.iter().map(|one| one.sent_ns).min().unwrap_or(u64::MAX);
    // Most messages that are taken later were sent later, too: then whole blocks are passed over.
    let blocks: Vec<u64> = taken.chunks(BLOCK).map(earliest_ns).collect();
    // What the process computes after the call that took each message, as far as no other wait was filled
    // with it.
    let mut left_ns: Vec<u64> = Vec::new();
    let (mut found, mut first) = (Vec::new(), 0);
    for wait in late {
        while taken.get(first).is_some_and(|one| one.call <= wait.call) {
            first += 1;
        }
        let length_ns = wait.until_ns.saturating_sub(wait.begin_ns);
        let each_ns = after_ns(calls, wait.call).min(length_ns);
        if each_ns == 0 {
            continue;
        }
        let behind = taken.len().min(first + LOOKED_AT);
        let (mut at, mut filled_ns) = (first, 0);
        while at < behind && filled_ns < length_ns {
            let next = behind.min((at / BLOCK + 1) * BLOCK);
            if blocks[at / BLOCK] >= wait.until_ns {
                at = next;
                continue;
            }
            while left_ns.len() < next {
                let at = left_ns.len();
                // Of several that one call completed, the last one is followed by what is computed.
                let is_last = taken.get(at + 1).is_none_or(|after| after.call != taken[at].call);
                left_ns.push(if is_last { after_ns(calls, taken[at].call) } else { 0 });
            }
            for (one, left_ns) in taken[at..next].iter().zip(&mut left_ns[at..next]) {
                let idle_ns = wait.until_ns.saturating_sub(one.sent_ns.max(wait.begin_ns));
                let part_ns = (*left_ns).min(each_ns).min(idle_ns.saturating_sub(filled_ns));
                *left_ns -= part_ns;
                filled_ns += part_ns;
            }
            at = next;
        }
        if filled_ns > 0 {
            found.push((wait.call, filled_ns.min(length_ns)));
        }
    }
    found
}

/// Of all waits of a process one for each call, in the order of calls; and how much of those for late senders
/// other messages could have filled. `taken`: the messages that it took, in any order.
pub fn settled(
    mut waits: Vec<(CallId, Wait)>,
    mut taken: Vec<Taken>,
    calls: &[Times],
) -> Vec<(CallId, Wait)> {
    // A call that waits for several has the longest wait of them. In an exchange the late partner's call
    // sends and receives at once: that the message had not been sent is certain, while what was sent to it
    // may have been buffered.
    waits.sort_by_key(|&(call, wait)| (call, Reverse(wait.until_ns), wait.pattern, wait.late));
    waits.dedup_by_key(|(call, _)| *call);
    let late = |&(call, wait): &(CallId, Wait)| {
        let begin_ns = calls.get(call as usize)?.begin_ns;
        let is_late_sender = wait.pattern == Pattern::LateSender;
        is_late_sender.then_some(Late { call, begin_ns, until_ns: wait.until_ns })
    };
    let late: Vec<Late> = waits.iter().filter_map(late).collect();
    taken.sort_unstable_by_key(|one| (one.call, one.sent_ns));
    let mut at = 0;
    for (call, ns) in misordered(&taken, &late, calls) {
        while waits.get(at).is_some_and(|(of, _)| *of < call) {
            at += 1;
        }
        if let Some((_, wait)) = waits.get_mut(at).filter(|(of, _)| *of == call) {
            wait.misordered_ns = ns;
        }
    }
    waits
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
    use proptest::prelude::*;

    /// The same, looking at each message.
    fn one_by_one(taken: &[Taken], late: &[Late], calls: &[Times]) -> Vec<(CallId, u64)> {
        use std::collections::VecDeque;
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

    proptest! {
        /// Blocks are passed over only where they have nothing.
        #[test]
        fn passing_over_blocks_changes_nothing(
            calls in prop::collection::vec((0..40_u64, 0..40_u64), 1..300),
            taken in prop::collection::vec((any::<prop::sample::Index>(), 0..12_000_u64), 0..500),
            late in prop::collection::vec((any::<prop::sample::Index>(), 0..400_u64), 0..60),
        ) {
            let mut now_ns = 0;
            let calls: Vec<Times> = calls.iter().map(|(before_ns, length_ns)| {
                let begin_ns = now_ns + before_ns;
                now_ns = begin_ns + length_ns;
                Times { begin_ns, end_ns: now_ns }
            }).collect();
            let number = |index: &prop::sample::Index| index.index(calls.len()) as CallId;
            let mut taken: Vec<Taken> = taken
                .iter()
                .map(|(call, sent_ns)| Taken { call: number(call), sent_ns: *sent_ns })
                .collect();
            taken.sort_unstable_by_key(|one| (one.call, one.sent_ns));
            let mut late: Vec<Late> = late
                .iter()
                .map(|(call, length_ns)| {
                    let begin_ns = calls[number(call) as usize].begin_ns;
                    Late { call: number(call), begin_ns, until_ns: begin_ns + length_ns }
                })
                .collect();
            late.sort_unstable_by_key(|one| one.call);
            late.dedup_by_key(|one| one.call);
            prop_assert_eq!(misordered(&taken, &late, &calls), one_by_one(&taken, &late, &calls));
        }
    }

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
