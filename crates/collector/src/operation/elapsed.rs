//! How long a thread has been in operations so far, by what they are: for the program itself, which may ask.
//!
//! Long operations are added as they are recorded, short ones with the sum that they are written in; what is
//! summed and not written yet is added for the thread that asks. So no short operation pays for it.

use proust_log::operations::{Family, Operation};

/// What an operation is to the program, as far as it is known before the analysis: what a wait counts as
/// follows from its callers and partners, which are found later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Reads, writes, and whatever else is I/O.
    Io,
    /// Waits for a lock, a condition, a barrier, a thread, a time, a descriptor, work.
    Wait,
    /// A call of MPI.
    Mpi,
}

impl What {
    const fn of(operation: Operation) -> Option<What> {
        use proust_log::operations::Nature::{Release, Runtime, Wake};
        if matches!(operation.family(), Family::Mpi) {
            return Some(What::Mpi);
        }
        let nature = operation.nature();
        match nature {
            Runtime | Release | Wake => None,
            _ if nature.is_io() => Some(What::Io),
            _ => Some(What::Wait),
        }
    }
}

/// Nanoseconds in operations that are over, by [`What`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elapsed([u64; 3]);

impl Elapsed {
    /// Adds an operation.
    #[inline]
    pub fn add(&mut self, operation: Operation, ns: u64) {
        if let Some(sum) = What::of(operation).and_then(|what| self.0.get_mut(what as usize)) {
            *sum = sum.saturating_add(ns);
        }
    }

    /// Adds operations by the number of the operation.
    pub fn add_number(&mut self, operation: u16, ns: u64) {
        if ns > 0
            && let Some(operation) = Operation::from_number(operation)
        {
            self.add(operation, ns);
        }
    }

    /// Adds all of another one.
    pub fn merge(&mut self, other: &Elapsed) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, ns)| *sum = sum.saturating_add(ns));
    }

    /// How long in those of a kind.
    pub fn ns(&self, what: What) -> u64 {
        self.0.get(what as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_distinguished_as_far_as_they_are_known() {
        let mut elapsed = Elapsed::default();
        for &operation in Operation::ALL {
            elapsed.add(operation, 1);
        }
        let of = |what| Operation::ALL.iter().filter(|&&one| What::of(one) == Some(what)).count() as u64;
        for what in [What::Io, What::Wait, What::Mpi] {
            assert!(of(what) > 10);
            assert_eq!(elapsed.ns(what), of(what));
        }
        assert_eq!(What::of(Operation::Read), Some(What::Io));
        assert_eq!(What::of(Operation::NanoSleep), Some(What::Wait));
        assert_eq!(What::of(Operation::MPI_Send), Some(What::Mpi));
    }
}
