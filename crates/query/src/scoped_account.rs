//! The account of a selection: of a part of the time, of some threads, of intervals.

use std::borrow::Cow;

use proust_account::accounted::{ledger_of_stored, ledger_within};
use proust_account::ledger::{Ledger, LedgerError, Windows};
use proust_account::stored::StoredTimelines;

use crate::expression::{Filter, Key};
use crate::intervals::account_of;
use crate::selection::Selection;

/// The account of what a filter selects.
///
/// A range of time is integrated over as such, on the processors that the whole run used. Processes, ranks
/// and threads select locations and the slots that are theirs alone ([`Ledger::part`]). Intervals are
/// integrated over as [`crate::intervals`] does. Functions, modules, files and processors select samples,
/// which a ledger does not consist of.
#[derive(Clone, Debug)]
pub struct ScopedAccount<'l> {
    /// Of the time and the threads in scope, with its rows.
    pub ledger: Cow<'l, Ledger>,
    /// Of the time in the intervals in scope, where the filter selects intervals. Without rows.
    pub inside: Option<Ledger>,
    /// The time in scope; None = all.
    pub windows: Option<Windows>,
    /// P of the whole run.
    pub processors: u32,
}

impl<'l> ScopedAccount<'l> {
    /// Draws it up. `filter` is that of the selection, with times in place of samples of processes
    /// ([`crate::with_times`]); `kept` is the ledger of the whole run, where it is known already, with the
    /// rows that are needed. With `stored` timelines beside it a range of time is read from these: then
    /// nothing is known of causes.
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn of(
        selection: &Selection<'_>,
        filter: &Filter,
        processors: Option<u32>,
        kept: Option<&'l Ledger>,
        stored: Option<&StoredTimelines>,
    ) -> Result<ScopedAccount<'l>, LedgerError> {
        let windows = filter.windows();
        let all = || windows.clone().unwrap_or_else(Windows::all);
        let mut ledger = match (kept, stored, &windows) {
            (Some(kept), _, None) if processors.is_none() => Cow::Borrowed(kept),
            (Some(whole), Some(stored), Some(windows)) if processors.is_none() => {
                Cow::Owned(ledger_of_stored(selection.profile(), stored, whole, windows)?)
            }
            _ => Cow::Owned(ledger_within(selection.profile(), processors, &all())?),
        };
        let of_run = ledger.processors;
        if filter.mentions(&[Key::Process, Key::Rank, Key::Thread]) {
            ledger = Cow::Owned(ledger.part(|id| selection.locations().binary_search(&id).is_ok()));
        }
        let inside =
            if filter.selects_intervals() { Some(account_of(selection, processors, &all())?) } else { None };
        Ok(ScopedAccount { ledger, inside, windows, processors: of_run })
    }

    /// The account itself: of the intervals in scope, where the filter is about these.
    pub fn account(&self) -> &Ledger {
        self.inside.as_ref().unwrap_or(&self.ledger)
    }

    /// Whether it is that of a part of the time.
    pub fn is_of_part(&self) -> bool {
        self.inside.is_some() || self.windows.is_some()
    }
}
