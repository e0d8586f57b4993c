//! The functions that locations were in at one depth of their call paths.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, ContextKind, FunctionId, IndexVec, Profile};
use proust_query::Handle;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::pages::FunctionHead;

/// The letters of functions, of the one with the most time first.
const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';
/// The letter of all functions that have none of their own.
pub(super) const OTHERS: char = '*';

/// The functions at one depth.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Depth {
    /// The depth: 1 is the outermost call. A path that ends above it counts with its last call.
    depth: usize,
    /// Those of all paths that are shown.
    functions: Vec<FunctionHead>,
    /// The function of each context at the depth; none where no call is known.
    #[serde(skip)]
    at: IndexVec<ContextId, Option<FunctionId>>,
    /// Of all contexts of spans, the handles of the functions that lead there.
    #[serde(skip)]
    paths: FxHashMap<ContextId, Vec<String>>,
    /// Of functions at the depth that have one.
    #[serde(skip)]
    letters: FxHashMap<FunctionId, char>,
    /// Of all functions that are shown.
    #[serde(skip)]
    names: FxHashMap<FunctionId, String>,
}

/// The function that a context is a call of.
fn called(profile: &Profile, id: ContextId) -> Option<FunctionId> {
    let context = &profile.contexts[id];
    context.function.filter(|_| matches!(context.kind, ContextKind::Frame | ContextKind::Inline))
}

/// The calls that lead to a context, the outermost first.
fn path(profile: &Profile, context: ContextId) -> Vec<FunctionId> {
    let parent_of = |id: &ContextId| profile.contexts[*id].parent;
    let up = std::iter::successors(Some(context), parent_of);
    let mut calls: Vec<FunctionId> = up.filter_map(|id| called(profile, id)).collect();
    calls.reverse();
    calls
}

/// Functions by name; those that share one, as instances of a generic function do, by their full names.
fn names(
    profile: &Profile,
    functions: impl Iterator<Item = FunctionId> + Clone,
) -> FxHashMap<FunctionId, String> {
    let mut met: FxHashMap<&str, usize> = FxHashMap::default();
    for id in functions.clone() {
        *met.entry(&profile.functions[id].name).or_default() += 1;
    }
    let name = |id: FunctionId| {
        let function = &profile.functions[id];
        let shared = met[function.name.as_str()] > 1 && !function.full_name.is_empty();
        (id, if shared { function.full_name.clone() } else { function.name.clone() })
    };
    functions.map(name).collect()
}

impl Depth {
    /// The functions at a depth, without letters and names.
    pub fn new(profile: &Profile, depth: usize) -> Depth {
        // A context comes behind its parent.
        let mut calls: IndexVec<ContextId, usize> = IndexVec::new();
        let mut at: IndexVec<ContextId, Option<FunctionId>> = IndexVec::new();
        for (id, context) in profile.contexts.iter_enumerated() {
            let (above, of_parent) = context.parent.map_or((0, None), |parent| (calls[parent], at[parent]));
            let function = called(profile, id);
            calls.push(above + usize::from(function.is_some()));
            at.push(function.filter(|_| above < depth).or(of_parent));
        }
        Depth {
            depth,
            functions: Vec::new(),
            at,
            paths: FxHashMap::default(),
            letters: FxHashMap::default(),
            names: FxHashMap::default(),
        }
    }

    /// Takes the contexts of all spans that are shown: their paths, and the names of the functions on them.
    pub fn give_paths(&mut self, profile: &Profile, contexts: BTreeSet<ContextId>) {
        let paths: Vec<_> = contexts.into_iter().map(|context| (context, path(profile, context))).collect();
        let met: BTreeSet<FunctionId> = paths.iter().flat_map(|(_, path)| path).copied().collect();
        self.functions = met.iter().map(|&id| FunctionHead::new(profile, id)).collect();
        self.names = names(profile, met.iter().copied());
        let handles =
            |path: Vec<FunctionId>| path.iter().map(|&id| Handle::Function(id).to_string()).collect();
        self.paths = paths.into_iter().map(|(context, path)| (context, handles(path))).collect();
    }

    /// The handles of the functions that lead to a context, the outermost first.
    pub fn path(&self, context: ContextId) -> &[String] {
        self.paths.get(&context).map_or(&[], Vec::as_slice)
    }

    /// Gives the functions at the depth their names, and letters, of which those in active time for longest
    /// have the first.
    pub fn give_letters(&mut self, profile: &Profile, active_s: &BTreeMap<FunctionId, f64>) {
        let mut most: Vec<(FunctionId, f64)> = active_s.iter().map(|(&id, &s)| (id, s)).collect();
        most.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.letters = most.iter().map(|&(id, _)| id).zip(LETTERS).collect();
        self.names = names(profile, active_s.keys().copied());
    }

    /// Which depth.
    pub fn number(&self) -> usize {
        self.depth
    }

    /// The function of a context at the depth, if it is known.
    pub fn function(&self, context: ContextId) -> Option<FunctionId> {
        self.at.get(context).copied().flatten()
    }

    /// The name of a function.
    pub fn name(&self, function: FunctionId) -> &str {
        self.names.get(&function).map_or("", String::as_str)
    }

    /// The letter of a function: [`OTHERS`] if it has none of its own, or is not known.
    pub fn letter(&self, function: Option<FunctionId>) -> char {
        function.and_then(|function| self.letters.get(&function)).copied().unwrap_or(OTHERS)
    }
}
