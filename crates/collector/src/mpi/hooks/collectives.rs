//! Collective calls: all members of a communicator make them, in the same order. Those that return at once
//! are recorded when they are started, or prepared to be, and completed as requests are.
//!
//! What is recorded as the amount of data is this process's own part, as its arguments say: what it sends, or
//! where it sends from the place where it receives, what it has there. Neighbourhood collectives with counts
//! for each neighbour do not say how many neighbours there are; of those only the calls are counted.

use proust_log::records::Envelope;

use crate::mpi::call::{bracket, collective};
use crate::mpi::library::{Library, written};
use crate::mpi::requests::{self, Of};
use crate::mpi::table::{Numbers, functions};
use crate::operation::exact::Facts;

/// A collective is on its way, and has this request from now on.
fn started(library: &Library, facts: Facts, request: usize) -> Facts {
    // SAFETY: the call has written it.
    let handle = unsafe { written(library.abi, request) };
    let nobody = Envelope { partner: Envelope::NONE, tag: 0 };
    Facts { request: requests::begin(library, handle, Of::Other, nobody, facts.bytes, false), ..facts }
}

/// A collective is prepared to be started with this request.
fn prepared(library: &Library, facts: Facts, request: usize) -> Facts {
    // SAFETY: the call has written it.
    let handle = unsafe { written(library.abi, request) };
    let nobody = Envelope { partner: Envelope::NONE, tag: 0 };
    Facts { request: requests::begin(library, handle, Of::Other, nobody, facts.bytes, true), ..facts }
}

/// Data that lies at `place`, so much of that type; in the place of the others' data it is as much as each of
/// them has there.
fn own_part(
    library: &Library,
    (place, count, datatype): (usize, i64, usize),
    (other_count, other_type): (i64, usize),
) -> u64 {
    if place == library.abi.in_place {
        library.bytes(other_count, other_type)
    } else {
        library.bytes(count, datatype)
    }
}

/// From all to one or from one to all. A root of an intercommunicator, and who has no part there, give other
/// arguments that mean nothing.
fn gathered(
    library: &Library,
    communicator: usize,
    root: usize,
    own: (usize, i64, usize),
    other: (i64, usize),
) -> Facts {
    let root_number = root as i32;
    let has_part = root_number != library.abi.root && root_number != library.abi.proc_null;
    let bytes = if has_part { own_part(library, own, other) } else { 0 };
    collective(library, communicator, Some(root), bytes)
}

/// From all to all, as much to each.
fn exchanged(library: &Library, communicator: usize, own: (usize, i64, usize), other: (i64, usize)) -> Facts {
    collective(library, communicator, None, own_part(library, own, other))
}

/// Members of the side to which data go.
fn receivers(library: &Library, communicator: usize) -> usize {
    match library.remote_size(communicator) {
        0 => library.size(communicator).unwrap_or(0) as usize,
        size => size as usize,
    }
}

/// From all to all, so much to each.
fn scattered(
    library: &Library,
    communicator: usize,
    (sent, counts, datatype): (usize, usize, usize),
    (received_counts, received_type): (usize, usize),
    numbers: Numbers,
) -> Facts {
    let members = receivers(library, communicator);
    let (counts, datatype) =
        if sent == library.abi.in_place { (received_counts, received_type) } else { (counts, datatype) };
    // SAFETY: the call has read a count for each member there.
    let count = unsafe { numbers.sum(counts, members) };
    collective(library, communicator, None, library.bytes(count, datatype))
}

/// Reduced, and the result's parts scattered: so much to each.
fn reduced(
    library: &Library,
    communicator: usize,
    counts: usize,
    datatype: usize,
    numbers: Numbers,
) -> Facts {
    let members = library.size(communicator).unwrap_or(0) as usize;
    // SAFETY: as above.
    let count = unsafe { numbers.sum(counts, members) };
    collective(library, communicator, None, library.bytes(count, datatype))
}

functions! {
    [
        MPI_Barrier: MPI_Barrier,
    ] (communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, None, 0)
        })
    };
    [
        MPI_Ibarrier: MPI_Ibarrier,
    ] (communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            started(library, facts, request)
        })
    };
    [
        MPI_Barrier_init: MPI_Barrier_init,
    ] (communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            prepared(library, facts, request)
        })
    };
    [
        MPI_Bcast: MPI_Bcast MPI_Bcast_c,
    ] (buffer, count, datatype, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, Some(root), library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_Ibcast: MPI_Ibcast MPI_Ibcast_c,
    ] (buffer, count, datatype, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, Some(root), library.bytes(numbers.number(count),
                datatype));
            started(library, facts, request)
        })
    };
    [
        MPI_Bcast_init: MPI_Bcast_init MPI_Bcast_init_c,
    ] (buffer, count, datatype, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, Some(root), library.bytes(numbers.number(count),
                datatype));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Gather: MPI_Gather MPI_Gather_c,
    ] (sent, count, datatype, received, received_count, received_type, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            gathered(library, communicator, root, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type))
        })
    };
    [
        MPI_Igather: MPI_Igather MPI_Igather_c,
    ] (sent, count, datatype, received, received_count, received_type, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Gather_init: MPI_Gather_init MPI_Gather_init_c,
    ] (sent, count, datatype, received, received_count, received_type, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Gatherv: MPI_Gatherv MPI_Gatherv_c,
    ] (sent, count, datatype, received, counts, places, received_type, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            gathered(library, communicator, root, (sent, numbers.number(count), datatype), (0, received_type))
        })
    };
    [
        MPI_Igatherv: MPI_Igatherv MPI_Igatherv_c,
    ] (sent, count, datatype, received, counts, places, received_type, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (sent, numbers.number(count), datatype), (0,
                received_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Gatherv_init: MPI_Gatherv_init MPI_Gatherv_init_c,
    ] (sent, count, datatype, received, counts, places, received_type, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (sent, numbers.number(count), datatype), (0,
                received_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Scatter: MPI_Scatter MPI_Scatter_c,
    ] (sent, sent_count, sent_type, received, count, datatype, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            gathered(library, communicator, root, (received, numbers.number(count), datatype),
                (numbers.number(sent_count), sent_type))
        })
    };
    [
        MPI_Iscatter: MPI_Iscatter MPI_Iscatter_c,
    ] (sent, sent_count, sent_type, received, count, datatype, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (received, numbers.number(count), datatype),
                (numbers.number(sent_count), sent_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Scatter_init: MPI_Scatter_init MPI_Scatter_init_c,
    ] (sent, sent_count, sent_type, received, count, datatype, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (received, numbers.number(count), datatype),
                (numbers.number(sent_count), sent_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Scatterv: MPI_Scatterv MPI_Scatterv_c,
    ] (sent, counts, places, sent_type, received, count, datatype, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            gathered(library, communicator, root, (received, numbers.number(count), datatype), (0, sent_type))
        })
    };
    [
        MPI_Iscatterv: MPI_Iscatterv MPI_Iscatterv_c,
    ] (sent, counts, places, sent_type, received, count, datatype, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (received, numbers.number(count), datatype),
                (0, sent_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Scatterv_init: MPI_Scatterv_init MPI_Scatterv_init_c,
    ] (sent, counts, places, sent_type, received, count, datatype, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = gathered(library, communicator, root, (received, numbers.number(count), datatype),
                (0, sent_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Allgather: MPI_Allgather MPI_Allgather_c,
        MPI_Alltoall: MPI_Alltoall MPI_Alltoall_c,
        MPI_Neighbor_allgather: MPI_Neighbor_allgather MPI_Neighbor_allgather_c,
        MPI_Neighbor_alltoall: MPI_Neighbor_alltoall MPI_Neighbor_alltoall_c,
    ] (sent, count, datatype, received, received_count, received_type, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            exchanged(library, communicator, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type))
        })
    };
    [
        MPI_Iallgather: MPI_Iallgather MPI_Iallgather_c,
        MPI_Ialltoall: MPI_Ialltoall MPI_Ialltoall_c,
        MPI_Ineighbor_allgather: MPI_Ineighbor_allgather MPI_Ineighbor_allgather_c,
        MPI_Ineighbor_alltoall: MPI_Ineighbor_alltoall MPI_Ineighbor_alltoall_c,
    ] (sent, count, datatype, received, received_count, received_type, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = exchanged(library, communicator, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Allgather_init: MPI_Allgather_init MPI_Allgather_init_c,
        MPI_Alltoall_init: MPI_Alltoall_init MPI_Alltoall_init_c,
        MPI_Neighbor_allgather_init: MPI_Neighbor_allgather_init MPI_Neighbor_allgather_init_c,
        MPI_Neighbor_alltoall_init: MPI_Neighbor_alltoall_init MPI_Neighbor_alltoall_init_c,
    ] (sent, count, datatype, received, received_count, received_type, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = exchanged(library, communicator, (sent, numbers.number(count), datatype),
                (numbers.number(received_count), received_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Allgatherv: MPI_Allgatherv MPI_Allgatherv_c,
        MPI_Neighbor_allgatherv: MPI_Neighbor_allgatherv MPI_Neighbor_allgatherv_c,
    ] (sent, count, datatype, received, counts, places, received_type, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            exchanged(library, communicator, (sent, numbers.number(count), datatype), (0, received_type))
        })
    };
    [
        MPI_Iallgatherv: MPI_Iallgatherv MPI_Iallgatherv_c,
        MPI_Ineighbor_allgatherv: MPI_Ineighbor_allgatherv MPI_Ineighbor_allgatherv_c,
    ] (sent, count, datatype, received, counts, places, received_type, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = exchanged(library, communicator, (sent, numbers.number(count), datatype), (0,
                received_type));
            started(library, facts, request)
        })
    };
    [
        MPI_Allgatherv_init: MPI_Allgatherv_init MPI_Allgatherv_init_c,
        MPI_Neighbor_allgatherv_init: MPI_Neighbor_allgatherv_init MPI_Neighbor_allgatherv_init_c,
    ] (sent, count, datatype, received, counts, places, received_type, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = exchanged(library, communicator, (sent, numbers.number(count), datatype), (0,
                received_type));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Alltoallv: MPI_Alltoallv MPI_Alltoallv_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            scattered(library, communicator, (sent, counts, datatype), (received_counts, received_type),
                numbers)
        })
    };
    [
        MPI_Ialltoallv: MPI_Ialltoallv MPI_Ialltoallv_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = scattered(library, communicator, (sent, counts, datatype), (received_counts,
                received_type), numbers);
            started(library, facts, request)
        })
    };
    [
        MPI_Alltoallv_init: MPI_Alltoallv_init MPI_Alltoallv_init_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = scattered(library, communicator, (sent, counts, datatype), (received_counts,
                received_type), numbers);
            prepared(library, facts, request)
        })
    };
    [
        MPI_Neighbor_alltoallv: MPI_Neighbor_alltoallv MPI_Neighbor_alltoallv_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, None, 0)
        })
    };
    [
        MPI_Ineighbor_alltoallv: MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallv_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            started(library, facts, request)
        })
    };
    [
        MPI_Neighbor_alltoallv_init: MPI_Neighbor_alltoallv_init MPI_Neighbor_alltoallv_init_c,
    ] (sent, counts, places, datatype, received, received_counts, received_places, received_type,
        communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            prepared(library, facts, request)
        })
    };
    [
        MPI_Alltoallw: MPI_Alltoallw MPI_Alltoallw_c,
        MPI_Neighbor_alltoallw: MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c,
    ] (sent, counts, places, types, received, received_counts, received_places, received_types,
        communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, None, 0)
        })
    };
    [
        MPI_Ialltoallw: MPI_Ialltoallw MPI_Ialltoallw_c,
        MPI_Ineighbor_alltoallw: MPI_Ineighbor_alltoallw MPI_Ineighbor_alltoallw_c,
    ] (sent, counts, places, types, received, received_counts, received_places, received_types,
        communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            started(library, facts, request)
        })
    };
    [
        MPI_Alltoallw_init: MPI_Alltoallw_init MPI_Alltoallw_init_c,
        MPI_Neighbor_alltoallw_init: MPI_Neighbor_alltoallw_init MPI_Neighbor_alltoallw_init_c,
    ] (sent, counts, places, types, received, received_counts, received_places, received_types,
        communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, 0);
            prepared(library, facts, request)
        })
    };
    [
        MPI_Reduce: MPI_Reduce MPI_Reduce_c,
    ] (sent, received, count, datatype, function, root, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, Some(root), library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_Ireduce: MPI_Ireduce MPI_Ireduce_c,
    ] (sent, received, count, datatype, function, root, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, Some(root), library.bytes(numbers.number(count),
                datatype));
            started(library, facts, request)
        })
    };
    [
        MPI_Reduce_init: MPI_Reduce_init MPI_Reduce_init_c,
    ] (sent, received, count, datatype, function, root, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, Some(root), library.bytes(numbers.number(count),
                datatype));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Allreduce: MPI_Allreduce MPI_Allreduce_c,
        MPI_Scan: MPI_Scan MPI_Scan_c,
        MPI_Exscan: MPI_Exscan MPI_Exscan_c,
        MPI_Reduce_scatter_block: MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c,
    ] (sent, received, count, datatype, function, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            collective(library, communicator, None, library.bytes(numbers.number(count), datatype))
        })
    };
    [
        MPI_Iallreduce: MPI_Iallreduce MPI_Iallreduce_c,
        MPI_Iscan: MPI_Iscan MPI_Iscan_c,
        MPI_Iexscan: MPI_Iexscan MPI_Iexscan_c,
        MPI_Ireduce_scatter_block: MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c,
    ] (sent, received, count, datatype, function, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, library.bytes(numbers.number(count),
                datatype));
            started(library, facts, request)
        })
    };
    [
        MPI_Allreduce_init: MPI_Allreduce_init MPI_Allreduce_init_c,
        MPI_Scan_init: MPI_Scan_init MPI_Scan_init_c,
        MPI_Exscan_init: MPI_Exscan_init MPI_Exscan_init_c,
        MPI_Reduce_scatter_block_init: MPI_Reduce_scatter_block_init MPI_Reduce_scatter_block_init_c,
    ] (sent, received, count, datatype, function, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = collective(library, communicator, None, library.bytes(numbers.number(count),
                datatype));
            prepared(library, facts, request)
        })
    };
    [
        MPI_Reduce_scatter: MPI_Reduce_scatter MPI_Reduce_scatter_c,
    ] (sent, received, counts, datatype, function, communicator) {
        |operation, numbers, call| bracket(operation, call, |library| {
            reduced(library, communicator, counts, datatype, numbers)
        })
    };
    [
        MPI_Ireduce_scatter: MPI_Ireduce_scatter MPI_Ireduce_scatter_c,
    ] (sent, received, counts, datatype, function, communicator, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = reduced(library, communicator, counts, datatype, numbers);
            started(library, facts, request)
        })
    };
    [
        MPI_Reduce_scatter_init: MPI_Reduce_scatter_init MPI_Reduce_scatter_init_c,
    ] (sent, received, counts, datatype, function, communicator, info, request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            let facts = reduced(library, communicator, counts, datatype, numbers);
            prepared(library, facts, request)
        })
    };
}
