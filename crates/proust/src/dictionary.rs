//! The words of the reports that `explain` knows.

use proust_findings::Kind;

/// The word for all thresholds of findings.
pub const THRESHOLDS: &str = "thresholds";

/// One entry of the dictionary.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The word.
    pub word: &'static str,
    /// What sort of word it is: account, metric, page …
    pub sort: &'static str,
    /// What it means.
    pub text: &'static str,
}

/// Entries are set apart by empty lines; the first line of each is `word: sort`.
pub const DICTIONARY: &str = include_str!("explain/dictionary.txt");

/// The entries in their order.
pub fn entries() -> impl Iterator<Item = Entry> {
    DICTIONARY.trim().split("\n\n").filter_map(|entry| {
        let (head, text) = entry.split_once('\n')?;
        let (word, sort) = head.split_once(": ")?;
        Some(Entry { word, sort, text })
    })
}

/// All words that can be explained, with what sort of word each is.
pub fn words() -> impl Iterator<Item = (&'static str, &'static str)> {
    let kinds = Kind::ALL.iter().map(|kind| (kind.id(), "finding"));
    entries().map(|entry| (entry.word, entry.sort)).chain(kinds).chain([(THRESHOLDS, "of findings")])
}
