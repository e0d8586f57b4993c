//! The accounts: the lines of the ledger, their classes and their stable identifiers.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// A line of the ledger: what one second of one processor was used or lost for.
///
/// The identifiers ([`Account::id`]) are part of the JSON contract: accounts may be added, never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Account {
    /// Running application or library code.
    Compute,
    /// In file I/O, and in the transfer part of other I/O.
    Io,
    /// An empty slot while others work outside any parallel region.
    Serial,
    /// An empty slot inside a parallel region: its team, or its iterations, are fewer than the processors.
    Narrow,
    /// Compute repeated in an interval marked replicated: (d − 1)/d of it, d the degree of the replication.
    Replicated,
    /// Waiting at a barrier, at the end of a parallel region, for tasks.
    Barrier,
    /// Waiting for a mutex, spin lock, rwlock, critical section, an interpreter's lock.
    Lock,
    /// Inside MPI, waiting for a partner that has not arrived.
    MpiPartner,
    /// Inside MPI otherwise.
    MpiTransfer,
    /// Fork, join, scheduling, tasking of a parallel runtime; MPI_Init and MPI_Finalize.
    Runtime,
    /// Inside Proust's own handlers and hooks.
    Measurement,
    /// Runnable, without a processor, while this run itself held all the processors available to it.
    Oversubscribed,
    /// Runnable, without a processor, otherwise: other processes had it, or the host of a virtual machine.
    Preempted,
    /// Page faults (an estimate from system time and counts).
    Fault,
    /// An empty slot while all locations are passive.
    Asleep,
    /// A rank's slot before its start or after its end.
    Idle,
    /// Recording was switched off.
    Paused,
    /// Measured, but none of these.
    Unattributed,
}

/// A group of accounts, as the ledger is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The program's own work.
    Productive,
    /// Too little of the program is parallel.
    Parallelism,
    /// Waiting for a partner or a holder.
    Waiting,
    /// Moving data between ranks.
    Communication,
    /// The price of the parallel runtime and of the measurement.
    Overhead,
    /// Time taken by the operating system and its other users.
    System,
    /// No location had anything to do.
    Idle,
    /// Not recorded.
    Paused,
    /// Not explained.
    Unknown,
}

/// Whether time in I/O counts as productive (the default) or as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoAs {
    /// `io` is productive.
    #[default]
    Productive,
    /// `io` is lost.
    Lost,
}

impl Account {
    /// All accounts, in the order in which the ledger shows them.
    pub const ALL: [Account; 18] = [
        Account::Compute,
        Account::Io,
        Account::Serial,
        Account::Narrow,
        Account::Replicated,
        Account::Barrier,
        Account::Lock,
        Account::MpiPartner,
        Account::MpiTransfer,
        Account::Runtime,
        Account::Measurement,
        Account::Oversubscribed,
        Account::Preempted,
        Account::Fault,
        Account::Asleep,
        Account::Idle,
        Account::Paused,
        Account::Unattributed,
    ];

    /// The stable identifier, as in JSON and in `--metrics`.
    pub const fn id(self) -> &'static str {
        match self {
            Account::Compute => "compute",
            Account::Io => "io",
            Account::Serial => "serial",
            Account::Narrow => "narrow",
            Account::Replicated => "replicated",
            Account::Barrier => "barrier",
            Account::Lock => "lock",
            Account::MpiPartner => "mpi-partner",
            Account::MpiTransfer => "mpi-transfer",
            Account::Runtime => "runtime",
            Account::Measurement => "measurement",
            Account::Oversubscribed => "oversubscribed",
            Account::Preempted => "preempted",
            Account::Fault => "fault",
            Account::Asleep => "asleep",
            Account::Idle => "idle",
            Account::Paused => "paused",
            Account::Unattributed => "unattributed",
        }
    }

    /// The account with this identifier.
    pub fn from_id(id: &str) -> Option<Account> {
        Account::ALL.into_iter().find(|account| account.id() == id)
    }

    /// The group in which the account is shown.
    pub const fn class(self) -> Class {
        match self {
            Account::Compute | Account::Io => Class::Productive,
            Account::Serial | Account::Narrow | Account::Replicated => Class::Parallelism,
            Account::Barrier | Account::Lock | Account::MpiPartner => Class::Waiting,
            Account::MpiTransfer => Class::Communication,
            Account::Runtime | Account::Measurement => Class::Overhead,
            Account::Oversubscribed | Account::Preempted | Account::Fault => Class::System,
            Account::Asleep | Account::Idle => Class::Idle,
            Account::Paused => Class::Paused,
            Account::Unattributed => Class::Unknown,
        }
    }

    /// Whether these seconds are the program's own work.
    pub fn productive(self, io: IoAs) -> bool {
        match self {
            Account::Compute => true,
            Account::Io => io == IoAs::Productive,
            _ => false,
        }
    }

    /// Whether these seconds are lost: all but the productive, `asleep`, `paused` and `unattributed`.
    pub fn lost(self, io: IoAs) -> bool {
        !self.productive(io) && !matches!(self, Account::Asleep | Account::Paused | Account::Unattributed)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl Class {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Class::Productive => "productive",
            Class::Parallelism => "parallelism",
            Class::Waiting => "waiting",
            Class::Communication => "communication",
            Class::Overhead => "overhead",
            Class::System => "system",
            Class::Idle => "idle",
            Class::Paused => "paused",
            Class::Unknown => "unknown",
        }
    }
}

/// Nanoseconds of processor time on each account.
///
/// Whole nanoseconds, so that sums are exact in any order; 64 bits hold 584 processor-years.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accounts([u64; Account::ALL.len()]);

impl Accounts {
    /// Accounts and their nanoseconds, in the order of the ledger, those with zero included.
    pub fn iter(&self) -> impl Iterator<Item = (Account, u64)> + '_ {
        Account::ALL.into_iter().map(|account| (account, self[account]))
    }

    /// Sum of all accounts, ns.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Sum of the productive accounts, ns.
    pub fn productive_ns(&self, io: IoAs) -> u64 {
        self.iter().filter(|(account, _)| account.productive(io)).map(|(_, ns)| ns).sum()
    }

    /// Sum of the lost accounts, ns.
    pub fn lost_ns(&self, io: IoAs) -> u64 {
        self.iter().filter(|(account, _)| account.lost(io)).map(|(_, ns)| ns).sum()
    }
}

impl Index<Account> for Accounts {
    type Output = u64;
    fn index(&self, account: Account) -> &u64 {
        &self.0[account as usize]
    }
}

impl IndexMut<Account> for Accounts {
    fn index_mut(&mut self, account: Account) -> &mut u64 {
        &mut self.0[account as usize]
    }
}

impl AddAssign<&Accounts> for Accounts {
    fn add_assign(&mut self, other: &Accounts) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().filter(|(_, ns)| *ns > 0).map(|(account, ns)| (account.id(), ns)))
            .finish()
    }
}
