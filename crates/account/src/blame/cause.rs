//! What a loss is charged to.

use proust_profile::{ContextId, LocationId};

use super::groups::LockId;
use crate::ledger::Account;

/// How something caused a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CauseKind {
    /// It held the lock.
    Holder,
    /// The lock was free: it had been released, and the waiting location had not yet acquired it. Charged to
    /// the lock itself, at the place of the wait.
    HandOver,
    /// It arrived last at a synchronisation, and did this meanwhile.
    Late,
    /// Not known; charged to the place of the wait.
    Unknown,
    /// It arrived last at a synchronisation, since here it had no processor.
    Displaced,
}

impl CauseKind {
    /// All kinds.
    pub const ALL: [CauseKind; 5] =
        [CauseKind::Holder, CauseKind::HandOver, CauseKind::Late, CauseKind::Unknown, CauseKind::Displaced];

    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            CauseKind::Holder => "holder",
            CauseKind::HandOver => "hand-over",
            CauseKind::Late => "late",
            CauseKind::Unknown => "unknown",
            CauseKind::Displaced => "displaced",
        }
    }
}

/// What caused a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    /// How.
    pub kind: CauseKind,
    /// Who; the location that waited, if no other caused it.
    pub location: LocationId,
    /// Where: the act while the lock was held, or before a synchronisation. The place of the wait, if no
    /// other caused it.
    pub context: ContextId,
    /// Of a holder: the call path that released the lock.
    pub section: Option<ContextId>,
    /// Where a holder had acquired the lock: a path of one frame.
    pub site: Option<ContextId>,
    /// The lock that was waited for.
    pub lock: Option<LockId>,
}

impl Cause {
    /// A cause that is no lock.
    pub(super) fn of(kind: CauseKind, (location, context): (LocationId, ContextId)) -> Cause {
        Cause { kind, location, context, section: None, site: None, lock: None }
    }
}

/// A part of a loss, and what caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlameRow {
    /// What it was lost for.
    pub account: Account,
    /// The location that waited.
    pub location: LocationId,
    /// Where it waited.
    pub context: ContextId,
    /// Whether these are slots that were empty because this location waited and none worked. Otherwise it is
    /// the location's own time.
    pub slots: bool,
    /// The cause.
    pub cause: Cause,
    /// How long, ns.
    pub ns: u64,
}

/// Whether losses on this account are waits for another location.
pub(super) fn is_wait(account: Account) -> bool {
    matches!(account, Account::Lock | Account::Barrier | Account::MpiPartner)
}
