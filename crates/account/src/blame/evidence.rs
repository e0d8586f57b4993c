//! The evidence about waits: the operations with what they wait for, and the releases by object.

use std::ops::Range;

use proust_profile::{LocationId, Nature, OperationId, OperationKind, ProcessId, Profile};

use super::groups::{Groups, LockId};
use super::object::{NONE, Object, ObjectId};
use super::releases::Releases;
use crate::ledger::{State, Wait, WaitCharge};
use crate::timelines::OperationStates;
use proust_profile::event_metrics::Operations;
use rustc_hash::FxHashMap as Map;

/// The kind of an operation in the search for causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Lock,
    Barrier,
    /// Waiting for something else.
    OtherWait,
    /// Passive, until a wake.
    Woken,
    /// No wait that another location ends.
    Other,
}

/// The evidence about the waits of a profile.
pub(super) struct Evidence<'p> {
    pub(super) profile: &'p Profile,
    pub(super) operations: Operations,
    /// The events of each location.
    pub(super) ranges: Vec<Range<usize>>,
    kinds: Vec<Kind>,
    object_of: Vec<ObjectId>,
    known: Map<(ProcessId, u64), ObjectId>,
    pub(super) objects: Vec<Object>,
    pub(super) releases: Releases,
    /// Which objects are one lock.
    pub(super) groups: Groups,
}

impl<'p> Evidence<'p> {
    pub(super) fn new(profile: &'p Profile, states: &OperationStates) -> Evidence<'p> {
        let operations = Operations::of(profile);
        let mut known: Map<(ProcessId, u64), ObjectId> = Map::default();
        let mut evidence = Evidence {
            profile,
            ranges: vec![0..0; profile.locations.len()],
            kinds: Vec::with_capacity(profile.events.len()),
            object_of: Vec::with_capacity(profile.events.len()),
            known: Map::default(),
            objects: Vec::new(),
            releases: Releases::default(),
            groups: Groups::default(),
            operations,
        };
        for (id, event) in profile.events.iter().enumerate() {
            let range = &mut evidence.ranges[event.location.index()];
            *range = if range.start == range.end { id..id + 1 } else { range.start..id + 1 };
            let kind = evidence.kind_of(states.of_event(event), event.operation);
            let has_object = !event.summed && event.object != 0 && kind != Kind::Other;
            let mut object_id = NONE;
            if has_object {
                let process = evidence.process(event.location);
                let next = evidence.objects.len() as ObjectId;
                object_id = *known.entry((process, event.object)).or_insert(next);
                if object_id == next {
                    let new = Object { process, first: id, lock_waits: 0, other_waits: 0 };
                    evidence.objects.push(new);
                }
                let object = &mut evidence.objects[object_id as usize];
                let first = &profile.events[object.first];
                if (event.begin_ns, event.location) < (first.begin_ns, first.location) {
                    object.first = id;
                }
                if kind == Kind::Lock {
                    object.lock_waits += 1;
                } else {
                    object.other_waits += 1;
                }
            }
            evidence.kinds.push(kind);
            evidence.object_of.push(object_id);
        }
        evidence.releases = Releases::new(profile, &known, &evidence.objects);
        evidence.known = known;
        evidence.groups = Groups::new(&profile.events, &evidence.objects, &evidence.operations);
        evidence
    }

    fn kind_of(&self, state: State, operation: OperationId) -> Kind {
        match state {
            State::Waiting(Wait::Lock) | State::Polling(Wait::Lock) => Kind::Lock,
            State::Waiting(Wait::Barrier) | State::Polling(Wait::Barrier) => Kind::Barrier,
            State::Waiting(_) | State::Polling(_) => Kind::OtherWait,
            State::Passive(_) => match self.operations.nature(operation) {
                Some(Nature::Condition | Nature::Semaphore | Nature::Futex) => Kind::Woken,
                _ => Kind::Other,
            },
            State::Working(_) => Kind::Other,
        }
    }

    pub(super) fn kind(&self, event: usize) -> Kind {
        self.kinds[event]
    }

    pub(super) fn object(&self, event: usize) -> Option<ObjectId> {
        Some(self.object_of[event]).filter(|&object| object != NONE)
    }

    /// The operation that a wait is; None if it is a part of a sum, or was seen by samples only. `next`: the
    /// next single operation of each location, whose waits are met in their order.
    pub(super) fn event(&self, next: &mut [usize], charge: &WaitCharge) -> Option<usize> {
        let end = self.ranges.get(charge.location.index())?.end;
        let next = next.get_mut(charge.location.index())?;
        let events = &self.profile.events;
        while *next < end && (events[*next].summed || events[*next].end_ns <= charge.window.start_ns) {
            *next += 1;
        }
        let event = events.get(*next).filter(|_| *next < end)?;
        (event.begin_ns <= charge.window.start_ns && event.context == charge.context).then_some(*next)
    }

    /// The samples of each location.
    pub(super) fn samples(&self) -> Vec<Range<usize>> {
        let mut samples = vec![0..0; self.profile.locations.len()];
        for (row, sample) in self.profile.samples.iter().enumerate() {
            let range = &mut samples[sample.location.index()];
            *range = if range.start == range.end { row..row + 1 } else { range.start..row + 1 };
        }
        samples
    }

    /// The lock that a release is of.
    pub(super) fn lock_of_release(&self, row: u32) -> Option<LockId> {
        let release = &self.profile.releases[row as usize];
        let object = self.known.get(&(self.process(release.location), release.object))?;
        self.groups.lock(*object)
    }

    pub(super) fn process(&self, location: LocationId) -> ProcessId {
        self.profile.locations[location].process
    }

    pub(super) fn operation(&self, event: usize) -> Option<OperationKind> {
        self.operations.get(self.profile.events[event].operation)
    }
}
