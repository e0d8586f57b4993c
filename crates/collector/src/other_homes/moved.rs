//! Functions that moved into the C library with its version 2.34: before, they lie in `libdl` and
//! `libpthread`.
//!
//! Naming those libraries would load them into every program, and a loaded `libpthread` makes an old C
//! library lock where there is one thread. So the functions are imported weakly, under the version that both
//! homes have, and called through the thunks below, which have their names. Where `libdl` is not loaded, it
//! is loaded when it is first needed. Of threads nothing is needed before there are some: then `libpthread`
//! is there.
//!
//! A thunk jumps: the function behind it sees the address that its caller returns to, by which the dynamic
//! linker identifies the caller.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::arch::stubs::{moved, weak, weak_imports};

// 38 is ENOSYS.
moved! {
    find;
    "dlsym", missing "0";
    "dlvsym", missing "0";
    "dladdr", missing "0";
    "dlerror", missing "0";
    "pthread_key_create", missing "38";
    "pthread_setspecific", missing "38";
    "pthread_attr_init", missing "38";
    "pthread_attr_destroy", missing "38";
    "pthread_attr_getstack", missing "38";
    "pthread_attr_getstacksize", missing "38";
    "pthread_attr_getguardsize", missing "38";
}

// Only before 2.34, and of no use later.
weak_imports! {
    "proust_weak_libc_dlopen_mode": "__libc_dlopen_mode@GLIBC_PRIVATE";
    "proust_weak_libc_dlsym": "__libc_dlsym@GLIBC_PRIVATE";
}

type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
type Symbol = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// As [`libc::RTLD_NOW`], by a caller that is part of the C library.
const NOW_AS_OF_LIBC: c_int = libc::RTLD_NOW | 0x8000_0000_u32 as c_int;

/// The library in which they lie before.
const OLD_HOME: &CStr = c"libdl.so.2";

/// The function `name`: `imported`, or the one in its old home, or `missing`. The result is kept in `slot`.
///
/// # Safety
/// `slot` is a word that is only changed here, `name` a C string.
unsafe extern "C" fn find(
    slot: *mut *mut c_void,
    imported: *mut c_void,
    name: *const c_char,
    missing: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let found = if imported.is_null() { in_old_home(unsafe { CStr::from_ptr(name) }) } else { imported };
    if found.is_null() {
        // Not kept: the library that has it may be loaded later.
        return missing;
    }
    // SAFETY: the caller's promise; whichever thread stores last stores the same address.
    unsafe { AtomicPtr::from_ptr(slot) }.store(found, Ordering::Relaxed);
    found
}

fn in_old_home(name: &CStr) -> *mut c_void {
    if name.to_bytes().starts_with(b"pthread_") {
        // SAFETY: the name is a C string. By now `dlsym` is there.
        return unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    }
    let (open, symbol) = (weak!("proust_weak_libc_dlopen_mode"), weak!("proust_weak_libc_dlsym"));
    if open.is_null() || symbol.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: the C library's own functions of these names, which have these types wherever both exist.
    unsafe {
        let open: Open = core::mem::transmute(open);
        let symbol: Symbol = core::mem::transmute(symbol);
        let library = open(OLD_HOME.as_ptr(), NOW_AS_OF_LIBC);
        if library.is_null() { library } else { symbol(library, name.as_ptr()) }
    }
}
