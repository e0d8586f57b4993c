//! Call paths of real programs, as they are resolved: what they count as was read off the programs' source.
//!
//! A path begins with `@ NAME, MOMENT: STATE`, innermost frame first; a frame is its short name, its module,
//! and its linkage name where a rule could need it.

use proust_profile::Nature;
use proust_profile::{Context, ContextId, ContextKind, Function, FunctionId, Module, ModuleId, Profile};

use crate::classes::Classes;
use crate::ledger::{State, Wait, Work};

/// What a path is held against.
struct Expected<'t> {
    name: &'t str,
    nature: Option<Nature>,
    state: &'t str,
}

fn nature(word: &str) -> Option<Nature> {
    Some(match word {
        "futex" => Nature::Futex,
        "condition" => Nature::Condition,
        "semaphore" => Nature::Semaphore,
        "sleep" => Nature::Sleep,
        "poll" => Nature::Poll,
        "join" => Nature::Join,
        "lock" => Nature::Lock,
        "yield" => Nature::Yield,
        _ => return None,
    })
}

/// The paths in `text`, as a profile whose innermost contexts are returned with the expected class.
pub(super) fn read(text: &str) -> (Profile, Vec<(u32, &str)>) {
    let mut profile = Profile::default();
    profile.contexts.push(Context {
        parent: None,
        kind: ContextKind::Program,
        function: None,
        file: None,
        line: None,
    });
    let mut innermost = Vec::new();
    for path in text.split("\n@ ").map(|path| path.trim_start_matches("@ ")) {
        let mut lines = path.lines().filter(|line| !line.starts_with('#'));
        let Some(head) = lines.next().filter(|head| !head.is_empty()) else { continue };
        let frames: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
        let mut parent = 0;
        for frame in frames.into_iter().rev() {
            let mut parts = frame.split('\t');
            let name = parts.next().unwrap_or_default().to_owned();
            let module = parts.next().unwrap_or_default();
            let module = profile.modules.iter().position(|known| known.path == module).unwrap_or_else(|| {
                profile.modules.push(Module { path: module.to_owned(), ..Module::default() });
                profile.modules.len() - 1
            });
            profile.functions.push(Function {
                full_name: name.clone(),
                linkage_name: parts.next().map(str::to_owned),
                name,
                module: Some(ModuleId::from_index(module)),
                ..Function::default()
            });
            profile.contexts.push(Context {
                parent: Some(ContextId(parent)),
                kind: ContextKind::Frame,
                function: Some(FunctionId(profile.functions.len() as u32 - 1)),
                file: None,
                line: None,
            });
            parent = profile.contexts.len() as u32 - 1;
        }
        innermost.push((parent, head));
    }
    (profile, innermost)
}

fn expected(head: &str) -> Expected<'_> {
    let (what, state) = head.rsplit_once(": ").expect("NAME, MOMENT: STATE");
    let (name, moment) = what.rsplit_once(", ").expect("NAME, MOMENT");
    let nature = nature(moment);
    assert!(nature.is_some() || moment == "spinning", "{head}: no such moment");
    Expected { name, nature, state }
}

fn words(state: State) -> String {
    match state {
        State::Waiting(wait) => word(wait).to_owned(),
        State::Polling(wait) => format!("polling {}", word(wait)),
        State::Passive(reason) => format!("passive {reason}"),
        State::Working(Work::Compute) => "compute".to_owned(),
        State::Working(work) => work.account().id().to_owned(),
    }
}

fn word(wait: Wait) -> &'static str {
    wait.account().id()
}

/// Every path of the file counts as it should.
fn check(text: &str) {
    let (profile, paths) = read(text);
    let classes = Classes::standard().on(&profile);
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for (context, head) in paths {
        let expected = expected(head);
        let state = match expected.nature {
            Some(nature) => classes.wait(ContextId(context), nature),
            None => classes.spin(ContextId(context)).unwrap_or(State::Working(Work::Compute)),
        };
        if words(state) != expected.state {
            wrong.push(format!("{}: {}, not {}", expected.name, words(state), expected.state));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rust_with_debug_information() {
    check(include_str!("rust_debug.paths"));
}

#[test]
fn rust_without_debug_information() {
    check(include_str!("rust_plain.paths"));
}

#[test]
fn openmp() {
    check(include_str!("openmp.paths"));
}

#[test]
fn threading_building_blocks() {
    check(include_str!("tbb.paths"));
}

#[test]
fn mpi() {
    check(include_str!("mpi.paths"));
}

#[test]
fn ocaml() {
    check(include_str!("ocaml.paths"));
}

#[test]
fn cpython() {
    check(include_str!("python.paths"));
}

#[test]
fn cpp_standard_library() {
    check(include_str!("cpp.paths"));
}

#[test]
fn rust_spinning() {
    check(include_str!("rust_spinning.paths"));
}
