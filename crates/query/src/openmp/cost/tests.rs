use proust_profile::{ContextId, LocationId, OperationId, ProcessId, RegionId, RegionInfo};

use super::*;
use proust_ingest::operation_info;
use proust_log::operations::Operation;

/// Numbers that look as if drawn by chance, the same in each run: between 0 and 1.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A program with steps of about 300 ns, one in a hundred ten times as long, which becomes slower and faster
/// again by a half, at any period; counting takes `cost_ns`.
fn simulated(cost_ns: f64, stretches: u64, chance: &mut Chance) -> TrialSums {
    let (mut sums, mut step) = (TrialSums::default(), 0.0);
    let (period, begin) = (1e3 + 1e5 * chance.next(), chance.next());
    let mut stretch = |visits: u64, twice: bool, chance: &mut Chance| {
        let mut ns = 0.0;
        for _ in 0..visits {
            let phase = 1.0 + 0.5 * (std::f64::consts::TAU * (step / period + begin)).sin();
            let work_ns = if chance.next() < 0.01 { 3_000.0 } else { 200.0 + 200.0 * chance.next() };
            ns += work_ns * phase + cost_ns * if twice { 2.0 } else { 1.0 };
            step += 1.0;
        }
        ns
    };
    for _ in 0..stretches {
        let mut visits = || 1 + (63.0 * chance.next()) as u64;
        let (before, twice, behind) = (visits(), visits(), visits());
        let before_ns = stretch(before, false, chance);
        let twice_ns = stretch(twice, true, chance);
        let behind_ns = stretch(behind, false, chance);
        let more_ns = twice_ns - twice as f64 * (before_ns + behind_ns) / (before + behind) as f64;
        let v = twice as f64;
        sums += &TrialSums {
            count: 1,
            visits: twice,
            more_ns,
            visits2: v * v,
            more_ns2: more_ns * more_ns,
            product: v * more_ns,
        };
    }
    sums
}

#[test]
fn the_cost_of_counting_is_found_with_its_error() {
    let mut chance = Chance(7);
    let mut off = Vec::new();
    for round in 0..1_000 {
        let cost_ns = 5.0 + f64::from(round % 5) * 10.0;
        let found = Counting::of(&simulated(cost_ns, 200, &mut chance)).unwrap();
        if found.ns > 0.0 {
            off.push((found.ns - cost_ns) / found.error_ns);
        }
    }
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let deviation = (off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() / off.len() as f64).sqrt();
    let most = off.iter().fold(0.0_f64, |most, off| most.max(off.abs()));
    assert!(mean.abs() < 0.25, "{mean}");
    assert!((0.8..1.15).contains(&deviation), "{deviation}");
    assert!(most < 4.8, "{most}");
}

#[test]
fn few_stretches_say_nothing_and_none_costs_less_than_nothing() {
    let mut chance = Chance(3);
    assert_eq!(Counting::of(&simulated(10.0, 7, &mut chance)), None);
    assert_eq!(Counting::of(&TrialSums::default()), None);
    let less = TrialSums { count: 10, visits: 100, more_ns: -500.0, ..TrialSums::default() };
    assert_eq!(Counting::of(&less).map(|counting| counting.ns), Some(0.0));
}

#[test]
fn what_was_timed_and_what_was_counted_are_summed_with_their_errors() {
    let trials = TrialSums {
        count: 50,
        visits: 1_000,
        more_ns: 12_000.0,
        visits2: 20_000.0,
        more_ns2: 2_960_000.0,
        product: 240_000.0,
    };
    // 12 ns a visit, and residuals of 40 ns in each stretch.
    let row = SegmentRow {
        unmeasured: 10_000,
        added_ns: 7_000,
        added_error_ns: 300,
        trials,
        ..SegmentRow::default()
    };
    let beside = SegmentRow { unmeasured: 100, context: ContextId(1), ..SegmentRow::default() };
    let told = SegmentRow { region: RegionId(1), ..beside };
    let region = |told| RegionInfo { process: ProcessId(0), context: ContextId(0), parent: None, told };
    let profile = Profile {
        regions: vec![region(false), region(true)].into(),
        segments: vec![row, beside, told],
        ..Profile::default()
    };
    let costs = Costs::of(&profile);
    let own = costs.of_row(&row);
    assert!((own.ns - 127_000.0).abs() < 1e-6, "{own:?}");
    let chance_ns = 10_000.0 * (80_000.0 * 50.0 / 49.0_f64).sqrt() / 1_000.0;
    assert!((own.error_ns() - (chance_ns + 300.0 + 0.5 * 120_000.0)).abs() < 1e-6, "{own:?}");
    // A site without enough of its own is taken to be as the others of the process by the same runtime.
    assert!((costs.of_row(&beside).ns - 1_200.0).abs() < 1e-6);
    let unknown = costs.of_row(&told);
    assert_eq!((unknown.ns, unknown.error_ns()), (1_000.0, 1_000.0));
}

#[test]
fn what_the_others_of_a_team_do_may_lie_behind_ones_own() {
    let row = |location, added_ns| SegmentRow { location, added_ns, team_max: 2, ..SegmentRow::default() };
    let profile = Profile {
        regions: vec![RegionInfo { process: ProcessId(0), context: ContextId(0), parent: None, told: false }]
            .into(),
        operations: vec![operation_info(Operation::OmpRegionEnd.name())].into(),
        segments: vec![row(LocationId(0), 400), row(LocationId(1), 300)],
        ..Profile::default()
    };
    let costs = Costs::of(&profile);
    let cost = costs.of_row(&profile.segments[0]);
    assert_eq!((cost.ns, cost.error_ns()), (550.0 + 200.0, 150.0 + 200.0));
    assert_eq!(costs.of_row(&profile.segments[1]).ns, 500.0 + 150.0);
}

#[test]
fn waits_are_known_as_well_as_a_reading_of_the_clock() {
    let row = SegmentRow { wait_error_ns: 300, ..SegmentRow::default() };
    assert_eq!(row.error_ns(), 300);
    let counted = SegmentRow { unmeasured: 1_000, ..row };
    assert_eq!(counted.error_ns(), 300_f64.hypot(20_000.0) as u64);
}

/// The own time of an OMPT runtime is not seen: the error covers nothing as well as twice as much.
#[test]
fn what_a_runtime_that_tells_adds_is_as_uncertain_as_it_is_large() {
    let region = |told| RegionInfo { process: ProcessId(0), context: ContextId(0), parent: None, told };
    let operations = [Operation::OmpBarrier, Operation::OmpRegionEnd, Operation::OmpBarrierOfOne];
    let row = |region, operation, executions| SegmentRow {
        region,
        operation,
        executions,
        unmeasured: 0,
        ..SegmentRow::default()
    };
    let profile = Profile {
        regions: vec![region(true), region(false)].into(),
        operations: operations.map(|of| operation_info(of.name())).to_vec().into(),
        segments: vec![
            row(RegionId(0), OperationId(0), 100),
            row(RegionId(0), OperationId(1), 10),
            row(RegionId(0), OperationId(2), 100),
            row(RegionId(1), OperationId(0), 100),
            row(RegionId(1), OperationId(1), 10),
        ],
        ..Profile::default()
    };
    let costs = Costs::of(&profile);
    let found: Vec<(f64, f64)> =
        profile.segments.iter().map(|row| costs.of_row(row)).map(|cost| (cost.ns, cost.error_ns())).collect();
    assert_eq!(found[0], (100.0 * TOLD_VISIT_NS, 100.0 * TOLD_VISIT_NS));
    assert_eq!(found[1], (0.0, 10.0 * TOLD_PART_ERROR_NS));
    assert_eq!(found[2], found[0], "a team of one");
    assert_eq!(found[3..], [(0.0, 0.0), (0.0, 0.0)]);
}
