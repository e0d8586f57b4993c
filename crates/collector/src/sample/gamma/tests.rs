//! The distances against the closed form of their distribution, and what is estimated from samples at such
//! distances against the truth.

use super::*;

const DRAWS: usize = 200_000;
const MEAN_NS: u64 = 5_000_000;

/// P(X ≤ x) of a gamma distribution of this shape whose scale is a quarter of 1, by the closed form.
fn below(shape: u32, x: f64) -> f64 {
    let x = x * f64::from(SHAPE);
    let mut term = 1.0;
    let mut sum = 0.0;
    for n in 0..shape {
        sum += term;
        term *= x / f64::from(n + 1);
    }
    1.0 - (-x).exp() * sum
}

/// The largest difference between how many of `sorted` are below a value, and how many should be.
fn largest_difference(sorted: &[f64], probability: impl Fn(f64) -> f64) -> f64 {
    let n = sorted.len() as f64;
    let differences = sorted.iter().enumerate().map(|(at, &value)| {
        let expected = probability(value);
        (expected - at as f64 / n).abs().max((expected - (at + 1) as f64 / n).abs())
    });
    differences.fold(0.0, f64::max)
}

fn drawn(mut draw: impl FnMut(&mut Random) -> u64) -> Vec<f64> {
    let mut random = Random(7);
    let mut values: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random) as f64 / MEAN_NS as f64).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn distances_are_gamma_distributed() {
    let values = drawn(|random| random.distance_ns(MEAN_NS));
    let shortest = values.partition_point(|&value| value <= SHORTEST);
    let floor = below(SHAPE, SHORTEST);
    assert!((shortest as f64 / DRAWS as f64 - floor).abs() < 0.002, "{shortest} at the floor, {floor}");
    // Kolmogorov and Smirnov: 1.95 / √n is exceeded once in a thousand; straight lines for curves, and the
    // cut of the last 256th, are far below that.
    let difference = largest_difference(&values[shortest..], |x| (below(SHAPE, x) - floor) / (1.0 - floor));
    assert!(difference < 1.95 / (values.len() as f64).sqrt() + 1e-3, "{difference}");
    let mean = values.iter().sum::<f64>() / DRAWS as f64;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    assert!((mean - 1.0).abs() < 0.005, "mean {mean}");
    assert!((square - 0.25).abs() < 0.01, "variance {square}");
}

#[test]
fn the_first_one_is_what_is_left_of_a_distance() {
    let values = drawn(|random| random.first_ns(MEAN_NS));
    // The density is P(X > x) over the mean: its integral in closed form is Σ P(Xₖ ≤ x) / 4, k = 1 to 4.
    let expected = |x: f64| (1..=SHAPE).map(|shape| below(shape, x)).sum::<f64>() / f64::from(SHAPE);
    let difference = largest_difference(&values, expected);
    assert!(difference < 1.95 / (DRAWS as f64).sqrt() + 1e-3, "{difference}");
}

#[test]
fn numbers_of_two_threads_have_nothing_in_common() {
    let (mut one, mut other) = (Random(1), Random(2));
    let mut bits = 0;
    for _ in 0..1000 {
        bits += (one.take() ^ other.take()).count_ones();
    }
    assert!((31_000..33_000).contains(&bits), "{bits}");
}

/// How the pulls of a run's share are distributed, where a program repeats `phases` of equal cost with a
/// period of `period` mean distances: each run is one pull, of its first phase.
fn pulls(period: f64, runs: usize, random: &mut Random, distance: impl Fn(&mut Random) -> f64) -> Vec<f64> {
    const PHASES: f64 = 5.0;
    const TRUE: f64 = 1.0 / PHASES;
    (0..runs)
        .map(|_| {
            let length = 120.0;
            let offset = random.take() as f64 / u64::MAX as f64 * period;
            let mut at = random.first_ns(MEAN_NS) as f64 / MEAN_NS as f64;
            let (mut last, mut weight, mut all, mut squares) = (0.0, 0.0, 0.0, 0.0);
            while at < length {
                let of = at - last;
                let phase = ((at + offset) % period) / period * PHASES;
                weight += if phase < 1.0 { of } else { 0.0 };
                all += of;
                squares += of * of;
                last = at;
                at += distance(random);
            }
            (weight / all - TRUE) * all / (TRUE * (1.0 - TRUE) * squares).sqrt()
        })
        .collect()
}

fn spread(pulls: &[f64]) -> (f64, f64, f64) {
    let n = pulls.len() as f64;
    let mean = pulls.iter().sum::<f64>() / n;
    let square = pulls.iter().map(|pull| (pull - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, square.sqrt(), pulls.iter().fold(0.0, |most, pull| most.max(pull.abs())))
}

/// Mean distances: 0.1 to 20 are 0.5 to 100 ms at the usual rate, 0.8 is the tick of 4 ms; values in between
/// are in step with nothing.
const PERIODS: [f64; 18] =
    [0.1, 0.16, 0.2, 0.4, 0.5, 0.67, 0.8, 0.93, 1.0, 1.18, 1.6, 2.0, 2.7, 4.0, 5.3, 8.0, 13.1, 20.0];

#[test]
fn no_period_makes_a_share_further_off_than_its_error_says() {
    let mut random = Random(11);
    for period in PERIODS {
        let pulls =
            pulls(period, 1500, &mut random, |random| random.distance_ns(MEAN_NS) as f64 / MEAN_NS as f64);
        let (mean, deviation, most) = spread(&pulls);
        assert!(
            mean.abs() < 0.1 && deviation < 1.1 && most < 4.8,
            "period {period}: mean {mean:.3}, deviation {deviation:.3}, most {most:.2}"
        );
    }
}

#[test]
fn regular_and_uniform_distances_would_be_found_out() {
    let mut random = Random(13);
    let (_, of_regular, _) = spread(&pulls(1.0, 300, &mut random, |_| 1.0));
    assert!(of_regular > 5.0, "{of_regular}");
    let uniform = |random: &mut Random| 0.9 + 0.2 * (random.take() as f64 / u64::MAX as f64);
    let (_, of_uniform, _) = spread(&pulls(1.0, 300, &mut random, uniform));
    assert!(of_uniform > 2.0, "{of_uniform}");
}
