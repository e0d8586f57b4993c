//! Where most of the time is, downwards.

use proust_profile::ContextId;

use super::forest::Forest;

/// The path from `root` to the context below which the time spreads: descends to the largest child while that
/// child holds at least `threshold` of its parent's inclusive amount.
pub fn hot_path(forest: &Forest, inclusive: &[f64], root: ContextId, threshold: f64) -> Vec<ContextId> {
    let mut path = vec![root];
    loop {
        let here = path[path.len() - 1];
        let hottest = forest
            .children(here)
            .iter()
            .copied()
            .max_by(|&a, &b| inclusive[a as usize].total_cmp(&inclusive[b as usize]).then(b.cmp(&a)));
        match hottest {
            Some(child)
                if inclusive[child as usize] > 0.0
                    && inclusive[child as usize] >= threshold * inclusive[here as usize] =>
            {
                path.push(child);
            }
            _ => return path,
        }
    }
}
