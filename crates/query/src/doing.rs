//! How time counts: an account, or a reason of being passive.

use proust_account::ledger::{Account, PassiveReason, State};

/// How time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// On an account.
    Active(Account),
    /// Passive, for a reason.
    Passive(PassiveReason),
}

impl Doing {
    pub(super) fn id<'a>(self) -> &'a str {
        match self {
            Doing::Active(account) => account.id(),
            Doing::Passive(reason) => reason.id(),
        }
    }

    pub(super) fn all() -> impl Iterator<Item = Doing> {
        let accounts = Account::ALL.into_iter().map(Doing::Active);
        accounts.chain(PassiveReason::ALL.into_iter().map(Doing::Passive))
    }
}

impl From<State> for Doing {
    fn from(state: State) -> Doing {
        match state {
            State::Working(work) => Doing::Active(work.account()),
            State::Waiting(wait) | State::Polling(wait) => Doing::Active(wait.account()),
            State::Passive(reason) => Doing::Passive(reason),
        }
    }
}
