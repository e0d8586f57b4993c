//! Creation of threads.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use libc::{pthread_attr_t, pthread_t};
use proust_log::records::ThreadOrigin;

use crate::hooks::signal_moves;
use crate::interpose::{call_real, interpose};
use crate::lane::{self, Lane, Start};
use crate::operation::here;
use crate::path::stack::{Given, OwnStack};
use crate::real::{C11Routine, StartRoutine};
use crate::sample::alarm;
use crate::turn::Quiet;
use crate::{clock, life, logfile, raw, room, thread};

/// A lane for a thread to be created, with what it is to run; None where this process does not record.
fn lane_for(
    routine: usize,
    argument: *mut c_void,
    attributes: *const pthread_attr_t,
) -> Option<&'static Lane> {
    life::in_hook()?;
    thread::prepare_for_second();
    // Left by a jump in between, a lane would be lost.
    let _quiet = Quiet::begin();
    let Some(lane) = room::apart(lane::claim) else {
        logfile::with_header(|header| header.unmeasured_threads += 1);
        return None;
    };
    // SAFETY: claimed by this thread; the new thread takes it over when it runs.
    unsafe { lane.record() }.start = Start {
        routine,
        argument: argument as usize,
        stack: stack_of(attributes),
        parent: lane::current().map_or_else(raw::gettid, |mine| mine.owner.load(Ordering::Relaxed)),
        asked_ns: clock::now_ns(),
    };
    Some(lane)
}

/// The stack of a thread with these attributes, or with the usual ones if they are null.
fn stack_of(attributes: *const pthread_attr_t) -> Given {
    let (mut start, mut bytes, mut guard_bytes) = (core::ptr::null_mut(), 0, 0);
    // SAFETY: the program passes attributes that it has initialised, or none: then fresh ones say what is
    // usual.
    unsafe {
        let mut usual: pthread_attr_t = core::mem::zeroed();
        let given = !attributes.is_null();
        if !given && libc::pthread_attr_init(&mut usual) != 0 {
            return Given::Unknown;
        }
        let attributes = if given { attributes } else { &raw const usual };
        libc::pthread_attr_getstack(attributes, &mut start, &mut bytes);
        // Where its memory ends if it was given; otherwise 0 was counted down from.
        let end = (start as u64).wrapping_add(bytes as u64);
        if bytes == 0 || end == 0 {
            libc::pthread_attr_getstacksize(attributes, &mut bytes);
        }
        libc::pthread_attr_getguardsize(attributes, &mut guard_bytes);
        if !given {
            libc::pthread_attr_destroy(&mut usual);
        }
        if end != 0 {
            return Given::From(end.saturating_sub(bytes as u64));
        }
    }
    Given::Bytes(bytes.saturating_sub(guard_bytes) as u64)
}

/// `pthread_create`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    let Some(lane) = lane_for(routine as usize, argument, attributes) else {
        return call_real!(real::pthread_create(thread, attributes, routine, argument) else libc::ENOSYS);
    };
    let passed = core::ptr::from_ref(lane).cast_mut().cast();
    // A signal makes the kernel restart making the thread.
    let result = alarm::without_samples(
        here!(),
        || call_real!(real::pthread_create(thread, attributes, run, passed) else libc::ENOSYS),
    );
    if result != 0 {
        lane.release();
    }
    result
}

/// `thrd_create`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn thrd_create(
    thread: *mut c_void,
    routine: C11Routine,
    argument: *mut c_void,
) -> c_int {
    /// `thrd_error`
    const THREAD_ERROR: c_int = 2;
    let Some(lane) = lane_for(routine as usize, argument, core::ptr::null()) else {
        return call_real!(real::thrd_create(thread, routine, argument) else THREAD_ERROR);
    };
    let passed = core::ptr::from_ref(lane).cast_mut().cast();
    let result = alarm::without_samples(
        here!(),
        || call_real!(real::thrd_create(thread, run_c11, passed) else THREAD_ERROR),
    );
    if result != 0 {
        lane.release();
    }
    result
}

/// First function of a POSIX thread.
extern "C-unwind" fn run(lane: *mut c_void) -> *mut c_void {
    let start = begin(lane);
    // SAFETY: `pthread_create` stored a function of this type.
    let routine: StartRoutine = unsafe { core::mem::transmute(start.routine) };
    routine(start.argument as *mut c_void)
}

/// First function of a C11 thread.
extern "C-unwind" fn run_c11(lane: *mut c_void) -> c_int {
    let start = begin(lane);
    // SAFETY: `thrd_create` stored a function of this type.
    let routine: C11Routine = unsafe { core::mem::transmute(start.routine) };
    routine(start.argument as *mut c_void)
}

/// Puts the new thread under measurement.
#[inline(never)]
fn begin(lane: *mut c_void) -> Start {
    // SAFETY: the hooks above pass a lane, and lanes are never freed. It is reserved for this thread.
    let lane: &'static Lane = unsafe { &*lane.cast() };
    // SAFETY: as above.
    let start = unsafe { lane.record() }.start;
    let state = here!();
    let stack = OwnStack::of_created_thread(start.stack, lane::control_block());
    match life::recording() {
        // A lane of the parent's, if a handler forked in the hook that made this thread.
        Some(_) if !lane.is_of_this_process() => {}
        Some(life) => {
            let routine = Some((start.routine as u64, state));
            if room::apart_from(stack, || {
                thread::attach(life, lane, ThreadOrigin::Created, stack, routine, None)
            }) {
                // On another stack all signals were blocked: now the mask is the one that the thread has
                // inherited.
                signal_moves::begin(lane, ThreadOrigin::Created);
                thread::start_timer(life, lane, lane.owner.load(Ordering::Relaxed));
            }
        }
        None => lane.release(),
    }
    start
}

interpose! {
    pthread_create(
        thread: *mut pthread_t as output(thread), attributes: *const pthread_attr_t as input(attributes),
        routine: StartRoutine as function(start), argument: *mut c_void as opaque(argument),
    ) -> c_int, or libc::ENOSYS;
    #[since("2.28")]
    thrd_create(
        thread: *mut c_void as output(thread), routine: C11Routine as function(start),
        argument: *mut c_void as opaque(argument),
    ) -> c_int, or 2;
}
