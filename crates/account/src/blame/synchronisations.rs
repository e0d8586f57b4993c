//! Watches the ledger's sweep for synchronisations: the last arrival, and the acts of all members since the
//! one before.
//!
//! Each act of a location is summed up as it begins, for each group that it is in, until that synchronises. A
//! synchronisation takes the sums of its group's members and makes them, and those of all groups whose
//! members are all among them, **restart at one instant for all**: when it opens. So does a fork: acts before
//! a region are no reason for waiting in it. Then the synchronisation stays open until all that may be
//! waiting have continued, which is at the latest when the same locations synchronise again.
//!
//! Nothing grows with the number of synchronisations: there are the open ones, a sum for each location and
//! group, and the state of [`Delays`] by pair of sites.

use proust_profile::{ContextId, LocationId};

use super::delays::{Causes, Delays, Pair, Victim};
use super::doer::{Doer, Unfinished, Wait, grains_ns, is_interrupted, waits_for_others};
use super::doing::Doing;
use super::evidence::{Done, Evidence};
use super::forks::Forks;
use super::meetings::{Group, GroupId, MeetingId, Meetings};
use super::releases::Nearby;
use super::singles::Singles;
use super::stays::StaysOf;
use super::synchronisation::{Come, Last, ShortWaits, Synchronisation};
use crate::ledger::{Account, Begun, WaitCharge, Window};
use rustc_hash::FxHashMap as Map;

/// Watches the sweep.
pub(super) struct Synchronisations<'e> {
    evidence: &'e Evidence<'e>,
    meetings: &'e Meetings,
    locations: Vec<Doer<'e>>,
    singles: Singles<'e>,
    /// By group: where it synchronised last.
    sites: Vec<Option<ContextId>>,
    open: Vec<Synchronisation>,
    /// The last one at each meeting that is over.
    over: Map<MeetingId, Over>,
    forks: Forks<'e>,
    /// By location.
    stays: Vec<StaysOf<'e>>,
    short: ShortWaits<'e>,
    nearby: Nearby<'e>,
    delays: Delays,
}

/// A synchronisation that is over.
#[derive(Debug)]
struct Over {
    departure_ns: u64,
    begin: Option<ContextId>,
    /// The locations that waited there, and since when.
    come: Vec<(LocationId, u64)>,
}

impl<'e> Synchronisations<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, meetings: &'e Meetings) -> Synchronisations<'e> {
        let grains = grains_ns(evidence);
        let doer = |location: usize| {
            let groups = meetings.of_location[location].len();
            Doer::new(evidence, LocationId::from_index(location), grains[location], groups)
        };
        let stays = |location| StaysOf::new(&evidence.profile.stays, location);
        Synchronisations {
            locations: (0..meetings.of_location.len()).map(doer).collect(),
            singles: Singles::new(evidence),
            sites: vec![None; meetings.groups.len()],
            open: Vec::new(),
            over: Map::default(),
            forks: Forks::new(evidence, meetings),
            stays: evidence.profile.locations.keys().map(stays).collect(),
            short: ShortWaits::new(evidence),
            nearby: Nearby::new(&evidence.releases),
            delays: Delays::new(Account::Barrier, &evidence.profile.events.spool()),
            evidence,
            meetings,
        }
    }

    /// A location begins to do something.
    pub(super) fn begins(&mut self, begun: &Begun) {
        let start_ns = begun.window.start_ns;
        self.fork_until(start_ns);
        let Some(doer) = self.locations.get_mut(begun.location.index()) else { return };
        let has_gone_on = |of: &mut Unfinished| {
            start_ns >= of.wait.end_ns || !(waits_for_others(begun) || is_interrupted(begun))
        };
        if let Some(wait) = doer.unfinished.take_if(has_gone_on) {
            self.take(begun.location, wait, Some(start_ns));
        }
        let doer = &mut self.locations[begun.location.index()];
        if doer.now.as_mut().is_some_and(|now| now.goes_on_with(begun)) {
            return;
        }
        doer.count_until(start_ns);
        (doer.now, doer.counted_ns) = (Some(*begun), start_ns);
    }

    /// A location has waited for others.
    pub(super) fn waited(&mut self, charge: &WaitCharge) {
        self.fork_until(charge.window.end_ns.saturating_sub(1));
        let at_meeting = |done: Done| {
            let meeting = self.meetings.of_wait(self.evidence, &done)?;
            let (begin_ns, end_ns) = (done.row.begin_ns, done.row.end_ns);
            Some(Wait { number: done.number, meeting, begin_ns, end_ns })
        };
        let Some(wait) = self.singles.find(charge).and_then(at_meeting) else {
            let victim = (charge.location, charge.context);
            return self.delays.unplaced(victim, (charge.window.length_ns() as f64, charge.slots_ns));
        };
        let doer = &mut self.locations[charge.location.index()];
        let mut unfinished = match doer.unfinished.take() {
            Some(same) if same.wait.number == wait.number => same,
            other => {
                if let Some(other) = other {
                    self.take(charge.location, other, Some(charge.window.start_ns));
                }
                Unfinished { wait, context: charge.context, charges: Vec::new() }
            }
        };
        unfinished.charges.push((charge.window, charge.slots_ns));
        let is_over = charge.window.end_ns >= wait.end_ns;
        self.take(charge.location, unfinished, is_over.then_some(charge.window.end_ns));
    }

    /// Finds the synchronisation that a wait is a part of. A wait that is over opens one if it has to;
    /// `over_ns`: since when it is.
    fn take(&mut self, location: LocationId, unfinished: Unfinished, over_ns: Option<u64>) {
        let Wait { number, meeting, begin_ns, .. } = unfinished.wait;
        let known = &self.locations[location.index()].known;
        if let Some((_, causes)) = known.as_ref().filter(|(known, _)| *known == number) {
            return give_all(&mut self.delays, causes, location, &unfinished);
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.meeting == meeting) {
            let is_it = |come: &&mut Come| (come.location, come.number) == (location, number);
            if let Some(come) = open.come.iter_mut().find(is_it) {
                return come.charges.extend(unfinished.charges);
            }
            if open.takes(location, begin_ns) {
                return open.come.push(come(location, unfinished));
            }
        }
        if let Some(causes) = self.causes_of_straggler(location, &unfinished) {
            give_all(&mut self.delays, &causes, location, &unfinished);
            self.locations[location.index()].known = Some((number, causes));
            return;
        }
        let Some(opens_ns) = over_ns else {
            self.locations[location.index()].unfinished = Some(unfinished);
            return;
        };
        let group = self.meetings.all[meeting as usize].group;
        self.close_those_of(group);
        let doing = self.restart(group, opens_ns, Some(location));
        let come = vec![come(location, unfinished)];
        self.open.push(Synchronisation { meeting, opens_ns, come, doing });
        self.delays.most_open = self.delays.most_open.max(self.open.len());
    }

    /// The causes of a wait that began before the last synchronisation at this meeting was over, and is
    /// reported only now: that a thread had no processor at the end of a wait is not known to the moment, so
    /// others may seem to have waited again before.
    fn causes_of_straggler(&self, location: LocationId, unfinished: &Unfinished) -> Option<Causes> {
        let Wait { meeting, begin_ns, .. } = unfinished.wait;
        let over = self.over.get(&meeting)?;
        let is_known = over.come.iter().any(|(known, _)| *known == location);
        if begin_ns > over.departure_ns || is_known {
            return None;
        }
        let last = over.come.iter().filter(|(_, came_ns)| *came_ns > begin_ns).max_by_key(|come| come.1);
        Some(match last {
            Some(&(late, arrival_ns)) => {
                Causes::Late(arrival_ns, vec![Pair { begin: over.begin, end: unfinished.context, late }])
            }
            None => Causes::Opening,
        })
    }

    /// The sweep is over.
    pub(super) fn finish(mut self) -> Delays {
        for location in 0..self.locations.len() {
            if let Some(wait) = self.locations[location].unfinished.take() {
                let over_ns = wait.charges.last().map(|(window, _)| window.end_ns);
                self.take(LocationId::from_index(location), wait, over_ns);
            }
        }
        for open in std::mem::take(&mut self.open) {
            self.close(open);
        }
        self.delays
    }

    /// The group's members synchronise: the acts of each since the last time. `waiter` is known to wait here;
    /// so are those whose present state is a wait that began before.
    fn restart(
        &mut self,
        group: GroupId,
        at_ns: u64,
        waiter: Option<LocationId>,
    ) -> Vec<(LocationId, Doing)> {
        let meetings = self.meetings;
        let Group { members, parts } = &meetings.groups[group as usize];
        let mut all = Vec::with_capacity(members.len());
        for &member in members {
            let doer = &mut self.locations[member.index()];
            let is_here = waiter == Some(member) || waiter.is_some() && doer.is_waiting();
            if !is_here {
                doer.count_until(at_ns);
            }
            let of_groups = &meetings.of_location[member.index()];
            let mut doing = Doing::default();
            for (of, before) in of_groups.iter().zip(&mut doer.before) {
                if *of == group {
                    doing = std::mem::take(before);
                    doing.append(&doer.current);
                } else if parts.contains(of) {
                    before.clear();
                }
            }
            if is_here {
                // For all others this was waiting as any other. That it continues a moment after the first
                // one is no reason to arrive late again.
                doer.count_until(at_ns);
                doer.counted_ns = doer.now.map_or(at_ns, |now| now.window.end_ns);
            }
            for (of, before) in of_groups.iter().zip(&mut doer.before) {
                if *of != group && !parts.contains(of) {
                    before.append(&doer.current);
                }
            }
            doer.current.clear();
            all.push((member, doing));
        }
        all
    }

    /// All forks until an instant.
    fn fork_until(&mut self, now_ns: u64) {
        while let Some((fork_ns, meeting, region)) = self.forks.next_until(now_ns, self.meetings) {
            let group = self.meetings.all[meeting as usize].group;
            self.close_those_of(group);
            self.restart(group, fork_ns, None);
            let context = self.evidence.profile.regions[region].context;
            self.has_synchronised(group, Some(context));
        }
    }

    fn has_synchronised(&mut self, group: GroupId, site: Option<ContextId>) {
        for &part in &self.meetings.groups[group as usize].parts {
            self.sites[part as usize] = site;
        }
    }

    /// Closes the synchronisations of groups that this one is a part of, or that are parts of it.
    fn close_those_of(&mut self, group: GroupId) {
        let parts = |group: GroupId| &self.meetings.groups[group as usize].parts;
        let is_of = |open: &Synchronisation| {
            let other = self.meetings.all[open.meeting as usize].group;
            parts(group).contains(&other) || parts(other).contains(&group)
        };
        let over: Vec<Synchronisation> = self.open.extract_if(.., |open| is_of(open)).collect();
        over.into_iter().for_each(|over| self.close(over));
    }

    /// All that waited have gone on.
    fn close(&mut self, over: Synchronisation) {
        let Last { arrival_ns, late } =
            over.last(self.meetings, &mut self.short, &mut self.stays, &mut self.nearby);
        let group = self.meetings.all[over.meeting as usize].group;
        let begin = self.sites[group as usize];
        let is_late = |location: LocationId| late.binary_search(&location).is_ok();
        let mut sites: Vec<ContextId> = over.come.iter().map(|come| come.context).collect();
        sites.sort_unstable();
        sites.dedup();
        for end in sites.into_iter().filter(|_| !late.is_empty()) {
            let waited = |come: &&Come| come.context == end && !is_late(come.location);
            let early: Vec<&Come> = over.come.iter().filter(waited).collect();
            let mut theirs = Doing::default();
            early.iter().filter_map(|come| over.doing(come.location)).for_each(|doing| theirs.append(doing));
            for &late in late.iter().filter(|_| !early.is_empty()) {
                let pair = Pair { begin, end, late };
                self.delays.compare(pair, (over.doing(late), early.len()), &theirs);
            }
        }
        for come in &over.come {
            let pairs = || late.iter().map(|&late| Pair { begin, end: come.context, late });
            let causes = match is_late(come.location) {
                true => Causes::Opening,
                false if late.is_empty() => Causes::Unknown,
                false => Causes::Late(arrival_ns, pairs().collect()),
            };
            for &part in &come.charges {
                give(&mut self.delays, &causes, (come.location, come.context), part);
            }
            self.locations[come.location.index()].known = Some((come.number, causes));
        }
        let come = over.come.iter().map(|come| (come.location, come.begin_ns)).collect();
        self.over.insert(over.meeting, Over { departure_ns: over.departure_ns(), begin, come });
        self.has_synchronised(group, over.site());
    }
}

/// Charges a part of a wait, with its empty slots.
fn give(delays: &mut Delays, causes: &Causes, victim: Victim, (window, slots_ns): (Window, f64)) {
    let length_ns = window.length_ns();
    let until_ns = |arrival_ns: u64| window.end_ns.min(arrival_ns).saturating_sub(window.start_ns);
    match causes {
        Causes::Late(arrival_ns, pairs) => {
            let waited_ns = until_ns(*arrival_ns) as f64;
            let slots_per_ns = slots_ns / length_ns.max(1) as f64;
            let each_ns = waited_ns / pairs.len() as f64;
            pairs.iter().for_each(|&pair| delays.late(pair, victim, (each_ns, each_ns * slots_per_ns)));
            let opening_ns = length_ns as f64 - waited_ns;
            delays.opening(victim, (opening_ns, opening_ns * slots_per_ns));
        }
        Causes::Opening => delays.opening(victim, (length_ns as f64, slots_ns)),
        Causes::Unknown => delays.unknown(victim, (length_ns as f64, slots_ns)),
    }
}

/// Charges all parts of a wait so far.
fn give_all(delays: &mut Delays, causes: &Causes, location: LocationId, wait: &Unfinished) {
    for &part in &wait.charges {
        give(delays, causes, (location, wait.context), part);
    }
}

fn come(location: LocationId, unfinished: Unfinished) -> Come {
    let Unfinished { wait: Wait { number, begin_ns, end_ns, .. }, context, charges } = unfinished;
    Come { location, context, number, begin_ns, end_ns, charges }
}
