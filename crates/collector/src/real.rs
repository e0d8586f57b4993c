//! The functions behind the hooks.
//!
//! Each is found once, as the next definition after this library's, whatever its symbol version; those whose
//! hooks are not exported are the C library's own ([`unexported`]).

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::interpose::unexported;

/// A function to be found by name.
pub struct Real {
    name: &'static CStr,
    /// Whether its hook is not exported.
    is_unexported: bool,
    address: AtomicPtr<core::ffi::c_void>,
}

impl Real {
    /// The function `name`.
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, is_unexported: false, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The function `name`, whose hook is not exported: not every C library has it. The dynamic linker is not
    /// asked: its answer that there is none would take memory from the program's heap.
    pub const fn new_unexported(name: &'static CStr) -> Real {
        Real { name, is_unexported: true, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    #[inline]
    pub fn address(&self) -> *mut core::ffi::c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    /// Its address, if it has been found already.
    #[inline(always)]
    pub fn known(&self) -> *mut core::ffi::c_void {
        self.address.load(Ordering::Relaxed)
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut core::ffi::c_void {
        let address = if self.is_unexported {
            unexported::real_of(self.name)
        } else {
            // SAFETY: the name is a C string. dlsym takes the dynamic linker's lock; `interpose::find_all`
            // has found the functions of all hooks that may be called from delicate places before.
            unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }
        };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// A name with its final zero.
pub const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!(),
    }
}

/// The number behind the point of a C library's version.
pub const fn minor_version(version: &str) -> u32 {
    let text = version.as_bytes();
    if text.len() < 3 || text[0] != b'2' || text[1] != b'.' {
        return 0;
    }
    let (mut at, mut minor) = (2, 0);
    while at < text.len() && text[at].is_ascii_digit() {
        minor = minor * 10 + (text[at] - b'0') as u32;
        at += 1;
    }
    minor
}

/// The running C library's version is 2.this.
pub fn running_minor_version() -> u32 {
    // SAFETY: returns a constant C string.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_str().map_or(0, minor_version)
}

/// A thread's start function.
pub type StartRoutine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// A C11 thread's start function.
pub type C11Routine = extern "C-unwind" fn(*mut c_void) -> c_int;
/// A null-terminated list of strings.
pub type Strings = *const *const c_char;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_known_by_their_second_number() {
        assert_eq!((minor_version("2.2"), minor_version("2.30"), minor_version("2.36.9000")), (2, 30, 36));
        assert_eq!(minor_version("3.1"), 0);
        assert!(running_minor_version() >= 17);
        assert!(!Real::new(c"read").address().is_null());
        assert!(Real::new_unexported(c"read").address().is_null());
    }
}
