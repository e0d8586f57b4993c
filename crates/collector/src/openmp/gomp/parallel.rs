//! Regions: the program's function is run through ours, on every thread of the team.

use core::ffi::{c_long, c_uint, c_void};

use proust_log::records::RegionOrigin;

use super::chunk::Step;
use super::{bodied, sited};
use crate::lane;
use crate::openmp::runtime::{Table, calls};
use crate::openmp::team::given::Given;
use crate::openmp::team::{self, Opening, Team};
use crate::operation::here;

/// The function that a thread of a team runs.
pub type Body = unsafe extern "C-unwind" fn(*mut c_void);

/// The step of a region that is a loop.
macro_rules! step {
    () => {
        Step::default()
    };
    ($step:ident) => {
        Step::of($step.cast_unsigned())
    };
}

/// Opens a region for `$body` by the frame of the hook.
macro_rules! opened {
    ($body:ident, $data:ident, $table:ident, $step:expr, $marker:expr) => {
        team::open(&Opening {
            construct: $body as usize as u64,
            origin: RegionOrigin::Gomp,
            function: $body as usize,
            data: $data as usize,
            runtime: Some($table),
            step: $step,
            state: here!(),
            marker: $marker,
        })
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
    let Some(table) = team.runtime() else { return };
    begin(team, Some(given), table);
    let (body, data) = team.body();
    // SAFETY: the program gave a function of this type and its argument.
    unsafe { calls::run_body(body, data, table) };
    team::done(team);
}

#[inline(never)]
fn begin(team: &'static Team, given: Option<Given>, table: &'static Table) {
    // It lies on a line of the processor's cache that the opener has just written, and that its threads need
    // not read otherwise. Those that are in many brief regions do without it most times.
    let is_dear = lane::current().is_some_and(|lane| !team.is_opened_by(lane) && lane.member.was_brief());
    let size = if is_dear { 0 } else { table.team_size() };
    team::join(team, table.thread_number(), size, given);
}

/// Declares hooks of functions that open a region and return when it is over.
macro_rules! whole {
    ($( $name:ident ( $($argument:ident : $type:ty),* ) $(by $step:ident)?; )*) => {
        bodied! { $(
            fn $name(body, data: *mut c_void $(, $argument: $type)*; table, function) {
                let mut marker = 0_u64;
                match opened!(body, data, table, step!($($step)?), &raw mut marker) {
                    // SAFETY: the real function with the arguments that the program gave.
                    None => unsafe { function(body, data $(, $argument)*) },
                    Some(team) => {
                        let passed = team.given() as *mut c_void;
                        // SAFETY: as above, but that ours calls the program's function.
                        unsafe { function(run, passed $(, $argument)*) };
                        team::close(team, None);
                    }
                }
            }
        )* }
    };
}

/// Declares hooks of functions that only begin a region; the program runs its function itself, and ends the
/// region.
macro_rules! begun {
    ($( $name:ident ( $($argument:ident : $type:ty),* ) $(by $step:ident)?; )*) => {
        bodied! { $(
            fn $name(body, data: *mut c_void $(, $argument: $type)*; table, function) {
                match opened!(body, data, table, step!($($step)?), core::ptr::null_mut()) {
                    // SAFETY: the real function with the arguments that the program gave.
                    None => unsafe { function(body, data $(, $argument)*) },
                    Some(team) => {
                        let passed = team.given() as *mut c_void;
                        // SAFETY: as above, but that ours calls the program's function on the other threads.
                        unsafe { function(run, passed $(, $argument)*) };
                        begin(team, None, table);
                    }
                }
            }
        )* }
    };
}

whole! {
    GOMP_parallel(threads: c_uint, flags: c_uint);
    GOMP_parallel_sections(threads: c_uint, sections: c_uint, flags: c_uint);
    GOMP_parallel_loop_static(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long,
        flags: c_uint) by step;
    GOMP_parallel_loop_dynamic(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long,
        flags: c_uint) by step;
    GOMP_parallel_loop_guided(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long,
        flags: c_uint) by step;
    GOMP_parallel_loop_nonmonotonic_dynamic(threads: c_uint, start: c_long, end: c_long, step: c_long,
        chunk: c_long, flags: c_uint) by step;
    GOMP_parallel_loop_nonmonotonic_guided(threads: c_uint, start: c_long, end: c_long, step: c_long,
        chunk: c_long, flags: c_uint) by step;
    GOMP_parallel_loop_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint)
        by step;
    GOMP_parallel_loop_nonmonotonic_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long,
        flags: c_uint) by step;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(threads: c_uint, start: c_long, end: c_long, step: c_long,
        flags: c_uint) by step;
}

/// Stands for the program's argument where the runtime looks into it: at its begin is the address of the
/// reductions' data.
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

bodied! {
    fn GOMP_parallel_reductions(
        body, data: *mut c_void, threads: c_uint, flags: c_uint; table, function
    ) -> c_uint {
        let mut marker = 0_u64;
        match opened!(body, data, table, step!(), &raw mut marker) {
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
}

begun! {
    GOMP_parallel_start(threads: c_uint);
    GOMP_parallel_sections_start(threads: c_uint, sections: c_uint);
    GOMP_parallel_loop_static_start(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long)
        by step;
    GOMP_parallel_loop_dynamic_start(threads: c_uint, start: c_long, end: c_long, step: c_long,
        chunk: c_long) by step;
    GOMP_parallel_loop_guided_start(threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long)
        by step;
    GOMP_parallel_loop_runtime_start(threads: c_uint, start: c_long, end: c_long, step: c_long) by step;
}

sited! {
    fn GOMP_parallel_end(; _site, call) {
        let team = lane::current().and_then(|lane| lane.member.team()).filter(|team| team.ends_by_call());
        if let Some(team) = team {
            team::done(team);
        }
        call();
        if let Some(team) = team {
            team::close(team, Some(here!()));
        }
    }
}
