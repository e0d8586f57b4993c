//! Laws of every run: the account closes, it is additive over time, it does not depend on the order of
//! locations, and it agrees with the definitions to the letter.

use super::super::*;
use super::build::assert_closes;
use super::naive;
use proptest::prelude::*;
use proust_profile::tables::{Building, Kept, Provenance};
use proust_profile::{ContextId, LocationId, ProcessId};

/// The runs last about this long, ns: short, so that rounding to nanoseconds shows.
const LENGTH: u64 = 2000;

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        4 => (0..Work::ALL.len()).prop_map(|work| State::Working(Work::ALL[work])),
        1 => Just(State::Waiting(Wait::Lock)),
        1 => Just(State::Waiting(Wait::Barrier)),
        1 => Just(State::Polling(Wait::MpiPartner)),
        3 => (0..PassiveReason::ALL.len()).prop_map(|reason| State::Passive(PassiveReason::ALL[reason])),
    ]
}

/// Spans after one another, half of them without a gap, some with parts.
fn spans() -> impl Strategy<Value = Vec<Span>> {
    let gap = prop_oneof![Just(0u64), 0..60u64];
    let part = (0..PartKind::ALL.len(), 0..50u64);
    let span = (gap, 1..300u64, state(), 0..4u32, any::<bool>(), prop::collection::vec(part, 0..3));
    prop::collection::vec(span, 0..12).prop_map(|spans| {
        let mut at = 0;
        spans
            .into_iter()
            .map(|(gap, length, state, context, in_region, parts)| {
                let start = at + gap;
                at = start + length;
                let mut span = Span { in_region, ..Span::new(start, at, state, ContextId(context)) };
                for (kind, percent) in parts {
                    span.parts.add(PartKind::ALL[kind], length * percent / 100);
                }
                span
            })
            .collect()
    })
}

pub(crate) fn windows() -> impl Strategy<Value = Windows> {
    prop::collection::vec((0..LENGTH, 0..LENGTH / 3), 0..3).prop_map(|windows| {
        windows.into_iter().map(|(start, length)| Window::new(start, start + length)).collect()
    })
}

fn process(id: u32) -> impl Strategy<Value = Process> {
    let ranked = prop_oneof![Just(None), (0..3u32).prop_map(Some)];
    let parent = prop_oneof![Just(None), (0..id.max(1)).prop_map(Some)];
    let paused = prop_oneof![3 => Just(Windows::default()), 1 => windows()];
    let set = prop_oneof![Just(None), (0..2usize).prop_map(Some)];
    let job = prop_oneof![2 => Just(None), 1 => (0..2u32).prop_map(Some)];
    (ranked, job, parent, 0..LENGTH / 2, 0..LENGTH, paused, set).prop_map(
        move |(rank, job, parent, start, length, paused, processor_set)| Process {
            parent: parent.filter(|parent| *parent < id).map(ProcessId),
            rank,
            job,
            paused,
            processor_set,
            ..Process::new(ProcessId(id), start, start + length)
        },
    )
}

/// Some of four processors of one of two hosts.
fn set() -> impl Strategy<Value = ProcessorSet> {
    let quota = prop_oneof![3 => Just(None), 1 => (1..30u32).prop_map(|tenths| Some(100 * tenths))];
    (prop_oneof![4 => Just(0u32), 1 => Just(1)], 1..16u64, quota)
        .prop_map(|(host, mask, quota_milli)| ProcessorSet { host, mask: vec![mask], quota_milli })
}

pub(crate) fn run() -> impl Strategy<Value = Run> {
    let processes = (1..5u32).prop_flat_map(|count| (0..count).map(process).collect::<Vec<_>>());
    let bound = prop_oneof![2 => Just(None), 1 => (0..2usize).prop_map(Some)];
    let timeline = (any::<prop::sample::Index>(), prop::bool::weighted(0.15), spans(), bound);
    let with_ranks = any::<bool>();
    (processes, prop::collection::vec(timeline, 0..8), prop::collection::vec(set(), 2), with_ranks).prop_map(
        |(mut processes, timelines, processor_sets, with_ranks)| {
            if !with_ranks {
                processes.iter_mut().for_each(|process| process.rank = None);
            }
            let sets = timelines.iter().zip(0..).filter_map(|(one, id)| Some((LocationId(id), one.3?)));
            let bound = sets.collect();
            let timelines = timelines
                .into_iter()
                .zip(0..)
                .map(|((process, service, spans, _), id)| Timeline {
                    location: LocationId(id),
                    process: processes[process.index(processes.len())].id,
                    service,
                    spans,
                })
                .collect();
            Run { processes, timelines, processor_sets, bound }
        },
    )
}

fn whole(run: &Run) -> (Processors, Ledger) {
    let processors = Processors::measured(run, &Windows::all()).unwrap();
    let ledger = Ledger::of(run, &processors, &Windows::all()).unwrap();
    (processors, ledger)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Residual zero, total = P × T, per location wall = accounts + passive, slots + locations = total,
    /// seconds blamed = seconds lost: in the whole run and in any part of it.
    #[test]
    fn it_closes(run in run(), windows in windows()) {
        let (processors, ledger) = whole(&run);
        assert_closes(&ledger);
        assert_closes(&Ledger::of(&run, &processors, &windows).unwrap());
    }

    /// What is kept apart and put together again is what it was, and nothing is taken of another profile.
    #[test]
    fn rows_can_be_kept_apart(run in run()) {
        let (_, ledger) = whole(&run);
        let folder = tempfile::tempdir().unwrap();
        let mut building = Building::begin(folder.path()).unwrap();
        building.add_numbers("rows", parts_of_rows(&ledger)).unwrap();
        building.publish(&Provenance::default()).unwrap();
        let rows = Kept::open(folder.path()).unwrap().numbers("rows").unwrap();
        let kept = serde_json::to_vec(&ledger).unwrap();
        let mut again: Ledger = serde_json::from_slice(&kept).unwrap();
        prop_assert_eq!(again.is_without_rows(), ledger.locations.iter().any(|row| row.wall_ns > 0));
        prop_assert_eq!(again.take_rows(&rows, run.timelines.len(), 4).unwrap(), Some(()));
        prop_assert_eq!(&again, &ledger);
        if !ledger.spent.is_empty() {
            prop_assert_eq!(again.take_rows(&rows, 0, 4).unwrap(), None);
            prop_assert_eq!(again.take_rows(&rows, run.timelines.len(), 0).unwrap(), None);
        }
    }

    /// What a window and its complement hold is what the whole holds: exactly for all that is not shared out,
    /// and to the rounding of 1 ns of each account in each ledger for the rest.
    #[test]
    fn it_is_additive_over_time(run in run(), cut in 0..LENGTH + 1000) {
        let (processors, whole) = whole(&run);
        let parts = [Windows::between(0, cut), Windows::between(cut, u64::MAX)]
            .map(|windows| Ledger::of(&run, &processors, &windows).unwrap());
        let [before, after] = &parts;
        prop_assert_eq!(whole.total_ns, before.total_ns + after.total_ns);
        prop_assert_eq!(whole.wall_ns, before.wall_ns + after.wall_ns);
        prop_assert_eq!(whole.beyond_ns, before.beyond_ns + after.beyond_ns);
        for (index, location) in whole.locations.iter().enumerate() {
            let (b, a) = (&before.locations[index], &after.locations[index]);
            prop_assert_eq!(location.wall_ns, b.wall_ns + a.wall_ns);
            let mut passive = b.passive;
            passive += &a.passive;
            prop_assert_eq!(location.passive, passive);
            for (account, ns) in location.accounts.iter() {
                prop_assert!(ns.abs_diff(b.accounts[account] + a.accounts[account]) <= 2);
                let beyond = location.beyond[account];
                prop_assert!(beyond.abs_diff(b.beyond[account] + a.beyond[account]) <= 4);
            }
        }
        for (index, owner) in whole.slots.iter().enumerate() {
            let (b, a) = (&before.slots[index], &after.slots[index]);
            prop_assert_eq!(owner.total_ns, b.total_ns + a.total_ns);
            for (account, ns) in owner.accounts.iter() {
                prop_assert!(ns.abs_diff(b.accounts[account] + a.accounts[account]) <= 2);
            }
        }
    }

    /// The account of the time inside is the ledger of that time: of the slots of those that execute it, all
    /// drawn up in one sweep.
    #[test]
    fn inside_is_the_ledger_of_the_time_inside(
        run in run(),
        executed in prop::collection::vec((any::<prop::sample::Index>(), windows()), 1..4),
        part in prop_oneof![Just(Windows::all()), windows()],
    ) {
        prop_assume!(!run.timelines.is_empty());
        let (processors, _) = whole(&run);
        let mut all = Vec::new();
        for (what, (location, windows)) in executed.iter().enumerate() {
            let location = run.timelines[location.index(run.timelines.len())].location;
            let one = |&window: &Window| Executed { what: what as u32, location, window };
            all.extend(windows.as_slice().iter().map(one));
        }
        let found = inside(&run, &processors, &part, executed.len(), &all).unwrap();
        for (what, (location, windows)) in executed.iter().enumerate() {
            let location = run.timelines[location.index(run.timelines.len())].location;
            let ledger = Ledger::of(&run, &processors, &windows.intersection(&part)).unwrap();
            let own = ledger.locations.iter().find(|row| row.location == location).unwrap();
            let (Some(owner), inside) = (own.slots, &found[what]) else { continue };
            if windows.as_slice().is_empty() {
                prop_assert_eq!(inside, &Inside::default());
                continue;
            }
            let mut accounts = ledger.slots[owner].accounts;
            let of_owner = |row: &&LocationAccounts| row.slots == Some(owner);
            ledger.locations.iter().filter(of_owner).for_each(|row| accounts += &row.within());
            prop_assert!(!inside.alone);
            prop_assert_eq!(inside.total_ns, ledger.slots[owner].total_ns);
            prop_assert_eq!(inside.beyond_ns, ledger.slots[owner].beyond_ns);
            prop_assert_eq!(inside.processors, ledger.slots[owner].processors);
            prop_assert_eq!(inside.accounts.sum_ns(), inside.total_ns);
            let mut lost = Accounts::default();
            inside.lost.iter().for_each(|row| lost[row.account] += row.ns);
            for (account, ns) in inside.accounts.iter().filter(|(account, _)| account.lost(IoAs::Lost)) {
                let placed_ns = if account == Account::Idle { 0 } else { ns };
                prop_assert_eq!(lost[account], placed_ns, "{}", account);
            }
            let rounding = 4 + 4 * run.timelines.len() as u64;
            for (account, ns) in accounts.iter() {
                let found_ns = inside.accounts[account];
                prop_assert!(ns.abs_diff(found_ns) <= rounding, "{account}: {ns}, {inside:?}");
            }
            for row in ledger.locations.iter().filter(of_owner) {
                let (accounts, passive) = inside.locations.get(&row.location).cloned().unwrap_or_default();
                prop_assert_eq!(passive, row.passive);
                for (account, ns) in row.accounts.iter() {
                    prop_assert!(ns.abs_diff(accounts[account]) <= 4, "{account}");
                }
            }
        }
    }

    /// Where several locations execute it at once each counts for itself alone.
    #[test]
    fn inside_of_several_at_once_is_what_they_did_themselves(
        run in run(),
        start in 0..LENGTH,
        length in 1..LENGTH,
    ) {
        let (processors, _) = whole(&run);
        let window = Window::new(start, start + length);
        let all: Vec<Executed> =
            run.timelines.iter().map(|one| Executed { what: 0, location: one.location, window }).collect();
        let found = &inside(&run, &processors, &Windows::all(), 1, &all).unwrap()[0];
        if !found.alone {
            return Ok(());
        }
        let ledger = Ledger::of(&run, &processors, &Windows::between(start, start + length)).unwrap();
        let charged = ledger.locations.iter().filter(|row| row.charged);
        let active_ns: u64 = charged.map(|row| row.accounts.sum_ns()).sum();
        prop_assert_eq!((found.processors, found.beyond_ns), (0, 0));
        prop_assert_eq!(found.accounts.sum_ns(), found.total_ns);
        prop_assert!(active_ns.abs_diff(found.total_ns) <= 4 + 4 * run.timelines.len() as u64);
    }

    /// The order in which locations and processes are listed changes nothing.
    #[test]
    fn it_does_not_depend_on_order(
        (run, shuffled) in run().prop_flat_map(|run| {
            let timelines = Just(run.timelines.clone()).prop_shuffle();
            let processes = Just(run.processes.clone()).prop_shuffle();
            let like = Run { processes: vec![], timelines: vec![], ..run.clone() };
            let shuffled = (processes, timelines)
                .prop_map(move |(processes, timelines)| Run { processes, timelines, ..like.clone() });
            (Just(run), shuffled)
        })
    ) {
        prop_assert_eq!(whole(&run), whole(&shuffled));
    }

    /// Splitting a span in two, its parts with it, changes nothing.
    #[test]
    fn it_does_not_depend_on_where_samples_fall(run in run()) {
        let mut resampled = run.clone();
        for timeline in &mut resampled.timelines {
            timeline.spans = timeline.spans.iter().flat_map(halves).collect();
        }
        prop_assert_eq!(whole(&run), whole(&resampled));
    }

    /// Processors and ledger are those of the definitions, followed instant by instant.
    #[test]
    fn it_is_what_the_definitions_say(run in run(), part in prop_oneof![Just(Windows::all()), windows()]) {
        let (processors, _) = whole(&run);
        let ledger = Ledger::of(&run, &processors, &part).unwrap();
        prop_assert_eq!(
            ledger.slots.iter().map(|owner| owner.processors).collect::<Vec<_>>(),
            naive::processors(&run)
        );
        let naive = naive::ledger(&run, &part);
        let near = |ns: u64, exact: f64| (ns as f64 - exact).abs() < 1.001;
        prop_assert!(near(ledger.total_ns, naive.total), "{} {}", ledger.total_ns, naive.total);
        prop_assert!(near(ledger.beyond_ns, naive.beyond.values().sum()));
        for location in &ledger.locations {
            for (account, ns) in location.accounts.iter() {
                let exact = naive.spent.get(&(location.location, account)).copied().unwrap_or_default();
                prop_assert!(near(ns, exact), "{location:?} {account}: {exact}");
                let exact = naive.beyond.get(&(location.location, account)).copied().unwrap_or_default();
                let beyond = location.beyond[account];
                prop_assert!((beyond as f64 - exact).abs() < 2.001, "{account} beyond: {beyond} {exact}");
            }
        }
        let passive: std::collections::BTreeMap<_, _> =
            ledger.passive.iter().map(|row| ((row.location, row.context, row.reason), row.ns)).collect();
        for key in passive.keys().chain(naive.passive.keys()) {
            let exact = naive.passive.get(key).copied().unwrap_or_default();
            prop_assert!(near(passive.get(key).copied().unwrap_or_default(), exact), "{key:?}: {exact}");
        }
        let rows: std::collections::BTreeMap<_, _> =
            ledger.blamed.iter().map(|row| ((row.location, row.context, row.account), row.ns)).collect();
        for key in rows.keys().chain(naive.blamed.keys()) {
            let exact = naive.blamed.get(key).copied().unwrap_or_default();
            prop_assert!(near(rows.get(key).copied().unwrap_or_default(), exact), "{key:?}: {exact}");
        }
        for (account, ns) in ledger.accounts.iter() {
            let exact = naive.accounts.get(&account).copied().unwrap_or_default();
            let summands = (ledger.locations.len() + ledger.slots.len()) as f64;
            prop_assert!((ns as f64 - exact).abs() <= 3.0 * summands + 1.0, "{account}: {ns} {exact}");
        }
    }
}

/// The two halves of a span whose length and parts are even; otherwise the span itself.
fn halves(span: &Span) -> Vec<Span> {
    if span.length_ns() % 2 == 1 || span.parts.iter().any(|(_, ns)| ns % 2 == 1) {
        return vec![*span];
    }
    let middle = span.start_ns + span.length_ns() / 2;
    let half = |start, end| {
        let plain = Span { in_region: span.in_region, ..Span::new(start, end, span.state, span.context) };
        span.parts.iter().fold(plain, |half, (kind, ns)| half.with(kind, ns / 2))
    };
    vec![half(span.start_ns, middle), half(middle, span.end_ns)]
}
