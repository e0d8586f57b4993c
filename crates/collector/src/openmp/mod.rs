//! Parallel regions of OpenMP: which threads work in them, what they wait for, and what causes the waits.
//!
//! Two interfaces, one result: of GCC's runtime the program's calls are intercepted ([`gomp`]), LLVM's and
//! Intel's report to tools themselves ([`ompt`]). Both report the same few things to [`team`]: a region is
//! opened, a thread begins and ends its part in it, a thread waits, the region is over. A wait is an
//! operation like any other ([`crate::operation`]). Events that are too frequent for single records are
//! summed up by site ([`sites`]).
//!
//! - [`member`]: a thread's place
//! - [`team`]: the threads of a region, from its begin to its end
//! - [`arrivals`]: which thread arrived last at a barrier
//! - [`wait`], [`holders`]: waiting for all others, and for the thread in a section
//! - [`visits`]: which visits to barriers are measured, and how many there are of each; [`draws`] is the rule
//! - [`estimate`], [`long_gaps`], [`settling`]: how long those are that are not measured
//! - [`own_cost`]: the cost of measuring regions and sections
//! - [`regions`]: numbers for regions, by the call path that opens them
//! - [`sites`]: work and waits, by region and site
//! - [`tasks`]: deferred work, wherever it is done
//! - [`runtime`]: which library a construct ends up in

pub mod arrivals;
pub mod draws;
pub mod estimate;
pub mod gomp;
pub mod holders;
pub mod leaving;
pub mod long_gaps;
pub mod member;
pub mod ompt;
pub mod own_cost;
pub mod regions;
pub mod runtime;
pub mod settling;
pub mod sites;
mod state;
pub mod tasks;
pub mod team;
pub mod visits;
pub mod wait;

pub use member::Member;
pub use state::Owned;

use crate::lane::{Lane, Record};
use crate::source::Source;

/// Parallel regions as a source of data.
pub struct Regions;

impl Source for Regions {
    fn thread_born(&self, lane: &Lane, _: u32) {
        lane.member.forget();
    }

    fn record_begins(&self, record: &mut Record) {
        record.parallel.begin();
    }

    fn settle(&self, record: &mut Record) {
        record.parallel.sites.write(&mut record.output);
    }

    fn forked(&self) {
        regions::after_fork();
        holders::after_fork();
        runtime::callers::after_fork();
    }
}
