//! The input of a page beside its question, and its output.

use std::io;

use proust_account::blame::Blame;
use proust_account::ledger::Ledger;
use proust_account::stored::StoredTimelines;
use proust_findings::Finding;
use proust_query::{OperationSums, Summaries};

/// A page that is ready to be written.
#[derive(Clone, Copy)]
pub struct Written<'p> {
    /// What a reader must know beside it, for standard error.
    pub notes: &'p [String],
    pub(crate) write: &'p dyn Fn(&mut dyn io::Write) -> io::Result<()>,
}

impl Written<'_> {
    /// Writes the page itself. What is too long for memory is read while it is written.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        (self.write)(to)
    }

    /// The page as a text.
    pub(crate) fn rendered(&self) -> Rendered {
        let mut page = Vec::new();
        self.write(&mut page).expect("memory takes everything");
        Rendered { page: String::from_utf8(page).expect("pages are UTF-8"), notes: self.notes.to_vec() }
    }
}

/// A page, written.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The page itself, for standard output.
    pub page: String,
    /// What a reader must know beside it, for standard error.
    pub notes: Vec<String>,
}

/// Results for the whole run that exist already, and are not computed again: that would take its samples and
/// operations.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'r> {
    /// Its account; with its rows where [`crate::Question::needs_rows`] says so and there are no summaries.
    pub ledger: &'r Ledger,
    /// What is shown in the summary.
    pub findings: &'r [Finding],
    /// The causes of what was lost, for [`crate::Question::takes_blame`].
    pub blame: Option<&'r Blame>,
    /// Its operations, summed up, for [`crate::Question::takes_operations`].
    pub operations: Option<&'r OperationSums>,
    /// Its timelines of states, for [`crate::Question::takes_timelines`].
    pub timelines: Option<&'r StoredTimelines>,
    /// What the amounts of its locations are together, for [`crate::Question::takes_summaries`]: then the
    /// profile needs no amounts.
    pub summaries: Option<&'r Summaries>,
}

impl<'r> Kept<'r> {
    /// Only the account.
    pub fn new(ledger: &'r Ledger) -> Kept<'r> {
        Kept { ledger, findings: &[], blame: None, operations: None, timelines: None, summaries: None }
    }
}
