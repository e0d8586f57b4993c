//! The words of options of `proust report`, and what they mean.

use clap::ValueEnum;
use proust_ingest::CallPaths;
use proust_report::{Format, IntervalsOf, Layout, Need, PageName};

/// The formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people
    Text,
    /// For programs: documented, versioned, never shortened
    Json,
    /// The page's main table
    Csv,
}

/// The formats of a page by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PageFormatName {
    /// For people
    Text,
    /// For programs: documented, versioned, never shortened
    Json,
    /// The page's main table
    Csv,
    /// Of intervals: the characteristics as the analyzer of the DVM system prints them
    Dvm,
    /// Of intervals of ranks: as the analyzer of MPI traces prints them
    DvmMpi,
}

impl PageFormatName {
    /// The classic layout that it is.
    pub(super) fn layout(self) -> Option<Layout> {
        match self {
            PageFormatName::Dvm => Some(Layout::Dvm),
            PageFormatName::DvmMpi => Some(Layout::DvmMpi),
            PageFormatName::Text | PageFormatName::Json | PageFormatName::Csv => None,
        }
    }

    /// The format otherwise.
    pub(super) fn format(self) -> Format {
        match self {
            PageFormatName::Json => Format::Json,
            PageFormatName::Csv => Format::Csv,
            PageFormatName::Text | PageFormatName::Dvm | PageFormatName::DvmMpi => Format::Text,
        }
    }
}

/// What counts as an interval, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IntervalsName {
    /// What the program marks
    Marks,
    /// Parallel regions
    Regions,
    /// Calls that are intercepted, by place
    Operations,
    /// Functions
    Functions,
    /// All of these
    All,
}

impl IntervalsName {
    pub(super) fn of(self) -> IntervalsOf {
        match self {
            IntervalsName::Marks => IntervalsOf::Marks,
            IntervalsName::Regions => IntervalsOf::Regions,
            IntervalsName::Operations => IntervalsOf::Operations,
            IntervalsName::Functions => IntervalsOf::Functions,
            IntervalsName::All => IntervalsOf::All,
        }
    }
}

/// Parts of the classic layouts by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BlockName {
    /// Of the interval as a whole
    Main,
    /// Least, most and mean over the processors
    Comparative,
    /// Of each processor
    Processors,
    /// The table of operations
    Operations,
}

/// Over what a context's amounts are spread, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OverName {
    /// Threads
    Locations,
    /// Processes, by rank where they have one
    Processes,
    /// Hosts
    Hosts,
}

/// What I/O counts as, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IoName {
    /// It is what the program is run for
    Productive,
    /// It is in the way of what the program is run for
    Lost,
}

/// Ways to show call paths, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PathsName {
    /// As in the source: from the program's functions on, in parallel regions below the thread that opened it
    User,
    /// The same with the frames of runtimes and the functions that compilers make
    Expert,
    /// As each thread's own stack has them
    Machine,
}

impl PathsName {
    /// As the page wants them: it describes regions in the names of the source.
    pub(super) fn of_page(self, page: PageName) -> CallPaths {
        match self {
            _ if page.needs(Need::PathsOfUser) => CallPaths::User,
            PathsName::User => CallPaths::User,
            PathsName::Expert => CallPaths::Expert,
            PathsName::Machine => CallPaths::Machine,
        }
    }
}
