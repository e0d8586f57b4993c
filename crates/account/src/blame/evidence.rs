//! The evidence about waits: the operations with what they wait for, and the releases by object.
//!
//! Operations are read location by location, in the order of their ends, as often as they are needed: nothing
//! here grows with their number.

use proust_profile::{EventRow, LocationId, Nature, OperationId, OperationKind, ProcessId, Profile};

use super::groups::{Groups, LockId};
use super::object::{First, Object, ObjectId};
use super::releases::{PlaceId, Releases};
use crate::ledger::{Lasting, State, Wait, Window};
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

/// An operation with what the rules need of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// Its number among those of its location.
    pub(super) number: u32,
    pub(super) row: EventRow,
    pub(super) kind: Kind,
    /// What was waited for, if that is known.
    pub(super) object: Option<ObjectId>,
}

impl Lasting for Done {
    fn window(&self) -> Window {
        Window::new(self.row.begin_ns, self.row.end_ns)
    }
}

/// The evidence about the waits of a profile.
pub(super) struct Evidence<'p> {
    pub(super) profile: &'p Profile,
    pub(super) operations: Operations,
    states: &'p OperationStates,
    /// By context the operation that was met there first, and its kind: most contexts have no other.
    kinds: Vec<Option<(OperationId, Kind)>>,
    known: Map<(ProcessId, u64), ObjectId>,
    pub(super) objects: Vec<Object>,
    pub(super) releases: Releases,
    /// Which objects are one lock.
    pub(super) groups: Groups,
    pub(super) met: Met,
}

/// Which kinds of operations there are at all: nobody looks for others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    pub(super) barriers: bool,
    /// Sums of short waits at barriers.
    pub(super) barrier_sums: bool,
    pub(super) woken: bool,
    pub(super) locks: bool,
    /// Sums of short waits for locks.
    pub(super) lock_sums: bool,
}

impl<'p> Evidence<'p> {
    /// `see` sees each operation, location by location, as soon as its object is known.
    pub(super) fn new(
        profile: &'p Profile,
        states: &'p OperationStates,
        see: impl FnMut(&Evidence<'p>, &Done),
    ) -> Evidence<'p> {
        let mut evidence = Evidence {
            profile,
            states,
            kinds: vec![None; profile.contexts.len()],
            known: Map::default(),
            objects: Vec::new(),
            releases: Releases::default(),
            groups: Groups::default(),
            met: Met::default(),
            operations: Operations::of(profile),
        };
        evidence.find_objects(see);
        evidence.releases =
            Releases::new(profile, &evidence.known, &evidence.objects, evidence.met.lock_sums);
        evidence.groups = Groups::new(&evidence.objects, &evidence.operations);
        evidence
    }

    fn find_objects(&mut self, mut see: impl FnMut(&Evidence<'p>, &Done)) {
        let events = &self.profile.events;
        let all = events.locations().into_iter().flat_map(|location| (0..).zip(events.of(location)));
        for (number, row) in all {
            let kind = self.kind_of(&row);
            if let Some(first @ None) = self.kinds.get_mut(row.context.index()) {
                *first = Some((row.operation, kind));
            }
            let object = self.find_object(&row, kind);
            see(self, &Done { number, row, kind, object });
        }
    }

    /// What an operation waits for, if that is known, met for the first time or again.
    fn find_object(&mut self, event: &EventRow, kind: Kind) -> Option<ObjectId> {
        match kind {
            Kind::Barrier => {
                self.met.barriers = true;
                self.met.barrier_sums |= event.summed;
            }
            Kind::Woken => self.met.woken = true,
            Kind::Lock if event.summed => self.met.lock_sums = true,
            Kind::Lock => self.met.locks = true,
            Kind::OtherWait | Kind::Other => {}
        }
        if !has_object(event, kind) {
            return None;
        }
        let process = self.process(event.location);
        let next = self.objects.len() as ObjectId;
        let id = *self.known.entry((process, event.object)).or_insert(next);
        let first = First::of(event);
        if id == next {
            self.objects.push(Object { process, first, lock_waits: 0, other_waits: 0 });
        }
        let object = &mut self.objects[id as usize];
        if (first.begin_ns, first.location) < (object.first.begin_ns, object.first.location) {
            object.first = first;
        }
        if kind == Kind::Lock {
            object.lock_waits += 1;
        } else {
            object.other_waits += 1;
        }
        Some(id)
    }

    /// It follows from the operation and its context: what it is done to decides only what kind of I/O it is.
    #[inline]
    fn kind_of(&self, event: &EventRow) -> Kind {
        match self.kinds.get(event.context.index()) {
            Some(&Some((operation, kind))) if operation == event.operation => kind,
            _ => self.find_kind(event),
        }
    }

    fn find_kind(&self, event: &EventRow) -> Kind {
        match self.states.of_event(event) {
            State::Waiting(Wait::Lock) | State::Polling(Wait::Lock) => Kind::Lock,
            State::Waiting(Wait::Barrier) | State::Polling(Wait::Barrier) => Kind::Barrier,
            State::Waiting(_) | State::Polling(_) => Kind::OtherWait,
            State::Passive(_) => match self.operations.nature(event.operation) {
                Some(Nature::Condition | Nature::Semaphore | Nature::Futex) => Kind::Woken,
                _ => Kind::Other,
            },
            State::Working(_) => Kind::Other,
        }
    }

    /// The operations of a location, in the order of their ends.
    pub(super) fn of(&self, location: LocationId) -> impl Iterator<Item = Done> + '_ {
        (0..).zip(self.profile.events.of(location)).map(|(number, row)| self.done(number, row))
    }

    /// Those of them that end after an instant, without their numbers; of the run's begin all of them.
    pub(super) fn ending_after(
        &self,
        location: LocationId,
        after_ns: u64,
    ) -> impl Iterator<Item = Done> + '_ {
        let all = (after_ns == 0).then(|| self.profile.events.of(location));
        let later = (after_ns > 0).then(|| self.profile.events.ending_after(location, after_ns));
        all.into_iter().chain(later).flatten().map(|row| self.done(0, row))
    }

    /// Those of them that were recorded alone, with their numbers.
    pub(super) fn singles_of(&self, location: LocationId) -> impl Iterator<Item = (u32, EventRow)> + '_ {
        (0..).zip(self.profile.events.of(location)).filter(|(_, row)| !row.summed)
    }

    /// Those of them that are waits at barriers.
    pub(super) fn barriers_of(&self, location: LocationId) -> impl Iterator<Item = Done> + '_ {
        let all = (0..).zip(self.profile.events.of(location));
        let barriers = all.filter(|(_, row)| self.kind_of(row) == Kind::Barrier);
        barriers.map(|(number, row)| self.done(number, row))
    }

    /// What the rules need of an operation with this number.
    pub(super) fn done(&self, number: u32, row: EventRow) -> Done {
        let kind = self.kind_of(&row);
        let known = || self.known.get(&(self.process(row.location), row.object)).copied();
        let object = if has_object(&row, kind) { known() } else { None };
        Done { number, row, kind, object }
    }

    /// Those of all locations, location by location.
    pub(super) fn all(&self) -> impl Iterator<Item = Done> + '_ {
        self.profile.events.locations().into_iter().flat_map(|location| self.of(location))
    }

    /// The operations of a location that were recorded alone and end after an instant.
    pub(super) fn singles_after(
        &self,
        location: LocationId,
        after_ns: u64,
    ) -> impl Iterator<Item = EventRow> + '_ {
        self.profile.events.ending_after(location, after_ns).filter(|row| !row.summed)
    }

    /// The lock that releases at a place are of.
    pub(super) fn lock_of_release(&self, place: PlaceId) -> Option<LockId> {
        let release = self.releases.place(place);
        let object = self.known.get(&(self.process(release.location), release.object))?;
        self.groups.lock(*object)
    }

    pub(super) fn process(&self, location: LocationId) -> ProcessId {
        self.profile.locations[location].process
    }

    pub(super) fn operation(&self, id: OperationId) -> Option<OperationKind> {
        self.operations.get(id)
    }
}

/// Whether what an operation waits for is recorded, and of use.
fn has_object(event: &EventRow, kind: Kind) -> bool {
    !event.summed && event.object != 0 && kind != Kind::Other
}
