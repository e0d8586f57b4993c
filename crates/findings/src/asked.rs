//! What a library of Python's does is done for the script: where the script calls it.
//!
//! A pool's threads and the processes that it starts have paths on which the script has no function.

use std::collections::BTreeMap;

use proust_profile::{ContextId, ContextKind, Function, FunctionId, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::finding::Finding;
use super::place::Place;

/// Names findings in a library of Python's by where the program calls that module most, or another one of
/// its package. That the program can do anything about what the library does is not known.
pub(super) fn name(facts: &Facts<'_>, found: &mut [Finding]) {
    let mut called = None;
    for finding in found {
        let mut ask = |place: &mut Place| {
            let library = place.context.and_then(|context| of_library(facts, context))?;
            let called = called.get_or_insert_with(|| calls(facts));
            let asked = called.get(library).or_else(|| called.get(package_of(library)?));
            if let Some(&context) = asked {
                let processes = std::mem::take(&mut place.processes);
                *place = Place { processes, ..facts.places.place(context) };
            }
            Some(library)
        };
        finding.unnamed = ask(&mut finding.cause).is_some();
        finding.awaited.iter_mut().chain(&mut finding.handed_over).for_each(|place| {
            ask(place);
        });
    }
}

/// Where the program calls the first of these modules or packages of Python's library that it calls, most.
pub(super) fn call_of(facts: &Facts<'_>, libraries: &[&str]) -> Option<ContextId> {
    let called = calls(facts);
    libraries.iter().find_map(|&library| called.get(library).copied())
}

/// By module and by package of Python's library that the program calls, the call that takes longest.
fn calls(facts: &Facts<'_>) -> FxHashMap<String, ContextId> {
    type Line = (Option<FunctionId>, Option<u32>);
    let mut lines: BTreeMap<(&str, Line), (Ns, ContextId)> = BTreeMap::new();
    let used = facts.cpu.iter().enumerate().map(|(id, &cpu)| (ContextId::from_index(id), cpu));
    let called = facts.calls.iter().map(|call| (call.context, Ns::of(call.time_ns)));
    for (context, time) in used.chain(called).filter(|(_, time)| time.is_positive()) {
        let module = called_library(facts, context);
        for library in module.into_iter().chain(module.and_then(package_of)) {
            let key = (library, facts.places.line_key(context));
            let line = lines.entry(key).or_insert((Ns::ZERO, context));
            *line = (line.0 + time, line.1.min(context));
        }
    }
    let mut most: FxHashMap<&str, (Ns, ContextId)> = FxHashMap::default();
    for ((library, _), line) in lines {
        let known = most.entry(library).or_insert(line);
        *known = if line.0 > known.0 { line } else { *known };
    }
    most.into_iter().map(|(library, (_, context))| (library.to_owned(), context)).collect()
}

/// The library of a path on which the program has no function.
fn of_library<'p>(facts: &Facts<'p>, context: ContextId) -> Option<&'p str> {
    if facts.places.is_written(context) {
        return None;
    }
    library_of(&facts.profile.functions[facts.places.function(context)?])
}

/// The library that the program's innermost function on a path calls.
fn called_library<'p>(facts: &Facts<'p>, context: ContextId) -> Option<&'p str> {
    if !facts.places.is_written(context) {
        return None;
    }
    let own = facts.places.own(context);
    let (mut at, mut first) = (context, None);
    while at != own {
        let one = &facts.profile.contexts[at];
        let function = one.function.filter(|_| one.kind == ContextKind::Frame);
        first = function.and_then(|id| library_of(&facts.profile.functions[id])).or(first);
        at = one.parent?;
    }
    first
}

/// The module of Python's library that a function belongs to, as `multiprocessing/pool.py`.
pub(super) fn library_of(function: &Function) -> Option<&str> {
    let file = function.file.as_deref().filter(|_| function.is_of_pythons_library())?;
    let (_, inside) = file.rsplit_once("/lib/python").or_else(|| file.rsplit_once("/pypy"))?;
    // Behind the version's number.
    let (_, inside) = inside.split_once('/')?;
    let package = ["site-packages/", "dist-packages/"].iter().find_map(|of| inside.strip_prefix(of));
    Some(package.unwrap_or(inside))
}

/// The package of a module that is in one.
fn package_of(module: &str) -> Option<&str> {
    module.split_once('/').map(|(package, _)| package)
}
