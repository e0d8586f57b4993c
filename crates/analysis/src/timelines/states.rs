//! What the time in an operation counts as, and what processor time does.

use proust_log::operations::{Nature, Operation};
use proust_profile::context::{LOST_RECORDS, NOT_RECORDED};
use proust_profile::{ContextId, EventRow, Profile, Target};

use crate::ledger::{PassiveReason, State, Wait, Work};
use crate::operations::Operations;

/// What the time in an operation counts as. Where it makes a difference whether the thread had a processor, both
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
    /// Without a processor it is delayed: it could run and let others go first. With one it computes.
    Yield,
}

impl Class {
    /// Who gets processor time that cannot lie outside operations: lower ones first.
    pub(super) fn tier(self) -> usize {
        match self {
            Class::Poll(_) => 0,
            Class::Work(_) | Class::Passive(_, Work::Io) | Class::Yield => 1,
            Class::Passive(..) => 2,
            Class::Wait(_) => 3,
        }
    }

    /// What it is without a processor.
    pub(super) fn off_processor(self) -> State {
        match self {
            Class::Wait(wait) => State::Waiting(wait),
            Class::Poll(wait) => State::Polling(wait),
            Class::Work(work) => State::Working(work),
            Class::Passive(reason, _) => State::Passive(reason),
            Class::Yield => State::Working(Work::Delayed),
        }
    }

    /// Whether a thread is off the processor in it until somebody wakes it.
    pub(super) fn blocks(self) -> bool {
        !matches!(self, Class::Poll(_) | Class::Yield)
    }
}

/// Number of [`Class::tier`]s.
pub(super) const TIERS: usize = 4;

/// Answers for one profile.
pub(super) struct States {
    operations: Operations,
    /// What processor time counts as, by context.
    of_processor_time: Vec<State>,
}

impl States {
    pub(super) fn of(profile: &Profile) -> States {
        let is_unknown = |name: &str| name == LOST_RECORDS || name == NOT_RECORDED;
        let unknown: Vec<bool> = profile
            .functions
            .iter()
            .map(|function| function.module.is_none() && is_unknown(&function.name))
            .collect();
        let state = |function: Option<u32>| match function {
            // Measured, but of records that say no more than how much it was.
            Some(id) if unknown.get(id as usize) == Some(&true) => State::Working(Work::Unattributed),
            _ => State::Working(Work::Compute),
        };
        States {
            operations: Operations::of(profile),
            of_processor_time: profile.contexts.iter().map(|context| state(context.function)).collect(),
        }
    }

    /// What the processor time of samples in this context counts as.
    pub(super) fn of_processor_time(&self, context: ContextId) -> State {
        self.of_processor_time.get(context as usize).copied().unwrap_or(State::Working(Work::Compute))
    }

    /// What the time of an operation counts as.
    pub(super) fn of_event(&self, event: &EventRow) -> Class {
        match self.operations.get(event.operation) {
            Some(operation) => by_operation(operation, event.target),
            None => Class::Passive(PassiveReason::Unknown, Work::Compute),
        }
    }
}

/// What an operation says of itself.
fn by_operation(operation: Operation, target: Target) -> Class {
    let passive = |reason| Class::Passive(reason, Work::Compute);
    match operation.nature() {
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
        Nature::Manage if operation != Operation::Connect => Class::Work(Work::Io),
        Nature::Manage => Class::Passive(partner(target).unwrap_or(PassiveReason::Socket), Work::Io),
        Nature::Read | Nature::Write | Nature::Transfer => match partner(target) {
            Some(reason) => Class::Passive(reason, Work::Io),
            None => Class::Work(Work::Io),
        },
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
