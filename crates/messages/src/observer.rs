//! Who wants to know of messages and collectives as soon as they are matched.

use crate::call::{Collective, Place};
use crate::endpoint::End;
use crate::order::Taken;
use crate::replay::Dependency;
use crate::waits::{Times, Wait};

/// The calls that began one end of a message, or a member's part of a collective, and completed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The call that began it.
    pub start: Place,
    /// When that began and ended.
    pub started: Times,
    /// How it was completed.
    pub end: End,
    /// When the call that completed it began and ended; without one, that of the start.
    pub ended: Times,
}

impl Calls {
    /// The call that completed it.
    pub fn completing(&self) -> Option<Place> {
        Some((self.start.0, self.end.completing()?))
    }
}

/// A message of which both ends are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its send.
    pub sent: Calls,
    /// Its receive.
    pub received: Calls,
}

impl Message {
    /// The process that took it, if that is known, and as it did.
    pub fn taken(&self) -> Option<(u32, Taken)> {
        let (process, call) = self.received.completing()?;
        Some((process, Taken { call, sent_ns: self.sent.started.begin_ns }))
    }
}

/// One member's part of a collective in which all members took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attendance {
    /// The calls that took part.
    pub calls: Calls,
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
    /// A call depends on others, or others on it ([`crate::replay`]).
    fn depends(&mut self, _call: Place, _on: Dependency) {}
}

/// Who wants messages only.
impl<F: FnMut(Message)> Observer for F {
    fn message(&mut self, message: Message) {
        self(message);
    }

    fn collective(&mut self, _kind: Collective, _members: &[Attendance]) {}
}
