//! The operations that are intercepted: the name of each, and its nature.
//!
//! Numbers are part of the log's layout: they are never given twice. Each family has 4095 of its own.

/// The nature of an operation, before anything is known of the code that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nature {
    /// Waits, blocked, for a holder: a mutex, a reader-writer lock, a once, a locked file.
    Lock,
    /// Waits for a holder by trying again and again.
    Spin,
    /// Waits until all have arrived.
    Barrier,
    /// Waits for a condition variable.
    Condition,
    /// Waits for a semaphore.
    Semaphore,
    /// Waits for a thread to end.
    Join,
    /// Sleeps for a time that it names.
    Sleep,
    /// Gives the processor to others, and continues.
    Yield,
    /// Waits for descriptors to become ready.
    Poll,
    /// Waits for a child process.
    Process,
    /// Waits for a signal it names.
    Signal,
    /// Waits for any signal.
    Pause,
    /// Waits for a connection.
    Accept,
    /// Waits for a message of a queue.
    Queue,
    /// Waits for a futex: only its caller knows its purpose.
    Futex,
    /// Takes bytes in.
    Read,
    /// Gives bytes out.
    Write,
    /// Moves bytes from one descriptor to another.
    Transfer,
    /// Opens, closes, connects, synchronises.
    Manage,
    /// Releases a lock. Never an operation of its own: recorded by [`crate::records::Release`].
    Release,
    /// Wakes threads that wait for something else than a lock. Recorded in the same way.
    Wake,
    /// A parallel runtime's own work: opening a region, handing out iterations.
    Runtime,
    /// A pool's thread without work, blocked or spinning.
    Pool,
    /// A message between two processes of MPI: sent, received, or waited for.
    Message,
    /// What all processes of a communicator of MPI do together.
    Collective,
    /// Communicates by MPI in another way: in windows of memory, with other jobs.
    Communicate,
    /// MPI's own work in one process: it copies data, computes with them, manages memory, or asks a server.
    Local,
}

impl Nature {
    /// Whether it is I/O and not a wait.
    pub const fn is_io(self) -> bool {
        matches!(self, Nature::Read | Nature::Write | Nature::Transfer | Nature::Manage)
    }
}

/// Which interface's operations they are: the upper bits of an operation's number.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Functions of the C library: locks, waits, files.
    Library = 0,
    /// Constructs of OpenMP.
    OpenMp = 1,
    /// Functions of MPI.
    Mpi = 2,
}

/// Bits of an operation's number below its family.
const FAMILY_SHIFT: u32 = 12;

/// So many of each family's numbers may be in use. Hooks ask for an operation's properties at each call: they
/// stand in tables by number.
const USED: usize = 512;

/// Room for families. A power of two, as [`USED`] is: positions in a table are cut off by a mask.
const FAMILIES: usize = 4;

/// Where an operation with this number stands in such a table; None if there is none.
const fn place(number: u16) -> Option<(usize, usize)> {
    let (family, within) = ((number >> FAMILY_SHIFT) as usize, number as usize & ((1 << FAMILY_SHIFT) - 1));
    if family < FAMILIES && within < USED { Some((family, within)) } else { None }
}

macro_rules! operations {
    ($($family:ident { $($number:literal $name:ident $text:literal $nature:ident;)* })*) => {
        /// An intercepted operation, by the function that the program called; variants of a function that
        /// differ in their types only (`pread64`, `__read_chk`) are one operation.
        #[repr(u16)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, reason = "MPI's own names")]
        pub enum Operation {
            $($(#[doc = concat!("`", $text,
                "`")] $name = (Family::$family as u16) << FAMILY_SHIFT | $number,)*)*
        }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Operation] = &[$($(Operation::$name),*),*];

            /// The function's name.
            pub const fn name(self) -> &'static str {
                match self { $($(Operation::$name => $text,)*)* }
            }

            /// Its nature.
            #[inline]
            pub const fn nature(self) -> Nature {
                static NATURES: [[Nature; USED]; FAMILIES] = {
                    let mut natures = [[Nature::Yield; USED]; FAMILIES];
                    $($(natures[Family::$family as usize][$number] = Nature::$nature;)*)*
                    natures
                };
                let number = self as usize;
                NATURES[(number >> FAMILY_SHIFT) % FAMILIES][number % USED]
            }

            /// The operation with this number.
            #[inline]
            pub const fn from_number(number: u16) -> Option<Operation> {
                static OPERATIONS: [[Option<Operation>; USED]; FAMILIES] = {
                    let mut operations = [[None; USED]; FAMILIES];
                    $($(operations[Family::$family as usize][$number] = Some(Operation::$name);)*)*
                    operations
                };
                match place(number) {
                    Some((family, within)) => OPERATIONS[family][within],
                    None => None,
                }
            }

            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<Operation> {
                match name { $($($text => Some(Operation::$name),)*)* _ => None }
            }
        }
    };
}

mod table;
pub use table::Operation;

impl Operation {
    /// Which interface's it is.
    pub const fn family(self) -> Family {
        match self as u16 >> FAMILY_SHIFT {
            0 => Family::Library,
            1 => Family::OpenMp,
            _ => Family::Mpi,
        }
    }

    /// Whether it is a construct of OpenMP.
    pub const fn is_of_openmp(self) -> bool {
        matches!(self.family(), Family::OpenMp)
    }

    /// Whether it is a function of MPI.
    pub const fn is_of_mpi(self) -> bool {
        matches!(self.family(), Family::Mpi)
    }
}

/// One more than the largest number of an operation.
pub const OPERATIONS: usize = FAMILIES << FAMILY_SHIFT;

/// The kind of file or device that a descriptor leads to.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// No descriptor, or it is not known what it leads to.
    #[default]
    None = 0,
    /// A file or folder, a block device.
    File = 1,
    /// A pipe or FIFO.
    Pipe = 2,
    /// A socket.
    Socket = 3,
    /// A terminal.
    Terminal = 4,
    /// Another character device (`/dev/null`, a GPU).
    Device = 5,
    /// An eventfd, timerfd, signalfd, inotify, epoll or other kernel object without a file.
    Event = 6,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 7] = [
        Target::None,
        Target::File,
        Target::Pipe,
        Target::Socket,
        Target::Terminal,
        Target::Device,
        Target::Event,
    ];

    /// The target with this number; unknown numbers read as [`Target::None`].
    pub fn from_number(number: u8) -> Target {
        Target::ALL.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// Identifier in JSON and tables.
    pub const fn id(self) -> &'static str {
        match self {
            Target::None => "none",
            Target::File => "file",
            Target::Pipe => "pipe",
            Target::Socket => "socket",
            Target::Terminal => "terminal",
            Target::Device => "device",
            Target::Event => "event",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::from_number(operation as u16), Some(operation));
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
            assert!((operation as usize) < OPERATIONS);
        }
        assert!(Operation::ALL.is_sorted());
        assert_eq!(Operation::MutexLock.family(), Family::Library);
        assert!(Operation::OmpBarrier.is_of_openmp() && !Operation::FutexWake.is_of_openmp());
        assert_eq!(Operation::from_number(0), None);
        assert_eq!(Operation::from_number(u16::MAX), None);
    }

    #[test]
    fn targets_are_their_positions() {
        for (position, target) in Target::ALL.into_iter().enumerate() {
            assert_eq!(target as usize, position);
            assert_eq!(Target::from_number(position as u8), target);
        }
        assert_eq!(Target::from_number(200), Target::None);
    }
}
