//! Sums by victim and cause, and their settlement with the rows of the ledger: parts that sum up to them
//! exactly.

use proust_profile::{Array, ContextId, LocationId, Spool};
use rustc_hash::FxHashSet;

use super::cause::{BlameRow, Cause, CauseKind, is_wait};
use super::evidence::Evidence;
use super::held::{Held, Meanwhile};
use super::object::ObjectId;
use super::releases::PlaceId;
use super::sections::Holder;
use super::spooled_sums::SpooledSums;
use crate::ledger::{Account, Ledger, Row, WaitCharge};
use rustc_hash::FxHashMap as Map;

mod amounts;
mod shares;

use amounts::{Amount, Appended, InOrder, MOST, OfVictims};
use shares::{Share, Shares};

/// A location's loss on an account in a context: a row of the ledger. Position in [`Tally::victims`].
pub(super) type VictimId = u32;

/// The cause that an amount is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Charged {
    /// A position in [`Tally::causes`].
    To(u32),
    /// Whatever caused these waits: the location that waited there arrived late because of that.
    AsWaits(VictimId),
}

#[derive(Debug)]
struct Victim {
    location: LocationId,
    context: ContextId,
    unplaced_ns: f64,
    unplaced_slots_ns: f64,
}

#[derive(Debug)]
pub(super) struct Tally {
    victims: Vec<Victim>,
    victim_ids: Map<(LocationId, u8, ContextId), VictimId>,
    causes: Vec<Cause>,
    cause_ids: Map<Cause, u32>,
    /// The cause that the releases of each place are, plus one; 0 = not looked up.
    of_places: Vec<u32>,
    /// The acts of holders while they held a lock that others waited for, by cause.
    held: Map<u32, Held>,
    spool: Spool,
    amounts: SpooledSums<OfVictims>,
    /// Those of other tallies.
    appended: Vec<Appended>,
}

impl Tally {
    /// An empty one; what does not fit into memory goes into the spool.
    pub(super) fn new(spool: &Spool) -> Tally {
        Tally {
            victims: Vec::new(),
            victim_ids: Map::default(),
            causes: Vec::new(),
            cause_ids: Map::default(),
            of_places: Vec::new(),
            held: Map::default(),
            spool: spool.clone(),
            amounts: SpooledSums::new(spool, MOST),
            appended: Vec::new(),
        }
    }

    pub(super) fn victim(&mut self, location: LocationId, account: Account, context: ContextId) -> VictimId {
        let next = self.victims.len() as VictimId;
        let id = *self.victim_ids.entry((location, account as u8, context)).or_insert(next);
        if id == next {
            self.victims.push(Victim { location, context, unplaced_ns: 0.0, unplaced_slots_ns: 0.0 });
        }
        id
    }

    fn cause_id(&mut self, cause: Cause) -> u32 {
        let next = self.causes.len() as u32;
        let id = *self.cause_ids.entry(cause).or_insert(next);
        if id == next {
            self.causes.push(cause);
        }
        id
    }

    pub(super) fn cause(&mut self, cause: Cause) -> Charged {
        Charged::To(self.cause_id(cause))
    }

    /// The location that released a lock there.
    pub(super) fn of_release(&mut self, evidence: &Evidence<'_>, place: PlaceId) -> Charged {
        if self.of_places.is_empty() {
            self.of_places.resize(evidence.releases.places(), 0);
        }
        match self.of_places[place as usize] {
            0 => {
                let release = evidence.releases.place(place);
                let id = self.cause_id(Cause {
                    kind: CauseKind::Holder,
                    location: release.location,
                    context: release.context,
                    section: Some(release.context),
                    site: release.site,
                    lock: evidence.lock_of_release(place),
                });
                self.of_places[place as usize] = id + 1;
                Charged::To(id)
            }
            known => Charged::To(known - 1),
        }
    }

    /// The cause of a part of a wait for a lock.
    pub(super) fn holder(
        &mut self,
        evidence: &Evidence<'_>,
        object: Option<ObjectId>,
        charge: &WaitCharge,
        holder: Holder,
    ) -> Charged {
        let kind = match holder {
            Holder::Release(place) => return self.of_release(evidence, place),
            Holder::HandOver => CauseKind::HandOver,
            Holder::Unknown => CauseKind::Unknown,
        };
        let lock = object.and_then(|object| evidence.groups.lock(object));
        self.cause(Cause { lock, ..Cause::of(kind, (charge.location, charge.context)) })
    }

    /// A holder had a lock for which others waited so long; meanwhile it did this.
    pub(super) fn held(&mut self, cause: Charged, ns: f64, meanwhile: &Meanwhile) {
        if let Charged::To(id) = cause {
            self.held.entry(id).or_default().add(ns, meanwhile);
        }
    }

    /// Not known.
    pub(super) fn unknown(&mut self, (location, context): (LocationId, ContextId)) -> Charged {
        self.cause(Cause::of(CauseKind::Unknown, (location, context)))
    }

    /// Charges a part of a location's loss on an account in a context.
    pub(super) fn charge(
        &mut self,
        (location, context): (LocationId, ContextId),
        account: Account,
        charged: Charged,
        (ns, slots_ns): (f64, f64),
    ) {
        let victim = self.victim(location, account, context);
        self.add(victim, charged, ns, slots_ns);
    }

    /// What a victim is called.
    pub(super) fn place(&self, victim: VictimId) -> (LocationId, ContextId) {
        let victim = &self.victims[victim as usize];
        (victim.location, victim.context)
    }

    /// Takes over the sums of other victims than its own, from a tally that has taken over none.
    pub(super) fn append(&mut self, other: Tally) {
        debug_assert!(other.appended.is_empty());
        let moved_by = self.victims.len() as VictimId;
        let causes: Vec<u32> = other.causes.into_iter().map(|cause| self.cause_id(cause)).collect();
        for (id, held) in other.held {
            self.held.entry(causes[id as usize]).or_default().append(held);
        }
        self.victims.extend(other.victims);
        self.victim_ids.extend(other.victim_ids.into_iter().map(|(key, id)| (key, id + moved_by)));
        let victims = moved_by..self.victims.len() as VictimId;
        self.appended.push(Appended { victims, causes, sums: other.amounts });
    }

    /// Charges a part of a victim's loss.
    pub(super) fn add(&mut self, victim: VictimId, charged: Charged, ns: f64, slots_ns: f64) {
        self.amounts.add((victim, charged), &Amount { ns, slots_ns, hint_ns: 0.0 });
    }

    /// A part of a victim's loss has no cause of its own.
    pub(super) fn unplaced(&mut self, victim: VictimId, (ns, slots_ns): (f64, f64)) {
        let victim = &mut self.victims[victim as usize];
        victim.unplaced_ns += ns;
        victim.unplaced_slots_ns += slots_ns;
    }

    /// Sets the cause of such parts of a victim's loss.
    pub(super) fn hint(&mut self, victim: VictimId, charged: Charged, weight_ns: f64) {
        self.amounts.add((victim, charged), &Amount { hint_ns: weight_ns, ..Amount::default() });
    }

    /// The causes of each victim's loss, in proportion.
    fn proportions(&mut self) -> Shares {
        let own = std::mem::replace(&mut self.amounts, SpooledSums::new(&self.spool, MOST));
        let mut amounts = InOrder::new(own, std::mem::take(&mut self.appended));
        let (mut shares, mut of_victim) = (Shares::new(&self.spool), Vec::new());
        for (victim, id) in self.victims.iter().zip(0..) {
            amounts.take(id, &mut of_victim);
            let hints: f64 = of_victim.iter().map(|(_, amount)| amount.hint_ns).sum();
            let per_hint = |unplaced: f64| if hints > 0.0 { unplaced / hints } else { 0.0 };
            let (ns, slots) = (per_hint(victim.unplaced_ns), per_hint(victim.unplaced_slots_ns));
            let share = |(charged, amount): (Charged, Amount)| {
                (charged, amount.ns + amount.hint_ns * ns, amount.slots_ns + amount.hint_ns * slots)
            };
            shares.push(of_victim.drain(..).map(share));
        }
        shares
    }

    /// What holders did in the sections that others waited for, by cause: shares of it.
    fn acts_of_holders(&mut self) -> Map<u32, Vec<(Charged, f64)>> {
        let mut parts: Map<u32, Vec<(Charged, f64)>> = Map::default();
        let mut all: Vec<(u32, Held)> = std::mem::take(&mut self.held).into_iter().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        for (id, held) in all {
            let cause = self.causes[id as usize];
            let of_cause = held.parts(cause.context).into_iter();
            let part = |(context, share)| (self.cause(Cause { context, ..cause }), share);
            let of_cause: Vec<(Charged, f64)> = of_cause.map(part).collect();
            parts.insert(id, of_cause);
        }
        parts
    }

    /// The causes of every wait of a ledger, sorted.
    pub(super) fn settle(mut self, ledger: &Ledger) -> Array<BlameRow> {
        let charged: FxHashSet<LocationId> =
            ledger.locations.iter().filter(|one| one.charged).map(|one| one.location).collect();
        let late = |tally: &mut Tally, waits| tally.cause(Cause::of(CauseKind::Late, tally.place(waits)));
        let shares = self.proportions().followed(|waits| late(&mut self, waits));
        let shares = shares.divided(&self.acts_of_holders());
        let mut rows = Array::new(&self.spool);
        let waits = |rows: &[Row]| -> Vec<Row> {
            rows.iter()
                .filter(|row| is_wait(row.account) && charged.contains(&row.location))
                .copied()
                .collect()
        };
        for (row, slots) in (waits(&ledger.spent).into_iter().map(|row| (row, false)))
            .chain(waits(&ledger.blamed).into_iter().map(|row| (row, true)))
        {
            let victim = self.victim_ids.get(&(row.location, row.account as u8, row.context));
            let shares = victim.map_or(&[][..], |&id| shares.of(id));
            let weight = |&(_, ns, slots_ns): &Share| if slots { slots_ns } else { ns };
            let mut all: f64 = shares.iter().map(weight).sum();
            // Slots may be empty for so short a time that nothing is known of it but the wait itself.
            let by_time = all <= 0.0;
            let weight = |share: &Share| if by_time { share.1 } else { weight(share) };
            if by_time {
                all = shares.iter().map(weight).sum();
            }
            let mut push = |cause: Cause, ns: u64| {
                if ns > 0 {
                    let Row { location, account, context, .. } = row;
                    rows.push(BlameRow { account, location, context, slots, cause, ns });
                }
            };
            if all <= 0.0 {
                push(Cause::of(CauseKind::Unknown, (row.location, row.context)), row.ns);
                continue;
            }
            let last = shares.iter().rposition(|share| weight(share) > 0.0);
            let (mut sum, mut given) = (0.0, 0);
            for (n, share) in shares.iter().enumerate() {
                sum += weight(share);
                let due = if Some(n) == last { row.ns } else { (row.ns as f64 * (sum / all)).round() as u64 };
                let due = due.clamp(given, row.ns);
                if let Charged::To(cause) = share.0 {
                    push(self.causes[cause as usize], due - given);
                }
                given = due;
            }
        }
        rows.sort_unstable();
        rows
    }
}
