//! What is noise.

use crate::compare::{Change, Estimate, Matters, Observation, Verdict, Why};

fn exact(values: &[f64]) -> Vec<Observation> {
    values.iter().map(|&value| Observation::exact(value)).collect()
}

fn verdict(a: &[Observation], b: &[Observation]) -> (Verdict, Why) {
    let change = Change::of(a, b, &Matters::of_total(10.0));
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
}

#[test]
fn clear_changes_are_told_from_noise() {
    let (less, more) = ((Verdict::Less, Why::Significant), (Verdict::More, Why::Significant));
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[2.0])), less);
    assert_eq!(verdict(&exact(&[2.0, 2.1, 1.9]), &exact(&[5.0, 5.1, 4.9])), more);
    assert_eq!(verdict(&exact(&[0.0]), &exact(&[1.0])), more);
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[5.0])), (Verdict::Noise, Why::Equal));
    assert_eq!(verdict(&exact(&[0.03]), &exact(&[0.01])), (Verdict::Noise, Why::Small));
    assert_eq!(verdict(&exact(&[5.0]), &exact(&[5.45])), (Verdict::Noise, Why::Single));
}

#[test]
fn repetitions_say_what_chance_does() {
    let noisy = exact(&[2.0, 3.0, 4.0]);
    assert_eq!(verdict(&noisy, &exact(&[3.0, 4.0, 5.0])), (Verdict::Noise, Why::Spread));
    // The same difference, known better: 7 % of it is allowed to be significant only with repetitions.
    let (a, b) = (exact(&[5.0, 5.01, 4.99]), exact(&[5.4, 5.41, 5.39]));
    assert_eq!(verdict(&a, &b), (Verdict::More, Why::Significant));
    assert_eq!(verdict(&a[..1], &b[..1]), (Verdict::Noise, Why::Single));
}

#[test]
fn two_repetitions_are_better_than_one() {
    // Standard error 0.01, two degrees of freedom: from 0.18 on it is no chance.
    let (a, b) = (exact(&[0.99, 1.01]), |more: f64| exact(&[0.99 + more, 1.01 + more]));
    let at = |more: f64| Change::of(&a, &b(more), &Matters::of_total(1.0)).why;
    assert_eq!((at(0.2), at(0.3)), (Why::Spread, Why::Significant));
    // A single run may be off as much as a repetition is.
    let of_one = |more: f64| Change::of(&a, &exact(&[1.0 + more]), &Matters::of_total(1.0)).why;
    assert_eq!((of_one(0.9), of_one(9.0)), (Why::Spread, Why::Significant));
}

#[test]
fn few_samples_say_little() {
    let (few, many) = (Observation::sampled(1.0, 0.3), Observation::sampled(1.0, 0.01));
    let less = Observation::sampled(0.5, 0.01);
    assert_eq!(verdict(&[few], &[less]), (Verdict::Noise, Why::Samples));
    assert_eq!(verdict(&[many], &[less]), (Verdict::Less, Why::Significant));
    // Two repetitions that happen to be alike do not make samples say more, nor less.
    assert_eq!(verdict(&[few, few], &[less, less]), (Verdict::Noise, Why::Samples));
    assert_eq!(verdict(&[many, many], &[less, less]), (Verdict::Less, Why::Significant));
}

#[test]
fn a_busy_machine_is_allowed_for() {
    // Of 3 s at most 1 s came from others.
    let busy = Observation { disturbed: 1.0, ..Observation::exact(3.0) };
    assert_eq!(verdict(&exact(&[2.0]), &[busy]), (Verdict::Noise, Why::Disturbed));
    assert_eq!(verdict(&exact(&[1.0]), &[busy]), (Verdict::More, Why::Significant));
}
