//! The kernel kills a program that takes more memory than there is: what was recorded until then is there.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use crate::explained::Except;
use crate::programs::built;
use crate::recording::{number, record};

const MOST_BYTES: u64 = 48 << 20;

/// A control group with little memory, gone with this.
struct LittleMemory(PathBuf);

impl LittleMemory {
    fn new() -> Option<LittleMemory> {
        let own = format!("proust-story-{}", std::process::id());
        // The older and the newer way.
        for (root, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let group = Path::new(root).join(&own);
            if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&group).is_err() {
                continue;
            }
            let group = LittleMemory(group);
            if fs::write(group.0.join(limit), MOST_BYTES.to_string()).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for LittleMemory {
    fn drop(&mut self) {
        // What the kernel has killed leaves the group a moment later.
        for _ in 0..200 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

#[test]
fn ends_a_program_and_not_its_recording() {
    let Some(program) = built("endings") else { return };
    let Some(group) = LittleMemory::new() else {
        println!("SKIP: no control group with little memory can be made here");
        return;
    };
    let command = "echo $$ >\"$0/cgroup.procs\" || exit 77; exec \"$1\" 0.4 memory";
    let recorded = record("sh", &["-c", command, group.0.to_str().unwrap(), program.to_str().unwrap()]);
    if recorded.ended.status.code() == Some(77) {
        println!("SKIP: a process cannot be moved to another control group here");
        return;
    }
    recorded.except(Except::Killed);
    assert_eq!(recorded.ended.status.signal(), Some(libc::SIGKILL), "{}", recorded.ended.said());
    let truth = recorded.truth();
    let found = recorded.threads().cpu_of_process(number(&truth, "/pid") as u64);
    assert!(found >= number(&truth, "/cpu_s") - 0.02, "{found} s found of {truth}");
    assert!(recorded.flat().cpu("takes_memory").inclusive >= 0.0);
    let quality = recorded.summary().quality;
    assert!(quality.notes.iter().any(|note| note.contains("did not end normally")), "{:#?}", quality.notes);
}
