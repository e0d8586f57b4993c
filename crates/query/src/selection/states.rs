//! Clauses about states: the states of threads.
//!
//! A value is an account (`lock`), a reason for being passive (`sleep`), or else an operation, by its name or
//! by the begin of a word of it (`critical`, `ordered`, `task`). The rows of a ledger name no operation: of
//! the time on an account in a context those have as much as the recorded operations there had.

use std::sync::Arc;

use proust_profile::{ContextId, EventRow, LocationId, Nature, SampleRow, SegmentRow};
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

/// The time of operations in one context, ns, by location and what it counts as: of those that are selected,
/// and of all.
type Times = FxHashMap<(LocationId, ContextId, Doing), (u64, u64)>;

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
    /// Which part of such time is selected.
    pub(super) fn share(&self, location: LocationId, context: ContextId, doing: Doing) -> f64 {
        self.clauses.iter().map(|clause| clause.share(location, context, doing)).product()
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
    fn share_unless_negated(&self, location: LocationId, context: ContextId, doing: Doing) -> f64 {
        if self.doing.contains(&doing) {
            return 1.0;
        }
        match self.times.get(&(location, context, doing)) {
            Some(&(selected_ns, all_ns)) if all_ns > 0 => selected_ns as f64 / all_ns as f64,
            _ => 0.0,
        }
    }

    /// Which part of such time is selected.
    fn share(&self, location: LocationId, context: ContextId, doing: Doing) -> f64 {
        let share = self.share_unless_negated(location, context, doing);
        if self.negated { 1.0 - share } else { share }
    }

    /// `computing`: what processor time counts as where the sample was taken.
    fn has_sample(&self, row: &SampleRow, computing: Doing) -> bool {
        let of_operation = self.mostly.get(&(row.location, row.context)).filter(|_| row.in_operation);
        let doing = of_operation.copied().unwrap_or(computing);
        self.share(row.location, row.context, doing) >= 0.5
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
        let mut times = Times::default();
        for event in profile.events.iter() {
            let event = &event;
            let doing = Doing::from(states.of_event(event));
            let (selected_ns, all_ns) = times.entry((event.location, event.context, doing)).or_default();
            *all_ns = all_ns.saturating_add(event.time_ns);
            if operations.get(event.operation.index()) == Some(&true) {
                *selected_ns = selected_ns.saturating_add(event.time_ns);
            }
        }
        let mut most: FxHashMap<(LocationId, ContextId), (u64, Doing)> = FxHashMap::default();
        for doing in Doing::all() {
            for (&(location, context, _), &(_, all_ns)) in times.iter().filter(|(key, _)| key.2 == doing) {
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

    #[test]
    fn no_account_is_called_like_a_reason() {
        let mut ids: Vec<&str> = Doing::all().map(Doing::id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
