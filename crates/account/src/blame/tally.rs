//! Sums by victim and cause, and their settlement with the rows of the ledger: parts that sum up to them
//! exactly.

use proust_profile::{ContextId, LocationId};
use rustc_hash::FxHashSet;

use super::cause::{BlameRow, Cause, CauseKind, is_wait};
use super::evidence::Evidence;
use super::held::{Held, Meanwhile};
use super::object::ObjectId;
use super::releases::PlaceId;
use super::sections::Holder;
use crate::ledger::{Account, Ledger, Row, WaitCharge};
use rustc_hash::FxHashMap as Map;

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

/// How much of a victim's loss is charged to something.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    ns: f64,
    slots_ns: f64,
    /// Amounts without a cause of their own are charged in proportion to this.
    hint_ns: f64,
}

#[derive(Debug)]
struct Victim {
    location: LocationId,
    context: ContextId,
    amounts: Map<Charged, Amount>,
    unplaced_ns: f64,
    unplaced_slots_ns: f64,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    victims: Vec<Victim>,
    victim_ids: Map<(LocationId, u8, ContextId), VictimId>,
    causes: Vec<Cause>,
    cause_ids: Map<Cause, u32>,
    /// The cause that the releases of each place are, plus one; 0 = not looked up.
    of_places: Vec<u32>,
    /// The acts of holders while they held a lock that others waited for, by cause.
    held: Map<u32, Held>,
}

/// So many times a late thread may have waited for another late one.
const DEPTH: u32 = 6;

impl Tally {
    pub(super) fn victim(&mut self, location: LocationId, account: Account, context: ContextId) -> VictimId {
        let next = self.victims.len() as VictimId;
        let id = *self.victim_ids.entry((location, account as u8, context)).or_insert(next);
        if id == next {
            self.victims.push(Victim {
                location,
                context,
                amounts: Map::default(),
                unplaced_ns: 0.0,
                unplaced_slots_ns: 0.0,
            });
        }
        id
    }

    pub(super) fn cause(&mut self, cause: Cause) -> Charged {
        let next = self.causes.len() as u32;
        let id = *self.cause_ids.entry(cause).or_insert(next);
        if id == next {
            self.causes.push(cause);
        }
        Charged::To(id)
    }

    /// The location that released a lock there.
    pub(super) fn of_release(&mut self, evidence: &Evidence<'_>, place: PlaceId) -> Charged {
        if self.of_places.is_empty() {
            self.of_places.resize(evidence.releases.places(), 0);
        }
        match self.of_places[place as usize] {
            0 => {
                let release = evidence.releases.place(place);
                let cause = self.cause(Cause {
                    kind: CauseKind::Holder,
                    location: release.location,
                    context: release.context,
                    section: Some(release.context),
                    site: release.site,
                    lock: evidence.lock_of_release(place),
                });
                if let Charged::To(id) = cause {
                    self.of_places[place as usize] = id + 1;
                }
                cause
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

    /// Takes over the sums of other victims than its own.
    pub(super) fn append(&mut self, other: Tally) {
        let moved_by = self.victims.len() as VictimId;
        let causes: Vec<Charged> = other.causes.into_iter().map(|cause| self.cause(cause)).collect();
        let charged = |charged| match charged {
            Charged::To(cause) => causes[cause as usize],
            Charged::AsWaits(victim) => Charged::AsWaits(victim + moved_by),
        };
        for (id, held) in other.held {
            if let Charged::To(id) = causes[id as usize] {
                self.held.entry(id).or_default().append(held);
            }
        }
        self.victims.extend(other.victims.into_iter().map(|victim| {
            let amounts = victim.amounts.into_iter().map(|(to, amount)| (charged(to), amount)).collect();
            Victim { amounts, ..victim }
        }));
        self.victim_ids.extend(other.victim_ids.into_iter().map(|(key, id)| (key, id + moved_by)));
    }

    /// Charges a part of a victim's loss.
    pub(super) fn add(&mut self, victim: VictimId, charged: Charged, ns: f64, slots_ns: f64) {
        let amount = self.victims[victim as usize].amounts.entry(charged).or_default();
        amount.ns += ns;
        amount.slots_ns += slots_ns;
    }

    /// A part of a victim's loss has no cause of its own.
    pub(super) fn unplaced(&mut self, victim: VictimId, (ns, slots_ns): (f64, f64)) {
        let victim = &mut self.victims[victim as usize];
        victim.unplaced_ns += ns;
        victim.unplaced_slots_ns += slots_ns;
    }

    /// Sets the cause of such parts of a victim's loss.
    pub(super) fn hint(&mut self, victim: VictimId, charged: Charged, weight_ns: f64) {
        self.victims[victim as usize].amounts.entry(charged).or_default().hint_ns += weight_ns;
    }

    /// The causes of each victim's loss, in proportion, in a fixed order.
    fn proportions(&self) -> Vec<Vec<(Charged, f64, f64)>> {
        let of = |victim: &Victim| {
            let hints: f64 = victim.amounts.values().map(|amount| amount.hint_ns).sum();
            let per_hint = |unplaced: f64| if hints > 0.0 { unplaced / hints } else { 0.0 };
            let (ns, slots) = (per_hint(victim.unplaced_ns), per_hint(victim.unplaced_slots_ns));
            let share = |(&charged, amount): (&Charged, &Amount)| {
                (charged, amount.ns + amount.hint_ns * ns, amount.slots_ns + amount.hint_ns * slots)
            };
            let mut shares: Vec<_> = victim.amounts.iter().map(share).collect();
            shares.sort_by_key(|(charged, ..)| *charged);
            shares
        };
        self.victims.iter().map(of).collect()
    }

    /// Passes amounts charged to waits on to the causes of these.
    fn followed(&mut self, mut proportions: Vec<Vec<(Charged, f64, f64)>>) -> Vec<Vec<(Charged, f64, f64)>> {
        let is_final = |shares: &Vec<(Charged, f64, f64)>| {
            shares.iter().all(|(charged, ..)| matches!(charged, Charged::To(_)))
        };
        for depth in 0..=DEPTH {
            if proportions.iter().all(is_final) {
                break;
            }
            let mut next = Vec::with_capacity(proportions.len());
            for shares in &proportions {
                let mut sums: Map<Charged, (f64, f64)> = Map::default();
                let mut give = |charged: Charged, ns: f64, slots_ns: f64| {
                    let sum = sums.entry(charged).or_default();
                    (sum.0, sum.1) = (sum.0 + ns, sum.1 + slots_ns);
                };
                for &(charged, ns, slots_ns) in shares {
                    let Charged::AsWaits(waits) = charged else {
                        give(charged, ns, slots_ns);
                        continue;
                    };
                    let of_waits = &proportions[waits as usize];
                    let all: f64 = of_waits.iter().map(|(_, ns, _)| ns).sum();
                    if depth < DEPTH && all > 0.0 {
                        of_waits
                            .iter()
                            .for_each(|&(to, part, _)| give(to, ns * part / all, slots_ns * part / all));
                    } else {
                        let late = self.cause(Cause::of(CauseKind::Late, self.place(waits)));
                        give(late, ns, slots_ns);
                    }
                }
                let mut shares: Vec<_> =
                    sums.into_iter().map(|(to, (ns, slots_ns))| (to, ns, slots_ns)).collect();
                shares.sort_by_key(|(charged, ..)| *charged);
                next.push(shares);
            }
            proportions = next;
        }
        proportions
    }

    /// Charges the amounts of a section to its holder's acts in it.
    fn say_what_holders_did(&mut self, proportions: &mut [Vec<(Charged, f64, f64)>]) {
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
        for shares in proportions {
            let is_held = |charged: Charged| matches!(charged, Charged::To(id) if parts.contains_key(&id));
            if !shares.iter().any(|share| is_held(share.0)) {
                continue;
            }
            let mut split = Vec::with_capacity(2 * shares.len());
            for &(charged, ns, slots_ns) in shares.iter() {
                match charged {
                    Charged::To(id) if is_held(charged) => {
                        split.extend(parts[&id].iter().map(|&(to, share)| (to, ns * share, slots_ns * share)))
                    }
                    _ => split.push((charged, ns, slots_ns)),
                }
            }
            split.sort_by_key(|(charged, ..)| *charged);
            *shares = split;
        }
    }

    /// The causes of every wait of a ledger, sorted.
    pub(super) fn settle(mut self, ledger: &Ledger) -> Vec<BlameRow> {
        let charged: FxHashSet<LocationId> =
            ledger.locations.iter().filter(|one| one.charged).map(|one| one.location).collect();
        let proportions = self.proportions();
        let mut proportions = self.followed(proportions);
        self.say_what_holders_did(&mut proportions);
        let mut rows = Vec::new();
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
            let shares = victim.and_then(|&id| proportions.get(id as usize)).map_or(&[][..], Vec::as_slice);
            let weight = |&(_, ns, slots_ns): &(Charged, f64, f64)| if slots { slots_ns } else { ns };
            let mut all: f64 = shares.iter().map(weight).sum();
            // Slots may be empty for so short a time that nothing is known of it but the wait itself.
            let by_time = all <= 0.0;
            let weight = |share: &(Charged, f64, f64)| if by_time { share.1 } else { weight(share) };
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
        rows.shrink_to_fit();
        rows.sort_unstable();
        rows
    }
}
