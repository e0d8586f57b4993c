//! Regions, sites and threads as they are in JSON.

use proust_profile::{ContextId, ContextKind, LocationId, Profile};
use proust_query::Handle;
use proust_query::openmp::{Came, Cost, Lost, RegionSum};
use schemars::JsonSchema;
use serde::Serialize;

use crate::pages::facts::seconds;

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct LostRow {
    pub(super) imbalance_s: f64,
    pub(super) latency_s: f64,
    pub(super) lock_s: f64,
    pub(super) fork_s: f64,
    pub(super) dispatch_s: f64,
    pub(super) lost_s: f64,
}

impl LostRow {
    pub(super) fn new(lost: &Lost) -> LostRow {
        LostRow {
            imbalance_s: seconds(lost.imbalance_ns),
            latency_s: seconds(lost.latency_ns),
            lock_s: seconds(lost.lock_ns),
            fork_s: seconds(lost.fork_ns),
            dispatch_s: seconds(lost.dispatch_ns),
            lost_s: seconds(lost.sum_ns()),
        }
    }

    pub(super) fn parts(&self) -> [f64; 5] {
        [self.imbalance_s, self.latency_s, self.lock_s, self.fork_s, self.dispatch_s]
    }
}

/// A time of threads, and the same without the cost of measuring.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct TimeRow {
    pub(super) time_s: f64,
    pub(super) corrected_s: f64,
    pub(super) corrected_error_s: f64,
}

impl TimeRow {
    fn new((time_ns, cost): (u64, Cost)) -> TimeRow {
        let time_s = seconds(time_ns);
        TimeRow {
            time_s,
            corrected_s: (time_s - cost.ns / 1e9).max(0.0),
            corrected_error_s: cost.error_ns() / 1e9,
        }
    }
}

/// The function that opens a region. One region on several call paths is several rows, which differ by it or
/// by where it is called.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct OpenerRow {
    pub(super) opener: Option<String>,
    #[serde(rename = "opener_file")]
    pub(super) file: Option<String>,
    #[serde(rename = "opener_line")]
    pub(super) line: Option<u32>,
}

impl OpenerRow {
    fn new(profile: &Profile, region: ContextId) -> OpenerRow {
        let mut above = profile.contexts[region].parent;
        while let Some(at) = above {
            let context = &profile.contexts[at];
            if let (Some(function), ContextKind::Frame | ContextKind::Inline) =
                (context.function, context.kind)
            {
                let (file, line) = (context.file.clone(), context.line);
                return OpenerRow { opener: Some(profile.functions[function].name.clone()), file, line };
            }
            above = context.parent;
        }
        OpenerRow { opener: None, file: None, line: None }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RegionRow {
    pub(super) handle: String,
    #[schemars(with = "u32")]
    pub(super) context: ContextId,
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    /// The function that opens it, and where that is called.
    #[serde(flatten)]
    pub(super) opener: OpenerRow,
    pub(super) process: u32,
    pub(super) runtime: &'static str,
    pub(super) executions: u64,
    pub(super) team_min: u32,
    pub(super) team_max: u32,
    pub(super) work_s: f64,
    pub(super) cpu_s: f64,
    pub(super) delayed_s: f64,
    /// Of the thread that was in it longest.
    #[serde(flatten)]
    pub(super) time: TimeRow,
    #[serde(flatten)]
    pub(super) lost: LostRow,
    pub(super) imbalance: Option<f64>,
    pub(super) sites: Vec<SiteRow>,
    pub(super) threads: Vec<ThreadRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SiteRow {
    pub(super) construct: String,
    #[schemars(with = "u32")]
    pub(super) context: ContextId,
    pub(super) handle: String,
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) executions: u64,
    /// Executions whose times were measured; those of the others are estimated from them.
    pub(super) measured: u64,
    /// Standard error of the waits, and of the work.
    pub(super) error_s: f64,
    pub(super) contended: u64,
    pub(super) threads: u32,
    /// The last arrivals, at the barriers for which that is known.
    pub(super) last: Vec<LastRow>,
    pub(super) work_s: f64,
    /// Of the thread that took longest up to it and in it.
    #[serde(flatten)]
    pub(super) time: TimeRow,
    #[serde(flatten)]
    pub(super) lost: LostRow,
    pub(super) imbalance: Option<f64>,
}

/// How often a thread arrived last at a barrier.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LastRow {
    pub(super) handle: String,
    /// Barriers for which the last arrival is known.
    pub(super) known: u64,
    /// Of those, how often this thread did.
    pub(super) last: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThreadRow {
    pub(super) thread: u32,
    pub(super) name: String,
    pub(super) handle: String,
    pub(super) executions: u64,
    /// Barriers for which the last arrival is known, and the number of those at which it was this thread.
    pub(super) known: u64,
    pub(super) last: u64,
    pub(super) work_s: f64,
    #[serde(flatten)]
    pub(super) time: TimeRow,
    #[serde(flatten)]
    pub(super) lost: LostRow,
}

fn last_row((location, came): &(LocationId, Came)) -> LastRow {
    LastRow { handle: Handle::Location(*location).to_string(), known: came.known, last: came.last }
}

/// The function that a context is in, and where in it.
fn place_of(profile: &Profile, id: ContextId) -> (Option<String>, Option<String>, Option<u32>) {
    let context = &profile.contexts[id];
    let mut above = Some(id);
    let mut function = None;
    while let Some(at) = above
        && function.is_none()
    {
        function = profile.contexts[at].function;
        above = profile.contexts[at].parent;
    }
    let function = function.map(|function| &profile.functions[function]);
    let (file, line) = match context.kind {
        ContextKind::Line => (context.file.clone(), context.line),
        _ => function.map_or((None, None), |function| (function.file.clone(), function.line)),
    };
    (function.map(|function| function.name.clone()), file, line)
}

impl RegionRow {
    pub(super) fn new(profile: &Profile, sum: &RegionSum) -> RegionRow {
        let info = &profile.regions[sum.region];
        let (function, file, line) = place_of(profile, sum.context);
        let sites = sum.sites.iter().map(|site| {
            let (function, file, line) = place_of(profile, site.context);
            SiteRow {
                construct: profile.operations[site.operation].name.clone(),
                context: site.context,
                handle: Handle::Context(site.context).to_string(),
                function,
                file,
                line,
                executions: site.executions,
                measured: site.executions - site.unmeasured.min(site.executions),
                error_s: seconds(site.error_ns),
                contended: site.contended,
                threads: site.threads,
                last: site.came.iter().map(last_row).collect(),
                work_s: seconds(site.work_ns),
                time: TimeRow::new(site.longest),
                lost: LostRow::new(&site.lost),
                imbalance: site.imbalance(),
            }
        });
        let threads = sum.threads.iter().map(|thread| {
            let location = &profile.locations[thread.location];
            ThreadRow {
                thread: location.tid,
                name: location.name.clone(),
                handle: Handle::Location(thread.location).to_string(),
                executions: thread.executions,
                known: thread.came.known,
                last: thread.came.last,
                work_s: seconds(thread.work_ns),
                time: TimeRow::new((thread.time_ns(), thread.cost)),
                lost: LostRow::new(&thread.lost),
            }
        });
        RegionRow {
            handle: Handle::Context(sum.context).to_string(),
            context: sum.context,
            function,
            file,
            line,
            opener: OpenerRow::new(profile, sum.context),
            process: profile.processes[info.process].pid,
            runtime: if info.told { "ompt" } else { "gomp" },
            executions: sum.executions,
            team_min: sum.team_min,
            team_max: sum.team_max,
            work_s: seconds(sum.work_ns),
            cpu_s: seconds(sum.cpu_ns),
            delayed_s: seconds(sum.delayed_ns),
            time: TimeRow::new(sum.longest()),
            lost: LostRow::new(&sum.lost),
            imbalance: sum.imbalance(),
            sites: sites.collect(),
            threads: threads.collect(),
        }
    }

    pub(super) fn team(&self) -> String {
        if self.team_min == self.team_max {
            self.team_max.to_string()
        } else {
            format!("{}–{}", self.team_min, self.team_max)
        }
    }
}
