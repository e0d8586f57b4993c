//! The page `openmp`: parallel regions, their sites, and the threads that were in them.
//!
//! JSON: `{"schema":1,"efficiencies":{…},"regions":[…],"cut":{…},"notes":[…]}`. A region is `{"handle","context","function",
//! "file","line","process","runtime":"gomp"|"ompt","executions","team_min","team_max","work_s","cpu_s","delayed_s",
//! "imbalance_s","latency_s","lock_s","fork_s","dispatch_s","lost_s","imbalance":factor|null,"sites":[…],"threads":[…]}`; a site
//! has `"construct"`, its place, `"executions","contended"` and the same seconds, a thread its `"thread","name","handle"`.
//! `work_s` is wall time between sites, `cpu_s` the part of it on a processor, by samples, `delayed_s` runnable without one.

use proust_analysis::openmp::{Efficiencies, Lost, RegionSum, RegionSums};
use proust_analysis::query::{Handle, Selection};
use proust_analysis::words::counted;
use proust_profile::{ContextId, ContextKind, Profile};
use serde::Serialize;

use super::account::Drawn;
use super::facts::seconds;
use super::operations::count;
use super::{Page, heading, no_arguments, place};
use crate::SCHEMA;
use crate::number::{Scale, duration, exact};
use crate::question::{Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Regions in text when nothing else is asked for.
const REGIONS: usize = 12;
/// Sites of a region in text.
const SITES: usize = 12;
/// Threads of a region in text.
const THREADS: usize = 8;

#[derive(Debug, Serialize)]
pub(super) struct OpenmpPage {
    schema: u32,
    efficiencies: EfficiencyRow,
    regions: Vec<RegionRow>,
    /// Regions that a limit left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<CutRegions>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CutRegions {
    regions: usize,
    work_s: f64,
    lost_s: f64,
}

#[derive(Debug, Serialize)]
struct EfficiencyRow {
    total_s: f64,
    useful_s: f64,
    serialisation_s: f64,
    imbalance_s: f64,
    scheduling_s: f64,
    parallel: f64,
    serialisation: f64,
    load_balance: f64,
    scheduling: f64,
}

impl EfficiencyRow {
    fn new(all: &Efficiencies) -> EfficiencyRow {
        EfficiencyRow {
            total_s: seconds(all.total_ns),
            useful_s: seconds(all.useful_ns()),
            serialisation_s: seconds(all.serialisation_ns),
            imbalance_s: seconds(all.imbalance_ns),
            scheduling_s: seconds(all.scheduling_ns),
            parallel: all.parallel(),
            serialisation: all.serialisation(),
            load_balance: all.load_balance(),
            scheduling: all.scheduling(),
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
struct LostRow {
    imbalance_s: f64,
    latency_s: f64,
    lock_s: f64,
    fork_s: f64,
    dispatch_s: f64,
    lost_s: f64,
}

impl LostRow {
    fn new(lost: &Lost) -> LostRow {
        LostRow {
            imbalance_s: seconds(lost.imbalance_ns),
            latency_s: seconds(lost.latency_ns),
            lock_s: seconds(lost.lock_ns),
            fork_s: seconds(lost.fork_ns),
            dispatch_s: seconds(lost.dispatch_ns),
            lost_s: seconds(lost.sum_ns()),
        }
    }

    fn parts(&self) -> [f64; 5] {
        [self.imbalance_s, self.latency_s, self.lock_s, self.fork_s, self.dispatch_s]
    }
}

#[derive(Debug, Serialize)]
struct RegionRow {
    handle: String,
    context: ContextId,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    process: u32,
    runtime: &'static str,
    executions: u64,
    team_min: u32,
    team_max: u32,
    work_s: f64,
    cpu_s: f64,
    delayed_s: f64,
    #[serde(flatten)]
    lost: LostRow,
    imbalance: Option<f64>,
    sites: Vec<SiteRow>,
    threads: Vec<ThreadRow>,
}

#[derive(Debug, Serialize)]
struct SiteRow {
    construct: String,
    context: ContextId,
    handle: String,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    executions: u64,
    contended: u64,
    threads: u32,
    work_s: f64,
    #[serde(flatten)]
    lost: LostRow,
    imbalance: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ThreadRow {
    thread: u32,
    name: String,
    handle: String,
    executions: u64,
    work_s: f64,
    #[serde(flatten)]
    lost: LostRow,
}

/// The function that a context is in, and where in it.
fn place_of(profile: &Profile, id: ContextId) -> (Option<String>, Option<String>, Option<u32>) {
    let context = &profile.contexts[id as usize];
    let mut above = Some(id);
    let mut function = None;
    while let Some(at) = above
        && function.is_none()
    {
        function = profile.contexts[at as usize].function;
        above = profile.contexts[at as usize].parent;
    }
    let function = function.map(|function| &profile.functions[function as usize]);
    let (file, line) = match context.kind {
        ContextKind::Line => (context.file.clone(), context.line),
        _ => function.map_or((None, None), |function| (function.file.clone(), function.line)),
    };
    (function.map(|function| function.name.clone()), file, line)
}

impl OpenmpPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<OpenmpPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let sums = RegionSums::of(selection, &drawn.ledger);
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
        let mut notes = selection.notes().to_vec();
        if drawn.window.is_some() {
            notes.push(
                "work and waits by site are sums over the whole run: a range of time does not restrict them"
                    .into(),
            );
        }
        Ok(OpenmpPage {
            schema: SCHEMA,
            efficiencies: EfficiencyRow::new(&Efficiencies::of(&drawn.ledger, &sums)),
            regions,
            cut,
            notes,
        })
    }
}

impl RegionRow {
    fn new(profile: &Profile, sum: &RegionSum) -> RegionRow {
        let info = &profile.regions[sum.region as usize];
        let (function, file, line) = place_of(profile, sum.context);
        let sites = sum.sites.iter().map(|site| {
            let (function, file, line) = place_of(profile, site.context);
            SiteRow {
                construct: profile.operations[site.operation as usize].name.clone(),
                context: site.context,
                handle: Handle::Context(site.context).to_string(),
                function,
                file,
                line,
                executions: site.executions,
                contended: site.contended,
                threads: site.threads,
                work_s: seconds(site.work_ns),
                lost: LostRow::new(&site.lost),
                imbalance: site.imbalance(),
            }
        });
        let threads = sum.threads.iter().map(|thread| {
            let location = &profile.locations[thread.location as usize];
            ThreadRow {
                thread: location.tid,
                name: location.name.clone(),
                handle: Handle::Location(thread.location).to_string(),
                executions: thread.executions,
                work_s: seconds(thread.work_ns),
                lost: LostRow::new(&thread.lost),
            }
        });
        RegionRow {
            handle: Handle::Context(sum.context).to_string(),
            context: sum.context,
            function,
            file,
            line,
            process: profile.processes[info.process as usize].pid,
            runtime: if info.told { "ompt" } else { "gomp" },
            executions: sum.executions,
            team_min: sum.team_min,
            team_max: sum.team_max,
            work_s: seconds(sum.work_ns),
            cpu_s: seconds(sum.cpu_ns),
            delayed_s: seconds(sum.delayed_ns),
            lost: LostRow::new(&sum.lost),
            imbalance: sum.imbalance(),
            sites: sites.collect(),
            threads: threads.collect(),
        }
    }

    fn team(&self) -> String {
        if self.team_min == self.team_max {
            self.team_max.to_string()
        } else {
            format!("{}–{}", self.team_min, self.team_max)
        }
    }
}

fn factor(factor: Option<f64>) -> String {
    factor.map(|factor| format!("{factor:.2}")).unwrap_or_default()
}

/// The columns of losses in which any row has something, in text.
struct LossColumns(Vec<usize>);

impl LossColumns {
    const NAMES: [&str; 5] = ["imbalance", "latency", "lock", "fork", "dispatch"];

    fn of<'r>(rows: impl Iterator<Item = &'r LostRow>) -> LossColumns {
        let sums = rows.fold([0.0; 5], |mut sums, row| {
            sums.iter_mut().zip(row.parts()).for_each(|(sum, part)| *sum += part);
            sums
        });
        LossColumns((0..5).filter(|&at| sums[at] > 0.0).collect())
    }

    fn titles(&self, scale: &Scale, more: &[&str]) -> Vec<(String, Align)> {
        let names = self.0.iter().map(|&at| Self::NAMES[at]).chain(more.iter().copied());
        let names = names.map(|name| (name.to_owned(), Align::Right));
        std::iter::once((scale.title("work"), Align::Right)).chain(names).collect()
    }

    fn cells(&self, scale: &Scale, work_s: f64, lost: &LostRow) -> Vec<Cell> {
        let parts = lost.parts();
        let amounts = std::iter::once(work_s).chain(self.0.iter().map(|&at| parts[at]));
        amounts.map(|amount| Cell::from(shown(scale, amount))).collect()
    }
}

fn shown(scale: &Scale, amount: f64) -> String {
    if amount == 0.0 { "-".to_owned() } else { scale.show(amount) }
}

impl Page for OpenmpPage {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Parallel regions", &counted(self.regions.len(), "region"));
        if self.regions.is_empty() {
            return text + " no parallel regions were recorded here\n";
        }
        let all = &self.efficiencies;
        let percent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
        text.push_str(&format!(
            " parallel efficiency {} = serialisation {} × load balance {} × scheduling {}.\n",
            percent(all.parallel),
            percent(all.serialisation),
            percent(all.load_balance),
            percent(all.scheduling),
        ));
        text.push_str(&format!(
            " {} useful + {} serialised + {} imbalance + {} scheduling = {}.\n\n",
            duration(all.useful_s),
            duration(all.serialisation_s),
            duration(all.imbalance_s),
            duration(all.scheduling_s),
            duration(all.total_s),
        ));
        let scale = Scale::of("s", self.regions.iter().map(|region| region.work_s + region.lost.lost_s));
        let heads = ["waits", "lock", "runtime", "max/mean", "times", "team"];
        let mut titles = vec![(scale.title("work"), Align::Right)];
        titles.extend(heads.map(|title| (title.to_owned(), Align::Right)));
        titles.push(("region".into(), Align::Left));
        let mut table = Table::new(titles);
        let listed = &self.regions[..self.regions.len().min(REGIONS)];
        for region in listed {
            let lost = &region.lost;
            let waits_s = lost.imbalance_s + lost.latency_s;
            let amounts = [region.work_s, waits_s, lost.lock_s, lost.fork_s + lost.dispatch_s];
            let mut cells: Vec<Cell> = amounts.map(|amount| Cell::from(shown(&scale, amount))).into();
            cells.extend([factor(region.imbalance), count(region.executions), region.team()].map(Cell::from));
            cells.push(
                Cell::from(region.function.clone().unwrap_or_default()).with_tail(region.handle.clone()),
            );
            table.row(cells);
        }
        text.push_str(&table.render(style));
        let hidden = self.regions.len() - listed.len();
        if hidden > 0 {
            text.push_str(&format!(" {} not shown: --format json has all.\n", counted(hidden, "region")));
        }
        let line = " work: time between sites, of all threads; waits: imbalance + latency; runtime: fork + dispatch; \
                    max/mean: the busiest thread's work by the mean.";
        text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
        for region in listed {
            text.push('\n');
            let title = region.function.clone().unwrap_or_default();
            text.push_str(&heading(style, &title, &format!("{} by {}", region.handle, region.runtime)));
            text.push_str(&region.sites_text(style));
            text.push_str(&region.threads_text(style));
        }
        for note in &self.notes {
            text.push_str(&(style.paint(Paint::Faint, &format!(" Note: {note}.")) + "\n"));
        }
        text
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
            rows.push(row);
        }
        rows
    }
}

impl RegionRow {
    fn sites_text(&self, style: &Style) -> String {
        let scale = Scale::of("s", self.sites.iter().map(|site| site.work_s + site.lost.lost_s));
        let columns = LossColumns::of(self.sites.iter().map(|site| &site.lost));
        let mut titles = columns.titles(&scale, &["max/mean", "times"]);
        titles.push(("segment up to".into(), Align::Left));
        let mut table = Table::new(titles);
        let shown = &self.sites[..self.sites.len().min(SITES)];
        for site in shown {
            let mut cells = columns.cells(&scale, site.work_s, &site.lost);
            let factor = if site.work_s > 0.0 { factor(site.imbalance) } else { String::new() };
            cells.extend([factor, count(site.executions)].map(Cell::from));
            // Where the region itself is, its heading says.
            let at = place(site.file.as_deref(), site.line).filter(|_| site.context != self.context);
            let at = at.unwrap_or_default();
            let construct = site.construct.strip_prefix("omp ").unwrap_or(&site.construct);
            cells.push(Cell::from(construct).with_tail(at));
            table.row(cells);
        }
        let mut text = table.render(style);
        if self.sites.len() > shown.len() {
            let hidden = counted(self.sites.len() - shown.len(), "site");
            text.push_str(&format!(" {hidden} not shown: --format json has all.\n"));
        }
        text
    }

    fn threads_text(&self, style: &Style) -> String {
        let scale = Scale::of("s", self.threads.iter().map(|thread| thread.work_s + thread.lost.lost_s));
        let columns = LossColumns::of(self.threads.iter().map(|thread| &thread.lost));
        let mut titles = columns.titles(&scale, &["times"]);
        titles.push(("thread".into(), Align::Left));
        let mut table = Table::new(titles);
        let shown = &self.threads[..self.threads.len().min(THREADS)];
        for thread in shown {
            let mut cells = columns.cells(&scale, thread.work_s, &thread.lost);
            cells.push(count(thread.executions).into());
            cells.push(Cell::from(thread.handle.clone()).with_tail(thread.name.clone()));
            table.row(cells);
        }
        let mut text = table.render(style);
        if self.threads.len() > shown.len() {
            let hidden = counted(self.threads.len() - shown.len(), "thread");
            text.push_str(&format!(" {hidden} not shown: --format json has all.\n"));
        }
        text
    }
}
