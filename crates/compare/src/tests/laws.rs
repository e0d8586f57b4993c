//! What holds for any two runs.

use proptest::prelude::*;
use proust_profile::{Metric, Ns};

use super::{outline, profile_from};
use crate::{Joint, Outline};
use proust_statistics::{Change, Matters, Observation, Verdict};

/// A tree with calls of a few functions from a few lines, so that siblings are often alike.
fn paths() -> impl Strategy<Value = Vec<(String, f64)>> {
    let step =
        (0_usize..4, 1_u32..9).prop_map(|(name, line)| format!("{}@{line}", ["f", "g", "h", "k"][name]));
    let path =
        (proptest::collection::vec(step, 1..5), proptest::option::of(1_u32..9)).prop_map(|(steps, line)| {
            let line = line.map(|line| format!(" :{line}")).unwrap_or_default();
            format!("main {}{line}", steps.join(" "))
        });
    proptest::collection::vec((path, 1_u32..100), 1..30)
        .prop_map(|paths| paths.into_iter().map(|(path, n)| (path, f64::from(n) / 4.0)).collect())
}

fn outline_of(build: &str, begin: u32, paths: &[(String, f64)]) -> Outline {
    let paths: Vec<(&str, f64)> = paths.iter().map(|(path, seconds)| (path.as_str(), *seconds)).collect();
    outline(&profile_from(build, begin, &paths))
}

fn observations() -> impl Strategy<Value = Vec<Observation>> {
    let one = (0.0..10.0, 0.0..1.0, 0.0..0.5).prop_map(|(value, error, disturbed)| Observation {
        value,
        error,
        disturbed,
    });
    proptest::collection::vec(one, 1..7)
}

proptest! {
    #[test]
    fn a_run_and_itself_do_not_differ(paths in paths()) {
        for build in ["", "b"] {
            let run = outline_of(build, 0, &paths);
            let joint = Joint::of([&run, &run]);
            prop_assert_eq!(joint.len(), run.len());
            prop_assert_eq!(joint.own(0, Metric::Cpu), joint.own(1, Metric::Cpu));
        }
    }

    #[test]
    fn a_run_whose_lines_all_moved_does_not_differ(paths in paths(), begin in 1_u32..1000) {
        let (a, b) = (outline_of("a", 0, &paths), outline_of("b", begin, &paths));
        let joint = Joint::of([&a, &b]);
        prop_assert_eq!(joint.len(), a.len());
        prop_assert_eq!(joint.own(0, Metric::Cpu), joint.own(1, Metric::Cpu));
    }

    #[test]
    fn deltas_sum_up_and_nothing_is_lost(a in paths(), b in paths(), builds in 0_usize..3) {
        let builds = [("", ""), ("a", "a"), ("a", "b")][builds];
        let (a, b) = (outline_of(builds.0, 0, &a), outline_of(builds.1, 3, &b));
        let joint = Joint::of([&a, &b]);
        let sum = |run| Ns::of_sum(joint.own(run, Metric::Cpu).iter().sum()).as_seconds();
        prop_assert_eq!([sum(0), sum(1)], [a.total(Metric::Cpu), b.total(Metric::Cpu)]);
        let functions = joint.amounts_by_function(1, Metric::Cpu).exclusive.iter().sum::<f64>();
        prop_assert!((functions - b.total(Metric::Cpu)).abs() < 1e-9);
        // Each node of a run is one of the joint tree, below what its parent is.
        for (run, outline) in [&a, &b].into_iter().enumerate() {
            let mut seen = vec![false; outline.len()];
            for node in 0..joint.len() as u32 {
                let Some(in_run) = joint.node_in(node, run) else { continue };
                prop_assert!(!std::mem::replace(&mut seen[in_run as usize], true));
                let above = joint.parent(node).and_then(|above| joint.node_in(above, run));
                prop_assert_eq!(outline.parent(in_run), above);
            }
            prop_assert!(seen.into_iter().all(|seen| seen));
        }
    }

    #[test]
    fn within_one_build_the_order_of_runs_does_not_matter(a in paths(), b in paths()) {
        let (a, b) = (outline_of("a", 0, &a), outline_of("a", 0, &b));
        let (there, back) = (Joint::of([&a, &b]), Joint::of([&b, &a]));
        let pairs = |joint: &Joint<'_>, first, second| {
            let nodes = 0..joint.len() as u32;
            let mut pairs: Vec<_> =
                nodes.map(|n| (joint.node_in(n, first), joint.node_in(n, second))).collect();
            pairs.sort_unstable();
            pairs
        };
        prop_assert_eq!(pairs(&there, 0, 1), pairs(&back, 1, 0));
    }

    #[test]
    fn exchanging_the_sides_exchanges_more_and_less(a in observations(), b in observations()) {
        let matters = Matters::of_total(5.0);
        let (there, back) = (Change::of(&a, &b, &matters), Change::of(&b, &a, &matters));
        let expected = match there.verdict {
            Verdict::More => Verdict::Less,
            Verdict::Less => Verdict::More,
            other => other,
        };
        prop_assert_eq!(back.verdict, expected);
        prop_assert_eq!(back.why, there.why);
        prop_assert!((there.delta + back.delta).abs() < 1e-12);
    }

    #[test]
    fn the_same_amounts_do_not_differ(a in observations()) {
        prop_assert!(!Change::of(&a, &a, &Matters::of_total(0.0)).verdict.is_change());
    }
}
