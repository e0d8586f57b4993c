//! The unwind rule of an address, learnt when it is first needed.
//!
//! framehop reads the unwind tables; its answer for one address is learnt by letting it step twice over
//! invented registers and an invented stack, and stored. A stored rule depends on the address alone, which
//! the memo's proof needs; framehop's own cache also depends on what was asked before.

use core::sync::atomic::{AtomicPtr, Ordering};

use framehop::{FrameAddress, Unwinder};

use crate::arch::context::RETURN_CODE;
pub use crate::arch::unwinding::StepCache;
use crate::arch::unwinding::{self, FRAME_POINTER, Link, return_place};
use crate::path::memo::State;
use crate::path::module::{Module, ModuleUnwinder};
use crate::path::rule::SAVED_BITS;
pub use crate::path::rule::{Rule, RuleTable};

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
