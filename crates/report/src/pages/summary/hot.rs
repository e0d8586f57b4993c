//! The hottest functions and lines of a run, and the hot path, as text.

use proust_words::counted;

use super::{ENDS, Summary};
use crate::number::{Scale, percent};
use crate::pages::{heading, place, tail_of};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

impl Summary {
    pub(super) fn hot_text(&self, style: &Style) -> String {
        let Some(first) = self.hot_functions.first() else {
            return " No samples: the program used too little CPU time.\n\n".into();
        };
        let mut text =
            heading(style, "Hottest functions", self.scope.as_deref().unwrap_or("without what they call"));
        let scale = Scale::seconds([first.exclusive_s]);
        let number =
            || [(scale.title(""), Align::Right), ("±".into(), Align::Right), ("%".into(), Align::Right)];
        let titles = || number().into_iter().chain([("".into(), Align::Left), ("".into(), Align::Left)]);
        let mut table = Table::new(titles());
        for row in &self.hot_functions {
            let tail = tail_of(&row.function, row.file.as_deref(), row.line, row.module.as_deref());
            table.row(vec![
                scale.show(row.exclusive_s).into(),
                scale.show(row.exclusive_error_s).into(),
                percent(row.exclusive_s, self.cpu_s).into(),
                Cell::painted(Paint::Faint, row.handle.clone()),
                Cell::from(row.function.clone()).with_tail(tail),
            ]);
        }
        text.push_str(&table.render(style));
        text.push('\n');
        if !self.hot_lines.is_empty() {
            text.push_str(&heading(style, "Hottest lines", ""));
            let mut table = Table::new([
                (scale.title(""), Align::Right),
                ("%".into(), Align::Right),
                ("".into(), Align::Left),
            ]);
            for row in &self.hot_lines {
                let place = place(Some(&row.file), Some(row.line)).unwrap_or_default();
                let tail =
                    row.function.as_deref().map(|function| format!("in {function}")).unwrap_or_default();
                table.row(vec![
                    scale.show(row.exclusive_s).into(),
                    percent(row.exclusive_s, self.cpu_s).into(),
                    Cell::from(place).with_tail(tail),
                ]);
            }
            text.push_str(&table.render(style));
            text.push('\n');
        }
        text.push_str(&heading(style, "Hot path", "down to where the time spreads"));
        let mut table =
            Table::new([("%".to_owned(), Align::Right), ("".into(), Align::Left), ("".into(), Align::Left)]);
        let skipped = self.hot_path.len().saturating_sub(2 * ENDS);
        for (n, row) in self.hot_path.iter().enumerate() {
            if skipped > 1 && n == ENDS {
                table.row(vec![
                    "".into(),
                    "".into(),
                    Cell::painted(Paint::Faint, format!("… {}", counted(skipped, "more context"))),
                ]);
            }
            if skipped > 1 && (ENDS..ENDS + skipped).contains(&n) {
                continue;
            }
            let called = matches!(row.kind, "frame" | "inline");
            let tail = place(row.file.as_deref(), row.line)
                .filter(|_| called)
                .map(|place| format!("called at {place}"));
            let inlined = if row.kind == "inline" { " (inlined)" } else { "" };
            table.row(vec![
                percent(row.inclusive_s, self.cpu_s).into(),
                Cell::painted(Paint::Faint, format!("c{}", row.id)),
                Cell::from(format!("{}{inlined}", row.name)).with_tail(tail.unwrap_or_default()),
            ]);
        }
        text.push_str(&table.render(style));
        text.push('\n');
        text
    }
}
