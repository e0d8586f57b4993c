//! How much of each victim's loss is charged to what: as many of these sums in memory as have room.

use std::iter::Peekable;
use std::ops::Range;

use proust_profile::{NumbersReader, NumbersWriter, far, near};

use super::{Charged, VictimId};
use crate::blame::spooled_sums::{Sorted, SpooledSums, Summed, bits, float};

/// Sums in memory, at most, of each tally: about 2.5 MB.
pub(super) const MOST: usize = 1 << 15;

/// How much of a victim's loss is charged to something.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) ns: f64,
    pub(super) slots_ns: f64,
    /// Amounts without a cause of their own are charged in proportion to this.
    pub(super) hint_ns: f64,
}

impl Amount {
    fn add(&mut self, more: &Amount) {
        self.ns += more.ns;
        self.slots_ns += more.slots_ns;
        self.hint_ns += more.hint_ns;
    }
}

/// The sums of victims, as they are written.
#[derive(Debug)]
pub(super) struct OfVictims;

impl Summed for OfVictims {
    type Key = (VictimId, Charged);
    type Sum = Amount;

    #[inline]
    fn add(sum: &mut Amount, more: &Amount) {
        sum.add(more);
    }

    fn put(to: &mut NumbersWriter, before: &mut [u64; 3], key: &(VictimId, Charged), sum: &Amount) {
        let (victim, code) = (u64::from(key.0), coded(key.1));
        to.put(&[
            near(victim, before[0]),
            near(code, before[1]),
            bits(sum.ns),
            bits(sum.slots_ns),
            bits(sum.hint_ns),
        ]);
        (before[0], before[1]) = (victim, code);
    }

    fn get(from: &mut NumbersReader<'_>, before: &mut [u64; 3]) -> Option<((VictimId, Charged), Amount)> {
        let (victim, code) = (far(from.next()?, before[0]), far(from.next()?, before[1]));
        (before[0], before[1]) = (victim, code);
        let (ns, slots_ns, hint_ns) = (float(from.next()?), float(from.next()?), float(from.next()?));
        Some(((victim as VictimId, decoded(code)), Amount { ns, slots_ns, hint_ns }))
    }
}

fn coded(charged: Charged) -> u64 {
    match charged {
        Charged::To(cause) => u64::from(cause) << 1,
        Charged::AsWaits(victim) => u64::from(victim) << 1 | 1,
    }
}

fn decoded(code: u64) -> Charged {
    let number = (code >> 1) as u32;
    if code & 1 == 0 { Charged::To(number) } else { Charged::AsWaits(number) }
}

/// The sums of another tally, whose victims have become some of this one's.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) victims: Range<VictimId>,
    /// By cause of the other tally, that of this one.
    pub(super) causes: Vec<u32>,
    pub(super) sums: SpooledSums<OfVictims>,
}

/// Sums by victim, in order.
pub(super) struct InOrder {
    own: Peekable<Sorted<OfVictims>>,
    appended: Vec<AppendedInOrder>,
}

/// [`Appended`], in order.
struct AppendedInOrder {
    victims: Range<VictimId>,
    causes: Vec<u32>,
    sums: Peekable<Sorted<OfVictims>>,
}

impl InOrder {
    pub(super) fn new(own: SpooledSums<OfVictims>, appended: Vec<Appended>) -> InOrder {
        let of = |Appended { victims, causes, sums }: Appended| {
            let sums = sums.sorted().peekable();
            AppendedInOrder { victims, causes, sums }
        };
        InOrder { own: own.sorted().peekable(), appended: appended.into_iter().map(of).collect() }
    }

    /// What the loss of the next victim is charged to, each once and in order. Every victim has its turn.
    pub(super) fn take(&mut self, victim: VictimId, to: &mut Vec<(Charged, Amount)>) {
        to.clear();
        let own = std::iter::from_fn(|| self.own.next_if(|((of, _), _)| *of == victim));
        to.extend(own.map(|((_, charged), amount)| (charged, amount)));
        let part = self.appended.iter_mut().find(|part| part.victims.contains(&victim));
        if let Some(AppendedInOrder { victims, causes, sums }) = part {
            let first = victims.start;
            let of_part = std::iter::from_fn(|| sums.next_if(|((of, _), _)| first + *of == victim));
            to.extend(of_part.map(|((_, charged), amount)| {
                let charged = match charged {
                    Charged::To(cause) => Charged::To(causes[cause as usize]),
                    Charged::AsWaits(waits) => Charged::AsWaits(first + waits),
                };
                (charged, amount)
            }));
            to.sort_by_key(|(charged, _)| *charged);
            to.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    kept.1.add(&next.1);
                }
                is_same
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::Spool;

    use super::*;

    fn charged() -> impl Strategy<Value = Charged> {
        prop_oneof![any::<u32>().prop_map(Charged::To), any::<u32>().prop_map(Charged::AsWaits)]
    }

    proptest! {
        #[test]
        fn sums_are_read_back(
            sums in proptest::collection::btree_map((any::<u32>(), charged()), any::<[i32; 3]>(), 0..50),
            most in 1_usize..10,
        ) {
            let mut spooled = SpooledSums::<OfVictims>::new(&Spool::default(), most);
            let amount = |of: &[i32; 3]| {
                let [ns, slots_ns, hint_ns] = of.map(f64::from);
                Amount { ns, slots_ns, hint_ns }
            };
            sums.iter().for_each(|(key, of)| spooled.add(*key, &amount(of)));
            prop_assert!(spooled.sorted().eq(sums.iter().map(|(key, of)| (*key, amount(of)))));
        }
    }

    #[test]
    fn victims_of_two_tallies_get_what_both_charge_them() {
        let amount = |ns: f64| Amount { ns, ..Amount::default() };
        let mut own = SpooledSums::new(&Spool::default(), MOST);
        own.add((0, Charged::To(0)), &amount(1.0));
        own.add((2, Charged::To(5)), &amount(2.0));
        // Of victims 1 and 2; its cause 0 is 5 here, and its cause 1 is 3.
        let mut sums = SpooledSums::new(&Spool::default(), MOST);
        sums.add((0, Charged::AsWaits(1)), &amount(4.0));
        sums.add((1, Charged::To(0)), &amount(8.0));
        sums.add((1, Charged::To(1)), &amount(16.0));
        let mut all = InOrder::new(own, vec![Appended { victims: 1..3, causes: vec![5, 3], sums }]);
        let mut next = |victim| {
            let mut found = Vec::new();
            all.take(victim, &mut found);
            found.into_iter().map(|(charged, amount)| (charged, amount.ns)).collect::<Vec<_>>()
        };
        assert_eq!(next(0), [(Charged::To(0), 1.0)]);
        assert_eq!(next(1), [(Charged::AsWaits(2), 4.0)]);
        assert_eq!(next(2), [(Charged::To(3), 16.0), (Charged::To(5), 10.0)]);
        assert_eq!(next(3), []);
    }
}
