//! Ranges of NVTX, version 3 (NVIDIA's `nvToolsExt.h` and `nvtxTypes.h`, from which the numbers and layouts
//! are).
//!
//! A range that is pushed belongs to a stack of its thread and domain. One that is started has a number, and
//! is followed where the thread that started it ends it. A range's name is its message, after its domain's
//! name. Instantaneous marks are no intervals.

use core::ffi::{c_char, c_int, c_uint, c_void};

use proust_log::records::{IntervalKind, IntervalOrigin};

use super::text::{self, Narrow, Registered};
use crate::marks::mark::Key;
use crate::marks::requests;
use crate::operation::here;
use crate::path::memo::State;
use crate::{life, raw};

const ORIGIN: IntervalOrigin = IntervalOrigin::Nvtx;

/// Table of functions by which a tool reaches those of the program: `NVTX_ETID_CALLBACKS`.
const CALLBACKS: u32 = 1;
/// `NvtxCallbackModule`: functions of version 1, and those with domains.
const CORE: c_int = 1;
const CORE2: c_int = 5;

/// `NVTX_NO_PUSH_POP_TRACKING`: we do not say how deep the stack is.
const NO_DEPTH: c_int = -2;

/// A function of the program's that is to be filled in.
type Slot = *mut *const c_void;

/// `NvtxExportTableCallbacks`
#[repr(C)]
struct Callbacks {
    bytes: usize,
    functions: Option<unsafe extern "C" fn(c_int, *mut *mut Slot, *mut c_uint) -> c_int>,
}

/// `nvtxEventAttributes_t`
#[repr(C)]
struct Attributes {
    version: u16,
    bytes: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_void,
}

/// `nvtxMessageType_t`
const ASCII: i32 = 1;
const UNICODE: i32 = 2;
const REGISTERED: i32 = 3;

/// How a program with NVTX finds a tool: called once by each module that carries NVTX. Returns whether there
/// is one.
///
/// # Safety
/// NVTX calls it, with its own function for tables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(
    table: Option<unsafe extern "C" fn(u32) -> *const c_void>,
) -> c_int {
    if life::in_hook().is_none() {
        return 0;
    }
    let Some(table) = table else { return 0 };
    // SAFETY: NVTX's function; the table is constant and has this layout, or is smaller and says so.
    let functions = unsafe {
        let callbacks = table(CALLBACKS).cast::<Callbacks>();
        if callbacks.is_null() || (&raw const (*callbacks).bytes).read() < size_of::<Callbacks>() {
            return 0;
        }
        (*callbacks).functions
    };
    let Some(functions) = functions else { return 0 };
    let core: [(usize, *const c_void); 8] = [
        (4, range_start_ex as *const c_void),
        (5, range_start as *const c_void),
        (6, range_start_wide as *const c_void),
        (7, range_end as *const c_void),
        (8, range_push_ex as *const c_void),
        (9, range_push as *const c_void),
        (10, range_push_wide as *const c_void),
        (11, range_pop as *const c_void),
    ];
    let core2: [(usize, *const c_void); 8] = [
        (2, domain_range_start as *const c_void),
        (3, domain_range_end as *const c_void),
        (4, domain_range_push as *const c_void),
        (5, domain_range_pop as *const c_void),
        (10, domain_register_string as *const c_void),
        (11, domain_register_wide as *const c_void),
        (12, domain_create as *const c_void),
        (13, domain_create_wide as *const c_void),
    ];
    // SAFETY: each function has the type that NVTX names for its number.
    unsafe {
        fill(functions, CORE, &core);
        fill(functions, CORE, &[(14, name_thread as *const c_void)]);
        fill(functions, CORE2, &core2);
    }
    1
}

/// # Safety
/// `functions` is NVTX's, and each of `ours` has the type of its number.
unsafe fn fill(
    functions: unsafe extern "C" fn(c_int, *mut *mut Slot, *mut c_uint) -> c_int,
    module: c_int,
    ours: &[(usize, *const c_void)],
) {
    let (mut slots, mut count) = (core::ptr::null_mut::<Slot>(), 0);
    // SAFETY: NVTX fills in how many slots there are, and where; an old one may have fewer.
    unsafe {
        if functions(module, &mut slots, &mut count) == 0 || slots.is_null() {
            return;
        }
        for &(number, function) in ours {
            if number < count as usize {
                let slot = *slots.add(number);
                if !slot.is_null() {
                    *slot = function;
                }
            }
        }
    }
}

/// Hands over the message of attributes.
///
/// # Safety
/// They are null or as NVTX has them, and stay during the call.
#[inline]
unsafe fn with_message<R>(attributes: *const Attributes, then: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: the caller's promise: the message is what its type says.
    unsafe {
        let Some(attributes) = attributes.as_ref() else { return then(&[]) };
        if (attributes.bytes as usize) < size_of::<Attributes>() {
            return then(&[]);
        }
        match attributes.message_type {
            ASCII => then(text::of(attributes.message.cast())),
            REGISTERED => then(Registered::text(attributes.message.cast())),
            UNICODE => then(Narrow::of(attributes.message.cast()).bytes()),
            _ => then(&[]),
        }
    }
}

#[inline]
fn push(domain: *const Registered, message: &[u8], state: State) -> c_int {
    let key = Key::innermost(ORIGIN, domain as u64);
    // SAFETY: a handle that `domain_create` returned.
    let domain = unsafe { Registered::text(domain) };
    super::begin(ORIGIN, (domain, message), IntervalKind::Plain, key, state);
    NO_DEPTH
}

#[inline]
fn start(domain: *const Registered, message: &[u8], state: State) -> u64 {
    let number = super::next_number();
    // SAFETY: a handle that `domain_create` returned.
    let domain = unsafe { Registered::text(domain) };
    super::begin(ORIGIN, (domain, message), IntervalKind::Plain, Key::single(ORIGIN, number), state);
    number
}

unsafe extern "C" fn range_push_ex(attributes: *const Attributes) -> c_int {
    let state = here!();
    // SAFETY: the program's attributes.
    unsafe { with_message(attributes, |message| push(core::ptr::null(), message, state)) }
}

unsafe extern "C" fn range_push(message: *const c_char) -> c_int {
    let state = here!();
    // SAFETY: the program's text.
    push(core::ptr::null(), unsafe { text::of(message) }, state)
}

unsafe extern "C" fn range_push_wide(message: *const u32) -> c_int {
    let state = here!();
    // SAFETY: the program's text.
    push(core::ptr::null(), unsafe { Narrow::of(message) }.bytes(), state)
}

extern "C" fn range_pop() -> c_int {
    super::end(ORIGIN, b"nvtxRangePop", Key::innermost(ORIGIN, 0), here!());
    NO_DEPTH
}

unsafe extern "C" fn range_start_ex(attributes: *const Attributes) -> u64 {
    let state = here!();
    // SAFETY: the program's attributes.
    unsafe { with_message(attributes, |message| start(core::ptr::null(), message, state)) }
}

unsafe extern "C" fn range_start(message: *const c_char) -> u64 {
    let state = here!();
    // SAFETY: the program's text.
    start(core::ptr::null(), unsafe { text::of(message) }, state)
}

unsafe extern "C" fn range_start_wide(message: *const u32) -> u64 {
    let state = here!();
    // SAFETY: the program's text.
    start(core::ptr::null(), unsafe { Narrow::of(message) }.bytes(), state)
}

extern "C" fn range_end(number: u64) {
    super::end(ORIGIN, b"nvtxRangeEnd", Key::single(ORIGIN, number), here!());
}

unsafe extern "C" fn domain_range_push(domain: *const Registered, attributes: *const Attributes) -> c_int {
    let state = here!();
    // SAFETY: the program's attributes.
    unsafe { with_message(attributes, |message| push(domain, message, state)) }
}

extern "C" fn domain_range_pop(domain: *const Registered) -> c_int {
    super::end(ORIGIN, b"nvtxDomainRangePop", Key::innermost(ORIGIN, domain as u64), here!());
    NO_DEPTH
}

unsafe extern "C" fn domain_range_start(domain: *const Registered, attributes: *const Attributes) -> u64 {
    let state = here!();
    // SAFETY: the program's attributes.
    unsafe { with_message(attributes, |message| start(domain, message, state)) }
}

extern "C" fn domain_range_end(_: *const Registered, number: u64) {
    super::end(ORIGIN, b"nvtxDomainRangeEnd", Key::single(ORIGIN, number), here!());
}

unsafe extern "C" fn domain_create(name: *const c_char) -> *const Registered {
    // SAFETY: the program's text.
    Registered::keep(unsafe { text::of(name) })
}

unsafe extern "C" fn domain_create_wide(name: *const u32) -> *const Registered {
    // SAFETY: the program's text.
    Registered::keep(unsafe { Narrow::of(name) }.bytes())
}

unsafe extern "C" fn domain_register_string(_: *const Registered, text: *const c_char) -> *const Registered {
    // SAFETY: the program's text.
    Registered::keep(unsafe { text::of(text) })
}

unsafe extern "C" fn domain_register_wide(_: *const Registered, text: *const u32) -> *const Registered {
    // SAFETY: the program's text.
    Registered::keep(unsafe { Narrow::of(text) }.bytes())
}

unsafe extern "C" fn name_thread(tid: u32, name: *const c_char) {
    if tid == raw::gettid() {
        // SAFETY: the program's text.
        requests::name_thread(unsafe { text::of(name) });
    }
}
