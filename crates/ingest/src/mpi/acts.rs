//! The functions of MPI in the words of [`proust_messages`]: who waits for whom in each.

use proust_log::operations::{Nature, Operation as O};
use proust_log::records::Envelope;
use proust_messages::call::{Act, Collective, Mode, Partner};

/// What a call of a function does. `from`: the slot that its second object names, where that is one.
pub(super) fn act(operation: O, from: u16) -> Act {
    match operation {
        O::MPI_Send | O::MPI_Ssend | O::MPI_Rsend => Act::Send(Mode::Standard),
        O::MPI_Bsend => Act::Send(Mode::Buffered),
        O::MPI_Recv => Act::Receive,
        O::MPI_Sendrecv | O::MPI_Sendrecv_replace => Act::SendReceive,
        O::MPI_Probe => Act::Probe,
        O::MPI_Mprobe => Act::MatchedProbe,
        O::MPI_Improbe => Act::MatchedTest,
        O::MPI_Mrecv => Act::ReceiveMatched,
        O::MPI_Imrecv => Act::StartMatched { from },
        O::MPI_Isend | O::MPI_Issend | O::MPI_Irsend => Act::StartSend(Mode::Standard),
        O::MPI_Ibsend => Act::StartSend(Mode::Buffered),
        O::MPI_Irecv => Act::StartReceive,
        O::MPI_Send_init | O::MPI_Ssend_init | O::MPI_Rsend_init => Act::PrepareSend(Mode::Standard),
        O::MPI_Bsend_init => Act::PrepareSend(Mode::Buffered),
        O::MPI_Recv_init => Act::PrepareReceive,
        O::MPI_Isendrecv | O::MPI_Isendrecv_replace => Act::StartSendReceive,
        O::MPI_Start | O::MPI_Startall => Act::Start,
        O::MPI_Request_free => Act::Free,
        _ if completes(operation) => match operation {
            O::MPI_Wait | O::MPI_Waitall | O::MPI_Waitany | O::MPI_Waitsome => Act::Wait,
            _ => Act::Test,
        },
        _ => collective(operation).unwrap_or(Act::Other),
    }
}

/// Whether it completes requests, even if it fails.
pub(super) fn completes(operation: O) -> bool {
    matches!(
        operation,
        O::MPI_Wait
            | O::MPI_Waitall
            | O::MPI_Waitany
            | O::MPI_Waitsome
            | O::MPI_Test
            | O::MPI_Testall
            | O::MPI_Testany
            | O::MPI_Testsome
    )
}

/// Whether it sends or receives messages of which the log holds nothing.
pub(super) fn is_untraced(operation: O) -> bool {
    matches!(operation, O::MPI_Psend_init | O::MPI_Precv_init)
}

/// Whether it exchanges data, or all wait for all in it; functions that only make communicators, windows and
/// persistent requests do neither.
pub(crate) fn is_exchange(operation: O) -> bool {
    let is_tight = |kind: Collective| kind != Collective::Loose;
    operation.nature() == Nature::Collective
        && matches!(act(operation, 0), Act::Collective(kind) | Act::StartCollective(kind) if is_tight(kind))
}

fn collective(operation: O) -> Option<Act> {
    let blocking = match operation {
        O::MPI_Barrier => Collective::Barrier,
        O::MPI_Bcast | O::MPI_Scatter | O::MPI_Scatterv => Collective::OneToAll,
        O::MPI_Reduce | O::MPI_Gather | O::MPI_Gatherv => Collective::AllToOne,
        O::MPI_Allgather | O::MPI_Allgatherv | O::MPI_Alltoall | O::MPI_Alltoallv => Collective::AllToAll,
        O::MPI_Alltoallw | O::MPI_Allreduce => Collective::AllToAll,
        O::MPI_Reduce_scatter | O::MPI_Reduce_scatter_block => Collective::AllToAll,
        O::MPI_Scan | O::MPI_Exscan => Collective::Scan,
        O::MPI_Neighbor_allgather | O::MPI_Neighbor_allgatherv => Collective::Neighbours,
        O::MPI_Neighbor_alltoall | O::MPI_Neighbor_alltoallv => Collective::Neighbours,
        O::MPI_Neighbor_alltoallw => Collective::Neighbours,
        O::MPI_Comm_idup | O::MPI_Comm_idup_with_info => {
            return Some(Act::StartCollective(Collective::Loose));
        }
        _ => {
            let started = started(operation).map(Act::StartCollective);
            let prepared = || prepared(operation).map(Act::PrepareCollective);
            return started.or_else(prepared).or_else(|| loose(operation));
        }
    };
    Some(Act::Collective(blocking))
}

/// Those that only start.
fn started(operation: O) -> Option<Collective> {
    Some(match operation {
        O::MPI_Ibarrier => Collective::Barrier,
        O::MPI_Ibcast | O::MPI_Iscatter | O::MPI_Iscatterv => Collective::OneToAll,
        O::MPI_Ireduce | O::MPI_Igather | O::MPI_Igatherv => Collective::AllToOne,
        O::MPI_Iallgather | O::MPI_Iallgatherv | O::MPI_Ialltoall => Collective::AllToAll,
        O::MPI_Ialltoallv | O::MPI_Ialltoallw | O::MPI_Iallreduce => Collective::AllToAll,
        O::MPI_Ireduce_scatter | O::MPI_Ireduce_scatter_block => Collective::AllToAll,
        O::MPI_Iscan | O::MPI_Iexscan => Collective::Scan,
        O::MPI_Ineighbor_allgather | O::MPI_Ineighbor_allgatherv => Collective::Neighbours,
        O::MPI_Ineighbor_alltoall | O::MPI_Ineighbor_alltoallv => Collective::Neighbours,
        O::MPI_Ineighbor_alltoallw => Collective::Neighbours,
        O::MPI_File_iread_all | O::MPI_File_iread_at_all => Collective::Loose,
        O::MPI_File_iwrite_all | O::MPI_File_iwrite_at_all => Collective::Loose,
        _ => return None,
    })
}

/// Those that only prepare a request.
fn prepared(operation: O) -> Option<Collective> {
    Some(match operation {
        O::MPI_Barrier_init => Collective::Barrier,
        O::MPI_Bcast_init | O::MPI_Scatter_init | O::MPI_Scatterv_init => Collective::OneToAll,
        O::MPI_Reduce_init | O::MPI_Gather_init | O::MPI_Gatherv_init => Collective::AllToOne,
        O::MPI_Allgather_init | O::MPI_Allgatherv_init | O::MPI_Alltoall_init => Collective::AllToAll,
        O::MPI_Alltoallv_init | O::MPI_Alltoallw_init | O::MPI_Allreduce_init => Collective::AllToAll,
        O::MPI_Reduce_scatter_init | O::MPI_Reduce_scatter_block_init => Collective::AllToAll,
        O::MPI_Scan_init | O::MPI_Exscan_init => Collective::Scan,
        O::MPI_Neighbor_allgather_init | O::MPI_Neighbor_allgatherv_init => Collective::Neighbours,
        O::MPI_Neighbor_alltoall_init | O::MPI_Neighbor_alltoallv_init => Collective::Neighbours,
        O::MPI_Neighbor_alltoallw_init => Collective::Neighbours,
        _ => return None,
    })
}

/// What all members call, though the library need not make them wait: communicators, windows and files that
/// are made and given up, and files that are used together.
fn loose(operation: O) -> Option<Act> {
    let is_of_file = matches!(
        operation,
        O::MPI_File_open
            | O::MPI_File_close
            | O::MPI_File_preallocate
            | O::MPI_File_set_size
            | O::MPI_File_set_view
            | O::MPI_File_sync
            | O::MPI_File_seek_shared
            | O::MPI_File_read_all
            | O::MPI_File_read_at_all
            | O::MPI_File_read_ordered
            | O::MPI_File_read_all_begin
            | O::MPI_File_read_at_all_begin
            | O::MPI_File_read_ordered_begin
            | O::MPI_File_write_all
            | O::MPI_File_write_at_all
            | O::MPI_File_write_ordered
            | O::MPI_File_write_all_begin
            | O::MPI_File_write_at_all_begin
            | O::MPI_File_write_ordered_begin
    );
    (operation.nature() == Nature::Collective || is_of_file).then_some(Act::Collective(Collective::Loose))
}

/// A rank as the log has it.
pub(super) fn partner(rank: i32) -> Partner {
    match rank {
        Envelope::ANY => Partner::Any,
        Envelope::NOBODY => Partner::Nobody,
        Envelope::ROOT => Partner::Root,
        _ => u32::try_from(rank).map_or(Partner::None, Partner::Rank),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_with_a_partner_has_an_act() {
        for &operation in O::ALL {
            let act = act(operation, 0);
            let is_known = act != Act::Other;
            match operation.nature() {
                Nature::Collective => assert!(is_known, "{} is {act:?}", operation.name()),
                Nature::Message => {}
                _ if operation.is_of_mpi() && operation.name().contains("File") => {}
                _ => assert!(!is_known, "{} is {act:?}", operation.name()),
            }
        }
        assert_eq!(act(O::MPI_Imrecv, 7), Act::StartMatched { from: 7 });
        assert_eq!(act(O::MPI_Exscan, 0), Act::Collective(Collective::Scan));
        assert_eq!(act(O::MPI_Comm_split, 0), Act::Collective(Collective::Loose));
        assert_eq!(act(O::MPI_File_iread, 0), Act::Other);
        assert!(completes(O::MPI_Testsome) && is_untraced(O::MPI_Psend_init));
        assert_eq!(
            [Envelope::ANY, Envelope::NOBODY, Envelope::ROOT, Envelope::NONE, 3].map(partner),
            [Partner::Any, Partner::Nobody, Partner::Root, Partner::None, Partner::Rank(3)]
        );
    }
}
