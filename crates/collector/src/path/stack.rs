//! Reads of the measured thread's stack that cannot fault.
//!
//! On the thread's own stack everything from the interrupted stack pointer up to the stack's top is mapped:
//! it is read directly. Other stacks (coroutines, alternate signal stacks, threads the C library does not
//! know) may end anywhere: they are read by a system call that fails instead of faulting. Such a call takes
//! as long for a page as for a word, so that a long path is read in large pieces.

use crate::arch::unwinding::RED_ZONE_BYTES;
use crate::arena;
use crate::raw;

const WINDOW_BYTES: usize = 256;
const WIDE_WINDOW_BYTES: usize = 16 << 10;
const FIRST_WIDE_BYTES: usize = 4 << 10;

/// At least as much as lies between a thread's control block and the end of its stack's memory.
const CONTROL_BLOCK_BYTES: u64 = 4096;

/// The stack of a new thread, as far as it is known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Given {
    /// Nothing.
    #[default]
    Unknown,
    /// Memory of the program's, from this address on.
    From(u64),
    /// So many bytes, to be found by the C library.
    Bytes(u64),
}

/// Range of a thread's own stack; empty when unknown.
///
/// It ends where the thread's control block begins, or the program's arguments: memory above is not the
/// stack's, even if the kernel shows one mapping. A stack pointer outside of it is on a stack of the
/// program's making.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnStack {
    /// Lowest address that can be a stack pointer of this stack.
    pub low: u64,
    /// First address above the stack.
    pub top: u64,
}

impl OwnStack {
    /// The process's first stack, below the program's arguments at `arguments`, which may grow to `limit`
    /// bytes below `end`.
    pub fn of_first_thread(arguments: u64, end: u64, limit: u64) -> OwnStack {
        OwnStack { low: end.max(arguments).saturating_sub(limit), top: arguments }
    }

    /// The stack of the calling thread, which the C library made from the attributes in `given`: it ends
    /// below the thread's control block.
    pub fn of_created_thread(given: Given, control_block: u64) -> OwnStack {
        let low = match given {
            Given::Unknown => return OwnStack::default(),
            Given::From(low) => low,
            // Its memory may be larger, never smaller; the control block lies in it.
            Given::Bytes(bytes) => control_block.saturating_sub(bytes).saturating_add(CONTROL_BLOCK_BYTES),
        };
        OwnStack { low, top: control_block }
    }

    /// Whether a stack pointer lies on this stack.
    #[inline]
    pub fn contains(&self, sp: u64) -> bool {
        self.low <= sp && sp < self.top
    }
}

/// Room for large pieces of other stacks, outside of the stack that the handler runs on; made when it is
/// first needed.
#[derive(Debug)]
pub struct WideWindow {
    start: *mut u8,
}

impl Default for WideWindow {
    fn default() -> WideWindow {
        WideWindow { start: core::ptr::null_mut() }
    }
}

impl WideWindow {
    /// The bytes; none where there is no memory for them.
    fn bytes(&mut self) -> &mut [u8] {
        if self.start.is_null() {
            self.start = arena::pages(WIDE_WINDOW_BYTES);
        }
        if self.start.is_null() {
            return &mut [];
        }
        // SAFETY: that many bytes, zero-filled, are mapped until the process ends, and only this value knows
        // them.
        unsafe { core::slice::from_raw_parts_mut(self.start, WIDE_WINDOW_BYTES) }
    }
}

/// A reader of one interrupted thread.
pub struct StackReader {
    process: u32,
    top: u64,
    floor: u64,
    window_start: u64,
    window_bytes: usize,
    /// The first piece is read into it: most paths on other stacks end there.
    window: [u8; WINDOW_BYTES],
    wide: WideWindow,
    /// Bytes of the wide window in use; 0 while the other one is.
    wide_bytes: usize,
}

impl StackReader {
    /// A reader for a thread interrupted at stack pointer `sp`.
    #[inline]
    pub fn new(process: u32, own: OwnStack, sp: u64, wide: WideWindow) -> StackReader {
        let mut reader = StackReader {
            process,
            top: own.top,
            floor: u64::MAX,
            window_start: 0,
            window_bytes: 0,
            window: [0; WINDOW_BYTES],
            wide,
            wide_bytes: 0,
        };
        reader.reached(own, sp);
        reader
    }

    /// Notes that a frame at `sp` was reached (first, or behind a signal frame). The first stack pointer seen
    /// on the own stack is where direct reading begins.
    #[inline]
    pub fn reached(&mut self, own: OwnStack, sp: u64) {
        if self.floor == u64::MAX && own.contains(sp) {
            self.floor = sp.saturating_sub(RED_ZONE_BYTES).max(own.low.saturating_sub(RED_ZONE_BYTES));
        }
    }

    /// Whether the 8 bytes at `address` can be read directly.
    #[inline]
    pub fn is_direct(&self, address: u64) -> bool {
        self.floor <= address && address < self.top.saturating_sub(7)
    }

    /// The word at `address`, if it can be read directly.
    #[inline]
    pub fn direct_word(&self, address: u64) -> Option<u64> {
        if !self.is_direct(address) {
            return None;
        }
        // SAFETY: between the interrupted stack pointer and the top of its stack everything is mapped, and
        // the thread is inside this handler, so nothing changes it.
        Some(unsafe { (address as *const u64).read_unaligned() })
    }

    /// The word at `address`, or None if it cannot be read.
    #[inline]
    pub fn word(&mut self, address: u64) -> Option<u64> {
        self.direct_word(address).or_else(|| self.word_elsewhere(address))
    }

    #[cold]
    fn word_elsewhere(&mut self, address: u64) -> Option<u64> {
        let inside = |start: u64, bytes: usize| {
            address >= start && address.checked_add(8).is_some_and(|end| end <= start + bytes as u64)
        };
        if !inside(self.window_start, self.window_bytes) {
            self.read_window(address);
            if !inside(self.window_start, self.window_bytes) {
                return None;
            }
        }
        let window = if self.wide_bytes == 0 { self.window.as_slice() } else { self.wide.bytes() };
        let at = (address - self.window_start) as usize;
        Some(u64::from_le_bytes(window.get(at..at + 8)?.try_into().ok()?))
    }

    /// Reads the piece that begins at `address`: the more, the longer the path has become.
    fn read_window(&mut self, address: u64) {
        if self.window_bytes != 0 {
            self.wide_bytes = (self.wide_bytes * 2).clamp(FIRST_WIDE_BYTES, WIDE_WINDOW_BYTES);
            if self.wide.bytes().is_empty() {
                self.wide_bytes = 0;
            }
        }
        let window = match self.wide_bytes {
            0 => self.window.as_mut_slice(),
            bytes => self.wide.bytes().get_mut(..bytes).unwrap_or_default(),
        };
        let mut got = raw::read_memory(self.process, address, window);
        if got < 8 {
            // The window may reach beyond the mapping's end while the word does not.
            got = window.get_mut(..8).map_or(0, |word| raw::read_memory(self.process, address, word));
        }
        self.window_start = address;
        self.window_bytes = usize::try_from(got).unwrap_or(0);
    }

    /// The room, for the next path.
    pub fn into_wide(self) -> WideWindow {
        self.wide
    }
}
