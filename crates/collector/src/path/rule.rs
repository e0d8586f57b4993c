//! Unwind rules: one word that says how to get from a frame to its caller.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::arena::{self, spread};

/// How to find the caller of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The frame has no caller: the path is complete.
    End,
    /// CFA = stack pointer + 8·`cfa`; the frame pointer is kept, or saved at CFA − 8·`saved` if not 0.
    FromStackPointer {
        /// CFA offset in words.
        cfa: u16,
        /// Frame pointer's place in words below the CFA; 0 = not saved.
        saved: u16,
    },
    /// CFA = frame pointer + 8·`cfa`; the frame pointer is saved at CFA − 8·`saved`.
    FromFramePointer {
        /// CFA offset in words.
        cfa: u16,
        /// Frame pointer's place in words below the CFA.
        saved: u16,
    },
    /// Something else: framehop steps each time.
    Slow,
    /// The kernel's signal frame: all registers lie at known places above the stack pointer.
    SignalFrame,
}

/// Bits of a frame pointer's place in a packed rule.
pub const SAVED_BITS: u32 = 13;

impl Rule {
    fn pack(self) -> u32 {
        match self {
            Rule::End => 1 << 29,
            Rule::FromStackPointer { cfa, saved } => 2 << 29 | u32::from(saved) << 16 | u32::from(cfa),
            Rule::FromFramePointer { cfa, saved } => 3 << 29 | u32::from(saved) << 16 | u32::from(cfa),
            Rule::Slow => 4 << 29,
            Rule::SignalFrame => 5 << 29,
        }
    }

    fn unpack(packed: u32) -> Rule {
        let (cfa, saved) = (packed as u16, (packed >> 16) as u16 & ((1 << SAVED_BITS) - 1));
        match packed >> 29 {
            1 => Rule::End,
            2 => Rule::FromStackPointer { cfa, saved },
            3 => Rule::FromFramePointer { cfa, saved },
            5 => Rule::SignalFrame,
            _ => Rule::Slow,
        }
    }

    /// Whether stepping reads the frame pointer's value.
    pub fn uses_frame_pointer(self) -> bool {
        matches!(self, Rule::FromFramePointer { .. } | Rule::Slow | Rule::SignalFrame)
    }

    /// Whether the caller's frame pointer is the frame's.
    pub fn keeps_frame_pointer(self) -> bool {
        matches!(self, Rule::FromStackPointer { saved: 0, .. })
    }
}

const MIN_SLOTS: usize = 256;
const MAX_SLOTS: usize = 1 << 16;
const PROBES: usize = 8;

/// The rules learnt for one module. Any thread may read and add at any time.
pub struct RuleTable {
    slots: AtomicPtr<AtomicU64>,
    mask: usize,
}

impl RuleTable {
    /// An empty table for a module with `text_bytes` of code; memory is taken on first use.
    pub fn new(text_bytes: u64) -> RuleTable {
        let slots = ((text_bytes / 64) as usize).next_power_of_two().clamp(MIN_SLOTS, MAX_SLOTS);
        RuleTable { slots: AtomicPtr::new(core::ptr::null_mut()), mask: slots - 1 }
    }

    fn slots(&self) -> Option<&[AtomicU64]> {
        let mut slots = self.slots.load(Ordering::Acquire);
        if slots.is_null() {
            let bytes = (self.mask + 1) * size_of::<AtomicU64>();
            let fresh = arena::pages(bytes).cast::<AtomicU64>();
            if fresh.is_null() {
                return None;
            }
            let null = core::ptr::null_mut();
            match self.slots.compare_exchange(null, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => slots = fresh,
                Err(theirs) => {
                    // SAFETY: mapped just now and never published.
                    unsafe { arena::give_back(fresh.cast(), bytes) };
                    slots = theirs;
                }
            }
        }
        // SAFETY: published memory is mask + 1 zeroed words and is never given back.
        Some(unsafe { core::slice::from_raw_parts(slots, self.mask + 1) })
    }

    /// The rule stored for `key`. A slot keeps key and rule in one word, so that no lock is needed.
    #[inline]
    pub fn get(&self, key: u32) -> Option<Rule> {
        let slots = self.slots()?;
        let first = Self::position(key);
        for probe in 0..PROBES {
            let word = slots[(first + probe) & self.mask].load(Ordering::Relaxed);
            if word >> 32 == u64::from(key) && word as u32 != 0 {
                return Some(Rule::unpack(word as u32));
            }
            if word == 0 {
                return None;
            }
        }
        None
    }

    /// Stores it, in the place of another one where the table is full there.
    pub fn put(&self, key: u32, rule: Rule) {
        let Some(slots) = self.slots() else { return };
        let first = Self::position(key);
        let free = (0..PROBES).find(|probe| slots[(first + probe) & self.mask].load(Ordering::Relaxed) == 0);
        let word = u64::from(key) << 32 | u64::from(rule.pack());
        slots[(first + free.unwrap_or(0)) & self.mask].store(word, Ordering::Relaxed);
    }

    fn position(key: u32) -> usize {
        (spread(key.into()) >> 40) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_survive_packing() {
        let rules = [
            Rule::End,
            Rule::FromStackPointer { cfa: 1, saved: 0 },
            Rule::FromStackPointer { cfa: u16::MAX, saved: (1 << SAVED_BITS) - 1 },
            Rule::FromFramePointer { cfa: 2, saved: 2 },
            Rule::Slow,
            Rule::SignalFrame,
        ];
        for rule in rules {
            assert_ne!(rule.pack(), 0);
            assert_eq!(Rule::unpack(rule.pack()), rule);
        }
    }

    #[test]
    fn a_table_gives_back_what_it_still_holds_and_nothing_else() {
        let table = RuleTable::new(1);
        let rule_of = |key: u32| Rule::FromStackPointer { cfa: key as u16, saved: (key >> 3) as u16 & 0xff };
        let mut held = 0;
        for key in 0..10_000 {
            table.put(key, rule_of(key));
            assert_eq!(table.get(key), Some(rule_of(key)));
        }
        for key in 0..20_000 {
            if let Some(rule) = table.get(key) {
                assert!(key < 10_000);
                assert_eq!(rule, rule_of(key));
                held += 1;
            }
        }
        assert!(held > MIN_SLOTS / 2 && held <= MIN_SLOTS);
    }
}
