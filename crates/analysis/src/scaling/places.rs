//! Scaling losses of each place of a program.

use super::ensemble::Ensemble;
use super::loss::{Cost, Kind, Side, excess_s};
use crate::compare::JointId;
use crate::compare::statistics::{Change, Matters, Observation, Verdict};
use crate::ledger::Account;

/// How far ranges of repetitions must lie apart that are told by nothing else.
const FAR: f64 = 1.5;

/// What a place loses with a count, in comparison with the least one.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceScaling {
    /// Where.
    pub node: JointId,
    /// Position of the count in [`Ensemble::counts`].
    pub count: usize,
    /// Its processor time with all below, with the least count, s.
    pub first_s: f64,
    /// The same with this count, s.
    pub cost_s: f64,
    /// What of it is more than expected, s.
    pub excess_s: f64,
    /// The same as a part of the program's processor time.
    pub loss: f64,
    /// What of its own, with its lines, is more than expected, s.
    pub own_excess_s: f64,
    /// The same as a part of the program's.
    pub own_loss: f64,
    /// `excess_s` by account; they sum up to it. None: Proust's own time, and empty slots beside waits.
    pub accounts: Vec<(Option<Account>, f64)>,
    /// Whether the difference is more than chance.
    pub verdict: Verdict,
}

/// Losses of all places with one count.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// By node.
    pub list: Vec<PlaceScaling>,
}

impl Places {
    /// Those of the count at this position; empty for the least one.
    pub fn of(ensemble: &Ensemble<'_>, kind: Kind, count: usize) -> Places {
        if count == 0 || ensemble.joint().is_empty() {
            return Places { list: Vec::new() };
        }
        let accounts = ensemble.accounts();
        let nodes = 0..ensemble.joint().len() as JointId;
        Places { list: nodes.map(|node| place(ensemble, kind, count, node, &accounts)).collect() }
    }
}

fn place(
    ensemble: &Ensemble<'_>,
    kind: Kind,
    count: usize,
    node: JointId,
    accounts: &[Account],
) -> PlaceScaling {
    let total_s = ensemble.cost_s(0, count);
    let side = |at: usize, amount_s| Side { count: f64::from(ensemble.counts()[at]), amount_s, total_s };
    let excess =
        |first_s: f64, now_s: f64| excess_s(kind, Cost::Summed, &side(0, first_s), &side(count, now_s));
    let part = |seconds: f64| if total_s > 0.0 { seconds / total_s } else { 0.0 };
    let (first_s, cost_s) = (ensemble.cost_s(node, 0), ensemble.cost_s(node, count));
    let all = excess(first_s, cost_s);
    let own = excess(ensemble.own_cost_s(node, 0), ensemble.own_cost_s(node, count));
    let mut by_account: Vec<(Option<Account>, f64)> = Vec::new();
    let mut left = all;
    if all != 0.0 {
        for &account in accounts {
            let more = excess(ensemble.account_s(node, 0, account), ensemble.account_s(node, count, account));
            left -= more;
            if more != 0.0 {
                by_account.push((Some(account), more));
            }
        }
        if left.abs() > 1e-9 * total_s {
            by_account.push((None, left));
        }
    }
    let expected = |first_s: f64| -excess(first_s, 0.0);
    let observed = |at: usize, scaled: bool| -> Vec<Observation> {
        let costs = ensemble.costs_s(node, at);
        costs.into_iter().map(|s| Observation::exact(if scaled { expected(s) } else { s })).collect()
    };
    let verdict = if part(all.abs()) < 0.005 {
        Verdict::Noise
    } else {
        let (before, after) = (observed(0, true), observed(count, false));
        let change = Change::of(&before, &after, &Matters::of_total(total_s)).verdict;
        if change == Verdict::Noise { apart(&before, &after) } else { change }
    };
    PlaceScaling {
        node,
        count,
        first_s,
        cost_s,
        excess_s: all,
        loss: part(all),
        own_excess_s: own,
        own_loss: part(own),
        accounts: by_account,
        verdict,
    }
}

/// Three repetitions or more on each side of which all on one side are larger than all on the other: chance
/// makes that of equal amounts once in ten times with three, and hardly ever with more, whatever their
/// distribution; a single slow run does not hide it.
fn apart(before: &[Observation], after: &[Observation]) -> Verdict {
    if before.len() < 3 || after.len() < 3 {
        return Verdict::Noise;
    }
    let range = |list: &[Observation]| {
        let values = list.iter().map(|observation| observation.value);
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (before, after) = (range(before), range(after));
    if after.0 > FAR * before.1 {
        Verdict::More
    } else if before.0 > FAR * after.1 {
        Verdict::Less
    } else {
        Verdict::Noise
    }
}
