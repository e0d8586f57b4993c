//! What a quantity is in a run: the amount of a measure, or what is derived of several.

use proust_query::{Measure, Quantity};
use proust_statistics::{Change, Estimate, Matters, Observation};

/// The measures that a quantity is computed of.
pub(super) fn bases(quantity: &Quantity) -> Vec<Measure> {
    match quantity {
        Quantity::Measure(measure) => vec![*measure],
        Quantity::Derived(derived) => derived.bases(),
    }
}

/// Its value where the measures have these amounts; None where a divisor is zero.
pub(super) fn value(quantity: &Quantity, amount: impl Fn(Measure) -> f64) -> Option<f64> {
    match quantity {
        Quantity::Measure(measure) => Some(amount(*measure)),
        Quantity::Derived(derived) => derived.of(amount),
    }
}

/// The same as it was observed. How far a derived value may be off follows from how far it moves with each
/// measure: errors add up by their squares, as if they were independent, and what others disturbed by its
/// size.
pub(super) fn observed(
    quantity: &Quantity,
    observed: impl Fn(Measure) -> Observation,
) -> Option<Observation> {
    if let Quantity::Measure(measure) = quantity {
        return Some(observed(*measure));
    }
    let bases: Vec<(Measure, Observation)> =
        bases(quantity).into_iter().map(|measure| (measure, observed(measure))).collect();
    let with = |at: usize, by: f64| {
        value(quantity, |wanted| {
            let of = bases.iter().position(|(measure, _)| *measure == wanted);
            of.map_or(0.0, |of| bases[of].1.value + if of == at { by } else { 0.0 })
        })
    };
    let nowhere = bases.len();
    let value = with(nowhere, 0.0)?;
    // Where it has no value any more it may be anything.
    let moved = |at: usize, by: f64| match by {
        0.0 => 0.0,
        _ => with(at, by).map_or(value.abs(), |moved| (moved - value).abs()),
    };
    let each = || bases.iter().enumerate().map(|(at, (_, of))| (at, of));
    Some(Observation {
        value,
        error: each().map(|(at, of)| moved(at, of.error).powi(2)).sum::<f64>().sqrt(),
        disturbed: each().map(|(at, of)| moved(at, -of.disturbed)).sum(),
    })
}

/// The change between the first runs and the others; NaN where any of them has no value.
pub(super) fn change(observed: &[Option<Observation>], of_a: usize, matters: &Matters) -> Change {
    let known: Option<Vec<Observation>> = observed.iter().copied().collect();
    let Some(known) = known else {
        let nothing = Estimate { mean: f64::NAN, ..Estimate::default() };
        return Change { a: nothing, b: nothing, delta: f64::NAN, ..Change::default() };
    };
    let (before, after) = known.split_at(of_a);
    Change::of(before, after, matters)
}

#[cfg(test)]
mod tests {
    use proust_profile::Metric;
    use proust_query::Metrics;

    use super::*;

    fn ratio() -> Quantity {
        Metrics::defined(["rate=read_bytes/cpu_s"]).unwrap().find("rate").unwrap()
    }

    fn of(bytes: f64, cpu: Observation) -> Option<Observation> {
        observed(&ratio(), |measure| match measure {
            Measure::Metric(Metric::Cpu) => cpu,
            _ => Observation { value: bytes, error: 0.0, disturbed: 0.0 },
        })
    }

    #[test]
    fn the_error_of_a_ratio_is_that_of_its_parts() {
        let cpu = Observation { value: 2.0, error: 0.02, disturbed: 0.0 };
        let rate = of(100.0, cpu).unwrap();
        assert_eq!((rate.value, rate.disturbed), (50.0, 0.0));
        // 1 % of the divisor is 1 % of the ratio.
        assert!((rate.error - 0.5).abs() < 0.01, "{rate:?}");
        let disturbed = of(100.0, Observation { value: 2.0, error: 0.0, disturbed: 1.0 }).unwrap();
        assert_eq!(disturbed.disturbed, 50.0, "it would be 100 without the others");
    }

    #[test]
    fn a_run_without_a_value_leaves_nothing_to_compare() {
        let some = of(100.0, Observation { value: 2.0, error: 0.0, disturbed: 0.0 });
        let none = of(100.0, Observation { value: 0.0, error: 0.0, disturbed: 0.0 });
        assert_eq!(none, None);
        assert!(change(&[some, none], 1, &Matters::of_total(1.0)).delta.is_nan());
        let same = change(&[some, some], 1, &Matters::of_total(1.0));
        assert_eq!((same.a.mean, same.delta), (50.0, 0.0));
    }
}
