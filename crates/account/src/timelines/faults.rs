//! The cost of a page fault without I/O in a run.
//!
//! The kernel does not report the time that it spent in faults: only how many there were between two samples,
//! and the system time there. So the cost is fitted: system time = a share of the processor time + cost ×
//! faults, by least squares over all rows. A small page takes half a microsecond, on virtual machines
//! several, and a large one a hundred and more, most of it to clear it: no fixed cost fits them all.

use proust_profile::{Profile, SampleRow};

/// The cost of a fault where the run does not show it: servers and virtual machines of this decade need half
/// to one microsecond for a small page.
const USUAL_NS: f64 = 700.0;
/// Fitted costs outside of this are noise. A large page takes longest.
const POSSIBLE_NS: (f64, f64) = (100.0, 500_000.0);
/// Fewer faults are no basis for a fit.
const LEAST_FAULTS: u64 = 1_000;
/// The cost is fitted so often without a part of the rows, to find its error.
const PARTS: usize = 8;

/// The cost of a fault, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultCost {
    /// Nanoseconds.
    pub ns: f64,
    /// Its standard error, ns; None where it was not fitted, and the usual cost is used.
    pub error_ns: Option<f64>,
}

impl FaultCost {
    /// That of a run.
    pub fn of(profile: &Profile) -> FaultCost {
        let mut parts = [Sums::default(); PARTS];
        // Rows that stand for lost ones have no counts.
        for (n, row) in profile.samples.iter().filter(|row| row.cpu_ns > 0).enumerate() {
            parts[n % PARTS].add(&row);
        }
        let all = parts.iter().fold(Sums::default(), |sum, part| sum.plus(part, 1.0));
        let fitted = (all.count >= LEAST_FAULTS as f64).then(|| all.slope()).flatten();
        let Some(ns) = fitted.filter(|ns| (POSSIBLE_NS.0..=POSSIBLE_NS.1).contains(ns)) else {
            return FaultCost { ns: USUAL_NS, error_ns: None };
        };
        // The jackknife: how much it changes without a part.
        let without: Vec<f64> = parts.iter().filter_map(|part| all.plus(part, -1.0).slope()).collect();
        let mean = without.iter().sum::<f64>() / without.len().max(1) as f64;
        let squares: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
        let error_ns = ((PARTS as f64 - 1.0) / PARTS as f64 * squares).sqrt();
        // A cost that is not known to half of itself is not known.
        match without.len() == PARTS && error_ns <= ns / 2.0 {
            true => FaultCost { ns, error_ns: Some(error_ns) },
            false => FaultCost { ns: USUAL_NS, error_ns: None },
        }
    }

    /// Its upper bound in this run, ns.
    pub fn at_most_ns(&self) -> f64 {
        /// On a virtual machine, the page being cleared included.
        const SMALL_PAGE_NS: f64 = 10_000.0;
        self.error_ns.map_or(SMALL_PAGE_NS, |error_ns| self.ns + 3.0 * error_ns)
    }

    /// The time of so many faults, no more than this system time, ns.
    pub(super) fn of_faults_ns(&self, faults: u64, system_ns: u64) -> u64 {
        ((faults as f64 * self.ns) as u64).min(system_ns)
    }
}

/// The sums that a fit of two slopes needs. Each row counts by its processor time: a short one says as
/// little.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    cc: f64,
    cf: f64,
    ff: f64,
    cs: f64,
    fs: f64,
}

impl Sums {
    fn add(&mut self, row: &SampleRow) {
        let (cpu, faults, system) = (row.cpu_ns as f64, f64::from(row.minor_faults), row.system_ns as f64);
        let weight = 1.0 / cpu;
        self.count += faults;
        self.cc += weight * cpu * cpu;
        self.cf += weight * cpu * faults;
        self.ff += weight * faults * faults;
        self.cs += weight * cpu * system;
        self.fs += weight * faults * system;
    }

    fn plus(&self, other: &Sums, sign: f64) -> Sums {
        Sums {
            count: self.count + sign * other.count,
            cc: self.cc + sign * other.cc,
            cf: self.cf + sign * other.cf,
            ff: self.ff + sign * other.ff,
            cs: self.cs + sign * other.cs,
            fs: self.fs + sign * other.fs,
        }
    }

    /// System time by fault; None where faults and processor time always occurred together.
    fn slope(&self) -> Option<f64> {
        let determinant = self.cc * self.ff - self.cf * self.cf;
        let is_certain = determinant > 0.01 * self.cc * self.ff;
        is_certain.then(|| (self.cc * self.fs - self.cf * self.cs) / determinant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 5 ms, every fourth with faults of this cost, and 4 % of system time besides; the kernel counts
    /// system time in whole ticks of 4 ms.
    fn profile(cost_ns: u64, rows: u64) -> Profile {
        let mut owed_ns = 0;
        let samples = (0..rows).map(|n| {
            let faults = if n % 4 == 1 { 1 + (n * 37) % (4_000_000 / cost_ns.max(1)).max(2) } else { 0 };
            owed_ns += 200_000 + faults * cost_ns;
            let system_ns = owed_ns / 4_000_000 * 4_000_000;
            owed_ns -= system_ns;
            SampleRow { cpu_ns: 5_000_000, system_ns, minor_faults: faults as u32, ..SampleRow::default() }
        });
        Profile { samples: samples.collect(), ..Profile::default() }
    }

    #[test]
    fn the_cost_is_that_of_the_run() {
        for cost_ns in [300, 700, 5_000, 120_000] {
            let cost = FaultCost::of(&profile(cost_ns, 4000));
            let error_ns = cost.error_ns.unwrap_or_else(|| panic!("{cost_ns}: not fitted"));
            let off_ns = (cost.ns - cost_ns as f64).abs();
            assert!(off_ns <= (4.0 * error_ns).max(0.02 * cost_ns as f64), "{cost_ns}: {cost:?}");
            assert!(off_ns <= 0.2 * cost_ns as f64, "{cost_ns}: {cost:?}");
        }
    }

    #[test]
    fn where_the_run_does_not_tell_it_is_the_usual_one() {
        let usual = FaultCost { ns: USUAL_NS, error_ns: None };
        assert_eq!(FaultCost::of(&Profile::default()), usual);
        assert_eq!(FaultCost::of(&profile(700, 1)), usual);
        // Each row has as many: nothing distinguishes them from the kernel's other work.
        let row =
            SampleRow { cpu_ns: 5_000_000, system_ns: 1_000_000, minor_faults: 900, ..SampleRow::default() };
        assert_eq!(FaultCost::of(&Profile { samples: vec![row; 500].into(), ..Profile::default() }), usual);
    }
}
