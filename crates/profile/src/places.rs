//! The tree of locations: the machine, its hosts, their processes, and the threads of these.

use std::collections::BTreeMap;

use crate::{IndexVec, LocationId, ProcessId, Profile};

crate::define_id! {
    /// Position in [`Places`].
    pub struct PlaceId "n";
}

/// What a place of the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// All that the run used.
    Machine,
    /// A host of it.
    Host,
    /// A process image.
    Process,
    /// A thread: a location.
    Thread,
}

/// A place where time passes, or where several others are.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it is.
    pub level: Level,
    /// The place that it is in; None for the machine.
    pub parent: Option<PlaceId>,
    /// The process that it is, or is in.
    pub process: Option<ProcessId>,
    /// The thread that it is.
    pub location: Option<LocationId>,
    /// The first thread in it, in the order of ids; None where there is none.
    pub first: Option<LocationId>,
}

/// The places of a run. A parent is before its children; hosts are in the order in which processes began on
/// them, processes and threads in that of their ids.
#[derive(Clone, Debug)]
pub struct Places {
    places: IndexVec<PlaceId, Place>,
    of_location: IndexVec<LocationId, PlaceId>,
}

impl Places {
    /// Those of a profile.
    pub fn of(profile: &Profile) -> Places {
        let place = |level, parent| Place { level, parent, process: None, location: None, first: None };
        let mut places: IndexVec<PlaceId, Place> = vec![place(Level::Machine, None)].into();
        let machine = PlaceId(0);
        let mut of_host: BTreeMap<&str, PlaceId> = BTreeMap::new();
        for process in &profile.processes {
            of_host.entry(&process.host).or_insert_with(|| {
                places.push(place(Level::Host, Some(machine)));
                PlaceId::from_index(places.len() - 1)
            });
        }
        let mut of_process: IndexVec<ProcessId, PlaceId> = IndexVec::new();
        for (id, process) in profile.processes.iter_enumerated() {
            let host = of_host[process.host.as_str()];
            of_process.push(PlaceId::from_index(places.len()));
            places.push(Place { process: Some(id), ..place(Level::Process, Some(host)) });
        }
        let mut of_location: IndexVec<LocationId, PlaceId> = IndexVec::new();
        for (id, location) in profile.locations.iter_enumerated() {
            let thread = PlaceId::from_index(places.len());
            of_location.push(thread);
            let process = Some(location.process);
            let parent = Some(of_process[location.process]);
            places.push(Place { process, location: Some(id), ..place(Level::Thread, parent) });
            let mut at = Some(thread);
            while let Some(above) = at.filter(|&above| places[above].first.is_none()) {
                places[above].first = Some(id);
                at = places[above].parent;
            }
        }
        Places { places, of_location }
    }

    /// A place.
    pub fn get(&self, id: PlaceId) -> &Place {
        &self.places[id]
    }

    /// The place of this level that a location is, or is in.
    pub fn above(&self, location: LocationId, level: Level) -> PlaceId {
        let mut at = self.of_location[location];
        while self.places[at].level > level {
            at = self.places[at].parent.expect("only the machine is in nothing");
        }
        at
    }

    /// What a place is called.
    pub fn name<'p>(&self, id: PlaceId, profile: &'p Profile) -> &'p str {
        let place = &self.places[id];
        let of_thread = |id: LocationId| profile.locations[id].name.as_str();
        match place.level {
            Level::Machine => "",
            Level::Host => {
                let first = place.first.map(|id| &profile.processes[profile.locations[id].process]);
                first.map_or("", |process| process.host.as_str())
            }
            Level::Process | Level::Thread => place.first.map_or("", of_thread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, Process};

    #[test]
    fn each_location_is_in_one_place_of_each_level() {
        let process = |host: &str| Process { host: host.into(), ..Process::default() };
        let thread = |process, name: &str| Location {
            process: ProcessId(process),
            name: name.into(),
            ..Location::default()
        };
        let profile = Profile {
            processes: ["b", "a", "b"].map(process).into_iter().collect(),
            locations: vec![thread(2, "x"), thread(0, "y"), thread(2, "z"), thread(1, "w")].into(),
            ..Profile::default()
        };
        let places = Places::of(&profile);
        let above = |location, level| places.above(LocationId(location), level);
        let names = |level| (0..4).map(|id| places.name(above(id, level), &profile)).collect::<Vec<_>>();
        assert_eq!(names(Level::Thread), ["x", "y", "z", "w"]);
        assert_eq!(names(Level::Process), ["x", "y", "x", "w"]);
        assert_eq!(names(Level::Host), ["b", "b", "b", "a"]);
        assert!((0..4).all(|id| above(id, Level::Machine) == PlaceId(0)));
        assert_eq!(above(0, Level::Process), above(2, Level::Process));
        for id in 0..4 {
            let process = places.get(above(id, Level::Process));
            assert_eq!(process.process, Some(profile.locations[LocationId(id)].process));
            assert_eq!(places.get(process.parent.unwrap()).level, Level::Host);
        }
    }
}
