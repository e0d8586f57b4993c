//! The functions that locations were in at one depth of their call paths.

use std::collections::{BTreeMap, HashMap};

use proust_profile::{ContextId, ContextKind, FunctionId, Profile};
use proust_query::Handle;
use serde::Serialize;

use super::spans::SpanRow;
use crate::pages::FunctionHead;

/// The letters of functions, of the one with the most time first.
const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';
/// The letter of all functions that have none of their own.
pub(super) const OTHERS: char = '*';

/// The functions at one depth.
#[derive(Debug, Serialize)]
pub(super) struct Depth {
    /// The depth: 1 is the outermost call. A path that ends above it counts with its last call.
    depth: usize,
    /// Those of all paths.
    functions: Vec<FunctionHead>,
    /// The function of each context at the depth; none where no call is known.
    #[serde(skip)]
    at: HashMap<ContextId, Option<FunctionId>>,
    /// Of functions at the depth that have one.
    #[serde(skip)]
    letters: HashMap<FunctionId, char>,
    /// Of all functions.
    #[serde(skip)]
    names: HashMap<FunctionId, String>,
}

/// The calls that lead to a context, the outermost first.
fn path(profile: &Profile, context: ContextId) -> Vec<FunctionId> {
    let mut calls = Vec::new();
    let mut next = Some(context);
    while let Some(id) = next {
        let context = &profile.contexts[id];
        if matches!(context.kind, ContextKind::Frame | ContextKind::Inline) {
            calls.extend(context.function);
        }
        next = context.parent;
    }
    calls.reverse();
    calls
}

/// Functions by name; those that share one, as instances of a generic function do, by their full names.
fn names(profile: &Profile, functions: &[FunctionId]) -> HashMap<FunctionId, String> {
    let mut met: HashMap<&str, usize> = HashMap::new();
    for &id in functions {
        *met.entry(&profile.functions[id].name).or_default() += 1;
    }
    let name = |&id: &FunctionId| {
        let function = &profile.functions[id];
        let shared = met[function.name.as_str()] > 1 && !function.full_name.is_empty();
        (id, if shared { function.full_name.clone() } else { function.name.clone() })
    };
    functions.iter().map(name).collect()
}

impl Depth {
    /// Gives every span its path, and the functions at the depth their letters, of which those in active
    /// spans for the longest time have the first.
    pub fn new<'s>(profile: &Profile, depth: usize, spans: impl Iterator<Item = &'s mut SpanRow>) -> Depth {
        let mut paths: HashMap<ContextId, Vec<FunctionId>> = HashMap::new();
        let mut active_s: BTreeMap<FunctionId, f64> = BTreeMap::new();
        let at = |path: &[FunctionId]| path.get(depth - 1).or(path.last()).copied();
        for span in spans {
            let path = paths.entry(span.context).or_insert_with(|| path(profile, span.context));
            span.path = Some(path.iter().map(|&id| Handle::Function(id).to_string()).collect());
            if let Some(function) = at(path).filter(|_| span.account.is_some()) {
                *active_s.entry(function).or_default() += span.length_s();
            }
        }
        let mut most: Vec<(FunctionId, f64)> = active_s.into_iter().collect();
        most.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let letters = most.iter().map(|&(id, _)| id).zip(LETTERS).collect();
        let mut met: Vec<FunctionId> = paths.values().flatten().copied().collect();
        met.sort();
        met.dedup();
        Depth {
            depth,
            functions: met.iter().map(|&id| FunctionHead::new(profile, id)).collect(),
            at: paths.iter().map(|(&context, path)| (context, at(path))).collect(),
            letters,
            names: names(profile, &met),
        }
    }

    /// Which depth.
    pub fn number(&self) -> usize {
        self.depth
    }

    /// The function of a span at the depth, if it is known.
    pub fn function(&self, span: &SpanRow) -> Option<FunctionId> {
        self.at.get(&span.context).copied().flatten()
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
