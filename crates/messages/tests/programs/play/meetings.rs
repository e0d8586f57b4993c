//! Collectives that wait, in programs that have them: a member goes on when those have arrived that it
//! depends on.

use std::collections::BTreeMap;

use proust_messages::call::{Act, Collective};

use super::{Recorded, World};

/// Which one: the communicator, and what of it. Called ones have their number, prepared ones their place and
/// how often they were started before.
pub(super) type Which = (u32, Option<u64>, u64);

/// Members that have arrived, and those that wait.
#[derive(Debug)]
pub(super) struct Meeting {
    kind: Collective,
    root: usize,
    arrived: Vec<usize>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    process: usize,
    /// The request that is complete then; a call that ends then, otherwise.
    goes_on: Result<u16, Recorded>,
}

pub(super) type Meetings = BTreeMap<Which, Meeting>;

impl Meeting {
    /// Whether all have arrived, of so many, that a member depends on.
    fn lets_go(&self, member: usize, members: usize) -> bool {
        match self.kind {
            Collective::OneToAll => member == self.root || self.arrived.contains(&self.root),
            Collective::AllToOne => member != self.root || self.arrived.len() == members,
            Collective::Scan => (0..member).all(|other| self.arrived.contains(&other)),
            _ => self.arrived.len() == members,
        }
    }
}

impl World {
    /// A process arrives by a call that has been recorded and started a request, or by one that is recorded
    /// when it ends.
    pub(super) fn meet(
        &mut self,
        which: Which,
        (kind, root): (Collective, usize),
        process: usize,
        goes_on: Result<u16, Recorded>,
    ) {
        let fresh = || Meeting { kind, root, arrived: Vec::new(), waiting: Vec::new() };
        let meeting = self.meetings.entry(which).or_insert_with(fresh);
        meeting.arrived.push(process);
        if goes_on.is_err() {
            self.procs[process].is_in_collective = true;
        }
        meeting.waiting.push(Waiting { process, goes_on });
        let members = self.procs.len();
        let (gone, waiting) = std::mem::take(&mut meeting.waiting)
            .into_iter()
            .partition(|waiting| meeting.lets_go(waiting.process, members));
        meeting.waiting = waiting;
        let gone: Vec<Waiting> = gone;
        for Waiting { process, goes_on } in gone {
            match goes_on {
                Ok(slot) => self.procs[process].done.push((slot, None)),
                Err(call) => {
                    self.procs[process].is_in_collective = false;
                    let end_ns = self.tick();
                    self.record(process, Recorded { end_ns, ..call });
                }
            }
        }
    }

    /// Whether a process can do anything.
    pub(super) fn is_free(&self, process: usize) -> bool {
        self.procs[process].blocked.is_none() && !self.procs[process].is_in_collective
    }

    /// All that can still be called is called, as long as anything can.
    pub(super) fn end_meetings(&mut self, communicator: u32) {
        loop {
            let called: Vec<u64> = (self.procs.iter())
                .map(|proc| proc.called.get(&communicator).copied().unwrap_or(0))
                .collect();
            let most = called.iter().copied().max().unwrap_or(0);
            let behind: Vec<usize> =
                (0..self.procs.len()).filter(|&at| called[at] < most && self.is_free(at)).collect();
            if behind.is_empty() {
                return;
            }
            for process in behind {
                self.collective(process, communicator, 1);
            }
        }
    }
}

/// The act of a call, for those that do not wait.
pub(super) fn act(starts: bool, kind: Collective) -> Act {
    if starts { Act::StartCollective(kind) } else { Act::Collective(kind) }
}
