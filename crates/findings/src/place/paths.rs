//! What lies on a call path, and below what.

use proust_profile::{ContextId, ContextKind, Function, FunctionId};

use super::{Place, Places};

impl<'p> Places<'p> {
    /// The name of the function that is called innermost, the program's own or not.
    pub(in super::super) fn leaf(&self, context: ContextId) -> Option<&'p Function> {
        self.leaf_id(context).map(|id| &self.profile.functions[id])
    }

    /// The same by its number.
    pub(in super::super) fn leaf_id(&self, mut context: ContextId) -> Option<FunctionId> {
        loop {
            let at = &self.profile.contexts[context];
            if matches!(at.kind, ContextKind::Frame | ContextKind::Inline) {
                return at.function;
            }
            context = at.parent?;
        }
    }

    /// Whether a function whose name is one of these is called below the program's own.
    pub(in super::super) fn calls_below_own(
        &self,
        context: ContextId,
        is_one: impl Fn(&str) -> bool,
    ) -> bool {
        self.calls_function_below_own(context, |id| is_one(&self.profile.functions[id].name))
    }

    /// Whether one of these functions is called below the program's own.
    pub(in super::super) fn calls_function_below_own(
        &self,
        context: ContextId,
        is_one: impl Fn(FunctionId) -> bool,
    ) -> bool {
        let own = self.own(context);
        let mut at = Some(context);
        while let Some(id) = at.filter(|&id| id != own) {
            if self.profile.contexts[id].function.is_some_and(&is_one) {
                return true;
            }
            at = self.profile.contexts[id].parent;
        }
        false
    }

    /// Whether a context lies in, or below, a call of the program's function that another one is in.
    pub(in super::super) fn is_in_function_of(&self, context: ContextId, other: ContextId) -> bool {
        let Some(function) = self.function(other) else { return false };
        let mut at = Some(context);
        while let Some(id) = at {
            if self.profile.contexts[id].function == Some(function) {
                return true;
            }
            at = self.profile.contexts[id].parent;
        }
        false
    }

    /// Whether a context lies in a function of this name, or below it.
    pub(in super::super) fn is_below_named(&self, context: ContextId, name: &str) -> bool {
        let mut at = Some(context);
        while let Some(id) = at {
            let function = self.profile.contexts[id].function.map(|id| &self.profile.functions[id]);
            if function.is_some_and(|function| function.name == name) {
                return true;
            }
            at = self.profile.contexts[id].parent;
        }
        false
    }

    /// Whether a line is one of the function that begins this parallel region, and no other region.
    pub(in super::super) fn begins_only(&self, line: ContextId, region: ContextId) -> bool {
        let contexts = &self.profile.contexts;
        let around = contexts[region].parent;
        let regions = self.profile.regions.iter().map(|one| one.context);
        contexts[line].kind == ContextKind::Line
            && contexts[line].parent == around
            && regions.filter(|&one| contexts[one].parent == around).eq([region])
    }

    /// Whether a context is another one or below it.
    pub(in super::super) fn is_below(&self, context: ContextId, root: ContextId) -> bool {
        let mut at = Some(context);
        while let Some(id) = at.filter(|&id| id >= root) {
            if id == root {
                return true;
            }
            at = self.profile.contexts[id].parent;
        }
        false
    }

    /// Where a path leaves another one: the line at which it goes on, in the innermost function of the
    /// program that is on both; its own place if none is.
    pub(in super::super) fn leaving(&self, path: ContextId, other: ContextId) -> Place {
        let mut called = self.own(path);
        if self.is_below(other, called) {
            return self.place(path);
        }
        while let Some(parent) = self.profile.contexts[called].parent {
            let around = self.own(parent);
            if self.outer[around.index()].is_none() {
                break;
            }
            if self.is_below(other, around) {
                return self.calling(around, called);
            }
            called = around;
        }
        self.place(path)
    }
}
