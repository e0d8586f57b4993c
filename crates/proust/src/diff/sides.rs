//! Which runs a side of a comparison is.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use proust_profile::SweepFile;
use proust_profile::sweep_file::{PointOutcome, SweepPoint};
use proust_words::counted;

use crate::failure::WrongUsage;
use crate::runs::folder_of_run;

/// One side: repetitions of the same run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// How it is called.
    pub name: String,
    /// The folders of its runs.
    pub dirs: Vec<PathBuf>,
    /// What a reader must know of it, in words.
    pub notes: Vec<String>,
}

impl Side {
    /// The runs that a word names: a folder of a run or a sweep, or several of runs with commas between.
    ///
    /// # Errors
    /// When there is no such folder, or it holds no run.
    pub fn find(word: &str, at: Option<&str>) -> Result<Side> {
        let path = Path::new(word);
        if SweepFile::is_in(path) {
            return of_sweep(path, word, at);
        }
        if path.exists() || !word.contains(',') {
            return Ok(Side { name: word.to_owned(), dirs: vec![folder_of_run(path)?], notes: Vec::new() });
        }
        let parts = word.split(',').map(str::trim).filter(|part| !part.is_empty());
        let dirs = parts.map(|part| folder_of_run(Path::new(part))).collect::<Result<Vec<PathBuf>>>()?;
        for (n, dir) in dirs.iter().enumerate() {
            if dirs[..n].contains(dir) {
                bail!(WrongUsage(format!(
                    "{} is named twice in `{word}`: it is one run, not two",
                    dir.display()
                )));
            }
        }
        if dirs.is_empty() {
            bail!(WrongUsage(format!("`{word}` names no run")));
        }
        Ok(Side { name: word.to_owned(), dirs, notes: Vec::new() })
    }
}

/// Whether a word can name a side: a folder, or the first of several with commas between.
pub fn exists(word: &str) -> bool {
    let first = word.split(',').next().unwrap_or_default().trim();
    Path::new(word).exists() || !first.is_empty() && Path::new(first).exists()
}

/// The repetitions of a sweep at a point.
fn of_sweep(path: &Path, word: &str, at: Option<&str>) -> Result<Side> {
    let sweep = SweepFile::read(path)?;
    let points = fitting(&sweep, at)?;
    let mut values: Vec<&[String]> = Vec::new();
    for point in &points {
        if !values.contains(&point.values.as_slice()) {
            values.push(&point.values);
        }
    }
    match &values[..] {
        [_] => {}
        [] => bail!(WrongUsage(format!("the sweep {word} has no point {}", at.unwrap_or_default()))),
        several => {
            let points: Vec<String> = several.iter().map(|values| written(&sweep, values)).collect();
            bail!(WrongUsage(format!(
                "the sweep {word} has several points; choose one with --at: {}",
                points.join(" or ")
            )));
        }
    }
    let done = points.iter().filter(|point| point.outcome == PointOutcome::Done);
    let dirs: Vec<PathBuf> = done.filter_map(|point| Some(path.join(point.dir.as_ref()?))).collect();
    let missing = points.len() - dirs.len();
    if dirs.is_empty() {
        bail!("no run of the sweep {word} at {} was done", written(&sweep, values[0]));
    }
    let mut notes = Vec::new();
    if missing > 0 {
        let what = counted(missing, "repetition");
        notes.push(format!(
            "{what} of {word} at {} failed or not done: the others are compared",
            written(&sweep, values[0])
        ));
    }
    Ok(Side { name: format!("{word} at {}", written(&sweep, values[0])), dirs, notes })
}

/// The points of a sweep that have these values, the serial reference left out.
///
/// # Errors
/// [`WrongUsage`] when the values are no values of axes.
pub fn fitting<'s>(sweep: &'s SweepFile, at: Option<&str>) -> Result<Vec<&'s SweepPoint>, WrongUsage> {
    let wanted = at.map(|text| point(text, sweep)).transpose()?.unwrap_or_default();
    let fits = |values: &[String]| {
        wanted.iter().all(|(axis, value)| values.get(*axis).is_some_and(|known| known == value))
    };
    Ok(sweep.points.iter().filter(|point| !point.serial && fits(&point.values)).collect())
}

/// A point as `--at` takes it.
pub fn written(sweep: &SweepFile, values: &[String]) -> String {
    let pairs = sweep.axes.iter().zip(values).map(|(axis, value)| format!("{}={value}", axis.name));
    pairs.collect::<Vec<_>>().join(",")
}

/// The axes and values that a point is given by.
fn point(text: &str, sweep: &SweepFile) -> Result<Vec<(usize, String)>, WrongUsage> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let names: Vec<&str> = sweep.axes.iter().map(|axis| axis.name.as_str()).collect();
        let (name, value) = part.split_once('=').ok_or_else(|| {
            WrongUsage(format!("`{part}` is no point: write an axis and a value, such as {}=4", names[0]))
        })?;
        let axis = names.iter().position(|known| *known == name).ok_or_else(|| {
            WrongUsage(format!("the sweep has no axis `{name}`; it has {}", names.join(", ")))
        })?;
        Ok((axis, value.to_owned()))
    };
    parts.map(pair).collect()
}
