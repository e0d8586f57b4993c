use super::*;
use crate::openmp::draws;

/// Chance that is the same in each run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.next()).ln()
    }
}

/// A thread's history: for each visit the work before it, and the wait in it, ns.
type Visits = Vec<(u64, u64)>;

/// The estimates of the waits that were not measured and of the work, all of them measured ones included, and
/// the variance.
struct Outcome {
    wait_ns: u64,
    work_ns: u64,
    variance_ns2: f64,
}

/// Goes through the visits as a thread does that draws at `level`, and settles every `every` visits.
fn estimate(visits: &Visits, level: u32, seed: u64, every: usize) -> Outcome {
    let mut tallies = [Tally::default(); 1];
    let (mut outcome, mut gap_ns, mut undrawn, mut in_gap) =
        (Outcome { wait_ns: 0, work_ns: 0, variance_ns2: 0.0 }, 0, 0, false);
    let mut next = draws::next(seed, 0, level);
    for (number, &(work_ns, wait_ns)) in visits.iter().enumerate() {
        let (weight, drawn) = (1 << level, number as u64 == next);
        if drawn {
            if in_gap {
                gap_ns += work_ns;
                tallies[0].segment_was_not_measured();
            } else {
                tallies[0].worked(work_ns, weight);
                outcome.work_ns += work_ns;
            }
            outcome.variance_ns2 += tallies[0].waited(wait_ns, weight);
            outcome.wait_ns += wait_ns;
            next = draws::next(seed, next + 1, level);
        } else {
            if in_gap {
                gap_ns += work_ns;
            } else {
                tallies[0].worked(work_ns, weight);
                tallies[0].segment_was_measured();
                outcome.work_ns += work_ns;
            }
            gap_ns += wait_ns;
            undrawn += 1;
        }
        in_gap = !drawn;
        if undrawn > 0 && (number % every == 0 || number + 1 == visits.len()) {
            let [settled] = settle(core::mem::take(&mut gap_ns), &[undrawn], &mut tallies);
            outcome.wait_ns += settled.wait_ns;
            outcome.work_ns += settled.work_ns;
            undrawn = 0;
        }
    }
    outcome
}

fn sums(visits: &Visits) -> (u64, u64) {
    visits.iter().fold((0, 0), |(work, wait), visit| (work + visit.0, wait + visit.1))
}

/// How often the truth lies within two standard errors of the estimate, and the mean of what the estimates
/// are off by, in parts of the truth.
fn coverage(make: impl Fn(&mut Chance) -> Visits, level: u32) -> (f64, f64) {
    let (rounds, mut covered, mut off) = (400, 0, 0.0);
    for round in 0..rounds {
        let visits = make(&mut Chance(round * 77 + 5));
        let (work_ns, wait_ns) = sums(&visits);
        let outcome = estimate(&visits, level, draws::seed(0x7f00_0000_1000, 1_000 + round), 1_000);
        assert_eq!(outcome.wait_ns + outcome.work_ns, work_ns + wait_ns, "the account does not close");
        let difference = outcome.wait_ns as f64 - wait_ns as f64;
        covered += u32::from(difference.abs() <= 2.0 * outcome.variance_ns2.sqrt());
        off += difference / wait_ns as f64;
    }
    (f64::from(covered) / rounds as f64, off / rounds as f64)
}

#[test]
fn the_error_that_is_said_is_the_one_that_is_made() {
    let even = |chance: &mut Chance| -> Visits {
        let visit = |_| (400 + (chance.next() * 200.0) as u64, chance.exponential(300.0) as u64);
        (0..20_000).map(visit).collect()
    };
    for level in [1, 4, 7] {
        let (covered, off) = coverage(even, level);
        assert!(covered > 0.92, "level {level}: {covered}");
        assert!(off.abs() < 0.005, "level {level}: {off}");
    }
}

/// A hundredth of the instances are long: most are not drawn, and yet they are not lost.
#[test]
fn rare_long_waits_are_estimated_without_bias() {
    let uneven = |chance: &mut Chance| -> Visits {
        let visit = |_| {
            let is_long = chance.next() < 0.01;
            (500, if is_long { 20_000 } else { 100 + (chance.next() * 50.0) as u64 })
        };
        (0..50_000).map(visit).collect()
    };
    let (covered, off) = coverage(uneven, 4);
    assert!(covered > 0.85, "{covered}");
    assert!(off.abs() < 0.03, "{off}");
}

/// A program whose loop has a period: the third of its barriers is the one that threads wait at.
#[test]
fn periods_of_the_program_do_not_matter() {
    for period in [2, 3, 8, 16, 32] {
        let periodic = |chance: &mut Chance| -> Visits {
            let visit = |number: usize| {
                (300, if number % period == 1 { 3_000 } else { 50 } + (chance.next() * 20.0) as u64)
            };
            (0..30_000).map(visit).collect()
        };
        let (covered, off) = coverage(periodic, 4);
        assert!(covered > 0.9 && off.abs() < 0.01, "period {period}: {covered} {off}");
    }
}

#[test]
fn a_wait_is_never_longer_than_the_time_that_passed() {
    let mut tallies = [Tally::default(); 3];
    tallies[0].waited(5_000_000, 128);
    tallies[1].waited(100, 16);
    tallies[1].worked(200, 16);
    let settled = settle(1_000_000, &[127, 15, 0], &mut tallies);
    assert_eq!(settled.iter().map(|one| one.wait_ns + one.work_ns).sum::<u64>(), 1_000_000);
    // The waits that the long one represents are found in later gaps, but not for ever.
    let mut later_ns = 0;
    for _ in 0..10_000 {
        let settled = settle(1_000_000, &[127, 15, 0], &mut tallies);
        assert_eq!(settled.iter().map(|one| one.wait_ns + one.work_ns).sum::<u64>(), 1_000_000);
        later_ns += settled[0].wait_ns;
        tallies[0].waited(100, 128);
    }
    assert!((600_000_000..1_000_000_000).contains(&later_ns), "{later_ns}");
}

/// The waits that a long wait represents are not assigned to a site that was not visited since.
#[test]
fn no_wait_is_estimated_where_no_thread_was() {
    let mut tallies = [Tally::default(); 2];
    tallies[0].waited(1_000_000, 128);
    tallies[1].waited(100, 16);
    settle(1_000, &[127, 15], &mut tallies);
    let settled = settle(50_000, &[0, 15], &mut tallies);
    assert_eq!((settled[0].wait_ns, settled[1].wait_ns), (0, 3_000));
    assert!(settle(1_000, &[1, 0], &mut tallies)[0].wait_ns > 900);
}

#[test]
fn without_anything_drawn_all_is_work() {
    let mut tallies = [Tally::default(); 2];
    let settled = settle(900, &[1, 2], &mut tallies);
    assert_eq!(settled.map(|one| (one.wait_ns, one.work_ns)), [(0, 300), (0, 600)]);
}

#[test]
fn no_numbers_overflow() {
    let mut tallies = [Tally::default(); 2];
    for _ in 0..3 {
        let variance = tallies[0].waited(u64::MAX, 128);
        assert!(variance.is_finite());
        tallies[0].worked(u64::MAX, 128);
        tallies[1].waited(1, 1);
        let settled = settle(u64::MAX, &[u64::MAX, 3], &mut tallies);
        let sum: u128 = settled.iter().map(|one| u128::from(one.wait_ns) + u128::from(one.work_ns)).sum();
        assert_eq!(sum, u128::from(u64::MAX));
    }
}
