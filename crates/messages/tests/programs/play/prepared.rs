//! Requests that are prepared, and started again and again.

use proust_messages::call::{Act, Mode};

use super::{Posted, Recorded, World};

impl World {
    pub(super) fn prepare(&mut self, process: usize, of: (u32, u32, i32, u64), is_send: bool) {
        let (communicator, partner, tag, bytes) = of;
        let slot = self.slot(process);
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let posted = Posted {
            communicator,
            source: Some(partner),
            tag: Some(tag),
            begin_ns,
            slot: Some(slot),
            bytes,
            also: None,
        };
        let act = if is_send { Act::PrepareSend(Mode::Standard) } else { Act::PrepareReceive };
        let call = self.of_posted(&posted, end_ns, act);
        self.record(process, call);
        let send = is_send.then_some((communicator, partner, tag));
        self.procs[process].prepared.push((slot, false, send, posted));
    }

    pub(super) fn start(&mut self, process: usize, which: usize) {
        let ready: Vec<usize> = (0..self.procs[process].prepared.len())
            .filter(|&at| !self.procs[process].prepared[at].1)
            .collect();
        let Some(&at) = ready.get(which % ready.len().max(1)) else { return };
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let (slot, is_active, send, posted) = &mut self.procs[process].prepared[at];
        *is_active = true;
        let (slot, send, posted) = (*slot, *send, *posted);
        let call = Recorded { slots: vec![(slot, 1)], ..self.call(begin_ns, end_ns, Act::Start) };
        self.record(process, call);
        match send {
            Some((communicator, to, tag)) => {
                self.sent(process, begin_ns, (communicator, to, tag, posted.bytes));
                self.procs[process].done.push((slot, None));
            }
            None => self.post(process, Posted { begin_ns, ..posted }),
        }
    }
}
