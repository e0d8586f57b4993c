//! Endpoints whose partners have not been met yet.

use crate::call::{CallId, Collective, Partner};
use crate::endpoint::End;
use crate::run::Run;
use crate::waits::Side;

/// An endpoint while it is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Under {
    pub(crate) process: u32,
    pub(crate) start: CallId,
    pub(crate) begin_ns: u64,
    pub(crate) end: End,
    pub(crate) bytes: u64,
    pub(crate) is_buffered: bool,
}

/// A member's part of a collective while others have not called it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attending {
    pub(crate) of: Under,
    pub(crate) kind: Collective,
    pub(crate) operation: u32,
    pub(crate) root: Partner,
}

/// As far as waiting goes.
pub(crate) fn side(run: &Run, under: Under) -> Side {
    let waited = under.end.waited().map(|call| run.processes[under.process as usize].times(call));
    Side { begin_ns: under.begin_ns, waited }
}
