//! What a user should know beside the answer of a run.

/// Why an analysis that was kept is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outdated {
    /// Another version of Proust made it.
    Version,
    /// The logs have changed.
    Logs,
    /// The user's rules for waits have changed.
    Rules,
    /// It is damaged: the error in words.
    Damaged(String),
}

/// What happened while a run was opened, or a part of it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The analysis that was kept was not used, and the run analysed again.
    MadeAgain(Outdated),
    /// The analysis could not be kept: it is done again each time. The reason in words.
    NotKept(String),
}
