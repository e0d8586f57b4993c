//! The page `intervals` as text.

use proust_account::ledger::Account;
use proust_words::counted;

use super::super::{heading, place};
use super::{IntervalsPage, Row};
use crate::number::{Scale, duration, percent, sum};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// An account has a column of its own in text where it is so much of an interval's total.
const WORTH_A_COLUMN: f64 = 0.01;

impl IntervalsPage {
    fn table(&self, style: &Style) -> String {
        let rows = &self.intervals;
        let scale = Scale::seconds(rows.iter().map(|row| row.total_s));
        let is_worth = |account: &Account| {
            let of = |row: &Row| row.accounts.get(account.id()).copied().unwrap_or(0.0);
            rows.iter().any(|row| of(row) > WORTH_A_COLUMN * row.total_s)
        };
        let accounts: Vec<Account> = Account::ALL.into_iter().filter(is_worth).collect();
        let parts: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                // What has no column is one: the shown amounts add up to the total.
                let of = |account: &Account| row.accounts.get(account.id()).copied().unwrap_or(0.0);
                let mut parts: Vec<f64> = accounts.iter().map(of).collect();
                parts.push(row.total_s - sum(parts.iter().copied()));
                scale.show_parts(&parts, row.total_s)
            })
            .collect();
        let has_rest = parts.iter().any(|parts| parts.last().is_some_and(|rest| !is_nothing(rest)));
        let mut titles: Vec<(String, Align)> =
            ["kind", "runs"].map(|title| (title.to_owned(), Align::Right)).to_vec();
        titles.push((Scale::seconds(rows.iter().map(|row| row.execution_s)).title("time"), Align::Right));
        titles.push(("P".into(), Align::Right));
        titles.push((scale.title("total"), Align::Right));
        titles.push(("eff.".into(), Align::Right));
        let times = Scale::seconds(rows.iter().map(|row| row.execution_s));
        let fixed_width = 52;
        let mut room = style.width.saturating_sub(fixed_width + 24);
        let mut shown = Vec::new();
        for (n, account) in accounts.iter().enumerate() {
            let width = account.id().len().max(8) + 2;
            if width <= room {
                room -= width;
                shown.push(n);
            }
        }
        let is_all = shown.len() == accounts.len() && !has_rest;
        titles.extend(shown.iter().map(|&n| (accounts[n].id().to_owned(), Align::Right)));
        if !is_all {
            titles.push(("others".into(), Align::Right));
        }
        titles.push(("interval".into(), Align::Left));
        let mut table = Table::new(titles);
        for (row, parts) in rows.iter().zip(&parts) {
            let processors = if row.alone { "-".to_owned() } else { row.processors.to_string() };
            let mut cells = vec![
                Cell::painted(Paint::Faint, row.kind),
                Cell::from(row.executions.to_string()),
                Cell::from(times.show(row.execution_s)),
                Cell::from(processors),
                Cell::from(scale.show(row.total_s)),
                Cell::from(row.efficiency.map_or_else(|| "-".into(), |part| percent(part, 1.0))),
            ];
            cells.extend(shown.iter().map(|&n| Cell::from(parts[n].clone())));
            if !is_all {
                let of = |n: usize| row.accounts.get(accounts[n].id()).copied().unwrap_or(0.0);
                let rest = row.total_s - sum(shown.iter().map(|&n| of(n)));
                let split: Vec<f64> = shown.iter().map(|&n| of(n)).chain([rest]).collect();
                let last = scale.show_parts(&split, row.total_s).pop().unwrap_or_default();
                cells.push(Cell::from(last));
            }
            let indent = "  ".repeat(row.level);
            let tail = place(row.file.as_deref(), row.line).unwrap_or_default();
            cells.push(Cell::from(format!("{indent}{}", row.label)).with_tail(tail));
            table.row(cells);
        }
        table.render(style)
    }

    fn of_one(&self, row: &Row, style: &Style) -> String {
        let mut text = String::from("\n");
        let executions = format!(
            "{}: shortest {}, mean {}, longest {}{}",
            counted(row.executions, "execution"),
            duration(row.min_s),
            duration(row.mean_s),
            duration(row.max_s),
            if row.iterations > 0 {
                format!("; {}", counted(row.iterations, "iteration"))
            } else {
                String::new()
            }
        );
        text.push_str(&heading(style, &row.label, &executions));
        let titles = [
            ("", Align::Left),
            ("runs", Align::Right),
            ("time", Align::Right),
            ("active", Align::Right),
            ("passive", Align::Right),
            ("most of it", Align::Left),
            ("thread", Align::Left),
        ];
        let mut table = Table::new(titles);
        for location in &row.locations {
            let mut most: Vec<(&str, f64)> = location.accounts.iter().map(|(id, s)| (*id, *s)).collect();
            most.sort_by(|a, b| b.1.total_cmp(&a.1));
            let most: Vec<String> =
                most.iter().take(3).map(|(id, seconds)| format!("{id} {}", duration(*seconds))).collect();
            let rank = location.rank.map_or_else(String::new, |rank| format!("rank {rank}, "));
            table.row(vec![
                Cell::painted(Paint::Faint, location.handle.clone()),
                Cell::from(location.executions.to_string()),
                Cell::from(duration(location.time_s)),
                Cell::from(duration(location.active_s)),
                Cell::from(duration(location.passive_s)),
                Cell::from(most.join(", ")),
                Cell::from(format!("{rank}{}", location.name)),
            ]);
        }
        text.push_str(&table.render(style));
        text.push_str(&over_threads(row, style));
        if let Some(caused) = row.caused.as_ref().and_then(super::causes::Caused::text) {
            text.push_str(&crate::wrap::wrapped(&caused, 1, style.width));
        }
        text
    }

    /// The characteristics of an interval.
    fn characteristics(&self, row: Option<&Row>, style: &Style) -> String {
        let Some((row, of)) = row.and_then(|row| Some((row, row.characterised.as_ref()?))) else {
            return String::new();
        };
        let title = format!("Characteristics of {}", row.label);
        let explanation = "as the DVM system defines them; --format dvm prints all of them";
        let mut text = String::from("\n") + &heading(style, &title, explanation);
        let blocks = super::classic::main(&of.interval, false) + &super::classic::pop(&of.interval);
        for line in blocks.lines() {
            text.push_str(&format!(" {line}\n"));
        }
        text.push_str(" Conclusions\n");
        for (n, step) in super::advice::of(&of.interval).iter().enumerate() {
            text.push_str(&crate::wrap::wrapped(&format!("{}. {}", n + 1, step.text), 2, style.width));
        }
        text
    }

    /// The forecasts beside real runs.
    fn one_processor(&self, style: &Style) -> String {
        let table = super::one_processor::table(&self.intervals, &self.references, style);
        if table.is_empty() {
            return table;
        }
        let title =
            heading(style, "On one processor", "the forecast is no measurement: `proust explain forecast`");
        format!("\n{title}{table}")
    }

    /// How the characteristics are read, level by level on the way to the critical part.
    fn conclusions(&self, style: &Style) -> String {
        let mut text = String::new();
        let way = self.critical.iter().filter_map(|&at| self.intervals.get(at));
        for (row, of) in way.filter_map(|row| Some((row, row.characterised.as_ref()?))) {
            text.push_str(&format!(" level {}, {}:\n", row.level, row.label));
            for (n, step) in super::advice::of(&of.interval).iter().enumerate() {
                text.push_str(&crate::wrap::wrapped(&format!("{}. {}", n + 1, step.text), 3, style.width));
            }
        }
        if text.is_empty() {
            return text;
        }
        let title = heading(style, "Conclusions", "by the characteristics of the DVM system, level by level");
        format!("\n{title}{text}")
    }

    /// The way to the critical part, level by level.
    fn critical_part(&self, style: &Style) -> String {
        let way = self.critical.iter().filter_map(|&at| self.intervals.get(at)).map(|row| {
            let efficiency = row.characterised.as_ref().and_then(|of| of.interval.efficiency());
            let lost_s = row.characterised.as_ref().map_or(0.0, |of| of.interval.lost_ns as f64 / 1e9);
            let efficiency = efficiency.map_or_else(|| "-".into(), |part| percent(part, 1.0));
            format!("{} ({efficiency} %, {} lost)", row.label, duration(lost_s))
        });
        let way: Vec<String> = way.collect();
        if way.len() < 2 {
            return String::new();
        }
        let text = format!("critical part, by DVM's efficiency and lost time: {}", way.join(" > "));
        crate::wrap::wrapped(&text, 1, style.width)
    }

    /// The page as text.
    pub(super) fn as_text(&self, style: &Style) -> String {
        let mut text = heading(style, "Marked intervals", &self.scope);
        if self.intervals.len() < 2 {
            if self.is_without_marks {
                let none = "no marks were executed here; the guide says how to make some \
                            (docs/pages/intervals.md)";
                text.push_str(&crate::wrap::wrapped(none, 1, style.width));
            }
            if self.places.is_empty() {
                text.push_str(&self.characteristics(self.intervals.first(), style));
                text.push_str(&self.one_processor(style));
            }
            return text + &self.places_as_text(style) + &self.notes.lines(style);
        }
        text.push_str(&self.table(style));
        if let Some(cut) = &self.cut {
            let more = format!(" {} more are not shown; --limit N shows more", cut.rows);
            text.push_str(&(style.paint(Paint::Faint, &more) + "\n"));
        }
        text.push_str(&self.critical_part(style));
        if self.is_one
            && let Some(row) = self.intervals.get(1)
        {
            text.push_str(&self.of_one(row, style));
            text.push_str(&self.characteristics(Some(row), style));
        } else {
            text.push_str(&self.conclusions(style));
        }
        text.push_str(&self.one_processor(style));
        let legend = "total = P × time in the interval, other threads of its processes included; time: of \
                      the thread that takes longest; kind: SEQ, PAR (parallel) or COMB (contains parallel \
                      ones).";
        text.push_str(&style.paint(Paint::Faint, &crate::wrap::wrapped(legend, 1, style.width)));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text + &self.places_as_text(style) + &self.notes.lines(style)
    }
}

/// Least, most and mean of each account over the threads that execute an interval; nothing where only one
/// does.
fn over_threads(row: &Row, style: &Style) -> String {
    let executing = row.locations.iter().filter(|location| location.executions > 0).count();
    if executing < 2 || row.comparative.is_empty() {
        return String::new();
    }
    let scale = Scale::seconds(row.comparative.values().map(|of| of.max_s));
    let titles = [
        ("account".to_owned(), Align::Left),
        (scale.title("min"), Align::Right),
        ("at".into(), Align::Left),
        (scale.title("max"), Align::Right),
        ("at".into(), Align::Left),
        (scale.title("mean"), Align::Right),
    ];
    let mut table = Table::new(titles);
    for account in Account::ALL {
        let Some(of) = row.comparative.get(account.id()) else { continue };
        table.row(vec![
            Cell::from(account.id()),
            Cell::from(scale.show(of.min_s)),
            Cell::painted(Paint::Faint, of.min_at.clone()),
            Cell::from(scale.show(of.max_s)),
            Cell::painted(Paint::Faint, of.max_at.clone()),
            Cell::from(scale.show(of.mean_s)),
        ]);
    }
    let title = format!("Accounts of {} over its threads", row.label);
    let explanation = format!("the {} that execute it", counted(executing, "thread"));
    format!("\n{}{}", heading(style, &title, &explanation), table.render(style))
}

fn is_nothing(shown: &str) -> bool {
    !shown.chars().any(|c| c.is_ascii_digit() && c != '0')
}
