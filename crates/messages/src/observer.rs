//! Who wants to know of messages and collectives as soon as they are matched.

use crate::call::{Collective, Place};
use crate::endpoint::End;
use crate::order::Taken;
use crate::waits::Wait;

/// A message of which both ends are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When its send began, ns.
    pub sent_ns: u64,
    /// The call that sent it, or started to.
    pub sent: Place,
    /// How the send was completed.
    pub sent_end: End,
    /// The call that received it, or started to.
    pub received: Place,
    /// How the receive was completed.
    pub received_end: End,
}

impl Message {
    /// The process that took it, if that is known, and as it did.
    pub fn taken(&self) -> Option<(u32, Taken)> {
        match self.received_end {
            End::Waited(call) | End::Tested(call) => {
                Some((self.received.0, Taken { call, sent_ns: self.sent_ns }))
            }
            End::Open | End::Cancelled => None,
        }
    }
}

/// One member's part of a collective in which all members took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attendance {
    /// The call that took part, or started to.
    pub start: Place,
    /// How it was completed.
    pub end: End,
    /// Whether the member is the root.
    pub is_root: bool,
}

/// What is matched, as soon as it is.
pub trait Observer {
    /// A message.
    fn message(&mut self, message: Message);
    /// A collective of all its members.
    fn collective(&mut self, kind: Collective, members: &[Attendance]);
    /// A call waited. One that waits for several has several waits, in any order.
    fn wait(&mut self, _call: Place, _wait: Wait) {}
}

/// Who wants messages only.
impl<F: FnMut(Message)> Observer for F {
    fn message(&mut self, message: Message) {
        self(message);
    }

    fn collective(&mut self, _kind: Collective, _members: &[Attendance]) {}
}
