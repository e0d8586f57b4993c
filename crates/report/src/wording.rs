//! The words of notes, a file for each family of them: what happened is data, and this is where it becomes
//! English.
//!
//! - `run`: notes about a run
//! - `module`: what could not be known of modules
//! - `scope`: notes about what a filter selects
//! - `page`: what pages note about themselves
//! - `sweep`: notes about the runs of a sweep
//! - `caution`: reasons to doubt a comparison
//! - `gap`: what is missing in a run's data
//! - `analysis`: what became of a run's kept analysis
//! - `subject`: whom a note is about
//! - `together`: notes as pages show them

mod analysis;
mod caution;
mod gap;
mod intervals;
mod module;
mod page;
mod process;
mod run;
mod scope;
mod subject;
mod sweep;
mod together;

use proust_profile::notes::Noted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use caution::caution_text;
pub use gap::{gaps_listed, gaps_text};
pub use module::joined;
pub(crate) use page::PageNote;
pub(crate) use scope::what_there_is;
use subject::Subject;
pub use sweep::{GapsOfRun, SweepNote};
pub(crate) use together::Remark;
use together::together;

use crate::style::Style;

/// A note that has words.
pub trait Worded: Noted {
    /// A sentence without its end.
    fn text(&self) -> String;
}

/// A note as in JSON: its identifier, its grade, its words and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoteRow {
    id: &'static str,
    grade: &'static str,
    text: String,
    /// The numbers, by their names.
    #[serde(flatten)]
    numbers: Map<String, Value>,
    /// Whom it is about, where others may have the same.
    #[serde(skip)]
    subject: Option<Subject>,
}

impl NoteRow {
    /// This one.
    pub(crate) fn new(note: &impl Worded) -> NoteRow {
        // A note is a struct of strings and numbers, which can always be written as JSON.
        let mut numbers = match serde_json::to_value(note) {
            Ok(Value::Object(numbers)) => numbers,
            _ => Map::new(),
        };
        numbers.remove("id");
        let subject = Subject::of(&numbers);
        NoteRow { id: note.id(), grade: note.grade().id(), text: note.text(), numbers, subject }
    }

    /// The same in other words.
    pub(crate) fn with_text(mut self, text: String) -> NoteRow {
        self.text = text;
        self
    }

    /// The line that a page shows.
    pub(crate) fn line(&self, style: &Style) -> String {
        together(std::slice::from_ref(self)).iter().map(|remark| remark.worded(style)).collect()
    }
}

/// The notes of a page. In JSON these are `notes`, their words, and `noted`, the same as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Notes {
    notes: Vec<String>,
    noted: Vec<NoteRow>,
}

impl Notes {
    /// These.
    pub fn of<N: Worded>(notes: &[N]) -> Notes {
        let mut all = Notes::default();
        all.add(notes);
        all
    }

    /// One more.
    pub fn push(&mut self, note: impl Worded) {
        let row = NoteRow::new(&note);
        self.notes.push(row.text.clone());
        self.noted.push(row);
    }

    /// More of them.
    pub fn add<N: Worded>(&mut self, notes: &[N]) {
        for note in notes {
            let row = NoteRow::new(note);
            self.notes.push(row.text.clone());
            self.noted.push(row);
        }
    }

    /// Their words.
    pub fn texts(&self) -> &[String] {
        &self.notes
    }

    /// As pages show them: what several processes or modules have is said once.
    pub(crate) fn together(&self) -> Vec<Remark> {
        together(&self.noted)
    }

    /// Lines for each, as pages show them.
    pub(crate) fn lines(&self, style: &Style) -> String {
        self.together().iter().map(|remark| remark.worded(style)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proust_compare::diff::Caution;
    use proust_profile::notes::{Gap, ModuleNote, NoteKind, RunNote, SweepFileNote};
    use proust_query::ScopeNote;

    use super::*;

    /// Pages end a note with a full stop.
    fn check<N: Worded>(all: Vec<N>) {
        for note in all {
            let text = note.text();
            assert!(!text.trim().is_empty() && !text.ends_with('.'), "{}: {text:?}", note.id());
            let row = serde_json::to_value(NoteRow::new(&note)).unwrap();
            assert_eq!(row["id"], note.id());
            assert_eq!(row["grade"], note.grade().id());
            assert_eq!(row["text"], text);
        }
    }

    #[test]
    fn every_note_has_words() {
        // The words about a module are those of its problems.
        let with_words = |note: &RunNote| !matches!(note, RunNote::Module { .. });
        check(RunNote::one_of_each().into_iter().filter(with_words).collect());
        check(ModuleNote::one_of_each());
        check(Gap::one_of_each());
        check(SweepFileNote::one_of_each());
        check(SweepNote::one_of_each());
        check(ScopeNote::one_of_each());
        check(PageNote::one_of_each());
        check(Caution::one_of_each());
        check(proust_store::Note::one_of_each());
    }

    /// The tables in the documents are those of the program.
    #[test]
    fn the_documents_list_all_notes() {
        let document = include_str!("../../../docs/notes.md");
        let families: [(&str, &[NoteKind]); 8] = [
            ("runs", RunNote::ALL),
            ("modules", ModuleNote::ALL),
            ("selections", ScopeNote::ALL),
            ("pages", PageNote::ALL),
            ("sweeps as they were made", SweepFileNote::ALL),
            ("the runs of a sweep", SweepNote::ALL),
            ("gaps", Gap::ALL),
            ("comparisons", Caution::ALL),
        ];
        for (family, kinds) in families {
            let row = |kind: &NoteKind| {
                let fields: Vec<String> = kind.fields.iter().map(|field| format!("`{field}`")).collect();
                let fields = if fields.is_empty() { "–".into() } else { fields.join(", ") };
                format!("| `{}` | {} | {} | {fields} |\n", kind.id, kind.grade.id(), kind.about)
            };
            let rows: String = kinds.iter().map(row).collect();
            let table = format!("| `id` | grade | says | fields |\n|---|---|---|---|\n{rows}\n");
            assert!(document.contains(&table), "docs/notes.md must contain, of {family},\n{table}");
        }
    }
}
