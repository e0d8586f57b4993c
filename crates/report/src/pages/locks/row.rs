//! A lock: its holders, its waiters, and which thread waited for which.

use std::collections::BTreeMap;

use proust_account::blame::{Blame, BlameRow, CauseKind, LockId};
use proust_profile::{ContextId, LocationId};
use proust_query::{Handle, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::site::Site;

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct LockRow {
    pub(super) handle: Option<String>,
    pub(super) kind: &'static str,
    /// How many locks these are, of one kind and first waited for at one place.
    pub(super) objects: u64,
    /// Address of the first of them.
    pub(super) object: Option<String>,
    pub(super) process: Option<u32>,
    /// Where it was first waited for.
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) waited_s: f64,
    pub(super) waits: u64,
    pub(super) longest_wait_s: Option<f64>,
    pub(super) hand_over_s: f64,
    pub(super) unknown_s: f64,
    /// Sections that ended while others waited: how many, how long.
    pub(super) holds: u64,
    pub(super) held_s: f64,
    pub(super) longest_hold_s: f64,
    pub(super) holders: Vec<Holder>,
    pub(super) waiters: Vec<Waiter>,
    pub(super) pairs: Vec<Pair>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Holder {
    #[serde(flatten)]
    pub(super) site: Site,
    /// Of the call path that let it go.
    pub(super) handle: String,
    /// Where it was acquired, as far as that is known.
    pub(super) acquired: Option<Site>,
    pub(super) threads: usize,
    pub(super) seconds: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Waiter {
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) handle: String,
    pub(super) threads: usize,
    pub(super) waits: u64,
    pub(super) seconds: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Pair {
    pub(super) waiter: Thread,
    pub(super) holder: Thread,
    pub(super) seconds: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Thread {
    pub(super) handle: String,
    pub(super) thread: u32,
    pub(super) name: String,
}

/// Sums of one lock.
#[derive(Default)]
pub(super) struct Sums {
    all_ns: u64,
    hand_over_ns: u64,
    unknown_ns: u64,
    holders: BTreeMap<(ContextId, Option<ContextId>), (u64, Vec<LocationId>)>,
    waiters: BTreeMap<ContextId, (u64, Vec<LocationId>)>,
    pairs: BTreeMap<(LocationId, LocationId), u64>,
}

impl Sums {
    pub(super) fn add(&mut self, row: &BlameRow) {
        self.all_ns += row.ns;
        match row.cause.kind {
            CauseKind::HandOver => self.hand_over_ns += row.ns,
            CauseKind::Holder => {
                let section = row.cause.section.unwrap_or(row.cause.context);
                let holder = self.holders.entry((section, row.cause.site)).or_default();
                holder.0 += row.ns;
                holder.1.push(row.cause.location);
                *self.pairs.entry((row.location, row.cause.location)).or_default() += row.ns;
            }
            CauseKind::Late | CauseKind::Displaced | CauseKind::Unknown => self.unknown_ns += row.ns,
        }
        let waiter = self.waiters.entry(row.context).or_default();
        waiter.0 += row.ns;
        waiter.1.push(row.location);
    }
}

/// The text about a lock; None = short waits, for locks that are not known.
pub(super) fn lock_row(
    selection: &Selection<'_>,
    blame: &Blame,
    id: Option<LockId>,
    sums: Sums,
    in_scope: &dyn Fn(LocationId, ContextId) -> bool,
) -> LockRow {
    let profile = selection.profile();
    let waits = || {
        let own = blame.lock_waits.iter().filter(|row| Some(row.lock) == id);
        own.filter(|row| in_scope(row.location, row.context))
    };
    let mut row = LockRow {
        kind: "unknown",
        waited_s: seconds(sums.all_ns),
        waits: waits().map(|row| row.waits).sum(),
        longest_wait_s: waits().map(|row| row.longest_ns).max().map(seconds),
        hand_over_s: seconds(sums.hand_over_ns),
        unknown_s: seconds(sums.unknown_ns),
        ..LockRow::default()
    };
    if let Some(lock) = id.and_then(|id| blame.locks.get(id as usize)) {
        row.handle = id.map(|id| Handle::Lock(id).to_string());
        row.kind = lock.kind.id();
        row.objects = lock.objects;
        row.object = Some(format!("{:#x}", lock.object));
        row.process = Some(profile.processes[lock.process].pid);
        row.site = Site::of(selection, lock.site);
        row.holds = lock.holds;
        (row.held_s, row.longest_hold_s) = (seconds(lock.held_ns), seconds(lock.longest_hold_ns));
    }
    let thread = |id: LocationId| {
        let location = &profile.locations[id];
        let handle = Handle::Location(id).to_string();
        Thread { handle, thread: location.tid, name: location.name.clone() }
    };
    row.holders = (sums.holders.into_iter())
        .map(|((context, acquired), (ns, mut locations))| Holder {
            site: Site::of(selection, context),
            handle: Handle::Context(context).to_string(),
            acquired: acquired.map(|site| Site::of(selection, site)),
            threads: distinct(&mut locations),
            seconds: seconds(ns),
        })
        .collect();
    row.waiters = (sums.waiters.into_iter())
        .map(|(context, (ns, mut locations))| Waiter {
            site: Site::of(selection, context),
            handle: Handle::Context(context).to_string(),
            threads: distinct(&mut locations),
            waits: waits().filter(|row| row.context == context).map(|row| row.waits).sum(),
            seconds: seconds(ns),
        })
        .collect();
    row.pairs = (sums.pairs.into_iter())
        .map(|((waiter, holder), ns)| Pair {
            waiter: thread(waiter),
            holder: thread(holder),
            seconds: seconds(ns),
        })
        .collect();
    row.holders.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row.waiters.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row.pairs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row
}

/// How many different ones.
pub(super) fn distinct(ids: &mut Vec<LocationId>) -> usize {
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}
