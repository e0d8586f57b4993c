//! When a difference is a change.

use super::change::correct;
use super::robust::Normals;
use super::{Change, Estimate, Matters, Method, Observation, Verdict, Why};

fn exact(values: &[f64]) -> Vec<Observation> {
    values.iter().map(|&value| Observation::exact(value)).collect()
}

fn change(a: &[Observation], b: &[Observation]) -> Change {
    Change::of(a, b, &Matters::of_total(10.0))
}

fn verdict(a: &[Observation], b: &[Observation]) -> (Verdict, Why) {
    let change = change(a, b);
    (change.verdict, change.why)
}

#[test]
fn intervals_are_those_of_the_textbook() {
    // Mean 3, standard deviation √2.5, t = 2.776 with four degrees of freedom.
    let estimate = Estimate::of(&exact(&[1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!((estimate.mean, estimate.median, estimate.min, estimate.max), (3.0, 3.0, 1.0, 5.0));
    let half = 2.776 * (2.5_f64 / 5.0).sqrt();
    assert!((estimate.low - (3.0 - half)).abs() < 1e-3 && (estimate.high - (3.0 + half)).abs() < 1e-3);
    assert_eq!(Estimate::of(&exact(&[1.0, 4.0])).median, 2.5);
    assert_eq!(Estimate::of(&[]), Estimate::default());
    assert_eq!(change(&[], &[]).verdict, Verdict::Same);
}

#[test]
fn clear_changes_are_called_so() {
    let (less, more) = ((Verdict::Less, Why::Significant), (Verdict::More, Why::Significant));
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[2.0])), less);
    assert_eq!(verdict(&exact(&[2.0, 2.1, 1.9]), &exact(&[8.0, 8.1, 7.9])), more);
    assert_eq!(verdict(&exact(&[0.0]), &exact(&[1.0])), more);
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[5.0])), (Verdict::Same, Why::Equal));
    assert_eq!(verdict(&exact(&[0.03]), &exact(&[0.01])), (Verdict::Same, Why::Small));
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[5.45])), (Verdict::Undecided, Why::Single));
}

#[test]
fn repetitions_say_what_chance_does() {
    let noisy = exact(&[2.0, 3.0, 4.0]);
    assert_eq!(verdict(&noisy, &exact(&[3.0, 4.0, 5.0])), (Verdict::Undecided, Why::Spread));
    // The same difference, known better: 8 % is a change only with repetitions.
    let (a, b) = (exact(&[5.0, 5.01, 4.99]), exact(&[5.4, 5.41, 5.39]));
    assert_eq!(verdict(&a, &b), (Verdict::More, Why::Significant));
    assert_eq!(verdict(&a[..1], &b[..1]), (Verdict::Undecided, Why::Single));
    // And 1 % is none, for certain.
    assert_eq!(verdict(&a, &exact(&[5.05, 5.06, 5.04])), (Verdict::Same, Why::Small));
}

#[test]
fn a_single_slow_run_does_not_hide_a_change_nor_make_one() {
    let a = exact(&[1.0, 1.01, 0.99, 1.005, 0.995]);
    assert_eq!(verdict(&a, &exact(&[1.5, 1.51, 1.49, 1.505, 4.0])), (Verdict::More, Why::Significant));
    assert_eq!(verdict(&a, &exact(&[1.0, 1.01, 0.99, 1.005, 4.0])).0, Verdict::Same);
    // The median is smaller, the mean larger: it cannot be said to be more or less.
    let two_ways = change(&exact(&[1.0, 1.0, 1.0, 1.0, 1.0]), &exact(&[0.9, 0.9, 0.9, 2.0, 2.0]));
    assert!(two_ways.difference < 0.0 && two_ways.delta > 0.0 && !two_ways.verdict.is_change());
}

#[test]
fn two_repetitions_are_better_than_one() {
    // Standard error √2 · 0.01, two degrees of freedom: from 0.14 on chance makes it once in a hundred times.
    let (a, b) = (exact(&[0.99, 1.01]), |more: f64| exact(&[0.99 + more, 1.01 + more]));
    let at = |more: f64| Change::of(&a, &b(more), &Matters::of_total(1.0)).why;
    assert_eq!((at(0.12), at(0.17)), (Why::Spread, Why::Significant));
    // A single run may be off as much as a repetition is.
    let of_one = |more: f64| Change::of(&a, &exact(&[1.0 + more]), &Matters::of_total(1.0)).why;
    assert_eq!((of_one(0.9), of_one(9.0)), (Why::Spread, Why::Significant));
    assert!(!change(&a, &b(0.5)).is_certain && change(&exact(&[1.0; 3]), &exact(&[2.0; 3])).is_certain);
}

#[test]
fn few_samples_say_little() {
    let (few, many) = (Observation::sampled(1.0, 0.3), Observation::sampled(1.0, 0.01));
    let less = Observation::sampled(0.5, 0.01);
    assert_eq!(verdict(&[few], &[less]), (Verdict::Undecided, Why::Samples));
    assert_eq!(verdict(&[many], &[less]), (Verdict::Less, Why::Significant));
    // Repetitions that happen to be alike do not make samples say more, nor less.
    assert_eq!(verdict(&[few, few], &[less, less]), (Verdict::Undecided, Why::Samples));
    assert_eq!(verdict(&[few; 3], &[less; 3]), (Verdict::Undecided, Why::Samples));
    assert_eq!(verdict(&[many; 3], &[less; 3]), (Verdict::Less, Why::Significant));
}

#[test]
fn a_busy_machine_is_allowed_for_where_runs_do_not_show_it() {
    // Of 3 s at most 1 s is due to others.
    let busy = |value| Observation { disturbed: 1.0, ..Observation::exact(value) };
    assert_eq!(verdict(&exact(&[2.0]), &[busy(3.0)]), (Verdict::Undecided, Why::Disturbed));
    assert_eq!(verdict(&exact(&[1.0]), &[busy(3.0)]), (Verdict::More, Why::Significant));
    // Three runs of each side show how much they differ by it.
    let (a, b) = (exact(&[2.0, 2.01, 2.02]), [busy(3.0), busy(3.01), busy(3.02)]);
    assert_eq!(verdict(&a, &b), (Verdict::More, Why::Significant));
    assert!(change(&a, &b).is_disturbed(&Matters::of_total(10.0)));
}

#[test]
fn what_is_undecided_says_how_many_more_runs_would_tell() {
    // 0.1 apart with a standard deviation of 0.062: t(0.995) + t(0.8) are 2.845 + 0.860 with 20 degrees of
    // freedom, times 0.062 · √(2/11) are 0.098; with ten runs 0.104.
    let a = exact(&[0.94, 1.0, 1.06]);
    let undecided = change(&a, &exact(&[1.04, 1.1, 1.16]));
    assert_eq!((undecided.verdict, undecided.more_runs), (Verdict::Undecided, Some(8)));
    assert_eq!(change(&exact(&[1.0]), &exact(&[1.08])).more_runs, Some(2));
    assert_eq!(change(&exact(&[0.5, 1.0, 2.0]), &exact(&[0.6, 1.1, 2.1])).more_runs, None);
    assert_eq!(change(&exact(&[1.0; 3]), &exact(&[2.0; 3])).more_runs, None);
}

#[test]
fn many_places_are_corrected_for() {
    // Of 100 places that did not change, five look so to a test of 5 %.
    let mut normals = Normals::new(7);
    let mut side = |mean: f64| -> Vec<Observation> {
        (0..5).map(|_| Observation::exact(mean * (1.0 + 0.05 * normals.next()))).collect()
    };
    let matters = Matters { absolute: 0.01, relative: 0.0, single: 0.1 };
    let mut changes: Vec<Change> = (0..100).map(|_| Change::of(&side(1.0), &side(1.0), &matters)).collect();
    changes.extend((0..5).map(|_| Change::of(&side(1.0), &side(4.0), &matters)));
    // Too small to be counted as places.
    changes.extend((0..1000).map(|_| Change::of(&side(0.001), &side(0.001), &matters)));
    let called = |changes: &[Change]| changes.iter().filter(|change| change.verdict.is_change()).count();
    assert!(called(&changes[..100]) >= 2, "{}", called(&changes[..100]));
    correct(&mut changes, &matters);
    assert!(called(&changes[..100]) <= 1);
    assert_eq!(called(&changes[100..105]), 5);
    assert!(changes[100..105].iter().all(|change| change.is_certain));
    let places = changes[..100].iter().filter(|change| change.why == Why::Places);
    assert!(places.clone().count() >= 1 && places.clone().all(|change| change.more_runs == Some(1)));
}

/// The rates of the table in [`robust`](super::robust), by the rule itself: seeded, within four standard
/// errors.
#[test]
fn chance_is_called_a_change_as_often_as_the_table_says() {
    const TRIALS: usize = 4000;
    let mut normals = Normals::new(42);
    let mut run = |mean: f64| {
        let slowed = if normals.uniform() < 0.1 { 1.05 + 0.45 * normals.uniform() } else { 1.0 };
        Observation::exact(mean * (1.0 + 0.02 * normals.next()) * slowed)
    };
    let all = Matters { absolute: 0.0, relative: 0.0, single: 0.1 };
    // Repetitions, how much more, and the part of comparisons that call it a change.
    for (n, factor, expected) in [
        (3, 1.0, 0.064),
        (3, 1.1, 0.52),
        (5, 1.0, 0.039),
        (10, 1.0, 0.037),
        (5, 1.05, 0.54),
        (5, 1.1, 0.92),
        (10, 1.05, 0.91),
    ] {
        let called = (0..TRIALS).filter(|_| {
            let a: Vec<Observation> = (0..n).map(|_| run(1.0)).collect();
            let b: Vec<Observation> = (0..n).map(|_| run(factor)).collect();
            let change = Change::of(&a, &b, &all);
            assert_eq!(change.method, Method::Medians);
            // The table does not ask whether means and medians agree.
            change.difference.abs() > change.half
        });
        let found = called.count() as f64 / TRIALS as f64;
        let error = (expected * (1.0 - expected) / TRIALS as f64).sqrt();
        assert!((found - expected).abs() < 4.0 * error + 0.01, "{n}, {factor}: {found}, {expected}");
    }
}
