//! Logs that are not in the profile.

/// A log that could not be read at all.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) name: String,
    pub(super) reason: String,
}

/// The logs of a run that are not in its profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread {
    pub(super) refused: Vec<Refused>,
    /// How many fewer there are than when the command had ended.
    pub(super) missing: u64,
}
