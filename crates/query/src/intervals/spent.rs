//! What threads did in places of the tree: below any context of a group, such as a function.

use std::collections::BTreeMap;
use std::rc::Rc;

use proust_account::ledger::{Accounts, Ledger};
use proust_profile::{ContextId, LocationId};

use crate::Selection;

/// What threads did in a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// What they spent there, and the empty slots charged there.
    pub accounts: Accounts,
    /// Their passive time there, ns.
    pub passive_ns: u64,
    /// The time of each there, active and passive, ns.
    pub locations: BTreeMap<LocationId, u64>,
}

/// What threads did below the contexts of each group, in scope; `group_of` is the group of a context, below
/// `count`. A group that is on a path several times counts once.
pub fn spent_by(
    selection: &Selection<'_>,
    ledger: &Ledger,
    count: usize,
    group_of: impl Fn(ContextId) -> Option<usize>,
) -> Vec<Spent> {
    let contexts = &selection.profile().contexts;
    let mut around: Vec<Rc<Vec<usize>>> = Vec::with_capacity(contexts.len());
    for (id, context) in contexts.iter().enumerate() {
        let above = context.parent.map(|parent| Rc::clone(&around[parent.index()])).unwrap_or_default();
        around.push(match group_of(ContextId::from_index(id)) {
            Some(group) if !above.contains(&group) => Rc::new([&above[..], &[group]].concat()),
            _ => above,
        });
    }
    let mut all = vec![Spent::default(); count];
    let in_scope = |context: ContextId, location: LocationId| {
        selection.has_context(context) && selection.locations().binary_search(&location).is_ok()
    };
    for row in ledger.spent.iter().filter(|row| in_scope(row.context, row.location)) {
        for &group in around[row.context.index()].iter() {
            all[group].accounts[row.account] += row.ns;
            *all[group].locations.entry(row.location).or_default() += row.ns;
        }
    }
    for row in ledger.passive.iter().filter(|row| in_scope(row.context, row.location)) {
        for &group in around[row.context.index()].iter() {
            all[group].passive_ns += row.ns;
            *all[group].locations.entry(row.location).or_default() += row.ns;
        }
    }
    for row in ledger.blamed.iter().filter(|row| in_scope(row.context, row.location)) {
        for &group in around[row.context.index()].iter() {
            all[group].accounts[row.account] += row.ns;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_account::ledger::{Account, PassiveReason, PassiveRow, Row};
    use proust_profile::{Context, ContextKind, Location, Profile};

    #[test]
    fn a_group_counts_once_on_a_path_and_sums_what_lies_below() {
        // 0 > 1 (group 0) > 2 (group 1) > 3 (group 0 again); 4 is beside them.
        let parents = [None, Some(0), Some(1), Some(2), Some(0)];
        let contexts: Vec<Context> = parents
            .iter()
            .map(|parent| Context {
                parent: parent.map(ContextId),
                kind: if parent.is_some() { ContextKind::Frame } else { ContextKind::Program },
                function: None,
                file: None,
                line: None,
            })
            .collect();
        let profile = Profile {
            contexts: contexts.into(),
            locations: vec![Location::default(), Location::default()].into(),
            ..Profile::default()
        };
        let row = |context, location, account, ns| Row {
            context: ContextId(context),
            location: LocationId(location),
            account,
            ns,
        };
        let ledger = Ledger {
            spent: vec![
                row(1, 0, Account::Compute, 1),
                row(3, 0, Account::Compute, 10),
                row(3, 1, Account::Lock, 100),
                row(4, 1, Account::Compute, 1000),
            ],
            passive: vec![PassiveRow {
                context: ContextId(2),
                location: LocationId(1),
                reason: PassiveReason::Sleep,
                ns: 7,
            }],
            blamed: vec![row(2, 0, Account::Serial, 5)],
            ..Ledger::default()
        };
        let groups = [None, Some(0), Some(1), Some(0), None];
        let spent = spent_by(&Selection::all(&profile), &ledger, 2, |id| groups[id.index()]);
        let of = |spent: &Spent| {
            let accounts = [Account::Compute, Account::Lock, Account::Serial].map(|one| spent.accounts[one]);
            let times: Vec<u64> = spent.locations.values().copied().collect();
            (accounts, spent.passive_ns, times)
        };
        assert_eq!(of(&spent[0]), ([11, 100, 5], 7, vec![11, 107]));
        assert_eq!(of(&spent[1]), ([10, 100, 5], 7, vec![10, 107]));
    }
}
