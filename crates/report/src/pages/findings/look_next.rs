//! Where a user sees more of a loss.

use proust_findings::Kind;

/// Pages that show more of it, without the handle of a place: page, and why.
pub(super) fn pages(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::LockAcrossIo
        | Kind::LockAcrossSleep
        | Kind::HotSection
        | Kind::Convoy
        | Kind::LongSection
        | Kind::LockSpin
        | Kind::InterpreterLock
        | Kind::LibraryLock => &[("locks", "who held it, who waited for whom")],
        Kind::SerialPhase | Kind::OmpSerialPart | Kind::LongTask | Kind::IdlePool => {
            &[("tree --sort caused_s", "where empty processors come from"), ("timeline", "when")]
        }
        Kind::WorkByTurns | Kind::OneAtATime => {
            &[("timeline", "who works when"), ("waits", "who waited, and where")]
        }
        Kind::ProcessChurn => &[("processes", "which, and how long"), ("io", "what is read from them")],
        Kind::LateThread | Kind::LateWork => {
            &[("threads --sort caused_s", "who lets others wait"), ("waits", "who waited, and where")]
        }
        Kind::SmallTasks | Kind::SpinWait | Kind::ThreadChurn => {
            &[("effort", "work, idleness and overhead by context"), ("waits", "how often, and how long")]
        }
        Kind::BoundTogether | Kind::Oversubscription => &[("threads", "what each thread spent its time on")],
        Kind::FirstTouch | Kind::FaultStartup | Kind::FaultChurn => {
            &[("tree --metrics minor_faults,fault_s", "where faults happen")]
        }
        Kind::UnexplainedWait => &[
            ("tree --sort caused_s", "what others waited for"),
            ("threads", "what each thread spent its time on"),
            ("timeline", "who waited when"),
        ],
        Kind::HotAtomic => &[
            ("flat --by line --sort atomic_s", "the lines that change memory atomically"),
            ("callers", "what called them"),
        ],
        Kind::ProcessExchange => &[("flat", "which functions take it"), ("io", "what is sent and received")],
        Kind::BlockedLoop => &[("tree", "what the loop calls"), ("timeline", "who works when")],
        Kind::RoundTrips => &[("io", "what is sent and received"), ("waits", "how long each wait was")],
        Kind::UnreadOutput => &[("io", "who waited to read and to write"), ("timeline", "who works when")],
        Kind::TextScanning => &[("callers strlen", "who looks how long")],
        Kind::OmpHotSingle => &[("openmp", "what the region's time is"), ("flat", "what the runtime takes")],
        Kind::ExceptionChurn => &[("callers __cxa_throw", "who throws how much")],
        Kind::RepeatedPreparation => &[("tree", "what prepares it, and what uses it")],
        Kind::MemoryCopying => &[("callers memcpy", "who copies how much")],
        Kind::AllocationChurn => {
            &[("callers malloc", "who allocates how much"), ("callers free", "who frees")]
        }
        Kind::BusyWait => &[
            ("flat --by line --sort busy_wait_s", "the lines that wait"),
            ("tree --sort busy_wait_s", "what called them"),
        ],
        Kind::SlowLibrary => &[("flat", "functions by processor time")],
        Kind::MemoryClearing => &[("callers memset", "who clears how much")],
        Kind::SystemStorm => &[("flat --sort system_s", "functions by time in the kernel")],
        Kind::FileChurn => &[("io", "which files, how often, and from where")],
        Kind::SleepingWorker => &[("waits", "sleeps by place"), ("threads", "how much each thread works")],
        Kind::SleepPoll => &[("waits", "sleeps by place"), ("timeline", "when everything stood still")],
        Kind::OmpDeepConstruct
        | Kind::OmpUnevenLoop
        | Kind::OmpLargeChunks
        | Kind::OmpSmallChunks
        | Kind::OmpHotCritical
        | Kind::OmpSmallTasks
        | Kind::OmpSerialTasks => &[
            ("openmp", "work and waits by site and thread"),
            ("threads", "what each thread spent its time on"),
        ],
        Kind::OmpNestedTeams | Kind::OmpSpinningWaits | Kind::OmpSleepingWaits => &[
            ("threads", "what each thread spent its time on"),
            ("openmp", "work and waits by site and thread"),
        ],
        Kind::OmpTeamOfOne => &[
            ("tree --sort caused_s", "where empty processors come from"),
            ("openmp", "regions that do have teams"),
        ],
        Kind::MpiLateSender
        | Kind::MpiLateReceiver
        | Kind::MpiImbalance
        | Kind::MpiSerialPhase
        | Kind::MpiSerialChain => {
            &[("mpi", "who waited for whom, and why"), ("threads", "what each rank spent its time on")]
        }
        Kind::MpiSmallMessages
        | Kind::MpiGroupableCollectives
        | Kind::MpiRepeatedSetup
        | Kind::MpiIdleRank
        | Kind::MpiSmallAccesses
        | Kind::MpiMuchData
        | Kind::MpiPolls
        | Kind::MpiWrongOrder => &[("mpi", "calls, messages and waits by place")],
        Kind::IntervalSequential
        | Kind::IntervalNarrow
        | Kind::IntervalUneven
        | Kind::IntervalVaried
        | Kind::IntervalCompensated
        | Kind::IntervalIo
        | Kind::IntervalOperations => &[
            ("intervals", "the way to the critical part, with the numbers of each decision"),
            ("intervals --format dvm", "all characteristics"),
        ],
        Kind::TinyIo | Kind::MuchIo | Kind::SyncStorm => &[("io", "calls, bytes and times by operation")],
    }
}
