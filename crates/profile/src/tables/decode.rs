//! From columns to the profile.

use std::thread;

use serde::de::DeserializeOwned;

use super::encode::{
    COMMUNICATORS, CONTEXTS, EXCHANGES, EXECUTION_SUMS, FUNCTIONS, GATHERINGS, INSIDE, INTERVAL_CONTEXTS,
    INTERVALS, LOCATIONS, MODULES, OPERATIONS, PROCESS_SAMPLES, PROCESSES, REGIONS, SEGMENTS, TRAFFIC,
    UNMATCHED,
};
use super::error::TablesError;
use super::reader::Table;
use crate::{
    Context, ContextKind, Detail, ExecutionEnd, ExecutionRow, ExecutionSumRow, Family, Function, InsideRow,
    IntervalContext, IntervalInfo, IntervalWork, Location, Metric, Module, Nature, OperationInfo,
    OperationKind, Process, ProcessSampleRow, Profile, RegionInfo, SegmentRow, TrialSums, Value,
};

/// Fills all tables of `profile` but the amounts, samples, events, releases, stays, executions, waits for
/// partners and transfers.
pub(super) fn read_definitions(
    profile: &mut Profile,
    open: impl Fn(&'static str) -> Result<Table, TablesError>,
) -> Result<(), TablesError> {
    profile.contexts = rows(&open(CONTEXTS)?, contexts)?.into();
    profile.functions = rows(&open(FUNCTIONS)?, functions)?.into();
    profile.modules = rows(&open(MODULES)?, modules)?.into();
    profile.processes = rows(&open(PROCESSES)?, processes)?.into();
    profile.locations = rows(&open(LOCATIONS)?, locations)?.into();
    profile.operations = rows(&open(OPERATIONS)?, operations)?.into();
    profile.inside = rows(&open(INSIDE)?, inside)?;
    profile.regions = rows(&open(REGIONS)?, regions)?.into();
    profile.segments = rows(&open(SEGMENTS)?, segments)?;
    profile.intervals = rows(&open(INTERVALS)?, intervals)?;
    profile.interval_contexts = rows(&open(INTERVAL_CONTEXTS)?, interval_contexts)?;
    profile.execution_sums = rows(&open(EXECUTION_SUMS)?, execution_sums)?;
    profile.process_samples = rows(&open(PROCESS_SAMPLES)?, process_samples)?;
    profile.communicators = rows(&open(COMMUNICATORS)?, communicators)?;
    profile.traffic = rows(&open(TRAFFIC)?, traffic)?;
    profile.gatherings = rows(&open(GATHERINGS)?, gatherings)?;
    profile.exchanges = rows(&open(EXCHANGES)?, exchanges::exchanges)?;
    profile.unmatched = rows(&open(UNMATCHED)?, unmatched)?;
    Ok(())
}

fn rows<T>(
    table: &Table,
    group_rows: impl Fn(&Table, usize) -> Result<Vec<T>, TablesError>,
) -> Result<Vec<T>, TablesError> {
    let mut all = Vec::new();
    for group in table.groups() {
        all.append(&mut group_rows(table, group)?);
    }
    Ok(all)
}

/// The amounts.
pub(super) fn read_values(table: &Table) -> Result<Vec<Value>, TablesError> {
    side_by_side(table, values)
}

/// The executions.
pub(super) fn read_executions(table: &Table) -> Result<Vec<ExecutionRow>, TablesError> {
    side_by_side(table, executions)
}

/// The rows of a large table, row groups side by side on all processors.
fn side_by_side<T: Send>(
    table: &Table,
    group_rows: impl Fn(&Table, usize) -> Result<Vec<T>, TablesError> + Copy + Send,
) -> Result<Vec<T>, TablesError> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(table.groups().len());
    if workers < 2 {
        return rows(table, group_rows);
    }
    let mut groups: Vec<(usize, Result<Vec<T>, TablesError>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|first| {
                scope.spawn(move || {
                    let mine = table.groups().skip(first).step_by(workers);
                    mine.map(|group| (group, group_rows(table, group))).collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    groups.sort_by_key(|&(group, _)| group);
    let mut all = Vec::new();
    for (_, rows) in groups {
        all.append(&mut rows?);
    }
    Ok(all)
}

/// Rows `$row { field: source, … }` of `$table`, where a source names the column and how it is read; all
/// columns of a group have the same length.
macro_rules! zip_rows {
    ($table:ident, $group:ident; $($column:ident: $read:ident),+ $(,)?; $row:expr) => {{
        $(let mut $column = $table.$read($group, stringify!($column))?.into_iter();)+
        let mut rows = Vec::new();
        while let ($(Some($column),)+) = ($($column.next(),)+) {
            rows.push($row);
        }
        Ok(rows)
    }};
}

mod exchanges;
mod messages;

use messages::{communicators, gatherings, traffic, unmatched};

fn contexts(table: &Table, group: usize) -> Result<Vec<Context>, TablesError> {
    zip_rows!(table, group;
    parent: optional_ids, kind: texts, function: optional_ids, file: optional_texts, line: optional_u32s;
    Context {
        parent,
        kind: ContextKind::from_id(&kind)
            .ok_or_else(|| table.damaged(format!("unknown kind of context `{kind}`")))?,
        function,
        file,
        line,
    })
}

fn functions(table: &Table, group: usize) -> Result<Vec<Function>, TablesError> {
    zip_rows!(table, group;
        name: texts, full_name: texts, linkage_name: optional_texts, module: optional_ids,
        file: optional_texts, line: optional_u32s;
        Function { name, full_name, linkage_name, module, file, line })
}

fn modules(table: &Table, group: usize) -> Result<Vec<Module>, TablesError> {
    zip_rows!(table, group; path: texts, build_id: texts, notes: texts;
        Module { path, build_id, notes: list(table, &notes)? })
}

fn processes(table: &Table, group: usize) -> Result<Vec<Process>, TablesError> {
    zip_rows!(table, group;
    pid: u32s, parent_pid: u32s, rank: optional_u32s, host: texts, name: texts, executable: texts,
    arguments: texts, environment: texts, origin: texts, ending: texts, start_ns: times, end_ns: times,
    clock_cpu_ns: optional_times, available_processors: u32s, processors: texts, quota_milli: optional_u32s,
    peak_resident_bytes: optional_u64s;
    Process {
        pid,
        parent_pid,
        rank,
        host,
        name,
        executable,
        arguments: list(table, &arguments)?,
        environment: list(table, &environment)?,
        origin,
        ending,
        start: start_ns,
        end: end_ns,
        clock_cpu: clock_cpu_ns,
        available_processors,
        processors,
        quota_milli,
        peak_resident_bytes,
    })
}

fn list<T: DeserializeOwned>(table: &Table, cell: &str) -> Result<Vec<T>, TablesError> {
    serde_json::from_str(cell).map_err(|error| table.damaged(format!("`{cell}` is no list: {error}")))
}

fn locations(table: &Table, group: usize) -> Result<Vec<Location>, TablesError> {
    zip_rows!(table, group;
        process: ids, tid: u32s, name: texts, start_ns: times, end_ns: times, cpu_ns: times,
        queued_ns: times, measurement_ns: times, samples: u64s, service: bools, processors: texts;
    Location {
        process,
        tid,
        name,
        start: start_ns,
        end: end_ns,
        cpu: cpu_ns,
        queued: queued_ns,
        measurement: measurement_ns,
        samples,
        service,
        processors,
    })
}

fn values(table: &Table, group: usize) -> Result<Vec<Value>, TablesError> {
    zip_rows!(table, group; context: ids, location: ids, metric: u32s, amount: u64s;
    Value {
        context,
        location,
        metric: u16::try_from(metric)
            .ok()
            .and_then(Metric::from_number)
            .ok_or_else(|| table.damaged(format!("unknown metric {metric}")))?,
        amount,
    })
}

fn inside(table: &Table, group: usize) -> Result<Vec<InsideRow>, TablesError> {
    zip_rows!(table, group;
    location: ids, context: ids, outer: ids, operation: ids, begin_ns: u64s, end_ns: u64s, time_ns: u64s,
    longest_ns: u64s, calls: u32s, errors: u32s, bytes: u64s;
    InsideRow {
        location, context, outer, operation, begin_ns, end_ns, time_ns, longest_ns, calls, errors, bytes
    })
}

fn operations(table: &Table, group: usize) -> Result<Vec<OperationInfo>, TablesError> {
    zip_rows!(table, group;
        name: texts, nature: optional_texts, family: optional_texts, detail: optional_texts;
        OperationInfo { name, kind: operation_kind(table, nature, family, detail)? })
}

fn operation_kind(
    table: &Table,
    nature: Option<String>,
    family: Option<String>,
    detail: Option<String>,
) -> Result<Option<OperationKind>, TablesError> {
    let Some(nature) = nature else { return Ok(None) };
    let (family, detail) = (family.unwrap_or_default(), detail.unwrap_or_default());
    let unknown = |what, id: &str| table.damaged(format!("unknown {what} of an operation `{id}`"));
    Ok(Some(OperationKind {
        nature: Nature::from_id(&nature).ok_or_else(|| unknown("nature", &nature))?,
        family: Family::from_id(&family).ok_or_else(|| unknown("family", &family))?,
        detail: Detail::from_id(&detail).ok_or_else(|| unknown("detail", &detail))?,
    }))
}

fn regions(table: &Table, group: usize) -> Result<Vec<RegionInfo>, TablesError> {
    zip_rows!(table, group; process: ids, context: ids, parent: optional_ids, told: bools;
        RegionInfo { process, context, parent, told })
}

fn segments(table: &Table, group: usize) -> Result<Vec<SegmentRow>, TablesError> {
    zip_rows!(table, group;
    location: ids, region: ids, operation: ids, context: ids, executions: u64s, unmeasured: u64s,
    known: u64s, last: u64s, contended: u64s, work_ns: u64s, wait_ns: u64s, wait_error_ns: u64s,
    latency_ns: u64s, team_min: u32s, team_max: u32s, spreads: u64s, spread_ns: u64s, iterations: u64s,
    added_ns: u64s, added_error_ns: u64s,
    added_behind_ns: u64s, trials: u64s, trial_visits: u64s, trial_more_ns: f64s, trial_visits2: f64s,
    trial_more_ns2: f64s, trial_product_ns: f64s;
    SegmentRow {
        location,
        region,
        operation,
        context,
        added_behind_ns,
        executions,
        unmeasured,
        known,
        last,
        contended,
        work_ns,
        wait_ns,
        wait_error_ns,
        latency_ns,
        team_min,
        team_max,
        spreads,
        spread_ns,
        iterations,
        added_ns,
        added_error_ns,
        trials: TrialSums {
            count: trials,
            visits: trial_visits,
            more_ns: trial_more_ns,
            visits2: trial_visits2,
            more_ns2: trial_more_ns2,
            product: trial_product_ns,
        },
    })
}

fn intervals(table: &Table, group: usize) -> Result<Vec<IntervalInfo>, TablesError> {
    zip_rows!(table, group;
    parent: optional_u32s, name: texts, number: optional_u64s, file: optional_texts, line: optional_u32s,
    work: texts, degree: optional_u32s, in_region: bools;
    IntervalInfo {
        parent,
        name,
        number: number.map(u64::cast_signed),
        file,
        line,
        work: IntervalWork::from_id(&work)
            .ok_or_else(|| table.damaged(format!("unknown kind of work `{work}`")))?,
        degree,
        in_region,
    })
}

fn interval_contexts(table: &Table, group: usize) -> Result<Vec<IntervalContext>, TablesError> {
    zip_rows!(table, group;
    context: u32s, interval: u32s;
    IntervalContext { context: context.into(), interval })
}

fn executions(table: &Table, group: usize) -> Result<Vec<ExecutionRow>, TablesError> {
    zip_rows!(table, group;
    location: u32s, interval: u32s, begin_ns: u64s, end_ns: u64s, iterations: u64s, end: texts,
    inherited: bools;
    ExecutionRow {
        location: location.into(),
        interval,
        begin_ns,
        end_ns,
        iterations,
        end: ExecutionEnd::from_id(&end)
            .ok_or_else(|| table.damaged(format!("unknown end of an execution `{end}`")))?,
        inherited,
    })
}

fn execution_sums(table: &Table, group: usize) -> Result<Vec<ExecutionSumRow>, TablesError> {
    zip_rows!(table, group;
    location: u32s, interval: u32s, begin_ns: u64s, end_ns: u64s, time_ns: u64s, min_ns: u64s, max_ns: u64s,
    executions: u64s, iterations: u64s;
    ExecutionSumRow {
        location: location.into(),
        interval,
        begin_ns,
        end_ns,
        time_ns,
        min_ns,
        max_ns,
        executions,
        iterations,
    })
}

fn process_samples(table: &Table, group: usize) -> Result<Vec<ProcessSampleRow>, TablesError> {
    zip_rows!(table, group;
    process: ids, time_ns: u64s, reason: texts, label: texts, cpu_ns: u64s, user_ns: u64s, system_ns:
    u64s, minor_faults: u64s, major_faults: u64s, voluntary_switches: u64s, involuntary_switches: u64s,
    peak_resident_bytes: u64s, resident_bytes: optional_u64s, read_bytes: optional_u64s, written_bytes:
    optional_u64s, read_by_calls_bytes: optional_u64s, written_by_calls_bytes: optional_u64s, read_calls:
    optional_u64s, write_calls: optional_u64s, threads: optional_u32s, runnable: optional_u32s, load_milli:
    optional_u32s, frequency_khz: optional_u32s, temperature_milli: optional_u32s;
    ProcessSampleRow {
        process,
        time_ns,
        reason,
        label,
        cpu_ns,
        user_ns,
        system_ns,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
        peak_resident_bytes,
        resident_bytes,
        read_bytes,
        written_bytes,
        read_by_calls_bytes,
        written_by_calls_bytes,
        read_calls,
        write_calls,
        threads,
        runnable,
        load_milli,
        frequency_khz,
        temperature_milli,
    })
}
