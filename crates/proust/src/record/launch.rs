//! Starts the command, passes signals on, waits for its end, and ends as it did.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use proust_log::control::RUN_VARIABLE;
use proust_profile::Stop;

use super::blocked_signals::BlockedSignals;
use super::child::{self, signal_command};
use super::schedule::{Kept, Schedule};
use super::stops::Watch;
use super::{RecordArgs, RunFolder, foreign_marks, time_limit};
use crate::sanitizers::{ADDRESS_VARIABLE, Sanitizers};

/// The outcome of the command.
#[derive(Debug)]
pub enum Outcome {
    /// It ran; when it or a process it started was stopped.
    Ended(ExitStatus, Vec<Stop>),
    /// It could not be started.
    NotStarted(io::Error),
}

/// The settings with which a command is started, beside those it inherits. `record` adds nothing.
#[derive(Debug, Default)]
pub struct Setting {
    /// Variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its output and its errors go, with nothing as input; None = as inherited.
    pub streams: Option<(File, File)>,
    /// When it is ended, with all that it started.
    pub limit: Option<Duration>,
}

/// Sent to `record` alone; the terminal sends interrupt and quit to the command itself too.
const PASSED_ON: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];
/// The command decides what these mean.
const LEFT_TO_COMMAND: [libc::c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

/// The last signal that asked this process, or the command too, to end; 0 = none did.
static ASKED_TO_END: AtomicI32 = AtomicI32::new(0);

/// The signal that requested the end of the command.
pub fn asked_to_end() -> Option<libc::c_int> {
    Some(ASKED_TO_END.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

extern "C" fn pass_on(signal: libc::c_int) {
    if matches!(signal, libc::SIGTERM | libc::SIGHUP) {
        ASKED_TO_END.store(signal, Ordering::Relaxed);
    }
    signal_command(signal);
}

extern "C" fn note(signal: libc::c_int) {
    ASKED_TO_END.store(signal, Ordering::Relaxed);
}

/// From here on an interrupt ends nothing by itself: [`asked_to_end`] returns it.
pub fn watch_for_interrupts() {
    inherited();
}

/// The actions of signals as this process found them, which commands shall have. The first call replaces
/// them.
fn inherited() -> &'static [(libc::c_int, libc::sigaction)] {
    static INHERITED: OnceLock<Vec<(libc::c_int, libc::sigaction)>> = OnceLock::new();
    INHERITED.get_or_init(set_handlers)
}

/// From here on signals do again what they did before a command was started.
pub fn heed_signals() {
    for (signal, action) in inherited() {
        // SAFETY: an action that the system has given out before.
        unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
    }
}

/// Runs the command under the collector.
pub fn run(
    args: &RecordArgs,
    program: &Path,
    sanitizers: &Sanitizers,
    folder: &RunFolder,
    setting: &Setting,
) -> anyhow::Result<Outcome> {
    let mut command = Command::new(program);
    command.arg0(&args.command[0]).args(&args.command[1..]);
    command.envs(setting.environment.iter().map(|(name, value)| (name, value)));
    if let Some((output, errors)) = &setting.streams {
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(errors.try_clone()?);
    }
    command.env("LD_PRELOAD", preload_list(folder)).env(RUN_VARIABLE, &folder.path);
    command.envs(foreign_marks::variables(folder));
    if let Some(options) = sanitizers.address_options(std::env::var(ADDRESS_VARIABLE).ok().as_deref()) {
        command.env(ADDRESS_VARIABLE, options);
    }
    let inherited = inherited();
    let blocked = BlockedSignals::of(&folder.path, [args.sample_signal, args.pause_signal]);
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // Before they have their default actions again.
            if let Some(signals) = blocked {
                signals.block();
            }
            for (signal, action) in inherited {
                libc::sigaction(*signal, action, std::ptr::null_mut());
            }
            Ok(())
        });
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Outcome::NotStarted(error)),
    };
    child::began(child.id());
    // Until it is reaped below, no other process gets its number.
    let limit = setting.limit.map(|limit| time_limit::Limit::set(limit, &folder.path));
    let schedule = if folder.created {
        let asked = Schedule { delay: args.delay, duration: args.duration };
        asked.begin(&folder.path).unwrap_or_else(|error| {
            message!("{error:#}");
            None
        })
    } else {
        None
    };
    let watch = Watch::begin(child.id(), &folder.path);
    wait_unreaped(child.id(), &watch);
    let stops = watch.end();
    schedule.into_iter().for_each(Kept::end);
    if let Some(limit) = limit {
        limit.lift();
    }
    child::will_be_reaped();
    Ok(Outcome::Ended(child.wait()?, stops))
}

/// Waits until the command has ended, and leaves it to be reaped; its stops are reported to `watch`.
fn wait_unreaped(child: u32, watch: &Watch) {
    let wait = |options| {
        // SAFETY: all-zero is a valid siginfo; the pointer is valid for the call.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            (libc::waitid(libc::P_PID, child, &mut info, options) == 0)
                .then(|| (info.si_code, info.si_status()))
        }
    };
    let changes = libc::WSTOPPED | libc::WCONTINUED;
    let report = |code| match code {
        libc::CLD_CONTINUED => watch.goes_on(),
        libc::CLD_STOPPED => watch.has_stopped(),
        _ => {}
    };
    loop {
        match wait(libc::WEXITED | changes | libc::WNOWAIT) {
            Some((libc::CLD_TRAPPED, signal)) => go_on_untraced(child, signal),
            Some((code @ (libc::CLD_STOPPED | libc::CLD_CONTINUED), _)) => {
                report(code);
                // Takes the report, which would be there again at once. An end is never taken. By now it may
                // be another one: this process may have been stopped in between, too.
                match wait(changes | libc::WNOHANG) {
                    Some((libc::CLD_TRAPPED, signal)) => go_on_untraced(child, signal),
                    Some((taken, _)) if taken != code => report(taken),
                    _ => {}
                }
            }
            Some(_) => break,
            None if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            None => break,
        }
    }
}

/// The command has asked to be traced by its parent, which is this process and no tracer: without one it
/// would stay stopped at its first signal. It gets the signal, and continues as a process without a tracer.
/// Only the thread that has started it may do that.
fn go_on_untraced(child: u32, signal: libc::c_int) {
    // The stop that an exec reports to a tracer is not a signal that was sent.
    let signal = if signal == libc::SIGTRAP { 0 } else { signal };
    // SAFETY: a plain system call. It fails where the command is not stopped any more.
    unsafe {
        libc::ptrace(libc::PTRACE_DETACH, child as libc::pid_t, 0_usize, signal as usize);
    }
}

/// The collector before the libraries that the user preloads already.
fn preload_list(folder: &RunFolder) -> OsString {
    let mut list = folder.library.clone().into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

/// Sets the handlers and returns the actions that were inherited, which the command shall have.
fn set_handlers() -> Vec<(libc::c_int, libc::sigaction)> {
    let set = |signal, handler: usize| {
        // SAFETY: all-zero is a valid action, and the handler only makes async-signal-safe calls.
        unsafe {
            let (mut action, mut old): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, &mut old);
            // Signals that were ignored when record was started (nohup) stay ignored for both.
            if old.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(signal, &old, std::ptr::null_mut());
            }
            (signal, old)
        }
    };
    PASSED_ON
        .iter()
        .map(|&signal| set(signal, pass_on as *const () as usize))
        .chain(LEFT_TO_COMMAND.iter().map(|&signal| set(signal, note as *const () as usize)))
        .collect()
}

/// Ends this process as the command ended: with its exit code, or by its signal.
pub fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // SAFETY: plain system calls of a single-threaded end; a core file of `record` would only overwrite
        // the command's.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::signal(signal, libc::SIG_DFL);
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut only);
            libc::sigaddset(&mut only, signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &only, std::ptr::null_mut());
            libc::raise(signal);
        }
        // A signal whose default action does not end a process cannot have ended the command.
        return ExitCode::from(128_u8.wrapping_add(signal as u8));
    }
    ExitCode::from(status.code().unwrap_or(0) as u8)
}
