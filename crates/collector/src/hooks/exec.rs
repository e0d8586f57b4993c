//! New program images: the exec family and posix_spawn.
//!
//! The record of the old image is closed before, and the collector is put back into an environment that
//! lacks it, so that children are followed whatever environment they are given.

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_int, c_void};

use libc::pid_t;
use proust_log::records::{Birth, NoteCode};

use crate::hooks::{environment, signal_inheritance};
use crate::interpose::declare;
use crate::lane::{self, Lane};
use crate::life::{self, Life};
use crate::operation;
use crate::process;
use crate::raw;
use crate::real::{Strings, call_real};
use crate::turn::Quiet;

unsafe extern "C" {
    static environ: Strings;
}

fn current_environment() -> Strings {
    // SAFETY: reads the C library's variable, as its own exec functions do.
    unsafe { environ }
}

fn errno() -> *mut c_int {
    // SAFETY: returns the calling thread's errno, always valid.
    unsafe { libc::__errno_location() }
}

/// The environment to give to a new image.
fn environment_for(lane: Option<&'static Lane>, given: Strings, note: bool) -> Strings {
    let Some(lane) = lane else { return given };
    let quiet = Quiet::begin();
    let mended = lane.with_record_in_silence(|record| {
        // SAFETY: the program passes null or a list of C strings, as exec itself needs it.
        unsafe { environment::mended(given, record) }
    });
    drop(quiet);
    let Some((list, mended)) = mended else { return given };
    if mended && note {
        lane.with_record(|record| record.note(NoteCode::EnvironmentMended, 1));
    }
    list
}

/// The environment to give to a new image by a process that is not recorded any more.
fn unfollowed(given: Strings) -> Strings {
    if !process::is_confined() {
        return given;
    }
    // SAFETY: the program passes null or a list of C strings, as exec itself needs it.
    unsafe { environment::without_collector(given) }
}

/// An exec: closes the record, calls, and goes on if the call comes back. `target` names the new image
/// where it is known whether it can be run at all.
fn exec(target: *const c_char, given: Strings, check: bool, call: impl FnOnce(Strings) -> c_int) -> c_int {
    let Some(life) = life::in_hook() else { return call(unfollowed(given)) };
    // SAFETY: the program passes a C string, or null.
    let target = if target.is_null() { c"" } else { unsafe { CStr::from_ptr(target) } };
    if check && !can_execute(target) {
        return call(given);
    }
    if is_foreign(target) {
        return exec_foreign(life, target, given, call);
    }
    let borrowed = life::is_borrowed(life);
    let list = environment_for(lane::current(), given, !borrowed);
    keep_for_lender(life, target);
    let closed = process::before_exec(life, target.to_bytes());
    signal_inheritance::before_exec(life);
    let handed_over = signal_inheritance::hand_over(life);
    let result = call(list);
    // SAFETY: see `errno`.
    let error = unsafe { *errno() };
    handed_over.take_back();
    signal_inheritance::after_failed_exec(life);
    if closed {
        process::after_failed_exec(error);
    }
    // SAFETY: see `errno`.
    unsafe { *errno() = error };
    result
}

/// A vforked child keeps what it is about to become where its parent finds it.
fn keep_for_lender(life: &Life, target: &CStr) {
    if life::is_borrowed(life)
        && let Some(lane) = lane::current()
    {
        lane.with_record_in_silence(|record| record.lent.keep(raw::getpid(), target.to_bytes()));
    }
}

/// An exec of a program that the collector cannot be loaded into, whose dynamic linker would complain about it.
fn exec_foreign(life: &Life, target: &CStr, given: Strings, call: impl FnOnce(Strings) -> c_int) -> c_int {
    // SAFETY: the program passes null or a list of C strings, as exec itself needs it.
    let list = unsafe { environment::without_collector(given) };
    keep_for_lender(life, target);
    let closed = process::before_exec(life, target.to_bytes());
    signal_inheritance::before_exec(life);
    let handed_over = signal_inheritance::hand_over(life);
    let result = call(list);
    let error = operation::errno();
    handed_over.take_back();
    signal_inheritance::after_failed_exec(life);
    if closed {
        process::after_failed_exec(error as i32);
    }
    operation::set_errno(error);
    result
}

/// Whether a file is a program of another word size. Files that cannot be read are taken for the usual kind.
fn is_foreign(path: &CStr) -> bool {
    const CLASS: usize = 4;
    const CLASS_64: u8 = 2;
    let descriptor = raw::open(path, libc::O_RDONLY | libc::O_NONBLOCK, 0);
    if raw::failed(descriptor) {
        return false;
    }
    let mut start = [0; CLASS + 1];
    let got = raw::read(descriptor as i32, &mut start);
    raw::close(descriptor as i32);
    got == start.len() as isize && start.starts_with(b"\x7fELF") && start[CLASS] != CLASS_64
}

/// Shells try one folder after the other: an exec that cannot succeed needs no end of the record.
fn can_execute(path: &CStr) -> bool {
    // SAFETY: a C string and plain numbers.
    let outcome = unsafe {
        raw::call(
            libc::SYS_faccessat,
            [libc::AT_FDCWD as isize as usize, path.as_ptr() as usize, libc::X_OK as usize, 0, 0, 0],
        )
    };
    !raw::failed(outcome)
}

/// `execve`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execve(
    path: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    exec(path, environment, true, |list| call_real!(EXECVE(path, arguments, list) else -1))
}

/// `execv`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    exec(path, current_environment(), true, |list| call_real!(EXECVE(path, arguments, list) else -1))
}

/// `execvp`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvp(file: *const c_char, arguments: Strings) -> c_int {
    exec(file, current_environment(), false, |list| call_real!(EXECVPE(file, arguments, list) else -1))
}

/// `execvpe`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvpe(
    file: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    exec(file, environment, false, |list| call_real!(EXECVPE(file, arguments, list) else -1))
}

/// `fexecve`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int {
    let target = c"(an open file)".as_ptr();
    exec(target, environment, false, |list| call_real!(FEXECVE(file, arguments, list) else -1))
}

/// `execveat`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execveat(
    folder: c_int,
    path: *const c_char,
    arguments: Strings,
    environment: Strings,
    flags: c_int,
) -> c_int {
    exec(path, environment, false, |list| call_real!(EXECVEAT(folder, path, arguments, list, flags) else -1))
}

/// Which of the exec functions with an argument list was called.
const LIST: usize = 0;
const LIST_SEARCH: usize = 1;
const LIST_ENVIRONMENT: usize = 2;

/// A function with a variable number of pointers: lays those of the registers next to each other, and
/// passes them on with the place of those on the stack.
macro_rules! variadic {
    ($name:ident, $which:ident) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            naked_asm!(
                ".cfi_startproc",
                "sub rsp, 56",
                ".cfi_adjust_cfa_offset 56",
                "mov [rsp], rsi",
                "mov [rsp + 8], rdx",
                "mov [rsp + 16], rcx",
                "mov [rsp + 24], r8",
                "mov [rsp + 32], r9",
                "mov rsi, rsp",
                "lea rdx, [rsp + 64]",
                "mov ecx, {which}",
                "call {collect}",
                "add rsp, 56",
                ".cfi_adjust_cfa_offset -56",
                "ret",
                ".cfi_endproc",
                which = const $which,
                collect = sym exec_list,
            )
        }
    };
}
variadic!(execl, LIST);
variadic!(execlp, LIST_SEARCH);
variadic!(execle, LIST_ENVIRONMENT);

/// Register arguments before those on the stack.
const IN_REGISTERS: usize = 5;

/// Calls the exec function for an argument list that ends with a null pointer.
///
/// # Safety
/// `registers` holds the first five pointers after the path, `stack` the following ones.
unsafe extern "C-unwind" fn exec_list(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
    which: usize,
) -> c_int {
    let argument = |index: usize| {
        // SAFETY: called up to the null pointer that ends the list (and one further for execle, whose
        // environment follows it).
        unsafe { if index < IN_REGISTERS { *registers.add(index) } else { *stack.add(index - IN_REGISTERS) } }
    };
    let mut count = 0;
    while !argument(count).is_null() {
        count += 1;
    }
    let given = if which == LIST_ENVIRONMENT {
        argument(count + 1).cast::<*const c_char>()
    } else {
        current_environment()
    };
    // The list must be in one piece. The lane's memory is taken by the environment, so it gets its own;
    // it is lost if the exec succeeds, together with everything else.
    let memory = crate::arena::pages((count + 1) * size_of::<*const c_char>()).cast::<*const c_char>();
    if memory.is_null() {
        // SAFETY: see `errno`.
        unsafe { *errno() = libc::ENOMEM };
        return -1;
    }
    for index in 0..=count {
        // SAFETY: the memory holds count + 1 pointers.
        unsafe { memory.add(index).write(argument(index)) };
    }
    let arguments = memory.cast_const();
    let result = if which == LIST_SEARCH {
        exec(path, given, false, |list| call_real!(EXECVPE(path, arguments, list) else -1))
    } else {
        exec(path, given, true, |list| call_real!(EXECVE(path, arguments, list) else -1))
    };
    // SAFETY: taken above with this size; the exec did not happen.
    unsafe { crate::arena::give_back(memory.cast(), (count + 1) * size_of::<*const c_char>()) };
    result
}

fn spawn(
    child: *mut pid_t,
    file: *const c_char,
    given: Strings,
    call: impl FnOnce(*mut pid_t, Strings) -> c_int,
) -> c_int {
    let Some(life) = life::in_hook() else { return call(child, unfollowed(given)) };
    // SAFETY: the program passes a C string, or null.
    if !file.is_null() && is_foreign(unsafe { CStr::from_ptr(file) }) {
        // SAFETY: the program passes null or a list of C strings, as the real function needs it.
        let list = unsafe { environment::without_collector(given) };
        return signal_inheritance::handing_over(|| call(child, list));
    }
    let lane = (!life::is_borrowed(life)).then(lane::current).flatten();
    let list = environment_for(lane, given, true);
    let mut own = 0;
    let place = if child.is_null() { &raw mut own } else { child };
    let result = signal_inheritance::handing_over(|| call(place, list));
    if result == 0 {
        // SAFETY: the real function stored the child's number there.
        process::started_child(unsafe { *place } as u32, Birth::Spawn);
    }
    result
}

/// `posix_spawn`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawn(
    child: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    spawn(
        child,
        path,
        environment,
        |child, list| call_real!(POSIX_SPAWN(child, path, actions, attributes, arguments, list) else libc::ENOSYS),
    )
}

/// `posix_spawnp`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawnp(
    child: *mut pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    spawn(
        child,
        file,
        environment,
        |child, list| call_real!(POSIX_SPAWNP(child, file, actions, attributes, arguments, list) else libc::ENOSYS),
    )
}

declare! {
    execve(path: *const c_char as path, arguments: Strings as strings, environment: Strings as strings)
        -> c_int, or -1;
    execv(path: *const c_char as path, arguments: Strings as strings) -> c_int, or -1;
    execvp(file: *const c_char as path, arguments: Strings as strings) -> c_int, or -1;
    execvpe(file: *const c_char as path, arguments: Strings as strings, environment: Strings as strings)
        -> c_int, or -1;
    fexecve(file: c_int as fd, arguments: Strings as strings, environment: Strings as strings) -> c_int, or -1;
    #[since("2.34")]
    execveat(
        folder: c_int as dirfd, path: *const c_char as path, arguments: Strings as strings,
        environment: Strings as strings, flags: c_int as number(flags),
    ) -> c_int, or -1;
    execl(path: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
    execlp(file: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
    execle(path: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
    posix_spawn(
        child: *mut pid_t as output(process), path: *const c_char as path, actions: *const c_void as input(actions),
        attributes: *const c_void as input(attributes), arguments: Strings as strings, environment: Strings as strings,
    ) -> c_int, or libc::ENOSYS;
    posix_spawnp(
        child: *mut pid_t as output(process), file: *const c_char as path, actions: *const c_void as input(actions),
        attributes: *const c_void as input(attributes), arguments: Strings as strings, environment: Strings as strings,
    ) -> c_int, or libc::ENOSYS;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn programs_of_another_word_size_are_told_by_their_first_bytes() {
        let file = |name: &str, bytes: &[u8]| {
            let path = std::env::temp_dir().join(format!("proust-exec-{}-{name}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            CString::new(path.to_str().unwrap()).unwrap()
        };
        let cases = [
            (file("32", b"\x7fELF\x01\x01\x01"), true),
            (file("64", b"\x7fELF\x02\x01\x01"), false),
            (file("script", b"#!/bin/sh\n"), false),
            (file("short", b"\x7fELF"), false),
            (c"/proc/self/exe".to_owned(), false),
            (c"/no/such/file".to_owned(), false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_foreign(&path), expected, "{path:?}");
            if path.to_bytes().starts_with(std::env::temp_dir().to_str().unwrap().as_bytes()) {
                std::fs::remove_file(path.to_str().unwrap()).unwrap();
            }
        }
    }
}
