//! The hooks, by what the functions do.
//!
//! Not here are functions that only ask or describe, and never communicate: `MPI_Comm_rank`, datatypes but
//! for `MPI_Type_commit`, groups, attributes, conversions of handles, the tools' interface (`MPI_T_…`). They
//! take some nanoseconds, which is less than a hook would.

mod collectives;
mod communicators;
mod completion;
mod life;
mod local;
mod marks;
mod other;
mod point_to_point;
mod starts;
mod storage;
