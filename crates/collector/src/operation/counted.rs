//! Calls that touch memory only, and take a few nanoseconds: a few bytes of a stream whose buffer has them, or room.
//!
//! They are counted and not timed: reading clocks would take longer than they do.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proust_log::operations::{Operation, Target};

use super::Kind;

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

#[derive(Debug, Default)]
struct Counter {
    calls: AtomicU64,
    bytes: AtomicU64,
}

/// One thread's calls since the lane was made, by operation and target.
#[derive(Debug, Default)]
pub struct Counted {
    counters: [[Counter; TARGETS]; COUNTED.len()],
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
        let Some(counter) = self.counters[row].get(kind.target as usize) else { return };
        // SAFETY: one instruction each, so that a signal handler of the program that counts too loses nothing; no
        // other thread changes these words. Calls come last: a sample in between tells both the next time.
        unsafe {
            core::arch::asm!(
                "add qword ptr [{moved}], {bytes}",
                "add qword ptr [{calls}], 1",
                moved = in(reg) counter.bytes.as_ptr(),
                calls = in(reg) counter.calls.as_ptr(),
                bytes = in(reg) bytes,
                options(nostack)
            );
        }
        self.is_new.store(true, Ordering::Relaxed);
    }

    /// Each kind and what was counted of it so far.
    fn all(&self) -> impl Iterator<Item = (Kind, Count)> {
        let kinds =
            COUNTED.into_iter().flat_map(|operation| Target::ALL.map(|target| Kind { operation, target }));
        kinds.zip(self.counters.iter().flatten()).map(|(kind, counter)| {
            let calls = counter.calls.load(Ordering::Relaxed);
            (kind, Count { calls, bytes: counter.bytes.load(Ordering::Relaxed) })
        })
    }
}

/// What was told of each kind.
#[derive(Debug)]
pub struct Told([Count; COUNTED.len() * TARGETS]);

impl Default for Told {
    fn default() -> Told {
        Told([Count::default(); COUNTED.len() * TARGETS])
    }
}

impl Told {
    /// What was counted since this was last asked.
    #[inline]
    pub fn take_new(&mut self, counted: &Counted, tell: impl FnMut(Kind, Count)) {
        if counted.is_new.load(Ordering::Relaxed) {
            // First, so that what a signal handler of the program counts meanwhile is told the next time.
            counted.is_new.store(false, Ordering::Relaxed);
            self.take(counted, tell);
        }
    }

    #[cold]
    fn take(&mut self, counted: &Counted, mut tell: impl FnMut(Kind, Count)) {
        for (told, (kind, count)) in self.0.iter_mut().zip(counted.all()) {
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
    }
}
