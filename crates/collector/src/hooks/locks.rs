//! Mutexes, spin locks and reader-writer locks, of POSIX and of C11.
//!
//! A lock is tried first: only if another thread has taken it is there anything to measure.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

use libc::{clockid_t, pthread_mutex_t, pthread_rwlock_t, pthread_spinlock_t, timespec};
use proust_log::operations::Operation;

use super::deadlines;
use crate::arch::cache::fetch_to_write;
use crate::arch::thunks::with_site;
use crate::interpose::interpose;
use crate::lane;
use crate::operation::{self, Outcome, here, releases, tries, waited};
use crate::path::memo::State;
use crate::single_threaded;

/// `thrd_busy`
const THREAD_BUSY: c_int = 1;
/// `thrd_error`
const THREAD_ERROR: c_int = 2;

/// Offset of a mutex's kind, which static initialisers fix for good, and the bit of a robust one.
const KIND_OFFSET: usize = 16;
const ROBUST: c_int = 16;

/// The C library's try leaves a robust mutex locked that no thread can use any more.
///
/// # Safety
/// The mutex is one that the program may lock.
#[inline]
unsafe fn is_robust(mutex: *const pthread_mutex_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe { has_kind(mutex.cast(), ROBUST) }
}

/// Whether a mutex's kind has one of these bits.
///
/// # Safety
/// As for [`is_robust`].
#[inline]
unsafe fn has_kind(mutex: *const c_void, bits: c_int) -> bool {
    // SAFETY: the caller's promise; the kind does not change after the mutex was made.
    unsafe { mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read() & bits != 0 }
}

/// A mutex that lends its holder the priority of its waiters. Like a robust one it has its holder's thread
/// number in its word.
const INHERITS_PRIORITY: c_int = 32;
/// The word of any other mutex that is locked: 1 while no thread sleeps until it is free, and 2 if one does,
/// or one that slept is on its way. Above them is the priority of a mutex that has one.
const STATE: c_int = 0x7ffff;
const LOCKED: c_int = 1;

/// Whether a thread may be sleeping until a mutex is free. Costs two loads, of what the unlocking function is
/// about to load anyway.
///
/// # Safety
/// The mutex is one that the program may unlock.
#[inline]
unsafe fn may_have_sleeper(mutex: *const c_void) -> bool {
    // SAFETY: the caller's promise. The word changes at any time, and is of the size and alignment of an
    // atomic number.
    unsafe {
        let word = (*mutex.cast::<AtomicI32>()).load(Ordering::Relaxed);
        if word == LOCKED {
            return false;
        }
        let kind = mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read();
        // The kernel's bit for sleepers is the sign.
        if kind & (ROBUST | INHERITS_PRIORITY) != 0 { word < 0 } else { word & STATE > LOCKED }
    }
}

/// How often its holder has locked a recursive mutex, and the kind of such a one.
const COUNT_OFFSET: usize = 4;
const KINDS: c_int = 3;
const RECURSIVE: c_int = 1;

/// Whether the calling thread, which has the mutex, has locked it more than once: such a lock begins no
/// section, and its unlock ends none.
///
/// # Safety
/// The calling thread has the mutex.
#[inline]
unsafe fn is_nested(mutex: *const c_void) -> bool {
    // SAFETY: the caller's promise: no other thread changes either word.
    unsafe {
        let word = |offset| mutex.cast::<u8>().add(offset).cast::<c_int>().read();
        word(KIND_OFFSET) & KINDS == RECURSIVE && word(COUNT_OFFSET) > 1
    }
}

/// A mutex that threads of other processes lock, too.
const SHARED: c_int = 128;

/// Whether locking a mutex cannot wait: it is free, and there is no thread that could take it first. The C
/// library locks such a mutex without an atomic instruction, which a try needs.
///
/// # Safety
/// The mutex is one that the program may lock.
#[inline]
unsafe fn is_free_and_alone(mutex: *const c_void) -> bool {
    single_threaded::is()
        // SAFETY: the caller's promise. The word of a shared one changes at any time, and is of the size and
        // alignment of an atomic number.
        && unsafe {
            (*mutex.cast::<AtomicI32>()).load(Ordering::Relaxed) == 0
                && mutex.cast::<u8>().add(KIND_OFFSET).cast::<c_int>().read() & SHARED == 0
        }
}

/// A hook and the C library read a mutex before they change it. Without this a line of memory that
/// another processor has written is fetched twice: to be read, and to be changed.
macro_rules! fetch {
    (pthread_mutex_lock, $mutex:ident) => {
        fetch_to_write($mutex.cast_const().cast())
    };
    (mtx_lock, $mutex:ident) => {
        fetch_to_write($mutex.cast_const())
    };
    ($other:ident, $lock:ident) => {};
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

/// Whether a lock was got: a lock whose holder died is got, too, and the result shows that.
macro_rules! got_it {
    ($result:expr) => {
        matches!($result, 0 | libc::EOWNERDEAD)
    };
}

/// The calling thread has just got the lock: whether a critical section begins.
macro_rules! begins_section {
    (pthread_mutex_trylock, $mutex:expr) => {
        // SAFETY: the calling thread has it.
        !unsafe { is_nested($mutex as *const c_void) }
    };
    (mtx_trylock, $mutex:expr) => {
        // SAFETY: as above.
        !unsafe { is_nested($mutex as *const c_void) }
    };
    ($other:ident, $lock:expr) => {
        true
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

/// Whether the function refuses neither the clock nor the time, so that it would take a lock that is free.
macro_rules! may_be_taken {
    (pthread_mutex_clocklock, $mutex:ident, $clock:ident, $until:ident) => {
        // SAFETY: the program locks it.
        deadlines::is_plain_clock($clock) && !unsafe { has_kind($mutex.cast(), INHERITS_PRIORITY) }
    };
    // They look at the time only if they have to wait.
    (pthread_mutex_timedlock, $mutex:ident, $until:ident) => {
        true
    };
    (mtx_timedlock, $mutex:ident, $until:ident) => {
        true
    };
    ($name:ident, $lock:ident, $clock:ident, $until:ident) => {
        // SAFETY: the functions that are left are those of reader-writer locks.
        unsafe { deadlines::is_plain_by($clock, $until) }
    };
    ($name:ident, $lock:ident, $until:ident) => {
        // SAFETY: as above.
        unsafe { deadlines::is_plain($until) }
    };
    ($name:ident, $lock:ident) => {
        true
    };
}

/// Declares hooks of functions that lock: the result of the try, unless it is `busy`, is the result.
///
/// The exported function passes the address that it returns to on to the hook, as one argument more: where a
/// lock was acquired costs one load then.
macro_rules! locks {
    ($( $(#[$how:ident($version:literal)])? $name:ident (
            $object:ident : $type:ty as $grammar:ident($of:ident)
            $(, $argument:ident : $more:ty as $more_grammar:ident($more_of:ident))* $(,)?
        ) tries $try:ident, busy $busy:expr, or $none:expr => $operation:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            with_site!(hooks::$name, $object $($argument)*)
        }
    )*
    mod hooks {
        use super::*;

        $(
            pub unsafe extern "C-unwind" fn $name($object: $type $(, $argument: $more)*, site: u64) -> c_int {
                fetch!($name, $object);
                if cannot_wait!($name, $object)
                    && let Some(function) = real::$name()
                {
                    // SAFETY: the real function with the arguments that the program gave.
                    let result = unsafe { function($object $(, $argument)*) };
                    if let Some(lane) = lane::current()
                        && begins_section!($try, $object)
                    {
                        lane.operations.sections.begin($object as u64, site);
                    }
                    return result;
                }
                if let Some(try_first) = trying::real::$try()
                    && may_be_tried!($try, $object)
                    && may_be_taken!($name, $object $(, $argument)*)
                {
                    // SAFETY: the real function on the program's lock. It does what the locking function
                    // does, but wait.
                    let result = unsafe { try_first($object) };
                    if result != $busy {
                        if let Some(lane) = lane::current()
                            && result == 0
                            && begins_section!($try, $object)
                        {
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
        $name($object: $type as $grammar($of) $(, $argument: $more as $more_grammar($more_of))*)
            -> c_int, or $none;
    )* }

    /// Apart, so that a thread that finds a lock free saves no registers for it.
    mod waiting {
        use super::*;

        $(
            #[inline(never)]
            pub unsafe extern "C-unwind" fn $name($object: $type $(, $argument: $more)*, site: u64) -> c_int {
                let Some(function) = real::$name() else { return $none };
                let result = operation::bracket_lock(
                    Operation::$operation,
                    $object as u64,
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function($object $(, $argument)*) },
                    Outcome::code,
                );
                if let Some(lane) = lane::current()
                    && got_it!(result)
                    && begins_section!($try, $object)
                {
                    releases::acquired_after_wait(lane, $object as u64, site);
                }
                result
            }
        )*
    }
    };
}

/// Declares hooks of functions that try to lock. They, too, are given the address that they return to.
macro_rules! tries {
    ($( $(#[$how:ident($version:literal)])? $name:ident ( $type:ty as $grammar:ident($of:ident) ),
        busy $busy:expr,
        or $none:expr => $operation:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            with_site!(trying::hooks::$name, object)
        }
    )*
    /// Trying to lock.
    mod trying {
        use super::*;

        interpose! {
            $( $(#[$how($version)])? $name(object: $type as $grammar($of)) -> c_int, or $none; )*
        }

        pub mod hooks {
            use super::*;

            $(
                pub unsafe extern "C-unwind" fn $name(object: $type, site: u64) -> c_int {
                    let Some(function) = real::$name() else { return $none };
                    // SAFETY: the real function with the argument that the program gave.
                    let result = unsafe { function(object) };
                    if result == $busy {
                        tries::failed(Operation::$operation, object as u64, here!());
                    } else if let Some(lane) = lane::current() {
                        tries::succeeded(lane, object as u64, || here!());
                        if got_it!(result) && begins_section!($name, object) {
                            releases::acquired(lane, object as u64, site);
                        }
                    }
                    result
                }
            )*
        }
    } };
}

locks! {
    pthread_mutex_lock(mutex: *mut pthread_mutex_t as object(mutex))
        tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexLock;
    pthread_mutex_timedlock(mutex: *mut pthread_mutex_t as object(mutex),
        until: *const timespec as input(timespec))
        tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexTimedLock;
    #[since("2.30")]
    pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t as object(mutex), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_mutex_trylock, busy libc::EBUSY, or libc::ENOSYS => MutexClockLock;
    pthread_spin_lock(lock: *mut pthread_spinlock_t as object(spinlock))
        tries pthread_spin_trylock, busy libc::EBUSY, or libc::ENOSYS => SpinLock;
    pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t as object(rwlock))
        tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockRead;
    pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t as object(rwlock),
        until: *const timespec as input(timespec))
        tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockTimedRead;
    #[since("2.30")]
    pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t as object(rwlock), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_rwlock_tryrdlock, busy libc::EBUSY, or libc::ENOSYS => RwLockClockRead;
    pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t as object(rwlock))
        tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockWrite;
    pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t as object(rwlock),
        until: *const timespec as input(timespec))
        tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockTimedWrite;
    #[since("2.30")]
    pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t as object(rwlock), clock: clockid_t as number(clock),
        until: *const timespec as input(timespec),
    ) tries pthread_rwlock_trywrlock, busy libc::EBUSY, or libc::ENOSYS => RwLockClockWrite;
    #[since("2.28")]
    mtx_lock(mutex: *mut c_void as object(mtx)) tries mtx_trylock, busy THREAD_BUSY, or THREAD_ERROR
        => MtxLock;
    #[since("2.28")]
    mtx_timedlock(mutex: *mut c_void as object(mtx), until: *const timespec as input(timespec))
        tries mtx_trylock, busy THREAD_BUSY, or THREAD_ERROR => MtxTimedLock;
}

tries! {
    pthread_mutex_trylock(*mut pthread_mutex_t as object(mutex)), busy libc::EBUSY, or libc::ENOSYS
        => MutexTryLock;
    pthread_spin_trylock(*mut pthread_spinlock_t as object(spinlock)), busy libc::EBUSY, or libc::ENOSYS
        => SpinTryLock;
    pthread_rwlock_tryrdlock(*mut pthread_rwlock_t as object(rwlock)), busy libc::EBUSY, or libc::ENOSYS
        => RwLockTryRead;
    pthread_rwlock_trywrlock(*mut pthread_rwlock_t as object(rwlock)), busy libc::EBUSY, or libc::ENOSYS
        => RwLockTryWrite;
    #[since("2.28")]
    mtx_trylock(*mut c_void as object(mtx)), busy THREAD_BUSY, or THREAD_ERROR => MtxTryLock;
}

/// Declares hooks of functions that unlock.
macro_rules! unlocks {
    ($( $(#[$how:ident($version:literal)])? $name:ident ( $type:ty as $grammar:ident($of:ident) ),
        by $bracket:path,
        or $none:expr => $operation:ident; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(object: $type) -> c_int {
            let Some(function) = unlocking::real::$name() else { return $none };
            $bracket(
                Operation::$operation,
                object as u64,
                // SAFETY: the real function with the argument that the program gave.
                move || unsafe { function(object) },
                || here!(),
            )
        }
    )*
    /// Unlocking.
    pub mod unlocking {
        use super::*;

        interpose! {
            $( $(#[$how($version)])? $name(object: $type as $grammar($of)) -> c_int, or $none; )*
        }
    } };
}

/// As [`releases::bracket_unlock`], for mutexes: their word says whether a thread sleeps. The word is read
/// only if a thread has waited: the processor cannot read what it has just changed atomically before that is
/// done, and an unlock right behind its lock would wait 1.4 ns for it.
#[inline(always)]
fn bracket_mutex<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    _: impl FnOnce() -> State,
) -> R {
    let Some(lane) = lane::current() else { return call() };
    let may_have_sleeper = waited::is_wanted(object)
        // SAFETY: the object is a mutex, which the program gave to a function that unlocks it.
        && unsafe { may_have_sleeper(object as *const c_void) };
    let may_be_recorded = lane.operations.sections.is_timed(object)
        || lane.operations.postponed.is_due()
        || may_have_sleeper && releases::may_be_long(lane);
    if may_be_recorded { bracket_noted_mutex(operation, object, may_have_sleeper, call) } else { call() }
}

/// Apart, so that an unlock that no thread waits for saves no registers for it.
#[inline(never)]
fn bracket_noted_mutex<R: Copy>(
    operation: Operation,
    object: u64,
    may_have_sleeper: bool,
    call: impl FnOnce() -> R,
) -> R {
    let Some(lane) = lane::current() else { return call() };
    // SAFETY: a thread unlocks what it has.
    if unsafe { is_nested(object as *const c_void) } {
        return call();
    }
    releases::bracket_noted(lane, operation, object, may_have_sleeper, call, || here!())
}

unlocks! {
    pthread_mutex_unlock(*mut pthread_mutex_t as object(mutex)), by bracket_mutex, or libc::ENOSYS
        => MutexUnlock;
    pthread_spin_unlock(*mut pthread_spinlock_t as object(spinlock)), by releases::bracket_unlock,
        or libc::ENOSYS => SpinUnlock;
    pthread_rwlock_unlock(*mut pthread_rwlock_t as object(rwlock)), by releases::bracket_unlock,
        or libc::ENOSYS => RwLockUnlock;
    #[since("2.28")]
    mtx_unlock(*mut c_void as object(mtx)), by bracket_mutex, or THREAD_ERROR => MtxUnlock;
}
