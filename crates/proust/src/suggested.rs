//! Arguments for which the shell completes the usual words. Other words are accepted, too: folders of runs,
//! lists of metrics; their meaning is resolved later, with better messages.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use proust_export::FORMATS;
use proust_query::Measure;
use proust_report::{DiffPage, PAGES, PageHead, SweepPage};

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

/// Formats of exports.
pub fn formats() -> Vec<PossibleValue> {
    FORMATS.iter().map(|spec| PossibleValue::new(spec.id).help(spec.about)).collect()
}

/// What `--sort` sorts by.
pub fn orders() -> Vec<PossibleValue> {
    [PossibleValue::new("name")].into_iter().chain(metrics()).collect()
}
