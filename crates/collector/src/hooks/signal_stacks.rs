//! Alternate signal stacks: the sampling handler runs on them, so one that is too small ends sampling of its
//! thread.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use libc::stack_t;
use proust_log::records::NoteCode;

use super::signal_moves::SMALL_STACK;
use crate::arch::stacks::{dropped_samples, frame_bytes};
use crate::interpose::interpose;
use crate::sample::handler::LEAST_ROOM_BYTES;
use crate::sample::split_stacks;
use crate::{lane, life, raw};

/// The kernel's frame at most, where it does not report its size: with AVX-512.
const USUAL_FRAME_BYTES: usize = 3648;

/// Whether samples can be taken on an alternate stack of this size.
fn has_room(bytes: usize) -> bool {
    // SAFETY: getauxval only reads the auxiliary vector.
    let reported = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    let most = if reported == 0 { USUAL_FRAME_BYTES } else { reported };
    // Most stacks need no system call to be found large enough.
    bytes >= LEAST_ROOM_BYTES + most || bytes >= LEAST_ROOM_BYTES + frame_bytes(most)
}

/// The size of the calling thread's alternate stack, if it has one that is too small for samples.
fn too_small() -> Option<usize> {
    let stack = raw::alternate_stack();
    let bytes = (stack.end - stack.start) as usize;
    (!stack.is_empty() && !has_room(bytes)).then_some(bytes)
}

/// Whether a thread that begins to be measured is silent from its first instant: a forked child keeps the
/// stack.
pub fn silence_at_begin() -> u8 {
    if too_small().is_some() { SMALL_STACK } else { 0 }
}

/// Notes at the end of the process how many samples found their threads' alternate stacks filled.
pub fn note_dropped(record: &mut lane::Record) {
    let dropped = dropped_samples();
    if dropped > 0 {
        record.note(NoteCode::FilledSignalStack, dropped.into());
    }
}

static NOTED: AtomicBool = AtomicBool::new(false);

/// Calls a function that changes the thread's alternate stack, while no sample can be taken on it.
fn change(call: impl FnOnce() -> c_int) -> c_int {
    let lane = life::in_hook().filter(|life| !life::is_borrowed(life)).zip(lane::current());
    let Some((life, lane)) = lane else { return call() };
    let mask = raw::signal_mask(libc::SIG_SETMASK, u64::MAX);
    let result = call();
    split_stacks::provide(lane);
    let small = too_small();
    if small.is_some() != lane.samples.silence.has(SMALL_STACK) {
        lane.set_silence(life, SMALL_STACK, small.is_some());
    }
    raw::signal_mask(libc::SIG_SETMASK, mask);
    if let Some(bytes) = small
        && !NOTED.load(Ordering::Relaxed)
    {
        let noted = lane.with_record(|record| record.note(NoteCode::SmallSignalStack, bytes as u64));
        NOTED.store(noted.is_some(), Ordering::Relaxed);
    }
    result
}

/// `sigaltstack`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int {
    let Some(function) = real::sigaltstack() else { return -1 };
    // SAFETY: the real function with the arguments that the program gave.
    let call = || unsafe { function(new, old) };
    let result = if new.is_null() { call() } else { change(call) };
    if result == 0 && !old.is_null() {
        // SAFETY: the C library has just filled it in.
        unsafe { hide_ours(&mut *old) };
    }
    result
}

/// A stack of ours is none of the program's.
fn hide_ours(old: &mut stack_t) {
    if split_stacks::is_ours(old.ss_sp as u64) {
        *old = stack_t { ss_sp: core::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    }
}

/// A stack as `sigstack` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct OldStack {
    sp: usize,
    is_used: c_int,
}

/// `sigstack`: the C library reads and writes the program's places itself, and a fault while all signals are
/// blocked would end the program. So it gets places of ours.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigstack(new: *mut c_void, old: *mut c_void) -> c_int {
    let Some(function) = real::sigstack() else { return -1 };
    let (new, old) = (new.cast::<OldStack>(), old.cast::<OldStack>());
    // SAFETY: the program passes null or valid places; where they are not, it faults as it would without us.
    unsafe {
        let mut given = if new.is_null() { None } else { Some(new.read_volatile()) };
        let mut before = OldStack { sp: 0, is_used: 0 };
        let given_at = given.as_mut().map_or(core::ptr::null_mut(), core::ptr::from_mut);
        let result = change(|| function(given_at.cast(), (&raw mut before).cast()));
        if result == 0 && !old.is_null() {
            (&raw mut (*old).sp).write_volatile(before.sp);
            (&raw mut (*old).is_used).write_volatile(before.is_used);
        }
        result
    }
}

interpose! {
    sigaltstack(new: *const stack_t as input(stack), old: *mut stack_t as output(stack)) -> c_int, or -1;
    sigstack(new: *mut c_void as input(stack), old: *mut c_void as output(stack)) -> c_int, or -1;
}
