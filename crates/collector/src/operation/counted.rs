//! Calls that touch memory only, and take a few nanoseconds: a few bytes of a stream whose buffer has them, or room.
//!
//! They are counted and not timed: reading clocks would take longer than they do.

use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, compiler_fence};

use proust_log::operations::{Operation, Target};

use super::Kind;
use crate::arena::Lazily;
use crate::lane;

/// The operations that are counted.
pub const COUNTED: [Operation; 8] = [
    Operation::StreamCharacter,
    Operation::StreamPutCharacter,
    Operation::StreamRead,
    Operation::StreamWrite,
    Operation::StreamLine,
    Operation::StreamGetLine,
    Operation::StreamPutString,
    Operation::PutString,
];
const TARGETS: usize = Target::ALL.len();

/// Room for all targets, and for the numbers to lie eight bytes times the target's number from the first.
const PLACES: usize = 8;

/// An operation's calls by target, and the bytes that they moved.
#[derive(Debug, Default)]
struct Row {
    calls: [AtomicU64; PLACES],
    bytes: [AtomicU64; PLACES],
}

/// Adds a call that moves so many bytes to the places of a target in the [`Row`] that lies so far behind an address. One
/// instruction each, so that a signal handler of the program that counts too loses nothing. Calls come last: a sample in between
/// tells both the next time.
macro_rules! add_in_row {
    ($address:expr, $offset:expr, $target:expr, $bytes:expr) => {
        core::arch::asm!(
            "add qword ptr [{address} + 8 * {target} + {MOVED}], {bytes}",
            "add qword ptr [{address} + 8 * {target} + {CALLS}], 1",
            address = in(reg) $address,
            target = in(reg) $target,
            bytes = in(reg) $bytes,
            MOVED = const $offset + offset_of!(Row, bytes),
            CALLS = const $offset + offset_of!(Row, calls),
            options(nostack)
        )
    };
}

impl Row {
    #[inline(always)]
    fn add(&self, target: usize, bytes: u64) {
        if target >= PLACES {
            return;
        }
        // SAFETY: the places of the target, which was compared above; no other thread changes these words.
        unsafe { add_in_row!(core::ptr::from_ref(self), 0, target, bytes) };
    }
}

/// Row of an operation that is counted.
pub const fn row(operation: Operation) -> usize {
    let mut row = 0;
    while COUNTED[row] as u16 != operation as u16 {
        row += 1;
    }
    row
}

/// A stream that is known well enough to count its next call with little more than a comparison.
#[derive(Debug, Default)]
struct Known {
    /// Null = none. A program may close it and get the same address for another one: every other operation of the thread
    /// forgets it.
    stream: AtomicPtr<c_void>,
    /// Number of its target, below [`PLACES`].
    target: AtomicUsize,
}

/// One thread's calls since the lane was made, by operation and target.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Counted {
    rows: [Row; COUNTED.len()],
    /// By row, the stream of the last call that was counted at once.
    known: [Known; COUNTED.len()],
    /// Whether some of them may not be told yet.
    is_new: AtomicBool,
}

/// What was counted of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

impl Counted {
    /// Counts one call that moves so many bytes. Called by the owner.
    #[inline]
    pub fn add(&self, kind: Kind, bytes: u64) {
        let Some(row) = COUNTED.iter().position(|&operation| operation == kind.operation) else { return };
        self.rows[row].add(kind.target as usize, bytes);
        self.is_new.store(true, Ordering::Relaxed);
    }

    /// As [`Counted::add`] of a target's number, where something was added since it was last told.
    #[inline(always)]
    pub fn add_more<const ROW: usize>(&self, target: usize, bytes: u64) {
        self.rows[ROW].add(target, bytes);
    }

    /// Whether the last call of this row that was counted at once was of this stream.
    #[inline(always)]
    pub fn knows<const ROW: usize>(&self, stream: *mut c_void) -> bool {
        // SAFETY: an aligned word of this structure. Volatile is all that the owner, who alone writes it, needs for an ordered
        // load, and can be compared in place.
        unsafe { self.known[ROW].stream.as_ptr().read_volatile() == stream }
    }

    /// As [`Counted::add_more`], of the stream that the row [knows](Counted::knows).
    #[inline(always)]
    pub fn add_known<const ROW: usize>(&self, bytes: u64) {
        let target = self.known[ROW].target.load(Ordering::Relaxed);
        // SAFETY: as in `Row::add`; `keep` has stored no target of `PLACES` or more.
        unsafe {
            // The row's place is part of the instructions.
            add_in_row!(
                core::ptr::from_ref(self),
                offset_of!(Counted, rows) + ROW * size_of::<Row>(),
                target,
                bytes
            );
        };
    }

    /// The row's last call was of this stream, which leads to the target with this number.
    #[inline(always)]
    pub fn keep<const ROW: usize>(&self, stream: *mut c_void, target: usize) {
        if target >= PLACES {
            return;
        }
        // In this order: a signal handler of the program that counts in between finds no stream with another one's target.
        self.known[ROW].stream.store(core::ptr::null_mut(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.known[ROW].target.store(target, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.known[ROW].stream.store(stream, Ordering::Relaxed);
    }

    /// No stream is known any more.
    pub fn forget_streams(&self) {
        for known in &self.known {
            known.stream.store(core::ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// No later time comes to tell what was counted: it is looked for in any case. (Another thread may have asked for it
    /// meanwhile, which cannot make this one say again that there is more.)
    pub fn is_told_last(&self) {
        self.is_new.store(true, Ordering::Relaxed);
    }

    /// Each kind and what was counted of it so far.
    fn all(&self) -> impl Iterator<Item = (Kind, Count)> {
        COUNTED.into_iter().zip(&self.rows).flat_map(|(operation, row)| {
            Target::ALL.into_iter().zip(row.calls.iter().zip(&row.bytes)).map(
                move |(target, (calls, bytes))| {
                    let calls = calls.load(Ordering::Relaxed);
                    (Kind { operation, target }, Count { calls, bytes: bytes.load(Ordering::Relaxed) })
                },
            )
        })
    }
}

const _: () = assert!(TARGETS <= PLACES);

/// What was told of each kind.
#[derive(Debug, Default)]
pub struct Told(Lazily<[Count; COUNTED.len() * TARGETS]>);

impl Told {
    /// What was counted since this was last asked, if [`Counted::add`] was called since.
    #[inline]
    pub fn take_new(&mut self, counted: &Counted, tell: impl FnMut(Kind, Count)) {
        if counted.is_new.load(Ordering::Relaxed) {
            // First, so that what a signal handler of the program counts meanwhile is told the next time.
            counted.is_new.store(false, Ordering::Relaxed);
            // The next call is to say again that there is something new.
            lane::set_counting(None);
            self.take(counted, tell);
        }
    }

    #[cold]
    fn take(&mut self, counted: &Counted, mut tell: impl FnMut(Kind, Count)) {
        let Some(all) = self.0.get_or_make(|| [Count::default(); COUNTED.len() * TARGETS]) else { return };
        for (told, (kind, count)) in all.iter_mut().zip(counted.all()) {
            if count.calls != told.calls {
                let (calls, bytes) =
                    (count.calls.wrapping_sub(told.calls), count.bytes.wrapping_sub(told.bytes));
                tell(kind, Count { calls, bytes });
                *told = count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_told_once() {
        let counted = Counted::default();
        let mut told = Told::default();
        let kind = |operation, target| Kind { operation, target };
        let mut new = || {
            let mut all = Vec::new();
            told.take_new(&counted, |kind, Count { calls, bytes }| all.push((kind, calls, bytes)));
            all
        };
        assert_eq!(new(), []);
        for bytes in [1, 20, 300] {
            counted.add(kind(Operation::StreamRead, Target::Event), bytes);
        }
        counted.add(kind(Operation::StreamPutCharacter, Target::None), 1);
        counted.add(kind(Operation::Read, Target::None), 1);
        assert_eq!(
            new(),
            [
                (kind(Operation::StreamPutCharacter, Target::None), 1, 1),
                (kind(Operation::StreamRead, Target::Event), 3, 321)
            ]
        );
        counted.add(kind(Operation::StreamRead, Target::Event), 0);
        assert_eq!(new(), [(kind(Operation::StreamRead, Target::Event), 1, 0)]);
        assert_eq!(new(), []);
        counted.add_more::<{ row(Operation::StreamRead) }>(PLACES, 1);
        counted.add_more::<{ row(Operation::StreamLine) }>(Target::Event as usize, 7);
        assert_eq!(new(), []);
        counted.is_told_last();
        assert_eq!(new(), [(kind(Operation::StreamLine, Target::Event), 1, 7)]);
    }

    #[test]
    fn a_stream_is_known_by_its_operation_until_it_is_forgotten() {
        const READ: usize = row(Operation::StreamRead);
        const WRITE: usize = row(Operation::StreamWrite);
        let counted = Counted::default();
        let (one, other) = (0x1000 as *mut c_void, 0x2000 as *mut c_void);
        assert!(!counted.knows::<READ>(one));
        counted.keep::<READ>(one, Target::Event as usize);
        assert!(counted.knows::<READ>(one) && !counted.knows::<WRITE>(one) && !counted.knows::<READ>(other));
        counted.add_known::<READ>(9);
        counted.is_told_last();
        let mut all = Vec::new();
        Told::default().take_new(&counted, |kind, count| all.push((kind, count)));
        let kind = Kind { operation: Operation::StreamRead, target: Target::Event };
        assert_eq!(all, [(kind, Count { calls: 1, bytes: 9 })]);
        counted.forget_streams();
        assert!(!counted.knows::<READ>(one));
    }
}
