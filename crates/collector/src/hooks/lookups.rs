//! Looking functions up by name: `dlsym`, `dlvsym`.
//!
//! These hooks are not exported themselves. They answer what the dynamic linker does, but where that is the C
//! library's function of which we have a hook that is not exported, the answer is the hook; and a name of an
//! OpenMP runtime that only this library defines is not found. The caller decides what is found: a lookup
//! that needs no change is jumped to, and otherwise the dynamic linker is asked in the caller's name.

use core::ffi::{CStr, c_char, c_void};

use crate::arch::linker::{call_as, has_shadow_stack};
use crate::arch::thunks::{Arguments, jump_to_found, returns_to};
use crate::interpose::absent;
use crate::interpose::object::{self, Name};
use crate::interpose::unexported::{self, Known, unexported};
use crate::mpi::binding;
use crate::path::python;
use crate::{life, room};

/// `dlsym`
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn proust_dlsym() {
    jump_to_found!(before_dlsym)
}

/// `dlvsym`
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn proust_dlvsym() {
    jump_to_found!(before_dlvsym)
}

unexported! { dlsym by proust_dlsym }
unexported! { dlvsym by proust_dlvsym }

/// Binds what has been loaded to the hooks that are not exported, and looks for an interpreter in it. Not in
/// a process whose record has ended: one that has confined itself may be killed for a system call.
pub fn follow_changes() {
    if !life::has_stopped() && life::has_begun() && unexported::has_changed() {
        room::apart(unexported::look_again);
        room::apart(python::follow_changes);
    }
}

extern "C" fn before_dlsym(arguments: *mut Arguments) -> *mut c_void {
    // SAFETY: as `jump_to_found` laid them down.
    unsafe { before(arguments, libc::dlsym as *const () as usize, false) }
}

extern "C" fn before_dlvsym(arguments: *mut Arguments) -> *mut c_void {
    // SAFETY: as above.
    unsafe { before(arguments, libc::dlvsym as *const () as usize, true) }
}

/// The function to jump to: the real one, or one that gives the answer.
///
/// # Safety
/// `arguments` are those of a call of `function`, as `jump_to_found` laid them down.
unsafe fn before(arguments: *mut Arguments, lookup: usize, is_versioned: bool) -> *mut c_void {
    // SAFETY: the calling thread's own.
    let errno = unsafe { *libc::__errno_location() };
    follow_changes();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    // SAFETY: the caller's promise; the second argument is a C string, as the real function needs it.
    let (call, site) = unsafe { (&mut *arguments, returns_to(arguments)) };
    let name = call[1] as *const c_char;
    // SAFETY: as above.
    let known = if name.is_null() { None } else { unexported::find(unsafe { CStr::from_ptr(name) }) };
    let answer = match known {
        Some(Known::Hooked(row)) if row.real() != 0 => {
            let question =
                Question { function: lookup, handle: call[0] as *mut c_void, version: call[2], site };
            // SAFETY: the program's own arguments.
            unsafe { question.ask(name) }
                .map(|found| if found as u64 == row.real() { row.hook() as *mut c_void } else { found })
        }
        // `dlvsym` finds nothing in this library.
        Some(Known::OfOpenMp(known)) if !is_versioned && !absent::is_defined_elsewhere(known, None) => {
            let question = Question { function: lookup, handle: call[0] as *mut c_void, version: 0, site };
            Some(question.ask_in_vain(known))
        }
        None if binding::is_known() && !name.is_null() => {
            // SAFETY: as above.
            binding::find(unsafe { CStr::from_ptr(name) }).filter(|function| function.real() != 0).and_then(
                |function| {
                    let question =
                        Question { function: lookup, handle: call[0] as *mut c_void, version: call[2], site };
                    // SAFETY: the program's own arguments.
                    let found = unsafe { question.ask(name) }?;
                    let is_it = binding::is_real(function, found as u64);
                    Some(if is_it { function.hook() as *mut c_void } else { found })
                },
            )
        }
        _ => None,
    };
    match answer {
        Some(answer) => {
            call[0] = answer as usize;
            give as *mut c_void
        }
        None => lookup as *mut c_void,
    }
}

extern "C" fn give(answer: *mut c_void) -> *mut c_void {
    answer
}

type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> *mut c_void;

/// A lookup, as the program made it.
#[derive(Clone, Copy, Debug)]
struct Question {
    function: usize,
    handle: *mut c_void,
    version: usize,
    site: u64,
}

impl Question {
    /// The real function's answer to the program; None if it cannot be asked in the program's name.
    ///
    /// # Safety
    /// The name is a C string, and the version is none or another one.
    unsafe fn ask(&self, name: *const c_char) -> Option<*mut c_void> {
        if self.handle != libc::RTLD_DEFAULT && self.handle != libc::RTLD_NEXT {
            // SAFETY: as the program called it. With a handle the caller does not matter.
            return Some(unsafe { self.ask_as_ourselves(name) });
        }
        if has_shadow_stack() {
            return None;
        }
        let gadget = object::at(self.site)?.returns_at()?;
        // SAFETY: the function takes these arguments; the code is that of the caller, which waits.
        Some(unsafe { call_as(self.function, self.handle, name, self.version as *const c_char, gadget) })
    }

    /// # Safety
    /// As for [`Question::ask`].
    unsafe fn ask_as_ourselves(&self, name: *const c_char) -> *mut c_void {
        // SAFETY: both functions take these arguments, `dlsym` without the last.
        unsafe { core::mem::transmute::<usize, Lookup>(self.function)(self.handle, name, self.version) }
    }

    /// Makes the dynamic linker find nothing, so that `dlerror` reports that: it is asked for the name with a
    /// space behind it.
    fn ask_in_vain(&self, name: &Name) -> *mut c_void {
        const MOST_BYTES: usize = 64;
        let mut text = [0_u8; MOST_BYTES];
        let bytes = name.text.to_bytes();
        let length = bytes.len().min(MOST_BYTES - 2);
        text[..length].copy_from_slice(&bytes[..length]);
        text[length] = b' ';
        let text = text.as_ptr().cast::<c_char>();
        // SAFETY: a C string.
        unsafe { self.ask(text).unwrap_or_else(|| self.ask_as_ourselves(text)) }
    }
}
