//! What a reader must know about what a filter selects, as data.

use serde::{Deserialize, Serialize};

proust_profile::notes! {
    /// Something that a reader must know about a selection.
    pub enum ScopeNote {
        /// A word of the filter matches nothing.
        NoMatch "no-match" Caution {
            /// What was looked for.
            kind: MatchKind,
            /// The word.
            value: String,
            /// What there is instead.
            known: Known,
        }
        /// No thread executed an interval so often.
        NoSuchExecution "no-such-execution" Caution {
            /// The word.
            value: String,
            /// How often the one did that executed it most.
            most: u64,
        }
        /// Threads executed an interval unequally often: their executions of one number need not belong
        /// together.
        ExecutionsUnmatched "executions-unmatched" Caution {
            /// The word.
            value: String,
            /// How often the one did that executed it least.
            least: u64,
            /// How often the one did that executed it most.
            most: u64,
        }
        /// Not all executions were recorded alone: which number one has is not known.
        ExecutionsUnnumbered "executions-unnumbered" Caution {
            /// The word.
            value: String,
        }
        /// The last pieces of time of threads, after their last samples, are on no processor.
        ProcessorAtSamples "processor-at-samples" Note {
            /// Together.
            cpu_ns: u64,
        }
        /// Time counts when samples and operations end it.
        TimeAtEnds "time-at-ends" Note {}
        /// Seconds by account are those on all processors.
        AccountsOnAllProcessors "accounts-on-all-processors" Caution {}
    }
}

/// What a word of a filter, or of a page's argument, is to match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchKind {
    /// A process.
    #[default]
    Process,
    /// A rank.
    Rank,
    /// A thread.
    Thread,
    /// A function.
    Function,
    /// A module.
    Module,
    /// A source file.
    File,
    /// An interval.
    Interval,
    /// Two samples of processes.
    Sample,
    /// A processor.
    Processor,
    /// An account, a reason to wait, or an operation.
    State,
}

impl MatchKind {
    /// The stable identifier, which is also its noun.
    pub const fn id(self) -> &'static str {
        match self {
            MatchKind::Process => "process",
            MatchKind::Rank => "rank",
            MatchKind::Thread => "thread",
            MatchKind::Function => "function",
            MatchKind::Module => "module",
            MatchKind::File => "file",
            MatchKind::Interval => "interval",
            MatchKind::Sample => "sample",
            MatchKind::Processor => "processor",
            MatchKind::State => "state",
        }
    }
}

/// What there is, for those whose words match nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Names that look like the word.
    pub alike: Vec<String>,
    /// The first of all names, where none looks like it.
    pub first: Vec<String>,
    /// How many more there are than these.
    pub more: usize,
}
