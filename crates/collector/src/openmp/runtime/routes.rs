//! From a call to the table of its caller, as quickly as a call through a pointer: the first instructions of
//! each hook.
//!
//! A call is known by its *key*: the function that it passes, where it passes one that the compiler made
//! beside the call, and the address it returns to otherwise. Keys are kept in a hash table of buckets with
//! two places, which hooks read without a lock: a place leads to a [`Route`] that is written once, but for
//! whether it is valid.
//!
//! Before anything may be unloaded all routes become invalid (`close`); those that lead from and to what is
//! still there become valid again afterwards.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::Table;
use crate::turn::Turn;

/// A key and where it leads.
#[repr(C)]
pub struct Route {
    /// The key; 0 while the route is not valid.
    valid_key: AtomicU64,
    table: &'static Table,
    key: u64,
}

const PLACES: usize = 1 << 11;
/// A key's hash is what stands above the bit [`SHIFT`] of its product with this number, which is odd.
pub const FACTOR: u64 = 0x61c8_8647;
/// See [`FACTOR`].
pub const SHIFT: u32 = 20;
/// The hash, under this mask, is the offset of a place; the lowest bit that is left chooses within a bucket.
pub const MASK: u64 = ((PLACES - 1) * 8) as u64;

/// The places, by two: hooks get from one place of a bucket to the other by one bit of its address.
#[repr(C, align(64))]
pub struct Places([AtomicPtr<Route>; PLACES]);

/// The places.
pub static ROUTES: Places = Places([const { AtomicPtr::new(core::ptr::null_mut()) }; PLACES]);

/// Which thread changes them, with all signals blocked. Nothing that may wait is called meanwhile.
static CHANGING: Turn = Turn::new();
/// How long one waits for it before one looks whether its holder is still there.
const PATIENCE_NS: u64 = 20_000_000;
/// How many threads are unloading something.
static CLOSING: AtomicU64 = AtomicU64::new(0);

fn place_of(key: u64) -> usize {
    ((key.wrapping_mul(FACTOR) >> SHIFT) & MASK) as usize / 8
}

/// Runs `change` while no other thread changes routes or callers.
pub(super) fn changing<R>(change: impl FnOnce() -> R) -> R {
    let _mine = loop {
        if let Some(mine) = CHANGING.begin_within(PATIENCE_NS) {
            break mine;
        }
    };
    change()
}

/// A forked child has no other threads.
pub(super) fn after_fork() {
    CHANGING.after_fork();
    CLOSING.store(0, Ordering::Release);
}

/// Whether something is being unloaded.
pub(super) fn is_closing() -> bool {
    CLOSING.load(Ordering::Acquire) != 0
}

/// Calls of this key go by `table` from now on; not while something is being unloaded.
pub fn keep(key: u64, table: &'static Table) {
    changing(|| {
        if is_closing() || key == 0 {
            return;
        }
        let bucket = place_of(key);
        let places = [&ROUTES.0[bucket], &ROUTES.0[bucket ^ 1]];
        // SAFETY: routes are never freed.
        let route = |place: &AtomicPtr<Route>| unsafe { place.load(Ordering::Relaxed).as_ref() };
        for place in places {
            if let Some(route) = route(place)
                && route.key == key
                && core::ptr::eq(route.table, table)
            {
                route.valid_key.store(key, Ordering::Release);
                return;
            }
        }
        let is_free = |place: &&AtomicPtr<Route>| {
            route(place).is_none_or(|route| route.valid_key.load(Ordering::Relaxed) == 0)
        };
        if let Some(place) = places.into_iter().find(is_free) {
            let route = Box::leak(Box::new(Route { valid_key: AtomicU64::new(key), table, key }));
            place.store(route, Ordering::Release);
        }
    });
}

/// Something may be unloaded: no route is valid until [`open`].
pub(super) fn close() {
    changing(|| {
        CLOSING.fetch_add(1, Ordering::AcqRel);
        for place in &ROUTES.0 {
            // SAFETY: routes are never freed.
            if let Some(route) = unsafe { place.load(Ordering::Relaxed).as_ref() } {
                route.valid_key.store(0, Ordering::Release);
            }
        }
    });
}

/// That is over; routes that were valid become valid again if `stays` is true for their key and table.
pub(super) fn open(stays: &dyn Fn(u64, &'static Table) -> bool) {
    changing(|| {
        if CLOSING.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        for place in &ROUTES.0 {
            // SAFETY: routes are never freed.
            if let Some(route) = unsafe { place.load(Ordering::Relaxed).as_ref() } {
                if stays(route.key, route.table) {
                    route.valid_key.store(route.key, Ordering::Release);
                } else {
                    place.store(core::ptr::null_mut(), Ordering::Release);
                }
            }
        }
    });
}

/// The table of a call with this key, if it is known.
#[inline]
pub fn known(key: u64) -> Option<&'static Table> {
    let bucket = place_of(key);
    for place in [bucket, bucket ^ 1] {
        // SAFETY: routes are never freed.
        if let Some(route) = unsafe { ROUTES.0[place].load(Ordering::Acquire).as_ref() }
            && route.valid_key.load(Ordering::Acquire) == key
        {
            return Some(route.table);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::runtime::callers;

    #[test]
    fn a_bucket_is_two_places_that_differ_in_one_bit_of_the_address() {
        for (number, place) in ROUTES.0.iter().enumerate() {
            let other = core::ptr::from_ref(place) as usize ^ 8;
            assert_eq!(other, core::ptr::from_ref(&ROUTES.0[number ^ 1]) as usize);
        }
    }

    #[test]
    fn routes_are_found_until_something_is_unloaded_and_then_if_they_stay() {
        let (one, two) = (callers::table_for_tests(1), callers::table_for_tests(2));
        let keys: Vec<u64> = (1..400_u64).map(|number| 0x7f12_0000_0000 + number * 37).collect();
        let table_of = |key: u64| if key.is_multiple_of(2) { one } else { two };
        keys.iter().for_each(|&key| keep(key, table_of(key)));
        let kept: Vec<u64> = keys.iter().copied().filter(|&key| known(key).is_some()).collect();
        // Places may be taken by others.
        assert!(kept.len() > 300, "{}", kept.len());
        assert!(kept.iter().all(|&key| known(key).is_some_and(|table| core::ptr::eq(table, table_of(key)))));
        close();
        assert!(keys.iter().all(|&key| known(key).is_none()));
        keep(keys[0], one);
        assert!(known(keys[0]).is_none(), "nothing is kept meanwhile");
        open(&|key, table| core::ptr::eq(table, one) && kept.contains(&key));
        assert!(kept.iter().all(|&key| known(key).is_some() == key.is_multiple_of(2)));
        close();
        open(&|_, _| false);
    }
}
