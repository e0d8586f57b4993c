//! The efficiencies of the POP centre: of ranks, and of those with threads.

use proust_profile::{Ns, ProcessId, Profile};
use proust_query::mpi::efficiency::Efficiency;
use proust_query::mpi::hybrid::Hybrid;
use schemars::JsonSchema;
use serde::Serialize;

use super::hybrid::{self, HybridLine};
use super::row::ProcessName;

/// The POP efficiencies of the whole run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EfficiencyLine {
    pub(super) time_s: f64,
    pub(super) ideal_s: Option<f64>,
    pub(super) parallel_efficiency: f64,
    pub(super) load_balance: f64,
    pub(super) communication_efficiency: f64,
    pub(super) serialisation_efficiency: Option<f64>,
    pub(super) transfer_efficiency: Option<f64>,
    pub(super) outside: Vec<OutsideLine>,
    /// Null where no rank has threads in parallel regions, or where that is not known.
    pub(super) hybrid: Option<HybridLine>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hybrid_unknown: Option<&'static str>,
}

/// A process's time outside of MPI.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OutsideLine {
    #[serde(flatten)]
    pub(super) process: ProcessName,
    pub(super) seconds: f64,
}

impl EfficiencyLine {
    pub(super) fn new(profile: &Profile, of: &Efficiency) -> EfficiencyLine {
        let outside = |&(id, time): &(ProcessId, Ns)| OutsideLine {
            process: ProcessName::new(profile, id),
            seconds: time.as_seconds(),
        };
        let hybrid = Hybrid::of(profile, of);
        EfficiencyLine {
            time_s: of.time.as_seconds(),
            ideal_s: of.ideal.map(Ns::as_seconds),
            parallel_efficiency: of.parallel,
            load_balance: of.load_balance,
            communication_efficiency: of.communication,
            serialisation_efficiency: of.serialisation,
            transfer_efficiency: of.transfer,
            outside: of.outside.iter().map(outside).collect(),
            hybrid: hybrid.as_ref().and_then(|of| of.as_ref().ok()).map(|of| HybridLine::new(profile, of)),
            hybrid_unknown: hybrid.and_then(Result::err).map(hybrid::unknown),
        }
    }
}
