//! Where the losses of intervals were caused: inside of them, or before and beside them, in which interval.
//!
//! All that the account of an interval has as lost is divided: what its threads lost in it, what other
//! threads lost meanwhile, and empty slots. A wait for another thread is caused where that one was late or
//! held the lock. An empty slot is caused by those that worked meanwhile, where they worked. Everything else
//! that is lost is its own cause, at its own place.
//!
//! The causes of waits are known by thread and place. Where only a part of a thread's waits at a place lies
//! in an interval, which happens where it is itself outside of it, that part has the causes of all, in
//! proportion.

use std::collections::BTreeMap;

use proust_account::blame::{Blame, CauseKind};
use proust_account::ledger::{Account, Inside, IoAs, LostRow};
use proust_profile::{ContextId, IntervalId, LocationId, Profile};
use rustc_hash::FxHashMap;

/// The causes of what was lost in an interval, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CausedIn {
    /// Inside of it.
    pub inside_ns: u64,
    /// In other intervals that it is not around; None = outside of all.
    pub elsewhere_ns: BTreeMap<Option<IntervalId>, u64>,
    /// Waits whose cause is not known, and slots of ranks that had not begun or were over.
    pub unknown_ns: u64,
}

impl CausedIn {
    /// All of it: what the account of the interval has as lost.
    pub fn sum_ns(&self) -> u64 {
        self.inside_ns + self.unknown_ns + self.elsewhere_ns.values().sum::<u64>()
    }

    fn add(
        &mut self,
        interval: IntervalId,
        (cause, is_known): (Option<IntervalId>, bool),
        ns: u64,
        of: &Tree,
    ) {
        if !is_known {
            self.unknown_ns += ns;
        } else if of.around(cause).any(|around| around == interval) {
            self.inside_ns += ns;
        } else {
            *self.elsewhere_ns.entry(cause).or_default() += ns;
        }
    }
}

/// Which intervals lie in which, and in which each context lies.
struct Tree<'p> {
    profile: &'p Profile,
    innermost: Vec<Option<IntervalId>>,
}

impl<'p> Tree<'p> {
    fn of(profile: &'p Profile) -> Tree<'p> {
        let mut innermost = vec![None; profile.contexts.len()];
        for place in &profile.interval_contexts {
            innermost[place.context.index()] = Some(place.interval);
        }
        for (id, context) in profile.contexts.iter().enumerate() {
            innermost[id] = innermost[id].or_else(|| innermost[context.parent?.index()]);
        }
        Tree { profile, innermost }
    }

    fn innermost(&self, context: ContextId) -> Option<IntervalId> {
        self.innermost.get(context.index()).copied().flatten()
    }

    /// An interval and those around it, the innermost first.
    fn around(&self, interval: Option<IntervalId>) -> impl Iterator<Item = IntervalId> + '_ {
        std::iter::successors(interval, |&id| self.profile.intervals.get(id as usize)?.parent)
    }
}

/// A thread's waits on one account in one place.
type Waits = (Account, LocationId, ContextId);

/// The intervals of causes, and whether they are known, with their amounts.
type Causes = Vec<((Option<IntervalId>, bool), u64)>;

/// The causes of what the account of each interval has as lost; `blame` is of the same time.
pub fn caused<'i>(
    profile: &Profile,
    blame: &Blame,
    io: IoAs,
    intervals: impl IntoIterator<Item = (IntervalId, &'i Inside)>,
) -> Vec<CausedIn> {
    let tree = Tree::of(profile);
    let mut of_waits: FxHashMap<Waits, Causes> = FxHashMap::default();
    for row in &blame.rows {
        let causes = of_waits.entry((row.account, row.location, row.context)).or_default();
        let is_known = row.cause.kind != CauseKind::Unknown;
        let cause = (tree.innermost(row.cause.context).filter(|_| is_known), is_known);
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, ns)) => *ns += row.ns,
            None => causes.push((cause, row.ns)),
        }
    }
    let of_one = |(id, inside): (IntervalId, &Inside)| {
        let mut found = CausedIn::default();
        for row in inside.lost.iter().filter(|row| row.account.lost(io)) {
            match row.account {
                Account::Lock | Account::Barrier | Account::MpiPartner => {
                    let causes = of_waits.get(&(row.account, row.location, row.context));
                    for (cause, ns) in in_proportion(row, causes.map_or(&[], Vec::as_slice)) {
                        found.add(id, cause, ns, &tree);
                    }
                }
                _ => found.add(id, (tree.innermost(row.context), true), row.ns, &tree),
            }
        }
        found.unknown_ns += if Account::Idle.lost(io) { inside.accounts[Account::Idle] } else { 0 };
        found
    };
    intervals.into_iter().map(of_one).collect()
}

/// What was lost in a wait, by its causes; the parts sum to it.
fn in_proportion<'c>(
    row: &'c LostRow,
    causes: &'c [((Option<IntervalId>, bool), u64)],
) -> impl Iterator<Item = ((Option<IntervalId>, bool), u64)> + 'c {
    let whole_ns: u128 = causes.iter().map(|(_, ns)| u128::from(*ns)).sum();
    let up_to = move |sum_ns: u128| (u128::from(row.ns) * sum_ns).checked_div(whole_ns).unwrap_or(0) as u64;
    let mut sum_ns = 0;
    let known = causes.iter().map(move |&(cause, ns)| {
        let before_ns = up_to(sum_ns);
        sum_ns += u128::from(ns);
        (cause, up_to(sum_ns) - before_ns)
    });
    let unknown = (whole_ns == 0).then_some(((None, false), row.ns));
    known.chain(unknown).filter(|(_, ns)| *ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_account::blame::{BlameRow, Cause};
    use proust_account::ledger::Accounts;
    use proust_profile::{Context, ContextKind, IntervalContext, IntervalInfo};

    /// Contexts 1 (interval 0) > 2 (interval 1) > 3, and 4 (interval 2); 5 is outside of all.
    fn profile() -> Profile {
        let parents = [None, Some(0), Some(1), Some(2), Some(0), Some(0)];
        let context = |parent: &Option<u32>| Context {
            parent: parent.map(ContextId),
            kind: if parent.is_some() { ContextKind::Frame } else { ContextKind::Program },
            function: None,
            file: None,
            line: None,
        };
        let info = |parent| IntervalInfo { parent, ..IntervalInfo::default() };
        let place = |context, interval| IntervalContext { context: ContextId(context), interval };
        Profile {
            contexts: parents.iter().map(context).collect::<Vec<_>>().into(),
            intervals: vec![info(None), info(Some(0)), info(None)],
            interval_contexts: vec![place(1, 0), place(2, 1), place(4, 2)],
            ..Profile::default()
        }
    }

    fn wait(context: u32, cause: u32, kind: CauseKind, ns: u64) -> BlameRow {
        BlameRow {
            account: Account::Barrier,
            location: LocationId(0),
            context: ContextId(context),
            slots: false,
            cause: Cause {
                kind,
                location: LocationId(1),
                context: ContextId(cause),
                section: None,
                site: None,
                lock: None,
            },
            ns,
        }
    }

    fn lost(context: u32, account: Account, ns: u64) -> LostRow {
        LostRow { account, location: LocationId(0), context: ContextId(context), ns }
    }

    fn inside(lost: Vec<LostRow>, idle_ns: u64) -> Inside {
        let mut accounts = Accounts::default();
        lost.iter().for_each(|row| accounts[row.account] += row.ns);
        accounts[Account::Idle] += idle_ns;
        Inside { lost, accounts, ..Inside::default() }
    }

    #[test]
    fn losses_are_caused_inside_or_in_another_interval() {
        let blame = Blame {
            rows: vec![
                wait(3, 3, CauseKind::Late, 1),
                wait(3, 1, CauseKind::Late, 10),
                wait(3, 4, CauseKind::Late, 100),
                wait(3, 5, CauseKind::Holder, 1_000),
                wait(3, 3, CauseKind::Unknown, 10_000),
            ]
            .into(),
            ..Blame::default()
        };
        let all = inside(
            vec![
                lost(3, Account::Barrier, 11_111),
                lost(3, Account::Runtime, 100_000),
                lost(2, Account::Serial, 1_000_000),
                // Of a thread that is elsewhere meanwhile.
                lost(4, Account::Serial, 10_000_000),
            ],
            5,
        );
        let found = caused(&profile(), &blame, IoAs::Productive, [(1, &all), (0, &all)]);
        let elsewhere = |of: &CausedIn| of.elsewhere_ns.iter().map(|(id, ns)| (*id, *ns)).collect::<Vec<_>>();
        assert_eq!((found[0].inside_ns, found[0].unknown_ns), (1_100_001, 10_005));
        assert_eq!(elsewhere(&found[0]), [(None, 1_000), (Some(0), 10), (Some(2), 10_000_100)]);
        // What one inside of it caused another one inside of it is inside.
        assert_eq!((found[1].inside_ns, found[1].unknown_ns), (1_100_011, 10_005));
        assert_eq!(elsewhere(&found[1]), [(None, 1_000), (Some(2), 10_000_100)]);
        for one in &found {
            assert_eq!(one.sum_ns(), all.accounts.lost_ns(IoAs::Productive));
        }
    }

    #[test]
    fn a_part_of_a_wait_has_the_causes_of_all_of_it() {
        let blame = Blame {
            rows: vec![wait(3, 3, CauseKind::Late, 30), wait(3, 4, CauseKind::Late, 10)].into(),
            ..Blame::default()
        };
        let part = inside(vec![lost(3, Account::Barrier, 7), lost(4, Account::Barrier, 3)], 0);
        let found = &caused(&profile(), &blame, IoAs::Productive, [(1, &part)])[0];
        // Of a wait in a place without blame no cause is known.
        assert_eq!((found.inside_ns, found.elsewhere_ns[&Some(2)], found.unknown_ns), (5, 2, 3));
        assert_eq!(found.sum_ns(), 10);
    }
}
