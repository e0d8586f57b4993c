//! The page `timeline`: the states of every location over time.
//!
//! JSON: `{"schema":1,"start_s":…,"end_s":…,"locations":[…],"notes":[…]}`, times in seconds since the run's
//! start. A location is
//! `{"handle","process","rank","thread","name","start_s","end_s","cpu_s","active_s","accounts":{account:
//! seconds},"passive":{reason: seconds},"spans":[…]}`; all seconds are those in scope. A span is
//!
//! ```text
//! {"start_s":…,"end_s":…,"state":"working|waiting|polling|passive","account":id|null,"passive":reason|null,
//!  "context":id,"parts":{id: seconds}}
//! ```
//!
//! `account` is that of an active span, `passive` the reason of a passive one. `parts` are the seconds of an
//! active span that belong to other accounts, without a place inside it: the time in Proust's handlers, page
//! faults, and `queued`, runnable without a processor, which is `oversubscribed` or `preempted` in the
//! ledger. Spans are in time order without overlap; those that touch and are equal but for their times and
//! parts are one. Between them the location was not alive, outside the range of time that is asked for, or
//! outside the functions that are. `--limit` is the number of locations. Unexplained time between two samples
//! is blocked time first and CPU time last: a border between the two is known to one sample only.
//!
//! Text has a line for each location, and in it a cell for each stretch of time: the state that takes most of
//! it; with `--depth N`, the function at that depth of the call path. JSON then has `depth`, `functions` and
//! the `path` of each span, as handles of its functions from the outermost call on.

mod depth;
mod spans;

use std::collections::BTreeMap;

use proust_account::ledger::Windows;
use proust_account::timelines::timelines;
use proust_profile::{FunctionId, LocationId, Metric};
use proust_query::{Handle, Selection};
use proust_words::counted;
use serde::Serialize;

use depth::{Depth, OTHERS};
use spans::{SpanRow, letter, meaning, paint, spans_within, state_of};
use unicode_width::UnicodeWidthStr;

use super::facts::seconds;
use super::locations::{Seconds, accounts_of, passive_of, unexplained};
use super::{Cut, Page, heading, no_arguments, scope};
use crate::error::ReportError;
use crate::number::{exact, fixed, percent, sum};
use crate::question::{Format, Question, Sort};
use crate::schema::SCHEMA;
use crate::shorten::middle;
use crate::style::{Paint, Style};
use crate::table::printable;
use crate::wording::Notes;

/// Lines of text when nothing else is asked for.
const ROWS: usize = 40;
/// Names of functions get no wider than this.
const NAME: usize = 48;
/// The strip of a location never gets narrower than this.
const NARROWEST: usize = 20;

#[derive(Debug, Serialize)]
pub(super) struct Timeline {
    schema: u32,
    start_s: f64,
    end_s: f64,
    locations: Vec<LocationRow>,
    /// The functions at the depth that is asked for, in place of the states.
    #[serde(flatten)]
    functions: Option<Depth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
}

/// What a letter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// An account, or a passive reason.
    State(&'static str),
    /// The function at the depth that is asked for; none where it is not known.
    Function(Option<FunctionId>),
    /// Passive time, where letters stand for functions.
    Passive,
}

impl Part {
    fn paint(self) -> Paint {
        match self {
            Part::State(id) => paint(id),
            Part::Function(_) => Paint::Plain,
            Part::Passive => Paint::Faint,
        }
    }
}

#[derive(Debug, Serialize)]
struct LocationRow {
    handle: String,
    process: u32,
    rank: Option<u32>,
    thread: u32,
    name: String,
    start_s: f64,
    end_s: f64,
    cpu_s: f64,
    active_s: f64,
    accounts: Seconds,
    passive: Seconds,
    spans: Vec<SpanRow>,
}

impl Timeline {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Timeline, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let windows = question.filter.windows().unwrap_or_else(Windows::all);
        let run = timelines(profile);
        let times = selection.times_of_locations();
        let mut cpu_s = vec![0.0; profile.locations.len()];
        for value in selection.values().iter().filter(|value| value.metric == Metric::Cpu) {
            cpu_s[value.location.index()] += value.amount;
        }
        let in_scope = |id: LocationId| selection.locations().binary_search(&id).is_ok();
        let mut locations: Vec<LocationRow> = run
            .timelines
            .iter()
            .filter(|timeline| in_scope(timeline.location))
            .map(|timeline| {
                let location = &profile.locations[timeline.location];
                let process = &profile.processes[location.process];
                let spans = timeline.spans.iter().filter(|span| {
                    selection.has_context(span.context)
                        && selection.has_state(timeline.location, span.context, span.state)
                });
                let spans = spans_within(spans, &windows);
                let active = spans.iter().filter(|span| span.account.is_some());
                let (accounts, passive) = &times[timeline.location.index()];
                LocationRow {
                    handle: Handle::Location(timeline.location).to_string(),
                    process: process.pid,
                    rank: process.rank,
                    thread: location.tid,
                    name: location.name.clone(),
                    start_s: location.start_s,
                    end_s: location.end_s,
                    cpu_s: cpu_s[timeline.location.index()],
                    active_s: sum(active.map(SpanRow::length_s)),
                    accounts: accounts_of(accounts),
                    passive: passive_of(passive),
                    spans,
                }
            })
            .filter(|row| !row.spans.is_empty())
            .collect();
        match question.sort {
            Some(Sort::Name) => locations.sort_by(|a, b| (&a.name, a.thread).cmp(&(&b.name, b.thread))),
            Some(_) => locations.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s).then(a.thread.cmp(&b.thread))),
            None => {}
        }
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < locations.len()) {
            let hidden = locations.split_off(limit);
            cut = Some(Cut { rows: hidden.len(), amount: sum(hidden.iter().map(|row| row.cpu_s)) });
        }
        let life_ns = (profile.facts.wall_s * 1e9).round() as u64;
        let shown = windows.as_slice();
        let start_ns = shown.first().map_or(0, |window| window.start_ns.min(life_ns));
        let end_ns = shown.last().map_or(start_ns, |window| window.end_ns.min(life_ns)).max(start_ns);
        Ok(Timeline {
            schema: SCHEMA,
            start_s: seconds(start_ns),
            end_s: seconds(end_ns),
            functions: question.depth.map(|depth| {
                Depth::new(profile, depth.get(), locations.iter_mut().flat_map(|row| &mut row.spans))
            }),
            locations,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
        })
    }

    /// What a span's time goes to, as letters tell it apart, with the seconds.
    fn parts(&self, span: &SpanRow) -> Vec<(Part, f64)> {
        match &self.functions {
            None => span.states().map(|(id, seconds)| (Part::State(id), seconds)).collect(),
            Some(_) if span.account.is_none() => vec![(Part::Passive, span.length_s())],
            Some(depth) => vec![(Part::Function(depth.function(span)), span.length_s())],
        }
    }

    /// What takes most of each cell of a location's strip; None where there is nothing.
    fn cells(&self, row: &LocationRow, width: usize) -> Vec<Option<Part>> {
        let length_s = (self.end_s - self.start_s).max(f64::MIN_POSITIVE) / width as f64;
        let mut sums: Vec<BTreeMap<Part, f64>> = vec![BTreeMap::new(); width];
        for span in &row.spans {
            let cell = |at_s: f64| ((at_s - self.start_s) / length_s).max(0.0);
            let (from, to) = (cell(span.start_s), cell(span.end_s).min(width as f64));
            let touched = from as usize..(to.ceil() as usize).min(width);
            let parts = self.parts(span);
            for (n, sums) in touched.clone().zip(sums.get_mut(touched).into_iter().flatten()) {
                let overlap = (to.min(n as f64 + 1.0) - from.max(n as f64)).max(0.0);
                let share = overlap * length_s / span.length_s().max(f64::MIN_POSITIVE);
                for (part, seconds) in &parts {
                    *sums.entry(*part).or_default() += seconds * share;
                }
            }
        }
        let dominant = |sums: BTreeMap<Part, f64>| {
            sums.into_iter().filter(|(_, s)| *s > 0.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id)
        };
        sums.into_iter().map(dominant).collect()
    }

    fn letter(&self, part: Part) -> char {
        match (part, &self.functions) {
            (Part::State(id), _) => letter(id),
            (Part::Function(function), Some(depth)) => depth.letter(function),
            (Part::Function(_), None) => OTHERS,
            (Part::Passive, _) => '.',
        }
    }

    /// How much there is of each part in all, in seconds.
    fn sums(&self) -> BTreeMap<Part, f64> {
        let mut sums: BTreeMap<Part, f64> = BTreeMap::new();
        for row in &self.locations {
            match self.functions {
                None => {
                    for (id, seconds) in row.accounts.iter().chain(&row.passive) {
                        *sums.entry(Part::State(state_of(id))).or_default() += seconds;
                    }
                }
                Some(_) => {
                    for (part, seconds) in row.spans.iter().flat_map(|span| self.parts(span)) {
                        *sums.entry(part).or_default() += seconds;
                    }
                }
            }
        }
        sums
    }

    /// What the letters mean, and how much there is of each in all, those included that never took most of a
    /// cell.
    fn legend(&self, used: &[Part], style: &Style) -> String {
        let mut sums = self.sums();
        for part in used {
            sums.entry(*part).or_default();
        }
        let total = sum(sums.values().copied());
        // Functions without a letter of their own have one line together.
        let (others, mut shown): (Vec<_>, Vec<_>) =
            sums.into_iter().partition(|(part, _)| self.letter(*part) == OTHERS);
        shown.retain(|(part, seconds)| used.contains(part) || *seconds >= 0.001 * total);
        shown.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut terms: Vec<(char, String, f64, Paint)> = shown
            .into_iter()
            .map(|(part, seconds)| (self.letter(part), self.meaning(part, style), seconds, part.paint()))
            .collect();
        if !others.is_empty() {
            let seconds = sum(others.iter().map(|(_, seconds)| *seconds));
            terms.push((OTHERS, counted(others.len(), "other function"), seconds, Paint::Plain));
        }
        let terms = terms.into_iter().map(|(letter, meaning, seconds, paint)| {
            let text = format!("{letter} {meaning} {}", crate::duration(seconds));
            let letter = letter.to_string();
            (text.width(), text.replacen(&letter, &style.paint(paint, &letter), 1))
        });
        let (mut legend, mut width) = (String::new(), 0);
        for (length, term) in terms {
            if width > 0 && width + 3 + length > style.width {
                legend.push('\n');
                width = 0;
            }
            legend.push_str(if width == 0 { " " } else { "   " });
            width += length + if width == 0 { 1 } else { 3 };
            legend.push_str(&term);
        }
        legend + "\n"
    }

    /// What the legend calls a part.
    fn meaning(&self, part: Part, style: &Style) -> String {
        match (part, &self.functions) {
            (Part::State(id), _) => meaning(id).to_owned(),
            (Part::Function(Some(function)), Some(depth)) => {
                middle(&printable(depth.name(function).to_owned()), NAME, style.unicode)
            }
            (Part::Function(_), _) => "function not known".to_owned(),
            (Part::Passive, _) => "passive".to_owned(),
        }
    }

    /// Round instants above the strip, and marks where they are.
    fn axis(&self, width: usize) -> [String; 2] {
        let (mut labels, mut marks) = (vec![' '; width], vec!['-'; width]);
        let range_s = self.end_s - self.start_s;
        let step_s = step(range_s, width);
        let decimals = (-step_s.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.start_s / step_s).ceil() as u64;
        let mut free = 0;
        for n in first.. {
            let time_s = n as f64 * step_s;
            let at =
                ((time_s - self.start_s) / range_s.max(f64::MIN_POSITIVE) * width as f64).round() as usize;
            if at >= width || range_s <= 0.0 {
                break;
            }
            marks[at] = '+';
            let label = fixed(time_s, decimals) + " s";
            if at >= free && at + label.len() <= width {
                label.chars().enumerate().for_each(|(n, c)| labels[at + n] = c);
                free = at + label.len() + 2;
            }
        }
        [labels, marks].map(|line| line.into_iter().collect())
    }
}

/// One, two or five times a power of ten, so that labels of a dozen characters have room.
fn step(range_s: f64, width: usize) -> f64 {
    let least = range_s.max(1e-9) / (width as f64 / 12.0).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|n| n * power).find(|&step| step >= least).unwrap_or(10.0 * power)
}

impl Page for Timeline {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Timeline", &self.scope);
        if self.locations.is_empty() {
            text.push_str(" no threads here\n");
            return text;
        }
        let longest =
            |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text.width()).max().unwrap_or(0);
        let names = (style.width / 5).max(8);
        let handle = longest(&mut self.locations.iter().map(|row| row.handle.clone()));
        let shown = |name: &str| middle(&printable(name.to_owned()), names, style.unicode);
        let name = longest(&mut self.locations.iter().map(|row| shown(&row.name)));
        let before = 1 + handle + 2 + name + 2 + 5 + 2;
        let width = style.width.saturating_sub(before).max(NARROWEST);
        let [labels, marks] = self.axis(width);
        let head = |left: &str, right: &str| {
            let left = format!("{left:before$}");
            style.paint(Paint::Faint, &format!("{left}{right}")).trim_end().to_owned() + "\n"
        };
        text.push_str(&head("", &labels));
        text.push_str(&head(&format!("{:>1$}", "CPU %", before - 2), &marks));
        let mut used: Vec<Part> = Vec::new();
        for row in &self.locations {
            let alive_s = row.spans.iter().map(SpanRow::length_s).sum();
            let share = percent(row.cpu_s, alive_s);
            let shown = shown(&row.name);
            let handle = style.paint(Paint::Faint, &format!("{:handle$}", row.handle));
            text.push_str(&format!(" {handle}  {shown:name$}  {share:>5}  "));
            let cells = self.cells(row, width);
            let mut strip = String::new();
            for run in cells.chunk_by(|a, b| a == b) {
                match run[0] {
                    None => strip.push_str(&" ".repeat(run.len())),
                    Some(part) => {
                        let letters = self.letter(part).to_string().repeat(run.len());
                        strip.push_str(&style.paint(part.paint(), &letters));
                        if !used.contains(&part) {
                            used.push(part);
                        }
                    }
                }
            }
            text.push_str(strip.trim_end());
            text.push('\n');
        }
        text.push_str(&self.legend(&used, style));
        let cell_s = (self.end_s - self.start_s) / width as f64;
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        let cell = crate::duration(cell_s);
        faint(match &self.functions {
            None => format!(
                " A letter stands for {cell}: what took most of it. Upper case is active, lower case and \
                 dots passive."
            ),
            Some(depth) => format!(
                " A letter stands for {cell}: the function at depth {} of the call path that took most of \
                 it.",
                depth.number()
            ),
        });
        if let Some(cut) = &self.cut {
            let seconds = crate::duration(cut.amount);
            faint(format!(
                " {} with {seconds} of CPU time (--limit {}, or --sort cpu_s)",
                counted(cut.rows, "more thread"),
                self.locations.len() + cut.rows
            ));
        }
        text.push_str(&self.notes.lines(style));
        text + &unexplained(self.locations.iter().map(|row| (row.end_s - row.start_s, &row.passive)), style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut heads =
            vec!["handle", "process", "thread", "start_s", "end_s", "state", "account", "passive", "context"];
        heads.extend(self.functions.as_ref().map(|_| "function"));
        let mut rows = vec![heads.into_iter().map(str::to_owned).collect()];
        for location in &self.locations {
            rows.extend(location.spans.iter().map(|span| {
                let mut fields = vec![
                    location.handle.clone(),
                    location.process.to_string(),
                    location.thread.to_string(),
                    exact(span.start_s),
                    exact(span.end_s),
                    span.state.to_owned(),
                    span.account.unwrap_or_default().to_owned(),
                    span.passive.unwrap_or_default().to_owned(),
                    span.context.to_string(),
                ];
                let name = |depth: &Depth| depth.function(span).map_or("", |id| depth.name(id)).to_owned();
                fields.extend(self.functions.as_ref().map(name));
                fields
            }));
        }
        rows
    }
}
