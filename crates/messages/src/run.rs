//! The calls of all processes of a run, and the communicators that they use.

use rustc_hash::FxHashMap;

use crate::call::Partner;
use crate::endpoint::Endpoint;
use crate::unmatched::Part;
use crate::waits::Times;

/// A communicator of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Communicator {
    /// Its members; of an intercommunicator those of the first side.
    pub size: u32,
    /// Members of an intercommunicator's second side.
    pub second_size: u32,
    /// Whether all members know it by the same id. If not, nothing in it can be matched.
    pub is_known: bool,
}

/// A communicator as one process knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Position in [`Run::communicators`].
    pub communicator: u32,
    /// The process's rank in it.
    pub rank: u32,
    /// Whether it is on the second side of an intercommunicator.
    pub is_on_second_side: bool,
}

/// A process that uses MPI.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Its endpoints, in the order in which they were started.
    pub endpoints: Vec<Endpoint>,
    /// Begin and end of its calls, by [`CallId`](crate::call::CallId).
    pub calls: Vec<Times>,
    /// Its communicators, by the number that its endpoints have.
    pub communicators: FxHashMap<u32, Membership>,
    /// From when on its record has holes, or no calls any more; None = it is complete.
    pub known_until_ns: Option<u64>,
    /// Its calls that may have sent or received a message of which its record says nothing.
    pub failed: Vec<Failed>,
    /// Whether it ended in another way than by the end of MPI: it was killed, or aborted.
    pub was_cut_off: bool,
}

/// A call that failed: whether there was a message is not known. If there was one, later ones of the same
/// channel are not those that they are counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// When it began, ns.
    pub begin_ns: u64,
    /// Whether it was to send or to receive.
    pub part: Part,
    /// The communicator, by its process's number; None = any.
    pub communicator: Option<u32>,
    /// The other rank, or any.
    pub partner: Partner,
    /// The message's tag, or [`crate::call::ANY_TAG`].
    pub tag: i32,
}

/// All processes.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Those that use MPI.
    pub processes: Vec<Process>,
    /// Those that any of them uses.
    pub communicators: Vec<Communicator>,
}

impl Communicator {
    pub(crate) fn members(&self) -> u64 {
        u64::from(self.size) + u64::from(self.second_size)
    }
}
