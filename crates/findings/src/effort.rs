//! Effort: work, idleness and overhead by context, and what their shares mean for a parallelisation.
//!
//! - *work*: the program's code or a library's runs; I/O; page faults
//! - *idleness*: the losses of others that waited for this: processors that were empty while it worked,
//!   threads that waited for its locks or at a barrier for it. It is charged to the places where the
//!   locations that caused it worked
//! - *overhead*: handing out work and waking each other: runtimes, synchronisation, too many threads, the
//!   measurement
//!
//! Their sum is the effort. Time in which other processes had the processor is none of them.

use proust_profile::{Metric, Ns};

use super::overhead::Overhead;
use super::thresholds::{EFFORT_IDLENESS, EFFORT_OVERHEAD};
use proust_account::ledger::Account;
use proust_query::{Measure, Selection, over_contexts};

/// The time spent and caused in a context and below it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// The program's own work.
    pub work: Ns,
    /// Others had nothing to do meanwhile.
    pub idleness: Ns,
    /// Organising it.
    pub overhead: Ns,
}

/// The reading of the shares of idleness and overhead in an effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Both are low.
    Parallel,
    /// Overhead is high: the portions handed out are too small.
    Coarsen,
    /// Idleness is high: there is too little to hand out.
    Refine,
    /// Both are high: neither larger nor smaller portions help.
    Change,
    /// Nothing was done.
    Nothing,
}

impl Reading {
    /// All there are.
    pub const ALL: [Reading; 5] =
        [Reading::Parallel, Reading::Coarsen, Reading::Refine, Reading::Change, Reading::Nothing];

    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Reading::Parallel => "effectively-parallel",
            Reading::Coarsen => "coarsen",
            Reading::Refine => "refine",
            Reading::Change => "change-strategy",
            Reading::Nothing => "nothing",
        }
    }
}

impl Effort {
    /// Work, idleness and overhead together.
    pub fn sum(&self) -> Ns {
        self.work + self.idleness + self.overhead
    }

    /// Idleness as a part of it; 0 if it is nothing.
    pub fn idleness(&self) -> f64 {
        self.idleness.share_of(self.sum())
    }

    /// Overhead as a part of it; 0 if it is nothing.
    pub fn overhead(&self) -> f64 {
        self.overhead.share_of(self.sum())
    }

    /// Its reading, by the thresholds of [`super::thresholds`].
    pub fn reading(&self) -> Reading {
        match (EFFORT_IDLENESS.holds(self.idleness()), EFFORT_OVERHEAD.holds(self.overhead())) {
            _ if !self.sum().is_positive() => Reading::Nothing,
            (false, false) => Reading::Parallel,
            (false, true) => Reading::Coarsen,
            (true, false) => Reading::Refine,
            (true, true) => Reading::Change,
        }
    }
}

const WORK: [Account; 5] =
    [Account::Compute, Account::Io, Account::Fault, Account::Replicated, Account::Unattributed];
const OVERHEAD: [Account; 3] = [Account::Runtime, Account::MpiTransfer, Account::Oversubscribed];
const IDLENESS: [Account; 5] =
    [Account::Serial, Account::Narrow, Account::Barrier, Account::Lock, Account::MpiPartner];

/// The effort of every context with all that is below it. The selection needs the rows of a ledger.
pub fn effort(selection: &Selection<'_>) -> Vec<Effort> {
    let profile = selection.profile();
    let is_overhead = Overhead::of(profile);
    let count = profile.contexts.len();
    let (mut work, mut idleness, mut overhead) = (vec![0_u128; count], vec![0; count], vec![0; count]);
    for account in WORK {
        selection.each(Measure::Account(account), |context, _, ns| {
            let of = if is_overhead.has(context) { &mut overhead } else { &mut work };
            of[context.index()] += u128::from(ns);
        });
    }
    for measure in OVERHEAD.map(Measure::Account).into_iter().chain([Measure::Metric(Metric::Measurement)]) {
        selection.each(measure, |context, _, ns| overhead[context.index()] += u128::from(ns));
    }
    for account in IDLENESS {
        selection.each(Measure::Caused(Some(account)), |context, _, ns| {
            idleness[context.index()] += u128::from(ns);
        });
    }
    let inclusive = |own: Vec<u128>| {
        let sums = over_contexts(profile, selection.forest(), &own).inclusive;
        sums.into_iter().map(Ns::of_sum).collect::<Vec<Ns>>()
    };
    let (work, idleness, overhead) = (inclusive(work), inclusive(idleness), inclusive(overhead));
    (0..count).map(|id| Effort { work: work[id], idleness: idleness[id], overhead: overhead[id] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_by_the_table() {
        let effort = |work, idleness, overhead| {
            let [work, idleness, overhead] = [work, idleness, overhead].map(Ns::new);
            Effort { work, idleness, overhead }
        };
        assert_eq!(effort(95, 3, 2).reading(), Reading::Parallel);
        assert_eq!(effort(70, 3, 27).reading(), Reading::Coarsen);
        assert_eq!(effort(60, 38, 2).reading(), Reading::Refine);
        assert_eq!(effort(40, 30, 30).reading(), Reading::Change);
        assert_eq!(effort(0, 0, 0).reading(), Reading::Nothing);
        assert!((effort(60, 38, 2).idleness() - 0.38).abs() < 1e-12);
    }
}
