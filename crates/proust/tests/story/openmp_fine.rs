//! Regions, barriers and sections so fine that measuring them takes a visible part of their time: what it
//! takes is known, with its error.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::programs::built;
use crate::recording::{list, number, record};
use crate::tier;

/// Runs that are compared in pairs.
const PAIRS: usize = 7;

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// What processor time a case takes by the program's own clock, with one thread and nobody who measures.
fn bare_s(program: &Path, arguments: &[&str]) -> f64 {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output();
    number(&serde_json::from_slice(&output.unwrap().stdout).unwrap(), "/cpu_s")
}

/// What is taken off is what a recorded run takes more than a bare one. Nobody but the machine can make a
/// team of one wait: its times can be compared anywhere.
#[test]
fn without_what_measuring_took_a_region_takes_as_long_as_bare() {
    let cases = [("barriers", "300000"), ("nest", "300000"), ("regions", "150000"), ("sections", "800000")];
    for (place, (case, count)) in cases.into_iter().enumerate() {
        for compiler in tier::in_turn(vec!["gcc", "clang"], place) {
            let Some(program) = built(&format!("openmp-fine-{compiler}")) else { continue };
            compare(&program, compiler, [case, count, "120", "1"]);
        }
    }
}

fn compare(program: &Path, compiler: &str, arguments: [&str; 4]) {
    let (mut added, mut off, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut before_s = bare_s(program, &arguments);
    for _ in 0..PAIRS {
        let run = record(program, &arguments).succeeded();
        let behind_s = bare_s(program, &arguments);
        let bare_s = (before_s + behind_s) / 2.0;
        before_s = behind_s;
        let page: Value = run.page("openmp", &[]);
        let regions = list(&page, "/regions").iter();
        let region = regions.max_by_key(|region| (number(region, "/time_s") * 1e9) as u64).expect("a region");
        let (time_s, corrected_s) = (number(region, "/time_s"), number(region, "/corrected_s"));
        // By the processor's clock of the program itself: on a busy machine the wall's says little.
        let recorded_s = number(&run.truth(), "/cpu_s");
        added.push(recorded_s / bare_s - 1.0);
        off.push((recorded_s - (time_s - corrected_s)) / bare_s - 1.0);
        errors.push(number(region, "/corrected_error_s") / bare_s);
        // The region's time is that of its thread, which its sites sum up to.
        let sites: f64 = list(region, "/sites").iter().map(|site| number(site, "/time_s")).sum();
        assert!((sites - time_s).abs() < 1e-6, "{region:#}");
    }
    let middle = median(&off);
    let apart: Vec<f64> = off.iter().map(|off| (off - middle).abs()).collect();
    // The deviation of the median, by that of single pairs.
    let noise = 1.86 * median(&apart) / (PAIRS as f64).sqrt();
    let (added, error) = (median(&added), median(&errors));
    println!(
        "{compiler} {}: measured {:+.1} % of bare, corrected {:+.1} %, ± {:.1}, pairs ± {:.1}",
        arguments[0],
        100.0 * added,
        100.0 * middle,
        100.0 * error,
        100.0 * noise
    );
    if noise > 0.05 {
        return println!("SKIP: {compiler} {}: too busy a machine: bare runs differ by more", arguments[0]);
    }
    // Beside the stated error: half a percent for samples, which are not taken off, and the noise of pairs.
    let allowed = 2.0 * error + 3.0 * noise + 0.01;
    assert!(middle.abs() <= allowed, "{:.3} off, {allowed:.3} allowed: {off:.3?}", middle);
    assert!(error > 0.0, "a correction without an error");
}
