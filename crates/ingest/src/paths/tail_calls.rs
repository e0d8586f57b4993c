//! Functions that ended in a jump to another one: a tail call leaves no frame of them, but the call
//! instruction above still names them.
//!
//! Where they jumped from is not known, so no line of theirs is.

use proust_log::records::INTERPRETED;
use proust_profile::{ContextKind, ModuleId};
use proust_structure::{Function, ModuleStructure};

use super::{Line, Paths, Shown, Step};
use crate::nodes::{LaneNode, NodeTable};

impl Paths<'_> {
    /// The function above a node of which no frame is left: the call in the node above names another function
    /// than the one that executes in the node.
    pub(super) fn left_above(&mut self, log: usize, nodes: &NodeTable, node: LaneNode) -> Option<Shown> {
        if node.module == INTERPRETED {
            // It stands in the place of the function that evaluates it, which the call names.
            return None;
        }
        let above = nodes.get(node.parent)?;
        let (module, number, named) = self.named_by_call(log, above)?;
        let executes = self.resolved(log, node).and_then(|(id, address)| {
            let structure = self.modules.structures.get(id.index())?;
            Some((id, structure.function(address.frames.first()?)))
        });
        let is_left = executes.is_none_or(|(id, function)| {
            (id, function.address) != (module, named.address) && function.full_name != named.full_name
        });
        is_left.then(|| self.without_frame(module, number))
    }

    /// From a path's last call into the function that it names. What is recorded at a call is recorded in the
    /// function that was called, which is never one of the program's.
    pub(super) fn down_last_call(&mut self, from: Step, log: usize, nodes: &NodeTable, node: u32) -> Step {
        let named = nodes.get(node).and_then(|node| self.named_by_call(log, node));
        let Some((module, number, _)) = named else { return from };
        let left = self.without_frame(module, number);
        self.go_down(from, log, &left)
    }

    fn named_by_call(&self, log: usize, node: LaneNode) -> Option<(ModuleId, u32, &Function)> {
        let (module, address) = self.resolved(log, node)?;
        let structure: &ModuleStructure = self.modules.structures.get(module.index())?;
        let number = address.calls?;
        Some((module, number, structure.functions.get(number as usize)?))
    }

    fn without_frame(&mut self, module: ModuleId, number: u32) -> Shown {
        let function = self.function(module, number);
        Shown { kind: Some(ContextKind::Frame), function, own: Line::default() }
    }
}
