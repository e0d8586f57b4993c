//! `proust explain`: the words of the reports, and how a finding was made.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_findings::Kind;
use proust_query::Handle;
use proust_report::{Paint, derivation, explain_kind, explain_thresholds};
use proust_words::counted;
use proust_words::nearest::nearest;

use crate::failure::WrongUsage;
use crate::{analysis_notes, gaps, output, progress, runs, terminal};

/// Arguments of `proust explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  proust explain serial            a word of the reports
  proust explain convoy            a kind of finding
  proust explain thresholds        what findings ask for
  proust explain L1                how the first finding of the newest run here was made
  proust explain solve.1.proust L2
  proust explain                   all words")]
pub struct ExplainArgs {
    /// A word of the reports, or a finding such as L1, after the folder of its run; without one all words are
    /// listed
    #[arg(value_name = "DIR] [WORD", num_args = 0..=2)]
    pub words: Vec<String>,
}

/// The word for all thresholds of findings.
const THRESHOLDS: &str = "thresholds";

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

/// Explains a word, or a finding.
///
/// # Errors
/// When the word is not known, or the run has no such finding.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let style = terminal::style();
    let (dir, word) = match &args.words[..] {
        [] => (None, None),
        [word] => (None, Some(word)),
        [dir, word, ..] => (Some(PathBuf::from(dir)), Some(word)),
    };
    if let Some(Handle::Finding(number)) = word.and_then(|word| Handle::parse(word)) {
        return explain_finding(dir.as_deref(), number);
    }
    if let (Some(_), Some(word)) = (&dir, word) {
        return Err(
            WrongUsage(format!("of a run findings are explained, such as L1, and `{word}` is none")).into()
        );
    }
    let Some(word) = word else {
        let mut text = String::new();
        let mut sorts: Vec<&str> = entries().map(|entry| entry.sort).collect();
        sorts.dedup();
        for sort in sorts {
            let words: Vec<&str> =
                entries().filter(|entry| entry.sort == sort).map(|entry| entry.word).collect();
            text.push_str(&format!("{}\n  {}\n", style.paint(Paint::Strong, sort), words.join(", ")));
        }
        let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.id()).chain([THRESHOLDS]).collect();
        text.push_str(&format!("{}\n  {}\n", style.paint(Paint::Strong, "findings"), kinds.join(", ")));
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    if word == THRESHOLDS {
        output::print(&explain_thresholds(&style))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = explain_kind(word, &style) {
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found: Vec<Entry> = entries().filter(|entry| entry.word.eq_ignore_ascii_case(word)).collect();
    if found.is_empty() {
        let kinds = Kind::ALL.iter().map(|kind| kind.id());
        let known: Vec<&str> = entries().map(|entry| entry.word).chain(kinds).chain([THRESHOLDS]).collect();
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

/// Shows how a finding was made.
fn explain_finding(dir: Option<&Path>, number: u32) -> Result<ExitCode> {
    let dir = runs::named_or_newest(dir)?;
    let run = progress::open(&dir)?;
    let found = run.findings()?;
    let Some(text) = derivation(run.ledger()?, found, number, &dir.to_string_lossy(), &terminal::style())
    else {
        let there = match found.len() {
            0 => "has no findings".to_owned(),
            1 => "has one finding, L1".to_owned(),
            several => format!("has {}, L1 to L{several}", counted(several, "finding")),
        };
        return Err(WrongUsage(format!(
            "there is no finding L{number}: the run in {} {there}",
            dir.display()
        ))
        .into());
    };
    output::print(&text)?;
    analysis_notes::print(&run);
    gaps::note(&dir.to_string_lossy(), &run.profile()?.quality);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proust_account::ledger::{Account, PassiveReason};
    use proust_characteristics::mpi::Mpi;
    use proust_characteristics::name::Characteristic;
    use proust_profile::{Metric, Quality};
    use proust_query::Key;
    use proust_report::{Over, PAGES, SweepPage};

    use super::*;

    #[test]
    fn every_word_of_the_reports_is_explained() {
        let quality = serde_json::to_value(Quality::default()).unwrap();
        let fields = quality.as_object().unwrap().keys().map(String::as_str);
        let known: HashSet<&str> = entries().map(|entry| entry.word).collect();
        let words = (Account::ALL.map(Account::id).into_iter())
            .chain(Metric::ALL.map(Metric::id))
            .chain(["wall_s", "active_s", "queued_s", "passive_s", "lost_s", "empty_s", "caused_s"])
            .chain(PAGES.iter().map(|spec| spec.head.id))
            .chain(SweepPage::ALL.map(SweepPage::id))
            .chain(["speedup", "scaling-loss", "minimal-rank", "strength", "segment", "formula"])
            .chain(Over::ALL.map(Over::id))
            .chain(PassiveReason::ALL.map(PassiveReason::id))
            .chain(Key::ALL.map(Key::word))
            .chain(fields)
            .filter(|word| *word != "notes" && *word != "sum");
        let missing: Vec<&str> = words.filter(|word| !known.contains(word)).collect();
        assert!(missing.is_empty(), "not in the dictionary: {missing:?}");
    }

    #[test]
    fn every_characteristic_is_explained() {
        let names = Characteristic::ALL.iter().map(|of| of.name());
        let words = names.chain(Mpi::ALL.iter().map(|of| of.id())).chain(["Nop", "EXE_COUNT", "forecast"]);
        let is_known = |word: &str| entries().any(|entry| entry.word.eq_ignore_ascii_case(word));
        let missing: Vec<&str> = words.filter(|word| !is_known(word)).collect();
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
