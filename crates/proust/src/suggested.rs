//! Arguments for which the shell completes the usual words. Other words are accepted, too: folders of runs,
//! lists of metrics; their meaning is resolved later, with better messages.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use proust_query::{Grouping, Measure};
use proust_report::{Column, DiffPage, PAGES, PageHead, PageType, Sort, SweepPage};
use proust_words::nearest::nearest;

/// Any text, with the words that a shell completes.
#[derive(Clone, Copy, Debug)]
pub struct Suggested(pub fn() -> Vec<PossibleValue>);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}

/// A value that a word stands for, with the words that a shell completes.
#[derive(Debug)]
pub struct Typed<T> {
    /// Reads it; the message of an error says what is accepted.
    pub parse: fn(&str) -> Result<T, String>,
    /// The words.
    pub words: fn() -> Vec<PossibleValue>,
}

impl<T> Clone for Typed<T> {
    fn clone(&self) -> Self {
        Typed { ..*self }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Typed<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        let wrong =
            |message: String| Error::raw(ErrorKind::ValueValidation, message + "\n").with_cmd(command);
        (self.parse)(&text).map_err(wrong)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter()))
    }
}

/// The columns of `--metrics`.
pub const COLUMNS: Typed<Vec<Column>> =
    Typed { parse: |text| Column::parse_list(text).map_err(|error| error.to_string()), words: metrics };

/// The order of `--sort`.
pub const ORDER: Typed<Sort> =
    Typed { parse: |text| Sort::parse(text).map_err(|error| error.to_string()), words: orders };

/// The rows of `--by`.
pub const GROUPING: Typed<Grouping> = Typed {
    parse: |text| {
        Grouping::from_id(text).ok_or_else(|| {
            let known = Grouping::ALL.iter().map(|by| by.id());
            let end = match nearest(text, known.clone(), 1).first() {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
            };
            format!("rows cannot be `{text}`; {end}")
        })
    },
    words: || Grouping::ALL.iter().map(|by| PossibleValue::new(by.id()).help(by.about())).collect(),
};

/// The sorts of pages whose JSON has a type.
pub fn page_types() -> Vec<PossibleValue> {
    PageType::all().into_iter().map(|page| PossibleValue::new(page.id).help(page.about)).collect()
}

fn page(head: PageHead) -> PossibleValue {
    PossibleValue::new(head.id).help(head.about)
}

/// Pages of a run and of a sweep.
pub fn pages() -> Vec<PossibleValue> {
    let of_runs = PAGES.iter().map(|spec| spec.head);
    let is_new = |head: &PageHead| PAGES.iter().all(|spec| spec.head.id != head.id);
    of_runs.chain(SweepPage::ALL.map(SweepPage::head).into_iter().filter(is_new)).map(page).collect()
}

/// Pages of a comparison.
pub fn pages_of_comparisons() -> Vec<PossibleValue> {
    DiffPage::ALL.map(DiffPage::head).into_iter().map(page).collect()
}

/// What `--metrics` counts.
pub fn metrics() -> Vec<PossibleValue> {
    Measure::all().map(|measure| PossibleValue::new(measure.id())).collect()
}

/// What `--sort` sorts by.
pub fn orders() -> Vec<PossibleValue> {
    [PossibleValue::new("name")].into_iter().chain(metrics()).collect()
}
