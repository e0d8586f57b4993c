//! The page `summary`: what ran, the ledger, the findings, the hottest places, the quality, and where to look
//! next.

mod hot;

use proust_account::ledger::{Account, IoAs};
use proust_findings::Finding;
use proust_profile::facts::ending;
use proust_profile::{ContextId, ContextKind, FunctionId, Metric, Ns, Unit};
use proust_query::{Amounts, Handle, OnPath, Selection, hot_path};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::account::{AccountRow, Drawn, LedgerBlock, beyond_text};
use super::facts::{QualityBlock, RunBlock, quality, seconds};
use super::findings::{Circumstances, FindingRow, found, is_about, rows, summary_text};
use super::{Page, heading, no_arguments, quality as quality_page, tree};
use crate::error::ReportError;
use crate::number::{Scale, duration, exact, fixed, percent, percents, utc};
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::shell::shell_word;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::{Notes, PageNote};
use crate::wrap::{legend, wrapped};

/// Hottest functions and lines that are listed when nothing else is asked for.
const ROWS: usize = 5;
/// The part of the total from which on it is said that other processes took it.
const OTHERS: f64 = 0.1;
/// The part of the total from which on it is said that a virtual machine's host took it.
const STOLEN: f64 = 0.01;
/// The part of the total from which on it is said that it went into loops that only wait.
const BUSY_WAITING: f64 = 0.01;
/// Frames of the hot path shown in text at its top and at its end.
const ENDS: usize = 6;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Summary {
    schema: u32,
    run: RunBlock,
    ledger: LedgerBlock,
    findings: Vec<FindingRow>,
    cpu_s: f64,
    user_s: f64,
    system_s: f64,
    hot_functions: Vec<HotFunction>,
    hot_lines: Vec<HotLine>,
    hot_path: Vec<HotContext>,
    quality: QualityBlock,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    dir: String,
    #[serde(skip)]
    scope: Option<String>,
    #[serde(skip)]
    formula: String,
    #[serde(skip)]
    io: IoAs,
    #[serde(skip)]
    circumstances: Circumstances,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HotFunction {
    handle: String,
    function: String,
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
    exclusive_s: f64,
    exclusive_error_s: f64,
    inclusive_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HotLine {
    file: String,
    line: u32,
    function: Option<String>,
    exclusive_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HotContext {
    #[schemars(with = "u32")]
    id: ContextId,
    kind: &'static str,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    inclusive_s: f64,
}

impl Summary {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
        kept: Option<&[Finding]>,
    ) -> Result<Summary, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let ledger = drawn.account();
        let limit = question.limit.unwrap_or(ROWS);
        let by_function = Amounts::by_function(selection, Metric::Cpu).shown(Unit::SECONDS);
        let errors = Amounts::errors_by_function(selection);
        let mut functions: Vec<usize> =
            (0..profile.functions.len()).filter(|&id| by_function.exclusive[id] > 0.0).collect();
        functions
            .sort_by(|&a, &b| by_function.exclusive[b].total_cmp(&by_function.exclusive[a]).then(a.cmp(&b)));
        let hot_functions = functions
            .into_iter()
            .take(limit)
            .map(|id| {
                let function = &profile.functions[FunctionId::from_index(id)];
                HotFunction {
                    handle: Handle::Function(FunctionId::from_index(id)).to_string(),
                    function: function.name.clone(),
                    file: function.file.clone(),
                    line: function.line,
                    module: function.module.map(|module| profile.modules[module].path.clone()),
                    exclusive_s: by_function.exclusive[id],
                    exclusive_error_s: errors.exclusive[id],
                    inclusive_s: by_function.inclusive[id],
                }
            })
            .collect();
        let lines = OnPath::lines(profile, selection.forest());
        let of_line = lines.amounts(selection, Metric::Cpu).shown(Unit::SECONDS);
        let functions = lines.functions(profile);
        let mut hot_lines: Vec<HotLine> = (lines.keys.iter().zip(functions).zip(of_line.exclusive))
            .filter(|(_, exclusive_s)| *exclusive_s > 0.0)
            .map(|((&(file, line), function), exclusive_s)| HotLine {
                file: file.to_owned(),
                line,
                function: function.map(|id| profile.functions[id].name.clone()),
                exclusive_s,
            })
            .collect();
        hot_lines.sort_by(|a, b| {
            let place = |line: &HotLine| (line.file.clone(), line.line);
            b.exclusive_s.total_cmp(&a.exclusive_s).then_with(|| place(a).cmp(&place(b)))
        });
        hot_lines.truncate(limit);
        let inclusive = Amounts::by_context(selection, Metric::Cpu).inclusive;
        let path = if inclusive.first().is_some_and(|&total| total > 0) {
            hot_path(selection.forest(), &inclusive, ContextId(0), 0.5)
        } else {
            Vec::new()
        };
        let hot_path = path
            .into_iter()
            .filter(|&id| profile.contexts[id].kind != ContextKind::Program)
            .map(|id| {
                let context = &profile.contexts[id];
                HotContext {
                    id,
                    kind: context.kind.id(),
                    name: tree::name(profile, id),
                    file: context.file.clone(),
                    line: context.line,
                    inclusive_s: Unit::SECONDS.shown(inclusive[id.index()]),
                }
            })
            .collect();
        let mut notes = Notes::of(selection.notes());
        let fault_s = seconds(ledger.with_beyond_ns(Account::Fault));
        if fault_s > 0.0 && fault_s >= least_shown_s(seconds(ledger.total_ns)) {
            notes.push(PageNote::FaultEstimated {});
        }
        let busy_wait_s = selection.shown_total(Metric::BusyWait);
        if busy_wait_s >= BUSY_WAITING * seconds(ledger.total_ns) && busy_wait_s > 0.0 {
            notes.push(PageNote::BusyWaiting { seconds: busy_wait_s });
        }
        // Threads beyond the processors queue, too, and others have no more than the processors.
        let preempted_s = seconds(ledger.accounts[Account::Preempted]);
        if preempted_s >= OTHERS * seconds(ledger.total_ns) && preempted_s > 0.0 {
            notes.push(PageNote::Preempted { seconds: preempted_s });
        }
        let matters = |time: &Ns| time.is_positive() && *time >= Ns::of(ledger.total_ns) * STOLEN;
        if let Some(stolen) = profile.facts.stolen.filter(matters) {
            notes.push(PageNote::Stolen { seconds: stolen.as_seconds() });
        }
        if let Some(throttled) = profile.facts.throttled.filter(matters) {
            notes.push(PageNote::Throttled { seconds: throttled.as_seconds() });
        }
        let dir = if question.dir.is_empty() { profile.facts.dir.clone() } else { question.dir.clone() };
        let found = found(profile, question, kept)?;
        // They are made of the whole run.
        let is_shown = |finding: &Finding| is_about(selection, question, finding);
        let shown: Vec<(usize, &Finding)> =
            found.iter().enumerate().filter(|(_, finding)| is_shown(finding)).collect();
        let scope = (!question.filter.is_empty()).then(|| super::scope(selection, question));
        notes.add(&drawn.notes);
        Ok(Summary {
            schema: SCHEMA,
            run: RunBlock::new(profile, drawn.processors),
            ledger: LedgerBlock::new(drawn),
            findings: rows(&shown, &shell_word(&dir), profile),
            cpu_s: selection.shown_total(Metric::Cpu),
            user_s: selection.shown_total(Metric::User),
            system_s: selection.shown_total(Metric::System),
            hot_functions,
            hot_lines,
            hot_path,
            quality: quality(selection, question, ledger),
            notes,
            dir,
            scope,
            formula: drawn.formula(profile.facts.available_processors),
            io: drawn.io,
            circumstances: Circumstances::of(drawn.account()),
        })
    }

    fn facts_text(&self, style: &Style) -> String {
        let run = &self.run;
        let mut counts = vec![counted(run.threads, "thread")];
        counts.push(format!("in {}", counted(run.processes, "process")));
        if run.ranks > 0 {
            counts.push(format!("of {}", counted(run.ranks, "rank")));
        }
        let mut text = heading(style, &run.dir, &shell_words(&run.command));
        text.push_str(&format!(" {} on {}, {}\n", utc(run.start_unix_s), run.host, ending(&run.outcome)));
        let times = format!(
            "wall {} · CPU {} (user {}, system {}) · {}",
            duration(run.wall_s),
            duration(self.cpu_s),
            duration(self.user_s),
            duration(self.system_s),
            counts.join(" ")
        );
        text + &wrapped(&times, 1, style.width) + "\n"
    }

    fn ledger_text(&self, style: &Style) -> String {
        let ledger = &self.ledger;
        let mut text = heading(style, "Where the processors' time went", &self.formula);
        let least_s = least_shown_s(ledger.total_s);
        let rows: Vec<&AccountRow> =
            ledger.accounts.iter().filter(|row| row.seconds > 0.0 && row.seconds >= least_s).collect();
        let mut parts: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
        parts.push(ledger.residual_s);
        let scale = Scale::seconds([ledger.total_s]);
        let (numbers, shares) = (scale.show_parts(&parts, ledger.total_s), percents(&parts, ledger.total_s));
        let room = style.width.saturating_sub(60).clamp(10, 40);
        let mut table = Table::new([
            ("account".to_owned(), Align::Left),
            ("class".into(), Align::Left),
            (scale.title(""), Align::Right),
            ("%".into(), Align::Right),
            ("".into(), Align::Left),
        ]);
        for (n, row) in rows.iter().enumerate() {
            let paint = match row.account {
                account if account.productive(self.io) => Paint::Good,
                account if account.lost(self.io) => Paint::Bad,
                _ => Paint::Plain,
            };
            let bar = style.bar(row.seconds / ledger.total_s.max(f64::MIN_POSITIVE), room);
            table.row(vec![
                row.id.into(),
                Cell::painted(Paint::Faint, row.class),
                numbers[n].clone().into(),
                shares[n].clone().into(),
                Cell::painted(paint, bar),
            ]);
        }
        if ledger.residual_s.abs() > 0.0 {
            table.row(vec![
                "residual".into(),
                "".into(),
                numbers[rows.len()].clone().into(),
                shares[rows.len()].clone().into(),
            ]);
        }
        let efficiency =
            ledger.efficiency.map_or_else(String::new, |efficiency| format!("efficiency {efficiency:.3}"));
        table.row(vec![
            Cell::painted(Paint::Strong, "sum"),
            "".into(),
            Cell::painted(Paint::Strong, scale.show(ledger.total_s)),
            if ledger.total_s > 0.0 { "100.0" } else { "-" }.into(),
            Cell::painted(Paint::Strong, efficiency),
        ]);
        text.push_str(&table.render(style));
        for line in beyond_text(ledger).into_iter().chain(ledger.service.text()) {
            text.push_str(&legend(&line, style));
        }
        text.push_str(&self.notes.lines(style));
        text.push('\n');
        text
    }

    fn findings_text(&self, style: &Style) -> String {
        let scope = self.scope.as_deref();
        summary_text(&self.findings, &self.circumstances, scope, &shell_word(&self.dir), style)
    }

    fn quality_text(&self, style: &Style) -> String {
        let q = &self.quality;
        let mut text = heading(style, "Quality", "");
        let numbers = format!(
            "{}, {} per second of CPU time; {} % have a complete call path; samples add up to the CPU time \
             within {} %, accounts to the total within {} %; overhead of Proust itself: {} ({} %)",
            counted(q.samples, "sample"),
            fixed(q.delivered_rate, 0),
            fixed(q.complete_paths * 100.0, 1),
            fixed(q.cpu_residual * 100.0, 3),
            fixed(q.account_residual * 100.0, 3),
            duration(q.measurement.as_seconds()),
            percent(q.measurement.as_seconds(), self.cpu_s)
        );
        text.push_str(&wrapped(&numbers, 1, style.width));
        for warning in quality_page::warnings(q) {
            text.push_str(&warning.signed(style));
        }
        text.push('\n');
        text
    }

    fn next_text(&self, style: &Style) -> String {
        let dir = shell_word(&self.dir);
        let mut steps: Vec<(String, &str)> = Vec::new();
        let mut next = |command: String, why: &'static str| steps.push((command, why));
        if let Some(last) = self.hot_path.iter().rev().find(|row| row.kind == "frame") {
            next(format!("proust report {dir} tree c{}", last.id), "what is below the end of the hot path");
        }
        if let Some(first) = self.hot_functions.first() {
            next(format!("proust report {dir} callers {}", first.handle), "who calls the hottest function");
        }
        let takes = |wanted: &[Account]| {
            let rows = self.ledger.accounts.iter().filter(|row| wanted.contains(&row.account));
            rows.map(|row| row.seconds).sum::<f64>() >= 0.01 * self.ledger.total_s
                && self.ledger.total_s > 0.0
        };
        if takes(&[Account::Lock, Account::Barrier]) {
            next(format!("proust report {dir} waits"), "who waited, for what, and where");
        }
        if takes(&[Account::Io]) {
            next(format!("proust report {dir} io"), "what was read and written, and by whom");
        }
        if self.run.processes > self.run.ranks.max(1) {
            next(format!("proust report {dir} processes"), "which programs ran, and what each of them took");
        }
        if self.run.threads > 1 {
            next(format!("proust report {dir} threads"), "how the threads share the work");
        }
        next("proust explain WORD".into(), "what a word of this page means");
        heading(style, "Look next at", "") + &next_steps(&steps, style)
    }
}

/// Accounts of less round to nothing and are left out of the text; the residual and the largest remainders
/// keep the sum.
fn least_shown_s(total_s: f64) -> f64 {
    (total_s * 0.0005).min(0.0005)
}

/// Commands, each with its purpose behind it, or below it where there is no room.
fn next_steps(steps: &[(String, &str)], style: &Style) -> String {
    let widest = steps.iter().map(|(command, _)| command.width()).max().unwrap_or(0);
    let fits = steps.iter().all(|(_, why)| widest + why.width() + 3 <= style.width);
    let line = |(command, why): &(String, &str)| {
        let why = style.paint(Paint::Faint, why);
        let gap = widest - command.width() + 2;
        match fits {
            true => format!(" {command}{:gap$}{why}\n", ""),
            false => format!(" {command}\n   {why}\n"),
        }
    };
    steps.iter().map(line).collect()
}

fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

impl Page for Summary {
    fn text(&self, style: &Style) -> String {
        self.facts_text(style)
            + &self.ledger_text(style)
            + &self.findings_text(style)
            + &self.hot_text(style)
            + &self.quality_text(style)
            + &self.next_text(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![["account", "class", "seconds"].map(str::to_owned).to_vec()];
        let accounts = self.ledger.accounts.iter();
        rows.extend(accounts.map(|row| vec![row.id.to_owned(), row.class.to_owned(), exact(row.seconds)]));
        rows
    }
}
