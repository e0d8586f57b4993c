//! The amounts of an act of a location: its time by account, and the empty slots that are charged to it.

use super::account::Account;
use super::demand::Place;
use super::fixed::{Units, fraction, ratio, units};
use super::pieces::Piece;
use super::rows::Kind;
use super::state::{State, Work};
use super::timeline::PartKind;

/// The running integrals that a location is measured against: as they were when its act began, or what they
/// have grown by since.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Levels {
    pub to_workers: Units,
    pub to_waiters: Units,
    /// See [`Integrals::beyond`](super::slots::Integrals::beyond).
    pub beyond: [Units; Place::ALL.len()],
    /// See [`Crowds::explained`](super::crowd::Crowds::explained) and
    /// [`Crowds::beyond`](super::crowd::Crowds::beyond).
    pub explained: Units,
    pub explained_beyond: Units,
}

impl Levels {
    pub fn since(&self, before: &Levels) -> Levels {
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

/// The beginning of a location's act, or all of it.
pub(super) struct Act<'p> {
    pub piece: &'p Piece,
    /// How long it lasts.
    pub length_ns: u64,
    /// The growth of the running integrals meanwhile.
    pub levels: Levels,
    /// Whether the location uses slots.
    pub is_charged: bool,
}

impl Act<'_> {
    /// At most so many amounts: of each part, of the state, and of empty slots. What has no processor is two
    /// amounts, as a part and as the state.
    pub const MOST: usize = PartKind::ALL.len() + 4;

    /// Calls `book` with the kind of each amount, the amount, and its part beyond the processors. The amounts
    /// of the same act are always of the same kinds in the same order, and none becomes less as it goes on.
    ///
    /// Parts that claim more than the span has are booked as they are: the residual shall show it.
    #[inline]
    pub fn amounts(&self, mut book: impl FnMut(Kind, Units, Units)) {
        let (span, state) = (&self.piece.span, self.piece.state());
        let mut rest = units(self.length_ns);
        if let State::Passive(reason) = state {
            return book(Kind::Passive(reason), rest, 0);
        }
        for (kind, ns) in span.parts.iter() {
            let amount = fraction(units(ns), self.length_ns, span.length_ns());
            self.spend(kind.work(), amount, &mut book);
            rest = rest.saturating_sub(amount);
        }
        let (account, slots) = match state {
            State::Passive(_) => return,
            State::Working(work) => {
                self.spend(work, rest, &mut book);
                (if span.in_region { Account::Narrow } else { Account::Serial }, self.levels.to_workers)
            }
            State::Waiting(wait) | State::Polling(wait) => {
                self.spend_at(Place::Waiting, wait.account(), rest, &mut book);
                (wait.account(), self.levels.to_waiters)
            }
        };
        if self.is_charged {
            book(Kind::Blamed(account), slots, 0);
        }
    }

    fn spend(&self, work: Work, amount: Units, book: &mut impl FnMut(Kind, Units, Units)) {
        if work != Work::Delayed {
            return self.spend_at(Place::of(work), work.account(), amount, book);
        }
        let length = units(self.length_ns);
        let own = ratio(amount, self.levels.explained, length);
        let beyond = ratio(amount, self.levels.beyond[Place::Queued as usize], length);
        let own_beyond = ratio(amount, self.levels.explained_beyond, length).min(beyond);
        book(Kind::Spent(Account::Oversubscribed), own, own_beyond);
        book(Kind::Spent(Account::Preempted), amount - own, beyond - own_beyond);
    }

    fn spend_at(
        &self,
        place: Place,
        account: Account,
        amount: Units,
        book: &mut impl FnMut(Kind, Units, Units),
    ) {
        let beyond = match self.levels.beyond[place as usize] {
            0 => 0,
            beyond => ratio(amount, beyond, units(self.length_ns)),
        };
        book(Kind::Spent(account), amount, beyond);
    }
}
