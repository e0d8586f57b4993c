//! One end of a message, or one member's part of a collective.

use crate::call::{ANY_TAG, CallId, Collective, Mode, Partner};
use crate::waits::Times;

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// What it is.
    pub kind: Kind,
    /// The function that began it, by the caller's number.
    pub operation: u32,
    /// The communicator, by its process's number.
    pub communicator: u32,
    /// The other end, or a collective's root.
    pub partner: Partner,
    /// The message's tag.
    pub tag: i32,
    /// Size of the message, or this process's part of a collective.
    pub bytes: u64,
    /// Of a prepared collective the how manyth that was prepared in the communicator, from 1 on: that decides
    /// which are one, not the order in which they are started. 0 = it was not prepared.
    pub series: u32,
    /// The call that began it.
    pub start: CallId,
    /// When that began and ended.
    pub started: Times,
    /// Where it was called: a number of the caller's.
    pub site: u32,
    /// The call that completed it; the same one if it waited for that itself.
    pub end: End,
    /// When that began and ended; without one, that of the start.
    pub ended: Times,
}

/// What an endpoint is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message that is sent.
    Send(Mode),
    /// A message that is received.
    Receive,
    /// A message that is seen and stays where it is.
    Probe,
    /// A collective.
    Collective(Collective),
}

/// How an endpoint was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By this call, which waited for it.
    Waited(CallId),
    /// By this call, which found it complete.
    Tested(CallId),
    /// Not, as far as is known.
    Open,
    /// It was cancelled: there was no message.
    Cancelled,
}

impl Endpoint {
    /// Whether it is a receive of which it is not known what it got, or whether it got anything.
    pub fn is_unknown_receive(&self) -> bool {
        let is_open = self.partner == Partner::Any || self.tag == ANY_TAG;
        matches!(self.kind, Kind::Receive | Kind::Probe) && is_open && self.end != End::Cancelled
    }
}

impl End {
    /// The call that waited until it was complete.
    pub fn waited(self) -> Option<CallId> {
        match self {
            End::Waited(call) => Some(call),
            End::Tested(_) | End::Open | End::Cancelled => None,
        }
    }

    /// The call that completed it.
    pub fn completing(self) -> Option<CallId> {
        match self {
            End::Waited(call) | End::Tested(call) => Some(call),
            End::Open | End::Cancelled => None,
        }
    }

    /// Whether it was completed.
    pub fn is_complete(self) -> bool {
        self.completing().is_some()
    }
}
