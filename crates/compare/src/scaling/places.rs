//! Scaling losses of each place of a program.

use super::ensemble::Ensemble;
use super::loss::{Cost, Kind, Side, excess_s};
use crate::JointId;
use proust_account::ledger::Account;
use proust_statistics::{Change, Matters, Observation, Verdict, change};

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
    /// The part of it beyond the expectation, s.
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
        let (mut list, mut changes): (Vec<PlaceScaling>, Vec<Change>) =
            nodes.map(|node| place(ensemble, kind, count, node, &accounts)).unzip();
        change::correct(&mut changes, &matters(ensemble, count));
        for (place, change) in list.iter_mut().zip(&changes) {
            place.verdict = change.verdict;
        }
        Places { list }
    }
}

fn place(
    ensemble: &Ensemble<'_>,
    kind: Kind,
    count: usize,
    node: JointId,
    accounts: &[Account],
) -> (PlaceScaling, Change) {
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
    let change = Change::of(&observed(0, true), &observed(count, false), &matters(ensemble, count));
    let place = PlaceScaling {
        node,
        count,
        first_s,
        cost_s,
        excess_s: all,
        loss: part(all),
        own_excess_s: own,
        own_loss: part(own),
        accounts: by_account,
        verdict: change.verdict,
    };
    (place, change)
}

/// What matters to the program with this count.
fn matters(ensemble: &Ensemble<'_>, count: usize) -> Matters {
    Matters::of_total(ensemble.cost_s(0, count))
}
