//! How the lost seconds of each kind of finding come about, and why it is as sure as it is.

use proust_findings::{Finding, Kind};

/// How the lost seconds come about.
pub(super) fn formula(kind: Kind) -> &'static str {
    match kind {
        Kind::LockAcrossIo
        | Kind::LockAcrossSleep
        | Kind::HotSection
        | Kind::Convoy
        | Kind::LongSection
        | Kind::LockSpin
        | Kind::InterpreterLock
        | Kind::LibraryLock => {
            "lost = all waiting for this lock, and the slots that were empty because of it; of a short \
             section that is entered all the time the processor time of acquiring and releasing it, too"
        }
        Kind::SlowLibrary => {
            "lost = 0.7 × processor time in the library: fast implementations need a third of it or less"
        }
        Kind::MemoryClearing => "lost = processor time, outside of the kernel, in clearing memory there",
        Kind::SerialPhase | Kind::OmpSerialPart => {
            "lost = Σ over the stretches (min(processors, available) − 1) × the time this thread had a \
             processor"
        }
        Kind::LongTask => {
            "lost = the smaller of the empty slots while it worked alone and (its work − the others' mean) \
             × the other processors"
        }
        Kind::IdlePool => {
            "lost = Σ over short stretches (min(processors, available) − active threads) × the time those \
             at work had a processor"
        }
        Kind::LateThread => {
            "lost = waited for this thread at the barrier − the time it had no processor × those who \
             waited for it"
        }
        Kind::LateWork => {
            "lost = waited at the barrier for what those who came last did since all had synchronised, more \
             than those who waited"
        }
        Kind::WorkByTurns => {
            "lost = (processors − 1) × the time in which one thread worked alone, until the wait of another \
             one ended that it waits for, too, at other times; of a run that never used two processors, as \
             if there were two: its total does not have this loss"
        }
        Kind::OneAtATime => {
            "lost = (processors − 1) × the time in which one worked alone while another one of its program \
             waited for it, as if there were two processors: the total of a run that never used two does \
             not have this loss"
        }
        Kind::SmallTasks => {
            "lost = processor time in functions that wake, wait, start threads or schedule tasks"
        }
        Kind::BoundTogether => "lost = the account oversubscribed of threads that are bound so",
        Kind::Oversubscription => {
            "lost = the account oversubscribed; the same work takes as long on the same processors, so \
             that only the switches between threads could be won, whose cost is not known"
        }
        Kind::FirstTouch => {
            "lost = the account fault × (1 − 1 / processors): it would be touched in parallel"
        }
        Kind::FaultStartup | Kind::FaultChurn => {
            "lost = the account fault of these processes, below the program's own code"
        }
        Kind::SystemStorm => "lost = processor time there in the kernel − what page faults there took",
        Kind::SleepPoll => "lost = the time in which nobody did anything while somebody slept there",
        Kind::SleepingWorker => {
            "lost = the smaller of their sleep there while others worked and the accounts serial and narrow"
        }
        Kind::SpinWait => "lost = processor time in giving the processor away, or in asking",
        Kind::HotAtomic => "lost = processor time at atomic instructions there (atomic_s)",
        Kind::UnreadOutput => {
            "lost = Σ over those that write of waiting to write + waiting of the reader − either life"
        }
        Kind::RoundTrips => {
            "lost = time in which nothing worked during these waits × processors; not while its process slept"
        }
        Kind::BlockedLoop => {
            "lost = processor time there × (processors − 1) + waits there × processors, in calls by the loop"
        }
        Kind::ProcessExchange => {
            "lost = processor time in the modules of Python's library that send and receive, and below them"
        }
        Kind::TextScanning => "lost = processor time in looking for the ends of texts there",
        Kind::OmpHotSingle => "lost = processor time in the runtime's part of single there",
        Kind::ExceptionChurn => {
            "lost = processor time of throwing exceptions, and of the frames on the way to who catches them"
        }
        Kind::RepeatedPreparation => "lost = processor time of preparing it there, and what that calls",
        Kind::MemoryCopying => "lost = processor time, outside of the kernel, in copying memory there",
        Kind::AllocationChurn => {
            "lost = processor time, outside of the kernel, in allocating and freeing memory there"
        }
        Kind::BusyWait => "lost = processor time in loops that do nothing but read memory (busy_wait_s)",
        Kind::UnexplainedWait => {
            "lost = waiting at all places that no finding names, at most what the others leave of its account"
        }
        Kind::ThreadChurn => {
            "lost = processor time of making threads + what the kernel used in those that lived shortly"
        }
        Kind::ProcessChurn => {
            "lost = processor time of starting them + of loading their programs + of the kernel in them"
        }
        Kind::TinyIo => "lost = time in these calls × (1 − bytes a call / 65 536)",
        Kind::MuchIo => "lost = the account io of these calls",
        Kind::FileChurn => "lost = the account io of opening and closing files there",
        Kind::SyncStorm => "lost = the account io of these calls, but for one of them",
        Kind::OmpDeepConstruct => {
            "lost = waiting at this construct, of a region until its threads began and at its end, at most \
             five barriers for each time that a thread arrived; and the runtime's time of dividing the work"
        }
        Kind::OmpUnevenLoop => {
            "lost = Σ over threads of the smaller of what it waited for who came later and (work of the \
             busiest − its work), by processor time"
        }
        Kind::OmpLargeChunks => "lost = waiting at the loop's end for threads that arrived later",
        Kind::OmpSmallChunks => {
            "lost = the larger of the time in requests, found by some of them, and the samples in the \
             runtime's dispatch"
        }
        Kind::OmpHotCritical => "lost = all waiting at this place for who was in the section",
        Kind::OmpNestedTeams => {
            "lost = the account oversubscribed in the inner region; what could be won is only what \
             processors had left"
        }
        Kind::OmpSpinningWaits => {
            "lost = the smaller of the waiting on a processor and the time that threads of this run had none"
        }
        Kind::OmpSleepingWaits => {
            "lost = Σ (time from the last one's coming to going on) − what woken threads queued for a \
             processor"
        }
        Kind::OmpTeamOfOne => {
            "lost = (processors available − 1) × processor time of the lines of that function that are \
             near the end of the loop, outside of regions, and before the end was reached where that is \
             known; or of the region"
        }
        Kind::OmpSerialTasks => {
            "lost = waiting in the same region, at most the work of its tasks × (threads of the team − 1)"
        }
        Kind::OmpSmallTasks => "lost = processor time of making tasks + waiting in the same regions",
        Kind::MpiLateSender | Kind::MpiLateReceiver | Kind::MpiImbalance => {
            "lost = waited for what late ranks did in this function, since both last synchronised, more \
             than those that waited for them"
        }
        Kind::MpiSerialPhase => {
            "lost = waited for what the rank did in this function, since both last synchronised; in the end \
             of MPI, Σ over ranks that wait there of what it did meanwhile in operations or on a processor"
        }
        Kind::MpiSerialChain => {
            "lost = waits in chains × the part of their causes that had a processor; a wait is in a chain if \
             the late rank had waited itself until some time in it, or just before"
        }
        Kind::MpiSmallMessages => {
            "lost = time in these calls without waits for partners × (1 − bytes a message / 65 536)"
        }
        Kind::MpiRepeatedSetup => "lost = time in these calls − waits for partners in them",
        Kind::MpiIdleRank => "lost = what the rank waits for the others",
        Kind::MpiSmallAccesses => "lost = time in these calls − waits for partners in them",
        Kind::MpiMuchData => "lost = time in messages and collectives there − waits for partners in them",
        Kind::MpiPolls => "lost = time in polls that found nothing − waits for partners in them",
        Kind::MpiGroupableCollectives => {
            "lost = time, without waits for partners, in collectives that begin within 5 µs of the end of \
             one of the same function in the same communicator"
        }
        Kind::MpiWrongOrder => {
            "lost = Σ over waits for a message of the smaller of the wait and the work that followed on \
             messages that were there already, of each no more than followed on the awaited one"
        }
        Kind::IntervalSequential | Kind::IntervalNarrow => {
            "lost = Insufficient_parallelism of the interval that loses most at each level, while that is \
             half of what the one around it loses"
        }
        Kind::IntervalUneven
        | Kind::IntervalVaried
        | Kind::IntervalCompensated
        | Kind::IntervalIo
        | Kind::IntervalOperations => {
            "lost = the largest part of Lost_time (Communication or Idle) of the interval that loses most at \
             each level, while that is half of what the one around it loses; at most what the whole run loses"
        }
    }
}

/// Why it is as sure as it is.
pub(super) fn why_sure(finding: &Finding) -> &'static str {
    use proust_findings::Sure;
    if finding.small {
        return "it was found as surely as others, but every program loses as small a part of its total to \
                something";
    }
    if finding.unnamed {
        return "it was found as surely as others, but the place has no name in the program, or is a \
                library's: whether it could be otherwise is not known";
    }
    match (finding.sure, finding.kind) {
        (Sure::Certain, _) => "measured from begin to end",
        (Sure::Possible, Kind::FaultChurn) => {
            "the faults are counted exactly; but it is little, as in programs that make arrays again and \
             again, or whether it is the same memory is not known"
        }
        (Sure::Likely, Kind::FaultChurn) => {
            "the faults brought more than was ever resident at once; what each took is an estimate"
        }
        (Sure::Likely, Kind::FaultStartup) => "the faults are counted exactly; what each took is an estimate",
        (Sure::Likely, Kind::LateThread) => {
            "waits are measured exactly; what was done before them is sampled"
        }
        (Sure::Possible, Kind::SerialPhase | Kind::OmpSerialPart | Kind::FaultStartup) => {
            "it is measured, but no more than most programs have at their beginning or end"
        }
        (Sure::Possible, Kind::InterpreterLock) => {
            "waits are measured exactly; but it is little, as in programs whose threads mostly work without \
             the lock, or other programs had the processors while it was held"
        }
        (Sure::Possible, Kind::LongTask) => {
            "measured exactly; but threads that take tasks do not end together, and the last task is not \
             much longer than others"
        }
        (Sure::Likely, Kind::LongTask | Kind::SerialPhase) => {
            "measured exactly; but it was once or twice, and equal work ends unevenly, too, where one \
             processor is slower for a while, as those of virtual machines are"
        }
        (Sure::Possible, Kind::Oversubscription) => {
            "measured exactly; but other programs had the processors for longer, and threads queue because \
             of that, too"
        }
        (Sure::Possible, Kind::LateThread) => {
            "waits are measured exactly; but it is little, as one of the threads is always the last, or the \
             late thread had no processor for a part of the time, or work is handed out as threads come for \
             it, and it alone had one"
        }
        (Sure::Likely, Kind::LateWork) => {
            "waits and work are measured exactly: one thread worked before this barrier each time"
        }
        (Sure::Possible, Kind::LateWork) => {
            "waits are measured exactly; but threads may be late in turn by chance, or because work is \
             divided finely enough already"
        }
        (Sure::Possible, Kind::WorkByTurns) => {
            "measured exactly; that the turns need not be taken one after the other is an assumption"
        }
        (Sure::Possible, Kind::TinyIo) => {
            "the calls are measured exactly, and wait for a device; what they read may lie anywhere on it"
        }
        (Sure::Possible, Kind::MuchIo) => {
            "measured exactly; that less could be moved, or while something else is done, is an assumption"
        }
        (Sure::Possible, Kind::SyncStorm) => {
            "measured exactly; that these writes wait for the device is concluded from how long they take, \
             and slow storage looks the same"
        }
        (Sure::Possible, Kind::OneAtATime) => {
            "measured exactly; that the work of one need not follow that of another is an assumption"
        }
        (Sure::Likely, Kind::OmpLargeChunks) => {
            "waits and requests are measured exactly; that smaller chunks even them out is an assumption"
        }
        (Sure::Possible, Kind::OmpLargeChunks) => {
            "waits and requests are measured exactly; but threads that had no processor are late, too"
        }
        (Sure::Possible, Kind::OmpSerialTasks) => {
            "waits and tasks are measured exactly; but it is little, or threads had no processor for a part \
             of the time, and who waits for such a thread waits in the same places"
        }
        (Sure::Likely, Kind::ProcessChurn) => {
            "processes are counted exactly; what starting one takes is measured as a whole"
        }
        (Sure::Possible, Kind::ProcessChurn) => {
            "processes are counted exactly; but most of the processor time in them is their own work"
        }
        (Sure::Likely, Kind::IdlePool) => "measured exactly; that more work could be had is an assumption",
        (Sure::Likely, Kind::HotSection | Kind::Convoy | Kind::LongSection) => {
            "waits are measured exactly, but most of them were for a lock that nobody held yet again, or \
             most of the loss is processor time, which is sampled"
        }
        (
            Sure::Possible,
            Kind::HotSection | Kind::Convoy | Kind::LongSection | Kind::LockSpin | Kind::LibraryLock,
        ) => {
            "waits are measured exactly; but other programs had the processors for much of the time in which \
             the lock was held"
        }
        (Sure::Possible, Kind::LockAcrossSleep) => {
            "waits are measured exactly; those who wait never hold it themselves: they may be parked there \
             on purpose"
        }
        (Sure::Likely, Kind::SlowLibrary) => {
            "it follows from enough samples; how much faster another implementation is depends on the calls"
        }
        (Sure::Possible, Kind::OmpUnevenLoop) => {
            "waits and work are measured exactly; but it is little, as one of the threads is always the last"
        }
        (Sure::Likely, Kind::OmpUnevenLoop) => {
            "waits and work are measured exactly; what of the work was on a processor is sampled"
        }
        (Sure::Likely, Kind::OmpSpinningWaits) => {
            "both are measured; that the one was for want of the other is an assumption"
        }
        (Sure::Likely, Kind::OmpTeamOfOne) => {
            "that one thread reached its end is seen exactly; which lines belong to a loop, and whether a \
             region is meant to have one thread, is not known"
        }
        (Sure::Likely, Kind::MpiLateSender | Kind::MpiLateReceiver | Kind::MpiImbalance) => {
            "waits are measured exactly, and some ranks are waited for much more than they wait; what they \
             did meanwhile is sampled"
        }
        (Sure::Possible, Kind::MpiLateSender | Kind::MpiLateReceiver | Kind::MpiImbalance) => {
            "waits are measured exactly; but it is little, or only a few times, or ranks wait for each other \
             in turn, as chance brings about, too"
        }
        (Sure::Likely, Kind::MpiSerialPhase) => {
            "waits are measured exactly, and no other rank executes what the rank did meanwhile; that is \
             sampled"
        }
        (Sure::Possible, Kind::MpiSerialPhase) => {
            "waits are measured exactly; but it is little, or the rank had no processor for a part of it"
        }
        (Sure::Likely, Kind::MpiSmallMessages) => {
            "measured exactly; that the data of several messages are ready at once is an assumption"
        }
        (Sure::Possible, Kind::MpiSmallMessages) => {
            "measured exactly; most messages go to another rank than the one before, or have an answer"
        }
        (Sure::Possible, Kind::MpiRepeatedSetup) => {
            "the calls are measured exactly; whether the same could be used again is not known"
        }
        (Sure::Possible, Kind::MpiIdleRank) => {
            "waits are measured exactly; that a rank has only this to do may be meant"
        }
        (Sure::Possible, Kind::MpiSmallAccesses) => {
            "the calls are measured exactly; whether several could be one is not known"
        }
        (Sure::Possible, Kind::MpiMuchData) => {
            "the calls are measured exactly; whether all that is sent is needed is not known"
        }
        (Sure::Possible, Kind::MpiPolls) => {
            "the polls are measured exactly; how often the program has to ask is not known"
        }
        (Sure::Possible, Kind::MpiGroupableCollectives) => {
            "measured exactly; whether one needs the result of another is not known"
        }
        (_, Kind::MpiWrongOrder) => {
            "waits are measured exactly; that messages can be worked on in another order is an assumption"
        }
        (
            _,
            Kind::IntervalSequential
            | Kind::IntervalNarrow
            | Kind::IntervalUneven
            | Kind::IntervalVaried
            | Kind::IntervalCompensated
            | Kind::IntervalIo
            | Kind::IntervalOperations,
        ) => {
            "the characteristics are computed from times that are measured; what they are due to is what the \
             recommended reading of them says"
        }
        (Sure::Likely, _) => "it follows from enough samples",
        (Sure::Possible, Kind::FirstTouch) => {
            "who touched is measured; that the others use the same memory is not known"
        }
        (Sure::Possible, Kind::HotAtomic) => {
            "where the time passes is sampled; whether the threads change the same memory is not known"
        }
        (Sure::Possible, Kind::UnreadOutput) => {
            "the waits are measured exactly; which of them are about the same pipe is not known"
        }
        (Sure::Possible, Kind::RoundTrips) => {
            "the waits are measured exactly; whether a request needs the answer before it is not known"
        }
        (Sure::Possible, Kind::BlockedLoop) => {
            "whether others wait for the loop, and could do its work, is not known"
        }
        (Sure::Possible, Kind::ProcessExchange) => {
            "the processor time is sampled; how much of the data has to be sent is not known"
        }
        (Sure::Possible, Kind::OmpHotSingle) => {
            "the processor time is sampled; how the work could be divided otherwise is not known"
        }
        (Sure::Possible, Kind::ExceptionChurn) => {
            "the processor time is sampled; whether what is thrown is an exception to the rule is not known"
        }
        (Sure::Possible, Kind::RepeatedPreparation) => {
            "the processor time is sampled; whether the same could be used again is not known"
        }
        (Sure::Possible, Kind::MemoryCopying | Kind::AllocationChurn | Kind::TextScanning) => {
            "the processor time is sampled; how much of it the work needs is not known"
        }
        (Sure::Possible, Kind::SystemStorm) => {
            "the processor time is sampled; clocks are read there, and whether that takes a system call is \
             not known"
        }
        (Sure::Possible, Kind::FileChurn) => {
            "the calls are measured exactly; whether they open the same files is not known"
        }
        (Sure::Possible, Kind::SleepingWorker) => {
            "the sleeps are measured exactly; why the program sleeps is not known"
        }
        (Sure::Possible, Kind::SleepPoll) => {
            "what it waited for, and whether it was there already, is not known"
        }
        (Sure::Possible, _) => "what was measured fits it, and other things as well",
    }
}
