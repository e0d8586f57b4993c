//! The account inside of executions that are nested, repeated and of several locations at once: by a sweep of
//! its own, beside the ledger, and by ledgers of each location's own time.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proust_profile::{ContextId, LocationId};

use super::super::sweep::Sweep;
use super::super::*;
use super::laws::{run, windows};

/// Of each thing the times in which each location executes it, if it does.
fn executions() -> impl Strategy<Value = Vec<Vec<Windows>>> {
    let of_thing = prop::collection::vec(prop_oneof![1 => Just(Windows::default()), 3 => windows()], 0..6);
    prop::collection::vec(of_thing, 1..4)
}

fn executed(run: &Run, of: &[Vec<Windows>]) -> Vec<Executed> {
    let mut all = Vec::new();
    for (what, of_thing) in of.iter().enumerate() {
        for (timeline, windows) in run.timelines.iter().zip(of_thing) {
            let one = |&window: &Window| Executed { what: what as u32, location: timeline.location, window };
            all.extend(windows.as_slice().iter().map(one));
        }
    }
    all
}

/// Keeps no more tables at once than it must: sums are settled all the time.
fn settled(run: &Run, processors: &Processors, windows: &Windows, parts: &InParts<'_>) -> Vec<Inside> {
    let owners = owners::Owners::new(&run.processes).unwrap();
    let mut insides = Insides::new(run, windows, parts).unwrap();
    insides.most_tables = 0;
    Sweep::new(run, &owners, processors, windows).unwrap().run(run, owners.life, windows, &mut insides);
    insides.finish(processors)
}

proptest! {
    /// The ledger does not notice that its sweep is watched, and what is seen there is what a sweep for it
    /// alone sees. How many sums are kept at once changes nothing.
    #[test]
    fn beside_the_ledger_it_is_the_same(
        run in run(),
        of in executions(),
        part in prop_oneof![Just(Windows::all()), windows()],
    ) {
        let processors = Processors::measured(&run, &Windows::all()).unwrap();
        let thing_of: Vec<u32> = (0..of.len() as u32).collect();
        let executed = executed(&run, &of);
        let (thing_of, executed) = (&thing_of[..], &executed[..]);
        let parts = InParts { thing_of, executed, somewhere: &[], without_places: None };
        let alone = inside_in_parts(&run, &processors, &part, &parts).unwrap();
        let (mut waits, mut insides) = (Vec::new(), Insides::new(&run, &part, &parts).unwrap());
        let mut watch = observer::OnWait(|charge: &WaitCharge| waits.push(*charge));
        let watched = &mut Both(&mut watch, Some(&mut insides));
        let ledger = Ledger::observed(&run, &processors, &part, watched).unwrap();
        prop_assert_eq!(&insides.finish(&processors), &alone);
        let mut expected = Vec::new();
        let unwatched = Ledger::with_waits(&run, &processors, &part, |charge| expected.push(*charge));
        prop_assert_eq!(&ledger, &unwatched.unwrap());
        prop_assert_eq!(waits, expected);
        prop_assert_eq!(settled(&run, &processors, &part, &parts), alone);
    }

    /// Of a thing without places all is there but the places, and of the others nothing changes.
    #[test]
    fn places_may_be_left_out(run in run(), of in executions(), which in any::<prop::sample::Index>()) {
        let processors = Processors::measured(&run, &Windows::all()).unwrap();
        let thing_of: Vec<u32> = (0..of.len() as u32).collect();
        let executed = executed(&run, &of);
        let found_with = |without_places: Option<u32>| {
            let parts = InParts { thing_of: &thing_of, executed: &executed, somewhere: &[], without_places };
            inside_in_parts(&run, &processors, &Windows::all(), &parts).unwrap()
        };
        let without = if of.is_empty() { return Ok(()) } else { which.index(of.len()) };
        let all = found_with(None).into_iter().zip(found_with(Some(without as u32)));
        for (thing, (mut expected, found)) in all.enumerate() {
            if thing == without {
                expected.lost.clear();
                for (account, ns) in expected.accounts.iter() {
                    prop_assert!(ns.abs_diff(found.accounts[account]) <= 2, "{account}: {ns}");
                }
                expected.accounts = found.accounts;
            }
            prop_assert_eq!(&found, &expected);
        }
    }

    /// What each location did in a thing is what the ledger of its own executions says of it, however they
    /// are nested; so are its losses, by place.
    #[test]
    fn each_location_has_the_ledger_of_its_own_executions(run in run(), of in executions()) {
        let processors = Processors::measured(&run, &Windows::all()).unwrap();
        let executed = executed(&run, &of);
        let found = inside(&run, &processors, &Windows::all(), of.len(), &executed).unwrap();
        for (of_thing, found) in of.iter().zip(&found).filter(|(_, found)| found.alone) {
            let mut lost: BTreeMap<(Account, LocationId, ContextId), u64> = BTreeMap::new();
            for (timeline, windows) in run.timelines.iter().zip(of_thing) {
                let ledger = Ledger::of(&run, &processors, windows).unwrap();
                let own = ledger.locations.iter().find(|row| row.location == timeline.location).unwrap();
                let (accounts, passive) = found.locations.get(&own.location).cloned().unwrap_or_default();
                if !own.charged {
                    prop_assert_eq!(accounts.sum_ns() + passive.sum_ns(), 0);
                    continue;
                }
                prop_assert_eq!(passive, own.passive);
                for (account, ns) in own.accounts.iter() {
                    prop_assert!(ns.abs_diff(accounts[account]) <= 2, "{account}: {ns} {accounts:?}");
                }
                let rows = ledger.spent.iter().filter(|row| row.location == own.location);
                for row in rows.filter(|row| row.account.lost(IoAs::Lost)) {
                    *lost.entry((row.account, row.location, row.context)).or_default() += row.ns;
                }
            }
            let rows: BTreeMap<_, u64> =
                found.lost.iter().map(|row| ((row.account, row.location, row.context), row.ns)).collect();
            for place in lost.keys().chain(rows.keys()) {
                let [expected, found] = [&lost, &rows].map(|of| of.get(place).copied().unwrap_or(0));
                prop_assert!(expected.abs_diff(found) <= 2, "{place:?}: {expected} {found}");
            }
        }
    }
}
