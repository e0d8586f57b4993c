//! What else ran on the machine may have made of an amount.

use crate::ledger::{Account, Ledger};
use crate::query::Measure;

/// How much other processes were in a run's way.
///
/// Known is how long its threads stood in the run queue while others had the processors (`preempted`). Where
/// the run itself wants more processors than there are, the two cannot be told apart; but what it did not get
/// of all processors is at least a bound. What follows from it is bounded, not computed: who waits for a
/// thread that has no processor waits as long, every one of its partners; and who shares caches and cores
/// with others computes slower, by up to 15 % of the share that the others had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// Seconds in which threads of the run could have gone on and, as far as is known, other processes had
    /// the processors.
    pub others_s: f64,
    /// The same as a part of the time in which its threads had, or wanted, a processor.
    pub share: f64,
    /// Processors of the run.
    pub processors: u32,
    /// Whether the program ends after some time, whatever it has done: then it does less when others have the
    /// processors.
    pub is_fixed_time: bool,
}

/// How much of the share of others a computation may be slower for it.
const SLOWED: f64 = 0.15;

/// From this share on a run is called disturbed.
pub const NOTICED: f64 = 0.02;

impl Disturbance {
    /// That of a run; `cpu_s` is what its threads computed, `available` how many processors it could use.
    pub fn of(ledger: &Ledger, cpu_s: f64, available: u32) -> Disturbance {
        // Who stood beyond the processors was in others' way as well, and they in his.
        let s = |account| ledger.with_beyond_ns(account) as f64 / 1e9;
        let left_s = (f64::from(available) * ledger.wall_ns as f64 / 1e9 - cpu_s).max(0.0);
        let others_s = s(Account::Preempted) + s(Account::Oversubscribed).min(left_s);
        let wanted_s = cpu_s + others_s;
        let share = if wanted_s > 0.0 { others_s / wanted_s } else { 0.0 };
        Disturbance { others_s, share, processors: ledger.processors, is_fixed_time: false }
    }

    /// Whether it is worth a word.
    pub fn is_noticed(&self) -> bool {
        self.share >= NOTICED
    }

    /// Of an amount of computation: s, or a count.
    pub fn of_work(&self, amount: f64) -> f64 {
        let slower = SLOWED * self.share * amount.abs();
        if self.is_fixed_time { (slower + self.others_s).min(amount.abs()) } else { slower }
    }

    /// Of wall time, or a length of time on one location.
    pub fn of_wall(&self, seconds: f64) -> f64 {
        (self.others_s + self.of_work(seconds)).min(seconds.abs())
    }

    /// Of processor time that others waited, stood empty, or stood in the queue.
    pub fn of_waits(&self, seconds: f64) -> f64 {
        let partners = f64::from(self.processors.max(2));
        (self.others_s * partners + self.of_work(seconds)).min(seconds.abs())
    }

    /// Of a ledger's account.
    pub fn of_account(&self, account: Account, seconds: f64) -> f64 {
        match account {
            Account::Compute | Account::Measurement | Account::Fault | Account::Replicated => {
                self.of_work(seconds)
            }
            Account::Preempted => seconds.abs(),
            _ => self.of_waits(seconds),
        }
    }

    /// Of a measure by context.
    pub fn of_measure(&self, measure: Measure, amount: f64) -> f64 {
        match measure {
            Measure::Metric(_) => self.of_work(amount),
            Measure::Account(account) => self.of_account(account, amount),
            Measure::Queued => amount.abs(),
            Measure::OmpWork => self.of_work(amount),
            _ => self.of_waits(amount),
        }
    }
}
