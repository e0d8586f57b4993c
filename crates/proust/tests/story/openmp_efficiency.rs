//! The efficiencies of parallel regions are the ledger's, whatever the run was: seconds, factors and product.

use serde_json::Value;

use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// On every page and with all options that change the account.
fn assert_the_same(run: &Recorded, options: &[&str]) {
    let openmp: Value = run.page("openmp", options);
    let ledger: Value = run.page("ledger", options);
    let of = |field: &str| number(&openmp, &format!("/efficiencies/{field}"));
    let account = |id: &str| {
        let accounts = list(&ledger, "/ledger/accounts").iter();
        accounts.filter(|account| account["id"] == id).map(|account| number(account, "/seconds")).sum::<f64>()
    };
    let total_s = number(&ledger, "/ledger/total_s") - account("asleep") - account("paused");
    assert!((of("total_s") - total_s).abs() < 1e-6, "{options:?}: {openmp:#}");
    let parts =
        ["useful_s", "serialisation_s", "imbalance_s", "scheduling_s", "processors_s", "other_s"].map(of);
    assert!((parts.iter().sum::<f64>() - total_s).abs() < 1e-6, "{options:?}: {parts:?} of {total_s}");
    let factors = ["serialisation", "load_balance", "scheduling", "processors", "other"].map(of);
    let product: f64 = factors.iter().product();
    assert!((product - of("parallel")).abs() < 1e-9, "{options:?}: {factors:?}");
    assert!((of("parallel") - number(&ledger, "/ledger/efficiency")).abs() < 1e-9, "{options:?}: {openmp:#}");
    assert!((of("useful_s") - number(&ledger, "/ledger/productive_s")).abs() < 1e-6, "{options:?}");
    let queued_s = account("oversubscribed") + account("preempted");
    assert!((of("processors_s") - queued_s).abs() < 1e-6, "{options:?}: {openmp:#}");
    let serial_s: f64 = ["serial", "narrow", "lock", "replicated"].map(account).iter().sum();
    assert!((of("serialisation_s") - serial_s).abs() < 1e-6, "{options:?}: {openmp:#}");
}

#[test]
fn efficiencies_multiply_to_the_ledgers() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        let program = program.to_string_lossy().into_owned();
        // As many threads as processors, and more than any machine of ours has for it; beside another
        // process.
        for script in [
            "OMP_NUM_THREADS=2 \"$0\" imbalance 0.2",
            "OMP_NUM_THREADS=8 \"$0\" imbalance 0.2",
            "OMP_NUM_THREADS=4 \"$0\" imbalance 0.2 & \"$0\" many 0.1; wait",
        ] {
            let run = record("sh", &["-c", script, &program]).succeeded();
            for options in [&[][..], &["--io-as", "lost"], &["--processors", "1"], &["--processors", "3"]] {
                assert_the_same(&run, options);
            }
            let summary: Value = run.page("summary", &[]);
            let openmp: Value = run.page("openmp", &[]);
            let efficiency = number(&summary, "/ledger/efficiency");
            assert!((number(&openmp, "/efficiencies/parallel") - efficiency).abs() < 1e-9);
            // Regions are told by their threads, and by their sites: both sum to the same.
            for region in list(&openmp, "/regions") {
                for parts in ["/threads", "/sites"] {
                    for field in ["/work_s", "/lost_s"] {
                        let sum: f64 = list(region, parts).iter().map(|part| number(part, field)).sum();
                        assert!((sum - number(region, field)).abs() < 1e-6, "{parts}{field}: {region:#}");
                    }
                }
            }
        }
    }
}
