//! The critical part of a run by its marked intervals: at each level the one that loses most, as long as that
//! is about as much as the one around it loses; and why, by the decisions of
//! [`proust_characteristics::advice`]. The numbers of each decision, level by level, are the evidence.
//!
//! Silent where no marked interval carries the loss: of the whole run the other kinds say more.

use std::collections::BTreeSet;

use proust_account::ledger::Account;
use proust_characteristics::advice::{Step, critical, steps};
use proust_characteristics::dvm::Interval;
use proust_characteristics::name::Characteristic;
use proust_profile::Ns;
use proust_query::characteristics::Characterised;
use proust_query::intervals::IntervalNode;

use super::facts::Facts;
use super::figure::{Figure, FigureId, Subject};
use super::finding::{Finding, Kind, Sure};
use super::place::Place;
use super::thresholds::{self as limits, Checks};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(found) = &facts.intervals else { return Vec::new() };
    let Some(run) = &found.run else { return Vec::new() };
    let name = facts.profile.facts.command.first().map_or("the run", String::as_str);
    let name = name.rsplit('/').next().unwrap_or(name);
    of_levels(facts, (name, run), &found.nodes).into_iter().collect()
}

/// How intervals begin that a runtime marks around its own algorithms: nobody wrote them, and other kinds say
/// more of what happens there.
const OF_RUNTIMES: [&str; 1] = ["tbb: "];

/// A level on the way to the critical part.
struct Level<'l> {
    name: String,
    of: &'l Characterised,
}

fn of_levels(
    facts: &Facts<'_>,
    (name, run): (&str, &Characterised),
    nodes: &[IntervalNode],
) -> Option<Finding> {
    let lost_ns = |of: Option<&Characterised>| of.map_or(0, |of| of.interval.lost_ns);
    let mut tree = vec![(None, run.interval.lost_ns)];
    tree.extend(nodes.iter().map(|node| {
        let parent = node.parent.map_or(0, |parent| parent + 1);
        (Some(parent), lost_ns(node.characteristics.as_ref()))
    }));
    let way = critical(&tree);
    let innermost = &nodes[way.last()?.checked_sub(1)?];
    let levels: Vec<Level<'_>> = way
        .iter()
        .filter_map(|&at| match at.checked_sub(1) {
            None => Some(Level { name: name.to_owned(), of: run }),
            Some(at) => Some(Level {
                name: facts.profile.intervals[nodes[at].id as usize].label(),
                of: nodes[at].characteristics.as_ref()?,
            }),
        })
        .collect();
    if OF_RUNTIMES.iter().any(|of| facts.profile.intervals[innermost.id as usize].name.starts_with(of)) {
        return None;
    }
    let of = innermost.characteristics.as_ref()?;
    let decisions = steps(&of.interval);
    let (kind, lost_ns) = conclusion(&decisions)?;
    // A processor that has left an interval before others is not lost where it works in another one.
    let lost_ns = lost_ns.min(run.interval.lost_ns);
    let lost = Ns::of(lost_ns);
    let mut checks = Checks::default();
    let of_run = of.interval.lost_ns as f64 / run.interval.lost_ns as f64;
    let part = of.interval.lost_ns as f64 / of.interval.total_ns.max(1) as f64;
    let account = account(kind, innermost, &of.interval);
    // What is repeated takes processors, and so do waits in which a rank or thread looks again and again.
    let burned = match account {
        Account::Replicated => lost,
        Account::Serial | Account::Narrow | Account::Idle => Ns::ZERO,
        _ => lost * facts.burned_share(None, |location| facts.spent(location, &WAITS)),
    };
    let is_worth = facts.matters(&mut checks, lost, burned)
        && checks.holds(&limits::INTERVAL_LOST, part)
        && checks.holds(&limits::INTERVAL_OF_RUN, of_run.min(1.0));
    if !is_worth {
        return None;
    }
    let info = &facts.profile.intervals[innermost.id as usize];
    let cause =
        Place { function: Some(info.label()), file: info.file.clone(), line: info.line, ..Place::default() };
    Some(Finding {
        evidence: evidence(&levels),
        ranks: if kind == Kind::IntervalUneven { ranks(of) } else { Vec::new() },
        checks: checks.kept(),
        sure: Sure::Likely,
        ..facts.finding(kind, account, lost, burned, cause)
    })
}

/// The kind by the last decision, and the part of the lost time that it is about, ns.
pub(super) fn conclusion(decisions: &[Step]) -> Option<(Kind, u64)> {
    let part_ns = decisions.iter().find_map(|step| match step {
        Step::Largest { part_ns, .. } => Some(*part_ns),
        _ => None,
    })?;
    let kind = match decisions.last()? {
        Step::Little { .. } | Step::Largest { .. } | Step::Unsynchronised { .. } => return None,
        Step::Sequential { .. } => Kind::IntervalSequential,
        Step::Parallel { .. } => Kind::IntervalNarrow,
        Step::Imbalanced { .. } | Step::EarlyEnds { .. } => Kind::IntervalUneven,
        Step::Varied { .. } => Kind::IntervalVaried,
        Step::Compensated { .. } => Kind::IntervalCompensated,
        Step::OfIo { .. } => Kind::IntervalIo,
        Step::MostIn { .. } => Kind::IntervalOperations,
    };
    Some((kind, part_ns))
}

/// The accounts of communication.
const WAITS: [Account; 5] =
    [Account::Barrier, Account::Lock, Account::MpiPartner, Account::MpiTransfer, Account::Runtime];

/// The account that most of it is on.
fn account(kind: Kind, node: &IntervalNode, interval: &Interval) -> Account {
    let repeated_ns = interval.replicated_ns.unwrap_or(0);
    match kind {
        Kind::IntervalSequential if 2 * repeated_ns > interval.insufficient_ns.unwrap_or(0) => {
            Account::Replicated
        }
        Kind::IntervalSequential => Account::Serial,
        Kind::IntervalNarrow => Account::Narrow,
        Kind::IntervalUneven if interval.idle_ns > interval.communication_ns.unwrap_or(0) => Account::Idle,
        _ => WAITS.into_iter().max_by_key(|&account| node.inside.accounts[account]).unwrap_or(WAITS[0]),
    }
}

/// The numbers of each decision at each level, from the whole run inwards.
fn evidence(levels: &[Level<'_>]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (level, Level { name, of }) in levels.iter().enumerate() {
        let interval = &of.interval;
        let about = |of: &str| Subject::Interval { level, name: name.clone(), of: of.to_owned() };
        let time = |of: &str, ns: u64| Figure::time(FigureId::OfInterval, Ns::of(ns)).about(about(of));
        let efficiency = Figure::share(FigureId::OfInterval, interval.efficiency().unwrap_or(0.0));
        figures.push(efficiency.about(about(Characteristic::Efficiency.name())));
        figures.push(time(Characteristic::TotalTime.name(), interval.total_ns));
        let mut said = BTreeSet::from([Characteristic::TotalTime.name().to_owned()]);
        for step in steps(interval) {
            for (what, ns) in step.amounts() {
                if said.insert(what.clone()) {
                    figures.push(time(&what, ns));
                }
            }
            if let Step::MostIn { operation, count: Some(count), .. } = step {
                let operations = Figure::count(FigureId::OperationsOfInterval, count as f64);
                figures.push(operations.about(about(operation.name())));
            }
        }
    }
    figures
}

/// The rank of the processor with the most work.
fn ranks(of: &Characterised) -> Vec<u32> {
    let cpu_ns = |at: usize| of.interval.of_processor(at, Characteristic::CpuTime).unwrap_or(0);
    let busiest = (0..of.processors.len()).max_by_key(|&at| cpu_ns(at));
    busiest.and_then(|at| of.processors[at].rank).map(|of| of.rank).into_iter().collect()
}
