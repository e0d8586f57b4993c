//! Efficiencies of the threads of a run, from the ledger's seconds.
//!
//! Σ is the ledger's total without what it was asleep or not recorded, and U what was useful: what is
//! productive. Each other account is in exactly one loss: serialisation S (`serial`, `narrow`, `lock`,
//! `replicated`: some work, others cannot), imbalance B (`barrier`, but for its latency, and `idle`),
//! scheduling O (`runtime`, and the latency of barriers), processors Q (`oversubscribed`, `preempted`: queued
//! for one, or taken away), and other X (faults, measuring, messages, what is not known). So Σ = U + S + B +
//! O + Q + X.
//!
//! Multiplicative, in the order of the POP centre's and TALP's models: serialisation = U ÷ (U + S), load
//! balance = (U + S) ÷ (U + S + B), and so on. The product is the parallel efficiency U ÷ Σ, which is the
//! ledger's efficiency. Additive: each loss ÷ Σ, which with it sum up to 1.

use super::sums::RegionSums;
use proust_account::ledger::{Account, IoAs, Ledger};

/// The efficiencies, and the seconds behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Efficiencies {
    /// U, ns.
    pub useful_ns: u64,
    /// S, ns.
    pub serialisation_ns: u64,
    /// B, ns.
    pub imbalance_ns: u64,
    /// O, ns.
    pub scheduling_ns: u64,
    /// Q, ns.
    pub processors_ns: u64,
    /// X, ns.
    pub other_ns: u64,
}

impl Efficiencies {
    /// Of a ledger; `sums` shows which part of the waits at barriers was latency, and of that what the ledger
    /// counts as queued.
    pub fn of(ledger: &Ledger, sums: &RegionSums, io: IoAs) -> Efficiencies {
        // A team of one waits for no thread: its waits are on no account of waiting.
        let teams = sums.regions.iter().filter(|sum| sum.team_max != 1);
        let (imbalance_ns, latency_ns) = teams.fold((0, 0), |(imbalance, latency), sum| {
            (imbalance + sum.lost.imbalance_ns, latency + sum.lost.latency_ns)
        });
        let latency_ns = latency_ns.saturating_sub(sums.queued_ns);
        let waits_ns = imbalance_ns + latency_ns;
        let mut all = Efficiencies::default();
        for (account, ns) in ledger.accounts.iter() {
            match account {
                Account::Asleep | Account::Paused => {}
                _ if account.productive(io) => all.useful_ns += ns,
                Account::Serial | Account::Narrow | Account::Lock | Account::Replicated => {
                    all.serialisation_ns += ns;
                }
                Account::Barrier => {
                    let latency_ns = match waits_ns {
                        0 => 0,
                        _ => (u128::from(ns) * u128::from(latency_ns) / u128::from(waits_ns)) as u64,
                    };
                    all.imbalance_ns += ns - latency_ns;
                    all.scheduling_ns += latency_ns;
                }
                Account::Idle => all.imbalance_ns += ns,
                Account::Runtime => all.scheduling_ns += ns,
                Account::Oversubscribed | Account::Preempted => all.processors_ns += ns,
                Account::Compute
                | Account::Io
                | Account::MpiPartner
                | Account::MpiTransfer
                | Account::Measurement
                | Account::Fault
                | Account::Unattributed => all.other_ns += ns,
            }
        }
        all
    }

    /// Σ, ns.
    pub fn total_ns(&self) -> u64 {
        self.up_to(6)
    }

    /// Parallel efficiency: the product of all factors.
    pub fn parallel(&self) -> f64 {
        ratio(self.useful_ns, self.total_ns())
    }

    /// Multiplicative: serialisation.
    pub fn serialisation(&self) -> f64 {
        self.factor(2)
    }

    /// Multiplicative: load balance.
    pub fn load_balance(&self) -> f64 {
        self.factor(3)
    }

    /// Multiplicative: scheduling.
    pub fn scheduling(&self) -> f64 {
        self.factor(4)
    }

    /// Multiplicative: processors.
    pub fn processors(&self) -> f64 {
        self.factor(5)
    }

    /// Multiplicative: everything else.
    pub fn other(&self) -> f64 {
        self.factor(6)
    }

    /// The first `count` of U, S, B, O, Q, X.
    fn up_to(&self, count: usize) -> u64 {
        let parts = [
            self.useful_ns,
            self.serialisation_ns,
            self.imbalance_ns,
            self.scheduling_ns,
            self.processors_ns,
            self.other_ns,
        ];
        parts[..count].iter().sum()
    }

    fn factor(&self, count: usize) -> f64 {
        ratio(self.up_to(count - 1), self.up_to(count))
    }
}

fn ratio(part: u64, of: u64) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}
