//! The operations of a run: which function, and what a thread does in it.
//!
//! Accounting asks for the nature of an operation and never for its name, so that a profile made of another
//! tool's trace can be accounted for as well.

/// An operation: a function whose calls are measured one by one or in sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperationInfo {
    /// The function that the program called, `pthread_mutex_lock` for instance.
    pub name: String,
    /// What a thread does in it. None = nothing is known but that it was waited in.
    pub kind: Option<OperationKind>,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationKind {
    /// What a thread does in it.
    pub nature: Nature,
    /// Whose operation it is.
    pub family: Family,
    /// Which of several of one nature.
    pub detail: Detail,
}

/// Enums that are kept by their identifiers.
macro_rules! identified {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident $id:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The identifier in tables. It never changes.
            pub const fn id(self) -> &'static str {
                match self { $($name::$variant => $id,)* }
            }

            /// The one with this identifier.
            pub fn from_id(id: &str) -> Option<$name> {
                match id { $($id => Some($name::$variant),)* _ => None }
            }
        }
    };
}

pub(crate) use identified;

identified! {
    /// What a thread does in an operation, before anything is known of the code that called it.
    Nature {
        /// Waits, blocked, for a holder: a mutex, a reader-writer lock, a once, a locked file.
        Lock "lock",
        /// Waits for a holder by trying again and again.
        Spin "spin",
        /// Waits until all have arrived.
        Barrier "barrier",
        /// Waits for a condition variable.
        Condition "condition",
        /// Waits for a semaphore.
        Semaphore "semaphore",
        /// Waits for a thread to end.
        Join "join",
        /// Sleeps for a time that it names.
        Sleep "sleep",
        /// Yields the processor, and continues.
        Yield "yield",
        /// Waits for descriptors to become ready.
        Poll "poll",
        /// Waits for a child process.
        Process "process",
        /// Waits for a signal it names.
        Signal "signal",
        /// Waits for any signal.
        Pause "pause",
        /// Waits for a connection.
        Accept "accept",
        /// Waits for a message of a queue.
        Queue "queue",
        /// Waits for a futex: the purpose depends on the caller.
        Futex "futex",
        /// Takes bytes in.
        Read "read",
        /// Gives bytes out.
        Write "write",
        /// Moves bytes from one descriptor to another.
        Transfer "transfer",
        /// Opens, closes, connects, synchronises.
        Manage "manage",
        /// Lets a lock go. Of rows in [`crate::Profile::releases`] only.
        Release "release",
        /// Wakes a thread that waits for something other than a lock. Of such rows only, too.
        Wake "wake",
        /// A parallel runtime's own work: opening a region, handing out iterations.
        Runtime "runtime",
        /// A pool's thread without work, blocked or spinning.
        Pool "pool",
        /// A message between two processes of MPI: sent, received, or waited for.
        Message "message",
        /// What all processes of a communicator of MPI do together.
        Collective "collective",
        /// Communicates by MPI in another way.
        Communicate "communicate",
        /// MPI's own work in one process.
        Local "local",
    }
}

identified! {
    /// Whose operations they are.
    Family {
        /// Functions of the C library: locks, waits, files.
        Library "library",
        /// Constructs of OpenMP.
        OpenMp "openmp",
        /// Functions of MPI.
        Mpi "mpi",
    }
}

identified! {
    /// Which of the operations of one nature it is, where the analysis makes a difference between them.
    Detail {
        /// Nothing more is to be said.
        Plain "plain",
        /// A mutex.
        Mutex "mutex",
        /// A spin lock.
        SpinLock "spin-lock",
        /// A lock for many readers or one writer.
        ReadWriteLock "read-write-lock",
        /// Something that is done once.
        Once "once",
        /// A lock on a file.
        FileLock "file-lock",
        /// Input or output through a buffer in the process: most calls do not reach the system.
        Buffered "buffered",
        /// Input in pieces that the caller does not choose: names of files, random numbers.
        Piecewise "piecewise",
        /// Waits until data are on storage.
        Storage "storage",
        /// Connects to another process.
        Connect "connect",
        /// A barrier of a team.
        TeamBarrier "team-barrier",
        /// The barrier of a team of one thread.
        BarrierOfOne "barrier-of-one",
        /// The end of a parallel region.
        RegionEnd "region-end",
        /// The begin of a parallel region.
        Fork "fork",
        /// Waits for the tasks that the thread made.
        TaskWait "taskwait",
        /// Waits for all tasks of a group.
        TaskGroup "taskgroup",
        /// Waits for a value that one thread of the team distributes.
        CopyPrivate "copyprivate",
        /// Waits for an earlier iteration of a loop.
        Doacross "doacross",
        /// A critical section.
        Critical "critical",
        /// An atomic update that takes a lock.
        Atomic "atomic",
        /// A section that is executed in the order of iterations.
        Ordered "ordered",
        /// A lock of OpenMP.
        OmpLock "omp-lock",
        /// Asks for iterations of a loop.
        Dispatch "dispatch",
        /// Makes or executes a task.
        Task "task",
        /// Sends a message of MPI, or starts to.
        Send "send",
        /// Receives a message of MPI, or starts to.
        Receive "receive",
        /// Sends one and receives one.
        SendReceive "send-receive",
        /// A collective of MPI that moves data or synchronises, or its start.
        Exchange "exchange",
    }
}

impl Nature {
    /// Whether it is I/O and not a wait.
    pub const fn is_io(self) -> bool {
        matches!(self, Nature::Read | Nature::Write | Nature::Transfer | Nature::Manage)
    }
}

impl OperationKind {
    /// Whether it is a construct of OpenMP.
    pub const fn is_of_openmp(self) -> bool {
        matches!(self.family, Family::OpenMp)
    }

    /// Whether it is a function of MPI.
    pub const fn is_of_mpi(self) -> bool {
        matches!(self.family, Family::Mpi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_lead_back() {
        for &nature in Nature::ALL {
            assert_eq!(Nature::from_id(nature.id()), Some(nature));
        }
        for &family in Family::ALL {
            assert_eq!(Family::from_id(family.id()), Some(family));
        }
        for &detail in Detail::ALL {
            assert_eq!(Detail::from_id(detail.id()), Some(detail));
        }
        assert_eq!(Nature::from_id("plain"), None);
    }
}
