//! How far samples may be from the truth.
//!
//! A test that fails when a share is 3 σ off fails in one of 370 runs of a correct tool. The stories compare
//! all shares of a program at once by χ², with a limit that a correct tool exceeds less than once in 100 000
//! comparisons, and single shares with 5 σ (once in 1.7 million). A program's thousand samples still tell
//! 2:2:4:1 from any other simple ratio.

/// Distances between samples are drawn, so weights differ, which costs 20 %, and a busy host delays some:
/// this many independent samples are one recorded sample.
const INDEPENDENT: f64 = 0.75;

/// What a single share may be off, in standard deviations.
const SIGMAS: f64 = 5.0;

/// Normal deviate exceeded once in 100 000.
const DEVIATE: f64 = 4.27;

/// A share as reported, beside what the program measured.
pub struct Share {
    pub name: String,
    pub found: f64,
    pub truth: f64,
}

/// Fails unless one share is within five standard deviations of the truth.
pub fn assert_share(what: &str, found: f64, truth: f64, samples: f64) {
    let variance = (truth * (1.0 - truth)).max(1.0 / samples) / (samples * INDEPENDENT);
    let sigmas = (found - truth).abs() / variance.sqrt();
    assert!(
        sigmas <= SIGMAS,
        "{what}: reported share {found:.4}, true share {truth:.4}: {sigmas:.1} σ apart with {samples} samples"
    );
}

/// Fails unless all shares together are as near to the truth as chance allows. The shares sum to about 1.
pub fn assert_shares(what: &str, shares: &[Share], samples: f64) {
    let sum: f64 = shares.iter().map(|share| share.truth).sum();
    assert!((sum - 1.0).abs() < 0.02, "{what}: the true shares sum to {sum}");
    let chi_squared: f64 = shares
        .iter()
        .map(|share| (share.found - share.truth).powi(2) / share.truth * samples * INDEPENDENT)
        .sum();
    let limit = chi_squared_limit((shares.len() - 1) as f64);
    let table: String = shares
        .iter()
        .map(|one| format!("\n  {}: {:.4}, true {:.4}", one.name, one.found, one.truth))
        .collect();
    assert!(
        chi_squared <= limit,
        "{what}: χ² = {chi_squared:.1}, limit {limit:.1}, with {samples} samples: reported{table}"
    );
}

/// Wilson and Hilferty's approximation of the χ² distribution.
fn chi_squared_limit(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + DEVIATE * spread.sqrt()).powi(3)
}

/// Fails unless two amounts differ by at most `allowed`.
pub fn assert_close(what: &str, found: f64, truth: f64, allowed: f64) {
    assert!(
        (found - truth).abs() <= allowed,
        "{what}: {found:.6} found, {truth:.6} expected, {allowed:.6} allowed between them"
    );
}

/// How many samples of equal weight would have the errors of these shares, which sum to about 1. The stated
/// variance of a share p is s (1 − 2p) + p² S, where s sums up the squared weights of its own samples and S
/// those of all: with Σ s = S both follow from the stated errors.
pub fn independent(shares: &[(f64, f64)]) -> f64 {
    let over = |of: fn(f64, f64) -> f64| -> f64 {
        shares.iter().map(|&(share, error)| of(share, error) / (1.0 - 2.0 * share)).sum()
    };
    (1.0 + over(|share, _| share * share)) / over(|_, error| error * error)
}

/// Seconds of the kernel's tick: a CPU timer fires at most once in it.
pub fn tick() -> f64 {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live value.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut resolution) };
    resolution.tv_sec as f64 + 1e-9 * resolution.tv_nsec as f64
}

#[test]
fn the_limit_is_that_of_the_tables() {
    // χ² with 4 degrees of freedom exceeds 28.5 once in 100 000; the approximation is 4 % generous.
    assert_close("χ²", chi_squared_limit(4.0), 28.5, 1.3);
}

#[test]
#[should_panic(expected = "χ²")]
fn equal_shares_are_not_two_two_four_one() {
    let shares = [("a", 2.0), ("b", 2.0), ("c", 4.0), ("d", 1.0)].map(|(name, part)| Share {
        name: name.into(),
        found: 0.25,
        truth: part / 9.0,
    });
    assert_shares("equal", &shares, 600.0);
}
