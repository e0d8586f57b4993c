//! The pages: one table for the command line, its help and completions, the guide, and what must be loaded.

/// What is named after a page, by its handle or name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A context.
    Context,
    /// A function.
    Function,
    /// A lock.
    Lock,
    /// An interval.
    Interval,
    /// A finding.
    Finding,
}

impl Argument {
    /// The word in help.
    pub fn id(self) -> &'static str {
        match self {
            Argument::Context => "CONTEXT",
            Argument::Function => "FUNCTION",
            Argument::Lock => "LOCK",
            Argument::Interval => "INTERVAL",
            Argument::Finding => "FINDING",
        }
    }
}

/// What follows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One of these, or nothing.
    Maybe(Argument),
    /// One of these.
    One(Argument),
}

impl Takes {
    /// What it is.
    pub fn argument(self) -> Option<Argument> {
        match self {
            Takes::Nothing => None,
            Takes::Maybe(argument) | Takes::One(argument) => Some(argument),
        }
    }
}

/// A page as help and guide show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// The word on the command line.
    pub id: &'static str,
    /// What follows it.
    pub takes: Takes,
    /// What it shows.
    pub about: &'static str,
}

impl PageHead {
    /// The page with what may follow it: `tree [CONTEXT]`.
    pub fn usage(&self) -> String {
        match self.takes {
            Takes::Nothing => self.id.to_owned(),
            Takes::Maybe(argument) => format!("{} [{}]", self.id, argument.id()),
            Takes::One(argument) => format!("{} {}", self.id, argument.id()),
        }
    }
}

/// What a page needs beside the tables of a profile that are always read, and the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The findings of the whole run.
    Findings,
    /// The account's rows, since it has columns of seconds by account.
    ColumnsByAccount,
    /// The account's rows.
    AccountRows,
    /// The operations: of the whole run their sums.
    Operations,
    /// The causes of what was lost: of the whole run as they are kept.
    Causes,
    /// The timelines of states.
    Timelines,
    /// Sums by context: of the whole run as they are kept.
    Summaries,
    /// Samples and operations.
    Samples,
    /// The same where it is about a part of the run.
    SamplesOfAPart,
    /// The metrics that are asked for: it has columns of any.
    Metrics,
    /// Call paths as the source has them: it speaks of regions in the source's words.
    PathsOfUser,
}

/// By what a page's rows can be sorted, as words of `--sort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// It has an order of its own.
    Own,
    /// By these.
    Some(&'static [&'static str]),
    /// By the name and by every measure.
    All,
}

/// A page of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpec {
    /// Which.
    pub page: PageName,
    /// Its word, and its description.
    pub head: PageHead,
    /// What is loaded for it.
    pub needs: &'static [Need],
    /// How it can be sorted.
    pub orders: Orders,
}

macro_rules! takes {
    (Nothing) => {
        Takes::Nothing
    };
    ($argument:ident) => {
        Takes::Maybe(Argument::$argument)
    };
}

/// Declares the pages and their table, in the order in which they are listed; the first is the default.
macro_rules! pages {
    ($($name:ident $id:literal $argument:ident $about:literal [$($need:ident),*] $orders:expr;)*) => {
        /// A page of the report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PageName {
            $(#[doc = concat!("`", $id, "`: ", $about, ".")] $name,)*
        }

        /// The pages of a run.
        pub const PAGES: &[PageSpec] = &[$(PageSpec {
            page: PageName::$name,
            head: PageHead { id: $id, takes: takes!($argument), about: $about },
            needs: &[$(Need::$need),*],
            orders: $orders,
        }),*];

        impl PageName {
            /// All pages, in the order in which they are listed.
            pub const ALL: &'static [PageName] = &[$(PageName::$name),*];
        }
    };
}

pages! {
    Summary "summary" Nothing
        "what ran, the ledger, the findings, the hottest places, the quality"
        [Findings, SamplesOfAPart, PathsOfUser] Orders::Own;
    Findings "findings" Nothing
        "what could be won, where, and what to do; by process with --by"
        [Findings, PathsOfUser] Orders::Own;
    Tree "tree" Context
        "contexts from the top down, or only what is below a context such as c12"
        [ColumnsByAccount, Metrics, Summaries] Orders::All;
    Effort "effort" Context
        "work, idleness and overhead by context, and the conclusion from them"
        [ColumnsByAccount] Orders::Some(&["name", "active_s", "caused_s"]);
    Callers "callers" Function
        "functions with their callers; or one function with its callers and callees"
        [ColumnsByAccount, Metrics, Summaries] Orders::All;
    Flat "flat" Nothing
        "functions"
        [ColumnsByAccount, Metrics, Summaries] Orders::All;
    Lines "lines" Nothing
        "source lines"
        [ColumnsByAccount, Metrics, Summaries] Orders::All;
    Ledger "ledger" Nothing
        "the account in full: of all threads and all empty slots"
        [] Orders::Own;
    Threads "threads" Nothing
        "what every thread spent its time on"
        [AccountRows, Metrics] Orders::All;
    Processes "processes" Nothing
        "the programs that ran, with their arguments, and what their time went into"
        [AccountRows] Orders::Some(&["name", "cpu_s", "wall_s"]);
    Timeline "timeline" Nothing
        "what every thread did when"
        [ColumnsByAccount, Timelines] Orders::All;
    Io "io" Nothing
        "bytes read and written, by operation, and the code that called it"
        [Operations]
        Orders::Some(&["name", "wall_s", "io_calls", "io_errors", "read_bytes", "written_bytes"]);
    Waits "waits" Nothing
        "waits by operation, their accounts, and the code that waited"
        [Operations] Orders::Some(&["name", "wall_s", "waits"]);
    Locks "locks" Lock
        "locks that threads waited for, and the code that held them; or only one such as k1"
        [Causes] Orders::Some(&["name", "caused_s", "lock_s", "waits"]);
    Openmp "openmp" Nothing
        "parallel regions: work and waits at each of their sites, by thread"
        [ColumnsByAccount, PathsOfUser] Orders::Own;
    Mpi "mpi" Nothing
        "calls of MPI: waits for other ranks and what made these late, messages, collectives"
        [Causes, Samples] Orders::Own;
    Intervals "intervals" Interval
        "the intervals that the program marks, and the account of the time in each"
        [ColumnsByAccount, AccountRows, Causes, Samples] Orders::Own;
    Samples "samples" Nothing
        "what each process had used and held, second by second and on request"
        [] Orders::Own;
    Quality "quality" Nothing
        "how far the numbers can be trusted"
        [SamplesOfAPart] Orders::Own;
}

impl Default for PageName {
    fn default() -> PageName {
        PAGES[0].page
    }
}

impl PageName {
    /// What is known of it.
    pub fn spec(self) -> &'static PageSpec {
        // The enum is declared from the table.
        &PAGES[self as usize]
    }

    /// The word on the command line.
    pub fn id(self) -> &'static str {
        self.spec().head.id
    }

    /// Whether it needs this.
    pub fn needs(self, need: Need) -> bool {
        self.spec().needs.contains(&need)
    }

    /// The page of this word.
    pub fn from_id(word: &str) -> Option<PageName> {
        PAGES.iter().find(|spec| spec.head.id == word).map(|spec| spec.page)
    }
}

/// Pages as help lists them, a line each; the first is the default.
pub fn listed(heads: impl IntoIterator<Item = PageHead>) -> String {
    let line = |(n, head): (usize, PageHead)| {
        let default = if n == 0 { " (default)" } else { "" };
        format!("  {:<18}  {}{default}\n", head.usage(), head.about)
    };
    heads.into_iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_at_its_place_in_the_table() {
        for (n, spec) in PAGES.iter().enumerate() {
            assert_eq!((spec.page as usize, PageName::ALL[n]), (n, spec.page));
            assert_eq!(PageName::from_id(spec.head.id), Some(spec.page));
        }
        assert_eq!(PageName::default(), PageName::Summary);
    }

    /// The table of pages in the documents is that of the program.
    #[test]
    fn the_documents_have_the_table() {
        let document = include_str!("../../../docs/pages/README.md");
        let row = |(n, spec): (usize, &PageSpec)| {
            let default = if n == 0 { " (default)" } else { "" };
            format!("| `{}`{default} | {} |\n", spec.head.usage(), spec.head.about)
        };
        let rows: String = PAGES.iter().enumerate().map(row).collect();
        let table = format!("| page | shows |\n|---|---|\n{rows}\n");
        assert!(document.contains(&table), "docs/pages/README.md must contain\n{table}");
    }
}
