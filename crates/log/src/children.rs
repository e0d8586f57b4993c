//! Slots for forked children in the log of the process that forked them.
//!
//! Most forked children only exit or load another image. Such a child makes no log of its own: it takes a
//! slot in a chunk of its parent's log, writes its begin there, and its end if it has recorded nothing until
//! then. A child of that child takes its slot in the same chunk.
//!
//! ```text
//! chunk = ChunkHeader with CHILDREN_MAGIC, padded to 256 bytes , slot , slot , …      4 to 64 KiB
//! ```
//!
//! Several processes take slots of one chunk at once: the chunk's `used` is advanced by compare-and-exchange.
//! A slot is written by the process that took it alone. Its begin and its end have a check each, stored last.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::layout::{ChunkHeader, Ending};
use crate::records::check_of;
use crate::writer::Chunk;

/// First word of a chunk of slots, in the place of [`crate::layout::CHUNK_MAGIC`].
pub const CHILDREN_MAGIC: u32 = 0x444c_4843;
/// Bytes of a slot, and of the chunk's header with its padding.
pub const SLOT_BYTES: usize = 256;
/// Most bytes of the name of an image that a child loads.
pub const TARGET_BYTES: usize = 104;

/// A child's data when it begins.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ChildBegin {
    /// Process id, and kernel id of its only thread; 0 = the slot was taken and never written.
    pub pid: u32,
    /// Process id of the process that forked it.
    pub parent_pid: u32,
    /// Begin, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock at the begin.
    pub cpu_ns: u64,
    /// CPU clock of the process at the begin.
    pub process_cpu_ns: u64,
    /// Run-queue delay before the begin, microseconds.
    pub queued_us: u32,
    /// User id it ran as.
    pub user: u32,
    /// Spare.
    pub reserved: u32,
    /// [`check_of`] the fields before, widened; stored last.
    pub check: u32,
}

/// A child's data when it ends without a log of its own. Amounts are since its begin.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ChildEnd {
    /// End, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock at the end.
    pub cpu_ns: u64,
    /// CPU clock of the process at the end.
    pub process_cpu_ns: u64,
    /// Time spent in the collector.
    pub own_ns: u64,
    /// Run-queue delay since the thread's creation; [`NOT_READ`] = not asked for.
    pub queued_ns: u64,
    /// User time, microseconds.
    pub user_us: u32,
    /// System time, microseconds.
    pub system_us: u32,
    /// Page faults without I/O.
    pub minor_faults: u32,
    /// Page faults with I/O.
    pub major_faults: u32,
    /// Voluntary context switches.
    pub voluntary_switches: u32,
    /// Involuntary context switches.
    pub involuntary_switches: u32,
    /// [`Ending`] as number.
    pub ending: u32,
    /// Exit status given to `_exit`, if it ended so.
    pub exit_status: i32,
    /// Name of the thread, filled up with zeros.
    pub name: [u8; 16],
    /// Bytes of `target` in use.
    pub target_bytes: u32,
    /// [`check_of`] all other fields, widened; stored last.
    pub check: u32,
    /// The image that it was about to load.
    pub target: [u8; TARGET_BYTES],
}

/// [`ChildEnd::queued_ns`] that was not asked for.
pub const NOT_READ: u64 = u64::MAX;

/// The state of a child (`state` of [`ChildSlot`]).
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The slot is all that there is of it.
    Brief = 0,
    /// It has a log of its own, which says everything.
    Logged = 1,
    /// It had something to record, and could make no log.
    Unfollowed = 2,
}

/// A child's slot.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ChildSlot {
    /// [`Outcome`] as number.
    pub state: u32,
    /// Spare.
    pub reserved: u32,
    /// Written first.
    pub begin: ChildBegin,
    /// Zero until the child ends.
    pub end: ChildEnd,
}

const _: () = assert!(size_of::<ChildSlot>() == SLOT_BYTES && size_of::<ChunkHeader>() <= SLOT_BYTES);

impl ChildBegin {
    fn check_of_facts(&self) -> u32 {
        check(&self.as_bytes()[..offset_of!(ChildBegin, check) - 4], u64::from(self.reserved))
    }
}

impl ChildEnd {
    /// Of a child of which nothing is known yet.
    pub const NONE: ChildEnd = ChildEnd {
        time_ns: 0,
        cpu_ns: 0,
        process_cpu_ns: 0,
        own_ns: 0,
        queued_ns: 0,
        user_us: 0,
        system_us: 0,
        minor_faults: 0,
        major_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        ending: 0,
        exit_status: 0,
        name: [0; 16],
        target_bytes: 0,
        check: 0,
        target: [0; TARGET_BYTES],
    };

    fn check_of_facts(&self) -> u32 {
        let without = ChildEnd { check: 0, ..*self };
        check(without.as_bytes(), 0)
    }

    /// The image that it was about to load; empty if it loaded none.
    pub fn target(&self) -> &[u8] {
        self.target.get(..self.target_bytes as usize).unwrap_or(&[])
    }
}

/// Never 0, which represents what is not written yet.
fn check(bytes: &[u8], last: u64) -> u32 {
    let words =
        bytes.chunks_exact(8).map(|w| u64::from_ne_bytes([w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]]));
    1 << 16 | u32::from(check_of(words.chain([last])))
}

/// Makes a chunk of slots of a fresh chunk.
///
/// # Safety
/// `chunk` is what [`Chunk`] says, and nothing else uses it yet.
pub unsafe fn begin_chunk(chunk: Chunk) {
    let header = ChunkHeader::of_children(chunk.bytes as u32, SLOT_BYTES as u32);
    // SAFETY: the caller's promise; a chunk is larger than its header.
    unsafe { chunk.start.cast::<ChunkHeader>().write(header) };
}

/// The chunk of slots that lies at `start`.
///
/// # Safety
/// It is mapped, and was made by [`begin_chunk`].
pub unsafe fn chunk_at(start: *mut u8) -> Chunk {
    // SAFETY: the caller's promise; this field is written once.
    let bytes = unsafe { (&raw const (*start.cast::<ChunkHeader>()).bytes).read() };
    Chunk { start, bytes: bytes as usize }
}

/// Whether a chunk of slots has so many free ones.
///
/// # Safety
/// `chunk` is mapped, and was made by [`begin_chunk`].
pub unsafe fn has_room(chunk: Chunk, slots: usize) -> bool {
    // SAFETY: the caller's promise.
    let used = unsafe { used(chunk) }.load(Ordering::Relaxed);
    used as usize + slots * SLOT_BYTES <= chunk.bytes
}

/// A slot of the calling process's own; None if all are taken.
///
/// # Safety
/// As for [`has_room`].
pub unsafe fn take(chunk: Chunk) -> Option<*mut ChildSlot> {
    // SAFETY: the caller's promise.
    let used = unsafe { used(chunk) };
    let mut at = used.load(Ordering::Relaxed);
    loop {
        let is_slot = (at as usize).is_multiple_of(SLOT_BYTES) && at as usize >= SLOT_BYTES;
        if !is_slot || at as usize + SLOT_BYTES > chunk.bytes {
            return None;
        }
        match used.compare_exchange_weak(at, at + SLOT_BYTES as u32, Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: inside the chunk, as was just seen.
            Ok(_) => return Some(unsafe { chunk.start.add(at as usize) }.cast()),
            Err(now) => at = now,
        }
    }
}

unsafe fn used<'a>(chunk: Chunk) -> &'a AtomicU32 {
    // SAFETY: the caller's promise; the field is aligned, and changed by atomic instructions only.
    unsafe { AtomicU32::from_ptr(chunk.start.add(offset_of!(ChunkHeader, used)).cast()) }
}

/// Writes a child's begin into its slot.
///
/// # Safety
/// `slot` was returned by [`take`] in this process, and the chunk is mapped.
pub unsafe fn write_begin(slot: *mut ChildSlot, begin: ChildBegin) {
    let check = begin.check_of_facts();
    // SAFETY: the caller's promise: nothing else writes the slot.
    unsafe {
        (&raw mut (*slot).begin).write(ChildBegin { check: 0, ..begin });
        AtomicU32::from_ptr(&raw mut (*slot).begin.check).store(check, Ordering::Release);
    }
}

/// Writes a child's end into its slot, or takes it back.
///
/// # Safety
/// As for [`write_begin`].
pub unsafe fn write_end(slot: *mut ChildSlot, end: Option<&ChildEnd>) {
    // SAFETY: the caller's promise: nothing else writes the slot.
    unsafe {
        let place = AtomicU32::from_ptr(&raw mut (*slot).end.check);
        place.store(0, Ordering::Release);
        (&raw mut (*slot).end).write(end.map_or(ChildEnd::NONE, |end| ChildEnd { check: 0, ..*end }));
        if let Some(end) = end {
            place.store(end.check_of_facts(), Ordering::Release);
        }
    }
}

/// Writes how a child ended, or which image it loads.
///
/// # Safety
/// As for [`write_begin`].
pub unsafe fn write_outcome(slot: *mut ChildSlot, outcome: Outcome) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(&raw mut (*slot).state).store(outcome as u32, Ordering::Release) };
}

/// A child as its slot describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Child {
    /// Its begin.
    pub begin: ChildBegin,
    /// Its end; None if it did not get to say: killed, or still there.
    pub end: Option<ChildEnd>,
    /// Whether it had something to record, and could make no log.
    pub is_unfollowed: bool,
}

/// The children in a chunk of slots that have no log of their own; `skipped` counts the bytes that do not
/// read as slots.
pub fn children_in(chunk: &[u8], skipped: &mut u64) -> Vec<Child> {
    let mut children = Vec::new();
    for bytes in chunk.chunks_exact(SLOT_BYTES).skip(1) {
        let Ok(slot) = ChildSlot::read_from_bytes(bytes) else { continue };
        if slot.begin.check != slot.begin.check_of_facts() || slot.begin.pid == 0 {
            *skipped += if bytes.iter().all(|&byte| byte == 0) { 0 } else { SLOT_BYTES as u64 };
            continue;
        }
        let end = Some(slot.end).filter(|end| end.check == end.check_of_facts());
        if end.is_none() && slot.end.check != 0 {
            *skipped += size_of::<ChildEnd>() as u64;
        }
        if slot.state != Outcome::Logged as u32 {
            let is_unfollowed = slot.state == Outcome::Unfollowed as u32;
            children.push(Child { begin: slot.begin, end, is_unfollowed });
        }
    }
    children
}

impl Child {
    /// How it ended.
    pub fn ending(&self) -> Ending {
        self.end.map_or(Ending::Open, |end| Ending::from_number(end.ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C, align(8))]
    struct Memory([u8; 4096]);

    fn chunk(memory: &mut Memory) -> Chunk {
        let chunk = Chunk { start: memory.0.as_mut_ptr(), bytes: memory.0.len() };
        // SAFETY: memory of that size, used by this test alone.
        unsafe { begin_chunk(chunk) };
        chunk
    }

    #[test]
    fn each_child_has_a_slot_until_there_are_no_more() {
        let mut memory = Memory([0; 4096]);
        let chunk = chunk(&mut memory);
        let mut taken = Vec::new();
        // SAFETY: the chunk was begun.
        while let Some(slot) = unsafe { take(chunk) } {
            // SAFETY: taken just now.
            unsafe { write_begin(slot, ChildBegin { pid: taken.len() as u32 + 1, ..Default::default() }) };
            taken.push(slot as usize);
        }
        taken.dedup();
        assert_eq!(taken.len(), 4096 / SLOT_BYTES - 1);
        // SAFETY: as above.
        assert!(!unsafe { has_room(chunk, 1) });
        let mut skipped = 0;
        let pids: Vec<u32> =
            children_in(&memory.0, &mut skipped).iter().map(|child| child.begin.pid).collect();
        assert_eq!(pids, (1..=15).collect::<Vec<_>>());
        assert_eq!(skipped, 0);
    }

    #[test]
    fn an_end_counts_once_it_is_whole_and_a_log_of_its_own_counts_instead() {
        let mut memory = Memory([0; 4096]);
        let chunk = chunk(&mut memory);
        let end = ChildEnd { time_ns: 9, ending: Ending::Exec as u32, target_bytes: 3, ..ChildEnd::NONE };
        // SAFETY: the chunk was begun, and the slots are taken here.
        let slots = unsafe {
            let slots = [(); 4].map(|()| take(chunk).unwrap());
            for (pid, slot) in (1..).zip(slots) {
                write_begin(slot, ChildBegin { pid, ..Default::default() });
            }
            write_end(slots[0], Some(&end));
            write_outcome(slots[1], Outcome::Logged);
            write_end(slots[2], Some(&end));
            write_end(slots[2], None);
            write_outcome(slots[3], Outcome::Unfollowed);
            slots
        };
        let mut skipped = 0;
        let read = children_in(&memory.0, &mut skipped);
        assert_eq!(read.iter().map(|child| child.begin.pid).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!((read[0].ending(), read[0].end.unwrap().target()), (Ending::Exec, &[0_u8; 3][..]));
        assert_eq!((read[1].end, read[1].is_unfollowed, read[2].is_unfollowed), (None, false, true));
        assert_eq!(skipped, 0);
        // SAFETY: as above.
        unsafe { (*slots[0]).end.user_us = 7 };
        let read = children_in(&memory.0, &mut skipped);
        assert_eq!((read[0].end, skipped), (None, size_of::<ChildEnd>() as u64));
        // SAFETY: as above.
        unsafe { (*slots[0]).begin.pid = 8 };
        assert_eq!(children_in(&memory.0, &mut skipped).len(), 2);
    }
}
