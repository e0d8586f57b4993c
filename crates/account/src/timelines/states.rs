//! How the time in an operation counts, and how processor time counts.

use proust_profile::context::{LOST_RECORDS, NOT_RECORDED};
use proust_profile::{
    ContextId, Detail, EventRow, FunctionId, IndexVec, Nature, OperationKind, Profile, Target,
};

use crate::classes::{Classes, ClassesOf};
use crate::ledger::{PassiveReason, State, Wait, Work};
use proust_profile::event_metrics::Operations;

/// How the time in an operation counts. Where it makes a difference whether the thread had a processor, both
/// are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// All of it is waiting, blocked.
    Wait(Wait),
    /// All of it is waiting by polling.
    Poll(Wait),
    /// All of it is this work.
    Work(Work),
    /// Without a processor it is passive, with one it is this work.
    Passive(PassiveReason, Work),
    /// All of it is passive, though it may take a processor: it looks again and again for work to appear.
    Idle(PassiveReason),
    /// Without a processor it is delayed: it could run and let others go first. With one it computes.
    Yield,
}

impl Class {
    /// Which operations get processor time that cannot lie outside operations: lower ones first.
    pub(super) fn tier(self) -> usize {
        match self {
            Class::Poll(_) | Class::Idle(_) => 0,
            Class::Work(_) | Class::Passive(_, Work::Io) | Class::Yield => 1,
            Class::Passive(PassiveReason::Stopped, _) => 4,
            Class::Passive(..) => 2,
            Class::Wait(_) => 3,
        }
    }

    /// Its state without a processor.
    pub(super) fn off_processor(self) -> State {
        match self {
            Class::Wait(wait) => State::Waiting(wait),
            Class::Poll(wait) => State::Polling(wait),
            Class::Work(work) => State::Working(work),
            Class::Idle(reason) | Class::Passive(reason, _) => State::Passive(reason),
            Class::Yield => State::Working(Work::Delayed),
        }
    }

    /// Whether a thread is off the processor in it until another one wakes it.
    pub(super) fn blocks(self) -> bool {
        let is_stop = matches!(self, Class::Passive(PassiveReason::Stopped, _));
        !is_stop && !matches!(self, Class::Poll(_) | Class::Idle(_) | Class::Yield)
    }
}

/// Number of [`Class::tier`]s.
pub(super) const TIERS: usize = 5;

/// Answers for one profile.
#[derive(Debug)]
pub(super) struct States {
    operations: Operations,
    /// The classes of the functions on call paths.
    classes: ClassesOf,
    /// Whether the records behind the processor time of a context are lost.
    lost: IndexVec<ContextId, bool>,
    /// How processor time counts, by context.
    of_processor_time: IndexVec<ContextId, State>,
}

impl States {
    pub(super) fn of(profile: &Profile) -> States {
        let is_unknown = |name: &str| name == LOST_RECORDS || name == NOT_RECORDED;
        let unknown: IndexVec<FunctionId, bool> = profile
            .functions
            .iter()
            .map(|function| function.module.is_none() && is_unknown(&function.name))
            .collect();
        let is_lost = |function: Option<FunctionId>| function.and_then(|id| unknown.get(id)) == Some(&true);
        let lost: IndexVec<ContextId, bool> =
            profile.contexts.iter().map(|context| is_lost(context.function)).collect();
        let classes = Classes::of_profile(profile).on(profile);
        let state = |(context, &lost): (ContextId, &bool)| match classes.spin(context) {
            // Measured, but of records that say no more than how much it was.
            _ if lost => State::Working(Work::Unattributed),
            Some(known) => known,
            None => State::Working(Work::Compute),
        };
        let of_processor_time = lost.iter_enumerated().map(state).collect();
        States { operations: Operations::of(profile), classes, lost, of_processor_time }
    }

    /// Whether the processor time of this context is that of lost records.
    pub(super) fn is_lost(&self, context: ContextId) -> bool {
        self.lost.get(context) == Some(&true)
    }

    /// What the processor time of samples in this context counts as.
    pub(super) fn of_processor_time(&self, context: ContextId) -> State {
        self.of_processor_time.get(context).copied().unwrap_or(State::Working(Work::Compute))
    }

    /// Whether that is waiting, or a runtime's own work.
    pub(super) fn waits(&self, context: ContextId) -> bool {
        match self.of_processor_time(context) {
            State::Working(work) => work == Work::Runtime,
            State::Waiting(_) | State::Polling(_) | State::Passive(_) => true,
        }
    }

    /// What the time of an operation counts as.
    pub(super) fn of_event(&self, event: &EventRow) -> Class {
        let Some(operation) = self.operations.get(event.operation) else {
            return Class::Passive(PassiveReason::Unknown, Work::Compute);
        };
        match self.classes.by_path(event.context, operation.nature) {
            Some(state) => by_state(state, operation.nature),
            None => by_operation(operation, event.target),
        }
    }

    /// For how long a thread in this operation certainly slept: as long as it had asked for.
    pub(super) fn asleep_ns(&self, event: &EventRow) -> u64 {
        let is_sleep = self.operations.nature(event.operation) == Some(Nature::Sleep);
        if is_sleep && event.errors == 0 && !event.left { event.object2.min(event.time_ns) } else { 0 }
    }
}

/// What an operation of this nature counts as whose callers say what they do.
fn by_state(state: State, nature: Nature) -> Class {
    match state {
        State::Waiting(wait) => Class::Wait(wait),
        State::Polling(wait) => Class::Poll(wait),
        State::Working(work) => Class::Work(work),
        State::Passive(reason) => match nature {
            Nature::Spin | Nature::Yield => Class::Idle(reason),
            _ if nature.is_io() => Class::Passive(reason, Work::Io),
            _ => Class::Passive(reason, Work::Compute),
        },
    }
}

/// The state that follows from the operation alone.
fn by_operation(operation: OperationKind, target: Target) -> Class {
    let passive = |reason| Class::Passive(reason, Work::Compute);
    match operation.nature {
        // Runtimes of parallel regions spin for a while before they sleep, which cannot be distinguished.
        Nature::Lock if operation.is_of_openmp() => Class::Poll(Wait::Lock),
        Nature::Barrier if operation.is_of_openmp() => Class::Poll(Wait::Barrier),
        Nature::Lock => Class::Wait(Wait::Lock),
        Nature::Spin => Class::Poll(Wait::Lock),
        Nature::Barrier => Class::Wait(Wait::Barrier),
        Nature::Condition => passive(PassiveReason::Condition),
        Nature::Semaphore => passive(PassiveReason::Semaphore),
        Nature::Join => passive(PassiveReason::Join),
        Nature::Sleep => passive(PassiveReason::Sleep),
        Nature::Yield => Class::Yield,
        Nature::Poll => passive(PassiveReason::Poll),
        Nature::Process => passive(PassiveReason::Wait),
        Nature::Signal => passive(PassiveReason::Signal),
        Nature::Pause => passive(PassiveReason::Pause),
        Nature::Accept => passive(PassiveReason::Accept),
        Nature::Queue => passive(PassiveReason::Queue),
        Nature::Futex => passive(PassiveReason::Futex),
        Nature::Manage if operation.detail != Detail::Connect => Class::Work(Work::Io),
        Nature::Manage => Class::Passive(partner(target).unwrap_or(PassiveReason::Socket), Work::Io),
        Nature::Read | Nature::Write | Nature::Transfer => match partner(target) {
            Some(reason) => Class::Passive(reason, Work::Io),
            None => Class::Work(Work::Io),
        },
        // Never operations of their own.
        Nature::Release | Nature::Wake => Class::Work(Work::Compute),
        Nature::Runtime | Nature::Local => Class::Work(Work::Runtime),
        Nature::Pool => Class::Idle(PassiveReason::Pool),
        // Waits for partners are told apart by their rows.
        Nature::Message | Nature::Collective | Nature::Communicate => Class::Work(Work::MpiTransfer),
    }
}

/// What a thread waits for when it is blocked in I/O on this, unless it is a file or like one.
fn partner(target: Target) -> Option<PassiveReason> {
    match target {
        Target::None | Target::File | Target::Device => None,
        Target::Pipe => Some(PassiveReason::Pipe),
        Target::Socket => Some(PassiveReason::Socket),
        Target::Terminal => Some(PassiveReason::Terminal),
        Target::Event => Some(PassiveReason::Event),
    }
}
