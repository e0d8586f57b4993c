//! `proust report SWEEP`: pages about all runs of a sweep, or of runs that were recorded one by one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use proust_compare::scaling::{Ensemble, Kind, Source, Swept, read};
use proust_profile::SweepFile;
use proust_profile::sweep_file::{RANKS, SweepPoint, THREADS};
use proust_report::{PageName, SweepPage, SweepQuestion, SweepView, render_sweep, sweep_picture};
use proust_report::{SweepNote, Worded};
use proust_words::nearest::nearest;

use super::ReportArgs;
use crate::failure::{INCOMPLETE, WrongUsage};
use crate::sweep::FromRuns;
use crate::{gaps, output, progress, runs, terminal};

/// A page about a sweep, as it was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// A sweep's folder, or several runs'; none = the newest sweep.
    dirs: Vec<PathBuf>,
    page: SweepPage,
    arguments: Vec<String>,
}

impl Asked {
    /// Whether the words ask for a page about a sweep.
    ///
    /// # Errors
    /// [`WrongUsage`] when a page about runs is asked of a sweep, or the other way round.
    pub fn parse(words: &[String]) -> Result<Option<Asked>, WrongUsage> {
        let of_sweeps = |word: &str| SweepPage::from_id(word).filter(|_| PageName::from_id(word).is_none());
        let Some((first, rest)) = words.split_first() else {
            let here = SweepFile::is_in(Path::new("."));
            let asked = Asked { dirs: vec![".".into()], page: SweepPage::default(), arguments: Vec::new() };
            return Ok(here.then_some(asked));
        };
        if let Some(page) = of_sweeps(first) {
            return Ok(Some(Asked { dirs: Vec::new(), page, arguments: rest.to_vec() }));
        }
        if let Some(several) = Asked::of_several(words)? {
            return Ok(Some(several));
        }
        let dir = PathBuf::from(first);
        let second = rest.first().map(String::as_str);
        if !SweepFile::is_in(&dir) {
            return match second.and_then(of_sweeps) {
                Some(page) if dir.is_dir() => Err(WrongUsage(format!(
                    "{first} is no sweep, and the page `{page}` compares many runs: name more, \
                     `proust report {first} RUN... {page}`, or make them with \
                     `proust sweep --threads 1,2,4 -- CMD`",
                    page = page.id()
                ))),
                _ => Ok(None),
            };
        }
        let (page, arguments) = match second {
            None => (SweepPage::default(), Vec::new()),
            Some(word) => match SweepPage::from_id(word) {
                Some(page) => (page, rest[1..].to_vec()),
                // A value on an axis may follow without a page.
                None if word.contains('=') => (SweepPage::default(), rest.to_vec()),
                None => {
                    let runs = SweepFile::read(&dir).ok();
                    let run = runs.and_then(|file| file.done().find_map(|point| point.dir.clone()));
                    return Err(WrongUsage(format!(
                        "{first} is a sweep, whose pages are summary, scaling and degradation; of one run: \
                         proust report {first}/{} {word}",
                        run.unwrap_or_else(|| "RUN".into())
                    )));
                }
            },
        };
        Ok(Some(Asked { dirs: vec![dir], page, arguments }))
    }

    /// Whether the words begin with several folders. Where a page of sweeps follows, all words before it are
    /// meant as folders.
    fn of_several(words: &[String]) -> Result<Option<Asked>, WrongUsage> {
        let is_page = |word: &String| SweepPage::from_id(word).is_some() || PageName::from_id(word).is_some();
        let of_sweeps = |word: &String| is_page(word) && PageName::from_id(word).is_none();
        let folders = words.iter().take_while(|word| !is_page(word) && Path::new(word).exists()).count();
        let page_at = words.iter().position(of_sweeps);
        if let Some(missing) = words.get(folders)
            && page_at.is_some_and(|at| at > folders && at > 1)
        {
            return Err(WrongUsage(format!(
                "there is no folder {missing} (`proust ls` lists the runs here)"
            )));
        }
        if folders < 2 {
            return Ok(None);
        }
        let (dirs, rest) = words.split_at(folders);
        let named = dirs.join(" ");
        let page = match rest {
            [] => SweepPage::default(),
            [word, ..] => SweepPage::from_id(word).ok_or_else(|| {
                WrongUsage(match PageName::from_id(word) {
                    Some(_) => format!(
                        "the page `{word}` shows one run, not {}; side by side: proust diff {named} {word}",
                        dirs.len()
                    ),
                    None => format!(
                        "{word} is neither a folder nor a page of several runs: {}",
                        match nearest(word, SweepPage::ALL.map(SweepPage::id), 1).first() {
                            Some(meant) => format!("did you mean `{meant}`?"),
                            None => "these have summary, scaling and degradation".into(),
                        }
                    ),
                })
            })?,
        };
        if let Some(argument) = rest.get(1) {
            return Err(WrongUsage(format!(
                "the page `{}` of several runs takes no argument, but `{argument}` was given",
                page.id()
            )));
        }
        Ok(Some(Asked { dirs: dirs.iter().map(PathBuf::from).collect(), page, arguments: Vec::new() }))
    }
}

/// Shows a page about a sweep.
///
/// # Errors
/// When the sweep cannot be read, or cannot answer.
pub fn run(args: &ReportArgs, asked: Asked) -> Result<ExitCode> {
    refuse_what_is_for_runs(args)?;
    let dir = match &asked.dirs[..] {
        [] => newest()?,
        [dir] => dir.clone(),
        several => {
            let FromRuns { file, swept, mut notes } = FromRuns::read(several, &args.counts)?;
            notes.extend(gaps::of_sweep(&swept, None));
            let name: Vec<_> = several.iter().map(|dir| dir.to_string_lossy()).collect();
            return show(args, asked.page, &name.join(" "), &file, &swept, "", notes);
        }
    };
    if !args.counts.is_empty() {
        return Err(WrongUsage("--count is for several runs; a sweep has noted its counts".into()).into());
    }
    let file = SweepFile::read(&dir)?;
    let chosen = Chosen::of(&file, &asked.arguments)?;
    let (swept, mut notes) = swept(&dir, &chosen);
    notes.extend(chosen.notes);
    show(args, asked.page, &dir.to_string_lossy(), &file, &swept, &chosen.selected, notes)
}

/// Shows a page about runs that have been read. `name` are the folders as the user names them again,
/// `selected` the values on other axes in words.
fn show(
    args: &ReportArgs,
    page: SweepPage,
    name: &str,
    file: &SweepFile,
    swept: &[Swept],
    selected: &str,
    notes: Vec<SweepNote>,
) -> Result<ExitCode> {
    let ensemble = Ensemble::new(swept);
    let serial_s: Vec<f64> =
        file.done().filter(|point| point.serial).filter_map(|point| point.wall_s).collect();
    let view = SweepView { dir: name, file, selected, ensemble: &ensemble, serial_s: &serial_s, notes };
    let question = SweepQuestion {
        page,
        kind: if args.weak { Kind::Weak } else { Kind::Strong },
        paper: args.paper,
        limit: args.limit,
        format: args.format.format(),
    };
    let rendered = render_sweep(&view, &question, &terminal::style()).inspect_err(|_| {
        // That a run was left out may be why.
        view.notes.iter().for_each(|note| message!("note: {}", note.text()));
    })?;
    output::print(&rendered.page)?;
    if let Some(path) = &args.svg {
        output::picture(path, &sweep_picture(&view, &question)?)?;
    }
    let missing = file.points.len() - file.done().count();
    if args.strict && missing > 0 {
        message!("the data are incomplete: {missing} runs of the sweep are not done");
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse_what_is_for_runs(args: &ReportArgs) -> Result<(), WrongUsage> {
    let given = [
        ("--where", !args.filters.is_empty()),
        ("--metrics", args.metrics.is_some()),
        ("--define", !args.definitions.is_empty()),
        ("--sort", args.sort.is_some()),
        ("--processors", args.processors.is_some()),
        ("--format dvm", args.format.layout().is_some()),
        ("--characteristics", !args.characteristics.is_empty()),
        ("--ranks", args.ranks.is_some()),
        ("--zeros", args.zeros),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(WrongUsage(format!("{option} is for pages of one run, not of a sweep"))),
        None => Ok(()),
    }
}

fn newest() -> Result<PathBuf> {
    let here = Path::new(".");
    if SweepFile::is_in(here) {
        return Ok(here.to_owned());
    }
    let Some((dir, _)) = runs::sweeps_in(here)?.into_iter().next() else {
        bail!(
            "there is no sweep in the current folder; name one, or make one with `proust sweep --threads \
             1,2,4 -- CMD`"
        );
    };
    let dir = dir.strip_prefix(here).unwrap_or(&dir).to_owned();
    message!("the newest sweep here is {}", dir.display());
    Ok(dir)
}

/// The points that are compared: those with one value on every axis but the count's.
struct Chosen<'f> {
    points: Vec<(u32, &'f SweepPoint)>,
    selected: String,
    notes: Vec<SweepNote>,
}

impl<'f> Chosen<'f> {
    fn of(file: &'f SweepFile, arguments: &[String]) -> Result<Chosen<'f>> {
        let is_count = |name: &str| name == THREADS || name == RANKS;
        let has_count = file.axes.iter().any(|axis| is_count(&axis.name));
        // A sweep over numbers of something else: that is what its costs depend on.
        let alone = (!has_count && file.axes.len() == 1).then_some(0);
        let others: Vec<usize> =
            (0..file.axes.len()).filter(|&at| Some(at) != alone && !is_count(&file.axes[at].name)).collect();
        let mut wanted: Vec<(usize, &str)> = Vec::new();
        for argument in arguments {
            let named = argument.split_once('=').and_then(|(name, value)| {
                let at = others.iter().copied().find(|&at| file.axes[at].name == name)?;
                file.axes[at].values.iter().any(|known| known == value).then_some((at, value))
            });
            let Some(named) = named else {
                let known: Vec<String> = others
                    .iter()
                    .map(|&at| format!("{}={}", file.axes[at].name, file.axes[at].values.join("|")))
                    .collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(WrongUsage(format!(
                    "`{argument}` is no value on another axis of this sweep; there are: {known}"
                ))
                .into());
            };
            wanted.push(named);
        }
        let values = |point: &SweepPoint| -> Vec<String> {
            others.iter().filter_map(|&at| point.values.get(at).cloned()).collect()
        };
        let fits = |point: &&SweepPoint| {
            !point.serial
                && wanted.iter().all(|&(at, value)| point.values.get(at).is_some_and(|known| known == value))
        };
        let mut combinations: Vec<Vec<String>> = Vec::new();
        for point in file.done().filter(fits) {
            let values = values(point);
            if !combinations.contains(&values) {
                combinations.push(values);
            }
        }
        let in_words = |values: &[String]| -> String {
            let pairs =
                others.iter().zip(values).map(|(&at, value)| format!("{}={value}", file.axes[at].name));
            pairs.collect::<Vec<_>>().join(" ")
        };
        let first = combinations.first().cloned().unwrap_or_default();
        let mut notes = Vec::new();
        if combinations.len() > 1 {
            let combinations = combinations[1..].iter().map(|values| in_words(values)).collect();
            notes.push(SweepNote::OtherCombinations { combinations });
        }
        let count = |point: &SweepPoint| match alone {
            Some(at) => point.values.get(at).and_then(|value| value.parse().ok()),
            None => file.count(point),
        };
        let points: Vec<(u32, &SweepPoint)> = file
            .done()
            .filter(fits)
            .filter(|point| values(point) == first)
            .filter_map(|point| Some((count(point)?, point)))
            .collect();
        if points.is_empty() && file.done().any(|point| !point.serial) {
            bail!(
                "the sweep varies no number: `scaling` and `degradation` need counts, such as --threads 1,2,4"
            );
        }
        Ok(Chosen { points, selected: in_words(&first), notes })
    }
}

/// Reads the runs; a run that cannot be read becomes a note.
fn swept(dir: &Path, chosen: &Chosen<'_>) -> (Vec<Swept>, Vec<SweepNote>) {
    let mut sources = Vec::new();
    for (count, point) in &chosen.points {
        let Some(name) = &point.dir else { continue };
        sources.push(Source { count: *count, name: name.clone(), dir: dir.join(name) });
    }
    let mut swept = Vec::new();
    let mut notes = Vec::new();
    for (source, run) in sources.iter().zip(read(&sources, |source| progress::open(&source.dir))) {
        match run {
            Ok(run) => swept.push(run),
            Err(error) => notes.push(SweepNote::RunLeftOut {
                run: source.name.clone(),
                sweep: None,
                error: error.to_string(),
            }),
        }
    }
    notes.extend(gaps::of_sweep(&swept, None));
    (swept, notes)
}
