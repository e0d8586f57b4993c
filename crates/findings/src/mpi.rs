//! Messages and collectives of MPI.
//!
//! - `sites`: waits for partners by the place of the call
//! - `path`: the critical path by function of the program
//! - `groups`: what late ranks did while others waited for them
//! - `late`: ranks that others wait for, in messages and in collectives
//! - `alone`: what one rank does while all others wait for it; `end`: the same at the end of MPI
//! - `idle`: a rank that only waits for the others
//! - `chains`: waits that follow from each other: one rank works after the other
//! - `call_sites`: all calls by location and call site
//! - `calls`: many small messages, collectives that follow each other at once
//! - `data`: much data in large messages; `accesses`: many small accesses to memory of others and to files
//! - `repeated`: communicators made again and again, questions that find nothing
//! - `order`: messages that a rank could have taken while it waited for another one
//!
//! A busy machine makes ranks late as well. So what is counted is what late ranks did with a processor, and
//! a finding is more than possible only where some ranks are waited for much more than they wait.

mod accesses;
mod alone;
mod call_sites;
mod calls;
mod chains;
mod data;
mod end;
mod groups;
mod idle;
mod late;
mod links;
mod order;
mod path;
mod repeated;
mod sites;
mod spent;

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::{LocationId, Ns, PartnerWaitRow, ProcessId};

use super::facts::Facts;
use super::finding::Finding;
use path::OnPath;
use sites::Sites;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.profile.communicators.is_empty() {
        return Vec::new();
    }
    let by_waits = || {
        let sites = Sites::of(facts);
        let path = OnPath::of(facts);
        let mut found = late::find(facts, &sites, path.as_ref());
        found.extend(path.iter().flat_map(|path| end::find(facts, path)));
        found.extend(idle::find(facts, &sites));
        found.extend(chains::find(facts, &sites));
        found.extend(order::find(facts, &sites));
        found
    };
    let (mut found, by_calls) = rayon::join(by_waits, || calls::find(facts));
    found.extend(by_calls);
    found
}

/// Ranks that a finding names.
const RANKS: usize = 4;
/// The least part of a loss of a rank that is named.
const PART: f64 = 0.1;

/// The ranks with most of this time, most first; and the largest part of one process.
fn ranks(facts: &Facts<'_>, by_location: &BTreeMap<LocationId, Ns>) -> (Vec<u32>, f64) {
    let mut by_process: BTreeMap<ProcessId, Ns> = BTreeMap::new();
    for (&location, &time) in by_location {
        *by_process.entry(facts.profile.locations[location].process).or_default() += time;
    }
    let all: Ns = by_process.values().sum();
    let mut order: Vec<(ProcessId, Ns)> = by_process.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = order.first().map_or(0.0, |&(_, time)| time / all.max(Ns::SHORTEST));
    let named = order.iter().filter(|&&(_, time)| time >= all * PART).take(RANKS);
    (named.filter_map(|&(id, _)| facts.profile.processes[id].rank).collect(), largest)
}

/// Of the time before partners arrived, the part on a processor: ranks look again and again.
fn spinning_share(facts: &Facts<'_>) -> f64 {
    facts.burned_share(None, |id| facts.spent(id, &[Account::MpiPartner]))
}

fn time(wait: &PartnerWaitRow) -> Ns {
    Ns::of(wait.length_ns())
}
