//! The findings: as a part of the summary, as a page, and one of them with its derivation.

mod about;
mod advice;
mod circumstances;
mod figures;
mod look_next;
mod page;
mod reasons;
mod whose;
mod wording;

use std::borrow::Cow;

pub(crate) use about::about;
pub(super) use circumstances::Circumstances;
pub(super) use page::{FindingsPage, is_about};
pub(crate) use wording::{name, who};

use proust_findings::{Figure, Finding, Kind, Place, Subject, findings, thresholds};
use proust_profile::{ContextId, ContextKind, Profile};
use proust_query::Handle;
use proust_words::{count, counted};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{heading, place};
use crate::error::ReportError;
use crate::number::{bytes, duration, fixed, percent};
use crate::question::Question;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table, printable};
use crate::wrap::wrapped;

/// Numbers that the summary shows of each finding.
const NUMBERS: usize = 3;

/// A number that speaks for a finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Figure")]
struct FigureRow {
    id: &'static str,
    /// Where it is about one function, its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    /// Where it is about a marked interval, how deep that lies, and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    /// The characteristic of the interval, or the group of operations in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    what: String,
    value: f64,
    unit: &'static str,
}

impl FigureRow {
    fn new(figure: &Figure) -> FigureRow {
        let Figure { id, subject, amount } = figure;
        let (mut function, mut level, mut interval, mut of) = (None, None, None, None);
        match subject.clone() {
            Some(Subject::Function(name)) => function = Some(name),
            Some(Subject::Interval { level: at, name, of: what }) => {
                (level, interval, of) = (Some(at), Some(name), Some(what));
            }
            None => {}
        }
        FigureRow {
            id: id.id(),
            function,
            level,
            interval,
            of,
            what: figures::what(figure),
            value: amount.in_unit(),
            unit: amount.unit(),
        }
    }
}

/// A finding as in JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FindingRow {
    handle: String,
    kind: &'static str,
    account: String,
    /// The time that could be saved.
    seconds: f64,
    lost_s: f64,
    /// Wall time that following the advice may save, from and to.
    low_s: f64,
    high_s: f64,
    error_s: f64,
    title: String,
    cause: PlaceRow,
    /// Where the program waits for the end of what one thread does alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    awaited: Option<PlaceRow>,
    /// Where that thread hands over what others go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_over: Option<PlaceRow>,
    /// The marked interval in which the cause lies, where it lies in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    victims: Vec<VictimRow>,
    /// The processes that lose it.
    processes: Vec<whose::ProcessRow>,
    evidence: Vec<FigureRow>,
    /// The library it is about, where it is about one.
    library: Option<String>,
    /// Ranks of MPI that others waited for, most first; of others none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<u32>,
    advice: &'static str,
    sure: &'static str,
    why_sure: &'static str,
    formula: &'static str,
    checks: Vec<CheckRow>,
    /// Commands that show more.
    #[serde(rename = "next")]
    next: Vec<String>,
    #[serde(skip)]
    name: &'static str,
    /// In runs of several processes: whose it is.
    #[serde(skip)]
    whose: Option<String>,
    #[serde(skip)]
    why_next: Vec<&'static str>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PlaceRow {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    handle: Option<String>,
    /// Where the function is a parallel region: the one that it is written in.
    region_in: Option<String>,
    /// Where no function has a name: whose it is.
    thread: Option<String>,
    process: Option<String>,
    #[serde(skip)]
    who: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct VictimRow {
    #[serde(flatten)]
    place: PlaceRow,
    threads: usize,
    seconds: f64,
}

/// A number that was compared with a threshold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct CheckRow {
    threshold: String,
    what: &'static str,
    value: f64,
    limit: f64,
    at_least: bool,
    unit: &'static str,
}

impl PlaceRow {
    fn new(place: &Place) -> PlaceRow {
        PlaceRow {
            function: place.function.clone(),
            file: place.file.clone(),
            line: place.line,
            handle: place.context.map(|id| Handle::Context(id).to_string()),
            region_in: place.region_in.clone(),
            thread: place.thread.clone(),
            process: place.process.clone(),
            who: wording::who(place),
        }
    }

    /// What the sentence before has not said of it: `: work (a.c:7)`, `: a.c:7`, or nothing.
    fn text_behind(&self, sentence: &str) -> String {
        match place(self.file.as_deref(), self.line) {
            _ if !sentence.contains(&self.who) => format!(": {}", self.text()),
            Some(place) if !sentence.contains(&place) => format!(": {}", printable(place)),
            _ => String::new(),
        }
    }

    fn text(&self) -> String {
        printable(match place(self.file.as_deref(), self.line) {
            Some(place) => format!("{} ({place})", self.who),
            None => self.who.clone(),
        })
    }
}

impl FindingRow {
    /// `dir` as it is written in commands.
    fn new(position: usize, finding: &Finding, dir: &str) -> FindingRow {
        let mut next: Vec<(String, &'static str)> = Vec::new();
        for (page, why) in look_next::pages(finding.kind) {
            let lock = finding.lock.filter(|_| *page == "locks");
            let lock = lock.map_or_else(String::new, |id| format!(" {}", Handle::Lock(id)));
            next.push((format!("proust report {dir} {page}{lock}"), why));
        }
        if let Some(context) = finding.cause.context {
            let handle = Handle::Context(context);
            next.push((
                format!("proust report {dir} tree {handle}"),
                "the place itself, and what is below it",
            ));
        }
        let checks = finding.checks.iter().filter_map(|check| {
            let threshold = thresholds::threshold(&check.threshold)?;
            Some(CheckRow {
                threshold: check.threshold.clone(),
                what: threshold.means,
                value: check.value.in_unit(),
                limit: threshold.limit.in_unit(),
                at_least: threshold.at_least,
                unit: threshold.limit.unit(),
            })
        });
        FindingRow {
            handle: Handle::Finding(position as u32 + 1).to_string(),
            kind: finding.kind.id(),
            account: finding.account.clone(),
            seconds: finding.recoverable.as_seconds(),
            lost_s: finding.lost.as_seconds(),
            low_s: finding.low.as_seconds(),
            high_s: finding.high.as_seconds(),
            error_s: finding.error.as_seconds(),
            title: wording::title(finding),
            cause: PlaceRow::new(&finding.cause),
            awaited: finding.awaited.as_ref().map(PlaceRow::new),
            handed_over: finding.handed_over.as_ref().map(PlaceRow::new),
            victims: (finding.victims.iter())
                .map(|victim| VictimRow {
                    place: PlaceRow::new(&victim.place),
                    threads: victim.threads,
                    seconds: victim.lost.as_seconds(),
                })
                .collect(),
            evidence: finding.evidence.iter().map(FigureRow::new).collect(),
            library: finding.library.clone(),
            ranks: finding.ranks.clone(),
            advice: advice::advice(finding.kind),
            sure: finding.sure.id(),
            why_sure: reasons::why_sure(finding),
            formula: reasons::formula(finding.kind),
            checks: checks.collect(),
            why_next: next.iter().map(|(_, why)| *why).collect(),
            next: next.into_iter().map(|(command, _)| command).collect(),
            name: wording::name(finding.kind),
            interval: None,
            processes: Vec::new(),
            whose: None,
        }
    }
}

/// Findings, each with its position among all of the run, and with the marked interval in which its cause
/// lies.
pub(super) fn rows(findings: &[(usize, &Finding)], dir: &str, profile: &Profile) -> Vec<FindingRow> {
    let row = |&(position, finding): &(usize, &Finding)| {
        let interval = finding.cause.context.and_then(|id| interval_around(profile, id));
        let processes = whose::rows(profile, &finding.processes);
        let whose = whose::whose(profile, &finding.processes);
        FindingRow { interval, processes, whose, ..FindingRow::new(position, finding, dir) }
    };
    findings.iter().map(row).collect()
}

/// The innermost marked interval around a context, as it is shown and asked for.
fn interval_around(profile: &Profile, context: ContextId) -> Option<String> {
    let mut at = Some(context);
    while let Some(id) = at {
        let context = profile.contexts.get(id)?;
        if context.kind == ContextKind::Interval {
            let known = profile.interval_contexts.binary_search_by_key(&id, |place| place.context).ok()?;
            let interval = profile.interval_contexts[known].interval;
            return profile.intervals.get(interval as usize).map(proust_profile::IntervalInfo::label);
        }
        at = context.parent;
    }
    None
}

/// A number with its unit.
fn shown(value: f64, unit: &str) -> String {
    match unit {
        "s" => duration(value),
        "share" => format!("{} %", percent(value, 1.0)),
        "bytes" if value < 1024.0 => format!("{} B", fixed(value, if value < 10.0 { 1 } else { 0 })),
        "bytes" => bytes(value as u64),
        "1/s" => format!("{} a second", count(value.round() as u64)),
        _ if value < 100.0 && value.fract() > 0.004 => fixed(value, 2),
        _ => count(value.round() as u64),
    }
}

fn figure(figure: &FigureRow) -> String {
    format!("{}: {}", figure.what, shown(figure.value, figure.unit))
}

/// The findings of a run: those that are kept, or anew.
pub(super) fn found<'f>(
    profile: &Profile,
    question: &Question,
    kept: Option<&'f [Finding]>,
) -> Result<Cow<'f, [Finding]>, ReportError> {
    Ok(match kept {
        Some(kept) if question.processors.is_none() => Cow::Borrowed(kept),
        _ => Cow::Owned(findings(profile, question.processors)?.1),
    })
}

/// The part of the summary. `scope` is the part of the run that it is about.
pub(super) fn summary_text(
    rows: &[FindingRow],
    of: &Circumstances,
    scope: Option<&str>,
    dir: &str,
    style: &Style,
) -> String {
    let about = match scope {
        None => "what could be won, most first",
        Some(_) => "those of the run that concern this part; seconds are the run's",
    };
    let mut text = heading(style, "Findings", about);
    if rows.is_empty() {
        return text + &of.none_text(scope.is_some(), style) + "\n";
    }
    for row in rows {
        text.push_str(&text_of(row, of.total_s, style));
    }
    let how = format!(" How each was found: proust explain {dir} {}", rows[0].handle);
    text + &style.paint(Paint::Faint, &how) + "\n\n"
}

/// A finding in some lines.
fn text_of(row: &FindingRow, total_s: f64, style: &Style) -> String {
    const INDENT: usize = 6;
    let mut text = String::new();
    let seconds = format!("{} ({} %)", duration(row.seconds), percent(row.seconds, total_s));
    let head = format!("{:<4} {seconds}  {}, {}", row.handle, row.name, row.sure);
    let saves = format!("; saves {} to {} of wall time", duration(row.low_s), duration(row.high_s));
    let head = if row.high_s > 0.0 { head + &saves } else { head };
    let head = wrapped(&head, INDENT, style.width);
    for line in head.lines().enumerate().map(|(n, line)| if n == 0 { line.trim_start() } else { line }) {
        let margin = if line.starts_with(' ') { "" } else { " " };
        text.push_str(&(style.paint(Paint::Strong, &format!("{margin}{line}")) + "\n"));
    }
    let interval = row.interval.as_ref().map(|label| format!(", in interval {label}")).unwrap_or_default();
    let whose = row.whose.as_ref().map(|whose| format!(", in {whose}")).unwrap_or_default();
    let cause = row.cause.text_behind(&row.title);
    let mut title = printable(format!("{}{cause}{interval}{whose}.", row.title));
    if let Some(place) = &row.awaited {
        title.push_str(&format!(" Its end is awaited in {}.", place.text()));
    }
    if let Some(place) = &row.handed_over {
        title.push_str(&format!(" Others go on with what it hands over in {}.", place.text()));
    }
    text.push_str(&wrapped(&title, INDENT, style.width));
    let numbers: Vec<String> = row.evidence.iter().take(NUMBERS).map(figure).collect();
    let numbers = wrapped(&numbers.join("; "), INDENT, style.width);
    text.push_str(&style.paint(Paint::Faint, numbers.trim_end_matches('\n')));
    text.push('\n');
    text.push_str(&wrapped(row.advice, INDENT, style.width));
    text
}

/// What a kind of finding is, what to do, and how its seconds come about.
pub(crate) fn kind_text(kind: Kind, style: &Style) -> String {
    let mut text = heading(style, kind.id(), &format!("finding: {}", wording::name(kind)));
    text.push_str(&wrapped(advice::advice(kind), 0, style.width));
    text + &wrapped(&format!("{}.", reasons::formula(kind)), 0, style.width)
}

/// All thresholds.
pub(crate) fn thresholds_text(style: &Style) -> String {
    let rows = thresholds::ALL.iter().map(|threshold| {
        let side = if threshold.at_least { "at least" } else { "at most" };
        (vec![side.to_owned(), shown(threshold.limit.in_unit(), threshold.limit.unit())], threshold.means)
    });
    heading(style, "thresholds", "what findings ask for") + &explained(rows.collect(), style)
}

/// Columns of numbers, flush right, each with a sentence after it that is broken where it is too long.
fn explained(rows: Vec<(Vec<String>, &str)>, style: &Style) -> String {
    let columns = rows.first().map_or(0, |(cells, _)| cells.len());
    let width = |column: usize| rows.iter().map(|(cells, _)| cells[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let indent = widths.iter().map(|width| width + 2).sum::<usize>() + 1;
    let mut text = String::new();
    for (cells, sentence) in &rows {
        let numbers: String =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}  ")).collect();
        let sentence = wrapped(&printable((*sentence).to_owned()), indent, style.width);
        text.push_str(&format!(" {numbers}{}", sentence.trim_start()));
    }
    text
}

/// One finding with its derivation.
pub(crate) fn derivation(
    findings: &[Finding],
    number: u32,
    total_s: f64,
    dir: &str,
    style: &Style,
) -> Option<String> {
    let position = (number as usize).checked_sub(1)?;
    let row = FindingRow::new(position, findings.get(position)?, dir);
    let finding = &findings[position];
    let mut text = heading(style, &row.handle, row.name);
    text.push_str(&wrapped(&printable(format!("{}.", row.title)), 1, style.width));
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    let mut line =
        |what: &str, value: String| table.row(vec![Cell::painted(Paint::Faint, what), value.into()]);
    line("cause", row.cause.text());
    for victim in &row.victims {
        let by = counted(victim.threads, "thread");
        line("victim", format!("{}: {} in {by}", victim.place.text(), duration(victim.seconds)));
    }
    line("account", row.account.clone());
    let error = if row.error_s > 0.0 { format!(" ± {}", duration(row.error_s)) } else { String::new() };
    line("lost", format!("{}{error}", duration(row.lost_s)));
    let share = percent(row.seconds, total_s);
    line(
        "could be won",
        format!("{}, {share} % of the total of {}", duration(row.seconds), duration(total_s)),
    );
    if row.high_s > 0.0 {
        line("saves", format!("{} to {} of the wall time", duration(row.low_s), duration(row.high_s)));
    }
    text.push_str(&table.render(style));
    text.push_str(&wrapped(&format!("how sure: {}; {}.", row.sure, row.why_sure), 1, style.width));
    text.push('\n');
    text.push_str(&heading(style, "What to do", ""));
    text.push_str(&wrapped(row.advice, 1, style.width));
    text.push('\n');

    text.push_str(&heading(style, "How the seconds come about", ""));
    text.push_str(&wrapped(row.formula, 1, style.width));
    let cap = match finding.kind {
        Kind::Oversubscription => "could be won = 0",
        _ => "could be won = lost, but at most processors available × wall time − CPU time used",
    };
    let burned = if finding.burned.is_positive() {
        format!(
            "; of the CPU time {} was the loss itself and counts as free",
            duration(finding.burned.as_seconds())
        )
    } else {
        String::new()
    };
    text.push_str(&wrapped(&format!("{cap}{burned}"), 1, style.width));
    text.push('\n');

    text.push_str(&heading(style, "Numbers", ""));
    let numbers = row.evidence.iter();
    let numbers = numbers.map(|figure| (vec![shown(figure.value, figure.unit)], figure.what.as_str()));
    text.push_str(&explained(numbers.collect(), style));
    text.push('\n');

    text.push_str(&heading(style, "Thresholds", "found, limit: all of them hold"));
    let checks = row.checks.iter().map(|check| {
        let side = if check.at_least { "at least" } else { "at most" };
        (vec![shown(check.value, check.unit), side.to_owned(), shown(check.limit, check.unit)], check.what)
    });
    text.push_str(&explained(checks.collect(), style));
    text.push('\n');

    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    for (command, why) in row.next.iter().zip(&row.why_next) {
        table.row(vec![command.clone().into(), Cell::painted(Paint::Faint, *why)]);
    }
    text.push_str(&heading(style, "Look next at", ""));
    Some(text + &table.render(style))
}
