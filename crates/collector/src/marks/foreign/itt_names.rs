//! Domains and names of ITT: a program asks for each by its text, and gets the same one for the same text.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::text;
use crate::marks::mark::{Name, lane_of_caller};

/// `__itt_domain`
#[repr(C)]
pub struct Domain {
    /// Not 0: the program calls us.
    flags: c_int,
    /// Its name.
    pub name: *const c_char,
    wide: *mut c_void,
    extra: c_int,
    more: *mut c_void,
    next: *mut Domain,
}

/// `__itt_string_handle`
#[repr(C)]
pub struct StringHandle {
    /// The text.
    pub text: *const c_char,
    wide: *mut c_void,
    extra: c_int,
    more: *mut c_void,
    next: *mut StringHandle,
}

/// A text, and what represents it. Never changed once others can see it, but for `next`.
struct Known {
    domain: Domain,
    string: StringHandle,
    text: &'static [u8],
    next: AtomicPtr<Known>,
}

const PLACES: usize = 256;
/// So many texts are kept: each stays for ever. Further ones have none.
const MOST: u32 = 1 << 16;

static KNOWN: [AtomicPtr<Known>; PLACES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; PLACES];
static COUNT: AtomicU32 = AtomicU32::new(0);

fn place(text: &[u8]) -> &'static AtomicPtr<Known> {
    &KNOWN[(Name::of(text).number() >> 7) as usize % PLACES]
}

fn find(mut known: *mut Known, text: &[u8]) -> Option<&'static Known> {
    // SAFETY: null, or published by `add`, and never freed.
    while let Some(one) = unsafe { known.as_ref() } {
        if one.text == text {
            return Some(one);
        }
        known = one.next.load(Ordering::Acquire);
    }
    None
}

/// Makes one, or finds what another thread has made meanwhile.
#[cold]
fn add(text: &[u8]) -> Option<&'static Known> {
    let (_, lane) = lane_of_caller()?;
    if COUNT.fetch_add(1, Ordering::Relaxed) >= MOST {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    let made = lane.with_record(|_| {
        let kept: &'static [u8] = Vec::leak([text, b"\0"].concat());
        let start = kept.as_ptr().cast::<c_char>();
        let none = core::ptr::null_mut();
        Box::into_raw(Box::new(Known {
            domain: Domain { flags: 1, name: start, wide: none, extra: 0, more: none, next: none.cast() },
            string: StringHandle { text: start, wide: none, extra: 0, more: none, next: none.cast() },
            text: &kept[..text.len()],
            next: AtomicPtr::new(core::ptr::null_mut()),
        }))
    })?;
    let place = place(text);
    let mut first = place.load(Ordering::Acquire);
    loop {
        if let Some(known) = find(first, text) {
            return Some(known);
        }
        // SAFETY: nobody else has it yet.
        unsafe { (*made).next.store(first, Ordering::Relaxed) };
        match place.compare_exchange(first, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it stays, and is not changed any more.
            Ok(_) => return unsafe { made.as_ref() },
            Err(newer) => first = newer,
        }
    }
}

fn known(text: &[u8]) -> Option<&'static Known> {
    find(place(text).load(Ordering::Acquire), text).or_else(|| add(text))
}

/// `__itt_domain_create`. Null, of which nothing is followed, where there is no room.
///
/// # Safety
/// The name is null or ends with a zero byte.
pub unsafe extern "C" fn domain_create(name: *const c_char) -> *const Domain {
    // SAFETY: the caller's promise.
    known(unsafe { text::of(name) }).map_or(core::ptr::null(), |known| &raw const known.domain)
}

/// `__itt_string_handle_create`
///
/// # Safety
/// The text is null or ends with a zero byte.
pub unsafe extern "C" fn string_handle_create(text: *const c_char) -> *const StringHandle {
    // SAFETY: the caller's promise.
    known(unsafe { text::of(text) }).map_or(core::ptr::null(), |known| &raw const known.string)
}

/// # Safety
/// The domain is null or ITT's.
#[inline]
pub unsafe fn name_of<'t>(domain: *const Domain) -> &'t [u8] {
    // SAFETY: the caller's promise. One that the program made before it had a tool has no more than its begin
    // in common with ours.
    unsafe { if domain.is_null() { &[] } else { text::of((&raw const (*domain).name).read()) } }
}

/// # Safety
/// The name is null or ITT's.
#[inline]
pub unsafe fn text_of<'t>(name: *const StringHandle) -> &'t [u8] {
    // SAFETY: as for `name_of`.
    unsafe { if name.is_null() { &[] } else { text::of((&raw const (*name).text).read()) } }
}
