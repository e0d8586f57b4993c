//! Regions: the program's function is run by way of ours, on every thread of the team.

use core::ffi::{c_int, c_long, c_uint, c_void};

use proust_log::records::RegionOrigin;

use super::behind;
use crate::lane;
use crate::openmp::runtime;
use crate::openmp::team::given::Given;
use crate::openmp::team::{self, Opening, Team};
use crate::operation::here;

/// What a thread of a team runs.
pub type Body = unsafe extern "C-unwind" fn(*mut c_void);

/// Opens a region for `body` by the frame of the hook, unless the runtime tells of it.
macro_rules! opened {
    ($function:expr, $body:ident, $data:ident, $marker:ident) => {
        if runtime::tells($function as *mut c_void) {
            None
        } else {
            team::open(&Opening {
                construct: $body as usize as u64,
                origin: RegionOrigin::Gomp,
                function: $body as usize,
                data: $data as usize,
                state: here!(),
                marker: &raw mut $marker,
            })
        }
    };
}

/// First function of a thread in a region.
unsafe extern "C-unwind" fn run(word: *mut c_void) {
    // SAFETY: the hooks below pass such a word.
    run_given(unsafe { Given::from_word(word as usize) });
}

#[inline]
fn run_given(given: Given) {
    let team = given.team();
    begin(team, Some(given));
    let (body, data) = team.body();
    // SAFETY: the program gave a function of this type and its argument.
    unsafe { core::mem::transmute::<usize, Body>(body)(data) };
    team::done(team);
}

#[inline(never)]
fn begin(team: &'static Team, given: Option<Given>) {
    let call = |function: Option<unsafe extern "C-unwind" fn() -> c_int>, otherwise| match function {
        // SAFETY: asks the runtime for a number.
        Some(function) => unsafe { function() }.unsigned_abs(),
        None => otherwise,
    };
    // It lies on a line of the processor's cache that the opener has just written, and that its threads need not read
    // otherwise. Those that are in many brief regions do without it most times.
    let is_dear = lane::current().is_some_and(|lane| !team.is_opened_by(lane) && lane.member.was_brief());
    let size = if is_dear { 0 } else { call(real::omp_get_num_threads(), 1) };
    team::join(team, call(real::omp_get_thread_num(), 0), size, given);
}

/// Declares hooks of functions that open a region and return when it is over.
macro_rules! whole {
    ($( $name:ident ( $($argument:ident : $type:ty),* ) $(-> $result:ty)?; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_snake_case, reason = "the runtime's names")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(body: Body, data: *mut c_void $(, $argument: $type)*) $(-> $result)? {
            let Some(function) = real::$name() else {
                // Without a runtime the program would not have been started; alone it does what one thread does.
                // SAFETY: what the runtime would do on the calling thread.
                unsafe { body(data) };
                return Default::default();
            };
            let mut marker = 0_u64;
            match opened!(function, body, data, marker) {
                // SAFETY: the real function with the arguments that the program gave.
                None => unsafe { function(body, data $(, $argument)*) },
                Some(team) => {
                    let passed = team.given() as *mut c_void;
                    // SAFETY: as above, but that ours calls the program's function.
                    let result = unsafe { function(run, passed $(, $argument)*) };
                    team::close(team, None);
                    result
                }
            }
        }
    )* };
}

/// Declares hooks of functions that only begin a region; the program runs its function itself, and ends the region.
macro_rules! begun {
    ($( $name:ident ( $($argument:ident : $type:ty),* ); )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_snake_case, reason = "the runtime's names")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(body: Body, data: *mut c_void $(, $argument: $type)*) {
            let Some(function) = real::$name() else { return };
            let opening = Opening {
                construct: body as usize as u64,
                origin: RegionOrigin::Gomp,
                function: body as usize,
                data: data as usize,
                state: here!(),
                marker: core::ptr::null_mut(),
            };
            let team = if runtime::tells(function as *mut c_void) { None } else { team::open(&opening) };
            match team {
                // SAFETY: the real function with the arguments that the program gave.
                None => unsafe { function(body, data $(, $argument)*) },
                Some(team) => {
                    let passed = team.given() as *mut c_void;
                    // SAFETY: as above, but that ours calls the program's function on the other threads.
                    unsafe { function(run, passed $(, $argument)*) };
                    begin(team, None);
                }
            }
        }
    )* };
}

whole! {
    GOMP_parallel(threads: c_uint, flags: c_uint);
    GOMP_parallel_sections(threads: c_uint, sections: c_uint, flags: c_uint);
    GOMP_parallel_loop_static(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint);
}

/// What stands for the program's argument where the runtime looks into it: at its begin is the address of what is
/// known of the reductions.
#[repr(C)]
struct Reducing {
    reductions: usize,
    given: usize,
}

/// As [`run`], in such a region.
unsafe extern "C-unwind" fn run_reducing(data: *mut c_void) {
    // SAFETY: the hook below passes its own local one, which lives until the region is over.
    run_given(unsafe { Given::from_word((*data.cast::<Reducing>()).given) });
}

/// `GOMP_parallel_reductions`
#[allow(non_snake_case, reason = "the runtime's names")]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) -> c_uint {
    let Some(function) = real::GOMP_parallel_reductions() else {
        // SAFETY: as in the other hooks: what one thread does.
        unsafe { body(data) };
        return 1;
    };
    let mut marker = 0_u64;
    match opened!(function, body, data, marker) {
        // SAFETY: the real function with the arguments that the program gave.
        None => unsafe { function(body, data, threads, flags) },
        Some(team) => {
            // SAFETY: the runtime reads this word of the program's argument, too.
            let reductions = unsafe { *data.cast::<usize>() };
            let mut passed = Reducing { reductions, given: team.given() };
            // SAFETY: as above, but that ours calls the program's function.
            let result = unsafe { function(run_reducing, (&raw mut passed).cast(), threads, flags) };
            team::close(team, None);
            result
        }
    }
}

begun! {
    GOMP_parallel_start(threads: c_uint);
    GOMP_parallel_sections_start(threads: c_uint, sections: c_uint);
    GOMP_parallel_loop_static_start(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_dynamic_start(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_guided_start(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_runtime_start(threads: c_uint, start: c_long, end: c_long, step: c_long);
}

/// `GOMP_parallel_end`
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the runtime's names")]
pub unsafe extern "C-unwind" fn GOMP_parallel_end() {
    let Some(function) = real::GOMP_parallel_end() else { return };
    let team = lane::current().and_then(|lane| lane.member.team()).filter(|team| team.ends_by_call());
    if let Some(team) = team {
        team::done(team);
    }
    // SAFETY: the real function.
    unsafe { function() };
    if let Some(team) = team {
        team::close(team, Some(here!()));
    }
}

behind! {
    omp_get_thread_num() -> c_int;
    omp_get_num_threads() -> c_int;
    GOMP_parallel(Body, *mut c_void, c_uint, c_uint);
    GOMP_parallel_reductions(Body, *mut c_void, c_uint, c_uint) -> c_uint;
    GOMP_parallel_sections(Body, *mut c_void, c_uint, c_uint, c_uint);
    GOMP_parallel_loop_static(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_dynamic(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_guided(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_nonmonotonic_guided(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_runtime(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    GOMP_parallel_start(Body, *mut c_void, c_uint);
    GOMP_parallel_sections_start(Body, *mut c_void, c_uint, c_uint);
    GOMP_parallel_loop_static_start(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    GOMP_parallel_loop_dynamic_start(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    GOMP_parallel_loop_guided_start(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    GOMP_parallel_loop_runtime_start(Body, *mut c_void, c_uint, c_long, c_long, c_long);
    GOMP_parallel_end();
}
