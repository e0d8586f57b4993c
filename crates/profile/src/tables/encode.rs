//! From the profile to columns.

use serde::Serialize;

use super::columns::{Cells, Column, text};
use super::error::TablesError;
use crate::{Ns, Profile};

pub(super) const CONTEXTS: &str = "contexts.parquet";
pub(super) const FUNCTIONS: &str = "functions.parquet";
pub(super) const MODULES: &str = "modules.parquet";
pub(super) const PROCESSES: &str = "processes.parquet";
pub(super) const LOCATIONS: &str = "locations.parquet";
pub(super) const VALUES: &str = "values.parquet";
pub(super) const OPERATIONS: &str = "operations.parquet";
pub(super) const INSIDE: &str = "inside.parquet";
pub(super) const REGIONS: &str = "regions.parquet";
pub(super) const SEGMENTS: &str = "segments.parquet";
pub(super) const INTERVALS: &str = "intervals.parquet";
pub(super) const INTERVAL_CONTEXTS: &str = "interval_contexts.parquet";
pub(super) const EXECUTIONS: &str = "executions.parquet";
pub(super) const EXECUTION_SUMS: &str = "execution_sums.parquet";
pub(super) const PROCESS_SAMPLES: &str = "process_samples.parquet";

pub(super) const COMMUNICATORS: &str = "communicators.parquet";
pub(super) const TRAFFIC: &str = "traffic.parquet";
pub(super) const GATHERINGS: &str = "gatherings.parquet";
pub(super) const EXCHANGES: &str = "exchanges.parquet";
pub(super) const UNMATCHED: &str = "unmatched.parquet";

/// Gives every table to `write`, one after the other, so that only one lies in memory at a time.
pub(super) fn write_all(
    profile: &Profile,
    mut write: impl FnMut(&'static str, &[Column]) -> Result<(), TablesError>,
) -> Result<(), TablesError> {
    write(CONTEXTS, &contexts(profile))?;
    write(FUNCTIONS, &functions(profile))?;
    write(MODULES, &modules(profile))?;
    write(PROCESSES, &processes(profile))?;
    write(LOCATIONS, &locations(profile))?;
    write(VALUES, &values(profile))?;
    write(OPERATIONS, &operations(profile))?;
    write(INSIDE, &inside(profile))?;
    write(REGIONS, &regions(profile))?;
    write(SEGMENTS, &segments(profile))?;
    write(INTERVALS, &intervals(profile))?;
    write(INTERVAL_CONTEXTS, &interval_contexts(profile))?;
    write(EXECUTIONS, &executions(profile))?;
    write(EXECUTION_SUMS, &execution_sums(profile))?;
    write(PROCESS_SAMPLES, &process_samples(profile))?;
    write(COMMUNICATORS, &communicators(profile))?;
    write(TRAFFIC, &traffic(profile))?;
    write(GATHERINGS, &gatherings(profile))?;
    write(EXCHANGES, &exchanges(profile))?;
    write(UNMATCHED, &unmatched(profile))
}

/// A column of `$rows` with the cells of kind `$cells` that `$cell` gives for each `$row`.
macro_rules! column {
    ($rows:expr, $name:literal, $cells:ident, |$row:ident| $cell:expr) => {
        Column::new($name, Cells::$cells($rows.iter().map(|$row| $cell).collect()))
    };
}

fn contexts(profile: &Profile) -> Vec<Column> {
    let rows = &profile.contexts;
    vec![
        column!(rows, "parent", OptionalU32, |r| r.parent.map(u32::from)),
        column!(rows, "kind", Text, |r| text(r.kind.id())),
        column!(rows, "function", OptionalU32, |r| r.function.map(u32::from)),
        column!(rows, "file", OptionalText, |r| r.file.as_deref().map(text)),
        column!(rows, "line", OptionalU32, |r| r.line),
    ]
}

fn functions(profile: &Profile) -> Vec<Column> {
    let rows = &profile.functions;
    vec![
        column!(rows, "name", Text, |r| text(&r.name)),
        column!(rows, "full_name", Text, |r| text(&r.full_name)),
        column!(rows, "linkage_name", OptionalText, |r| r.linkage_name.as_deref().map(text)),
        column!(rows, "module", OptionalU32, |r| r.module.map(u32::from)),
        column!(rows, "file", OptionalText, |r| r.file.as_deref().map(text)),
        column!(rows, "line", OptionalU32, |r| r.line),
    ]
}

fn modules(profile: &Profile) -> Vec<Column> {
    let rows = &profile.modules;
    vec![
        column!(rows, "path", Text, |r| text(&r.path)),
        column!(rows, "build_id", Text, |r| text(&r.build_id)),
        column!(rows, "notes", Text, |r| text(&list(&r.notes))),
    ]
}

fn processes(profile: &Profile) -> Vec<Column> {
    let rows = &profile.processes;
    vec![
        column!(rows, "pid", U32, |r| r.pid),
        column!(rows, "parent_pid", U32, |r| r.parent_pid),
        column!(rows, "rank", OptionalU32, |r| r.rank),
        column!(rows, "host", Text, |r| text(&r.host)),
        column!(rows, "name", Text, |r| text(&r.name)),
        column!(rows, "executable", Text, |r| text(&r.executable)),
        column!(rows, "arguments", Text, |r| text(&list(&r.arguments))),
        column!(rows, "environment", Text, |r| text(&list(&r.environment))),
        column!(rows, "origin", Text, |r| text(&r.origin)),
        column!(rows, "ending", Text, |r| text(&r.ending)),
        column!(rows, "start_ns", I64, |r| r.start.get()),
        column!(rows, "end_ns", I64, |r| r.end.get()),
        column!(rows, "clock_cpu_ns", OptionalI64, |r| r.clock_cpu.map(Ns::get)),
        column!(rows, "available_processors", U32, |r| r.available_processors),
        column!(rows, "processors", Text, |r| text(&r.processors)),
        column!(rows, "quota_milli", OptionalU32, |r| r.quota_milli),
        column!(rows, "peak_resident_bytes", OptionalU64, |r| r.peak_resident_bytes),
    ]
}

/// A list in one cell, as a JSON array. Strings, and structs of strings and numbers, can always be written.
fn list<T: Serialize>(rows: &[T]) -> String {
    serde_json::to_string(rows).unwrap_or_else(|_| "[]".into())
}

fn locations(profile: &Profile) -> Vec<Column> {
    let rows = &profile.locations;
    vec![
        column!(rows, "process", U32, |r| r.process.0),
        column!(rows, "tid", U32, |r| r.tid),
        column!(rows, "name", Text, |r| text(&r.name)),
        column!(rows, "start_ns", I64, |r| r.start.get()),
        column!(rows, "end_ns", I64, |r| r.end.get()),
        column!(rows, "cpu_ns", I64, |r| r.cpu.get()),
        column!(rows, "queued_ns", I64, |r| r.queued.get()),
        column!(rows, "measurement_ns", I64, |r| r.measurement.get()),
        column!(rows, "samples", U64, |r| r.samples),
        column!(rows, "service", Bool, |r| r.service),
        column!(rows, "processors", Text, |r| text(&r.processors)),
    ]
}

fn values(profile: &Profile) -> Vec<Column> {
    let rows = &profile.values;
    vec![
        column!(rows, "context", U32, |r| r.context.0),
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "metric", U32, |r| u32::from(r.metric as u16)),
        column!(rows, "amount", Id, |r| r.amount),
    ]
}

fn operations(profile: &Profile) -> Vec<Column> {
    let rows = &profile.operations;
    vec![
        column!(rows, "name", Text, |r| text(&r.name)),
        column!(rows, "nature", OptionalText, |r| r.kind.map(|kind| text(kind.nature.id()))),
        column!(rows, "family", OptionalText, |r| r.kind.map(|kind| text(kind.family.id()))),
        column!(rows, "detail", OptionalText, |r| r.kind.map(|kind| text(kind.detail.id()))),
    ]
}

fn inside(profile: &Profile) -> Vec<Column> {
    let rows = &profile.inside;
    vec![
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "context", U32, |r| r.context.0),
        column!(rows, "outer", U32, |r| r.outer.0),
        column!(rows, "operation", U32, |r| r.operation.0),
        column!(rows, "begin_ns", U64, |r| r.begin_ns),
        column!(rows, "end_ns", U64, |r| r.end_ns),
        column!(rows, "time_ns", U64, |r| r.time_ns),
        column!(rows, "longest_ns", U64, |r| r.longest_ns),
        column!(rows, "calls", U32, |r| r.calls),
        column!(rows, "errors", U32, |r| r.errors),
        column!(rows, "bytes", U64, |r| r.bytes),
    ]
}

fn regions(profile: &Profile) -> Vec<Column> {
    let rows = &profile.regions;
    vec![
        column!(rows, "process", U32, |r| r.process.0),
        column!(rows, "context", U32, |r| r.context.0),
        column!(rows, "parent", OptionalU32, |r| r.parent.map(u32::from)),
        column!(rows, "told", Bool, |r| r.told),
    ]
}

fn segments(profile: &Profile) -> Vec<Column> {
    let rows = &profile.segments;
    vec![
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "region", U32, |r| r.region.0),
        column!(rows, "operation", U32, |r| r.operation.0),
        column!(rows, "context", U32, |r| r.context.0),
        column!(rows, "executions", U64, |r| r.executions),
        column!(rows, "unmeasured", U64, |r| r.unmeasured),
        column!(rows, "known", U64, |r| r.known),
        column!(rows, "last", U64, |r| r.last),
        column!(rows, "contended", U64, |r| r.contended),
        column!(rows, "work_ns", U64, |r| r.work_ns),
        column!(rows, "wait_ns", U64, |r| r.wait_ns),
        column!(rows, "wait_error_ns", U64, |r| r.wait_error_ns),
        column!(rows, "latency_ns", U64, |r| r.latency_ns),
        column!(rows, "team_min", U32, |r| r.team_min),
        column!(rows, "team_max", U32, |r| r.team_max),
        column!(rows, "spreads", U64, |r| r.spreads),
        column!(rows, "spread_ns", U64, |r| r.spread_ns),
        column!(rows, "iterations", U64, |r| r.iterations),
        column!(rows, "added_ns", U64, |r| r.added_ns),
        column!(rows, "added_error_ns", U64, |r| r.added_error_ns),
        column!(rows, "added_behind_ns", U64, |r| r.added_behind_ns),
        column!(rows, "trials", U64, |r| r.trials.count),
        column!(rows, "trial_visits", U64, |r| r.trials.visits),
        column!(rows, "trial_more_ns", F64, |r| r.trials.more_ns),
        column!(rows, "trial_visits2", F64, |r| r.trials.visits2),
        column!(rows, "trial_more_ns2", F64, |r| r.trials.more_ns2),
        column!(rows, "trial_product_ns", F64, |r| r.trials.product),
    ]
}

fn intervals(profile: &Profile) -> Vec<Column> {
    let rows = &profile.intervals;
    vec![
        column!(rows, "parent", OptionalU32, |r| r.parent),
        column!(rows, "name", Text, |r| text(&r.name)),
        column!(rows, "number", OptionalU64, |r| r.number.map(i64::cast_unsigned)),
        column!(rows, "file", OptionalText, |r| r.file.as_deref().map(text)),
        column!(rows, "line", OptionalU32, |r| r.line),
        column!(rows, "work", Text, |r| text(r.work.id())),
        column!(rows, "degree", OptionalU32, |r| r.degree),
        column!(rows, "in_region", Bool, |r| r.in_region),
    ]
}

fn interval_contexts(profile: &Profile) -> Vec<Column> {
    let rows = &profile.interval_contexts;
    vec![column!(rows, "context", U32, |r| r.context.0), column!(rows, "interval", U32, |r| r.interval)]
}

fn executions(profile: &Profile) -> Vec<Column> {
    let rows = &profile.executions;
    vec![
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "interval", U32, |r| r.interval),
        column!(rows, "begin_ns", U64, |r| r.begin_ns),
        column!(rows, "end_ns", U64, |r| r.end_ns),
        column!(rows, "iterations", U64, |r| r.iterations),
        column!(rows, "end", Text, |r| text(r.end.id())),
        column!(rows, "inherited", Bool, |r| r.inherited),
    ]
}

fn execution_sums(profile: &Profile) -> Vec<Column> {
    let rows = &profile.execution_sums;
    vec![
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "interval", U32, |r| r.interval),
        column!(rows, "begin_ns", U64, |r| r.begin_ns),
        column!(rows, "end_ns", U64, |r| r.end_ns),
        column!(rows, "time_ns", U64, |r| r.time_ns),
        column!(rows, "min_ns", U64, |r| r.min_ns),
        column!(rows, "max_ns", U64, |r| r.max_ns),
        column!(rows, "executions", U64, |r| r.executions),
        column!(rows, "iterations", U64, |r| r.iterations),
    ]
}

fn communicators(profile: &Profile) -> Vec<Column> {
    let rows = &profile.communicators;
    vec![
        column!(rows, "id", Id, |r| r.id),
        column!(rows, "size", U32, |r| r.size),
        column!(rows, "second_size", U32, |r| r.second_size),
        column!(rows, "is_world", Bool, |r| r.is_world),
        column!(rows, "is_known", Bool, |r| r.is_known),
        column!(rows, "recorded", U32, |r| r.recorded),
        column!(rows, "messages", U64, |r| r.messages),
        column!(rows, "bytes", U64, |r| r.bytes),
        column!(rows, "members", Text, |r| text(&list(&r.members))),
    ]
}

fn traffic(profile: &Profile) -> Vec<Column> {
    let rows = &profile.traffic;
    vec![
        column!(rows, "from", U32, |r| r.from.0),
        column!(rows, "to", U32, |r| r.to.0),
        column!(rows, "messages", U64, |r| r.messages),
        column!(rows, "bytes", U64, |r| r.bytes),
    ]
}

fn gatherings(profile: &Profile) -> Vec<Column> {
    let rows = &profile.gatherings;
    vec![
        column!(rows, "communicator", U32, |r| r.communicator),
        column!(rows, "operation", U32, |r| r.operation.0),
        column!(rows, "instances", U64, |r| r.instances),
        column!(rows, "bytes", U64, |r| r.bytes),
    ]
}

fn exchanges(profile: &Profile) -> Vec<Column> {
    let rows = &profile.exchanges;
    vec![
        column!(rows, "location", U32, |r| r.location.0),
        column!(rows, "context", U32, |r| r.context.0),
        column!(rows, "operation", U32, |r| r.operation.0),
        column!(rows, "completes", OptionalU32, |r| r.completes.map(u32::from)),
        column!(rows, "is_group", Bool, |r| r.is_group),
        column!(rows, "hands_on_io", Bool, |r| r.hands_on_io),
        column!(rows, "calls", U64, |r| r.calls),
        column!(rows, "time_ns", U64, |r| r.time_ns),
        column!(rows, "partner_ns", U64, |r| r.partner_ns),
        column!(rows, "shares", F64, |r| r.shares),
        column!(rows, "matched", U64, |r| r.matched),
        column!(rows, "unmatched", U64, |r| r.unmatched),
        column!(rows, "later_begins_ns", U64, |r| r.later_begins_ns),
        column!(rows, "later_ends_ns", U64, |r| r.later_ends_ns),
        column!(rows, "overlap_ns", U64, |r| r.overlap_ns),
        column!(rows, "late_sends_ns", U64, |r| r.late_sends_ns),
        column!(rows, "received", U64, |r| r.received),
        column!(rows, "spans_ns", F64, |r| r.spans_ns),
    ]
}

fn unmatched(profile: &Profile) -> Vec<Column> {
    let rows = &profile.unmatched;
    vec![
        column!(rows, "process", U32, |r| r.process.0),
        column!(rows, "part", Text, |r| text(r.part.id())),
        column!(rows, "reason", Text, |r| text(r.reason.id())),
        column!(rows, "count", U64, |r| r.count),
    ]
}

fn process_samples(profile: &Profile) -> Vec<Column> {
    let rows = &profile.process_samples;
    vec![
        column!(rows, "process", U32, |r| r.process.0),
        column!(rows, "time_ns", U64, |r| r.time_ns),
        column!(rows, "reason", Text, |r| text(&r.reason)),
        column!(rows, "label", Text, |r| text(&r.label)),
        column!(rows, "cpu_ns", U64, |r| r.cpu_ns),
        column!(rows, "user_ns", U64, |r| r.user_ns),
        column!(rows, "system_ns", U64, |r| r.system_ns),
        column!(rows, "minor_faults", U64, |r| r.minor_faults),
        column!(rows, "major_faults", U64, |r| r.major_faults),
        column!(rows, "voluntary_switches", U64, |r| r.voluntary_switches),
        column!(rows, "involuntary_switches", U64, |r| r.involuntary_switches),
        column!(rows, "peak_resident_bytes", U64, |r| r.peak_resident_bytes),
        column!(rows, "resident_bytes", OptionalU64, |r| r.resident_bytes),
        column!(rows, "read_bytes", OptionalU64, |r| r.read_bytes),
        column!(rows, "written_bytes", OptionalU64, |r| r.written_bytes),
        column!(rows, "read_by_calls_bytes", OptionalU64, |r| r.read_by_calls_bytes),
        column!(rows, "written_by_calls_bytes", OptionalU64, |r| r.written_by_calls_bytes),
        column!(rows, "read_calls", OptionalU64, |r| r.read_calls),
        column!(rows, "write_calls", OptionalU64, |r| r.write_calls),
        column!(rows, "threads", OptionalU32, |r| r.threads),
        column!(rows, "runnable", OptionalU32, |r| r.runnable),
        column!(rows, "load_milli", OptionalU32, |r| r.load_milli),
        column!(rows, "frequency_khz", OptionalU32, |r| r.frequency_khz),
        column!(rows, "temperature_milli", OptionalU32, |r| r.temperature_milli),
    ]
}
