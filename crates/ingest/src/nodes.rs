//! The context nodes of a lane.

use std::sync::Arc;

use proust_log::records::{INTERPRETED, Node};
use proust_structure::InterpretedCode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::openmp::PlacesInRegions;

/// A frame below its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneNode {
    /// Smaller than the node's own number; 0 = the root.
    pub(super) parent: u32,
    /// The process's number of the module; 0 = none.
    pub(super) module: u32,
    pub(super) address: u64,
}

/// Nodes by number. In an intact lane they are in order; after a gap they go into the map, so that a number
/// that is damaged costs no memory.
#[derive(Debug, Default)]
pub(super) struct NodeTable {
    in_order: Vec<LaneNode>,
    others: FxHashMap<u32, LaneNode>,
    /// Code that interpreters execute, by its number in the lane.
    interpreted: FxHashMap<u32, Arc<InterpretedCode>>,
    /// Places inside parallel regions.
    pub(super) in_regions: PlacesInRegions,
}

/// Where a walk from a node to its ancestors ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// At the root: nothing is missing.
    Root,
    /// At a node whose parent's record was lost.
    Lost,
}

impl NodeTable {
    pub(super) fn add(&mut self, node: &Node) {
        // A node's parent is written before it; anything else could make a path without end.
        if node.id == 0 || node.parent >= node.id {
            return;
        }
        let new = LaneNode { parent: node.parent, module: node.module, address: node.address };
        let next = self.in_order.len() + 1;
        if node.id as usize == next {
            self.in_order.push(new);
        } else if node.id as usize > next {
            self.others.entry(node.id).or_insert(new);
        }
    }

    /// Code of an interpreter's with this number in the lane.
    pub(super) fn add_interpreted(&mut self, number: u32, code: Arc<InterpretedCode>) {
        self.interpreted.insert(number, code);
    }

    /// What a node executes that is not machine code, and the line where.
    pub(super) fn interpreted(&self, node: LaneNode) -> Option<(&InterpretedCode, Option<u32>)> {
        if node.module != INTERPRETED {
            return None;
        }
        let code = self.interpreted.get(&((node.address >> 32) as u32))?;
        Some((code, code.line(node.address as u32)))
    }

    pub(super) fn get(&self, id: u32) -> Option<LaneNode> {
        let index = (id as usize).checked_sub(1)?;
        self.in_order.get(index).or_else(|| self.others.get(&id)).copied()
    }

    /// Nodes that are in order: those with numbers up to this one.
    pub(super) fn in_order(&self) -> usize {
        self.in_order.len()
    }

    /// Calls `visit` for a node and its ancestors, as long as it answers true; returns where it ended.
    pub(super) fn walk(&self, mut id: u32, mut visit: impl FnMut(u32, LaneNode) -> bool) -> Option<Top> {
        while id != 0 {
            let Some(node) = self.get(id) else { return Some(Top::Lost) };
            if !visit(id, node) {
                return None;
            }
            id = node.parent;
        }
        Some(Top::Root)
    }
}

/// A set of node numbers, fast for those in order.
#[derive(Debug, Default)]
pub(super) struct NodeSet {
    in_order: Vec<bool>,
    others: FxHashSet<u32>,
}

impl NodeSet {
    /// Adds a number; true if it was not in the set.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, nodes: &NodeTable) -> bool {
        let index = id as usize;
        if index > nodes.in_order() {
            return self.others.insert(id);
        }
        if index >= self.in_order.len() {
            // Doubling, but never beyond the numbers there are.
            self.in_order.resize((index * 2 + 64).min(nodes.in_order() + 1).max(index + 1), false);
        }
        self.in_order.get_mut(index).is_some_and(|seen| !std::mem::replace(seen, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, parent: u32) -> Node {
        Node { id, parent, module: 1, reserved: 0, address: u64::from(id) * 16 }
    }

    #[test]
    fn nodes_after_a_gap_are_found_and_damaged_ones_are_not_believed() {
        let mut table = NodeTable::default();
        for damaged in [node(0, 0), node(1, 1), node(1, 2)] {
            table.add(&damaged);
        }
        for good in [node(1, 0), node(2, 1), node(7, 2), node(u32::MAX, 7), node(8, 5)] {
            table.add(&good);
        }
        let path = |id| {
            let mut seen = Vec::new();
            let top = table.walk(id, |id, _| {
                seen.push(id);
                true
            });
            (seen, top)
        };
        assert_eq!(path(u32::MAX), (vec![u32::MAX, 7, 2, 1], Some(Top::Root)));
        assert_eq!(path(8), (vec![8], Some(Top::Lost)));
        assert_eq!(path(0), (vec![], Some(Top::Root)));
        assert_eq!(table.get(3), None);
        assert_eq!(table.get(2).map(|node| node.address), Some(32));
    }
}
