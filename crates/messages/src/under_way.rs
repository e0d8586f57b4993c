//! Endpoints whose partners have not been met yet.

use crate::endpoint::Endpoint;
use crate::observer::Calls;
use crate::waits::Side;

/// An endpoint while it is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Under {
    pub(crate) process: u32,
    pub(crate) endpoint: Endpoint,
}

impl Under {
    /// As far as waiting goes.
    pub(crate) fn side(&self) -> Side {
        let Endpoint { started, end, ended, .. } = self.endpoint;
        Side { begin_ns: started.begin_ns, waited: end.waited().map(|_| ended) }
    }

    /// The calls that began and completed it.
    pub(crate) fn calls(&self) -> Calls {
        let Endpoint { start, started, end, ended, .. } = self.endpoint;
        Calls { start: (self.process, start), started, end, ended }
    }
}
