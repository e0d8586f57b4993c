//! Begin and end of MPI.

use core::cell::Cell;
use core::ffi::c_int;

use proust_mpi_abi::abi::SUCCESS;

use crate::mpi::call::{self, bracket, time};
use crate::mpi::library::Library;
use crate::mpi::table::functions;
use crate::mpi::{clocks, communicators, library};
use crate::operation::exact::Facts;

/// Starts MPI, and compares the clocks of its hosts.
#[inline(always)]
fn start(call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result == SUCCESS {
        clocks::begin();
    }
    result
}

/// MPI has started: the process's world is known.
fn started(library: &'static Library) -> Facts {
    communicators::begin(library);
    call::collective(library, library.comm_world, None, 0)
}

functions! {
    [MPI_Init: MPI_Init] (count, arguments) {
        |operation, numbers, call| bracket(operation, || start(call), started)
    };
    [MPI_Init_thread: MPI_Init_thread] (count, arguments, required, provided) {
        |operation, numbers, call| bracket(operation, || start(call), started)
    };
    [MPI_Finalize: MPI_Finalize] () {
        |operation, numbers, call| {
            let world = Cell::new(0);
            bracket(
                operation,
                || {
                    clocks::end();
                    if let Some(library) = library::get() {
                        world.set(communicators::number(library, library.comm_world));
                        library.end_world();
                    }
                    call()
                },
                |_| communicators::facts_of(world.get()),
            )
        }
    };
    [MPI_Abort: MPI_Abort] (communicator, code) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Session_init: MPI_Session_init] (info, handler, session) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Session_finalize: MPI_Session_finalize] (session) {
        |operation, numbers, call| time(operation, call)
    };
}
