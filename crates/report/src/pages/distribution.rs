//! The page `tree --over locations`: one context, and how much of a measure each location has of it.
//!
//! Text shows the amounts three times: by number of the location, sorted, and as a histogram. Locations
//! without an amount count with zero, as in the statistics of columns: what one thread of many runs is as
//! unbalanced as can be.

mod plot;

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, Profile};
use proust_query::{Handle, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::tree::{name, root};
use super::{Cut, Page, heading, scope};
use crate::choice::Chosen;
use crate::column::{ColumnHead, Over};
use crate::error::ReportError;
use crate::number::{Scale, exact, percent, sum};
use crate::question::{Across, Question, Sort};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::wording::Notes;

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
    /// In the order of their numbers, or as sorted.
    locations: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
}

/// Of the inclusive amounts of all, those included that a limit leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Statistics {
    count: usize,
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

/// A thread, or a process.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Place {
    handle: String,
    process: u32,
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u32>,
    name: String,
    inclusive: f64,
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

/// The places in the order of their numbers: threads as they are numbered, processes by rank.
fn places(profile: &Profile, over: Across, amounts: &BTreeMap<LocationId, [f64; 2]>) -> Vec<Place> {
    let place = |(&id, &[inclusive, exclusive]): (&LocationId, &[f64; 2])| {
        let location = &profile.locations[id];
        let process = &profile.processes[location.process];
        Place {
            handle: Handle::Location(id).to_string(),
            process: process.pid,
            rank: process.rank,
            thread: Some(location.tid),
            name: location.name.clone(),
            inclusive,
            exclusive,
        }
    };
    if over == Across::Locations {
        return amounts.iter().map(place).collect();
    }
    let mut processes = BTreeMap::new();
    for (id, amount) in amounts {
        let process = profile.locations[*id].process;
        let rank = profile.processes[process].rank;
        let sums = processes.entry((rank.is_none(), rank, process)).or_insert((*id, [0.0; 2]));
        (0..2).for_each(|n| sums.1[n] += amount[n]);
    }
    let one = |((_, _, process), (location, amount))| Place {
        handle: Handle::Process(process).to_string(),
        thread: None,
        ..place((&location, &amount))
    };
    processes.into_iter().map(one).collect()
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
        let column = match &chosen.columns[..] {
            [column] if chosen.given && column.over == Over::Sum => *column,
            _ if chosen.given => {
                return Err(ReportError::Usage(
                    "--over shows one metric, and the sum of each location: --metrics cpu_s for instance"
                        .into(),
                ));
            }
            _ => crate::column::Column::sum(chosen.lead()),
        };
        let own = selection.forest().exclusive_of(root);
        let mut amounts: BTreeMap<LocationId, [f64; 2]> =
            selection.compute_locations().into_iter().map(|id| (id, [0.0; 2])).collect();
        let forest = selection.forest();
        selection.each(column.measure, |context, location, amount| {
            let sums = amounts.entry(location).or_default();
            sums[0] += amount;
            if context == root || forest.exclusive_of(context) == own {
                sums[1] += amount;
            }
        });
        let mut locations = places(profile, over, &amounts);
        let inclusive: Vec<f64> = locations.iter().map(|place| place.inclusive).collect();
        match question.sort {
            Some(Sort::Name) => locations.sort_by(|a, b| a.name.cmp(&b.name)),
            Some(_) => locations.sort_by(|a, b| b.inclusive.total_cmp(&a.inclusive)),
            None => {}
        }
        let mut cut = None;
        if let Some(limit) = question.limit.filter(|&limit| limit < locations.len()) {
            let hidden = locations.split_off(limit);
            cut = Some(Cut { rows: hidden.len(), amount: sum(hidden.iter().map(|place| place.inclusive)) });
        }
        Ok(Distribution {
            schema: SCHEMA,
            context: root,
            name: name(profile, root),
            over,
            metric: column.head(),
            statistics: Statistics::of(&inclusive),
            locations,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(&selection, question),
        })
    }

    fn places_are(&self) -> &'static str {
        match self.over {
            Across::Locations => "thread",
            Across::Processes => "process",
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
        let scale = Scale::of(self.metric.unit, [of.max]);
        let number = |amount: f64| if amount == 0.0 { "0".into() } else { scale.show(amount) };
        let shown = |amount: f64| format!("{} {}", number(amount), scale.unit).trim_end().to_owned();
        text.push_str(&format!(
            " {}: sum {}, mean {}, median {}, from {} to {}, standard deviation {}\n",
            match self.over {
                Across::Locations => counted(of.count, "thread"),
                Across::Processes => format!("{} process{}", of.count, if of.count == 1 { "" } else { "es" }),
            },
            shown(of.sum),
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
        let amounts: Vec<f64> = self.locations.iter().map(|place| place.inclusive).collect();
        let last = self.locations.last().unwrap_or(first);
        let mut part = |title: String, plot: String| {
            text.push_str(&format!("\n{}\n{plot}", style.paint(Paint::Strong, &title)));
        };
        part(
            format!("By number, from {} to {}", first.handle, last.handle),
            plot::bars(&amounts, &scale, style),
        );
        let mut sorted = amounts.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        part("Sorted, the largest first".into(), plot::bars(&sorted, &scale, style));
        part(format!("How many have how much, {}", scale.unit), plot::histogram(&amounts, &scale, style));
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        if let Some(cut) = &self.cut {
            faint(format!(" {} more with {} are not in the plots (--limit)", cut.rows, shown(cut.amount)));
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
                place.process.to_string(),
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
