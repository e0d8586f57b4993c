//! Where most of the time is, downwards.

use proust_profile::ContextId;

use super::forest::Forest;

/// The path from `root` to the context below which the time spreads: descends to the largest child while that
/// child holds at least `threshold` of its parent's inclusive amount. From the whole program it descends in
/// any case, since that is no place.
pub fn hot_path(forest: &Forest, inclusive: &[u128], root: ContextId, threshold: f64) -> Vec<ContextId> {
    let mut path = vec![root];
    loop {
        let here = path[path.len() - 1];
        let hottest = forest
            .children(here)
            .iter()
            .copied()
            .max_by(|&a, &b| inclusive[a.index()].cmp(&inclusive[b.index()]).then(b.cmp(&a)));
        match hottest {
            Some(child)
                if inclusive[child.index()] > 0
                    && (here == ContextId::PROGRAM
                        || inclusive[child.index()] as f64 >= threshold * inclusive[here.index()] as f64) =>
            {
                path.push(child);
            }
            _ => return path,
        }
    }
}
