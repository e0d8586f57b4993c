//! The acts of a location since the members of a group last synchronised.

use proust_profile::ContextId;

use crate::ledger::{Account, Begun, State, Work};

/// Something that takes a location's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Act {
    /// Passive for its own reasons, or working in what is recorded from begin to end.
    Does(ContextId),
    /// Computing; where is not known better than by the sample after it, which may be after the
    /// synchronisation.
    Computes(ContextId),
    /// Able to run, and without a processor; where is known as of computing.
    Queues(ContextId),
    /// Waiting for others.
    Waits(Account, ContextId),
    /// A sample fell here: not a time, but the weight by which that of computing is divided.
    Sampled(ContextId),
}

/// How long, and how sure that is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) ns: f64,
    /// Variance by sampling, ns²; of samples the sum of the squared weights.
    pub(super) variance: f64,
}

impl Amount {
    pub(super) fn add(&mut self, other: Amount, times: f64) {
        self.ns += other.ns * times;
        self.variance += other.variance * times * times;
    }
}

/// What a location did, in any order. As short as there are different acts, but for a factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Doing {
    acts: Vec<(Act, Amount)>,
    /// So many of the first are in order, each act once.
    sorted: usize,
}

impl Doing {
    /// Adds the part of what a location does from `from_ns` to `to_ns`. `grain_ns`: the time that one of its
    /// samples represents.
    pub(super) fn add(&mut self, begun: &Begun, from_ns: u64, to_ns: u64, grain_ns: f64) {
        let ns = to_ns.saturating_sub(from_ns) as f64;
        if ns == 0.0 {
            return;
        }
        let delayed_ns = begun.delayed_ns as f64 * ns / begun.window.length_ns().max(1) as f64;
        match begun.state {
            State::Waiting(wait) | State::Polling(wait) => {
                self.push(Act::Waits(wait.account(), begun.context), ns, 0.0);
            }
            State::Working(Work::Delayed) => self.push(Act::Queues(begun.context), ns, 0.0),
            State::Working(Work::Compute | Work::Fault | Work::Unattributed | Work::Replicated) => {
                self.push(Act::Queues(begun.context), delayed_ns, 0.0);
                self.push(Act::Computes(begun.context), ns - delayed_ns, grain_ns * (ns - delayed_ns));
            }
            State::Working(_) => {
                self.push(Act::Queues(begun.context), delayed_ns, 0.0);
                self.push(Act::Does(begun.context), ns - delayed_ns, 0.0);
            }
            State::Passive(_) => self.push(Act::Does(begun.context), ns, 0.0),
        }
    }

    /// A sample of this weight fell into a context.
    pub(super) fn sample(&mut self, context: ContextId, weight_ns: f64) {
        self.push(Act::Sampled(context), weight_ns, weight_ns * weight_ns);
    }

    fn push(&mut self, act: Act, ns: f64, variance: f64) {
        if ns <= 0.0 {
            return;
        }
        match self.acts.last_mut() {
            Some((last, amount)) if *last == act => amount.add(Amount { ns, variance }, 1.0),
            _ => {
                self.acts.push((act, Amount { ns, variance }));
                self.shorten();
            }
        }
    }

    /// Adds what another one holds.
    pub(super) fn append(&mut self, other: &Doing) {
        self.acts.extend_from_slice(&other.acts);
        self.shorten();
    }

    fn shorten(&mut self) {
        if self.acts.len() < 2 * self.sorted + 64 {
            return;
        }
        self.acts.sort_by_key(|(act, _)| *act);
        self.acts.dedup_by(|(act, amount), (kept, sum)| {
            let is_same = act == kept;
            if is_same {
                sum.add(*amount, 1.0);
            }
            is_same
        });
        self.sorted = self.acts.len();
    }

    pub(super) fn clear(&mut self) {
        self.acts.clear();
        self.sorted = 0;
    }

    /// What it did; an act may be there several times.
    pub(super) fn acts(&self) -> &[(Act, Amount)] {
        &self.acts
    }
}
