//! The page `intervals`: the intervals that the program marks, as a tree, with the account of the time in
//! each.
//!
//! JSON: `{"schema":1,"intervals":[…],"critical":[positions],"notes":[…]}`; the first entry is the whole run,
//! at level 0. `critical` leads to the critical part: at each level the interval that loses most, while that
//! is half of what the one around it loses. An interval is
//! `{"handle","parent":position|null,"level","name","id":n|null,"file","line","kind":"SEQ"|"PAR"|"COMB",
//! "work":"plain"|"parallel"|"replicated","degree":n|null,"executions","recorded","unmarked","iterations",
//! "execution_s","min_s","mean_s","max_s","wall_s","processors","alone","ranks","total_s","productive_s",
//! "lost_s","efficiency":…|null,"beyond_s","accounts":{account: seconds},"comparative":{account:
//! {"min_s","min_at","max_s","max_at","mean_s"}},"caused":{…}|null,"dvm":{…}|null,"locations":[…]}`; `dvm` is
//! described in [`characteristics`], `caused` in [`causes`]. `accounts` sum to `total_s`.
//!
//! With `--intervals`, `places` has parallel regions, operations and functions as [`places`] describes them.
//!
//! Where runs on one processor are given each has `one_processor` ([`one_processor`]), too.
//!
//! `execution_s` is that of the location that takes longest; `min_s`, `mean_s` and `max_s` are of single
//! executions. `alone`: several threads of a process execute it at once, and each counts for itself; then
//! there are no slots, `processors` is 0 and `total_s` is what these threads were active. `recorded` is less
//! than `executions` where a thread marks so often that only every n-th is recorded alone: their number and
//! times are exact, the account is that of the recorded ones in proportion. `unmarked` executions were ended
//! by another mark, or by the end of their thread. A location is `{"handle","process","rank","thread","name",
//! "executions","begin_s","end_s","time_s","min_s","max_s","iterations","active_s","passive_s","accounts":
//! {account: seconds},"passive":{reason: seconds}}`; a location with 0 executions is another thread of a
//! process that executes it, and what it did meanwhile. `min_at` and `max_at` are handles of locations.

use std::collections::BTreeMap;

use proust_account::blame::Blame;
use proust_account::ledger::{Accounts, IoAs, Ledger, PassiveTimes, Windows};
use proust_profile::{IntervalId, LocationId, Profile};
use proust_query::characteristics::Characterised;
use proust_query::intervals::{self, IntervalNode, OfLocation, Wanted};
use proust_query::{Handle, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::account::Drawn;
use super::facts::seconds;
use super::locations::{Seconds, accounts_of};
use super::{Cut, Page, base_name};
use crate::error::ReportError;
use crate::question::{Classic, Format, IntervalsOf, Layout, Question};
use crate::references::{Paths, References};
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::{Notes, PageNote};
use causes::Caused;
use characteristics::{Dvm, threads_of};
use locations::{Comparative, LocationRow, comparative, scaled};
use notes::{notes_about, notes_of_marks};
use one_processor::OneProcessor;
use places::PlaceRow;

mod advice;
mod causes;
mod characteristics;
mod classic;
mod csv;
mod locations;
mod notes;
mod one_processor;
mod places;
mod text;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 60;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct IntervalsPage {
    schema: u32,
    intervals: Vec<Row>,
    /// Positions, from the outermost inwards: at each level the one that loses most.
    critical: Vec<usize>,
    /// Regions, operations and functions, where these are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<PlaceRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_places: Option<Cut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    /// Whether it is about one interval: its text has the threads, too.
    #[serde(skip)]
    is_one: bool,
    #[serde(skip)]
    is_without_marks: bool,
    #[serde(skip)]
    references: References,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    handle: String,
    parent: Option<usize>,
    level: usize,
    name: String,
    id: Option<i64>,
    file: Option<String>,
    line: Option<u32>,
    kind: &'static str,
    work: &'static str,
    degree: Option<u32>,
    executions: u64,
    recorded: u64,
    unmarked: u64,
    iterations: u64,
    execution_s: f64,
    min_s: f64,
    mean_s: f64,
    max_s: f64,
    wall_s: f64,
    processors: u32,
    alone: bool,
    ranks: usize,
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    efficiency: Option<f64>,
    beyond_s: f64,
    accounts: Seconds,
    comparative: BTreeMap<&'static str, Comparative>,
    caused: Option<Caused>,
    dvm: Option<Dvm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_processor: Option<OneProcessor>,
    locations: Vec<LocationRow>,
    #[serde(skip)]
    label: String,
    /// None = the whole run.
    #[serde(skip)]
    id_in_profile: Option<IntervalId>,
    #[serde(skip)]
    characterised: Option<Characterised>,
    /// The threads of each processor, in words.
    #[serde(skip)]
    threads: Vec<String>,
}

impl IntervalsPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
        kept: Option<&Blame>,
    ) -> Result<IntervalsPage, ReportError> {
        let profile = selection.profile();
        let wanted = match &question.arguments[..] {
            [] => None,
            [word] => Some(Wanted::parse(word)),
            more => {
                return Err(ReportError::Usage(format!(
                    "`intervals` takes one interval such as `solve`, `solve[3]` or `solve#2`, not `{}`",
                    more.join(" ")
                )));
            }
        };
        if let (Some(wanted), Some(word)) = (&wanted, question.arguments.first())
            && !profile.intervals.iter().any(|info| wanted.is(info))
        {
            return Err(ReportError::Usage(unknown(profile, word)));
        }
        let found = intervals::intervals(
            profile,
            &intervals::Question {
                locations: selection.locations(),
                windows: question.filter.windows().unwrap_or_else(Windows::all),
                processors: question.processors,
                wanted: wanted.clone(),
                in_scope: selection.intervals().to_vec(),
            },
        )?;
        let nodes = found.nodes.iter().map(|node| Row::of(profile, node, drawn.io));
        let mut intervals: Vec<Row> = vec![Row::of_run(selection, drawn, &found)];
        intervals.extend(nodes);
        causes::fill(&mut intervals, &found.nodes, selection, question, (drawn, kept))?;
        let mut paths = Paths::default();
        let mut path = |row: &Row| match row.id_in_profile {
            Some(id) => paths.of(profile, id),
            None => (Vec::new(), 0),
        };
        for row in &mut intervals {
            let path = path(row);
            let productive_ns = row.characterised.as_ref().map(|of| of.interval.productive_ns);
            row.one_processor =
                productive_ns.and_then(|ns| OneProcessor::of(&question.references, &path, ns));
        }
        let layout = question.classic.as_ref().map(|classic| classic.layout);
        if layout == Some(Layout::DvmMpi) && !found.is_whole_run {
            return Err(ReportError::Usage(
                "the layout dvm-mpi has nothing to show of a range of time: what is known of calls of MPI \
                 are sums over the whole run and over marked intervals. Leave out time= and sample=, or mark \
                 the part as an interval"
                    .into(),
            ));
        }
        if layout == Some(Layout::DvmMpi) && profile.ranks() == 0 {
            return Err(ReportError::Usage(
                "the layout dvm-mpi is one of ranks, and this run has none; `--format dvm` shows its threads"
                    .into(),
            ));
        }
        if !question.intervals.has(IntervalsOf::Marks) {
            intervals.truncate(1);
        }
        if let Some(level) = question.level {
            intervals.retain(|row| row.level <= level);
        }
        let lost_ns = |row: &Row| row.characterised.as_ref().map_or(0, |of| of.interval.lost_ns);
        let tree: Vec<(Option<usize>, u64)> =
            intervals.iter().map(|row| (row.parent, lost_ns(row))).collect();
        let mut critical = proust_characteristics::advice::critical(&tree);
        let mut notes = Notes::of(selection.notes());
        if let (Some(wanted), Some(word)) = (&wanted, question.arguments.first()) {
            notes.add(&wanted.notes(profile, word));
        }
        notes.add(&notes_about(&intervals));
        let has_operations = !profile.exchanges.is_empty() || !profile.segments.is_empty();
        if has_operations && !found.is_whole_run {
            notes.add(&[PageNote::OperationsOfWholeRun {}]);
        }
        if question.intervals.has(IntervalsOf::Marks) {
            notes.add(&notes_of_marks(profile));
        }
        notes.add(&one_processor::notes(&intervals, &question.references));
        let mut scope = counted(intervals.len().saturating_sub(1), "interval");
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        let mut cut = None;
        let is_text = question.format == Format::Text && question.classic.is_none();
        let limit = question.limit.or(is_text.then_some(ROWS));
        if let Some(limit) = limit.filter(|&limit| limit < intervals.len()) {
            let amount = intervals[limit..].iter().map(|row| row.total_s).fold(0.0, f64::max);
            cut = Some(Cut { rows: intervals.len() - limit, amount });
            intervals.truncate(limit);
            critical.retain(|&at| at < limit);
        }
        let (places, cut_places) = places::of(selection, question, drawn)?;
        Ok(IntervalsPage {
            schema: SCHEMA,
            intervals,
            critical,
            places,
            cut_places,
            cut,
            notes,
            scope,
            is_one: wanted.is_some(),
            references: question.references.clone(),
            is_without_marks: found.nodes.is_empty() && question.intervals == IntervalsOf::Marks,
        })
    }
}

fn unknown(profile: &Profile, word: &str) -> String {
    if profile.intervals.is_empty() {
        return format!(
            "no interval of this run matches `{word}`: the program has no marks, or none was reached; \
             the guide says how to make some (docs/pages/intervals.md)"
        );
    }
    let mut labels: Vec<String> = profile.intervals.iter().map(proust_profile::IntervalInfo::label).collect();
    labels.sort();
    labels.dedup();
    let more = if labels.len() > 8 { ", …" } else { "" };
    format!(
        "no interval of this run matches `{word}`; there are {}{more}",
        labels[..labels.len().min(8)].join(", ")
    )
}

/// Accounts, and what follows from them.
struct Sums {
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    efficiency: Option<f64>,
    accounts: Seconds,
}

impl Sums {
    fn of(accounts: &Accounts, total_ns: u64, scale: f64, io: IoAs) -> Sums {
        let ledger = Ledger { accounts: *accounts, total_ns, ..Ledger::default() };
        Sums {
            total_s: seconds(total_ns) * scale,
            productive_s: seconds(ledger.productive_ns(io)) * scale,
            lost_s: seconds(ledger.lost_ns(io)) * scale,
            efficiency: ledger.efficiency(io),
            accounts: scaled(accounts_of(accounts), scale),
        }
    }
}

impl Row {
    /// The whole run.
    fn of_run(selection: &Selection<'_>, drawn: &Drawn<'_>, found: &intervals::Intervals) -> Row {
        let profile = selection.profile();
        let ledger = drawn.ledger();
        let sums = Sums::of(&ledger.accounts, ledger.total_ns, 1.0, drawn.io);
        let is_parallel =
            !profile.regions.is_empty() || found.nodes.iter().any(|node| node.kind.id() != "SEQ");
        let locations: Vec<LocationRow> = ledger
            .locations
            .iter()
            .filter(|row| row.wall_ns > 0)
            .map(|row| {
                let of = OfLocation {
                    executions: 1,
                    time_ns: row.wall_ns,
                    min_ns: row.wall_ns,
                    max_ns: row.wall_ns,
                    begin_ns: profile.locations[row.location].start.unsigned(),
                    end_ns: profile.locations[row.location].end.unsigned(),
                    ..OfLocation::default()
                };
                LocationRow::new(profile, row.location, &of, (&row.accounts, &row.passive))
            })
            .collect();
        let wall_s = seconds(ledger.wall_ns);
        let name = profile.facts.command.first().map_or("program", |command| base_name(command));
        let (file, line) = place_of_main(profile);
        let characterised = found.run.clone();
        Row {
            handle: Handle::Context(proust_profile::ContextId::PROGRAM).to_string(),
            parent: None,
            level: 0,
            name: name.into(),
            id: None,
            file,
            line,
            kind: if is_parallel { "COMB" } else { "SEQ" },
            work: "plain",
            degree: None,
            executions: 1,
            recorded: 1,
            unmarked: 0,
            iterations: 0,
            execution_s: wall_s,
            min_s: wall_s,
            mean_s: wall_s,
            max_s: wall_s,
            wall_s,
            processors: ledger.processors,
            alone: false,
            ranks: profile.ranks(),
            total_s: sums.total_s,
            productive_s: sums.productive_s,
            lost_s: sums.lost_s,
            efficiency: sums.efficiency,
            beyond_s: seconds(ledger.beyond_ns),
            accounts: sums.accounts,
            comparative: comparative(&locations),
            caused: None,
            dvm: characterised.as_ref().map(Dvm::of),
            locations,
            label: name.into(),
            id_in_profile: None,
            one_processor: None,
            threads: threads_of(profile, characterised.as_ref()),
            characterised,
        }
    }

    fn of(profile: &Profile, node: &IntervalNode, io: IoAs) -> Row {
        let info = &profile.intervals[node.id as usize];
        let inside = &node.inside;
        let sums = Sums::of(&inside.accounts, inside.total_ns, 1.0, io);
        let nothing = (Accounts::default(), PassiveTimes::default());
        let mut all: BTreeMap<LocationId, OfLocation> = node.by_location.clone();
        if !inside.alone {
            for &location in inside.locations.keys() {
                all.entry(location).or_default();
            }
        }
        let locations: Vec<LocationRow> = all
            .iter()
            .map(|(&id, of)| {
                let (accounts, passive) = inside.locations.get(&id).unwrap_or(&nothing);
                LocationRow::new(profile, id, of, (accounts, passive))
            })
            .collect();
        let executions = node.all.executions;
        Row {
            handle: format!("i{}", node.id),
            // The run itself is the first entry.
            parent: Some(node.parent.map_or(0, |parent| parent + 1)),
            level: node.level,
            name: info.name.clone(),
            id: info.number,
            file: info.file.clone(),
            line: info.line,
            kind: node.kind.id(),
            work: info.work.id(),
            degree: info.degree,
            executions,
            recorded: node.all.recorded,
            unmarked: node.all.unmarked,
            iterations: node.all.iterations,
            execution_s: seconds(node.execution_ns),
            min_s: seconds(node.all.min_ns),
            mean_s: seconds(node.all.time_ns) / executions.max(1) as f64,
            max_s: seconds(node.all.max_ns),
            wall_s: seconds(inside.wall_ns),
            processors: inside.processors,
            alone: inside.alone,
            ranks: node.ranks.len(),
            total_s: sums.total_s,
            productive_s: sums.productive_s,
            lost_s: sums.lost_s,
            efficiency: sums.efficiency,
            beyond_s: seconds(inside.beyond_ns),
            accounts: sums.accounts,
            comparative: comparative(&locations),
            caused: None,
            dvm: node.characteristics.as_ref().map(Dvm::of),
            locations,
            label: info.label(),
            id_in_profile: Some(node.id),
            one_processor: None,
            threads: threads_of(profile, node.characteristics.as_ref()),
            characterised: node.characteristics.clone(),
        }
    }
}

/// The file and line of the program's main function.
fn place_of_main(profile: &Profile) -> (Option<String>, Option<u32>) {
    let is_main = |name: &str| ["main", "MAIN__"].contains(&name);
    let found = profile.functions.iter().find(|function| is_main(&function.name) && function.file.is_some());
    found.map_or((None, None), |function| (function.file.clone(), function.line))
}

impl Page for IntervalsPage {
    fn classic(&self, classic: &Classic) -> String {
        let mut parts = Vec::new();
        for row in &self.intervals {
            let Some(of) = &row.characterised else { continue };
            let head = classic::Head {
                file: row.file.as_deref(),
                line: row.line,
                name: &row.label,
                level: row.level,
                kind: row.kind,
                threads: &row.threads,
                one_processor: row.one_processor.as_ref(),
            };
            parts.push(match &of.mpi {
                Some(mpi) if classic.layout == Layout::DvmMpi => classic::mpi(&head, of, mpi, classic),
                _ => classic::dvm(&head, of, classic),
            });
        }
        parts.join("\n")
    }

    fn text(&self, style: &Style) -> String {
        self.as_text(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.as_rows()
    }
}
