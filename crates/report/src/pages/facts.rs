//! The parts of pages that say what ran and how far the numbers can be trusted.

use std::collections::HashSet;

use proust_analysis::ledger::{Accounts, Ledger};
use proust_profile::{Profile, Quality};
use serde::Serialize;

/// The block `run`.
#[derive(Debug, Serialize)]
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
}

impl RunBlock {
    pub fn new(profile: &Profile, processors: u32) -> RunBlock {
        let facts = &profile.facts;
        let pids: HashSet<(&str, u32)> =
            profile.processes.iter().map(|process| (process.host.as_str(), process.pid)).collect();
        RunBlock {
            dir: facts.dir.clone(),
            command: facts.command.clone(),
            start_unix_s: facts.start_unix_s,
            wall_s: facts.wall_s,
            processors,
            available_processors: facts.available_processors,
            processes: pids.len(),
            threads: profile.locations.len(),
            ranks: profile.ranks(),
            host: facts.host.clone(),
            outcome: facts.outcome.clone(),
            asked_rate_hz: facts.asked_rate_hz,
        }
    }
}

/// The quality of the data, completed by what only the ledger knows.
pub(super) fn quality(profile: &Profile, ledger: &Ledger) -> Quality {
    let mut quality = profile.quality.clone();
    if ledger.total_ns > 0 {
        quality.account_residual = ledger.residual_ns().unsigned_abs() as f64 / ledger.total_ns as f64;
    }
    quality
}

/// Accounts and their seconds, without those that are zero.
pub(super) fn seconds_of(accounts: &Accounts) -> Vec<(&'static str, f64)> {
    accounts.iter().filter(|(_, ns)| *ns > 0).map(|(account, ns)| (account.id(), seconds(ns))).collect()
}

/// Seconds of a number of nanoseconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
