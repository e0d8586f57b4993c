//! Data that nobody would make on purpose: names with any bytes, a hundred thousand threads, a profile edited
//! by hand, logs of another machine or another version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{proust, run};
use crate::pages::Summary;
use crate::programs::built;
use crate::recording::{empty_folder, page_of, record, report};
use crate::tier;

const PAGES: [&str; 8] = ["summary", "tree", "callers", "flat", "ledger", "threads", "timeline", "quality"];

#[test]
fn names_move_no_cursor_and_break_no_line() {
    let Some(program) = built("hostile_processes") else { return };
    let folder = empty_folder();
    let odd = folder.path().join("a\u{1b}[2J\nb");
    fs::copy(program, &odd).unwrap();
    let recorded = record(&odd, &["names"]).succeeded();
    for page in PAGES {
        let ended = report(&recorded.dir, page, &[] as &[&str]);
        let text = ended.printed();
        assert!(ended.status.success(), "{page}: {}", ended.said());
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{page}: {text:?}");
        for format in ["json", "csv"] {
            let ended = report(&recorded.dir, page, &["--format", format]);
            assert!(ended.status.success(), "{page} as {format}: {}", ended.said());
        }
    }
    let threads = report(&recorded.dir, "threads", &[] as &[&str]).printed();
    assert!(threads.contains("\\u{1b}[31mred") && threads.contains("a\\nb\\tc"), "{threads}");
}

#[test]
fn a_hundred_thousand_threads() {
    let Some(program) = built("hostile_processes") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let ended =
        run(proust().args(["record", "-o"]).arg(&dir).arg("--").arg(program).args(["threads", "100000"]));
    assert!(ended.status.success(), "{}", ended.said());
    for page in PAGES {
        let ended = report(&dir, page, &[] as &[&str]);
        assert!(ended.status.success(), "{page}: {}", ended.said());
        assert!(ended.stdout.len() < 100_000, "{page} is {} bytes long", ended.stdout.len());
    }
    let summary: Summary = page_of(&dir, "summary", &[]);
    assert_eq!(summary.run.threads, 100_001);
}

/// All files below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Each file of the profile is cut, overwritten, emptied, replaced by a folder; the answer is the right one
/// or an error in words.
#[test]
fn a_profile_edited_by_hand() {
    let Some(program) = built("endings") else { return };
    let recorded = record(program, &["0.3", "return"]);
    let right = report(&recorded.dir, "flat", &["--format", "csv"]);
    assert!(right.status.success(), "{}", right.said());
    let profile = recorded.dir.join("profile");
    let kept = recorded.dir.join("kept");
    assert!(Command::new("cp").arg("-a").arg(&profile).arg(&kept).status().unwrap().success());
    for (place, file) in files(&kept).into_iter().enumerate() {
        let name = file.strip_prefix(&kept).unwrap();
        let content = fs::read(&file).unwrap();
        let half = content.len() / 2;
        let mut flipped = content.clone();
        for byte in flipped.iter_mut().skip(half).take(16) {
            *byte = !*byte;
        }
        for (_, (how, edited)) in [
            ("cut", Some(content[..half].to_vec())),
            ("emptied", Some(Vec::new())),
            ("flipped", Some(flipped)),
            ("other", Some(b"{\"a\": [1e999, -1, null]}".to_vec())),
            ("removed", None),
        ]
        .into_iter()
        .enumerate()
        .filter(|(way, _)| tier::takes(place + way, 2))
        {
            fs::remove_dir_all(&profile).unwrap();
            assert!(Command::new("cp").arg("-a").arg(&kept).arg(&profile).status().unwrap().success());
            match edited {
                Some(bytes) => fs::write(profile.join(name), bytes).unwrap(),
                None => fs::remove_file(profile.join(name)).unwrap(),
            }
            for page in ["flat", "summary"] {
                let ended = report(&recorded.dir, page, &["--format", "csv"]);
                let code = ended.status.code();
                assert!(
                    code == Some(0) || code == Some(1) && ended.said().starts_with("proust: "),
                    "{name:?} {how}, {page}: {:?}: {}",
                    ended.status,
                    ended.said()
                );
                assert!(!ended.said().contains("panicked"), "{name:?} {how}: {}", ended.said());
            }
        }
    }
    // Without it the profile is made anew.
    fs::remove_dir_all(&profile).unwrap();
    fs::remove_dir_all(&kept).unwrap();
    assert_eq!(report(&recorded.dir, "flat", &["--format", "csv"]).printed(), right.printed());
}

/// Places of the layout's version and of the byte order's mark in a log.
const VERSION: std::ops::Range<usize> = 8..12;
const BYTE_ORDER: std::ops::Range<usize> = 12..16;

fn edit_logs(dir: &Path, edit: impl Fn(&mut [u8])) {
    for log in files(&dir.join("log")) {
        let mut bytes = fs::read(&log).unwrap();
        edit(&mut bytes);
        fs::write(log, bytes).unwrap();
    }
}

#[test]
fn logs_that_cannot_be_read_here_are_said_to_be() {
    let Some(program) = built("endings") else { return };
    let recorded = record(program, &["0.1", "return"]);
    edit_logs(&recorded.dir, |log| log[BYTE_ORDER].reverse());
    let ended = report(&recorded.dir, "summary", &[] as &[&str]);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said());
    assert!(ended.said().contains("the other byte order") && ended.stdout.is_empty(), "{}", ended.said());
    edit_logs(&recorded.dir, |log| {
        log[BYTE_ORDER].reverse();
        log[VERSION].copy_from_slice(&99_u32.to_le_bytes());
    });
    let ended = report(&recorded.dir, "summary", &[] as &[&str]);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said());
    assert!(ended.said().contains("log layout 99") && ended.stdout.is_empty(), "{}", ended.said());
    edit_logs(&recorded.dir, |log| log[VERSION].copy_from_slice(&proust_log::layout::VERSION.to_le_bytes()));
    assert_eq!(recorded.summary().run.processes, 1);
}
