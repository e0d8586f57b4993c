//! Findings: the losses of a run, in a form that a user can act on.
//!
//! A finding names a cause (a source line), the time that could be saved, the victims, the numbers that it
//! is based on, and how sure it is. Each kind is a pure function of the [`Facts`] of a run; a file holds one
//! family of kinds. The thresholds of all kinds are in one place, [`thresholds`], and every finding keeps its
//! comparisons ([`Check`]), so that its derivation can be shown.
//!
//! - `locks`: sections held across I/O or sleep, short ones in hot loops, convoys, long ones, spinning
//! - `phases`: serial phases, serial parts between parallel regions
//! - `pool`: a long task at the end of a pool, too few tasks
//! - `turns`: threads that wait for each other in turn
//! - `one_at_a_time`: programs of which never two threads or processes work at once
//! - `barriers`: a late thread, late work
//! - `tasks`: tasks that are too small
//! - `crowding`: more threads than processors
//! - `binding`: threads bound to the same processors
//! - `faults`: memory touched first by one thread, at the start, or again and again
//! - `kernel`: processor time in system calls
//! - `libraries`: implementations of which there are faster ones
//! - `sleepers`: threads that sleep while others work
//! - `busy`: loops that only wait for another thread to write memory
//! - `polls`: sleeping and spinning for something to happen
//! - `atomics`: memory that several threads change atomically
//! - `library_work`: memory that is cleared, copied and allocated, texts that are searched to their ends,
//!   what is prepared again for each use
//! - `unread`: processes that wait to write
//! - `exchange`: processes of Python that spend much time on sending data to each other
//! - `round_trips`: requests of which each is sent when the one before is answered
//! - `event_loops`: loops whose callbacks take long
//! - `churn`: threads that live too short
//! - `spawning`: processes that live too short
//! - `openmp`: constructs of parallel programs that cost more than they give
//! - `transfers`: I/O of a few bytes, synchronisation of files, much reading and writing
//! - `files`: files that are opened and closed again and again
//! - `mpi`: ranks that others wait for, serial chains, small messages, the order of messages
//! - `unexplained`: waits of which no other kind gives the cause
//! - `intervals`: the marked interval that loses most, and why, by its characteristics
//!
//! Beside the findings there is [`effort()`]: work, idleness and overhead by context, and a reading of their
//! shares.
//!
//! What following the advice may save of the run's wall time is an interval (`range`).
//!
//! Processes of one program that lose time alike are one finding (`processes`).
//!
//! What can be won is capped by what the processors had to give beyond what was used
//! ([`Facts::recoverable`]); findings are ranked by it, the smallest are left out, and so is what chance or
//! a busy machine may have brought about (`rank`). This module decides no wording.

mod alike;
mod amount;
mod answers;
mod asked;
mod atomics;
mod author;
mod barriers;
mod binding;
mod busy;
mod calls;
mod churn;
mod crowding;
mod effort;
mod event_loops;
mod exchange;
mod facts;
mod faults;
mod figure;
mod files;
mod finding;
mod handovers;
mod intervals;
mod kernel;
mod libraries;
mod library_work;
mod locks;
mod loop_frames;
mod marked;
mod mpi;
mod names;
mod one_at_a_time;
mod openmp;
mod overhead;
mod phases;
mod place;
mod polls;
mod pool;
mod processes;
mod range;
mod rank;
mod regions;
mod remainders;
mod round_trips;
mod sections;
mod sleepers;
mod spawning;
mod stretches;
mod tasks;
#[cfg(test)]
mod tests;
pub mod thresholds;
mod transfers;
mod turns;
mod unexplained;
mod unread;
mod wait_places;

use proust_profile::Profile;
use rayon::prelude::*;

use proust_account::accounted::blame_of_stored;
use proust_account::blame::Blame;
use proust_account::ledger::{Ledger, LedgerError, Processors};
use proust_account::stored::StoredTimelines;
use proust_account::timelines::OperationStates;
use proust_query::OperationSums;
use proust_query::intervals::Asked;

pub use amount::{Amount, Comparable};
pub use effort::{Effort, Reading, effort};
pub use facts::Facts;
pub use figure::{Figure, FigureId, Subject};
pub use finding::{Finding, Kind, Sure, Victim};
pub use place::Place;
pub use rank::MOST;
pub use thresholds::{Check, Threshold};

/// All kinds, in the order in which they are looked for.
const KINDS: [fn(&Facts<'_>) -> Vec<Finding>; 27] = [
    locks::find,
    phases::find,
    pool::find,
    turns::find,
    barriers::find,
    tasks::find,
    crowding::find,
    binding::find,
    faults::find,
    kernel::find,
    library_work::find,
    libraries::find,
    polls::find,
    sleepers::find,
    busy::find,
    atomics::find,
    unread::find,
    round_trips::find,
    event_loops::find,
    exchange::find,
    churn::find,
    spawning::find,
    transfers::find,
    files::find,
    openmp::find,
    mpi::find,
    intervals::find,
];

/// The results for a whole run that take all its samples, operations and releases to compute.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Its account.
    pub ledger: Ledger,
    /// The causes of the losses.
    pub blame: Blame,
    /// Its operations, summed up by place.
    pub operations: OperationSums,
    /// The findings, most recoverable time first.
    pub findings: Vec<Finding>,
}

impl Whole {
    /// That of a run on so many processors (None = those that it really used). The profile needs its samples,
    /// operations and releases.
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn of(profile: &Profile, processors: Option<u32>) -> Result<Whole, LedgerError> {
        Whole::of_timelines(profile, &StoredTimelines::of(profile), processors)
    }

    /// As [`Whole::of`], where the timelines of the profile are there already.
    ///
    /// # Errors
    /// As [`Whole::of`].
    pub fn of_timelines(
        profile: &Profile,
        timelines: &StoredTimelines,
        processors: Option<u32>,
    ) -> Result<Whole, LedgerError> {
        let run = timelines.whole_run(profile);
        let given = processors.map(|total| Processors::given(&run, total)).transpose()?;
        let states = OperationStates::of(profile);
        let locations = marked::locations(profile);
        let question = locations.as_deref().map(marked::all);
        let asked = question.as_ref().map(|question| Asked::new(profile, &run, question));
        let mut insides = asked.as_ref().and_then(|asked| asked.insides(&run).ok());
        let (ledger, blame, queues) =
            blame_of_stored(profile, &states, &run, given.as_ref(), insides.as_mut())?;
        let processors = ledger.drawn_up_with();
        let intervals = || Some(asked?.answer(&run, insides?.finish(&processors)));
        let facts = Facts::new(profile, &states, &run, &ledger, &blame, queues, intervals);
        let found = KINDS.par_iter().flat_map_iter(|find| find(&facts)).collect();
        let findings = rank::ranked(&facts, found);
        let operations = facts.sums;
        Ok(Whole { ledger, blame, operations, findings })
    }
}

/// The account of the whole run and the findings of it ([`Whole`]).
///
/// # Errors
/// As [`Whole::of`].
pub fn findings(profile: &Profile, processors: Option<u32>) -> Result<(Ledger, Vec<Finding>), LedgerError> {
    let whole = Whole::of(profile, processors)?;
    Ok((whole.ledger, whole.findings))
}
