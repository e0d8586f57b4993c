//! The table: one row for each binary interface.

use crate::handle::Predefined;
use crate::status::{Count, StatusLayout};

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH and its relatives.
    Mpich,
    /// The interface of the MPI 5.0 standard.
    Standard,
}

/// The constants and layouts of a binary interface. Numbers are those of `mpi.h`; addresses are as a pointer
/// argument holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abi {
    /// Which one it is.
    pub family: Family,
    /// Bytes of a handle in memory: in arrays, and where one is written through a pointer.
    pub handle_bytes: usize,
    /// Where a status has its fields.
    pub status: StatusLayout,
    /// `MPI_COMM_WORLD`
    pub comm_world: Predefined,
    /// `MPI_COMM_SELF`
    pub comm_self: Predefined,
    /// `MPI_COMM_NULL`
    pub comm_null: Predefined,
    /// `MPI_GROUP_NULL`
    pub group_null: Predefined,
    /// `MPI_REQUEST_NULL`
    pub request_null: Predefined,
    /// `MPI_MESSAGE_NULL`
    pub message_null: Predefined,
    /// `MPI_MESSAGE_NO_PROC`
    pub message_no_proc: Predefined,
    /// `MPI_BYTE`
    pub byte: Predefined,
    /// `MPI_STATUS_IGNORE`
    pub status_ignore: usize,
    /// `MPI_STATUSES_IGNORE`
    pub statuses_ignore: usize,
    /// `MPI_IN_PLACE`
    pub in_place: usize,
    /// `MPI_ANY_SOURCE`
    pub any_source: i32,
    /// `MPI_PROC_NULL`
    pub proc_null: i32,
    /// `MPI_ROOT`
    pub root: i32,
    /// `MPI_ANY_TAG`
    pub any_tag: i32,
    /// `MPI_ERR_IN_STATUS`
    pub err_in_status: i32,
    /// `MPI_ERR_PENDING`
    pub err_pending: i32,
    /// `MPI_THREAD_MULTIPLE`
    pub thread_multiple: i32,
    /// `MPI_IDENT`
    pub ident: i32,
}

/// `MPI_SUCCESS`, in every interface.
pub const SUCCESS: i32 = 0;
/// `MPI_UNDEFINED`, in every interface.
pub const UNDEFINED: i32 = -32766;

/// Open MPI 4 and 5.
pub static OPEN_MPI: Abi = Abi {
    family: Family::OpenMpi,
    handle_bytes: 8,
    status: StatusLayout { bytes: 24, source: 0, tag: 4, error: 8, count: Count::Word(16) },
    comm_world: Predefined::Symbol(c"ompi_mpi_comm_world"),
    comm_self: Predefined::Symbol(c"ompi_mpi_comm_self"),
    comm_null: Predefined::Symbol(c"ompi_mpi_comm_null"),
    group_null: Predefined::Symbol(c"ompi_mpi_group_null"),
    request_null: Predefined::Symbol(c"ompi_request_null"),
    message_null: Predefined::Symbol(c"ompi_message_null"),
    message_no_proc: Predefined::Symbol(c"ompi_message_no_proc"),
    byte: Predefined::Symbol(c"ompi_mpi_byte"),
    status_ignore: 0,
    statuses_ignore: 0,
    in_place: 1,
    any_source: -1,
    proc_null: -2,
    root: -4,
    any_tag: -1,
    err_in_status: 18,
    err_pending: 19,
    thread_multiple: 3,
    ident: 0,
};

/// MPICH and its relatives.
pub static MPICH: Abi = Abi {
    family: Family::Mpich,
    handle_bytes: 4,
    status: StatusLayout { bytes: 20, source: 8, tag: 12, error: 16, count: Count::LowAndHigh(0, 4) },
    comm_world: Predefined::Value(0x4400_0000),
    comm_self: Predefined::Value(0x4400_0001),
    comm_null: Predefined::Value(0x0400_0000),
    group_null: Predefined::Value(0x0800_0000),
    request_null: Predefined::Value(0x2c00_0000),
    message_null: Predefined::Value(0x2c00_0000),
    message_no_proc: Predefined::Value(0x6c00_0000),
    byte: Predefined::Value(0x4c00_010d),
    status_ignore: 1,
    statuses_ignore: 1,
    in_place: usize::MAX,
    any_source: -2,
    proc_null: -1,
    root: -3,
    any_tag: -1,
    err_in_status: 17,
    err_pending: 18,
    thread_multiple: 3,
    ident: 0,
};

/// The interface of the MPI 5.0 standard.
pub static STANDARD: Abi = Abi {
    family: Family::Standard,
    handle_bytes: 8,
    status: StatusLayout { bytes: 32, source: 0, tag: 4, error: 8, count: Count::Asked },
    comm_world: Predefined::Value(0x101),
    comm_self: Predefined::Value(0x102),
    comm_null: Predefined::Value(0x100),
    group_null: Predefined::Value(0x108),
    request_null: Predefined::Value(0x180),
    message_null: Predefined::Value(0x128),
    message_no_proc: Predefined::Value(0x129),
    byte: Predefined::Value(0x247),
    status_ignore: 0,
    statuses_ignore: 0,
    in_place: 1,
    any_source: -1,
    proc_null: -3,
    root: -4,
    any_tag: -2,
    err_in_status: 19,
    err_pending: 18,
    thread_multiple: 4096,
    ident: 201,
};

impl Abi {
    /// The table of a family.
    pub const fn of(family: Family) -> &'static Abi {
        match family {
            Family::OpenMpi => &OPEN_MPI,
            Family::Mpich => &MPICH,
            Family::Standard => &STANDARD,
        }
    }
}
