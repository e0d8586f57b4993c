//! Which library a construct ends up in: the functions behind the hooks, and who they belong to.
//!
//! LLVM's runtime exports the names of GCC's, too. A program that runs on it is told of by the runtime itself; its calls are
//! passed on, so that nothing is counted twice.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::real::call_real;

/// A function of GCC's runtime, found when it is first called: the runtime may be loaded late, and for one library only.
pub struct Behind {
    name: &'static CStr,
    /// Symbol version to be preferred; empty = none.
    version: &'static CStr,
    address: AtomicPtr<c_void>,
}

/// What the runtime is called by those who load it late.
const LIBRARY: &CStr = c"libgomp.so.1";

impl Behind {
    /// The function `name`, of `version` if there are several.
    pub const fn new(name: &'static CStr, version: &'static CStr) -> Behind {
        Behind { name, version, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let mut address = self.of(libc::RTLD_NEXT);
        if address.is_null() {
            // SAFETY: asks for a library that is loaded already; the reference that this takes is never given back, so
            // that what was found stays.
            let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
            if !library.is_null() {
                address = self.of(library);
            }
        }
        // SAFETY: forgets the calling thread's message, of which the program knows nothing.
        unsafe { libc::dlerror() };
        self.address.store(address, Ordering::Relaxed);
        address
    }

    fn of(&self, library: *mut c_void) -> *mut c_void {
        // SAFETY: names are C strings; the handle is one of the dynamic linker's.
        unsafe {
            let versioned = if self.version.is_empty() {
                core::ptr::null_mut()
            } else {
                libc::dlvsym(library, self.name.as_ptr(), self.version.as_ptr())
            };
            if versioned.is_null() { libc::dlsym(library, self.name.as_ptr()) } else { versioned }
        }
    }
}

const UNKNOWN: u8 = 0;
const TELLS: u8 = 1;
const IS_SILENT: u8 = 2;

static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether the library that `address` is in tells tools of itself.
#[inline]
pub fn tells(address: *mut c_void) -> bool {
    match KIND.load(Ordering::Relaxed) {
        UNKNOWN => look(address),
        kind => kind == TELLS,
    }
}

#[cold]
fn look(address: *mut c_void) -> bool {
    if address.is_null() {
        return false;
    }
    // SAFETY: all-zero is a valid answer to be filled in; the address is that of a loaded library, whose name stays while it
    // is loaded: its code is being called.
    let (library, own) = unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return false;
        }
        let library = libc::dlopen(info.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return false;
        }
        (library, libc::dlsym(library, c"__kmpc_fork_call".as_ptr()))
    };
    call_real!(DLCLOSE(library) else 0);
    let tells = !own.is_null();
    // SAFETY: forgets the calling thread's message.
    unsafe { libc::dlerror() };
    KIND.store(if tells { TELLS } else { IS_SILENT }, Ordering::Relaxed);
    tells
}
