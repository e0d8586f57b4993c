//! The operations of a location as its timeline needs them: inside its life, one after the other, each with
//! the class of its time.

use proust_profile::{ContextId, EventRow, PartnerWaitRow};

use super::latency::Latencies;
use super::states::{Class, States};
use crate::ledger::Wait;

/// An operation that was recorded by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) class: Class,
    pub(super) context: ContextId,
    /// It cannot have been woken before.
    pub(super) asleep_until_ns: u64,
    /// Whether the thread may want a processor at its end.
    pub(super) queues: bool,
}

/// Short operations: how long in all, somewhere before their end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    pub(super) end_ns: u64,
    pub(super) time_ns: u64,
    pub(super) class: Class,
    pub(super) context: ContextId,
}

/// Both, by their ends.
#[derive(Debug, Default)]
pub(super) struct Operations {
    pub(super) singles: Vec<Single>,
    pub(super) shorts: Vec<Short>,
    /// When the location may have been stopped, in order and apart; when it certainly was are singles.
    pub(super) perhaps_stopped: Vec<(u64, u64)>,
}

impl Operations {
    /// `waits`: the waits for partners of the same location.
    pub(super) fn of(
        (start_ns, end_ns): (u64, u64),
        events: impl Iterator<Item = EventRow>,
        waits: &[PartnerWaitRow],
        states: &States,
        latencies: &Latencies<'_>,
    ) -> Operations {
        // Most are recorded one by one where there are many.
        let mut operations =
            Operations { singles: Vec::with_capacity(events.size_hint().0), ..Operations::default() };
        let mut free_ns = start_ns;
        let mut waits = waits.iter().peekable();
        for event in events {
            let (class, context) = (states.of_event(&event), event.context);
            if event.summed {
                // A sum that seems to end outside still counts for the part inside.
                let end_ns = event.end_ns.clamp(start_ns, end_ns);
                operations.shorts.push(Short { end_ns, time_ns: event.time_ns, class, context });
                continue;
            }
            let (from_ns, to_ns) = (event.begin_ns.max(free_ns), event.end_ns.min(end_ns));
            if from_ns < to_ns {
                let latency_ns = latencies.of_event(&event);
                let asleep_until_ns = match latency_ns {
                    0 => event.begin_ns.saturating_add(states.asleep_ns(&event)),
                    _ => event.end_ns.saturating_sub(latency_ns),
                };
                let queues = class.blocks() || latency_ns > 0;
                let single =
                    Single { start_ns: from_ns, end_ns: to_ns, class, context, asleep_until_ns, queues };
                // Both are in the order of time; a call that a pause cuts has its wait in several pieces.
                while waits.next_if(|wait| wait.until_ns <= from_ns).is_some() {}
                let is_in_it =
                    |wait: &&&PartnerWaitRow| wait.begin_ns <= event.begin_ns && wait.context == context;
                let waited_ns =
                    waits.peek().filter(is_in_it).map_or(from_ns, |wait| wait.until_ns.min(to_ns));
                if waited_ns > from_ns {
                    // Libraries poll while they wait.
                    let class = Class::Poll(Wait::MpiPartner);
                    operations.singles.push(Single { end_ns: waited_ns, class, queues: false, ..single });
                }
                if waited_ns < to_ns {
                    operations.singles.push(Single { start_ns: waited_ns, ..single });
                }
                free_ns = to_ns;
            }
        }
        operations
    }

    /// Puts these, which are in order and apart, in the place of whatever lies there.
    pub(super) fn replace(&mut self, mut pieces: Vec<Single>) {
        if pieces.is_empty() {
            return;
        }
        let certain: Vec<(u64, u64)> = pieces.iter().map(|piece| (piece.start_ns, piece.end_ns)).collect();
        pieces.reserve(self.singles.len() + certain.len());
        for single in &self.singles {
            let first = certain.partition_point(|&(_, to_ns)| to_ns <= single.start_ns);
            let mut from_ns = single.start_ns;
            for &(begin_ns, to_ns) in
                certain[first..].iter().take_while(|(begin_ns, _)| *begin_ns < single.end_ns)
            {
                if from_ns < begin_ns {
                    pieces.push(Single { start_ns: from_ns, end_ns: begin_ns, ..*single });
                }
                from_ns = to_ns;
            }
            if from_ns < single.end_ns {
                pieces.push(Single { start_ns: from_ns, ..*single });
            }
        }
        pieces.sort_by_key(|piece| piece.start_ns);
        self.singles = pieces;
    }
}
