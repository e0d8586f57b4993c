//! How an amount is spread over the locations.

use std::hash::Hash;

use proust_profile::{ContextId, LocationId, Running, Summary, Unit};

use super::derived::{Derived, Quantity};
use super::forest::Forest;
use super::measure::Measure;
use super::on_path::OnPath;
use super::selection::Selection;
use super::summaries::Summaries;

/// Statistics of an inclusive amount over *all* compute locations in scope, those where it is zero included:
/// a function that one thread of many runs is as unbalanced as can be. Of a derived metric they are over the
/// locations that have a value of it; NaN is no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Number of locations.
    pub locations: usize,
    /// Sum.
    pub sum: f64,
    /// Sum divided by the number of locations.
    pub mean: f64,
    /// Smallest amount.
    pub min: f64,
    /// A location with the smallest amount.
    pub min_location: Option<LocationId>,
    /// Largest amount.
    pub max: f64,
    /// A location with the largest amount.
    pub max_location: Option<LocationId>,
    /// Standard deviation (of the locations as they are, not an estimate for others).
    pub stddev: f64,
}

impl Statistics {
    /// Of no location: every number is NaN.
    const NOTHING: Statistics = Statistics {
        locations: 0,
        sum: f64::NAN,
        mean: f64::NAN,
        min: f64::NAN,
        min_location: None,
        max: f64::NAN,
        max_location: None,
        stddev: f64::NAN,
    };

    /// What could be saved if the largest were as the mean: max − mean.
    pub fn imbalance(&self) -> f64 {
        self.max - self.mean
    }

    /// Statistics of whole amounts.
    fn of_whole(summary: &Summary, locations: usize, unit: Unit) -> Statistics {
        let sum = unit.shown(summary.sum);
        Statistics {
            locations,
            sum,
            mean: if locations == 0 { 0.0 } else { sum / locations as f64 },
            min: unit.shown(summary.min),
            min_location: summary.min_location,
            max: unit.shown(summary.max),
            max_location: summary.max_location,
            stddev: unit.of_base(summary.deviation(locations)),
        }
    }

    /// Statistics of values given for some of the locations; the others count as zero.
    fn of(given: &[(LocationId, f64)], locations: &[LocationId]) -> Statistics {
        let n = locations.len();
        let sum: f64 = given.iter().fold(0.0, |sum, (_, amount)| sum + amount);
        let mean = if n == 0 { 0.0 } else { sum / n as f64 };
        // Around the mean and not from the sum of squares: that loses all digits when the spread is small.
        let around: f64 = given.iter().map(|(_, amount)| (amount - mean).powi(2)).sum::<f64>()
            + (n - given.len()) as f64 * mean * mean;
        let mut all = given.to_vec();
        // `given` and `locations` are both ascending: the first one missing has zero.
        if let Some(&zero) =
            locations.iter().find(|id| given.binary_search_by_key(id, |(given, _)| given).is_err())
        {
            all.push((zero, 0.0));
        }
        let largest = all.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let smallest = all.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Statistics {
            locations: n,
            sum,
            mean,
            min: smallest.map_or(0.0, |(_, amount)| amount),
            min_location: smallest.map(|(location, _)| location),
            max: largest.map_or(0.0, |(_, amount)| amount),
            max_location: largest.map(|(location, _)| location),
            stddev: if n == 0 { 0.0 } else { (around / n as f64).sqrt() },
        }
    }
}

/// Statistics of one quantity, by context, by function, or by what is on paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Of the inclusive amounts; recursion counts once.
    pub inclusive: Vec<Statistics>,
    /// Of the exclusive amounts.
    pub exclusive: Vec<Statistics>,
}

impl Spread {
    /// Statistics by context.
    pub fn by_context(selection: &Selection<'_>, quantity: impl Into<Quantity>) -> Spread {
        let quantity = quantity.into();
        if let (Quantity::Measure(measure), Some(summaries)) = (&quantity, selection.summaries()) {
            return by_summaries(selection, summaries, *measure);
        }
        let row_of = |context: ContextId| Some(context.index());
        let size = selection.profile().contexts.len();
        collect(selection, &quantity, size, row_of, owners_by(selection.forest(), row_of))
    }

    /// Statistics by function.
    pub fn by_function(selection: &Selection<'_>, quantity: impl Into<Quantity>) -> Spread {
        let (profile, forest) = (selection.profile(), selection.forest());
        let row_of = |context| Some(forest.called_function(profile, context)?.index());
        let brought_by = |context| row_of(context).filter(|_| forest.is_outermost(context));
        let size = profile.functions.len();
        collect(selection, &quantity.into(), size, brought_by, owners_by(forest, row_of))
    }

    /// Statistics by what is on paths.
    pub fn on_path<K: Copy + Eq + Hash>(
        selection: &Selection<'_>,
        of: &OnPath<K>,
        quantity: impl Into<Quantity>,
    ) -> Spread {
        let brought_by = |context| of.brought_by(context);
        let owners_of = |context| [of.owner_of(context), None];
        collect(selection, &quantity.into(), of.keys.len(), brought_by, owners_of)
    }
}

/// The rows to which a context's own amount belongs, by the row of each context: a line keeps its own amount
/// and gives it to its function as well.
fn owners_by(
    forest: &Forest,
    row_of: impl Fn(ContextId) -> Option<usize>,
) -> impl Fn(ContextId) -> [Option<usize>; 2] {
    move |context| {
        let owner = forest.exclusive_of(context);
        [row_of(context).filter(|_| owner != context), row_of(owner)]
    }
}

/// Amounts of the locations that have any, ascending by location.
type Given = Vec<(LocationId, u128)>;

/// Statistics by row. `brought_by` says to which row a context's inclusive amount belongs, `owners_of` to
/// which ones its own amount does.
fn collect(
    selection: &Selection<'_>,
    quantity: &Quantity,
    rows: usize,
    brought_by: impl Fn(ContextId) -> Option<usize>,
    owners_of: impl Fn(ContextId) -> [Option<usize>; 2],
) -> Spread {
    let compute = selection.compute_locations();
    let given = |measure: Measure| given(selection, measure, rows, &brought_by, &owners_of);
    match quantity {
        Quantity::Measure(measure) => {
            let of = |summary: &Summary| Statistics::of_whole(summary, compute.len(), measure.unit());
            let finish = |summaries: Vec<Summary>| summaries.iter().map(of).collect();
            let [inclusive, exclusive] = summed(selection, *measure, rows, &brought_by, &owners_of);
            Spread { inclusive: finish(inclusive), exclusive: finish(exclusive) }
        }
        Quantity::Derived(derived) => {
            let bases = derived.bases();
            let given: Vec<[Vec<Given>; 2]> = bases.iter().map(|&measure| given(measure)).collect();
            let finish = |which: usize| {
                let row = |row: usize| {
                    let of: Vec<&Given> = given.iter().map(|given| &given[which][row]).collect();
                    of_derived(derived, &bases, &of, &compute)
                };
                (0..rows).map(row).collect()
            };
            Spread { inclusive: finish(0), exclusive: finish(1) }
        }
    }
}

/// Statistics of a derived metric over the locations that have a value of it; it has no sum.
fn of_derived(derived: &Derived, bases: &[Measure], given: &[&Given], compute: &[LocationId]) -> Statistics {
    let value = |of: &dyn Fn(usize) -> f64| {
        derived.of(|measure| bases.iter().position(|base| *base == measure).map_or(0.0, of))
    };
    let of_nothing = value(&|_| 0.0);
    let mut met: Vec<LocationId> = given.iter().flat_map(|given| given.iter().map(|(id, _)| *id)).collect();
    met.sort_unstable();
    met.dedup();
    let amount = |base: usize, id: LocationId| {
        let at = given[base].binary_search_by_key(&id, |(given, _)| *given);
        at.map_or(0.0, |at| bases[base].unit().shown(given[base][at].1))
    };
    let values: Vec<(LocationId, f64)> =
        met.iter().filter_map(|&id| Some((id, value(&|base| amount(base, id))?))).collect();
    let has_value = |id: &LocationId| match met.binary_search(id) {
        Ok(_) => values.binary_search_by_key(id, |(id, _)| *id).is_ok(),
        Err(_) => of_nothing.is_some(),
    };
    let locations: Vec<LocationId> = match of_nothing {
        // Few locations of many have an amount, and nothing is asked of the others.
        None => values.iter().map(|(id, _)| *id).collect(),
        Some(_) => compute.iter().copied().filter(has_value).collect(),
    };
    if locations.is_empty() {
        return Statistics::NOTHING;
    }
    let statistics = Statistics::of(&values, &locations);
    Statistics { sum: f64::NAN, ..statistics }
}

/// The inclusive and exclusive amounts of each row, by location.
fn given(
    selection: &Selection<'_>,
    measure: Measure,
    rows: usize,
    brought_by: impl Fn(ContextId) -> Option<usize>,
    owners_of: impl Fn(ContextId) -> [Option<usize>; 2],
) -> [Vec<Given>; 2] {
    let mut inclusive: Vec<Given> = vec![Vec::new(); rows];
    let mut exclusive = inclusive.clone();
    let add = |given: &mut Given, location, amount: u128| match given.last_mut() {
        _ if amount == 0 => {}
        Some((last, sum)) if *last == location => *sum = measure.kind().joined(*sum, amount),
        _ => given.push((location, amount)),
    };
    each_location(selection, measure, |location, context, above, own| {
        if let Some(row) = brought_by(context) {
            add(&mut inclusive[row], location, above);
        }
        if own > 0 {
            for row in owners_of(context).into_iter().flatten() {
                add(&mut exclusive[row], location, own);
            }
        }
    });
    [inclusive, exclusive]
}

/// Summaries of the inclusive and exclusive amounts of each context.
pub(super) fn summed_by_context(selection: &Selection<'_>, measure: Measure) -> [Vec<Summary>; 2] {
    let row_of = |context: ContextId| Some(context.index());
    let size = selection.profile().contexts.len();
    summed(selection, measure, size, row_of, owners_by(selection.forest(), row_of))
}

/// Summaries of the inclusive and exclusive amounts of each row.
fn summed(
    selection: &Selection<'_>,
    measure: Measure,
    rows: usize,
    brought_by: impl Fn(ContextId) -> Option<usize>,
    owners_of: impl Fn(ContextId) -> [Option<usize>; 2],
) -> [Vec<Summary>; 2] {
    let compute = selection.compute_locations();
    let mut inclusive = vec![Running::of(measure.kind()); rows];
    let mut exclusive = inclusive.clone();
    let mut place = 0;
    each_location(selection, measure, |location, context, above, own| {
        while compute[place] < location {
            place += 1;
        }
        if let Some(row) = brought_by(context) {
            inclusive[row].add(place, location, above);
        }
        for row in owners_of(context).into_iter().flatten() {
            exclusive[row].add(place, location, own);
        }
    });
    let finish = |rows: Vec<Running>| rows.into_iter().map(|row| row.finish(&compute)).collect();
    [finish(inclusive), finish(exclusive)]
}

/// Statistics by context of a whole run whose summaries are kept.
fn by_summaries(selection: &Selection<'_>, summaries: &Summaries, measure: Measure) -> Spread {
    let compute = selection.compute_locations();
    let nothing = Summary { min_location: compute.first().copied(), ..Summary::default() };
    let nothing = Summary { max_location: nothing.min_location, ..nothing };
    let nothing = Statistics::of_whole(&nothing, compute.len(), measure.unit());
    let size = selection.profile().contexts.len();
    let mut spread = Spread { inclusive: vec![nothing; size], exclusive: vec![nothing; size] };
    for row in summaries.rows(measure).iter().filter(|row| selection.has_context(row.context)) {
        let of = |summary: &Summary| Statistics::of_whole(summary, compute.len(), measure.unit());
        spread.inclusive[row.context.index()] = of(&row.inclusive);
        spread.exclusive[row.context.index()] = of(&row.exclusive);
    }
    spread
}

/// Calls `take(location, context, inclusive, own amount)` for every compute location, ascending, and every
/// context in which it has an amount. Holds one location's amounts at a time.
fn each_location(
    selection: &Selection<'_>,
    measure: Measure,
    mut take: impl FnMut(LocationId, ContextId, u128, u128),
) {
    let profile = selection.profile();
    let mut values: Vec<(LocationId, ContextId, u64)> = Vec::new();
    selection.each(measure, |context, location, amount| {
        if !profile.locations[location].service {
            values.push((location, context, amount));
        }
    });
    values.sort_by_key(|&(location, ..)| location);
    let mut amounts = vec![(0, 0); profile.contexts.len()];
    let mut met = vec![false; profile.contexts.len()];
    for values in values.chunk_by(|a, b| a.0 == b.0) {
        let mut touched = Vec::new();
        for &(_, own, amount) in values {
            let amount = u128::from(amount);
            let join = |joined: &mut u128| *joined = measure.kind().joined(*joined, amount);
            join(&mut amounts[own.index()].1);
            let mut context = Some(own);
            while let Some(id) = context {
                if !std::mem::replace(&mut met[id.index()], true) {
                    touched.push(id);
                }
                join(&mut amounts[id.index()].0);
                context = profile.contexts[id].parent;
            }
        }
        for id in touched {
            met[id.index()] = false;
            let (inclusive, own) = std::mem::take(&mut amounts[id.index()]);
            take(values[0].0, id, inclusive, own);
        }
    }
}
