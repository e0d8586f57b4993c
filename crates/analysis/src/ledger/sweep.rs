//! The sweep: goes once over all spans in time order and integrates locations and slots.

use super::account::Account;
use super::crowd::{Crowd, split_delay};
use super::error::LedgerError;
use super::fixed::{Units, fraction, to_ns_f64, units};
use super::merge::{Lasting, Merge};
use super::owners::Owners;
use super::pieces::{Piece, Pieces};
use super::processors::Processors;
use super::rows::{Amounts, Kind};
use super::slots::Slots;
use super::state::{PassiveReason, PassiveTimes, State, Wait, Work};
use super::timeline::{Process, Run, Span, Spans};
use super::windows::{Stretch, Window, Windows};
use proust_profile::{ContextId, LocationId, ProcessId};
use std::collections::{HashMap, HashSet};

/// One wait, and what it stood for: reported as it ends, for those who look for its cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitCharge {
    /// Who waited.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// For what.
    pub wait: Wait,
    /// When; a wait cut by a window or a pause is reported in parts.
    pub window: Window,
    /// Empty slots charged to this wait because nobody worked meanwhile, ns.
    pub slots_ns: f64,
}

/// What the sweep has summed up for one location.
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
    crowd: Option<usize>,
    levels: Levels,
}

/// The running integrals a location will be measured against, as they were when its current piece began.
#[derive(Clone, Copy, Debug, Default)]
struct Levels {
    to_workers: Units,
    to_waiters: Units,
    crowded_ns: u64,
}

/// The state of the sweep and, after the last edge, its result.
pub(super) struct Sweep {
    pub locations: Vec<LocationSums>,
    pub slots: Vec<Slots>,
    crowds: Vec<Crowd>,
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
        let sets: HashMap<ProcessId, Option<usize>> =
            run.processes.iter().map(|process| (process.id, process.processor_set)).collect();
        let mut seen = HashSet::new();
        let locations = run
            .timelines
            .iter()
            .map(|timeline| {
                if !seen.insert(timeline.location) {
                    return Err(LedgerError::DuplicateLocation { location: timeline.location });
                }
                let owner = owners.of(timeline.process)?;
                Ok(LocationSums {
                    location: timeline.location,
                    process: timeline.process,
                    service: timeline.service,
                    owner: owner.filter(|_| !timeline.service),
                    wall_ns: 0,
                    passive: PassiveTimes::default(),
                    overlap_ns: 0,
                    amounts: Amounts::default(),
                    crowd: sets[&timeline.process].filter(|set| *set < run.processor_sets.len()),
                    levels: Levels::default(),
                })
            })
            .collect::<Result<_, _>>()?;
        let crowds = run.processor_sets.iter().map(|available| Crowd::new(*available)).collect();
        Ok(Sweep { locations, slots, crowds })
    }

    /// Goes over all spans of the run within `windows`.
    pub fn run<S: Spans>(
        &mut self,
        run: &Run<S>,
        life: Window,
        windows: &Windows,
        mut on_wait: impl FnMut(&WaitCharge),
    ) {
        let within_life = windows.within(life);
        let cuts_of = |process: &Process| {
            let charged = within_life.cut_by(&process.paused);
            (process.id, Cuts { charged, shown: windows.cut_by(&process.paused) })
        };
        let cuts: HashMap<ProcessId, Cuts> = run.processes.iter().map(cuts_of).collect();
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
                self.slots[owner].advance(edge.at_ns);
            }
            if let Some(crowd) = location.crowd {
                self.crowds[crowd].advance(edge.at_ns);
            }
            if let Some(piece) = edge.ended {
                self.leave(edge.source, &piece, &mut on_wait);
            }
            if let Some(piece) = edge.began {
                self.enter(edge.source, piece);
            }
        }
        for (location, pieces) in self.locations.iter_mut().zip(merge.into_sources()) {
            location.overlap_ns = pieces.overlap_ns();
            location.amounts.enter_pending();
        }
        for slots in &mut self.slots {
            slots.finish();
        }
    }

    fn enter(&mut self, index: usize, piece: &Piece) {
        let location = &mut self.locations[index];
        if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
            match piece.state() {
                State::Working(_) => slots.working += 1,
                State::Waiting(_) | State::Polling(_) => slots.waiting += 1,
                State::Passive(_) => {}
            }
            location.levels.to_workers = slots.to_workers.now();
            location.levels.to_waiters = slots.to_waiters.now();
        }
        if let Some(crowd) = location.crowd.map(|crowd| &mut self.crowds[crowd]) {
            crowd.wanting += u64::from(piece.wants_processor());
            location.levels.crowded_ns = crowd.crowded_ns();
        }
    }

    fn leave(&mut self, index: usize, piece: &Piece, on_wait: &mut impl FnMut(&WaitCharge)) {
        let location = &mut self.locations[index];
        let mut crowded_ns = 0;
        if let Some(crowd) = location.crowd.map(|crowd| &mut self.crowds[crowd]) {
            crowd.wanting -= u64::from(piece.wants_processor());
            crowded_ns = crowd.crowded_ns() - location.levels.crowded_ns;
        }
        location.wall_ns += piece.window.length_ns();
        let context = piece.span.context;
        let amounts = &mut location.amounts;
        match piece.state() {
            State::Passive(reason) => {
                location.passive[reason] += piece.window.length_ns();
                amounts.add(context, Kind::Passive(reason), units(piece.window.length_ns()));
            }
            State::Working(work) => {
                let rest = spend_parts(amounts, piece, crowded_ns);
                spend(amounts, piece, work, rest, crowded_ns);
                if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
                    slots.working -= 1;
                    let account = if piece.span.in_region { Account::Narrow } else { Account::Serial };
                    let charged = slots.to_workers.now() - location.levels.to_workers;
                    amounts.add(context, Kind::Blamed(account), charged);
                }
            }
            State::Waiting(wait) | State::Polling(wait) => {
                let rest = spend_parts(amounts, piece, crowded_ns);
                amounts.add(context, Kind::Spent(wait.account()), rest);
                if let Some(slots) = location.owner.map(|owner| &mut self.slots[owner]) {
                    slots.waiting -= 1;
                    let charged = slots.to_waiters.now() - location.levels.to_waiters;
                    amounts.add(context, Kind::Blamed(wait.account()), charged);
                    on_wait(&WaitCharge {
                        location: location.location,
                        context,
                        wait,
                        window: piece.window,
                        slots_ns: to_ns_f64(charged),
                    });
                }
            }
        }
    }
}

/// Books the parts of an active piece; returns what they leave over for its state.
///
/// Parts that claim more than the span has are booked as they are: the residual shall show it.
fn spend_parts(amounts: &mut Amounts, piece: &Piece, crowded_ns: u64) -> Units {
    let mut rest = units(piece.window.length_ns());
    for (kind, ns) in piece.span.parts.iter() {
        let amount = part_of(&piece.span, piece.window, ns);
        spend(amounts, piece, kind.work(), amount, crowded_ns);
        rest = rest.saturating_sub(amount);
    }
    rest
}

fn spend(amounts: &mut Amounts, piece: &Piece, work: Work, amount: Units, crowded_ns: u64) {
    let context = piece.span.context;
    if work == Work::Delayed {
        let (oversubscribed, preempted) = split_delay(amount, crowded_ns, piece.window.length_ns());
        amounts.add(context, Kind::Spent(Account::Oversubscribed), oversubscribed);
        amounts.add(context, Kind::Spent(Account::Preempted), preempted);
    } else {
        amounts.add(context, Kind::Spent(work.account()), amount);
    }
}

fn part_of(span: &Span, window: Window, ns: u64) -> Units {
    fraction(units(ns), window.length_ns(), span.length_ns())
}

impl Piece {
    /// What the location did, as far as it was recorded.
    fn state(&self) -> State {
        if self.paused { State::Passive(PassiveReason::NotRecorded) } else { self.span.state }
    }

    fn wants_processor(&self) -> bool {
        !self.paused && self.span.wants_processor()
    }
}

impl Lasting for Piece {
    fn window(&self) -> Window {
        self.window
    }
}
