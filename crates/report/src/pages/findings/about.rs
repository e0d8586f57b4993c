//! What each kind of finding is, for the guide: the title says it in few words.

use proust_findings::Kind;

/// What findings of a kind are about.
pub(crate) fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::LockAcrossIo => "a lock is held while its holder does I/O",
        Kind::LockAcrossSleep => "a lock is held while its holder sleeps, or waits for something else",
        Kind::InterpreterLock => {
            "threads wait for the lock of a language's interpreter, under which only one executes \
             at a time"
        }
        Kind::LibraryLock => {
            "threads that call a library wait for that library's own lock (OpenBLAS, the C library)"
        }
        Kind::SlowLibrary => "much of the processor time is in the reference BLAS or LAPACK",
        Kind::HotSection => "a short critical section is entered all the time",
        Kind::Convoy => "several threads queue for one lock most of the time",
        Kind::LongSection => "a lock is held for a long time",
        Kind::LockSpin => "threads wait for a lock by trying again and again",
        Kind::SerialPhase => "one thread works alone, and there is no other work",
        Kind::LongTask => {
            "one of several similar threads still works when the others have nothing left to do"
        }
        Kind::IdlePool => "threads wait for work again and again while a few others work",
        Kind::LateThread => "all threads wait at a barrier for one that has more to do",
        Kind::LateWork => "threads wait at a barrier for one that is still at work, each time another one",
        Kind::WorkByTurns => "threads wait for each other in turn, so that one works at a time",
        Kind::OneAtATime => "hardly ever more than one of several works, while others wait for it",
        Kind::SmallTasks => "more is spent on handing out tasks than a task should cost",
        Kind::BoundTogether => "threads are bound to fewer processors than they need, while others are empty",
        Kind::Oversubscription => "more threads want to run than there are processors",
        Kind::FirstTouch => "one thread is the first to touch memory that several threads use",
        Kind::FaultStartup => "a process touches much memory for the first time at once, in its own code",
        Kind::FaultChurn => {
            "the page faults of a process brought more memory than twice what it ever had \
             resident at once"
        }
        Kind::MemoryClearing => "much of the processor time goes into clearing memory, for one line",
        Kind::SystemStorm => "system calls take the processors",
        Kind::SleepPoll => "nothing else proceeds while a thread sleeps and checks, again and again",
        Kind::SleepingWorker => "threads that work sleep for a time while processors are empty",
        Kind::SpinWait => {
            "a thread waits by yielding its processor, or by asking the system, again and again"
        }
        Kind::HotAtomic => "several threads change memory atomically all the time",
        Kind::UnreadOutput => "processes wait to write, since their reader waits for another of them",
        Kind::RoundTrips => {
            "each request is sent when the one before is answered, and nothing works meanwhile"
        }
        Kind::BlockedLoop => "an event loop stands still while what it called computes or waits",
        Kind::ProcessExchange => {
            "processes of Python spend much of the processor time on handing data to each other"
        }
        Kind::TextScanning => {
            "much of the processor time goes into looking for the ends of texts, for one line"
        }
        Kind::OmpHotSingle => "threads settle very often which of them executes a single, for little work",
        Kind::ExceptionChurn => "what happens all the time is reported by throwing exceptions",
        Kind::RepeatedPreparation => "what is prepared for many uses is prepared again for each",
        Kind::MemoryCopying => "much of the processor time goes into copying memory, for one line",
        Kind::AllocationChurn => {
            "much of the processor time goes into allocating and freeing memory, for one function"
        }
        Kind::BusyWait => "a thread waits in a loop that does nothing but read memory",
        Kind::UnexplainedWait => "threads wait for much of the run, and no cause can be established",
        Kind::ThreadChurn => "very many short-lived threads",
        Kind::ProcessChurn => "very many short-lived processes",
        Kind::TinyIo => "each call moves only a few",
        Kind::MuchIo => "much of the run goes into reading or writing files at one line",
        Kind::FileChurn => "files are opened and closed again and again",
        Kind::SyncStorm => "files are synchronised with their device again and again",
        Kind::OmpDeepConstruct => "it is executed so often that each execution has hardly any work",
        Kind::OmpUnevenLoop => "a loop is divided by count, and its iterations differ",
        Kind::OmpLargeChunks => "a loop is handed out in chunks so large that threads wait for the last one",
        Kind::OmpSmallChunks => "threads spend more time on requesting iterations than on executing them",
        Kind::OmpHotCritical => "all threads enter it again and again",
        Kind::OmpNestedTeams => "together they have more threads than there are processors",
        Kind::OmpSpinningWaits => {
            "threads that wait for each other occupy processors that others of the run need"
        }
        Kind::OmpSleepingWaits => {
            "threads sleep at barriers, and waking them takes longer than the work between"
        }
        Kind::OmpSerialPart => "one thread works between regions, again and again, while its team waits",
        Kind::OmpTeamOfOne => {
            "a loop that is to be divided is executed outside of any region, or a region by one thread"
        }
        Kind::OmpSerialTasks => {
            "no other thread can take a task, because of a clause, a wait or a dependence"
        }
        Kind::OmpSmallTasks => "making them and waiting takes longer than they do",
        Kind::MpiLateSender => "ranks wait for a message of a rank that has more to do before it sends",
        Kind::MpiLateReceiver => "ranks that send wait for a rank that has more to do before it receives",
        Kind::MpiImbalance => "ranks wait in a collective for those that have more to do before it",
        Kind::MpiSerialPhase => "one rank works in code that is its own while the others wait for it",
        Kind::MpiSerialChain => "each rank works when the one before it is done, as in a pipeline",
        Kind::MpiSmallMessages => "very many messages of a few bytes, whose cost is that of calling",
        Kind::MpiRepeatedSetup => "communicators, windows or files of MPI are made again and again",
        Kind::MpiIdleRank => "one rank hands out work and waits, while all others work",
        Kind::MpiSmallAccesses => "memory of other ranks, or files, are accessed by very many calls of MPI",
        Kind::MpiMuchData => "moving large messages takes much of the ranks' time",
        Kind::MpiPolls => "MPI is asked very often whether something has arrived, and it has not",
        Kind::MpiGroupableCollectives => {
            "the same function is called for a few bytes again and again, at once after each \
             other"
        }
        Kind::MpiWrongOrder => {
            "a rank waits for one message while others are there, and works on each of them when \
             it has got it"
        }
        Kind::IntervalSequential => {
            "a marked interval loses most, in parts that one processor executes or all repeat"
        }
        Kind::IntervalNarrow => "it loses most in parallel parts",
        Kind::IntervalUneven => "it loses most, since some processors have more to do in it than others",
        Kind::IntervalVaried => "processors leave them at different times",
        Kind::IntervalCompensated => "its processors wait for one another, and all work as much",
        Kind::IntervalIo => "interval in which one processor does the I/O, and the others wait for it",
        Kind::IntervalOperations => "it loses most in one kind of operation",
    }
}
