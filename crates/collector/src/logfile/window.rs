//! The part of the log's file that is mapped: pieces, of which each new one continues the last one if that
//! place is free.
//!
//! Mapped memory counts against the process's address space, and is locked where the program locks all of its
//! memory: so a quarter more than needed is mapped, and not all that the log may grow to.

use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use proust_log::layout::UNIT_BYTES;

use crate::{placement, raw};

/// Most units of a log: a bound on one process's.
const MOST_UNITS: u32 = (1 << 30) / UNIT_BYTES as u32 + 1;
/// Least units that are mapped at once, if they can be had.
const LEAST_UNITS: u32 = 64;
const MOST_PIECES: usize = 64;

/// Units that follow each other in the file and in memory.
struct Piece {
    /// The first one's number in the file.
    first: AtomicU32,
    units: AtomicU32,
    memory: AtomicPtr<u8>,
}

/// What is mapped of one file.
pub struct Window {
    pieces: [Piece; MOST_PIECES],
    count: AtomicUsize,
}

impl Window {
    /// Of a file of which nothing is mapped.
    pub const fn closed() -> Window {
        let pieces = [const {
            Piece {
                first: AtomicU32::new(0),
                units: AtomicU32::new(0),
                memory: AtomicPtr::new(core::ptr::null_mut()),
            }
        }; MOST_PIECES];
        Window { pieces, count: AtomicUsize::new(0) }
    }

    fn pieces(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.pieces.get(..self.count.load(Ordering::Acquire)).unwrap_or_default().iter()
    }

    /// Units from the file's begin on that are mapped.
    pub fn mapped(&self) -> u32 {
        self.pieces()
            .last()
            .map_or(0, |piece| piece.first.load(Ordering::Relaxed) + piece.units.load(Ordering::Acquire))
    }

    /// The memory of unit `unit`, and how many follow it there, itself included; None if it is not mapped.
    pub fn at(&self, unit: u32) -> Option<(*mut u8, u32)> {
        self.pieces().rev().find_map(|piece| {
            let inside = unit.checked_sub(piece.first.load(Ordering::Relaxed))?;
            let behind =
                piece.units.load(Ordering::Acquire).checked_sub(inside).filter(|&units| units > 0)?;
            // SAFETY: a piece has so many units in memory.
            let memory = unsafe { piece.memory.load(Ordering::Relaxed).add(inside as usize * UNIT_BYTES) };
            Some((memory, behind))
        })
    }

    /// Makes sure that the first `units` units are mapped, as far as a log may grow. One thread at a time.
    ///
    /// # Errors
    /// The errno with which the kernel refused it.
    pub fn map(&self, descriptor: i32, units: u32) -> Result<(), u32> {
        let mapped = self.mapped();
        if units <= mapped {
            return Ok(());
        }
        let least = units - mapped;
        let wanted = least.max(mapped / 4).max(LEAST_UNITS).min(MOST_UNITS.saturating_sub(mapped));
        let last = self.pieces().last();
        for units in [wanted, least] {
            let behind = last.map(|piece| {
                piece.memory.load(Ordering::Relaxed) as usize
                    + piece.units.load(Ordering::Relaxed) as usize * UNIT_BYTES
            });
            let (bytes, offset) = (units as usize * UNIT_BYTES, mapped as u64 * UNIT_BYTES as u64);
            if units < least {
                continue;
            }
            let memory =
                placement::map_shared(behind.unwrap_or_else(placement::log), bytes, descriptor, offset);
            if memory.is_null() {
                continue;
            }
            // Reading ahead into a file's unwritten part costs milliseconds on some file systems.
            raw::madvise(memory, bytes, libc::MADV_RANDOM);
            if let Some(last) = last.filter(|_| behind == Some(memory as usize)) {
                last.units.fetch_add(units, Ordering::Release);
                return Ok(());
            }
            let count = self.count.load(Ordering::Relaxed);
            let Some(piece) = self.pieces.get(count) else {
                // SAFETY: mapped above, and not yet known to other threads.
                unsafe { raw::unmap(memory, bytes) };
                break;
            };
            piece.first.store(mapped, Ordering::Relaxed);
            piece.memory.store(memory, Ordering::Relaxed);
            piece.units.store(units, Ordering::Relaxed);
            self.count.store(count + 1, Ordering::Release);
            return Ok(());
        }
        Err(libc::ENOMEM as u32)
    }

    /// Forgets what is mapped: from here on another log's window grows.
    pub fn leave(&self) -> Left {
        let mut left = Left { pieces: [(core::ptr::null_mut(), 0); MOST_PIECES], count: 0 };
        for (place, piece) in left.pieces.iter_mut().zip(self.pieces()) {
            let units = piece.units.load(Ordering::Relaxed);
            *place = (piece.memory.load(Ordering::Relaxed), units as usize * UNIT_BYTES);
            left.count += 1;
        }
        self.count.store(0, Ordering::Release);
        left
    }
}

/// The parent's window, in a forked child.
pub struct Left {
    pieces: [(*mut u8, usize); MOST_PIECES],
    count: usize,
}

impl Left {
    /// The file's first page.
    pub fn header(&self) -> *mut u8 {
        if self.count == 0 { core::ptr::null_mut() } else { self.pieces[0].0 }
    }

    /// Unmaps it, but for the part in `kept`.
    ///
    /// # Safety
    /// Nothing uses the rest of it any more.
    pub unsafe fn unmap_but(&self, kept: Range<usize>) {
        for &(memory, bytes) in self.pieces.iter().take(self.count) {
            let piece = memory as usize..memory as usize + bytes;
            let is_in_it = piece.contains(&kept.start) && kept.start < kept.end;
            let hole = if is_in_it { kept.start..kept.end.min(piece.end) } else { piece.end..piece.end };
            for part in [piece.start..hole.start, hole.end..piece.end] {
                if !part.is_empty() {
                    // SAFETY: mapped by `map`; the caller's promise.
                    unsafe { raw::unmap(part.start as *mut u8, part.end - part.start) };
                }
            }
        }
    }
}
