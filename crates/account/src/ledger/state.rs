//! What a location is doing at an instant.

use super::account::Account;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// What a location is doing at an instant. It is *active* when it works or waits for a partner or a holder,
/// *passive* when it waits for work to appear, for something it started, or for the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It has something to do, and does it or queues for a processor.
    Working(Work),
    /// It waits, blocked, for a partner or holder; it needs no processor meanwhile.
    Waiting(Wait),
    /// It waits for a partner or holder by polling: as [`State::Waiting`], but it takes a processor from
    /// others.
    Polling(Wait),
    /// It waits for something that is not another location's fault. Not on any account.
    Passive(PassiveReason),
}

/// Kinds of work: the account of an active location that does not wait for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Work {
    /// Running application or library code.
    Compute,
    /// In file I/O, or in the transfer part of other I/O. Does not compete for a processor.
    Io,
    /// The repeated part of compute in an interval marked replicated.
    Replicated,
    /// Inside MPI, the partner being there.
    MpiTransfer,
    /// Inside a parallel runtime.
    Runtime,
    /// Inside Proust's own handlers and hooks.
    Measurement,
    /// Runnable but without a processor. Which account that is, `oversubscribed` or `preempted`, cannot be
    /// known from one location: the ledger decides it from all of them.
    Delayed,
    /// Page faults.
    Fault,
    /// Measured, but none of these.
    Unattributed,
}

impl Work {
    /// All kinds of work, in the order of their discriminants.
    pub const ALL: [Work; 9] = [
        Work::Compute,
        Work::Io,
        Work::Replicated,
        Work::MpiTransfer,
        Work::Runtime,
        Work::Measurement,
        Work::Delayed,
        Work::Fault,
        Work::Unattributed,
    ];

    /// The account of this work; for [`Work::Delayed`] the one that holds unless the run crowded itself out.
    pub const fn account(self) -> Account {
        match self {
            Work::Compute => Account::Compute,
            Work::Io => Account::Io,
            Work::Replicated => Account::Replicated,
            Work::MpiTransfer => Account::MpiTransfer,
            Work::Runtime => Account::Runtime,
            Work::Measurement => Account::Measurement,
            Work::Delayed => Account::Preempted,
            Work::Fault => Account::Fault,
            Work::Unattributed => Account::Unattributed,
        }
    }
}

/// Kinds of waiting for a partner or a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wait {
    /// At a barrier, at a region's end, for tasks.
    Barrier,
    /// For a mutex, spin lock, rwlock, critical section, an interpreter's lock.
    Lock,
    /// Inside MPI, for a partner that has not arrived.
    MpiPartner,
}

impl Wait {
    /// The account of this wait.
    pub const fn account(self) -> Account {
        match self {
            Wait::Barrier => Account::Barrier,
            Wait::Lock => Account::Lock,
            Wait::MpiPartner => Account::MpiPartner,
        }
    }
}

/// Why a location is passive. The identifiers are the keys of the `passive` map in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum PassiveReason {
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A parked thread.
    Park,
    /// The end of a thread it started.
    Join,
    /// A sleep of given length.
    Sleep,
    /// poll, select, epoll.
    Poll,
    /// The end of a process it started (wait*).
    Wait,
    /// A signal (sigwait*, signalfd).
    Signal,
    /// pause, sigsuspend.
    Pause,
    /// A connection.
    Accept,
    /// A pipe, until bytes move.
    Pipe,
    /// A socket, until bytes move.
    Socket,
    /// A terminal, until bytes move.
    Terminal,
    /// An eventfd, timerfd or inotify descriptor.
    Event,
    /// A pool's thread without work.
    Pool,
    /// Recording was switched off: its act is not known.
    NotRecorded,
    /// Blocked, the reason is not known.
    Unknown,
    /// A futex whose purpose is not known.
    Futex,
    /// A message queue.
    Queue,
    /// Its process was stopped, by a signal or a tracer.
    Stopped,
}

impl PassiveReason {
    /// All reasons, in the order of their discriminants.
    pub const ALL: [PassiveReason; 20] = [
        PassiveReason::Condition,
        PassiveReason::Semaphore,
        PassiveReason::Park,
        PassiveReason::Join,
        PassiveReason::Sleep,
        PassiveReason::Poll,
        PassiveReason::Wait,
        PassiveReason::Signal,
        PassiveReason::Pause,
        PassiveReason::Accept,
        PassiveReason::Pipe,
        PassiveReason::Socket,
        PassiveReason::Terminal,
        PassiveReason::Event,
        PassiveReason::Pool,
        PassiveReason::NotRecorded,
        PassiveReason::Unknown,
        PassiveReason::Futex,
        PassiveReason::Queue,
        PassiveReason::Stopped,
    ];

    /// The stable identifier.
    pub const fn id(self) -> &'static str {
        match self {
            PassiveReason::Condition => "condition",
            PassiveReason::Semaphore => "semaphore",
            PassiveReason::Park => "park",
            PassiveReason::Join => "join",
            PassiveReason::Sleep => "sleep",
            PassiveReason::Poll => "poll",
            PassiveReason::Wait => "wait",
            PassiveReason::Signal => "signal",
            PassiveReason::Pause => "pause",
            PassiveReason::Accept => "accept",
            PassiveReason::Pipe => "pipe",
            PassiveReason::Socket => "socket",
            PassiveReason::Terminal => "terminal",
            PassiveReason::Event => "event",
            PassiveReason::Pool => "pool",
            PassiveReason::NotRecorded => "not-recorded",
            PassiveReason::Unknown => "unknown",
            PassiveReason::Futex => "futex",
            PassiveReason::Queue => "queue",
            PassiveReason::Stopped => "stopped",
        }
    }

    /// The reason with this identifier.
    pub fn from_id(id: &str) -> Option<PassiveReason> {
        PassiveReason::ALL.into_iter().find(|reason| reason.id() == id)
    }
}

impl fmt::Display for PassiveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// Nanoseconds a location was passive, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PassiveTimes([u64; PassiveReason::ALL.len()]);

impl PassiveTimes {
    /// Reasons and their nanoseconds, those with zero included.
    pub fn iter(&self) -> impl Iterator<Item = (PassiveReason, u64)> + '_ {
        PassiveReason::ALL.into_iter().map(|reason| (reason, self[reason]))
    }

    /// Sum over all reasons, ns.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Index<PassiveReason> for PassiveTimes {
    type Output = u64;
    fn index(&self, reason: PassiveReason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl IndexMut<PassiveReason> for PassiveTimes {
    fn index_mut(&mut self, reason: PassiveReason) -> &mut u64 {
        &mut self.0[reason as usize]
    }
}

impl AddAssign<&PassiveTimes> for PassiveTimes {
    fn add_assign(&mut self, other: &PassiveTimes) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

impl fmt::Debug for PassiveTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().filter(|(_, ns)| *ns > 0).map(|(reason, ns)| (reason.id(), ns)))
            .finish()
    }
}
