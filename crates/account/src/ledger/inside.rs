//! The account of the time inside: what the slots of a process come to while something of it is executed.
//!
//! One sweep for everything that is executed, however often and however nested. The ledger's own may be that
//! sweep: it does not notice the borders of executions. At a border the acts of those locations that it is of
//! are looked at, and the amounts up to there are added to the set of what was executed until then. The sums
//! of each set are added to all that is in it at the end only, so that an amount costs the same at any depth.
//!
//! - `opened`: the observer, with what is executed at the instant that the sweep has got to
//! - `sums`: amounts by set, and by what is executed
//! - `finished`: from these to accounts
//! - `weighted`: where executions stand for others

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, ProcessId};
use serde::Serialize;

use super::account::{Account, Accounts};
use super::error::LedgerError;
use super::owners::Owners;
use super::processors::Processors;
use super::result::refuse_too_long;
use super::state::PassiveTimes;
use super::sweep::Sweep;
use super::timeline::{Run, Spans};
use super::windows::{Window, Windows};

mod finished;
mod opened;
mod sums;
mod weighted;

pub use opened::Insides;

/// Something is executed by a location, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// What: a number of the caller's.
    pub what: u32,
    /// By which location.
    pub location: LocationId,
    /// From when to when.
    pub window: Window,
}

/// The account of the time in which something was executed.
///
/// The slots of the owners that execute it are integrated over the time of its executions: other threads of
/// its process, and those that do nothing, count in it. Where several locations of one process execute it at
/// once, each counts for itself alone instead, and there are no slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inside {
    /// Processors of the owners that execute it; 0 where locations count for themselves.
    pub processors: u32,
    /// Whether each location counts for itself alone.
    pub alone: bool,
    /// Time of its executions, where several overlap once, summed over the owners, ns.
    pub wall_ns: u64,
    /// P × T, or the active time of the locations that count for themselves, ns.
    pub total_ns: u64,
    /// The accounts; they sum to the total.
    pub accounts: Accounts,
    /// Time of locations beyond the processors, which is no part of the total, ns.
    pub beyond_ns: u64,
    /// What each location did meanwhile, by location. With what is beyond the processors.
    pub locations: BTreeMap<LocationId, (Accounts, PassiveTimes)>,
    /// The part of a location's accounts that is beyond the processors, where there is any.
    pub beyond: BTreeMap<LocationId, Accounts>,
    /// The owner of the slots that each location uses: a position in `owners`.
    pub owner_of: BTreeMap<LocationId, usize>,
    /// The part of a location's accounts that it spent inside parallel regions.
    pub in_regions: BTreeMap<LocationId, Accounts>,
    /// The owners of slots that execute it.
    pub owners: Vec<InsideOwner>,
    /// What was lost, by place. Of each account that can be lost these sum to the account, but for `idle`,
    /// which belongs to no place. Sorted.
    #[serde(skip)]
    pub lost: Vec<LostRow>,
}

/// What was lost in a place while something was executed there or elsewhere: a location's own time, or empty
/// slots charged to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostRow {
    /// On which account.
    pub account: Account,
    /// By which location.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// How long, ns.
    pub ns: u64,
}

/// What the slots of one owner came to while something was executed. Where locations count for themselves
/// there are no slots, and only the owner is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InsideOwner {
    /// The owner's process.
    pub process: ProcessId,
    /// Its processors.
    pub processors: u32,
    /// Time of its executions, where several overlap once, ns.
    pub wall_ns: u64,
    /// Of it, recording was paused, ns.
    pub paused_ns: u64,
    /// Empty slots while others worked outside of parallel regions, ns.
    pub serial_ns: u64,
    /// Empty slots while others worked inside of them, ns.
    pub narrow_ns: u64,
    /// Slots while all locations were passive, ns.
    pub asleep_ns: u64,
    /// All empty slots, by account.
    pub slots: Accounts,
    /// P × T of its executions, ns.
    pub total_ns: u64,
    /// Time of its locations beyond its processors, ns.
    pub beyond_ns: u64,
}

/// Executions of things that are accounted for in parts: what parts of one thing say can be weighted and
/// added up ([`Inside::weighted`]).
#[derive(Clone, Copy, Debug)]
pub struct InParts<'e> {
    /// Of which thing each part is.
    pub thing_of: &'e [u32],
    /// Executions of parts; those of one thing by one location do not overlap.
    pub executed: &'e [Executed],
    /// Windows in which further executions of a thing lie, nobody knows where: they may overlap with those of
    /// other locations.
    pub somewhere: &'e [Executed],
    /// A thing of which nobody asks where time was lost: its [`Inside::lost`] is empty.
    pub without_places: Option<u32>,
}

/// Draws up the account of the time in which each `what` of `executed` was executed, below `count`; within
/// `windows`.
///
/// Time O(n log m + b·k) for n spans of m locations, k in a process, and b borders; where locations count for
/// themselves a border costs the same for any number of them. Memory O(b), and for each location the places
/// of its losses by sets of what is executed at once, of which a bounded number is kept.
///
/// # Errors
/// As [`super::Ledger::of`].
pub fn inside<S: Spans>(
    run: &Run<S>,
    processors: &Processors,
    windows: &Windows,
    count: usize,
    executed: &[Executed],
) -> Result<Vec<Inside>, LedgerError> {
    let thing_of: Vec<u32> = (0..count as u32).collect();
    let parts = InParts { thing_of: &thing_of, executed, somewhere: &[], without_places: None };
    inside_in_parts(run, processors, windows, &parts)
}

/// As [`inside`], by part. Locations of a thing count for themselves in all of its parts or in none.
///
/// # Errors
/// As [`super::Ledger::of`].
pub fn inside_in_parts<S: Spans>(
    run: &Run<S>,
    processors: &Processors,
    windows: &Windows,
    parts: &InParts<'_>,
) -> Result<Vec<Inside>, LedgerError> {
    let owners = Owners::new(&run.processes)?;
    refuse_too_long(run, &owners, processors, windows)?;
    let mut insides = Insides::new(run, windows, parts)?;
    Sweep::new(run, &owners, processors, windows)?.run(run, owners.life, windows, &mut insides);
    Ok(insides.finish(processors))
}
