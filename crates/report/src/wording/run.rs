//! Notes about a run: what is missing, why, and what still holds.

use proust_profile::notes::{OtherTool, RunNote, Unfollowed, Unloadable, Which};
use proust_words::{count, counted, verb};

use super::process::who;
use super::{Worded, intervals, module};

/// Children that are named one by one.
const SHOWN: usize = 5;

impl Worded for RunNote {
    fn text(&self) -> String {
        match self {
            RunNote::Sanitizers { sanitizers } => format!(
                "the program is built with {}, whose checks are part of what was measured: without them its \
                 times are others",
                sanitizers.join(" and ")
            ),
            RunNote::RuntimeLinkedIn { is_llvm: false } => {
                "GCC's runtime of OpenMP is linked into the program: its parallel regions are not seen, its \
                 threads are shown as any others; link it dynamically (without -static-libgomp or \
                 -l:libgomp.a)"
                    .into()
            }
            RunNote::RuntimeLinkedIn { is_llvm: true } => {
                "LLVM's runtime of OpenMP is linked into the program: its parallel regions are seen only if \
                 it was built to ask for tools; link it dynamically where there are none"
                    .into()
            }
            RunNote::StillRunning { processes } => format!(
                "when the command ended, these processes of the run were still running: {}",
                processes.join(", ")
            ),
            RunNote::Unfinished {} => {
                "the run was still going on, or `record` itself was killed: how the command ended is not \
                 known"
                    .into()
            }
            RunNote::ForeignRunFile {} => {
                "run.json belongs to another run, whose command ran at another time, and was not used: how \
                 the command ended is not known"
                    .into()
            }
            RunNote::RunFileUnread { error } => format!("{error}: the command's outcome is not known"),
            RunNote::LogsGone { logs } => format!(
                "{} of the run {} gone since the command ended: what {} recorded is missing from all numbers",
                counted(*logs, "log"),
                verb(*logs, "is", "are"),
                verb(*logs, "its process", "their processes"),
            ),
            RunNote::LogRefused { log, reason } => format!(
                "{log} was not read ({reason}): its process is missing from all numbers, the others are \
                 complete"
            ),
            RunNote::SeveralHosts { hosts, compared } if compared + 1 >= *hosts => format!(
                "the run used {hosts} hosts: their times are aligned by messages at the begin and end of MPI"
            ),
            RunNote::SeveralHosts { hosts, compared } => format!(
                "the run used {hosts} hosts: the times of {} of them are aligned by the clocks of day, which \
                 may differ by milliseconds; durations on each host are exact",
                hosts - compared - 1
            ),
            RunNote::RanksAlone { ranks } => format!(
                "{} no job: each is alone in its world of MPI, and does the whole work; the launcher is \
                 of another MPI than the program: start it with the launcher of its own",
                are_ranks(*ranks)
            ),
            RunNote::RanksWithoutMpi { ranks } => format!(
                "{} no job: nothing in them called MPI, and each works for itself; if they should work \
                 together, look whether the program was built with MPI",
                are_ranks(*ranks)
            ),
            RunNote::NoSamples { cpu } => format!(
                "no sample was taken in {:.3} s of CPU time: the CPU time of every thread is known, \
                 where in the program it went is not; a longer run has samples",
                cpu.as_seconds()
            ),
            &RunNote::PartialPaths { paths, of } => format!(
                "{} of {} {} no upper end and {} below [incomplete paths]: functions and lines are exact, \
                 callers are not all known",
                count(paths),
                counted(of, "call path"),
                verb(paths, "has", "have"),
                verb(paths, "stands", "stand")
            ),
            &RunNote::PathMismatches { paths, of } => format!(
                "{} of {} {} from a full unwind: please report this",
                count(paths),
                counted(of, "compared call path"),
                verb(paths, "differs", "differ")
            ),
            RunNote::ImplausibleRecords { records } => format!(
                "the clocks of {} contradict their neighbours and were clamped: the log is damaged there",
                counted(*records, "record")
            ),
            RunNote::ProgramsLoaded { programs, before_ns, share, beginning_ns } => format!(
                "{} were loaded: that took {:.3} s of CPU time before they could be measured, {} % of what \
                 the run used and on no account, a part of it for Proust's library; beginning to measure \
                 them took {:.3} s more: a run of many short processes is slower when it is recorded",
                counted(*programs, "program"),
                seconds(*before_ns),
                count((share * 100.0).round() as u64),
                seconds(*beginning_ns),
            ),
            RunNote::Module { problems, .. } => module::joined(problems),
            of_process => text_of_process(of_process),
        }
    }
}

fn are_ranks(ranks: usize) -> String {
    format!("the {} that a launcher started are", counted(ranks as u64, "rank"))
}

fn text_of_process(note: &RunNote) -> String {
    match note {
        RunNote::OpenEnd { process, threads } => format!(
            "{} did not end normally (killed, crashed, ended by a system call of its own as programs of Go \
             are, or still running): its record ends with the last sample of {}{}; what was recorded is \
             complete",
            who(process),
            if *threads == 1 { "" } else { "each of " },
            counted(*threads, "thread")
        ),
        RunNote::FoundRunning { process, threads } => format!(
            "{} of {} {} already running when the measurement began: what {} did before is not included",
            counted(*threads, "thread"),
            who(process),
            verb(*threads, "was", "were"),
            verb(*threads, "it", "they")
        ),
        RunNote::TimerRefused { process, threads, errno } => format!(
            "{} of {} got no CPU timer (error {errno}): {} CPU time is known, where it went is not",
            counted(*threads, "thread"),
            who(process),
            verb(*threads, "its", "their")
        ),
        RunNote::UnmeasuredThreads { process, threads } => format!(
            "{} of {} could not be measured at all: {} CPU time is missing",
            counted(*threads, "thread"),
            who(process),
            verb(*threads, "its", "their")
        ),
        RunNote::SignalShared { process, signal } => {
            format!(
                "{} uses signal {signal} itself, which Proust samples with as well: both work",
                who(process)
            )
        }
        RunNote::RequestSignalUsed { process, signal } => format!(
            "{} uses signal {signal} itself: it gets it as without Proust, and the signal requests nothing \
             there; choose another one for --sample-signal or --pause-signal",
            who(process)
        ),
        RunNote::SignalGivenUp { process } => format!(
            "a thread of {} blocks both signals that Proust can sample with, or waits for them: while it \
             does it is not sampled, and its CPU time counts where it was last seen",
            who(process)
        ),
        RunNote::SmallSignalStack { process, bytes } => format!(
            "a thread of {} has an alternate signal stack of {bytes} bytes, which has no room for a sample: \
             while it has it, it is not sampled, and its CPU time counts where it was last seen",
            who(process)
        ),
        RunNote::FilledSignalStack { process, samples } => format!(
            "{} uses registers that fill its alternate signal stacks (AMX): {} could not be taken for lack \
             of stack; their CPU time counts with the samples after them",
            who(process),
            counted(*samples, "sample")
        ),
        RunNote::HandlerReplaced { process, signal } => format!(
            "{} put a handler of its own in the place of Proust's for signal {signal}, by a system call of \
             its own, as Go's runtime does: samples are missing since, and its CPU time counts where it was \
             last seen",
            who(process)
        ),
        RunNote::ForksWithoutLog { process, forks } => format!(
            "{} forked {} that could make no log in the run's folder (another user, a full disk or the run's \
             size budget): their time is missing",
            who(process),
            counted(*forks, "process")
        ),
        RunNote::Confined { process } => format!(
            "{} installed a filter of system calls, which the collector's own could have violated: its \
             record ends there, and programs that it started afterwards are not followed",
            who(process)
        ),
        RunNote::OtherTool { process, tool: OtherTool::Both } => format!(
            "{} has another tool for OpenMP attached, which receives all events as well: its overhead \
             counts as the program's own work",
            who(process)
        ),
        RunNote::OtherTool { process, tool } => format!(
            "{} has a tool for OpenMP {}, and a runtime tells one tool only: regions of LLVM's runtime are \
             not in the numbers, its threads are shown as any others",
            who(process),
            if *tool == OtherTool::OfProgram { "of its own" } else { "that was given to it" }
        ),
        RunNote::RuntimeLoaded { process } => format!(
            "{} checked whether OpenMP's runtime is loaded, found Proust's wrappers of its functions, and \
             called them: the system's runtime was loaded for it",
            who(process)
        ),
        RunNote::SeveralRuntimes { process } => format!(
            "{} has several runtimes of OpenMP, and which one some of its calls belong to is not certain: \
             these were passed on, and their regions are not in the numbers",
            who(process)
        ),
        RunNote::ExecFailed { process, errno } => {
            format!("{} called exec, which failed (error {errno}); it was measured on", who(process))
        }
        RunNote::EnvironmentNotMended { process } => format!(
            "{} started a program with an environment into which the collector could not be put: that \
             program is missing",
            who(process)
        ),
        RunNote::NotFollowed { process, children } => not_followed(process, children),
        RunNote::ReplacedUnseen { process, program } => format!(
            "{} was replaced by {}, which was not followed (static or setuid program, another C library or \
             root, or cleared environment): its time is missing",
            who(process),
            program.as_deref().unwrap_or("another program")
        ),
        RunNote::WithoutCollector { process, programs, reason } => format!(
            "{} started {} {}, without the collector: {} time is missing",
            who(process),
            counted(*programs, "program"),
            match reason {
                Unloadable::OtherMachine => "for another machine",
                Unloadable::OtherLibrary => "of another C library than GNU's",
                Unloadable::OtherRoot => "in a root that does not have the collector's file",
            },
            verb(*programs, "its", "their")
        ),
        of_records => text_of_records(of_records),
    }
}

fn text_of_records(note: &RunNote) -> String {
    match note {
        RunNote::BarriersSampled { process, visits, measured, wait_ns, error_ns } => format!(
            "{} came to barriers so often that {} of {} visits were measured, drawn by chance; all were \
             counted, and {:.3} s ± {:.3} were waited there",
            who(process),
            count(*measured),
            count(*visits),
            seconds(*wait_ns),
            seconds(*error_ns),
        ),
        RunNote::SamplesUnrecorded { process, samples, cpu_ns, errno } => {
            let (why, advice) = why_not_recorded(*errno);
            format!(
                "{}: {why}: {} with {:.3} s of CPU time {} not in the log; the time is shown as [not \
                 recorded: size budget used up] and all sums still hold; {advice}",
                who(process),
                counted(*samples, "sample"),
                seconds(*cpu_ns),
                verb(*samples, "is", "are")
            )
        }
        RunNote::OperationsUnrecorded { process, operations, time_ns, errno } => format!(
            "{}: {} of {:.3} s in total could not be stored, since {}: what was waited for there is not \
             known, and the time counts as passive for an unknown reason; {}",
            who(process),
            counted(*operations, "wait or I/O operation"),
            seconds(*time_ns),
            why_not_recorded(*errno).0,
            why_not_recorded(*errno).1
        ),
        RunNote::CallsSummed { process, after_ns } => format!(
            "{}: {:.3} s after its begin most of the run's size budget was used: from there on short calls \
             of MPI are in sums by their callers, and in no rank is a message or a collective matched; all \
             of their time is known; with a larger --max-size all are matched",
            who(process),
            seconds(*after_ns)
        ),
        RunNote::UnnamedCode { process, samples, of } => format!(
            "{:.0} % of the samples of {} are in code that was made at run time and has no names: {}",
            *samples as f64 / *of as f64 * 100.0,
            who(process),
            option_for_names(&process.name)
        ),
        RunNote::AtTicks { process, samples, of, tick_ns } => format!(
            "{:.0} % of the samples of {} came at the kernel's ticks, {} apart: threads that block in calls \
             that no hook sees, or that wait or are displaced very often, get no others; of what repeats in \
             step with the tick the shares may be further off than ± says",
            100.0 * *samples as f64 / *of as f64,
            who(process),
            duration(*tick_ns)
        ),
        RunNote::WaitsInSums { process, below_ns } => format!(
            "{} waited so often that waits shorter than {} were recorded as sums and not one by one: their \
             number and their total time are exact, their call paths are a sample",
            who(process),
            duration(*below_ns)
        ),
        RunNote::ThreadEndsLost { process, threads, cpu_ns } => format!(
            "{}: {} ended without room for {} last record: {:.3} s of {} CPU time are shown as a thread \
             [threads not recorded]",
            who(process),
            counted(*threads, "thread"),
            verb(*threads, "its", "their"),
            seconds(*cpu_ns),
            verb(*threads, "its", "their")
        ),
        RunNote::HeaderDamaged { log, process } => format!(
            "{log}: the header is damaged: process id, start and end of {} may be wrong, samples are not",
            who(process)
        ),
        RunNote::LogDamaged { log, process, bytes, chunks, missing_chunks, cpu_ns } => format!(
            "{log}: damaged: {} skipped, {} and {}; {:.3} s of CPU time of {} are shown as [lost records], \
             everything else of it is intact",
            counted(*bytes, "byte"),
            counted(*chunks, "unusable chunk"),
            counted(*missing_chunks, "missing chunk"),
            seconds(*cpu_ns),
            who(process)
        ),
        RunNote::LastRecordsMissing { process, threads } => format!(
            "{}: the last {} of {} {} missing: {} where last seen",
            who(process),
            verb(*threads, "record", "records"),
            counted(*threads, "thread"),
            verb(*threads, "is", "are"),
            verb(*threads, "it ends", "they end")
        ),
        RunNote::SilentThreads { process, threads } => format!(
            "{}: {} {} no record at all: only the CPU time since {} began is known",
            who(process),
            counted(*threads, "thread"),
            verb(*threads, "has", "have"),
            verb(*threads, "it", "they")
        ),
        // The other functions have these; a test of this folder fails where none has.
        RunNote::RequestsUntracked { process, requests } => format!(
            "{}: {} of MPI could not be followed to {} completion, since too many were under way: the \
             calls are on their accounts, but their messages have no end",
            who(process),
            counted(*requests, "request"),
            verb(*requests, "its", "their")
        ),
        of_marks => intervals::text(of_marks).unwrap_or_default(),
    }
}

fn not_followed(parent: &Which, children: &[Unfollowed]) -> String {
    let named = |child: &Unfollowed| match &child.program {
        Some(program) => format!("{} ({program})", child.pid),
        None => child.pid.to_string(),
    };
    let shown: Vec<String> = children.iter().take(SHOWN).map(named).collect();
    let more = if children.len() > SHOWN { ", …" } else { "" };
    let processes = if children.len() == 1 { "process".into() } else { counted(children.len(), "process") };
    format!(
        "{processes} {}{more} started by {} {} not followed (static or setuid program, another C library or \
         root, cleared environment, or ended before {} measurement began): {} time is missing",
        shown.join(", "),
        who(parent),
        verb(children.len(), "was", "were"),
        verb(children.len(), "its", "their"),
        verb(children.len(), "its", "their")
    )
}

/// Why a log did not grow, by the system's error (0 = none), and what can be done.
fn why_not_recorded(errno: u32) -> (&'static str, &'static str) {
    const EAGAIN: u32 = 11;
    const ENOMEM: u32 = 12;
    const ENFILE: u32 = 23;
    const EMFILE: u32 = 24;
    const EFBIG: u32 = 27;
    const ETIMEDOUT: u32 = 110;
    match errno {
        0 => ("the run's size budget was used up", "a larger --max-size or a lower --rate records all"),
        ENOMEM | EAGAIN => (
            "it had no address space or lockable memory left for more of its log",
            "a larger limit of the address space (ulimit -v) or of locked memory (ulimit -l) records all",
        ),
        ENFILE | EMFILE => (
            "it had no file descriptor left for its log to grow",
            "a larger limit of open files (ulimit -n) records all",
        ),
        ETIMEDOUT => (
            "another thread took too long to make the log longer (a busy machine, or slow storage)",
            "a quieter machine or a faster storage records all",
        ),
        EFBIG => (
            "its limit of the size of files is reached",
            "a larger limit of the size of files (ulimit -f) records all",
        ),
        _ => ("the storage took no more (full, gone, or not permitted)", "record to another place"),
    }
}

/// What makes a runtime write the names of the code that it makes.
fn option_for_names(program: &str) -> &'static str {
    const OPTIONS: [(&str, &str); 3] = [
        ("java", "start it with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"),
        ("node", "start it with --perf-basic-prof"),
        ("dotnet", "set DOTNET_PerfMapEnabled=1"),
    ];
    let known = OPTIONS.iter().find(|(name, _)| program.starts_with(name));
    known.map_or("have its runtime write a perf map or a jitdump for them", |(_, what)| what)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A duration in the unit that suits it, with all of its digits.
fn duration(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{} ms", ns as f64 / 1e6),
        _ => format!("{} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_names_is_noted_with_the_option_of_its_runtime() {
        for (name, option) in [
            ("java", "-XX:+DumpPerfMapAtExit"),
            ("node", "--perf-basic-prof"),
            ("luajit", "a perf map or a jitdump"),
        ] {
            let process = Which { name: name.into(), pid: 7 };
            let text = RunNote::UnnamedCode { process, samples: 30, of: 40 }.text();
            assert!(text.starts_with(&format!("75 % of the samples of {name} (pid 7)")), "{text}");
            assert!(text.contains(option), "{text}");
        }
    }
}
