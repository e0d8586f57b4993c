//! The page `findings`: what could be won, by process or program where that is asked for.
//!
//! JSON: `{"schema":1,"where","findings":[…],"groups":[{"name","seconds","findings":["L1",…]}]}`. Each
//! finding is in one group: of losses in several processes that group has all of these.

use std::collections::BTreeSet;

use proust_findings::Finding;
use proust_profile::{Metric, ProcessId, Profile};
use proust_query::{Key, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Circumstances, FindingRow, found, rows, text_of, whose};
use crate::error::ReportError;
use crate::groups::Grouping;
use crate::number::{duration, exact};
use crate::pages::account::Drawn;
use crate::pages::{Page, heading, no_arguments};
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::shell::shell_word;
use crate::style::{Paint, Style};
use crate::wording::Notes;

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct FindingsPage {
    schema: u32,
    #[serde(rename = "where")]
    scope: Option<String>,
    findings: Vec<FindingRow>,
    groups: Vec<GroupRow>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    circumstances: Circumstances,
    #[serde(skip)]
    dir: String,
}

/// Findings that are about the same processes.
#[derive(Debug, Serialize, JsonSchema)]
struct GroupRow {
    name: String,
    /// The time that could be saved, of all of them.
    seconds: f64,
    findings: Vec<String>,
}

/// Whether a finding is about the part of a run that is selected: about one of its processes, and where other
/// things are asked for than processes, with its cause or a loss there.
pub(in crate::pages) fn is_about(selection: &Selection<'_>, question: &Question, finding: &Finding) -> bool {
    let clauses = &question.filter.clauses;
    if clauses.is_empty() {
        return true;
    }
    let profile = selection.profile();
    let selected: BTreeSet<ProcessId> =
        selection.locations().iter().map(|&id| profile.locations[id].process).collect();
    let of_process = finding.processes.is_empty() || finding.processes.iter().any(|id| selected.contains(id));
    let is_of_processes = |key: Key| matches!(key, Key::Process | Key::Rank);
    of_process
        && (clauses.iter().all(|clause| is_of_processes(clause.key)) || is_caused_in(selection, finding))
}

fn is_caused_in(selection: &Selection<'_>, finding: &Finding) -> bool {
    let own = finding.cause.context.into_iter();
    let mut places = own.chain(finding.victims.iter().filter_map(|victim| victim.place.context));
    places
        .any(|context| context.index() < selection.profile().contexts.len() && selection.has_context(context))
}

impl FindingsPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
        kept: Option<&[Finding]>,
    ) -> Result<FindingsPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let dir = if question.dir.is_empty() { profile.facts.dir.clone() } else { question.dir.clone() };
        let all = found(profile, question, kept)?;
        let about = |(_, finding): &(usize, &Finding)| is_about(selection, question, finding);
        let mut shown: Vec<(usize, &Finding)> = all.iter().enumerate().filter(about).collect();
        shown.truncate(question.limit.unwrap_or(usize::MAX));
        let findings = rows(&shown, &shell_word(&dir), profile);
        let groups = question.by.map_or_else(Vec::new, |by| groups(profile, by, &shown, &findings));
        let scope = (!question.filter.is_empty()).then(|| {
            let seconds = duration(selection.shown_total(Metric::Cpu));
            format!("{seconds} of CPU time, where {}", question.filter)
        });
        Ok(FindingsPage {
            schema: SCHEMA,
            scope,
            findings,
            groups,
            notes: Notes::of(selection.notes()),
            circumstances: Circumstances::of(drawn.account()),
            dir: shell_word(&dir),
        })
    }
}

/// The findings by whose they are, most that could be won first.
fn groups(
    profile: &Profile,
    by: Grouping,
    shown: &[(usize, &Finding)],
    rows: &[FindingRow],
) -> Vec<GroupRow> {
    let mut groups: Vec<GroupRow> = Vec::new();
    for ((_, finding), row) in shown.iter().zip(rows) {
        let name = match by {
            Grouping::Processes => whose::whose(profile, &finding.processes),
            Grouping::Programs => whose::programs(profile, &finding.processes),
        };
        let name = name.unwrap_or_else(|| "the whole run".into());
        let at = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            groups.push(GroupRow { name, seconds: 0.0, findings: Vec::new() });
            groups.len() - 1
        });
        groups[at].seconds += row.seconds;
        groups[at].findings.push(row.handle.clone());
    }
    groups.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    groups
}

impl Page for FindingsPage {
    fn text(&self, style: &Style) -> String {
        let about = match &self.scope {
            Some(scope) => format!("those of the run that concern {scope}; seconds are the run's"),
            None => "what could be won, most first".into(),
        };
        let mut text = heading(style, "Findings", &about);
        if self.findings.is_empty() {
            text.push_str(&self.circumstances.none_text(self.scope.is_some(), style));
        }
        let total_s = self.circumstances.total_s;
        if self.groups.is_empty() {
            for row in &self.findings {
                text.push_str(&text_of(row, total_s, style));
            }
        }
        for group in &self.groups {
            text.push_str(&(style.paint(Paint::Strong, &group.name) + "\n"));
            for row in self.findings.iter().filter(|row| group.findings.contains(&row.handle)) {
                text.push_str(&text_of(row, total_s, style));
            }
        }
        if let Some(first) = self.findings.first() {
            let how = format!(" How each was found: proust explain {} {}", self.dir, first.handle);
            text.push_str(&(style.paint(Paint::Faint, &how) + "\n"));
        }
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let head = ["handle", "kind", "seconds", "function", "file", "line", "processes"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.findings.iter().map(|row| {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            let processes: Vec<&str> = row.processes.iter().map(|one| one.handle.as_str()).collect();
            vec![
                row.handle.clone(),
                row.kind.to_owned(),
                exact(row.seconds),
                of(&row.cause.function),
                of(&row.cause.file),
                row.cause.line.map(|line| line.to_string()).unwrap_or_default(),
                processes.join(" "),
            ]
        }));
        rows
    }
}
