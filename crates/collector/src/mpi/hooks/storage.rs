//! Reading and writing files by MPI.

use crate::mpi::call::{bracket, time, time_moving};
use crate::mpi::communicators;
use crate::mpi::library::Library;
use crate::mpi::table::functions;
use crate::operation::exact::Facts;

/// A call that all processes make that have opened the file.
fn collective_of(library: &Library, file: usize, bytes: u64) -> Facts {
    Facts { bytes, ..communicators::facts_of(communicators::group_number(library.abi.passed(file))) }
}

functions! {
    [
        MPI_File_sync: MPI_File_sync,
    ] (file) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, 0)
        })
    };
    [
        MPI_File_preallocate: MPI_File_preallocate,
        MPI_File_set_size: MPI_File_set_size,
    ] (file, two) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, 0)
        })
    };
    [
        MPI_File_read_all_begin: MPI_File_read_all_begin MPI_File_read_all_begin_c,
        MPI_File_read_ordered_begin: MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c,
        MPI_File_write_all_begin: MPI_File_write_all_begin MPI_File_write_all_begin_c,
        MPI_File_write_ordered_begin: MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c,
    ] (file, two, count, datatype) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_File_read_all: MPI_File_read_all MPI_File_read_all_c,
        MPI_File_read_ordered: MPI_File_read_ordered MPI_File_read_ordered_c,
        MPI_File_iread_all: MPI_File_iread_all MPI_File_iread_all_c,
        MPI_File_write_all: MPI_File_write_all MPI_File_write_all_c,
        MPI_File_write_ordered: MPI_File_write_ordered MPI_File_write_ordered_c,
        MPI_File_iwrite_all: MPI_File_iwrite_all MPI_File_iwrite_all_c,
    ] (file, two, count, datatype, five) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_File_read_at_all_begin: MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c,
        MPI_File_write_at_all_begin: MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c,
    ] (file, two, three, count, datatype) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_File_set_view: MPI_File_set_view,
    ] (file, two, three, four, five, six) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, 0)
        })
    };
    [
        MPI_File_read_at_all: MPI_File_read_at_all MPI_File_read_at_all_c,
        MPI_File_iread_at_all: MPI_File_iread_at_all MPI_File_iread_at_all_c,
        MPI_File_write_at_all: MPI_File_write_at_all MPI_File_write_at_all_c,
        MPI_File_iwrite_at_all: MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c,
    ] (file, two, three, count, datatype, six) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective_of(library, file, library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_File_seek: MPI_File_seek,
        MPI_File_seek_shared: MPI_File_seek_shared,
        MPI_File_read_all_end: MPI_File_read_all_end,
        MPI_File_read_at_all_end: MPI_File_read_at_all_end,
        MPI_File_read_ordered_end: MPI_File_read_ordered_end,
        MPI_File_write_all_end: MPI_File_write_all_end,
        MPI_File_write_at_all_end: MPI_File_write_at_all_end,
        MPI_File_write_ordered_end: MPI_File_write_ordered_end,
    ] (file, two, three) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_File_read: MPI_File_read MPI_File_read_c,
        MPI_File_read_shared: MPI_File_read_shared MPI_File_read_shared_c,
        MPI_File_iread: MPI_File_iread MPI_File_iread_c,
        MPI_File_iread_shared: MPI_File_iread_shared MPI_File_iread_shared_c,
        MPI_File_write: MPI_File_write MPI_File_write_c,
        MPI_File_write_shared: MPI_File_write_shared MPI_File_write_shared_c,
        MPI_File_iwrite: MPI_File_iwrite MPI_File_iwrite_c,
        MPI_File_iwrite_shared: MPI_File_iwrite_shared MPI_File_iwrite_shared_c,
    ] (file, two, count, datatype, five) {
        |operation, numbers, call| time_moving(operation, call, |library| {
            library.bytes(numbers.number(count), datatype)
        })
    };
    [
        MPI_File_read_at: MPI_File_read_at MPI_File_read_at_c,
        MPI_File_iread_at: MPI_File_iread_at MPI_File_iread_at_c,
        MPI_File_write_at: MPI_File_write_at MPI_File_write_at_c,
        MPI_File_iwrite_at: MPI_File_iwrite_at MPI_File_iwrite_at_c,
    ] (file, two, three, count, datatype, six) {
        |operation, numbers, call| time_moving(operation, call, |library| {
            library.bytes(numbers.number(count), datatype)
        })
    };
}
