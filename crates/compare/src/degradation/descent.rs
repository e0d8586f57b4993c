//! From a degraded region down to the code that causes it: the paper's incremental decomposition, in one go.
//!
//! The paper divides the strongest region, measures again, and so on until the rest is small. Here everything
//! was measured at once, so that the same steps are a walk down a tree: to the part whose time grew most, as
//! long as one part explains most of it.

use proust_profile::Ns;

/// What is known of the places of a tree. All are asked by position; a parent is before its children.
pub struct Tree<'t> {
    /// The place around each.
    pub parents: &'t [Option<u32>],
    /// What is lost at the worst rank of each; 0 if it is not degraded.
    pub loss: &'t [Ns],
    /// By the place from which one descends, and a place below: how much longer the latter takes at the
    /// former's worst rank.
    pub excess: &'t dyn Fn(u32, u32) -> Ns,
    /// Likewise: whether the latter is degraded at that rank beyond doubt.
    pub is_degraded: &'t dyn Fn(u32, u32) -> bool,
}

/// A part that is not degraded beyond doubt itself must explain this much of what is around it.
const MOST: f64 = 0.5;
/// One that is, this much: below, several parts are to blame alike, and what is around them is the cause.
const MUCH: f64 = 0.25;
/// Paths that are looked for: more than anybody reads.
const PATHS: usize = 64;

/// The path from `top` downwards, `top` first: each the part of the one before that grew most.
fn descend(tree: &Tree<'_>, children: &[Vec<u32>], top: u32) -> Vec<u32> {
    let mut path = vec![top];
    let mut at = top;
    loop {
        let excess = |place: u32| (tree.excess)(top, place);
        let parts = children[at as usize].iter().copied();
        let Some(part) = parts.max_by(|&a, &b| excess(a).cmp(&excess(b)).then(b.cmp(&a))) else {
            return path;
        };
        let share = if excess(at).is_positive() { excess(part) / excess(at) } else { 0.0 };
        if share < MOST && !(share >= MUCH && (tree.is_degraded)(top, part)) {
            return path;
        }
        path.push(part);
        at = part;
    }
}

/// Paths from degraded places down to what causes it. The strongest is first; what lies on its path or below
/// its end is explained by it, and what is degraded beside it has a path of its own.
pub fn paths(tree: &Tree<'_>) -> Vec<Vec<u32>> {
    let mut children = vec![Vec::new(); tree.parents.len()];
    for (id, parent) in tree.parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent as usize].push(id as u32);
        }
    }
    let mut is_explained = vec![false; tree.parents.len()];
    let mut paths = Vec::new();
    while paths.len() < PATHS {
        // Places with a degraded one around them that is not explained yet have to wait for it.
        let mut is_inside = vec![false; tree.parents.len()];
        let mut strongest: Option<u32> = None;
        for id in 0..tree.parents.len() {
            let open = tree.loss[id].is_positive() && !is_explained[id];
            let is_below = tree.parents[id].is_some_and(|parent| is_inside[parent as usize]);
            is_inside[id] = is_below || open;
            if open && !is_below && strongest.is_none_or(|best| tree.loss[id] > tree.loss[best as usize]) {
                strongest = Some(id as u32);
            }
        }
        let Some(top) = strongest else { return paths };
        let path = descend(tree, &children, top);
        for &place in &path {
            is_explained[place as usize] = true;
        }
        let mut below = vec![path[path.len() - 1]];
        while let Some(place) = below.pop() {
            is_explained[place as usize] = true;
            below.extend(&children[place as usize]);
        }
        paths.push(path);
    }
    paths
}
