//! Mutexes, spin locks and reader-writer locks, of POSIX and of C11.
//!
//! A lock is tried first: only if it is taken by somebody else is there anything to measure.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

use libc::{clockid_t, pthread_mutex_t, pthread_rwlock_t, pthread_spinlock_t, timespec};
use proust_log::operations::Operation;

use crate::interpose::interpose;
use crate::lane;
use crate::operation::releases::{self, LetGo};
use crate::operation::{self, Outcome, here, postponed, tries, waited};
use crate::path::memo::State;
use crate::single_threaded;

/// `thrd_busy`
const THREAD_BUSY: c_int = 1;
/// `thrd_error`
const THREAD_ERROR: c_int = 2;

/// Offset of a mutex's kind, which static initialisers fix for good, and the bit of a robust one.
const KIND_OFFSET: usize = 16;
const ROBUST: c_int = 16;

/// The C library's try leaves a robust mutex locked that nobody can use any more.
///
/// # Safety
/// The mutex is one that the program may lock.
#[inline]
unsafe fn is_robust(mutex: *const pthread_mutex_t) -> bool {
    // SAFETY: the caller's promise; the kind does not change after the mutex was made.
    unsafe { mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read() & ROBUST != 0 }
}

/// A mutex whose holder's priority changes, or whose holder's death is noticed, keeps that in its word, too.
const PRIORITY: c_int = 32 | 64;
/// What the C library keeps in the word of a mutex that is locked, while no thread sleeps until it is free, or one that
/// slept is on its way to try again.
const LOCKED: c_int = 1;

/// Whether a thread sleeps until a mutex is free. Costs two loads, of what the unlocking function is about to load anyway.
///
/// # Safety
/// The mutex is one that the program may unlock.
#[inline]
unsafe fn has_sleeper(mutex: *const c_void) -> bool {
    // SAFETY: the caller's promise. The word changes at any time, and is of the size and alignment of an atomic number.
    unsafe {
        let word = (*mutex.cast::<AtomicI32>()).load(Ordering::Relaxed);
        let kind = mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read();
        word != LOCKED || kind & (ROBUST | PRIORITY) != 0
    }
}

/// A mutex that threads of other processes lock, too.
const SHARED: c_int = 128;

/// Whether locking a mutex cannot wait: it is free, and nobody is there who could be faster. The C library locks such a one
/// without an atomic instruction, which to try it takes.
///
/// # Safety
/// The mutex is one that the program may lock.
#[inline]
unsafe fn is_free_and_alone(mutex: *const c_void) -> bool {
    single_threaded::is()
        // SAFETY: the caller's promise. The word of a shared one changes at any time, and is of the size and alignment of an
        // atomic number.
        && unsafe {
            (*mutex.cast::<AtomicI32>()).load(Ordering::Relaxed) == 0
                && mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read() & SHARED == 0
        }
}

/// Whether the function itself is as good as a try.
macro_rules! cannot_wait {
    (pthread_mutex_lock, $mutex:ident) => {
        // SAFETY: the program locks it.
        unsafe { is_free_and_alone($mutex.cast()) }
    };
    (mtx_lock, $mutex:ident) => {
        // SAFETY: as above.
        unsafe { is_free_and_alone($mutex) }
    };
    ($other:ident, $lock:ident) => {
        false
    };
}

/// Whether trying does the same as locking, but for the wait.
macro_rules! may_be_tried {
    (pthread_mutex_trylock, $mutex:ident) => {
        // SAFETY: the program locks it.
        !unsafe { is_robust($mutex) }
    };
    ($other:ident, $lock:ident) => {
        true
    };
}

/// The register in which a function with so many arguments gets one more.
macro_rules! register_after {
    () => {
        "rsi"
    };
    ($one:ident) => {
        "rdx"
    };
    ($one:ident $two:ident) => {
        "rcx"
    };
}

/// Declares hooks of functions that lock: what the try answers, unless it is `busy`, is the answer.
///
/// The exported function passes the address that it returns to on to the hook, as one argument more: where a lock was
/// acquired costs one load then.
macro_rules! locks {
    ($( $(#[$how:ident($version:literal)])? $name:ident (
            $object:ident : $type:ty as $grammar:ident($of:ident)
            $(, $argument:ident : $more:ty as $more_grammar:ident($more_of:ident))* $(,)?
        ) tries $try:ident, busy $busy:expr, or $none:expr => $operation:ident by $end:path; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                concat!("mov ", register_after!($($argument)*), ", [rsp]"),
                "jmp {hook}",
                ".cfi_endproc",
                hook = sym hooks::$name,
            )
        }
    )*
    mod hooks {
        use super::*;

        $(
            pub unsafe extern "C-unwind" fn $name($object: $type $(, $argument: $more)*, site: u64) -> c_int {
                if cannot_wait!($name, $object)
                    && let Some(function) = real::$name()
                {
                    // SAFETY: the real function with the arguments that the program gave.
                    let result = unsafe { function($object $(, $argument)*) };
                    if let Some(lane) = lane::current() {
                        releases::acquired(lane, $object as u64, site);
                    }
                    return result;
                }
                if let Some(try_first) = trying::real::$try()
                    && may_be_tried!($try, $object)
                {
                    // SAFETY: the real function on the program's lock. It does what the locking function does, but wait.
                    let result = unsafe { try_first($object) };
                    if result != $busy {
                        if let Some(lane) = lane::current() {
                            releases::acquired(lane, $object as u64, site);
                        }
                        return result;
                    }
                }
                // SAFETY: the arguments that the program gave.
                unsafe { waiting::$name($object $(, $argument)*, site) }
            }
        )*
    }

    interpose! { $(
        $(#[$how($version)])?
        $name($object: $type as $grammar($of) $(, $argument: $more as $more_grammar($more_of))*) -> c_int, or $none;
    )* }

    /// Apart, so that who finds a lock free saves no registers for it.
    mod waiting {
        use super::*;

        $(
            #[inline(never)]
            pub unsafe extern "C-unwind" fn $name($object: $type $(, $argument: $more)*, site: u64) -> c_int {
                let Some(function) = real::$name() else { return $none };
                let (result, since_ns) = operation::around_until(
                    Operation::$operation,
                    $object as u64,
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function($object $(, $argument)*) },
                    Outcome::code,
                    $end,
                );
                if let Some(lane) = lane::current() {
                    lane.sections.keep($object as u64, site, since_ns);
                }
                result
            }
        )*
    }
    };
}

/// Declares hooks of functions that try to lock.
macro_rules! tries {
    ($( $(#[$how:ident($version:literal)])? $name:ident ( $type:ty as $grammar:ident($of:ident) ), busy $busy:expr,
        or $none:expr => $operation:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(object: $type) -> c_int {
            let Some(function) = trying::real::$name() else { return $none };
            // SAFETY: the real function with the argument that the program gave.
            let result = unsafe { function(object) };
            if result == $busy {
                tries::failed(Operation::$operation, object as u64, here!());
            } else {
                tries::succeeded(object as u64, || here!());
            }
            result
        }
    )*
    /// Trying to lock.
    mod trying {
        use super::*;

        interpose! {
            $( $(#[$how($version)])? $name(object: $type as $grammar($of)) -> c_int, or $none; )*
        }
    } };
}

locks! {
    pthread_mutex_lock(mutex: *mut pthread_mutex_t as object(mutex))
        tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexLock by postponed::end;
    pthread_mutex_timedlock(mutex: *mut pthread_mutex_t as object(mutex), until: *const timespec as input(timespec))
        tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexTimedLock by postponed::end;
    #[since("2.30")]
    pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t as object(mutex), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexClockLock by postponed::end;
    pthread_spin_lock(lock: *mut pthread_spinlock_t as object(spinlock))
        tries pthread_spin_trylock, busy libc::EBUSY, or libc::ENOSYS => SpinLock by operation::end;
    pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t as object(rwlock))
        tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockRead by operation::end;
    pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t as object(rwlock), until: *const timespec as input(timespec))
        tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockTimedRead by operation::end;
    #[since("2.30")]
    pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t as object(rwlock), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockClockRead by operation::end;
    pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t as object(rwlock))
        tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockWrite by operation::end;
    pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t as object(rwlock), until: *const timespec as input(timespec))
        tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockTimedWrite by operation::end;
    #[since("2.30")]
    pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t as object(rwlock), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockClockWrite by operation::end;
    #[since("2.28")]
    mtx_lock(mutex: *mut c_void as object(mtx)) tries mtx_trylock, busy THREAD_BUSY, or THREAD_ERROR => MtxLock by postponed::end;
    #[since("2.28")]
    mtx_timedlock(mutex: *mut c_void as object(mtx), until: *const timespec as input(timespec))
        tries mtx_trylock, busy THREAD_BUSY, or THREAD_ERROR => MtxTimedLock by postponed::end;
}

tries! {
    pthread_mutex_trylock(*mut pthread_mutex_t as object(mutex)), busy libc::EBUSY, or libc::ENOSYS => MutexTryLock;
    pthread_spin_trylock(*mut pthread_spinlock_t as object(spinlock)), busy libc::EBUSY, or libc::ENOSYS => SpinTryLock;
    pthread_rwlock_tryrdlock(*mut pthread_rwlock_t as object(rwlock)), busy libc::EBUSY, or libc::ENOSYS => RwLockTryRead;
    pthread_rwlock_trywrlock(*mut pthread_rwlock_t as object(rwlock)), busy libc::EBUSY, or libc::ENOSYS => RwLockTryWrite;
    #[since("2.28")]
    mtx_trylock(*mut c_void as object(mtx)), busy THREAD_BUSY, or THREAD_ERROR => MtxTryLock;
}

/// Declares hooks of functions that unlock.
macro_rules! unlocks {
    ($( $(#[$how:ident($version:literal)])? $name:ident ( $type:ty as $grammar:ident($of:ident) ), by $around:path,
        or $none:expr => $operation:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(object: $type) -> c_int {
            let Some(function) = unlocking::real::$name() else { return $none };
            $around(
                Operation::$operation,
                object as u64,
                // SAFETY: the real function with the argument that the program gave.
                move || unsafe { function(object) },
                || here!(),
            )
        }
    )*
    /// Unlocking.
    mod unlocking {
        use super::*;

        interpose! {
            $( $(#[$how($version)])? $name(object: $type as $grammar($of)) -> c_int, or $none; )*
        }
    } };
}

/// As [`releases::around`], for mutexes that the program is about to unlock.
#[inline(always)]
fn around_mutex<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    _: impl FnOnce() -> State,
) -> R {
    let Some(lane) = lane::current() else { return call() };
    // SAFETY: the object is a mutex, which the program gave to a function that unlocks it.
    let has_sleeper = unsafe { has_sleeper(object as *const c_void) };
    let is_told = lane.sections.is_timed(object) || lane.postponed.is_any();
    if has_sleeper || is_told || waited::is_any_trying() {
        // Who slept may be on its way to try again: that is asked in any case.
        around_wanted_mutex(operation, object, has_sleeper, call)
    } else {
        call()
    }
}

/// Apart, so that who unlocks what nobody waits for saves no registers for it.
#[inline(never)]
fn around_wanted_mutex<R: Copy>(
    operation: Operation,
    object: u64,
    has_sleeper: bool,
    call: impl FnOnce() -> R,
) -> R {
    let Some(lane) = lane::current() else { return call() };
    let here = || here!();
    let call = || {
        let result = call();
        if lane.postponed.is_any() {
            postponed::settle(lane);
        }
        result
    };
    let was_contended = has_sleeper && lane.sections.is_contended(object);
    if let Some(since_ticks) = lane.sections.timed(object) {
        match LetGo::timed(&lane.releases, since_ticks) {
            Some(let_go) => releases::around_timed(operation, object, let_go, call, here),
            None => call(),
        }
    } else if was_contended {
        releases::around_untimed(operation, object, call, here)
    } else if has_sleeper || waited::is_any_trying() {
        releases::around(operation, object, call, here)
    } else {
        call()
    }
}

unlocks! {
    pthread_mutex_unlock(*mut pthread_mutex_t as object(mutex)), by around_mutex, or libc::ENOSYS => MutexUnlock;
    pthread_spin_unlock(*mut pthread_spinlock_t as object(spinlock)), by releases::around, or libc::ENOSYS => SpinUnlock;
    pthread_rwlock_unlock(*mut pthread_rwlock_t as object(rwlock)), by releases::around, or libc::ENOSYS => RwLockUnlock;
    #[since("2.28")]
    mtx_unlock(*mut c_void as object(mtx)), by around_mutex, or THREAD_ERROR => MtxUnlock;
}
