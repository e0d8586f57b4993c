//! Intervals and executions for profiles of tests.

use proust_profile::{
    Context, ContextId, ContextKind, ExecutionEnd, ExecutionRow, ExecutionSumRow, IntervalContext,
    IntervalInfo, IntervalWork, ReleaseRow,
};

/// An interval of which nothing is known, and others inside of it.
pub fn intervals() -> Vec<IntervalInfo> {
    let known = |(number, work): (i64, IntervalWork)| IntervalInfo {
        parent: Some(0),
        name: format!("interval {number}"),
        number: Some(number),
        file: Some("a.c".into()),
        line: Some(7),
        work,
        degree: Some(3),
        in_region: number < 0,
    };
    let all =
        [(i64::MIN, IntervalWork::Plain), (-1, IntervalWork::Parallel), (i64::MAX, IntervalWork::Replicated)];
    std::iter::once(IntervalInfo::default()).chain(all.map(known)).collect()
}

pub fn interval_contexts(contexts: &[Context]) -> Vec<IntervalContext> {
    let of_kind = contexts.iter().zip(0_u32..).filter(|(context, _)| context.kind == ContextKind::Interval);
    of_kind
        .map(|(_, context)| IntervalContext { context: ContextId(context), interval: context % 4 })
        .collect()
}

pub fn executions(releases: &[ReleaseRow]) -> Vec<ExecutionRow> {
    let ends = [ExecutionEnd::Marked, ExecutionEnd::Crossed, ExecutionEnd::Open];
    let of = |(release, n): (&ReleaseRow, usize)| ExecutionRow {
        location: release.location,
        interval: n as u32 % 4,
        begin_ns: release.time_ns,
        end_ns: release.time_ns.saturating_add(release.held_ns),
        iterations: release.object,
        end: ends[n % 3],
        inherited: n % 2 == 0,
    };
    releases.iter().zip(0..).map(of).collect()
}

pub fn execution_sums(releases: &[ReleaseRow]) -> Vec<ExecutionSumRow> {
    let of = |release: &ReleaseRow| ExecutionSumRow {
        location: release.location,
        interval: 1,
        begin_ns: release.time_ns,
        end_ns: release.time_ns,
        time_ns: release.held_ns,
        min_ns: 1,
        max_ns: release.held_ns,
        executions: release.weight_ns,
        iterations: release.object,
    };
    releases.iter().map(of).collect()
}
