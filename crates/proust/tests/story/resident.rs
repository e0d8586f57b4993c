//! How much memory a process had resident at once: the kernel's own count, however it ended.

use serde_json::Value;

use crate::command::{proust, run};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{number, record, truth_in};

/// What the collector and the program's end may add after the program has looked, KiB.
const MORE_KIB: f64 = 4096.0;

/// The kernel counts a process's pages on each processor by itself, up to 32 at a time, and adds them up
/// exactly for `/proc` only: the peak that it reports at the end may miss those of two processors, KiB.
const LESS_KIB: f64 = 256.0;

fn assert_peak(how: &str) {
    let Some(program) = built("resident") else { return };
    let run = record(&program, &["0.3", how, "96"]);
    if how == "killed" {
        run.except(Except::Killed);
    }
    let truth = run.truth();
    let found = number(&run.page::<Value>("summary", &[]), "/run/peak_resident_bytes") / 1024.0;
    // Several blocks were touched in turn, so that a sum would be far off.
    assert!(number(&truth, "/blocks") >= 3.0, "{truth}");
    assert!(number(&truth, "/faults") * 4.0 > 2.5 * found, "{truth}: {found} KiB");
    let (least, most) = (number(&truth, "/peak_kib") - LESS_KIB, number(&truth, "/maxrss_kib") + MORE_KIB);
    assert!(found >= least && found <= most, "{found} KiB found, {truth}");
}

#[test]
fn the_peak_of_a_process_that_returns() {
    assert_peak("return");
}

#[test]
fn the_peak_of_a_process_that_is_killed() {
    assert_peak("killed");
}

/// The most of the library's code that a process of two threads that are sampled and meet once may map, KiB.
const MOST_CODE_KIB: f64 = 512.0;

/// What every process runs lies beside each other in the library (`crates/collector/layout.ld`): as long as
/// it did not, one of two threads had 570 to 670 KiB of code in memory. Where the library is mapped decides
/// how many stretches of 64 KiB that is, and is another place in each run. Since Linux 6.18 a page fault
/// maps the whole folio of a file on a disk, which may be 512 KiB: the run is kept in memory, where folios
/// are pages.
#[test]
fn a_small_process_maps_little_of_the_library() {
    let Some(program) = built("library_pages") else { return };
    let Ok(folder) = tempfile::Builder::new().prefix("proust-story-").tempdir_in("/dev/shm") else {
        println!("SKIP: /dev/shm cannot be written");
        return;
    };
    let code: Vec<f64> = (0..5)
        .map(|number_of_run| {
            let dir = folder.path().join(number_of_run.to_string());
            let mut command = proust();
            command.arg("record").arg("-o").arg(dir).arg("--").arg(&program).arg("0.1");
            number(&truth_in(&run(&mut command)), "/code_kib")
        })
        .collect();
    println!("{code:?} KiB");
    let least = code.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least > 0.0, "the program did not find the library");
    assert!(least <= MOST_CODE_KIB, "{code:?} KiB: does `benches/usual` find functions that usual.ld lacks?");
}
