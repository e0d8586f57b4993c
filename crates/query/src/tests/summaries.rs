//! Summaries answer as the amounts do.

use super::*;
use crate::{Summaries, summarised};

/// The example with squares, a service thread that has amounts, and locations that have none.
fn example() -> Profile {
    let mut profile = profile();
    let location = |service| Location { service, ..profile.locations[LocationId(0)].clone() };
    let more = [location(false), location(true)];
    profile.locations.extend(more);
    let cpu: Vec<Value> = profile.values.clone();
    profile.values.extend(cpu.iter().map(|value| Value {
        metric: Metric::CpuSquares,
        amount: value.amount / 1000 * 5_000,
        ..*value
    }));
    let of_service = |&context: &u32| Value {
        context: ContextId(context),
        location: LocationId(3),
        metric: Metric::Cpu,
        amount: 11,
    };
    profile.values.extend([2, 8].iter().map(of_service));
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    profile
}

#[test]
fn every_measure_has_the_same_sums_and_statistics() {
    let (profile, account) = (example(), account());
    let rows = summarised(&profile, &account);
    let summaries = Summaries::of(rows, &profile).unwrap();
    let empty = Profile { values: Vec::new(), ..profile.clone() };
    let without_rows = Ledger::default();
    for root in [ContextId(0), ContextId(5)] {
        let by_amounts = Selection::all(&profile).with_rows(&account).under(root);
        let by_summaries =
            Selection::all(&empty).with_rows(&without_rows).with_summaries(&summaries).under(root);
        let mut compared = 0;
        for measure in Measure::all().chain([Measure::Metric(Metric::CpuSquares)]) {
            assert_eq!(by_summaries.own(measure), by_amounts.own(measure), "{measure:?}");
            assert_eq!(by_summaries.total(measure), by_amounts.total(measure), "{measure:?}");
            let [expected, found] =
                [&by_amounts, &by_summaries].map(|selection| Spread::by_context(selection, measure));
            let below = profile.contexts.keys().filter(|&id| by_amounts.has_context(id));
            for id in below.map(ContextId::index) {
                assert_eq!(found.inclusive[id], expected.inclusive[id], "{measure:?} c{id}");
                assert_eq!(found.exclusive[id], expected.exclusive[id], "{measure:?} c{id}");
            }
            compared += usize::from(by_amounts.total(measure) > 0);
        }
        assert!(compared > 5, "{compared}");
        assert_eq!(by_summaries.squares(), by_amounts.squares());
        assert_eq!(by_summaries.used_contexts(), by_amounts.used_contexts());
        assert!(by_summaries.has_rows());
    }
}

#[test]
fn those_of_another_profile_are_none() {
    let (profile, account) = (example(), account());
    let rows = summarised(&profile, &account);
    let mut smaller = profile.clone();
    smaller.contexts.truncate(3);
    assert!(Summaries::of(rows.clone(), &smaller).is_none());
    let unknown = proust_profile::SummaryRows { measures: vec!["new_s".into()], ..rows };
    assert!(Summaries::of(unknown, &profile).is_none());
}

/// Where each location is at a place of its own, there is nothing to sum up.
#[test]
fn they_are_kept_only_where_they_are_far_fewer() {
    let ledger = Ledger::default();
    let with = |locations: u32, contexts: u32| {
        let mut profile = profile();
        profile.locations = vec![Location::default(); locations as usize].into();
        let places =
            (0..contexts).flat_map(|context| (0..locations).map(move |location| (context, location)));
        let are_there = places.filter(|(context, location)| contexts < 9 || context % 9 == location % 9);
        let value = |(context, location): (u32, u32)| Value {
            context: ContextId(context),
            location: LocationId(location),
            metric: Metric::Cpu,
            amount: 1,
        };
        profile.values = are_there.map(value).collect();
        crate::summarised_if_fewer(&profile, &ledger).map(|made| made.rows.len())
    };
    assert_eq!(with(100, 3), Some(3));
    assert_eq!(with(9, 13), None);
    assert_eq!(with(1, 3), None);
}
