//! Functions that an interpreter executes: by their code objects in the lane, whose tables say their lines.

use crate::synthetic::{LaneBuilder, amounts, assert_consistent, expected, header, log, names};
use proust_ingest::{Counter, LogBytes, ingest_logs};
use proust_log::code::Head;
use proust_log::records::{INTERPRETED, Subject};
use proust_profile::{Metric, Profile};
use proust_structure::{ModuleRequest, ModuleStructure};

const LIBRARY: &str = "/usr/lib/python3.11/threading.py";
const PROGRAM: &str = "/home/me/solver.py";

/// The text of a code object whose instructions have one line after the other, as 3.10 has them: ten bytes
/// each, from the line behind the first one on.
fn text(name: &str, file: &str, first_line: u32) -> Vec<u8> {
    let head =
        Head { minor_version: 10, name_bytes: name.len() as u16, file_bytes: file.len() as u16, first_line };
    let table = [10_u8, 1, 10, 1, 10, 1];
    [&head.to_bytes()[..], name.as_bytes(), file.as_bytes(), &table].concat()
}

/// The address of a node that executes the byte `at` of a code object.
fn address(code: u64, at: u64) -> u64 {
    code << 32 | at
}

/// The first function of the C library begins a thread.
fn symbols(module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
    let mut structure = names(module, addresses);
    for function in structure.functions.iter_mut().filter(|function| function.name == "f1") {
        (function.name, function.full_name) = ("clone3".into(), "clone3".into());
    }
    structure
}

fn profile(build: impl FnOnce(&mut LaneBuilder)) -> Profile {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "/lib/x86_64-linux-gnu/libc.so.6", 7, 0x40_0000);
    lane.begin(10, 1000, 0);
    build(&mut lane);
    lane.end(10, 1050, 15);
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/0.plog", Ok(&bytes))];
    let profile = ingest_logs("run", &logs, None, &symbols, &Counter::default()).expect("a profile");
    assert_consistent(&profile);
    profile
}

#[test]
fn functions_have_their_names_and_lines() {
    let profile = profile(|lane| {
        lane.text(Subject::Code, 1, text("<module>", PROGRAM, 1));
        lane.text(Subject::Code, 2, text("Solver.step", PROGRAM, 20));
        lane.node(1, 0, INTERPRETED, address(1, 12)).node(2, 1, INTERPRETED, address(2, 9));
        lane.node(3, 1, INTERPRETED, address(2, 25)).node(4, 2, 1, 0x105);
        // Behind the table's end.
        lane.node(5, 1, INTERPRETED, address(2, 30));
        lane.sample(1010, 1, 2).sample(1020, 3, 3).sample(1030, 7, 4).sample(1040, 15, 5);
    });
    let step = format!("<module>>Solver.step@{PROGRAM}:3");
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([
            (&format!("{step}>:21"), 10, 1.0),
            (&format!("{step}>:23"), 10, 2.0),
            (&format!("{step}>clone3@{PROGRAM}:21>:5"), 10, 4.0),
            (&step, 10, 8.0),
        ])
    );
    let function = profile.functions.iter().find(|function| function.name == "Solver.step").unwrap();
    assert_eq!((function.file.as_deref(), function.line), (Some(PROGRAM), Some(20)));
    let module = &profile.modules[function.module.unwrap()];
    assert_eq!(module.path, PROGRAM);
}

/// As with other languages: the library's functions by which a thread begins are not shown above the
/// program's own, and functions of one name on several lines are several functions.
#[test]
fn functions_of_the_library_that_begin_a_thread_are_left_out() {
    let profile = profile(|lane| {
        lane.text(Subject::Code, 1, text("Thread.run", LIBRARY, 900));
        lane.text(Subject::Code, 2, text("f", PROGRAM, 20));
        lane.text(Subject::Code, 3, text("f", PROGRAM, 30));
        // `start_thread`, by another name: nothing but the interpreter's frames lie above.
        lane.node(1, 0, INTERPRETED, address(1, 2)).node(2, 1, INTERPRETED, address(2, 2));
        lane.node(3, 1, INTERPRETED, address(3, 2));
        lane.sample(1010, 5, 2).sample(1020, 15, 3);
    });
    let names: Vec<_> = profile.functions.iter().filter(|function| function.name == "f").collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names.iter().map(|function| function.line).collect::<Vec<_>>(), [Some(20), Some(30)]);
}

/// A thread that executes nothing of the program's: what the interpreter does there in C is for the library.
#[test]
fn functions_of_the_library_stay_above_the_interpreters_own() {
    let profile = profile(|lane| {
        lane.module(2, "/usr/bin/python3.11", 8, 0x50_0000);
        lane.text(Subject::Code, 1, text("Thread.run", LIBRARY, 900));
        lane.node(1, 0, 1, 0x151).node(2, 1, INTERPRETED, address(1, 2)).node(3, 2, 2, 0x303);
        lane.sample(1010, 15, 3);
    });
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([(
            &format!("clone3>Thread.run@/lib/x86_64-linux-gnu/libc.so.6.c:81>f3@{LIBRARY}:901>:3"),
            10,
            15.0
        )])
    );
}

#[test]
fn code_whose_text_was_lost_is_of_no_known_module() {
    let profile = profile(|lane| {
        lane.node(1, 0, INTERPRETED, address(1, 12));
        lane.sample(1010, 15, 1);
    });
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("[code of a module whose record was lost]", 10, 15.0)])
    );
}
