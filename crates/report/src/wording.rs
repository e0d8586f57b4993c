//! The words of notes, a file for each family of them: what happened is data, and this is where it becomes
//! English.
//!
//! - `run`: notes about a run
//! - `module`: what could not be known of modules
//! - `scope`: notes about what a filter selects
//! - `page`: what pages note about themselves
//! - `sweep`: notes about the runs of a sweep
//! - `caution`: reasons to doubt a comparison
//! - `figure`: the numbers that findings are found by
//! - `threshold`: what thresholds are compared with

mod module;
mod page;
mod run;
mod scope;
mod sweep;

use proust_profile::notes::Noted;
use serde::Serialize;
use serde_json::{Map, Value};

pub use module::joined;
pub(crate) use page::PageNote;
pub(crate) use scope::what_there_is;
pub use sweep::{GapsOfRun, SweepNote};

use crate::style::{Paint, Style};
use crate::table::printable_lines;

/// A note that has words.
pub trait Worded: Noted {
    /// A sentence without its end.
    fn text(&self) -> String;
}

/// A note as in JSON: its identifier, its grade, its words and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoteRow {
    id: &'static str,
    grade: &'static str,
    text: String,
    /// The numbers, by their names.
    #[serde(flatten)]
    numbers: Map<String, Value>,
}

impl NoteRow {
    fn new(note: &(impl Worded + ?Sized)) -> NoteRow {
        // A note is a struct of strings and numbers, which can always be written as JSON.
        let mut numbers = match serde_json::to_value(note) {
            Ok(Value::Object(numbers)) => numbers,
            _ => Map::new(),
        };
        numbers.remove("id");
        NoteRow { id: note.id(), grade: note.grade().id(), text: note.text(), numbers }
    }
}

/// The notes of a page. In JSON these are `notes`, their words, and `noted`, the same as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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

    /// A line for each, as pages show them.
    pub(crate) fn lines(&self, style: &Style) -> String {
        let line =
            |note: &String| style.paint(Paint::Faint, &printable_lines(&format!(" Note: {note}."))) + "\n";
        self.notes.iter().map(line).collect()
    }
}
