//! Inclusive and exclusive amounts.

use std::ops::AddAssign;

use proust_profile::{ContextId, ContextKind, Kind, Metric, Ns, Profile, Unit};

use super::forest::Forest;
use super::measure::Measure;
use super::selection::Selection;

/// Amounts of one measure, by context or by function: sums of whole numbers, or what is shown of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amounts<T = u128> {
    /// With everything below. A function that is on a path several times counts once.
    pub inclusive: Vec<T>,
    /// Without what it calls: of a frame or inlined call its own and that of its lines and loops.
    pub exclusive: Vec<T>,
}

impl<T: Clone + Default> Amounts<T> {
    /// Nothing, in so many rows.
    pub fn nothing(rows: usize) -> Amounts<T> {
        Amounts { inclusive: vec![T::default(); rows], exclusive: vec![T::default(); rows] }
    }
}

impl Amounts {
    /// As they are shown in this unit.
    pub fn shown(&self, unit: Unit) -> Amounts<f64> {
        let shown = |sums: &[u128]| sums.iter().map(|&sum| unit.shown(sum)).collect();
        Amounts { inclusive: shown(&self.inclusive), exclusive: shown(&self.exclusive) }
    }

    /// A measure by context.
    pub fn by_context(selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        let measure = measure.into();
        let own = selection.own(measure);
        joined_over_contexts(selection.profile(), selection.forest(), &own, of_kind(measure.kind()))
    }

    /// A measure by function.
    pub fn by_function(selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        let measure = measure.into();
        let own = selection.own(measure);
        over_functions(selection.profile(), selection.forest(), &own, of_kind(measure.kind()))
    }

    /// Standard errors of the CPU seconds by context.
    ///
    /// A sample of weight w stands for w seconds that were spent here or elsewhere; for a share p of the
    /// total the variance is Σ w² (1 − p)² over the samples here, and Σ w² p² over those elsewhere. The total
    /// itself is known exactly from the CPU clock. Samples are taken at random distances, so this is valid
    /// whatever the program repeats; of what takes much longer than the distances the true error is smaller.
    pub fn errors_by_context(selection: &Selection<'_>) -> Amounts<f64> {
        let squares = over_contexts(selection.profile(), selection.forest(), selection.squares());
        let values = Amounts::by_context(selection, Metric::Cpu).shown(Unit::SECONDS);
        errors(squares, &values, Sampling::of(selection))
    }

    /// Standard errors of the CPU seconds by function.
    pub fn errors_by_function(selection: &Selection<'_>) -> Amounts<f64> {
        let squares = over_functions(selection.profile(), selection.forest(), selection.squares(), add);
        let values = Amounts::by_function(selection, Metric::Cpu).shown(Unit::SECONDS);
        errors(squares, &values, Sampling::of(selection))
    }
}

/// Adds an amount of what adds up.
pub fn add<T: AddAssign>(sum: &mut T, amount: T) {
    *sum += amount;
}

/// Joins amounts as their kind says.
pub fn of_kind(kind: Kind) -> impl Fn(&mut u128, u128) + Copy {
    move |joined, amount| *joined = kind.joined(*joined, amount)
}

/// Spreads each context's own amount, which adds up, upwards.
pub fn over_contexts<T: Copy + AddAssign>(profile: &Profile, forest: &Forest, own: &[T]) -> Amounts<T> {
    joined_over_contexts(profile, forest, own, add)
}

/// Spreads each context's own amount upwards.
fn joined_over_contexts<T: Copy>(
    profile: &Profile,
    forest: &Forest,
    own: &[T],
    join: impl Fn(&mut T, T),
) -> Amounts<T> {
    let mut inclusive = own.to_vec();
    let mut exclusive = own.to_vec();
    for (id, context) in profile.contexts.iter().enumerate().rev() {
        if let Some(parent) = context.parent {
            let below = inclusive[id];
            join(&mut inclusive[parent.index()], below);
        }
        let owner = forest.exclusive_of(ContextId::from_index(id)).index();
        if owner != id {
            join(&mut exclusive[owner], own[id]);
        }
    }
    Amounts { inclusive, exclusive }
}

/// Spreads each context's own amount over the functions on its path.
pub(super) fn over_functions<T: Copy + Default>(
    profile: &Profile,
    forest: &Forest,
    own: &[T],
    join: impl Fn(&mut T, T) + Copy,
) -> Amounts<T> {
    let contexts = joined_over_contexts(profile, forest, own, join);
    let mut amounts = Amounts::nothing(profile.functions.len());
    for id in profile.contexts.keys() {
        if let Some(function) = forest.called_function(profile, id) {
            join(&mut amounts.exclusive[function.index()], contexts.exclusive[id.index()]);
            if forest.is_outermost(id) {
                join(&mut amounts.inclusive[function.index()], contexts.inclusive[id.index()]);
            }
        } else if profile.contexts[id].kind == ContextKind::Interval
            && let Some(function) =
                forest.call_above(id).and_then(|call| forest.called_function(profile, call))
        {
            // What is executed in an interval, and not called there, is the function's that marks it.
            join(&mut amounts.exclusive[function.index()], contexts.exclusive[id.index()]);
        }
    }
    amounts
}

/// All of what was sampled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampling {
    /// Its CPU time.
    pub cpu: Ns,
    /// Σ of the squared weights of its samples, s².
    pub squares: f64,
}

impl Sampling {
    /// That of the samples of a selection.
    pub fn of(selection: &Selection<'_>) -> Sampling {
        Sampling { cpu: Ns::of_sum(selection.total(Metric::Cpu)), squares: selection.squares().iter().sum() }
    }

    /// The standard error of an amount of CPU time, where the samples there have this sum of squares, s².
    pub fn error(&self, cpu: Ns, squares: f64) -> Ns {
        Ns::from_seconds(self.deviation(cpu.as_seconds(), squares))
    }

    /// The same in the unit of amounts, s.
    fn deviation(&self, amount: f64, squares: f64) -> f64 {
        let all = self.cpu.as_seconds();
        let share = if all > 0.0 { (amount / all).clamp(0.0, 1.0) } else { 0.0 };
        let elsewhere = (self.squares - squares).max(0.0);
        (squares * (1.0 - share).powi(2) + elsewhere * share.powi(2)).sqrt()
    }
}

/// Standard errors by the squares of the weights of samples.
pub fn errors(squares: Amounts<f64>, values: &Amounts<f64>, all: Sampling) -> Amounts<f64> {
    let error = |(square, value): (f64, &f64)| all.deviation(*value, square);
    Amounts {
        inclusive: squares.inclusive.into_iter().zip(&values.inclusive).map(error).collect(),
        exclusive: squares.exclusive.into_iter().zip(&values.exclusive).map(error).collect(),
    }
}
