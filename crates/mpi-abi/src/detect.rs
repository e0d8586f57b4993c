//! Which binary interface a loaded MPI library has.

use crate::abi::Family;

/// Symbols by which families are distinguished.
pub mod marks {
    use core::ffi::CStr;

    /// Answers with the version of the standard's interface, or with -1 where it is a library's own one.
    pub const STANDARD_VERSION: &CStr = c"PMPI_Abi_get_version";
    /// `MPI_COMM_WORLD` of Open MPI, a variable.
    pub const OPEN_MPI: &CStr = c"ompi_mpi_comm_world";
    /// A function that MPICH and its relatives export for their Fortran libraries.
    pub const MPICH: &CStr = c"MPII_Comm_get_attr";
}

/// The type of [`marks::STANDARD_VERSION`]: gives the major and the minor version.
pub type StandardVersion = unsafe extern "C" fn(*mut i32, *mut i32) -> i32;

/// The family of a library: `standard_major` is the major version that its [`marks::STANDARD_VERSION`] gives,
/// if it has that function; `has_open_mpi` and `has_mpich` whether it defines [`marks::OPEN_MPI`] and
/// [`marks::MPICH`]. None = it is another one, of which nothing may be assumed.
///
/// Intel's library and MPICH define the function in both of their interfaces: only its answer counts.
pub fn family(standard_major: Option<i32>, has_open_mpi: bool, has_mpich: bool) -> Option<Family> {
    match standard_major {
        Some(1..) => Some(Family::Standard),
        _ if has_open_mpi => Some(Family::OpenMpi),
        _ if has_mpich => Some(Family::Mpich),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_the_function_counts_and_not_that_it_is_there() {
        assert_eq!(family(Some(1), false, true), Some(Family::Standard));
        assert_eq!(family(Some(1), true, false), Some(Family::Standard));
        assert_eq!(family(Some(-1), false, true), Some(Family::Mpich));
        assert_eq!(family(Some(-1), true, false), Some(Family::OpenMpi));
        assert_eq!(family(None, true, false), Some(Family::OpenMpi));
        assert_eq!(family(None, false, true), Some(Family::Mpich));
        assert_eq!(family(None, false, false), None);
    }
}
