//! Which binary interface a loaded MPI library has.

use crate::abi::Family;

/// Symbols by which families are distinguished.
pub mod marks {
    use core::ffi::CStr;

    /// Answers with the version of the standard's interface, or with -1 where it is a library's own one.
    pub const STANDARD_VERSION: &CStr = c"PMPI_Abi_get_version";
    /// `MPI_COMM_WORLD` of Open MPI, a variable.
    pub const OPEN_MPI: &CStr = c"ompi_mpi_comm_world";
}

/// The type of [`marks::STANDARD_VERSION`]: gives the major and the minor version.
pub type StandardVersion = unsafe extern "C" fn(*mut i32, *mut i32) -> i32;

/// The family of a library: `standard_major` is the major version that its [`marks::STANDARD_VERSION`] gives,
/// if it has that function; `has_open_mpi` whether it defines [`marks::OPEN_MPI`].
///
/// Intel's library and MPICH define the function in both of their interfaces: only its answer counts.
pub fn family(standard_major: Option<i32>, has_open_mpi: bool) -> Family {
    match standard_major {
        Some(1..) => Family::Standard,
        _ if has_open_mpi => Family::OpenMpi,
        _ => Family::Mpich,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_the_function_counts_and_not_that_it_is_there() {
        assert_eq!(family(Some(1), false), Family::Standard);
        assert_eq!(family(Some(1), true), Family::Standard);
        assert_eq!(family(Some(-1), false), Family::Mpich);
        assert_eq!(family(Some(-1), true), Family::OpenMpi);
        assert_eq!(family(None, true), Family::OpenMpi);
        assert_eq!(family(None, false), Family::Mpich);
    }
}
