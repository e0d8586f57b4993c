//! The possible effect of other load on the machine on an amount.

use proust_account::ledger::{Account, Class, Ledger};
use proust_profile::Ns;
use proust_query::Measure;

/// How much other processes were in a run's way.
///
/// It is known how long its threads were in the run queue while others had the processors (`preempted`).
/// Where the run itself wants more processors than there are, the two cannot be distinguished; but what it
/// did not get of all processors is at least a bound.
///
/// What follows from it is bounded, not computed. The run as a whole was delayed by no more than the queue on
/// its critical path, q. If that path stays on one thread, q is at most the longest queue of any thread, q₁.
/// If it goes from thread to thread, each of the other P − 1 threads waits while the path queues: with W the
/// time that threads waited for each other, q ≤ q₁ + W / (P − 1); and q is never more than the queue of all
/// threads together. So 64 threads that compute side by side and queue for 0.5 % of their time each are 0.5 %
/// late, and not 32 %. A thread that shares caches and cores with others computes slower, by up to 15 % of
/// the share that the others had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// How long threads of the run could have gone on and, as far as is known, other processes had
    /// the processors.
    pub others: Ns,
    /// The most of it that can lie on the run's critical path.
    pub critical: Ns,
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
    /// That of a run; `cpu` is what its threads computed, `available` how many processors it could use.
    pub fn of(ledger: &Ledger, cpu: Ns, available: u32) -> Disturbance {
        // A location beyond the processors displaced others as well, and they displaced it.
        let time = |account| Ns::of(ledger.with_beyond_ns(account));
        let left = (Ns::of(ledger.wall_ns) * f64::from(available) - cpu).max(Ns::ZERO);
        let others = time(Account::Preempted) + time(Account::Oversubscribed).min(left);
        let wanted = cpu + others;
        let share = others.share_of(wanted);
        let critical = critical(ledger, others, left);
        Disturbance { others, critical, share, processors: ledger.processors, is_fixed_time: false }
    }

    /// Whether it is worth a word.
    pub fn is_noticed(&self) -> bool {
        self.share >= NOTICED
    }

    /// Of an amount of computation: s, or a count.
    pub fn of_work(&self, amount: f64) -> f64 {
        let slower = SLOWED * self.share * amount.abs();
        if self.is_fixed_time { (slower + self.others.as_seconds()).min(amount.abs()) } else { slower }
    }

    /// Of wall time, or a length of time on one location.
    pub fn of_wall(&self, seconds: f64) -> f64 {
        (self.critical.as_seconds() + self.of_work(seconds)).min(seconds.abs())
    }

    /// Of processor time that others waited, were empty, or were in the queue.
    pub fn of_waits(&self, seconds: f64) -> f64 {
        // All others wait while the critical path queues, and each thread for its own queue.
        let partners = f64::from(self.processors.max(2) - 1);
        (self.critical.as_seconds() * partners + self.others.as_seconds() + self.of_work(seconds))
            .min(seconds.abs())
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

/// The most of the queue of all threads that can lie on the critical path; `left` bounds what of the run's
/// own demand for processors counts as others'.
fn critical(ledger: &Ledger, others: Ns, left: Ns) -> Ns {
    let charged = || ledger.locations.iter().filter(|location| location.charged);
    let longest = charged().map(|location| {
        let time = |account| Ns::of(location.accounts[account] + location.beyond[account]);
        time(Account::Preempted) + time(Account::Oversubscribed).min(left)
    });
    let longest = longest.max().unwrap_or_default();
    let is_for_others = |account: &Account| {
        matches!(account.class(), Class::Waiting | Class::Communication | Class::Parallelism)
    };
    let waits_ns: u64 =
        Account::ALL.into_iter().filter(is_for_others).map(|account| ledger.with_beyond_ns(account)).sum();
    let partners = ledger.processors.max(2) - 1;
    others.min(longest + Ns::of(waits_ns) / f64::from(partners))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_account::ledger::{Accounts, LocationAccounts, PassiveTimes};
    use proust_profile::{LocationId, ProcessId};

    const S: u64 = 1_000_000_000;

    /// So many threads on as many processors for 100 s, each of which queues for half a second; they wait for
    /// each other for so long in all.
    fn crowd(threads: u32, waits_s: u64) -> Disturbance {
        let mut each = Accounts::default();
        (each[Account::Compute], each[Account::Preempted]) = (99 * S, S / 2);
        let location = |id| LocationAccounts {
            location: id,
            process: ProcessId(0),
            service: false,
            charged: true,
            slots: Some(0),
            wall_ns: 100 * S,
            accounts: each,
            beyond: Accounts::default(),
            passive: PassiveTimes::default(),
        };
        let mut ledger = Ledger {
            processors: threads,
            wall_ns: 100 * S,
            total_ns: u64::from(threads) * 100 * S,
            locations: (0..threads).map(LocationId).map(location).collect(),
            ..Ledger::default()
        };
        ledger.accounts[Account::Preempted] = u64::from(threads) * S / 2;
        ledger.accounts[Account::Barrier] = waits_s * S;
        Disturbance::of(&ledger, Ns::of(99 * S * u64::from(threads)), threads)
    }

    #[test]
    fn threads_side_by_side_are_as_late_as_one_of_them() {
        let disturbance = crowd(64, 0);
        assert_eq!((disturbance.others, disturbance.critical), (Ns::of(32 * S), Ns::of(S / 2)));
        assert!(disturbance.of_wall(100.0) < 0.7, "{}", disturbance.of_wall(100.0));
        // One thread alone is late by all of its own queue.
        assert_eq!(crowd(1, 0).critical, Ns::of(S / 2));
    }

    #[test]
    fn a_thread_that_all_others_wait_for_delays_all() {
        // Each of the 64 queues is waited for by the 63 other threads.
        assert_eq!(crowd(64, 32 * 63).critical, Ns::of(32 * S));
        assert_eq!(crowd(64, 63).critical, Ns::of(S + S / 2));
    }
}
