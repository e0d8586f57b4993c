//! `proust explain`: the words of the reports, and how a finding was made.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCompleter;
use proust_findings::Kind;
use proust_query::Handle;
use proust_report::{Paint, derivation, explain_kind, explain_thresholds, finding_name};
use proust_words::counted;
use proust_words::nearest::nearest;

use crate::dictionary::{Entry, THRESHOLDS, entries, words};
use crate::failure::WrongUsage;
use crate::{analysis_notes, completing, gaps, output, progress, runs, terminal};

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
    #[arg(value_name = "DIR] [WORD", num_args = 0..=2,
          add = ArgValueCompleter::new(completing::of_explain))]
    pub words: Vec<String>,
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
        sorts.sort_unstable();
        sorts.dedup();
        for sort in sorts {
            text.push_str(&(style.paint(Paint::Strong, sort) + "\n"));
            for entry in entries().filter(|entry| entry.sort == sort) {
                let all = entry.text.replace('\n', " ");
                let width = style.width.saturating_sub(24).max(40);
                let meaning = shortened(&all, width);
                text.push_str(&format!("  {:<20}  {meaning}\n", entry.word));
            }
        }
        text.push_str(&(style.paint(Paint::Strong, "finding") + "\n"));
        for kind in Kind::ALL {
            text.push_str(&format!("  {:<20}  {}\n", kind.id(), finding_name(*kind)));
        }
        text.push_str(&format!("  {THRESHOLDS:<20}  what findings ask for\n"));
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
    let found = found(word);
    if found.is_empty() {
        let known = words().map(|(word, _)| word);
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

/// The entries of a word, as it stands in the dictionary, or as the heading of a column has it: with a unit
/// behind it (`wall s`), or in words of its own (`empty slots`).
fn found(word: &str) -> Vec<Entry> {
    let of = |wanted: &str| -> Vec<Entry> {
        entries().filter(|entry| entry.word.eq_ignore_ascii_case(wanted)).collect()
    };
    let word = word.trim();
    let bare = UNITS.iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word).trim_end();
    // Columns of a comparison: `incl B−A s`, `speedup A`.
    let of_sides = |part: &str| ["A", "B", "C", "B−A", "C−A", "B/A", "C/A"].contains(&part);
    let of_one: Vec<&str> = bare.split(' ').filter(|part| !of_sides(part)).collect();
    let first = || bare.split([',', ' ']).next().unwrap_or(bare);
    let spellings = [
        word.to_owned(),
        bare.to_owned(),
        bare.replace(' ', "-"),
        format!("{}_s", bare.replace([' ', '-'], "_")),
        bare.replace(' ', "_"),
        bare.trim_end_matches('s').to_owned(),
        UNITS
            .iter()
            .find_map(|unit| of_one.join(" ").strip_suffix(unit).map(str::to_owned))
            .unwrap_or_default(),
        of_one.join(" "),
        of_one.join(" ").trim_end_matches('s').to_owned(),
        bare.replace('C', "B"),
        // `self s` of a statistic is headed `CPU max self s`; `operation, and who calls it` is an operation.
        bare.rsplit(' ').next().unwrap_or(bare).to_owned(),
        first().to_owned(),
    ];
    spellings.iter().map(|spelling| of(spelling)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Units behind the headings of columns.
const UNITS: [&str; 6] = [" s", " ms", " µs", " us", " ns", " %"];

/// The begin of a sentence, as much of it as there is room for.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.trim_end_matches('.').to_owned();
    }
    let cut: String = text.chars().take(width - 3).collect();
    format!("{}...", cut.rsplit_once(' ').map_or(cut.as_str(), |(kept, _)| kept))
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
    gaps::note(&dir.to_string_lossy(), &run.definitions()?.quality);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proust_account::ledger::{Account, PassiveReason};
    use proust_characteristics::mpi::Mpi;
    use proust_characteristics::name::Characteristic;
    use proust_findings::{Reading, Sure};
    use proust_profile::{Metric, Quality};
    use proust_query::Key;
    use proust_report::{Over, PAGES, SweepPage, units};
    use proust_statistics::Verdict;

    use super::*;
    use crate::dictionary::DICTIONARY;

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
            .chain(Verdict::ALL.map(Verdict::id))
            .chain(Sure::ALL.map(Sure::id))
            .chain(Reading::ALL.map(Reading::id))
            .chain(units().collect::<Vec<_>>())
            .chain(fields)
            .filter(|word| *word != "notes" && *word != "sum");
        let missing: Vec<&str> = words.filter(|word| !known.contains(word)).collect();
        assert!(missing.is_empty(), "not in the dictionary: {missing:?}");
    }

    /// Headings of columns, as the golden pages have them: a line without digits above one with some.
    fn headings() -> Vec<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/pages/snapshots");
        let mut headings = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // The derived metrics are a user's own.
            if name.starts_with("pages__derived__") || !name.ends_with("_text.snap") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let page = text.splitn(3, "---\n").nth(2).unwrap();
            let lines: Vec<&str> = page.lines().collect();
            for pair in lines.windows(2) {
                let has_digits = |line: &str| line.bytes().any(|byte| byte.is_ascii_digit());
                let is_heading = pair[0].starts_with(' ')
                    && pair[0].trim().contains("  ")
                    && !pair[0].ends_with('.')
                    && !pair[0].contains("+--")
                    && !has_digits(pair[0])
                    && pair[1].starts_with(' ')
                    && has_digits(pair[1]);
                if is_heading {
                    headings.extend(pair[0].split("  ").map(|cell| cell.trim().to_owned()));
                }
            }
        }
        // A metric that a test defines, and a host of one, in a line without digits.
        headings.retain(|heading| !["", "-", "rate self count/s", "near"].contains(&heading.as_str()));
        headings.sort();
        headings.dedup();
        headings
    }

    #[test]
    fn every_heading_of_the_pages_is_explained() {
        let headings = headings();
        for expected in ["wall s", "self s", "±", "off CPU", "max/mean", "class", "B−A s", "short term"] {
            assert!(headings.iter().any(|heading| heading == expected), "{expected}: {headings:?}");
        }
        let missing: Vec<&String> = headings.iter().filter(|heading| found(heading).is_empty()).collect();
        assert!(missing.is_empty(), "`proust explain` does not know these headings: {missing:?}");
    }

    #[test]
    fn a_finding_is_explained_under_its_title() {
        let style = proust_report::Style::default();
        let by_title = explain_kind("long critical section", &style);
        assert!(by_title.is_some() && by_title == explain_kind("long-section", &style), "{by_title:?}");
    }

    #[test]
    fn every_characteristic_is_explained() {
        let names = Characteristic::ALL.iter().map(|of| of.name());
        let of_pop = ["parallel_efficiency", "load_balance", "communication_efficiency", "replicated_share"];
        let words = names.chain(Mpi::ALL.iter().map(|of| of.id())).chain(of_pop).chain([
            "Nop",
            "EXE_COUNT",
            "forecast",
            "message_span_s",
        ]);
        let mut formulas = HashSet::new();
        for word in words {
            let of_word = found(word);
            // Definition, formula, how to read it, source, in this order; of none two the same formula.
            // A word may mean something else in other places, such as the ledger's efficiency.
            let entry = of_word.iter().find(|entry| entry.text.contains("\nFormula: "));
            let entry = entry.unwrap_or_else(|| panic!("{word} is no characteristic of the dictionary"));
            let text = entry.text;
            let (definition, rest) =
                text.split_once("\nFormula: ").unwrap_or_else(|| panic!("{word}: {text}"));
            let (formula, rest) =
                rest.split_once("\nHow to read it: ").unwrap_or_else(|| panic!("{word}: {text}"));
            let (reading, source) = rest.split_once("\nSource: ").unwrap_or_else(|| panic!("{word}: {text}"));
            for part in [definition, formula, reading, source] {
                assert!(part.len() > 10 && part.ends_with('.'), "{word}: `{part}`");
            }
            formulas.insert((entry.word, formula));
        }
        let distinct: HashSet<&str> = formulas.iter().map(|(_, formula)| *formula).collect();
        // The two analyzers count idle, CPU, lost and all-to-all time alike.
        assert!(distinct.len() + 4 >= formulas.len(), "{} of {}", distinct.len(), formulas.len());
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
