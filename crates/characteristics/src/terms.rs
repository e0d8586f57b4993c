//! What a processor spent in an interval: the base characteristics, from which all others follow.
//!
//! A processor is a rank, or a thread of a rank or process. It spends its time in the interval on user code
//! (`cpu_ns`), on I/O, in operations, and in the parts that run without it (`absent_seq_ns`,
//! `absent_par_ns`). In the DVM system the second kind of lost parallelism is the only one: every processor
//! executes the sequential parts, and so does work that counts once only (`replicated_seq_ns`).

use std::collections::BTreeMap;

use crate::operation::Operation;

/// What one processor spent in one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OperationTerms {
    /// Its share in the number of operations: 1 ÷ participants for each call, so that the sum over the
    /// processors does not depend on how many there are.
    pub count: Option<f64>,
    /// Time inside, ns. A part of the lost time.
    pub communication_ns: Option<u64>,
    /// Potential wait for a common begin: Σ over operations of (last begin − own begin), ns.
    pub synchronization_ns: Option<u64>,
    /// Spread of the ends: Σ over operations of (last end − own end), ns.
    pub variation_ns: Option<u64>,
    /// Computation beside the exchange: Σ over pairs of (begin of the wait − end of the last start), ns.
    pub overlap_ns: Option<u64>,
}

/// What one processor spent in an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// Wall time outside of operations and I/O, ns.
    pub cpu_ns: u64,
    /// The part of it in sequential parts of the program; None where these are not known.
    pub cpu_seq_ns: Option<u64>,
    /// The part of it in which nothing was executed: the thread slept, or waited for the outside.
    pub cpu_passive_ns: Option<u64>,
    /// Wall time in I/O, without the messages that hand on its data, ns.
    pub io_ns: Option<u64>,
    /// The part of `cpu_ns` that repeats the work of other processors, in sequential parts.
    pub replicated_seq_ns: Option<u64>,
    /// The same in parallel parts.
    pub replicated_par_ns: Option<u64>,
    /// Time in which a sequential part ran without this processor, ns.
    pub absent_seq_ns: Option<u64>,
    /// Time in which a parallel part ran without this processor, ns.
    pub absent_par_ns: Option<u64>,
    /// Each kind of operation that has a source; the time of each call is in exactly one.
    pub operations: BTreeMap<Operation, OperationTerms>,
    /// Iterations of parallel loops that it executed.
    pub iterations: Option<u64>,
}

impl Processor {
    /// Time in which it executed user code, or I/O, ns: useful in the sense of the POP model.
    pub fn useful_ns(&self) -> u64 {
        self.cpu_ns + self.io_ns.unwrap_or(0)
    }

    /// The part of its CPU time that repeats the work of others, ns; None = not known.
    pub fn replicated_ns(&self) -> Option<u64> {
        either(self.replicated_seq_ns, self.replicated_par_ns)
    }

    /// Time in which the interval ran without it, ns; None = not known.
    pub fn absent_ns(&self) -> Option<u64> {
        either(self.absent_seq_ns, self.absent_par_ns)
    }

    /// CPU time in parallel parts, ns.
    pub fn cpu_par_ns(&self) -> Option<u64> {
        self.cpu_seq_ns.map(|seq_ns| self.cpu_ns.saturating_sub(seq_ns))
    }

    /// Time in all operations, ns.
    pub fn communication_ns(&self) -> Option<u64> {
        self.over_operations(|terms| terms.communication_ns)
    }

    /// Insufficient parallelism in sequential parts, ns.
    pub fn insufficient_seq_ns(&self) -> Option<u64> {
        either(self.replicated_seq_ns, self.absent_seq_ns)
    }

    /// Insufficient parallelism in parallel parts, ns.
    pub fn insufficient_par_ns(&self) -> Option<u64> {
        either(self.replicated_par_ns, self.absent_par_ns)
    }

    /// From its begin of the interval to its end, ns: everything that it spent there.
    pub fn execution_ns(&self) -> u64 {
        self.useful_ns() + self.communication_ns().unwrap_or(0) + self.absent_ns().unwrap_or(0)
    }

    /// The sum of a term over the kinds of operations that have it; None where none has.
    pub fn over_operations(&self, term: impl Fn(&OperationTerms) -> Option<u64>) -> Option<u64> {
        self.operations.values().filter_map(term).reduce(|sum, ns| sum + ns)
    }
}

/// The part of a time that is replicated where `degree` processors execute the same: (d − 1)/d of it.
pub fn replicated_ns(time_ns: u64, degree: u32) -> u64 {
    let degree = u128::from(degree.max(1));
    (u128::from(time_ns) * (degree - 1) / degree) as u64
}

/// The sum of what is known of two; None where nothing is.
pub(crate) fn either(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_processor_would_do_alone_is_not_replicated() {
        assert_eq!(replicated_ns(16, 16), 15);
        assert_eq!(replicated_ns(17, 1), 0);
        assert_eq!(replicated_ns(17, 0), 0);
        assert_eq!(replicated_ns(u64::MAX, u32::MAX), 18_446_744_069_414_584_318);
    }

    #[test]
    fn what_is_not_known_is_no_zero() {
        let processor = Processor { cpu_ns: 5, ..Processor::default() };
        assert_eq!(processor.communication_ns(), None);
        assert_eq!(processor.insufficient_seq_ns(), None);
        assert_eq!(processor.cpu_par_ns(), None);
        assert_eq!(processor.execution_ns(), 5);
    }
}
