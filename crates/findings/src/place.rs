//! Places in the program as its author knows them: a function of the program's own, and a line in it.

mod paths;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{AddAssign, Mul};

use proust_profile::context::{LOST_RECORDS, NO_CALL_PATH, NOT_RECORDED};
use proust_profile::{ContextId, ContextKind, Function, FunctionId, Ns, ProcessId, Profile};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::author::{Author, Programs, begins};
use super::calls::{Calls, synchronises};
use super::names::{Called, called, is_unnamed};

/// What places are compared by: times, or how often something happened there.
pub(super) trait Weight:
    Copy + Default + PartialOrd + AddAssign + Mul<f64, Output = Self> + Sum
{
    /// The order of two of them.
    fn order(&self, other: &Self) -> Ordering;
}

impl Weight for Ns {
    fn order(&self, other: &Ns) -> Ordering {
        self.cmp(other)
    }
}

impl Weight for f64 {
    fn order(&self, other: &f64) -> Ordering {
        self.total_cmp(other)
    }
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Its call path.
    pub context: Option<ContextId>,
    /// The function's name.
    pub function: Option<String>,
    /// Its file.
    pub file: Option<String>,
    /// The line: where the function continues, or where it is declared if that is all that is known.
    pub line: Option<u32>,
    /// Where the function is a parallel region: the one that it is written in.
    #[serde(default)]
    pub region_in: Option<String>,
    /// Where no function has a name: the thread, if it was one.
    #[serde(default)]
    pub thread: Option<String>,
    /// Where no function has a name: the process.
    #[serde(default)]
    pub process: Option<String>,
    /// The processes whose time it is about, where they are told apart.
    #[serde(default)]
    pub processes: Vec<ProcessId>,
}

/// For each context the innermost function on its path that the program's author wrote, and the line of the
/// call in it. On a path without such a function, that of a library that is compiled into the program.
#[derive(Debug)]
pub(super) struct Places<'p> {
    profile: &'p Profile,
    /// The frame or inlined call of that function.
    own: Vec<ContextId>,
    /// The context that determines the line in it.
    at: Vec<ContextId>,
    /// Where that function is an interpreter's: what it calls of another file. The script is not known, but
    /// that is what it asked for.
    called: Vec<Option<Called>>,
    /// The outermost such function.
    outer: Vec<Option<ContextId>>,
    /// The author of that function.
    authors: Vec<Author>,
    /// The program's functions that several others call, by function.
    shared: Vec<bool>,
    /// Whether threads wait for or wake each other in a context or below it.
    synchronises: Vec<bool>,
}

impl<'p> Places<'p> {
    /// `calls` show where threads wait for or wake each other, which only [`Places::part`] needs.
    pub(super) fn new(profile: &'p Profile, calls: &[Calls]) -> Places<'p> {
        let programs = Programs::of(profile, calls);
        let authors: Vec<Author> =
            profile.functions.iter().map(|function| Author::of(profile, &programs, function)).collect();
        let count = profile.contexts.len();
        let mut places = Places {
            profile,
            own: (0..count).map(ContextId::from_index).collect(),
            at: (0..count).map(ContextId::from_index).collect(),
            called: Vec::new(),
            outer: vec![None; count],
            authors: vec![Author::System; count],
            shared: vec![false; profile.functions.len()],
            synchronises: synchronises(profile, calls),
        };
        for (id, context) in profile.contexts.iter().enumerate() {
            let parent = context.parent.map(|parent| parent.index());
            places.outer[id] = parent.and_then(|parent| places.outer[parent]);
            let above = parent.map_or(Author::System, |parent| places.authors[parent]);
            places.authors[id] = above;
            let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
            let function = context.function.filter(|_| is_call);
            if function.is_some_and(|function| begins(&profile.functions[function])) {
                (places.outer[id], places.authors[id]) = (None, Author::System);
                continue;
            }
            let author = function.map_or(Author::System, |function| authors[function.index()]);
            if author > Author::System && author >= above {
                places.authors[id] = author;
                if author > above {
                    places.outer[id] = None;
                }
                places.outer[id].get_or_insert(ContextId::from_index(id));
                continue;
            }
            let Some(parent) = parent.filter(|&parent| places.outer[parent].is_some()) else { continue };
            places.own[id] = places.own[parent];
            // Directly below the function: its own line, or a call that it makes.
            let below = places.own[parent].index() == parent;
            places.at[id] = if below { ContextId::from_index(id) } else { places.at[parent] };
        }
        places.called = called(profile, &places.own, calls);
        places.shared = places.shared();
        places
    }

    /// Which functions are called by several others. What a compiler made of one generic function for several
    /// types is one function.
    fn shared(&self) -> Vec<bool> {
        let functions = &self.profile.functions;
        let mut first: FxHashMap<_, FunctionId> = FxHashMap::default();
        let written: Vec<FunctionId> = (functions.keys())
            .map(|id| *first.entry(written_at(&functions[id]).ok_or(id)).or_insert(id))
            .collect();
        let mut caller: Vec<Option<FunctionId>> = vec![None; functions.len()];
        let mut shared = vec![false; functions.len()];
        for (id, context) in self.profile.contexts.iter().enumerate() {
            let is_own = self.own[id].index() == id && self.outer[id].is_some();
            let (Some(function), Some(parent), true) = (context.function, context.parent, is_own) else {
                continue;
            };
            let Some(by) = self.function(parent).filter(|&by| by != function) else { continue };
            let function = written[function.index()];
            let known = caller[function.index()].get_or_insert(by);
            shared[function.index()] |= *known != by;
        }
        written.iter().map(|function| shared[function.index()]).collect()
    }

    /// The place that most of these amounts have in common. Helpers that several functions call say little:
    /// of them it is the caller.
    pub(super) fn cause<W: Weight>(&self, amounts: &FxHashMap<ContextId, W>, share: f64) -> Option<Place> {
        let innermost = self.named(amounts, share).filter(|&id| !self.is_nowhere(id))?;
        Some(self.call_of_shared(self.own(innermost)).unwrap_or_else(|| self.place(innermost)))
    }

    /// Where the innermost function that is no helper calls a helper that leads to `call`; None if `call` is
    /// of no helper, or of one that nothing but helpers calls.
    fn call_of_shared(&self, mut call: ContextId) -> Option<Place> {
        let contexts = &self.profile.contexts;
        let mut inside = None;
        while contexts[call].function.is_some_and(|function| self.shared[function.index()]) {
            let above = contexts[call].parent.map(|parent| self.own(parent));
            let above = above.filter(|&above| above != call && self.outer[above.index()].is_some())?;
            (call, inside) = (above, Some(call));
        }
        Some(self.calling(call, inside?))
    }

    /// The place in the function of this frame from which another one of the program is called.
    fn calling(&self, frame: ContextId, called: ContextId) -> Place {
        let contexts = &self.profile.contexts;
        let function = contexts[frame].function.map(|id| self.profile.functions[id].name.clone());
        // A call's own place is where it is called from, unless a library lies between.
        let above = contexts[called].parent.filter(|&above| above != frame);
        let at = &contexts[above.map_or(called, |above| self.at[above.index()])];
        let (file, line) = (at.file.clone(), at.line);
        let region_in = self.region_in(frame, function.as_deref());
        Place { context: Some(called), function, file, line, region_in, ..Place::default() }
    }

    /// Of a context in a parallel region, by its name: the function that the region is written in.
    fn region_in(&self, context: ContextId, function: Option<&str>) -> Option<String> {
        function.filter(|name| name.starts_with(REGION))?;
        let around = self.profile.contexts[self.own(context)].parent?;
        Some(self.profile.functions[self.function(around)?].name.clone())
    }

    /// The part of the program that most of these amounts have in common: the outermost function in which
    /// threads neither wait for nor wake each other. The start function of a thread is more than that; if
    /// nothing else is left, it is [`Places::cause`]. Of a helper that several functions call it is the call.
    pub(super) fn part<W: Weight>(&self, amounts: &FxHashMap<ContextId, W>, share: f64) -> Option<Place> {
        let innermost = self.named(amounts, share)?;
        let (found, inside) = self.outermost(innermost);
        let Some(call) = found else { return self.cause(amounts, share) };
        if let Some(place) = self.call_of_shared(call) {
            return Some(place);
        }
        if self.own(inside) == call {
            return Some(self.place(inside));
        }
        Some(self.calling(call, inside))
    }

    /// The outermost call on a path, below the thread's start function, in which threads neither wait for nor
    /// wake each other; None if there is none. And the context in it that leads on.
    fn outermost(&self, innermost: ContextId) -> (Option<ContextId>, ContextId) {
        let (mut found, mut inside) = (None, innermost);
        let mut below = innermost;
        let mut at = Some(self.own(innermost));
        while let Some(call) = at.filter(|&call| self.outer[call.index()].is_some()) {
            let is_start = self.outer[call.index()] == Some(call);
            if self.synchronises[call.index()] || is_start {
                break;
            }
            (found, inside) = (Some(call), below);
            below = call;
            at = self.profile.contexts[call].parent.map(|parent| self.own(parent));
        }
        (found, inside)
    }

    /// The call of the function that a context's time is a phase of: the one that [`Places::part`] names, or
    /// the program's innermost one; None where the program has no function on the path.
    pub(super) fn phase(&self, context: ContextId) -> Option<ContextId> {
        self.outer[context.index()]?;
        Some(self.outermost(context).0.unwrap_or_else(|| self.own(context)))
    }

    /// As [`Places::dominating`], but never a root above all functions of the program where one of them is
    /// known: then it is the part that dominates the function that has most.
    fn named<W: Weight>(&self, amounts: &FxHashMap<ContextId, W>, share: f64) -> Option<ContextId> {
        let all = self.dominating(amounts, share)?;
        if self.outer[all.index()].is_some() {
            return Some(all);
        }
        let mut phases: BTreeMap<Option<FunctionId>, FxHashMap<ContextId, W>> = BTreeMap::new();
        for (&context, &amount) in amounts {
            if let Some(phase) = self.phase(context) {
                let function = self.profile.contexts[phase].function;
                phases.entry(function).or_default().insert(context, amount);
            }
        }
        let sum = |of: &FxHashMap<ContextId, W>| of.values().copied().sum::<W>();
        let largest = phases.into_values().max_by(|a, b| sum(a).order(&sum(b)));
        let Some(largest) = largest else { return Some(all) };
        let inside = self.dominating(&largest, share)?;
        if self.outer[inside.index()].is_some() {
            return Some(inside);
        }
        // Called on several paths: the heaviest of them.
        let heaviest = largest.into_iter().max_by(|a, b| a.1.order(&b.1).then(b.0.cmp(&a.0)));
        heaviest.map(|(context, _)| context)
    }

    /// Whether a context stands for unseen code: no author can change anything there.
    fn is_nowhere(&self, context: ContextId) -> bool {
        let function = self.function(context).map(|id| &self.profile.functions[id]);
        function.is_some_and(|function| {
            function.module.is_none() && [NO_CALL_PATH, LOST_RECORDS, NOT_RECORDED].contains(&&*function.name)
        })
    }

    /// The frame of the program's innermost function on this path; the context itself if there is none.
    pub(super) fn own(&self, context: ContextId) -> ContextId {
        self.own[context.index()]
    }

    /// Whether the program's author wrote a function on this path.
    pub(super) fn is_written(&self, context: ContextId) -> bool {
        self.authors[context.index()] == Author::Program
    }

    /// The program's innermost function on this path.
    pub(super) fn function(&self, context: ContextId) -> Option<FunctionId> {
        self.profile.contexts[self.own(context)].function
    }

    /// The program's outermost function on this path: what a thread was started for.
    pub(super) fn start(&self, context: ContextId) -> Option<FunctionId> {
        self.profile.contexts[self.outer[context.index()]?].function
    }

    /// The outermost function of the program on this path whose name is one of these.
    pub(super) fn outermost_called(
        &self,
        context: ContextId,
        is_one: impl Fn(&str) -> bool,
    ) -> Option<FunctionId> {
        let (mut found, mut at) = (None, Some(context));
        while let Some(id) = at {
            let of_program = self.own[id.index()] == id && self.authors[id.index()] > Author::System;
            let function = self.profile.contexts[id].function.filter(|_| of_program);
            found = function.filter(|&one| is_one(&self.profile.functions[one].name)).or(found);
            at = self.profile.contexts[id].parent;
        }
        found
    }

    /// The line of this function that most of these amounts are in, or are called from; None if most are
    /// elsewhere.
    pub(super) fn line_of(&self, amounts: &FxHashMap<ContextId, Ns>, function: FunctionId) -> Option<Place> {
        let contexts = &self.profile.contexts;
        type Line<'l> = (Option<&'l str>, Option<u32>);
        let mut by_line: BTreeMap<Line<'_>, (Ns, ContextId)> = BTreeMap::new();
        for (&context, &amount) in amounts {
            let (mut below, mut at) = (context, Some(context));
            while let Some(id) = at.filter(|&id| contexts[id].function != Some(function)) {
                (below, at) = (id, contexts[id].parent);
            }
            let Some(frame) = at else { continue };
            let line = &contexts[if below == frame { frame } else { below }];
            let sum = by_line.entry((line.file.as_deref(), line.line)).or_insert((Ns::ZERO, below));
            sum.0 += amount;
            sum.1 = sum.1.min(below);
        }
        let all: Ns = amounts.values().sum();
        let (&(file, line), &(most, below)) = by_line.iter().max_by(|a, b| a.1.0.cmp(&b.1.0))?;
        let name = self.profile.functions[function].name.clone();
        let region_in = self.region_in(below, Some(&name));
        (most >= all * 0.5 && line.is_some()).then(|| Place {
            context: Some(below),
            function: Some(name),
            file: file.map(str::to_owned),
            line,
            region_in,
            ..Place::default()
        })
    }

    /// Whether a place has no name: what happens there is not known.
    pub(super) fn is_unnamed(&self, place: &Place) -> bool {
        let id = place.context.and_then(|context| self.function(context));
        let name = place.function.as_deref();
        name.is_none_or(|name| place.file.is_none() && is_unnamed(self.profile, name, id))
    }

    /// What is the same for all contexts of one line.
    pub(super) fn line_key(&self, context: ContextId) -> (Option<FunctionId>, Option<u32>) {
        if let Some(Called::Function(called)) = self.called[context.index()] {
            return (Some(called), None);
        }
        let at = &self.profile.contexts[self.at[context.index()]];
        (self.function(context), at.line)
    }

    /// Whether a frame is that of the program's outermost function: what its thread was started for.
    pub(super) fn is_start(&self, frame: ContextId) -> bool {
        self.outer[frame.index()].is_none_or(|outer| outer == frame)
    }

    /// Where in the program a context is. Without a function where none of the program is on its path. Of an
    /// interpreter it is what the script calls.
    pub(super) fn place(&self, context: ContextId) -> Place {
        let contexts = &self.profile.contexts;
        if let Some(called) = self.called[context.index()] {
            let name = match called {
                Called::Function(function) => &self.profile.functions[function].name,
                Called::Operation(operation) => &self.profile.operations[operation].name,
            };
            return Place { context: Some(context), function: Some(name.clone()), ..Place::default() };
        }
        if self.outer[context.index()].is_none() {
            return Place { context: Some(context), ..Place::default() };
        }
        let own = &contexts[self.own(context)];
        let at = self.at[context.index()];
        let function = own.function.map(|id| &self.profile.functions[id]);
        // A frame's own line is where it is called from.
        let inside = at != self.own(context) || contexts[at].kind == ContextKind::Line;
        let inside = Some(&contexts[at]).filter(|at| inside && at.line.is_some());
        let (file, line) = match (inside, function) {
            (Some(at), _) => (at.file.clone(), at.line),
            (None, Some(function)) => (function.file.clone(), function.line),
            (None, None) => (None, None),
        };
        let function = function.map(|function| function.name.clone());
        let region_in = self.region_in(context, function.as_deref());
        Place { context: Some(context), function, file, line, region_in, ..Place::default() }
    }

    /// Where a function is declared.
    pub(super) fn declared(&self, function: FunctionId) -> Place {
        let function = &self.profile.functions[function];
        let (file, line) = (function.file.clone(), function.line);
        Place { function: Some(function.name.clone()), file, line, ..Place::default() }
    }

    /// The innermost context that has at least `share` of these amounts below it or in it; None if there are
    /// none.
    pub(super) fn dominating<W: Weight>(
        &self,
        amounts: &FxHashMap<ContextId, W>,
        share: f64,
    ) -> Option<ContextId> {
        let contexts = &self.profile.contexts;
        let mut inclusive: FxHashMap<ContextId, W> = FxHashMap::default();
        for (&context, &amount) in amounts {
            let mut at = Some(context);
            while let Some(id) = at {
                *inclusive.entry(id).or_default() += amount;
                at = contexts[id].parent;
            }
        }
        let all: W = amounts.values().copied().sum();
        // A child has a larger number than its parent: the largest that holds enough is the innermost.
        (inclusive.into_iter())
            .filter(|&(_, amount)| all > W::default() && amount >= all * share)
            .map(|(id, _)| id)
            .max()
    }

    /// Whether of a context's place only the function's declaration is known, and no line in it.
    pub(super) fn is_declared_only(&self, context: ContextId) -> bool {
        let at = self.at[context.index()];
        let contexts = &self.profile.contexts;
        at == self.own(context) && contexts[at].kind != ContextKind::Line || contexts[at].line.is_none()
    }

    /// The line in a frame at which a context continues from it; None where it is not below that frame, or
    /// the line is not known.
    pub(super) fn line_in(&self, context: ContextId, frame: ContextId) -> Option<u32> {
        let mut at = context;
        while at > frame {
            let parent = self.profile.contexts[at].parent?;
            if parent == frame {
                return self.profile.contexts[at].line;
            }
            at = parent;
        }
        None
    }
}

/// How the names of parallel regions begin, where their lines are known.
const REGION: &str = "parallel region at ";

/// Name and place of a function's source, where that is known. Of some inlined ones it is the file alone.
fn written_at(function: &Function) -> Option<(&str, &str, Option<u32>)> {
    Some((&function.name, function.file.as_deref()?, function.line))
}
