//! How the clocks of several hosts were brought to one.

use serde::{Deserialize, Serialize};

/// By what a host's clock was brought to that of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockBasis {
    /// The others were brought to its.
    Reference,
    /// Messages at the begin and end of MPI.
    Messages,
    /// The clock of day.
    ClockOfDay,
}

/// The clock of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostClock {
    /// The host's name.
    pub host: String,
    /// By what.
    pub basis: ClockBasis,
    /// What was added to its clock when it was first compared, ns.
    pub shift_ns: i64,
    /// By how much that grew, ns a second.
    pub drift_ppb: i64,
    /// How far off it may be where it was compared, ns; None = not known.
    pub error_ns: Option<u64>,
}
