//! Why calls have no partner.

/// Why an endpoint has no partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The partner's process, or that of a member, was not recorded.
    NotRecorded,
    /// How the communicator was made is not known.
    UnknownCommunicator,
    /// A process's record is incomplete from some time on: nothing behind it is matched.
    BehindGap,
    /// The partner's process was killed or aborted.
    CutOff,
    /// It was never completed, or one before it that may have got its message was not.
    NeverCompleted,
    /// The other end is not in the record.
    Missing,
}

/// What an endpoint without a partner is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A message that was sent.
    Send,
    /// A message that is received.
    Receive,
    /// A member's part of a collective.
    Collective,
}
