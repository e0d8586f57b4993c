//! Forks in uncomfortable places: the child lives, and nothing of the program's is different for it.

use std::process::Command;

use crate::command::run;
use crate::programs::built;
use crate::recording::{empty_folder, record};

/// Runs a case alone and recorded; what it checks of itself holds both times.
fn holds(case: &str) {
    let Some(program) = built("hostile_forks") else { return };
    let folder = empty_folder();
    let alone = run(Command::new(&program).arg(case).current_dir(folder.path()));
    assert!(alone.status.success(), "alone: {}", alone.printed());
    let recorded = record(&program, &[case]);
    let said = recorded.ended.printed();
    assert!(recorded.ended.status.success() && !said.contains("WRONG"), "{said}{}", recorded.ended.said());
}

#[test]
fn a_thread_with_little_stack_forks() {
    holds("little_thread");
}

#[test]
fn a_handler_on_an_alternate_stack_forks() {
    holds("alternate_stack");
}

#[test]
fn a_fiber_forks() {
    holds("in_fiber");
}

#[test]
fn a_copy_of_the_process_lives_on_little_stack() {
    holds("little_clone");
}

#[test]
fn threads_that_fork_at_once_keep_their_masks() {
    holds("forks_at_once");
}

#[test]
fn a_fork_beside_an_exec_that_fails_leaves_no_signal_blocked() {
    holds("exec_in_vain_beside");
}

/// Two tasks with the same thread-local storage are two, though a lane is found there.
#[test]
fn a_task_that_shares_storage_does_not_use_its_makers_lane() {
    holds("shared_storage");
}
