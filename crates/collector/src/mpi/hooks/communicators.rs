//! Making communicators, windows and files, which all members do together; and giving them up.

use core::ffi::c_int;

use proust_log::operations::Operation;

use crate::mpi::call::{bracket, collective, time};
use crate::mpi::communicators::{self, Made};
use crate::mpi::library::{self, Library, written};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;

/// All members of `parent` have made what lies at `place` now.
fn made(library: &'static Library, parent: usize, place: usize) -> Facts {
    let facts = collective(library, parent, None, 0);
    let parent = library.abi.passed(parent);
    let nth = communicators::count(parent);
    // SAFETY: the call has written it.
    let handle = unsafe { written(library.abi, place) };
    communicators::made(library, handle, Made::Of(parent), nth, None);
    facts
}

/// As [`made`], where the new one has the same members, and cannot be used before its request is complete.
fn copied(library: &'static Library, parent: usize, place: usize) -> Facts {
    let facts = collective(library, parent, None, 0);
    let parent = library.abi.passed(parent);
    let nth = communicators::count(parent);
    // SAFETY: as above.
    let handle = unsafe { written(library.abi, place) };
    communicators::made(library, handle, Made::Of(parent), nth, Some(parent));
    facts
}

/// The members of what lies at `place` have made it, and nobody else took part.
fn made_by_members(library: &'static Library, place: usize) -> Facts {
    // SAFETY: as above.
    let handle = unsafe { written(library.abi, place) };
    communicators::made(library, handle, Made::ByMembers, 0, None);
    if handle == library.comm_null { Facts::default() } else { collective(library, handle, None, 0) }
}

/// A communicator came from elsewhere: its members know it by no common name.
fn met(library: &'static Library, place: usize) -> Facts {
    // SAFETY: as above.
    let handle = unsafe { written(library.abi, place) };
    communicators::made(library, handle, Made::Unknown, 0, None);
    Facts::default()
}

/// A window or file was made by all members of a communicator.
fn group_made(library: &'static Library, parent: usize, place: usize) -> Facts {
    let facts = collective(library, parent, None, 0);
    let parent = library.abi.passed(parent);
    let nth = communicators::count(parent);
    // SAFETY: as above.
    let handle = unsafe { written(library.abi, place) };
    communicators::group_made(library, handle, parent, nth);
    facts
}

/// Gives up the communicator at `place`; from the call on another one may have its handle.
#[inline(always)]
fn give_up(operation: Operation, place: usize, call: impl FnOnce() -> c_int) -> c_int {
    let handle = library::get().map(|library| {
        // SAFETY: the program gives the call a handle there.
        let handle = unsafe { written(library.abi, place) };
        let facts =
            if handle == library.comm_null { Facts::default() } else { collective(library, handle, None, 0) };
        communicators::freed(handle);
        facts
    });
    bracket(operation, call, |_| handle.unwrap_or_default())
}

/// As [`give_up`], of a window or file.
#[inline(always)]
pub(super) fn give_group_up(operation: Operation, place: usize, call: impl FnOnce() -> c_int) -> c_int {
    let number = library::get().map_or(0, |library| {
        // SAFETY: as above.
        let handle = unsafe { written(library.abi, place) };
        let number = communicators::group_number(handle);
        communicators::group_freed(handle);
        number
    });
    bracket(operation, call, |_| communicators::facts_of(number))
}

functions! {
    [MPI_Comm_dup: MPI_Comm_dup] (communicator, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Comm_dup_with_info: MPI_Comm_dup_with_info, MPI_Comm_create: MPI_Comm_create,
     MPI_Cart_sub: MPI_Cart_sub, MPI_Intercomm_merge: MPI_Intercomm_merge] (communicator, how, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Comm_idup: MPI_Comm_idup] (communicator, new, request) {
        |operation, numbers, call| bracket(operation, call, |library| copied(library, communicator, new))
    };
    [MPI_Comm_idup_with_info: MPI_Comm_idup_with_info] (communicator, info, new, request) {
        |operation, numbers, call| bracket(operation, call, |library| copied(library, communicator, new))
    };
    [MPI_Comm_split: MPI_Comm_split] (communicator, colour, key, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Comm_split_type: MPI_Comm_split_type] (communicator, kind, key, info, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Cart_create: MPI_Cart_create] (communicator, dimensions, sizes, periods, reorders, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Graph_create: MPI_Graph_create] (communicator, nodes, indices, edges, reorders, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Dist_graph_create: MPI_Dist_graph_create]
    (communicator, count, sources, degrees, targets, weights, info, reorders, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Dist_graph_create_adjacent: MPI_Dist_graph_create_adjacent]
    (communicator, before, sources, weights, after, targets, target_weights, info, reorders, new) {
        |operation, numbers, call| bracket(operation, call, |library| made(library, communicator, new))
    };
    [MPI_Comm_create_group: MPI_Comm_create_group] (communicator, group, tag, new) {
        |operation, numbers, call| bracket(operation, call, |library| made_by_members(library, new))
    };
    [MPI_Comm_create_from_group: MPI_Comm_create_from_group] (group, tag, info, handler, new) {
        |operation, numbers, call| bracket(operation, call, |library| made_by_members(library, new))
    };
    [MPI_Intercomm_create: MPI_Intercomm_create] (local, leader, peer, remote_leader, tag, new) {
        |operation, numbers, call| bracket(operation, call, |library| made_by_members(library, new))
    };
    [MPI_Intercomm_create_from_groups: MPI_Intercomm_create_from_groups]
    (group, leader, remote_group, remote_leader, tag, info, handler, new) {
        |operation, numbers, call| bracket(operation, call, |library| made_by_members(library, new))
    };
    [MPI_Comm_free: MPI_Comm_free, MPI_Comm_disconnect: MPI_Comm_disconnect] (communicator) {
        |operation, numbers, call| give_up(operation, communicator, call)
    };
    [MPI_Comm_spawn: MPI_Comm_spawn] (command, arguments, most, info, root, communicator, new, codes) {
        |operation, numbers, call| bracket(operation, call, |library| met(library, new))
    };
    [MPI_Comm_spawn_multiple: MPI_Comm_spawn_multiple]
    (count, commands, arguments, most, infos, root, communicator, new, codes) {
        |operation, numbers, call| bracket(operation, call, |library| met(library, new))
    };
    [MPI_Comm_accept: MPI_Comm_accept, MPI_Comm_connect: MPI_Comm_connect]
    (port, info, root, communicator, new) {
        |operation, numbers, call| bracket(operation, call, |library| met(library, new))
    };
    [MPI_Comm_join: MPI_Comm_join] (socket, new) {
        |operation, numbers, call| bracket(operation, call, |library| met(library, new))
    };
    [MPI_Win_create: MPI_Win_create MPI_Win_create_c] (base, size, unit, info, communicator, window) {
        |operation, numbers, call| bracket(operation, call, |library| group_made(library, communicator,
            window))
    };
    [MPI_Win_allocate: MPI_Win_allocate MPI_Win_allocate_c,
     MPI_Win_allocate_shared: MPI_Win_allocate_shared MPI_Win_allocate_shared_c]
    (size, unit, info, communicator, base, window) {
        |operation, numbers, call| bracket(operation, call, |library| group_made(library, communicator,
            window))
    };
    [MPI_Win_create_dynamic: MPI_Win_create_dynamic] (info, communicator, window) {
        |operation, numbers, call| bracket(operation, call, |library| group_made(library, communicator,
            window))
    };
    [MPI_Win_free: MPI_Win_free] (window) {
        |operation, numbers, call| give_group_up(operation, window, call)
    };
    [MPI_Win_fence: MPI_Win_fence] (assertion, window) {
        |operation, numbers, call| bracket(operation, call, |library| {
            communicators::facts_of(communicators::group_number(library.abi.passed(window)))
        })
    };
    [MPI_File_open: MPI_File_open] (communicator, name, mode, info, file) {
        |operation, numbers, call| bracket(operation, call, |library| group_made(library, communicator, file))
    };
    [MPI_File_close: MPI_File_close] (file) {
        |operation, numbers, call| give_group_up(operation, file, call)
    };
    [MPI_File_delete: MPI_File_delete] (name, info) {
        |operation, numbers, call| time(operation, call)
    };
}
