//! The pages of the report.

/// A page of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageName {
    /// What ran, the ledger, the hottest places, the quality of the data.
    #[default]
    Summary,
    /// The account in full: of all threads and all empty slots.
    Ledger,
    /// Contexts from the top down.
    Tree,
    /// Work, idleness and overhead by context, and what they say.
    Effort,
    /// Functions with their callers; or one function with its callers and callees.
    Callers,
    /// Functions.
    Flat,
    /// Locations: accounts and passive time of every thread.
    Threads,
    /// What every location did when.
    Timeline,
    /// What was read and written, and who did it.
    Io,
    /// The waits, and who waited.
    Waits,
    /// The locks that were waited for, and who held them.
    Locks,
    /// Parallel regions, their sites, and who was in them.
    Openmp,
    /// What each process had used and held at some instants.
    Samples,
    /// How far the numbers can be trusted.
    Quality,
}

impl PageName {
    /// All pages, in the order in which they are listed.
    pub const ALL: [PageName; 14] = [
        PageName::Summary,
        PageName::Ledger,
        PageName::Tree,
        PageName::Effort,
        PageName::Callers,
        PageName::Flat,
        PageName::Threads,
        PageName::Timeline,
        PageName::Io,
        PageName::Waits,
        PageName::Locks,
        PageName::Openmp,
        PageName::Samples,
        PageName::Quality,
    ];

    /// The word on the command line.
    pub fn id(self) -> &'static str {
        match self {
            PageName::Summary => "summary",
            PageName::Ledger => "ledger",
            PageName::Tree => "tree",
            PageName::Effort => "effort",
            PageName::Callers => "callers",
            PageName::Flat => "flat",
            PageName::Threads => "threads",
            PageName::Timeline => "timeline",
            PageName::Io => "io",
            PageName::Waits => "waits",
            PageName::Locks => "locks",
            PageName::Openmp => "openmp",
            PageName::Samples => "samples",
            PageName::Quality => "quality",
        }
    }

    /// Whether it shows seconds by account of parts of the program, for which the rows of a ledger are
    /// needed.
    pub fn has_rows(self) -> bool {
        matches!(
            self,
            PageName::Tree
                | PageName::Effort
                | PageName::Callers
                | PageName::Flat
                | PageName::Timeline
                | PageName::Openmp
        )
    }

    /// By what its rows can be sorted, as words of `--sort`; None = by the name and by every measure.
    pub fn orders(self) -> Option<&'static [&'static str]> {
        match self {
            PageName::Tree | PageName::Callers | PageName::Flat | PageName::Threads | PageName::Timeline => {
                None
            }
            PageName::Io => Some(&["name", "wall_s", "io_calls", "io_errors", "read_bytes", "written_bytes"]),
            PageName::Waits => Some(&["name", "wall_s", "waits"]),
            PageName::Locks => Some(&["name", "caused_s", "lock_s", "waits"]),
            PageName::Effort => Some(&["name", "active_s", "caused_s"]),
            PageName::Summary
            | PageName::Ledger
            | PageName::Openmp
            | PageName::Samples
            | PageName::Quality => Some(&[]),
        }
    }

    /// The page of this word.
    pub fn from_id(word: &str) -> Option<PageName> {
        PageName::ALL.into_iter().find(|page| page.id() == word)
    }
}
