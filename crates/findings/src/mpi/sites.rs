//! Waits for partners by location and place of the call.

use proust_profile::{ContextId, LocationId, Ns, ProcessId, WaitPattern};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::finding::Kind;
use super::time;

/// Where a location waited.
pub(super) type Site = (LocationId, ContextId);

/// The waits at a site.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    /// For a sender, for a receiver, and in a collective.
    times: [Ns; 3],
    /// How many of them.
    pub(super) count: u64,
}

/// The waits of a run.
#[derive(Debug, Default)]
pub(super) struct Sites(FxHashMap<Site, Waits>);

/// What is said of waits in messages and in collectives, in the order of [`Waits::times`].
pub(super) const KINDS: [Kind; 3] = [Kind::MpiLateSender, Kind::MpiLateReceiver, Kind::MpiImbalance];

fn class(pattern: WaitPattern) -> usize {
    match pattern {
        WaitPattern::LateSender => 0,
        WaitPattern::LateReceiver => 1,
        _ => 2,
    }
}

impl Sites {
    pub(super) fn of(facts: &Facts<'_>) -> Sites {
        let mut sites = Sites::default();
        for wait in &facts.profile.partner_waits {
            let waits = sites.0.entry((wait.location, wait.context)).or_default();
            waits.times[class(wait.pattern)] += time(wait);
            waits.count += 1;
        }
        sites
    }

    /// Which of [`KINDS`] most of the waiting at a site was.
    pub(super) fn kind(&self, site: Site) -> Option<usize> {
        let waits = self.0.get(&site)?;
        (0..KINDS.len()).max_by_key(|&class| waits.times[class])
    }

    /// Where the threads of a process waited for senders, and how long.
    pub(super) fn of_process(&self, facts: &Facts<'_>, process: ProcessId) -> Vec<(Site, Ns)> {
        let mine = self.0.iter().filter(|(site, _)| facts.profile.locations[site.0].process == process);
        mine.map(|(&site, waits)| (site, waits.times[0])).filter(|(_, time)| time.is_positive()).collect()
    }

    /// How often a location waited at a site.
    pub(super) fn times(&self, site: Site) -> u64 {
        self.0.get(&site).map_or(0, |waits| waits.count)
    }
}
