//! Inclusive and exclusive amounts.

use proust_profile::{Metric, Profile};

use super::forest::{Forest, called_function};
use super::measure::Measure;
use super::selection::Selection;

/// Amounts of one measure, by context or by function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amounts {
    /// With everything below. A function that is on a path several times counts once.
    pub inclusive: Vec<f64>,
    /// Without what it calls: of a frame or inlined call its own and that of its lines and loops.
    pub exclusive: Vec<f64>,
}

impl Amounts {
    /// A measure by context.
    pub fn by_context(selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        over_contexts(selection.profile(), selection.forest(), &selection.own(measure))
    }

    /// A measure by function.
    pub fn by_function(selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        over_functions(selection.profile(), selection.forest(), &selection.own(measure))
    }

    /// Standard errors of the CPU seconds by context.
    ///
    /// A sample of weight w stands for w seconds that may or may not have been spent here; for a share p of
    /// the total the variance is Σ w² (1 − p), the total itself being known exactly from the CPU clock.
    /// Samples come at regular distances of CPU time, which makes the true error smaller, never larger,
    /// unless the program runs in step with the timer.
    pub fn errors_by_context(selection: &Selection<'_>) -> Amounts {
        let squares = over_contexts(selection.profile(), selection.forest(), selection.squares());
        let values = Amounts::by_context(selection, Metric::Cpu);
        errors(squares, &values, selection.total(Metric::Cpu))
    }

    /// Standard errors of the CPU seconds by function.
    pub fn errors_by_function(selection: &Selection<'_>) -> Amounts {
        let squares = over_functions(selection.profile(), selection.forest(), selection.squares());
        let values = Amounts::by_function(selection, Metric::Cpu);
        errors(squares, &values, selection.total(Metric::Cpu))
    }
}

/// Spreads each context's own amount upwards.
pub(super) fn over_contexts(profile: &Profile, forest: &Forest, own: &[f64]) -> Amounts {
    let mut inclusive = own.to_vec();
    let mut exclusive = own.to_vec();
    for (id, context) in profile.contexts.iter().enumerate().rev() {
        if let Some(parent) = context.parent {
            inclusive[parent as usize] += inclusive[id];
        }
        let owner = forest.exclusive_of(id as u32) as usize;
        if owner != id {
            exclusive[owner] += own[id];
        }
    }
    Amounts { inclusive, exclusive }
}

/// Spreads each context's own amount over the functions on its path.
pub(super) fn over_functions(profile: &Profile, forest: &Forest, own: &[f64]) -> Amounts {
    let contexts = over_contexts(profile, forest, own);
    let mut amounts = Amounts {
        inclusive: vec![0.0; profile.functions.len()],
        exclusive: vec![0.0; profile.functions.len()],
    };
    for id in 0..profile.contexts.len() as u32 {
        if let Some(function) = called_function(profile, id) {
            amounts.exclusive[function as usize] += contexts.exclusive[id as usize];
            if forest.is_outermost(id) {
                amounts.inclusive[function as usize] += contexts.inclusive[id as usize];
            }
        }
    }
    amounts
}

pub(crate) fn errors(squares: Amounts, values: &Amounts, total: f64) -> Amounts {
    let error = |(square, value): (f64, &f64)| {
        let share = if total > 0.0 { (value / total).clamp(0.0, 1.0) } else { 0.0 };
        (square * (1.0 - share)).max(0.0).sqrt()
    };
    Amounts {
        inclusive: squares.inclusive.into_iter().zip(&values.inclusive).map(error).collect(),
        exclusive: squares.exclusive.into_iter().zip(&values.exclusive).map(error).collect(),
    }
}
