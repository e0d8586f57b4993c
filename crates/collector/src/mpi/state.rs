//! Each thread's state in calls of MPI, and the source of data that these calls are.

use proust_log::records::NoteCode;

use super::half::Half;
use super::polls::Polls;
use super::{clocks, communicators, library, requests};
use crate::lane::{Lane, Record};
use crate::operation::word_trie::WordTrie;
use crate::source::Source;

/// A thread's state. Hooks use it without the record.
#[derive(Debug, Default)]
pub struct Shared {
    /// Polls that found nothing so far.
    pub polls: Polls,
    /// Call paths of its calls.
    pub paths: WordTrie,
    /// A message to itself that marks, half of which was called.
    pub half: Half,
}

/// Calls of MPI as a source of data.
pub struct Calls;

impl Source for Calls {
    fn thread_born(&self, lane: &Lane, _: u32) {
        lane.mpi.polls.forget();
        lane.mpi.paths.forget();
        lane.mpi.half.take();
    }

    fn settle(&self, record: &mut Record) {
        let polls = &record.mpi.polls;
        if polls.is_any() {
            polls.settle(record.marks.interval(), &mut record.operations.sums, &mut record.output);
        }
    }

    fn process_ends(&self, record: &mut Record, _: proust_log::layout::Ending) {
        let untracked = requests::untracked();
        if untracked > 0 {
            record.note(NoteCode::UntrackedRequests, untracked);
        }
    }

    fn forked(&self) {
        // MPI is not to be used in a forked child; what it inherits are its parent's requests.
        requests::forget();
        communicators::forget();
        library::forget_world();
        clocks::forget();
    }
}
