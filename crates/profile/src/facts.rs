//! Facts about the run as a whole, and how far the numbers can be trusted.

use serde::{Deserialize, Serialize};

use crate::clocks::HostClock;
use crate::messages::MessageQuality;
use crate::notes::RunNote;
use crate::run_file::Stop;
use crate::{Ns, ProcessId};

/// In [`RunFacts::outcome`]: the command runs still, or `record` was killed before it could write that.
pub const NOT_ENDED: &str = "not ended";

/// An outcome as part of a sentence.
pub fn ending(outcome: &str) -> String {
    match outcome {
        NOT_ENDED => "not ended: it still runs, or its recording was killed".into(),
        outcome => format!("ended with {outcome}"),
    }
}

/// The run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Folder of the run as the user named it.
    pub dir: String,
    /// The recorded command.
    pub command: Vec<String>,
    /// Start, seconds since 1970.
    pub start_unix_s: f64,
    /// From the start of the first measured process to the end of the last.
    #[serde(rename = "wall_ns")]
    pub wall: Ns,
    /// Processors the run may use (affinity and CPU bandwidth limit).
    pub available_processors: u32,
    /// Samples asked for per second of CPU time.
    pub asked_rate_hz: u32,
    /// The kernel's tick: a CPU timer fires at most once in it.
    #[serde(rename = "tick_ns")]
    pub tick: Ns,
    /// Host of the first process.
    pub host: String,
    /// How the command ended: `exit N`, `signal N (NAME)`, [`NOT_ENDED`], or `unknown`.
    pub outcome: String,
    /// How long the host of this virtual machine had the processors that the run may use, summed
    /// over them, whichever process would have used them; None if that is not known.
    #[serde(default, rename = "stolen_ns", skip_serializing_if = "Option::is_none")]
    pub stolen: Option<Ns>,
    /// How long its control group had used up the processor time that it may have, summed over
    /// processors; None where nothing limits it.
    #[serde(default, rename = "throttled_ns", skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Ns>,
    /// When processes of [`RunFacts::host`] were stopped, since the run's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// When recording was off in a process, since the run's start: by process and time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Paused>,
    /// The user's rules for what waits count as, as they were when the profile was made; empty = none.
    #[serde(default)]
    pub wait_rules: String,
}

/// A stretch in which recording was off in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// The process.
    pub process: ProcessId,
    /// Begin, ns since the run's start.
    pub begin_ns: u64,
    /// End, ns since the run's start; where it lasted, the last thing known of the process.
    pub end_ns: u64,
}

/// How far the numbers can be trusted. Pages have it in JSON as it is: times are seconds there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Samples taken.
    pub samples: u64,
    /// Samples per second of CPU time that were delivered.
    pub delivered_rate: f64,
    /// Share of samples whose call path is complete.
    pub complete_paths: f64,
    /// Samples with a path whose upper end was not found.
    pub partial_paths: u64,
    /// Largest |Σ weights − CPU clock| / CPU clock over the processes that ended in order.
    ///
    /// Both are thread CPU clocks: the advance between the first and the last record of each thread. It shows
    /// what was clamped or lost on the way, not what a thread used outside its records.
    pub cpu_residual: f64,
    /// Σ over processes |Σ threads' CPU time − CPU clock of the process| / Σ CPU clocks of the processes,
    /// over those that ended in order. The clocks are read at slightly different instants, and the process
    /// clock has what a thread used before its first and after its last record.
    #[serde(default)]
    pub process_residual: f64,
    /// CPU time whose records were lost; shown as `[lost records]`.
    #[serde(default, rename = "lost_records_s", with = "crate::time::in_seconds")]
    pub lost_records: Ns,
    /// CPU time whose samples could not be stored; shown as `[not recorded: size budget used up]`.
    #[serde(default, rename = "unrecorded_s", with = "crate::time::in_seconds")]
    pub unrecorded: Ns,
    /// Records whose clock contradicted the thread's other records; they were clamped.
    #[serde(default)]
    pub implausible_records: u64,
    /// |total − Σ accounts| / total.
    pub account_residual: f64,
    /// Intercepted operations recorded.
    pub events: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Time inside Proust's handlers and hooks.
    #[serde(rename = "measurement_s", with = "crate::time::in_seconds")]
    pub measurement: Ns,
    /// Bytes of all logs.
    pub log_bytes: u64,
    /// Call paths that were compared with a full unwind (debug mode).
    pub paths_compared: u64,
    /// Of these, the ones that differed.
    pub path_mismatches: u64,
    /// Samples that were merged into the next one.
    pub overruns: u64,
    /// Samples that were delivered well past their instant, as what ran then may have made them.
    #[serde(default)]
    pub late_samples: u64,
    /// Samples that were delivered at a tick of the kernel's instead of at their instant: for work that
    /// repeats in step with the tick, amounts may be further off than their error.
    #[serde(default)]
    pub tick_samples: u64,
    /// Samples that fell into Proust's own code.
    pub skipped_samples: u64,
    /// Damaged bytes skipped in the logs.
    pub damaged_bytes: u64,
    /// Logs that could not be read at all.
    #[serde(default)]
    pub unread_logs: u64,
    /// Processes and programs of the run that were seen to start and left no log.
    #[serde(default)]
    pub unfollowed_processes: u64,
    /// Process images that did not end in order: killed, crashed, or still running.
    #[serde(default)]
    pub open_processes: u64,
    /// Threads of which nothing is known but that there were some.
    #[serde(default)]
    pub unmeasured_threads: u64,
    /// Threads without samples because the system refused a timer.
    #[serde(default)]
    pub untimed_threads: u64,
    /// Threads that were found running: their time before that is not known.
    #[serde(default)]
    pub late_threads: u64,
    /// Threads whose last record, or whose every record, is missing.
    #[serde(default)]
    pub threads_without_end: u64,
    /// Whether it is not known how the command ended: it still ran, or `record` was killed.
    #[serde(default)]
    pub unfinished: bool,
    /// How the clocks of the hosts were brought to one; empty of a run on one host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<HostClock>,
    /// Of messages of MPI; None = there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageQuality>,
    /// What a reader must know: what is missing, why, and what still holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<RunNote>,
}
