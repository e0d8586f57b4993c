//! Sums of amounts: by location and set of what is executed at once, and by what is executed.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId};
use rustc_hash::FxHashMap;

use super::super::account::{Account, IoAs};
use super::super::fixed::{Units, whole_ns};
use super::super::observer::Booked;
use super::super::rows::{Amounts, Kind};
use super::super::slots::SlotSums;
use super::super::state::{PassiveReason, PassiveTimes};

/// The amounts of one location while a set of things was executed.
#[derive(Debug)]
pub(super) struct Table {
    by_kind: [Units; Kind::ALL],
    /// Of what is lost, by place.
    lost: Amounts,
    is_empty: bool,
}

impl Default for Table {
    fn default() -> Table {
        Table { by_kind: [0; Kind::ALL], lost: Amounts::default(), is_empty: true }
    }
}

impl Table {
    /// Adds the part of an amount that was not there yet.
    pub fn add(&mut self, booked: &Booked, amount: Units, beyond: Units) {
        if amount == 0 {
            return;
        }
        self.is_empty = false;
        self.by_kind[booked.kind.index()] += amount;
        let (Kind::Spent(account) | Kind::Blamed(account)) = booked.kind else { return };
        let is_lost = account.lost(IoAs::Lost);
        if is_lost {
            self.lost.add(booked.context, booked.kind, amount);
        }
        if beyond > 0 {
            self.by_kind[Kind::Beyond(account).index()] += beyond;
            if is_lost {
                self.lost.add(booked.context, Kind::Beyond(account), beyond);
            }
        }
        if booked.in_region && booked.kind == Kind::Spent(account) {
            self.by_kind[Kind::InRegion(account).index()] += amount;
        }
    }

    fn of(&self, kind: Kind) -> Units {
        self.by_kind[kind.index()]
    }

    /// To be called before it is read.
    pub fn enter_pending(&mut self) {
        self.lost.enter_pending();
    }
}

/// What the amounts while one thing was executed sum to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub owners: BTreeMap<usize, SumsOfOwner>,
    pub alone: bool,
    pub slots: SlotSums,
    pub wall_ns: u64,
    /// Of the slots' total, by account.
    pub accounts: [Units; Account::ALL.len()],
    pub beyond: Units,
    pub locations: FxHashMap<LocationId, OfLocation>,
    pub lost: Lost,
}

#[derive(Clone, Debug, Default)]
pub(super) struct SumsOfOwner {
    pub wall_ns: u64,
    pub slots: SlotSums,
    /// Empty slots that are charged to locations.
    pub blamed: [Units; Account::ALL.len()],
}

#[derive(Clone, Debug, Default)]
pub(super) struct OfLocation {
    pub accounts: [Units; Account::ALL.len()],
    /// Of these, inside parallel regions.
    pub in_regions: [Units; Account::ALL.len()],
    pub beyond: [Units; Account::ALL.len()],
    pub passive: PassiveTimes,
    pub owner: usize,
}

impl Sums {
    /// Adds what a location of this owner did while the thing was executed.
    pub fn take(&mut self, (location, owner): (LocationId, usize), table: &Table) {
        if table.is_empty {
            return;
        }
        let of_location = self.locations.entry(location).or_default();
        of_location.owner = owner;
        // An empty slot belongs to all locations together.
        let mut of_owner = (!self.alone).then(|| self.owners.entry(owner).or_default());
        for account in Account::ALL {
            let at = account as usize;
            let (spent, beyond) = (table.of(Kind::Spent(account)), table.of(Kind::Beyond(account)));
            of_location.accounts[at] += spent;
            of_location.beyond[at] += beyond;
            of_location.in_regions[at] += table.of(Kind::InRegion(account));
            self.accounts[at] += spent - beyond.min(spent);
            self.beyond += beyond;
            if let Some(of_owner) = &mut of_owner {
                let blamed = table.of(Kind::Blamed(account));
                self.accounts[at] += blamed;
                of_owner.blamed[at] += blamed;
            }
        }
        for reason in PassiveReason::ALL {
            of_location.passive[reason] += whole_ns(table.of(Kind::Passive(reason)));
        }
        for (kind, context, amount) in table.lost.all() {
            let (account, amount) = match kind {
                // Without slots nothing is beyond them.
                Kind::Spent(account) if self.alone => (account, amount),
                Kind::Spent(account) => {
                    (account, amount - table.lost.get(context, Kind::Beyond(account)).min(amount))
                }
                Kind::Blamed(account) if !self.alone => (account, amount),
                _ => continue,
            };
            self.lost.add((account, location, context), amount);
        }
    }
}

/// What was lost, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    /// A place may be there several times.
    all: Vec<((Account, LocationId, ContextId), Units)>,
    /// So many of the first are in order, each place once.
    sorted: usize,
}

impl Lost {
    pub fn add(&mut self, place: (Account, LocationId, ContextId), amount: Units) {
        if amount == 0 {
            return;
        }
        if self.all.len() > 2 * self.sorted + 1024 {
            self.sort();
        }
        self.all.push((place, amount));
    }

    fn sort(&mut self) {
        self.all.sort_unstable_by_key(|(place, _)| *place);
        self.all.dedup_by(|(place, amount), (kept, sum)| {
            let is_same = place == kept;
            if is_same {
                *sum += *amount;
            }
            is_same
        });
        self.sorted = self.all.len();
    }

    /// By place, in order.
    pub fn in_order(mut self) -> Vec<((Account, LocationId, ContextId), Units)> {
        self.sort();
        self.all
    }
}
