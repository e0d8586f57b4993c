//! `proust report`: shows a page of a run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use proust_analysis::query::{Filter, nearest};
use proust_analysis::store::Parts;
use proust_profile::Profile;
use proust_report::{Column, Format, PageName, Question, Sort, render};

use crate::failure::{INCOMPLETE, WrongUsage};
use crate::{output, progress, runs, terminal};

/// Arguments of `proust report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Pages:
  summary             what ran, the ledger, the hottest places, what to look at next (default)
  tree [CONTEXT]      contexts from the top down, or only what is below a context such as c12
  callers [FUNCTION]  functions with their callers; or one function with its callers and callees
  flat                functions
  threads             what every thread spent its time on
  quality             how far the numbers can be trusted

A word that is a page is a page; a folder of that name is given as ./NAME. Without a folder the
newest run in the current folder is taken. Rows have handles (c12 contexts, f7 functions,
t3 threads, p0 processes) that pages and --where accept.

Filters for --where: KEY=VALUE[,VALUE...] or KEY!=VALUE, joined by ` and `.
  process   id or name              rank      number            thread    id, position, or name
  cpu       processor number        time      1.2s..3.4s        function  name
  module    name or path            file      name or path
Names may hold * and ?; ranges such as 0..3 have both ends; quoted names are taken as they are.

Examples:
  proust report                                   the summary of the newest run here
  proust report solve.1.proust tree               where the time goes, from the top
  proust report callers compute_flux              who calls it, and what it calls
  proust report flat --where 'thread=worker-* and function=solve'
  proust report flat --metrics 'cpu_s:max|mean|imbalance'
  proust report tree --format json | jq '.contexts | length'")]
pub struct ReportArgs {
    /// Folder of the run, page, and what the page takes
    #[arg(value_name = "DIR] [PAGE] [ARGS", num_args = 0..)]
    pub words: Vec<String>,
    /// Only this part of the run; may be given several times
    #[arg(long = "where", value_name = "EXPR")]
    pub filters: Vec<String>,
    /// What to show: METRIC[:sum|min|max|mean|stddev|imbalance], separated by commas; statistics are
    /// over all threads in scope
    #[arg(long, value_name = "LIST")]
    pub metrics: Option<String>,
    /// Order of the rows: METRIC, METRIC:inclusive, METRIC:exclusive, or name
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    pub format: FormatName,
    /// Exit with 3 if the data are incomplete
    #[arg(long)]
    pub strict: bool,
}

/// The formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people
    Text,
    /// For programs: documented, versioned, never shortened
    Json,
    /// The page's main table
    Csv,
}

/// What the words before the options mean.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    dir: Option<PathBuf>,
    page: PageName,
    arguments: Vec<String>,
}

impl Words {
    fn parse(words: &[String]) -> Result<Words, WrongUsage> {
        let Some((first, rest)) = words.split_first() else {
            return Ok(Words { dir: None, page: PageName::default(), arguments: Vec::new() });
        };
        if let Some(page) = PageName::from_id(first) {
            return Ok(Words { dir: None, page, arguments: rest.to_vec() });
        }
        let dir = Some(PathBuf::from(first));
        let Some((second, arguments)) = rest.split_first() else {
            return Ok(Words { dir, page: PageName::default(), arguments: Vec::new() });
        };
        match PageName::from_id(second) {
            Some(page) => Ok(Words { dir, page, arguments: arguments.to_vec() }),
            None => Err(WrongUsage(no_page(second))),
        }
    }
}

fn no_page(word: &str) -> String {
    let pages = PageName::ALL.map(PageName::id);
    match nearest(word, pages, 1).first() {
        Some(meant) => format!("there is no page `{word}`; did you mean `{meant}`?"),
        None => format!("there is no page `{word}`; there are {}", pages.join(", ")),
    }
}

/// Shows a page.
///
/// # Errors
/// When the question is wrong, or the run cannot be read.
pub fn run(args: &ReportArgs) -> Result<ExitCode> {
    let words = Words::parse(&args.words)?;
    // What is wrong with the question is told before an analysis that may take a while.
    let filter = Filter::parse(&args.filters)?;
    let columns = args.metrics.as_deref().map(Column::parse_list).transpose()?.unwrap_or_default();
    let sort = args.sort.as_deref().map(Sort::parse).transpose()?;
    if let Some(dir) = &words.dir
        && !dir.exists()
        && !nearest(&dir.to_string_lossy(), PageName::ALL.map(PageName::id), 1).is_empty()
    {
        anyhow::bail!("there is no folder {}; and {}", dir.display(), no_page(&dir.to_string_lossy()));
    }
    let dir = runs::named_or_newest(words.dir.as_deref())?;
    let question = Question {
        dir: dir.to_string_lossy().into_owned(),
        page: words.page,
        arguments: words.arguments,
        filter,
        columns,
        sort,
        limit: args.limit,
        rows: None,
        format: match args.format {
            FormatName::Text => Format::Text,
            FormatName::Json => Format::Json,
            FormatName::Csv => Format::Csv,
        },
    };
    let profile = show(&dir, &question)?;
    let gaps = incomplete(&profile);
    if args.strict && !gaps.is_empty() {
        eprintln!("proust: the data are incomplete: {}", gaps.join("; "));
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a run and prints a page of it.
///
/// # Errors
/// When the run cannot be read, or the question cannot be answered.
pub fn show(dir: &Path, question: &Question) -> Result<Profile> {
    let profile = progress::open(dir, Parts::All)?;
    let rendered = render(&profile, question, &terminal::style())?;
    for note in &rendered.notes {
        eprintln!("proust: note: {note}");
    }
    output::print(&rendered.page)?;
    Ok(profile)
}

/// What is missing in the data, in words.
fn incomplete(profile: &Profile) -> Vec<String> {
    let quality = &profile.quality;
    let mut gaps = Vec::new();
    let mut gap = |is: bool, text: String| {
        if is {
            gaps.push(text);
        }
    };
    gap(quality.samples == 0, "there are no samples".into());
    gap(quality.dropped > 0, format!("{} records found no room", quality.dropped));
    gap(
        quality.damaged_bytes > 0,
        format!("{} of the logs are damaged", proust_report::bytes(quality.damaged_bytes)),
    );
    gap(
        quality.lost_records_s > 0.0,
        format!("the records of {} of CPU time are lost", proust_report::duration(quality.lost_records_s)),
    );
    gap(
        quality.unrecorded_s > 0.0,
        format!("{} of CPU time found no room", proust_report::duration(quality.unrecorded_s)),
    );
    let open: Vec<String> = profile
        .processes
        .iter()
        .filter(|process| process.ending == "open")
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    gap(!open.is_empty(), format!("the end of {} is not recorded", open.join(", ")));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Words, WrongUsage> {
        Words::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    fn words(dir: Option<&str>, page: PageName, arguments: &[&str]) -> Words {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        Words { dir: dir.map(PathBuf::from), page, arguments }
    }

    #[test]
    fn a_word_that_is_a_page_is_a_page() {
        assert_eq!(parse(&[]).unwrap(), words(None, PageName::Summary, &[]));
        assert_eq!(parse(&["flat"]).unwrap(), words(None, PageName::Flat, &[]));
        assert_eq!(parse(&["./flat"]).unwrap(), words(Some("./flat"), PageName::Summary, &[]));
        assert_eq!(parse(&["run", "tree", "c3"]).unwrap(), words(Some("run"), PageName::Tree, &["c3"]));
        assert_eq!(parse(&["callers", "flat"]).unwrap(), words(None, PageName::Callers, &["flat"]));
    }

    #[test]
    fn what_is_no_page_gets_a_suggestion() {
        assert!(parse(&["run", "thread"]).unwrap_err().0.contains("did you mean `threads`?"));
        assert!(parse(&["run", "x"]).unwrap_err().0.contains("there are summary, tree"));
    }
}
