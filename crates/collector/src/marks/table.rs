//! The functions that Proust's own header calls, as `marks/proust.h` declares them.

use core::ffi::{CStr, c_char};

use proust_log::records::{IntervalKind, IntervalOrigin};

use super::mark::Key;
use super::{Mark, mark, requests};
use crate::operation::here;
use crate::path::memo::State;

/// `struct proust_mark`. A program that was compiled with another version has more fields behind these, and
/// none fewer.
#[repr(C)]
#[derive(Debug)]
struct Given {
    bytes: u32,
    line: u32,
    name: *const c_char,
    name_bytes: u64,
    file: *const c_char,
    file_bytes: u64,
    number: i64,
    kind: u32,
    degree: u32,
}

/// `struct proust_marks`.
#[repr(C)]
#[derive(Debug)]
pub struct Functions {
    bytes: u32,
    version: u32,
    begin: unsafe extern "C" fn(*const Given),
    end: unsafe extern "C" fn(*const Given),
    iterations: extern "C" fn(u64),
    pause: extern "C" fn(),
    resume: extern "C" fn(),
    sample: unsafe extern "C" fn(*const c_char, u64),
    name_thread: unsafe extern "C" fn(*const c_char, u64),
    elapsed: unsafe extern "C" fn(*const c_char, u64) -> f64,
}

/// What the word of a program or library with marks leads to.
#[unsafe(export_name = "proust_marks_1")]
pub static FUNCTIONS: Functions = Functions {
    bytes: size_of::<Functions>() as u32,
    version: 1,
    begin,
    end,
    iterations,
    pause,
    resume,
    sample,
    name_thread,
    elapsed,
};

/// The length that says that a text ends with a zero byte.
const TO_ZERO: u64 = u64::MAX;

/// A text of the program's.
///
/// # Safety
/// It is null, or has so many bytes, or ends with a zero byte; and stays during the call.
#[inline]
unsafe fn text<'t>(start: *const c_char, bytes: u64) -> &'t [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == TO_ZERO {
            CStr::from_ptr(start).to_bytes()
        } else {
            core::slice::from_raw_parts(start.cast(), usize::try_from(bytes).unwrap_or(0))
        }
    }
}

/// # Safety
/// As for [`begin`].
#[inline]
unsafe fn mark<'t>(given: *const Given, state: State) -> Option<Mark<'t>> {
    // SAFETY: the caller's promise.
    let given = unsafe { given.as_ref() }?;
    if (given.bytes as usize) < size_of::<Given>() {
        return None;
    }
    // SAFETY: as above.
    let (name, file) = unsafe { (text(given.name, given.name_bytes), text(given.file, given.file_bytes)) };
    Some(Mark {
        domain: &[],
        name,
        number: given.number,
        file,
        line: given.line,
        kind: IntervalKind::from_number(given.kind as u16),
        degree: given.degree,
        origin: IntervalOrigin::Proust,
        key: Key::NAMED,
        state,
    })
}

/// # Safety
/// `given` is null or a mark whose texts stay during the call.
unsafe extern "C" fn begin(given: *const Given) {
    let state = here!();
    // SAFETY: the caller's promise.
    if let Some(mark) = unsafe { mark(given, state) } {
        mark::begin(&mark);
    }
}

/// # Safety
/// As for [`begin`].
unsafe extern "C" fn end(given: *const Given) {
    let state = here!();
    // SAFETY: the caller's promise.
    if let Some(mark) = unsafe { mark(given, state) } {
        mark::end(&mark);
    }
}

extern "C" fn iterations(count: u64) {
    mark::add_iterations(count);
}

extern "C" fn pause() {
    requests::pause();
}

extern "C" fn resume() {
    requests::resume();
}

/// # Safety
/// The label is null, or has so many bytes, or ends with a zero byte.
unsafe extern "C" fn sample(label: *const c_char, bytes: u64) {
    // SAFETY: the caller's promise.
    requests::sample(unsafe { text(label, bytes) });
}

/// # Safety
/// As for [`sample`].
unsafe extern "C" fn name_thread(name: *const c_char, bytes: u64) {
    // SAFETY: the caller's promise.
    requests::name_thread(unsafe { text(name, bytes) });
}

/// # Safety
/// As for [`sample`].
unsafe extern "C" fn elapsed(account: *const c_char, bytes: u64) -> f64 {
    // SAFETY: the caller's promise.
    requests::elapsed(unsafe { text(account, bytes) })
}
