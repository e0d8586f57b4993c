//! Metrics that are no sums: a peak of several is the largest one.

use proust_profile::ProcessId;

use super::*;

const PEAK: Metric = Metric::PeakResident;
const LAST: Metric = Metric::Resident;

/// The example with two processes, each with a peak and a last reading at the program, and as if more of them
/// were known deeper in the tree.
fn held() -> Profile {
    let mut profile = profile();
    profile.processes.push(Process { pid: 9, ..profile.processes[ProcessId(0)].clone() });
    profile.locations[LocationId(1)].process = ProcessId(1);
    for (context, location, amount) in
        [(0, 0, 50), (0, 1, 70), (5, 0, 60), (8, 0, 20), (8, 1, 30), (13, 1, 10)]
    {
        for metric in [PEAK, LAST] {
            let (context, location) = (ContextId(context), LocationId(location));
            profile.values.push(Value { context, location, metric, amount });
        }
    }
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    profile
}

#[test]
fn peaks_are_the_largest_in_every_grouping_and_what_is_held_adds_up() {
    let profile = held();
    let all = Selection::all(&profile);
    assert_eq!((all.total(PEAK), all.total(LAST)), (70, 240));
    let by_context = |metric| Amounts::by_context(&all, metric);
    assert_eq!((by_context(PEAK).inclusive[0], by_context(LAST).inclusive[0]), (70, 240));
    assert_eq!((by_context(PEAK).inclusive[5], by_context(LAST).inclusive[5]), (60, 110));
    assert_eq!((by_context(PEAK).inclusive[8], by_context(LAST).inclusive[8]), (30, 50));
    // `fact` is on its own path, `work` below it: a function's peak is that of its calls.
    let by_function = Amounts::by_function(&all, PEAK);
    assert_eq!((by_function.inclusive[2], by_function.inclusive[0]), (60, 60));
    for (metric, fact) in [(PEAK, 60), (LAST, 110)] {
        let tree = BottomUp::new(&all, 10);
        let root = tree.nodes.iter().position(|node| node.parent.is_none() && node.function == FunctionId(2));
        assert_eq!(tree.amounts(&all, metric).inclusive[root.unwrap()], fact);
        assert_eq!(Neighbours::of(&all, FunctionId(2), metric).inclusive, fact);
    }
    let lines = OnPath::lines(&profile, all.forest());
    let most = lines.amounts(&all, PEAK).inclusive.into_iter().max().unwrap();
    assert!(most <= 60 && lines.rest(&all, PEAK) <= 70, "{most}");
    // A location's peak is its largest, and locations are compared by these.
    let spread = Spread::by_context(&all, PEAK).inclusive[0];
    assert_eq!((spread.max, spread.max_location), (70.0, Some(LocationId(1))));
    assert_eq!((spread.min, spread.mean), (60.0, 65.0));
}

#[test]
fn readings_of_a_range_are_its_last_and_peaks_are_of_whole_processes() {
    let mut profile = held();
    profile.processes[ProcessId(0)].peak_resident_bytes = Some(99);
    let sample = |process, second: u64, resident| proust_profile::ProcessSampleRow {
        process: ProcessId(process),
        time_ns: second * 1_000_000_000,
        resident_bytes: Some(resident),
        ..proust_profile::ProcessSampleRow::default()
    };
    profile.process_samples = vec![sample(0, 1, 30), sample(0, 2, 20), sample(0, 4, 90), sample(1, 2, 5)];
    let of = |expression: &str| [LAST, PEAK].map(|metric| select(&profile, expression).total(metric));
    assert_eq!(of("time=..3s"), [25, 0]);
    assert_eq!(of("time=..3s and process=9"), [5, 0]);
    assert_eq!(of("time=3s.."), [90, 0]);
    let mut read = Vec::new();
    proust_profile::process_metrics::each_reading(&profile, true, |_, _| false, |value| read.push(value));
    assert_eq!(read.iter().map(|value| (value.metric, value.amount)).collect::<Vec<_>>(), [(PEAK, 99)]);
}
