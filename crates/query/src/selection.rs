//! A filter resolved against a profile: what is in scope.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use proust_profile::{
    ContextId, EventRow, FunctionId, InsideRow, LocationId, Metric, Profile, SampleRow, SegmentRow, Value,
};

use super::doing::Doing;
use super::expression::{Filter, Key, Pattern};
use super::forest::{Forest, called_function};
use super::measure::Measure;
use super::scope_note::{Known, ScopeNote};
use super::summaries::Summaries;
use proust_account::ledger::{Accounts, Ledger, PassiveTimes};
use proust_profile::event_metrics::{EVENT_METRICS, Operations, amounts_of_event};
use proust_profile::mpi_metrics::each_amount;
use proust_profile::process_metrics::each_reading;
use proust_profile::sample_metrics::{SAMPLE_METRICS, amounts_of_sample};

mod between_samples;
mod inventory;
mod restrict;
mod states;

pub use between_samples::with_times;
use inventory::{names, what_there_is};
use restrict::is_function;
use states::StatesInScope;

/// The part of a profile that a page is about.
#[derive(Debug)]
pub struct Selection<'p> {
    profile: &'p Profile,
    forest: Forest,
    locations: Vec<LocationId>,
    values: Cow<'p, [Value]>,
    ledger: Option<&'p Ledger>,
    summaries: Option<&'p Summaries>,
    in_scope: Scope,
    squares: OnceLock<Vec<f64>>,
    notes: Vec<ScopeNote>,
}

/// A page is asked for a function that the profile does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no function of this run matches `{value}`")]
pub struct UnknownFunction {
    /// The name that was asked for.
    pub value: String,
    /// What there is instead.
    pub known: Known,
}

/// What is in scope, by position.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    locations: Vec<bool>,
    contexts: Vec<bool>,
    /// Marked intervals.
    intervals: Vec<bool>,
    processors: Vec<(bool, Vec<(u64, u64)>)>,
    times: Vec<(bool, Vec<(u64, u64)>)>,
    states: Option<StatesInScope>,
}

impl Scope {
    fn has_sample(&self, row: &SampleRow) -> bool {
        let number = u64::from(row.processor);
        self.locations[row.location.index()]
            && self.contexts[row.context.index()]
            // A tail has no processor: it is not known where it ran.
            && (self.processors.is_empty() || row.processor != u16::MAX)
            && self.processors.iter().all(|(negated, ranges)| {
                ranges.iter().any(|&(from, to)| (from..=to).contains(&number)) != *negated
            })
            && self.has_time(row.time_ns)
            && self.states.as_ref().is_none_or(|states| states.has_sample(row))
    }

    /// Operations are on no processor: most of their time they have none.
    pub(super) fn has_event(&self, row: &EventRow) -> bool {
        self.locations[row.location.index()]
            && self.contexts[row.context.index()]
            && self.processors.is_empty()
            && self.has_time(row.end_ns)
            && self.states.as_ref().is_none_or(|states| states.has_event(row))
    }

    /// Operations inside others have no state of their own: where states are asked for, none is in scope.
    pub(super) fn has_inside(&self, row: &InsideRow) -> bool {
        self.locations[row.location.index()]
            && self.contexts[row.context.index()]
            && self.processors.is_empty()
            && self.has_time(row.end_ns)
            && self.states.is_none()
    }

    /// The part of so much such time that is in scope, as far as its state decides.
    fn part(&self, location: LocationId, context: ContextId, doing: Doing, ns: u64) -> u64 {
        self.states.as_ref().map_or(ns, |states| states.part(location, context, doing, ns))
    }

    /// A row represents the time before it: it belongs to the range in which that ended.
    fn has_time(&self, time_ns: u64) -> bool {
        self.times.iter().all(|(negated, ranges)| {
            let ended_in = |&(from, to): &(u64, u64)| (from < time_ns || from == 0) && time_ns <= to;
            ranges.iter().any(ended_in) != *negated
        })
    }
}

impl<'p> Selection<'p> {
    /// The whole profile.
    pub fn all(profile: &'p Profile) -> Selection<'p> {
        let scope = Scope {
            locations: vec![true; profile.locations.len()],
            contexts: vec![true; profile.contexts.len()],
            intervals: vec![true; profile.intervals.len()],
            processors: Vec::new(),
            times: Vec::new(),
            states: None,
        };
        Selection {
            profile,
            forest: Forest::new(profile),
            locations: profile.locations.keys().collect(),
            values: Cow::Borrowed(&profile.values),
            ledger: None,
            summaries: None,
            in_scope: scope,
            squares: OnceLock::new(),
            notes: Vec::new(),
        }
    }

    /// The part of the profile that passes a filter.
    ///
    /// A value that matches nothing is no error: it selects nothing, and a note says what there is.
    pub fn new(profile: &'p Profile, filter: &Filter) -> Selection<'p> {
        let mut selection = Selection::all(profile);
        if filter.is_empty() {
            return selection;
        }
        for clause in &filter.clauses {
            selection.restrict(clause);
        }
        selection.locations.retain(|&id| selection.in_scope.locations[id.index()]);
        let scope = &selection.in_scope;
        selection.values = if filter.needs_samples() {
            Cow::Owned(values_of_rows(profile, scope))
        } else {
            let in_scope = |value: &&Value| {
                scope.locations[value.location.index()] && scope.contexts[value.context.index()]
            };
            Cow::Owned(profile.values.iter().filter(in_scope).copied().collect())
        };
        if !scope.processors.is_empty() {
            let tails: u64 =
                profile.samples.iter().filter(|row| row.processor == u16::MAX).map(|r| r.cpu_ns).sum();
            selection.notes.push(ScopeNote::ProcessorAtSamples { cpu_ns: tails });
        }
        if !scope.times.is_empty() {
            selection.notes.push(ScopeNote::TimeAtEnds {});
        }
        selection
    }

    /// With the rows of a ledger, of which what is in scope is taken. The ledger must be that of the range of
    /// time that is asked for. Without it nothing is known of accounts.
    pub fn with_rows(mut self, ledger: &'p Ledger) -> Selection<'p> {
        self.ledger = Some(ledger);
        if !self.in_scope.processors.is_empty() {
            self.notes.push(ScopeNote::AccountsOnAllProcessors {});
        }
        self
    }

    /// With the summaries of the run, of which the selection must be the whole, or all below a context: they
    /// answer questions by context, and the amounts of single locations need not be there.
    pub fn with_summaries(mut self, summaries: &'p Summaries) -> Selection<'p> {
        self.summaries = Some(summaries);
        self
    }

    /// The summaries that answer in place of amounts.
    pub(super) fn summaries(&self) -> Option<&'p Summaries> {
        self.summaries
    }

    /// With functions as they were compiled: what was inlined is a part of the function around it.
    pub fn of_compiled_functions(mut self) -> Selection<'p> {
        self.forest = Forest::of_compiled(self.profile);
        self
    }

    /// Whether it knows seconds by account.
    pub fn has_rows(&self) -> bool {
        self.ledger.is_some() || self.summaries.is_some()
    }

    /// Only what is below a context, itself included.
    pub fn under(mut self, root: ContextId) -> Selection<'p> {
        let mut below = vec![false; self.profile.contexts.len()];
        for (id, context) in self.profile.contexts.iter().enumerate() {
            below[id] = ContextId::from_index(id) == root
                || context.parent.is_some_and(|parent| below[parent.index()]);
            self.in_scope.contexts[id] &= below[id];
        }
        self.values.to_mut().retain(|value| below[value.context.index()]);
        self.squares = OnceLock::new();
        self
    }

    /// The profile.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// What the tree of contexts says about itself.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The locations in scope, ascending.
    pub fn locations(&self) -> &[LocationId] {
        &self.locations
    }

    /// The locations in scope that are not a runtime's service threads, ascending.
    pub fn compute_locations(&self) -> Vec<LocationId> {
        self.locations.iter().copied().filter(|&id| !self.profile.locations[id].service).collect()
    }

    /// The amounts in scope.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// What a reader must know about this selection.
    pub fn notes(&self) -> &[ScopeNote] {
        &self.notes
    }

    /// Whether a context is in scope.
    pub fn has_context(&self, id: ContextId) -> bool {
        self.in_scope.contexts[id.index()]
    }

    /// The function that a context is a call of, inlined or not.
    pub fn called_function(&self, id: ContextId) -> Option<FunctionId> {
        called_function(self.profile, id)
    }

    /// Whether each marked interval is in scope.
    pub fn intervals(&self) -> &[bool] {
        &self.in_scope.intervals
    }

    /// Whether any of the time in which a location does this in a context is in scope, as far as the state
    /// decides.
    pub fn has_state(&self, location: LocationId, context: ContextId, doing: impl Into<Doing>) -> bool {
        self.in_scope.part(location, context, doing.into(), u64::MAX) > 0
    }

    /// Whether states decide what is in scope.
    pub fn is_of_states(&self) -> bool {
        self.in_scope.states.is_some()
    }

    /// Whether a segment of a region is in scope.
    pub fn has_segment(&self, row: &SegmentRow) -> bool {
        self.in_scope.locations[row.location.index()]
            && self.in_scope.contexts[row.context.index()]
            && self.in_scope.states.as_ref().is_none_or(|states| states.has_segment(row))
    }

    /// Whether a sample is in scope.
    pub fn has_sample(&self, row: &SampleRow) -> bool {
        self.in_scope.has_sample(row)
    }

    /// Calls `take` with context, location and own amount, in whole numbers, for all there is of a measure in
    /// scope. A context may occur several times.
    pub fn each(&self, measure: impl Into<Measure>, mut take: impl FnMut(ContextId, LocationId, u64)) {
        let measure = measure.into();
        if let Measure::Metric(metric) = measure {
            for value in self.values.iter().filter(|value| value.metric == metric) {
                take(value.context, value.location, value.amount);
            }
        } else if let Some(ledger) = self.ledger {
            let is_master = |location: LocationId| {
                let location = &self.profile.locations[location];
                self.profile.processes[location.process].pid == location.tid
            };
            measure.each_row(ledger, |context, location, doing, ns| {
                if measure == Measure::Master && !is_master(location) {
                    return;
                }
                if self.in_scope.contexts[context.index()] && self.in_scope.locations[location.index()] {
                    let ns = self.in_scope.part(location, context, doing, ns);
                    if ns > 0 {
                        take(context, location, ns);
                    }
                }
            });
        }
    }

    /// What each location of the profile spent on accounts and was passive for, as far as it is in scope.
    pub fn times_of_locations(&self) -> Vec<(Accounts, PassiveTimes)> {
        let mut times = vec![<(Accounts, PassiveTimes)>::default(); self.profile.locations.len()];
        let Some(ledger) = self.ledger else { return times };
        let scope = &self.in_scope;
        let in_scope = |context: ContextId, location: LocationId| {
            scope.contexts[context.index()] && scope.locations[location.index()]
        };
        for row in ledger.spent.iter().filter(|row| in_scope(row.context, row.location)) {
            let doing = Doing::Active(row.account);
            times[row.location.index()].0[row.account] +=
                scope.part(row.location, row.context, doing, row.ns);
        }
        for row in ledger.passive.iter().filter(|row| in_scope(row.context, row.location)) {
            let doing = Doing::Passive(row.reason);
            times[row.location.index()].1[row.reason] += scope.part(row.location, row.context, doing, row.ns);
        }
        times
    }

    /// Each context's own amount of a measure, of all locations in scope together.
    pub fn own(&self, measure: impl Into<Measure>) -> Vec<u128> {
        let measure = measure.into();
        let mut own = vec![0; self.profile.contexts.len()];
        if let Some(summaries) = self.summaries {
            let rows = summaries.rows(measure).iter();
            rows.filter(|row| self.has_context(row.context))
                .for_each(|row| own[row.context.index()] = row.own);
            return own;
        }
        self.each(measure, |context, _, amount| {
            let own = &mut own[context.index()];
            *own = measure.kind().joined(*own, amount.into());
        });
        own
    }

    /// The amount of a measure of everything in scope together.
    pub fn total(&self, measure: impl Into<Measure>) -> u128 {
        let measure = measure.into();
        let join = |total, amount| measure.kind().joined(total, amount);
        if let Some(summaries) = self.summaries {
            let rows = summaries.rows(measure).iter().filter(|row| self.has_context(row.context));
            return rows.fold(0, |total, row| join(total, row.own));
        }
        let mut total = 0;
        self.each(measure, |_, _, amount| total = join(total, amount.into()));
        total
    }

    /// The same as it is shown, in the measure's unit.
    pub fn shown_total(&self, measure: impl Into<Measure>) -> f64 {
        let measure = measure.into();
        measure.unit().shown(self.total(measure))
    }

    /// Whether each context has any amount in scope, itself or below: stored, spent, passive or caused.
    pub fn used_contexts(&self) -> Vec<bool> {
        let mut used = vec![false; self.profile.contexts.len()];
        for row in self.summaries.iter().flat_map(|summaries| summaries.all()) {
            used[row.context.index()] |= row.own > 0 && self.has_context(row.context);
        }
        for value in self.values.iter() {
            used[value.context.index()] |= value.amount > 0;
        }
        for measure in [Measure::Wall, Measure::Empty, Measure::Caused(None)] {
            self.each(measure, |context, _, amount| used[context.index()] |= amount > 0);
        }
        for (id, context) in self.profile.contexts.iter().enumerate().rev() {
            if let Some(parent) = context.parent {
                used[parent.index()] |= used[id];
            }
        }
        used
    }

    /// What is in scope.
    pub(super) fn scope(&self) -> &Scope {
        &self.in_scope
    }

    /// Each context's own sum of squared sample weights, in square seconds.
    pub fn squares(&self) -> &[f64] {
        self.squares.get_or_init(|| {
            let shown = |metric: Metric| {
                self.own(metric).into_iter().map(|sum| metric.unit().shown(sum)).collect::<Vec<f64>>()
            };
            let mut squares = shown(Metric::CpuSquares);
            if squares.iter().all(|&square| square == 0.0) {
                // Where they were not kept: n equal weights of x/n have the sum of squares x²/n.
                let counts = shown(Metric::Samples);
                for ((square, seconds), n) in squares.iter_mut().zip(shown(Metric::Cpu)).zip(counts) {
                    *square = if n > 0.0 { seconds * seconds / n } else { 0.0 };
                }
            }
            squares
        })
    }
}

/// The functions meant by a handle (`f7`) or a name, which may hold `*` and `?`.
pub fn functions_called(profile: &Profile, text: &str) -> Result<Vec<FunctionId>, UnknownFunction> {
    let pattern = Pattern::Name { text: text.to_owned(), quoted: false };
    let found: Vec<FunctionId> = profile
        .functions
        .iter()
        .enumerate()
        .filter(|(id, function)| is_function(profile, Key::Function, *id, function, &pattern))
        .map(|(id, _)| FunctionId::from_index(id))
        .collect();
    if found.is_empty() {
        let known = names(profile.functions.iter().map(|function| function.name.as_str()));
        return Err(UnknownFunction { value: text.into(), known: what_there_is(text, &known) });
    }
    Ok(found)
}

/// What samples and operations in scope amount to, as values, sorted as a profile's are.
fn values_of_rows(profile: &Profile, scope: &Scope) -> Vec<Value> {
    let mut sums: BTreeMap<(ContextId, LocationId, Metric), u64> = BTreeMap::new();
    let mut add = |context, location, metric, amount: u64| {
        if amount > 0 {
            let sum = sums.entry((context, location, metric)).or_default();
            *sum = sum.saturating_add(amount);
        }
    };
    for row in profile.samples.iter().filter(|row| scope.has_sample(row)) {
        for (metric, amount) in SAMPLE_METRICS.into_iter().zip(amounts_of_sample(&row)) {
            add(row.context, row.location, metric, amount);
        }
    }
    let operations = Operations::of(profile);
    for row in profile.events.iter().filter(|row| scope.has_event(row)) {
        let amounts = amounts_of_event(operations.nature(row.operation), &row);
        for (metric, amount) in EVENT_METRICS.into_iter().zip(amounts) {
            add(row.context, row.location, metric, amount);
        }
    }
    each_amount(profile, |event| scope.has_event(event), add);
    let has = |time_ns, location: LocationId| scope.locations[location.index()] && scope.has_time(time_ns);
    if scope.processors.is_empty() && scope.states.is_none() && scope.contexts.first() == Some(&true) {
        each_reading(profile, false, has, |Value { context, location, metric, amount }| {
            let sum = sums.entry((context, location, metric)).or_default();
            *sum = metric.kind().followed(*sum, amount);
        });
    }
    sums.into_iter()
        .map(|((context, location, metric), amount)| Value { context, location, metric, amount })
        .collect()
}
