//! The results for one lane's nodes.

use proust_profile::ContextId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Step;
use crate::nodes::NodeTable;
use crate::thread::Place;

/// The contexts of one lane's nodes, found so far.
#[derive(Default)]
pub(crate) struct LaneContexts {
    /// Steps by node and by whether the path is partial.
    pub(super) steps: FxHashMap<(u32, bool), Step>,
    /// What rows are charged to: for nodes in order by number, complete and partial paths apart.
    in_order: [Vec<Option<ContextId>>; 2],
    others: FxHashMap<(Place, bool), ContextId>,
    /// Places whose innermost instruction is in a loop that only waits.
    pub(super) waiting: FxHashSet<Place>,
    /// Places whose innermost instruction is at an atomic change of memory.
    pub(super) atomic: FxHashSet<Place>,
    /// How often addresses of code that was made had become something else by then.
    epoch: usize,
}

impl LaneContexts {
    /// Forgets what was found in another epoch.
    pub(super) fn go_to(&mut self, epoch: usize) {
        if self.epoch != epoch {
            *self = LaneContexts { epoch, ..LaneContexts::default() };
        }
    }

    #[inline]
    pub(super) fn charged(&self, place: Place, partial: bool) -> Option<ContextId> {
        match self.in_order[usize::from(partial)].get(place as usize) {
            Some(&known) => known,
            None => self.others.get(&(place, partial)).copied(),
        }
    }

    /// Whether a row of this place fell into a loop that only waits. It has been charged.
    #[inline]
    pub(crate) fn is_waiting(&self, place: Place) -> bool {
        !self.waiting.is_empty() && self.waiting.contains(&place)
    }

    /// Whether a row of this place fell on an atomic change of memory. It has been charged.
    #[inline]
    pub(crate) fn is_atomic(&self, place: Place) -> bool {
        !self.atomic.is_empty() && self.atomic.contains(&place)
    }

    pub(super) fn set_charged(&mut self, nodes: &NodeTable, place: Place, partial: bool, context: ContextId) {
        let in_order = &mut self.in_order[usize::from(partial)];
        if in_order.is_empty() {
            in_order.resize(nodes.in_order() + 1, None);
        }
        match in_order.get_mut(place as usize) {
            Some(known) => *known = Some(context),
            None => {
                self.others.insert((place, partial), context);
            }
        }
    }
}
