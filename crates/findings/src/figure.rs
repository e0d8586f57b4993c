//! The numbers that findings are found by.

use serde::{Deserialize, Serialize};

macro_rules! figures {
    ($($Name:ident $id:literal $unit:literal;)*) => {
        /// What a number of a finding is. The identifiers are part of the JSON contract; the report words them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum FigureId {
            $(#[doc = concat!("`", $id, "`, ", $unit)] #[serde(rename = $id)] $Name,)*
        }

        impl FigureId {
            /// All of them.
            pub const ALL: &'static [FigureId] = &[$(FigureId::$Name),*];

            /// The stable identifier.
            pub const fn id(self) -> &'static str {
                match self { $(FigureId::$Name => $id,)* }
            }

            /// Its unit: `s`, `count`, `bytes`, `share` (of 1).
            pub const fn unit(self) -> &'static str {
                match self { $(FigureId::$Name => $unit,)* }
            }
        }
    };
}

figures! {
    BarrierWaited "barrier-waited" "s";
    WaitedForLateThread "waited-for-late-thread" "s";
    BarrierWaits "barrier-waits" "count";
    EarlyThreads "early-threads" "count";
    WaitedWhileDisplaced "waited-while-displaced" "s";
    LateThreadQueued "late-thread-queued" "s";
    ShortThreads "short-threads" "count";
    ShortThreadCpu "short-thread-cpu" "s";
    ShortThreadLife "short-thread-life" "s";
    MakingCpu "making-cpu" "s";
    ShortThreadSystem "short-thread-system" "s";
    ActiveThreads "active-threads" "count";
    Available "available" "count";
    Queued "queued" "s";
    LostProcessor "lost-processor" "count";
    Faults "faults" "count";
    FaultSystem "fault-system" "s";
    FaultCost "fault-cost" "s";
    FaultCostError "fault-cost-error" "s";
    FaultsByOneThread "faults-by-one-thread" "share";
    FaultsAtOnce "faults-at-once" "share";
    UsedAfterwards "used-afterwards" "share";
    FaultedMemory "faulted-memory" "bytes";
    PeakResident "peak-resident" "bytes";
    FaultingProcesses "faulting-processes" "count";
    StormCpu "storm-cpu" "s";
    StormSystem "storm-system" "s";
    StormFaults "storm-faults" "count";
    StormSamples "storm-samples" "count";
    LibraryCpu "library-cpu" "s";
    LibraryThreads "library-threads" "count";
    InterpreterLockWaited "interpreter-lock-waited" "s";
    InterpreterLockThreads "interpreter-lock-threads" "count";
    InterpreterLockHandOvers "interpreter-lock-hand-overs" "count";
    LockWaited "lock-waited" "s";
    ContendedSections "contended-sections" "count";
    ContendedSectionLength "contended-section-length" "s";
    WaitersAtOnce "waiters-at-once" "count";
    LockWaitedShare "lock-waited-share" "share";
    HandOver "hand-over" "s";
    HeldInIo "held-in-io" "share";
    HeldAsleep "held-asleep" "share";
    SpinWaited "spin-waited" "s";
    HandlingCpu "handling-cpu" "s";
    CriticalEntered "critical-entered" "count";
    CriticalContended "critical-contended" "count";
    CriticalWork "critical-work" "s";
    CriticalWaited "critical-waited" "s";
    ConstructVisits "construct-visits" "count";
    ConstructWork "construct-work" "s";
    ConstructWait "construct-wait" "s";
    ConstructDividing "construct-dividing" "s";
    BarrierLatency "barrier-latency" "s";
    TasksDone "tasks-done" "count";
    TaskWork "task-work" "s";
    TasksWork "tasks-work" "s";
    TasksWaited "tasks-waited" "s";
    LoopVisits "loop-visits" "count";
    LoopThreads "loop-threads" "count";
    BusiestWork "busiest-work" "s";
    OthersWork "others-work" "s";
    ImbalanceWaited "imbalance-waited" "s";
    ChunkRequests "chunk-requests" "count";
    ChunkWork "chunk-work" "s";
    ChunkAsking "chunk-asking" "s";
    DispatchCpu "dispatch-cpu" "s";
    RegionCpu "region-cpu" "s";
    RegionExecutions "region-executions" "count";
    TeamWaited "team-waited" "s";
    TeamWaitedOnProcessor "team-waited-on-processor" "s";
    TeamQueued "team-queued" "s";
    TeamWaits "team-waits" "count";
    WakeLatency "wake-latency" "s";
    WakeLatencySum "wake-latency-sum" "s";
    WentToSleep "went-to-sleep" "count";
    InnerTeamThreads "inner-team-threads" "count";
    AllTeamsThreads "all-teams-threads" "count";
    InnerQueued "inner-queued" "s";
    OrphanedLoops "orphaned-loops" "count";
    OrphanedLoopCpu "orphaned-loop-cpu" "s";
    EmptyMeanwhile "empty-meanwhile" "s";
    EmptyInShortStretches "empty-in-short-stretches" "s";
    AloneStretches "alone-stretches" "count";
    LongestAloneStretch "longest-alone-stretch" "s";
    Width "width" "count";
    Sleeps "sleeps" "count";
    SleepLength "sleep-length" "s";
    AllIdle "all-idle" "s";
    Yields "yields" "count";
    YieldCpu "yield-cpu" "s";
    YieldSamples "yield-samples" "count";
    EmptyWhileAlone "empty-while-alone" "s";
    LongestLateStretch "longest-late-stretch" "s";
    LateTaskWork "late-task-work" "s";
    OtherTasksWork "other-tasks-work" "s";
    LateTaskThreads "late-task-threads" "count";
    LikeThreads "like-threads" "count";
    EmptyInStretches "empty-in-stretches" "s";
    EmptyStretches "empty-stretches" "count";
    EmptyWhileFunction "empty-while-function" "share";
    WaitedForWork "waited-for-work" "s";
    WorkWaits "work-waits" "count";
    WorkBetweenWaits "work-between-waits" "s";
    TaskOverhead "task-overhead" "share";
    TaskOverheadHere "task-overhead-here" "s";
    IoCalls "io-calls" "count";
    IoBytes "io-bytes" "bytes";
    IoCallTime "io-call-time" "s";
    IoTime "io-time" "s";
    Syncs "syncs" "count";
    SyncTime "sync-time" "s";
    SystemThroughCall "system-through-call" "share";
}

/// A number that speaks for a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub id: FigureId,
    /// How much, in the unit of what it is.
    pub value: f64,
    /// The function that it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

impl Figure {
    /// A number.
    pub fn new(id: FigureId, value: f64) -> Figure {
        Figure { id, value, function: None }
    }

    /// The same, about a function.
    pub fn about(self, function: &str) -> Figure {
        Figure { function: Some(function.to_owned()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn identifiers_are_unique() {
        let ids: HashSet<&str> = FigureId::ALL.iter().map(|id| id.id()).collect();
        assert_eq!(ids.len(), FigureId::ALL.len());
    }
}
