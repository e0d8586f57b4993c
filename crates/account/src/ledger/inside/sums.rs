//! Sums of amounts: by location and set of what is executed at once, and by what is executed.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId};
use rustc_hash::FxHashMap;

use super::super::account::{Account, IoAs};
use super::super::fixed::{Units, whole_ns};
use super::super::observer::Booked;
use super::super::rows::{Amounts, Kind, NOWHERE};
use super::super::slots::SlotSums;
use super::super::state::PassiveTimes;

/// The amounts of one location while a set of things was executed: of what is lost by place.
#[derive(Debug)]
pub(super) struct Table {
    amounts: Amounts,
    has_places: bool,
}

impl Table {
    /// `has_places`: whether it matters where time is lost.
    pub fn new(has_places: bool) -> Table {
        Table { amounts: Amounts::default(), has_places }
    }

    /// Adds the part of an amount that was not there yet.
    #[inline]
    pub fn add(&mut self, booked: &Booked, amount: Units, beyond: Units) {
        let Table { amounts, has_places } = self;
        let (Kind::Spent(account) | Kind::Blamed(account)) = booked.kind else {
            return amounts.add(NOWHERE, booked.kind, amount);
        };
        let context = if *has_places && account.lost(IoAs::Lost) { booked.context } else { NOWHERE };
        amounts.add(context, booked.kind, amount);
        if beyond > 0 {
            amounts.add(context, Kind::Beyond(account), beyond);
        }
        if booked.in_region && booked.kind == Kind::Spent(account) {
            amounts.add(NOWHERE, Kind::InRegion(account), amount);
        }
    }

    /// To be called before it is read.
    pub fn enter_pending(&mut self) {
        self.amounts.enter_pending();
    }
}

/// What the amounts while one thing was executed sum to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub owners: BTreeMap<usize, SumsOfOwner>,
    /// Whether it matters where time is lost.
    pub has_places: bool,
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
    pub fn take(&mut self, (location, owner): (LocationId, usize), Table { amounts, .. }: &Table) {
        let mut all = amounts.all().peekable();
        if all.peek().is_none() {
            return;
        }
        let of_location = self.locations.entry(location).or_default();
        of_location.owner = owner;
        for (kind, context, amount) in all {
            let (account, lost) = match kind {
                Kind::Spent(account) => {
                    let beyond = amounts.get(context, Kind::Beyond(account)).min(amount);
                    of_location.accounts[account as usize] += amount;
                    self.accounts[account as usize] += amount - beyond;
                    // Without slots nothing is beyond them.
                    (account, if self.alone { amount } else { amount - beyond })
                }
                // An empty slot belongs to all locations together.
                Kind::Blamed(account) if !self.alone => {
                    self.accounts[account as usize] += amount;
                    self.owners.entry(owner).or_default().blamed[account as usize] += amount;
                    (account, amount)
                }
                Kind::Blamed(_) => continue,
                Kind::Beyond(account) => {
                    of_location.beyond[account as usize] += amount;
                    self.beyond += amount;
                    continue;
                }
                Kind::InRegion(account) => {
                    of_location.in_regions[account as usize] += amount;
                    continue;
                }
                Kind::Passive(reason) => {
                    of_location.passive[reason] += whole_ns(amount);
                    continue;
                }
            };
            if self.has_places && account.lost(IoAs::Lost) {
                self.lost.add((account, location, context), lost);
            }
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
