//! The ledger: where the processors' time went, as a pure function from timelines of states to accounts.
//!
//! At each instant a location is *working*, *waiting* for a partner or a holder, or *passive*: waiting for
//! work to appear, for what it started, or for the outside. A location is active while it works or waits.
//! With `P` processors ([`Processors`]), never more than those available, during the wall time `T` the run
//! has had
//!
//! ```text
//! total = P × T
//! ```
//!
//! and **the account closes**: every nanosecond of it is on exactly one account. With `A(t)` active locations
//! `A ≤ P` slots are filled, each by the account of what its location does. With `A > P` the slots are filled
//! by those computing, then by those in I/O or in a runtime, then by those waiting for a partner or holder,
//! then by those queued for a processor; the rest is *beyond the processors* ([`Ledger::beyond`]), by
//! account, outside of the total. A processor that was not there cannot be lost. The `P − A(t)` empty slots
//! are
//!
//! - `serial` if a location works, or `narrow` if that location is inside a parallel region: charged to those
//!   working, in equal parts;
//! - on the account of the wait if none works but one waits: charged to those waiting, in equal parts;
//! - `asleep` if all are passive;
//! - `idle` before a rank's start and after its end;
//! - `paused` while recording was switched off in one of the processes that use these slots.
//!
//! A rank's slots are filled and judged by the rank and its child processes alone. A run without ranks is one
//! owner of slots. Locations internal to a runtime, and processes outside all ranks (the launcher), are shown
//! but take part in nothing of this.
//!
//! For each location, what it spent, beyond the processors or not, plus its passive time is its wall time
//! ([`LocationAccounts`]). Sums are whole nanoseconds, so all these identities hold exactly; where a slot is
//! shared in parts, the rounding keeps sums.
//!
//! ```
//! use proust_account::ledger::*;
//! use proust_profile::{ContextId, LocationId, ProcessId};
//!
//! let process = Process::new(ProcessId(1), 0, 10);
//! let work = |end_ns| vec![Span::new(0, end_ns, State::Working(Work::Compute), ContextId(7))];
//! let timeline =
//!     |id, spans| Timeline { location: LocationId(id), process: process.id, service: false, spans };
//! let run = Run {
//!     timelines: vec![timeline(1, work(10)), timeline(2, work(6))],
//!     processes: vec![process.clone()],
//!     processor_sets: vec![], bound: Default::default(),
//! };
//! let processors = Processors::measured(&run, &Windows::all())?;
//! let ledger = Ledger::of(&run, &processors, &Windows::all())?;
//! assert_eq!(ledger.total_ns, 20);
//! assert_eq!((ledger.accounts[Account::Compute], ledger.accounts[Account::Serial]), (16, 4));
//! # Ok::<(), LedgerError>(())
//! ```

mod account;
mod act;
mod crowd;
mod demand;
mod error;
mod fixed;
mod inside;
mod kept;
mod merge;
mod observer;
mod owners;
mod pieces;
mod processors;
mod result;
mod rows;
mod slots;
mod state;
mod sweep;
#[cfg(test)]
pub(crate) mod tests;
mod timeline;
mod tournament;
mod windows;

pub use account::{Account, Accounts, Class, IoAs};
pub use error::LedgerError;
pub use inside::{Executed, InParts, Inside, InsideOwner, Insides, LostRow, inside, inside_in_parts};
pub use kept::parts_of_rows;
pub use merge::{Lasting, Merge};
pub use observer::WaitCharge;
pub use observer::{Begun, Booked, Border, Both, Observer, SlotsSoFar};
pub use processors::Processors;
pub use proust_profile::processor_set::{
    ProcessorSet, available as available_processors, first as first_processors,
};
pub use result::{Ledger, LocationAccounts, SlotAccounts};
pub use rows::{PassiveRow, Row};
pub use state::{PassiveReason, PassiveTimes, State, Wait, Work};
pub use timeline::{PartKind, Parts, Process, Run, Span, Spans, Timeline};
pub use windows::{Window, Windows};
