//! The class in a rule.

use std::fmt;

use crate::ledger::{PassiveReason, Wait};

/// How time on a path counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Waiting for a partner or a holder.
    Wait(Wait),
    /// Waiting for work, for what it started, or for the outside.
    Passive(PassiveReason),
    /// A parallel runtime's own work.
    Runtime,
    /// Inside MPI, the partner being there.
    MpiTransfer,
    /// What it would be if there were no rule.
    Work,
}

impl Class {
    /// The class that a rule's first word names.
    pub(super) fn from_word(word: &str) -> Option<Class> {
        Some(match word {
            "lock" => Class::Wait(Wait::Lock),
            "barrier" => Class::Wait(Wait::Barrier),
            "mpi-partner" => Class::Wait(Wait::MpiPartner),
            "mpi-transfer" => Class::MpiTransfer,
            "runtime" => Class::Runtime,
            "work" => Class::Work,
            _ => Class::Passive(reason(word)?),
        })
    }

    /// All words that name a class, as messages list them.
    pub(super) fn words() -> Vec<&'static str> {
        let reasons = PassiveReason::ALL.into_iter().map(PassiveReason::id);
        ["lock", "barrier", "mpi-partner", "mpi-transfer", "runtime", "work"]
            .into_iter()
            .chain(reasons.filter(|id| reason(id).is_some()))
            .collect()
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Wait(wait) => f.write_str(wait.account().id()),
            Class::Passive(reason) => f.write_str(reason.id()),
            Class::Runtime => f.write_str("runtime"),
            Class::MpiTransfer => f.write_str("mpi-transfer"),
            Class::Work => f.write_str("work"),
        }
    }
}

fn reason(word: &str) -> Option<PassiveReason> {
    // Nothing that a program calls can mean that recording was off.
    PassiveReason::from_id(word).filter(|&known| known != PassiveReason::NotRecorded)
}
