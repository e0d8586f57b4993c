//! Regions and kernels of Kokkos, by the interface that Kokkos has for tools
//! (`Kokkos_Profiling_C_Interface.h`, and the list of functions in Kokkos Tools' documentation).
//!
//! A region that is pushed belongs to the stack of its thread. A kernel (`parallel_for`, `parallel_reduce`,
//! `parallel_scan`) is an interval of distributed work, with the label that the program gave it, or the name
//! of its type. A section is followed where the thread that started it stops it.

use core::ffi::{c_char, c_int, c_void};

use proust_log::records::{IntervalKind, IntervalOrigin};

use super::text::{self, Registered};
use crate::marks::mark::Key;
use crate::operation::here;
use crate::path::memo::State;

const ORIGIN: IntervalOrigin = IntervalOrigin::Kokkos;
/// All regions of a thread are one stack.
const REGIONS: Key = Key::innermost(ORIGIN, 0);

/// # Safety
/// The name is null or a text; `number` is null or a word of Kokkos's.
#[inline]
unsafe fn begin_kernel(name: *const c_char, number: *mut u64, state: State) {
    let given = super::next_number();
    // SAFETY: the caller's promise.
    let name = unsafe {
        if let Some(number) = number.as_mut() {
            *number = given;
        }
        text::of(name)
    };
    super::begin(ORIGIN, (&[], name), IntervalKind::Parallel, Key::single(ORIGIN, given), state);
}

#[inline]
fn end_kernel(call: &[u8], number: u64, state: State) {
    super::end(ORIGIN, call, Key::single(ORIGIN, number), state);
}

/// `kokkosp_init_library`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_init_library(_: c_int, _: u64, _: u32, _: *mut c_void) {}

/// `kokkosp_request_tool_settings`: kernels need not be complete when they end for us, so Kokkos need not
/// wait for them more often than it does without a tool.
///
/// # Safety
/// Kokkos calls it with settings, of which the first byte says that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_request_tool_settings(_: u32, settings: *mut bool) {
    // SAFETY: the caller's promise.
    if let Some(requires_global_fencing) = unsafe { settings.as_mut() } {
        *requires_global_fencing = false;
    }
}

/// `kokkosp_push_profile_region`
///
/// # Safety
/// The name is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_push_profile_region(name: *const c_char) {
    let state = here!();
    // SAFETY: the caller's promise.
    super::begin(ORIGIN, (&[], unsafe { text::of(name) }), IntervalKind::Plain, REGIONS, state);
}

/// `kokkosp_pop_profile_region`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_pop_profile_region() {
    super::end(ORIGIN, b"Kokkos::Profiling::popRegion", REGIONS, here!());
}

/// `kokkosp_begin_parallel_for`
///
/// # Safety
/// The name is null or a text, `number` null or a word of Kokkos's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_begin_parallel_for(name: *const c_char, _: u32, number: *mut u64) {
    let state = here!();
    // SAFETY: the caller's promise.
    unsafe { begin_kernel(name, number, state) }
}

/// `kokkosp_end_parallel_for`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_end_parallel_for(number: u64) {
    end_kernel(b"Kokkos::parallel_for", number, here!());
}

/// `kokkosp_begin_parallel_reduce`
///
/// # Safety
/// As for [`kokkosp_begin_parallel_for`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_begin_parallel_reduce(name: *const c_char, _: u32, number: *mut u64) {
    let state = here!();
    // SAFETY: the caller's promise.
    unsafe { begin_kernel(name, number, state) }
}

/// `kokkosp_end_parallel_reduce`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_end_parallel_reduce(number: u64) {
    end_kernel(b"Kokkos::parallel_reduce", number, here!());
}

/// `kokkosp_begin_parallel_scan`
///
/// # Safety
/// As for [`kokkosp_begin_parallel_for`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_begin_parallel_scan(name: *const c_char, _: u32, number: *mut u64) {
    let state = here!();
    // SAFETY: the caller's promise.
    unsafe { begin_kernel(name, number, state) }
}

/// `kokkosp_end_parallel_scan`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_end_parallel_scan(number: u64) {
    end_kernel(b"Kokkos::parallel_scan", number, here!());
}

/// `kokkosp_create_profile_section`: sections are numbered from 0.
///
/// # Safety
/// The name is null or a text, `number` null or a word of Kokkos's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kokkosp_create_profile_section(name: *const c_char, number: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(number) = number.as_mut() {
            *number = sections::add(Registered::keep(text::of(name)));
        }
    }
}

/// `kokkosp_start_profile_section`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_start_profile_section(number: u32) {
    let name = sections::name(number);
    super::begin(ORIGIN, (&[], name), IntervalKind::Plain, section(number), here!());
}

/// `kokkosp_stop_profile_section`
#[unsafe(no_mangle)]
pub extern "C" fn kokkosp_stop_profile_section(number: u32) {
    super::end(ORIGIN, b"Kokkos::Profiling::ProfilingSection", section(number), here!());
}

/// Apart from the kernels' numbers, which count from 1.
fn section(number: u32) -> Key {
    Key::single(ORIGIN, 1 << 54 | u64::from(number))
}

/// Names of sections, by their numbers.
mod sections {
    use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

    use super::Registered;

    /// Further sections have no name of their own.
    const MOST: usize = 256;
    static NAMES: [AtomicPtr<Registered>; MOST] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST];
    static COUNT: AtomicU32 = AtomicU32::new(0);

    pub(super) fn add(name: *const Registered) -> u32 {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = NAMES.get(number as usize) {
            place.store(name.cast_mut(), Ordering::Release);
        }
        number
    }

    pub(super) fn name(number: u32) -> &'static [u8] {
        let name = NAMES.get(number as usize).map(|place| place.load(Ordering::Acquire));
        // SAFETY: null, or what `add` stored.
        name.map_or(&[], |name| unsafe { Registered::text(name) })
    }
}
