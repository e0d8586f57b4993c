//! Initialisation that happens once: threads that arrive meanwhile wait for the one that does it.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use proust_log::operations::Operation;

use crate::interpose::interpose;
use crate::lane;
use crate::operation::{self, Kind, Outcome, here};

/// A function that initialises.
type Initialiser = extern "C-unwind" fn();

/// Result of a function without one.
type Nothing = ();

/// The C library's value in the control word once all is done.
const DONE: c_int = 2;

/// Runs `call` as an operation that ends where the thread itself begins to initialise.
macro_rules! once {
    ($name:ident, $result:ty, $none:expr, $operation:ident, $outcome:expr) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(control: *mut c_int, initialiser: Initialiser) -> $result {
            let Some(function) = real::$name() else { return $none };
            // SAFETY: the control word is the program's, aligned and shared between its threads.
            let is_done = unsafe { AtomicI32::from_ptr(control) }.load(Ordering::Acquire) == DONE;
            if is_done || lane::current().is_none() {
                // SAFETY: the real function with the arguments that the program gave.
                return unsafe { function(control, initialiser) };
            }
            let mut marker = 0;
            let kind = Kind::from(Operation::$operation);
            let ticket = operation::begin(kind, (control as u64, 0), here!(), &mut marker);
            if let Some(lane) = lane::current() {
                lane.operations.initialiser.store(initialiser as usize, Ordering::Relaxed);
            }
            // SAFETY: as above, but for the initialiser, which `initialise` replaces.
            let result = unsafe { function(control, initialise) };
            operation::end(ticket, $outcome(result));
            result
        }
    };
}
once!(pthread_once, c_int, libc::ENOSYS, Once, Outcome::code);
once!(call_once, Nothing, Default::default(), CallOnce, |()| Outcome::default());

/// Called in the thread that initialises: it no longer waits.
extern "C-unwind" fn initialise() {
    let Some(lane) = lane::current() else { return };
    let initialiser = lane.operations.initialiser.load(Ordering::Relaxed);
    operation::stop_waiting(lane);
    // SAFETY: the hook stored a function of this type, in this thread, and nothing else ran in between: the C
    // library calls this from within that hook.
    let initialiser: Initialiser = unsafe { core::mem::transmute(initialiser) };
    initialiser();
}

interpose! {
    pthread_once(control: *mut c_int as object(once), initialiser: Initialiser as function(initialiser))
        -> c_int, or libc::ENOSYS;
    #[since("2.28")]
    call_once(control: *mut c_int as object(once), initialiser: Initialiser as function(initialiser))
        -> Nothing, or Default::default();
}
