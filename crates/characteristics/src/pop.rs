//! The efficiencies of the POP model beside those of the DVM system, and the identity that links them.
//!
//! With u(p) the useful time of a processor (CPU_time + I/O_time) and T the execution time:
//!
//! ```text
//! parallel efficiency      = mean u ÷ T = load balance × communication efficiency
//! load balance             = mean u ÷ max u
//! communication efficiency = max u ÷ T
//! DVM efficiency           = parallel efficiency − replicated work ÷ Total_time
//! ```
//!
//! In the DVM system all insufficient parallelism is replicated work. Time in which a sequential part runs
//! without a thread is insufficient parallelism, too, but it is useful in neither model, so that nothing is
//! to be subtracted for it.

use crate::terms::Processor;

/// The efficiencies of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pop {
    /// Mean useful time ÷ execution time; None of no time.
    pub parallel_efficiency: Option<f64>,
    /// Mean ÷ most useful time; None where nothing is useful.
    pub load_balance: Option<f64>,
    /// Most useful time ÷ execution time.
    pub communication_efficiency: Option<f64>,
    /// Replicated work ÷ total time: the parallel efficiency is by so much more than DVM's efficiency.
    pub replicated_share: Option<f64>,
}

impl Pop {
    /// Of an interval that takes so long.
    pub(crate) fn of(processors: &[Processor], execution_ns: u64) -> Pop {
        let useful = || processors.iter().map(Processor::useful_ns);
        let (sum_ns, max_ns) = (useful().sum::<u64>() as f64, useful().max().unwrap_or(0) as f64);
        let count = processors.len() as f64;
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        let total_ns = count * execution_ns as f64;
        let replicated = processors.iter().filter_map(Processor::replicated_ns).reduce(|a, b| a + b);
        Pop {
            parallel_efficiency: ratio(sum_ns, total_ns),
            load_balance: ratio(sum_ns, count * max_ns),
            communication_efficiency: ratio(max_ns, execution_ns as f64),
            replicated_share: replicated.and_then(|ns| ratio(ns as f64, total_ns)),
        }
    }

    /// DVM's efficiency by the identity.
    pub fn dvm_efficiency(&self) -> Option<f64> {
        Some(self.parallel_efficiency? - self.replicated_share.unwrap_or(0.0))
    }
}
