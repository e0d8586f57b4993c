//! Threads that a runtime has for itself.

use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Module, ModuleId, Process,
    Profile, SampleRow,
};

use crate::classes::Classes;

/// Function and module.
type Frame = (&'static str, &'static str);

const CLONE: Frame = ("clone3", "/lib/libc.so.6");
const START: Frame = ("start_thread", "/lib/libc.so.6");
const CPP: Frame = ("execute_native_thread_routine", "/lib/libstdc++.so.6.0.30");
const POLL: Frame = ("poll", "/lib/libc.so.6");
const PROGRESS: Frame = ("progress_engine", "/usr/lib/libopen-pal.so.40");
const NODE: Frame = ("node::(anonymous namespace)::PlatformWorkerThread", "/usr/bin/node");
const JVM: Frame = ("thread_native_entry", "/usr/lib/jvm/libjvm.so");

/// Threads of process 7 with a path each, outermost function first; `whole` paths reach their root.
fn profile(threads: &[(u32, &str, bool, &[Frame])]) -> Profile {
    let context = |parent, kind, function| Context { parent, kind, function, file: None, line: None };
    let mut profile = Profile {
        processes: vec![Process { pid: 7, ..Process::default() }].into(),
        contexts: vec![
            context(None, ContextKind::Program, None),
            context(Some(ContextId(0)), ContextKind::Partial, None),
        ]
        .into(),
        ..Profile::default()
    };
    for (id, (tid, name, whole, path)) in threads.iter().enumerate() {
        let mut parent = u32::from(!whole);
        for (function, module) in *path {
            let number = profile.functions.len() as u32;
            profile.modules.push(Module { path: (*module).into(), ..Module::default() });
            profile.functions.push(Function {
                name: (*function).into(),
                module: Some(ModuleId(number)),
                ..Function::default()
            });
            profile.contexts.push(context(
                Some(ContextId(parent)),
                ContextKind::Frame,
                Some(FunctionId(number)),
            ));
            parent = profile.contexts.len() as u32 - 1;
        }
        let sample = SampleRow {
            location: LocationId::from_index(id),
            context: ContextId(parent),
            ..SampleRow::default()
        };
        profile.samples.edit(|samples| samples.push(sample));
        profile.locations.push(Location { tid: *tid, name: (*name).into(), ..Location::default() });
    }
    profile
}

#[test]
fn threads_are_known_by_their_start_or_their_name() {
    let work: Frame = ("work", "/home/me/a.out");
    let profile = profile(&[
        // The first thread runs the program, whatever it is called and whatever it calls.
        (7, "jemalloc_bg_thd", true, &[PROGRESS]),
        (8, "a.out", true, &[CLONE, START, PROGRESS, POLL]),
        (9, "a.out", true, &[CLONE, START, CPP, PROGRESS, POLL]),
        (10, "a.out", true, &[CLONE, START, work, PROGRESS]),
        // Of which only the innermost frames are known: their callers are not.
        (11, "a.out", false, &[PROGRESS, POLL]),
        (12, "C2 CompilerThre", true, &[CLONE, START, JVM]),
        (13, "worker", true, &[CLONE, START, JVM]),
        // Java's name for a thread that is not Java's.
        (14, "Finalizer", true, &[CLONE, START, work]),
        (15, "jemalloc_bg_thd", true, &[]),
        (16, "node", true, &[CLONE, START, NODE, POLL]),
    ]);
    let services = |classes: &Classes| -> Vec<u32> {
        let marked = classes.services(&profile).into_iter().zip(&profile.locations);
        marked.filter(|(service, _)| *service).map(|(_, location)| location.tid).collect()
    };
    assert_eq!(services(&Classes::standard()), [8, 9, 12, 15, 16]);
    let mine = Classes::standard().with("mine", "service work in a.out\nservice named work*\n").unwrap();
    assert_eq!(services(&mine), [8, 9, 10, 12, 13, 14, 15, 16]);
    assert_ne!(mine.digest(), Classes::standard().digest(), "kept profiles are made anew");
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    for (line, said) in [
        ("service", "write 'service FUNCTION'"),
        ("service named", "a thread's name"),
        ("service named a b", "'b' is not understood"),
        ("service f when blocked", "'when' cannot stand in a line that begins with 'service'"),
        ("servise f", "did you mean 'service'?"),
    ] {
        let error = Classes::standard().with("mine", line).expect_err(line).to_string();
        assert!(error.starts_with("mine:1:") && error.contains(said), "{line}: {error}");
    }
}
