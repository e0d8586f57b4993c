//! The page `quality`: how far the numbers can be trusted.

use std::collections::BTreeMap;

use proust_profile::Metric;
use proust_query::Selection;
use proust_words::{count, counted, verb};
use schemars::JsonSchema;
use serde::Serialize;

use super::account::Drawn;
use super::facts::{QualityBlock, RunBlock, quality};
use super::{Page, base_name, heading, no_arguments, scope};
use crate::error::ReportError;
use crate::number::{bytes, duration, fixed};
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::{NoteRow, Notes, PageNote, Remark, joined};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QualityPage {
    schema: u32,
    run: RunBlock,
    quality: QualityBlock,
    /// Modules of which something could not be known.
    modules: Vec<ModuleRow>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: Option<String>,
    #[serde(skip)]
    cpu_s: f64,
    #[serde(skip)]
    tick_s: f64,
}

/// Names of modules in one line of text.
const MODULES_SHOWN: usize = 6;

#[derive(Debug, Serialize, JsonSchema)]
struct ModuleRow {
    path: String,
    build_id: String,
    note: String,
    /// The same as data.
    noted: Vec<NoteRow>,
}

impl QualityPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<QualityPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let modules = profile.modules.iter().filter(|module| !module.notes.is_empty());
        let mut notes = Notes::of(selection.notes());
        if !question.filter.is_empty() {
            notes.push(PageNote::QualityOfWholeRun {});
        }
        Ok(QualityPage {
            schema: SCHEMA,
            run: RunBlock::new(profile, drawn.processors),
            quality: quality(selection, question, drawn.ledger()),
            modules: modules
                .map(|module| ModuleRow {
                    path: module.path.clone(),
                    build_id: module.build_id.clone(),
                    note: joined(&module.notes),
                    noted: module.notes.iter().map(NoteRow::new).collect(),
                })
                .collect(),
            notes,
            cpu_s: selection.shown_total(Metric::Cpu),
            scope: (!question.filter.is_empty()).then(|| scope(selection, question)),
            tick_s: profile.facts.tick.as_seconds(),
        })
    }

    /// The notes about modules that are not notes of the run already: once for all modules of which the same
    /// is true.
    fn modules_by_note(&self) -> BTreeMap<String, Vec<&str>> {
        let mut by_note: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for module in self.modules.iter().filter(|module| !self.quality.notes.texts().contains(&module.note))
        {
            let note = module.note.replace(&format!("{}: ", module.path), "");
            by_note.entry(note).or_default().push(base_name(&module.path));
        }
        by_note
    }

    fn facts(&self) -> Vec<(&'static str, String, String)> {
        let q = &self.quality;
        let percent = |share: f64| fixed(share * 100.0, 3) + " %";
        let of_samples = |part: u64, what: &str| {
            format!("{} of them {what}", percent(part as f64 / q.samples.max(1) as f64))
        };
        let mut facts = vec![
            ("samples", count(q.samples), counted(q.partial_paths, "partial path")),
            (
                "delivered_rate",
                format!("{:.1} a second", q.delivered_rate),
                format!(
                    "of CPU time; {} asked, kernel tick {}",
                    self.run.asked_rate_hz,
                    duration(self.tick_s)
                ),
            ),
            ("complete_paths", percent(q.complete_paths), "of the samples have a complete call path".into()),
            (
                "cpu_residual",
                percent(q.cpu_residual),
                "samples' weights against the threads' CPU clocks".into(),
            ),
            (
                "process_residual",
                percent(q.process_residual),
                "threads against the processes' CPU clocks".into(),
            ),
            (
                "account_residual",
                percent(q.account_residual),
                "of the ledger's total is on no account".into(),
            ),
            (
                "measurement_s",
                duration(q.measurement.as_seconds()),
                format!(
                    "in Proust's handlers: {} of the CPU time",
                    percent(if self.cpu_s > 0.0 { q.measurement.as_seconds() / self.cpu_s } else { 0.0 })
                ),
            ),
            ("events", count(q.events), "intercepted operations".into()),
            ("dropped", count(q.dropped), "records that could not be stored".into()),
            ("overruns", count(q.overruns), "samples merged into the next: late, or too dear".into()),
            (
                "late_samples",
                count(q.late_samples),
                of_samples(q.late_samples, "came well past their instant"),
            ),
            ("tick_samples", count(q.tick_samples), of_samples(q.tick_samples, "came at the kernel's ticks")),
            ("skipped_samples", count(q.skipped_samples), "samples in Proust's own code".into()),
            ("damaged_bytes", bytes(q.damaged_bytes), "of the logs were skipped".into()),
            (
                "lost_records_s",
                duration(q.lost_records.as_seconds()),
                "CPU time whose records were lost".into(),
            ),
            (
                "unrecorded_s",
                duration(q.unrecorded.as_seconds()),
                "CPU time whose samples could not be stored".into(),
            ),
            (
                "implausible_records",
                count(q.implausible_records),
                "clocks that contradicted each other".into(),
            ),
            ("unread_logs", count(q.unread_logs), "logs that cannot be read".into()),
            ("unfollowed_processes", count(q.unfollowed_processes), "seen to start, without a log".into()),
            ("open_processes", count(q.open_processes), "killed, crashed, or still running".into()),
            ("unmeasured_threads", count(q.unmeasured_threads), "of which nothing is known".into()),
            ("untimed_threads", count(q.untimed_threads), "to which the system gave no timer".into()),
            (
                "late_threads",
                count(q.late_threads),
                "already running: what they did before is not known".into(),
            ),
            ("threads_without_end", count(q.threads_without_end), "whose last records are missing".into()),
            ("log_bytes", bytes(q.log_bytes), "of logs".into()),
        ];
        if q.paths_compared > 0 {
            let against = format!("of {} call paths compared with a full unwind", count(q.paths_compared));
            facts.push(("path_mismatches", count(q.path_mismatches), against));
        }
        facts
    }
}

/// The problems that need attention, in a line each.
pub(super) fn warnings(quality: &QualityBlock) -> Vec<Remark> {
    let mut warnings = Vec::new();
    if quality.samples > 0 && quality.complete_paths < 0.99 {
        warnings.push(format!(
            "{:.1} % of the call paths are incomplete: their callers are not known",
            (1.0 - quality.complete_paths) * 100.0
        ));
    }
    if quality.cpu_residual > 1e-3 {
        warnings.push(format!("{:.2} % of the CPU time is not accounted for", quality.cpu_residual * 100.0));
    }
    if quality.damaged_bytes > 0 {
        warnings.push(format!("{} of the logs are damaged and were skipped", bytes(quality.damaged_bytes)));
    }
    if quality.dropped > 0 {
        warnings.push(format!(
            "{} could not be stored: record again with a larger --max-size",
            counted(quality.dropped, "record")
        ));
    }
    if quality.path_mismatches > 0 {
        warnings.push(format!(
            "{} {} from a full unwind: this is a bug of Proust",
            counted(quality.path_mismatches, "call path"),
            verb(quality.path_mismatches, "differs", "differ")
        ));
    }
    let mut remarks: Vec<Remark> = warnings.into_iter().map(Remark::caution).collect();
    remarks.extend(quality.notes.together());
    // What may make numbers wrong comes first.
    remarks.sort_by_key(|remark| !remark.caution);
    remarks
}

impl Page for QualityPage {
    fn text(&self, style: &Style) -> String {
        let about = self.scope.as_deref().unwrap_or("how far the numbers can be trusted");
        let mut text = heading(style, "Quality of the data", about);
        let mut table = Table::new([("", Align::Left), ("", Align::Right), ("", Align::Left)]);
        for (name, value, meaning) in self.facts() {
            table.row(vec![name.into(), value.into(), Cell::painted(Paint::Faint, meaning)]);
        }
        text.push_str(&table.render(style));
        let warnings = warnings(&self.quality);
        text.push_str(&if warnings.is_empty() {
            " Nothing else needs attention.\n".to_owned()
        } else {
            warnings.iter().map(|remark| remark.signed(style)).collect()
        });
        text.push_str(&self.notes.lines(style));
        for (note, names) in self.modules_by_note() {
            let shown = names.iter().take(MODULES_SHOWN).copied().collect::<Vec<_>>().join(", ");
            let more = match names.len().saturating_sub(MODULES_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let remark = Remark::caution(format!("{shown}{more}: {note}"));
            text.push_str(&remark.signed(style));
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![vec!["field".to_owned(), "value".to_owned(), "meaning".to_owned()]];
        let facts = self.facts().into_iter();
        rows.extend(facts.map(|(name, value, meaning)| vec![name.to_owned(), value, meaning]));
        rows
    }
}
