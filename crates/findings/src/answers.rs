//! Waits for bytes from elsewhere, and how long nothing worked meanwhile.
//!
//! The sum of all times in which nothing works is a clock. What it shows more at the end of a wait than at
//! its begin is what that wait stood still for, less the times in which its own process slept.

use std::collections::BTreeSet;

use proust_account::ledger::{PassiveReason, Span, State};
use proust_profile::{ContextId, LocationId, Ns, ProcessId};
use rustc_hash::FxHashMap as Map;

use super::handovers::Handed;

/// Waits for bytes from elsewhere during which nothing worked.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// By location and place, with whether it waits for any of several descriptors.
    pub(super) waits: Map<(LocationId, ContextId, bool), Handed>,
    /// How long nothing worked at all.
    pub(super) rested: Ns,
}

/// Watches the sweep.
pub(super) struct Observer<'s> {
    locations: &'s [LocationId],
    /// The process of each.
    processes: Vec<ProcessId>,
    /// How long nothing has worked so far, and the part of it in which a process slept.
    rested: Ns,
    slept: Map<ProcessId, Ns>,
    /// What [`Observer::rested_beside`] was when each location began its wait.
    at_begin: Vec<Ns>,
}

impl<'s> Observer<'s> {
    pub(super) fn new(locations: &'s [LocationId], processes: Vec<ProcessId>) -> Observer<'s> {
        let at_begin = vec![Ns::ZERO; locations.len()];
        Observer { locations, processes, rested: Ns::ZERO, slept: Map::default(), at_begin }
    }

    /// Nothing worked for so long, while these slept.
    pub(super) fn rest(&mut self, passed: Ns, sleepers: &[usize], out: &mut Answers) {
        self.rested += passed;
        out.rested += passed;
        let asleep: BTreeSet<ProcessId> = sleepers.iter().map(|&at| self.processes[at]).collect();
        asleep.into_iter().for_each(|process| *self.slept.entry(process).or_default() += passed);
    }

    /// How long nothing has worked so far, and the location's own process did not sleep.
    fn rested_beside(&self, at: usize) -> Ns {
        self.rested - self.slept.get(&self.processes[at]).copied().unwrap_or_default()
    }

    /// A location goes from one span to the next.
    pub(super) fn change(&mut self, at: usize, before: Option<Span>, began: Option<Span>, out: &mut Answers) {
        if let Some((wait, reason)) = before.and_then(|span| Some((span, reason(span.state)?))) {
            let rested = self.rested_beside(at) - self.at_begin[at];
            if rested.is_positive() {
                let of_several = reason == PassiveReason::Poll;
                let handed = out.waits.entry((self.locations[at], wait.context, of_several)).or_default();
                (handed.times, handed.waited) = (handed.times + 1, handed.waited + rested);
            }
        }
        if began.is_some_and(|span| reason(span.state).is_some()) {
            self.at_begin[at] = self.rested_beside(at);
        }
    }
}

/// Why a location is passive that waits for bytes from elsewhere.
fn reason(state: State) -> Option<PassiveReason> {
    match state {
        State::Passive(
            reason @ (PassiveReason::Socket
            | PassiveReason::Pipe
            | PassiveReason::Poll
            | PassiveReason::Event
            | PassiveReason::Queue),
        ) => Some(reason),
        _ => None,
    }
}
