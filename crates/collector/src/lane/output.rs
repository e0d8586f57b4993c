//! The log's end of a lane.

use proust_log::layout::LaneHeader;
use proust_log::records::{Body, INTERPRETED, Node, Shaped, Subject, TEXT_BYTES};
use proust_log::shapes::{Shapes, Slot};
use proust_log::writer::{Full, LaneWriter};

use crate::path::Announce;
use crate::path::module::Module;
use crate::path::modules;
use crate::path::python;
use crate::path::tree::{Frame, NodeId};
use crate::{arena, logfile, room};

/// The log's end of a lane. Without room for a context the lane continues with totals only.
pub struct Output {
    writer: Option<LaneWriter>,
    shapes: Shapes,
    totals_only: bool,
}

impl Output {
    /// Writes through `writer`; without one only totals are kept.
    pub fn new(writer: Option<LaneWriter>) -> Output {
        Output { writer, shapes: Shapes::none(), totals_only: false }
    }

    /// Whether a record that has a short form finds room where the log is now.
    #[inline]
    pub fn has_room_for<R: Shaped>(&self) -> bool {
        !self.totals_only && self.writer.as_ref().is_some_and(LaneWriter::has_room_for_shaped::<R>)
    }

    /// Whether `count` records of the second kind find room before one of the first.
    #[inline]
    pub fn has_room_behind<R: Shaped, B: Body>(&self, count: usize) -> bool {
        !self.totals_only && self.writer.as_ref().is_some_and(|writer| writer.has_room_behind::<R, B>(count))
    }

    /// Appends a record that has room ([`Output::has_room_for`]), in its short form where it has one. Takes
    /// little of the stack, neither chunks nor other memory, and may be left by a jump at any instruction.
    #[inline(always)]
    pub fn push_in_place<R: Shaped>(&mut self, a: u16, b: u16, record: &R) -> bool {
        let shapes = &mut self.shapes;
        self.writer.as_mut().is_some_and(|writer| writer.push_shaped(shapes, a, b, record).is_ok())
    }

    /// Appends a record in its short form where it has one, in a new chunk if need be; false if there is no
    /// room.
    pub fn push_shaped<R: Shaped>(&mut self, a: u16, b: u16, record: &R) -> bool {
        if let Some(slots) = self.shapes.wanted_slots() {
            room::apart(|| self.enlarge_shapes(slots));
        }
        self.with_room(|writer, shapes| writer.push_shaped(shapes, a, b, record))
    }

    /// Without memory the lane continues with what it has.
    #[cold]
    fn enlarge_shapes(&mut self, slots: usize) {
        let memory = arena::pages(slots * size_of::<Slot>()).cast::<Slot>();
        if memory.is_null() {
            return;
        }
        // SAFETY: fresh memory of so many slots, which zero bytes are; it is ours until it is given back
        // below.
        let old = self.shapes.move_to(unsafe { core::slice::from_raw_parts_mut(memory, slots) });
        if !old.is_empty() {
            // SAFETY: taken here for the table before, which is no longer used.
            unsafe { arena::give_back(old.as_mut_ptr().cast(), size_of_val(old)) };
        }
    }

    /// Appends a record, in a new chunk if need be; false if there is no room.
    #[inline]
    pub fn push<B: Body>(&mut self, a: u16, b: u16, body: &B) -> bool {
        self.with_room(|writer, _| writer.push(a, b, body))
    }

    /// Appends a record that belongs to a single call, unless those are summed to spare the log.
    #[inline]
    pub fn push_of_call<B: Body>(&mut self, a: u16, b: u16, body: &B) {
        if !logfile::spares() {
            self.push(a, b, body);
        }
    }

    /// Appends a text of any length.
    pub fn push_text(&mut self, subject: Subject, id: u32, text: &[u8]) -> bool {
        let parts = text.chunks(TEXT_BYTES).chain(text.is_empty().then_some(&[][..]));
        let mut all = true;
        for (part, bytes) in parts.enumerate() {
            all &= self.with_room(|writer, _| writer.push_text(subject, part as u16, id, bytes));
        }
        all
    }

    #[inline]
    fn with_room(&mut self, mut write: impl FnMut(&mut LaneWriter, &mut Shapes) -> Result<(), Full>) -> bool {
        if self.totals_only {
            return false;
        }
        let Some(writer) = &mut self.writer else { return false };
        if write(writer, &mut self.shapes).is_ok() {
            return true;
        }
        let wanted_bytes = writer.wanted_bytes();
        let Some(chunk) = room::apart(|| logfile::take_chunk(wanted_bytes)) else { return false };
        // SAFETY: a fresh chunk is mapped, reserved, zero and ours.
        unsafe { writer.extend(chunk) };
        write(writer, &mut self.shapes).is_ok()
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

    fn code(&mut self, number: u32, text: &[u8]) {
        self.push_text(Subject::Code, number, text);
    }

    fn node(&mut self, id: NodeId, frame: &Frame) {
        let (module, bias) = if python::is_interpreted(frame) {
            (INTERPRETED, 0)
        } else {
            let module = modules::known(frame.lookup).filter(|module| module.id == frame.module);
            module.map_or((0, 0), |module| (module.id, module.bias))
        };
        let address = frame.lookup.wrapping_sub(bias);
        let node = Node { id, parent: frame.parent, module, address, reserved: 0 };
        if !self.push(0, 0, &node) {
            // Later samples would name a context that the log does not contain.
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
