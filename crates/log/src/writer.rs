//! Appends records to a lane that lies in mapped memory.
//!
//! The caller's duties: hand over chunks that are mapped, reserved on storage, zero filled and used by this
//! lane alone; call from one thread at a time, never from a signal handler that interrupted a call on the
//! same lane. Nothing here allocates, locks, panics or makes a system call.
//!
//! A thread may be stopped between any two stores. So a record's head, with the check, is stored after its
//! body, and the chunk's `used` after that.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use zerocopy::IntoBytes;

use crate::layout::{ChunkHeader, LaneHeader, MAX_CHUNK_BYTES, UNIT_BYTES, chunk_bytes};
use crate::records::{
    Base, Body, CHECK_SHIFT, Head, Kind, MAX_RECORD_BYTES, Shape, Shaped, Short, Subject, TEXT_BYTES,
    TextHead, check_of, check_of_short, record_bytes,
};
use crate::shapes::Shapes;

/// Room that only a thread's last record may use, so that an end is recorded even in a full lane.
const RESERVED_BYTES: usize = 160;

// Any record finds room in an empty chunk of any size, also in the first one of a lane.
const _: () = assert!(
    size_of::<ChunkHeader>() + size_of::<LaneHeader>() + MAX_RECORD_BYTES + RESERVED_BYTES <= UNIT_BYTES
);

/// Shapes are written again after so many chunks: damage to one costs the records that refer to it, and those
/// are at most in so many.
const SHAPES_LAST_CHUNKS: u32 = 16;

/// Bytes of a short record, and how many more it has with bytes of its own.
const SHORT_BYTES: usize = record_bytes::<Short>();
const BYTES_APART: usize = size_of::<u64>();

/// The most bytes that a record with a short form takes.
const fn most_bytes_of<R: Shaped>() -> usize {
    let short = SHORT_BYTES + BYTES_APART + record_bytes::<Shape>() + record_bytes::<Base>();
    let long = record_bytes::<R>();
    if short > long { short } else { long }
}

/// Room for records: mapped, reserved on storage, zero filled, aligned to 8 bytes, and used by one lane
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first byte.
    pub start: *mut u8,
    /// Its bytes: a multiple of [`UNIT_BYTES`], at most [`MAX_CHUNK_BYTES`].
    pub bytes: usize,
}

/// The writing end of a lane.
#[derive(Debug)]
pub struct LaneWriter {
    lane: u32,
    sequence: u32,
    chunk: Chunk,
    first_chunk: *mut u8,
    used: usize,
    /// The origin of short records' times; None: the next one needs a new one.
    base: Option<Base>,
    base_number: u8,
    forgets_shapes: bool,
}

/// There is no room for the record; hand over a new chunk and try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl LaneWriter {
    /// Begins lane `lane` in `chunk`.
    ///
    /// # Safety
    /// `chunk` is what [`Chunk`] says, and writable for as long as the writer is used.
    pub unsafe fn begin(lane: u32, chunk: Chunk) -> LaneWriter {
        let used = size_of::<ChunkHeader>() + size_of::<LaneHeader>();
        let mut writer = LaneWriter {
            lane,
            sequence: 0,
            chunk,
            first_chunk: chunk.start,
            used,
            base: None,
            base_number: 0,
            forgets_shapes: false,
        };
        writer.write_chunk_header();
        writer
    }

    /// Continues in `chunk`.
    ///
    /// # Safety
    /// As for [`LaneWriter::begin`].
    pub unsafe fn extend(&mut self, chunk: Chunk) {
        self.chunk = chunk;
        self.sequence = self.sequence.wrapping_add(1);
        self.used = size_of::<ChunkHeader>();
        // A chunk is read whether those before it are there or not.
        self.base = None;
        self.forgets_shapes |= self.sequence.is_multiple_of(SHAPES_LAST_CHUNKS);
        self.write_chunk_header();
    }

    /// Bytes that the lane wants of its next chunk. Any chunk will do.
    pub fn wanted_bytes(&self) -> usize {
        chunk_bytes(self.sequence.saturating_add(1))
    }

    /// The lane's number.
    pub fn lane(&self) -> u32 {
        self.lane
    }

    /// The mutable header of the lane.
    pub fn header(&self) -> *mut LaneHeader {
        // SAFETY: the first chunk is a unit long at least (contract of `begin`), so the offset is inside it.
        unsafe { self.first_chunk.add(size_of::<ChunkHeader>()).cast() }
    }

    fn write_chunk_header(&mut self) {
        debug_assert!(self.chunk.bytes <= MAX_CHUNK_BYTES);
        let header = ChunkHeader::new(self.lane, self.sequence, self.chunk.bytes as u32, self.used as u32);
        // SAFETY: the chunk is writable and aligned (contract of `begin` and `extend`).
        unsafe { self.chunk.start.cast::<ChunkHeader>().write(header) };
    }

    /// Appends a record.
    #[inline]
    pub fn push<B: Body>(&mut self, a: u16, b: u16, body: &B) -> Result<(), Full> {
        self.push_within(self.chunk.bytes - RESERVED_BYTES, a, b, body)
    }

    /// Appends a thread's last record; it may use the room kept for it.
    pub fn push_last<B: Body>(&mut self, a: u16, b: u16, body: &B) -> Result<(), Full> {
        self.push_within(self.chunk.bytes, a, b, body)
    }

    #[inline]
    fn push_within<B: Body>(&mut self, limit: usize, a: u16, b: u16, body: &B) -> Result<(), Full> {
        const { assert!(size_of::<B>().is_multiple_of(8)) };
        let bytes = size_of::<Head>() + size_of::<B>();
        if self.used + bytes > limit {
            return Err(Full);
        }
        self.write(B::KIND, a, b, body.as_bytes(), &[]);
        Ok(())
    }

    /// Whether a record that has a short form finds room in the present chunk, whichever form it takes.
    #[inline]
    pub fn has_room_for_shaped<R: Shaped>(&self) -> bool {
        self.used + most_bytes_of::<R>() <= self.chunk.bytes - RESERVED_BYTES
    }

    /// Whether so many records of a fixed length find room in the present chunk before one that has a
    /// short form.
    #[inline]
    pub fn has_room_behind<R: Shaped, B: Body>(&self, count: usize) -> bool {
        self.used + count * record_bytes::<B>() + most_bytes_of::<R>() <= self.chunk.bytes - RESERVED_BYTES
    }

    /// Appends a record in its short form where it has one, with its shape and base if they are new.
    ///
    /// Expanded where the record is made, so that it need not be in memory where its shape is known: to read
    /// in one piece what was stored in several takes as long as everything else here.
    #[inline(always)]
    pub fn push_shaped<R: Shaped>(
        &mut self,
        shapes: &mut Shapes,
        a: u16,
        b: u16,
        record: &R,
    ) -> Result<(), Full> {
        if !self.has_room_for_shaped::<R>() {
            return Err(Full);
        }
        let is_worth_it = !self.forgets_shapes && shapes.are_worth_it();
        if is_worth_it
            && let Some(base) = &self.base
            && let Some(short) = record.short(base)
            && let Some((slot, generation)) = shapes.find(&record.shape(a, b).words())
        {
            self.write_short(slot, generation, &short, record.bytes_apart());
            return Ok(());
        }
        self.push_new(shapes, is_worth_it, (a, b), &{ *record })
    }

    /// As [`LaneWriter::push_shaped`], of a record whose shape or base may be new.
    #[inline(never)]
    fn push_new<R: Shaped>(
        &mut self,
        shapes: &mut Shapes,
        is_worth_it: bool,
        (a, b): (u16, u16),
        record: &R,
    ) -> Result<(), Full> {
        let forgets = core::mem::take(&mut self.forgets_shapes);
        if forgets {
            shapes.forget();
        }
        if !(if forgets { shapes.are_worth_it() } else { is_worth_it }) {
            return self.push(a, b, record);
        }
        let short = match self.base.and_then(|base| record.short(&base)) {
            Some(short) => short,
            None => {
                let base = record.base();
                let Some(short) = record.short(&base) else { return self.push(a, b, record) };
                // A jump out of here leaves no base behind: the next record writes its own.
                self.base = None;
                compiler_fence(Ordering::SeqCst);
                self.base_number = self.base_number.wrapping_add(1);
                self.write(Kind::Base, self.base_number.into(), 0, base.as_bytes(), &[]);
                compiler_fence(Ordering::SeqCst);
                self.base = Some(base);
                short
            }
        };
        let shape = record.shape(a, b);
        let Some(place) = shapes.place(&shape) else { return self.push(a, b, record) };
        let generation = match place.generation {
            Some(generation) => generation,
            None => shapes.replace(place.slot, &shape, |generation| {
                self.write(Kind::Shape, place.slot, generation.into(), shape.as_bytes(), &[]);
            }),
        };
        self.write_short(place.slot, generation, &short, record.bytes_apart());
        Ok(())
    }

    #[inline(always)]
    fn write_short(&mut self, slot: u16, generation: u8, short: &Short, apart: Option<u64>) {
        const { assert!(SHORT_BYTES == 3 * 8 && BYTES_APART == 8) };
        let which = u16::from(generation) << 8 | u16::from(self.base_number);
        let words = if apart.is_some() { 4 } else { 3 };
        let head = Head { kind: Kind::Short as u8, words, check: 0, a: slot, b: which };
        let [times, rest]: [u64; 2] = zerocopy::transmute!(*short);
        let words = [zerocopy::transmute!(head), times, rest];
        let check = check_of_short(words, apart);
        // SAFETY: as in `write`.
        unsafe {
            let at = self.chunk.start.add(self.used).cast::<u64>();
            at.add(1).write(words[1]);
            at.add(2).write(words[2]);
            if let Some(apart) = apart {
                at.add(3).write(apart);
            }
            AtomicU64::from_ptr(at).store(words[0] | u64::from(check) << CHECK_SHIFT, Ordering::Release);
        }
        self.is_written(SHORT_BYTES + if apart.is_some() { BYTES_APART } else { 0 });
    }

    /// So many bytes behind the end are a record now.
    #[inline(always)]
    fn is_written(&mut self, bytes: usize) {
        self.used += bytes;
        // SAFETY: the chunk's header, which is writable and ours; the field is aligned.
        unsafe {
            let used = self.chunk.start.add(core::mem::offset_of!(ChunkHeader, used)).cast::<u32>();
            AtomicU32::from_ptr(used).store(self.used as u32, Ordering::Release);
        }
    }

    /// Appends one part of a text of at most [`TEXT_BYTES`] bytes.
    pub fn push_text(&mut self, subject: Subject, part: u16, id: u32, text: &[u8]) -> Result<(), Full> {
        let text = &text[..text.len().min(TEXT_BYTES)];
        let padded = text.len().next_multiple_of(8);
        if self.used + size_of::<Head>() + size_of::<TextHead>() + padded > self.chunk.bytes - RESERVED_BYTES
        {
            return Err(Full);
        }
        let head = TextHead { id, bytes: text.len() as u32 };
        self.write(Kind::Text, subject as u16, part, head.as_bytes(), text);
        Ok(())
    }

    /// Writes head, `fixed` and `tail` at the end; the callers have checked the room.
    #[inline]
    fn write(&mut self, kind: Kind, a: u16, b: u16, fixed: &[u8], tail: &[u8]) {
        let bytes = size_of::<Head>() + fixed.len() + tail.len().next_multiple_of(8);
        let head = Head { kind: kind as u8, words: (bytes / 8) as u8, check: 0, a, b };
        let head: u64 = zerocopy::transmute!(head);
        // SAFETY: that it fits the chunk was checked by the callers, the chunk is writable and ours,
        // and everything in it is a multiple of 8, so the words are aligned. The padding after `tail` is
        // zero because chunks are handed over zero filled and only ever appended to.
        unsafe {
            let at = self.chunk.start.add(self.used);
            core::ptr::copy_nonoverlapping(fixed.as_ptr(), at.add(size_of::<Head>()), fixed.len());
            core::ptr::copy_nonoverlapping(
                tail.as_ptr(),
                at.add(size_of::<Head>() + fixed.len()),
                tail.len(),
            );
            let words = at.cast::<u64>();
            let body = (1..bytes / 8).map(|i| words.add(i).read());
            let check = check_of(core::iter::once(head).chain(body));
            AtomicU64::from_ptr(words).store(head | u64::from(check) << CHECK_SHIFT, Ordering::Release);
        }
        self.is_written(bytes);
    }
}
