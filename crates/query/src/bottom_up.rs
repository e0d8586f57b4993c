//! The tree turned around: functions, and under each its callers.

use proust_profile::{ContextId, FunctionId, IndexVec};
use rustc_hash::FxHashMap;

use super::amounts::{Amounts, of_kind};
use super::forest::called_function;
use super::measure::Measure;
use super::selection::Selection;

/// A function, reached from the one of its parent node by going to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Position of the node whose caller this is; None for the function asked about.
    pub parent: Option<usize>,
    /// The function.
    pub function: FunctionId,
    /// Whether it calls itself directly on some of these paths; such calls are folded into one node.
    pub recursive: bool,
}

/// Functions (the roots), and under each its callers, their callers and so on.
///
/// A root's amounts are those of the function; the amounts of a node below it are the root's amounts as far
/// as it was called along this chain. The exclusive amounts of a node's children sum to its own, but for the
/// chains that end there. Inclusive amounts belong to the chain of the outermost occurrence.
#[derive(Clone, Debug, Default)]
pub struct BottomUp {
    /// The nodes; parents are before their children.
    pub nodes: Vec<Node>,
    node_of_context: IndexVec<ContextId, Option<usize>>,
}

impl BottomUp {
    /// Turns the contexts around that carry some amount; `depth` bounds the length of a chain of callers:
    /// with 1 there are the functions only.
    pub fn new(selection: &Selection<'_>, depth: usize) -> BottomUp {
        BottomUp::of(selection, depth, |_| true)
    }

    /// The same of some functions only: chains of callers are many times as many as contexts, and most pages
    /// show those of a few functions.
    pub fn of(selection: &Selection<'_>, depth: usize, wanted: impl Fn(FunctionId) -> bool) -> BottomUp {
        let (profile, forest) = (selection.profile(), selection.forest());
        let mut result =
            BottomUp { nodes: Vec::new(), node_of_context: profile.contexts.iter().map(|_| None).collect() };
        let mut known: FxHashMap<(Option<usize>, FunctionId), usize> = FxHashMap::default();
        let used = selection.used_contexts();
        for id in profile.contexts.keys() {
            if !used[id.index()] || !called_function(profile, id).is_some_and(&wanted) {
                continue;
            }
            let mut node: Option<usize> = None;
            let mut length = 0;
            let mut call = Some(id);
            while let Some(context) = call {
                if let Some(function) = called_function(profile, context) {
                    let previous = node.map(|node| result.nodes[node].function);
                    if previous == Some(function) {
                        result.nodes[node.expect("a chain has begun")].recursive = true;
                    } else if length == depth {
                        break;
                    } else {
                        length += 1;
                        let next = *known.entry((node, function)).or_insert_with(|| {
                            result.nodes.push(Node { parent: node, function, recursive: false });
                            result.nodes.len() - 1
                        });
                        node = Some(next);
                    }
                }
                call = forest.call_above(context);
            }
            result.node_of_context[id] = node;
        }
        result
    }

    /// A measure by node.
    pub fn amounts(&self, selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        let measure = measure.into();
        let contexts = Amounts::by_context(selection, measure);
        let join = of_kind(measure.kind());
        let mut amounts = Amounts::nothing(self.nodes.len());
        for (id, node) in self.node_of_context.iter_enumerated() {
            if let Some(node) = *node {
                join(&mut amounts.exclusive[node], contexts.exclusive[id.index()]);
                if selection.forest().is_outermost(id) {
                    join(&mut amounts.inclusive[node], contexts.inclusive[id.index()]);
                }
            }
        }
        for (id, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                let (inclusive, exclusive) = (amounts.inclusive[id], amounts.exclusive[id]);
                join(&mut amounts.exclusive[parent], exclusive);
                join(&mut amounts.inclusive[parent], inclusive);
            }
        }
        amounts
    }

    /// The nodes directly below each node, and last the roots.
    pub fn children(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut children = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => children[parent].push(id),
                None => roots.push(id),
            }
        }
        (children, roots)
    }
}
