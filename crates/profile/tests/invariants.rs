//! Every invariant of a profile is checked: each is broken by itself.

use proust_profile::{
    Context, ContextId, ContextKind, EventRow, FunctionId, Location, LocationId, Metric, OperationId,
    OperationInfo, Process, ProcessId, Profile, RegionId, RegionInfo, ReleaseRow, SampleRow, StayRow, Value,
};

#[test]
fn every_invariant_is_checked() {
    let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
    let good = Profile {
        contexts: vec![context(None, ContextKind::Program), context(Some(ContextId(0)), ContextKind::Frame)]
            .into(),
        processes: vec![Process::default()].into(),
        locations: vec![Location::default()].into(),
        values: vec![Value {
            context: ContextId(1),
            location: LocationId(0),
            metric: Metric::Cpu,
            amount: 1,
        }],
        samples: vec![SampleRow::default()].into(),
        operations: vec![OperationInfo::default()].into(),
        events: vec![EventRow { begin_ns: 2, end_ns: 5, time_ns: 3, ..EventRow::default() }].into(),
        releases: vec![ReleaseRow { time_ns: 1, site: Some(ContextId(1)), ..ReleaseRow::default() }].into(),
        regions: vec![RegionInfo { process: ProcessId(0), context: ContextId(1), parent: None, told: false }]
            .into(),
        stays: vec![StayRow::default()].into(),
        ..Profile::default()
    };
    assert_eq!(good.check(), Ok(()));
    let broken: [fn(&mut Profile); 20] = [
        |p| p.contexts[ContextId(0)].parent = Some(ContextId(0)),
        |p| p.contexts[ContextId(1)].parent = None,
        |p| p.contexts[ContextId(1)].parent = Some(ContextId(1)),
        |p| p.contexts[ContextId(1)].function = Some(FunctionId(0)),
        |p| p.locations[LocationId(0)].process = ProcessId(1),
        |p| p.values[0].context = ContextId(2),
        |p| p.values.push(p.values[0]),
        |p| p.samples.edit(|samples| samples[0].context = ContextId(2)),
        |p| p.samples.edit(|samples| samples[0].location = LocationId(1)),
        |p| p.events.edit(|events| events[0].context = ContextId(2)),
        |p| p.events.edit(|events| events[0].location = LocationId(1)),
        |p| p.events.edit(|events| events[0].operation = OperationId(1)),
        |p| p.events.edit(|events| events[0].time_ns = 2),
        |p| p.events.edit(|events| (events[0].summed, events[0].time_ns) = (true, 4)),
        |p| p.releases.edit(|releases| releases[0].context = ContextId(2)),
        |p| p.releases.edit(|releases| releases[0].site = Some(ContextId(2))),
        |p| p.releases.edit(|releases| releases[0].location = LocationId(1)),
        |p| p.releases.edit(|releases| releases[0].operation = OperationId(1)),
        |p| p.stays.edit(|stays| stays[0].location = LocationId(1)),
        |p| p.stays.edit(|stays| stays[0].region = RegionId(1)),
    ];
    for (number, break_it) in broken.iter().enumerate() {
        let mut profile = good.clone();
        break_it(&mut profile);
        assert!(profile.check().is_err(), "case {number}");
    }
}
