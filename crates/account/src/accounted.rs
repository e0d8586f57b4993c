//! The account of a profile, with the causes of the losses: timelines, ledger and blame in one step.

use proust_profile::Profile;

use crate::blame::{Blame, Queues};
use crate::ledger::{Insides, Ledger, LedgerError, Processors, Run, Windows};
use crate::stored::{StoredSpans, StoredTimelines};
use crate::timelines::OperationStates;

/// The account of the whole run.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn ledger(profile: &Profile) -> Result<Ledger, LedgerError> {
    ledger_within(profile, None, &Windows::all())
}

/// The account of the run within `windows`, on so many processors; None = those that the whole run really
/// used, whatever the windows.
///
/// # Errors
/// As [`ledger`].
pub fn ledger_within(
    profile: &Profile,
    processors: Option<u32>,
    windows: &Windows,
) -> Result<Ledger, LedgerError> {
    Ok(blame_within(profile, processors, windows)?.0)
}

/// As [`ledger_within`], with the causes of the losses.
///
/// # Errors
/// As [`ledger`].
pub fn blame_within(
    profile: &Profile,
    processors: Option<u32>,
    windows: &Windows,
) -> Result<(Ledger, Blame), LedgerError> {
    let stored = StoredTimelines::of(profile);
    let run = stored.whole_run(profile);
    let given = processors.map(|total| Processors::given(&run, total)).transpose()?;
    Blame::of(profile, &OperationStates::of(profile), &run, given.as_ref(), windows)
}

/// [`Blame::with_queues`] of timelines that were stored: an instance that is compiled here, with all that the
/// compiler can do, whoever asks.
///
/// # Errors
/// As [`ledger`].
pub fn blame_of_stored(
    profile: &Profile,
    states: &OperationStates,
    run: &Run<StoredSpans<'_>>,
    processors: Option<&Processors>,
    insides: Option<&mut Insides>,
) -> Result<(Ledger, Blame, Queues), LedgerError> {
    Blame::with_queues(profile, states, run, processors, insides)
}

/// As [`ledger_within`], without the causes, from timelines that were stored, of which only what lies in the
/// windows is read; on the processors of the whole run, whose account is `whole`. The profile needs no rows.
///
/// # Errors
/// As [`ledger`].
pub fn ledger_of_stored(
    profile: &Profile,
    stored: &StoredTimelines,
    whole: &Ledger,
    windows: &Windows,
) -> Result<Ledger, LedgerError> {
    let run = stored.run(profile, &windows.span_ns());
    Ledger::of(&run, &whole.drawn_up_with(), windows)
}
