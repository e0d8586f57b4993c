//! The locations of an interval, and each account over them.

use std::collections::BTreeMap;

use proust_account::ledger::{Account, Accounts, PassiveTimes};
use proust_profile::{LocationId, Profile};
use proust_query::Handle;
use proust_query::intervals::OfLocation;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::locations::{Seconds, accounts_of, passive_of};
use crate::number::sum;

/// An account over the locations that execute an interval.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comparative {
    pub min_s: f64,
    pub min_at: String,
    pub max_s: f64,
    pub max_at: String,
    pub mean_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LocationRow {
    pub handle: String,
    pub process: u32,
    pub rank: Option<u32>,
    pub thread: u32,
    pub name: String,
    pub executions: u64,
    pub begin_s: f64,
    pub end_s: f64,
    pub time_s: f64,
    pub min_s: f64,
    pub max_s: f64,
    pub iterations: u64,
    pub active_s: f64,
    pub passive_s: f64,
    pub accounts: Seconds,
    pub passive: Seconds,
}

impl LocationRow {
    pub fn new(
        profile: &Profile,
        id: LocationId,
        of: &OfLocation,
        (accounts, passive): (&Accounts, &PassiveTimes),
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
            active_s: seconds(accounts.sum_ns()),
            passive_s: seconds(passive.sum_ns()),
            accounts: accounts_of(accounts),
            passive: passive_of(passive),
        }
    }
}

pub(super) fn scaled(mut amounts: Seconds, scale: f64) -> Seconds {
    amounts.values_mut().for_each(|seconds| *seconds *= scale);
    amounts
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
