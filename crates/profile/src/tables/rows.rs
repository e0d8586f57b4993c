//! The rows of a profile: by far the largest tables, which most pages do without.

use crate::{
    BrokenInvariant, Events, ExecutionRow, PartnerWaits, Profile, Releases, Samples, Stays, Transfers,
    invariants,
};

/// The rows of a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The timeline of samples.
    pub samples: Samples,
    /// The timeline of operations.
    pub events: Events,
    /// The timeline of releases and wakes.
    pub releases: Releases,
    /// The timeline of stays in parallel regions.
    pub stays: Stays,
    /// The timeline of executions of marked intervals.
    pub executions: Vec<ExecutionRow>,
    /// The timeline of waits for partners.
    pub partner_waits: PartnerWaits,
    /// The timeline of messages, by the calls that started them.
    pub transfers: Transfers,
}

impl Rows {
    /// Gives a profile its rows.
    pub fn give_to(self, profile: &mut Profile) {
        let Rows { samples, events, releases, stays, executions, partner_waits, transfers } = self;
        (profile.samples, profile.events) = (samples, events);
        (profile.releases, profile.stays) = (releases, stays);
        (profile.executions, profile.partner_waits) = (executions, partner_waits);
        profile.transfers = transfers;
    }

    /// Whether they can be those of this profile.
    pub(super) fn check(&self, profile: &Profile) -> Result<(), BrokenInvariant> {
        invariants::check_samples(&self.samples, profile)?;
        invariants::check_events(&self.events, profile)?;
        invariants::check_releases(&self.releases, profile)?;
        invariants::check_stays(&self.stays, profile)?;
        invariants::check_executions(&self.executions, profile)?;
        invariants::check_partner_waits(&self.partner_waits, profile)?;
        invariants::check_transfers(&self.transfers, profile)
    }
}
