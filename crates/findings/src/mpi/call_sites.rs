//! The calls of MPI of each location by call site: all that the rules about calls need of them, from one pass
//! over the operations of a location. Locations are read side by side.
//!
//! Of each call only the time without its wait for a partner is summed up.

use proust_profile::mpi_metrics::{Waits, waits_of};
use proust_profile::{ContextId, Detail, EventRow, LocationId, Nature, Ns, OperationId, OperationKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::facts::Facts;

/// A collective that begins so soon after another one has ended follows it at once.
const AT_ONCE_NS: u64 = 5_000;

/// Some calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// Operations; those that are known as sums count once.
    pub events: u64,
    /// Calls.
    pub calls: u64,
    /// Operations that moved anything.
    pub with_bytes: u64,
    pub bytes: u64,
    pub spent: Ns,
}

impl Sum {
    fn add(&mut self, event: &EventRow, spent: Ns) {
        self.events += 1;
        self.calls += u64::from(event.calls);
        self.with_bytes += u64::from(event.bytes > 0);
        self.bytes += event.bytes;
        self.spent += spent;
    }
}

/// Calls of one function of MPI at one place, by one location.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSite {
    pub location: LocationId,
    pub context: ContextId,
    pub operation: OperationId,
    pub kind: OperationKind,
    /// Those that are known one by one.
    pub single: Sum,
    /// Those that are known as sums, such as polls.
    pub summed: Sum,
    /// Sends to the same rank, under the same tag, as the last one, with nothing received between.
    pub in_a_row: u64,
    /// Collectives with data that followed another one of the function at once.
    pub followed: Sum,
}

/// What a location did last.
#[derive(Debug, Default)]
struct Last {
    /// Communicator and envelope of the last send, if nothing was received since.
    sent: Option<(u64, u64)>,
    /// The last collective: function, communicator, end.
    collective: Option<(OperationId, u64, u64)>,
}

/// All of a run, by location and in the order in which they were first called.
pub(super) fn call_sites(facts: &Facts<'_>) -> Vec<CallSite> {
    let locations = facts.profile.events.locations();
    let of_each: Vec<Vec<CallSite>> = locations.into_par_iter().map(|id| of_location(facts, id)).collect();
    of_each.into_iter().flatten().collect()
}

fn of_location(facts: &Facts<'_>, location: LocationId) -> Vec<CallSite> {
    let (mut sites, mut numbers) = (Vec::<CallSite>::new(), FxHashMap::default());
    let mut waits = Waits::of(waits_of(&facts.profile.partner_waits, location));
    let mut last = Last::default();
    for event in facts.profile.events.of(location) {
        let Some(kind) = facts.operation(event.operation).filter(|kind| kind.is_of_mpi()) else { continue };
        let waited_ns = waits.find(&event).map_or(0, |wait| wait.length_ns());
        let spent = Ns::of(event.time_ns.saturating_sub(waited_ns));
        let number = *numbers.entry((event.context, event.operation)).or_insert_with(|| {
            sites.push(CallSite {
                location,
                context: event.context,
                operation: event.operation,
                kind,
                single: Sum::default(),
                summed: Sum::default(),
                in_a_row: 0,
                followed: Sum::default(),
            });
            sites.len() - 1
        });
        sites[number].add(&event, spent, &mut last);
    }
    sites
}

impl CallSite {
    fn add(&mut self, event: &EventRow, spent: Ns, last: &mut Last) {
        if event.summed {
            self.summed.add(event, spent);
            *last = Last::default();
            return;
        }
        self.single.add(event, spent);
        let before = last.collective.take();
        match self.kind.nature {
            Nature::Message => self.add_message(event, last),
            Nature::Collective => {
                last.sent = None;
                if self.kind.detail == Detail::Exchange {
                    self.add_collective(event, spent, before);
                    last.collective = Some((event.operation, event.object, event.end_ns));
                }
            }
            _ => *last = Last::default(),
        }
    }

    fn add_message(&mut self, event: &EventRow, last: &mut Last) {
        if matches!(self.kind.detail, Detail::Send | Detail::SendReceive) {
            let to = (event.object, event.object2);
            self.in_a_row += u64::from(last.sent == Some(to));
            last.sent = Some(to);
        }
        if matches!(self.kind.detail, Detail::Receive | Detail::SendReceive) {
            last.sent = None;
        }
    }

    fn add_collective(&mut self, event: &EventRow, spent: Ns, before: Option<(OperationId, u64, u64)>) {
        let follows = before.is_some_and(|(operation, communicator, end_ns)| {
            (operation, communicator) == (event.operation, event.object)
                && event.begin_ns <= end_ns.saturating_add(AT_ONCE_NS)
        });
        if follows && event.bytes > 0 {
            self.followed.add(event, spent);
        }
    }
}
