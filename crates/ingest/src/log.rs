//! One log: the records of one process image.

use proust_log::layout::{Ending, FileHeader};
use proust_log::{Damage, Log, LogError};
use proust_profile::Spool;
use proust_structure::MadeCode;
use rayon::prelude::*;

use super::brief;
use super::interpreted::Codes;
use super::lane::{LaneHarvest, harvest as harvest_lane};
use super::thread::{Closing, LONGEST_RUN_NS, Limits, Thread, Weights};

/// Everything of one log that the profile is made of.
#[derive(Debug)]
pub(super) struct LogHarvest {
    /// The file's name in the folder of logs.
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) header: FileHeader,
    pub(super) damage: Damage,
    pub(super) lanes: Vec<LaneHarvest>,
    /// Sums over all rows, which outlive them.
    pub(super) weights: Weights,
    /// When recording was off, by the log's clock, in order and apart.
    pub(super) paused: Vec<(u64, u64)>,
    /// CPU time of the process meanwhile.
    pub(super) paused_cpu_ns: u64,
    /// Names of code that the process made at run time.
    pub(super) made: MadeCode,
}

/// Reads a log, its lanes side by side: first those of its process, then those of children without a log of
/// their own.
pub(super) fn harvest(
    name: &str,
    bytes: &[u8],
    spool: &Spool,
    codes: &Codes,
) -> Result<Vec<LogHarvest>, LogError> {
    let log = Log::parse(bytes)?;
    let mut damage = log.damage();
    let latest_ns = match damage.header {
        false => log.header.start_ns.saturating_add(LONGEST_RUN_NS).min(i64::MAX as u64),
        true => i64::MAX as u64,
    };
    let ended = Ending::from_number(log.header.ending) != Ending::Open;
    let limits = Limits { latest_ns, ends_without_room: ended && log.header.lost_thread_ends > 0, spool };
    let lanes: Vec<LaneHarvest> =
        log.lanes.par_iter().map(|lane| harvest_lane(lane, limits, codes)).collect();
    damage.skipped_bytes += lanes.iter().map(|lane| lane.skipped_bytes).sum::<u64>();
    let weights = Weights::sum(lanes.iter().flat_map(|lane| &lane.threads).map(|thread| thread.weights));
    let mut harvest = LogHarvest {
        name: name.into(),
        bytes: bytes.len() as u64,
        header: log.header,
        damage,
        lanes,
        weights,
        paused: Vec::new(),
        paused_cpu_ns: 0,
        made: MadeCode::default(),
    };
    let end_ns = harvest.end_ns();
    for thread in harvest.lanes.iter_mut().flat_map(|lane| &mut lane.threads) {
        thread.stay_until(end_ns);
        let last_ns = if thread.closing == Closing::LastSeen { end_ns } else { thread.end_ns };
        thread.executed.last_until(last_ns);
    }
    let children = brief::harvests(&log, &harvest, limits);
    Ok(core::iter::once(harvest).chain(children).collect())
}

impl LogHarvest {
    pub(super) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.lanes.iter().flat_map(|lane| &lane.threads)
    }

    pub(super) fn ending(&self) -> Ending {
        Ending::from_number(self.header.ending)
    }

    /// Begin of the measurement, CLOCK_MONOTONIC.
    pub(super) fn start_ns(&self) -> u64 {
        let first = || self.threads().map(|thread| thread.begin_ns).min();
        match self.damage.header {
            false => Some(self.header.start_ns),
            true => first(),
        }
        .unwrap_or(0)
        .min(i64::MAX as u64)
    }

    /// The last thing known of the process, CLOCK_MONOTONIC.
    pub(super) fn end_ns(&self) -> u64 {
        let last = self.threads().map(|thread| thread.end_ns).max().unwrap_or(0);
        let start = self.start_ns();
        let believable = start..=start.saturating_add(LONGEST_RUN_NS).min(i64::MAX as u64);
        let said = Some(self.header.end_ns).filter(|end| believable.contains(end));
        last.max(said.unwrap_or(0)).max(start)
    }

    /// CPU clock of the whole process during the measurement, pauses apart; None unless it ended in order.
    pub(super) fn process_cpu_ns(&self) -> Option<u64> {
        let ended = self.ending() != Ending::Open && !self.damage.header && self.header.end_ns != 0;
        ended
            .then(|| self.header.process_cpu_end_ns.checked_sub(self.header.process_cpu_start_ns))
            .flatten()
            .map(|cpu_ns| cpu_ns.saturating_sub(self.paused_cpu_ns))
            .filter(|&cpu| cpu < i64::MAX as u64)
    }

    /// CPU time of threads that ended without room for a last record; it cannot be more than was used.
    pub(super) fn unnamed_cpu_ns(&self) -> u64 {
        let most = match self.process_cpu_ns() {
            Some(process_ns) => process_ns,
            // Without the process's clock: no more processors than a machine may have, all the time.
            None => (self.end_ns() - self.start_ns())
                .saturating_mul(u64::from(self.header.online_processors.clamp(1, 1 << 16)))
                // Times have 63 bits: beyond 292 years it is damage.
                .min(i64::MAX as u64),
        };
        match self.header.lost_thread_ends {
            0 => 0,
            _ => self.header.lost_thread_cpu_ns.min(most.saturating_sub(self.weights.all_ns)),
        }
    }

    /// Whether anything of it was lost.
    pub(super) fn is_damaged(&self) -> bool {
        self.damage.any() || self.lanes.iter().any(|lane| lane.gaps > 0)
    }
}
