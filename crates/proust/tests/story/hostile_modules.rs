//! Code from files that are not what they seem, and what others do before the program's own first
//! instruction.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::run;
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, number, record, record_with, report};

fn program() -> Option<PathBuf> {
    built("hostile_modules")
}

/// Runs a case alone and recorded, in a folder of its own: it holds both times.
fn holds(case: &str) -> Option<Recorded> {
    let program = program()?;
    let folder = empty_folder();
    let alone = run(Command::new(&program).arg(case).current_dir(folder.path()));
    let said = alone.printed();
    assert!(alone.status.success(), "alone: {said}");
    if said.contains("not possible here") {
        println!("SKIP: {said}");
        return None;
    }
    let recorded = record_with(&["--rate", "1000"], program, &[case]);
    let said = recorded.ended.printed();
    assert!(recorded.ended.status.success() && !said.contains("WRONG"), "{said}{}", recorded.ended.said());
    Some(recorded)
}

/// What one thread looks at, another one unloads.
#[test]
fn libraries_that_many_threads_open_and_close_at_once() {
    let (Some(program), Some(library)) = (built("opened_at_once"), built("libnewer_library.so")) else {
        return;
    };
    let folder = empty_folder();
    let copies: Vec<PathBuf> = (0..8).map(|number| folder.path().join(format!("lib{number}.so"))).collect();
    for copy in &copies {
        std::fs::copy(&library, copy).unwrap();
    }
    assert!(run(Command::new(&program).args(&copies)).status.success());
    let recorded = record(&program, &copies).succeeded();
    // They wait for the dynamic linker's lock, which it takes by itself.
    recorded.except(Except::OwnCalls);
}

#[test]
fn a_file_that_ends_before_its_program_headers_say_is_not_read_beyond() {
    if let Some(recorded) = holds("truncated") {
        assert!(recorded.flat().total("samples") > 10.0);
    }
}

#[test]
fn a_return_address_in_a_librarys_hole_is_not_followed() {
    if let Some(recorded) = holds("hole") {
        assert!(recorded.flat().cpu("count_under").exclusive > 0.2, "{:#?}", recorded.flat());
    }
}

#[test]
fn a_handler_put_in_the_place_of_ours_is_said() {
    let Some(recorded) = holds("replaced") else { return };
    let quality = report(&recorded.dir, "quality", &[] as &[&str]).printed();
    assert!(quality.contains("put a handler of its own in the place of Proust's for signal 23"), "{quality}");
}

/// A command that runs a program with `libearly.so` preloaded, whose constructor runs before the collector's.
fn beside_early(variable: &str, program: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let library = program.with_file_name("libearly.so");
    if !library.exists() {
        println!("SKIP: libearly.so is not built");
        return None;
    }
    let mut command = vec![format!("LD_PRELOAD={}", library.display()), variable.to_owned()];
    command.push(program.display().to_string());
    command.extend(arguments.iter().map(|&argument| argument.to_owned()));
    Some(command)
}

/// Unwind tables of the library that is gone are not used for the one in its place.
#[test]
fn a_library_that_a_constructor_opened_may_be_closed() {
    let Some(program) = program() else { return };
    let opens = format!("EARLY_OPENS={}", program.with_file_name("libplugin_a.so").display());
    let Some(command) = beside_early(&opens, &program, &["early"]) else { return };
    let recorded = record("env", &command).succeeded();
    let said = recorded.ended.printed();
    assert!(!said.contains("WRONG") && !said.contains("not possible"), "{said}");
    let truth = said.lines().find(|line| line.starts_with("{\"churn_a\"")).expect("a line with the times");
    let truth: serde_json::Value = serde_json::from_str(truth).unwrap();
    assert_eq!(number(&truth, "/same_page"), 1.0, "the second library lies elsewhere: {truth}");
    let flat = recorded.flat();
    for (function, module) in [("churn_a", "libplugin_a.so"), ("churn_b", "libplugin_b.so")] {
        let row = flat.row(function);
        assert!(row.module.as_deref().is_some_and(|path| path.ends_with(module)), "{row:?}");
        let (found, true_s) = (flat.cpu(function).exclusive, number(&truth, &format!("/{function}")));
        assert!(found > 0.7 * true_s && found < 1.3 * true_s, "{function}: {found} of {true_s} s");
    }
    assert_eq!(recorded.tree().cpu_below("churn_b", "plugin_a_work"), 0.0);
    recorded.assert_trustworthy();
}

/// The counter is forbidden before the collector begins.
#[test]
fn a_counter_that_is_forbidden_from_the_start_is_not_read() {
    let Some(program) = built("forbidden_counter") else { return };
    let Some(command) = beside_early("EARLY_FORBIDS=1", &program, &["1", "called"]) else { return };
    let alone = run(Command::new("env").args(&command));
    assert!(alone.status.success(), "alone: {:?} {}", alone.status, alone.printed());
    let recorded = record("env", &command);
    assert!(!recorded.ended.printed().contains("WRONG"), "{}", recorded.ended.printed());
    recorded.succeeded();
}
