use proust_profile::{
    CommunicatorInfo, Context, ContextId, ContextKind, IdealNetwork, MessageQuality, OperationId,
    OperationInfo, OperationKind, SampleRow, WaitPattern,
};

use super::*;

const INIT: u32 = 0;
const RECEIVE: u32 = 1;

fn event(location: u32, operation: u32, begin_ns: u64, end_ns: u64) -> EventRow {
    EventRow {
        location: LocationId(location),
        operation: OperationId(operation),
        context: ContextId(1),
        begin_ns,
        end_ns,
        time_ns: end_ns - begin_ns,
        calls: 1,
        ..EventRow::default()
    }
}

fn wait(location: u32, begin_ns: u64, until_ns: u64, late: u32) -> PartnerWaitRow {
    PartnerWaitRow {
        location: LocationId(location),
        context: ContextId(1),
        operation: OperationId(RECEIVE),
        begin_ns,
        until_ns,
        pattern: WaitPattern::LateSender,
        late: LocationId(late),
        late_context: ContextId(1),
        misordered_ns: 0,
        bytes: 0,
    }
}

/// Every 10 ns of a time, in a context.
fn samples(location: u32, context: u32, (from_ns, to_ns): (u64, u64)) -> Vec<SampleRow> {
    let row = |n: u64| SampleRow {
        location: LocationId(location),
        context: ContextId(context),
        time_ns: 10 * n,
        cpu_ns: 10,
        ..SampleRow::default()
    };
    (from_ns / 10 + 1..=to_ns / 10).map(row).collect()
}

fn profile(events: Vec<EventRow>, samples: Vec<SampleRow>, partner_waits: Vec<PartnerWaitRow>) -> Profile {
    use proust_profile::{Detail, Family};
    let kind = |nature| Some(OperationKind { nature, family: Family::Mpi, detail: Detail::Plain });
    let info = |kind| OperationInfo { name: String::new(), kind };
    let context = |kind| Context { parent: None, kind, function: None, file: None, line: None };
    let mut profile = Profile {
        operations: vec![info(kind(Nature::Runtime)), info(kind(Nature::Message))].into(),
        contexts: vec![
            context(ContextKind::Program),
            context(ContextKind::Frame),
            context(ContextKind::Frame),
            context(ContextKind::Frame),
        ]
        .into(),
        events: events.into(),
        samples: samples.into(),
        partner_waits: partner_waits.into(),
        ..Profile::default()
    };
    let ideal = Some(IdealNetwork { time_ns: 0, ideal_ns: Some(1), outside: Vec::new() });
    profile.quality.messages = Some(MessageQuality { ideal, ..MessageQuality::default() });
    profile
}

fn assert_sums(path: &CriticalPath) {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}: {path:#?}");
    assert!(path.steps.windows(2).all(|pair| pair[0].end_ns == pair[1].begin_ns));
    let ends = path.steps.last().unwrap().end_ns - path.steps[0].begin_ns;
    assert_eq!(path.length_ns, ends);
    assert_eq!(path.by_location.iter().map(|(_, ns)| ns).sum::<u64>(), ends);
    near(path.activities.iter().map(|sum| sum.on_path_ns).sum(), ends as f64);
    let Impact { activity_ns, imbalance_ns, apart_ns, off_path_ns } = path.impact;
    near(activity_ns + imbalance_ns + apart_ns + off_path_ns, path.ranks as f64 * ends as f64);
    near(path.activities.iter().map(|sum| sum.cost_ns).sum(), imbalance_ns + apart_ns);
    assert!(off_path_ns > -1e-6);
}

/// A pipeline of three: each computes 100 when it has what the one before it sent.
#[test]
fn a_pipeline_is_all_of_its_ranks_one_after_the_other() {
    let events = vec![
        event(0, INIT, 0, 10),
        event(0, RECEIVE, 110, 111),
        event(0, INIT, 320, 330),
        event(1, INIT, 0, 10),
        event(1, RECEIVE, 10, 120),
        event(1, RECEIVE, 220, 221),
        event(1, INIT, 320, 330),
        event(2, INIT, 0, 10),
        event(2, RECEIVE, 10, 230),
        event(2, INIT, 330, 340),
    ];
    let rows = [(0, 2, (10, 110)), (1, 2, (120, 220)), (2, 3, (230, 330))];
    let rows = rows.into_iter().flat_map(|(location, context, time)| samples(location, context, time));
    let waits = vec![wait(1, 10, 110, 0), wait(2, 10, 220, 1)];
    let path = CriticalPath::of(&profile(events, rows.collect(), waits)).expect("a path");
    assert_sums(&path);
    let steps: Vec<(u32, u64, u64)> =
        path.steps.iter().map(|step| (step.location.0, step.begin_ns, step.end_ns)).collect();
    assert_eq!(steps, [(0, 10, 110), (1, 110, 220), (2, 220, 330)]);
    // Function 2 is on the path in two ranks, and each of these spends half as long in it.
    let of = |context: u32, operation: Option<OperationId>| {
        let is_it = |sum: &&PathSum| sum.activity == (ContextId(context), operation);
        path.activities.iter().find(is_it).copied().unwrap()
    };
    let (two, three, receiving) = (of(2, None), of(3, None), of(1, Some(OperationId(RECEIVE))));
    assert_eq!((two.on_path_ns, three.on_path_ns, receiving.on_path_ns), (200.0, 100.0, 20.0));
    // Of 310 ns after what was recorded rank 0 computes 309 somewhere, by samples in function 2.
    assert!((two.mean_ns - (309.0 + 199.0) / 3.0).abs() < 1.0, "{two:?}");
    assert!((three.imbalance_ns - 200.0 / 3.0).abs() < 1e-6, "{three:?}");
    assert!(path.impact.apart_ns > 0.0);
}

/// One rank computes twice as long as the other before they meet.
#[test]
fn a_late_rank_is_the_path_and_its_imbalance_is_what_evening_out_would_save() {
    let events = vec![
        event(0, INIT, 0, 10),
        event(0, RECEIVE, 210, 220),
        event(0, INIT, 220, 230),
        event(1, INIT, 0, 10),
        event(1, RECEIVE, 110, 220),
        event(1, INIT, 220, 230),
    ];
    let rows = samples(0, 2, (10, 210)).into_iter().chain(samples(1, 2, (10, 110))).collect();
    let path = CriticalPath::of(&profile(events, rows, vec![wait(1, 110, 210, 0)])).expect("a path");
    assert_sums(&path);
    assert_eq!(path.length_ns, 210);
    assert_eq!(path.by_location[0], (LocationId(0), 200));
    let computing = path.activities[0];
    assert_eq!((computing.on_path_ns, computing.mean_ns, computing.imbalance_ns), (200.0, 150.0, 50.0));
    // All that rank 1 waited is lost for it.
    assert_eq!((computing.cost_ns, path.impact.imbalance_ns, path.impact.apart_ns), (100.0, 100.0, 0.0));
    assert_eq!(path.impact.activity_ns, 320.0);
}

#[test]
fn clocks_that_contradict_each_other_do_not_hang_it() {
    let events = vec![
        event(0, INIT, 0, 10),
        event(0, RECEIVE, 20, 60),
        event(1, INIT, 0, 10),
        event(1, RECEIVE, 20, 60),
    ];
    let waits = vec![wait(0, 20, 50, 1), wait(1, 20, 50, 0)];
    let path = CriticalPath::of(&profile(events, Vec::new(), waits)).expect("a path");
    assert_sums(&path);
    assert_eq!(path.length_ns, 50);
}

#[test]
fn without_ranks_there_is_none() {
    assert_eq!(CriticalPath::of(&profile(Vec::new(), Vec::new(), Vec::new())), None);
    assert_eq!(CriticalPath::of(&Profile::default()), None);
}

/// Rank 0 computes 200 more when the others are in the end of MPI already: 1 for all of it, 2 for half.
#[test]
fn what_the_last_rank_does_is_what_the_others_wait_for_in_the_end() {
    let events = vec![
        event(0, INIT, 0, 10),
        event(0, INIT, 310, 320),
        event(1, INIT, 0, 10),
        event(1, INIT, 110, 320),
        event(2, INIT, 0, 10),
        event(2, INIT, 210, 320),
    ];
    let rows = [(0, 2, (10, 110)), (0, 3, (110, 310)), (1, 2, (10, 110)), (2, 2, (10, 210))];
    let rows = rows.into_iter().flat_map(|(location, context, time)| samples(location, context, time));
    let mut of_one = profile(events, rows.collect(), Vec::new());
    assert_eq!(CriticalPath::of(&of_one).expect("a path").end_waits, [], "they are no job");
    let world = CommunicatorInfo { size: 3, is_world: true, ..CommunicatorInfo::default() };
    of_one.communicators = vec![world.clone()];
    let path = CriticalPath::of(&of_one).expect("a path");
    assert_sums(&path);
    let end_waits: Vec<(u32, u64)> =
        path.end_waits.iter().map(|wait| (wait.location.0, wait.until_ns - wait.begin_ns)).collect();
    assert_eq!(end_waits, [(1, 200), (2, 100)]);
    let at_end: Vec<(u32, f64, f64)> =
        path.activities.iter().map(|sum| (sum.activity.0.0, sum.at_end_ns, sum.on_path_ns)).collect();
    assert_eq!(at_end, [(3, 300.0, 200.0), (2, 0.0, 100.0)]);
    let alone = &path.activities[0];
    assert_eq!((alone.most, alone.others_ns, alone.parts), ((LocationId(0), 200.0), 0.0, 1));
    // Only what is known to be no lack of a processor counts.
    let mut rows: Vec<SampleRow> = of_one.samples.iter().collect();
    rows.iter_mut().for_each(|row| row.cpu_ns = 5);
    of_one.samples = rows.into();
    let half = CriticalPath::of(&of_one).expect("a path");
    assert_eq!((half.activities[0].at_end_ns, half.activities[0].on_path_ns), (150.0, 200.0));
    // Two jobs do not wait for each other.
    of_one.communicators = vec![world.clone(), world];
    assert_eq!(CriticalPath::of(&of_one).expect("a path").end_waits, []);
}

/// Two ranks in turn: each has two parts of the path, and one of them does something else in one of these.
#[test]
fn parts_of_the_path_are_counted_by_activity() {
    let events = vec![
        event(0, INIT, 0, 10),
        event(0, RECEIVE, 110, 210),
        event(0, RECEIVE, 310, 410),
        event(0, INIT, 410, 420),
        event(1, INIT, 0, 10),
        event(1, RECEIVE, 10, 110),
        event(1, RECEIVE, 210, 310),
        event(1, INIT, 410, 420),
    ];
    let rows = [(0, 2, (10, 110)), (1, 2, (110, 210)), (0, 3, (210, 310)), (1, 2, (310, 410))];
    let rows = rows.into_iter().flat_map(|(location, context, time)| samples(location, context, time));
    let waits = vec![wait(0, 110, 210, 1), wait(0, 310, 410, 1), wait(1, 10, 110, 0), wait(1, 210, 310, 0)];
    let of_both = profile(events, rows.collect(), waits);
    let path = CriticalPath::of(&of_both).expect("a path");
    assert_sums(&path);
    let parts: Vec<(u32, f64, u32)> =
        path.activities.iter().map(|sum| (sum.activity.0.0, sum.on_path_ns, sum.parts)).collect();
    assert_eq!(parts, [(2, 300.0, 3), (3, 100.0, 1)]);
    assert_eq!(path.activities[0].most, (LocationId(1), 200.0));
    assert_eq!(path.activities[0].others_ns, 100.0);
    // A rank that stays on the path has one part for each wait for it.
    let of_late = |pairs: &[(u64, u64)]| {
        let waits = pairs.iter().map(|&(begin_ns, until_ns)| wait(1, begin_ns, until_ns, 0)).collect();
        let begins = [event(0, INIT, 0, 10), event(1, INIT, 0, 10)];
        let ends = [event(0, INIT, 410, 420), event(1, INIT, 400, 420)];
        let mut events: Vec<EventRow> = begins.into_iter().chain(ends).collect();
        events.sort_by_key(|event| event.location);
        let path = CriticalPath::of(&profile(events, samples(0, 2, (10, 410)), waits)).expect("a path");
        assert_sums(&path);
        (path.steps.len(), path.activities[0].on_path_ns, path.activities[0].parts)
    };
    assert_eq!(of_late(&[]), (1, 400.0, 1));
    assert_eq!(of_late(&[(60, 110), (160, 210), (260, 310)]), (1, 400.0, 4));
    // By what calls them functions are one.
    let of_context = (0..4).map(|id| ContextId(if id == 3 { 2 } else { id })).collect();
    let one = Activities::new(of_context, vec![true; 2]);
    let path = CriticalPath::of_activities(&of_both, &one).expect("a path");
    assert_sums(&path);
    let all = &path.activities[0];
    assert_eq!((all.activity.0, all.on_path_ns, all.parts), (ContextId(2), 400.0, 4));
}
