//! Recording that begins some time after the command does, or lasts for some time only.
//!
//! A thread of the recorder sleeps until then and gives the same commands as `proust resume` and `proust
//! stop`.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use proust_log::control::Command;

use crate::control::ControlPage;

/// When recording shall begin and end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedule {
    /// So long after the command's start.
    pub delay: Option<Duration>,
    /// So long after that.
    pub duration: Option<Duration>,
}

/// A schedule that is being kept.
pub struct Kept {
    over: Sender<()>,
    keeper: JoinHandle<()>,
}

impl Schedule {
    /// Keeps to it from now on, for the run in `dir`; None where there is nothing to do.
    ///
    /// # Errors
    /// If the run's control page cannot be opened.
    pub fn begin(self, dir: &Path) -> anyhow::Result<Option<Kept>> {
        let steps: Vec<(Duration, Command)> = [
            self.delay.map(|delay| (delay, Command::Resume)),
            self.duration.map(|long| (long, Command::Stop)),
        ]
        .into_iter()
        .flatten()
        .collect();
        if steps.is_empty() {
            return Ok(None);
        }
        let page = ControlPage::open(dir)?;
        let (over, ended) = mpsc::channel::<()>();
        let keeper = thread::spawn(move || {
            for (wait, command) in steps {
                if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if let Err(error) = page.give(command) {
                    message!("{error:#}");
                }
            }
        });
        Ok(Some(Kept { over, keeper }))
    }
}

impl Kept {
    /// The command has ended.
    pub fn end(self) {
        // The thread has ended already where all was done.
        let _ = self.over.send(());
        let _ = self.keeper.join();
    }
}
