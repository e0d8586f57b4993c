//! What measuring takes of the time of parallel regions: the estimate. Pure functions.
//!
//! Three parts: the parts that were timed (recording a measured visit to a barrier, begin and end of a
//! region, sections), the cost of counting at visits that were only counted, and the unknown part, which is
//! in the error.
//!
//! **Counting.** In one of eight stretches between drawn visits each visit was counted twice. Let such a
//! stretch have v visits counted twice, and take t longer than its v visits would take at the pace of the
//! stretches before and behind it. The cost of counting once is c = Σt ÷ Σv: a ratio of sums, since long
//! stretches say more. Which stretches are doubled is drawn, so that E(t) = c·v whatever the program does, if
//! its pace changes no more than linearly over three stretches; otherwise the change is noise, and in the
//! error. With residuals r = t − c·v its variance is n ÷ (n − 1) · Σr² ÷ (Σv)².
//!
//! **Bias.** Counting for the second time finds everything where the first time left it, and the first one
//! may overlap with what the program does before. So c may be off by a part of itself ([`DOUBLING`]). OMPT
//! runtimes do work for each callback that is not seen here at all: a number stands for it, and an error as
//! large (`TOLD_VISIT_NS`).
//!
//! **Regions of several threads.** A thread's region takes longer by what measuring takes of its own time,
//! and by what it takes of the others' time as far as that lies behind its own and not beside it: the opener
//! of a region waits for the last thread. Between nothing and all of it: half, give or take half. (At
//! barriers others are in what is seen already, since all of a team count twice in the same stretches.)

use std::collections::BTreeMap;
use std::ops::AddAssign;

use proust_profile::{
    Detail, IndexVec, LocationId, Nature, OperationKind, ProcessId, Profile, RegionId, SegmentRow, TrialSums,
};

use proust_profile::event_metrics::Operations;

/// From so many stretches on a site of a thread is judged by its own.
const ENOUGH: u64 = 32;
/// Fewer say nothing, even together.
const FEWEST: u64 = 8;
/// By how much of itself the cost of counting may be off: between half and half as much again of what it
/// truly took was found, by pairs of runs bare and recorded (`programs/openmp/fine.c`).
const DOUBLING: f64 = 0.5;
/// And by how much at least, ns: the hook's call and return, and what the processor does beside them, are
/// outside of what is done twice.
const LEAST_NS: f64 = 5.0;
/// The additional time of an OMPT runtime for each visit, unseen, ns; give or take as much. Runs bare and
/// recorded differ by nothing at a plain barrier, and by up to 60 ns at the end of a loop.
const TOLD_VISIT_NS: f64 = 30.0;
/// How much more that may be off where several threads meet, ns: they spin or sleep, and which of the two may
/// hang on it.
const TOLD_TEAM_ERROR_NS: f64 = 120.0;
/// And how much more its part of a region may be off, ns.
const TOLD_PART_ERROR_NS: f64 = 20.0;
/// What begins and ends of parts of regions take beside what was timed of them, as a part of that; give or
/// take as much. Runs bare and recorded differ by 1.2 to 2.0 times what was timed: more on a busy machine,
/// whose caches the collector's lines leave between two regions.
const UNSEEN_OF_PARTS: f64 = 0.5;
/// What recording a wait for a section takes, ns, give or take as much: it is not timed, and the others wait
/// for it as well. Runs bare and recorded differed by 250 to 480 ns for each such wait.
const CONTENDED_NS: f64 = 250.0;
/// What counting may take where nothing was found out, ns: half of that, give or take as much.
const UNKNOWN_NS: f64 = 20.0;

/// The time that measuring added to a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// ns.
    pub ns: f64,
    /// Its variance by chance, ns²; of parts that have nothing to do with each other it adds up.
    variance: f64,
    /// What it may be off for other reasons, ns; of parts that adds up, too.
    bound_ns: f64,
}

impl Cost {
    /// Standard error, ns: one number for what is chance and what is not known.
    pub fn error_ns(&self) -> f64 {
        self.variance.sqrt() + self.bound_ns
    }
}

impl AddAssign<&Cost> for Cost {
    fn add_assign(&mut self, other: &Cost) {
        self.ns += other.ns;
        self.variance += other.variance;
        self.bound_ns += other.bound_ns;
    }
}

/// The cost of counting a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counting {
    /// ns; never negative.
    pub ns: f64,
    /// Its standard error by chance, ns.
    pub error_ns: f64,
}

impl Counting {
    /// By stretches in which visits were counted twice; None if they are too few.
    pub fn of(trials: &TrialSums) -> Option<Counting> {
        if trials.count < FEWEST || trials.visits == 0 {
            return None;
        }
        let (n, visits) = (trials.count as f64, trials.visits as f64);
        let ns = trials.more_ns / visits;
        let squares = trials.more_ns2 - 2.0 * ns * trials.product + ns * ns * trials.visits2;
        let error_ns = (squares.max(0.0) * n / (n - 1.0)).sqrt() / visits;
        (ns.is_finite() && error_ns.is_finite()).then_some(Counting { ns: ns.max(0.0), error_ns })
    }

    /// What it may be off for other reasons than chance, ns.
    fn bias_ns(&self) -> f64 {
        LEAST_NS.max(DOUBLING * self.ns)
    }
}

/// What measuring takes in the regions of a run.
#[derive(Debug)]
pub struct Costs {
    /// By process, whether the runtime reports through OMPT, and whether the team is one thread.
    pooled: BTreeMap<(ProcessId, bool, bool), TrialSums>,
    told: Vec<bool>,
    process: IndexVec<RegionId, ProcessId>,
    /// By region and thread what was timed at its begin and end, ns.
    parts: BTreeMap<(RegionId, LocationId), u64>,
    /// Operations at which others are waited for, and the end of a region.
    of_lock: Vec<bool>,
    of_barrier: Vec<bool>,
    region_end: Vec<bool>,
    /// Begins and ends of parts of regions.
    region_part: Vec<bool>,
}

impl Costs {
    /// Of a profile.
    pub fn of(profile: &Profile) -> Costs {
        let mut costs = Costs {
            pooled: BTreeMap::new(),
            told: profile.regions.iter().map(|region| region.told).collect(),
            process: profile.regions.iter().map(|region| region.process).collect(),
            parts: BTreeMap::new(),
            of_lock: Vec::new(),
            of_barrier: Vec::new(),
            region_end: Vec::new(),
            region_part: Vec::new(),
        };
        let operations = Operations::of(profile);
        let each = || profile.operations.keys().map(|id| operations.get(id));
        let which = |is: &dyn Fn(OperationKind) -> bool| each().map(|of| of.is_some_and(is)).collect();
        let is_part = |of: OperationKind| matches!(of.detail, Detail::RegionEnd | Detail::Fork);
        costs.of_lock = which(&|of| of.nature == Nature::Lock);
        costs.of_barrier = which(&|of| {
            let is_barrier = matches!(of.nature, Nature::Barrier) || of.detail == Detail::BarrierOfOne;
            is_barrier && !is_part(of)
        });
        costs.region_end = which(&|of| of.detail == Detail::RegionEnd);
        costs.region_part = which(&is_part);
        for row in &profile.segments {
            let key = costs.key(row);
            *costs.pooled.entry(key).or_default() += &row.trials;
            let operation = operations.get(row.operation);
            if operation.is_some_and(is_part) {
                *costs.parts.entry((row.region, row.location)).or_default() += row.added_ns;
            }
        }
        costs
    }

    /// The most that measuring took of another thread's begins and ends of a region, ns.
    fn of_others(&self, row: &SegmentRow) -> f64 {
        let threads = self.parts.range((row.region, LocationId(0))..=(row.region, LocationId(u32::MAX)));
        let others = threads.filter(|((_, location), _)| *location != row.location);
        others.map(|(_, &ns)| ns as f64).fold(0.0, f64::max)
    }

    fn key(&self, row: &SegmentRow) -> (ProcessId, bool, bool) {
        let process = self.process.get(row.region).copied().unwrap_or_default();
        (process, self.by_ompt(row), row.team_max == 1)
    }

    fn by_ompt(&self, row: &SegmentRow) -> bool {
        self.told.get(row.region.index()).copied().unwrap_or(false)
    }

    /// The cost of counting a visit at a row's site: by its own stretches, with true, or by those of others;
    /// None where nothing was found out.
    fn counting(&self, row: &SegmentRow) -> Option<(Counting, bool)> {
        let own = Some(&row.trials).filter(|trials| trials.count >= ENOUGH).and_then(Counting::of);
        let pooled = || self.pooled.get(&self.key(row)).and_then(Counting::of);
        own.map(|own| (own, true)).or_else(|| pooled().map(|pooled| (pooled, false)))
    }

    /// The cost of measuring in a row's time.
    pub fn of_row(&self, row: &SegmentRow) -> Cost {
        let mut cost = Cost { ns: row.added_ns as f64, variance: 0.0, bound_ns: row.added_error_ns as f64 };
        let has = |of: &[bool]| of.get(row.operation.index()) == Some(&true);
        if has(&self.region_end) {
            let half_ns = self.of_others(row) / 2.0;
            cost.ns += half_ns;
            cost.bound_ns += half_ns;
        }
        if has(&self.of_lock) {
            cost.ns += row.contended as f64 * CONTENDED_NS;
            cost.bound_ns += row.contended as f64 * CONTENDED_NS;
        }
        if has(&self.of_lock) && row.added_ns == 0 {
            // By an OMPT runtime: nothing was timed.
            cost.ns += row.executions as f64 * UNKNOWN_NS;
            cost.bound_ns += row.executions as f64 * UNKNOWN_NS;
        }
        let executions = row.executions as f64;
        if has(&self.region_part) {
            let unseen_ns = UNSEEN_OF_PARTS * row.added_ns as f64;
            cost.ns += unseen_ns;
            cost.bound_ns += unseen_ns;
            if self.by_ompt(row) {
                cost.bound_ns += executions * TOLD_PART_ERROR_NS;
            }
        } else if self.by_ompt(row) && has(&self.of_barrier) {
            let team_error_ns = if row.team_max > 1 { TOLD_TEAM_ERROR_NS } else { 0.0 };
            cost.ns += executions * TOLD_VISIT_NS;
            cost.bound_ns += executions * (TOLD_VISIT_NS + team_error_ns);
        }
        let visits = row.unmeasured as f64;
        if visits == 0.0 {
            return cost;
        }
        match self.counting(row) {
            Some((own, true)) => {
                cost.ns += visits * own.ns;
                cost.variance = (visits * own.error_ns).powi(2);
                cost.bound_ns += visits * own.bias_ns();
            }
            // Others share it: its error is theirs.
            Some((pooled, false)) => {
                cost.ns += visits * pooled.ns;
                cost.bound_ns += visits * (pooled.error_ns + pooled.bias_ns());
            }
            None => {
                cost.ns += visits * UNKNOWN_NS / 2.0;
                cost.bound_ns += visits * UNKNOWN_NS / 2.0;
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests;
