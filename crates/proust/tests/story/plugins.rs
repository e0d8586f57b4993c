//! Libraries that come and go, even at one address.

use crate::chance::{Share, assert_shares};
use crate::programs::built;
use crate::recording::{number, record};

fn assert_plugins(variant: &str) {
    let Some(program) = built("plugins") else { return };
    let run = record(program, &["3", variant]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let functions = ["churn_a", "churn_b"];
    let true_total: f64 = functions.iter().map(|name| number(&truth, &format!("/functions/{name}"))).sum();
    let total: f64 = functions.iter().map(|name| flat.cpu(name).exclusive).sum();
    let shares: Vec<Share> = functions
        .iter()
        .map(|name| Share {
            name: name.to_string(),
            found: flat.cpu(name).exclusive / total,
            truth: number(&truth, &format!("/functions/{name}")) / true_total,
        })
        .collect();
    assert_shares(variant, &shares, flat.total("samples"));
    for (function, module) in [("churn_a", "libplugin_a.so"), ("churn_b", "libplugin_b.so")] {
        let row = flat.row(function);
        assert!(row.module.as_deref().is_some_and(|path| path.ends_with(module)), "{row:?}");
    }
    // A path never leads from one library into the other.
    let tree = run.tree();
    assert_eq!(tree.cpu_below("churn_a", "plugin_b_work"), 0.0);
    assert_eq!(tree.cpu_below("churn_b", "plugin_a_work"), 0.0);
    if variant == "reopen" {
        // Libraries are not kept loaded on purpose: the second lies where the first was, as without Proust.
        let (loads, same) = (number(&truth, "/loads"), number(&truth, "/same_address"));
        assert!(same >= 0.9 * (loads - 1.0), "{same} of {loads} loads at the address of the one before");
    }
    run.assert_trustworthy();
}

#[test]
fn two_libraries_at_one_address_are_not_mixed_up() {
    assert_plugins("reopen");
}

#[test]
fn libraries_that_stay_loaded() {
    assert_plugins("keep");
}

/// What the collector remembers of a library's words must not be read once it is gone.
#[test]
fn a_library_that_is_closed_past_the_hook_is_forgotten() {
    let names = ["unseen_unload", "libopenmp-library-gcc.so", "libplugin_a.so"];
    let [Some(program), Some(caller), Some(other)] = names.map(built) else { return };
    record(program, &[caller, other]).succeeded();
}
