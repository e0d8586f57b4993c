//! How long the waits at barriers are where only drawn instances are measured: the estimate. A pure function.
//!
//! Between two readings of the clock a thread passes some barriers that are not drawn. How long that took in
//! all is known (the *gap*), and how often each site was visited. How much of it was waiting follows from the
//! drawn instances of the same sites; the rest of the gap is work. So the estimates always sum to time that
//! really passed, and no wait is longer than that: any excess that the drawn instances suggest is carried to
//! the next settlement.

/// The data of a site since the last settlement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Visits for which the drawn ones stand, and their waits times the visits that each represents, ns.
    waits: Ratio,
    /// The same of the work before the site.
    works: Ratio,
    /// Segments of work that ended here and lie in gaps, less the visits that were not drawn.
    more_segments: i64,
    /// Estimated waiting that no gap had room for yet, ns.
    owed_ns: u64,
    /// The time that the newest drawn instance represents, ns; and the most that one represented.
    newest_ns: Option<u64>,
    most_ns: u64,
}

/// A sum over drawn instances, and how many visits they represent. Those before the last settlement are kept
/// until there are newer ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ratio {
    ns: u64,
    weight: u64,
    is_old: bool,
}

impl Ratio {
    fn add(&mut self, ns: u64, weight: u64) {
        if self.is_old {
            *self = Ratio::default();
        }
        self.ns = self.ns.saturating_add(ns.saturating_mul(weight));
        self.weight += weight;
    }

    /// The estimated time of so many visits.
    fn of(&self, visits: u64) -> u64 {
        if self.weight == 0 {
            return 0;
        }
        saturated(u128::from(self.ns) * u128::from(visits) / u128::from(self.weight))
    }
}

impl Tally {
    /// A drawn instance that represents `weight` visits took `wait_ns`. Returns by how much the variance of
    /// the estimate grows, ns².
    ///
    /// One instance of each block is drawn, so that a block alone does not show how much instances differ:
    /// successive ones do. Half the square of their difference is the variance within a block, and more if
    /// the program goes from one phase to another.
    pub fn waited(&mut self, wait_ns: u64, weight: u64) -> f64 {
        self.waits.add(wait_ns, weight);
        let total_ns = wait_ns.saturating_mul(weight);
        self.most_ns = self.most_ns.max(total_ns);
        let before_ns = self.newest_ns.replace(total_ns).unwrap_or(total_ns);
        let difference = total_ns.abs_diff(before_ns) as f64;
        difference * difference / 2.0 * (1.0 - 1.0 / weight as f64)
    }

    /// The work before an instance was measured, and represents that before so many.
    pub fn worked(&mut self, work_ns: u64, weight: u64) {
        self.works.add(work_ns, weight);
    }

    /// The work before a visit that was not drawn was measured all the same.
    pub fn segment_was_measured(&mut self) {
        self.more_segments -= 1;
    }

    /// The work before a drawn instance lies in a gap.
    pub fn segment_was_not_measured(&mut self) {
        self.more_segments += 1;
    }
}

/// The estimated time of the visits of a site that were not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Waiting, ns.
    pub wait_ns: u64,
    /// Work before the site, ns.
    pub work_ns: u64,
}

/// Divides a gap of `gap_ns` among the sites, of which `visits` were made that were not drawn. The returned
/// times sum to the gap, if there was any visit.
pub fn settle<const N: usize>(gap_ns: u64, visits: &[u64; N], tallies: &mut [Tally; N]) -> [Settled; N] {
    let mut all = [Settled::default(); N];
    let mut owed_ns: u128 = 0;
    // There is no wait at a site without a visit: the time owed to it is kept.
    for (tally, &visits) in tallies.iter_mut().zip(visits).filter(|(_, visits)| **visits > 0) {
        tally.owed_ns = tally.owed_ns.saturating_add(tally.waits.of(visits));
        owed_ns += u128::from(tally.owed_ns);
    }
    let room_ns = owed_ns.min(u128::from(gap_ns));
    let mut work_left_ns = gap_ns;
    let with_visits = all.iter_mut().zip(tallies.iter_mut()).zip(visits).filter(|(_, visits)| **visits > 0);
    for ((settled, tally), _) in with_visits {
        let part = (u128::from(tally.owed_ns) * room_ns).checked_div(owed_ns);
        settled.wait_ns = part.map_or(0, saturated);
        // One long wait that was drawn represents others that lie in later gaps. Any excess over that finds
        // no gap.
        tally.owed_ns = (tally.owed_ns - settled.wait_ns).min(tally.most_ns);
        work_left_ns -= settled.wait_ns;
    }
    let mut shares = [0_u128; N];
    for ((share, tally), &visits) in shares.iter_mut().zip(tallies.iter_mut()).zip(visits) {
        let segments = u64::try_from(i64::try_from(visits).unwrap_or(i64::MAX) + tally.more_segments);
        *share = u128::from(tally.works.of(segments.unwrap_or(0)));
        tally.more_segments = 0;
        tally.waits.is_old = true;
        tally.works.is_old = true;
    }
    if shares.iter().all(|&share| share == 0) {
        // Nothing is known of the work: all visits have the same part of it.
        shares = visits.map(u128::from);
    }
    divide(work_left_ns, &shares, &mut all);
    all
}

/// Divides the work by shares; rounding leaves nothing over.
fn divide<const N: usize>(work_ns: u64, shares: &[u128; N], all: &mut [Settled; N]) {
    let (mut share_left, mut work_left_ns) = (shares.iter().sum::<u128>(), u128::from(work_ns));
    for (settled, &share) in all.iter_mut().zip(shares) {
        if share == 0 {
            continue;
        }
        let part_ns = work_left_ns * share / share_left;
        settled.work_ns = saturated(part_ns);
        work_left_ns -= part_ns;
        share_left -= share;
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
