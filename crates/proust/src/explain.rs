//! `proust explain`: the words of the reports.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_analysis::query::nearest;
use proust_report::Paint;

use crate::failure::WrongUsage;
use crate::{output, terminal};

/// Arguments of `proust explain`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  proust explain serial\n  proust explain cpu_residual\n  proust explain")]
pub struct ExplainArgs {
    /// A word of the reports; without it all words are listed
    pub word: Option<String>,
}

/// One entry of the dictionary.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    word: &'static str,
    /// What sort of word it is: account, metric, page …
    sort: &'static str,
    text: &'static str,
}

/// Entries are set apart by empty lines; the first line of each is `word: sort`.
const DICTIONARY: &str = include_str!("explain/dictionary.txt");

fn entries() -> impl Iterator<Item = Entry> {
    DICTIONARY.trim().split("\n\n").filter_map(|entry| {
        let (head, text) = entry.split_once('\n')?;
        let (word, sort) = head.split_once(": ")?;
        Some(Entry { word, sort, text })
    })
}

/// Explains a word.
///
/// # Errors
/// When the word is not known.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let style = terminal::style();
    let Some(word) = &args.word else {
        let mut text = String::new();
        let mut sorts: Vec<&str> = entries().map(|entry| entry.sort).collect();
        sorts.dedup();
        for sort in sorts {
            let words: Vec<&str> =
                entries().filter(|entry| entry.sort == sort).map(|entry| entry.word).collect();
            text.push_str(&format!("{}\n  {}\n", style.paint(Paint::Strong, sort), words.join(", ")));
        }
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let found: Vec<Entry> = entries().filter(|entry| entry.word.eq_ignore_ascii_case(word)).collect();
    if found.is_empty() {
        let known: Vec<&str> = entries().map(|entry| entry.word).collect();
        let alike = nearest(word, known, 4);
        let end = if alike.is_empty() {
            "`proust explain` lists all words".to_owned()
        } else {
            format!("did you mean {}?", alike.join(", "))
        };
        return Err(WrongUsage(format!("`{word}` is not a word of the reports; {end}")).into());
    }
    let text: Vec<String> = found
        .iter()
        .map(|entry| format!("{}  {}\n{}\n", style.paint(Paint::Strong, entry.word), entry.sort, entry.text))
        .collect();
    output::print(&text.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proust_analysis::ledger::{Account, PassiveReason};
    use proust_analysis::query::Key;
    use proust_profile::{Metric, Quality};
    use proust_report::{Over, PageName};

    use super::*;

    #[test]
    fn every_word_of_the_reports_is_explained() {
        let quality = serde_json::to_value(Quality::default()).unwrap();
        let fields = quality.as_object().unwrap().keys().map(String::as_str);
        let known: HashSet<&str> = entries().map(|entry| entry.word).collect();
        let words = (Account::ALL.map(Account::id).into_iter())
            .chain(Metric::ALL.map(Metric::id))
            .chain(["wall_s", "active_s", "queued_s", "passive_s", "lost_s", "empty_s", "caused_s"])
            .chain(PageName::ALL.map(PageName::id))
            .chain(Over::ALL.map(Over::id))
            .chain(PassiveReason::ALL.map(PassiveReason::id))
            .chain(Key::ALL.map(Key::word))
            .chain(fields)
            .filter(|word| *word != "notes" && *word != "sum");
        let missing: Vec<&str> = words.filter(|word| !known.contains(word)).collect();
        assert!(missing.is_empty(), "not in the dictionary: {missing:?}");
    }

    #[test]
    fn the_dictionary_is_well_formed() {
        let blocks = DICTIONARY.trim().split("\n\n").count();
        assert_eq!(entries().count(), blocks, "each entry has a head `word: sort` and a text");
        for entry in entries() {
            assert!(entry.text.lines().all(|line| line.chars().count() <= 100), "{}", entry.word);
        }
    }
}
