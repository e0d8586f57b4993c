//! What a line of the picture is made of: the time of a location by part, in all and cell by cell.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proust_account::ledger::{PassiveReason, State, Windows};
use proust_account::stored::{BinsIn, StoredTimelines};
use proust_profile::{ContextId, FunctionId, LocationId};
use proust_query::Selection;

use super::depth::Depth;
use super::spans::{SpanRow, each_span_within, paint, state_id};
use crate::style::Paint;

/// What a letter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// An account, or a passive reason.
    State(&'static str),
    /// The function at the depth that is asked for; none where it is not known.
    Function(Option<FunctionId>),
    /// Passive time, where letters stand for functions.
    Passive,
}

impl Part {
    pub fn paint(self) -> Paint {
        match self {
            Part::State(id) => paint(id),
            Part::Function(_) => Paint::Plain,
            Part::Passive => Paint::Faint,
        }
    }

    fn is_active(self) -> bool {
        match self {
            Part::State(id) => PassiveReason::from_id(id).is_none(),
            Part::Function(_) => true,
            Part::Passive => false,
        }
    }
}

/// The time of a location by part, in seconds.
pub(super) type Sums = BTreeMap<Part, f64>;

/// How much of it is active.
pub(super) fn active_s(sums: &Sums) -> f64 {
    sums.iter().filter(|(part, _)| part.is_active()).map(|(_, seconds)| seconds).sum()
}

/// Where the time of locations in scope is read.
pub(super) struct Strips<'s> {
    pub selection: &'s Selection<'s>,
    pub stored: &'s StoredTimelines,
    pub windows: &'s Windows,
    /// Where letters stand for functions.
    pub depth: Option<&'s Depth>,
}

impl<'s> Strips<'s> {
    /// Gives the spans of a location that are in scope to `take`, as they are read.
    pub fn each_span<E>(
        &self,
        location: LocationId,
        take: impl FnMut(SpanRow<'s>) -> Result<(), E>,
    ) -> Result<(), E> {
        let spans = self.stored.spans(location, self.windows.span_ns());
        let in_scope = |context: ContextId, state: State| {
            self.selection.has_context(context) && self.selection.has_state(location, context, state)
        };
        each_span_within(&spans, |span| in_scope(span.context, span.state), self.windows, take)
    }

    /// As [`Strips::each_span`], for what cannot fail.
    pub fn for_each_span(&self, location: LocationId, mut take: impl FnMut(&SpanRow<'s>)) {
        let take = |span| {
            take(&span);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = self.each_span(location, take);
    }

    /// All its time in scope.
    pub fn sums(&self, location: LocationId) -> Sums {
        let range_ns = self.windows.span_ns();
        let all = BinsIn { begin_ns: range_ns.start, width_ns: range_ns.end - range_ns.start, count: 1 };
        self.cells(location, all).pop().unwrap_or_default()
    }

    /// Its time in scope, cell by cell.
    pub fn cells(&self, location: LocationId, cells: BinsIn) -> Vec<Sums> {
        if self.is_of_states() || self.windows.as_slice().len() != 1 {
            return self.cells_of_spans(location, cells);
        }
        let bins = self.stored.bins(location, cells, |state, context| {
            self.selection.has_context(context).then(|| self.part(state, context))
        });
        let seconds = |ns: u128| ns as f64 / 1e9;
        let in_seconds =
            |bin: BTreeMap<Part, u128>| bin.into_iter().map(|(part, ns)| (part, seconds(ns))).collect();
        bins.into_iter().map(in_seconds).collect()
    }

    /// Whether states select what is in scope: the parts of a span are then in scope as their span is.
    fn is_of_states(&self) -> bool {
        self.selection.is_of_states()
    }

    fn cells_of_spans(&self, location: LocationId, cells: BinsIn) -> Vec<Sums> {
        let mut sums = vec![Sums::new(); cells.count];
        let start_s = cells.begin_ns as f64 / 1e9;
        let length_s = cells.width_ns as f64 / 1e9;
        self.for_each_span(location, |span| {
            let cell = |at_s: f64| ((at_s - start_s) / length_s).max(0.0);
            let (from, to) = (cell(span.start_s), cell(span.end_s).min(cells.count as f64));
            let touched = from as usize..(to.ceil() as usize).min(cells.count);
            for (n, sums) in touched.clone().zip(sums.get_mut(touched).into_iter().flatten()) {
                let overlap = (to.min(n as f64 + 1.0) - from.max(n as f64)).max(0.0);
                let share = overlap * length_s / span.length_s().max(f64::MIN_POSITIVE);
                for (part, seconds) in self.parts(span) {
                    *sums.entry(part).or_default() += seconds * share;
                }
            }
        });
        sums
    }

    fn part(&self, state: State, context: ContextId) -> Part {
        match (self.depth, state) {
            (None, state) => Part::State(state_id(state)),
            (Some(_), State::Passive(_)) => Part::Passive,
            (Some(depth), _) => Part::Function(depth.function(context)),
        }
    }

    /// What a span's time goes to, as letters tell it apart, with the seconds.
    fn parts(&self, span: &SpanRow<'_>) -> Vec<(Part, f64)> {
        match self.depth {
            None => span.states().map(|(id, seconds)| (Part::State(id), seconds)).collect(),
            Some(_) if span.account.is_none() => vec![(Part::Passive, span.length_s())],
            Some(depth) => vec![(Part::Function(depth.function(span.context)), span.length_s())],
        }
    }
}

/// What takes most of a cell; none where there is less than `least_s`.
pub(super) fn most(sums: &Sums, least_s: f64) -> Option<Part> {
    if sums.values().sum::<f64>() <= least_s {
        return None;
    }
    sums.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(part, _)| *part)
}
