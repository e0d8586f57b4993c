//! Efficiencies of the threads of a run, from the ledger's seconds.
//!
//! Σ is the ledger's total without what it was asleep or not recorded. Of it is lost: to serialisation S (`serial`, `narrow`,
//! `lock`: somebody works, others cannot), to imbalance B (`barrier`, but for its latency), to scheduling O (`runtime`, and the latency
//! of barriers). Multiplicative, in the order of the POP centre's and TALP's models: with U = Σ − S − B − O,
//! serialisation = U ÷ (U + S), load balance = (U + S) ÷ (U + S + B), scheduling = (U + S + B) ÷ Σ. Their product is the
//! parallel efficiency U ÷ Σ. Additive: S ÷ Σ, B ÷ Σ and O ÷ Σ, which with it sum up to 1.

use super::sums::RegionSums;
use crate::ledger::{Account, Ledger};

/// The efficiencies, and the seconds behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Efficiencies {
    /// Σ, ns.
    pub total_ns: u64,
    /// S, ns.
    pub serialisation_ns: u64,
    /// B, ns.
    pub imbalance_ns: u64,
    /// O, ns.
    pub scheduling_ns: u64,
}

impl Efficiencies {
    /// Of a ledger; `sums` tells which part of the waits at barriers was latency.
    pub fn of(ledger: &Ledger, sums: &RegionSums) -> Efficiencies {
        let account = |account: Account| ledger.accounts[account];
        // In a team of one nobody is waited for: its waits are on no account of waiting.
        let teams = sums.regions.iter().filter(|sum| sum.team_max != 1);
        let (imbalance_ns, latency_ns) = teams.fold((0, 0), |(imbalance, latency), sum| {
            (imbalance + sum.lost.imbalance_ns, latency + sum.lost.latency_ns)
        });
        let barrier_ns = account(Account::Barrier);
        let waits_ns = imbalance_ns + latency_ns;
        let latency_ns = match waits_ns {
            0 => 0,
            _ => (u128::from(barrier_ns) * u128::from(latency_ns) / u128::from(waits_ns)) as u64,
        };
        let left_out = account(Account::Asleep) + account(Account::Paused) + account(Account::Idle);
        Efficiencies {
            total_ns: ledger.total_ns.saturating_sub(left_out),
            serialisation_ns: account(Account::Serial) + account(Account::Narrow) + account(Account::Lock),
            imbalance_ns: barrier_ns - latency_ns,
            scheduling_ns: account(Account::Runtime) + latency_ns,
        }
    }

    /// U, ns.
    pub fn useful_ns(&self) -> u64 {
        self.total_ns.saturating_sub(self.serialisation_ns + self.imbalance_ns + self.scheduling_ns)
    }

    /// Parallel efficiency.
    pub fn parallel(&self) -> f64 {
        ratio(self.useful_ns(), self.total_ns)
    }

    /// Multiplicative: serialisation.
    pub fn serialisation(&self) -> f64 {
        ratio(self.useful_ns(), self.useful_ns() + self.serialisation_ns)
    }

    /// Multiplicative: load balance.
    pub fn load_balance(&self) -> f64 {
        let before = self.useful_ns() + self.serialisation_ns;
        ratio(before, before + self.imbalance_ns)
    }

    /// Multiplicative: scheduling.
    pub fn scheduling(&self) -> f64 {
        let before = self.useful_ns() + self.serialisation_ns + self.imbalance_ns;
        ratio(before, before + self.scheduling_ns)
    }
}

fn ratio(part: u64, of: u64) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}
