//! Charges the waits that the sweep meets, beside it and in parallel: those for locks in shards by process,
//! each with sums of its own, and those for all others where synchronisations are watched, in order of time.
//! Holders of locks are in the process of those that wait, so that each shard reads the operations of its
//! locations only.
//!
//! There are always as many shards, so that sums are the same on every machine.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use proust_profile::Location;

use super::delays::Delays;
use super::evidence::{Evidence, Kind};
use super::held::Doings;
use super::meetings::Meetings;
use super::partners::Partners;
use super::releases::Nearby;
use super::sections::{self, Holder, Share};
use super::singles::Singles;
use super::synchronisations::Synchronisations;
use super::tally::Tally;
use crate::ledger::{Begun, Observer, Wait, WaitCharge};

const SHARDS: usize = 4;
/// The sweep's observations are handed over in batches of so many.
const BATCH: usize = 1 << 13;
/// So many batches may lie ready.
const AHEAD: usize = 8;

/// What all waits are charged to.
#[derive(Debug)]
pub(super) struct Charged {
    pub(super) tally: Tally,
    /// At barriers, and for partners of MPI.
    pub(super) delays: [Delays; 2],
}

/// Runs `sweep`, which is watched, and charges the waits that it meets: those for locks beside it in shards
/// by process, all else in order of time. Also returns the result of `sweep`.
pub(super) fn charged<R>(
    evidence: &Evidence<'_>,
    meetings: &Meetings,
    partners: Partners<'_>,
    sweep: impl FnOnce(&mut Feeds) -> R,
) -> (R, Charged) {
    thread::scope(|scope| {
        let mut shards = Vec::with_capacity(SHARDS);
        let shard = |location: &Location| location.process.index() % SHARDS;
        let mut feeds = Feeds {
            shards: evidence.profile.locations.iter().map(shard).collect(),
            of_locks: Vec::with_capacity(SHARDS),
            of_others: None,
        };
        for _ in 0..SHARDS {
            let (feed, from) = Feed::new();
            feeds.of_locks.push(feed);
            shards.push(scope.spawn(move || Shard::new(evidence).take_all(&from)));
        }
        let others = {
            let (feed, from) = Feed::new();
            feeds.of_others = Some((feed, !meetings.is_empty()));
            scope.spawn(move || watch(Synchronisations::new(evidence, meetings), partners, &from))
        };
        let result = sweep(&mut feeds);
        feeds.of_locks.into_iter().for_each(Feed::finish);
        feeds.of_others.into_iter().for_each(|(feed, _)| feed.finish());
        let mut tally = Tally::new(&evidence.profile.events.spool());
        for shard in shards {
            tally.append(shard.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        let delays = others.join().unwrap_or_else(|panic| resume_unwind(panic));
        (result, Charged { tally, delays })
    })
}

/// The sweep's observations, except those of locks.
enum Met {
    Begins(Begun),
    Waited(WaitCharge),
}

fn watch(
    mut synchronisations: Synchronisations<'_>,
    mut partners: Partners<'_>,
    from: &Receiver<Vec<Met>>,
) -> [Delays; 2] {
    for met in from.iter().flatten() {
        match met {
            Met::Begins(begun) => synchronisations.begins(&begun),
            Met::Waited(charge) if charge.wait == Wait::MpiPartner => partners.waited(&charge),
            Met::Waited(charge) => synchronisations.waited(&charge),
        }
    }
    [synchronisations.finish(), partners.finish()]
}

/// Hands over the sweep's observations.
pub(super) struct Feeds {
    /// By location.
    shards: Vec<usize>,
    of_locks: Vec<Feed<WaitCharge>>,
    /// And whether the acts of locations are needed.
    of_others: Option<(Feed<Met>, bool)>,
}

impl Observer for Feeds {
    fn begins(&mut self, begun: &Begun) {
        if let Some((feed, true)) = &mut self.of_others {
            feed.push(Met::Begins(*begun));
        }
    }

    fn waited(&mut self, charge: &WaitCharge) {
        match charge.wait {
            Wait::Lock => self.of_locks[self.shards[charge.location.index()]].push(*charge),
            Wait::Barrier | Wait::MpiPartner => {
                if let Some((feed, _)) = &mut self.of_others {
                    feed.push(Met::Waited(*charge));
                }
            }
        }
    }
}

/// Where that goes.
struct Feed<T> {
    batch: Vec<T>,
    to: SyncSender<Vec<T>>,
}

impl<T> Feed<T> {
    fn new() -> (Feed<T>, Receiver<Vec<T>>) {
        let (to, from) = sync_channel(AHEAD);
        (Feed { batch: Vec::with_capacity(BATCH), to }, from)
    }

    fn push(&mut self, one: T) {
        self.batch.push(one);
        if self.batch.len() == BATCH {
            self.send(Vec::with_capacity(BATCH));
        }
    }

    fn send(&mut self, next: Vec<T>) {
        // It takes all that there is, unless it has panicked; then the thread that joins it does, too.
        let _ = self.to.send(mem::replace(&mut self.batch, next));
    }

    fn finish(mut self) {
        self.send(Vec::new());
    }
}

/// The waits of the locations of some processes for locks.
struct Shard<'e> {
    evidence: &'e Evidence<'e>,
    tally: Tally,
    singles: Singles<'e>,
    nearby: Nearby<'e>,
    shares: Vec<Share>,
    doings: Doings<'e>,
}

impl<'e> Shard<'e> {
    fn new(evidence: &'e Evidence<'e>) -> Shard<'e> {
        let nearby = Nearby::new(&evidence.releases);
        let doings = Doings::new(evidence);
        Shard {
            evidence,
            tally: Tally::new(&evidence.profile.events.spool()),
            singles: Singles::new(evidence),
            nearby,
            shares: Vec::new(),
            doings,
        }
    }

    fn take_all(mut self, from: &Receiver<Vec<WaitCharge>>) -> Tally {
        for batch in from {
            batch.iter().for_each(|charge| self.take(charge));
        }
        self.tally
    }

    fn take(&mut self, charge: &WaitCharge) {
        let evidence = self.evidence;
        let done = self.singles.find(charge);
        let tally = &mut self.tally;
        let victim = tally.victim(charge.location, charge.wait.account(), charge.context);
        let ns = charge.window.length_ns();
        let Some(done) = done.filter(|done| done.kind == Kind::Lock) else {
            tally.unplaced(victim, (ns as f64, charge.slots_ns));
            return;
        };
        let slots_per_ns = if ns > 0 { charge.slots_ns / ns as f64 } else { 0.0 };
        sections::shares(&mut self.nearby, &done, charge.window, &mut self.shares);
        for Share { holder, ns, held, represents_others } in self.shares.drain(..) {
            let cause = tally.holder(evidence, done.object, charge, holder);
            tally.add(victim, cause, ns, ns * slots_per_ns);
            if let Holder::Release(place) = holder {
                tally.held(cause, ns, self.doings.during(place, held, represents_others));
            }
        }
    }
}
