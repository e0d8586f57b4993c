//! Which runtime a call belongs to.
//!
//! A process may have several runtimes of GCC's kind: the system's, one that a Python wheel brings along
//! under a name of its own, LLVM's, which exports the same names. Every caller keeps the one that it would
//! have without us. For each caller there is a [`Table`] of the functions behind the hooks, and each hook
//! begins by finding the table of its caller:
//!
//! - [`routes`]: from the address of a call, or of the function that it passes, to the table; executed at
//!   every call
//! - [`calls`]: at the first call from a place: which object the caller is in
//! - [`callers`]: the data of each caller, from its first call until it is unloaded
//! - [`others`]: what is loaded and is no caller, or has not called anything yet ([`unbound`])
//!
//! LLVM's runtime reports to a tool itself. Calls that end in it, and calls of which it is not certain where
//! they end, are passed on by a jump, with the program's arguments and its return address: the hook leaves no
//! trace.

pub mod callers;
pub mod calls;
pub mod others;
pub mod routes;
pub mod unbound;

use core::ffi::{c_int, c_void};

use super::gomp::names::{COUNT, Function};

/// How calls are treated that end in a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum World {
    /// Hooks record them.
    Recorded = 0,
    /// The runtime reports to tools itself: its calls are passed on.
    ReportsToTools = 1,
    /// It is not certain that this is the runtime the caller would have without us: they are passed on, and
    /// the log says so.
    InDoubt = 2,
}

/// The functions of a runtime, for a caller. Never changed, and never freed.
#[repr(C, align(64))]
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    world: World,
    functions: [usize; COUNT],
}

/// Offset of [`Table`]'s functions, for the hooks' first instructions.
pub const FUNCTIONS: usize = core::mem::offset_of!(Table, functions);
const _: () = assert!(core::mem::offset_of!(Table, world) == 0);

impl Table {
    /// The function, as what it is.
    ///
    /// # Safety
    /// `F` is the type that the runtime gives this function.
    #[inline(always)]
    pub unsafe fn function<F: Copy>(&self, function: Function) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address = self.functions[function as usize];
        // SAFETY: the caller names the type; no place in a table is empty.
        unsafe { core::mem::transmute_copy(&address) }
    }

    /// The address of the function in this place of the family.
    pub fn address(&self, place: usize) -> *mut c_void {
        self.functions.get(place).map_or(core::ptr::null_mut(), |&address| address as *mut c_void)
    }

    /// How calls are treated.
    pub fn world(&self) -> World {
        self.world
    }

    /// Number of the calling thread in its team.
    #[inline]
    pub fn thread_number(&self) -> u32 {
        // SAFETY: of this type, and asks for a number.
        unsafe { self.function::<unsafe extern "C" fn() -> c_int>(Function::omp_get_thread_num)() }
            .unsigned_abs()
    }

    /// Threads in its team.
    #[inline]
    pub fn team_size(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.function::<unsafe extern "C" fn() -> c_int>(Function::omp_get_num_threads)() }
            .unsigned_abs()
    }
}
