//! The locks as text: a table of all, and the details of some.

use proust_words::counted;

use super::super::heading;
use super::super::operations::count;
use super::row::LockRow;
use super::{LINES, Locks};
use crate::number::{Scale, duration, percents};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};

impl Locks {
    pub(super) fn table(&self, style: &Style) -> String {
        let scale = Scale::seconds([self.waited_s]);
        let mut parts: Vec<f64> = self.locks.iter().map(|row| row.waited_s).collect();
        parts.extend(self.cut.iter().map(|cut| cut.amount));
        let waited = scale.show_parts(&parts, self.waited_s);
        let mut titles = vec![(String::new(), Align::Left), (scale.title("waited"), Align::Right)];
        let more = ["waits", "hand-over", "not known", "mean hold", "locks"];
        titles.extend(more.map(|title| (title.to_owned(), Align::Right)));
        titles.extend(["kind", "first waited for in"].map(|title| (title.to_owned(), Align::Left)));
        let mut table = Table::new(titles);
        let some = |seconds: f64| if seconds > 0.0 { scale.show(seconds) } else { "-".to_owned() };
        for (row, waited) in self.locks.iter().zip(&waited) {
            let mean = if row.holds > 0 { duration(row.held_s / row.holds as f64) } else { "-".to_owned() };
            let mut cells = vec![Cell::painted(Paint::Faint, row.handle.clone().unwrap_or_default())];
            let short = || if row.handle.is_none() { "short".to_owned() } else { count(row.waits) };
            cells.extend(
                [waited.clone(), short(), some(row.hand_over_s), some(row.unknown_s), mean].map(Cell::from),
            );
            cells.push(count(row.objects).into());
            cells.push(row.kind.into());
            cells.push(row.site.cell());
            table.row(cells);
        }
        if let Some(cut) = &self.cut {
            let mut cells = vec![Cell::default(), waited[self.locks.len()].clone().into()];
            cells.resize(7, Cell::default());
            let text =
                format!("{} (--limit {})", counted(cut.rows, "more lock"), self.locks.len() + cut.rows);
            cells.extend([Cell::default(), Cell::painted(Paint::Faint, text)]);
            table.row(cells);
        }
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let mut cells = vec![Cell::default(), strong(scale.show(self.waited_s)), strong(count(self.waits))];
        cells.extend([some(self.hand_over_s), some(self.unknown_s)].map(strong));
        cells.extend([Cell::default(), Cell::default(), Cell::default(), "sum".into()]);
        table.row(cells);
        table.narrow(&["locks", "not known", "hand-over", "mean hold"], NAMES, style);
        table.render(style)
    }

    /// The holders of a lock, its waiters, and the pairs of both.
    pub(super) fn details(&self, lock: &LockRow, style: &Style) -> String {
        let lines = if self.only { usize::MAX } else { LINES };
        let title = match &lock.handle {
            Some(handle) => format!("{handle}: {} of {}", lock.kind, lock.site.name()),
            None => "Short waits".to_owned(),
        };
        let scale = Scale::seconds([lock.waited_s]);
        let mut table = Table::new([
            (scale.unit.to_string(), Align::Right),
            ("%".into(), Align::Right),
            ("".into(), Align::Left),
            ("".into(), Align::Left),
            ("".into(), Align::Left),
        ]);
        let mut push = |what: &'static str, seconds: f64, handle: &str, cell: Cell| {
            let share = percents(&[seconds], lock.waited_s).concat();
            table.row(vec![
                scale.show(seconds).into(),
                share.into(),
                what.into(),
                Cell::painted(Paint::Faint, handle),
                cell,
            ]);
        };
        for holder in lock.holders.iter().take(lines) {
            let acquired =
                holder.acquired.as_ref().filter(|acquired| acquired.function != holder.site.function);
            let cell = match acquired {
                Some(acquired) => {
                    Cell::from(holder.site.text()).with_tail(format!("acquired in {}", acquired.text()))
                }
                None => holder.site.cell(),
            };
            push("held by", holder.seconds, &holder.handle, cell);
        }
        if lock.hand_over_s > 0.0 {
            push("hand-over", lock.hand_over_s, "", Cell::default());
        }
        if lock.unknown_s > 0.0 {
            push("holder not known", lock.unknown_s, "", Cell::default());
        }
        for waiter in lock.waiters.iter().take(lines) {
            push("waited in", waiter.seconds, &waiter.handle, waiter.site.cell());
        }
        for pair in lock.pairs.iter().take(lines) {
            let arrow = style.pick(" ← ", " <- ");
            let names = format!("{}{arrow}{} {}", pair.waiter.name, pair.holder.handle, pair.holder.name);
            push("who for whom", pair.seconds, &pair.waiter.handle, names.into());
        }
        "\n".to_owned() + &heading(style, &title, "") + &table.render(style)
    }
}
