//! A filter resolved against a profile: what is in scope.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use proust_profile::{
    ContextId, ContextKind, Function, FunctionId, LocationId, Metric, Profile, SampleRow, Value,
};

use super::expression::{Clause, Filter, Key, Pattern};
use super::forest::{Forest, called_function};
use super::glob::{matches, matches_from};
use super::handle::Handle;
use super::nearest::nearest;

/// The part of a profile that a page is about.
#[derive(Debug)]
pub struct Selection<'p> {
    profile: &'p Profile,
    forest: Forest,
    locations: Vec<LocationId>,
    values: Cow<'p, [Value]>,
    in_scope: Scope,
    squares: OnceCell<Vec<f64>>,
    notes: Vec<String>,
}

/// A page is asked for a function that the profile does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no function of this run matches `{value}`{rest}")]
pub struct UnknownFunction {
    value: String,
    rest: String,
}

/// What is in scope, by position.
#[derive(Clone, Debug)]
struct Scope {
    locations: Vec<bool>,
    contexts: Vec<bool>,
    processors: Vec<(bool, Vec<(u64, u64)>)>,
    times: Vec<(bool, Vec<(u64, u64)>)>,
}

impl Scope {
    fn has_sample(&self, row: &SampleRow) -> bool {
        let number = u64::from(row.processor);
        self.locations[row.location as usize]
            && self.contexts[row.context as usize]
            // A tail has no processor: nobody knows where it ran.
            && (self.processors.is_empty() || row.processor != u16::MAX)
            && self.processors.iter().all(|(negated, ranges)| {
                ranges.iter().any(|&(from, to)| (from..=to).contains(&number)) != *negated
            })
            && self.times.iter().all(|(negated, ranges)| {
                // A sample stands for what came before it: it belongs to the range in which that ended.
                let ended_in = |&(from, to): &(u64, u64)| {
                    (from < row.time_ns || from == 0) && row.time_ns <= to
                };
                ranges.iter().any(ended_in) != *negated
            })
    }
}

impl<'p> Selection<'p> {
    /// The whole profile.
    pub fn all(profile: &'p Profile) -> Selection<'p> {
        let scope = Scope {
            locations: vec![true; profile.locations.len()],
            contexts: vec![true; profile.contexts.len()],
            processors: Vec::new(),
            times: Vec::new(),
        };
        Selection {
            profile,
            forest: Forest::new(profile),
            locations: (0..profile.locations.len() as LocationId).collect(),
            values: Cow::Borrowed(&profile.values),
            in_scope: scope,
            squares: OnceCell::new(),
            notes: Vec::new(),
        }
    }

    /// The part of the profile that passes a filter.
    ///
    /// A value that matches nothing is no error: it selects nothing, and a note says what there is.
    pub fn new(profile: &'p Profile, filter: &Filter) -> Selection<'p> {
        let mut selection = Selection::all(profile);
        if filter.is_empty() {
            return selection;
        }
        for clause in &filter.clauses {
            selection.restrict(clause);
        }
        selection.locations.retain(|&id| selection.in_scope.locations[id as usize]);
        let scope = &selection.in_scope;
        selection.values = if filter.needs_samples() {
            Cow::Owned(values_of_samples(profile.samples.iter().filter(|row| scope.has_sample(row))))
        } else {
            let in_scope = |value: &&Value| {
                scope.locations[value.location as usize] && scope.contexts[value.context as usize]
            };
            Cow::Owned(profile.values.iter().filter(in_scope).copied().collect())
        };
        if !scope.processors.is_empty() {
            let tails: u64 =
                profile.samples.iter().filter(|row| row.processor == u16::MAX).map(|r| r.cpu_ns).sum();
            selection.notes.push(format!(
                "the processor is known at samples only: the last {:.3} s of all threads together, after their \
                 last samples, are on none",
                tails as f64 / 1e9
            ));
        }
        if !scope.times.is_empty() {
            selection.notes.push(
                "CPU time counts at the instant of the sample that closed it: the borders of the range are exact to \
                 one sample per thread"
                    .into(),
            );
        }
        selection
    }

    /// Only what is below a context, itself included.
    pub fn under(mut self, root: ContextId) -> Selection<'p> {
        let mut below = vec![false; self.profile.contexts.len()];
        for (id, context) in self.profile.contexts.iter().enumerate() {
            below[id] =
                id as ContextId == root || context.parent.is_some_and(|parent| below[parent as usize]);
            self.in_scope.contexts[id] &= below[id];
        }
        self.values.to_mut().retain(|value| below[value.context as usize]);
        self.squares = OnceCell::new();
        self
    }

    /// The profile.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// What the tree of contexts says about itself.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The locations in scope, ascending.
    pub fn locations(&self) -> &[LocationId] {
        &self.locations
    }

    /// The locations in scope that are not a runtime's service threads, ascending.
    pub fn compute_locations(&self) -> Vec<LocationId> {
        self.locations.iter().copied().filter(|&id| !self.profile.locations[id as usize].service).collect()
    }

    /// The amounts in scope.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// What a reader must know about this selection, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a context is in scope.
    pub fn has_context(&self, id: ContextId) -> bool {
        self.in_scope.contexts[id as usize]
    }

    /// Whether a sample is in scope.
    pub fn has_sample(&self, row: &SampleRow) -> bool {
        self.in_scope.has_sample(row)
    }

    /// Each context's own amount of a metric, summed over the locations in scope.
    pub fn own(&self, metric: Metric) -> Vec<f64> {
        let mut own = vec![0.0; self.profile.contexts.len()];
        for value in self.values.iter().filter(|value| value.metric == metric) {
            own[value.context as usize] += value.amount;
        }
        own
    }

    /// Sum of a metric over everything in scope.
    pub fn total(&self, metric: Metric) -> f64 {
        let amounts = self.values.iter().filter(|value| value.metric == metric).map(|value| value.amount);
        // The library's sum of nothing is -0.
        amounts.fold(0.0, |sum, amount| sum + amount)
    }

    /// Whether each context has any amount in scope, itself or below.
    pub fn used_contexts(&self) -> Vec<bool> {
        let mut used = vec![false; self.profile.contexts.len()];
        for value in self.values.iter() {
            used[value.context as usize] |= value.amount != 0.0;
        }
        for (id, context) in self.profile.contexts.iter().enumerate().rev() {
            if let Some(parent) = context.parent {
                used[parent as usize] |= used[id];
            }
        }
        used
    }

    /// Each context's own sum of squared sample weights, in square seconds.
    pub(super) fn squares(&self) -> &[f64] {
        self.squares.get_or_init(|| {
            let mut squares = self.own(Metric::CpuSquares);
            if squares.iter().all(|&square| square == 0.0) {
                // Where they were not kept: n equal weights of x/n have the sum of squares x²/n.
                let counts = self.own(Metric::Samples);
                for ((square, seconds), n) in squares.iter_mut().zip(self.own(Metric::Cpu)).zip(counts) {
                    *square = if n > 0.0 { seconds * seconds / n } else { 0.0 };
                }
            }
            squares
        })
    }

    fn restrict(&mut self, clause: &Clause) {
        match clause.key {
            Key::Process | Key::Rank | Key::Thread => self.restrict_locations(clause),
            Key::Function | Key::Module | Key::File => self.restrict_contexts(clause),
            Key::Cpu => {
                let ranges = ranges(clause);
                for (pattern, &(from, to)) in clause.patterns.iter().zip(&ranges) {
                    let seen = |row: &SampleRow| {
                        row.processor != u16::MAX && (from..=to).contains(&u64::from(row.processor))
                    };
                    if !self.profile.samples.iter().any(seen) {
                        self.nothing("processor", pattern, used_processors(self.profile));
                    }
                }
                self.in_scope.processors.push((clause.negated, ranges));
            }
            Key::Time => self.in_scope.times.push((clause.negated, ranges(clause))),
        }
    }

    fn restrict_locations(&mut self, clause: &Clause) {
        let mut matched = vec![false; self.profile.locations.len()];
        for pattern in &clause.patterns {
            let found: Vec<usize> = match clause.key {
                Key::Process => self.locations_where(|_, p| self.is_process(p, pattern)),
                Key::Rank => self.locations_where(|_, p| {
                    self.profile.processes[p].rank.is_some_and(|rank| in_numbers(pattern, u64::from(rank)))
                }),
                _ => self.threads(pattern),
            };
            if found.is_empty() {
                let (kind, known) = match clause.key {
                    Key::Process => ("process", process_names(self.profile)),
                    Key::Rank => ("rank", rank_names(self.profile)),
                    _ => ("thread", thread_names(self.profile)),
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

    fn locations_where(&self, keep: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let locations = self.profile.locations.iter().enumerate();
        locations.filter(|(id, location)| keep(*id, location.process as usize)).map(|(id, _)| id).collect()
    }

    fn is_process(&self, id: usize, pattern: &Pattern) -> bool {
        let process = &self.profile.processes[id];
        match pattern {
            Pattern::Name { text, quoted } => {
                named(text, *quoted, &process.name, "/")
                    || named(text, *quoted, &process.executable, "/")
                    || Handle::parse(text) == Some(Handle::Process(id as u32))
            }
            _ => in_numbers(pattern, u64::from(process.pid)),
        }
    }

    fn threads(&self, pattern: &Pattern) -> Vec<usize> {
        let locations = &self.profile.locations;
        match pattern {
            Pattern::Name { text, quoted } => {
                let by_name = self.locations_where(|id, _| named(text, *quoted, &locations[id].name, "\0"));
                match Handle::parse(text) {
                    Some(Handle::Location(id)) if by_name.is_empty() => {
                        (0..locations.len()).filter(|&n| n == id as usize).collect()
                    }
                    _ => by_name,
                }
            }
            _ => {
                // Thread ids and positions in the process do not overlap in practice; ids win.
                let by_tid = self.locations_where(|id, _| in_numbers(pattern, u64::from(locations[id].tid)));
                if by_tid.is_empty() {
                    let positions = positions_in_process(self.profile);
                    self.locations_where(|id, _| in_numbers(pattern, positions[id]))
                } else {
                    by_tid
                }
            }
        }
    }

    fn restrict_contexts(&mut self, clause: &Clause) {
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
            let here = match (called_function(profile, id as ContextId), context.kind) {
                (Some(function), _) => functions[function as usize],
                (None, ContextKind::Line) if clause.key == Key::File => {
                    any_pattern(clause, &mut found, |p| {
                        context.file.as_deref().is_some_and(|file| is_named(p, file, "/"))
                    })
                }
                _ => false,
            };
            on_path[id] = here || context.parent.is_some_and(|parent| on_path[parent as usize]);
        }
        for missing in (0..found.len()).filter(|&n| !found[n]) {
            let (kind, known) = match clause.key {
                Key::Function => ("function", names(profile.functions.iter().map(|f| f.name.as_str()))),
                Key::Module => ("module", names(profile.modules.iter().map(|module| module.name()))),
                _ => ("file", file_names(profile)),
            };
            self.nothing(kind, &clause.patterns[missing], known);
        }
        for (in_scope, on_path) in self.in_scope.contexts.iter_mut().zip(on_path) {
            *in_scope &= on_path != clause.negated;
        }
    }

    fn nothing(&mut self, kind: &str, pattern: &Pattern, known: Vec<String>) {
        let value = written(pattern);
        let rest = what_there_is(&value, &known);
        self.notes.push(format!("no {kind} of this run matches `{value}`{rest}"));
    }
}

/// The functions meant by a handle (`f7`) or a name, which may hold `*` and `?`.
pub fn functions_called(profile: &Profile, text: &str) -> Result<Vec<FunctionId>, UnknownFunction> {
    let pattern = Pattern::Name { text: text.to_owned(), quoted: false };
    let found: Vec<FunctionId> = profile
        .functions
        .iter()
        .enumerate()
        .filter(|(id, function)| is_function(profile, Key::Function, *id, function, &pattern))
        .map(|(id, _)| id as FunctionId)
        .collect();
    if found.is_empty() {
        let known = names(profile.functions.iter().map(|function| function.name.as_str()));
        return Err(UnknownFunction { value: text.into(), rest: what_there_is(text, &known) });
    }
    Ok(found)
}

fn is_function(profile: &Profile, key: Key, id: usize, function: &Function, pattern: &Pattern) -> bool {
    match key {
        Key::Function => {
            let by_name = [Some(&function.name), Some(&function.full_name), function.linkage_name.as_ref()]
                .into_iter()
                .flatten()
                .any(|name| is_named(pattern, name, "::"));
            by_name
                || matches!(pattern, Pattern::Name { text, quoted: false }
                    if Handle::parse(text) == Some(Handle::Function(id as FunctionId)))
        }
        Key::Module => {
            function.module.is_some_and(|id| is_named(pattern, &profile.modules[id as usize].path, "/"))
        }
        _ => function.file.as_deref().is_some_and(|file| is_named(pattern, file, "/")),
    }
}

/// Tries every pattern, so that each one that matches something is known to do so.
fn any_pattern(clause: &Clause, found: &mut [bool], is: impl Fn(&Pattern) -> bool) -> bool {
    let mut any = false;
    for (pattern, found) in clause.patterns.iter().zip(found) {
        if is(pattern) {
            *found = true;
            any = true;
        }
    }
    any
}

fn is_named(pattern: &Pattern, name: &str, separator: &str) -> bool {
    matches!(pattern, Pattern::Name { text, quoted } if named(text, *quoted, name, separator))
}

fn named(text: &str, quoted: bool, name: &str, separator: &str) -> bool {
    match (quoted, separator) {
        (true, _) => text == name || name.rsplit(separator).next() == Some(text),
        (false, "\0") => matches(text, name),
        (false, _) => matches_from(text, name, separator),
    }
}

fn in_numbers(pattern: &Pattern, number: u64) -> bool {
    matches!(*pattern, Pattern::Numbers(from, to) if (from..=to).contains(&number))
}

fn ranges(clause: &Clause) -> Vec<(u64, u64)> {
    clause
        .patterns
        .iter()
        .filter_map(|pattern| match *pattern {
            Pattern::Numbers(from, to) | Pattern::Time(from, to) => Some((from, to)),
            Pattern::Name { .. } => None,
        })
        .collect()
}

/// Position of each location among those of its process: 0 is the thread that began it.
fn positions_in_process(profile: &Profile) -> Vec<u64> {
    let mut next = vec![0; profile.processes.len()];
    let position = |location: &proust_profile::Location| {
        let next: &mut u64 = &mut next[location.process as usize];
        *next += 1;
        *next - 1
    };
    profile.locations.iter().map(position).collect()
}

/// The samples' amounts as values, sorted as a profile's values are.
fn values_of_samples<'s>(rows: impl Iterator<Item = &'s SampleRow>) -> Vec<Value> {
    let mut sums: BTreeMap<(ContextId, LocationId, Metric), f64> = BTreeMap::new();
    for row in rows {
        let seconds = |ns: u64| ns as f64 / 1e9;
        for (metric, amount) in [
            (Metric::Cpu, seconds(row.cpu_ns)),
            (Metric::User, seconds(row.user_ns)),
            (Metric::System, seconds(row.system_ns)),
            (Metric::Samples, if row.tail { 0.0 } else { 1.0 }),
            (Metric::Measurement, seconds(row.measurement_ns)),
            (Metric::MinorFaults, f64::from(row.minor_faults)),
            (Metric::MajorFaults, f64::from(row.major_faults)),
            (Metric::VoluntarySwitches, f64::from(row.voluntary_switches)),
            (Metric::InvoluntarySwitches, f64::from(row.involuntary_switches)),
            (Metric::CpuSquares, if row.tail { 0.0 } else { seconds(row.cpu_ns).powi(2) }),
        ] {
            if amount != 0.0 {
                *sums.entry((row.context, row.location, metric)).or_default() += amount;
            }
        }
    }
    sums.into_iter()
        .map(|((context, location, metric), amount)| Value { context, location, metric, amount })
        .collect()
}

fn written(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Numbers(from, to) if from == to => from.to_string(),
        Pattern::Numbers(from, u64::MAX) => format!("{from}.."),
        Pattern::Numbers(from, to) => format!("{from}..{to}"),
        Pattern::Time(from, to) => format!("{}ns..{}ns", from, to),
        Pattern::Name { text, .. } => text.clone(),
    }
}

/// The end of a message: the names that look alike, or else the first of all.
fn what_there_is(value: &str, known: &[String]) -> String {
    const SHOWN: usize = 8;
    if known.is_empty() {
        return "; it has none".into();
    }
    // A thread is listed as `name (id)`; it is the name that may be misspelt.
    let alike = nearest(value, known.iter().map(|name| name.split(" (").next().unwrap_or(name)), 4);
    if !alike.is_empty() {
        return format!("; did you mean {}?", alike.join(", "));
    }
    let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
    let more = if known.len() > SHOWN { format!(" and {} more", known.len() - SHOWN) } else { String::new() };
    format!("; there are {}{more}", shown.join(", "))
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = all.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

fn process_names(profile: &Profile) -> Vec<String> {
    profile.processes.iter().map(|process| format!("{} ({})", process.name, process.pid)).collect()
}

fn rank_names(profile: &Profile) -> Vec<String> {
    let mut ranks: Vec<u32> = profile.processes.iter().filter_map(|process| process.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.iter().map(u32::to_string).collect()
}

fn thread_names(profile: &Profile) -> Vec<String> {
    profile.locations.iter().map(|location| format!("{} ({})", location.name, location.tid)).collect()
}

fn file_names(profile: &Profile) -> Vec<String> {
    let declared = profile.functions.iter().filter_map(|function| function.file.as_deref());
    let lines = profile.contexts.iter().filter(|context| context.kind == ContextKind::Line);
    names(declared.chain(lines.filter_map(|context| context.file.as_deref())))
}

fn used_processors(profile: &Profile) -> Vec<String> {
    let mut numbers: Vec<u16> =
        profile.samples.iter().map(|row| row.processor).filter(|&n| n != u16::MAX).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().map(u16::to_string).collect()
}
