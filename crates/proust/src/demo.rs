//! `proust demo`: records a program that ships inside Proust, and shows its report.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use proust_report::{PageName, Question};

use crate::record::{self, RecordArgs};
use crate::report;

/// Rows of the tree: the hot path and its surroundings, on one screen.
const TREE_ROWS: usize = 25;

/// Arguments of `proust demo`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  proust demo -o demo.proust")]
pub struct DemoArgs {
    /// Folder of the run; must not exist [default: a new folder for temporary files]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Records the demonstration through the same code as `record`, and shows its summary and tree.
///
/// # Errors
/// When the run cannot be read again.
pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let dir = args.output.clone().unwrap_or_else(temporary);
    let proust =
        env::current_exe().context("cannot find the file of this program, which is to be recorded")?;
    message!("recording three threads that parse, sort and compress for some seconds");
    let ended = record::run(&RecordArgs {
        output: Some(dir.clone()),
        command: vec![proust.into(), "demo-workload".into()],
        ..RecordArgs::default()
    });
    if ended != ExitCode::SUCCESS {
        return Ok(ended);
    }
    for page in [PageName::Summary, PageName::Tree] {
        let dir_name = dir.to_string_lossy().into_owned();
        let question = Question { dir: dir_name, page, rows: Some(TREE_ROWS), ..Question::default() };
        report::show(&dir, &question)?;
        crate::output::print("\n")?;
    }
    message!("the run is kept in {}; remove it when you have seen enough", dir.display());
    Ok(ExitCode::SUCCESS)
}

/// The program that is recorded.
///
/// # Errors
/// When a thread cannot be started.
pub fn workload() -> Result<ExitCode> {
    let sum = proust_demo::workload().context("demo: a thread cannot be started")?;
    crate::output::print(&format!("demo: done ({:x})\n", sum & 0xffff))?;
    Ok(ExitCode::SUCCESS)
}

/// A folder that does not exist yet.
fn temporary() -> PathBuf {
    let base = env::temp_dir();
    let name = |n: u32| base.join(format!("proust-demo-{}-{n}.proust", std::process::id()));
    (0..).map(name).find(|dir| !dir.exists()).unwrap_or_else(|| name(0))
}
