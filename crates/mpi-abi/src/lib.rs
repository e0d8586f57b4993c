//! What differs between MPI libraries, for code that is compiled without any `mpi.h`.
//!
//! MPI fixes the names and the meaning of its functions, not the values of its constants, the size of a
//! handle or the layout of a status. There are three binary interfaces in use; each is one row here:
//!
//! - [`Family::OpenMpi`]: Open MPI 4 and 5
//! - [`Family::Mpich`]: MPICH from 3.1 on and what shares its binary interface (Intel MPI, MVAPICH, Cray
//!   MPICH, ParaStation MPI)
//! - [`Family::Standard`]: the interface that MPI 5.0 itself defines (`libmpi_abi`)
//!
//! Nothing here allocates, locks or calls anything but what it is given, so that it can be used inside a
//! measured program.
//!
//! - [`abi`]: the table
//! - [`detect`]: which of them a loaded library is
//! - [`handle`]: predefined handles, and arrays of handles
//! - [`status`]: the fields of a status
//!
//! The tests compile a C program against the headers of every MPI that is installed and compare.

#![no_std]

pub mod abi;
pub mod detect;
pub mod handle;
pub mod status;

pub use abi::{Abi, Family};
