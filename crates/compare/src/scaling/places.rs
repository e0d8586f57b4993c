//! Scaling losses of each place of a program.

use super::ensemble::Ensemble;
use super::loss::{self, Cost, Kind, Side};
use crate::JointId;
use proust_account::ledger::Account;
use proust_profile::Ns;
use proust_statistics::{Change, Matters, Observation, Verdict, change};

/// A difference of two rounded means is off by no more.
const ROUNDING: Ns = Ns::new(2);

/// What a place loses with a count, in comparison with the least one.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceScaling {
    /// Where.
    pub node: JointId,
    /// Position of the count in [`Ensemble::counts`].
    pub count: usize,
    /// Its processor time with all below, with the least count.
    pub first: Ns,
    /// The same with this count.
    pub cost: Ns,
    /// The part of it beyond the expectation.
    pub excess: Ns,
    /// The same as a part of the program's processor time.
    pub loss: f64,
    /// What of its own, with its lines, is more than expected.
    pub own_excess: Ns,
    /// The same as a part of the program's.
    pub own_loss: f64,
    /// `excess` by account; they sum up to it, but for rounding. None: Proust's own time, and empty slots
    /// beside waits.
    pub accounts: Vec<(Option<Account>, Ns)>,
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
    let total = ensemble.cost(0, count);
    let side = |at: usize, amount: Ns| Side { count: f64::from(ensemble.counts()[at]), amount, total };
    let excess = |first: Ns, now: Ns| loss::excess(kind, Cost::Summed, &side(0, first), &side(count, now));
    let part = |time: Ns| time.share_of(total);
    let (first, cost) = (ensemble.cost(node, 0), ensemble.cost(node, count));
    let all = excess(first, cost);
    let own = excess(ensemble.own_cost(node, 0), ensemble.own_cost(node, count));
    let mut by_account: Vec<(Option<Account>, Ns)> = Vec::new();
    let mut left = all;
    if all != Ns::ZERO {
        for &account in accounts {
            let more =
                excess(ensemble.on_account(node, 0, account), ensemble.on_account(node, count, account));
            left -= more;
            if more != Ns::ZERO {
                by_account.push((Some(account), more));
            }
        }
        // Each of them is rounded.
        let rounded = ROUNDING * (accounts.len() + 1) as f64;
        if left.abs() > rounded.max(total * 1e-9) {
            by_account.push((None, left));
        }
    }
    let expected = |first: Ns| -excess(first, Ns::ZERO);
    let observed = |at: usize, scaled: bool| -> Vec<Observation> {
        let costs = ensemble.costs(node, at);
        let costs = costs.into_iter().map(|cost| if scaled { expected(cost) } else { cost });
        costs.map(|cost| Observation::exact(cost.as_seconds())).collect()
    };
    let change = Change::of(&observed(0, true), &observed(count, false), &matters(ensemble, count));
    let place = PlaceScaling {
        node,
        count,
        first,
        cost,
        excess: all,
        loss: part(all),
        own_excess: own,
        own_loss: part(own),
        accounts: by_account,
        verdict: change.verdict,
    };
    (place, change)
}

/// What matters to the program with this count.
fn matters(ensemble: &Ensemble<'_>, count: usize) -> Matters {
    Matters::of_total(ensemble.cost(0, count).as_seconds())
}
