//! From the sums of a sweep to the accounts.

use proust_profile::{ContextId, LocationId, ProcessId};
use rustc_hash::FxHashMap;

use super::super::account::{Account, Accounts};
use super::super::fixed::{Units, apportion, round_running, units, whole_ns};
use super::sums::{OfLocation, Sums, SumsOfOwner};
use super::{Inside, InsideOwner, LostRow};

impl Sums {
    pub(super) fn finish(mut self, owner_at: &impl Fn(usize) -> (ProcessId, u32)) -> Inside {
        for (account, ns) in [
            (Account::Asleep, self.slots.asleep_ns),
            (Account::Idle, self.slots.idle_ns),
            (Account::Paused, self.slots.paused_ns),
        ] {
            self.accounts[account as usize] += units(ns);
        }
        if self.alone {
            // Without slots nothing is beyond them.
            self.accounts = Default::default();
            for of_location in self.locations.values() {
                for (sum, own) in self.accounts.iter_mut().zip(of_location.accounts) {
                    *sum += own;
                }
            }
            self.beyond = 0;
        }
        let sum: Units = self.accounts.iter().sum();
        let total_ns = if self.alone { whole_ns(sum + units(1) / 2) } else { self.slots.total_ns };
        let amounts: Vec<(Units, u64)> = self.accounts.iter().map(|&amount| (amount, u64::MAX)).collect();
        let accounts = accounts_of(apportion(&amounts, total_ns));
        let lost = lost_rows(std::mem::take(&mut self.lost).in_order(), &accounts);
        let owners = self.owners.iter().map(|(&owner, sums)| sums.finish(owner_at(owner)));
        let owners: Vec<InsideOwner> = owners.collect();
        let position: FxHashMap<usize, usize> =
            self.owners.keys().enumerate().map(|(position, &owner)| (owner, position)).collect();
        let place = |(&id, of): (&LocationId, &OfLocation)| Some((id, *position.get(&of.owner)?));
        let is_beyond = |(_, of): &(&LocationId, &OfLocation)| of.beyond.iter().any(|&amount| amount > 0);
        let beyond = self.locations.iter().filter(is_beyond).filter(|_| !self.alone);
        let in_regions = self.locations.iter().filter(|(_, of)| of.in_regions.iter().any(|&of| of > 0));
        Inside {
            processors: if self.alone { 0 } else { owners.iter().map(|owner| owner.processors).sum() },
            owners,
            owner_of: self.locations.iter().filter_map(place).collect(),
            beyond: beyond.map(|(&id, of)| (id, accounts_of(round_running(of.beyond)))).collect(),
            in_regions: in_regions.map(|(&id, of)| (id, accounts_of(round_running(of.in_regions)))).collect(),
            alone: self.alone,
            wall_ns: self.wall_ns,
            total_ns,
            accounts,
            lost,
            beyond_ns: if self.alone { 0 } else { self.slots.beyond_ns },
            locations: self
                .locations
                .into_iter()
                .map(|(id, of)| (id, (accounts_of(round_running(of.accounts)), of.passive)))
                .collect(),
        }
    }
}

impl SumsOfOwner {
    fn finish(&self, (process, processors): (ProcessId, u32)) -> InsideOwner {
        let mut slots = accounts_of(round_running(self.blamed));
        slots[Account::Asleep] += self.slots.asleep_ns;
        slots[Account::Idle] += self.slots.idle_ns;
        slots[Account::Paused] += self.slots.paused_ns;
        InsideOwner {
            process,
            processors,
            wall_ns: self.wall_ns,
            paused_ns: self.slots.paused_ns / u64::from(processors.max(1)),
            serial_ns: whole_ns(self.blamed[Account::Serial as usize]),
            narrow_ns: whole_ns(self.blamed[Account::Narrow as usize]),
            asleep_ns: self.slots.asleep_ns,
            slots,
            total_ns: self.slots.total_ns,
            beyond_ns: self.slots.beyond_ns,
        }
    }
}

fn accounts_of(amounts: impl IntoIterator<Item = u64>) -> Accounts {
    let mut accounts = Accounts::default();
    for (account, ns) in Account::ALL.into_iter().zip(amounts) {
        accounts[account] = ns;
    }
    accounts
}

/// The rows of each account sum to it. The amounts are in order.
pub(super) fn lost_rows(
    sorted: Vec<((Account, LocationId, ContextId), Units)>,
    accounts: &Accounts,
) -> Vec<LostRow> {
    let mut rows = Vec::with_capacity(sorted.len());
    for of_account in sorted.chunk_by(|a, b| a.0.0 == b.0.0) {
        let bounded: Vec<(Units, u64)> = of_account.iter().map(|&(_, amount)| (amount, u64::MAX)).collect();
        let given = apportion(&bounded, accounts[of_account[0].0.0]);
        rows.extend(
            of_account
                .iter()
                .zip(given)
                .filter(|(_, ns)| *ns > 0)
                .map(|(&((account, location, context), _), ns)| LostRow { account, location, context, ns }),
        );
    }
    rows
}
