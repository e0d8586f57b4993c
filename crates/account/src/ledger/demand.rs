//! The demand of an active location for processors at each instant of a span.

use super::state::{State, Work};
use super::timeline::{PartKind, Span};

/// One location, as a rate: parts of a span have no place in it, so at each of its instants the location does
/// all of what is in the span, each as its share.
pub(super) const ONE: u64 = 1 << 40;

/// Which locations fill an owner's slots first where more are active than there are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Computing,
    /// In I/O, or in a runtime.
    Busy,
    /// Waiting for a partner or a holder.
    Waiting,
    /// Runnable, without a processor.
    Queued,
}

impl Place {
    pub const ALL: [Place; 4] = [Place::Computing, Place::Busy, Place::Waiting, Place::Queued];

    pub fn of(work: Work) -> Place {
        match work {
            Work::Io | Work::Runtime | Work::MpiTransfer => Place::Busy,
            Work::Delayed => Place::Queued,
            Work::Compute | Work::Replicated | Work::Measurement | Work::Fault | Work::Unattributed => {
                Place::Computing
            }
        }
    }
}

/// `ns` of `all_ns` as a rate.
fn rate(ns: u64, all_ns: u64) -> u64 {
    // Nearly all parts are short enough for a division of one word.
    match ns.checked_mul(ONE) {
        Some(product) => product / all_ns,
        None => (u128::from(ns) * u128::from(ONE) / u128::from(all_ns)) as u64,
    }
}

/// The rates of a location: they sum up to [`ONE`] if it is active, to nothing if it is passive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    pub of_place: [u64; Place::ALL.len()],
    /// With a processor, as far as is known: one that polls may have one all the time.
    pub on_processor: u64,
}

impl Demand {
    pub fn of(span: &Span) -> Demand {
        let mut demand = Demand::default();
        let mut rest = ONE;
        let (place, on_processor) = match span.state {
            State::Passive(_) => return demand,
            State::Waiting(_) => (Place::Waiting, false),
            State::Polling(_) => (Place::Waiting, true),
            State::Working(work) => (Place::of(work), !matches!(work, Work::Io | Work::Delayed)),
        };
        for (kind, ns) in span.parts.iter() {
            // Parts that claim more than the span has show in the residual; no more than one location asks.
            let rate = rate(ns, span.length_ns().max(1)).min(rest);
            rest -= rate;
            demand.of_place[Place::of(kind.work()) as usize] += rate;
            demand.on_processor += if kind == PartKind::Delayed { 0 } else { rate };
        }
        demand.of_place[place as usize] += rest;
        demand.on_processor += if on_processor { rest } else { 0 };
        demand
    }

    pub fn queued(&self) -> u64 {
        self.of_place[Place::Queued as usize]
    }
}
