//! Programs of another word size: recognised beforehand, and left alone as children.

use std::path::PathBuf;
use std::process::Command;

use crate::command::run;
use crate::programs::has;
use crate::recording::{empty_folder, record};

/// Writes a line and exits with 23, by system calls of its own.
const SOURCE: &str = r#"
    .text
    .globl _start
_start:
    mov $4, %eax
    mov $1, %ebx
    mov $line, %ecx
    mov $6, %edx
    int $0x80
    mov $1, %eax
    mov $23, %ebx
    int $0x80
    .data
line: .ascii "small\n"
"#;

/// A program for a 32-bit machine; None, said as SKIP, where it cannot be made or does not run.
fn small(folder: &std::path::Path) -> Option<PathBuf> {
    if !has("as") || !has("ld") {
        println!("SKIP: as or ld is not installed");
        return None;
    }
    let (source, object, program) = (folder.join("a.s"), folder.join("a.o"), folder.join("small"));
    std::fs::write(&source, SOURCE).unwrap();
    let made = run(Command::new("as").arg("--32").arg("-o").arg(&object).arg(&source)).status.success()
        && run(Command::new("ld").args(["-m", "elf_i386", "-o"]).arg(&program).arg(&object)).status.success();
    if !made || run(&mut Command::new(&program)).status.code() != Some(23) {
        println!("SKIP: 32-bit programs cannot be made or run here");
        return None;
    }
    Some(program)
}

#[test]
fn are_recognised_and_left_alone() {
    let folder = empty_folder();
    let Some(program) = small(folder.path()) else { return };
    let refused = record(&program, &[] as &[&str]);
    assert_eq!(refused.ended.status.code(), Some(125), "{}", refused.ended.said());
    assert!(refused.ended.said().contains("not a 64-bit program"), "{}", refused.ended.said());
    assert!(refused.ended.stdout.is_empty(), "recognised before the start");
    // As a child, by fork and exec, and in the shell's own place.
    for command in ["\"$0\"; exit $?", "exec \"$0\""] {
        let recorded = record("sh", &["-c", command, program.to_str().unwrap()]);
        assert_eq!(recorded.ended.status.code(), Some(23), "{}", recorded.ended.said());
        assert_eq!(recorded.ended.printed(), "small\n");
        assert!(!recorded.ended.said().contains("ld.so"), "{}", recorded.ended.said());
        let notes = recorded.summary().quality.notes;
        assert!(notes.iter().any(|note| note.contains("small")), "{notes:#?}");
    }
}
