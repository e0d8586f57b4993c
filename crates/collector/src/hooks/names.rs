//! Names of threads: recorded as they are given, since a thread that is killed never gets to record its own.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use libc::pthread_t;
use proust_log::records::Subject;

use crate::interpose::interpose;
use crate::{lane, life};

/// Bytes of a name at most, the final zero included.
const NAME_BYTES: usize = 16;

/// `pthread_setname_np`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
    let Some(function) = real::pthread_setname_np() else { return libc::ENOSYS };
    // SAFETY: the real function with the arguments that the program gave.
    let result = unsafe { function(thread, name) };
    if result == 0 {
        if thread == lane::control_block() {
            named_itself();
        } else {
            // SAFETY: the real function has read it up to its final zero.
            named_other(thread, unsafe { CStr::from_ptr(name) });
        }
    }
    result
}

/// The calling thread has given itself a name.
pub fn named_itself() {
    if life::in_passing().is_none() {
        return;
    }
    if let Some(lane) = lane::current() {
        let tid = lane.owner.load(Ordering::Relaxed);
        lane.with_record(|record| record.push_name(tid));
    }
}

/// The calling thread has given another one a name.
fn named_other(thread: pthread_t, name: &CStr) {
    if life::in_passing().is_none() {
        return;
    }
    let Some(mine) = lane::current() else { return };
    let named = lane::live().find(|lane| lane.thread.load(Ordering::Relaxed) == thread);
    if let Some(named) = named {
        let tid = named.owner.load(Ordering::Acquire);
        // A longer one was refused.
        let name = &name.to_bytes()[..name.count_bytes().min(NAME_BYTES - 1)];
        mine.with_record(|record| record.output.push_text(Subject::ThreadName, tid, name));
    }
}

interpose! {
    pthread_setname_np(thread: pthread_t as number(thread), name: *const c_char as text)
        -> c_int, or libc::ENOSYS;
}
