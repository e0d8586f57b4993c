//! The sums of all pairs.

use proust_profile::{ContextId, LocationId, NumbersReader, NumbersWriter, Spool, far, near};

use super::{Loss, Pair, Sides, Victim};
use crate::blame::doing::{Act, Amount};
use crate::blame::spooled_sums::{SpooledSums, Summed, bits, float};
use crate::ledger::Account;

/// Sums in memory, at most: about 10 MB while they are written.
const MOST: usize = 1 << 16;

/// What is summed up of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Of {
    /// What the late one did.
    Late(Act),
    /// What those did that waited for it.
    Early(Act),
    /// What was lost for it.
    Waits(Victim),
}

type Key = (Pair, Of);
/// An amount's time and variance, or a loss of both kinds.
type Sum = (f64, f64);

#[derive(Debug)]
pub(super) struct PairSums(SpooledSums<OfPairs>);

impl PairSums {
    pub(super) fn new(spool: &Spool) -> PairSums {
        PairSums(SpooledSums::new(spool, MOST))
    }

    #[inline]
    pub(super) fn add(&mut self, pair: Pair, of: Of, more: Sum) {
        self.0.add((pair, of), &more);
    }

    /// How many sums there are in memory.
    #[cfg(test)]
    pub(super) fn in_memory(&self) -> usize {
        self.0.in_memory()
    }

    /// Calls `of` for each pair, in order, with both sides and the losses.
    pub(super) fn each(self, mut of: impl FnMut(Pair, &Sides, &[(Victim, Loss)])) {
        let mut open: Option<(Pair, Group)> = None;
        for ((pair, what), sum) in self.0.sorted() {
            if let Some((done, group)) = open.take_if(|(open, _)| *open != pair) {
                of(done, &group.sides, &group.waits);
            }
            open.get_or_insert_with(|| (pair, Group::default())).1.add(what, sum);
        }
        if let Some((done, group)) = open {
            of(done, &group.sides, &group.waits);
        }
    }
}

/// The sums of a pair, in order.
#[derive(Default)]
struct Group {
    sides: Sides,
    waits: Vec<(Victim, Loss)>,
}

impl Group {
    fn add(&mut self, of: Of, sum: Sum) {
        let amount = Amount { ns: sum.0, variance: sum.1 };
        match of {
            Of::Late(act) => self.sides.late.push((act, amount)),
            Of::Early(act) => self.sides.early.push((act, amount)),
            Of::Waits(victim) => self.waits.push((victim, sum)),
        }
    }
}

/// The sums of pairs, as they are written.
#[derive(Debug)]
struct OfPairs;

impl Summed for OfPairs {
    type Key = Key;
    type Sum = Sum;

    #[inline]
    fn add(sum: &mut Sum, more: &Sum) {
        (sum.0, sum.1) = (sum.0 + more.0, sum.1 + more.1);
    }

    fn put(to: &mut NumbersWriter, before: &mut [u64; 3], (pair, of): &Key, sum: &Sum) {
        let place = [
            pair.begin.map_or(0, |begin| u64::from(begin.0) + 1),
            u64::from(pair.end.0),
            u64::from(pair.late.0),
        ];
        let (code, one, other) = match *of {
            Of::Late(act) => coded(0, act),
            Of::Early(act) => coded(1, act),
            Of::Waits((location, context)) => (2, location.0, context.0),
        };
        to.put(&[
            near(place[0], before[0]),
            near(place[1], before[1]),
            near(place[2], before[2]),
            code,
            one.into(),
            other.into(),
            bits(sum.0),
            bits(sum.1),
        ]);
        *before = place;
    }

    fn get(from: &mut NumbersReader<'_>, before: &mut [u64; 3]) -> Option<(Key, Sum)> {
        let mut place = [0; 3];
        for (place, before) in place.iter_mut().zip(*before) {
            *place = far(from.next()?, before);
        }
        *before = place;
        let pair = Pair {
            begin: place[0].checked_sub(1).map(|begin| ContextId(begin as u32)),
            end: ContextId(place[1] as u32),
            late: LocationId(place[2] as u32),
        };
        let (code, one, other) = (from.next()?, from.next()? as u32, from.next()? as u32);
        let sum = (float(from.next()?), float(from.next()?));
        let of = match code % SIDES {
            0 => Of::Late(act(code, one, other)?),
            1 => Of::Early(act(code, one, other)?),
            _ => Of::Waits((LocationId(one), ContextId(other))),
        };
        Some(((pair, of), sum))
    }
}

/// In a code that says which act it is, too.
const SIDES: u64 = 3;

fn coded(side: u64, act: Act) -> (u64, u32, u32) {
    let (kind, one, other) = match act {
        Act::Does(context) => (0, context.0, 0),
        Act::Computes(context) => (1, context.0, 0),
        Act::Queues(context) => (2, context.0, 0),
        Act::Waits(account, context) => (3, context.0, account as u32),
        Act::Sampled(context) => (4, context.0, 0),
    };
    (side + kind * SIDES, one, other)
}

fn act(code: u64, one: u32, other: u32) -> Option<Act> {
    let context = ContextId(one);
    Some(match code / SIDES {
        0 => Act::Does(context),
        1 => Act::Computes(context),
        2 => Act::Queues(context),
        3 => {
            let account = Account::ALL.into_iter().find(|account| *account as u32 == other)?;
            Act::Waits(account, context)
        }
        4 => Act::Sampled(context),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn acts() -> impl Strategy<Value = Act> {
        let context = || (0_u32..3).prop_map(ContextId);
        let account = (0..Account::ALL.len()).prop_map(|at| Account::ALL[at]);
        prop_oneof![
            context().prop_map(Act::Does),
            context().prop_map(Act::Computes),
            context().prop_map(Act::Queues),
            context().prop_map(Act::Sampled),
            (account, context()).prop_map(|(account, context)| Act::Waits(account, context)),
        ]
    }

    fn keys() -> impl Strategy<Value = Key> {
        let pair = (proptest::option::of(0_u32..3), 0_u32..3, 0_u32..3).prop_map(|(begin, end, late)| Pair {
            begin: begin.map(ContextId),
            end: ContextId(end),
            late: LocationId(late),
        });
        let of = prop_oneof![
            acts().prop_map(Of::Late),
            acts().prop_map(Of::Early),
            (0_u32..3, 0_u32..3).prop_map(|(a, b)| Of::Waits((LocationId(a), ContextId(b)))),
        ];
        (pair, of)
    }

    proptest! {
        #[test]
        fn pairs_are_met_once_and_with_all_of_their_sums(
            added in proptest::collection::vec((keys(), 0_u32..1000, 0_u32..1000), 0..300),
            most in 1_usize..40,
        ) {
            let mut sums = PairSums(SpooledSums::new(&Spool::default(), most));
            let mut all: BTreeMap<Key, Sum> = BTreeMap::new();
            for ((pair, of), ns, other) in added {
                // Halves are exact: the order in which they are added does not matter.
                let more = (f64::from(ns) / 2.0, f64::from(other));
                sums.add(pair, of, more);
                let sum = all.entry((pair, of)).or_default();
                (sum.0, sum.1) = (sum.0 + more.0, sum.1 + more.1);
            }
            let (mut found, mut pairs) = (BTreeMap::new(), Vec::new());
            sums.each(|pair, sides, waits| {
                pairs.push(pair);
                let of_acts = |acts: &[(Act, Amount)], of: fn(Act) -> Of| -> Vec<(Key, Sum)> {
                    let sum = |amount: &Amount| (amount.ns, amount.variance);
                    acts.iter().map(|(act, amount)| ((pair, of(*act)), sum(amount))).collect()
                };
                found.extend(of_acts(&sides.late, Of::Late));
                found.extend(of_acts(&sides.early, Of::Early));
                found.extend(waits.iter().map(|&(victim, loss)| ((pair, Of::Waits(victim)), loss)));
            });
            prop_assert_eq!(found, all);
            prop_assert!(pairs.is_sorted() && pairs.windows(2).all(|two| two[0] != two[1]));
        }
    }
}
