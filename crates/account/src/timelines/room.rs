//! The part of a gap that short operations take: the room that is left in it, and whose turn it is.

use super::operations::Short;
use super::states::Class;
use crate::ledger::{State, Work};

/// When a kind of short operations takes its time from a gap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Waits,
    Works,
    Passive,
}

impl Turn {
    pub(super) fn of(class: Class) -> Turn {
        match class {
            Class::Wait(_) => Turn::Waits,
            Class::Poll(_) | Class::Idle(_) | Class::Work(_) => Turn::Works,
            Class::Passive(..) | Class::Yield => Turn::Passive,
        }
    }
}

/// The part of a gap that is not explained yet: off the processor, and on it.
pub(super) struct Room {
    pub(super) off_ns: u64,
    pub(super) cpu_ns: u64,
    /// Taken of `cpu_ns` by operations that may as well have blocked.
    pub(super) perhaps_blocked_ns: u64,
}

impl Room {
    fn off(&mut self, time_ns: u64) -> u64 {
        let taken_ns = time_ns.min(self.off_ns);
        self.off_ns -= taken_ns;
        taken_ns
    }

    fn cpu(&mut self, time_ns: u64) -> u64 {
        let taken_ns = time_ns.min(self.cpu_ns);
        self.cpu_ns -= taken_ns;
        taken_ns
    }

    /// The time that short operations take, by state; never more than there is.
    pub(super) fn take(&mut self, short: &Short) -> [(State, u64); 2] {
        let time_ns = short.time_ns;
        let off_first = |room: &mut Room| {
            let off_ns = room.off(time_ns);
            off_ns + room.cpu(time_ns - off_ns)
        };
        let cpu_first = |room: &mut Room| {
            let cpu_ns = room.cpu(time_ns);
            cpu_ns + room.off(time_ns - cpu_ns)
        };
        const NONE: (State, u64) = (State::Working(Work::Compute), 0);
        let before_ns = self.cpu_ns;
        let taken = match short.class {
            Class::Wait(wait) => [(State::Waiting(wait), off_first(self)), NONE],
            Class::Poll(wait) => [(State::Polling(wait), cpu_first(self)), NONE],
            Class::Idle(reason) => [(State::Passive(reason), cpu_first(self)), NONE],
            Class::Work(work) => [(State::Working(work), cpu_first(self)), NONE],
            Class::Passive(reason, Work::Compute) => [(State::Passive(reason), self.off(time_ns)), NONE],
            Class::Passive(reason, work) => {
                let off_ns = self.off(time_ns);
                [(State::Passive(reason), off_ns), (State::Working(work), self.cpu(time_ns - off_ns))]
            }
            Class::Yield => [(State::Working(Work::Delayed), self.off(time_ns)), NONE],
        };
        if matches!(short.class, Class::Poll(_) | Class::Idle(_) | Class::Work(_)) {
            self.perhaps_blocked_ns += before_ns - self.cpu_ns;
        }
        taken
    }
}
