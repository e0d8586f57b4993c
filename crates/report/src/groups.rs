//! The processes or programs that a page can be shown for one by one.

use std::collections::BTreeMap;

use proust_profile::{LocationId, Metric, ProcessId, Profile, Unit};
use proust_query::{Filter, Handle, Selection};
use unicode_width::UnicodeWidthStr;

use crate::shell::shell_word;

/// What a row of the page `flat` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowsOf {
    /// A function of the source, inlined ones as well.
    #[default]
    Inlined,
    /// A function as it was compiled, with what was inlined into it.
    Compiled,
    /// A source line.
    Lines,
    /// An executable or a library.
    Modules,
}

/// What `--by` can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Pages for the largest of these, one by one; of findings, their order.
    Pages(Grouping),
    /// Other rows, of the page `flat` only.
    Rows(RowsOf),
}

/// A word of `--by`.
#[derive(Clone, Copy, Debug)]
pub struct GroupingSpec {
    /// The word, also in JSON.
    pub id: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it asks for.
    pub by: By,
}

const fn spec(id: &'static str, about: &'static str, by: By) -> GroupingSpec {
    GroupingSpec { id, about, by }
}

/// All words of `--by`.
pub const GROUPINGS: [GroupingSpec; 6] = [
    spec(
        "process",
        "processes, each with its arguments: `cc1plus format-test.cc`",
        By::Pages(Grouping::Processes),
    ),
    spec("program", "programs: all processes that are called so", By::Pages(Grouping::Programs)),
    spec(
        "function",
        "of `flat`: functions as they were compiled, with what was inlined into them",
        By::Rows(RowsOf::Compiled),
    ),
    spec(
        "inlined",
        "of `flat`: functions of the source, inlined ones as well (the default)",
        By::Rows(RowsOf::Inlined),
    ),
    spec("line", "of `flat`: source lines, with what is called there", By::Rows(RowsOf::Lines)),
    spec("module", "of `flat`: executables and libraries, with what they call", By::Rows(RowsOf::Modules)),
];

impl By {
    /// What a word asks for.
    pub fn from_id(word: &str) -> Option<By> {
        GROUPINGS.iter().find(|spec| spec.id == word).map(|spec| spec.by)
    }

    /// By what pages are divided, if they are.
    pub fn pages(self) -> Option<Grouping> {
        match self {
            By::Pages(grouping) => Some(grouping),
            By::Rows(_) => None,
        }
    }

    /// What rows are, if that is asked for.
    pub fn rows(self) -> Option<RowsOf> {
        match self {
            By::Pages(_) => None,
            By::Rows(rows) => Some(rows),
        }
    }
}

impl Grouping {
    /// Its word.
    pub fn id(self) -> &'static str {
        let spec = GROUPINGS.iter().find(|spec| spec.by == By::Pages(self));
        spec.expect("every grouping of pages is in the table").id
    }
}

/// By what a page is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Process images: a process that calls exec is two.
    Processes,
    /// Programs: all images that are called so.
    Programs,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The expression for `--where` that selects it.
    pub filter: String,
    /// The program, and of a process what it was given: `cc1plus format-test.cc`.
    pub name: String,
    /// The handle of a process.
    pub handle: Option<String>,
    /// How many images it is.
    pub processes: usize,
    /// CPU time in scope.
    pub cpu_s: f64,
}

/// The groups in scope, by CPU time.
pub fn groups(profile: &Profile, filter: &Filter, by: Grouping) -> Vec<Group> {
    let selection = Selection::new(profile, filter);
    let process_of = |location: LocationId| profile.locations[location].process;
    let mut cpu_ns: BTreeMap<ProcessId, u128> = BTreeMap::new();
    for &location in selection.locations() {
        cpu_ns.entry(process_of(location)).or_default();
    }
    for value in selection.values().iter().filter(|value| value.metric == Metric::Cpu) {
        *cpu_ns.entry(process_of(value.location)).or_default() += u128::from(value.amount);
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut of_program: BTreeMap<&str, usize> = BTreeMap::new();
    for (&id, &cpu_ns) in &cpu_ns {
        let cpu_s = Unit::SECONDS.shown(cpu_ns);
        let process = &profile.processes[id];
        let known = match by {
            Grouping::Processes => None,
            Grouping::Programs => of_program.get(process.name.as_str()).and_then(|&at| groups.get_mut(at)),
        };
        if let Some(group) = known {
            group.processes += 1;
            group.cpu_s += cpu_s;
            continue;
        }
        of_program.insert(&process.name, groups.len());
        let handle = Handle::Process(id).to_string();
        groups.push(match by {
            Grouping::Processes => Group {
                filter: format!("process={handle}"),
                name: called(&process.name, &process.arguments),
                handle: Some(handle),
                processes: 1,
                cpu_s,
            },
            Grouping::Programs => Group {
                filter: format!("process=\"{}\"", process.name),
                name: process.name.clone(),
                handle: None,
                processes: 1,
                cpu_s,
            },
        });
    }
    groups.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    groups
}

/// Columns of a command that is shown as it was typed.
const SHORT: usize = 60;

/// The program and what it was given, files without their folders. Of a long command the operands are shown,
/// files first, and not the options: a compiler's line reads as its source file so, and not as two hundred
/// letters of options.
pub(crate) fn called(program: &str, arguments: &[String]) -> String {
    let arguments = arguments.get(1..).unwrap_or(&[]);
    let is_option = |argument: &str| argument.starts_with('-');
    let base = |argument: &str| {
        let base = argument.rsplit('/').next().unwrap_or(argument);
        (!argument.contains(char::is_whitespace) && !base.is_empty()).then(|| base.to_owned())
    };
    let own = |argument: &String| match is_option(argument) {
        true => argument.clone(),
        false => base(argument).unwrap_or_else(|| argument.clone()),
    };
    let line =
        |words: Vec<String>| [program.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
    let typed = line(arguments.iter().map(|argument| shell_word(&own(argument))).collect());
    if typed.width() <= SHORT {
        return typed;
    }
    let (mut files, mut others): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for argument in arguments.iter().filter(|argument| !is_option(argument)) {
        // A number is no file, and `-dumpbase-ext .cc` is followed by none.
        let file = base(argument)
            .filter(|base| base.trim_start_matches('.').contains('.') && base.parse::<f64>().is_err());
        let list = if file.is_some() { &mut files } else { &mut others };
        let word = own(argument);
        if !list.contains(&word) {
            list.push(word);
        }
    }
    // `-MF a.cc.d a.cc`: what is made of a file says nothing that the file does not.
    let is_made = |word: &String| {
        files
            .iter()
            .any(|of| word.len() > of.len() && word.starts_with(of) && word[of.len()..].starts_with('.'))
    };
    let (made, files): (Vec<String>, Vec<String>) = files.iter().cloned().partition(is_made);
    if files.is_empty() && others.is_empty() {
        return typed;
    }
    let has_more = !made.is_empty() || arguments.iter().any(|argument| is_option(argument));
    let words = files.into_iter().chain(others).map(|word| shell_word(&word));
    line(words.chain(has_more.then(|| "...".to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use proust_profile::{Context, ContextId, ContextKind, Location, Process, Value};

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The table of groupings in the documents is that of the program.
    #[test]
    fn the_documents_have_the_groupings() {
        let document = include_str!("../../../docs/pages/README.md");
        let row = |spec: &GroupingSpec| format!("| `{}` | {} |\n", spec.id, spec.about);
        let rows: String = GROUPINGS.iter().map(row).collect();
        let table = format!("| `--by` | is |\n|---|---|\n{rows}\n");
        assert!(document.contains(&table), "docs/pages/README.md must contain\n{table}");
    }

    #[test]
    fn a_compiler_is_shown_with_its_source() {
        let line = ["/usr/lib/cc1plus", "-quiet", "-D_GNU_SOURCE", "-ext", ".cc", "/src/format-test.cc"];
        let made = ["-MF", "tests/format-test.cc.d", "-O2", "-o", "/tmp/ccx.s"];
        let all = words(&[&line[..], &made].concat());
        assert_eq!(called("cc1plus", &all), "cc1plus format-test.cc ccx.s .cc ...");
        let typed = ["redis-benchmark", "-p", "7390", "-q", "-n", "30000", "-t", "set,get"];
        assert_eq!(called("redis-benchmark", &words(&typed)), typed.join(" "));
        assert_eq!(called("sh", &words(&["sh", "-c", "a && b.c"])), "sh -c 'a && b.c'");
        assert_eq!(called("solve", &words(&["solve", "0.5", "/data/a.in"])), "solve 0.5 a.in");
        let option = format!("-{}", "n".repeat(60));
        let long = words(&["solve", "0.5", &option, "a.in", "a.in"]);
        assert_eq!(called("solve", &long), "solve a.in 0.5 ...");
        assert_eq!(called("solve", &words(&["solve", &option])), format!("solve {option}"));
        assert_eq!(called("ls", &words(&["ls"])), "ls");
        assert_eq!(called("x", &[]), "x");
    }

    #[test]
    fn processes_and_programs_are_ordered_by_their_time() {
        let process = |name: &str, file: &str| Process {
            name: name.into(),
            arguments: words(&[name, file]),
            ..Process::default()
        };
        let value = |location: u32, ms: u64| Value {
            location: LocationId(location),
            context: ContextId(0),
            metric: Metric::Cpu,
            amount: ms * 1_000_000,
        };
        let location = |process: u32| Location { process: ProcessId(process), ..Location::default() };
        let kind = ContextKind::Program;
        let program = Context { parent: None, kind, function: None, file: None, line: None };
        let profile = Profile {
            processes: vec![process("cc1", "a.c"), process("ld", "a.o"), process("cc1", "b.c")].into(),
            locations: vec![location(0), location(1), location(2), location(2)].into(),
            values: vec![value(0, 1000), value(1, 2500), value(2, 1000), value(3, 750)],
            contexts: vec![program].into(),
            ..Profile::default()
        };
        let of = |by| -> Vec<(String, String, f64, usize)> {
            let groups = groups(&profile, &Filter::default(), by).into_iter();
            groups.map(|group| (group.name, group.filter, group.cpu_s, group.processes)).collect()
        };
        let row = |name: &str, filter: &str, cpu_s, n| (name.to_owned(), filter.to_owned(), cpu_s, n);
        assert_eq!(
            of(Grouping::Processes),
            [
                row("ld a.o", "process=p1", 2.5, 1),
                row("cc1 b.c", "process=p2", 1.75, 1),
                row("cc1 a.c", "process=p0", 1.0, 1),
            ]
        );
        assert_eq!(
            of(Grouping::Programs),
            [row("cc1", "process=\"cc1\"", 2.75, 2), row("ld", "process=\"ld\"", 2.5, 1)]
        );
    }
}
