//! New program images: the exec family and posix_spawn.
//!
//! The record of the old image is closed before, and the collector is put back into an environment that
//! lacks it, so that children are followed whatever environment they are given.

use core::ffi::{CStr, c_char, c_int, c_void};

use libc::pid_t;
use proust_log::layout::Ending;
use proust_log::records::{Birth, NoteCode};

use crate::arch::thunks::{POINTERS_IN_REGISTERS, with_pointers};
use crate::hooks::loadable::{self, Verdict};
use crate::hooks::signal_requests::{self, Blocked};
use crate::hooks::{environment, readable, signal_inheritance};
use crate::interpose::{call_real, declare, interpose};
use crate::lane::{self, Lane};
use crate::life::{self, Life};
use crate::real::Strings;
use crate::turn::Quiet;
use crate::{brief, process, raw};

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
        // SAFETY: null or a list of C strings, as was found out before.
        unsafe { environment::mended(given, record) }
    });
    drop(quiet);
    let Some((list, mended)) = mended else { return given };
    if mended && note {
        lane.with_record(|record| record.note(NoteCode::EnvironmentMended, 1));
    }
    list
}

/// The environment to give to a new image by a process that is not recorded, or not any more; `target` is
/// null or a C string.
fn unfollowed(target: *const c_char, named: Named, given: Strings) -> Strings {
    let loads = || {
        // SAFETY: a C string, as was found out before.
        let target = if target.is_null() { c"" } else { unsafe { CStr::from_ptr(target) } };
        environment::library()
            .is_none_or(|own| loadable::verdict(named.program(target), own) == Verdict::Loads)
    };
    if !process::is_confined() && loads() {
        return given;
    }
    // SAFETY: null or a list of C strings, as was found out before.
    unsafe { environment::without_collector(given) }
}

/// An exec: closes the record, makes the call, and continues recording if the call returns. `target` names
/// the new image where it is known whether it can be run at all.
fn exec(target: *const c_char, given: Strings, named: Named, call: impl Fn(Strings) -> c_int) -> c_int {
    if !target.is_null() && !readable::is_string(target) || !readable::is_list_of_strings(given) {
        return call(given);
    }
    if let Some(life) = life::of_brief() {
        // SAFETY: a C string, as was just found out, or null.
        let target = if target.is_null() { c"" } else { unsafe { CStr::from_ptr(target) } };
        if let Some(result) = exec_of_brief(life, target, given, named, &call) {
            return result;
        }
    }
    let Some(life) = life::in_hook() else { return call(unfollowed(target, named, given)) };
    // SAFETY: a C string, as was just found out, or null.
    let target = if target.is_null() { c"" } else { unsafe { CStr::from_ptr(target) } };
    if matches!(named, Named::At(libc::AT_FDCWD)) && !raw::may(target, libc::X_OK) {
        // Shells try one folder after the other: an exec that cannot succeed needs no end of the record.
        return call(given);
    }
    let borrowed = life::is_borrowed(life);
    let verdict = loadable::verdict(named.program(target), life.library);
    let list = if verdict == Verdict::Loads {
        environment_for(lane::current(), given, !borrowed)
    } else {
        without_collector(given, verdict)
    };
    keep_for_lender(life, target);
    let closed = process::before_exec(life, target.to_bytes());
    signal_inheritance::before_exec(life);
    let handed_over = signal_inheritance::hand_over(life);
    let blocked =
        if verdict == Verdict::Loads { signal_requests::block_until_ready() } else { Blocked::default() };
    let result = call(list);
    // SAFETY: see `errno`.
    let error = unsafe { *errno() };
    blocked.release();
    handed_over.take_back();
    signal_inheritance::after_failed_exec(life);
    if closed {
        process::after_failed_exec(error);
    }
    // SAFETY: see `errno`.
    unsafe { *errno() = error };
    result
}

/// An exec by a forked child that has recorded nothing: its slot says what it becomes. None if it needs a log
/// for what is to be said.
fn exec_of_brief(
    life: &Life,
    target: &CStr,
    given: Strings,
    named: Named,
    call: impl Fn(Strings) -> c_int,
) -> Option<c_int> {
    if matches!(named, Named::At(libc::AT_FDCWD)) && !raw::may(target, libc::X_OK) {
        return Some(call(given));
    }
    // SAFETY: null or a list of C strings, as was found out before.
    let loads = unsafe { environment::loads_collector(given) }
        && loadable::verdict(named.program(target), life.library) == Verdict::Loads;
    if !loads || !brief::end(Ending::Exec, 0, target.to_bytes()) {
        return None;
    }
    let handed_over = signal_inheritance::hand_over(life);
    let blocked = signal_requests::block_until_ready();
    let result = call(given);
    // SAFETY: see `errno`.
    let error = unsafe { *errno() };
    blocked.release();
    handed_over.take_back();
    brief::after_failed_exec(error);
    // SAFETY: see `errno`.
    unsafe { *errno() = error };
    Some(result)
}

/// A vforked child keeps what it is about to become where its parent finds it.
fn keep_for_lender(life: &Life, target: &CStr) {
    if life::is_borrowed(life)
        && let Some(lane) = lane::current()
    {
        lane.with_record_in_silence(|record| record.lent.keep(raw::getpid(), target.to_bytes()));
    }
}

/// How an exec function names the program.
#[derive(Clone, Copy)]
enum Named {
    /// By a path, relative to the folder of this descriptor.
    At(c_int),
    /// By a name that may have to be searched for.
    Searched,
    /// By an open descriptor.
    Open(c_int),
}

impl Named {
    fn program(self, target: &CStr) -> loadable::Program<'_> {
        match self {
            Named::At(folder) if target.is_empty() && folder != libc::AT_FDCWD => {
                loadable::Program::Open(folder)
            }
            Named::At(folder) => loadable::Program::At(folder, target),
            Named::Searched => loadable::Program::Searched(target),
            Named::Open(file) => loadable::Program::Open(file),
        }
    }
}

/// The environment for a program that cannot load the collector, whose dynamic linker would complain or end
/// it.
fn without_collector(given: Strings, verdict: Verdict) -> Strings {
    if let Some(lane) = life::in_hook().filter(|life| !life::is_borrowed(life)).and_then(|_| lane::current())
    {
        lane.with_record(|record| record.note(NoteCode::Unloadable, verdict.number()));
    }
    // SAFETY: null or a list of C strings, as was found out before.
    unsafe { environment::without_collector(given) }
}

/// `execve`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execve(
    path: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    exec(
        path,
        environment,
        Named::At(libc::AT_FDCWD),
        |list| call_real!(real::execve(path, arguments, list) else -1),
    )
}

/// `execv`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    exec(
        path,
        current_environment(),
        Named::At(libc::AT_FDCWD),
        |list| call_real!(real::execve(path, arguments, list) else -1),
    )
}

/// `execvp`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvp(file: *const c_char, arguments: Strings) -> c_int {
    exec(
        file,
        current_environment(),
        Named::Searched,
        |list| call_real!(real::execvpe(file, arguments, list) else -1),
    )
}

/// `execvpe`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvpe(
    file: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    exec(file, environment, Named::Searched, |list| call_real!(real::execvpe(file, arguments, list) else -1))
}

/// `fexecve`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int {
    // The C library refuses a null pointer, which the kernel takes for an empty environment.
    if environment.is_null() {
        return call_real!(real::fexecve(file, arguments, environment) else -1);
    }
    let target = c"(an open file)".as_ptr();
    exec(
        target,
        environment,
        Named::Open(file),
        |list| call_real!(real::fexecve(file, arguments, list) else -1),
    )
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
    exec(
        path,
        environment,
        Named::At(folder),
        |list| call_real!(real::execveat(folder, path, arguments, list, flags) else -1),
    )
}

/// Which of the exec functions with an argument list was called.
const LIST: usize = 0;
const LIST_SEARCH: usize = 1;
const LIST_ENVIRONMENT: usize = 2;

/// A function with a variable number of pointers: those of the registers are laid next to each other, and
/// passed on with the place of those on the stack.
macro_rules! variadic {
    ($name:ident, $which:ident) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            with_pointers!($which, exec_list)
        }
    };
}
variadic!(execl, LIST);
variadic!(execlp, LIST_SEARCH);
variadic!(execle, LIST_ENVIRONMENT);

/// Register arguments before those on the stack.
const IN_REGISTERS: usize = POINTERS_IN_REGISTERS;

/// Calls the exec function for an argument list that ends with a null pointer.
///
/// # Safety
/// `registers` holds the first [`IN_REGISTERS`] pointers after the path, `stack` the following ones.
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
        exec(path, given, Named::Searched, |list| call_real!(real::execvpe(path, arguments, list) else -1))
    } else {
        exec(
            path,
            given,
            Named::At(libc::AT_FDCWD),
            |list| call_real!(real::execve(path, arguments, list) else -1),
        )
    };
    // SAFETY: taken above with this size; the exec did not happen.
    unsafe { crate::arena::give_back(memory.cast(), (count + 1) * size_of::<*const c_char>()) };
    result
}

fn spawn(
    child: *mut pid_t,
    file: *const c_char,
    given: Strings,
    named: Named,
    call: impl FnOnce(*mut pid_t, Strings) -> c_int,
) -> c_int {
    if !file.is_null() && !readable::is_string(file) || !readable::is_list_of_strings(given) {
        return call(child, given);
    }
    let Some(life) = life::in_hook() else { return call(child, unfollowed(file, named, given)) };
    if !file.is_null() {
        // SAFETY: a C string, as was just found out.
        let verdict = loadable::verdict(named.program(unsafe { CStr::from_ptr(file) }), life.library);
        if verdict != Verdict::Loads {
            return signal_inheritance::handing_over(|| call(child, without_collector(given, verdict)));
        }
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
    spawn(child, path, environment, Named::At(libc::AT_FDCWD), |child, list| {
        call_real!(
            real::posix_spawn(child, path, actions, attributes, arguments, list) else libc::ENOSYS
        )
    })
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
    spawn(child, file, environment, Named::Searched, |child, list| {
        call_real!(
            real::posix_spawnp(child, file, actions, attributes, arguments, list) else libc::ENOSYS
        )
    })
}

interpose! {
    execve(path: *const c_char as path, arguments: Strings as strings, environment: Strings as strings)
        -> c_int, or -1;
    execvpe(file: *const c_char as path, arguments: Strings as strings, environment: Strings as strings)
        -> c_int, or -1;
    fexecve(file: c_int as fd, arguments: Strings as strings, environment: Strings as strings)
        -> c_int, or -1;
    #[since("2.34")]
    execveat(
        folder: c_int as dirfd, path: *const c_char as path, arguments: Strings as strings,
        environment: Strings as strings, flags: c_int as number(flags),
    ) -> c_int, or -1;
    posix_spawn(
        child: *mut pid_t as output(process), path: *const c_char as path,
        actions: *const c_void as input(actions),
        attributes: *const c_void as input(attributes), arguments: Strings as strings,
        environment: Strings as strings,
    ) -> c_int, or libc::ENOSYS;
    posix_spawnp(
        child: *mut pid_t as output(process), file: *const c_char as path,
        actions: *const c_void as input(actions),
        attributes: *const c_void as input(attributes), arguments: Strings as strings,
        environment: Strings as strings,
    ) -> c_int, or libc::ENOSYS;
}

// These call functions of other rows.
declare! {
    execv(path: *const c_char as path, arguments: Strings as strings) -> c_int, or -1;
    execvp(file: *const c_char as path, arguments: Strings as strings) -> c_int, or -1;
    execl(path: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
    execlp(file: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
    execle(path: *const c_char as path, first: *const c_char as text, rest: () as more) -> c_int, or -1;
}
