//! Programs that go from step to step: samples do not fall in step with them.

use serde_json::Value;

use crate::chance::independent;
use crate::explained::Except;
use crate::pages::Amount;
use crate::programs::built;
use crate::recording::{list, number, record};

/// Periods in ms: the tick and twice that, the mean distance of samples and twice that, and between them.
const PERIODS: [&str; 6] = ["4", "8", "5", "3.35", "10", "20"];
/// Threads of each period, every one of which is an independent experiment.
const THREADS: usize = 10;

/// How far the share of one phase is from the truth, in standard errors of the true share.
fn pull(found: &[(f64, f64)], costs: &[f64], phase: usize) -> f64 {
    let truth = costs[phase] / costs.iter().sum::<f64>();
    (found[phase].0 - truth) / (truth * (1.0 - truth) / independent(found)).sqrt()
}

#[test]
fn phases_of_any_period_show_their_true_shares() {
    let Some(program) = built("phases") else { return };
    let threads = THREADS.to_string();
    let arguments: Vec<&str> = ["0.25", &threads].into_iter().chain(PERIODS).collect();
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
        // One phase of each: those of one thread are not independent.
        pulls.push(pull(&found, &costs, at % costs.len()));
    }
    let n = pulls.len() as f64;
    let mean = pulls.iter().sum::<f64>() / n;
    let deviation = (pulls.iter().map(|pull| (pull - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let most = pulls.iter().fold(0.0_f64, |most, pull| most.max(pull.abs()));
    println!("{n} pulls: mean {mean:.3}, deviation {deviation:.3}, largest {most:.2}");
    // What a right sampler exceeds less than once in a thousand, of 60 pulls; one in step with the periods
    // has a deviation of 2 to 7.
    assert!(mean.abs() <= 0.43 && deviation <= 1.30 && most <= 4.4, "{pulls:.2?}");
}

#[test]
fn waits_that_no_hook_sees_are_not_interrupted() {
    let Some(program) = built("raw_waits") else { return };
    // Often; rarely after a while in which nothing speaks against it; and so rarely that each may be the
    // first.
    for arguments in [["1.5", "500", "0"], ["2.5", "20000", "60"], ["2.5", "70000", "60"]] {
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
