//! Loading and unloading of libraries.
//!
//! The caller of `dlopen` decides where it searches: the hook jumps to it, with the program's return address,
//! after it has looked at what is loaded so far. The bindings of that are settled; what is loaded now may
//! change those of others.

use core::ffi::{c_char, c_int, c_void};

use proust_log::records::ModuleEnd;

use super::lookups;
use crate::arch::thunks::{Arguments, jump_to_found};
use crate::interpose::{call_real, interpose, scope, unexported};
use crate::openmp::runtime::callers;
use crate::operation::here;
use crate::path::modules;
use crate::path::python;
use crate::{clock, lane, life, room};

/// `dlopen`
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dlopen() {
    jump_to_found!(before_dlopen)
}

/// The real function.
extern "C" fn before_dlopen(arguments: &mut Arguments) -> *mut c_void {
    let function = real::dlopen::REAL.address();
    // SAFETY: the calling thread's own.
    let errno = unsafe { *libc::__errno_location() };
    modules::loading();
    lookups::follow_changes();
    unexported::opening();
    room::apart(callers::before_change);
    scope::opening(arguments[1] as c_int);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    function
}

/// `dlclose`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    let removed_before = room::apart(callers::before_unloading);
    if life::in_hook().is_none() {
        let result = call_real!(real::dlclose(handle) else -1);
        room::apart(|| callers::after_unloading(removed_before));
        return result;
    }
    let unloading = modules::Unloading::begin(here!().sp);
    python::before_unloading();
    let result = call_real!(real::dlclose(handle) else -1);
    room::apart(python::after_unloading);
    room::apart(|| callers::after_unloading(removed_before));
    room::apart(|| write_unloaded(unloading));
    result
}

/// Writes which modules are not loaded any more.
fn write_unloaded(unloading: modules::Unloading) {
    let mut gone: [u32; 32] = [0; 32];
    let mut count = 0;
    unloading.end(&mut |module| {
        if let Some(slot) = gone.get_mut(count) {
            *slot = module.id;
            count += 1;
        }
    });
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            for &id in gone.iter().take(count) {
                record.output.push(0, 0, &ModuleEnd { time_ns: clock::now_ns(), id, reserved: 0 });
            }
        });
    }
}

interpose! {
    dlopen(file: *const c_char as path, flags: c_int as number(flags))
        -> *mut c_void, or core::ptr::null_mut();
    dlclose(handle: *mut c_void as opaque(handle)) -> c_int, or -1;
}
