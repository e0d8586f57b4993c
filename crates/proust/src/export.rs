//! `proust export`: a run in the format of another tool.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::ArgValueCompleter;
use proust_account::ledger::Windows;
use proust_export::{ExportError, FORMATS, Format, write};
use proust_profile::Metric;
use proust_query::{Filter, Key, Measure, Selection, with_times};
use proust_report::{Worded, bytes};
use proust_words::nearest::nearest;

use crate::failure::WrongUsage;
use crate::{analysis_notes, completing, gaps, progress, runs};

/// Arguments of `proust export`.
#[derive(Args, Debug)]
#[command(after_help = help())]
pub struct ExportArgs {
    /// Folder of the run [default: the newest one in the current folder], and the format
    #[arg(value_name = "DIR] [FORMAT", num_args = 0..=2,
          add = ArgValueCompleter::new(completing::of_export))]
    pub words: Vec<String>,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only this part of the run; may be given several times
    #[arg(long = "where", value_name = "EXPR", add = ArgValueCompleter::new(completing::clause))]
    pub filters: Vec<String>,
    /// What the amounts are, of formats that are not in the order of time
    #[arg(long, value_name = "METRIC", default_value = "cpu_s",
          add = ArgValueCompleter::new(completing::metric))]
    pub metric: String,
}

/// What stands below the options in help.
fn help() -> String {
    let formats: String = FORMATS.iter().map(|spec| format!("  {:<13} {}\n", spec.id, spec.about)).collect();
    format!("Formats:\n{formats}\n{EXAMPLES}")
}

const EXAMPLES: &str = "\
Examples:
  proust export flamegraph -o run.svg
  proust export solve.1.proust speedscope -o run.speedscope.json
  proust export folded --where thread=worker-* | flamegraph.pl > workers.svg
  proust export pprof --metric lock_s -o locks.pb.gz";

/// What the words mean.
#[derive(Debug, PartialEq, Eq)]
struct Words<'w> {
    dir: Option<&'w Path>,
    format: Format,
}

impl Words<'_> {
    fn parse(words: &[String]) -> Result<Words<'_>, WrongUsage> {
        let (dir, word) = match words {
            [dir, word, ..] => (Some(Path::new(dir.as_str())), word),
            [word] => (None, word),
            [] => return Err(WrongUsage(format!("name a format: {}", listed()))),
        };
        match Format::from_id(word) {
            Some(format) => Ok(Words { dir, format }),
            None => Err(WrongUsage(no_format(word, dir.is_none()))),
        }
    }
}

fn listed() -> String {
    FORMATS.map(|spec| spec.id).join(", ")
}

fn no_format(word: &str, is_alone: bool) -> String {
    if is_alone && Path::new(word).is_dir() {
        return format!("name a format behind {word}: {}", listed());
    }
    let known = FORMATS.iter().flat_map(|spec| [spec.id, spec.alias]).filter(|word| !word.is_empty());
    match nearest(word, known, 1).first() {
        Some(meant) => format!("there is no format `{word}`; did you mean `{meant}`?"),
        None => format!("there is no format `{word}`; there are {}", listed()),
    }
}

fn measure(word: &str) -> Result<Measure, WrongUsage> {
    Measure::from_id(word).ok_or_else(|| {
        let known: Vec<String> = Measure::all().map(|measure| measure.id()).collect();
        let alike = nearest(word, known.iter().map(String::as_str), 3);
        let end = match alike.is_empty() {
            true => "`proust explain` lists all".to_owned(),
            false => format!("did you mean {}?", alike.join(", ")),
        };
        WrongUsage(format!("there is no metric `{word}`; {end}"))
    })
}

/// Exports a run.
///
/// # Errors
/// When the question is wrong, the run cannot be read, or the file cannot be written.
pub fn run(args: &ExportArgs) -> Result<ExitCode> {
    let words = Words::parse(&args.words)?;
    let (spec, measure, filter) =
        (words.format.spec(), measure(&args.metric)?, Filter::parse(&args.filters)?);
    if spec.in_time && measure != Measure::Metric(Metric::Cpu) {
        let refused = ExportError::NotInTime { format: spec.id, measure: measure.id() };
        return Err(WrongUsage(refused.to_string()).into());
    }
    if measure.needs_rows() && filter.mentions(&[Key::Time, Key::Sample]) {
        return Err(WrongUsage(format!(
            "{} of a range of time cannot be exported: leave `time` and `sample` out of --where, or use \
             `proust report`",
            measure.id()
        ))
        .into());
    }
    if spec.format == Format::Pprof && args.output.is_none() && io::stdout().is_terminal() {
        return Err(WrongUsage("a profile of pprof is no text: name a file with -o".into()).into());
    }
    let dir = runs::named_or_newest(words.dir)?;
    let run = progress::open(&dir)?;
    let needs_samples = spec.in_time && !spec.of_states || filter.needs_samples();
    let profile = if needs_samples { run.profile_with_rows()? } else { run.profile()? };
    let mut selection = Selection::new(profile, &filter);
    if measure.needs_rows() {
        selection = selection.with_rows(run.ledger_with_rows()?);
    }
    let windows = with_times(profile, &filter).windows().unwrap_or_else(Windows::all);
    let timelines = if spec.of_states { Some(run.timelines()?) } else { None };
    let written = |out: &mut dyn Write| write(&selection, &windows, spec.format, measure, timelines, out);
    analysis_notes::print(&run);
    for note in selection.notes() {
        message!("note: {}", note.text());
    }
    match &args.output {
        Some(path) => to_file(path, written)?,
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            written(&mut out)?;
            out.flush()?;
        }
    }
    if run.was_damaged()? {
        analysis_notes::print(&run);
        bail!(
            "the timelines of {} were damaged, and what was exported is not whole; they have been made \
             again: export once more",
            dir.display()
        );
    }
    gaps::note(&dir.to_string_lossy(), &profile.quality);
    Ok(ExitCode::SUCCESS)
}

/// Writes into a file; half of one is removed again.
fn to_file(path: &Path, written: impl Fn(&mut dyn Write) -> Result<(), ExportError>) -> Result<()> {
    let file = File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut out = BufWriter::new(file);
    let done = written(&mut out).and_then(|()| Ok(out.flush()?));
    if done.is_err() && is_file {
        let _ = fs::remove_file(path);
    }
    done.with_context(|| format!("{} cannot be written", path.display()))?;
    let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
    message!("{} has {}", path.display(), bytes(length));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<(Option<PathBuf>, Format), String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let parsed = Words::parse(&words).map_err(|error| error.0)?;
        Ok((parsed.dir.map(Path::to_owned), parsed.format))
    }

    #[test]
    fn the_last_word_is_the_format() {
        assert_eq!(parse(&["folded"]), Ok((None, Format::Folded)));
        assert_eq!(parse(&["run", "perfetto"]), Ok((Some("run".into()), Format::ChromeTrace)));
        assert!(parse(&["run", "specdscope"]).unwrap_err().contains("did you mean `speedscope`?"));
        assert!(parse(&["."]).unwrap_err().contains("name a format behind ."));
        assert!(parse(&["run", "xyz"]).unwrap_err().contains("there are folded, flamegraph"));
    }

    #[test]
    fn a_metric_that_is_not_known_gets_a_suggestion() {
        assert!(measure("lock").unwrap_err().0.contains("lock_s"));
        assert!(measure("cpu_s").is_ok());
    }
}
