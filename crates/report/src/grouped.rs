//! A page for several processes or programs, one after the other.
//!
//! JSON: `{"schema":1,"by":"process","groups":[…],"cut":{"rows","amount"}}`. A group is
//! `{"handle","name","processes","cpu_s","page"}`, where the page is that of the group alone.

use std::io::{self, Write};

use proust_words::counted;

use crate::groups::{Group, Grouping};
use crate::number::duration;
use crate::question::Format;
use crate::schema::SCHEMA;
use crate::shorten::middle;
use crate::style::{Paint, Style};

/// So much of a group's name stays, however narrow the terminal is.
const NAME: usize = 30;

/// The groups, and the pages of those that are shown.
#[derive(Clone, Debug)]
pub struct GroupedPages {
    by: Grouping,
    groups: Vec<Group>,
    shown: usize,
    pages: Vec<Vec<u8>>,
}

impl GroupedPages {
    /// Of these groups, the first of which are shown.
    pub fn new(by: Grouping, groups: Vec<Group>, shown: usize) -> GroupedPages {
        let shown = shown.min(groups.len());
        GroupedPages { by, groups, shown, pages: Vec::new() }
    }

    /// The groups for which a page is shown.
    pub fn shown(&self) -> Vec<Group> {
        self.groups[..self.shown].to_vec()
    }

    /// Adds the page of the next group, in the format in which all are written.
    pub fn add(&mut self, page: Vec<u8>) {
        self.pages.push(page);
    }

    /// Writes them.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, format: Format, style: &Style, to: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Json => self.json(to),
            Format::Text | Format::Csv => self.text(style, to),
        }
    }

    fn left(&self) -> (usize, f64) {
        let left = &self.groups[self.shown..];
        (left.len(), left.iter().map(|group| group.cpu_s).sum())
    }

    fn text(&self, style: &Style, to: &mut dyn Write) -> io::Result<()> {
        let total_s: f64 = self.groups.iter().map(|group| group.cpu_s).sum();
        for (group, page) in self.groups.iter().zip(&self.pages) {
            let percent = if total_s > 0.0 { 100.0 * group.cpu_s / total_s } else { 0.0 };
            let head = format!("{} ({percent:.1} %)  ", duration(group.cpu_s));
            let what = group.handle.clone().unwrap_or_else(|| counted(group.processes, "process image"));
            let room = style.width.saturating_sub(head.chars().count() + what.chars().count() + 2);
            let name = style.paint(Paint::Strong, &middle(&group.name, room.max(NAME), style.unicode));
            writeln!(to, "{}", style.plain(format!("{head}{name}  {what}")))?;
            to.write_all(page)?;
            writeln!(to)?;
        }
        let (left, left_s) = self.left();
        if left > 0 {
            let noun = match self.by {
                Grouping::Processes => "more process image",
                Grouping::Programs => "more program",
            };
            let line = format!(" {} with {} of CPU time (--groups)", counted(left, noun), duration(left_s));
            writeln!(to, "{}", style.plain(style.paint(Paint::Faint, &line)))?;
        }
        Ok(())
    }

    fn json(&self, to: &mut dyn Write) -> io::Result<()> {
        let by = self.by.id();
        write!(to, "{{\"schema\":{SCHEMA},\"by\":\"{by}\",\"groups\":[")?;
        for (n, (group, page)) in self.groups.iter().zip(&self.pages).enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let word = |text: &str| serde_json::to_string(text).map_err(io::Error::other);
            let handle = group.handle.as_deref().map_or(Ok("null".to_owned()), word)?;
            let (name, processes, cpu_s) = (word(&group.name)?, group.processes, group.cpu_s);
            write!(
                to,
                "{comma}{{\"handle\":{handle},\"name\":{name},\"processes\":{processes},\
                 \"cpu_s\":{cpu_s},\"page\":"
            )?;
            to.write_all(page.trim_ascii_end())?;
            write!(to, "}}")?;
        }
        let (left, left_s) = self.left();
        writeln!(to, "],\"cut\":{{\"rows\":{left},\"amount\":{left_s}}}}}")
    }
}
