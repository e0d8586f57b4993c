//! Deferred work: the program's function is run through ours, wherever and whenever the runtime does it.
//!
//! A task's data are copied when it is made. Ours are copied with them, after the program's: their length is
//! part of the type of the function that runs the task. The runtime reads the program's data itself, too, so
//! further data for our copier lie with the thread, which copies before its call returns.

use core::ffi::{c_int, c_long, c_uint, c_ulong, c_void};

use super::bodied;
use super::chunk::Step;
use super::parallel::Body;
use crate::lane::{self, Lane};
use crate::openmp::runtime::{Table, calls};
use crate::openmp::tasks;

/// Copies a task's data, if copying bytes is not enough.
pub type Copier = Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void)>;

/// Behind the program's data.
#[repr(C)]
#[derive(Clone, Copy)]
struct Tail {
    body: Body,
    table: &'static Table,
    /// Of a part of a loop, whose bounds are the first two words of the program's data; 0 of other tasks.
    step: Step,
}

/// The data of our copier.
struct Given {
    tail: Tail,
    bytes: usize,
    copier: Copier,
}

impl Given {
    /// Runs `call`, in which the calling thread may copy by this.
    fn during(&self, lane: &'static Lane, call: impl FnOnce()) {
        // A task that is done at once may make others.
        let around = lane.member.give(core::ptr::from_ref(self) as usize);
        call();
        lane.member.give(around);
    }
}

/// Data are taken to be a multiple of so many bytes long.
const STEP: usize = 16;
/// Tasks with more data than so many steps run without being followed.
const STEPS: usize = 64;

unsafe extern "C-unwind" fn copy<const N: usize>(to: *mut c_void, data: *mut c_void) {
    let Some(given) = lane::current().map(|lane| lane.member.given()) else { return };
    // SAFETY: the runtime copies inside of the call that it was given for; `to` has room for N steps and a
    // tail.
    unsafe {
        let given = &*(given as *const Given);
        match given.copier {
            Some(copier) => copier(to, data),
            None => core::ptr::copy_nonoverlapping(data.cast::<u8>(), to.cast::<u8>(), given.bytes),
        }
        to.cast::<u8>().add(N * STEP).cast::<Tail>().write_unaligned(given.tail);
    }
}

unsafe extern "C-unwind" fn run<const N: usize>(data: *mut c_void) {
    // SAFETY: `copy` with the same N wrote the tail.
    let Tail { body, table, step } =
        unsafe { data.cast::<u8>().add(N * STEP).cast::<Tail>().read_unaligned() };
    let is_followed = tasks::begin(body as usize as u64);
    if is_followed && step != Step::default() {
        // SAFETY: the runtime writes there the bounds of each part of a loop.
        let (first, end) = unsafe { (data.cast::<u64>().read(), data.cast::<u64>().add(1).read()) };
        tasks::received(step.iterations(first, end));
    }
    // SAFETY: the program's function with its data.
    unsafe { calls::run_body(body as usize, data, table) };
    if is_followed {
        tasks::end();
    }
}

type Pair = (Body, unsafe extern "C-unwind" fn(*mut c_void, *mut c_void));

macro_rules! pairs {
    ($($n:literal)*) => { [$((run::<$n>, copy::<$n>)),*] };
}

static PAIRS: [Pair; STEPS + 1] = pairs! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37
    38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
};

/// The functions for data of so many bytes, and how long they are with ours; None if this task is not
/// followed.
fn pair(bytes: c_long) -> Option<(Pair, c_long, &'static Lane)> {
    if !tasks::are_followed() {
        return None;
    }
    let lane = lane::current()?;
    let steps = usize::try_from(bytes).ok()?.div_ceil(STEP);
    let pair = *PAIRS.get(steps)?;
    Some((pair, (steps * STEP + size_of::<Tail>()) as c_long, lane))
}

macro_rules! made {
    ($( $name:ident ( $($argument:ident : $type:ty),* ) $(by $step:ident)?; )*) => {
        bodied! { $(
            fn $name(
                body, data: *mut c_void, copier: Copier, bytes: c_long, alignment: c_long,
                $($argument: $type),* ; table, function
            ) {
                match pair(bytes) {
                    // SAFETY: the real function with the arguments that the program gave. Programs of older
                    // compilers give `GOMP_task` one less, which the runtime looks at only if they say that
                    // it is there.
                    None => unsafe { function(body, data, copier, bytes, alignment, $($argument),*) },
                    Some(((run, copy), ours, lane)) => {
                        let alignment = alignment.max(align_of::<Tail>() as c_long);
                        let step = Step::of(0 $(+ $step as u64)?);
                        let tail = Tail { body, table, step };
                        Given { tail, bytes: bytes as usize, copier }.during(lane, || {
                            // SAFETY: as above; the copy is made before the call returns. The runtime writes
                            // the bounds of a loop's tasks to the begin of their copies.
                            unsafe { function(run, data, Some(copy), ours, alignment, $($argument),*) };
                        });
                    }
                }
            }
        )* }
    };
}

made! {
    GOMP_task(deferred: bool, flags: c_uint, depend: *mut *mut c_void, priority: c_int, detach: *mut c_void);
    GOMP_taskloop(flags: c_uint, tasks: c_ulong, priority: c_int, start: c_long, end: c_long, step: c_long)
        by step;
    GOMP_taskloop_ull(flags: c_uint, tasks: c_ulong, priority: c_int, start: u64, end: u64, step: u64)
        by step;
}
