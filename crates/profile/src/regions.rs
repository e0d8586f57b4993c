//! Parallel regions: where they are, which threads were in them when, and the work and waits at each of their
//! sites.

mod record;

use crate::by_location::ByLocation;
use crate::{ContextId, LocationId, OperationId, ProcessId, RegionId};

/// The stays of a run, each location's in the order of their begins.
pub type Stays = ByLocation<StayRow>;

/// A parallel region: a construct on a call path, however often it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegionInfo {
    /// In which process.
    pub process: ProcessId,
    /// The region in the tree of contexts; everything its threads do in it lies below.
    pub context: ContextId,
    /// The region in which it was opened.
    pub parent: Option<RegionId>,
    /// Whether the runtime reported it through OMPT; otherwise the program's calls were intercepted.
    pub told: bool,
}

/// A thread was in a region, long enough for a row of its own. Stays of a location do not overlap, but for
/// those in regions that are opened inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StayRow {
    /// Which thread.
    pub location: LocationId,
    /// Which region.
    pub region: RegionId,
    /// When the region was opened, nanoseconds since the run's start.
    pub fork_ns: u64,
    /// When the thread began its part.
    pub begin_ns: u64,
    /// When it had done it, before it waited for the others.
    pub end_ns: u64,
    /// Its number in the team; saturates at 65535.
    pub number: u32,
    /// Threads in the team; 0 = not known, saturates likewise.
    pub team: u32,
}

/// The cost of counting a visit, where visits are only counted: stretches in which each was counted twice,
/// compared with those before and behind them. Sums over stretches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrialSums {
    /// Stretches, n.
    pub count: u64,
    /// Visits that were counted twice, Σ v.
    pub visits: u64,
    /// By how much those stretches were longer, ns, Σ t.
    pub more_ns: f64,
    /// Σ v².
    pub visits2: f64,
    /// Σ t², ns².
    pub more_ns2: f64,
    /// Σ v·t, ns.
    pub product: f64,
}

impl std::ops::AddAssign<&TrialSums> for TrialSums {
    fn add_assign(&mut self, other: &TrialSums) {
        self.count = self.count.saturating_add(other.count);
        self.visits = self.visits.saturating_add(other.visits);
        self.more_ns += other.more_ns;
        self.visits2 += other.visits2;
        self.more_ns2 += other.more_ns2;
        self.product += other.product;
    }
}

/// A thread's work before a site of a region, and its waits in it: over all its executions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentRow {
    /// Which thread.
    pub location: LocationId,
    /// Which region.
    pub region: RegionId,
    /// What the site is.
    pub operation: OperationId,
    /// Where the site is.
    pub context: ContextId,
    /// How often.
    pub executions: u64,
    /// Of these, how many were only counted: their part of `work_ns` and `wait_ns` is estimated from the
    /// others.
    pub unmeasured: u64,
    /// The number of executions for which it is known which thread of the team arrived last.
    pub known: u64,
    /// Of those, how often this thread did.
    pub last: u64,
    /// The number of executions in which the thread had to wait for another.
    pub contended: u64,
    /// Time from the site before to this one, ns: work, on a processor or not.
    pub work_ns: u64,
    /// Time in the site, ns.
    pub wait_ns: u64,
    /// Its standard error by drawing, ns; 0 = all was measured. That of the work is as large.
    pub wait_error_ns: u64,
    /// The part of the time in the site after the last thread arrived, ns.
    pub latency_ns: u64,
    /// Fewest threads that were in the team; 0 = not known.
    pub team_min: u32,
    /// Most threads that were in the team; 0 = not known.
    pub team_max: u32,
    /// The number of executions for which it is known when the last thread of the team left.
    pub spreads: u64,
    /// Σ over these of the time from where this thread left until the last one did, ns.
    pub spread_ns: u64,
    /// Iterations of loops that the thread got there, as far as the runtime reports them.
    pub iterations: u64,
    /// The time that measuring added to the work and the waiting, as far as it was timed, ns.
    pub added_ns: u64,
    /// What may lie outside of the clock's readings there, ns.
    pub added_error_ns: u64,
    /// Its cost after the region was over, ns: of the time around it.
    pub added_behind_ns: u64,
    /// The cost of counting is known from these.
    pub trials: TrialSums,
}

/// A visit that is measured has a reading of the clock before it, and others have none. By how much that
/// changes how long it waits is not known: about as long as the reading itself takes, ns.
const READING_NS: u64 = 20;

impl SegmentRow {
    /// Standard error of the time in the site, ns, and of the work likewise: by drawing, and by measuring.
    pub fn error_ns(&self) -> u64 {
        let by_measuring = self.unmeasured.saturating_mul(READING_NS);
        (self.wait_error_ns as f64).hypot(by_measuring as f64) as u64
    }
}
