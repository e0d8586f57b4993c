//! Amounts by functions, lines, modules, files, processes or threads: one registry of what rows may stand for.

use std::collections::HashMap;
use std::hash::Hash;

use proust_profile::{ContextId, ContextKind, FunctionId, LocationId, Metric, Profile};

use super::amounts::{Amounts, Sampling, errors, over_contexts};
use super::forest::called_function;
use super::handle::Handle;
use super::measure::Measure;
use super::selection::Selection;
use super::statistics::Spread;

macro_rules! groupings {
    ($($(#[$doc:meta])* $Name:ident $id:literal $about:literal;)*) => {
        /// What a row stands for. The identifiers are words of the command line and of the JSON contract.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Grouping {
            $($(#[$doc])* $Name,)*
        }

        impl Grouping {
            /// All of them; the first is the default.
            pub const ALL: &'static [Grouping] = &[$(Grouping::$Name),*];

            /// The stable identifier.
            pub const fn id(self) -> &'static str {
                match self { $(Grouping::$Name => $id,)* }
            }

            /// What a row is, for help and guide.
            pub const fn about(self) -> &'static str {
                match self { $(Grouping::$Name => $about,)* }
            }
        }
    };
}

groupings! {
    /// Functions as in the source.
    #[default]
    Inlined "inlined" "functions; calls that the compiler inlined count for the function that was called";
    /// Functions as in the machine code.
    Function "function" "functions of the machine code; what was inlined counts for the function around it";
    /// Lines of the source.
    Line "line" "source lines";
    /// Executables and libraries.
    Module "module" "executables and libraries";
    /// Files of the source.
    File "file" "source files";
    /// Processes.
    Process "process" "processes";
    /// Threads.
    Thread "thread" "threads";
}

impl Grouping {
    /// The grouping of this word.
    pub fn from_id(word: &str) -> Option<Grouping> {
        Grouping::ALL.iter().copied().find(|grouping| grouping.id() == word)
    }

    /// Whether its rows are threads, or sets of them, and not places in the program.
    pub fn is_of_locations(self) -> bool {
        matches!(self, Grouping::Process | Grouping::Thread)
    }
}

/// A row of a grouping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its name; empty for what has no function, line, module or file.
    pub name: String,
    /// What it is called in filters and pages, where it has such a name.
    pub handle: Option<Handle>,
    /// The function that it is, or is in.
    pub function: Option<FunctionId>,
    /// Source file.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<u32>,
    /// Path of its module.
    pub module: Option<String>,
}

/// The rows of a grouping. Every amount in scope belongs to exactly one of them, so that the exclusive amounts
/// of all rows add up to the total.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The rows, in the order in which the profile first has them.
    pub rows: Vec<Group>,
    members: Members,
}

#[derive(Clone, Debug)]
enum Members {
    /// By context: its row, and whether no context above it belongs to the same row.
    Contexts(Vec<(usize, bool)>),
    /// By location: its row.
    Locations(Vec<usize>),
}

/// Rows by a key, numbered as they are met.
struct Numbered<K> {
    numbers: HashMap<K, usize>,
    rows: Vec<Group>,
}

impl<K: Eq + Hash> Numbered<K> {
    fn number(&mut self, key: K, group: impl FnOnce() -> Group) -> usize {
        let rows = &mut self.rows;
        *self.numbers.entry(key).or_insert_with(|| {
            rows.push(group());
            rows.len() - 1
        })
    }
}

impl Groups {
    /// The rows of a profile.
    pub fn of(selection: &Selection<'_>, grouping: Grouping) -> Groups {
        let profile = selection.profile();
        match grouping {
            Grouping::Thread => by_location(profile, |id| id, |id| group_of_location(profile, id, grouping)),
            Grouping::Process => by_location(
                profile,
                |id| profile.locations[id as usize].process,
                |id| group_of_location(profile, id, grouping),
            ),
            Grouping::Inlined => by_context(selection, |id| called_function(profile, id).map(Key::Function)),
            Grouping::Function => by_context(selection, |id| {
                let is_frame = profile.contexts[id as usize].kind == ContextKind::Frame;
                called_function(profile, id).filter(|_| is_frame).map(Key::Function)
            }),
            Grouping::Line => by_context(selection, |id| {
                let context = &profile.contexts[id as usize];
                match (context.kind, &context.file, context.line) {
                    (ContextKind::Line, Some(file), Some(line)) => {
                        Some(Key::Line(file.clone(), line, context.function))
                    }
                    // What no line is known of.
                    _ => called_function(profile, id).map(Key::Function),
                }
            }),
            Grouping::Module => by_context(selection, |id| {
                let function = called_function(profile, id)?;
                Some(Key::Module(profile.functions[function as usize].module))
            }),
            Grouping::File => by_context(selection, |id| {
                let context = &profile.contexts[id as usize];
                match (context.kind, &context.file) {
                    (ContextKind::Line, Some(file)) => Some(Key::File(Some(file.clone()))),
                    _ => {
                        let function = called_function(profile, id)?;
                        Some(Key::File(profile.functions[function as usize].file.clone()))
                    }
                }
            }),
        }
    }

    /// A measure by row.
    pub fn amounts(&self, selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        match &self.members {
            Members::Contexts(_) => self.over_rows(selection, &selection.own(measure)),
            Members::Locations(rows) => {
                let mut sums = vec![0.0; self.rows.len()];
                selection.each(measure, |_, location, amount| sums[rows[location as usize]] += amount);
                Amounts { inclusive: sums.clone(), exclusive: sums }
            }
        }
    }

    /// Standard errors of the CPU seconds by row. What a thread used is read from its clock.
    pub fn errors(&self, selection: &Selection<'_>) -> Amounts {
        match &self.members {
            Members::Contexts(_) => {
                let squares = self.over_rows(selection, selection.squares());
                errors(squares, &self.amounts(selection, Metric::Cpu), Sampling::of(selection))
            }
            Members::Locations(_) => {
                let none = vec![0.0; self.rows.len()];
                Amounts { inclusive: none.clone(), exclusive: none }
            }
        }
    }

    /// Statistics of a measure over the locations, by row; None where rows are locations themselves.
    pub fn spread(&self, selection: &Selection<'_>, measure: impl Into<Measure>) -> Option<Spread> {
        match &self.members {
            Members::Contexts(members) => {
                Some(Spread::by_member(selection, measure, self.rows.len(), |context| {
                    members[context as usize]
                }))
            }
            Members::Locations(_) => None,
        }
    }

    fn over_rows(&self, selection: &Selection<'_>, own: &[f64]) -> Amounts {
        let Members::Contexts(members) = &self.members else { return Amounts::default() };
        let above = over_contexts(selection.profile(), selection.forest(), own).inclusive;
        let none = vec![0.0; self.rows.len()];
        let mut amounts = Amounts { inclusive: none.clone(), exclusive: none };
        for (id, &(row, is_outermost)) in members.iter().enumerate() {
            amounts.exclusive[row] += own[id];
            if is_outermost {
                amounts.inclusive[row] += above[id];
            }
        }
        amounts
    }
}

/// What makes contexts one row.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Function(FunctionId),
    Line(String, u32, Option<FunctionId>),
    Module(Option<u32>),
    File(Option<String>),
    /// Contexts above all functions.
    Nothing,
}

impl Key {
    fn group(&self, profile: &Profile) -> Group {
        let module_of = |function: FunctionId| {
            let module = profile.functions[function as usize].module?;
            Some(profile.modules[module as usize].path.clone())
        };
        match self {
            Key::Function(id) => {
                let function = &profile.functions[*id as usize];
                Group {
                    name: function.name.clone(),
                    handle: Some(Handle::Function(*id)),
                    function: Some(*id),
                    file: function.file.clone(),
                    line: function.line,
                    module: module_of(*id),
                }
            }
            Key::Line(file, line, function) => Group {
                name: function.map_or_else(String::new, |id| profile.functions[id as usize].name.clone()),
                handle: None,
                function: *function,
                file: Some(file.clone()),
                line: Some(*line),
                module: function.and_then(module_of),
            },
            Key::Module(module) => {
                let path = module.map(|id| profile.modules[id as usize].path.clone());
                let name = path.as_deref().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
                Group { name: name.to_owned(), module: path.clone(), ..Group::default() }
            }
            Key::File(file) => {
                let name = file.as_deref().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
                Group { name: name.to_owned(), file: file.clone(), ..Group::default() }
            }
            Key::Nothing => Group::default(),
        }
    }
}

/// A context without a key of its own belongs to the row of the one above it.
fn by_context(selection: &Selection<'_>, key_of: impl Fn(ContextId) -> Option<Key>) -> Groups {
    let profile = selection.profile();
    let mut numbered = Numbered { numbers: HashMap::new(), rows: Vec::new() };
    let mut row_of: Vec<usize> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter().enumerate() {
        let row = match (key_of(id as ContextId), context.parent) {
            // Parents come first.
            (None, Some(parent)) => row_of[parent as usize],
            (key, _) => {
                let key = key.unwrap_or(Key::Nothing);
                numbered.number(key.clone(), || key.group(profile))
            }
        };
        row_of.push(row);
    }
    let mut members: Vec<(usize, bool)> = row_of.into_iter().map(|row| (row, false)).collect();
    let mut on_path = vec![0_u32; numbered.rows.len()];
    let forest = selection.forest();
    let roots = (0..profile.contexts.len()).filter(|&id| profile.contexts[id].parent.is_none());
    // Each context is met twice: going down and returning.
    let mut stack: Vec<(ContextId, bool)> = roots.map(|id| (id as ContextId, false)).collect();
    while let Some((id, is_leaving)) = stack.pop() {
        let (row, is_outermost) = &mut members[id as usize];
        if is_leaving {
            on_path[*row] -= 1;
            continue;
        }
        *is_outermost = on_path[*row] == 0;
        on_path[*row] += 1;
        stack.push((id, true));
        stack.extend(forest.children(id).iter().map(|&child| (child, false)));
    }
    Groups { rows: numbered.rows, members: Members::Contexts(members) }
}

fn by_location<K: Eq + Hash>(
    profile: &Profile,
    key_of: impl Fn(LocationId) -> K,
    group: impl Fn(LocationId) -> Group,
) -> Groups {
    let mut numbered = Numbered { numbers: HashMap::new(), rows: Vec::new() };
    let ids = 0..profile.locations.len() as LocationId;
    let rows_of = ids.map(|id| numbered.number(key_of(id), || group(id))).collect();
    Groups { rows: numbered.rows, members: Members::Locations(rows_of) }
}

/// The row of a thread, or of its process.
fn group_of_location(profile: &Profile, id: LocationId, grouping: Grouping) -> Group {
    let location = &profile.locations[id as usize];
    let process = &profile.processes[location.process as usize];
    let (name, handle) = match grouping {
        Grouping::Process => (format!("{} {}", process.name, process.pid), Handle::Process(location.process)),
        _ => (format!("{} {}", location.name, location.tid), Handle::Location(id)),
    };
    Group { name, handle: Some(handle), module: Some(process.executable.clone()), ..Group::default() }
}
