//! A full unwind of every path by framehop alone, to check the memo and the rules (debug mode).
//!
//! It shares with the memo's way only the list of modules, the reading of the stack, the recognition of
//! signal frames, which framehop does not know, and the step to another piece of a split stack, which it
//! takes for a mistake.

use framehop::{FrameAddress, Unwinder};

use crate::arch::unwinding;
use crate::path::coroutine;
use crate::path::memo::{MAX_FRAMES, State, Surroundings, from_frame_pointer, interrupted};
use crate::path::module::ModuleUnwinder;
use crate::path::modules;
use crate::path::python;
use crate::path::rules::{self, Rule, StepCache};
use crate::path::stack::{StackReader, WideWindow};
use crate::path::tree::{NodeId, Tree};

/// Working memory of the check for one lane.
pub struct Reference {
    cache: StepCache,
    nowhere: ModuleUnwinder,
    lookups: Vec<u64>,
    wide: WideWindow,
}

impl Default for Reference {
    fn default() -> Reference {
        Reference {
            cache: StepCache::new_in(),
            nowhere: ModuleUnwinder::new(),
            lookups: Vec::new(),
            wide: WideWindow::default(),
        }
    }
}

impl Reference {
    /// Whether a full unwind from `leaf` gives the path that ends in `node`.
    pub fn agrees(&mut self, leaf: State, node: NodeId, tree: &Tree, around: &Surroundings<'_>) -> bool {
        self.unwind(leaf, around);
        let mut node = node;
        if has_interpreted(tree, node) {
            // One native frame evaluates several of them: there is nothing to compare them with.
            return true;
        }
        for &lookup in &self.lookups {
            match tree.frame(node) {
                Some(frame) if frame.lookup == lookup => node = frame.parent,
                _ => return false,
            }
        }
        node == 0
    }

    fn unwind(&mut self, leaf: State, around: &Surroundings<'_>) {
        let mut reader =
            StackReader::new(around.process, around.own_stack, leaf.sp, core::mem::take(&mut self.wide));
        let mut state = leaf;
        self.lookups.clear();
        while self.lookups.len() < MAX_FRAMES {
            let lookup = state.lookup();
            let module = modules::known(lookup);
            if !module.is_some_and(|module| module.own) {
                self.lookups.push(lookup);
            }
            let rule = module.map(|module| rules::rule_at(module, lookup, state.exact));
            let caller = match rule {
                Some(Rule::SignalFrame) => interrupted(&mut reader, state.sp).caller(),
                Some(rule @ Rule::FromFramePointer { cfa, saved })
                    if unwinding::leads_to_another_stack(rule) =>
                {
                    from_frame_pointer(rule, (cfa, saved), &state, &mut reader).caller()
                }
                _ => {
                    let unwinder = module.and_then(|m| m.unwinder.as_ref()).unwrap_or(&self.nowhere);
                    full_step(unwinder, &mut self.cache, &state, &mut reader)
                }
            };
            match caller {
                Some(caller) if !coroutine::ends_at(caller.pc) => state = caller,
                _ => break,
            }
            reader.reached(around.own_stack, state.sp);
        }
        self.wide = reader.into_wide();
    }
}

fn has_interpreted(tree: &Tree, mut node: NodeId) -> bool {
    while let Some(frame) = tree.frame(node) {
        if python::is_interpreted(&frame) {
            return true;
        }
        node = frame.parent;
    }
    false
}

fn full_step(
    unwinder: &ModuleUnwinder,
    cache: &mut StepCache,
    state: &State,
    reader: &mut StackReader,
) -> Option<State> {
    let address = if state.exact {
        FrameAddress::from_instruction_pointer(state.pc)
    } else {
        FrameAddress::from_return_address(state.pc)?
    };
    let mut registers = unwinding::registers(state);
    let mut read = |at| reader.word(at).ok_or(());
    let pc = unwinder.unwind_frame(address, &mut registers, cache, &mut read).ok()??;
    Some(unwinding::stepped(pc, &registers))
}
