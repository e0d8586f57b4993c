//! The page `tree --over locations`: one context, and how much of a measure each location has of it.
//!
//! Text shows the amounts three times: by number of the location, sorted, and as a histogram. Locations
//! without an amount count with zero, as in the statistics of columns: what one thread of many runs is as
//! unbalanced as can be.

mod plot;

use std::collections::BTreeMap;

use proust_profile::{ContextId, Kind, Level, LocationId, PlaceId, Places, Profile};
use proust_query::{Derived, Handle, Measure, Quantity, Selection};
use proust_words::{counted, verb};
use schemars::JsonSchema;
use serde::Serialize;

use super::tree::{name, root};
use super::{Cut, Page, heading, scope};
use crate::choice::Chosen;
use crate::column::{Column, ColumnHead, Over};
use crate::error::ReportError;
use crate::number::{Scale, exact, percent, sum};
use crate::question::{Across, Question, Sort};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::wording::Notes;
use plot::{Bin, bins};

/// The amounts of a context by location.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Distribution {
    schema: u32,
    /// The context, and its name.
    #[schemars(with = "u32")]
    context: ContextId,
    name: String,
    over: Across,
    metric: ColumnHead,
    statistics: Statistics,
    /// How many of the listed ones have how much: none of what has no value.
    histogram: Vec<Bin>,
    /// In the order of their numbers, or as sorted.
    locations: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
}

/// Of the inclusive amounts of all, those included that a limit leaves out; of a derived metric those that
/// have a value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Statistics {
    count: usize,
    /// Of a derived metric none (null), since values do not add up.
    #[schemars(with = "Option<f64>")]
    sum: f64,
    mean: f64,
    min: f64,
    median: f64,
    max: f64,
    /// Standard deviation of the amounts as they are, not an estimate for others.
    stddev: f64,
    /// max − mean: what would be saved if the largest were as the mean.
    imbalance: f64,
}

/// A thread, a process, or a host.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Place {
    handle: String,
    /// Null of a host.
    process: Option<u32>,
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u32>,
    name: String,
    /// Null where a derived metric has no value, since a divisor is zero.
    #[schemars(with = "Option<f64>")]
    inclusive: f64,
    #[schemars(with = "Option<f64>")]
    exclusive: f64,
}

impl Statistics {
    fn of(amounts: &[f64]) -> Statistics {
        let mut sorted = amounts.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let total = sum(sorted.iter().copied());
        let mean = total / count.max(1) as f64;
        let around = sum(sorted.iter().map(|amount| (amount - mean).powi(2)));
        let middle = |at: usize| sorted.get(at).copied().unwrap_or(0.0);
        let max = sorted.last().copied().unwrap_or(0.0);
        Statistics {
            count,
            sum: total,
            mean,
            min: middle(0),
            median: (middle(count.saturating_sub(1) / 2) + middle(count / 2)) / 2.0,
            max,
            stddev: (around / count.max(1) as f64).sqrt(),
            imbalance: max - mean,
        }
    }
}

/// Inclusive and exclusive amounts by location, of each measure.
type Amounts = BTreeMap<LocationId, Vec<[u128; 2]>>;

/// What a column is computed of, and how.
struct Counted<'c> {
    measures: Vec<Measure>,
    derived: Option<&'c Derived>,
}

impl Counted<'_> {
    fn of(quantity: &Quantity) -> Counted<'_> {
        match quantity {
            Quantity::Measure(measure) => Counted { measures: vec![*measure], derived: None },
            Quantity::Derived(derived) => Counted { measures: derived.bases(), derived: Some(derived) },
        }
    }

    /// Whether values of several places have a sum.
    fn adds_up(&self) -> bool {
        self.derived.is_none() && self.measures.iter().all(|measure| measure.kind() != Kind::Max)
    }

    /// The value of these amounts, one for each measure; NaN if there is none.
    fn value(&self, amounts: &[[u128; 2]], which: usize) -> f64 {
        let shown = |at: usize| self.measures[at].unit().shown(amounts[at][which]);
        let Some(derived) = self.derived else { return shown(0) };
        let amount = |wanted: Measure| {
            let at = self.measures.iter().position(|measure| *measure == wanted);
            at.map_or(0.0, shown)
        };
        derived.of(amount).unwrap_or(f64::NAN)
    }
}

/// The places in the order of their numbers: threads as they are numbered, processes by rank, hosts by their
/// first threads.
fn places(profile: &Profile, over: Across, amounts: &Amounts, counted: &Counted<'_>) -> Vec<Place> {
    let tree = Places::of(profile);
    let level = match over {
        Across::Locations => Level::Thread,
        Across::Processes => Level::Process,
        Across::Hosts => Level::Host,
    };
    let mut sums: BTreeMap<_, (PlaceId, Vec<[u128; 2]>)> = BTreeMap::new();
    for (&id, amount) in amounts {
        let place = tree.above(id, level);
        let process = tree.get(place).process;
        let rank = process.and_then(|process| profile.processes[process].rank);
        let by_rank = (level == Level::Process).then_some((rank.is_none(), rank));
        let nothing = || (place, vec![[0; 2]; amount.len()]);
        let sums = sums.entry((by_rank, place)).or_insert_with(nothing);
        for ((sum, amount), measure) in sums.1.iter_mut().zip(amount).zip(&counted.measures) {
            (0..2).for_each(|n| sum[n] = measure.kind().joined(sum[n], amount[n]));
        }
    }
    let one = |(id, amounts): (PlaceId, Vec<[u128; 2]>)| {
        let place = tree.get(id);
        let name = tree.name(id, profile).to_owned();
        let process = place.process.map(|process| &profile.processes[process]);
        let handle = match (place.location, place.process) {
            (Some(location), _) => Handle::Location(location).to_string(),
            (None, Some(process)) => Handle::Process(process).to_string(),
            (None, None) => name.clone(),
        };
        Place {
            handle,
            process: process.map(|process| process.pid),
            rank: process.and_then(|process| process.rank),
            thread: place.location.map(|location| profile.locations[location].tid),
            name,
            inclusive: counted.value(&amounts, 0),
            exclusive: counted.value(&amounts, 1),
        }
    };
    sums.into_values().map(one).collect()
}

/// A value by which places are sorted: those that have none are last.
fn lowest(value: f64) -> f64 {
    if value.is_nan() { f64::NEG_INFINITY } else { value }
}

impl Distribution {
    pub fn build(
        mut selection: Selection<'_>,
        question: &Question,
        over: Across,
    ) -> Result<Distribution, ReportError> {
        let profile = selection.profile();
        let root = root(profile, question.page.id(), &question.arguments)?;
        if root != ContextId(0) {
            selection = selection.under(root);
        }
        let chosen = Chosen::new(&selection, question);
        let column = match &question.columns[..] {
            [column] if column.over == Over::Sum => column.clone(),
            [] if let [derived] = question.metrics.derived() => {
                Column::sum(Quantity::Derived(derived.clone()))
            }
            [] => Column::sum(chosen.lead()),
            _ => {
                return Err(ReportError::Usage(
                    "--over shows one metric, and the sum of each location: --metrics cpu_s for instance"
                        .into(),
                ));
            }
        };
        let own = selection.forest().exclusive_of(root);
        let counted = Counted::of(&column.quantity);
        let nothing = vec![[0; 2]; counted.measures.len()];
        let mut amounts: Amounts =
            selection.compute_locations().into_iter().map(|id| (id, nothing.clone())).collect();
        let forest = selection.forest();
        for (n, &measure) in counted.measures.iter().enumerate() {
            selection.each(measure, |context, location, amount| {
                let sums = &mut amounts.entry(location).or_insert_with(|| nothing.clone())[n];
                let amount = u128::from(amount);
                sums[0] = measure.kind().joined(sums[0], amount);
                if context == root || forest.exclusive_of(context) == own {
                    sums[1] = measure.kind().joined(sums[1], amount);
                }
            });
        }
        let mut locations = places(profile, over, &amounts, &counted);
        let values = |locations: &[Place]| -> Vec<f64> {
            locations.iter().map(|place| place.inclusive).filter(|value| !value.is_nan()).collect()
        };
        let mut statistics = Statistics::of(&values(&locations));
        if !counted.adds_up() {
            statistics.sum = f64::NAN;
        }
        match &question.sort {
            Some(Sort::Name) => locations.sort_by(|a, b| a.name.cmp(&b.name)),
            Some(_) => locations.sort_by(|a, b| lowest(b.inclusive).total_cmp(&lowest(a.inclusive))),
            None => {}
        }
        let mut cut = None;
        if let Some(limit) = question.limit.filter(|&limit| limit < locations.len()) {
            let hidden = locations.split_off(limit);
            let inclusive = || sum(hidden.iter().map(|place| place.inclusive));
            let amount = if counted.adds_up() { inclusive() } else { f64::NAN };
            cut = Some(Cut { rows: hidden.len(), amount });
        }
        Ok(Distribution {
            schema: SCHEMA,
            context: root,
            name: name(profile, root),
            over,
            metric: column.head(true),
            statistics,
            histogram: bins(&values(&locations)),
            locations,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(&selection, question),
        })
    }

    /// The amounts that are shown.
    fn amounts(&self) -> Vec<f64> {
        self.locations.iter().map(|place| place.inclusive).collect()
    }

    fn places_are(&self) -> &'static str {
        match self.over {
            Across::Locations => "thread",
            Across::Processes => "process",
            Across::Hosts => "host",
        }
    }
}

impl Page for Distribution {
    fn text(&self, style: &Style) -> String {
        let what = format!("{} of {} c{}", self.metric.id, self.name, self.context);
        let mut text = heading(style, &what, &format!("by {}, {}", self.places_are(), self.scope));
        let Some(first) = self.locations.first() else {
            text.push_str(" nothing here\n");
            return text;
        };
        let of = &self.statistics;
        let scale = Scale::of(self.metric.unit, [of.max, of.min]);
        let number = |amount: f64| if amount == 0.0 { "0".into() } else { scale.show(amount) };
        let shown = |amount: f64| format!("{} {}", number(amount), scale.unit).trim_end().to_owned();
        text.push_str(&format!(
            " {}: {}mean {}, median {}, from {} to {}, standard deviation {}\n",
            counted(of.count, self.places_are()),
            if of.sum.is_nan() { String::new() } else { format!("sum {}, ", shown(of.sum)) },
            shown(of.mean),
            shown(of.median),
            shown(of.min),
            shown(of.max),
            shown(of.stddev),
        ));
        text.push_str(&format!(
            " the largest is {} above the mean: {} % of it\n",
            shown(of.imbalance),
            percent(of.imbalance, of.max)
        ));
        let without = self.amounts().iter().filter(|amount| amount.is_nan()).count();
        if without > 0 {
            let places = counted(without, self.places_are());
            let have = verb(without, "has", "have");
            text.push_str(&format!(" {places} {have} no value, since a divisor is zero\n"));
        }
        let amounts = self.amounts();
        let last = self.locations.last().unwrap_or(first);
        let mut part = |title: String, plot: String| {
            text.push_str(&format!("\n{}\n{plot}", style.paint(Paint::Strong, &title)));
        };
        part(
            format!("By number, from {} to {}", first.handle, last.handle),
            plot::bars(&amounts, &scale, style),
        );
        let mut sorted = amounts;
        sorted.sort_by(|a, b| lowest(*b).total_cmp(&lowest(*a)));
        part("Sorted, the largest first".into(), plot::bars(&sorted, &scale, style));
        let title = format!("How many have how much, {}", scale.unit);
        part(title.trim_end_matches(", ").to_owned(), plot::histogram(&self.histogram, &scale, style));
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        if let Some(cut) = &self.cut {
            let with =
                if cut.amount.is_nan() { String::new() } else { format!(" with {}", shown(cut.amount)) };
            faint(format!(" {} more{with} are not in the plots (--limit)", cut.rows));
        }
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let id = &self.metric.id;
        let heads = ["handle", "process", "rank", "thread", "name"].map(str::to_owned);
        let numbers = [format!("{id} inclusive"), format!("{id} exclusive")];
        let mut rows = vec![heads.into_iter().chain(numbers).collect()];
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        rows.extend(self.locations.iter().map(|place| {
            vec![
                place.handle.clone(),
                number(place.process),
                number(place.rank),
                number(place.thread),
                place.name.clone(),
                exact(place.inclusive),
                exact(place.exclusive),
            ]
        }));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;

    #[test]
    fn statistics_of_few_numbers() {
        let of = Statistics::of(&[4.0, 0.0, 2.0, 10.0]);
        assert_eq!((of.count, of.sum, of.mean, of.median), (4, 16.0, 4.0, 3.0));
        assert_eq!((of.min, of.max, of.imbalance, of.stddev), (0.0, 10.0, 6.0, 14f64.sqrt()));
        assert_eq!(Statistics::of(&[]).median, 0.0);
        assert_eq!(Statistics::of(&[5.0]).median, 5.0);
    }
}
