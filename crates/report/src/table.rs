//! Aligned columns, the last of which takes the remaining width.

use unicode_width::UnicodeWidthStr;

use crate::shorten::{middle, name};
use crate::style::{Paint, Style};
use crate::wrap::legend;

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    paint: Paint,
    tail: String,
}

impl Cell {
    /// A cell with emphasis.
    pub fn painted(paint: Paint, text: impl Into<String>) -> Cell {
        Cell { text: printable(text.into()), paint, tail: String::new() }
    }

    /// The same cell with faint text after it, which is given up first when there is no room.
    pub fn with_tail(mut self, tail: impl Into<String>) -> Cell {
        self.tail = printable(tail.into());
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: printable(text.into()), ..Cell::default() }
    }
}

/// A text as it may be shown: names are from programs and may contain anything, which must move no cursor and
/// break no line.
pub(crate) fn printable(text: String) -> String {
    if !text.chars().any(char::is_control) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// As [`printable`], of text in which lines may end.
pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(|line| printable(line.to_owned())).collect::<Vec<_>>().join("\n")
}

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
}

/// Columns that names have at least where they need them, before other columns have room.
pub const NAMES: usize = 40;
/// The last column never gets narrower than this, however narrow the terminal.
const NARROWEST: usize = 20;
/// The other columns may be as wide as this, however narrow the terminal.
const WIDEST: usize = 32;

/// The line below a table that names the columns for which there was no room; nothing where there was.
pub fn not_shown(left_out: &[String], style: &Style) -> String {
    match left_out {
        [] => String::new(),
        titles => legend(&format!("Columns not shown for lack of width: {}.", titles.join(", ")), style),
    }
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        let columns = columns.into_iter().map(|(title, align)| (title.into(), align)).collect();
        Table { columns, rows: Vec::new(), indent: 1 }
    }

    /// Leaves out columns with these titles, one after the other, until the last column has as much room as
    /// its texts need, or `names`. Returns the titles of those that are left out. After all rows are there.
    pub fn narrow(&mut self, dispensable: &[&str], names: usize, style: &Style) -> Vec<String> {
        let last = self.columns.len().saturating_sub(1);
        let whole = |cell: &Cell| match cell.tail.width() {
            0 => cell.text.width(),
            tail => cell.text.width() + 2 + tail,
        };
        let title = self.columns.last().map(|(title, _)| title.width());
        let widest = self.rows.iter().map(|row| whole(&row[last])).chain(title).max().unwrap_or(0);
        let needed = widest.min(names);
        let mut left_out = Vec::new();
        for title in dispensable {
            let fixed: usize =
                self.indent + self.widths(style).iter().rev().skip(1).map(|w| w + 2).sum::<usize>();
            if fixed + needed <= style.width {
                break;
            }
            if let Some(at) = self.columns.iter().position(|(known, _)| known == title) {
                left_out.push(self.columns.remove(at).0);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
        left_out
    }

    /// As [`Table::narrow`] and [`Table::render`], with a line below that names the columns left out.
    pub fn render_within(&mut self, dispensable: &[&str], style: &Style) -> String {
        let left_out = self.narrow(dispensable, NAMES, style);
        self.render(style) + &not_shown(&left_out, style)
    }

    fn widths(&self, style: &Style) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].text.width());
            let widest = cells.chain([self.columns[column].0.width()]).max().unwrap_or(0);
            // A name with many template arguments leaves room for what is behind it.
            widest.min((style.width * 2 / 5).max(WIDEST))
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.columns.len(), Cell::default());
        self.rows.push(cells);
    }

    /// Writes it, each line ended by a line feed.
    pub fn render(&self, style: &Style) -> String {
        let last = self.columns.len().saturating_sub(1);
        let widths = self.widths(style);
        let fixed: usize = self.indent + widths[..last].iter().map(|width| width + 2).sum::<usize>();
        let room = style.width.saturating_sub(fixed).max(NARROWEST);
        let mut text = String::new();
        if self.columns.iter().any(|(title, _)| !title.is_empty()) {
            let titles = self.columns.iter().map(|(title, _)| Cell::painted(Paint::Faint, title.clone()));
            self.line(&titles.collect::<Vec<_>>(), &widths, room, style, &mut text);
        }
        for row in &self.rows {
            self.line(row, &widths, room, style, &mut text);
        }
        text
    }

    fn line(&self, cells: &[Cell], widths: &[usize], room: usize, style: &Style, text: &mut String) {
        let mut line = " ".repeat(self.indent);
        for (column, cell) in cells.iter().enumerate() {
            if column == cells.len() - 1 {
                let shown = name(&cell.text, room, style.unicode);
                let left = room.saturating_sub(shown.width());
                line.push_str(&style.paint(cell.paint, &shown));
                // A tail of which only some letters fit is of no use.
                if !cell.tail.is_empty() && left >= cell.tail.width().min(12) + 2 {
                    line.push_str("  ");
                    line.push_str(&style.paint(Paint::Faint, &middle(&cell.tail, left - 2, style.unicode)));
                }
                break;
            }
            let fitting = middle(&cell.text, widths[column], style.unicode);
            let padding = " ".repeat(widths[column] - fitting.width());
            let shown = style.paint(cell.paint, &fitting);
            match self.columns[column].1 {
                Align::Left => line.push_str(&(shown + &padding)),
                Align::Right => line.push_str(&(padding + &shown)),
            }
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_last_one_is_cut() {
        let mut table = Table::new([("n", Align::Right), ("name", Align::Left)]);
        table.row(vec!["1".into(), "a".into()]);
        table.row(vec!["100".into(), Cell::from("b".repeat(60)).with_tail("file.c:1")]);
        table.row(vec!["7".into(), Cell::from("c").with_tail("file.c:1")]);
        let text = table.render(&Style { width: 40, ..Style::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "   n  name");
        assert_eq!(lines[1], "   1  a");
        assert_eq!(lines[2].chars().count(), 40);
        assert_eq!(lines[3], "   7  c  file.c:1");
    }

    #[test]
    fn columns_make_room_for_names() {
        let titles = [("a", Align::Right), ("bbbbbb", Align::Right), ("c", Align::Right), ("", Align::Left)];
        let mut table = Table::new(titles);
        table.row(vec!["1".into(), "2".into(), "3".into(), Cell::from("x".repeat(20)).with_tail("y:1")]);
        let style = Style { width: 30, ..Style::default() };
        let mut narrow = table.clone();
        assert_eq!(narrow.narrow(&["bbbbbb", "a"], 40, &style), ["bbbbbb", "a"]);
        assert_eq!(narrow.render(&style), format!(" c\n 3  {}  y:1\n", "x".repeat(20)));
        // No more room than asked for.
        assert_eq!(table.narrow(&["bbbbbb", "a"], 20, &style), ["bbbbbb"]);
        assert!(table.narrow(&["c", "none"], 40, &Style { width: 80, ..Style::default() }).is_empty());
        let text = table.render_within(&["a"], &Style { width: 24, ..Style::default() });
        assert_eq!(text, format!(" c\n 3  {}\n Columns not shown for\n lack of width: a.\n", "x".repeat(20)));
    }

    /// Names of other scripts: characters of two columns, and accents that have none of their own.
    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let mut table = Table::new([("name", Align::Left), ("n", Align::Right), ("file", Align::Left)]);
        for name in ["計算", "e\u{301}te\u{301}", "plain"] {
            table.row(vec![name.into(), "7".into(), "a.c".into()]);
        }
        let text = table.render(&Style { width: 40, ..Style::default() });
        let before = |line: &str| line[..line.find("a.c").unwrap_or(line.len())].width();
        let widths: Vec<usize> = text.lines().skip(1).map(before).collect();
        assert_eq!(widths, [widths[0]; 3], "{text}");
    }
}
