//! Programs that go from step to step: samples do not fall in step with them.

use std::path::Path;

use serde_json::Value;

use crate::chance::independent;
use crate::explained::Except;
use crate::pages::Amount;
use crate::programs::built;
use crate::recording::{list, number, record};

/// Periods in ms: the tick and twice that, the mean distance of samples and twice that, and between them.
const PERIODS: [&str; 6] = ["4", "8", "5", "3.35", "10", "20"];
/// Threads of each period, every one of which is an independent experiment.
const THREADS: &str = "10";

/// How far the share of one phase is from the truth, in standard errors of the true share.
fn pull(found: &[(f64, f64)], costs: &[f64], phase: usize) -> f64 {
    let truth = costs[phase] / costs.iter().sum::<f64>();
    (found[phase].0 - truth) / (truth * (1.0 - truth) / independent(found)).sqrt()
}

/// One pull of each thread of a run of `phases`, with its period: of one phase, since those of one thread are
/// not independent. `threads`: of each period, and how often they read.
fn pulls(program: &Path, seconds: &str, threads: &str, periods: &[&str]) -> Vec<(f64, f64)> {
    let arguments: Vec<&str> = [seconds, threads].into_iter().chain(periods.iter().copied()).collect();
    let run = record(program, &arguments).succeeded();
    let truth = run.truth();
    let mut pulls = Vec::new();
    for (at, thread) in list(&truth, "/threads").iter().enumerate() {
        let costs: Vec<f64> = list(thread, "/cost_s").iter().filter_map(Value::as_f64).collect();
        let flat = run.flat_of_thread(number(thread, "/tid") as u64);
        let found: Vec<_> = (0..costs.len()).map(|phase| flat.cpu(&format!("phase_{phase}"))).collect();
        let total: f64 = found.iter().map(|amount| amount.inclusive).sum();
        let share = |amount: &Amount| (amount.inclusive / total, amount.inclusive_error / total);
        let found: Vec<_> = found.iter().map(share).collect();
        pulls.push((number(thread, "/period_ms"), pull(&found, &costs, at % costs.len())));
    }
    pulls
}

/// Mean, standard deviation and the largest of pulls.
fn spread(pulls: &[f64]) -> (f64, f64, f64) {
    let n = pulls.len() as f64;
    let mean = pulls.iter().sum::<f64>() / n;
    let squares: f64 = pulls.iter().map(|pull| (pull - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt(), pulls.iter().fold(0.0, |most, pull| most.max(pull.abs())))
}

#[test]
fn phases_of_any_period_show_their_true_shares() {
    let Some(program) = built("phases") else { return };
    let pulls: Vec<f64> =
        pulls(&program, "0.5", THREADS, &PERIODS).into_iter().map(|(_, pull)| pull).collect();
    let (mean, deviation, most) = spread(&pulls);
    println!("{} pulls: mean {mean:.3}, deviation {deviation:.3}, largest {most:.2}", pulls.len());
    // What a right sampler exceeds less than once in a thousand, of 60 pulls; one in step with the periods
    // has a deviation of 2 to 7.
    assert!(mean.abs() <= 0.43 && deviation <= 1.30 && most <= 4.4, "{pulls:.2?}");
}

/// A read from `/dev/null` takes less than a microsecond, and comes every 400. Its hook disarms the timer for
/// the next sample, and arms it again.
#[test]
fn calls_between_samples_neither_attract_them_nor_hide_phases() {
    let Some(program) = built("phases") else { return };
    let pulls: Vec<f64> =
        pulls(&program, "0.5", "5:400", &PERIODS).into_iter().map(|(_, pull)| pull).collect();
    let (mean, deviation, most) = spread(&pulls);
    println!("{} pulls: mean {mean:.3}, deviation {deviation:.3}, largest {most:.2}", pulls.len());
    assert!(mean.abs() <= 0.6 && deviation <= 1.45 && most <= 4.4, "{pulls:.2?}");

    let run = record(&program, &["2", "2:400", "5"]).succeeded();
    let flat = run.flat();
    let reads = flat.cpu("read_if_due").inclusive;
    let all: f64 = (0..5).map(|phase| flat.cpu(&format!("phase_{phase}")).inclusive).sum();
    println!("reads have {:.2} % of {all:.3} s", 100.0 * reads / all);
    // Disarming and arming are part of it.
    assert!(reads < 0.06 * all, "{reads} s of {all} s");
}

/// Periods in ms from 0.5 to 100: multiples of the tick and of the mean distance, and values between them.
const ALL_PERIODS: [&str; 16] =
    ["0.5", "1", "1.7", "2", "3.35", "4", "5", "5.9", "8", "10", "13.7", "20", "27.3", "40", "63", "100"];
/// Runs in which so many threads of each period are sampled. A run has to end in time on a busy machine, too.
const RUNS: usize = 22;
const THREADS_A_RUN: &str = "3";

/// Takes minutes of both processors: for the nightly checks, which ask for it by name.
#[test]
#[ignore = "takes minutes of two processors"]
fn a_thousand_pulls_of_all_periods() {
    let Some(program) = built("phases") else { return };
    let found: Vec<(f64, f64)> =
        (0..RUNS).flat_map(|_| pulls(&program, "0.6", THREADS_A_RUN, &ALL_PERIODS)).collect();
    println!("| period, ms | pulls | mean | standard deviation | largest |\n|---|---|---|---|---|");
    let row = |name: &str, pulls: &[f64]| {
        let (mean, deviation, most) = spread(pulls);
        println!("| {name} | {} | {mean:.2} | {deviation:.2} | {most:.2} |", pulls.len());
        (mean, deviation, most)
    };
    for period in ALL_PERIODS {
        let of_period = found.iter().filter(|(of, _)| Some(*of) == period.parse().ok());
        let of_period: Vec<f64> = of_period.map(|(_, pull)| *pull).collect();
        row(period, &of_period);
    }
    let all: Vec<f64> = found.iter().map(|(_, pull)| *pull).collect();
    let (mean, deviation, most) = row("all", &all);
    assert!(all.len() >= 1000, "{} pulls", all.len());
    assert!(mean.abs() <= 0.1 && deviation <= 1.1 && most < 4.8, "{mean} ± {deviation}, largest {most}");
}

#[test]
fn waits_that_no_hook_sees_are_not_interrupted() {
    let Some(program) = built("raw_waits") else { return };
    // Often; rarely after a while in which nothing speaks against it; so rarely that each may be the first;
    // and at a ring so often that many samples fall into the kernel's part of the call.
    let often = ["1.5", "500", "0", "1000"];
    let rarely = ["20000", "70000"].map(|busy_us| ["2.5", busy_us, "60", "1000"]);
    for arguments in [often, rarely[0], rarely[1], ["1.5", "20", "0", "20"]] {
        let run = record(&program, &arguments).succeeded();
        run.except(Except::OwnCalls);
        let truth = run.truth();
        assert!(list(&truth, "/kinds").len() >= 3, "{truth}");
        for kind in list(&truth, "/kinds") {
            assert!(number(kind, "/calls") > 0.0, "{truth}");
            assert_eq!(number(kind, "/interrupted"), 0.0, "{arguments:?}: {truth}");
            assert_eq!(number(kind, "/too_short"), 0.0, "{arguments:?}: {truth}");
        }
    }
}
