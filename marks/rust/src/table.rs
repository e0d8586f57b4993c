//! How the functions are found: as `marks/proust.h` does it, with which a program may share the word.

use core::panic::Location;

/// `struct proust_mark`.
#[repr(C)]
pub struct Mark {
    bytes: u32,
    line: u32,
    name: *const u8,
    name_bytes: u64,
    file: *const u8,
    file_bytes: u64,
    number: i64,
    kind: u32,
    degree: u32,
}

impl Mark {
    /// A mark; it must not outlive its name.
    #[inline(always)]
    pub fn new(name: &str, number: i64, place: &Location<'_>, kind: u32, degree: u32) -> Mark {
        let file = place.file();
        Mark {
            bytes: core::mem::size_of::<Mark>() as u32,
            line: place.line(),
            name: name.as_ptr(),
            name_bytes: name.len() as u64,
            file: file.as_ptr(),
            file_bytes: file.len() as u64,
            number,
            kind,
            degree,
        }
    }
}

/// `struct proust_marks`.
#[repr(C)]
pub struct Functions {
    bytes: u32,
    version: u32,
    pub begin: unsafe extern "C" fn(*const Mark),
    pub end: unsafe extern "C" fn(*const Mark),
    pub iterations: extern "C" fn(u64),
    pub pause: extern "C" fn(),
    pub resume: extern "C" fn(),
    pub sample: unsafe extern "C" fn(*const u8, u64),
    pub name_thread: unsafe extern "C" fn(*const u8, u64),
    pub elapsed: unsafe extern "C" fn(*const u8, u64) -> f64,
}

#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod word {
    use core::sync::atomic::{AtomicPtr, Ordering};

    use super::Functions;

    // The same text as in proust.h, which explains it.
    core::arch::global_asm!(
        ".ifndef proust_marks_here",
        ".pushsection .data.proust_marks,\"aw\",%progbits",
        ".weak proust_marks_1",
        ".weak proust_marks_here",
        ".hidden proust_marks_here",
        ".type proust_marks_here,%object",
        ".size proust_marks_here,8",
        ".balign 8",
        "proust_marks_here:",
        ".8byte proust_marks_1",
        ".popsection",
        ".pushsection .note.proust,\"a\",%note",
        ".balign 4",
        ".4byte 7, 8, 0x50524f31",
        ".asciz \"Proust\"",
        ".balign 4",
        ".8byte proust_marks_here - .",
        ".popsection",
        ".endif",
    );

    extern "C" {
        static proust_marks_here: AtomicPtr<Functions>;
    }

    #[inline(always)]
    pub fn functions() -> Option<&'static Functions> {
        // SAFETY: an aligned word of this program or library, defined above; null, or the functions, which
        // stay.
        unsafe { proust_marks_here.load(Ordering::Relaxed).as_ref() }
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod word {
    #[inline(always)]
    pub fn functions() -> Option<&'static super::Functions> {
        None
    }
}

pub use word::functions;
