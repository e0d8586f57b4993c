//! `MPI_Pcontrol`, by which programs control tools.
//!
//! It is no operation: nothing is recorded of the call. Another tool of the program gets it, too.

#[allow(non_snake_case, reason = "MPI's own name")]
mod MPI_Pcontrol {
    use core::ffi::c_int;
    use core::sync::atomic::{AtomicUsize, Ordering};

    use crate::mpi::marks;
    use crate::operation::here;

    static REAL: AtomicUsize = AtomicUsize::new(0);

    type Real = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> c_int;

    /// The arguments behind the level are those that are passed in registers, whatever they are.
    unsafe extern "C-unwind" fn hook(
        level: usize,
        name: usize,
        number: usize,
        fourth: usize,
        fifth: usize,
        sixth: usize,
    ) -> c_int {
        marks::control(level as i32, name, number as i32, here!());
        let address = REAL.load(Ordering::Relaxed);
        // SAFETY: only words that were bound to this function lead here, after its address was stored; it has
        // a variable number of arguments, which are passed on as they were given.
        unsafe { core::mem::transmute::<usize, Real>(address)(level, name, number, fourth, fifth, sixth) }
    }

    crate::arch::distances! { "proust_mpi", MPI_Pcontrol, "PMPI_Pcontrol", hook, REAL }
}
