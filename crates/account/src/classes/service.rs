//! Threads that a runtime has for itself: MPI's progress, a virtual machine's compilers, an allocator's
//! background work.
//!
//! They are no part of what the program does in parallel: their time is shown and not charged. A thread is
//! known by the function that it was started with, in whichever library, or by its name. A process's first
//! thread is never one: it runs the program.

use proust_profile::{ContextId, ContextKind, FunctionId, Location, Profile};
use rustc_hash::FxHashMap;

use super::pattern::Patterns;
use super::roles::are_about;
use super::rule::{Rules, Service};

/// Libraries whose functions call the one that a thread was started with.
const AROUND: [&str; 7] =
    ["libc.so", "libpthread.so", "ld-linux", "ld-musl", "[vdso]", "libstdc++.so", "libc++.so"];

/// Which locations of a profile are such threads, by location.
pub(super) fn services(rules: &Rules, profile: &Profile) -> Vec<bool> {
    let starts = starts(profile);
    let is_service = |(location, start): (&Location, Option<FunctionId>)| {
        let first = profile.processes.get(location.process).map(|process| process.pid);
        first != Some(location.tid)
            && rules.services.iter().any(|service| is_about(service, profile, start, &location.name))
    };
    profile.locations.iter().zip(starts).map(is_service).collect()
}

fn is_about(service: &Service, profile: &Profile, start: Option<FunctionId>, name: &str) -> bool {
    match service {
        Service::Named(of) => {
            let is_in =
                |modules: &Patterns| start.is_some_and(|start| modules.matches(module_of(profile, start)));
            of.names.matches(name) && of.modules.as_ref().is_none_or(is_in)
        }
        Service::Start(functions) => start.is_some_and(|start| {
            let function = &profile.functions[start];
            are_about(functions, function, module_of(profile, start))
        }),
    }
}

/// The function that each location was started with, where a complete call path shows it.
fn starts(profile: &Profile) -> Vec<Option<FunctionId>> {
    let mut starts = vec![None; profile.locations.len()];
    let mut known: FxHashMap<ContextId, Option<FunctionId>> = FxHashMap::default();
    let mut start_of = |context| *known.entry(context).or_insert_with(|| start_of(profile, context));
    // Most are known from their first operation at the latest.
    for (location, start) in profile.locations.keys().zip(&mut starts) {
        let sampled = profile.samples.of(location).find_map(|row| start_of(row.context));
        *start = sampled.or_else(|| profile.events.of(location).find_map(|row| start_of(row.context)));
    }
    starts
}

/// The outermost function of a path outside of the libraries that start threads. None where the path is not
/// known to its root: the outermost frame there may have had any caller; and where that function is in none
/// of the modules: its library was unloaded while the thread ended.
fn start_of(profile: &Profile, context: ContextId) -> Option<FunctionId> {
    let mut outermost = None;
    let mut next = Some(context);
    // A context is after its parent, so a path ends.
    while let Some(context) = next.and_then(|id| profile.contexts.get(id)) {
        next = context.parent;
        match context.kind {
            ContextKind::Partial => return None,
            ContextKind::Frame => {}
            _ => continue,
        }
        let Some(function) = context.function else { continue };
        let module = module_of(profile, function);
        if !AROUND.iter().any(|name| module.starts_with(name)) {
            outermost = Some(function);
        }
    }
    outermost.filter(|&function| !module_of(profile, function).is_empty())
}

/// File name of a function's module; empty where it has none.
fn module_of(profile: &Profile, function: FunctionId) -> &str {
    let module = profile.functions.get(function).and_then(|function| function.module);
    module.and_then(|id| profile.modules.get(id)).map_or("", |module| module.name())
}
