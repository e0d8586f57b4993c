//! A profile survives its way to disk and back, and a damaged one is refused, never believed.

use std::fs;

mod messages;

use proptest::prelude::*;
use proust_profile::notes::{ModuleNote, RunNote};
use proust_profile::tables::{self, Kept, Provenance, SourceFile, TablesError};
use proust_profile::{
    Context, ContextId, ContextKind, Detail, EventRow, Family, Function, FunctionId, Location, LocationId,
    Metric, Module, ModuleId, Nature, Ns, OperationId, OperationInfo, OperationKind, Process, ProcessId,
    ProcessSampleRow, Profile, Quality, RegionId, RegionInfo, ReleaseRow, RunFacts, SampleRow, SegmentRow,
    StayRow, Target, TrialSums, Value,
};

mod inside;
mod intervals;
mod large;

use inside::inside;
use intervals::{execution_sums, executions, interval_contexts, intervals};

const KINDS: [ContextKind; 6] = [
    ContextKind::Partial,
    ContextKind::Frame,
    ContextKind::Inline,
    ContextKind::Line,
    ContextKind::Operation,
    ContextKind::Interval,
];

fn time() -> impl Strategy<Value = Ns> {
    prop_oneof![Just(Ns::ZERO), Just(Ns::MAX), any::<i64>().prop_map(Ns::new)]
}

fn contexts(functions: u32) -> impl Strategy<Value = Vec<Context>> {
    let row =
        (any::<u32>(), 0..KINDS.len(), any::<Option<u32>>(), any::<Option<String>>(), any::<Option<u32>>());
    proptest::collection::vec(row, 0..40).prop_map(move |rows| {
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        let others = rows.into_iter().enumerate().map(|(i, (parent, kind, function, file, line))| Context {
            parent: Some(ContextId(parent % (i as u32 + 1))),
            kind: KINDS[kind],
            function: function.filter(|_| functions > 0).map(|f| f % functions.max(1)).map(FunctionId),
            file,
            line,
        });
        std::iter::once(program).chain(others).collect()
    })
}

fn samples(contexts: u32, locations: u32) -> impl Strategy<Value = Vec<SampleRow>> {
    let row = (
        any::<u32>(),
        any::<u32>(),
        any::<u64>(),
        any::<[u64; 4]>(),
        any::<[u32; 5]>(),
        any::<u16>(),
        any::<[bool; 5]>(),
    );
    proptest::collection::vec(row, 0..if locations == 0 { 1 } else { 60 }).prop_map(move |rows| {
        let mut rows: Vec<SampleRow> = rows
            .into_iter()
            .filter(|_| locations > 0)
            .map(|(location, context, time_ns, ns, counts, processor, flags)| SampleRow {
                location: LocationId(location % locations.max(1)),
                context: ContextId(context % contexts),
                time_ns,
                cpu_ns: ns[0],
                user_ns: ns[1],
                system_ns: ns[2],
                measurement_ns: ns[3],
                minor_faults: counts[0],
                major_faults: counts[1],
                voluntary_switches: counts[2],
                involuntary_switches: counts[3],
                queued_us: counts[4],
                processor,
                tail: flags[0],
                partial: flags[1],
                in_operation: flags[2],
                is_busy_wait: flags[3],
                is_atomic: flags[4],
            })
            .collect();
        rows.sort_by_key(|row| (row.location, row.time_ns));
        rows
    })
}

/// Events of three operations, single ones and sums.
fn events(contexts: u32, locations: u32) -> impl Strategy<Value = Vec<EventRow>> {
    let row = (
        any::<[u32; 4]>(),
        any::<[u64; 4]>(),
        0..1_u64 << 62,
        0..1_u64 << 62,
        any::<u64>(),
        any::<Option<u64>>(),
        any::<[bool; 4]>(),
    );
    proptest::collection::vec(row, 0..if locations == 0 { 1 } else { 60 }).prop_map(move |rows| {
        let mut rows: Vec<EventRow> = rows
            .into_iter()
            .filter(|_| locations > 0)
            .map(|(ids, numbers, begin_ns, length_ns, part, cpu_clock_ns, flags)| EventRow {
                location: LocationId(ids[0] % locations.max(1)),
                context: ContextId(ids[1] % contexts),
                operation: OperationId(ids[2] % 3),
                target: Target::ALL[ids[3] as usize % Target::ALL.len()],
                begin_ns,
                end_ns: begin_ns + length_ns,
                time_ns: if flags[0] { part % (length_ns + 1) } else { length_ns },
                calls: ids[2],
                errors: ids[3],
                bytes: numbers[0],
                cpu_clock_ns: cpu_clock_ns.map(|clock_ns| clock_ns >> 1),
                object: numbers[1],
                object2: numbers[2],
                summed: flags[0],
                left: flags[1],
                open: flags[2],
            })
            .collect();
        rows.sort_by_key(|row| (row.location, row.end_ns));
        rows
    })
}

/// Regions inside each other, and what was done in them.
fn regions(
    contexts: u32,
    locations: u32,
    processes: u32,
) -> impl Strategy<Value = (Vec<RegionInfo>, Vec<SegmentRow>, Vec<StayRow>)> {
    let row = (any::<[u32; 6]>(), any::<[u64; 5]>(), any::<bool>());
    proptest::collection::vec(row, 0..if locations == 0 { 1 } else { 40 }).prop_map(move |rows| {
        let infos: Vec<RegionInfo> = (0..rows.len().min(5) as u32)
            .map(|id| RegionInfo {
                process: ProcessId(rows[id as usize].0[0] % processes.max(1)),
                context: ContextId(rows[id as usize].0[1] % contexts),
                parent: if rows[id as usize].2 { id.checked_sub(1).map(RegionId) } else { None },
                told: rows[id as usize].0[2] % 2 == 0,
            })
            .collect();
        let mut segments = std::collections::BTreeMap::new();
        let mut stays = Vec::new();
        for (ids, numbers, _) in rows {
            let (location, region) = (ids[0] % locations.max(1), ids[1] % infos.len() as u32);
            let (operation, context) = (ids[2] % 3, ids[3] % contexts);
            let segment = SegmentRow {
                location: LocationId(location),
                region: RegionId(region),
                operation: OperationId(operation),
                context: ContextId(context),
                executions: numbers[0],
                unmeasured: numbers[2],
                known: numbers[3],
                last: numbers[0],
                wait_error_ns: numbers[1],
                contended: numbers[1],
                work_ns: numbers[2],
                wait_ns: numbers[3],
                latency_ns: numbers[4],
                team_min: ids[4],
                team_max: ids[5],
                spreads: numbers[2],
                spread_ns: numbers[0],
                iterations: numbers[4],
                added_ns: numbers[3],
                added_error_ns: numbers[4],
                added_behind_ns: numbers[1],
                trials: TrialSums {
                    count: numbers[0],
                    visits: numbers[1],
                    more_ns: -(numbers[2] as f64),
                    visits2: numbers[3] as f64,
                    more_ns2: numbers[4] as f64,
                    product: -(numbers[0] as f64),
                },
            };
            segments.insert((location, region, operation, context), segment);
            let [fork_ns, begin_ns, end_ns, ..] = numbers;
            stays.push(StayRow {
                location: LocationId(location),
                region: RegionId(region),
                fork_ns,
                begin_ns,
                end_ns,
                number: ids[4],
                team: ids[5],
            });
        }
        stays.sort_by_key(|stay| (stay.location, stay.begin_ns));
        (infos, segments.into_values().collect(), stays)
    })
}

/// Samples of processes, with the numbers of these rows.
fn process_samples(numbers: &[ReleaseRow], processes: u32) -> Vec<ProcessSampleRow> {
    let numbers = numbers.iter().filter(|_| processes > 0);
    numbers
        .map(|row| ProcessSampleRow {
            process: ProcessId(row.context.0 % processes),
            time_ns: row.time_ns,
            reason: "asked".into(),
            label: format!("{:x}", row.object),
            cpu_ns: row.held_ns,
            peak_resident_bytes: row.weight_ns,
            resident_bytes: row.since_ns,
            written_by_calls_bytes: row.since_ns,
            threads: row.site.map(u32::from),
            runnable: row.site.map(u32::from),
            load_milli: Some(row.context.0),
            temperature_milli: row.context.0.checked_sub(3),
            ..ProcessSampleRow::default()
        })
        .collect()
}

fn releases(contexts: u32, locations: u32) -> impl Strategy<Value = Vec<ReleaseRow>> {
    let row = (any::<[u32; 3]>(), any::<[u64; 4]>(), any::<Option<u32>>(), any::<Option<u64>>());
    proptest::collection::vec(row, 0..if locations == 0 { 1 } else { 60 }).prop_map(move |rows| {
        let mut rows: Vec<ReleaseRow> = rows
            .into_iter()
            .filter(|_| locations > 0)
            .map(|(ids, numbers, site, since_ns)| ReleaseRow {
                location: LocationId(ids[0] % locations.max(1)),
                context: ContextId(ids[1] % contexts),
                site: site.map(|site| site % contexts).map(ContextId),
                operation: OperationId(ids[2] % 3),
                time_ns: numbers[0],
                object: numbers[1],
                held_ns: numbers[2],
                weight_ns: numbers[3],
                since_ns,
            })
            .collect();
        rows.sort_by_key(|row| (row.location, row.time_ns));
        rows
    })
}

fn values(contexts: u32, locations: u32) -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::btree_map(
        (0..contexts, 0..locations.max(1), 0..Metric::ALL.len()),
        any::<u64>(),
        0..50,
    )
    .prop_map(move |map| {
        let mut values: Vec<Value> = map
            .into_iter()
            .filter(|_| locations > 0)
            .map(|((context, location, metric), amount)| Value {
                context: ContextId(context),
                location: LocationId(location),
                metric: Metric::ALL[metric],
                amount,
            })
            .collect();
        values.sort_by_key(|v| (v.context, v.location, v.metric));
        values
    })
}

fn process() -> impl Strategy<Value = Process> {
    (
        any::<[u32; 3]>(),
        any::<Option<u32>>(),
        any::<[String; 3]>(),
        any::<Vec<String>>(),
        time(),
        proptest::option::of(time()),
    )
        .prop_map(|(numbers, rank, names, list, time, clock)| Process {
            pid: numbers[0],
            parent_pid: numbers[1],
            rank,
            host: names[0].clone(),
            name: names[1].clone(),
            executable: names[2].clone(),
            environment: list.iter().rev().cloned().collect(),
            arguments: list,
            origin: "fork".into(),
            ending: "open".into(),
            start: time,
            end: time / 3.0,
            clock_cpu: clock,
            available_processors: numbers[2],
            processors: "0-3,8".into(),
            quota_milli: Some(numbers[1]),
            peak_resident_bytes: rank.map(u64::from),
        })
}

/// An operation of which nothing is known, and one of each sort.
fn operations() -> Vec<OperationInfo> {
    let sorts = (Nature::ALL.iter().cycle()).zip(Family::ALL.iter().cycle()).zip(Detail::ALL);
    let kinds = sorts.map(|((&nature, &family), &detail)| OperationKind { nature, family, detail });
    let known = kinds.map(|kind| OperationInfo { name: format!("{kind:?}"), kind: Some(kind) });
    std::iter::once(OperationInfo::default()).chain(known).collect()
}

fn profile() -> impl Strategy<Value = Profile> {
    let sizes = (0..8_u32, 0..5_usize, 0..6_usize);
    sizes.prop_flat_map(|(functions, processes, locations)| {
        let locations = if processes == 0 { 0 } else { locations };
        let functions_rows = proptest::collection::vec(
            (any::<[String; 2]>(), any::<Option<String>>(), any::<bool>(), any::<Option<u32>>()),
            functions as usize,
        );
        let location_rows = proptest::collection::vec(
            (any::<[u32; 2]>(), any::<String>(), time(), any::<u64>(), any::<bool>()),
            locations,
        );
        (
            contexts(functions),
            functions_rows,
            proptest::collection::vec(process(), processes),
            location_rows,
            (time(), any::<Vec<String>>(), any::<u64>()),
        )
            .prop_flat_map(move |(contexts, functions, processes, location_rows, facts)| {
                let count = contexts.len() as u32;
                let functions: Vec<Function> = functions
                    .into_iter()
                    .map(|([name, full_name], linkage_name, in_module, line)| Function {
                        name,
                        full_name,
                        file: linkage_name.clone(),
                        linkage_name,
                        module: in_module.then_some(ModuleId(0)),
                        line,
                    })
                    .collect();
                let process_count = processes.len() as u32;
                let locations: Vec<Location> = location_rows
                    .into_iter()
                    .map(|([process, tid], name, time, samples, service)| Location {
                        process: ProcessId(process % process_count.max(1)),
                        tid,
                        name,
                        start: time,
                        end: time * 2.0,
                        cpu: time / 7.0,
                        queued: -time,
                        measurement: Ns::SHORTEST,
                        samples,
                        service,
                        processors: if service { "0-3,8".into() } else { String::new() },
                    })
                    .collect();
                let location_count = locations.len() as u32;
                let rows = (
                    samples(count, location_count),
                    events(count, location_count),
                    releases(count, location_count),
                    regions(count, location_count, process_count),
                );
                (values(count, location_count), rows).prop_map(
                    move |(values, (samples, events, releases, regions))| Profile {
                        communicators: messages::communicators(&releases),
                        traffic: messages::traffic(&releases, process_count),
                        gatherings: messages::gatherings(&releases),
                        exchanges: messages::exchanges(&releases),
                        unmatched: messages::unmatched(process_count),
                        partner_waits: messages::partner_waits(&releases, count).into(),
                        transfers: messages::transfers(&releases).into(),
                        facts: RunFacts { wall: facts.0, command: facts.1.clone(), ..RunFacts::default() },
                        quality: Quality {
                            samples: facts.2,
                            notes: vec![RunNote::StillRunning { processes: facts.1.clone() }],
                            ..Quality::default()
                        },
                        processes: processes.clone().into(),
                        locations: locations.clone().into(),
                        modules: vec![Module {
                            path: "/bin/a".into(),
                            build_id: "0f".into(),
                            notes: vec![ModuleNote::NoFile { path: "[vdso]".into() }],
                        }]
                        .into(),
                        functions: functions.clone().into(),
                        contexts: contexts.clone().into(),
                        values,
                        samples: samples.into(),
                        operations: operations().into(),
                        events: events.into(),
                        inside: inside(&releases, count),
                        intervals: intervals(),
                        interval_contexts: interval_contexts(&contexts),
                        executions: executions(&releases),
                        execution_sums: execution_sums(&releases),
                        process_samples: process_samples(&releases, process_count),
                        releases: releases.into(),
                        regions: regions.0.into(),
                        segments: regions.1,
                        stays: regions.2.into(),
                    },
                )
            })
    })
}

fn provenance() -> Provenance {
    Provenance {
        analysis: 3,
        rules: 5,
        sources: vec![SourceFile { name: "log/7.plog".into(), bytes: 4096, digest: u64::MAX }],
    }
}

proptest! {

    #[test]
    fn what_was_written_is_read(profile in profile()) {
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join(tables::PROFILE_FOLDER);
        prop_assert_eq!(profile.check(), Ok(()));
        // Twice: the second replaces the first.
        let first = Profile {
            contexts: profile.contexts.clone(),
            functions: profile.functions.clone(),
            modules: profile.modules.clone(),
            intervals: profile.intervals.clone(),
            interval_contexts: profile.interval_contexts.clone(),
            ..Profile::default()
        };
        tables::write(&dir, &first, &Provenance::default()).unwrap();
        tables::write(&dir, &profile, &provenance()).unwrap();
        prop_assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1);
        prop_assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
        let kept = Kept::open(&dir).unwrap();
        prop_assert_eq!(kept.provenance(), &provenance());
        let without = kept.profile_without_rows().unwrap();
        prop_assert!(without.samples.is_empty() && without.events.is_empty());
        prop_assert!(without.releases.is_empty() && without.stays.is_empty());
        let rows = kept.rows(&without).unwrap();
        prop_assert!(without.partner_waits.is_empty() && without.transfers.is_empty());
        prop_assert_eq!(&rows.transfers, &profile.transfers);
        prop_assert_eq!(&rows.partner_waits, &profile.partner_waits);
        prop_assert_eq!(&rows.samples, &profile.samples);
        prop_assert_eq!(&rows.stays, &profile.stays);
        prop_assert_eq!(&rows.events, &profile.events);
        prop_assert_eq!(&rows.releases, &profile.releases);
        prop_assert_eq!(&rows.executions, &profile.executions);
        prop_assert_eq!(tables::read(&dir).unwrap(), profile);
    }

    #[test]
    fn damage_is_an_error_that_says_what_to_do(
        profile in profile(),
        file in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        how in 0..3,
    ) {
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join(tables::PROFILE_FOLDER);
        tables::write(&dir, &profile, &provenance()).unwrap();
        let folder = Kept::open(&dir).unwrap().folder().to_owned();
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
        files.push(dir.join(tables::MANIFEST));
        files.sort();
        let path = file.get(&files);
        let mut bytes = fs::read(path).unwrap();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] ^= 0x10,
            1 => bytes.truncate(at),
            _ => bytes.insert(at, 0),
        }
        fs::write(path, bytes).unwrap();
        match tables::read(&dir) {
            // White space, or a key, of the manifest may change without a change of what is read.
            Ok(read) => prop_assert_eq!(read, profile),
            Err(TablesError::Io { .. }) => {}
            Err(error) => prop_assert!(error.to_string().contains(dir.to_str().unwrap()), "{}", error),
        }
    }
}

#[test]
fn there_is_no_profile_and_nothing_that_is_not_finite_is_written() {
    let run = tempfile::tempdir().unwrap();
    let dir = run.path().join(tables::PROFILE_FOLDER);
    assert!(matches!(tables::read(&dir), Err(TablesError::Missing { .. })));
    assert!(matches!(
        tables::write(&dir, &Profile::default(), &provenance()),
        Err(TablesError::Broken { .. })
    ));
    let program =
        Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
    let mut profile = Profile { contexts: vec![program].into(), ..Profile::default() };
    profile.facts.start_unix_s = f64::NAN;
    assert!(matches!(tables::write(&dir, &profile, &provenance()), Err(TablesError::Json { .. })));
    assert_eq!(fs::read_dir(run.path()).unwrap().count(), 0);
}
