//! The runtime's events, passed to two tools: each with its own word for every region and task.
//!
//! The other tool's function is called where it takes no part of what we measure: before ours where something
//! begins, after it where something ends.

use core::ffi::{c_int, c_uint, c_void};

use super::layout::{
    Data, END, STATUS_CANCEL, STATUS_COMPLETE, STATUS_LATE_FULFILL, STATUS_TASKWAIT_COMPLETE, event,
};
use super::pairs::{self, Words};
use super::{callbacks, chain};

type Word = *mut Data;
type Pointer = *const c_void;

/// Each tool's form of an argument.
trait Shown: Copy {
    /// # Safety
    /// A word is the runtime's.
    unsafe fn ours(self) -> Self;
    /// # Safety
    /// A word is the runtime's.
    unsafe fn other(self) -> Self;
}

impl Shown for Word {
    unsafe fn ours(self) -> Word {
        // SAFETY: the caller's promise.
        unsafe { Words::of(self) }.ours
    }

    unsafe fn other(self) -> Word {
        // SAFETY: the caller's promise.
        unsafe { Words::of(self) }.other
    }
}

macro_rules! same_for_both {
    ($($type:ty)*) => { $(
        impl Shown for $type {
            unsafe fn ours(self) -> $type {
                self
            }

            unsafe fn other(self) -> $type {
                self
            }
        }
    )* };
}
same_for_both! { c_int c_uint u64 usize Pointer *mut c_void *mut u64 }

/// The other tool's function for an event, which has the type of the function that represents both.
fn other<F: Copy>(event: c_int, _: F) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<Pointer>()) };
    let function = chain::callback(event);
    // SAFETY: the other tool gave it for this event, of which all functions have this type.
    (!function.is_null()).then(|| unsafe { core::mem::transmute_copy(&function) })
}

/// The type of a function with these arguments.
macro_rules! function {
    ($($type:ty),*) => { unsafe extern "C" fn($($type),*) };
}

/// Functions that pass the event to both tools. After the event's name: whether that is the end of something.
/// Last: what is over then.
macro_rules! to_both {
    ($(
        $name:ident $event:ident ( $($argument:ident : $type:ty),* ) ends $ends:expr, over $over:block
    )*) => { $(
        unsafe extern "C" fn $name($($argument: $type),*) {
            let other = other::<function!($($type),*)>(event::$event, $name);
            // SAFETY: each tool's function gets what it would get alone, but for the words.
            unsafe {
                if $ends {
                    callbacks::$name($($argument.ours()),*);
                }
                if let Some(other) = other {
                    other($($argument.other()),*);
                }
                if !$ends {
                    callbacks::$name($($argument.ours()),*);
                }
            }
            $over
        }
    )* };
}

/// Functions for events that ours does not listen to.
macro_rules! to_other {
    ($( $name:ident $event:ident ( $($argument:ident : $type:ty),* ) )*) => { $(
        unsafe extern "C" fn $name($($argument: $type),*) {
            if let Some(other) = other::<function!($($type),*)>(event::$event, $name) {
                // SAFETY: the other tool's function gets what it would get alone, but for its own words.
                unsafe { other($($argument.other()),*) }
            }
        }
    )* };
}

/// A word is over.
fn over(word: Word) {
    // SAFETY: the runtime's word, after the last event of what it represents.
    unsafe { pairs::give_back(word) }
}

to_both! {
    parallel_begin PARALLEL_BEGIN (
        task: Word, frame: Pointer, parallel: Word, threads: c_uint, flags: c_int, site: Pointer
    ) ends false, over {}
    parallel_end PARALLEL_END (parallel: Word, task: Word, flags: c_int, site: Pointer)
        ends true, over { over(parallel) }
    implicit_task IMPLICIT_TASK (
        endpoint: c_int, parallel: Word, task: Word, size: c_uint, number: c_uint, flags: c_int
    ) ends endpoint == END, over { if endpoint == END { over(task) } }
    sync_region_wait SYNC_REGION_WAIT (kind: c_int, endpoint: c_int, parallel: Word, task: Word,
        site: Pointer)
        ends endpoint == END, over {}
    mutex_acquire MUTEX_ACQUIRE (kind: c_int, hint: c_uint, implementation: c_uint, object: u64,
        site: Pointer)
        ends false, over {}
    mutex_acquired MUTEX_ACQUIRED (kind: c_int, object: u64, site: Pointer) ends true, over {}
    mutex_released MUTEX_RELEASED (kind: c_int, object: u64, site: Pointer) ends true, over {}
    work WORK (kind: c_int, endpoint: c_int, parallel: Word, task: Word, count: u64, site: Pointer)
        ends endpoint == END, over {}
    dispatch DISPATCH (parallel: Word, task: Word, kind: c_int, instance: u64) ends true, over {}
    task_create TASK_CREATE (task: Word, frame: Pointer, new: Word, flags: c_int, depends: c_int,
        site: Pointer)
        ends false, over {}
    task_schedule TASK_SCHEDULE (prior: Word, status: c_int, next: Word) ends is_last(status), over {
        if is_last(status) {
            over(prior);
        }
    }
}

to_other! {
    target TARGET (kind: c_int, endpoint: c_int, device: c_int, task: Word, number: u64, site: Pointer)
    dependences DEPENDENCES (task: Word, all: Pointer, count: c_int)
    task_dependence TASK_DEPENDENCE (source: Word, sink: Word)
    masked MASKED (endpoint: c_int, parallel: Word, task: Word, site: Pointer)
    sync_region SYNC_REGION (kind: c_int, endpoint: c_int, parallel: Word, task: Word, site: Pointer)
    cancel CANCEL (task: Word, flags: c_int, site: Pointer)
    reduction REDUCTION (kind: c_int, endpoint: c_int, parallel: Word, task: Word, site: Pointer)
    target_emi TARGET_EMI (
        kind: c_int, endpoint: c_int, device: c_int, task: Word, of_target: Word, own: Pointer, site: Pointer
    )
    target_data_op_emi TARGET_DATA_OP_EMI (
        endpoint: c_int, of_target: Word, own: Pointer, operation: *mut u64, kind: c_int, from: *mut c_void,
        from_device: c_int, to: *mut c_void, to_device: c_int, bytes: usize, site: Pointer
    )
}

/// Whether no event of a task follows this one.
fn is_last(status: c_int) -> bool {
    matches!(status, STATUS_COMPLETE | STATUS_CANCEL | STATUS_LATE_FULFILL | STATUS_TASKWAIT_COMPLETE)
}

/// Events that ours listens to.
pub const OURS: [c_int; 11] = [
    event::PARALLEL_BEGIN,
    event::PARALLEL_END,
    event::IMPLICIT_TASK,
    event::SYNC_REGION_WAIT,
    event::MUTEX_ACQUIRE,
    event::MUTEX_ACQUIRED,
    event::MUTEX_RELEASED,
    event::WORK,
    event::DISPATCH,
    event::TASK_CREATE,
    event::TASK_SCHEDULE,
];

/// The function that represents both tools; null for events with no word of regions and tasks that ours does
/// not listen to: there the other tool's own may stand.
pub fn function(event: c_int) -> Pointer {
    match event {
        event::PARALLEL_BEGIN => parallel_begin as Pointer,
        event::PARALLEL_END => parallel_end as Pointer,
        event::IMPLICIT_TASK => implicit_task as Pointer,
        event::SYNC_REGION_WAIT => sync_region_wait as Pointer,
        event::MUTEX_ACQUIRE => mutex_acquire as Pointer,
        event::MUTEX_ACQUIRED => mutex_acquired as Pointer,
        event::MUTEX_RELEASED => mutex_released as Pointer,
        event::WORK => work as Pointer,
        event::DISPATCH => dispatch as Pointer,
        event::TASK_CREATE => task_create as Pointer,
        event::TASK_SCHEDULE => task_schedule as Pointer,
        event::TARGET => target as Pointer,
        event::DEPENDENCES => dependences as Pointer,
        event::TASK_DEPENDENCE => task_dependence as Pointer,
        event::MASKED => masked as Pointer,
        event::SYNC_REGION => sync_region as Pointer,
        event::CANCEL => cancel as Pointer,
        event::REDUCTION => reduction as Pointer,
        event::TARGET_EMI => target_emi as Pointer,
        event::TARGET_DATA_OP_EMI => target_data_op_emi as Pointer,
        _ => core::ptr::null(),
    }
}
