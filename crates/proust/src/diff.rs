//! `proust diff`: the differences between two runs, or two sets of repetitions.

mod sides;
mod sweeps;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCompleter;
use proust_account::ledger::IoAs;
use proust_compare::diff::Limit;
use proust_compare::{ComparedRun, Diff};
use proust_profile::notes::Gap;
use proust_query::{Filter, Key, Measure, Metrics};
use proust_report::{
    Column, DiffPage, DiffQuestion, Format, SweepDiffQuestion, Worded, gaps_text, limit_text, listed,
    render_diffs,
};
use proust_statistics::Outcome;
use proust_store::{Run, is_kept, read_side_by_side};
use proust_words::nearest::nearest;

use crate::failure::{EXCEEDED, WrongUsage};
use crate::report::{FormatName, IoName};
use crate::{analysis_notes, completing, output, progress, terminal};
use sides::Side;
use sweeps::Curve;

/// Arguments of `proust diff`.
#[derive(Args, Debug)]
#[command(after_help = help())]
pub struct DiffArgs {
    /// The sides, of which A is the reference, page, and what the page takes
    #[arg(value_name = "A B [C...]] [PAGE] [ARGS", num_args = 0..,
          add = ArgValueCompleter::new(completing::of_diff))]
    pub words: Vec<String>,
    /// Only this part of each run; may be given several times
    #[arg(long = "where", value_name = "EXPR", add = ArgValueCompleter::new(completing::clause))]
    pub filters: Vec<String>,
    /// The point of sweeps to compare: AXIS=VALUE, separated by commas
    #[arg(long, value_name = "POINT")]
    pub at: Option<String>,
    /// Of two sweeps: what is degraded by the original definition, in which any difference counts
    #[arg(long)]
    pub paper: bool,
    /// What is compared by context: metrics, separated by commas; the first one orders the rows
    #[arg(long, value_name = "LIST", add = ArgValueCompleter::new(completing::list_of_metrics))]
    pub metrics: Option<String>,
    /// Derive a metric of others: NAME=EXPR, such as 'io_rate=read_bytes/wall_s'; may be given several
    /// times
    #[arg(long = "define", value_name = "NAME=EXPR")]
    pub definitions: Vec<String>,
    /// Exit with 4 if B, or a further side, exceeds this with the whole interval of the change; may be given
    /// several times
    #[arg(long = "fail-if", value_name = "LIMIT")]
    pub fail_if: Vec<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Of two sweeps: also draw speedups and processor time side by side into a file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    pub format: FormatName,
    /// Whether time in file I/O counts as productive or as lost
    #[arg(long, value_enum, value_name = "CLASS", default_value_t = IoName::Productive)]
    pub io_as: IoName,
}

/// What stands below the options in help.
fn help() -> String {
    format!("{INTRODUCTION}\nPages:\n{}\n{LIMITS}", listed(DiffPage::ALL.map(DiffPage::head)))
}

const INTRODUCTION: &str = "\
A and B are folders of runs; further ones, C and so on, are compared with A, too. Repetitions are
separated by commas; a folder that `proust sweep` wrote stands for all its repetitions at one
point, which --at names if there are several. Without --at two sweeps are shown side by side:
speedup, and what became of places that are degraded.
Places are matched by what the source calls them: moved lines and other builds do not matter.
A difference is `more`, `less`, `same` (too little to matter) or `undecided`; why is said, and how
many more runs would probably decide.
";

const LIMITS: &str = "\
Limits for --fail-if: SUBJECT>AMOUNT or SUBJECT<AMOUNT. SUBJECT is wall, cpu, total, productive,
lost, efficiency, or an account such as lock. +5% and +0.5s are changes from A to B; 10% is a
part of B's total, 0.5s an amount of B. A limit is exceeded if the whole 90 % interval of the
change lies beyond it. Exit code 4 then.

Examples:
  proust diff before.proust after.proust            what changed
  proust diff before.proust after.proust tree       where
  proust diff a1,a2,a3 b1,b2,b3                     three runs of each
  proust diff gcc.proust clang.proust icx.proust    two sides beside the first one
  proust diff old.sweep new.sweep --at threads=4    the repetitions with four threads
  proust diff old.sweep new.sweep                   speedup and degraded places
  proust diff old.sweep new.sweep --svg both.svg    and a picture
  proust diff a b flat --metrics lock_s,caused_s
  proust diff a b --where interval=solve            only what is inside of an interval
  proust diff main.proust branch.proust --fail-if 'lost>+5%' --fail-if 'wall>+0.5s'";

/// As many as there are letters.
const MOST_SIDES: usize = 26;

/// What the words before the options mean.
#[derive(Debug, PartialEq, Eq)]
struct Words<'w> {
    /// A first, the reference; at least two.
    sides: &'w [String],
    page: DiffPage,
    arguments: &'w [String],
}

impl Words<'_> {
    fn parse(words: &[String]) -> Result<Words<'_>, WrongUsage> {
        match words {
            [_, b, rest @ ..] if DiffPage::from_id(b).is_none() || rest.len() > 1 => {}
            [] => return Err(WrongUsage("name two runs to compare: `proust diff A B`".into())),
            [a, ..] => {
                return Err(WrongUsage(format!(
                    "{a} is compared with nothing: name a second run, `proust diff {a} B` (a folder that \
                     is called like a page is given as ./NAME)"
                )));
            }
        }
        let is_side = |word: &String| DiffPage::from_id(word).is_none() && sides::exists(word);
        let more = words[2..].iter().take_while(|word| is_side(word)).count();
        let (sides, rest) = words.split_at(2 + more);
        if sides.len() > MOST_SIDES {
            return Err(WrongUsage(format!(
                "{} sides are too many: at most {MOST_SIDES} have letters; repetitions of a side are \
                 separated by commas",
                sides.len()
            )));
        }
        let Some((word, arguments)) = rest.split_first() else {
            return Ok(Words { sides, page: DiffPage::default(), arguments: &[] });
        };
        let Some(page) = DiffPage::from_id(word) else {
            let pages = DiffPage::ALL.map(DiffPage::id);
            let end = match nearest(word, pages, 1).first() {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    format!("there are {}; repetitions of a side are separated by commas", pages.join(", "))
                }
            };
            return Err(WrongUsage(format!(
                "there is no folder `{word}`, and a comparison has no page of that name; {end}"
            )));
        };
        Ok(Words { sides, page, arguments })
    }
}

/// Compares two sides.
///
/// # Errors
/// When the question is wrong, or a run cannot be read or compared.
pub fn run(args: &DiffArgs) -> Result<ExitCode> {
    let words = Words::parse(&args.words)?;
    // Errors in the question are reported before an analysis that may take a while.
    let limits = args.fail_if.iter().map(|text| Limit::parse(text)).collect::<Result<Vec<Limit>, _>>()?;
    let metrics = args.metrics.iter().flat_map(|list| list.split(',')).map(str::trim);
    let defined = defined(args, words.page)?;
    let quantities = metrics.map(|word| Column::quantity(word, &defined)).collect::<Result<Vec<_>, _>>()?;
    let filter = Filter::parse(&args.filters)?;
    let at = args.at.as_deref();
    if let [a, b] = words.sides
        && let (Some(a), Some(b)) = (Curve::find(a, at)?, Curve::find(b, at)?)
    {
        return curves(&a, &b, &words, args);
    }
    let sides = words.sides.iter().map(|word| Side::find(word, at)).collect::<Result<Vec<Side>>>()?;
    let of_sweeps = [("--paper", args.paper), ("--svg", args.svg.is_some())];
    if let Some((option, _)) = of_sweeps.iter().find(|(_, given)| *given) {
        return Err(WrongUsage(format!("{option} is for two sweeps with several counts each")).into());
    }
    let mut question = DiffQuestion {
        names: sides.iter().map(|side| side.name.clone()).collect(),
        filter: (!filter.is_empty()).then(|| filter.to_string()),
        page: words.page,
        arguments: words.arguments.to_vec(),
        metrics: defined,
        quantities,
        limit: args.limit,
        format: format(args.format),
        exceeded: Vec::new(),
    };
    let measures = question.measures();
    let Opened { runs, gaps } = Opened::of(&sides, &filter, &measures)?;
    let io = match args.io_as {
        IoName::Productive => IoAs::Productive,
        IoName::Lost => IoAs::Lost,
    };
    let others: Vec<&[ComparedRun]> = runs[1..].iter().map(Vec::as_slice).collect();
    let diffs = Diff::of_sides(&runs[0], &others, io)?;
    question.exceeded = diffs.iter().map(|diff| diff.exceeded(&limits)).collect();
    output::print(&render_diffs(&diffs, &question, &terminal::style())?)?;
    let partly = account_note(&filter);
    for note in sides.iter().flat_map(|side| &side.notes).chain(&gaps).chain(&partly) {
        message!("note: {note}");
    }
    for (side, exceeded) in sides[1..].iter().zip(&question.exceeded) {
        let name = if others.len() > 1 { format!("{}: ", side.name) } else { String::new() };
        for exceeded in exceeded {
            let is_certain = exceeded.outcome == Outcome::Exceeded;
            let what =
                if is_certain { "limit exceeded" } else { "limit neither kept nor exceeded for certain" };
            message!("{what}: {name}{}", limit_text(exceeded));
        }
    }
    if question.exceeded.iter().flatten().any(|exceeded| exceeded.outcome == Outcome::Exceeded) {
        return Ok(ExitCode::from(EXCEEDED));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a filter does not select.
fn account_note(filter: &Filter) -> Option<String> {
    let keys = [Key::Cpu, Key::Function, Key::Module, Key::File, Key::State];
    let keys: Vec<&str> = keys.into_iter().filter(|key| filter.mentions(&[*key])).map(Key::word).collect();
    let keys = (!keys.is_empty()).then(|| keys.join(", "))?;
    Some(format!("{keys} selects contexts and functions: the account and the threads are those of all"))
}

fn format(name: FormatName) -> Format {
    match name {
        FormatName::Text => Format::Text,
        FormatName::Json => Format::Json,
        FormatName::Csv => Format::Csv,
    }
}

/// Shows two sweeps with several counts each.
fn curves(a: &Curve, b: &Curve, words: &Words<'_>, args: &DiffArgs) -> Result<ExitCode> {
    let one_point = |what: &str| {
        let point = a.point();
        Err(WrongUsage(format!("{what} compares one point of the sweeps: choose one, such as --at {point}"))
            .into())
    };
    if words.page != DiffPage::Summary {
        return one_point(&format!("the page `{}`", words.page.id()));
    }
    if !args.fail_if.is_empty() {
        return one_point("--fail-if");
    }
    if !args.definitions.is_empty() {
        return one_point("--define");
    }
    if args.metrics.is_some() {
        return one_point("--metrics");
    }
    if !args.filters.is_empty() {
        return one_point("--where");
    }
    let question = SweepDiffQuestion {
        paper: args.paper,
        limit: args.limit,
        format: format(args.format),
        ..SweepDiffQuestion::default()
    };
    sweeps::show(a, b, question, args.svg.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// What `--define` derives.
fn defined(args: &DiffArgs, page: DiffPage) -> Result<Metrics> {
    let metrics = Metrics::defined(args.definitions.iter().map(String::as_str));
    let metrics = metrics.map_err(|error| WrongUsage(error.to_string()))?;
    if !args.definitions.is_empty() && !matches!(page, DiffPage::Summary | DiffPage::Tree | DiffPage::Flat) {
        return Err(WrongUsage(format!(
            "--define is for pages of a comparison that show metrics by place, and not for `{}`: use \
             summary, tree or flat",
            page.id()
        ))
        .into());
    }
    Ok(metrics)
}

/// The runs of all sides; of each only the compared data stay in memory.
struct Opened {
    /// By side.
    runs: Vec<Vec<ComparedRun>>,
    /// What is missing in their data, a sentence for each run, and what a filter does not select.
    gaps: Vec<String>,
}

/// A run, what is missing in its data, and what a filter means for it.
struct One {
    run: ComparedRun,
    missing: Vec<Gap>,
    notes: Vec<String>,
}

impl Opened {
    fn of(sides: &[Side], filter: &Filter, measures: &[Measure]) -> Result<Opened> {
        let dirs: Vec<&PathBuf> = sides.iter().flat_map(|side| &side.dirs).collect();
        let mut read: Vec<Option<One>> = Vec::new();
        for dir in &dirs {
            // The first time takes a while and shows its progress.
            let first = if is_kept(dir) { None } else { Some(one(&progress::open(dir)?, filter, measures)?) };
            read.push(first);
        }
        let rest: Vec<&PathBuf> =
            dirs.iter().zip(&read).filter(|(_, r)| r.is_none()).map(|(d, _)| *d).collect();
        let mut rest = read_side_by_side(&rest, |dir| one(&Run::open(dir)?, filter, measures)).into_iter();
        let (mut runs, mut gaps): (Vec<Vec<ComparedRun>>, _) = (Vec::new(), Vec::new());
        let side_of = sides.iter().enumerate().flat_map(|(n, side)| side.dirs.iter().map(move |_| n));
        for ((run, dir), side) in read.into_iter().zip(&dirs).zip(side_of) {
            let Some(One { run, missing, notes }) = run.map(Ok).or_else(|| rest.next()).transpose()? else {
                continue;
            };
            runs.resize_with(side + 1, Vec::new);
            runs[side].push(run);
            gaps.extend(notes.into_iter().map(|note| format!("{}: {note}", dir.display())));
            if !missing.is_empty() {
                gaps.push(gaps_text(&dir.to_string_lossy(), &missing));
            }
        }
        Ok(Opened { runs, gaps })
    }
}

fn one(run: &Run, filter: &Filter, measures: &[Measure]) -> Result<One> {
    let profile = if filter.is_empty() { run.profile()? } else { run.profile_with_rows()? };
    let missing = Gap::all_of(&profile.quality);
    let found = run.findings()?;
    let (compared, notes) = if filter.is_empty() {
        (ComparedRun::new(profile, run.ledger_with_rows()?, found.to_vec(), measures, &[]), Vec::new())
    } else {
        ComparedRun::part(profile, filter, found, measures)?
    };
    run.rows_were_read()?;
    analysis_notes::print(run);
    Ok(One { run: compared, missing, notes: notes.iter().map(Worded::text).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<(Vec<String>, DiffPage, usize), String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let words = Words::parse(&words).map_err(|error| error.to_string())?;
        Ok((words.sides.to_vec(), words.page, words.arguments.len()))
    }

    #[test]
    fn words_are_two_sides_a_page_and_what_it_takes() {
        let sides = |page, arguments| Ok((vec!["a".to_owned(), "b".to_owned()], page, arguments));
        assert_eq!(parsed(&["a", "b"]), sides(DiffPage::Summary, 0));
        assert_eq!(parsed(&["a", "b", "tree"]), sides(DiffPage::Tree, 0));
        assert_eq!(parsed(&["a", "b", "callers", "main"]), sides(DiffPage::Callers, 1));
        // A third word that is a folder is a third side, and several with commas are one.
        let three = |page, third: &str| Ok((vec!["a".into(), "b".into(), third.to_owned()], page, 0));
        assert_eq!(parsed(&["a", "b", "src"]), three(DiffPage::Summary, "src"));
        assert_eq!(parsed(&["a", "b", "src,tests", "flat"]), three(DiffPage::Flat, "src,tests"));
    }

    #[test]
    fn what_is_missing_is_told() {
        for (words, expected) in [
            (&[][..], "name two runs"),
            (&["a"][..], "compared with nothing"),
            (&["a", "tree"][..], "compared with nothing"),
            (&["a", "b", "tre"][..], "did you mean `tree`?"),
            (&["a", "b", "c"][..], "separated by commas"),
        ] {
            let message = parsed(words).expect_err("it is wrong");
            assert!(message.contains(expected), "{message}");
        }
    }
}
