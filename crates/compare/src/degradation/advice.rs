//! The advice that follows from the causes of a degradation.

use proust_profile::Ns;

use crate::scaling::{Cause, Causes};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// A work-sharing construct is too deep in the nest of loops: move it outwards (the paper's repair of
    /// SP).
    MoveOutwards {
        /// How often it was executed.
        visits: u64,
        /// Work of a thread for each execution.
        work: Ns,
        /// What a thread waits and spends on the runtime for each execution.
        cost: Ns,
    },
    /// A parallel region is opened too often: open it once, around the loop.
    OpenOnce {
        /// How often it was opened.
        visits: u64,
        /// What opening and closing costs a thread each time.
        cost: Ns,
    },
    /// Parts are of different length: smaller ones, or handed out while they are worked on.
    Balance,
    /// Threads queue for a lock or section: less inside of it, several of them, or partial results.
    ShortenSection,
    /// The same work takes more processor time: cache lines or memory are shared.
    ShareLessMemory,
    /// Page faults grew: touch memory first where it is used, and keep it.
    TouchFirst,
    /// More threads than processors.
    FewerThreads,
    /// Other programs had the processors.
    QuietMachine,
    /// Most threads have nothing to do there.
    MakeParallel,
    /// Ranks wait for each other or move more data.
    ExchangeLess,
    /// Iterations or tasks are handed out too finely.
    CoarserParts,
}

impl Advice {
    /// Identifier in JSON; never renamed.
    pub const fn id(self) -> &'static str {
        match self {
            Advice::MoveOutwards { .. } => "move-outwards",
            Advice::OpenOnce { .. } => "open-once",
            Advice::Balance => "balance",
            Advice::ShortenSection => "shorten-section",
            Advice::ShareLessMemory => "share-less-memory",
            Advice::TouchFirst => "touch-first",
            Advice::FewerThreads => "fewer-threads",
            Advice::QuietMachine => "quiet-machine",
            Advice::MakeParallel => "make-parallel",
            Advice::ExchangeLess => "exchange-less",
            Advice::CoarserParts => "coarser-parts",
        }
    }
}

/// Executions from which on one asks what each of them costs.
const MANY: u64 = 100;

/// What a region's processor time at m and what of it is more than with fewer threads suggest; `visits` is
/// how often each thread visited it, 0 where that was not counted; `is_region` distinguishes parallel regions
/// from sites inside.
pub fn advice(now: &Causes, more: &Causes, visits: u64, threads: u32, is_region: bool) -> Option<Advice> {
    let (largest, time) = more.largest()?;
    let sync = now[Cause::Imbalance] + now[Cause::ReleaseLatency] + now[Cause::Runtime];
    let more_sync = more[Cause::Imbalance] + more[Cause::ReleaseLatency] + more[Cause::Runtime];
    let each = |time: Ns| time / (visits as f64 * f64::from(threads.max(1)));
    // What is gained by another thread is lost again at every single execution: there is too little in one.
    if visits >= MANY && sync > now[Cause::Work] && more_sync >= time {
        return Some(if is_region {
            Advice::OpenOnce { visits, cost: each(sync) }
        } else {
            Advice::MoveOutwards { visits, work: each(now[Cause::Work]), cost: each(sync) }
        });
    }
    Some(match largest {
        Cause::Work => Advice::ShareLessMemory,
        Cause::Faults => Advice::TouchFirst,
        Cause::Preemption => Advice::QuietMachine,
        Cause::Oversubscription => Advice::FewerThreads,
        Cause::Imbalance | Cause::ReleaseLatency => Advice::Balance,
        Cause::Runtime => Advice::CoarserParts,
        Cause::Lock | Cause::Critical | Cause::Ordered => Advice::ShortenSection,
        Cause::Messages => Advice::ExchangeLess,
        Cause::Serial => Advice::MakeParallel,
        Cause::Io | Cause::Other => return None,
    })
}
