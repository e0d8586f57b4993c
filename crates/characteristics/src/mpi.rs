//! The characteristics of the analyzer of MPI traces that follows DVM's method.
//!
//! With N ranks p, and times from the begin of the interval to its end on each:
//!
//! ```text
//! CPU_time(p)    = (leave − enter) − MPI_time(p)
//! Comm_time(p)   = SendRecv_time + CollectiveAll_time + AllToAll_time
//! Execution time = max over p of (leave − enter)
//! Total time     = N × Execution time
//! Idle_time(p)   = Execution time − (leave − enter)(p)
//! Lost(p)        = lost part of MPI_time(p) + Idle_time(p)
//! Productive     = Σ CPU_time(p) + productive part of MPI_time
//! Efficiency     = Productive ÷ Total
//! ```
//!
//! The document has two readings of which part of the time in MPI is productive: [`Reading`].

use crate::comparative::Comparative;

/// Which part of the time in MPI is productive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// None: all of it is lost. Its numbers agree with the printed example, and time is conserved as in
    /// every other page.
    #[default]
    AllLost,
    /// MPI_time(p) ÷ N: as if each call were executed by all ranks, and counted once.
    Replicated,
}

/// What one rank spent in an interval, ns. `None` = not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// From its begin to its end, over all executions.
    pub elapsed_ns: u64,
    /// In calls of MPI; calls inside of calls count once.
    pub mpi_ns: Option<u64>,
    /// In calls that send, receive, or complete point-to-point messages.
    pub send_receive_ns: Option<u64>,
    /// In collective calls other than all-to-all.
    pub collective_ns: Option<u64>,
    /// In all-to-all calls.
    pub all_to_all_ns: Option<u64>,
    /// Potential waits: receives that were posted before the send, and early begins of collectives.
    pub potential_sync_ns: Option<u64>,
    /// Spread of the ends of collectives.
    pub variation_ns: Option<u64>,
    /// In calls that do not block.
    pub start_ns: Option<u64>,
    /// The document's literal SendRecv_time: Σ over messages received of (end of the receive − begin of the
    /// send). It spans two ranks, may exceed the time in MPI, and may be negative with clocks that differ.
    pub message_span_ns: Option<i64>,
}

impl Rank {
    /// Time outside of MPI, ns.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.mpi_ns.map(|mpi_ns| self.elapsed_ns.saturating_sub(mpi_ns))
    }

    /// Time of communication, ns.
    pub fn communication_ns(&self) -> Option<u64> {
        Some(self.send_receive_ns? + self.collective_ns? + self.all_to_all_ns?)
    }
}

/// Declares the characteristics with identifiers and names.
macro_rules! characteristics {
    ($($(#[$doc:meta])* $variant:ident $id:literal $name:literal;)*) => {
        /// A characteristic of a rank, which has a sum over the ranks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Mpi { $($(#[$doc])* $variant,)* }

        impl Mpi {
            /// All of them.
            pub const ALL: &'static [Mpi] = &[$(Mpi::$variant),*];

            /// The stable identifier, without the unit.
            pub const fn id(self) -> &'static str {
                match self { $(Mpi::$variant => $id,)* }
            }

            /// The name under which it is printed.
            pub const fn name(self) -> &'static str {
                match self { $(Mpi::$variant => $name,)* }
            }
        }
    };
}

characteristics! {
    /// The lost part of the time in MPI, and the time after the interval's end on this rank.
    Lost "lost_time" "Lost Time";
    /// After the interval's end on this rank, until its end on the last.
    Idle "idle_time" "Idle Time";
    /// In communication.
    Comm "comm_time" "Communication Time";
    /// In MPI.
    MpiTime "mpi_time" "MPI Time";
    /// Potential waits.
    PotentialSync "potent_sync" "Potential Sync.";
    /// Spread of the ends of collectives.
    Variation "time_variation" "Time Variation";
    /// In calls that do not block.
    Start "t_start" "Time of Start";
    /// In point-to-point calls.
    SendRecv "sendrecv_time" "SendRecv Time";
    /// In collectives other than all-to-all.
    CollectiveAll "collectiveall_time" "CollectiveAll Time";
    /// In all-to-all calls.
    AllToAll "alltoall_time" "AllToAll Time";
    /// Outside of MPI.
    Cpu "cpu_time" "CPU Time";
}

/// The characteristics of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct MpiInterval {
    /// Of the rank that takes longest, ns.
    pub execution_ns: u64,
    /// N × execution time, ns.
    pub total_ns: u64,
    /// ns; None where the time in MPI is not known.
    pub productive_ns: Option<u64>,
    /// ns; likewise.
    pub lost_ns: Option<u64>,
    /// The literal SendRecv_time of all ranks, ns.
    pub message_span_ns: Option<i64>,
    reading: Reading,
    ranks: Vec<Rank>,
}

impl MpiInterval {
    /// The characteristics of an interval that these ranks execute; None if there are none.
    pub fn of(ranks: &[Rank], reading: Reading) -> Option<MpiInterval> {
        let execution_ns = ranks.iter().map(|rank| rank.elapsed_ns).max()?;
        let total_ns = execution_ns * ranks.len() as u64;
        let mut all = MpiInterval {
            execution_ns,
            total_ns,
            productive_ns: None,
            lost_ns: None,
            message_span_ns: ranks.iter().map(|rank| rank.message_span_ns).sum(),
            reading,
            ranks: ranks.to_vec(),
        };
        all.lost_ns = all.sum(Mpi::Lost);
        all.productive_ns = all.lost_ns.map(|lost_ns| total_ns - lost_ns);
        Some(all)
    }

    /// The same interval by another reading.
    #[must_use]
    pub fn read_as(&self, reading: Reading) -> Option<MpiInterval> {
        MpiInterval::of(&self.ranks, reading)
    }

    /// Productive ÷ total time.
    pub fn efficiency(&self) -> Option<f64> {
        let productive_ns = self.productive_ns.filter(|_| self.total_ns > 0)?;
        Some(productive_ns as f64 / self.total_ns as f64)
    }

    /// How many ranks.
    pub fn processors(&self) -> usize {
        self.ranks.len()
    }

    /// The part of the time in MPI that is lost, ns.
    pub fn lost_mpi_ns(&self) -> Option<u64> {
        Comparative::of(self.ranks.iter().map(|rank| self.lost_in_mpi(rank))).map(|over| over.sum)
    }

    fn lost_in_mpi(&self, rank: &Rank) -> Option<u64> {
        let mpi_ns = rank.mpi_ns?;
        Some(match self.reading {
            Reading::AllLost => mpi_ns,
            Reading::Replicated => mpi_ns - mpi_ns / self.ranks.len() as u64,
        })
    }

    /// A characteristic of a rank, by position, ns.
    pub fn of_rank(&self, at: usize, of: Mpi) -> Option<u64> {
        let rank = self.ranks.get(at)?;
        let idle_ns = self.execution_ns - rank.elapsed_ns;
        match of {
            Mpi::Lost => self.lost_in_mpi(rank).map(|lost_ns| lost_ns + idle_ns),
            Mpi::Idle => Some(idle_ns),
            Mpi::Comm => rank.communication_ns(),
            Mpi::MpiTime => rank.mpi_ns,
            Mpi::PotentialSync => rank.potential_sync_ns,
            Mpi::Variation => rank.variation_ns,
            Mpi::Start => rank.start_ns,
            Mpi::SendRecv => rank.send_receive_ns,
            Mpi::CollectiveAll => rank.collective_ns,
            Mpi::AllToAll => rank.all_to_all_ns,
            Mpi::Cpu => rank.cpu_ns(),
        }
    }

    /// A characteristic over the ranks.
    pub fn comparative(&self, of: Mpi) -> Option<Comparative> {
        Comparative::of((0..self.ranks.len()).map(|at| self.of_rank(at, of)))
    }

    /// A characteristic of all ranks together, ns.
    pub fn sum(&self, of: Mpi) -> Option<u64> {
        self.comparative(of).map(|over| over.sum)
    }
}
