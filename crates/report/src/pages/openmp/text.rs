//! The page as text: all regions, then each with its sites and threads.

use proust_words::counted;
use unicode_width::UnicodeWidthStr;

use super::OpenmpPage;
use super::row::{LostRow, RegionRow};
use crate::number::{Scale, duration};
use crate::pages::operations::count;
use crate::pages::{heading, place};
use crate::style::Style;
use crate::table::{Align, Cell, NAMES, Table, not_shown};
use crate::wrap::{legend, wrapped};

/// Regions in text when nothing else is asked for.
const REGIONS: usize = 12;
/// Sites of a region in text.
const SITES: usize = 12;
/// Threads of a region in text.
const THREADS: usize = 8;
/// All of it.
pub(super) fn page(page: &OpenmpPage, style: &Style) -> String {
    let mut scope = counted(page.regions.len(), "region");
    if !page.filter.is_empty() {
        scope = format!("{scope}, where {}", page.filter);
    }
    let mut text = heading(style, "Parallel regions", &scope);
    if page.regions.is_empty() {
        return text + " no parallel regions were recorded here\n";
    }
    let all = &page.efficiencies;
    let percent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
    let efficiency = format!(
        "parallel efficiency {} = serialisation {} × load balance {} × scheduling {} × processors {} × \
         other {}.",
        percent(all.parallel),
        percent(all.serialisation),
        percent(all.load_balance),
        percent(all.scheduling),
        percent(all.processors),
        percent(all.other),
    );
    text.push_str(&wrapped(&efficiency, 1, style.width));
    let parts = format!(
        "{} useful + {} serialised + {} imbalance + {} scheduling + {} queued + {} other = {}.",
        duration(all.useful_s),
        duration(all.serialisation_s),
        duration(all.imbalance_s),
        duration(all.scheduling_s),
        duration(all.processors_s),
        duration(all.other_s),
        duration(all.total_s),
    );
    text.push_str(&(wrapped(&parts, 1, style.width) + "\n"));
    let listed = &page.regions[..page.regions.len().min(REGIONS)];
    text.push_str(&overview(page, listed, style));
    for region in listed {
        text.push('\n');
        let title = region.function.clone().unwrap_or_default();
        let by = format!("{} by {}", region.handle, region.runtime);
        let tail = [opener(region, listed), Some(by)].into_iter().flatten().collect::<Vec<_>>().join("  ");
        text.push_str(&heading(style, &title, &tail));
        text.push_str(&sites_text(region, style));
        text.push_str(&threads_text(region, style));
    }
    text + &page.notes.lines(style)
}

/// A column of the table of regions.
struct Column {
    title: String,
    cells: Vec<String>,
    /// Where the page is narrow, those with the largest are left out first.
    dispensable: u8,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.chain([self.title.chars().count()]).max().unwrap_or(0) + 2
    }
}

/// All regions, a line each.
fn overview(page: &OpenmpPage, listed: &[RegionRow], style: &Style) -> String {
    let scale = Scale::seconds(page.regions.iter().map(|region| region.work_s + region.lost.lost_s));
    let amounts = |title: &str, dispensable: u8, of: fn(&RegionRow) -> f64| Column {
        title: title.into(),
        cells: listed.iter().map(|region| shown(&scale, of(region))).collect(),
        dispensable,
    };
    let words = |title: &str, dispensable: u8, of: fn(&RegionRow) -> String| Column {
        title: title.into(),
        cells: listed.iter().map(of).collect(),
        dispensable,
    };
    let lock_s = |region: &RegionRow| region.lost.lock_s;
    let runtime_s = |region: &RegionRow| region.lost.fork_s + region.lost.dispatch_s;
    let sum = |of: fn(&RegionRow) -> f64| page.regions.iter().map(of).sum::<f64>();
    // The smaller of the two goes first.
    let (lock, runtime) = if sum(lock_s) <= sum(runtime_s) { (4, 2) } else { (2, 4) };
    let mut columns = vec![
        amounts(&scale.title("work"), 0, |region| region.work_s),
        amounts("waits", 0, |region| region.lost.imbalance_s + region.lost.latency_s),
        amounts("lock", lock, lock_s),
        amounts("runtime", runtime, runtime_s),
        words("max/mean", 1, |region| factor(region.imbalance)),
        words("times", 0, |region| count(region.executions)),
        words("team", 3, RegionRow::team),
    ];
    let mut left_out = Vec::new();
    let names: Vec<(String, String)> = listed.iter().map(|region| named(region, listed)).collect();
    let widest = names.iter().map(|(name, tail)| name.width() + 2 + tail.width()).max().unwrap_or(0);
    let room = widest.min(NAMES);
    while 1 + columns.iter().map(Column::width).sum::<usize>() + room > style.width
        && let Some(least) = (0..columns.len()).max_by_key(|&at| columns[at].dispensable)
        && columns[least].dispensable > 0
    {
        left_out.push(columns.remove(least).title);
    }
    let titles = columns.iter().map(|column| (column.title.clone(), Align::Right));
    let mut table = Table::new(titles.chain([("region".to_owned(), Align::Left)]));
    for (row, (name, tail)) in names.into_iter().enumerate() {
        let mut cells: Vec<Cell> =
            columns.iter().map(|column| Cell::from(column.cells[row].clone())).collect();
        cells.push(Cell::from(name).with_tail(tail));
        table.row(cells);
    }
    let mut text = table.render(style);
    let hidden = page.regions.len() - listed.len();
    if hidden > 0 {
        text.push_str(&format!(" {} not shown: --format json has all.\n", counted(hidden, "region")));
    }
    let line = "work: time between sites, of all threads; waits: imbalance + latency; runtime: fork + \
     dispatch; max/mean: the busiest thread's work by the mean.";
    text + &legend(line, style) + &not_shown(&left_out, style)
}

/// A region by the function that opens it, and behind that where it is: the function says more.
fn named(region: &RegionRow, listed: &[RegionRow]) -> (String, String) {
    let function = region.function.clone().unwrap_or_default();
    let handle = region.handle.as_str();
    let Some(opener) = region.opener.opener.as_deref() else {
        return (function, handle.to_owned());
    };
    let at = function.strip_prefix("parallel region at ").unwrap_or(&function);
    let called = called_at(region, listed).map(|at| format!(", called at {at}")).unwrap_or_default();
    (opener.to_owned(), format!("{at}{called}  {handle}"))
}

/// The function that opens a region; and where that is called, if it opens the same region elsewhere, too.
fn opener(region: &RegionRow, listed: &[RegionRow]) -> Option<String> {
    let name = region.opener.opener.as_deref()?;
    let called = called_at(region, listed);
    Some(called.map_or_else(|| format!("in {name}"), |at| format!("in {name}, called at {at}")))
}

fn called_at(region: &RegionRow, listed: &[RegionRow]) -> Option<String> {
    let name = region.opener.opener.as_deref()?;
    let same = |other: &&RegionRow| {
        other.function == region.function && other.opener.opener.as_deref() == Some(name)
    };
    place(region.opener.file.as_deref(), region.opener.line)
        .filter(|_| listed.iter().filter(same).count() > 1)
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

fn sites_text(region: &RegionRow, style: &Style) -> String {
    let scale = Scale::seconds(region.sites.iter().map(|site| site.work_s + site.lost.lost_s));
    let columns = LossColumns::of(region.sites.iter().map(|site| &site.lost));
    // Where barriers follow each other so closely that only some are measured.
    let is_estimated = region.sites.iter().any(|site| site.measured < site.executions);
    let more: &[&str] =
        if is_estimated { &["±", "max/mean", "times", "measured"] } else { &["max/mean", "times"] };
    let mut titles = columns.titles(&scale, more);
    titles.push(("segment up to".into(), Align::Left));
    let mut table = Table::new(titles);
    let shown = &region.sites[..region.sites.len().min(SITES)];
    for site in shown {
        let mut cells = columns.cells(&scale, site.work_s, &site.lost);
        let factor = if site.work_s > 0.0 { factor(site.imbalance) } else { String::new() };
        if is_estimated {
            let error =
                if site.measured < site.executions { scale.show(site.error_s) } else { String::new() };
            cells.push(error.into());
        }
        cells.extend([factor, count(site.executions)].map(Cell::from));
        if is_estimated {
            cells.push(count(site.measured).into());
        }
        // Where the region itself is, its heading says.
        let at = place(site.file.as_deref(), site.line).filter(|_| site.context != region.context);
        let at = at.unwrap_or_default();
        let construct = site.construct.strip_prefix("omp ").unwrap_or(&site.construct);
        cells.push(Cell::from(construct).with_tail(at));
        table.row(cells);
    }
    table.narrow(&["measured", "lock", "dispatch", "±", "max/mean"], NAMES, style);
    let mut text = table.render(style);
    if region.sites.len() > shown.len() {
        let hidden = counted(region.sites.len() - shown.len(), "site");
        text.push_str(&format!(" {hidden} not shown: --format json has all.\n"));
    }
    text
}

fn threads_text(region: &RegionRow, style: &Style) -> String {
    let scale = Scale::seconds(region.threads.iter().map(|thread| thread.work_s + thread.lost.lost_s));
    let columns = LossColumns::of(region.threads.iter().map(|thread| &thread.lost));
    let is_known = region.threads.iter().any(|thread| thread.known > 0);
    let more: &[&str] = if is_known { &["came last", "times"] } else { &["times"] };
    let mut titles = columns.titles(&scale, more);
    titles.push(("thread".into(), Align::Left));
    let mut table = Table::new(titles);
    let shown = &region.threads[..region.threads.len().min(THREADS)];
    for thread in shown {
        let mut cells = columns.cells(&scale, thread.work_s, &thread.lost);
        if is_known {
            let percent = |part: u64, all: u64| format!("{:.0} %", 100.0 * part as f64 / all as f64);
            let share = (thread.known > 0).then(|| percent(thread.last, thread.known));
            cells.push(share.unwrap_or_default().into());
        }
        cells.push(count(thread.executions).into());
        cells.push(Cell::from(thread.handle.clone()).with_tail(thread.name.clone()));
        table.row(cells);
    }
    table.narrow(&["lock", "dispatch", "came last"], NAMES, style);
    let mut text = table.render(style);
    if region.threads.len() > shown.len() {
        let hidden = counted(region.threads.len() - shown.len(), "thread");
        text.push_str(&format!(" {hidden} not shown: --format json has all.\n"));
    }
    text
}
