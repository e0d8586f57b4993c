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
    let mut groups: Vec<Vec<&NoteRow>> = Vec::new();
    for note in notes {
        match groups.iter_mut().find(|group| says_the_same(group[0], note)) {
            Some(group) => group.push(note),
            None => groups.push(vec![note]),
        }
    }
    groups.iter().map(|group| remark(group)).collect()
}

fn says_the_same(a: &NoteRow, b: &NoteRow) -> bool {
    a.id == b.id
        && match (&a.subject, &b.subject) {
            (Some(a), Some(b)) => a.alike == b.alike,
            _ => a.text == b.text,
        }
}

fn remark(group: &[&NoteRow]) -> Remark {
    let first = group[0];
    let mut subjects: Vec<&str> = Vec::new();
    for subject in group.iter().filter_map(|note| Some(note.subject.as_ref()?.name.as_str())) {
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    let caution = group.iter().any(|note| note.grade == "caution");
    let said = of_whom(first);
    let is_same = group.iter().all(|note| of_whom(note) == said);
    let text = match &subjects[..] {
        [] | [_] => first.text.clone(),
        all if is_same && said.starts_with(": ") => format!("{}{said}", some_of(all, NAMED)),
        [_, others @ ..] => {
            let likewise = if is_same { "likewise" } else { "likewise, with other figures," };
            format!("{}; {likewise} {}", first.text, some_of(others, NAMED))
        }
    };
    Remark { caution, text }
}

/// A note's words without the name of whom it is about.
fn of_whom(note: &NoteRow) -> String {
    match &note.subject {
        Some(whom) => note.text.replacen(&whom.name, "", 1),
        None => note.text.clone(),
    }
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

#[cfg(test)]
mod tests {
    use proust_profile::notes::{ModuleNote, RunNote, Unloadable, Which};

    use super::*;

    fn who(name: &str, pid: u32) -> Which {
        Which { name: name.into(), pid }
    }

    fn row(note: RunNote) -> NoteRow {
        NoteRow::new(&note)
    }

    fn waits(name: &str, pid: u32, below_us: u64) -> NoteRow {
        row(RunNote::WaitsInSums { process: who(name, pid), below_ns: 1000 * below_us })
    }

    fn lacks(module: &str) -> NoteRow {
        NoteRow::new(&ModuleNote::NoDebugInfo { path: module.into() })
    }

    fn ticks(pid: u32, samples: u64) -> NoteRow {
        row(RunNote::AtTicks { process: who("cc1", pid), samples, of: 100, tick_ns: 4_000_000 })
    }

    fn is_said(remark: &Remark, caution: bool, begin: &str, end: &str) {
        assert_eq!(remark.caution, caution, "{remark:?}");
        assert!(remark.text.starts_with(begin) && remark.text.ends_with(end), "{remark:?}");
    }

    #[test]
    fn what_several_have_is_said_once() {
        let notes = [
            waits("cc1", 1, 2),
            lacks("/usr/bin/make"),
            waits("cc1", 2, 2),
            lacks("/usr/bin/as"),
            lacks("/usr/bin/ld"),
            lacks("/usr/bin/cc"),
            lacks("/usr/bin/c++"),
        ];
        let remarks = together(&notes);
        assert_eq!(remarks.len(), 2, "{remarks:#?}");
        is_said(&remarks[0], false, "cc1 (pid 1) ", "; likewise cc1 (pid 2)");
        is_said(
            &remarks[1],
            false,
            "/usr/bin/make, /usr/bin/as, /usr/bin/ld and 2 more: no debug information",
            "",
        );
    }

    /// A build has hundreds of processes, and notes name them anywhere in the sentence.
    #[test]
    fn a_process_may_be_named_in_the_middle() {
        let mut notes: Vec<NoteRow> = (1..=135).map(|pid| ticks(pid, 20 + u64::from(pid) % 40)).collect();
        notes.insert(7, row(RunNote::SignalGivenUp { process: who("python 3", 7) }));
        notes.push(row(RunNote::SignalGivenUp { process: who("python 3", 8) }));
        let remarks = together(&notes);
        assert_eq!(remarks.len(), 2, "{remarks:#?}");
        let others = "; likewise, with other figures, cc1 (pid 2), cc1 (pid 3), cc1 (pid 4) and 131 more";
        is_said(&remarks[0], true, "21 % of the samples of cc1 (pid 1) ", others);
        is_said(&remarks[1], true, "a thread of python 3 (pid 7) blocks", "; likewise python 3 (pid 8)");
    }

    #[test]
    fn other_notes_stay_apart_and_what_is_the_same_is_said_once() {
        let without =
            |reason| row(RunNote::WithoutCollector { process: who("make", 3), programs: 1, reason });
        let logs = |logs| row(RunNote::LogsGone { logs });
        let notes =
            [without(Unloadable::OtherRoot), without(Unloadable::OtherLibrary), logs(1), logs(2), logs(1)];
        assert_eq!(together(&notes).len(), 4);
    }

    /// Whatever a note says, two processes of which it is true are one paragraph, and both are named.
    #[test]
    fn every_note_about_a_process_is_said_of_several_at_once() {
        for note in RunNote::one_of_each() {
            let of = |pid: u32| {
                let mut note = serde_json::to_value(&note).unwrap();
                note.get_mut("process")?["name"] = "prog".into();
                note["process"]["pid"] = pid.into();
                Some(row(serde_json::from_value(note).unwrap()))
            };
            let (Some(one), Some(two)) = (of(11), of(12)) else { continue };
            let remarks = together(&[one, two]);
            let [remark] = &remarks[..] else { panic!("{remarks:#?}") };
            for name in ["prog (pid 11)", "prog (pid 12)"] {
                assert_eq!(remark.text.matches(name).count(), 1, "{remark:?}");
            }
        }
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
