//! Locks: what is done while they are held, how often, and how many stand in line.
//!
//! Each lock gets the one kind that says most of what to change: what its holders do meanwhile comes before
//! how long they hold it, and that before how many wait.

use std::collections::{BTreeMap, HashMap};

use proust_log::operations::Nature;
use proust_profile::{ContextId, LocationId};
use rayon::prelude::*;

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
use super::sections::{Holders, Sections, holders};
use super::thresholds::{self as limits, Checks};
use crate::blame::{BlameRow, CauseKind, LockId};
use crate::hash::Map;
use crate::ledger::{Account, State, Wait};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_lock: BTreeMap<LockId, Vec<&BlameRow>> = BTreeMap::new();
    for row in facts.blame.rows.iter().filter(|row| row.account == Account::Lock) {
        if let Some(lock) = row.cause.lock {
            by_lock.entry(lock).or_default().push(row);
        }
    }
    if by_lock.is_empty() {
        return Vec::new();
    }
    let (holders, waits) = (holders(facts), Waits::of(facts));
    let one = |(id, rows)| OneLock::new(facts, &holders, &waits, id, rows).finding();
    by_lock.into_par_iter().filter_map(one).collect()
}

/// By who waited where: how long by trying again and again, and how long blocked, ns.
struct Waits(Map<(LocationId, ContextId), (u64, u64)>);

impl Waits {
    fn of(facts: &Facts<'_>) -> Waits {
        let mut waits: Map<_, (u64, u64)> = Map::default();
        for calls in facts.calls.iter().filter(|calls| is_lock(calls.state)) {
            let (spinning_ns, blocked_ns) = waits.entry((calls.location, calls.context)).or_default();
            match facts.nature(calls.operation) {
                Some(Nature::Spin) => *spinning_ns += calls.time_ns,
                _ => *blocked_ns += calls.time_ns,
            }
        }
        Waits(waits)
    }

    /// How long these waits were by trying again and again, s.
    fn spinning_s(&self, rows: &[&BlameRow]) -> f64 {
        let of = |row: &BlameRow| match self.0.get(&(row.location, row.context)) {
            Some(&(spinning_ns, blocked_ns)) if spinning_ns > 0 => {
                row.ns as f64 / 1e9 * spinning_ns as f64 / (spinning_ns + blocked_ns) as f64
            }
            _ => 0.0,
        };
        rows.iter().filter(|row| !row.slots).map(|row| of(row)).sum()
    }
}

/// A lock, and what it cost.
struct OneLock<'f> {
    facts: &'f Facts<'f>,
    id: LockId,
    rows: Vec<&'f BlameRow>,
    lost_s: f64,
    hand_over_s: f64,
    /// What waited for each holder, s.
    by_holder: HashMap<(LocationId, ContextId, Option<ContextId>), f64>,
    /// What all holders did meanwhile, each by what waited for it.
    sections: Sections,
    spinning_s: f64,
}

impl<'f> OneLock<'f> {
    fn new(
        facts: &'f Facts<'f>,
        holders: &Holders,
        waits: &Waits,
        id: LockId,
        rows: Vec<&'f BlameRow>,
    ) -> OneLock<'f> {
        let seconds = |row: &BlameRow| row.ns as f64 / 1e9;
        let mut by_holder: HashMap<(LocationId, ContextId, Option<ContextId>), f64> = HashMap::new();
        for row in rows.iter().filter(|row| row.cause.kind == CauseKind::Holder) {
            let section = row.cause.section.unwrap_or(row.cause.context);
            let key = (row.cause.location, section, row.cause.site);
            *by_holder.entry(key).or_default() += seconds(row);
        }
        let mut sections = Sections::default();
        let mut known: Vec<_> = by_holder.keys().map(|&(location, context, _)| (location, context)).collect();
        known.sort_unstable();
        known.dedup();
        for of in known.iter().filter_map(|holder| holders.get(holder)) {
            sections.count += of.count;
            sections.held_s += of.held_s;
            for (mine, theirs) in [(&mut sections.io_s, &of.io_s), (&mut sections.passive_s, &of.passive_s)] {
                theirs.iter().for_each(|(&context, s)| *mine.entry(context).or_default() += s);
            }
        }
        let hand_over = rows.iter().filter(|row| row.cause.kind == CauseKind::HandOver);
        OneLock {
            lost_s: rows.iter().map(|row| seconds(row)).sum(),
            hand_over_s: hand_over.map(|row| seconds(row)).sum(),
            spinning_s: waits.spinning_s(&rows),
            facts,
            id,
            rows,
            by_holder,
            sections,
        }
    }

    fn finding(&self) -> Option<Finding> {
        let facts = self.facts;
        let mut checks = Checks::default();
        let burned_s = self.spinning_s;
        if !facts.matters(&mut checks, self.lost_s, burned_s)
            || !checks.holds(&limits::LOCK_HOLDS, self.sections.count)
        {
            return None;
        }
        let held_s = self.sections.held_s.max(f64::MIN_POSITIVE);
        let io_s: f64 = self.sections.io_s.values().sum();
        let passive_s: f64 = self.sections.passive_s.values().sum();
        let mean_s = self.sections.held_s / self.sections.count;
        let (waiters, share) = self.waiters();
        let waited_s = self.lost_s.max(f64::MIN_POSITIVE);
        // What is compared in vain with one kind is no reason for the next.
        let mut try_kind = |holds: &dyn Fn(&mut Checks) -> bool| {
            let mut tried = checks.clone();
            let found = holds(&mut tried);
            if found {
                checks = tried;
            }
            found
        };
        let kind = if try_kind(&|c| c.holds(&limits::LOCK_IN_IO, io_s / held_s)) {
            Kind::LockAcrossIo
        } else if try_kind(&|c| c.holds(&limits::LOCK_IN_SLEEP, passive_s / held_s)) {
            Kind::LockAcrossSleep
        } else if try_kind(&|c| c.holds(&limits::LOCK_SPINNING, self.spinning_s / waited_s)) {
            Kind::LockSpin
        } else if try_kind(&|c| {
            c.holds(&limits::HOT_HOLD_S, mean_s) && c.holds(&limits::HOT_HOLDS, self.sections.count)
        }) {
            Kind::HotSection
        } else if try_kind(&|c| {
            c.holds(&limits::CONVOY_WAITERS, waiters) && c.holds(&limits::CONVOY_SHARE, share)
        }) {
            Kind::Convoy
        } else {
            Kind::LongSection
        };
        let worst = match kind {
            Kind::LockAcrossIo => most(&self.sections.io_s),
            Kind::LockAcrossSleep => most(&self.sections.passive_s),
            _ => None,
        };
        let cause = worst.or_else(|| self.worst_holder())?;
        let mut finding =
            facts.finding(kind, Account::Lock, self.lost_s, burned_s, facts.places.place(cause));
        let waits = self.rows.iter().map(|row| (row.location, row.context, row.ns as f64 / 1e9));
        finding.victims = facts.victims(waits);
        finding.evidence = vec![
            Figure::seconds("waited for this lock", self.lost_s),
            Figure::count("sections that ended while others waited", self.sections.count.round()),
            Figure::seconds("mean length of such a section", mean_s),
            Figure::count("threads that waited at once, on average", waiters),
            Figure::share("of the run somebody waited", share),
            Figure::seconds("of the waiting, nobody held it (hand-over)", self.hand_over_s),
        ];
        match kind {
            Kind::LockAcrossIo => {
                finding.evidence.push(Figure::share("of the time held, in I/O", io_s / held_s))
            }
            Kind::LockAcrossSleep => {
                finding
                    .evidence
                    .push(Figure::share("of the time held, asleep or waiting", passive_s / held_s));
            }
            Kind::LockSpin => {
                finding.evidence.push(Figure::seconds("of the waiting, by trying again", burned_s))
            }
            _ => {}
        }
        finding.sure = if self.hand_over_s > 0.5 * self.lost_s { Sure::Likely } else { Sure::Certain };
        finding.checks = checks.kept();
        finding.lock = Some(self.id);
        Some(finding)
    }

    /// Where holders got it, or, where that is not known, let it go, for which most was waited.
    fn worst_holder(&self) -> Option<ContextId> {
        let mut by_context: HashMap<ContextId, f64> = HashMap::new();
        for (&(_, context, site), &seconds) in &self.by_holder {
            *by_context.entry(site.unwrap_or(context)).or_default() += seconds;
        }
        let by_line = |context: ContextId| self.facts.places.line_key(context);
        let mut by_place: HashMap<_, (f64, ContextId)> = HashMap::new();
        for (&context, &seconds) in &by_context {
            let sum = by_place.entry(by_line(context)).or_insert((0.0, context));
            (sum.0, sum.1) = (sum.0 + seconds, sum.1.min(context));
        }
        by_place
            .into_values()
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, context)| context)
    }

    /// How many waited at once, on average while any did, and for which part of the run any did.
    fn waiters(&self) -> (f64, f64) {
        let queue = self.facts.queues.of_lock(self.id);
        let share = queue.any_ns as f64 / 1e9 / self.facts.wall_s.max(f64::MIN_POSITIVE);
        (if queue.any_ns > 0 { queue.waited_ns as f64 / queue.any_ns as f64 } else { 1.0 }, share)
    }
}

fn is_lock(state: State) -> bool {
    matches!(state, State::Waiting(Wait::Lock) | State::Polling(Wait::Lock))
}

/// The context with the most.
fn most(amounts: &HashMap<ContextId, f64>) -> Option<ContextId> {
    let most = amounts.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
    most.map(|(&context, _)| context)
}
