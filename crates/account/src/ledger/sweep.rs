//! The sweep: goes once over all spans in time order and integrates locations and slots.

use super::account::Account;
use super::act::{Act, Levels};
use super::crowd::{Crowds, LineId};
use super::demand::Demand;
use super::error::LedgerError;
use super::fixed::{Units, to_ns_f64};
use super::merge::{Lasting, Merge};
use super::observer::{Begun, Booked, Border, Observer, SlotsSoFar, WaitCharge};
use super::owners::Owners;
use super::pieces::{Piece, Pieces};
use super::processors::Processors;
use super::rows::{Amounts, Kind};
use super::slots::{Integrals, Slots};
use super::state::{PassiveReason, PassiveTimes, State};
use super::timeline::{Process, Run, Spans};
use super::windows::{Stretch, Window, Windows};
use proust_profile::{LocationId, ProcessId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sweep's sums for one location.
#[derive(Debug)]
pub(super) struct LocationSums {
    pub location: LocationId,
    pub process: ProcessId,
    pub service: bool,
    /// Whose slots it uses; `None` if it is not charged.
    pub owner: Option<usize>,
    pub wall_ns: u64,
    pub passive: PassiveTimes,
    pub overlap_ns: u64,
    /// Its own active and passive time, and the empty slots charged to it.
    pub amounts: Amounts,
    /// The part of its active time beyond the processors.
    pub beyond: Beyond,
    crowd: Option<usize>,
    line: Option<LineId>,
    levels: Levels,
    demand: Demand,
}

/// Amounts by account.
pub(super) type Beyond = [Units; Account::ALL.len()];

/// The state of the sweep and, after the last edge, its result.
pub(super) struct Sweep {
    pub locations: Vec<LocationSums>,
    pub slots: Vec<Slots>,
    /// The positions of the locations that use each owner's slots.
    of_owners: Vec<Vec<usize>>,
    crowds: Crowds,
}

/// The windows of one process's locations, those in which it was not recorded marked.
struct Cuts {
    charged: Vec<Stretch>,
    /// Locations that are only shown are shown for all their life, which may be longer than the run's.
    shown: Vec<Stretch>,
}

impl Sweep {
    pub fn new<S: Spans>(
        run: &Run<S>,
        owners: &Owners,
        processors: &Processors,
        windows: &Windows,
    ) -> Result<Sweep, LedgerError> {
        let slots = owners
            .list
            .iter()
            .map(|owner| {
                let number = processors
                    .of(owner.process)
                    .ok_or(LedgerError::NoProcessors { process: owner.process })?;
                Ok(Slots::new(owner, number, &windows.within(owners.life)))
            })
            .collect::<Result<_, _>>()?;
        let sets: FxHashMap<ProcessId, Option<usize>> =
            run.processes.iter().map(|process| (process.id, process.processor_set)).collect();
        let mut used = vec![false; run.processor_sets.len()];
        for set in sets.values().flatten().chain(run.bound.values()) {
            if let Some(used) = used.get_mut(*set) {
                *used = true;
            }
        }
        let mut crowds = Crowds::new(&run.processor_sets, &used, owners.list.len());
        let mut seen = FxHashSet::default();
        let locations = run
            .timelines
            .iter()
            .map(|timeline| {
                if !seen.insert(timeline.location) {
                    return Err(LedgerError::DuplicateLocation { location: timeline.location });
                }
                let owner = owners.of(timeline.process)?.filter(|_| !timeline.service);
                let bound = run.bound.get(&timeline.location).copied();
                let crowd = bound.or(sets[&timeline.process]).filter(|set| *set < run.processor_sets.len());
                Ok(LocationSums {
                    location: timeline.location,
                    process: timeline.process,
                    service: timeline.service,
                    owner,
                    wall_ns: 0,
                    passive: PassiveTimes::default(),
                    overlap_ns: 0,
                    amounts: Amounts::default(),
                    beyond: Beyond::default(),
                    crowd,
                    line: owner.zip(crowd).map(|(owner, set)| crowds.line(owner, set)),
                    levels: Levels::default(),
                    demand: Demand::default(),
                })
            })
            .collect::<Result<Vec<LocationSums>, _>>()?;
        let of_owners = by_owner(owners.list.len(), locations.iter().map(|location| location.owner));
        Ok(Sweep { locations, slots, of_owners, crowds })
    }

    /// Goes over all spans of the run within `windows`.
    pub fn run<S: Spans>(
        &mut self,
        run: &Run<S>,
        life: Window,
        windows: &Windows,
        observer: &mut impl Observer,
    ) {
        let within_life = windows.within(life);
        let cuts_of = |process: &Process| {
            let charged = within_life.cut_by(&process.paused);
            (process.id, Cuts { charged, shown: windows.cut_by(&process.paused) })
        };
        let cuts: FxHashMap<ProcessId, Cuts> = run.processes.iter().map(cuts_of).collect();
        let sources: Vec<_> = run
            .timelines
            .iter()
            .zip(&self.locations)
            .map(|(timeline, location)| {
                let cuts = &cuts[&timeline.process];
                let stretches = if location.owner.is_some() { &cuts.charged } else { &cuts.shown };
                Pieces::new(timeline.spans.spans(), stretches)
            })
            .collect();
        let mut merge = Merge::new(sources);
        let mut borders = Borders { passed: 0, next_ns: observer.border(0).map(|border| border.at_ns) };
        while let Some(due_ns) = merge.due_ns() {
            if borders.next_ns.is_some_and(|at_ns| at_ns < due_ns) {
                self.pass(&mut borders, due_ns, &merge, observer);
            }
            let Some(edge) = merge.next() else { break };
            let location = &self.locations[edge.source];
            if let Some(owner) = location.owner {
                self.slots[owner].advance(edge.at_ns);
            }
            self.crowds.advance(edge.at_ns);
            if let Some(piece) = edge.ended {
                self.leave(edge.source, &piece, observer);
            }
            self.ask(edge.source, edge.began);
            if let Some(piece) = edge.began {
                self.enter(edge.source, piece);
                observer.begins(&Begun::of(self.locations[edge.source].location, piece));
            }
        }
        self.pass(&mut borders, u64::MAX, &merge, observer);
        for (location, pieces) in self.locations.iter_mut().zip(merge.into_sources()) {
            location.overlap_ns = pieces.overlap_ns();
            location.amounts.enter_pending();
        }
        for slots in &mut self.slots {
            slots.finish();
        }
    }

    /// Passes the observer's borders before this instant. Where acts end or begin at one, they have.
    fn pass<I: Iterator<Item = Piece>>(
        &self,
        borders: &mut Borders,
        before_ns: u64,
        merge: &Merge<I>,
        observer: &mut impl Observer,
    ) {
        while let Some(border) = observer.border(borders.passed) {
            borders.next_ns = Some(border.at_ns);
            if border.at_ns >= before_ns {
                return;
            }
            borders.passed += 1;
            let slots = self.slots[border.owner].at(border.at_ns);
            match border.source {
                Some(source) => self.report(source, merge.current(source), &border, &slots, observer),
                None => {
                    for &source in &self.of_owners[border.owner] {
                        self.report(source, merge.current(source), &border, &slots, observer);
                    }
                }
            }
            observer.passes(&SlotsSoFar(slots.sums));
        }
        borders.next_ns = None;
    }

    /// Shows the observer what a location's present act comes to until a border.
    fn report(
        &self,
        source: usize,
        piece: Option<&Piece>,
        border: &Border,
        slots: &Integrals,
        observer: &mut impl Observer,
    ) {
        let (Some(piece), location) = (piece, &self.locations[source]) else { return };
        let length_ns = border.at_ns.saturating_sub(piece.window.start_ns);
        if length_ns == 0 || location.owner.is_none() {
            return;
        }
        let levels = self.levels(location, Some(slots), border.at_ns).since(&location.levels);
        let (context, in_region) = (piece.span.context, piece.span.in_region);
        let mut nth = 0;
        Act { piece, length_ns, levels, is_charged: true }.amounts(|kind, amount, beyond| {
            observer.booked(&Booked {
                source,
                nth,
                context,
                kind,
                amount,
                beyond,
                in_region,
                is_over: false,
            });
            nth += 1;
        });
    }

    /// The demand of a location becomes that of the piece that begins.
    fn ask(&mut self, index: usize, piece: Option<&Piece>) {
        let location = &mut self.locations[index];
        let state = piece.map(Piece::state);
        if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
            match state {
                Some(State::Working(_)) => slots.working += 1,
                Some(State::Waiting(_) | State::Polling(_)) => slots.waiting += 1,
                Some(State::Passive(_)) | None => {}
            }
        }
        let demand = piece.map_or(Demand::default(), |piece| piece.demand());
        let before = std::mem::replace(&mut location.demand, demand);
        if let Some(crowd) = location.crowd {
            self.crowds.change(crowd, before, demand);
        }
        if let Some(owner) = location.owner {
            self.slots[owner].change(before, demand);
            self.crowds.set_beyond(owner, self.slots[owner].queue_beyond());
        }
    }

    fn enter(&mut self, index: usize, piece: &Piece) {
        if matches!(piece.state(), State::Passive(_)) {
            return;
        }
        let location = &self.locations[index];
        self.locations[index].levels = self.levels(location, self.slots_of(location), self.crowds.now_ns());
    }

    fn slots_of(&self, location: &LocationSums) -> Option<&Integrals> {
        location.owner.map(|owner| self.slots[owner].now())
    }

    /// The running integrals of a location at an instant, `slots` being those of its owner then.
    fn levels(&self, location: &LocationSums, slots: Option<&Integrals>, at_ns: u64) -> Levels {
        Levels {
            to_workers: slots.map_or(0, |slots| slots.to_workers.now()),
            to_waiters: slots.map_or(0, |slots| slots.to_waiters.now()),
            beyond: slots.map_or(Default::default(), |slots| slots.beyond),
            explained: location.crowd.map_or(0, |crowd| self.crowds.explained(crowd, at_ns)),
            explained_beyond: location.line.map_or(0, |line| self.crowds.beyond(line, at_ns)),
        }
    }

    fn leave<O: Observer>(&mut self, source: usize, piece: &Piece, observer: &mut O) {
        let length_ns = piece.window.length_ns();
        let location = &self.locations[source];
        let is_charged = location.owner.is_some();
        let levels = match piece.state() {
            State::Passive(_) => Levels::default(),
            _ => {
                let now = self.levels(location, self.slots_of(location), self.crowds.now_ns());
                now.since(&location.levels)
            }
        };
        let location = &mut self.locations[source];
        location.wall_ns += length_ns;
        let (context, in_region) = (piece.span.context, piece.span.in_region);
        let mut nth = 0;
        Act { piece, length_ns, levels, is_charged }.amounts(|kind, amount, beyond| {
            location.amounts.add(context, kind, amount);
            if let Kind::Spent(account) = kind {
                location.beyond[account as usize] += beyond;
            }
            if is_charged {
                let is_over = true;
                observer.booked(&Booked { source, nth, context, kind, amount, beyond, in_region, is_over });
                nth += 1;
            }
        });
        let slots = location.owner.map(|owner| &mut self.slots[owner]);
        match (piece.state(), slots) {
            (State::Passive(reason), _) => location.passive[reason] += length_ns,
            (State::Working(_), Some(slots)) => slots.working -= 1,
            (State::Waiting(wait) | State::Polling(wait), Some(slots)) => {
                slots.waiting -= 1;
                observer.waited(&WaitCharge {
                    location: location.location,
                    context,
                    wait,
                    window: piece.window,
                    slots_ns: to_ns_f64(levels.to_waiters),
                });
            }
            (_, None) => {}
        }
    }
}

/// How many of the observer's borders were passed, and when the next one is.
struct Borders {
    passed: usize,
    next_ns: Option<u64>,
}

impl Piece {
    /// The location's act, as far as it was recorded.
    pub(super) fn state(&self) -> State {
        if self.paused { State::Passive(PassiveReason::NotRecorded) } else { self.span.state }
    }

    fn demand(&self) -> Demand {
        if self.paused { Demand::default() } else { Demand::of(&self.span) }
    }
}

/// The positions of locations by the owner whose slots they use.
pub(super) fn by_owner(owners: usize, locations: impl IntoIterator<Item = Option<usize>>) -> Vec<Vec<usize>> {
    let mut of_owners = vec![Vec::new(); owners];
    for (position, owner) in locations.into_iter().enumerate() {
        if let Some(owner) = owner {
            of_owners[owner].push(position);
        }
    }
    of_owners
}

impl Lasting for Piece {
    fn window(&self) -> Window {
        self.window
    }
}
