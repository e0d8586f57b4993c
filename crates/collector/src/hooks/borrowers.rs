//! Children that use their parent's memory: whether this process may have one.
//!
//! Such a child runs on its parent's lane, and only the kernel shows that it is another process. Hooks that
//! are called very often check that only after a call of a function that makes such children; those that a
//! program calls by a system call of its own are none of these, but are not known to call the C library then.

use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::arch::system::VFORK as VFORK_CALL;
use crate::arch::thunks::{Arguments, jump_to_found};
use crate::interpose::interpose;
use crate::operation::set_errno;
use crate::real::Real;
use crate::{lane, life};

/// Never reset: nothing shows when the last one is gone.
static MAY_BE: AtomicBool = AtomicBool::new(false);

/// Whether such a child runs beside its parent without thread-local storage of its own. Never reset either.
static SHARE_STORAGE: AtomicBool = AtomicBool::new(false);

/// Whether tasks may run side by side that have the same thread-local storage.
#[inline]
pub fn share_storage() -> bool {
    SHARE_STORAGE.load(Ordering::Relaxed)
}

/// No other task lives in a forked child.
pub fn after_fork() {
    SHARE_STORAGE.store(false, Ordering::Relaxed);
}

/// Whether the caller may be such a child, or has been its parent.
#[inline]
pub fn may_be() -> bool {
    MAY_BE.load(Ordering::Relaxed)
}

/// The program makes a system call.
#[inline]
pub fn before_call(number: c_long) {
    if matches!(number, libc::SYS_clone | libc::SYS_clone3) || Some(number) == VFORK_CALL {
        leave_brief();
        MAY_BE.store(true, Ordering::Relaxed);
    }
}

/// A process that has children in its memory has a log, in which this can be recorded.
fn leave_brief() {
    if life::is_brief() {
        life::in_hook();
    }
}

extern "C" fn missing() -> c_int {
    set_errno(libc::ENOSYS as u32);
    -1
}

fn find(function: &Real) -> *mut c_void {
    MAY_BE.store(true, Ordering::Relaxed);
    leave_brief();
    // A signal makes the kernel restart making the process, which takes long where there is much memory.
    if let Some(lane) = lane::current().filter(|_| life::records_here()) {
        lane.leave_sample_to_tick();
    }
    let address = function.address();
    if address.is_null() { missing as *mut c_void } else { address }
}

extern "C" fn find_vfork(_: &mut Arguments) -> *mut c_void {
    find(&real::vfork::REAL)
}

extern "C" fn find_clone(arguments: &mut Arguments) -> *mut c_void {
    let flags = arguments[2] as c_int;
    let asked = flags & (libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_SETTLS);
    if asked == libc::CLONE_VM && !SHARE_STORAGE.swap(true, Ordering::Relaxed) {
        life::ask_each_caller();
    }
    find(&real::clone::REAL)
}

/// Declares hooks that note the call and jump to the real function with everything as it is: it returns
/// twice, or gets arguments on the stack.
macro_rules! makes_borrowers {
    ($( $name:ident by $find:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            jump_to_found!($find)
        }
    )* };
}

makes_borrowers! {
    vfork by find_vfork;
    clone by find_clone;
}

interpose! {
    vfork() -> c_int, or -1;
    clone(
        function: *const c_void as opaque(function), stack: *mut c_void as opaque(stack),
        flags: c_int as number(flags),
        argument: *mut c_void as opaque(argument), rest: () as more,
    ) -> c_int, or -1;
}
