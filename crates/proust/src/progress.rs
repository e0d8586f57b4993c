//! Progress on standard error: on a terminal only, and only for work that takes a while.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proust_ingest::{CallPaths, Progress, Stage};
use proust_store::{Run, StoreError};

/// Shorter work needs no bar.
const DELAY: Duration = Duration::from_millis(300);

/// Opens a run, and analyses it where that has not been done yet.
///
/// # Errors
/// When the folder is not a run, or nothing in it can be read.
pub fn open(dir: &Path) -> Result<Run, StoreError> {
    open_with_paths(dir, CallPaths::User)
}

/// As [`open`], with the call paths that are wanted.
///
/// # Errors
/// As [`open`].
pub fn open_with_paths(dir: &Path, paths: CallPaths) -> Result<Run, StoreError> {
    let run = Run::open_with_paths(dir, paths)?;
    let mut shown = Shown::default();
    let analysed = run.analyse(&mut |progress| shown.tell(progress));
    if let Some(bar) = shown.bar {
        bar.finish_and_clear();
    }
    analysed.map(|()| run)
}

struct Shown {
    since: Instant,
    bar: Option<ProgressBar>,
    stage: Option<Stage>,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { since: Instant::now(), bar: None, stage: None }
    }
}

impl Shown {
    fn tell(&mut self, progress: Progress) {
        if self.since.elapsed() < DELAY || !io::stderr().is_terminal() {
            return;
        }
        let bar =
            self.bar.get_or_insert_with(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        if self.stage.replace(progress.stage) != Some(progress.stage) {
            bar.reset();
            bar.set_style(style(progress));
        }
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }
}

fn style(progress: Progress) -> ProgressStyle {
    let template = match progress.stage {
        Stage::Reading => "reading logs {bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
        Stage::Names => "finding functions and lines {bar:30} {pos}/{len}, {per_sec}, {eta} left",
        Stage::Contexts => "building contexts {bar:30} {pos}/{len}, {per_sec}, {eta} left",
        Stage::Keeping => "keeping the profile {spinner}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
