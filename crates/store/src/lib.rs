//! All that is kept of a run, behind one lazy handle.
//!
//! The first question to a run analyses its logs; the results are kept in its folder, and later questions
//! read them, as long as they fit the logs. [`Run`] is the only way to them: whoever asks it for a part gets
//! the part or an error, whether it was kept, is read now, or has to be computed first.
//!
//! - `run`: the handle; `error`: why it cannot answer; `note`: what its user should know beside the answer
//! - `freshness`: what an analysis is made from, and whether a kept one still fits
//! - `analysis`: the way from the logs to all that is kept; `whole`: the results beside the profile's tables;
//!   `kept_timelines`: the timelines of states beside them
//! - `memory`: how much of it analyses use; `allocator`: what is freed is given back
//! - `rules`: the user's rules for waits; `reading`: many runs at once
//!
//! How an analysis takes the place of another is the profile's ([`proust_profile::tables::Building`]).

mod allocator;
mod analysis;
mod error;
mod freshness;
mod kept_timelines;
mod memory;
mod note;
mod reading;
mod rules;
mod run;
mod whole;

pub use analysis::keep;
pub use error::StoreError;
pub use freshness::is_kept;
pub use memory::limit_memory;
pub use note::{Note, Outdated};
pub use reading::read_side_by_side;
pub use rules::WaitRules;
pub use run::Run;
