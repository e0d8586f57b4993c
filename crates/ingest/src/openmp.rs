//! Parallel regions, as they are in the log: their openers, the threads in them, the work there.
//!
//! A node of a thread's call path and the region that the thread was in make a place together: a worker's
//! acts are shown below the region, wherever that was opened. Such pairs are numbered; the numbers are above
//! all of nodes.

use proust_log::operations::Operation;
use proust_log::records::{Region, RegionOrigin, Segments, Stay};
use proust_profile::{ContextId, LocationId, OperationId, RegionId, SegmentRow, StayRow, TrialSums};
use rustc_hash::FxHashMap;

use super::events::Bounds;
use super::thread::{LOST, NOT_RECORDED, Place};

/// The first place that is none of a node.
const FIRST: Place = 1 << 31;

/// Whether a place stands for a node in a region or an interval.
pub(super) fn is_region_place(place: Place) -> bool {
    place >= FIRST && place != LOST && place != NOT_RECORDED
}

/// A node of a lane in a parallel region or a marked interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InRegion {
    /// 0 = the path is not known.
    pub(super) node: u32,
    /// The process's number of the region; 0 = none.
    pub(super) region: u32,
    /// The process's number of the innermost marked interval; 0 = none.
    pub(super) interval: u32,
    /// Whether the runtime function that the program called is shown, where the thread was in it.
    pub(super) keeps_entry: bool,
}

/// The numbers of a lane's places in regions.
#[derive(Debug, Default)]
pub(super) struct PlacesInRegions {
    all: Vec<InRegion>,
    numbers: FxHashMap<InRegion, Place>,
}

impl PlacesInRegions {
    /// The place of a node in a region and an interval, which are numbers of the process; outside of both the
    /// node itself.
    #[inline]
    pub(super) fn place(&mut self, node: u32, (region, interval): (u32, u32), keeps_entry: bool) -> Place {
        // No node has a number as high as that: a damaged record must not name an id that is none.
        let node = node.min(i32::MAX as u32);
        if (region, interval) == (0, 0) {
            node
        } else {
            self.number(InRegion { node, region, interval, keeps_entry })
        }
    }

    fn number(&mut self, pair: InRegion) -> Place {
        let all = &mut self.all;
        *self.numbers.entry(pair).or_insert_with(|| {
            all.push(pair);
            FIRST + (all.len() - 1) as Place
        })
    }

    /// The node and region of a place, if it is one in a region.
    pub(super) fn get(&self, place: Place) -> Option<InRegion> {
        self.all.get(place.checked_sub(FIRST)? as usize).copied()
    }
}

/// A region as its lane records it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawRegion {
    /// The process's number.
    pub(super) id: u32,
    /// Node of the lane; 0 = not known.
    pub(super) node: u32,
    /// Number of the region around it; 0 = none.
    pub(super) parent: u32,
    /// Node of the function that its threads run; 0 = not known.
    pub(super) body: u32,
    /// Number of the marked interval in which it was opened; 0 = none.
    pub(super) interval: u32,
    /// Whether the runtime reported it through OMPT.
    pub(super) told: bool,
}

impl RawRegion {
    pub(super) fn new(origin: u16, region: &Region) -> RawRegion {
        RawRegion {
            id: region.id,
            node: region.node.min(i32::MAX as u32),
            // A region is opened after the one around it; anything else could make a path without end.
            parent: if region.parent < region.id { region.parent } else { 0 },
            body: region.body.min(i32::MAX as u32),
            interval: region.interval,
            told: origin == RegionOrigin::Ompt as u16,
        }
    }
}

/// A segment before contexts and the profile's numbers exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawSegments {
    /// `region` is the process's number, `operation` the log's, `context` a [`Place`].
    pub(super) row: SegmentRow,
}

/// A thread's acts in parallel regions.
#[derive(Debug, Default)]
pub(super) struct InRegions {
    /// `region` is the process's number.
    pub(super) stays: Vec<StayRow>,
    pub(super) segments: Vec<RawSegments>,
}

impl InRegions {
    /// Takes a stay; false if it contradicts itself or the thread.
    pub(super) fn stay(&mut self, number: u16, team: u16, stay: &Stay, bounds: &Bounds) -> bool {
        let ordered = stay.fork_ns <= stay.begin_ns
            && (bounds.begin_ns..=stay.end_ns).contains(&stay.begin_ns)
            && stay.end_ns <= bounds.latest_ns;
        if !ordered || stay.region == 0 {
            return false;
        }
        self.stays.push(StayRow {
            location: LocationId(0),
            region: RegionId(stay.region),
            fork_ns: stay.fork_ns.max(bounds.begin_ns),
            begin_ns: stay.begin_ns,
            end_ns: stay.end_ns,
            number: number.into(),
            team: team.into(),
        });
        true
    }

    /// Takes segments; false if they contradict themselves.
    pub(super) fn segments(&mut self, operation: u16, place: Place, segments: &Segments) -> bool {
        if Operation::from_number(operation).is_none() || segments.region == 0 {
            return false;
        }
        let wait_ns = segments.wait_ns.min(i64::MAX as u64);
        let (latency_ns, work_ns) = (segments.latency_ns.min(wait_ns), segments.work_ns.min(i64::MAX as u64));
        let contended = u64::from(segments.contended).min(segments.executions);
        let unmeasured = segments.unmeasured.min(segments.executions);
        // Those that were passed just before the last record of the site are in this one.
        let known = u64::from(segments.known);
        let last = u64::from(segments.last).min(known);
        self.segments.push(RawSegments {
            row: SegmentRow {
                location: LocationId(0),
                region: RegionId(segments.region),
                operation: OperationId(operation.into()),
                context: ContextId(place),
                executions: segments.executions,
                unmeasured,
                known,
                last,
                wait_error_ns: segments.wait_error_ns.min(i64::MAX as u64),
                contended,
                work_ns,
                wait_ns,
                latency_ns,
                team_min: segments.team_min.min(segments.team_max).into(),
                team_max: segments.team_max.into(),
                spreads: segments.spreads.into(),
                spread_ns: segments.spread_ns.min(i64::MAX as u64),
                iterations: segments.iterations,
                added_ns: segments.added_ns.min(i64::MAX as u64),
                added_error_ns: segments.added_error_ns.min(i64::MAX as u64),
                added_behind_ns: segments.added_behind_ns.min(i64::MAX as u64),
                trials: TrialSums {
                    count: segments.trials.count,
                    visits: segments.trials.visits,
                    more_ns: segments.trials.more_ns as f64,
                    visits2: segments.trials.visits2 as f64,
                    more_ns2: segments.trials.more_ns2 as f64,
                    product: segments.trials.product as f64,
                },
            },
        });
        (wait_ns, latency_ns) == (segments.wait_ns, segments.latency_ns)
            && (contended, unmeasured) == (segments.contended.into(), segments.unmeasured)
            && last == u64::from(segments.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_region_is_no_node() {
        let mut places = PlacesInRegions::default();
        assert_eq!(places.place(7, (0, 0), true), 7);
        let (a, b) = (places.place(7, (1, 0), true), places.place(7, (1, 0), false));
        assert_eq!(places.place(7, (1, 0), true), a);
        assert_ne!(places.place(7, (1, 2), true), a);
        assert!(a != b && is_region_place(a) && !is_region_place(7) && !is_region_place(LOST));
        assert_eq!(places.get(b), Some(InRegion { node: 7, region: 1, interval: 0, keeps_entry: false }));
        assert_eq!(places.get(7), None);
        assert_eq!(places.get(LOST), None);
    }
}
