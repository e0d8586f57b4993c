//! How a filter narrows a selection.

use proust_profile::{
    ContextId, ContextKind, Function, FunctionId, IntervalInfo, LocationId, ProcessId, Profile, SampleRow,
};
use proust_words::arguments::{last_part, without};

use super::Selection;
use super::between_samples::{executions, time_clause};
use super::inventory::{
    file_names, names, process_names, rank_names, sample_names, thread_names, used_processors, what_there_is,
    written,
};
use crate::expression::{Clause, Key, Pattern};
use crate::forest::called_function;
use crate::glob::{matches, matches_from};
use crate::handle::Handle;
use crate::scope_note::{MatchKind, ScopeNote};

impl Selection<'_> {
    pub(super) fn restrict(&mut self, clause: &Clause) {
        match clause.key {
            Key::Process | Key::Rank | Key::Thread => self.restrict_locations(clause),
            Key::Function | Key::Module | Key::File => self.restrict_contexts(clause),
            Key::Interval => {
                self.restrict_intervals(clause);
                if clause.names_executions() {
                    for pattern in &clause.patterns {
                        let notes = pattern.interval().map(|of| of.notes(self.profile, &written(pattern)));
                        self.notes.extend(notes.unwrap_or_default());
                    }
                    let times = executions(self.profile, clause);
                    self.in_scope.times.push((false, ranges(&times)));
                }
            }
            Key::Cpu => {
                let ranges = ranges(clause);
                for (pattern, &(from, to)) in clause.patterns.iter().zip(&ranges) {
                    let seen = |row: &SampleRow| {
                        row.processor != u16::MAX && (from..=to).contains(&u64::from(row.processor))
                    };
                    if !self.profile.samples.iter().any(|row| seen(&row)) {
                        self.nothing(MatchKind::Processor, pattern, used_processors(self.profile));
                    }
                }
                self.in_scope.processors.push((clause.negated, ranges));
            }
            Key::State => self.restrict_states(clause),
            Key::Sample => {
                let (times, missing) = time_clause(self.profile, clause);
                for pattern in missing {
                    self.nothing(MatchKind::Sample, pattern, sample_names(self.profile));
                }
                self.in_scope.times.push((clause.negated, ranges(&times)));
            }
            Key::Time => self.in_scope.times.push((clause.negated, ranges(clause))),
        }
    }

    pub(super) fn restrict_locations(&mut self, clause: &Clause) {
        let mut matched = vec![false; self.profile.locations.len()];
        for pattern in &clause.patterns {
            let found: Vec<usize> = match clause.key {
                Key::Process => self.locations_where(|_, p| self.is_process(p, pattern)),
                Key::Rank => self.locations_where(|_, p| {
                    self.profile.processes[ProcessId::from_index(p)]
                        .rank
                        .is_some_and(|rank| in_numbers(pattern, u64::from(rank)))
                }),
                _ => self.threads(pattern),
            };
            if found.is_empty() {
                let (kind, known) = match clause.key {
                    Key::Process => (MatchKind::Process, process_names(self.profile)),
                    Key::Rank => (MatchKind::Rank, rank_names(self.profile)),
                    _ => (MatchKind::Thread, thread_names(self.profile)),
                };
                self.nothing(kind, pattern, known);
            }
            for id in found {
                matched[id] = true;
            }
        }
        for (in_scope, matched) in self.in_scope.locations.iter_mut().zip(matched) {
            *in_scope &= matched != clause.negated;
        }
    }

    pub(super) fn locations_where(&self, keep: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let locations = self.profile.locations.iter().enumerate();
        locations.filter(|(id, location)| keep(*id, location.process.index())).map(|(id, _)| id).collect()
    }

    pub(super) fn is_process(&self, id: usize, pattern: &Pattern) -> bool {
        let process = &self.profile.processes[ProcessId::from_index(id)];
        match pattern {
            Pattern::Name { text, quoted } => {
                named(text, *quoted, &process.name, "/")
                    || named(text, *quoted, &process.executable, "/")
                    || Handle::parse(text) == Some(Handle::Process(ProcessId::from_index(id)))
            }
            _ => in_numbers(pattern, u64::from(process.pid)),
        }
    }

    pub(super) fn threads(&self, pattern: &Pattern) -> Vec<usize> {
        let locations = &self.profile.locations;
        match pattern {
            Pattern::Name { text, quoted } => {
                let by_name = self.locations_where(|id, _| {
                    named(text, *quoted, &locations[LocationId::from_index(id)].name, "\0")
                });
                match Handle::parse(text) {
                    Some(Handle::Location(id)) if by_name.is_empty() => {
                        (0..locations.len()).filter(|&n| n == id.index()).collect()
                    }
                    _ => by_name,
                }
            }
            _ => {
                // Thread ids and positions in the process do not overlap in practice; ids win.
                let by_tid = self.locations_where(|id, _| {
                    in_numbers(pattern, u64::from(locations[LocationId::from_index(id)].tid))
                });
                if by_tid.is_empty() {
                    let positions = positions_in_process(self.profile);
                    self.locations_where(|id, _| in_numbers(pattern, positions[id]))
                } else {
                    by_tid
                }
            }
        }
    }

    pub(super) fn restrict_contexts(&mut self, clause: &Clause) {
        let profile = self.profile;
        let mut on_path = vec![false; profile.contexts.len()];
        let mut found = vec![false; clause.patterns.len()];
        let functions: Vec<bool> = profile
            .functions
            .iter()
            .enumerate()
            .map(|(id, function)| {
                any_pattern(clause, &mut found, |p| is_function(profile, clause.key, id, function, p))
            })
            .collect();
        for (id, context) in profile.contexts.iter().enumerate() {
            let here = match (called_function(profile, ContextId::from_index(id)), context.kind) {
                (Some(function), _) => functions[function.index()],
                (None, ContextKind::Line) if clause.key == Key::File => {
                    any_pattern(clause, &mut found, |p| {
                        context.file.as_deref().is_some_and(|file| is_named(p, file, "/"))
                    })
                }
                _ => false,
            };
            on_path[id] = here || context.parent.is_some_and(|parent| on_path[parent.index()]);
        }
        for missing in (0..found.len()).filter(|&n| !found[n]) {
            let (kind, known) = match clause.key {
                Key::Function => {
                    (MatchKind::Function, names(profile.functions.iter().map(|f| f.name.as_str())))
                }
                Key::Module => (MatchKind::Module, names(profile.modules.iter().map(|module| module.name()))),
                _ => (MatchKind::File, file_names(profile)),
            };
            self.nothing(kind, &clause.patterns[missing], known);
        }
        for (in_scope, on_path) in self.in_scope.contexts.iter_mut().zip(on_path) {
            *in_scope &= on_path != clause.negated;
        }
    }

    pub(super) fn restrict_intervals(&mut self, clause: &Clause) {
        let profile = self.profile;
        let mut found = vec![false; clause.patterns.len()];
        let mut inside: Vec<bool> = Vec::with_capacity(profile.intervals.len());
        for info in &profile.intervals {
            let is_it = any_pattern(clause, &mut found, |pattern| is_interval(info, pattern));
            inside.push(is_it || info.parent.is_some_and(|parent| inside[parent as usize]));
        }
        for missing in (0..found.len()).filter(|&n| !found[n]) {
            let labels: Vec<String> = profile.intervals.iter().map(IntervalInfo::label).collect();
            let known = names(labels.iter().map(String::as_str));
            self.nothing(MatchKind::Interval, &clause.patterns[missing], known);
        }
        let mut on_path = vec![false; profile.contexts.len()];
        for place in &profile.interval_contexts {
            on_path[place.context.index()] = inside[place.interval as usize];
        }
        for (id, context) in profile.contexts.iter().enumerate() {
            on_path[id] |= context.parent.is_some_and(|parent| on_path[parent.index()]);
        }
        for (in_scope, on_path) in self.in_scope.contexts.iter_mut().zip(on_path) {
            *in_scope &= on_path != clause.negated;
        }
        for (in_scope, inside) in self.in_scope.intervals.iter_mut().zip(inside) {
            *in_scope &= inside != clause.negated;
        }
    }

    pub(super) fn nothing(&mut self, kind: MatchKind, pattern: &Pattern, known: Vec<String>) {
        let value = written(pattern);
        let known = what_there_is(&value, &known);
        self.notes.push(ScopeNote::NoMatch { kind, value, known });
    }
}

fn is_interval(info: &IntervalInfo, pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Name { text, quoted: true } => *text == info.name || *text == info.label(),
        _ => pattern.interval().is_some_and(|wanted| wanted.is(info)),
    }
}

pub(super) fn is_function(
    profile: &Profile,
    key: Key,
    id: usize,
    function: &Function,
    pattern: &Pattern,
) -> bool {
    match key {
        Key::Function => {
            let by_name = [Some(&function.name), Some(&function.full_name), function.linkage_name.as_ref()]
                .into_iter()
                .flatten()
                // One that is the code of several functions has the names of all. Without arguments all
                // instances of a template are meant.
                .any(|name| {
                    let is_one =
                        |name: &str| is_named(pattern, name, "::") || is_named(pattern, &without(name), "::");
                    is_one(name) || name.split(" = ").any(is_one)
                });
            by_name
                || matches!(pattern, Pattern::Name { text, quoted: false }
                    if Handle::parse(text) == Some(Handle::Function(FunctionId::from_index(id))))
        }
        Key::Module => function.module.is_some_and(|id| is_named(pattern, &profile.modules[id].path, "/")),
        _ => function.file.as_deref().is_some_and(|file| is_named(pattern, file, "/")),
    }
}

/// Tries every pattern, so that each one that matches something is known to do so.
pub(super) fn any_pattern(clause: &Clause, found: &mut [bool], is: impl Fn(&Pattern) -> bool) -> bool {
    let mut any = false;
    for (pattern, found) in clause.patterns.iter().zip(found) {
        if is(pattern) {
            *found = true;
            any = true;
        }
    }
    any
}

pub(super) fn is_named(pattern: &Pattern, name: &str, separator: &str) -> bool {
    matches!(pattern, Pattern::Name { text, quoted } if named(text, *quoted, name, separator))
}

pub(super) fn named(text: &str, quoted: bool, name: &str, separator: &str) -> bool {
    match (quoted, separator) {
        (true, "::") => text == name || text == last_part(name),
        (true, _) => text == name || name.rsplit(separator).next() == Some(text),
        (false, "\0") => matches(text, name),
        (false, _) => matches_from(text, name, separator),
    }
}

pub(super) fn in_numbers(pattern: &Pattern, number: u64) -> bool {
    matches!(*pattern, Pattern::Numbers(from, to) if (from..=to).contains(&number))
}

pub(super) fn ranges(clause: &Clause) -> Vec<(u64, u64)> {
    clause
        .patterns
        .iter()
        .filter_map(|pattern| match *pattern {
            Pattern::Numbers(from, to) | Pattern::Time(from, to) => Some((from, to)),
            Pattern::Samples(..) | Pattern::Name { .. } => None,
        })
        .collect()
}

/// Position of each location among those of its process: 0 is the thread that began it.
pub(super) fn positions_in_process(profile: &Profile) -> Vec<u64> {
    let mut next = vec![0; profile.processes.len()];
    let position = |location: &proust_profile::Location| {
        let next: &mut u64 = &mut next[location.process.index()];
        *next += 1;
        *next - 1
    };
    profile.locations.iter().map(position).collect()
}
