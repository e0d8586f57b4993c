//! Observers of the sweep: the acts of locations, in the order of their begins, and the cost of their waits;
//! and what is booked, between borders that the observer sets.

use proust_profile::{ContextId, LocationId};

use super::fixed::Units;
use super::rows::Kind;
use super::slots::SlotSums;
use super::state::{PassiveReason, State, Wait};
use super::timeline::PartKind;
use super::windows::Window;

/// One wait, and its amounts: reported as it ends, for the search for its cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitCharge {
    /// The location that waited.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// The account of the wait.
    pub wait: Wait,
    /// When; a wait cut by a window or a pause is reported in parts.
    pub window: Window,
    /// Empty slots charged to this wait because no location worked meanwhile, ns.
    pub slots_ns: f64,
}

/// A location begins to do something. Cut by windows and pauses, as the ledger counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The location.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// What.
    pub state: State,
    /// From when to when.
    pub window: Window,
    /// How much of that it had no processor, ns.
    pub delayed_ns: u64,
}

/// Watches a sweep. All calls are in order of time: a beginning at its begin, a wait at its end.
pub trait Observer {
    /// A location begins to do something; its previous act has ended.
    fn begins(&mut self, begun: &Begun);
    /// A charged location has waited.
    fn waited(&mut self, charge: &WaitCharge);
    /// The n-th instant at which the acts of locations are looked at, in order of time.
    fn border(&self, _nth: usize) -> Option<Border> {
        None
    }
    /// An amount of a charged location's act: of all of it, or of what was before the next border.
    fn booked(&mut self, _booked: &Booked) {}
    /// The sweep passes the next border; the amounts up to there are booked.
    fn passes(&mut self, _slots: &SlotsSoFar) {}
}

/// An instant at which acts are looked at. The ledger does not notice it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Border {
    /// When.
    pub(super) at_ns: u64,
    /// Whose slots are looked at.
    pub(super) owner: usize,
    /// The location whose act is looked at, by its position among the run's timelines; None: those of all
    /// that use these slots.
    pub(super) source: Option<usize>,
}

/// An amount of the act of a location since that began, or an empty slot charged to it.
#[derive(Clone, Copy, Debug)]
pub struct Booked {
    /// The position of the location among the run's timelines.
    pub(super) source: usize,
    /// Which one it is of the act's amounts: the same again when it is booked up to a later instant.
    pub(super) nth: usize,
    /// Where.
    pub(super) context: ContextId,
    pub(super) kind: Kind,
    pub(super) amount: Units,
    /// The part of it beyond the processors.
    pub(super) beyond: Units,
    /// Whether it is of an act inside a parallel region.
    pub(super) in_region: bool,
    /// Whether the act is over.
    pub(super) is_over: bool,
}

/// An owner's slots from the beginning up to an instant.
#[derive(Clone, Copy, Debug)]
pub struct SlotsSoFar(pub(super) SlotSums);

/// Two observers of one sweep: of acts and waits, and, where there is one, of amounts.
pub struct Both<'o, A, B>(pub &'o mut A, pub Option<&'o mut B>);

impl<A: Observer, B: Observer> Observer for Both<'_, A, B> {
    fn begins(&mut self, begun: &Begun) {
        self.0.begins(begun);
    }

    fn waited(&mut self, charge: &WaitCharge) {
        self.0.waited(charge);
    }

    fn border(&self, nth: usize) -> Option<Border> {
        self.1.as_ref()?.border(nth)
    }

    fn booked(&mut self, booked: &Booked) {
        if let Some(of_amounts) = &mut self.1 {
            of_amounts.booked(booked);
        }
    }

    fn passes(&mut self, slots: &SlotsSoFar) {
        if let Some(of_amounts) = &mut self.1 {
            of_amounts.passes(slots);
        }
    }
}

/// Watches waits only.
pub(super) struct OnWait<F>(pub F);

impl<F: FnMut(&WaitCharge)> Observer for OnWait<F> {
    fn begins(&mut self, _: &Begun) {}

    fn waited(&mut self, charge: &WaitCharge) {
        (self.0)(charge);
    }
}

impl Begun {
    /// Whether the location continues the same wait; if so that is added. The ledger counts a wait in which
    /// samples were taken in parts.
    pub(crate) fn goes_on_with(&mut self, next: &Begun) -> bool {
        let is_wait = matches!(self.state, State::Waiting(_) | State::Polling(_));
        let is_next = self.window.end_ns == next.window.start_ns;
        if !is_wait || !is_next || (self.state, self.context) != (next.state, next.context) {
            return false;
        }
        self.window.end_ns = next.window.end_ns;
        self.delayed_ns += next.delayed_ns;
        true
    }

    pub(super) fn of(location: LocationId, piece: &super::pieces::Piece) -> Begun {
        let (span, window) = (&piece.span, piece.window);
        let state = if piece.paused { State::Passive(PassiveReason::NotRecorded) } else { span.state };
        let delayed_ns = u128::from(span.parts.get(PartKind::Delayed)) * u128::from(window.length_ns())
            / u128::from(span.length_ns().max(1));
        Begun { location, context: span.context, state, window, delayed_ns: delayed_ns as u64 }
    }
}
