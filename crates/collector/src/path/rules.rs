//! Unwind rules: one word that says how to get from a frame to its caller.
//!
//! framehop reads the unwind tables; its answer for one address is learnt by letting it step twice over
//! invented registers and an invented stack, and stored. A stored rule depends on the address alone, which
//! the memo's proof needs; framehop's own cache also depends on what was asked before.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use framehop::{FrameAddress, Unwinder};

use crate::arch::context::RETURN_CODE;
pub use crate::arch::unwinding::StepCache;
use crate::arch::unwinding::{self, FRAME_POINTER, Link, return_place};
use crate::arena::{self, spread};
use crate::path::memo::State;
use crate::path::module::{Module, ModuleUnwinder};

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
const SAVED_BITS: u32 = 13;

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
    fn get(&self, key: u32) -> Option<Rule> {
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

    fn put(&self, key: u32, rule: Rule) {
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

/// The rule for the code at `lookup` in `module`; `exact` if that instruction was interrupted itself, and
/// not a call in progress.
#[inline]
pub fn rule_at(module: &Module, lookup: u64, exact: bool) -> Rule {
    let offset = lookup.wrapping_sub(module.start);
    if offset >= 1 << 31 {
        return Rule::Slow;
    }
    let key = (offset as u32) << 1 | u32::from(exact);
    if let Some(rule) = module.rules.get(key) {
        return rule;
    }
    let rule = learn(module, lookup, exact);
    module.rules.put(key, rule);
    rule
}

fn learn(module: &Module, lookup: u64, exact: bool) -> Rule {
    if !exact && is_signal_return(module, lookup.wrapping_add(1)) {
        return Rule::SignalFrame;
    }
    let Some(unwinder) = &module.unwinder else { return FRAME_POINTER };
    with_step_cache(|cache| {
        let first = probe(unwinder, cache, lookup, exact, 0x7000_0000_0000, 0x10_0000);
        let second = probe(unwinder, cache, lookup, exact, 0x7100_0000_0010, 0x300_0000);
        match (first, second) {
            (Some(first), Some(second)) if first == second => first,
            _ => Rule::Slow,
        }
    })
    .unwrap_or(Rule::Slow)
}

/// Where no stack is: the value of the register with the return address is a word of that place.
const LINK_REGISTER: u64 = 8;

/// Makes framehop take one step from invented registers over an invented stack, and reads the rule off.
fn probe(
    unwinder: &ModuleUnwinder,
    cache: &mut StepCache,
    lookup: u64,
    exact: bool,
    sp: u64,
    bp_above_sp: u64,
) -> Option<Rule> {
    let bp = sp + bp_above_sp;
    // An invented word encodes its own address: odd multiples keep it apart from all real values used here.
    let word_at = |address: u64| address.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let (address, pc) = if exact {
        (FrameAddress::from_instruction_pointer(lookup), lookup)
    } else {
        (FrameAddress::from_return_address(lookup + 1)?, lookup + 1)
    };
    let link = word_at(LINK_REGISTER);
    let mut registers = unwinding::registers(&State { pc, sp, bp, link: Link::of(link), exact });
    // A step reads the return address and the frame pointer, in either order.
    let (mut read_at, mut reads) = ([0; 2], 0);
    let mut read = |at: u64| {
        if let Some(slot) = read_at.get_mut(reads) {
            (*slot, reads) = (at, reads + 1);
        }
        Ok(word_at(at))
    };
    match unwinder.unwind_frame(address, &mut registers, cache, &mut read) {
        Ok(None) => Some(Rule::End),
        Err(_) => None,
        Ok(Some(caller)) => {
            let stepped = unwinding::stepped(caller, &registers);
            let cfa = stepped.sp;
            let words = |distance: u64| {
                (distance.is_multiple_of(8)).then(|| u16::try_from(distance / 8).ok()).flatten()
            };
            let saved = if stepped.bp == bp {
                0
            } else {
                let at = read_at.into_iter().find(|&at| word_at(at) == stepped.bp)?;
                words(cfa.checked_sub(at)?).filter(|saved| (1..1 << SAVED_BITS).contains(saved))?
            };
            let returns_to = match return_place(cfa, saved) {
                Some(place) => unwinding::strip(word_at(place)),
                None if exact => unwinding::strip(link),
                None => return None,
            };
            if caller != returns_to {
                return None;
            }
            match cfa.checked_sub(sp).and_then(words) {
                Some(cfa) => Some(Rule::FromStackPointer { cfa, saved }),
                None if saved == 0 => None,
                None => Some(Rule::FromFramePointer { cfa: words(cfa.checked_sub(bp)?)?, saved }),
            }
        }
    }
}

/// Whether the code that ends a signal handler is at `address`.
fn is_signal_return(module: &Module, address: u64) -> bool {
    // The address is a guess where frame pointers are followed: any word that lies between a module's begin
    // and end, where there may be holes.
    if address < module.code.start || address.saturating_add(RETURN_CODE.len() as u64) > module.code.end {
        return false;
    }
    // SAFETY: bytes of the code of a module that stays loaded, which may be read (`Module::code`).
    unsafe { (address as *const [u8; RETURN_CODE.len()]).read_unaligned() == RETURN_CODE }
}

const CACHES: usize = 16;
static FREE_CACHES: [AtomicPtr<StepCache>; CACHES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; CACHES];

/// Runs `work` with working memory for framehop that nothing else uses meanwhile.
pub fn with_step_cache<R>(work: impl FnOnce(&mut StepCache) -> R) -> Option<R> {
    let mut cache = core::ptr::null_mut();
    for slot in &FREE_CACHES {
        cache = slot.swap(core::ptr::null_mut(), Ordering::Acquire);
        if !cache.is_null() {
            break;
        }
    }
    if cache.is_null() {
        cache = new_step_cache();
    }
    // SAFETY: taken out of the pool (or fresh) and so ours alone until it is put back.
    let result = work(unsafe { cache.as_mut() }?);
    for slot in &FREE_CACHES {
        let null = core::ptr::null_mut();
        if slot.compare_exchange(null, cache, Ordering::Release, Ordering::Relaxed).is_ok() {
            break;
        }
    }
    Some(result)
}

/// Puts one working memory into the pool, so that the first sample need not make it.
pub fn prepare_step_cache() {
    with_step_cache(|_| ());
}

fn new_step_cache() -> *mut StepCache {
    Box::into_raw(Box::new(StepCache::new_in()))
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
