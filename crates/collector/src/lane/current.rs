//! The calling thread's lane and the mask under which it forks, in thread-local storage at fixed offsets from
//! the thread pointer: two loads, no call that could allocate.

use core::ffi::c_void;

use super::Lane;
use crate::openmp::visits::Visits;

core::arch::global_asm!(
    ".pushsection .tbss.proust_lane,\"awT\",@nobits",
    ".p2align 3",
    ".globl proust_lane",
    ".hidden proust_lane",
    ".type proust_lane,@object",
    ".size proust_lane,8",
    "proust_lane:",
    ".zero 8",
    ".globl proust_fork_mask",
    ".hidden proust_fork_mask",
    ".type proust_fork_mask,@object",
    ".size proust_fork_mask,8",
    "proust_fork_mask:",
    ".zero 8",
    ".globl proust_visits",
    ".hidden proust_visits",
    ".type proust_visits,@object",
    ".size proust_visits,8",
    "proust_visits:",
    ".zero 8",
    ".popsection",
);

/// Declares functions that load and store one of the words above, by the initial-exec model's access
/// sequence. The library is preloaded, so its thread-local storage is part of every thread's static block.
macro_rules! words {
    ($( $symbol:literal: $load:ident, $store:ident; )*) => { $(
        #[inline(always)]
        fn $load() -> *mut c_void {
            let word;
            // SAFETY: loads the calling thread's own word.
            unsafe {
                core::arch::asm!(
                    concat!("mov {word}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov {word}, qword ptr fs:[{word}]",
                    word = out(reg) word,
                    options(nostack, readonly, preserves_flags)
                );
            }
            word
        }

        #[inline(always)]
        fn $store(value: *mut c_void) {
            // SAFETY: stores to the calling thread's own word.
            unsafe {
                core::arch::asm!(
                    concat!("mov {place}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov qword ptr fs:[{place}], {value}",
                    place = out(reg) _,
                    value = in(reg) value,
                    options(nostack, preserves_flags)
                );
            }
        }
    )* };
}

words! {
    "proust_lane": load_lane, store_lane;
    "proust_fork_mask": load_fork_mask, store_fork_mask;
    "proust_visits": load_visits, store_visits;
}

/// The calling thread's lane.
#[inline(always)]
pub fn get() -> Option<&'static Lane> {
    // SAFETY: null or a lane, and lanes are never freed.
    unsafe { load_lane().cast::<Lane>().as_ref() }
}

/// Sets the calling thread's lane.
pub fn set(lane: Option<&'static Lane>) {
    set_visits(None);
    store_lane(lane.map_or(core::ptr::null(), core::ptr::from_ref).cast_mut().cast());
}

/// What a thread that is forking keeps of its mask: a bit that no mask has says that there is one.
const IS_FORKING: u64 = 1 << (libc::SIGKILL - 1);

/// The calling thread has blocked all signals for a fork, and had this mask before.
pub fn begin_fork(mask: u64) {
    store_fork_mask((mask | IS_FORKING) as *mut c_void);
}

/// The mask that the calling thread, or the one that it is a copy of, had before it blocked all signals for a
/// fork; once.
pub fn end_fork() -> Option<u64> {
    let word = load_fork_mask() as u64;
    store_fork_mask(core::ptr::null_mut());
    (word & IS_FORKING != 0).then_some(word & !IS_FORKING)
}

/// Whether the calling thread is between the two.
pub fn is_forking() -> bool {
    load_fork_mask() as u64 & IS_FORKING != 0
}

/// Address of the calling thread's control block, which lies at the top of its stack.
#[inline]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: on x86-64 the word at fs:0 is the thread pointer itself.
    unsafe { core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// The calling thread's visits to barriers, once it has begun to count them.
#[inline(always)]
pub fn visits() -> Option<&'static Visits> {
    // SAFETY: null or the visits of a lane, which are never freed.
    unsafe { load_visits().cast::<Visits>().as_ref() }
}

/// Sets what [`visits`] gives.
pub fn set_visits(visits: Option<&'static Visits>) {
    store_visits(visits.map_or(core::ptr::null(), core::ptr::from_ref).cast_mut().cast());
}
