//! Laws that hold for any operations and releases, however they contradict each other.

use proptest::prelude::*;

use super::*;
use crate::blame::beyond::Beyond;
use crate::blame::evidence::Evidence;
use crate::blame::locks::locks;
use crate::ledger::Window;
use crate::timelines::OperationStates;

/// Operations one after the other for each of four threads, and releases anywhere.
fn runs() -> impl Strategy<Value = Profile> {
    let operation = prop::sample::select(vec![
        Operation::MutexLock,
        Operation::Barrier,
        Operation::ConditionWait,
        Operation::MutexTimedLock,
        Operation::FutexWait,
    ]);
    let wait = (operation, 0..4_u32, 1..9_u32, 0..3_u64, (0..2000_u64, 0..9000_u64), any::<[bool; 3]>());
    let release = (0..4_u32, 1..9_u32, 0..3_u64, 0..40_000_u64, (0..800_u64, 0..800_u64), any::<[bool; 2]>());
    let sample = (0..4_u32, 1..9_u32, 0..40_000_u64, 0..6000_u64);
    let rows = (
        prop::collection::vec(wait, 0..60),
        prop::collection::vec(release, 0..60),
        prop::collection::vec(sample, 0..40),
    );
    rows.prop_map(|(waits, releases, samples)| {
        let mut run = Builder::new(4, 400);
        let mut free = [0; 4];
        // Units of 10 µs, so that instants coincide.
        let unit = |n: u64| n * 10_000;
        for (operation, location, context, object, (pause, length), flags) in waits {
            let begin_ns = free[location as usize] + unit(pause);
            let event = run.wait(operation, location, context, 0x10 * object, (0, 0));
            (event.begin_ns, event.end_ns, event.time_ns) = (begin_ns, begin_ns + unit(length), unit(length));
            if flags[0] && flags[1] {
                (event.summed, event.time_ns, event.calls) = (true, unit(length / 2), 7);
            } else {
                event.errors = u32::from(flags[2]);
                free[location as usize] = event.end_ns;
            }
        }
        for (location, context, object, time, (held, since), flags) in releases {
            let release = run.unlock(location, context, 0x10 * object, 0, 0);
            (release.time_ns, release.held_ns) = (unit(time), unit(held).min(unit(time)));
            release.weight_ns = release.held_ns.max(if flags[0] { 200_000 } else { 0 });
            release.since_ns = Some(unit(time).saturating_sub(unit(since))).filter(|_| flags[1]);
        }
        for (location, context, time, cpu) in samples {
            run.sample(location, context, 0, 0);
            let row = run.1.samples.last_mut().unwrap();
            (row.time_ns, row.cpu_ns) = (unit(time), unit(cpu));
        }
        run.profile()
    })
}

proptest! {

    #[test]
    fn blame_conserves(profile in runs(), from in 0..300_u64, length in 1..200_u64) {
        let (_, blame) = blame_of(&profile, &Windows::all());
        prop_assert!(blame.rows.is_sorted());
        blame_of(&profile, &[Window::new(from * MS, (from + length) * MS)].into_iter().collect());
    }

    #[test]
    fn nobody_holds_a_lock_against_himself(profile in runs()) {
        let (_, blame) = blame_of(&profile, &Windows::all());
        for row in blame.rows.iter().filter(|row| row.cause.kind == CauseKind::Holder) {
            prop_assert!(row.account != Account::Lock || row.location != row.cause.location);
        }
    }

    /// What is found beyond the causes does not depend on how time is cut into slices.
    #[test]
    fn slices_do_not_show(profile in runs(), mut borders in prop::collection::vec(1..900_u64, 0..8)) {
        let states = OperationStates::of(&profile);
        let evidence = Evidence::new(&profile, &states, |_, _| ());
        let locks = Some(locks(&evidence).len());
        let all = Windows::all();
        borders.sort_unstable();
        borders.dedup();
        // Units of half of those that operations have: some lie at the ends of operations.
        let borders = borders.into_iter().map(|border| border * 500_000).collect();
        let whole = Beyond::in_slices(&evidence, &all, locks, Vec::new());
        prop_assert_eq!(Beyond::in_slices(&evidence, &all, locks, borders), whole);
    }

    #[test]
    fn it_is_the_same_each_time(profile in runs()) {
        let (_, blame) = blame_of(&profile, &Windows::all());
        let (_, again) = blame_of(&profile, &Windows::all());
        prop_assert_eq!(blame.rows, again.rows);
        prop_assert_eq!(blame.wakers, again.wakers);
    }
}
