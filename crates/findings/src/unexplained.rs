//! Waits for which no other kind of finding gives a cause.
//!
//! On a busy machine most waits are for threads that had no processor, and what the program itself adds
//! cannot be separated from them; elsewhere the causes may be too many and too small. Where threads waited
//! for much of the total, the place is named all the same: a finding of this kind is possible at most, and
//! comes last.
//!
//! The same holds of processors that were empty while one location worked, or of times in which none did:
//! what is named is the wait whose end was the end of that.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use proust_account::blame::{BlameRow, CauseKind};
use proust_account::ledger::{Account, Class};
use proust_profile::{ContextId, LocationId, Ns};

use super::event_loops::place_of_wait;
use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};

/// `found`: by the other kinds.
pub(super) fn find(facts: &Facts<'_>, found: &[Finding]) -> Vec<Finding> {
    let waits = Account::ALL.into_iter().filter(|account| account.class() == Class::Waiting);
    let waits = waits.filter_map(|account| unexplained(facts, account, found));
    waits.chain(alone(facts, found)).chain(still(facts, found)).collect()
}

type Waits = Vec<(LocationId, ContextId, Ns)>;

/// Of the time in which one location worked, and processors were empty.
fn alone(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let waits = facts.stretches.handovers.alone.iter();
    let empty = (facts.width - 1.0).max(0.0);
    let waits = waits.map(|(&(location, context, _), handed)| (location, context, handed.waited * empty));
    empty_processors(facts, &[Account::Serial, Account::Narrow], waits.collect(), found)
}

/// Of the time in which none worked.
fn still(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let waits = facts.stretches.handovers.still.iter();
    let waits = waits.map(|(&(location, context), &time)| (location, context, time * facts.width.max(1.0)));
    empty_processors(facts, &[Account::Asleep, Account::Idle], waits.collect(), found)
}

fn empty_processors(
    facts: &Facts<'_>,
    accounts: &[Account],
    mut waits: Waits,
    found: &[Finding],
) -> Option<Finding> {
    let empty_ns: u64 = accounts.iter().map(|&account| facts.ledger.accounts[account]).sum();
    let is_of = |one: &&Finding| accounts.iter().any(|account| one.account == account.id());
    let explained: Ns = found.iter().filter(is_of).map(|one| one.lost).sum();
    // A finding about a lock names these waits, too, and counts them as waiting.
    let victims = found.iter().flat_map(|one| one.victims.iter().filter_map(|victim| victim.place.context));
    let is_named: FxHashSet<_> = victims.map(|context| facts.places.line_key(context)).collect();
    waits.retain(|wait| !is_named.contains(&facts.places.line_key(wait.1)));
    let rest = (Ns::of(empty_ns) - explained).max(Ns::ZERO);
    let everywhere: Ns = waits.iter().map(|wait| wait.2).sum();
    let lost = everywhere.min(rest);
    let mut checks = Checks::default();
    if !facts.total.is_positive()
        || !checks.holds(&limits::UNEXPLAINED, lost / facts.total)
        || !facts.matters(&mut checks, lost, Ns::ZERO)
    {
        return None;
    }
    waits.sort_unstable();
    let mut by_place: BTreeMap<_, Waits> = BTreeMap::new();
    for &wait in &waits {
        by_place.entry(facts.places.line_key(wait.1)).or_default().push(wait);
    }
    let sum = |of: &Waits| of.iter().map(|wait| wait.2).sum::<Ns>();
    let there = by_place.into_values().max_by(|a, b| sum(a).cmp(&sum(b)))?;
    let (context, location) = there.iter().map(|wait| (wait.1, wait.0)).min()?;
    let context = place_of_wait(facts, location, context);
    let threads: BTreeSet<LocationId> = waits.iter().map(|wait| wait.0).collect();
    let cause = facts.located(facts.places.place(context), there.iter().map(|wait| wait.0));
    let mut finding = facts.finding(Kind::UnexplainedWait, accounts[0], lost, Ns::ZERO, cause);
    finding.evidence = vec![
        Figure::time(FigureId::WaitedAtPlace, sum(&there)),
        Figure::time(FigureId::WaitedUnnamed, everywhere),
        Figure::count(FigureId::ThreadsThatWaitedSo, threads.len() as f64),
    ];
    finding.victims = facts.victims(waits);
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

fn unexplained(facts: &Facts<'_>, account: Account, found: &[Finding]) -> Option<Finding> {
    let explained: Vec<&Finding> = found.iter().filter(|one| one.account == account.id()).collect();
    let waited = Ns::of(facts.ledger.accounts[account]);
    let rest = (waited - explained.iter().map(|one| one.lost).sum()).max(Ns::ZERO);
    let mut checks = Checks::default();
    if !facts.total.is_positive() || !checks.holds(&limits::UNEXPLAINED, rest / facts.total) {
        return None;
    }
    let named: FxHashSet<_> = (explained.iter())
        .flat_map(|one| one.victims.iter().filter_map(|victim| victim.place.context))
        .map(|context| facts.places.line_key(context))
        .collect();
    let mut by_place: BTreeMap<_, Vec<&BlameRow>> = BTreeMap::new();
    for row in facts.blame.rows.iter().filter(|row| row.account == account) {
        by_place.entry(facts.places.line_key(row.context)).or_default().push(row);
    }
    by_place.retain(|place, _| !named.contains(place));
    let all: Vec<&BlameRow> = by_place.values().flatten().copied().collect();
    let sum = |rows: &[&BlameRow], of: &dyn Fn(CauseKind) -> bool| -> Ns {
        rows.iter().filter(|row| of(row.cause.kind)).map(|row| Ns::of(row.ns)).sum()
    };
    let rows = by_place.into_values().max_by_key(|rows| sum(rows, &|_| true))?;
    let everywhere = sum(&all, &|_| true);
    let lost = everywhere.min(rest);
    let burned = lost * facts.burned_share(None, |id| facts.spent(id, &[account]));
    if !facts.matters(&mut checks, lost, burned) {
        return None;
    }
    let context = rows.iter().map(|row| row.context).min()?;
    let cause = facts.located(facts.places.place(context), rows.iter().map(|row| row.location));
    let mut finding = facts.finding(Kind::UnexplainedWait, account, lost, burned, cause);
    finding.victims = facts.victims(all.iter().map(|row| (row.location, row.context, Ns::of(row.ns))));
    let displaced = sum(&all, &|kind| kind == CauseKind::Displaced);
    let unknown = sum(&all, &|kind| kind == CauseKind::Unknown);
    finding.evidence = vec![
        Figure::time(FigureId::WaitedAtPlace, sum(&rows, &|_| true)),
        Figure::time(FigureId::WaitedUnnamed, everywhere),
        Figure::time(FigureId::OfThatDisplaced, displaced),
        Figure::time(FigureId::OfThatLate, everywhere - displaced - unknown),
        Figure::time(FigureId::OfThatUnknown, unknown),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
