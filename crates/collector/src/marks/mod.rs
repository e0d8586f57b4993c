//! Marks: intervals that the program names, and its requests to the recording.
//!
//! A mark arrives by a front end: the functions that Proust's own header calls ([`table`]), or an interface
//! that the program was marked for before. Each makes a [`Mark`] of it and calls [`begin`] or [`end`].
//!
//! A thread has a stack of the intervals it is in. An interval has a number in the process, by thread, name,
//! the program's own number, the interval around it and the call path; records of samples and operations name
//! the innermost one. An execution is recorded when it has ended, in the short form; a thread that marks very
//! often has only one of n of an interval recorded alone, and sums of the others ([`executions`]). What a
//! thread is in when its process is killed is in its lane's header.
//!
//! - [`mark`]: begin and end
//! - [`open`]: the intervals that a thread is in
//! - [`definitions`]: numbers for intervals
//! - [`executions`]: how an execution gets into the log
//! - [`unmatched`]: marks that end nothing
//! - [`inherited`]: the intervals that a forked child is in from its begin
//! - [`requests`]: pause, resume, sample, name, elapsed time
//! - [`table`], [`attach`]: the functions for the header, and how programs get them
//! - [`foreign`]: marks that programs carry for other tools

use proust_log::records::{NoteCode, SwitchedTo, ThreadEnd};

use crate::lane::{Lane, Record};
use crate::source::Source;

pub mod attach;
pub mod definitions;
pub mod executions;
pub mod foreign;
pub mod inherited;
pub mod mark;
pub mod open;
pub mod requests;
mod state;
pub mod table;
pub mod unmatched;

pub use mark::{Mark, begin, end};
pub use state::Owned;

/// Marks as a source of data.
pub struct Marks;

impl Source for Marks {
    fn process_begins(&self, record: &mut Record, begin_ns: u64, is_fork: bool) {
        if is_fork {
            inherited::begin(record, begin_ns);
        }
    }

    fn thread_born(&self, lane: &Lane, _: u32) {
        lane.in_interval(0);
    }

    fn record_begins(&self, record: &mut Record) {
        record.marks.begin();
    }

    fn sampled(&self, record: &mut Record, time_ns: u64) {
        state::write_now_and_then(record, time_ns);
    }

    fn settle(&self, record: &mut Record) {
        state::settle(record);
    }

    fn record_ends(&self, record: &mut Record, end: &mut ThreadEnd) {
        state::leave_all(record, end.time_ns);
        let missed = record.marks.missed();
        if missed > 0 {
            record.note(NoteCode::MarksMissed, missed);
        }
    }

    fn switched(&self, _: &mut Record, _: SwitchedTo) {}

    fn forks(&self, record: &mut Record, _: u64) {
        inherited::note(record);
    }

    fn has_forked(&self) {
        inherited::forget();
    }

    fn forked(&self) {
        definitions::after_fork();
    }
}
