//! Calls that need no other rank, and may take long: they copy or compute data, get memory that other ranks
//! can access, flatten a datatype, or ask a server for a name. Their time is recorded, and nothing else.

use crate::mpi::call::time;
use crate::mpi::table::functions;

functions! {
    [
        MPI_Free_mem: MPI_Free_mem,
        MPI_Type_commit: MPI_Type_commit,
        MPI_Close_port: MPI_Close_port,
    ] (one) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Win_detach: MPI_Win_detach,
        MPI_Open_port: MPI_Open_port,
    ] (one, two) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Alloc_mem: MPI_Alloc_mem,
        MPI_Win_attach: MPI_Win_attach,
        MPI_Publish_name: MPI_Publish_name,
        MPI_Unpublish_name: MPI_Unpublish_name,
        MPI_Lookup_name: MPI_Lookup_name,
    ] (one, two, three) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Reduce_local: MPI_Reduce_local MPI_Reduce_local_c,
    ] (one, two, three, four, five) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Pack: MPI_Pack MPI_Pack_c,
        MPI_Unpack: MPI_Unpack MPI_Unpack_c,
        MPI_Pack_external: MPI_Pack_external MPI_Pack_external_c,
        MPI_Unpack_external: MPI_Unpack_external MPI_Unpack_external_c,
    ] (one, two, three, four, five, six, seven) {
        |operation, numbers, call| time(operation, call)
    };
}
