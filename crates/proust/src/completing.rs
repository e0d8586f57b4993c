//! What a shell completes: pages, metrics and groupings, runs here, and the rows of the run that is named.
//!
//! The shell calls the command with the words so far. Nothing is analysed for that: a run without an analysis
//! has no rows yet.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap_complete::engine::ValueCompleter;
use clap_complete::{CompletionCandidate, PathCompleter};
use proust_export::FORMATS;
use proust_profile::run_file::RUN_FILE;
use proust_profile::tables::PROFILE_FOLDER;
use proust_query::{Key, Metrics};
use proust_report::{Argument, DiffPage, Named, PAGES, PageHead, PageName, SweepPage, named};
use proust_store::Run;

use crate::{dictionary, runs};

/// The environment variable by which a shell asks; its value is the shell.
pub const ASKED: &str = "PROUST_COMPLETE";

/// At most so many rows: nobody reads more.
const ROWS: usize = 100;

fn candidate(word: impl Into<OsString>, about: impl Into<String>) -> CompletionCandidate {
    let about: String = about.into();
    CompletionCandidate::new(word).help((!about.is_empty()).then(|| about.into()))
}

/// Those that begin with what was typed.
fn beginning(all: Vec<CompletionCandidate>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let begins =
        |one: &CompletionCandidate| one.get_value().as_encoded_bytes().starts_with(typed.as_encoded_bytes());
    all.into_iter().filter(begins).collect()
}

/// The words of the command line before the one that is completed, without the command's name.
fn words_before() -> Vec<String> {
    let words: Vec<String> = env::args_os()
        .skip_while(|word| word != "--")
        .skip(2)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    // Not all shells cut the line at the cursor.
    let index = env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse::<usize>().ok());
    let before = index.map_or(words.len(), |index| index.min(words.len() + 1)).saturating_sub(1);
    words.into_iter().take(before).collect()
}

fn is_run(path: &Path) -> bool {
    path.join(RUN_FILE).exists() || path.join(PROFILE_FOLDER).exists()
}

/// What the words before mean: the run, and the page after it.
fn run_and_page(words: &[String]) -> (Option<PathBuf>, Option<PageName>) {
    let page = words.iter().find_map(|word| PageName::from_id(word));
    let run = words.iter().map(PathBuf::from).find(|path| is_run(path));
    (run, page)
}

/// Runs and sweeps here, and folders.
pub fn folders(typed: &OsStr) -> Vec<CompletionCandidate> {
    let here = Path::new(".");
    let mut found = Vec::new();
    for run in runs::runs_in(here).unwrap_or_default() {
        found.push(candidate(run.dir.as_os_str(), run.file.command.join(" ")));
    }
    for (dir, sweep) in runs::sweeps_in(here).unwrap_or_default() {
        found.push(candidate(dir.as_os_str(), format!("sweep of {}", sweep.command.join(" "))));
    }
    let mut found = beginning(found, typed);
    let known: Vec<OsString> = found.iter().map(|one| one.get_value().to_owned()).collect();
    let others = PathCompleter::dir().complete(typed).into_iter();
    let is_new = |one: &CompletionCandidate| {
        let path = one.get_value().to_string_lossy();
        !known.iter().any(|known| known.to_string_lossy() == path.trim_end_matches('/'))
    };
    found.extend(others.filter(is_new));
    found
}

/// The rows of a run that a page takes.
fn rows(run: Option<PathBuf>, of: Argument) -> Vec<CompletionCandidate> {
    let newest = || runs::runs_in(Path::new(".")).ok()?.into_iter().next().map(|run| run.dir);
    let here = || is_run(Path::new(".")).then(|| PathBuf::from("."));
    let read = || -> Option<Vec<Named>> {
        let run = Run::open(&run.or_else(here).or_else(newest)?).ok().filter(Run::is_analysed)?;
        let profile = run.profile().ok()?;
        Some(match of {
            Argument::Context | Argument::Function | Argument::Interval => named(profile, of, &[], None),
            Argument::Lock => named(profile, of, &[], run.blame().ok()),
            Argument::Finding => named(profile, of, run.findings().ok()?, None),
        })
    };
    let rows = read().unwrap_or_default();
    rows.into_iter().take(ROWS).map(|row| candidate(row.word, row.about)).collect()
}

fn pages(heads: impl IntoIterator<Item = PageHead>) -> Vec<CompletionCandidate> {
    heads.into_iter().map(|head| candidate(head.id, head.about)).collect()
}

/// The words of `report`: a run, a page, and what the page takes.
pub fn of_report(typed: &OsStr) -> Vec<CompletionCandidate> {
    let words = words_before();
    let (run, page) = run_and_page(&words[1.min(words.len())..]);
    if let Some(page) = page {
        let Some(of) = page.spec().head.takes.argument() else { return Vec::new() };
        return beginning(rows(run, of), typed);
    }
    let of_runs = PAGES.iter().map(|spec| spec.head);
    let is_new = |head: &PageHead| PAGES.iter().all(|spec| spec.head.id != head.id);
    let of_sweeps = SweepPage::ALL.map(SweepPage::head).into_iter().filter(is_new);
    let mut found = beginning(pages(of_runs.chain(of_sweeps)), typed);
    found.extend(folders(typed));
    found
}

/// The words of `diff`: runs, a page.
pub fn of_diff(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = folders(typed);
    found.extend(beginning(pages(DiffPage::ALL.map(DiffPage::head)), typed));
    found
}

/// The words of `export`: a run, a format.
pub fn of_export(typed: &OsStr) -> Vec<CompletionCandidate> {
    let formats = FORMATS.iter().map(|spec| candidate(spec.id, spec.about)).collect();
    let mut found = beginning(formats, typed);
    found.extend(folders(typed));
    found
}

/// The words of `explain`: findings of a run, words of the reports.
pub fn of_explain(typed: &OsStr) -> Vec<CompletionCandidate> {
    let (run, _) = run_and_page(&words_before());
    let is_named = run.is_some();
    let mut found = beginning(rows(run, Argument::Finding), typed);
    if !is_named {
        found.extend(beginning(
            dictionary::words().map(|(word, about)| candidate(word, about)).collect(),
            typed,
        ));
        found.extend(folders(typed));
    }
    found
}

/// The metrics that can be asked for here: those of `--define` too.
fn metrics() -> Vec<CompletionCandidate> {
    let words = words_before();
    let after = words.windows(2).filter(|pair| pair[0] == "--define").map(|pair| pair[1].as_str());
    let joined = words.iter().filter_map(|word| word.strip_prefix("--define="));
    let unquoted = |word: &str| word.trim_matches(['\'', '"']).to_owned();
    let definitions: Vec<String> = after.chain(joined).map(unquoted).collect();
    let metrics = Metrics::defined(definitions.iter().map(String::as_str)).unwrap_or_default();
    metrics.ids().into_iter().map(|id| candidate(id, "")).collect()
}

/// The value of `--metrics`: a list.
pub fn list_of_metrics(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let at = typed.rfind(',').map_or(0, |comma| comma + 1);
    let found = beginning(metrics(), OsStr::new(&typed[at..]));
    found.into_iter().map(|one| one.add_prefix(&typed[..at])).collect()
}

/// The value of `--sort`.
pub fn orders(typed: &OsStr) -> Vec<CompletionCandidate> {
    let all = [candidate("name", "")].into_iter().chain(metrics()).collect();
    beginning(all, typed)
}

/// A clause of `--where`: the key, and of functions and intervals the name.
pub fn clause(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let at = typed.rfind(" and ").map_or(0, |and| and + " and ".len());
    let (before, clause) = typed.split_at(at);
    let with_prefix = |found: Vec<CompletionCandidate>, prefix: &str| {
        found.into_iter().map(|one| one.add_prefix(prefix)).collect()
    };
    let Some((key, value)) = clause.split_once('=') else {
        let keys = Key::ALL.map(|key| candidate(format!("{}=", key.word()), "")).into();
        return with_prefix(beginning(keys, OsStr::new(clause)), before);
    };
    let of = match key {
        "function" => Argument::Function,
        "interval" => Argument::Interval,
        _ => return Vec::new(),
    };
    let (run, _) = run_and_page(&words_before());
    let found = beginning(rows(run, of), OsStr::new(value));
    with_prefix(found, &format!("{before}{key}="))
}

/// One metric.
pub fn metric(typed: &OsStr) -> Vec<CompletionCandidate> {
    beginning(metrics(), typed)
}
