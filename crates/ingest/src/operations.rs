//! What the collector's operations are, in the profile's terms.

use proust_log::operations::{Family as LogFamily, Nature as LogNature, Operation};
use proust_log::records::RELEASE_WEIGHT_NS;
use proust_profile::releases::SAMPLED_HELD_NS;
use proust_profile::{Detail, Family, Nature, OperationInfo, OperationKind};

use super::mpi::is_exchange;

// Both name the length below which sections are sampled.
const _: () = assert!(RELEASE_WEIGHT_NS == SAMPLED_HELD_NS);

/// The operation that the collector's log calls by this name; of another name nothing is known.
pub fn operation_info(name: &str) -> OperationInfo {
    OperationInfo { name: name.into(), kind: Operation::from_name(name).map(kind) }
}

/// The operation with this number in the log.
pub(super) fn info(number: usize) -> OperationInfo {
    match of_number(number) {
        Some(operation) => OperationInfo { name: operation.name().into(), kind: Some(kind(operation)) },
        None => OperationInfo::default(),
    }
}

/// What a thread does in the operation with this number in the log.
pub(super) fn nature_of(number: usize) -> Option<Nature> {
    of_number(number).map(|operation| nature(operation.nature()))
}

fn of_number(number: usize) -> Option<Operation> {
    u16::try_from(number).ok().and_then(Operation::from_number)
}

/// What an operation of the log is.
fn kind(operation: Operation) -> OperationKind {
    OperationKind {
        nature: nature(operation.nature()),
        family: match operation.family() {
            LogFamily::Library => Family::Library,
            LogFamily::OpenMp => Family::OpenMp,
            LogFamily::Mpi => Family::Mpi,
        },
        detail: detail(operation),
    }
}

fn nature(of: LogNature) -> Nature {
    match of {
        LogNature::Lock => Nature::Lock,
        LogNature::Spin => Nature::Spin,
        LogNature::Barrier => Nature::Barrier,
        LogNature::Condition => Nature::Condition,
        LogNature::Semaphore => Nature::Semaphore,
        LogNature::Join => Nature::Join,
        LogNature::Sleep => Nature::Sleep,
        LogNature::Yield => Nature::Yield,
        LogNature::Poll => Nature::Poll,
        LogNature::Process => Nature::Process,
        LogNature::Signal => Nature::Signal,
        LogNature::Pause => Nature::Pause,
        LogNature::Accept => Nature::Accept,
        LogNature::Queue => Nature::Queue,
        LogNature::Futex => Nature::Futex,
        LogNature::Read => Nature::Read,
        LogNature::Write => Nature::Write,
        LogNature::Transfer => Nature::Transfer,
        LogNature::Manage => Nature::Manage,
        LogNature::Release => Nature::Release,
        LogNature::Wake => Nature::Wake,
        LogNature::Runtime => Nature::Runtime,
        LogNature::Pool => Nature::Pool,
        LogNature::Message => Nature::Message,
        LogNature::Collective => Nature::Collective,
        LogNature::Communicate => Nature::Communicate,
        LogNature::Local => Nature::Local,
    }
}

fn detail(operation: Operation) -> Detail {
    use Operation as O;
    match operation {
        O::MutexLock | O::MutexTimedLock | O::MutexClockLock | O::MutexTryLock => Detail::Mutex,
        O::MtxLock | O::MtxTimedLock | O::MtxTryLock => Detail::Mutex,
        O::MutexUnlock | O::MtxUnlock => Detail::Mutex,
        O::SpinLock | O::SpinTryLock | O::SpinUnlock => Detail::SpinLock,
        O::RwLockRead | O::RwLockTimedRead | O::RwLockClockRead | O::RwLockTryRead => Detail::ReadWriteLock,
        O::RwLockWrite | O::RwLockTimedWrite | O::RwLockClockWrite => Detail::ReadWriteLock,
        O::RwLockTryWrite | O::RwLockUnlock => Detail::ReadWriteLock,
        O::Once | O::CallOnce => Detail::Once,
        O::FileLock | O::LockFile | O::ControlLock => Detail::FileLock,
        O::StreamRead | O::StreamLine | O::StreamCharacter | O::StreamGetLine => Detail::Buffered,
        O::StreamScan | O::StreamWrite | O::StreamPutString => Detail::Buffered,
        O::StreamPutCharacter | O::StreamPrint | O::PutString => Detail::Buffered,
        O::ReadDirectory | O::RandomBytes | O::Entropy => Detail::Piecewise,
        O::Synchronise | O::SynchroniseData | O::SynchroniseRange => Detail::Storage,
        O::SynchroniseFileSystem | O::SynchroniseAll | O::SynchroniseMemory => Detail::Storage,
        O::Connect => Detail::Connect,
        O::OmpBarrier => Detail::TeamBarrier,
        O::OmpBarrierOfOne => Detail::BarrierOfOne,
        O::OmpRegionEnd => Detail::RegionEnd,
        O::OmpFork => Detail::Fork,
        O::OmpTaskWait => Detail::TaskWait,
        O::OmpTaskGroup => Detail::TaskGroup,
        O::OmpCopyPrivate => Detail::CopyPrivate,
        O::OmpDoacross => Detail::Doacross,
        O::OmpCritical | O::OmpCriticalEnd => Detail::Critical,
        O::OmpAtomic | O::OmpAtomicEnd => Detail::Atomic,
        O::OmpOrdered | O::OmpOrderedEnd => Detail::Ordered,
        O::OmpSetLock
        | O::OmpSetNestLock
        | O::OmpTestLock
        | O::OmpTestNestLock
        | O::OmpUnsetLock
        | O::OmpUnsetNestLock => Detail::OmpLock,
        O::OmpDispatch => Detail::Dispatch,
        O::OmpTask => Detail::Task,
        O::MPI_Send | O::MPI_Ssend | O::MPI_Bsend | O::MPI_Rsend => Detail::Send,
        O::MPI_Isend | O::MPI_Issend | O::MPI_Ibsend | O::MPI_Irsend => Detail::Send,
        O::MPI_Recv | O::MPI_Mrecv | O::MPI_Irecv | O::MPI_Imrecv => Detail::Receive,
        O::MPI_Sendrecv | O::MPI_Sendrecv_replace => Detail::SendReceive,
        O::MPI_Isendrecv | O::MPI_Isendrecv_replace => Detail::SendReceive,
        _ if is_exchange(operation) => Detail::Exchange,
        _ => Detail::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_says_which_sort_it_is() {
        for &operation in Operation::ALL {
            let kind = kind(operation);
            if matches!(kind.nature, Nature::Lock | Nature::Spin | Nature::Release) {
                assert_ne!(kind.detail, Detail::Plain, "{}", operation.name());
            }
        }
    }

    #[test]
    fn natures_and_families_keep_their_names() {
        for &operation in Operation::ALL {
            let kind = kind(operation);
            assert_eq!(format!("{:?}", kind.nature), format!("{:?}", operation.nature()));
            assert_eq!(kind.is_of_openmp(), operation.is_of_openmp());
        }
    }

    #[test]
    fn messages_and_exchanges_of_data_are_known() {
        let detail = |name: &str| operation_info(name).kind.unwrap().detail;
        assert_eq!(detail("MPI_Issend"), Detail::Send);
        assert_eq!(detail("MPI_Mrecv"), Detail::Receive);
        assert_eq!(detail("MPI_Sendrecv_replace"), Detail::SendReceive);
        for name in ["MPI_Barrier", "MPI_Iallreduce", "MPI_Neighbor_alltoallw", "MPI_Exscan"] {
            assert_eq!(detail(name), Detail::Exchange, "{name}");
        }
        for name in
            ["MPI_Wait", "MPI_Comm_dup", "MPI_Comm_idup", "MPI_Win_fence", "MPI_Bcast_init", "MPI_Put"]
        {
            assert_eq!(detail(name), Detail::Plain, "{name}");
        }
    }

    #[test]
    fn of_a_name_that_no_hook_has_nothing_is_known() {
        assert_eq!(operation_info("shmem_put").kind, None);
        let barrier = operation_info("omp barrier").kind.unwrap();
        assert_eq!((barrier.nature, barrier.detail), (Nature::Barrier, Detail::TeamBarrier));
    }
}
