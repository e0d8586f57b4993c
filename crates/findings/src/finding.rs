//! What a finding is.

use proust_profile::{Ns, ProcessId};
use serde::{Deserialize, Serialize};

use super::figure::{Figure, FigureId};
use super::place::Place;
use super::thresholds::Check;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident $id:literal;)*) => {
        /// What sort of loss a finding is about. The identifiers are part of the JSON contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $($(#[doc = $doc])* #[serde(rename = $id)] $name,)*
        }

        impl Finding {
    /// Whether a figure of this identifier is among its evidence.
    pub fn has(&self, id: FigureId) -> bool {
        self.evidence.iter().any(|figure| figure.id == id)
    }
}

impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),*];

            /// The stable identifier.
            pub const fn id(self) -> &'static str {
                match self { $(Kind::$name => $id,)* }
            }
        }
    };
}

kinds! {
    /// A lock is held while its holder does I/O.
    LockAcrossIo "lock-across-io";
    /// A lock is held while its holder sleeps, or waits for something else.
    LockAcrossSleep "lock-across-sleep";
    /// The lock of a language's interpreter allows one thread to execute at a time.
    InterpreterLock "interpreter-lock";
    /// The lock of a library is held while others wait that called the same library.
    LibraryLock "library-lock";
    /// The work is done by a slow implementation of a library of which there are fast ones.
    SlowLibrary "slow-library";
    /// A short critical section is entered all the time.
    HotSection "hot-section";
    /// Several threads queue for one lock most of the time.
    Convoy "convoy";
    /// A lock is held for long.
    LongSection "long-section";
    /// Threads wait for a lock by trying again and again.
    LockSpin "lock-spin";
    /// One thread works alone, and there is no other work.
    SerialPhase "serial-phase";
    /// One thread of several alike continues alone when the others have nothing left to do.
    LongTask "long-task";
    /// Threads wait for work again and again while a few others work.
    IdlePool "idle-pool";
    /// All wait at a barrier for the one that has more to do.
    LateThread "late-thread";
    /// All wait at a barrier for what one of them does, each time another one.
    LateWork "late-work";
    /// Threads wait for each other in turn, so that one works at a time.
    WorkByTurns "work-by-turns";
    /// Hardly ever more than one of several works, while others wait for it.
    OneAtATime "one-at-a-time";
    /// More is spent on handing out tasks than a task should cost.
    SmallTasks "small-tasks";
    /// More threads want to run than there are processors.
    Oversubscription "oversubscription";
    /// More threads are bound to processors than these are, while others are empty.
    BoundTogether "bound-together";
    /// One thread touches the memory first that several use.
    FirstTouch "first-touch";
    /// Much memory is touched for the first time at once.
    FaultStartup "fault-startup";
    /// Memory is given back and touched again all the time.
    FaultChurn "fault-churn";
    /// Much processor time goes into clearing memory.
    MemoryClearing "memory-clearing";
    /// Much processor time goes into copying memory.
    MemoryCopying "memory-copying";
    /// Memory is allocated and freed all the time.
    AllocationChurn "allocation-churn";
    /// The same text is searched to its end again and again.
    TextScanning "text-scanning";
    /// What is prepared for many uses is prepared for each.
    RepeatedPreparation "repeated-preparation";
    /// Exceptions are thrown all the time.
    ExceptionChurn "exception-churn";
    /// System calls take the processors.
    SystemStorm "system-storm";
    /// All threads are idle while one sleeps and checks, again and again.
    SleepPoll "sleep-poll";
    /// Threads that work otherwise sleep for a time while processors are empty.
    SleepingWorker "sleeping-worker";
    /// A thread waits by giving its processor away again and again.
    SpinWait "spin-wait";
    /// A thread waits in a loop that does nothing but read memory.
    BusyWait "busy-wait";
    /// Several threads change memory atomically all the time.
    HotAtomic "hot-atomic";
    /// Processes wait to write, since their reader waits for another one.
    UnreadOutput "unread-output";
    /// Requests are sent one by one, each when the one before is answered, and nothing works meanwhile.
    RoundTrips "round-trips";
    /// What an event loop calls takes long, and the loop serves nobody else meanwhile.
    BlockedLoop "blocked-loop";
    /// Processes of Python spend much of the processor time on handing data to each other.
    ProcessExchange "process-exchange";
    /// Very many short-lived threads.
    ThreadChurn "thread-churn";
    /// Very many short-lived processes.
    ProcessChurn "process-churn";
    /// I/O of a few bytes a call.
    TinyIo "tiny-io";
    /// Reading or writing files takes much of the run.
    MuchIo "much-io";
    /// Files are opened and closed again and again.
    FileChurn "file-churn";
    /// Files are synchronised with their device again and again.
    SyncStorm "sync-storm";
    /// A construct of OpenMP is executed so often that each time there is hardly anything to do.
    OmpDeepConstruct "omp-deep-construct";
    /// A loop is divided by count, and its iterations differ.
    OmpUnevenLoop "omp-uneven-loop";
    /// A loop is handed out in chunks so large that threads wait for the last one.
    OmpLargeChunks "omp-large-chunks";
    /// A loop is handed out in chunks that take no longer than asking for them.
    OmpSmallChunks "omp-small-chunks";
    /// A section for one thread at a time is entered in a hot loop.
    OmpHotCritical "omp-hot-critical";
    /// Threads settle all the time which of them executes the next piece of work.
    OmpHotSingle "omp-hot-single";
    /// Teams inside of teams have more threads than there are processors.
    OmpNestedTeams "omp-nested-teams";
    /// Threads that wait for each other keep processors that others need.
    OmpSpinningWaits "omp-spinning-waits";
    /// Threads that wait for a moment sleep, and have to be woken.
    OmpSleepingWaits "omp-sleeping-waits";
    /// One thread works between parallel regions, again and again.
    OmpSerialPart "omp-serial-part";
    /// A loop that is to be divided is executed where there is one thread.
    OmpTeamOfOne "omp-team-of-one";
    /// Tasks that take no longer than making them.
    OmpSmallTasks "omp-small-tasks";
    /// Tasks are executed one after the other while the team waits.
    OmpSerialTasks "omp-serial-tasks";
    /// Ranks wait for a message of a rank that has more to do before it sends.
    MpiLateSender "mpi-late-sender";
    /// Ranks that send wait for a rank that has more to do before it receives.
    MpiLateReceiver "mpi-late-receiver";
    /// Ranks wait in a collective for those that have more to do before it.
    MpiImbalance "mpi-imbalance";
    /// One rank works alone while the others wait for it.
    MpiSerialPhase "mpi-serial-phase";
    /// Each rank works when the one before it is done.
    MpiSerialChain "mpi-serial-chain";
    /// Very many messages of a few bytes.
    MpiSmallMessages "mpi-small-messages";
    /// Collectives of a few bytes that follow each other at once.
    MpiGroupableCollectives "mpi-groupable-collectives";
    /// Communicators, windows or files of MPI are made again and again.
    MpiRepeatedSetup "mpi-repeated-setup";
    /// One rank does hardly anything but wait for messages of the others.
    MpiIdleRank "mpi-idle-rank";
    /// Memory of other ranks, or files, are accessed by very many calls.
    MpiSmallAccesses "mpi-small-accesses";
    /// Moving data between ranks takes much of their time.
    MpiMuchData "mpi-much-data";
    /// MPI is asked again and again whether something has arrived, and it has not.
    MpiPolls "mpi-polls";
    /// A rank waits for one message while others are there that it takes later.
    MpiWrongOrder "mpi-wrong-order";
    /// Threads wait for much of the run, and no other kind gives the cause.
    UnexplainedWait "unexplained-wait";
    /// A marked interval loses most of the run's lost time, in parts that one processor executes, or all.
    IntervalSequential "interval-sequential";
    /// Likewise, in parallel parts that have less work at once than there are processors.
    IntervalNarrow "interval-narrow";
    /// Likewise, since some processors have more to do in it than others.
    IntervalUneven "interval-uneven";
    /// Likewise, since processors leave operations at different times.
    IntervalVaried "interval-varied";
    /// Likewise, since imbalances of several parts of it make up for one another.
    IntervalCompensated "interval-compensated";
    /// Likewise, since one processor reads or writes for all.
    IntervalIo "interval-io";
    /// Likewise, in one kind of operation.
    IntervalOperations "interval-operations";
}

impl Kind {
    /// Whether it is about a marked interval as a whole: the others say of the same time which code is at
    /// fault.
    pub fn is_of_interval(self) -> bool {
        matches!(
            self,
            Kind::IntervalSequential
                | Kind::IntervalNarrow
                | Kind::IntervalUneven
                | Kind::IntervalVaried
                | Kind::IntervalCompensated
                | Kind::IntervalIo
                | Kind::IntervalOperations
        )
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sure {
    /// It was measured, from begin to end.
    Certain,
    /// It follows from measurements, or from enough samples.
    Likely,
    /// The measurements fit it, and other explanations as well.
    Possible,
}

impl Sure {
    /// All there are, the surest first.
    pub const ALL: [Sure; 3] = [Sure::Certain, Sure::Likely, Sure::Possible];

    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Sure::Certain => "certain",
            Sure::Likely => "likely",
            Sure::Possible => "possible",
        }
    }
}

/// The places that lost the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Victim {
    /// Where.
    pub place: Place,
    /// How many threads.
    pub threads: usize,
    /// How much they lost.
    pub lost: Ns,
}

/// A statement about a loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What sort of loss.
    pub kind: Kind,
    /// Identifier of the account that the time is on.
    pub account: String,
    /// The time that could be saved: `lost`, capped by the time that the processors had left.
    pub recoverable: Ns,
    /// The loss.
    pub lost: Ns,
    /// Processor time that the loss itself burns: part of the time that could be saved, and not used
    /// otherwise.
    pub burned: Ns,
    /// Waiting at the same place that has other causes as well: the advice may end it, too.
    #[serde(default)]
    pub beside: Ns,
    /// Wall time that following the advice may save, from and to (see `range`).
    #[serde(default)]
    pub low: Ns,
    /// See `low`.
    #[serde(default)]
    pub high: Ns,
    /// Time on the critical path of what it is about, with two standard errors: no change saves more wall
    /// time. None where no such path is known.
    #[serde(default)]
    pub on_path: Option<Ns>,
    /// Standard error of `lost`; 0 where nothing of it was sampled.
    pub error: Ns,
    /// What to look at.
    pub cause: Place,
    /// Where the program waits for the end of what one thread does alone: most often it has divided the work
    /// there as well.
    #[serde(default)]
    pub awaited: Option<Place>,
    /// Where it hands over what others go on with.
    #[serde(default)]
    pub handed_over: Option<Place>,
    /// The places that lost it, most first. Empty where none waited.
    pub victims: Vec<Victim>,
    /// The numbers it was found by.
    pub evidence: Vec<Figure>,
    /// The comparisons with thresholds.
    pub checks: Vec<Check>,
    /// How sure it is.
    pub sure: Sure,
    /// Whether it would be surer if it were not a small part of the run's total only.
    #[serde(default)]
    pub small: bool,
    /// Whether it would be surer if the place were the program's and had a name.
    #[serde(default)]
    pub unnamed: bool,
    /// The processes that lose the time.
    #[serde(default)]
    pub processes: Vec<ProcessId>,
    /// File name of the library it is about, where it is about one.
    #[serde(default)]
    pub library: Option<String>,
    /// Ranks of MPI that others waited for, most first.
    #[serde(default)]
    pub ranks: Vec<u32>,
    /// The lock it is about, where it is about one: position in [`proust_account::blame::Blame::locks`].
    pub lock: Option<u32>,
}
