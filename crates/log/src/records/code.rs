//! Modules: where code lay in the process.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A module was loaded (or was there at the start). `head.a` = bytes of the build-id in use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Module {
    /// Number in the process, from 1; a module loaded again gets a new number.
    pub id: u32,
    /// 1 when its unwind tables could be used.
    pub has_unwind_tables: u32,
    /// When it was first seen.
    pub time_ns: u64,
    /// Begin of its address range, AVMA.
    pub start: u64,
    /// End of its address range, AVMA.
    pub end: u64,
    /// AVMA − SVMA.
    pub load_bias: u64,
    /// Size of its file; 0 = unknown.
    pub file_bytes: u64,
    /// Modification time of its file, nanoseconds since 1970; 0 = unknown.
    pub file_modified_ns: u64,
    /// GNU build-id, zero padded.
    pub build_id: [u8; 24],
}

/// A module was unloaded.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ModuleEnd {
    /// When it was found gone.
    pub time_ns: u64,
    /// Number in the process.
    pub id: u32,
    /// Spare.
    pub reserved: u32,
}
