//! The page `mpi`: the calls of MPI, who waited for whom and why, messages between ranks, collectives.
//!
//! JSON: `mpi_s` is the time in calls of MPI, the sum of `partner_s` (before a partner had arrived),
//! `transfer_s`, `io_s` (files) and `runtime_s` (the begin and the end of MPI, and calls that need no other
//! process). `wait_states` has each pattern with its `seconds`, its `count`, and its `sites`; `causes` what
//! made others wait, with the places where they did (`victims`); the seconds of both sum to `partner_s`, but
//! for what the ledger cuts at windows. `delay_costs` divides waits into `direct_s` and `indirect_s`, and
//! names the `delays` with their `short_term_s` and `long_term_s`, which sum to these. `efficiency` has the
//! POP efficiencies of the whole run, and `critical_path` the chain of work that nothing kept waiting, by
//! rank and by activity. `operations` are calls by place, `inside` what these called themselves, `matrix`
//! messages and waits by sender and receiver, `message_sizes` the same by size, `collectives` and
//! `communicators` those of the run, `unmatched` the parts of messages and collectives without a partner,
//! and `matching` says how far all that can be trusted. `clocks` has the hosts of a run on several, and how
//! their clocks were brought to one.

mod by_place;
mod delays;
mod efficiency;
mod hybrid;
mod path;
mod row;
mod sizes;
mod text;

use std::borrow::Cow;

use proust_account::accounted::blame_within;
use proust_account::blame::Blame;
use proust_account::ledger::Windows;
use proust_profile::Family;
use proust_profile::notes::RunNote;
use proust_query::Selection;
use proust_query::mpi::MpiSums;
use proust_query::mpi::efficiency::Efficiency;
use schemars::JsonSchema;
use serde::Serialize;

use delays::DelayLines;
use efficiency::EfficiencyLine;
use path::PathLine;
use row::{
    CauseLine, ClockLine, CollectiveLine, CommunicatorLine, Matching, OperationLine, PairLine, UnmatchedLine,
    WaitState,
};
use sizes::SizeLines;

use super::facts::seconds;
use super::operations::InsideRows;
use super::{Page, no_arguments};
use crate::error::ReportError;
use crate::number::exact;
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::Notes;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MpiPage {
    schema: u32,
    ranks: usize,
    mpi_s: f64,
    partner_s: f64,
    transfer_s: f64,
    io_s: f64,
    runtime_s: f64,
    /// Of the whole run; null where no two processes of one job used MPI.
    efficiency: Option<EfficiencyLine>,
    wait_states: Vec<WaitState>,
    causes: Vec<CauseLine>,
    /// Null where nothing waited.
    delay_costs: Option<DelayLines>,
    /// Of the whole run; null where no two processes of one job used MPI.
    critical_path: Option<PathLine>,
    operations: Vec<OperationLine>,
    /// Operations that a limit left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<super::Cut>,
    /// What calls of MPI called themselves.
    inside: InsideRows,
    matrix: Vec<PairLine>,
    /// Smallest first; the last has the calls without a message.
    message_sizes: SizeLines,
    collectives: Vec<CollectiveLine>,
    communicators: Vec<CommunicatorLine>,
    unmatched: Vec<UnmatchedLine>,
    matching: Option<Matching>,
    clocks: Vec<ClockLine>,
    #[serde(flatten)]
    notes: Notes,
}

impl MpiPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&Blame>,
    ) -> Result<MpiPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let blame = match kept {
            Some(kept) => Cow::Borrowed(kept),
            None => {
                let windows = question.filter.windows().unwrap_or_else(Windows::all);
                Cow::Owned(blame_within(profile, question.processors, &windows)?.1)
            }
        };
        let sums = MpiSums::of(selection, &blame);
        let mut operations: Vec<OperationLine> =
            sums.calls.iter().map(|sum| OperationLine::new(selection, sum)).collect();
        let mut cut = None;
        if let Some(limit) = question.limit.filter(|&limit| limit < operations.len()) {
            let hidden = operations.split_off(limit);
            let amount = hidden.iter().map(|line| line.seconds).sum();
            cut = Some(super::Cut { rows: hidden.len(), amount });
        }
        let mut notes = Notes::of(selection.notes());
        let is_of_ranks =
            |note: &&RunNote| matches!(note, RunNote::RanksAlone { .. } | RunNote::RanksWithoutMpi { .. });
        profile.quality.notes.iter().filter(is_of_ranks).for_each(|note| notes.push(note.clone()));
        Ok(MpiPage {
            schema: SCHEMA,
            ranks: profile.ranks(),
            mpi_s: seconds(sums.mpi_ns),
            partner_s: seconds(sums.partner_ns),
            transfer_s: seconds(sums.transfer_ns),
            io_s: seconds(sums.io_ns),
            runtime_s: seconds(sums.runtime_ns),
            efficiency: Efficiency::of(profile).map(|of| EfficiencyLine::new(profile, &of)),
            wait_states: WaitState::all(selection, &sums),
            causes: CauseLine::all(selection, &sums),
            delay_costs: DelayLines::of(selection),
            critical_path: PathLine::of(selection, !question.filter.is_empty()),
            operations,
            cut,
            inside: InsideRows::of(selection, |of| of.kind.is_some_and(|kind| kind.family == Family::Mpi)),
            matrix: sums.pairs.iter().map(|(pair, sum)| PairLine::new(profile, *pair, sum)).collect(),
            message_sizes: SizeLines::of(selection),
            collectives: CollectiveLine::all(profile, &sums),
            communicators: profile.communicators.iter().map(CommunicatorLine::new).collect(),
            unmatched: profile.unmatched.iter().map(|row| UnmatchedLine::new(profile, row)).collect(),
            matching: profile.quality.messages.as_ref().map(Matching::new),
            clocks: profile.quality.clocks.iter().map(ClockLine::new).collect(),
            notes,
        })
    }
}

impl Page for MpiPage {
    fn text(&self, style: &Style) -> String {
        text::page(self, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads =
            ["operation", "context", "function", "file", "line", "calls", "seconds", "partner_s", "bytes"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for line in &self.operations {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            rows.push(vec![
                line.operation.clone(),
                line.context.clone(),
                text(&line.site.function),
                text(&line.site.file),
                line.site.line.map(|line| line.to_string()).unwrap_or_default(),
                line.calls.to_string(),
                exact(line.seconds),
                exact(line.partner_s),
                line.bytes.to_string(),
            ]);
        }
        rows
    }
}
