//! Where the losses of intervals were caused: inside of them, or before and beside them, in which interval.
//!
//! What threads lose in an interval, by their call paths, and the empty slots charged there. A wait for
//! another thread is caused where that one was late or held the lock; everything else that is lost is its own
//! cause.

use std::collections::BTreeMap;

use proust_account::blame::{Blame, CauseKind};
use proust_account::ledger::{Account, IoAs, Ledger};
use proust_profile::{ContextId, IntervalId, LocationId, Profile};

/// The causes of what was lost in an interval, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CausedIn {
    /// Inside of it.
    pub inside_ns: u64,
    /// In other intervals that it is not around; None = outside of all.
    pub elsewhere_ns: BTreeMap<Option<IntervalId>, u64>,
    /// Waits whose cause is not known.
    pub unknown_ns: u64,
}

impl CausedIn {
    /// All that was lost there.
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

/// The causes of what the locations of `is_in_scope` lost in each interval, by its number. `ledger` has rows,
/// and `blame` is of the same time.
pub fn caused(
    profile: &Profile,
    ledger: &Ledger,
    blame: &Blame,
    io: IoAs,
    is_in_scope: impl Fn(LocationId) -> bool,
) -> Vec<CausedIn> {
    let tree = Tree::of(profile);
    let mut all = vec![CausedIn::default(); profile.intervals.len()];
    let mut add = |victim: ContextId, cause: ContextId, is_known: bool, ns: u64| {
        let cause = tree.innermost(cause);
        for interval in tree.around(tree.innermost(victim)) {
            all[interval as usize].add(interval, (cause, is_known), ns, &tree);
        }
    };
    let is_wait = |account| matches!(account, Account::Lock | Account::Barrier | Account::MpiPartner);
    let own = ledger.spent.iter().chain(&ledger.blamed);
    for row in own.filter(|row| row.account.lost(io) && !is_wait(row.account) && is_in_scope(row.location)) {
        add(row.context, row.context, true, row.ns);
    }
    for row in blame.rows.iter().filter(|row| is_in_scope(row.location)) {
        add(row.context, row.cause.context, row.cause.kind != CauseKind::Unknown, row.ns);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_account::blame::{BlameRow, Cause};
    use proust_account::ledger::Row;
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

    #[test]
    fn losses_are_caused_inside_or_in_another_interval() {
        let wait = |context, cause, kind, ns| BlameRow {
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
        };
        let blame = Blame {
            rows: vec![
                wait(3, 3, CauseKind::Late, 1),
                wait(3, 1, CauseKind::Late, 10),
                wait(3, 4, CauseKind::Late, 100),
                wait(3, 5, CauseKind::Holder, 1_000),
                wait(3, 3, CauseKind::Unknown, 10_000),
            ],
            ..Blame::default()
        };
        let row =
            |context, account, ns| Row { location: LocationId(0), account, context: ContextId(context), ns };
        let ledger = Ledger {
            spent: vec![
                row(3, Account::Runtime, 100_000),
                row(3, Account::Compute, 1),
                row(3, Account::Lock, 7),
            ],
            blamed: vec![row(2, Account::Serial, 1_000_000)],
            ..Ledger::default()
        };
        let found = caused(&profile(), &ledger, &blame, IoAs::Productive, |_| true);
        let elsewhere = |of: &CausedIn| of.elsewhere_ns.iter().map(|(id, ns)| (*id, *ns)).collect::<Vec<_>>();
        assert_eq!((found[1].inside_ns, found[1].unknown_ns), (1_100_001, 10_000));
        assert_eq!(elsewhere(&found[1]), [(None, 1_000), (Some(0), 10), (Some(2), 100)]);
        // What one inside of it caused another one inside of it is inside.
        assert_eq!((found[0].inside_ns, found[0].unknown_ns), (1_100_011, 10_000));
        assert_eq!(elsewhere(&found[0]), [(None, 1_000), (Some(2), 100)]);
        assert_eq!(found[0].sum_ns(), 1_111_111);
        assert_eq!(found[2], CausedIn::default());
        assert_eq!(caused(&profile(), &ledger, &blame, IoAs::Productive, |_| false)[1], CausedIn::default());
    }
}
