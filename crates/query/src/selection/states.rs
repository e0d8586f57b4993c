//! Clauses about states: the states of threads.
//!
//! A value is an account (`lock`), a reason for being passive (`sleep`), or else an operation, by its name or
//! by the begin of a word of it (`critical`, `ordered`, `task`). The rows of a ledger name no operation: of
//! the time on an account in a context those have as much as the recorded operations there had. Parts are
//! whole nanoseconds: those of all operations sum to the whole, as do those of a clause and its negation.

use std::sync::Arc;

use proust_profile::{ContextId, EventRow, LocationId, Nature, OperationId, SampleRow, SegmentRow};
use rustc_hash::FxHashMap;

use super::Selection;
use super::inventory::names;
use super::restrict::any_pattern;
use crate::doing::Doing;
use crate::expression::{Clause, Pattern};
use crate::glob::matches;
use crate::scope_note::MatchKind;
use proust_account::ledger::Account;
use proust_account::timelines::OperationStates;
use proust_profile::event_metrics::Operations;

/// The time of operations in one context, by location and what it counts as.
type Times = FxHashMap<(LocationId, ContextId, Doing), Parts>;

/// Time of operations, one operation after the other.
#[derive(Clone, Debug, Default)]
struct Parts {
    all_ns: u64,
    /// Where in it those are that are selected, ns.
    selected: Vec<(u64, u64)>,
}

impl Parts {
    fn add(&mut self, is_selected: bool, ns: u64) {
        let from = self.all_ns;
        self.all_ns = from.saturating_add(ns);
        if is_selected {
            match self.selected.last_mut().filter(|(_, to)| *to == from) {
                Some((_, to)) => *to = self.all_ns,
                None => self.selected.push((from, self.all_ns)),
            }
        }
    }

    /// The part of so many nanoseconds that belongs to those that are selected. Each border is rounded once,
    /// for the operations before it as for those behind it.
    fn of(&self, ns: u64) -> u64 {
        let whole = u128::from(self.all_ns.max(1));
        let border = |at: u64| (u128::from(ns) * u128::from(at) / whole) as u64;
        self.selected.iter().map(|&(from, to)| border(to) - border(from)).sum()
    }
}

/// One clause, for one profile.
#[derive(Clone, Debug)]
struct StateClause {
    negated: bool,
    doing: Vec<Doing>,
    /// By number in the profile.
    operations: Vec<bool>,
    times: Times,
    /// What most of the time in operations counts as, by location and context.
    mostly: FxHashMap<(LocationId, ContextId), Doing>,
    /// What threads do in the operations, by number in the profile.
    natures: Vec<Option<Nature>>,
}

/// All clauses about states.
#[derive(Clone, Debug)]
pub(crate) struct StatesInScope {
    of_profile: Arc<OperationStates>,
    clauses: Vec<StateClause>,
}

impl StatesInScope {
    /// The part of so much such time that is selected.
    pub(super) fn part(&self, location: LocationId, context: ContextId, doing: Doing, ns: u64) -> u64 {
        self.clauses.iter().fold(ns, |ns, clause| clause.part(location, context, doing, ns))
    }

    pub(super) fn has_sample(&self, row: &SampleRow) -> bool {
        let computing = Doing::from(self.of_profile.of_processor_time(row.context));
        self.clauses.iter().all(|clause| clause.has_sample(row, computing))
    }

    pub(super) fn has_event(&self, row: &EventRow) -> bool {
        let doing = Doing::from(self.of_profile.of_event(row));
        self.clauses.iter().all(|clause| clause.has_event(row, doing))
    }

    pub(super) fn has_segment(&self, row: &SegmentRow) -> bool {
        self.clauses.iter().all(|clause| clause.has_segment(row))
    }
}

impl StateClause {
    fn part_unless_negated(&self, location: LocationId, context: ContextId, doing: Doing, ns: u64) -> u64 {
        if self.doing.contains(&doing) {
            return ns;
        }
        self.times.get(&(location, context, doing)).map_or(0, |parts| parts.of(ns))
    }

    /// The part of so much such time that is selected.
    fn part(&self, location: LocationId, context: ContextId, doing: Doing, ns: u64) -> u64 {
        let part = self.part_unless_negated(location, context, doing, ns);
        if self.negated { ns - part } else { part }
    }

    /// `computing`: what processor time counts as where the sample was taken.
    fn has_sample(&self, row: &SampleRow, computing: Doing) -> bool {
        let of_operation = self.mostly.get(&(row.location, row.context)).filter(|_| row.in_operation);
        let doing = of_operation.copied().unwrap_or(computing);
        self.part(row.location, row.context, doing, u64::MAX) >= u64::MAX / 2
    }

    fn has_event(&self, row: &EventRow, doing: Doing) -> bool {
        let is_named = self.operations.get(row.operation.index()) == Some(&true);
        (is_named || self.doing.contains(&doing)) != self.negated
    }

    /// Whether a site of a region is one of a state, or the work before it is.
    fn has_segment(&self, row: &SegmentRow) -> bool {
        let nature = self.natures.get(row.operation.index()).copied().flatten();
        let waits = match nature {
            Some(Nature::Lock) => Account::Lock,
            Some(Nature::Barrier) => Account::Barrier,
            _ => Account::Runtime,
        };
        let is_named = self.operations.get(row.operation.index()) == Some(&true);
        let has = |account| self.doing.contains(&Doing::Active(account));
        (is_named || has(waits) || has(Account::Compute)) != self.negated
    }
}

impl Selection<'_> {
    pub(super) fn restrict_states(&mut self, clause: &Clause) {
        let profile = self.profile;
        let mut found = vec![false; clause.patterns.len()];
        let doing: Vec<Doing> = Doing::all()
            .filter(|doing| any_pattern(clause, &mut found, |p| is_called(p, doing.id())))
            .collect();
        // A word that is a state is no operation.
        let is_state = found.clone();
        let operations: Vec<bool> = profile
            .operations
            .iter()
            .map(|operation| {
                let mut any = false;
                let patterns = clause.patterns.iter().zip(&is_state).zip(&mut found);
                for ((pattern, _), found) in patterns.filter(|((_, is_state), _)| !**is_state) {
                    let is_it = is_operation(pattern, &operation.name);
                    *found |= is_it;
                    any |= is_it;
                }
                any
            })
            .collect();
        for missing in (0..found.len()).filter(|&n| !found[n]) {
            let known =
                Doing::all().map(Doing::id).chain(profile.operations.iter().map(|of| of.name.as_str()));
            self.nothing(MatchKind::State, &clause.patterns[missing], names(known));
        }
        let states = OperationStates::of(profile);
        let mut of_operations: FxHashMap<(OperationId, LocationId, ContextId, Doing), u64> =
            FxHashMap::default();
        for event in profile.events.iter() {
            let doing = Doing::from(states.of_event(&event));
            let of = of_operations.entry((event.operation, event.location, event.context, doing));
            let time_ns = of.or_default();
            *time_ns = time_ns.saturating_add(event.time_ns);
        }
        let mut of_operations: Vec<_> = of_operations.into_iter().collect();
        of_operations.sort_unstable_by_key(|&((operation, ..), _)| operation);
        let mut times = Times::default();
        for ((operation, location, context, doing), ns) in of_operations {
            let is_selected = operations.get(operation.index()) == Some(&true);
            times.entry((location, context, doing)).or_default().add(is_selected, ns);
        }
        let mut most: FxHashMap<(LocationId, ContextId), (u64, Doing)> = FxHashMap::default();
        for doing in Doing::all() {
            for (&(location, context, _), parts) in times.iter().filter(|(key, _)| key.2 == doing) {
                let all_ns = parts.all_ns;
                let known = most.entry((location, context)).or_insert((all_ns, doing));
                if all_ns > known.0 {
                    *known = (all_ns, doing);
                }
            }
        }
        let known = Operations::of(profile);
        let clause = StateClause {
            negated: clause.negated,
            doing,
            operations,
            times,
            mostly: most.into_iter().map(|(place, (_, doing))| (place, doing)).collect(),
            natures: profile.operations.keys().map(|id| known.nature(id)).collect(),
        };
        let of_profile = self
            .in_scope
            .states
            .get_or_insert_with(|| StatesInScope { of_profile: Arc::new(states), clauses: Vec::new() });
        of_profile.clauses.push(clause);
    }
}

/// Whether a pattern is the name of a state.
fn is_called(pattern: &Pattern, id: &str) -> bool {
    matches!(pattern, Pattern::Name { text, quoted } if if *quoted { text == id } else { matches(text, id) })
}

/// Whether a pattern means an operation: by its whole name, or by the begin of one of its words.
fn is_operation(pattern: &Pattern, name: &str) -> bool {
    let Pattern::Name { text, quoted } = pattern else { return false };
    let mut words = name.split([' ', '_']);
    text == name || !quoted && (matches(text, name) || words.any(|word| matches(&format!("{text}*"), word)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_are_known_by_words() {
        let bare = |text: &str| Pattern::Name { text: text.into(), quoted: false };
        for (text, name) in [
            ("critical", "omp critical"),
            ("task", "omp taskwait"),
            ("ordered", "omp ordered doacross"),
            ("omp critical", "omp critical"),
            ("*lock", "omp_set_lock"),
            ("rdlock", "pthread_rwlock_rdlock"),
        ] {
            assert!(is_operation(&bare(text), name), "{text}");
        }
        for (text, name) in [("critical", "omp ordered"), ("ask", "omp taskwait"), ("", "omp")] {
            assert!(text.is_empty() || !is_operation(&bare(text), name), "{text}");
        }
        let quoted = Pattern::Name { text: "omp".into(), quoted: true };
        assert!(!is_operation(&quoted, "omp critical"));
    }

    proptest! {
        /// However operations are grouped, the parts of all groups sum to the whole.
        #[test]
        fn parts_of_operations_sum_to_the_whole(
            operations in prop::collection::vec((0..4_usize, prop_oneof![0..9_u64, any::<u64>()]), 1..20),
            ns: u64,
        ) {
            prop_assume!(operations.iter().any(|&(_, time_ns)| time_ns > 0));
            let of_group = |group: usize| {
                let mut parts = Parts::default();
                operations.iter().for_each(|&(of, time_ns)| parts.add(of == group, time_ns));
                parts.of(ns)
            };
            prop_assert_eq!((0..4).map(of_group).map(u128::from).sum::<u128>(), u128::from(ns));
        }
    }

    #[test]
    fn no_account_is_called_like_a_reason() {
        let mut ids: Vec<&str> = Doing::all().map(Doing::id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
