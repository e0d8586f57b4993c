//! What the tree of contexts says about itself, computed once for all questions.

use proust_profile::{ContextId, ContextKind, FunctionId, IndexVec, Profile};

/// Children, owners and recursion of a profile's contexts.
///
/// Paths may be thousands of frames deep, so nothing here is recursive.
#[derive(Clone, Debug)]
pub struct Forest {
    first_child: Vec<u32>,
    children: Vec<ContextId>,
    call_above: IndexVec<ContextId, Option<ContextId>>,
    exclusive_of: IndexVec<ContextId, ContextId>,
    outermost: IndexVec<ContextId, bool>,
    calls: Calls,
}

/// What counts as a call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// Inlined calls, too: functions as in the source.
    All,
    /// Only what the processor calls: an inlined function is a part of the one that it was compiled into.
    Compiled,
}

impl Calls {
    fn has(self, kind: ContextKind) -> bool {
        match self {
            Calls::All => is_call(kind),
            Calls::Compiled => kind == ContextKind::Frame,
        }
    }
}

impl Forest {
    /// Reads a profile's contexts; relies on its invariant that parents are before their children.
    pub fn new(profile: &Profile) -> Forest {
        Forest::with(profile, Calls::All)
    }

    /// The same, where only functions as they were compiled count: an inlined call is like a line.
    pub(super) fn of_compiled(profile: &Profile) -> Forest {
        Forest::with(profile, Calls::Compiled)
    }

    fn with(profile: &Profile, calls: Calls) -> Forest {
        let contexts = &profile.contexts;
        let mut first_child = vec![0u32; contexts.len() + 1];
        for context in contexts {
            if let Some(parent) = context.parent {
                first_child[parent.index() + 1] += 1;
            }
        }
        for id in 0..contexts.len() {
            first_child[id + 1] += first_child[id];
        }
        let mut children =
            vec![ContextId::PROGRAM; contexts.iter().filter(|context| context.parent.is_some()).count()];
        let mut next = first_child.clone();
        for (id, context) in contexts.iter_enumerated() {
            if let Some(parent) = context.parent {
                children[next[parent.index()] as usize] = id;
                next[parent.index()] += 1;
            }
        }
        let mut forest = Forest {
            first_child,
            children,
            call_above: contexts.iter().map(|_| None).collect(),
            exclusive_of: contexts.keys().collect(),
            outermost: contexts.iter().map(|_| false).collect(),
            calls,
        };
        for (id, context) in contexts.iter_enumerated() {
            let Some(parent) = context.parent else { continue };
            forest.call_above[id] =
                if calls.has(contexts[parent].kind) { Some(parent) } else { forest.call_above[parent] };
            let is_part = is_call(context.kind) && !calls.has(context.kind);
            if is_part || matches!(context.kind, ContextKind::Line | ContextKind::Loop) {
                forest.exclusive_of[id] = forest.exclusive_of[parent];
            }
        }
        forest.find_outermost(profile);
        forest
    }

    fn find_outermost(&mut self, profile: &Profile) {
        let calls = self.calls;
        let function_of = |id: ContextId| called_by(profile, id, calls).map(FunctionId::index);
        self.outermost = self.outermost_of(profile, profile.functions.len(), function_of);
    }

    /// Whether each context brings onto its path what no context above it does. `brings` answers with the
    /// number of a thing, of which there are so many.
    pub(super) fn outermost_of(
        &self,
        profile: &Profile,
        things: usize,
        brings: impl Fn(ContextId) -> Option<usize>,
    ) -> IndexVec<ContextId, bool> {
        let mut outermost: IndexVec<ContextId, bool> = profile.contexts.iter().map(|_| false).collect();
        let mut on_path = vec![0_u32; things];
        // Each context is met twice: going down and returning.
        let mut stack: Vec<(ContextId, bool)> = (profile.contexts.iter_enumerated())
            .rev()
            .filter(|(_, context)| context.parent.is_none())
            .map(|(id, _)| (id, false))
            .collect();
        while let Some((id, leaving)) = stack.pop() {
            let thing = brings(id);
            if leaving {
                if let Some(thing) = thing {
                    on_path[thing] -= 1;
                }
                continue;
            }
            if let Some(thing) = thing {
                outermost[id] = on_path[thing] == 0;
                on_path[thing] += 1;
            }
            stack.push((id, true));
            stack.extend(self.children(id).iter().map(|&child| (child, false)));
        }
        outermost
    }

    /// The contexts directly below one, in the order of their ids.
    pub fn children(&self, id: ContextId) -> &[ContextId] {
        let (from, to) = (self.first_child[id.index()], self.first_child[id.index() + 1]);
        &self.children[from as usize..to as usize]
    }

    /// The nearest frame or inlined call above a context, itself not included.
    pub fn call_above(&self, id: ContextId) -> Option<ContextId> {
        self.call_above[id]
    }

    /// The frame or inlined call whose exclusive amount includes this context's own: itself, or for lines and
    /// loops the one around them.
    pub fn exclusive_of(&self, id: ContextId) -> ContextId {
        self.exclusive_of[id]
    }

    /// Whether a frame or inlined call has no other of the same function above it. Only these count for the
    /// inclusive amount of a function, so that recursion counts once.
    pub fn is_outermost(&self, id: ContextId) -> bool {
        self.outermost[id]
    }

    /// The function that a context is a call of, by what counts as one here.
    pub(super) fn called_function(&self, profile: &Profile, id: ContextId) -> Option<FunctionId> {
        called_by(profile, id, self.calls)
    }

    /// The contexts of a subtree, its root included, parents before children.
    pub fn subtree(&self, root: ContextId) -> Vec<ContextId> {
        let mut found = vec![root];
        let mut next = 0;
        while next < found.len() {
            found.extend_from_slice(self.children(found[next]));
            next += 1;
        }
        found
    }
}

/// Whether contexts of this kind are calls of a function.
pub(super) fn is_call(kind: ContextKind) -> bool {
    matches!(kind, ContextKind::Frame | ContextKind::Inline)
}

/// The function that a frame or inlined call is a call of.
pub(super) fn called_function(profile: &Profile, id: ContextId) -> Option<FunctionId> {
    called_by(profile, id, Calls::All)
}

fn called_by(profile: &Profile, id: ContextId, calls: Calls) -> Option<FunctionId> {
    let context = &profile.contexts[id];
    context.function.filter(|_| calls.has(context.kind))
}
