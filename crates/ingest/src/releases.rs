//! One thread's releases and wakes, as they are in the log.

use proust_log::operations::{Nature, Operation};
use proust_log::records::{EVENT_PARTIAL, RELEASE_MOST_ACQUISITIONS, RELEASE_WEIGHT_NS, Release};
use proust_profile::{ContextId, LocationId, OperationId, ReleaseRow, Spool};

use super::events::Bounds;
use super::raw_rows::{Raw, RawRows, RawRowsBuilder};
use super::thread::{NO_PATH, Place};

/// The releases of a thread while its records are read. `site` holds a [`Place`], as `context` does.
#[derive(Debug)]
pub(super) struct Releases {
    rows: RawRowsBuilder<ReleaseRow>,
    last_ns: u64,
}

impl Releases {
    /// None yet; they will lie in `spool`.
    pub(super) fn new(spool: &Spool) -> Releases {
        Releases { rows: RawRowsBuilder::new(spool), last_ns: 0 }
    }

    /// Time of the newest.
    pub(super) fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// Takes a record, whose `node` holds a [`Place`] by now; false if it contradicts the thread's other
    /// records.
    pub(super) fn release(&mut self, number: u16, head: u16, release: &Release, bounds: &Bounds) -> bool {
        let nature = Operation::from_number(number).map(Operation::nature);
        let known = matches!(nature, Some(Nature::Release | Nature::Wake));
        if !known || !(bounds.begin_ns..=bounds.latest_ns).contains(&release.time_ns) {
            return false;
        }
        let held_ns = release.held_ns.min(release.time_ns);
        let alone_ns = held_ns.max(RELEASE_WEIGHT_NS);
        // A short section may hold the end of one stretch and the begin of the next, and so two points.
        let most_ns = held_ns.saturating_mul(RELEASE_MOST_ACQUISITIONS.into()).max(2 * RELEASE_WEIGHT_NS);
        let row = ReleaseRow {
            location: LocationId(0),
            context: ContextId(release.node),
            site: Some(place(release.site)).filter(|&site| site != NO_PATH).map(ContextId),
            operation: OperationId(number.into()),
            time_ns: release.time_ns,
            object: release.object,
            held_ns,
            weight_ns: if release.weight_ns <= most_ns { release.weight_ns } else { alone_ns },
            since_ns: Some(release.since_ns).filter(|since| (1..=release.time_ns).contains(since)),
        };
        let plausible = (held_ns, row.weight_ns) == (release.held_ns, release.weight_ns)
            && release.since_ns <= release.time_ns;
        self.last_ns = self.last_ns.max(row.time_ns);
        self.rows.push(Raw { row, partial: head & EVENT_PARTIAL != 0 });
        plausible
    }

    /// The rows, sorted by time.
    pub(super) fn finish(self) -> RawRows<ReleaseRow> {
        self.rows.finish()
    }
}

/// No node has a number as high as that: a damaged record must not name a place that is not a node.
fn place(node: u32) -> Place {
    node.min(i32::MAX as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { begin_ns: 1_000, begin_cpu_ns: 0, latest_ns: 1 << 40, found: false };

    #[test]
    fn a_long_section_may_stand_for_as_many_as_are_not_timed() {
        let weight_of = |held_ns, weight_ns| {
            let mut releases = Releases::new(&Spool::default());
            let release = Release { time_ns: 1 << 30, held_ns, weight_ns, ..Release::default() };
            let plausible = releases.release(Operation::MutexUnlock as u16, 0, &release, &BOUNDS);
            let rows: Vec<_> = releases.finish().iter().collect();
            (rows[0].row.weight_ns, plausible)
        };
        assert_eq!(weight_of(100, 200_000), (200_000, true));
        assert_eq!(weight_of(220_000, 220_000), (220_000, true));
        assert_eq!(weight_of(220_000, 64 * 220_000), (64 * 220_000, true));
        assert_eq!(weight_of(220_000, 64 * 220_000 + 1), (220_000, false));
        assert_eq!(weight_of(100, 400_000), (400_000, true));
        assert_eq!(weight_of(100, 400_001), (200_000, false));
    }
}
