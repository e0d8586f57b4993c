//! A limit of time for a run: when it is over, all processes of the run are asked to end, and some seconds
//! later made to.
//!
//! The waiting is done by a thread that sleeps until then: nothing is checked while the run is in progress.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::child::signal_command;
use super::closing::processes_of;

/// How long processes that were asked to end have for it.
const GRACE: Duration = Duration::from_secs(5);

/// A limit that is set.
pub struct Limit {
    over: Sender<()>,
    watch: JoinHandle<()>,
}

impl Limit {
    /// Sets a limit to the run in the folder `dir`, which is absolute.
    pub fn set(limit: Duration, dir: &Path) -> Limit {
        let (over, ended) = mpsc::channel::<()>();
        let dir = dir.to_owned();
        let watch = thread::spawn(move || {
            let mut wait = limit;
            for signal in [libc::SIGTERM, libc::SIGKILL] {
                if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                end_all(&dir, signal);
                wait = GRACE;
            }
        });
        Limit { over, watch }
    }

    /// Lifts it: the run has ended.
    pub fn lift(self) {
        // The thread has ended already where the limit was reached.
        let _ = self.over.send(());
        let _ = self.watch.join();
    }
}

/// Sends a signal to every process of the run.
fn end_all(dir: &Path, signal: libc::c_int) {
    for (pid, _) in processes_of(dir) {
        // SAFETY: a plain system call. The process was of this run a moment ago.
        unsafe { libc::kill(pid as libc::pid_t, signal) };
    }
    // It may have changed its environment, by which the others are known.
    signal_command(signal);
}
