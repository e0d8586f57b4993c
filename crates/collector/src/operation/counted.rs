//! Calls that touch memory only, and take a few nanoseconds: a character of a stream whose buffer has it.
//!
//! They are counted and not timed: reading clocks would take ten times as long as they do. Each moves one byte.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::{Operation, Target};

use super::Kind;

/// The operations that are counted.
pub const COUNTED: [Operation; 2] = [Operation::StreamCharacter, Operation::StreamPutCharacter];
const TARGETS: usize = Target::ALL.len();
const COUNTERS: usize = COUNTED.len() * TARGETS;

/// One thread's calls since the lane was made, by operation and target.
#[derive(Debug, Default)]
pub struct Counted([AtomicU64; COUNTERS]);

impl Counted {
    /// Counts one call. Called by the owner.
    #[inline]
    pub fn add(&self, kind: Kind) {
        let row = if kind.operation == COUNTED[0] { 0 } else { TARGETS };
        let Some(counter) = self.0.get(row + kind.target as usize) else { return };
        // SAFETY: one instruction, so that a signal handler of the program that counts too loses nothing; no other
        // thread changes this word.
        unsafe {
            core::arch::asm!("add qword ptr [{}], 1", in(reg) counter.as_ptr(), options(nostack));
        }
    }

    /// Each kind and its calls so far.
    pub fn all(&self) -> impl Iterator<Item = (Kind, u64)> {
        let kinds =
            COUNTED.into_iter().flat_map(|operation| Target::ALL.map(|target| Kind { operation, target }));
        kinds.zip(&self.0).map(|(kind, calls)| (kind, calls.load(Ordering::Relaxed)))
    }
}

/// What was told of each kind.
#[derive(Debug, Default)]
pub struct Told([u64; COUNTERS]);

impl Told {
    /// What was counted since this was last asked.
    pub fn take_new(&mut self, counted: &Counted, mut tell: impl FnMut(Kind, u64)) {
        for (told, (kind, calls)) in self.0.iter_mut().zip(counted.all()) {
            if calls != *told {
                tell(kind, calls.wrapping_sub(*told));
                *told = calls;
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
            told.take_new(&counted, |kind, calls| all.push((kind, calls)));
            all
        };
        assert_eq!(new(), []);
        for _ in 0..3 {
            counted.add(kind(Operation::StreamCharacter, Target::Event));
        }
        counted.add(kind(Operation::StreamPutCharacter, Target::None));
        assert_eq!(
            new(),
            [
                (kind(Operation::StreamCharacter, Target::Event), 3),
                (kind(Operation::StreamPutCharacter, Target::None), 1)
            ]
        );
        counted.add(kind(Operation::StreamCharacter, Target::Event));
        assert_eq!(new(), [(kind(Operation::StreamCharacter, Target::Event), 1)]);
        assert_eq!(new(), []);
    }
}
