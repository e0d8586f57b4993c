//! Standard streams and exit codes pass through untouched.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::command::{Ended, proust, run, start};
use crate::programs::built;
use crate::recording::{empty_folder, record};

/// Every byte value, in lines and without a final newline.
fn input() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    bytes.push(b'!');
    bytes
}

fn with_input(command: &mut Command) -> Ended {
    let folder = empty_folder();
    let file = folder.path().join("input");
    std::fs::write(&file, input()).unwrap();
    start(command.stdin(Stdio::from(File::open(&file).unwrap()))).wait()
}

#[test]
fn not_a_byte_is_changed() {
    let Some(program) = built("echo_streams") else { return };
    let arguments = ["7", "a word", "--rate", "--", "*", ""];
    let alone = with_input(Command::new(&program).args(arguments));
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let recorded =
        with_input(proust().arg("record").arg("-o").arg(&dir).arg("--").arg(&program).args(arguments));

    assert_eq!(recorded.status.code(), Some(7));
    assert_eq!(alone.status.code(), Some(7));
    assert!(recorded.stdout == input() && alone.stdout == input(), "stdout differs");
    let own =
        recorded.stderr.strip_prefix(alone.stderr.as_slice()).expect("stderr begins with the program's");
    let own = String::from_utf8(own.to_vec()).unwrap();
    assert_eq!(own.trim().lines().count(), 3, "record ends with three lines: {own}");
    assert!(own.contains(dir.to_str().unwrap()), "they say where the run is: {own}");
}

#[test]
fn exit_codes_pass_through() {
    for code in [0, 1, 3, 125, 126, 127, 255] {
        let recorded = record("sh", &["-c", &format!("exit {code}")]);
        assert_eq!(recorded.ended.status.code(), Some(code), "{}", recorded.ended.said());
    }
}

#[test]
fn the_environment_and_working_folder_are_the_callers() {
    // One process lists its own files: in a pipeline the shell's come and go.
    const COMMAND: &str = "pwd; echo \"$STORY\"; exec ls /proc/self/fd";
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).args(["--", "sh", "-c", COMMAND]);
    let recorded = run(command.env("STORY", "of my life").current_dir(folder.path()));
    let alone =
        run(Command::new("sh").args(["-c", COMMAND]).env("STORY", "of my life").current_dir(folder.path()));
    // The last lines are the open files: none is left open in the program.
    assert_eq!(recorded.printed(), alone.printed());
}
