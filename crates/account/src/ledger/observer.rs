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
    /// Instants at which all acts of the locations that use this owner's slots are cut, in order.
    fn borders(&self, _owner: usize) -> &[u64] {
        &[]
    }
    /// The sweep has gone past the next of these instants; the amounts up to there are booked.
    fn passed(&mut self, _owner: usize, _slots: &SlotsSoFar) {}
    /// An amount is booked, of an act that lies between two borders.
    fn booked(&mut self, _booked: &Booked) {}
}

/// An amount on the account of a location, or an empty slot charged to it.
#[derive(Clone, Copy, Debug)]
pub struct Booked {
    /// Which location.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// Whose slots it uses.
    pub(super) owner: usize,
    pub(super) kind: Kind,
    pub(super) amount: Units,
    /// The part of it beyond the processors.
    pub(super) beyond: Units,
    /// Whether it is of an act inside a parallel region.
    pub(super) in_region: bool,
}

/// An owner's slots from the beginning up to an instant.
#[derive(Clone, Copy, Debug)]
pub struct SlotsSoFar(pub(super) SlotSums);

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
