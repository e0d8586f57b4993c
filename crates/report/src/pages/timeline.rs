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
//! it; with `--depth N`, the function at that depth of the call path. Sums of the stored timelines answer
//! that, so that spans are read for JSON and CSV only. JSON with `--depth` has `depth`, `functions` and the
//! `path` of each span, as handles of its functions from the outermost call on.

mod depth;
mod json;
mod spans;
mod strips;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use proust_account::ledger::Windows;
use proust_account::stored::{BinsIn, StoredTimelines};
use proust_profile::{ContextId, FunctionId, LocationId, Metric};
use proust_query::{Handle, Selection};
use proust_words::counted;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use depth::{Depth, OTHERS};
use spans::{SpanRow, letter, meaning, state_of};
use strips::{Part, Strips, Sums, active_s, most};
use unicode_width::UnicodeWidthStr;

use super::facts::seconds;
use super::locations::{Seconds, accounts_of, passive_of, unexplained};
use super::{Cut, Page, heading, no_arguments, scope};
use crate::error::ReportError;
use crate::number::{exact, fixed, percent, sum};
use crate::question::{Format, Question, Sort};
use crate::shorten::middle;
use crate::style::{Paint, Style};
use crate::table::printable;
use crate::wording::Notes;
use crate::wrap::legend;

/// Lines of text when nothing else is asked for.
const ROWS: usize = 40;
/// Names of functions get no wider than this.
const NAME: usize = 48;
/// The strip of a location never gets narrower than this.
const NARROWEST: usize = 20;

/// The page. Spans are read while it is written: there may be more than memory holds.
pub(super) struct Timeline<'s> {
    selection: &'s Selection<'s>,
    stored: &'s StoredTimelines,
    windows: Windows,
    start_s: f64,
    end_s: f64,
    locations: Vec<LocationRow>,
    /// The functions at the depth that is asked for, in place of the states.
    functions: Option<Depth>,
    cut: Option<Cut>,
    notes: Notes,
    scope: String,
}

#[derive(Debug, Serialize, JsonSchema)]
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
    /// All its time in scope, and in the cells of the picture; for text alone.
    #[serde(skip)]
    sums: Sums,
    #[serde(skip)]
    cells: Vec<Option<Part>>,
    /// What its spans are executed in, where paths are asked for.
    #[serde(skip)]
    contexts: BTreeSet<ContextId>,
    #[serde(skip)]
    id: LocationId,
}

impl<'s> Timeline<'s> {
    pub fn build(
        selection: &'s Selection<'s>,
        question: &Question,
        stored: &'s StoredTimelines,
        style: &Style,
    ) -> Result<Timeline<'s>, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let is_text = question.format == Format::Text;
        let windows = question.filter.windows().unwrap_or_else(Windows::all);
        let mut functions = question.depth.map(|depth| Depth::new(profile, depth.get()));
        let strips = Strips { selection, stored, windows: &windows, depth: functions.as_ref() };
        let times = selection.times_of_locations();
        let mut cpu_ns = vec![0; profile.locations.len()];
        for value in selection.values().iter().filter(|value| value.metric == Metric::Cpu) {
            cpu_ns[value.location.index()] += value.amount;
        }
        let row = |&id: &LocationId| {
            let location = &profile.locations[id];
            let process = &profile.processes[location.process];
            let sums = if is_text { strips.sums(id) } else { Sums::new() };
            let (mut is_shown, mut of_spans_s) = (!sums.is_empty(), 0.0);
            let mut contexts = BTreeSet::new();
            if !is_text {
                strips.for_each_span(id, |span| {
                    is_shown = true;
                    if span.account.is_some() {
                        of_spans_s += span.length_s();
                    }
                    if strips.depth.is_some() {
                        contexts.insert(span.context);
                    }
                });
            }
            let (accounts, passive) = &times[id.index()];
            is_shown.then(|| LocationRow {
                handle: Handle::Location(id).to_string(),
                process: process.pid,
                rank: process.rank,
                thread: location.tid,
                name: location.name.clone(),
                start_s: location.start.as_seconds(),
                end_s: location.end.as_seconds(),
                cpu_s: seconds(cpu_ns[id.index()]),
                active_s: if is_text { active_s(&sums) } else { of_spans_s },
                accounts: accounts_of(accounts),
                passive: passive_of(passive),
                sums,
                cells: Vec::new(),
                contexts,
                id,
            })
        };
        let mut locations: Vec<LocationRow> = selection.locations().par_iter().filter_map(row).collect();
        match &question.sort {
            Some(Sort::Name) => locations.sort_by(|a, b| (&a.name, a.thread).cmp(&(&b.name, b.thread))),
            Some(_) => locations.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s).then(a.thread.cmp(&b.thread))),
            None => {}
        }
        let limit = question.limit.or(is_text.then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < locations.len()) {
            let hidden = locations.split_off(limit);
            cut = Some(Cut { rows: hidden.len(), amount: sum(hidden.iter().map(|row| row.cpu_s)) });
        }
        let life_ns = profile.facts.wall.unsigned();
        let shown = windows.as_slice();
        let start_ns = shown.first().map_or(0, |window| window.start_ns.min(life_ns));
        let end_ns = shown.last().map_or(start_ns, |window| window.end_ns.min(life_ns)).max(start_ns);
        if is_text {
            let count = Sides::of(&locations, style).strip;
            let width_ns = (end_ns - start_ns).div_ceil(count as u64).max(1);
            let cells = BinsIn { begin_ns: start_ns, width_ns, count };
            // So much of a cell may be another one's, since the width is of whole nanoseconds.
            let rounding_s = seconds(count as u64);
            locations.par_iter_mut().for_each(|row| {
                let cells = strips.cells(row.id, cells);
                row.cells = cells.iter().map(|sums| most(sums, rounding_s)).collect();
            });
        }
        if let Some(depth) = &mut functions {
            if is_text {
                depth.give_letters(profile, &active_by_function(&locations));
            } else {
                let contexts = locations.iter().flat_map(|row| &row.contexts).copied().collect();
                depth.give_paths(profile, contexts);
            }
        }
        Ok(Timeline {
            selection,
            stored,
            windows,
            start_s: seconds(start_ns),
            end_s: seconds(end_ns),
            functions,
            locations,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
        })
    }

    /// Gives the spans of a location to `take`, with their paths where these are asked for.
    fn each_span<E>(
        &self,
        row: &LocationRow,
        mut take: impl FnMut(&SpanRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Timeline { selection, stored, windows, .. } = self;
        let strips = Strips { selection, stored, windows, depth: self.functions.as_ref() };
        strips.each_span(row.id, |mut span| {
            span.path = self.functions.as_ref().map(|depth| depth.path(span.context));
            take(&span)
        })
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
                    for (part, seconds) in &row.sums {
                        *sums.entry(*part).or_default() += seconds;
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

/// How wide the columns of the picture are.
struct Sides {
    handle: usize,
    name: usize,
    /// All that stands before the strip.
    before: usize,
    strip: usize,
}

impl Sides {
    fn of(rows: &[LocationRow], style: &Style) -> Sides {
        let handle = rows.iter().map(|row| row.handle.width()).max().unwrap_or(0);
        let name = rows.iter().map(|row| shown_name(&row.name, style).width()).max().unwrap_or(0);
        let before = 1 + handle + 2 + name + 2 + 5 + 2;
        Sides { handle, name, before, strip: style.width.saturating_sub(before).max(NARROWEST) }
    }
}

fn shown_name(name: &str, style: &Style) -> String {
    middle(&printable(name.to_owned()), (style.width / 5).max(8), style.unicode)
}

/// The active seconds of the functions at the depth.
fn active_by_function(rows: &[LocationRow]) -> BTreeMap<FunctionId, f64> {
    let mut active_s = BTreeMap::new();
    for (part, seconds) in rows.iter().flat_map(|row| &row.sums) {
        if let Part::Function(Some(function)) = part {
            *active_s.entry(*function).or_default() += seconds;
        }
    }
    active_s
}

/// One, two or five times a power of ten, so that labels of a dozen characters have room.
fn step(range_s: f64, width: usize) -> f64 {
    let least = range_s.max(1e-9) / (width as f64 / 12.0).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|n| n * power).find(|&step| step >= least).unwrap_or(10.0 * power)
}

impl Page for Timeline<'_> {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Timeline", &self.scope);
        if self.locations.is_empty() {
            text.push_str(" no threads here\n");
            return text;
        }
        let Sides { handle, name, before, strip: width } = Sides::of(&self.locations, style);
        let [labels, marks] = self.axis(width);
        let head = |left: &str, right: &str| {
            let left = format!("{left:before$}");
            style.paint(Paint::Faint, &format!("{left}{right}")).trim_end().to_owned() + "\n"
        };
        text.push_str(&head("", &labels));
        text.push_str(&head(&format!("{:>1$}", "CPU %", before - 2), &marks));
        let mut used: Vec<Part> = Vec::new();
        for row in &self.locations {
            let share = percent(row.cpu_s, row.sums.values().sum());
            let shown = shown_name(&row.name, style);
            let handle = style.paint(Paint::Faint, &format!("{:handle$}", row.handle));
            text.push_str(&format!(" {handle}  {shown:name$}  {share:>5}  "));
            let mut strip = String::new();
            for run in row.cells.chunk_by(|a, b| a == b) {
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
        let mut faint = |line: String| text.push_str(&legend(&line, style));
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
        let mut rows = Vec::new();
        let take = &mut |row| {
            rows.push(row);
            Ok(())
        };
        self.each_row(take).expect("memory takes everything");
        rows
    }

    fn each_row(&self, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
        let mut heads =
            vec!["handle", "process", "thread", "start_s", "end_s", "state", "account", "passive", "context"];
        heads.extend(self.functions.as_ref().map(|_| "function"));
        take(heads.into_iter().map(str::to_owned).collect())?;
        for location in &self.locations {
            self.each_span(location, |span| {
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
                let name =
                    |depth: &Depth| depth.function(span.context).map_or("", |id| depth.name(id)).to_owned();
                fields.extend(self.functions.as_ref().map(name));
                take(fields)
            })?;
        }
        Ok(())
    }
}
