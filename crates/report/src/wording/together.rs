//! Notes as pages show them: graded, wrapped, and those that several processes or modules have said once.

use crate::style::{Paint, Style};
use crate::table::printable_lines;
use crate::wrap::wrapped;

use super::NoteRow;

/// So many of those that a note is about are named.
const NAMED: usize = 3;

/// What a page notes, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    /// Whether numbers may be wrong because of it.
    pub(crate) caution: bool,
    pub(crate) text: String,
}

impl Remark {
    /// A reason to doubt numbers.
    pub(crate) fn caution(text: String) -> Remark {
        Remark { caution: true, text }
    }

    /// Lines behind a word: of a page's end.
    pub(crate) fn worded(&self, style: &Style) -> String {
        let grade = if self.caution { "Caution" } else { "Note" };
        let lines = hanging(&printable_lines(&format!("{grade}: {}.", self.text)), 1, style);
        style.paint(Paint::Faint, lines.trim_end_matches('\n')) + "\n"
    }

    /// Lines behind a sign: `!` before a caution, `-` before a note.
    pub(crate) fn signed(&self, style: &Style) -> String {
        let lines = hanging(&printable_lines(&self.text), 3, style);
        let sign = if self.caution { style.paint(Paint::Bad, "!") } else { "-".into() };
        format!(" {sign} {}", lines.trim_start())
    }
}

/// Paragraphs whose later lines stand a little to the right of the first.
fn hanging(text: &str, indent: usize, style: &Style) -> String {
    let mut lines = String::new();
    for paragraph in text.split('\n') {
        let indent = if lines.is_empty() { indent } else { 3 };
        let wrapped = wrapped(paragraph, 3, style.width);
        lines.push_str(&" ".repeat(indent));
        lines.push_str(wrapped.trim_start());
    }
    lines
}

/// The notes, those together that differ only in whom they are about, and in numbers.
pub(crate) fn together(notes: &[NoteRow]) -> Vec<Remark> {
    let mut groups: Vec<(String, Vec<&NoteRow>)> = Vec::new();
    for note in notes {
        let key = format!("{} {}", note.id, without_numbers(whom(&note.text).map_or("", |(_, rest)| rest)));
        let is_whole = whom(&note.text).is_none();
        match groups.iter_mut().find(|(known, _)| *known == key).filter(|_| !is_whole) {
            Some((_, group)) => group.push(note),
            None => groups.push((key, vec![note])),
        }
    }
    groups.iter().map(|(_, group)| remark(group)).collect()
}

fn remark(group: &[&NoteRow]) -> Remark {
    let caution = group.iter().any(|note| note.grade == "caution");
    let text = match group {
        [first, others @ ..] if !others.is_empty() => {
            let subjects: Vec<&str> = group.iter().filter_map(|note| Some(whom(&note.text)?.0)).collect();
            match whom(&first.text) {
                Some((_, rest)) if rest.starts_with(": ") => {
                    format!("{}{rest}", some_of(&subjects, NAMED))
                }
                _ => format!("{}; likewise {}", first.text, some_of(&subjects[1..], NAMED)),
            }
        }
        [first] => first.text.clone(),
        _ => String::new(),
    };
    Remark { caution, text }
}

fn some_of(subjects: &[&str], named: usize) -> String {
    // A single further one is named, too.
    let named = if subjects.len() == named + 1 { named + 1 } else { named };
    let shown = subjects.iter().take(named).copied().collect::<Vec<_>>().join(", ");
    match subjects.len().saturating_sub(named) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Whom a note is about, and what it says of them: `cc1 (pid 7)`, `/usr/bin/make`.
fn whom(text: &str) -> Option<(&str, &str)> {
    if let Some(at) = text.find(" (pid ")
        && let Some(end) = text[at..].find(')')
        && !text[..at].contains(' ')
    {
        return Some(text.split_at(at + end + 1));
    }
    let at = text.find(": ").filter(|&at| text.starts_with('/') && !text[..at].contains(", "))?;
    Some(text.split_at(at))
}

fn without_numbers(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn note(id: &'static str, grade: &'static str, text: &str) -> NoteRow {
        NoteRow { id, grade, text: text.into(), numbers: Map::new() }
    }

    #[test]
    fn what_several_have_is_said_once() {
        let waits = |name: &str, limit: u32| {
            note(
                "sums",
                "note",
                &format!("{name} waited so often that waits below {limit} µs were summed up"),
            )
        };
        let lacks = |module: &str| note("module", "note", &format!("{module}: no debug information"));
        let notes = [
            waits("cc1 (pid 1)", 2),
            lacks("/usr/bin/make"),
            waits("cc1 (pid 2)", 2),
            note("ticks", "caution", "44 % of the samples came at ticks"),
            lacks("/usr/bin/as"),
            waits("ld (pid 3)", 4),
            lacks("/usr/bin/ld"),
            lacks("/usr/bin/cc"),
            lacks("/usr/bin/c++"),
            note("ticks", "caution", "31 % of the samples came at ticks"),
        ];
        let remark = |caution, text: &str| Remark { caution, text: text.into() };
        assert_eq!(
            together(&notes),
            [
                remark(
                    false,
                    "cc1 (pid 1) waited so often that waits below 2 µs were summed up; likewise \
                     cc1 (pid 2), ld (pid 3)"
                ),
                remark(false, "/usr/bin/make, /usr/bin/as, /usr/bin/ld and 2 more: no debug information"),
                remark(true, "44 % of the samples came at ticks"),
                remark(true, "31 % of the samples came at ticks"),
            ]
        );
    }

    #[test]
    fn notes_fit_the_width() {
        let style = Style { width: 40, ..Style::default() };
        let text = "a note of so many words that they do not fit into one line";
        let remark = Remark { caution: false, text: text.into() };
        let worded = remark.worded(&style);
        assert!(worded.starts_with(" Note: a note"), "{worded}");
        assert!(worded.lines().all(|line| line.chars().count() <= 40), "{worded}");
        assert!(worded.lines().nth(1).unwrap().starts_with("   "), "{worded}");
        assert!(remark.signed(&style).starts_with(" - a note"));
        assert!(Remark::caution(text.into()).signed(&style).starts_with(" ! a note"));
    }
}
