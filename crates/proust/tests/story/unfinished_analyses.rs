//! Analyses that are cut short, or meet each other: of each there is a whole one or none, and every report is
//! the same. (A run that is still being written is in `first_minute`.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::command::{Ended, proust, run, start};
use crate::programs::built;
use crate::recording::empty_folder;

/// A recorded run, and the report of it.
struct Rig {
    folder: TempDir,
    dir: PathBuf,
    right: Vec<u8>,
    /// How long that took.
    wall: Duration,
}

const QUESTION: [&str; 3] = ["flat", "--format", "json"];

impl Rig {
    fn new() -> Option<Rig> {
        let program = built("endings")?;
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let command = format!("for n in 1 2 3 4; do '{}' 0.1 return; done; true", program.display());
        let mut recording = proust();
        recording.arg("record").arg("-o").arg(&dir).args(["--", "sh", "-c", &command]);
        let recorded = run(&mut recording);
        assert!(recorded.status.success(), "{}", recorded.said());
        let begun = Instant::now();
        let ended = run(&mut question(&dir));
        assert!(ended.status.success(), "{}", ended.said());
        let rig = Rig { folder, dir, right: ended.stdout, wall: begun.elapsed() };
        rig.forget();
        Some(rig)
    }

    /// Removes the analysis.
    fn forget(&self) {
        fs::remove_dir_all(self.dir.join("profile")).unwrap();
    }

    /// There is one analysis and nothing else, and the report is the right one.
    fn assert_whole(&self, ended: &Ended) {
        assert!(ended.status.success(), "{}", ended.said());
        assert_eq!(ended.stdout, self.right, "{}", ended.said());
        let kept = names(&self.dir.join("profile"));
        assert_eq!(kept.len(), 2, "an analysis and its manifest: {kept:?}");
    }
}

fn question(dir: &Path) -> Command {
    let mut command = proust();
    command.arg("report").arg(dir).args(QUESTION);
    command
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn an_analysis_that_is_killed_leaves_nothing_half() {
    let Some(rig) = Rig::new() else { return };
    let mut killed = 0;
    for n in 0..40 {
        let mut running = question(&rig.dir);
        let running = start(&mut running);
        // All of its time, and a bit more, in steps that do not follow each other.
        sleep(rig.wall.mul_f64(1.1 * f64::from(n * 17 % 40) / 40.0));
        // SAFETY: a signal to a process that this story started and has not waited for yet.
        unsafe { libc::kill(running.pid(), libc::SIGKILL) };
        let ended = running.wait();
        killed += usize::from(!ended.status.success());
        if ended.status.success() {
            assert_eq!(ended.stdout, rig.right);
        }
        // Now and then the next one meets what two have left.
        if n % 3 > 0 {
            rig.assert_whole(&run(&mut question(&rig.dir)));
            rig.forget();
        }
    }
    assert!(killed > 0, "each was done before it was killed");
}

#[test]
fn reports_of_one_run_at_once_are_the_same() {
    let Some(rig) = Rig::new() else { return };
    for _ in 0..4 {
        let running: Vec<_> = (0..5).map(|_| start(&mut question(&rig.dir))).collect();
        for ended in running.into_iter().map(|running| running.wait()) {
            assert!(ended.status.success(), "{}", ended.said());
            assert_eq!(ended.stdout, rig.right, "{}", ended.said());
        }
        rig.assert_whole(&run(&mut question(&rig.dir)));
        rig.forget();
    }
}

/// Waits and samples that do not fit into the memory that is allowed lie in a file: pages do not show it.
#[test]
fn pages_are_the_same_with_less_memory() {
    let Some(program) = built("convoy") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut recording = proust();
    recording.arg("record").arg("-o").arg(&dir).arg("--").arg(program).arg("1");
    let recorded = run(&mut recording);
    assert!(recorded.status.success(), "{}", recorded.said());
    let pages = ["summary", "flat", "waits", "locks", "threads", "timeline", "quality"];
    let said = |memory: &[&str]| -> Vec<String> {
        let _ = fs::remove_dir_all(dir.join("profile"));
        let page = |name: &&str| {
            let mut command = proust();
            command.args(memory).arg("report").arg(&dir).args([name, "--format", "json"]);
            let ended = run(&mut command);
            assert!(ended.status.success(), "{name} with {memory:?}: {}", ended.said());
            ended.printed()
        };
        pages.iter().map(page).collect()
    };
    let right = said(&[]);
    let files = names(&dir);
    for memory in ["0", "100K", "1T"] {
        assert_eq!(said(&["--memory", memory]), right, "--memory {memory}");
    }
    assert_eq!(names(&dir), files, "no file is left");
}

#[test]
fn a_size_that_is_none_is_refused() {
    for (size, why) in [("2x", "no unit of size"), ("much", "no unit of size"), ("-1", "")] {
        let ended = run(proust().args(["report", "--memory", size]));
        assert_eq!(ended.status.code(), Some(2), "{}", ended.said());
        assert!(ended.said().contains(why), "{}", ended.said());
    }
}

/// On a disk with so little room left the report is as on any other, and says that it could not be kept. The
/// same is true of an analysis that puts all that it can on that disk.
#[test]
fn a_disk_that_fills_leaves_no_half_profile() {
    let Some(rig) = Rig::new() else { return };
    let disk = rig.folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=32m none "$DISK" 2>/dev/null || exit 77
        cp -r "$RUN" "$DISK/run" || exit 78
        head -c "$ROOM" /dev/zero > "$DISK/room"
        cat /dev/zero > "$DISK/full" 2>/dev/null
        rm "$DISK/room"
        "$PROUST" $MEMORY report "$DISK/run" flat --format json > "$OUT/first" || exit 79
        find "$DISK/run" > "$OUT/left"
        rm "$DISK/full"
        "$PROUST" report "$DISK/run" flat --format json > "$OUT/second" || exit 80
        find "$DISK/run" > "$OUT/kept""#;
    let lines = |name: &str| fs::read_to_string(rig.folder.path().join(name)).unwrap().lines().count();
    let before = 1 + names(&rig.dir).len() + names(&rig.dir.join("log")).len();
    let mut not_kept = 0;
    for room_kib in [0, 4, 16, 40, 80, 120] {
        let ended = run(Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .env_remove("PROUST_RUN")
            .env("DISK", &disk)
            .env("RUN", &rig.dir)
            .env("OUT", rig.folder.path())
            .env("ROOM", (room_kib * 1024).to_string())
            .env("PROUST", env!("CARGO_BIN_EXE_proust")));
        if ended.status.code() == Some(77) || ended.said().contains("unshare") {
            println!("SKIP: a small disk cannot be mounted here");
            return;
        }
        assert!(ended.status.success(), "{room_kib}: {:?}: {}", ended.status, ended.said());
        for report in ["first", "second"] {
            let report = fs::read(rig.folder.path().join(report)).unwrap();
            assert!(report == rig.right, "{room_kib}: {}", ended.said());
        }
        if ended.said().contains("No space left") {
            not_kept += 1;
            // A folder for analyses may be there, but none in it.
            assert!((before..=before + 1).contains(&lines("left")), "{room_kib} KiB: {}", ended.said());
        }
        assert!(lines("kept") > before + 10, "{room_kib} KiB: the second one was kept");
    }
    assert!(not_kept > 0, "there was room for all");
}
