//! Which contexts of a comparison text shows, and in which order.

use std::collections::BTreeMap;

use proust_compare::JointId;

/// Rows shown in text have at least this part of the largest amount, or of the largest difference.
const LEAST: f64 = 0.01;
/// Deeper contexts are not set in further.
const DEEPEST: usize = 30;

/// A name at its depth.
pub(super) fn indented(depth: usize, name: &str) -> String {
    "  ".repeat(depth.min(DEEPEST)) + name
}

/// A context that text may show.
pub(super) struct Place {
    pub id: JointId,
    pub parent: Option<JointId>,
    /// The size of its difference.
    pub delta: f64,
    /// The larger amount.
    pub amount: f64,
}

/// Positions of the places with the largest differences and amounts and of those above them, at most `limit`,
/// each after its parent, with its depth.
pub(super) fn largest(places: &[Place], limit: usize) -> Vec<(usize, usize)> {
    let position: BTreeMap<JointId, usize> =
        places.iter().enumerate().map(|(at, place)| (place.id, at)).collect();
    let most_delta = places.iter().map(|place| place.delta).fold(0.0, f64::max);
    let most = places.iter().map(|place| place.amount).fold(0.0, f64::max);
    let mut candidates: Vec<usize> = (0..places.len())
        .filter(|&at| {
            let Place { delta, amount, .. } = places[at];
            delta > 0.0 && delta >= LEAST * most_delta || amount > 0.0 && amount >= LEAST * most
        })
        .collect();
    candidates.sort_by(|&a, &b| {
        let share = |at: usize| {
            // A difference says more here than an amount that both sides have.
            4.0 * places[at].delta / most_delta.max(f64::MIN_POSITIVE)
                + places[at].amount / most.max(f64::MIN_POSITIVE)
        };
        share(b).total_cmp(&share(a)).then(a.cmp(&b))
    });
    let mut is_shown = vec![false; places.len()];
    let mut rows = 0;
    for &at in &candidates {
        let mut path = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| !is_shown[at]) {
            path.push(at);
            next = places[at].parent.and_then(|parent| position.get(&parent)).copied();
        }
        if rows + path.len() > limit {
            continue;
        }
        rows += path.len();
        path.into_iter().for_each(|at| is_shown[at] = true);
    }
    let mut children: BTreeMap<Option<JointId>, Vec<usize>> = BTreeMap::new();
    for at in (0..places.len()).filter(|&at| is_shown[at]) {
        children.entry(places[at].parent).or_default().push(at);
    }
    for siblings in children.values_mut() {
        siblings.sort_by(|&a, &b| {
            let (x, y) = (&places[a], &places[b]);
            (y.amount.total_cmp(&x.amount)).then(y.delta.total_cmp(&x.delta)).then(a.cmp(&b))
        });
    }
    let mut order = Vec::new();
    let mut stack: Vec<(usize, usize)> =
        children.get(&None).into_iter().flatten().map(|&at| (at, 0)).collect();
    stack.reverse();
    while let Some((at, depth)) = stack.pop() {
        order.push((at, depth));
        let below = children.get(&Some(places[at].id)).into_iter().flatten();
        stack.extend(below.rev().map(|&child| (child, depth + 1)));
    }
    order
}
