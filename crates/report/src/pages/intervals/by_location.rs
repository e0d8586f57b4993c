//! What each location spent in an interval, and the least and the most of each account over them.

use std::collections::BTreeMap;

use proust_account::ledger::{Account, Accounts, PassiveTimes};
use proust_profile::{LocationId, Profile};
use proust_query::Handle;
use proust_query::intervals::OfLocation;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::locations::{Seconds, accounts_of, passive_of};
use super::scaled;
use crate::number::sum;

/// An account over the locations that execute an interval.
#[derive(Debug, Serialize)]
pub(super) struct Comparative {
    pub(super) min_s: f64,
    pub(super) min_at: String,
    pub(super) max_s: f64,
    pub(super) max_at: String,
    pub(super) mean_s: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct LocationRow {
    pub(super) handle: String,
    pub(super) process: u32,
    pub(super) rank: Option<u32>,
    pub(super) thread: u32,
    pub(super) name: String,
    pub(super) executions: u64,
    pub(super) begin_s: f64,
    pub(super) end_s: f64,
    pub(super) time_s: f64,
    pub(super) min_s: f64,
    pub(super) max_s: f64,
    pub(super) iterations: u64,
    pub(super) active_s: f64,
    pub(super) passive_s: f64,
    pub(super) accounts: Seconds,
    pub(super) passive: Seconds,
}

impl LocationRow {
    pub(super) fn new(
        profile: &Profile,
        id: LocationId,
        of: &OfLocation,
        (accounts, passive): (&Accounts, &PassiveTimes),
        scale: f64,
    ) -> LocationRow {
        let location = &profile.locations[id];
        let process = &profile.processes[location.process];
        LocationRow {
            handle: Handle::Location(id).to_string(),
            process: process.pid,
            rank: process.rank,
            thread: location.tid,
            name: location.name.clone(),
            executions: of.executions,
            begin_s: seconds(of.begin_ns),
            end_s: seconds(of.end_ns),
            time_s: seconds(of.time_ns),
            min_s: seconds(of.min_ns),
            max_s: seconds(of.max_ns),
            iterations: of.iterations,
            active_s: seconds(accounts.sum_ns()) * scale,
            passive_s: seconds(passive.sum_ns()) * scale,
            accounts: scaled(accounts_of(accounts), scale),
            passive: scaled(passive_of(passive), scale),
        }
    }
}

/// Each account over the locations that execute the interval: those without it count as 0.
pub(super) fn comparative(locations: &[LocationRow]) -> BTreeMap<&'static str, Comparative> {
    let executing: Vec<&LocationRow> = locations.iter().filter(|row| row.executions > 0).collect();
    let mut all = BTreeMap::new();
    for account in Account::ALL {
        let of = |row: &&LocationRow| row.accounts.get(account.id()).copied().unwrap_or(0.0);
        let min = executing.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        let max = executing.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        if let (Some(min), Some(max)) = (min, max)
            && of(max) > 0.0
        {
            all.insert(
                account.id(),
                Comparative {
                    min_s: of(min),
                    min_at: min.handle.clone(),
                    max_s: of(max),
                    max_at: max.handle.clone(),
                    mean_s: sum(executing.iter().map(of)) / executing.len() as f64,
                },
            );
        }
    }
    all
}
