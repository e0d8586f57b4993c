//! `proust doctor`: what can be recorded on this machine, and of a program.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_report::Worded;
use proust_report::{Align, Cell, Paint, Style, Table, bytes, duration};
use rustix::fs::{Access, access, statvfs};
use rustix::process::{Resource, getrlimit};

use crate::linked_runtime::LinkedRuntime;
use crate::sanitizers::Sanitizers;
use crate::{output, program, terminal, tick};

/// Arguments of `proust doctor`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 1 if the program cannot be recorded.

Examples:
  proust doctor
  proust doctor -- ./solve")]
pub struct DoctorArgs {
    /// A program to look at as well
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    /// Works, with a limit.
    Limit,
    Fails,
}

struct Check {
    verdict: Verdict,
    what: &'static str,
    found: String,
}

impl Check {
    fn new(verdict: Verdict, what: &'static str, found: impl Into<String>) -> Check {
        Check { verdict, what, found: found.into() }
    }
}

/// Checks this machine, and a program if one is named.
///
/// # Errors
/// When the result cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let style = terminal::style();
    let mut text = style.paint(Paint::Strong, "This machine") + "\n" + &table(&machine(), &style);
    let mut fails = false;
    if let Some(command) = args.command.first() {
        let checks = program_checks(command);
        fails = checks.iter().any(|check| check.verdict == Verdict::Fails);
        text.push_str(&format!("\n{}\n", style.paint(Paint::Strong, "The program")));
        text.push_str(&table(&checks, &style));
    }
    output::print(&text)?;
    Ok(ExitCode::from(u8::from(fails)))
}

fn table(checks: &[Check], style: &Style) -> String {
    let mut table = Table::new([("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for check in checks {
        let (word, paint) = match check.verdict {
            Verdict::Ok => ("ok", Paint::Good),
            Verdict::Limit => ("limit", Paint::Bad),
            Verdict::Fails => ("FAILS", Paint::Bad),
        };
        table.row(vec![Cell::painted(paint, word), check.what.into(), check.found.clone().into()]);
    }
    // Advice must not be cut: the terminal may wrap it.
    table.render(&Style { width: 400, ..*style })
}

fn machine() -> Vec<Check> {
    let mut checks = vec![kernel(), tick(), processors()];
    let clock = tick::resolution_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    checks.push(match clock {
        Some(ns) if ns <= 1_000 => Check::new(Verdict::Ok, "thread CPU clock", format!("resolution {ns} ns")),
        Some(ns) => Check::new(
            Verdict::Limit,
            "thread CPU clock",
            format!("resolution {ns} ns: CPU times are coarse"),
        ),
        None => Check::new(Verdict::Fails, "thread CPU clock", "there is none; nothing can be sampled"),
    });
    checks.push(match fs::read_to_string("/proc/self/schedstat") {
        Ok(_) => Check::new(Verdict::Ok, "run-queue delay", "the kernel tells it (schedstat)"),
        Err(_) => Check::new(
            Verdict::Limit,
            "run-queue delay",
            "not reported by the kernel: `preempted` and `oversubscribed` stay 0",
        ),
    });
    checks.push(perf_event());
    checks.push(preload());
    checks.push(folder());
    checks.extend(limits());
    checks
}

fn kernel() -> Check {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    // Wipe-on-fork memory exists since 4.14.
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (4, 14) {
        Check::new(Verdict::Ok, "kernel", format!("Linux {release}, {}", std::env::consts::ARCH))
    } else {
        Check::new(Verdict::Fails, "kernel", format!("Linux {release}; 4.14 or newer is needed"))
    }
}

fn tick() -> Check {
    match tick::length_ns() {
        Some(ns) => Check::new(
            Verdict::Ok,
            "kernel tick",
            format!(
                "{}: threads that wait very often get at most {:.0} samples a second",
                duration(ns as f64 / 1e9),
                tick::highest_rate_hz(ns)
            ),
        ),
        None => Check::new(Verdict::Limit, "kernel tick", "not known"),
    }
}

fn processors() -> Check {
    // SAFETY: takes no pointer.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Check::new(Verdict::Ok, "processors", format!("{available} available to this process, {online} online"))
}

fn perf_event() -> Check {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
    let level = level.and_then(|text| text.trim().parse::<i32>().ok());
    match level {
        Some(level) if level <= 1 => {
            Check::new(Verdict::Ok, "perf_event", format!("paranoid level {level}; not needed"))
        }
        Some(level) => Check::new(
            Verdict::Ok,
            "perf_event",
            format!("paranoid level {level} forbids kernel stacks; not needed: samples come from CPU timers"),
        ),
        None => Check::new(Verdict::Ok, "perf_event", "not there; not needed: samples come from CPU timers"),
    }
}

fn preload() -> Check {
    if cfg!(target_env = "musl") {
        return Check::new(
            Verdict::Fails,
            "LD_PRELOAD",
            "Proust itself is built for musl; build it for the GNU C library",
        );
    }
    match std::env::var_os("LD_PRELOAD").filter(|value| !value.is_empty()) {
        None => Check::new(Verdict::Ok, "LD_PRELOAD", "free"),
        Some(value) => Check::new(
            Verdict::Ok,
            "LD_PRELOAD",
            format!("set to {}; it stays, and the collector is added", value.display()),
        ),
    }
}

fn program_checks(command: &OsString) -> Vec<Check> {
    let path = match program::find(command) {
        Ok(path) => path,
        Err(error) => return vec![Check::new(Verdict::Fails, "command", error.to_string())],
    };
    let found = program::inspect(&path);
    let mut checks = vec![
        Check::new(Verdict::Ok, "command", path.display().to_string()),
        Check::new(Verdict::Ok, "kind", found.description()),
    ];
    checks.push(match found.obstacle() {
        Some(obstacle) => Check::new(Verdict::Fails, "recording", obstacle.to_string()),
        None => match found.kind {
            program::Kind::Unreadable | program::Kind::Unknown => Check::new(
                Verdict::Limit,
                "recording",
                "will be tried; what it starts is recorded if it can be",
            ),
            _ => Check::new(Verdict::Ok, "recording", "works, for what it starts as well"),
        },
    });
    let sanitizers = Sanitizers::of(&found.what_runs().path);
    if sanitizers.are_there() {
        checks.push(Check::new(
            Verdict::Limit,
            "sanitizers",
            format!(
                "built with {sanitizers}; recorded all the same, but its checks are part of what is \
                 measured: for times that count build without"
            ),
        ));
    }
    if let Some(runtime) = LinkedRuntime::of(&found.what_runs().path) {
        checks.push(Check::new(Verdict::Limit, "OpenMP", runtime.note().text()));
    }
    checks.extend(interpreted(&found.what_runs().path));
    checks
}

/// Programs of which functions of an interpreter are shown, and how their own get names, where they can.
fn interpreted(path: &Path) -> Option<Check> {
    const NAMES: [&str; 10] =
        ["python", "perl", "ruby", "node", "java", "lua", "php", "Rscript", "octave", "julia"];
    let name = path.file_name()?.to_str()?;
    let language = NAMES.iter().find(|known| name.starts_with(**known))?;
    let how = match *language {
        "python" => " and, of Python 3.8 to 3.15, those of the script",
        "node" => "; with `--perf-basic-prof` or `--perf-prof` also of the script",
        "java" => {
            "; with `-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit` (17 and newer) also of classes"
        }
        "julia" => "; with ENABLE_JITPROFILING=1 also of the script, if Julia was built for it",
        _ => ", not of the script",
    };
    Some(Check::new(
        Verdict::Limit,
        "names",
        format!("{language} runs programs of another language: functions of the interpreter are shown{how}"),
    ))
}

/// The effect of this shell's limits on a recording.
fn limits() -> Vec<Check> {
    let mut checks = Vec::new();
    let of = |resource| getrlimit(resource).current;
    if let Some(size) = of(Resource::Fsize).filter(|&size| size < LOG_BYTES) {
        checks.push(Check::new(
            Verdict::Limit,
            "file size",
            format!("ulimit -f leaves {} a file: logs end there, totals are kept; raise it", bytes(size)),
        ));
    }
    if let Some(size) = of(Resource::As).filter(|&size| size < ADDRESS_BYTES) {
        checks.push(Check::new(
            Verdict::Limit,
            "address space",
            format!("ulimit -v leaves {}, of which the collector needs some; raise it", bytes(size)),
        ));
    }
    let filters = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let filters = filters.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
    if filters.is_some_and(|count| count.trim() != "0") {
        checks.push(Check::new(
            Verdict::Ok,
            "system call filters",
            "there are some here; a program that adds its own is recorded until then",
        ));
    }
    checks
}

/// A log of a small program.
const LOG_BYTES: u64 = 1 << 20;
/// Less than this is felt.
const ADDRESS_BYTES: u64 = 256 << 20;

/// Whether a run's folder can be made where the user is.
fn folder() -> Check {
    let writable = access(".", Access::WRITE_OK).is_ok();
    let free = statvfs(".").map_or(u64::MAX, |space| space.f_bavail.saturating_mul(space.f_frsize));
    if !writable {
        return Check::new(
            Verdict::Limit,
            "folder",
            "the current folder cannot be written; name one for the run with -o",
        );
    }
    if free < SPACE_BYTES {
        return Check::new(
            Verdict::Limit,
            "folder",
            format!(
                "{} free here: logs end when it is full, totals are kept; use -o on another disk",
                bytes(free)
            ),
        );
    }
    Check::new(Verdict::Ok, "folder", "the current folder can be written")
}

/// Free space below which a run may fill the disk.
const SPACE_BYTES: u64 = 64 << 20;
