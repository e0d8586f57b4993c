//! Waits worked out by hand, and laws that hold for random ones. Times are milliseconds.

mod laws;
mod locks;
mod naive;
mod partners;
mod synchronisations;

use proust_profile::{
    Context, ContextId, ContextKind, EventRow, Location, LocationId, Ns, OperationId, PartnerWaitRow,
    Process, ProcessId, Profile, RegionId, RegionInfo, ReleaseRow, SampleRow, StayRow, Stop, WaitPattern,
};

use super::{Blame, BlameRow, CauseKind};
use crate::accounted::blame_within;
use crate::ledger::{Account, IoAs, Ledger, Windows};
use proust_ingest::operation_info;
use proust_log::operations::Operation;

pub(super) const MS: u64 = 1_000_000;

/// Operations by name have their position here as their number.
pub(super) const OPERATIONS: [Operation; 12] = [
    Operation::MutexLock,
    Operation::MutexUnlock,
    Operation::Barrier,
    Operation::ConditionWait,
    Operation::ConditionSignal,
    Operation::MutexTimedLock,
    Operation::Sleep,
    Operation::FutexWait,
    Operation::FutexWake,
    Operation::OmpBarrier,
    Operation::OmpRegionEnd,
    Operation::MPI_Recv,
];

pub(super) fn number(operation: Operation) -> u32 {
    OPERATIONS.iter().position(|&known| known == operation).unwrap() as u32
}

/// A profile in the making: one process, contexts 1 to 9 below the program, as many threads as are named.
pub(super) struct Builder(Profile, Rows);

/// Its rows by location.
#[derive(Default)]
pub(super) struct Rows {
    events: Vec<EventRow>,
    pub(super) samples: Vec<SampleRow>,
    releases: Vec<ReleaseRow>,
    stays: Vec<StayRow>,
}

impl Builder {
    pub(super) fn new(threads: u32, end_ms: u64) -> Builder {
        let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
        let end = Ns::of(end_ms * MS);
        let mut contexts = vec![context(None, ContextKind::Program)];
        contexts.resize(10, context(Some(ContextId(0)), ContextKind::Frame));
        let profile = Profile {
            processes: vec![Process { end, ..Process::default() }].into(),
            locations: vec![Location { end, ..Location::default() }; threads as usize].into(),
            contexts: contexts.into(),
            operations: OPERATIONS.iter().map(|operation| operation_info(operation.name())).collect(),
            ..Profile::default()
        };
        Builder(profile, Rows::default())
    }

    /// A location waits for an object in a context.
    pub(super) fn wait(
        &mut self,
        operation: Operation,
        location: u32,
        context: u32,
        object: u64,
        (begin_ms, end_ms): (u64, u64),
    ) -> &mut EventRow {
        self.1.events.push(EventRow {
            location: LocationId(location),
            context: ContextId(context),
            operation: OperationId(number(operation)),
            begin_ns: begin_ms * MS,
            end_ns: end_ms * MS,
            time_ns: (end_ms - begin_ms) * MS,
            calls: 1,
            object,
            ..EventRow::default()
        });
        self.1.events.last_mut().unwrap()
    }

    /// A location is in a call of MPI in which it waits until another one arrives.
    pub(super) fn partner(
        &mut self,
        (location, context): (u32, u32),
        (begin_ms, until_ms, end_ms): (u64, u64, u64),
        late: u32,
    ) {
        let event = *self.wait(Operation::MPI_Recv, location, context, 1, (begin_ms, end_ms));
        self.0.partner_waits.push(PartnerWaitRow {
            location: event.location,
            context: event.context,
            operation: event.operation,
            begin_ns: event.begin_ns,
            until_ns: until_ms * MS,
            pattern: WaitPattern::LateSender,
            late: LocationId(late),
            late_context: ContextId(9),
            misordered_ns: 0,
            bytes: 0,
        });
    }

    /// A location waits for a mutex.
    pub(super) fn lock(
        &mut self,
        location: u32,
        context: u32,
        object: u64,
        times: (u64, u64),
    ) -> &mut EventRow {
        self.wait(Operation::MutexLock, location, context, object, times)
    }

    /// A location releases a mutex that it has held for so long.
    pub(super) fn unlock(
        &mut self,
        location: u32,
        context: u32,
        object: u64,
        time_ms: u64,
        held_ms: u64,
    ) -> &mut ReleaseRow {
        self.1.releases.push(ReleaseRow {
            location: LocationId(location),
            context: ContextId(context),
            site: Some(ContextId(9)),
            operation: OperationId(number(Operation::MutexUnlock)),
            time_ns: time_ms * MS,
            object,
            held_ns: held_ms * MS,
            weight_ns: (held_ms * MS).max(200_000),
            ..ReleaseRow::default()
        });
        self.1.releases.last_mut().unwrap()
    }

    /// A location has computed in a context since its last sample.
    pub(super) fn sample(&mut self, location: u32, context: u32, time_ms: u64, cpu_ms: u64) {
        let (time_ns, cpu_ns) = (time_ms * MS, cpu_ms * MS);
        self.1.samples.push(SampleRow {
            location: LocationId(location),
            context: ContextId(context),
            time_ns,
            cpu_ns,
            ..SampleRow::default()
        });
    }

    /// A sample of a location that was in an operation, such as a wait in which it polls.
    pub(super) fn sample_in_operation(&mut self, location: u32, context: u32, time_ns: u64) {
        let in_operation = true;
        self.1.samples.push(SampleRow {
            location: LocationId(location),
            context: ContextId(context),
            time_ns,
            in_operation,
            ..SampleRow::default()
        });
    }

    /// The process was stopped.
    pub(super) fn stopped(&mut self, begin_ms: u64, end_ms: u64) {
        let (begin_ns, end_ns) = (begin_ms * MS, end_ms * MS);
        let pid = self.0.processes[ProcessId(0)].pid;
        self.0.facts.stops.push(Stop { pid, before_ns: begin_ns, begin_ns, end_ns, behind_ns: end_ns });
    }

    /// In unexplained time the threads were blocked, and not preempted.
    pub(super) fn blocks_between_samples(&mut self) {
        self.1.samples.iter_mut().for_each(|row| row.voluntary_switches = 1);
    }

    /// A parallel region, whose context this is.
    pub(super) fn region(&mut self, context: u32) -> u32 {
        self.0.regions.push(RegionInfo {
            process: ProcessId(0),
            context: ContextId(context),
            parent: None,
            told: false,
        });
        self.0.regions.len() as u32 - 1
    }

    /// A location had its part of a region that was opened then.
    pub(super) fn stay(&mut self, location: u32, region: u32, fork_ms: u64, end_ms: u64) {
        let (fork_ns, end_ns) = (fork_ms * MS, end_ms * MS);
        self.1.stays.push(StayRow {
            location: LocationId(location),
            region: RegionId(region),
            fork_ns,
            begin_ns: fork_ns,
            end_ns,
            number: 0,
            team: 0,
        });
    }

    /// A wait so short that it is in a sum.
    pub(super) fn short_wait(&mut self, location: u32, context: u32, (begin_ms, end_ms): (u64, u64)) {
        let sum = self.wait(Operation::Barrier, location, context, 0, (begin_ms, end_ms));
        (sum.summed, sum.time_ns) = (true, 1_000);
    }

    pub(super) fn profile(mut self) -> Profile {
        self.0.events = self.1.events.into();
        self.0.samples = self.1.samples.into();
        self.0.releases = self.1.releases.into();
        self.0.partner_waits.sort_by_key(|wait| (wait.location, wait.begin_ns));
        self.0.stays = self.1.stays.into();
        self.0.check().unwrap();
        self.0
    }

    pub(super) fn blame(self) -> (Ledger, Blame) {
        blame_of(&self.profile(), &Windows::all())
    }
}

/// The blame within windows; it conserves.
pub(super) fn blame_of(profile: &Profile, windows: &Windows) -> (Ledger, Blame) {
    let (ledger, blame) = blame_within(profile, None, windows).unwrap();
    for account in Account::ALL {
        let sum = |rows: &[BlameRow], slots: bool| -> u64 {
            rows.iter().filter(|row| row.account == account && row.slots == slots).map(|row| row.ns).sum()
        };
        let caused: u64 = ledger.caused.iter().filter(|row| row.account == account).map(|row| row.ns).sum();
        if super::cause::is_wait(account) {
            let all = sum(&blame.rows, false) + sum(&blame.rows, true);
            assert_eq!(all, ledger.with_beyond_ns(account), "{account}");
        }
        if account.lost(IoAs::Productive) && account != Account::Idle {
            assert_eq!(caused, ledger.with_beyond_ns(account), "{account}");
        } else {
            assert_eq!(caused, 0, "{account}");
        }
    }
    (ledger, blame)
}

/// What locations waited themselves: the location, the cause with its kind and place, and milliseconds.
pub(super) fn charges(blame: &Blame) -> Vec<(u32, CauseKind, u32, u32, f64)> {
    let own = blame.rows.iter().filter(|row| !row.slots);
    own.map(|row| {
        let ms = (row.ns as f64 / MS as f64 * 1e3).round() / 1e3;
        (row.location.0, row.cause.kind, row.cause.location.0, row.cause.context.0, ms)
    })
    .collect()
}
