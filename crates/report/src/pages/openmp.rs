//! The page `openmp`: parallel regions, their sites, and the threads that were in them.
//!
//! JSON: `{"schema":1,"efficiencies":{…},"regions":[…],"cut":{…},"notes":[…]}`. A region is
//! `{"handle","context","function","file","line","opener","opener_file","opener_line","process",
//! "runtime":"gomp"|"ompt","executions","team_min","team_max","work_s","cpu_s","delayed_s","imbalance_s",
//! "latency_s","lock_s","fork_s","dispatch_s","lost_s","imbalance":factor|null,"sites":[…],"threads":[…]}`;
//! a site has `"construct"`, its place, `"executions","contended"` and the same seconds; of its executions
//! so many were `"measured"`, and the times of the others are estimated from those with the standard error
//! `"error_s"`. A thread has its `"thread","name","handle"`. `work_s` is wall time between sites, `cpu_s`
//! the part of it on a processor, by samples, `delayed_s` runnable without one.

mod row;
mod text;

use proust_query::Selection;
use proust_query::openmp::{Efficiencies, RegionSums};
use schemars::JsonSchema;
use serde::Serialize;

use self::row::RegionRow;
use super::account::Drawn;
use super::facts::seconds;
use super::{Page, no_arguments};
use crate::error::ReportError;
use crate::number::exact;
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::{Notes, PageNote};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenmpPage {
    schema: u32,
    efficiencies: EfficiencyRow,
    regions: Vec<RegionRow>,
    #[serde(skip)]
    filter: String,
    /// Regions that a limit left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<CutRegions>,
    #[serde(flatten)]
    notes: Notes,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CutRegions {
    regions: usize,
    work_s: f64,
    lost_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EfficiencyRow {
    total_s: f64,
    useful_s: f64,
    serialisation_s: f64,
    imbalance_s: f64,
    scheduling_s: f64,
    processors_s: f64,
    other_s: f64,
    parallel: f64,
    serialisation: f64,
    load_balance: f64,
    scheduling: f64,
    processors: f64,
    other: f64,
}

impl EfficiencyRow {
    fn new(all: &Efficiencies) -> EfficiencyRow {
        EfficiencyRow {
            total_s: seconds(all.total_ns()),
            useful_s: seconds(all.useful_ns),
            serialisation_s: seconds(all.serialisation_ns),
            imbalance_s: seconds(all.imbalance_ns),
            scheduling_s: seconds(all.scheduling_ns),
            processors_s: seconds(all.processors_ns),
            other_s: seconds(all.other_ns),
            parallel: all.parallel(),
            serialisation: all.serialisation(),
            load_balance: all.load_balance(),
            scheduling: all.scheduling(),
            processors: all.processors(),
            other: all.other(),
        }
    }
}

impl OpenmpPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<OpenmpPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let sums = RegionSums::of(selection, drawn.ledger());
        let mut regions: Vec<RegionRow> =
            sums.regions.iter().map(|sum| RegionRow::new(profile, sum)).collect();
        let mut cut = None;
        if let Some(limit) = question.limit
            && regions.len() > limit
        {
            let rest = regions.split_off(limit);
            cut = Some(CutRegions {
                regions: rest.len(),
                work_s: rest.iter().map(|region| region.work_s).sum(),
                lost_s: rest.iter().map(|region| region.lost.lost_s).sum(),
            });
        }
        let mut notes = Notes::of(selection.notes());
        if drawn.window.is_some() {
            notes.push(PageNote::SitesOfWholeRun {});
        }
        Ok(OpenmpPage {
            schema: SCHEMA,
            efficiencies: EfficiencyRow::new(&Efficiencies::of(drawn.account(), &sums, drawn.io)),
            regions,
            filter: question.filter.to_string(),
            cut,
            notes,
        })
    }
}

impl Page for OpenmpPage {
    fn text(&self, style: &Style) -> String {
        text::page(self, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "handle",
            "function",
            "file",
            "line",
            "executions",
            "team_min",
            "team_max",
            "work_s",
            "cpu_s",
            "delayed_s",
            "imbalance_s",
            "latency_s",
            "lock_s",
            "fork_s",
            "dispatch_s",
            "lost_s",
            "imbalance",
            "opener",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for region in &self.regions {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let mut row = vec![
                region.handle.clone(),
                text(&region.function),
                text(&region.file),
                region.line.map(|line| line.to_string()).unwrap_or_default(),
                region.executions.to_string(),
                region.team_min.to_string(),
                region.team_max.to_string(),
            ];
            row.extend([region.work_s, region.cpu_s, region.delayed_s].map(exact));
            row.extend(region.lost.parts().map(exact));
            row.extend([exact(region.lost.lost_s), region.imbalance.map(exact).unwrap_or_default()]);
            row.push(text(&region.opener.opener));
            rows.push(row);
        }
        rows
    }
}
