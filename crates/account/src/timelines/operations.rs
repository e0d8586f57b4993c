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

/// Reads operations: those that were recorded by themselves as they are asked for.
pub(super) struct Reading<'r, I> {
    start_ns: u64,
    end_ns: u64,
    events: I,
    waits: &'r [PartnerWaitRow],
    states: &'r States,
    latencies: &'r Latencies<'r>,
    /// The end of the last one.
    free_ns: u64,
    /// The second piece of a call.
    rest: Option<Single>,
    /// The sums on the way.
    shorts: Vec<Short>,
}

impl<'r, I: Iterator<Item = EventRow>> Reading<'r, I> {
    /// `waits`: the waits for partners of the same location, which lives from `start_ns` to `end_ns`.
    pub(super) fn new(
        (start_ns, end_ns): (u64, u64),
        events: I,
        waits: &'r [PartnerWaitRow],
        states: &'r States,
        latencies: &'r Latencies<'r>,
    ) -> Reading<'r, I> {
        let (free_ns, rest, shorts) = (start_ns, None, Vec::new());
        Reading { start_ns, end_ns, events, waits, states, latencies, free_ns, rest, shorts }
    }

    /// The sums; to be asked for after all others.
    pub(super) fn sums(self) -> Operations {
        Operations { shorts: self.shorts, ..Operations::default() }
    }

    /// All of them, in memory.
    pub(super) fn all(mut self) -> Operations {
        let singles = self.by_ref().collect();
        Operations { singles, ..self.sums() }
    }
}

impl<I: Iterator<Item = EventRow>> Iterator for Reading<'_, I> {
    type Item = Single;

    fn next(&mut self) -> Option<Single> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        loop {
            let event = self.events.next()?;
            let (class, context) = (self.states.of_event(&event), event.context);
            if event.summed {
                // A sum that seems to end outside still counts for the part inside.
                let end_ns = event.end_ns.clamp(self.start_ns, self.end_ns);
                self.shorts.push(Short { end_ns, time_ns: event.time_ns, class, context });
                continue;
            }
            let (from_ns, to_ns) = (event.begin_ns.max(self.free_ns), event.end_ns.min(self.end_ns));
            if from_ns >= to_ns {
                continue;
            }
            self.free_ns = to_ns;
            let latency_ns = self.latencies.of_event(&event);
            let asleep_until_ns = match latency_ns {
                0 => event.begin_ns.saturating_add(self.states.asleep_ns(&event)),
                _ => event.end_ns.saturating_sub(latency_ns),
            };
            let queues = class.blocks() || latency_ns > 0;
            let single = Single { start_ns: from_ns, end_ns: to_ns, class, context, asleep_until_ns, queues };
            // Both are in the order of time; a call that a pause cuts has its wait in several pieces.
            let over = self.waits.iter().take_while(|wait| wait.until_ns <= from_ns).count();
            self.waits = &self.waits[over..];
            let is_in_it =
                |wait: &&PartnerWaitRow| wait.begin_ns <= event.begin_ns && wait.context == context;
            let waited_ns =
                self.waits.first().filter(is_in_it).map_or(from_ns, |wait| wait.until_ns.min(to_ns));
            if waited_ns <= from_ns {
                return Some(single);
            }
            self.rest = (waited_ns < to_ns).then_some(Single { start_ns: waited_ns, ..single });
            // Libraries poll while they wait.
            let class = Class::Poll(Wait::MpiPartner);
            return Some(Single { end_ns: waited_ns, class, queues: false, ..single });
        }
    }
}

impl Operations {
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
