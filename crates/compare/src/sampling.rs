//! How sure it is where seconds belong: amounts that are sampled, or shared out by samples, are as sure as
//! the samples.
//!
//! Waits and I/O are measured from begin to end, and long ones recorded each at its place. Short ones are in
//! sums, each of about a millisecond, which one caller stands for: they are a sample of callers.

use proust_profile::mpi_metrics::MPI_METRICS;
use proust_profile::{Metric, Ns};

use proust_account::ledger::Account;
use proust_query::Measure;

/// What the samples of a place say: its CPU time with its standard error, and its time in the run queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// CPU time.
    pub cpu: Ns,
    /// Its standard error.
    pub error: Ns,
    /// Time in the run queue, which belongs to the sample after it.
    pub queued: Ns,
    /// Standard error of what is asked for, as far as it consists of sums of short operations.
    pub short: Ns,
}

/// By which metric it is known how sure the place of an amount is, where it may consist of sums of short
/// operations.
pub fn squares_of(measure: Measure) -> Option<Metric> {
    match measure {
        Measure::Account(Account::Io) => Some(Metric::IoSquares),
        Measure::Account(Account::Barrier | Account::Lock | Account::MpiPartner | Account::MpiTransfer)
        | Measure::Passive(_)
        | Measure::OmpWait => Some(Metric::WaitSquares),
        _ => None,
    }
}

/// The standard error of short operations at a place, of sums with these squares, s², there and in all: each
/// sum is there or elsewhere.
pub fn error_of_short(squares: f64, all: f64) -> Ns {
    let share = if all > 0.0 { (squares / all).clamp(0.0, 1.0) } else { 0.0 };
    let variance = squares * (1.0 - share).powi(2) + (all - squares).max(0.0) * share.powi(2);
    Ns::from_seconds(variance.sqrt())
}

impl Sampled {
    /// The standard error of an amount of a measure at this place.
    pub fn error(&self, measure: Measure, amount: f64) -> f64 {
        match measure {
            Measure::Metric(Metric::Cpu) => self.error.as_seconds(),
            Measure::Metric(Metric::Waits | Metric::IoCalls | Metric::IoErrors) => 0.0,
            Measure::Metric(Metric::ReadBytes | Metric::WrittenBytes) => 0.0,
            // Each call of MPI is recorded.
            Measure::Metric(metric) if MPI_METRICS.contains(&metric) => 0.0,
            Measure::Metric(_) => self.in_proportion(amount),
            Measure::Passive(_) | Measure::OmpWait => self.short.as_seconds(),
            Measure::Account(
                Account::Io | Account::Barrier | Account::Lock | Account::MpiPartner | Account::MpiTransfer,
            ) => self.short.as_seconds(),
            Measure::Account(
                Account::Compute | Account::Unattributed | Account::Fault | Account::Replicated,
            )
            | Measure::OmpWork => self.error.as_seconds(),
            // Each sample brings the time with it that its thread queued before.
            Measure::Active | Measure::Wall | Measure::Lost | Measure::Master => {
                self.error.as_seconds().hypot(self.in_proportion(self.queued.as_seconds()))
            }
            Measure::Account(_) | Measure::Queued | Measure::Caused(_) | Measure::Empty => {
                self.in_proportion(amount)
            }
        }
    }

    /// What is shared out by samples is off as they are; without any, its place is not known.
    fn in_proportion(&self, amount: f64) -> f64 {
        if self.cpu.is_positive() { self.error / self.cpu * amount.abs() } else { amount.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_exact_and_what_is_shared_out_is_as_sure_as_samples() {
        let sampled = Sampled {
            cpu: Ns::from_seconds(2.0),
            error: Ns::from_seconds(0.1),
            queued: Ns::from_seconds(8.0),
            short: Ns::ZERO,
        };
        assert_eq!(sampled.error(Metric::Cpu.into(), 2.0), 0.1);
        assert_eq!(sampled.error(Measure::Account(Account::Lock), 5.0), 0.0);
        assert_eq!(sampled.error(Measure::Passive(None), 5.0), 0.0);
        assert_eq!(sampled.error(Metric::Waits.into(), 5.0), 0.0);
        assert_eq!(sampled.error(Measure::Queued, 8.0), 0.4);
        assert_eq!(sampled.error(Measure::Caused(None), 20.0), 1.0);
        assert!((sampled.error(Measure::Active, 10.0) - 0.1_f64.hypot(0.4)).abs() < 1e-12);
        assert_eq!(Sampled::default().error(Measure::Caused(None), 3.0), 3.0);
        assert_eq!(Sampled::default().error(Measure::Active, 3.0), 0.0);
    }

    /// A hundred sums of a millisecond each, half of them here: five milliseconds more or less.
    #[test]
    fn short_waits_are_as_sure_as_a_sample_of_callers() {
        let (half, all) = (50.0 * 1e-6, 100.0 * 1e-6);
        assert_eq!(error_of_short(half, all), Ns::new(5_000_000));
        assert_eq!(error_of_short(all, all), Ns::ZERO);
        assert_eq!(error_of_short(0.0, 0.0), Ns::ZERO);
        let sampled = Sampled { short: error_of_short(half, all), ..Sampled::default() };
        assert_eq!(sampled.error(Measure::Account(Account::Lock), 0.05), 0.005);
        assert_eq!(squares_of(Measure::Account(Account::Io)), Some(Metric::IoSquares));
        assert_eq!(squares_of(Measure::Account(Account::Compute)), None);
    }
}
