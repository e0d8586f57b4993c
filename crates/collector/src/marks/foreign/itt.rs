//! Tasks and frames of ITT (Intel's Instrumentation and Tracing Technology; layouts and numbers from
//! `ittnotify.h` and `ittnotify_config.h`, version 3).
//!
//! A task belongs to a stack of its thread and domain; an overlapped one is followed where the thread that
//! began it ends it, and so is a frame, which has its domain's name. Pausing, resuming and the names of
//! threads are requests. What else a program reports stays switched off, as without a tool.

use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};

use proust_log::records::{IntervalKind, IntervalOrigin};

use super::itt_names::{self, Domain, StringHandle};
use super::text;
use crate::arena::spread;
use crate::life;
use crate::marks::mark::Key;
use crate::marks::requests;
use crate::operation::here;

const ORIGIN: IntervalOrigin = IntervalOrigin::Itt;

const MAGIC: [u8; 8] = [0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30];
/// The first version whose list of functions has this layout, and which asks for [`__itt_api_init`].
const VERSION: c_ulong = 3;

/// Begin of `__itt_global`.
#[repr(C)]
pub struct Global {
    magic: [u8; 8],
    version: [c_ulong; 3],
    flags: [c_ulong; 3],
    mutex: libc::pthread_mutex_t,
    library: *mut c_void,
    error_handler: *mut c_void,
    library_path: *mut *const c_char,
    functions: *mut Function,
}

/// `__itt_api_info`
#[repr(C)]
struct Function {
    name: *const c_char,
    slot: *mut *const c_void,
    at_first: *const c_void,
    without_tool: *const c_void,
    group: c_int,
}

/// `__itt_id`
#[repr(C)]
#[derive(Clone, Copy)]
struct Id([u64; 3]);

/// How a program with ITT gives its functions to a tool: called once by each module that carries ITT, with
/// its lock taken. All that we do not provide becomes what it is without a tool.
///
/// # Safety
/// ITT calls it, with its own data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __itt_api_init(global: *mut Global, _: c_int) {
    let records = life::in_hook().is_some();
    // SAFETY: the caller's data: the list ends with an entry without a name.
    unsafe {
        let Some(global) = global.as_ref() else { return };
        if global.magic != MAGIC || global.version[0] < VERSION || global.functions.is_null() {
            return;
        }
        let mut entry = global.functions;
        while !(*entry).name.is_null() {
            let function = &*entry;
            let ours = if records { provided(CStr::from_ptr(function.name).to_bytes()) } else { None };
            if !function.slot.is_null() {
                *function.slot = ours.unwrap_or(function.without_tool);
            }
            entry = entry.add(1);
        }
    }
}

/// Our function of this name.
fn provided(name: &[u8]) -> Option<*const c_void> {
    Some(match name {
        b"__itt_task_begin" => task_begin as *const c_void,
        b"__itt_task_end" => task_end as *const c_void,
        b"__itt_task_begin_overlapped" => task_begin_overlapped as *const c_void,
        b"__itt_task_end_overlapped" => task_end_overlapped as *const c_void,
        b"__itt_frame_begin_v3" => frame_begin as *const c_void,
        b"__itt_frame_end_v3" => frame_end as *const c_void,
        b"__itt_domain_create" => itt_names::domain_create as *const c_void,
        b"__itt_string_handle_create" => itt_names::string_handle_create as *const c_void,
        b"__itt_pause" => pause as *const c_void,
        b"__itt_resume" => resume as *const c_void,
        b"__itt_thread_set_name" => thread_set_name as *const c_void,
        _ => return None,
    })
}

/// # Safety
/// Domain and name are null or ITT's.
#[inline]
unsafe fn names<'t>(domain: *const Domain, name: *const StringHandle) -> (&'t [u8], &'t [u8]) {
    // SAFETY: the caller's promise.
    unsafe { (itt_names::name_of(domain), itt_names::text_of(name)) }
}

#[inline]
fn single(domain: *const Domain, words: [u64; 3]) -> Key {
    let mixed = words.iter().fold(domain as u64, |mixed, word| spread(mixed.rotate_left(21) ^ word));
    Key::single(ORIGIN, mixed)
}

unsafe extern "C" fn task_begin(domain: *const Domain, _: Id, _: Id, name: *const StringHandle) {
    let state = here!();
    // SAFETY: the program's handles.
    let names = unsafe { names(domain, name) };
    super::begin(ORIGIN, names, IntervalKind::Plain, Key::innermost(ORIGIN, domain as u64), state);
}

extern "C" fn task_end(domain: *const Domain) {
    super::end(ORIGIN, b"__itt_task_end", Key::innermost(ORIGIN, domain as u64), here!());
}

unsafe extern "C" fn task_begin_overlapped(domain: *const Domain, id: Id, _: Id, name: *const StringHandle) {
    let state = here!();
    // SAFETY: the program's handles.
    let names = unsafe { names(domain, name) };
    super::begin(ORIGIN, names, IntervalKind::Plain, single(domain, id.0), state);
}

extern "C" fn task_end_overlapped(domain: *const Domain, id: Id) {
    super::end(ORIGIN, b"__itt_task_end_overlapped", single(domain, id.0), here!());
}

/// A frame's identity; those without one differ by their domain alone.
///
/// # Safety
/// It is null or the program's.
#[inline]
unsafe fn frame(domain: *const Domain, id: *const Id) -> Key {
    // SAFETY: the caller's promise.
    single(domain, unsafe { id.as_ref() }.map_or([u64::MAX; 3], |id| id.0))
}

unsafe extern "C" fn frame_begin(domain: *const Domain, id: *const Id) {
    let state = here!();
    // SAFETY: the program's domain and identity.
    let (name, key) = unsafe { (itt_names::name_of(domain), frame(domain, id)) };
    super::begin(ORIGIN, (&[], name), IntervalKind::Plain, key, state);
}

unsafe extern "C" fn frame_end(domain: *const Domain, id: *const Id) {
    let state = here!();
    // SAFETY: the program's domain and identity.
    super::end(ORIGIN, b"__itt_frame_end_v3", unsafe { frame(domain, id) }, state);
}

extern "C" fn pause() {
    requests::pause();
}

extern "C" fn resume() {
    requests::resume();
}

unsafe extern "C" fn thread_set_name(name: *const c_char) {
    // SAFETY: the program's text.
    requests::name_thread(unsafe { text::of(name) });
}
