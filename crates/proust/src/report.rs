//! `proust report`: shows a page of a run, or of a sweep ([`sweep`]).

mod grouped;
mod kept;
mod names;
mod references;
mod sweep;

use kept::{kept, summaries};
pub use names::{BlockName, FormatName, IntervalsName, IoName, OverName, PageFormatName, PathsName};

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap_complete::ArgValueCompleter;
use proust_account::ledger::IoAs;
use proust_profile::notes::Gap;
use proust_query::{Filter, Metrics};
use proust_report::{
    Across, Block, By, Classic, Column, GROUPINGS, IntervalsOf, Need, PAGES, PageName, Question, Sort,
    SweepPage, Written, gaps_listed, listed, written,
};
use proust_store::{Run, StoreError};
use proust_words::counted;
use proust_words::nearest::nearest;

use crate::failure::{INCOMPLETE, WrongUsage};
use crate::record::{processes_of, shell_path};
use crate::{analysis_notes, completing, gaps, output, progress, runs, terminal};

/// Arguments of `proust report`.
#[derive(Args, Debug)]
#[command(after_help = help())]
pub struct ReportArgs {
    /// Folder of the run, page, and what the page takes
    #[arg(value_name = "DIR] [PAGE] [ARGS", num_args = 0..,
          add = ArgValueCompleter::new(completing::of_report))]
    pub words: Vec<String>,
    /// Only this part of the run; may be given several times
    #[arg(long = "where", value_name = "EXPR", add = ArgValueCompleter::new(completing::clause))]
    pub filters: Vec<String>,
    /// What to show: METRIC[:sum|min|max|mean|stddev|imbalance], separated by commas; statistics are
    /// over all threads in scope
    #[arg(long, value_name = "LIST", add = ArgValueCompleter::new(completing::list_of_metrics))]
    pub metrics: Option<String>,
    /// Derive a metric of others: NAME=EXPR, such as 'io_rate=read_bytes/wall_s'; may be given several
    /// times
    #[arg(long = "define", value_name = "NAME=EXPR")]
    pub definitions: Vec<String>,
    /// Order of the rows: METRIC, METRIC:inclusive, METRIC:exclusive, or name
    #[arg(long, value_name = "KEY", add = ArgValueCompleter::new(completing::orders))]
    pub sort: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Show the page for the largest processes or programs one by one; or choose what the rows of `flat` are
    #[arg(long, value_name = "WHAT", value_parser = grouping())]
    pub by: Option<By>,
    /// Of --by: so many of them
    #[arg(long, value_name = "N", default_value_t = 5, requires = "by")]
    pub groups: usize,
    /// Of the tree: how the time of one context is spread over threads or ranks
    #[arg(long, value_enum, value_name = "WHAT")]
    pub over: Option<OverName>,
    /// Of `intervals`, only those down to this level; 0 = the whole run
    #[arg(long, value_name = "N")]
    pub level: Option<usize>,
    /// Of `intervals`: what counts as one; of functions begin and end are not recorded, so that times are
    /// estimates
    #[arg(long, value_enum, value_name = "WHAT")]
    pub intervals: Option<IntervalsName>,
    /// Of --format dvm: only these characteristics
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub characteristics: Vec<BlockName>,
    /// Of --format dvm: characteristics of only these processors, such as 1,3-5, one by one; 0 = of none
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<String>,
    /// Of --format dvm: print zeros, and operations that have no source, as well
    #[arg(long)]
    pub zeros: bool,
    /// Of `intervals`: a run of the same program on one processor, beside the forecast of its time
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub serial: Option<PathBuf>,
    /// Of `intervals`: a run of a sequential build, beside the forecast
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub sequential: Option<PathBuf>,
    /// Of the timeline: show the functions at this depth of the call paths, 1 is the outermost call
    #[arg(long, value_name = "N")]
    pub depth: Option<NonZeroUsize>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = PageFormatName::Text)]
    pub format: PageFormatName,
    /// Draw the account up for so many processors, not for those that the run used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub processors: Option<u32>,
    /// Whether time in file I/O counts as productive or as lost
    #[arg(long, value_enum, value_name = "CLASS", default_value_t = IoName::Productive)]
    pub io_as: IoName,
    /// Of a sweep: the problem grows with the count (weak scaling)
    #[arg(long)]
    pub weak: bool,
    /// Of several runs: their counts in their order, in place of the runs' own
    #[arg(long = "count", value_name = "N,N,...", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub counts: Vec<u32>,
    /// Of a sweep: what is degraded by the original definition, in which any difference counts
    #[arg(long)]
    pub paper: bool,
    /// Of a sweep: also draw the page's picture into a file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// How call paths are shown; `summary` and `openmp` are always the user's
    #[arg(long, value_enum, value_name = "AS", default_value_t = PathsName::User)]
    pub paths: PathsName,
    /// Exit with 3 if the data are incomplete
    #[arg(long)]
    pub strict: bool,
}

/// What `--by` asks for.
fn grouping() -> impl TypedValueParser<Value = By> {
    let words = GROUPINGS.iter().map(|spec| PossibleValue::new(spec.id).help(spec.about));
    PossibleValuesParser::new(words).map(|word| By::from_id(&word).expect("no other word is possible"))
}

/// What stands below the options in help.
fn help() -> String {
    let pages = listed(PAGES.iter().map(|spec| spec.head));
    let of_sweeps = listed(SweepPage::ALL.map(SweepPage::head));
    format!("Pages:\n{pages}Pages of a sweep (see `proust sweep`):\n{of_sweeps}\n{NOTES}")
}

const NOTES: &str = "\
A word that is a page is a page; a folder of that name is given as ./NAME. Without a folder the
newest run in the current folder is taken. Rows have handles (c12 contexts, f7 functions,
t3 threads, p0 processes, k1 locks) that pages and --where accept. Several runs of one program with
different counts of ranks or threads are shown as a sweep: RUN RUN... scaling.

Filters for --where: KEY=VALUE[,VALUE...] or KEY!=VALUE, joined by ` and `.
  process   id or name              rank      number            thread    id, position, or name
  cpu       processor number        time      1.2s..3.4s        function  name
  module    name or path            file      name or path      interval  name or name[3]
  sample    3..5, pause..resume
  state     account, passive reason, or operation: barrier, sleep, critical
Names may hold * and ?; ranges such as 0..3 have both ends; quoted names are taken as they are.

Examples:
  proust report                                   the summary of the newest run here
  proust report solve.1.proust tree               where the time goes, from the top
  proust report callers compute_flux              who calls it, and what it calls
  proust report flat --where 'thread=worker-* and function=solve'
  proust report flat --metrics 'cpu_s:max|mean|imbalance'
  proust report flat --define 'io_rate=read_bytes/wall_s' --sort io_rate     what reads fastest
  proust report tree --metrics lock_s,caused_s    where threads wait for locks, and what is serial
  proust report tree c12 --over locations         which threads had most of it, and how uneven it is
  proust report flat --by process                 the hottest functions of each of the largest processes
  proust report flat --by function                functions with what was inlined into them, as perf has it
  proust report flat --by module                  how much is in which library
  proust report findings --by process             what could be won, by whose it is
  proust report timeline --depth 5                which function each thread was in, five calls deep
  proust report waits --where 'time=1s..2s'       who waited in that second, and for what
  proust report tree --format json | jq '.contexts | length'
  proust report solve.sweep degradation           what is slower with more threads, and why
  proust report job-256 job-8192 scaling          of runs that were recorded one by one";

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
    let of_sweeps = [SweepPage::Scaling, SweepPage::Degradation].map(SweepPage::id);
    let pages: Vec<&str> = PAGES.iter().map(|spec| spec.head.id).chain(of_sweeps).collect();
    match nearest(word, pages.iter().copied(), 1).first() {
        Some(meant) => format!("there is no page `{word}`; did you mean `{meant}`?"),
        None => format!("there is no page `{word}`; there are {}", pages.join(", ")),
    }
}

/// Shows a page.
///
/// # Errors
/// When the question is wrong, or the run cannot be read.
pub fn run(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(asked) = sweep::Asked::parse(&args.words)? {
        return sweep::run(args, asked);
    }
    let of_sweeps = [
        ("--weak", args.weak),
        ("--paper", args.paper),
        ("--svg", args.svg.is_some()),
        ("--count", !args.counts.is_empty()),
    ];
    if let Some((option, _)) = of_sweeps.iter().find(|(_, given)| *given) {
        return Err(WrongUsage(format!(
            "{option} is for pages of a sweep, or of several runs: `scaling` and `degradation`"
        ))
        .into());
    }
    let mut words = Words::parse(&args.words)?;
    let is_classic = args.format.layout().is_some();
    let has_references = args.serial.is_some() || args.sequential.is_some();
    if (is_classic || has_references) && words.page == PageName::default() {
        // The only page that has these.
        words.page = PageName::Intervals;
    }
    if has_references && words.page != PageName::Intervals {
        return Err(WrongUsage("--serial and --sequential are for the page `intervals`".into()).into());
    }
    if args.depth.is_some() && words.page != PageName::Timeline {
        return Err(WrongUsage("--depth is for the page `timeline`".into()).into());
    }
    if args.level.is_some() && words.page != PageName::Intervals {
        return Err(WrongUsage("--level is for the page `intervals`".into()).into());
    }
    if args.intervals.is_some() && (words.page != PageName::Intervals || is_classic) {
        return Err(WrongUsage(
            "--intervals is for the page `intervals`, and its layouts of marks show marks only".into(),
        )
        .into());
    }
    if args.over.is_some() && words.page != PageName::Tree {
        return Err(WrongUsage("--over is for the page `tree`".into()).into());
    }
    let by = args.by.and_then(By::pages);
    let rows_of = args.by.and_then(By::rows);
    if rows_of.is_some() && words.page != PageName::Flat {
        let words = GROUPINGS.iter().filter(|spec| spec.by.rows().is_some()).map(|spec| spec.id);
        let words = words.collect::<Vec<_>>().join(", ");
        return Err(WrongUsage(format!("of the words of --by, {words} are for the page `flat`")).into());
    }
    let classic = classic(args)?;
    // Errors in the question are reported before an analysis that may take a while.
    let filter = Filter::parse(&args.filters)?;
    let metrics = defined(&args.definitions, words.page)?;
    let columns = args.metrics.as_deref().map(|list| Column::parse_list(list, &metrics)).transpose()?;
    let columns = columns.unwrap_or_default();
    let sort = args.sort.as_deref().map(|key| Sort::parse(key, &metrics)).transpose()?;
    if let Some(dir) = &words.dir
        && !dir.exists()
        && !nearest(&dir.to_string_lossy(), PAGES.iter().map(|spec| spec.head.id), 1).is_empty()
    {
        anyhow::bail!("there is no folder {}; and {}", dir.display(), no_page(&dir.to_string_lossy()));
    }
    let dir = runs::named_or_newest(words.dir.as_deref())?;
    let question = Question {
        dir: dir.to_string_lossy().into_owned(),
        page: words.page,
        arguments: words.arguments,
        filter,
        metrics,
        columns,
        sort,
        limit: args.limit,
        rows: None,
        level: args.level,
        intervals: args.intervals.map_or(IntervalsOf::Marks, IntervalsName::of),
        depth: args.depth,
        rows_of: rows_of.unwrap_or_default(),
        by,
        over: args.over.map(|over| match over {
            OverName::Locations => Across::Locations,
            OverName::Processes => Across::Processes,
            OverName::Hosts => Across::Hosts,
        }),
        format: args.format.format(),
        classic,
        references: references::of(args.serial.as_deref(), args.sequential.as_deref())?,
        processors: args.processors,
        io_as: match args.io_as {
            IoName::Productive => IoAs::Productive,
            IoName::Lost => IoAs::Lost,
        },
    };
    let run = progress::open_with_paths(&dir, args.paths.of_page(question.page))?;
    note_if_recording(&run);
    match by {
        // A finding is about several processes at once: the page itself divides them.
        Some(_) if question.page == PageName::Findings => show_run(&run, &question)?,
        None => show_run(&run, &question)?,
        Some(by) => grouped::show(&run, &question, &args.filters, by, args.groups)?,
    }
    let quality = &run.definitions()?.quality;
    let gaps = Gap::all_of(quality);
    if args.strict && !gaps.is_empty() {
        message!("the data are incomplete: {}", gaps_listed(&gaps));
        return Ok(ExitCode::from(INCOMPLETE));
    }
    if question.page != PageName::Quality {
        // That one says it itself.
        gaps::note(&dir.to_string_lossy(), quality);
    }
    Ok(ExitCode::SUCCESS)
}

/// What `--define` derives.
fn defined(definitions: &[String], page: PageName) -> Result<Metrics> {
    let metrics = Metrics::defined(definitions.iter().map(String::as_str));
    let metrics = metrics.map_err(|error| WrongUsage(error.to_string()))?;
    if !definitions.is_empty() && !page.needs(Need::Metrics) {
        let able = PAGES.iter().filter(|spec| spec.page.needs(Need::Metrics)).map(|spec| spec.head.id);
        let able = able.collect::<Vec<_>>().join(", ");
        return Err(WrongUsage(format!(
            "--define is for pages that show metrics, and `{}` has columns of its own: use {able}",
            page.id()
        ))
        .into());
    }
    Ok(metrics)
}

/// The parts of the classic layouts.
fn classic(args: &ReportArgs) -> Result<Option<Classic>> {
    let layout = args.format.layout();
    let of_classic = [
        ("--characteristics", !args.characteristics.is_empty()),
        ("--ranks", args.ranks.is_some()),
        ("--zeros", args.zeros),
    ];
    if let Some((option, _)) = of_classic.iter().find(|(_, given)| *given && layout.is_none()) {
        return Err(WrongUsage(format!("{option} is for --format dvm and dvm-mpi")).into());
    }
    let Some(layout) = layout else { return Ok(None) };
    let mut classic = Classic { layout, zeros: args.zeros, ..Classic::default() };
    if !args.characteristics.is_empty() {
        let block = |name: &BlockName| match name {
            BlockName::Main => Block::Main,
            BlockName::Comparative => Block::Comparative,
            BlockName::Processors => Block::Processors,
            BlockName::Operations => Block::Operations,
        };
        classic.blocks = args.characteristics.iter().map(block).collect();
    }
    if let Some(ranks) = &args.ranks {
        classic.ranks = Some(Classic::parse_ranks(ranks)?);
        if !classic.blocks.contains(&Block::Processors) {
            classic.blocks.push(Block::Processors);
        }
    }
    Ok(Some(classic))
}

/// Opens a run and prints a page of it.
///
/// # Errors
/// When the run cannot be read, or the question cannot be answered.
pub fn show(dir: &Path, question: &Question) -> Result<()> {
    let run = progress::open(dir)?;
    show_run(&run, question)?;
    gaps::note(&question.dir, &run.definitions()?.quality);
    Ok(())
}

/// A note on standard error where processes of the run are still being recorded here.
fn note_if_recording(run: &Run) {
    const SHOWN: usize = 3;
    let (Ok(file), Ok(folder)) = (run.file(), run.dir().canonicalize()) else { return };
    if file.finished.is_some() {
        return;
    }
    let names: Vec<String> = processes_of(&folder).into_iter().map(|(_, name)| name).collect();
    if names.is_empty() {
        return;
    }
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more process")),
    };
    message!(
        "note: {} is still being recorded: {}{more}; this is what there is until now",
        shell_path(run.dir()),
        names[..names.len().min(SHOWN)].join(", ")
    );
}

/// Builds a page of a run.
fn written_of(run: &Run, question: &Question, show: &mut dyn FnMut(&Written<'_>)) -> Result<()> {
    let profile = match question {
        _ if question.needs_samples() => run.profile_with_rows()?,
        _ if summaries(run, question).is_some() => run.definitions()?,
        _ => run.profile()?,
    };
    let style = terminal::style();
    let done = match kept(run, question) {
        Ok(kept) => written(profile, Some(&kept), question, &style, show),
        // A page has other numbers where no account can be drawn up.
        Err(StoreError::Ledger(_)) => written(run.profile_with_rows()?, None, question, &style, show),
        Err(error) => return Err(error.into()),
    };
    Ok(done?)
}

fn show_run(run: &Run, question: &Question) -> Result<()> {
    let write = |show: &mut dyn FnMut(&Written<'_>)| written_of(run, question, show);
    let print = |page: &Written<'_>| -> Result<()> {
        analysis_notes::print(run);
        for note in page.notes {
            message!("note: {note}");
        }
        Ok(output::print_with(|to| page.write(to))?)
    };
    // A page of damaged timelines is thrown away before anything of it is printed.
    let mut printed = Ok(true);
    write(&mut |page| {
        printed = match run.was_damaged() {
            Ok(true) => Ok(false),
            Ok(false) => print(page).map(|()| true),
            Err(error) => Err(error.into()),
        };
    })?;
    if !printed? {
        let mut printed = Ok(());
        write(&mut |page| printed = print(page))?;
        printed?;
    }
    Ok(())
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
        assert!(parse(&["run", "x"]).unwrap_err().0.contains("there are summary, findings, tree"));
    }
}
