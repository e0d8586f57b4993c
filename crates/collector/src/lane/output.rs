//! The log's end of a lane.

use proust_log::layout::LaneHeader;
use proust_log::records::{Body, Node, Subject, TEXT_BYTES};
use proust_log::writer::{Full, LaneWriter};

use crate::path::Announce;
use crate::path::modules::{self, Module};
use crate::path::tree::{Frame, NodeId};
use crate::{logfile, room};

/// The log's end of a lane. Without room for a context the lane goes on with totals only.
pub struct Output {
    writer: Option<LaneWriter>,
    totals_only: bool,
}

impl Output {
    /// Writes through `writer`; without one only totals are kept.
    pub fn new(writer: Option<LaneWriter>) -> Output {
        Output { writer, totals_only: false }
    }

    /// Whether a record with so long a body finds room where the log is now.
    #[inline]
    pub fn has_room_for(&self, body_bytes: usize) -> bool {
        !self.totals_only && self.writer.as_ref().is_some_and(|writer| writer.has_room_for(body_bytes))
    }

    /// Appends a record, in a new chunk if need be; false if there is no room.
    #[inline]
    pub fn push<B: Body>(&mut self, a: u16, b: u16, body: &B) -> bool {
        self.with_room(|writer| writer.push(a, b, body))
    }

    /// Appends a text of any length.
    pub fn push_text(&mut self, subject: Subject, id: u32, text: &[u8]) -> bool {
        let parts = text.chunks(TEXT_BYTES).chain(text.is_empty().then_some(&[][..]));
        let mut all = true;
        for (part, bytes) in parts.enumerate() {
            all &= self.with_room(|writer| writer.push_text(subject, part as u16, id, bytes));
        }
        all
    }

    #[inline]
    fn with_room(&mut self, mut write: impl FnMut(&mut LaneWriter) -> Result<(), Full>) -> bool {
        if self.totals_only {
            return false;
        }
        let Some(writer) = &mut self.writer else { return false };
        if write(writer).is_ok() {
            return true;
        }
        let wanted_bytes = writer.wanted_bytes();
        let Some(chunk) = room::apart(|| logfile::take_chunk(wanted_bytes)) else { return false };
        // SAFETY: a fresh chunk is mapped, reserved, zero and ours.
        unsafe { writer.extend(chunk) };
        write(writer).is_ok()
    }

    /// Appends a thread's last record into the room that is kept for it.
    pub fn push_last<B: Body>(&mut self, body: &B) -> bool {
        self.writer.as_mut().is_some_and(|writer| writer.push_last(0, 0, body).is_ok())
    }

    /// Runs `work` on the lane's mutable header.
    pub fn header(&mut self, work: impl FnOnce(&mut LaneHeader)) {
        if let Some(writer) = &self.writer {
            // SAFETY: the header is mapped for the process's life, and the lane is ours (see `Lane`).
            work(unsafe { &mut *writer.header() });
        }
    }

    /// Whether contexts can still be written.
    pub fn is_open(&self) -> bool {
        !self.totals_only && self.writer.is_some()
    }
}

impl Announce for Output {
    fn module(&mut self, module: &Module) {
        write_module(self, module);
    }

    fn node(&mut self, id: NodeId, frame: &Frame) {
        let module = modules::known(frame.lookup).filter(|module| module.id == frame.module);
        let node = Node {
            id,
            parent: frame.parent,
            module: module.map_or(0, |module| module.id),
            address: frame.lookup.wrapping_sub(module.map_or(0, |module| module.bias)),
            reserved: 0,
        };
        if !self.push(0, 0, &node) {
            // Later samples would name a context that the log does not hold.
            self.totals_only = true;
        }
    }
}

/// Writes a module and its path.
pub fn write_module(output: &mut Output, module: &Module) {
    let (build_id_bytes, facts, path) = module.for_log();
    output.push(build_id_bytes, 0, facts);
    output.push_text(Subject::ModulePath, module.id, path.to_bytes());
    logfile::with_header(|header| header.modules = header.modules.max(module.id));
}
