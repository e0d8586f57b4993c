//! The sweep: goes once over all spans in time order and integrates locations and slots.

use super::account::Account;
use super::crowd::{Crowds, LineId};
use super::demand::{Demand, Place};
use super::error::LedgerError;
use super::fixed::{Units, fraction, ratio, to_ns_f64, units};
use super::merge::{Lasting, Merge};
use super::observer::{Begun, Booked, Observer, SlotsSoFar, WaitCharge};
use super::owners::Owners;
use super::pieces::{Piece, Pieces};
use super::processors::Processors;
use super::rows::{Amounts, Kind};
use super::slots::Slots;
use super::state::{PassiveReason, PassiveTimes, State, Work};
use super::timeline::{Process, Run, Span, Spans};
use super::windows::{Stretch, Window, Windows};
use proust_profile::{ContextId, LocationId, ProcessId};
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

/// The running integrals a location will be measured against, as they were when its current piece began.
#[derive(Clone, Copy, Debug, Default)]
struct Levels {
    to_workers: Units,
    to_waiters: Units,
    /// See [`Slots::beyond`].
    beyond: [Units; Place::ALL.len()],
    /// See [`Crowds::explained`] and [`Crowds::beyond`].
    explained: Units,
    explained_beyond: Units,
}

/// The state of the sweep and, after the last edge, its result.
pub(super) struct Sweep {
    pub locations: Vec<LocationSums>,
    pub slots: Vec<Slots>,
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
        for set in sets.values().flatten() {
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
                let crowd = sets[&timeline.process].filter(|set| *set < run.processor_sets.len());
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
            .collect::<Result<_, _>>()?;
        Ok(Sweep { locations, slots, crowds })
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
        let mut owner_of: FxHashMap<ProcessId, usize> = FxHashMap::default();
        for location in &self.locations {
            owner_of.extend(location.owner.map(|owner| (location.process, owner)));
        }
        let cuts_of = |process: &Process| {
            let mut charged = within_life.cut_by(&process.paused);
            if let Some(&owner) = owner_of.get(&process.id) {
                charged = cut_at(charged, observer.borders(owner));
            }
            (process.id, Cuts { charged, shown: windows.cut_by(&process.paused) })
        };
        let cuts: FxHashMap<ProcessId, Cuts> = run.processes.iter().map(cuts_of).collect();
        let mut passed = vec![0; self.slots.len()];
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
        while let Some(edge) = merge.next() {
            let location = &self.locations[edge.source];
            if let Some(owner) = location.owner {
                self.pass(owner, &mut passed[owner], edge.at_ns, observer);
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
        for (location, pieces) in self.locations.iter_mut().zip(merge.into_sources()) {
            location.overlap_ns = pieces.overlap_ns();
            location.amounts.enter_pending();
        }
        for (owner, passed) in passed.iter_mut().enumerate() {
            self.pass(owner, passed, u64::MAX, observer);
        }
        for slots in &mut self.slots {
            slots.finish();
        }
    }

    /// Passes an owner's borders before this instant. Where acts end or begin at one, they have.
    fn pass(&mut self, owner: usize, passed: &mut usize, before_ns: u64, observer: &mut impl Observer) {
        while let Some(&at_ns) = observer.borders(owner).get(*passed)
            && at_ns < before_ns
        {
            *passed += 1;
            self.slots[owner].advance(at_ns);
            observer.passed(owner, &SlotsSoFar(self.slots[owner].sums));
        }
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
        let levels = self.levels(index);
        self.locations[index].levels = levels;
    }

    /// The running integrals of a location now.
    fn levels(&self, index: usize) -> Levels {
        let location = &self.locations[index];
        let slots = location.owner.map(|owner| &self.slots[owner]);
        Levels {
            to_workers: slots.map_or(0, |slots| slots.to_workers.now()),
            to_waiters: slots.map_or(0, |slots| slots.to_waiters.now()),
            beyond: slots.map_or(Default::default(), |slots| slots.beyond),
            explained: location.crowd.map_or(0, |crowd| self.crowds.explained(crowd)),
            explained_beyond: location.line.map_or(0, |line| self.crowds.beyond(line)),
        }
    }

    fn leave<O: Observer>(&mut self, index: usize, piece: &Piece, observer: &mut O) {
        let context = piece.span.context;
        let length_ns = piece.window.length_ns();
        if let State::Passive(reason) = piece.state() {
            let location = &mut self.locations[index];
            location.wall_ns += length_ns;
            location.passive[reason] += length_ns;
            location.amounts.add(context, Kind::Passive(reason), units(length_ns));
            if let Some(owner) = location.owner {
                let (kind, amount) = (Kind::Passive(reason), units(length_ns));
                let (id, in_region) = (location.location, piece.span.in_region);
                observer.booked(&Booked { location: id, context, owner, kind, amount, beyond: 0, in_region });
            }
            return;
        }
        let levels = self.levels(index).since(&self.locations[index].levels);
        let location = &mut self.locations[index];
        location.wall_ns += length_ns;
        let (id, owner) = (location.location, location.owner);
        let in_region = piece.span.in_region;
        let blamed = |kind, amount| {
            owner.map(|owner| Booked { location: id, context, owner, kind, amount, beyond: 0, in_region })
        };
        let mut booking = Booking {
            observer,
            location: id,
            owner,
            amounts: &mut location.amounts,
            beyond: &mut location.beyond,
            context,
            in_region,
            length_ns,
            levels,
        };
        let rest = booking.spend_parts(piece);
        match piece.state() {
            State::Passive(_) => {}
            State::Working(work) => {
                booking.spend(work, rest);
                if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
                    slots.working -= 1;
                    let account = if piece.span.in_region { Account::Narrow } else { Account::Serial };
                    location.amounts.add(context, Kind::Blamed(account), levels.to_workers);
                    blamed(Kind::Blamed(account), levels.to_workers)
                        .inspect(|booked| observer.booked(booked));
                }
            }
            State::Waiting(wait) | State::Polling(wait) => {
                booking.book(wait.account(), Place::Waiting, rest);
                if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
                    slots.waiting -= 1;
                    location.amounts.add(context, Kind::Blamed(wait.account()), levels.to_waiters);
                    blamed(Kind::Blamed(wait.account()), levels.to_waiters)
                        .inspect(|booked| observer.booked(booked));
                    observer.waited(&WaitCharge {
                        location: location.location,
                        context,
                        wait,
                        window: piece.window,
                        slots_ns: to_ns_f64(levels.to_waiters),
                    });
                }
            }
        }
    }
}

impl Levels {
    fn since(&self, before: &Levels) -> Levels {
        let mut beyond = self.beyond;
        beyond.iter_mut().zip(before.beyond).for_each(|(now, before)| *now -= before);
        Levels {
            to_workers: self.to_workers - before.to_workers,
            to_waiters: self.to_waiters - before.to_waiters,
            beyond,
            explained: self.explained - before.explained,
            explained_beyond: self.explained_beyond - before.explained_beyond,
        }
    }
}

/// Books a location's amounts in an active piece.
struct Booking<'s, O> {
    observer: &'s mut O,
    location: LocationId,
    owner: Option<usize>,
    amounts: &'s mut Amounts,
    beyond: &'s mut Beyond,
    context: ContextId,
    in_region: bool,
    length_ns: u64,
    /// The time since the piece began.
    levels: Levels,
}

impl<O: Observer> Booking<'_, O> {
    /// Books the parts of the piece; returns the remainder for its state.
    ///
    /// Parts that claim more than the span has are booked as they are: the residual shall show it.
    fn spend_parts(&mut self, piece: &Piece) -> Units {
        let mut rest = units(self.length_ns);
        for (kind, ns) in piece.span.parts.iter() {
            let amount = part_of(&piece.span, piece.window, ns);
            self.spend(kind.work(), amount);
            rest = rest.saturating_sub(amount);
        }
        rest
    }

    fn spend(&mut self, work: Work, amount: Units) {
        if work != Work::Delayed {
            return self.book(work.account(), Place::of(work), amount);
        }
        let length = units(self.length_ns);
        let own = ratio(amount, self.levels.explained, length);
        self.amounts.add(self.context, Kind::Spent(Account::Oversubscribed), own);
        self.amounts.add(self.context, Kind::Spent(Account::Preempted), amount - own);
        let beyond = ratio(amount, self.levels.beyond[Place::Queued as usize], length);
        let own_beyond = ratio(amount, self.levels.explained_beyond, length).min(beyond);
        self.beyond[Account::Oversubscribed as usize] += own_beyond;
        self.beyond[Account::Preempted as usize] += beyond - own_beyond;
        self.report(Account::Oversubscribed, own, own_beyond);
        self.report(Account::Preempted, amount - own, beyond - own_beyond);
    }

    fn report(&mut self, account: Account, amount: Units, beyond: Units) {
        if let Some(owner) = self.owner {
            let (location, kind) = (self.location, Kind::Spent(account));
            let (context, in_region) = (self.context, self.in_region);
            self.observer.booked(&Booked { location, context, owner, kind, amount, beyond, in_region });
        }
    }

    fn book(&mut self, account: Account, place: Place, amount: Units) {
        self.amounts.add(self.context, Kind::Spent(account), amount);
        let beyond = match self.levels.beyond[place as usize] {
            0 => 0,
            beyond => ratio(amount, beyond, units(self.length_ns)),
        };
        self.beyond[account as usize] += beyond;
        self.report(account, amount, beyond);
    }
}

/// Stretches, cut at these instants, which are in order.
fn cut_at(stretches: Vec<Stretch>, instants: &[u64]) -> Vec<Stretch> {
    if instants.is_empty() {
        return stretches;
    }
    let mut cut = Vec::with_capacity(stretches.len() + instants.len());
    for Stretch { window, inside } in stretches {
        let mut from_ns = window.start_ns;
        let first = instants.partition_point(|&at_ns| at_ns <= from_ns);
        for &at_ns in instants[first..].iter().take_while(|&&at_ns| at_ns < window.end_ns) {
            if at_ns > from_ns {
                cut.push(Stretch { window: Window::new(from_ns, at_ns), inside });
                from_ns = at_ns;
            }
        }
        cut.push(Stretch { window: Window::new(from_ns, window.end_ns), inside });
    }
    cut
}

fn part_of(span: &Span, window: Window, ns: u64) -> Units {
    fraction(units(ns), window.length_ns(), span.length_ns())
}

impl Piece {
    /// The location's act, as far as it was recorded.
    fn state(&self) -> State {
        if self.paused { State::Passive(PassiveReason::NotRecorded) } else { self.span.state }
    }

    fn demand(&self) -> Demand {
        if self.paused { Demand::default() } else { Demand::of(&self.span) }
    }
}

impl Lasting for Piece {
    fn window(&self) -> Window {
        self.window
    }
}
