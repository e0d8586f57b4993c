//! Two sweeps over counts of threads or ranks: their curves side by side, and the fate of degraded places.

use std::path::Path;

use anyhow::{Result, bail};
use proust_compare::scaling::{Ensemble, Source, Swept, read};
use proust_compare::sweeps::TwoSweeps;
use proust_profile::SweepFile;
use proust_report::SweepNote;
use proust_report::{SweepDiffQuestion, render_sweep_diff, sweep_diff_picture};

use super::sides::{fitting, written};
use crate::failure::WrongUsage;
use crate::{gaps, output, progress, terminal};

/// A sweep of which several counts are compared.
pub struct Curve {
    name: String,
    file: SweepFile,
    sources: Vec<Source>,
    missing: usize,
}

impl Curve {
    /// The sweep that a word names, if it has several counts at this point; None if it is a run, or one
    /// count.
    ///
    /// # Errors
    /// When the sweep cannot be read, or it has other axes, too, and they are not fixed.
    pub fn find(word: &str, at: Option<&str>) -> Result<Option<Curve>> {
        let path = Path::new(word);
        if !SweepFile::is_in(path) {
            return Ok(None);
        }
        let file = SweepFile::read(path)?;
        let points = fitting(&file, at)?;
        let mut sources = Vec::new();
        let mut seen: Vec<(u32, &[String])> = Vec::new();
        let mut missing = 0;
        for point in points {
            let Some(count) = file.count(point) else { return Ok(None) };
            if let Some((_, other)) =
                seen.iter().find(|(known, values)| *known == count && *values != point.values)
            {
                bail!(WrongUsage(format!(
                    "the sweep {word} varies more than the count: fix the rest with --at, for example {} \
                     or {}",
                    written(&file, &point.values),
                    written(&file, other)
                )));
            }
            seen.push((count, &point.values));
            match (&point.dir, point.outcome) {
                (Some(dir), proust_profile::sweep_file::PointOutcome::Done) => {
                    sources.push(Source { count, name: dir.clone(), dir: path.join(dir) });
                }
                _ => missing += 1,
            }
        }
        let is_one = seen.windows(2).all(|pair| pair[0].0 == pair[1].0);
        if is_one {
            return Ok(None);
        }
        Ok(Some(Curve { name: word.to_owned(), file, sources, missing }))
    }

    /// Its largest point, as `--at` takes it.
    pub fn point(&self) -> String {
        let points = self.file.points.iter().filter(|point| !point.serial);
        let largest = points.max_by_key(|point| self.file.count(point));
        largest.map(|point| written(&self.file, &point.values)).unwrap_or_default()
    }

    fn swept(&self, notes: &mut Vec<SweepNote>) -> Result<Vec<Swept>> {
        let mut swept = Vec::new();
        for (source, run) in
            self.sources.iter().zip(read(&self.sources, |source| progress::open(&source.dir)))
        {
            match run {
                Ok(run) => swept.push(run),
                Err(error) => notes.push(SweepNote::RunLeftOut {
                    run: source.name.clone(),
                    sweep: Some(self.name.clone()),
                    error: error.to_string(),
                }),
            }
        }
        notes.extend(gaps::of_sweep(&swept, Some(&self.name)));
        if self.missing > 0 {
            notes.push(SweepNote::RunsMissing { sweep: self.name.clone(), runs: self.missing });
        }
        if swept.is_empty() {
            bail!("no run of the sweep {} is done, so that there is nothing to compare", self.name);
        }
        Ok(swept)
    }
}

/// Shows two sweeps side by side.
///
/// # Errors
/// When no run of one of them can be read, or the picture cannot be written.
pub fn show(a: &Curve, b: &Curve, mut question: SweepDiffQuestion, svg: Option<&Path>) -> Result<()> {
    let mut notes = Vec::new();
    let (of_a, of_b) = (a.swept(&mut notes)?, b.swept(&mut notes)?);
    let (before, after) = (Ensemble::new(&of_a), Ensemble::new(&of_b));
    if a.file.command != b.file.command {
        notes.push(SweepNote::OtherCommands {});
    }
    question.names = [a.name.clone(), b.name.clone()];
    question.commands = [a.file.command.clone(), b.file.command.clone()];
    question.notes = notes;
    let sweeps = TwoSweeps::new(&before, &after);
    output::print(&render_sweep_diff(&sweeps, &question, &terminal::style()))?;
    match svg {
        Some(path) => output::picture(path, &sweep_diff_picture(&sweeps, &question)),
        None => Ok(()),
    }
}
