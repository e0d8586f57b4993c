//! The numbers that speak for a finding, as data: the report has their wording.

use proust_profile::Ns;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

macro_rules! figures {
    ($(#[doc = $doc:literal] $name:ident $id:literal;)*) => {
        /// What a number is. The identifiers are part of the JSON contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum FigureId {
            $(#[doc = $doc] #[serde(rename = $id)] $name,)*
        }

        impl FigureId {
            /// All there are.
            pub const ALL: &'static [FigureId] = &[$(FigureId::$name),*];

            /// The stable identifier.
            pub const fn id(self) -> &'static str {
                match self { $(FigureId::$name => $id,)* }
            }
        }
    };
}

figures! {
    /// All of them.
    AllOfThem "all-of-them";
    /// Answers that were waited for.
    Answers "answers";
    /// Times that a thread came there.
    Arrivals "arrivals";
    /// Asking, by some of many requests.
    Asking "asking";
    /// What a barrier takes here when all have arrived.
    BarrierCost "barrier-cost";
    /// Between two requests of a thread, on average.
    BetweenRequests "between-requests";
    /// Moved by a call.
    BytesOfCall "bytes-of-call";
    /// In each of them.
    BytesOfEach "bytes-of-each";
    /// In a message.
    BytesOfMessage "bytes-of-message";
    /// Calls.
    Calls "calls";
    /// All calls there, without waits for partners.
    CallsWithoutWaits "calls-without-waits";
    /// Processor time between two of them.
    CpuBetween "cpu-between";
    /// Processor time in the runtime's dispatch, by samples.
    CpuInDispatch "cpu-in-dispatch";
    /// Processor time in the library.
    CpuInLibrary "cpu-in-library";
    /// Processor time in the region, by samples.
    CpuInRegion "cpu-in-region";
    /// Processor time in allocating and freeing memory there.
    CpuOfAllocating "cpu-of-allocating";
    /// Processor time at atomic instructions of it.
    CpuOfAtomics "cpu-of-atomics";
    /// Processor time of what a loop called there.
    CpuOfCallbacks "cpu-of-callbacks";
    /// Processor time in copying memory there.
    CpuOfCopying "cpu-of-copying";
    /// Processor time in sending data to other processes and receiving it.
    CpuOfExchange "cpu-of-exchange";
    /// Processor time in clearing memory there.
    CpuOfClearing "cpu-of-clearing";
    /// Processor time of preparing it.
    CpuOfPreparing "cpu-of-preparing";
    /// Processor time of throwing them.
    CpuOfThrowing "cpu-of-throwing";
    /// Processor time of looking for the ends of texts there.
    CpuOfScanning "cpu-of-scanning";
    /// Processor time of settling which thread it is.
    CpuOfSingle "cpu-of-single";
    /// Processor time of the lines near it.
    CpuOfLinesNear "cpu-of-lines-near";
    /// Processor time of loading them, before they can be measured.
    CpuOfLoading "cpu-of-loading";
    /// Processor time of acquiring and releasing it.
    CpuOfLocking "cpu-of-locking";
    /// Processor time of making them.
    CpuOfMaking "cpu-of-making";
    /// Processor time that they used otherwise.
    CpuOfTheirs "cpu-of-theirs";
    /// Processor time in loops of it that only wait.
    CpuOfWaitingLoops "cpu-of-waiting-loops";
    /// Processor time spent on that.
    CpuSpent "cpu-spent";
    /// Processor time there.
    CpuThere "cpu-there";
    /// Dividing the work, by the runtime, each time.
    DividingEachTime "dividing-each-time";
    /// Each of them, on average.
    EachOnAverage "each-on-average";
    /// Each of them, without waits for partners.
    EachWithoutWaits "each-without-waits";
    /// Processors empty in short stretches.
    EmptyInShortStretches "empty-in-short-stretches";
    /// Processors empty meanwhile.
    EmptyMeanwhile "empty-meanwhile";
    /// Processors empty while such a thread worked alone.
    EmptyWhileAlone "empty-while-alone";
    /// Times that its end was reached outside of any region.
    EndsOutside "ends-outside";
    /// Times that it was entered.
    Entries "entries";
    /// Standard error of that.
    ErrorOfFault "error-of-fault";
    /// Times that somebody was in it.
    Executions "executions";
    /// Of memory, brought by the faults of a process at least.
    FaultedMemory "faulted-memory";
    /// Page faults.
    Faults "faults";
    /// Page faults there.
    FaultsThere "faults-there";
    /// Files opened.
    FilesOpened "files-opened";
    /// Collectives that followed another one at once.
    FollowingCollectives "following-collectives";
    /// Times that it was handed over while others waited.
    HandOvers "hand-overs";
    /// In all.
    InAll "in-all";
    /// Processor time of the kernel in them.
    KernelCpuInThem "kernel-cpu-in-them";
    /// In the kernel where they happened.
    KernelWhereHappened "kernel-where-happened";
    /// Processor time of giving memory back to the system.
    CpuOfGivingBack "cpu-of-giving-back";
    /// The longest.
    Longest "longest";
    /// Turns of the loop.
    LoopTurns "loop-turns";
    /// More on the critical path than ranks spend in it on average.
    LongerThanMean "longer-than-mean";
    /// The longest such stretch.
    LongestStretch "longest-stretch";
    /// Lost in the one that loses most, which the numbers below are of.
    LostInWorst "lost-in-worst";
    /// How long an answer took, on average.
    MeanAnswer "mean-answer";
    /// Mean life of such a thread.
    MeanLife "mean-life";
    /// Mean life of such a process.
    MeanLifeOfProcess "mean-life-of-process";
    /// Mean length of such a section.
    MeanSection "mean-section";
    /// Mean length of a sleep.
    MeanSleep "mean-sleep";
    /// What the program takes of a turn of the loop, on average.
    MeanTurn "mean-turn";
    /// What other ranks spend in it, on average.
    MeanOfOtherRanks "mean-of-other-ranks";
    /// Mean processor time of such a thread.
    MeanThreadCpu "mean-thread-cpu";
    /// Times that threads waited for each other.
    Meetings "meetings";
    /// Messages.
    Messages "messages";
    /// Of it at this line.
    OfItAtLine "of-it-at-line";
    /// Of it for this thread.
    OfItForThread "of-it-for-thread";
    /// Of it in the kernel.
    OfItInKernel "of-it-in-kernel";
    /// Of it in stretches too short to be a phase.
    OfItInShortStretches "of-it-in-short-stretches";
    /// Of it on a processor.
    OfItOnProcessor "of-it-on-processor";
    /// Of that for threads that had no processor.
    OfThatDisplaced "of-that-displaced";
    /// Of that for threads that had more to do.
    OfThatLate "of-that-late";
    /// Of that for a reason that is not known.
    OfThatUnknown "of-that-unknown";
    /// Of the waiting, nobody held it (hand-over).
    OfWaitingHandOver "of-waiting-hand-over";
    /// Of the waiting, by trying again.
    OfWaitingTrying "of-waiting-trying";
    /// On the critical path.
    OnCriticalPath "on-critical-path";
    /// Opening and closing one, on average.
    OpeningAndClosing "opening-and-closing";
    /// Parts of the critical path in which it is.
    PartsOfPath "parts-of-path";
    /// Resident at once at most.
    PeakResident "peak-resident";
    /// Times that a thread lost its processor to another.
    Preemptions "preemptions";
    /// Processes that do so.
    ProcessesThatDoSo "processes-that-do-so";
    /// Processes that lose time so.
    ProcessesThatLose "processes-that-lose";
    /// Processors available.
    ProcessorsAvailable "processors-available";
    /// Processors that they are bound to.
    ProcessorsBoundTo "processors-bound-to";
    /// Processors that the run could keep busy.
    ProcessorsKeptBusy "processors-kept-busy";
    /// Ranks that waited in chains.
    RanksInChains "ranks-in-chains";
    /// Read in all.
    ReadInAll "read-in-all";
    /// Times that the region was executed.
    RegionExecutions "region-executions";
    /// Requests for iterations.
    Requests "requests";
    /// Requests for iterations that a thread made each time, the last of them for nothing.
    RequestsEachTime "requests-each-time";
    /// Runnable, without a processor.
    Runnable "runnable";
    /// Runnable, without a processor, in the inner region.
    RunnableInInnerRegion "runnable-in-inner-region";
    /// Meanwhile and otherwise runnable, without a processor.
    RunnableMeanwhile "runnable-meanwhile";
    /// Samples in it.
    SamplesInIt "samples-in-it";
    /// Samples there.
    SamplesThere "samples-there";
    /// Sections that ended while others waited.
    SectionsWithWaiters "sections-with-waiters";
    /// Of it for ranks, beyond what they waited themselves.
    ShareBeyondOwnWaits "share-beyond-own-waits";
    /// Of them by one thread.
    ShareByOneThread "share-by-one-thread";
    /// Of the time held, asleep or waiting.
    ShareHeldAsleep "share-held-asleep";
    /// Of the time held, in I/O.
    ShareHeldInIo "share-held-in-io";
    /// Of them within one half of the processor time.
    ShareInHalf "share-in-half";
    /// Of the processor time.
    ShareOfCpu "share-of-cpu";
    /// Of the processor time, spent on waking, waiting and handing over.
    ShareOfHandingOut "share-of-handing-out";
    /// Of it for the rank that was waited for most.
    ShareOfLatestRank "share-of-latest-rank";
    /// Of the rest for the rank that was waited for most.
    ShareOfLatestRankOfRest "share-of-latest-rank-of-rest";
    /// Of it for the sender that was waited for most.
    ShareOfLatestSender "share-of-latest-sender";
    /// Of the processor time was other threads' afterwards.
    ShareOfOthersAfterwards "share-of-others-afterwards";
    /// Of the run somebody waited.
    ShareOfRunWaited "share-of-run-waited";
    /// Sent to the same rank as the one before, with none received between.
    ShareToSameRank "share-to-same-rank";
    /// Of them while this function worked.
    ShareWhileWorking "share-while-working";
    /// Short-lived processes.
    ShortProcesses "short-processes";
    /// Threads that lived shortly.
    ShortThreads "short-threads";
    /// Sleeps.
    Sleeps "sleeps";
    /// Times that threads went to sleep.
    SleepsBegun "sleeps-begun";
    /// Asleep there while others worked.
    SleptBesideWork "slept-beside-work";
    /// Meanwhile nobody did anything for.
    StandingStill "standing-still";
    /// Such stretches.
    Stretches "stretches";
    /// Stretches in which this thread worked alone.
    StretchesAlone "stretches-alone";
    /// Times that a file was synchronised.
    Synchronisations "synchronisations";
    /// Tasks that were done.
    TasksDone "tasks-done";
    /// These waits in all.
    TheseWaits "these-waits";
    /// This thread had no processor.
    ThreadQueued "thread-queued";
    /// Threads.
    Threads "threads";
    /// Threads active at once.
    ThreadsActive "threads-active";
    /// Threads started for the same.
    ThreadsAlike "threads-alike";
    /// Threads that are bound so.
    ThreadsBound "threads-bound";
    /// Threads that were late.
    ThreadsLate "threads-late";
    /// Threads of the inner team.
    ThreadsOfInnerTeam "threads-of-inner-team";
    /// Threads of all such teams at once.
    ThreadsOfTeams "threads-of-teams";
    /// Threads that called it.
    ThreadsThatCalled "threads-that-called";
    /// Threads that did it.
    ThreadsThatDidIt "threads-that-did-it";
    /// Threads that waited.
    ThreadsThatWaited "threads-that-waited";
    /// Threads that waited for it.
    ThreadsThatWaitedForIt "threads-that-waited-for-it";
    /// Threads that waited so.
    ThreadsThatWaitedSo "threads-that-waited-so";
    /// Threads that went on alone.
    ThreadsThatWentOn "threads-that-went-on";
    /// Threads that worked, of those of which one worked at a time.
    ThreadsThatWorked "threads-that-worked";
    /// A call takes.
    TimeOfCall "time-of-call";
    /// A fault takes, by the system time of stretches with and without.
    TimeOfFault "time-of-fault";
    /// A message takes.
    TimeOfMessage "time-of-message";
    /// Times.
    Times "times";
    /// Times that one waited until another one had worked alone.
    Turns "turns";
    /// Until a thread went on when all had come, on average.
    UntilWentOn "until-went-on";
    /// Waited for another one while it could have read.
    WaitedToRead "waited-to-read";
    /// Waited to write.
    WaitedToWrite "waited-to-write";
    /// Waited at this barrier.
    WaitedAtBarrier "waited-at-barrier";
    /// Waited at this place.
    WaitedAtPlace "waited-at-place";
    /// Waited while messages were there that are taken later.
    WaitedBesideMessages "waited-beside-messages";
    /// Waited for them while they had no processor.
    WaitedForDisplaced "waited-for-displaced";
    /// Waited there for ranks without a processor.
    WaitedForDisplacedRanks "waited-for-displaced-ranks";
    /// Waited for each other.
    WaitedForEachOther "waited-for-each-other";
    /// Waited for the interpreter's lock.
    WaitedForInterpreter "waited-for-interpreter";
    /// Waited for it.
    WaitedForIt "waited-for-it";
    /// Waited for what late ranks did there.
    WaitedForLateRanks "waited-for-late-ranks";
    /// Waited for who came later.
    WaitedForLater "waited-for-later";
    /// Waited for this lock.
    WaitedForLock "waited-for-lock";
    /// Waited for a sender that waited itself.
    WaitedForWaitingRank "waited-for-waiting-rank";
    /// Threads waited for work, in all.
    WaitedForWork "waited-for-work";
    /// Waited in chains.
    WaitedInChains "waited-in-chains";
    /// Waited in the region for tasks and for each other.
    WaitedInRegion "waited-in-region";
    /// At this and other places that no finding names.
    WaitedUnnamed "waited-unnamed";
    /// Waited for it while it had no processor.
    WaitedWhileDisplaced "waited-while-displaced";
    /// Threads that waited at once, on average.
    WaitersAtOnce "waiters-at-once";
    /// Waiting of a thread each time, on average.
    WaitingEachTime "waiting-each-time";
    /// How much of their time the other ranks wait, at most.
    WaitingOfOtherRanks "waiting-of-other-ranks";
    /// Waits.
    Waits "waits";
    /// Times that threads waited for work.
    WaitsForWork "waits-for-work";
    /// Waits in chains.
    WaitsInChains "waits-in-chains";
    /// Waits of what a loop called there.
    WaitsOfCallbacks "waits-of-callbacks";
    /// Such waits.
    WaitsOfKind "waits-of-kind";
    /// Waits of the longest chain.
    WaitsOfLongestChain "waits-of-longest-chain";
    /// Waits there.
    WaitsThere "waits-there";
    /// Waits there in all.
    WaitsThereInAll "waits-there-in-all";
    /// Work of a thread between two of them, on average.
    WorkBetween "work-between";
    /// Work of the busiest thread each time.
    WorkOfBusiest "work-of-busiest";
    /// Work of the others beside it, on average.
    WorkOfOthersBeside "work-of-others-beside";
    /// Work of the others each time, on average.
    WorkOfOthersEachTime "work-of-others-each-time";
    /// How long a rank worked.
    WorkOfRank "work-of-rank";
    /// Work of a task, on average.
    WorkOfTask "work-of-task";
    /// Work of all tasks.
    WorkOfTasks "work-of-tasks";
    /// Of the work, the part of all but the one that had most of it.
    WorkOfTheOthers "work-of-the-others";
    /// Work of such a thread, on average.
    WorkOfThread "work-of-thread";
    /// Work of a thread each time, on average.
    WorkOfThreadEachTime "work-of-thread-each-time";
    /// One worked alone until another one had waited for it.
    WorkedByTurns "worked-by-turns";
    /// One worked alone while another one of its program waited for it.
    WorkedWhileAnotherWaited "worked-while-another-waited";
    /// Times that it was asked whether something had happened.
    Looks "looks";
    /// Written in all.
    WrittenInAll "written-in-all";
    /// Times that the processor was given away.
    Yields "yields";
    /// A characteristic of a marked interval, or its time in a group of operations.
    OfInterval "of-interval";
    /// Operations of a group in a marked interval.
    OperationsOfInterval "operations-of-interval";
    /// Of the time in the kernel, the part through one function.
    ShareThrough "share-through";
}

/// What a number is about, where one finding has several of the same identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A function, by its name.
    Function(String),
    /// A marked interval.
    Interval {
        /// How deep it lies: 0 is the whole run.
        level: usize,
        /// Its name.
        name: String,
        /// The name of the characteristic, or of the group of operations (`proust_characteristics`).
        of: String,
    },
}

/// A number that speaks for a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub id: FigureId,
    /// What it is about, if that does not follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// How much.
    pub amount: Amount,
}

impl Figure {
    const fn new(id: FigureId, amount: Amount) -> Figure {
        Figure { id, subject: None, amount }
    }

    /// A time.
    pub const fn time(id: FigureId, time: Ns) -> Figure {
        Figure::new(id, Amount::Time(time))
    }

    /// A number of things.
    pub const fn count(id: FigureId, number: f64) -> Figure {
        Figure::new(id, Amount::Count(number))
    }

    /// Bytes.
    pub const fn bytes(id: FigureId, number: f64) -> Figure {
        Figure::new(id, Amount::Bytes(number))
    }

    /// A part of a whole, 0 to 1.
    pub const fn share(id: FigureId, part: f64) -> Figure {
        Figure::new(id, Amount::Share(part))
    }

    /// The same, about a subject.
    pub fn about(self, subject: Subject) -> Figure {
        Figure { subject: Some(subject), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::FigureId;

    #[test]
    fn identifiers_are_unique_and_written_as_they_are_named() {
        let ids: BTreeSet<&str> = FigureId::ALL.iter().map(|figure| figure.id()).collect();
        assert_eq!(ids.len(), FigureId::ALL.len());
        for figure in FigureId::ALL {
            let written = serde_json::to_string(figure).unwrap();
            assert_eq!(written, format!("\"{}\"", figure.id()));
            assert_eq!(serde_json::from_str::<FigureId>(&written).unwrap(), *figure);
        }
    }
}
