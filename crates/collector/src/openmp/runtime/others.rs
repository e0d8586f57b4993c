//! Loaded objects that need not be learnt as callers: they refer to nothing of the family, or nothing of that
//! is bound yet ([`unbound`]).

use core::sync::atomic::{AtomicU64, Ordering};

use super::unbound::{self, Words};
use crate::arena::spread;
use crate::interpose::object::{self, Object};

/// By what they are; 0 = none.
static OTHERS: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];
const PLACES: usize = 2048;
/// Places that are tried for each.
const NEAR: usize = 8;
/// The bit of a place that says that its object is still loaded, while that is found out.
const STAYS: u64 = 1 << 63;

/// What had been loaded and unloaded in all when everything loaded was last found to be learnt, or to be
/// here. (Both only grow: two halves that are right now are of one look.)
static LOOKED_AT: [AtomicU64; 2] = [const { AtomicU64::new(u64::MAX) }; 2];

fn mark_of(object: &Object) -> u64 {
    (object.base ^ object.dynamic.rotate_left(17) ^ object.range.end.rotate_left(34)) & !STAYS | 1
}

fn places_of(mark: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = (spread(mark) >> 40) as usize;
    (0..NEAR).map(move |step| &OTHERS[(first + step) % PLACES])
}

fn place_with(mark: u64) -> Option<&'static AtomicU64> {
    places_of(mark).find(|place| place.load(Ordering::Relaxed) & !STAYS == mark)
}

/// Whether the object is one of these. One that has had something bound is so no more.
///
/// # Safety
/// It is loaded.
pub unsafe fn contain(object: &Object) -> bool {
    let mark = mark_of(object);
    let Some(place) = place_with(mark) else { return false };
    // SAFETY: the caller's promise; marks of what was unloaded are forgotten.
    let has_bound = unsafe { unbound::has_bound_in(mark) };
    if has_bound {
        unbound::forget(mark);
        place.store(0, Ordering::Relaxed);
    }
    !has_bound
}

/// Adds an object that has so many words to be bound; false if there is no room. Inside of
/// [`object::without_unloads`].
pub fn add(object: &Object, words: &Words) -> bool {
    let mark = mark_of(object);
    let free = places_of(mark).find(|place| place.load(Ordering::Relaxed) == 0);
    let free = free.filter(|_| unbound::remember(mark, &object.range, words));
    if let Some(free) = free {
        free.store(mark, Ordering::Relaxed);
    }
    free.is_some()
}

/// Everything loaded was looked at, when so much had been loaded and unloaded in all.
pub fn all_are_known(changes: (u64, u64)) {
    LOOKED_AT[0].store(changes.0, Ordering::Relaxed);
    LOOKED_AT[1].store(changes.1, Ordering::Relaxed);
}

/// Whether nothing was loaded, unloaded or bound since everything was known.
pub fn nothing_is_new() -> bool {
    let is_same = || {
        let [added, removed] = &LOOKED_AT;
        object::changes() == (added.load(Ordering::Relaxed), removed.load(Ordering::Relaxed))
    };
    // SAFETY: nothing is unloaded meanwhile, and what is remembered was loaded when that was looked at.
    object::without_unloads(|| is_same() && !unsafe { unbound::has_bound_in_any() }).unwrap_or(false)
}

/// What was unloaded is none of these any more. Not every call of `dlclose` passes our hook: this has to be
/// done before [`all_are_known`], too.
pub fn forget_unloaded() {
    let forget = || {
        object::each(&mut |object| {
            if let Some(place) = place_with(mark_of(object)) {
                place.fetch_or(STAYS, Ordering::Relaxed);
            }
            false
        });
        for place in &OTHERS {
            let mark = place.load(Ordering::Relaxed);
            if mark & STAYS != 0 {
                place.store(mark & !STAYS, Ordering::Relaxed);
            } else if mark != 0 {
                place.store(0, Ordering::Relaxed);
                unbound::forget(mark);
            }
        }
    };
    // One thread at a time, and together with what others add.
    object::without_unloads(forget);
}

/// Whether something was unloaded since everything was known.
pub fn have_lost(removed: u64) -> bool {
    removed != LOOKED_AT[1].load(Ordering::Relaxed)
}
