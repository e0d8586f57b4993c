//! The time that a call spent before its partner had arrived: the wait states of MPI.
//!
//! With `E(x)` the begin and `L(x)` the end of call `x`, as Scalasca defines them:
//!
//! | pattern | who waits | until |
//! |---|---|---|
//! | late sender | the call that receives, or waits for a receive | min(E(send), L) |
//! | late receiver | the call that sends, or waits for a send, if L > E(receive) | E(start of the receive) |
//! | wait at barrier, wait at all-to-all | each member | min(the last member's E, L) |
//! | late root | all but the root | min(E(root), L) |
//! | early root | the root | min(the last other member's E, L) |
//! | early scan | each member | min(the last E of a lower rank, L) |
//!
//! Each from the waiting call's own begin. A call that waits for several has the longest of these waits, of
//! equal ones that for the late sender. Of calls that need not wait for all members only those have waited
//! that ended after the last member's begin.

use crate::call::{Collective, Place};

/// Begin and end of a call, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When it began.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// Why a call waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// The message had not been sent yet.
    LateSender,
    /// The receive had not been started yet.
    LateReceiver,
    /// Not all had arrived at a barrier.
    Barrier,
    /// Not all had arrived at an exchange of all with all.
    AllToAll,
    /// The root of a distribution had not arrived yet.
    LateRoot,
    /// The root of a collection had arrived before others.
    EarlyRoot,
    /// Lower ranks had not arrived yet.
    EarlyScan,
}

/// A call waited for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Until when; the wait began with the call.
    pub until_ns: u64,
    /// Why.
    pub pattern: Pattern,
    /// The call that it waited for.
    pub late: Place,
    /// Where that was called: a number of the caller's.
    pub late_site: u32,
    /// The part of it that work on messages that were there already could have filled, ns ([`crate::order`]).
    pub misordered_ns: u64,
    /// Bytes of the message that it waited for; 0 in a collective.
    pub bytes: u64,
}

/// One end of a message, as far as waiting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// When the call that began it began, ns.
    pub begin_ns: u64,
    /// The call that waited until it was complete; None = none did.
    pub waited: Option<Times>,
}

/// Until when the receiver waited for the sender.
pub fn late_sender(send: Side, receive: Side) -> Option<u64> {
    let call = receive.waited?;
    until(send.begin_ns.min(call.end_ns), call)
}

/// Until when the sender waited for the receiver.
pub fn late_receiver(send: Side, receive: Side) -> Option<u64> {
    let call = send.waited?;
    let started_ns = receive.begin_ns;
    if call.end_ns > started_ns { until(started_ns, call) } else { None }
}

/// Whether a message was received before it was sent, as far as the clocks go; by how much, ns.
pub fn violation_ns(send: Side, received: Times) -> u64 {
    send.begin_ns.saturating_sub(received.end_ns)
}

fn until(until_ns: u64, call: Times) -> Option<u64> {
    (until_ns > call.begin_ns).then_some(until_ns)
}

/// A member of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its rank; those of an intercommunicator's second side are above all of the first.
    pub rank: u64,
    /// Whether it is the root.
    pub is_root: bool,
    /// When it arrived, and how it waited.
    pub side: Side,
}

/// For each member until when it waited, why, and for which other one, as positions in `parts`.
pub fn collective(kind: Collective, parts: &[Part]) -> Vec<Option<(u64, Pattern, usize)>> {
    let arrival_ns = |at: usize| parts[at].side.begin_ns;
    let last_of = |of: &mut dyn Iterator<Item = usize>| of.max_by_key(|&at| (arrival_ns(at), at));
    let all = || 0..parts.len();
    let root = all().find(|&at| parts[at].is_root);
    let waited = |at: usize, pattern: Pattern, late: Option<usize>, is_strict: bool| {
        let late = late.filter(|&late| late != at)?;
        let call = parts[at].side.waited?;
        if !is_strict && call.end_ns < arrival_ns(late) {
            return None;
        }
        Some((until(arrival_ns(late).min(call.end_ns), call)?, pattern, late))
    };
    match kind {
        Collective::Neighbours => vec![None; parts.len()],
        Collective::Barrier | Collective::AllToAll | Collective::Loose => {
            let last = last_of(&mut all());
            let pattern = if kind == Collective::Barrier { Pattern::Barrier } else { Pattern::AllToAll };
            all().map(|at| waited(at, pattern, last, kind != Collective::Loose)).collect()
        }
        Collective::OneToAll => {
            let wait =
                |at: usize| if Some(at) == root { None } else { waited(at, Pattern::LateRoot, root, true) };
            all().map(wait).collect()
        }
        Collective::AllToOne => {
            let last = last_of(&mut all().filter(|&at| Some(at) != root));
            let wait =
                |at: usize| if Some(at) == root { waited(at, Pattern::EarlyRoot, last, true) } else { None };
            all().map(wait).collect()
        }
        Collective::Scan => {
            // By rank: the last of those before.
            let mut order: Vec<usize> = all().collect();
            order.sort_by_key(|&at| parts[at].rank);
            let mut waits = vec![None; parts.len()];
            let mut last: Option<usize> = None;
            for at in order {
                waits[at] = waited(at, Pattern::EarlyScan, last, true);
                if last.is_none_or(|last| arrival_ns(at) > arrival_ns(last)) {
                    last = Some(at);
                }
            }
            waits
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(begin_ns: u64, end_ns: u64) -> Side {
        let times = Times { begin_ns, end_ns };
        Side { begin_ns, waited: Some(times) }
    }

    fn started(start: (u64, u64), waited: Option<(u64, u64)>) -> Side {
        let times = |(begin_ns, end_ns)| Times { begin_ns, end_ns };
        Side { begin_ns: start.0, waited: waited.map(times) }
    }

    #[test]
    fn who_receives_waits_for_the_send() {
        assert_eq!(late_sender(call(50, 60), call(10, 65)), Some(50));
        assert_eq!(late_sender(call(5, 60), call(10, 65)), None);
        // By clocks that differ it ended before.
        assert_eq!(late_sender(call(50, 60), call(10, 40)), Some(40));
        assert_eq!(violation_ns(call(50, 60), Times { begin_ns: 10, end_ns: 40 }), 10);
        // What was computed between the start of a receive and waiting for it was no wait.
        assert_eq!(late_sender(call(50, 60), started((10, 11), Some((30, 65)))), Some(50));
        assert_eq!(late_sender(call(50, 60), started((10, 11), Some((55, 65)))), None);
        assert_eq!(late_sender(call(50, 60), started((10, 11), None)), None);
    }

    #[test]
    fn who_sends_waits_for_the_start_of_the_receive() {
        assert_eq!(late_receiver(call(10, 65), call(50, 66)), Some(50));
        assert_eq!(late_receiver(call(10, 65), started((50, 51), Some((90, 99)))), Some(50));
        // It was over before: the message lay in a buffer.
        assert_eq!(late_receiver(call(10, 12), call(50, 66)), None);
        assert_eq!(late_receiver(call(60, 65), call(50, 66)), None);
    }

    fn part(rank: u64, begin_ns: u64, end_ns: u64, is_root: bool) -> Part {
        Part { rank, is_root, side: call(begin_ns, end_ns) }
    }

    fn until(kind: Collective, parts: &[Part]) -> Vec<Option<(u64, usize)>> {
        collective(kind, parts).into_iter().map(|wait| wait.map(|(ns, _, late)| (ns, late))).collect()
    }

    #[test]
    fn all_wait_for_the_last() {
        let parts = [part(0, 10, 41, false), part(1, 40, 42, false), part(2, 20, 41, false)];
        for kind in [Collective::Barrier, Collective::AllToAll, Collective::Loose] {
            assert_eq!(until(kind, &parts), [Some((40, 1)), None, Some((40, 1))]);
        }
        // Those that need not wait for the last, and left before it arrived, did not.
        let parts = [part(0, 10, 15, false), part(1, 40, 42, false), part(2, 20, 41, false)];
        assert_eq!(until(Collective::Loose, &parts), [None, None, Some((40, 1))]);
        assert_eq!(until(Collective::AllToAll, &parts), [Some((15, 1)), None, Some((40, 1))]);
    }

    #[test]
    fn roots_wait_or_are_waited_for() {
        let parts = [part(0, 10, 41, true), part(1, 40, 42, false), part(2, 20, 41, false)];
        assert_eq!(until(Collective::AllToOne, &parts), [Some((40, 1)), None, None]);
        assert_eq!(until(Collective::OneToAll, &parts), [None, None, None]);
        let parts = [part(0, 10, 41, false), part(1, 40, 42, true), part(2, 20, 30, false)];
        assert_eq!(until(Collective::OneToAll, &parts), [Some((40, 1)), None, Some((30, 1))]);
        assert_eq!(until(Collective::AllToOne, &parts), [None, None, None]);
    }

    #[test]
    fn in_a_scan_lower_ranks_are_waited_for() {
        let parts = [part(2, 20, 41, false), part(0, 10, 12, false), part(1, 40, 42, false)];
        assert_eq!(until(Collective::Scan, &parts), [Some((40, 2)), None, None]);
    }
}
