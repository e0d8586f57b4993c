//! The parts of pages that show the run and how far the numbers can be trusted.

use std::mem;
use std::ops::Deref;

use proust_account::ledger::{Account, Accounts, Ledger};
use proust_profile::context::{LOST_RECORDS, NOT_RECORDED};
use proust_profile::notes::RunNote;
use proust_profile::{ContextId, LocationId, Ns, Profile, Quality};
use proust_query::Selection;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;

use crate::question::Question;
use crate::wording::Notes;

/// The block `run`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunBlock {
    pub dir: String,
    pub command: Vec<String>,
    pub start_unix_s: f64,
    pub wall_s: f64,
    pub processors: u32,
    pub available_processors: u32,
    pub processes: usize,
    pub threads: usize,
    pub ranks: usize,
    pub host: String,
    pub outcome: String,
    pub asked_rate_hz: u32,
    /// What the host of a virtual machine took of the processors; null if that is not known.
    pub stolen_s: Option<f64>,
    /// The most memory that any of its processes had resident at once; null if that is not known.
    pub peak_resident_bytes: Option<u64>,
}

impl RunBlock {
    pub fn new(profile: &Profile, processors: u32) -> RunBlock {
        let facts = &profile.facts;
        let pids: FxHashSet<(&str, u32)> =
            profile.processes.iter().map(|process| (process.host.as_str(), process.pid)).collect();
        RunBlock {
            dir: facts.dir.clone(),
            command: facts.command.clone(),
            start_unix_s: facts.start_unix_s,
            wall_s: facts.wall.as_seconds(),
            processors,
            available_processors: facts.available_processors,
            processes: pids.len(),
            threads: profile.locations.len(),
            ranks: profile.ranks(),
            host: facts.host.clone(),
            outcome: facts.outcome.clone(),
            asked_rate_hz: facts.asked_rate_hz,
            stolen_s: facts.stolen.map(Ns::as_seconds),
            peak_resident_bytes: (profile.processes.iter())
                .filter_map(|process| process.peak_resident_bytes)
                .max(),
        }
    }
}

/// The block `quality`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QualityBlock {
    #[serde(flatten)]
    #[schemars(with = "crate::described::QualityNumbers")]
    pub numbers: Quality,
    #[serde(flatten)]
    pub notes: Notes,
}

impl Deref for QualityBlock {
    type Target = Quality;

    fn deref(&self) -> &Quality {
        &self.numbers
    }
}

/// The quality of the data, completed by amounts from the ledger.
///
/// Under a filter, amounts that can be counted by samples are those of the samples in scope; amounts of logs,
/// processes and clocks stay those of the whole run. Notes about processes are those about the processes in
/// scope.
pub(super) fn quality(selection: &Selection<'_>, question: &Question, ledger: &Ledger) -> QualityBlock {
    let profile = selection.profile();
    let mut quality = profile.quality.clone();
    if !question.filter.is_empty() {
        let (mut cpu_ns, mut lost_ns, mut unrecorded_ns) = (0, 0, 0);
        (quality.samples, quality.partial_paths) = (0, 0);
        let function = |context: ContextId| {
            let function = profile.contexts[context].function;
            function.map_or("", |function| profile.functions[function].name.as_str())
        };
        for row in profile.samples.iter().filter(|row| selection.has_sample(row)) {
            quality.samples += u64::from(!row.tail);
            quality.partial_paths += u64::from(!row.tail && row.partial);
            cpu_ns += row.cpu_ns;
            match function(row.context) {
                LOST_RECORDS if row.tail => lost_ns += row.cpu_ns,
                NOT_RECORDED if row.tail => unrecorded_ns += row.cpu_ns,
                _ => {}
            }
        }
        quality.delivered_rate = if cpu_ns > 0 { quality.samples as f64 / seconds(cpu_ns) } else { 0.0 };
        quality.complete_paths = match quality.samples {
            0 => 1.0,
            samples => 1.0 - quality.partial_paths as f64 / samples as f64,
        };
        (quality.lost_records, quality.unrecorded) = (Ns::of(lost_ns), Ns::of(unrecorded_ns));
        let pid_of = |&id: &LocationId| profile.processes[profile.locations[id].process].pid;
        let pids: FxHashSet<u32> = selection.locations().iter().map(pid_of).collect();
        quality.notes.retain(|note| pid(note).is_none_or(|pid| pids.contains(&pid)));
    }
    // The time of the ledger's threads on it, beyond the processors or not: one number on all pages.
    if !ledger.locations.is_empty() {
        let own_ns = ledger.locations.iter().map(|row| row.accounts[Account::Measurement]).sum();
        quality.measurement = Ns::of(own_ns);
    }
    if ledger.total_ns > 0 {
        quality.account_residual = ledger.residual_ns().unsigned_abs() as f64 / ledger.total_ns as f64;
    }
    let notes = Notes::of(&mem::take(&mut quality.notes));
    QualityBlock { numbers: quality, notes }
}

/// The process that a note is about, where it is about one.
fn pid(note: &RunNote) -> Option<u32> {
    let fields = serde_json::to_value(note).ok()?;
    fields.get("process")?.get("pid")?.as_u64()?.try_into().ok()
}

/// Accounts and their seconds, without those that are zero.
pub(super) fn seconds_of(accounts: &Accounts) -> Vec<(&'static str, f64)> {
    accounts.iter().filter(|(_, ns)| *ns > 0).map(|(account, ns)| (account.id(), seconds(ns))).collect()
}

/// Seconds of a number of nanoseconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
