//! Notes about a run as a whole, and about its processes.

use serde::{Deserialize, Serialize};

use super::ModuleNote;
use crate::Ns;

/// A process that a note is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Which {
    /// Its name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// Marks of one name at one place of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkPlace {
    /// The name that the program gives.
    pub name: String,
    /// The number beside it, if it has one.
    pub number: Option<i64>,
    /// The file of the mark.
    pub file: Option<String>,
    /// Its line; 0 = not known.
    pub line: u32,
    /// How many.
    pub count: u64,
}

/// A child that was not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfollowed {
    /// Its process id.
    pub pid: u32,
    /// The program that it was about to load; None if that is not known.
    pub program: Option<String>,
}

/// Another tool for OpenMP in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherTool {
    /// It hears what Proust does.
    #[default]
    Both,
    /// The program has one, and Proust hears nothing.
    OfProgram,
    /// The environment names one, and Proust hears nothing.
    OfEnvironment,
}

/// Why a program could not load the collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unloadable {
    /// It is for another machine.
    #[default]
    OtherMachine,
    /// It uses another C library than GNU's.
    OtherLibrary,
    /// Its root has no file of the collector.
    OtherRoot,
}

crate::notes! {
    /// What a reader must know about a run: what is missing, why, and what still holds. CPU times and other
    /// durations are in ns where the name says so.
    pub enum RunNote {
        /// The program is built with sanitizers.
        Sanitizers "sanitizers" Caution {
            /// Their names.
            sanitizers: Vec<String>,
        }
        /// A runtime of OpenMP is linked into the program statically.
        RuntimeLinkedIn "runtime-linked-in" Caution {
            /// Whether it is LLVM's; else GCC's.
            is_llvm: bool,
        }
        /// Processes still ran when the command had ended.
        StillRunning "still-running" Note {
            /// Names of the processes.
            processes: Vec<String>,
        }
        /// How the command ended is not known.
        Unfinished "unfinished" Caution {}
        /// `run.json` is another run's.
        ForeignRunFile "foreign-run-file" Caution {}
        /// `run.json` cannot be read.
        RunFileUnread "run-file-unread" Caution {
            /// Why, in the words of the error.
            error: String,
        }
        /// Logs were there when the command ended, and are gone.
        LogsGone "logs-gone" Caution {
            /// How many.
            logs: u64,
        }
        /// A log could not be read.
        LogRefused "log-refused" Caution {
            /// Name of its file.
            log: String,
            /// Why, in the words of the error.
            reason: String,
        }
        /// The run used several hosts.
        SeveralHosts "several-hosts" Note {
            /// How many.
            hosts: usize,
            /// Hosts whose clocks were compared with that of one other by messages.
            compared: usize,
        }
        /// Processes that a launcher started as ranks are each alone in their world of MPI.
        RanksAlone "ranks-alone" Caution {
            /// How many ranks.
            ranks: usize,
        }
        /// Of what a launcher started as ranks nothing called MPI.
        RanksWithoutMpi "ranks-without-mpi" Note {
            /// How many ranks.
            ranks: usize,
        }
        /// No sample was taken.
        NoSamples "no-samples" Caution {
            /// CPU time of the run.
            #[serde(with = "crate::time::in_seconds")]
            cpu as "cpu_s": Ns,
        }
        /// The upper ends of some call paths are not known.
        PartialPaths "partial-paths" Note {
            /// How many.
            paths: u64,
            /// Of how many.
            of: u64,
        }
        /// Some call paths differ from a full unwind.
        PathMismatches "path-mismatches" Caution {
            /// How many.
            paths: u64,
            /// Of how many that were compared.
            of: u64,
        }
        /// The clocks of some records contradict their neighbours.
        ImplausibleRecords "implausible-records" Caution {
            /// How many.
            records: u64,
        }
        /// A process did not end in order.
        OpenEnd "open-end" Caution {
            /// Which.
            process: Which,
            /// Threads whose record ends with their last sample.
            threads: usize,
        }
        /// Some threads ran already when their measurement began.
        FoundRunning "found-running" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            threads: usize,
        }
        /// Some threads got no CPU timer from the system.
        TimerRefused "timer-refused" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            threads: usize,
            /// The system's error.
            errno: u64,
        }
        /// Some threads could not be measured at all.
        UnmeasuredThreads "unmeasured-threads" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            threads: u64,
        }
        /// The program uses the signal that Proust samples with.
        SignalShared "signal-shared" Note {
            /// Which.
            process: Which,
            /// The signal.
            signal: u64,
        }
        /// The program uses the signal by which samples or pauses are requested.
        RequestSignalUsed "request-signal-used" Caution {
            /// Which.
            process: Which,
            /// The signal.
            signal: u64,
        }
        /// A thread blocks both signals that Proust can sample with.
        SignalGivenUp "signal-given-up" Caution {
            /// Of which process.
            process: Which,
        }
        /// An alternate signal stack has no room for a sample.
        SmallSignalStack "small-signal-stack" Caution {
            /// Of which process.
            process: Which,
            /// Size of the stack.
            bytes: u64,
        }
        /// Registers filled the alternate signal stacks, so that samples could not be taken there.
        FilledSignalStack "filled-signal-stack" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            samples: u64,
        }
        /// The program replaced the handler that takes samples.
        HandlerReplaced "handler-replaced" Caution {
            /// Which.
            process: Which,
            /// The handler's signal.
            signal: u64,
        }
        /// Forked children could make no log.
        ForksWithoutLog "forks-without-log" Caution {
            /// Their parent.
            process: Which,
            /// How many.
            forks: u64,
        }
        /// A filter of system calls ended the record.
        Confined "confined" Caution {
            /// Of which process.
            process: Which,
        }
        /// There is another tool for OpenMP.
        OtherTool "other-tool" Caution {
            /// In which process.
            process: Which,
            /// Which one.
            tool: OtherTool,
        }
        /// The program asked whether OpenMP's runtime is there, which loaded it.
        RuntimeLoaded "runtime-loaded" Note {
            /// Which.
            process: Which,
        }
        /// It is not certain which of several runtimes of OpenMP some calls belong to.
        SeveralRuntimes "several-runtimes" Caution {
            /// In which process.
            process: Which,
        }
        /// A call of exec failed.
        ExecFailed "exec-failed" Note {
            /// In which process.
            process: Which,
            /// The system's error.
            errno: u64,
        }
        /// A program was started with an environment that the collector could not be put into.
        EnvironmentNotMended "environment-not-mended" Caution {
            /// By which process.
            process: Which,
        }
        /// Barriers came so often that only some visits were measured.
        BarriersSampled "barriers-sampled" Note {
            /// In which process.
            process: Which,
            /// All visits.
            visits: u64,
            /// Visits that were measured.
            measured: u64,
            /// Waited there.
            wait_ns: u64,
            /// Standard error of that.
            error_ns: u64,
        }
        /// Samples could not be stored.
        SamplesUnrecorded "samples-unrecorded" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            samples: u64,
            /// Their CPU time.
            cpu_ns: u64,
            /// Why: the system's error; 0 = the size budget was used up.
            errno: u32,
        }
        /// Waits and I/O operations could not be stored.
        OperationsUnrecorded "operations-unrecorded" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            operations: u64,
            /// Their time.
            time_ns: u64,
            /// Why: the system's error; 0 = the size budget was used up.
            errno: u32,
        }
        /// Short calls of MPI were summed, since most of the log's size was used.
        CallsSummed "calls-summed" Caution {
            /// Of which process.
            process: Which,
            /// From when on, since the process's begin.
            after_ns: u64,
        }
        /// Code that was made at run time has no names.
        UnnamedCode "unnamed-code" Caution {
            /// Which process made it.
            process: Which,
            /// Samples in it.
            samples: u64,
            /// Of how many of the process.
            of: u64,
        }
        /// Many samples came at the kernel's ticks.
        AtTicks "at-ticks" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            samples: u64,
            /// Of how many.
            of: u64,
            /// Between two ticks.
            tick_ns: u64,
        }
        /// Short waits were summed.
        WaitsInSums "waits-in-sums" Note {
            /// Of which process.
            process: Which,
            /// Those shorter than this.
            below_ns: u64,
        }
        /// Programs were started without the collector.
        WithoutCollector "without-collector" Caution {
            /// By which process.
            process: Which,
            /// How many.
            programs: u64,
            /// Why.
            reason: Unloadable,
        }
        /// Threads ended without room for their last record.
        ThreadEndsLost "thread-ends-lost" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            threads: u64,
            /// Their CPU time that has no name.
            cpu_ns: u64,
        }
        /// The header of a log is damaged.
        HeaderDamaged "header-damaged" Caution {
            /// Name of the log's file.
            log: String,
            /// Whose log.
            process: Which,
        }
        /// Parts of a log are damaged.
        LogDamaged "log-damaged" Caution {
            /// Name of the log's file.
            log: String,
            /// Whose log.
            process: Which,
            /// Bytes that were skipped.
            bytes: u64,
            /// Chunks that cannot be used.
            chunks: u64,
            /// Chunks that are missing.
            missing_chunks: u64,
            /// CPU time that is lost by it.
            cpu_ns: u64,
        }
        /// The last records of threads are missing.
        LastRecordsMissing "last-records-missing" Caution {
            /// Of which process.
            process: Which,
            /// How many threads.
            threads: usize,
        }
        /// Some threads have no record.
        SilentThreads "silent-threads" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            threads: usize,
        }
        /// Children of a process were not followed.
        NotFollowed "not-followed" Caution {
            /// Their parent.
            process: Which,
            /// The children.
            children: Vec<Unfollowed>,
        }
        /// A program that was not followed took the place of a measured one.
        ReplacedUnseen "replaced-unseen" Caution {
            /// The process.
            process: Which,
            /// The new program; None if that is not known.
            program: Option<String>,
        }
        /// Loading many programs took CPU time that is on no account.
        ProgramsLoaded "programs-loaded" Note {
            /// How many.
            programs: usize,
            /// CPU time before they could be measured.
            before_ns: u64,
            /// That as a part of what the run used.
            share: f64,
            /// Time of beginning to measure.
            beginning_ns: u64,
        }
        /// Requests of MPI could not be followed to their completion.
        RequestsUntracked "requests-untracked" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            requests: u64,
        }
        /// Marks were not recorded.
        MarksMissed "marks-missed" Caution {
            /// Of which process.
            process: Which,
            /// How many.
            marks: u64,
        }
        /// Marks ended no interval that was open.
        MarksUnmatched "marks-unmatched" Caution {
            /// Of which process.
            process: Which,
            /// Where, and how many.
            places: Vec<MarkPlace>,
            /// How many more, at other places.
            others: u64,
        }
        /// Intervals began inside so many others of their thread that they were not recorded.
        IntervalsTooDeep "intervals-too-deep" Caution {
            /// Of which process.
            process: Which,
            /// How many executions.
            executions: u64,
            /// Most intervals that a thread may be in at once.
            most: u64,
        }
        /// Intervals were not recorded, since their thread had too many different ones.
        IntervalsTooMany "intervals-too-many" Caution {
            /// Of which process.
            process: Which,
            /// How many executions.
            executions: u64,
            /// Most different intervals of a thread.
            most: u64,
        }
        /// Executions of intervals had no end of their own when the interval around them ended.
        IntervalsCrossed "intervals-crossed" Caution {
            /// Of which process.
            process: Which,
            /// Of which intervals, and how many.
            places: Vec<MarkPlace>,
        }
        /// Intervals were open when their thread or process ended.
        IntervalsOpen "intervals-open" Caution {
            /// Of which process.
            process: Which,
            /// Which, and how many executions.
            places: Vec<MarkPlace>,
        }
        /// Something about a module could not be known.
        Module "module" Caution {
            /// Its path.
            path: String,
            /// What.
            problems: Vec<ModuleNote>,
        }
    }
}
