//! Places of a sweep in the order of a tree, and the notes about those that runs do not agree on.

use proust_compare::JointId;
use proust_compare::scaling::{Disagreement, Ensemble};

use super::wording;
use crate::wording::SweepNote;

/// Where runs did not do the same.
pub(super) fn disagreement(ensemble: &Ensemble<'_>, difference: &Disagreement) -> SweepNote {
    SweepNote::Disagreement {
        place: wording::name(ensemble, difference.node),
        fewest: difference.fewest.0,
        fewest_count: difference.fewest.1,
        most: difference.most.0,
        most_count: difference.most.1,
    }
}

/// Places in the order of a tree, largest first among the parts of one, with how deep they are. A place that
/// leads to only one other and is no region is left out of the depth.
pub(super) fn in_order(
    ensemble: &Ensemble<'_>,
    weight: &dyn Fn(JointId) -> f64,
    is_wanted: &dyn Fn(JointId) -> bool,
) -> Vec<(JointId, usize)> {
    let joint = ensemble.joint();
    let mut children: Vec<Vec<JointId>> = vec![Vec::new(); joint.len()];
    let mut roots = Vec::new();
    for node in 0..joint.len() as JointId {
        match joint.parent(node) {
            Some(parent) => children[parent as usize].push(node),
            None => roots.push(node),
        }
    }
    let mut order = Vec::new();
    let mut stack: Vec<(JointId, usize)> = roots.into_iter().map(|root| (root, 0)).collect();
    while let Some((node, depth)) = stack.pop() {
        let wanted = is_wanted(node);
        if wanted {
            order.push((node, depth));
        }
        let mut below = std::mem::take(&mut children[node as usize]);
        below.sort_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(b.cmp(&a)));
        stack.extend(below.into_iter().map(|child| (child, depth + usize::from(wanted))));
    }
    order
}

/// How far a row is indented whose first levels were left out.
pub(super) fn depth_below(depth: usize, skipped: usize) -> usize {
    if depth == 0 { 0 } else { depth.saturating_sub(skipped).clamp(1, 12) }
}
