//! The calling thread's lane and the mask under which it forks, in thread-local storage at fixed offsets from
//! the thread pointer: two loads, no call that could allocate.

use core::ffi::c_void;

use super::Lane;
use crate::arch::registers::thread_words;
use crate::openmp::visits::Visits;

thread_words! {
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

/// Set in the kept mask of a thread that is forking: a bit that no mask has shows that there is one.
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

pub use crate::arch::registers::control_block;

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
