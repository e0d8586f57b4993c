//! Unwind rules: one word that says how to get from a frame to its caller.
//!
//! framehop reads the unwind tables; its answer for one address is learnt by letting it step twice over
//! invented registers and an invented stack, and stored. A stored rule depends on the address alone, which
//! the memo's proof needs; framehop's own cache also depends on what was asked before.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64};
use framehop::{FrameAddress, MustNotAllocateDuringUnwind, Unwinder};

use crate::arena;
use crate::path::modules::{Module, ModuleUnwinder};

/// framehop's working memory; never allocates while unwinding.
pub type StepCache = CacheX86_64<MustNotAllocateDuringUnwind>;

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
        saved: u8,
    },
    /// CFA = frame pointer + 8·`cfa`; the frame pointer is saved at CFA − 8·`saved`.
    FromFramePointer {
        /// CFA offset in words.
        cfa: u16,
        /// Frame pointer's place in words below the CFA.
        saved: u8,
    },
    /// Something else: framehop steps each time.
    Slow,
    /// The kernel's signal frame: all registers lie at known places above the stack pointer.
    SignalFrame,
}

/// The rule of code without unwind tables, on the chance that it keeps frame pointers.
pub const FRAME_POINTER: Rule = Rule::FromFramePointer { cfa: 2, saved: 2 };

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
        let (cfa, saved) = (packed as u16, (packed >> 16) as u8);
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

    /// Whether the caller's frame may lie below: on the piece of a split stack that was used up.
    ///
    /// The function that goes on in another piece (`__morestack` of GCC's library) was called by a function's
    /// first instructions. Its unwind table skips that return address, which no other's does, and leads to
    /// the function's caller.
    pub fn leads_to_another_stack(self) -> bool {
        self == Rule::FromFramePointer { cfa: 3, saved: 3 }
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

    /// The rule stored for `key`. A slot holds key and rule in one word, so that no lock is needed.
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
        (u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
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

/// Lets framehop take one step from invented registers over an invented stack, and reads the rule off.
fn probe(
    unwinder: &ModuleUnwinder,
    cache: &mut StepCache,
    lookup: u64,
    exact: bool,
    sp: u64,
    bp_above_sp: u64,
) -> Option<Rule> {
    let bp = sp + bp_above_sp;
    // An invented word tells its own address: odd multiples keep it apart from all real values used here.
    let word_at = |address: u64| address.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let (address, pc) = if exact {
        (FrameAddress::from_instruction_pointer(lookup), lookup)
    } else {
        (FrameAddress::from_return_address(lookup + 1)?, lookup + 1)
    };
    let mut registers = UnwindRegsX86_64::new(pc, sp, bp);
    let mut saved_at = None;
    let mut read = |at: u64| {
        saved_at = saved_at.or(Some(at));
        Ok(word_at(at))
    };
    match unwinder.unwind_frame(address, &mut registers, cache, &mut read) {
        Ok(None) => Some(Rule::End),
        Err(_) => None,
        Ok(Some(caller)) => {
            let cfa = registers.sp();
            if caller != word_at(cfa.wrapping_sub(8)) {
                return None;
            }
            let words = |distance: u64| {
                (distance.is_multiple_of(8)).then(|| u16::try_from(distance / 8).ok()).flatten()
            };
            let saved = if registers.bp() == bp {
                0
            } else {
                let at = saved_at.filter(|&at| word_at(at) == registers.bp())?;
                u8::try_from(words(cfa.checked_sub(at)?)?).ok().filter(|&saved| saved != 0)?
            };
            match cfa.checked_sub(sp).and_then(words) {
                Some(cfa) => Some(Rule::FromStackPointer { cfa, saved }),
                None if saved == 0 => None,
                None => Some(Rule::FromFramePointer { cfa: words(cfa.checked_sub(bp)?)?, saved }),
            }
        }
    }
}

/// Whether the C library's code that ends a signal handler is at `address`:
/// `mov $SYS_rt_sigreturn,%rax; syscall`.
fn is_signal_return(module: &Module, address: u64) -> bool {
    const CODE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05];
    // The address is a guess where frame pointers are followed: any word that lies between a module's begin
    // and end, where there may be holes.
    if address < module.code.start || address.saturating_add(CODE.len() as u64) > module.code.end {
        return false;
    }
    // SAFETY: nine bytes of the code of a module that stays loaded, which may be read (`Module::code`).
    unsafe { (address as *const [u8; 9]).read_unaligned() == CODE }
}

const CACHES: usize = 16;
static FREE_CACHES: [AtomicPtr<StepCache>; CACHES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; CACHES];

/// Runs `work` with working memory for framehop that nobody else uses meanwhile.
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
            Rule::FromStackPointer { cfa: u16::MAX, saved: u8::MAX },
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
        let rule_of = |key: u32| Rule::FromStackPointer { cfa: key as u16, saved: (key >> 3) as u8 };
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
