//! Teams of a wrong size: inside of others, more threads than processors; and one thread where a loop is
//! divided among all.

use std::collections::BTreeMap;

use proust_profile::{ContextId, Detail, FunctionId, LocationId, Ns, OperationKind, ProcessId, RegionId};

use super::constructs::{Construct, Constructs, place};
use crate::facts::Facts;
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure, Victim};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = nested(facts, constructs).into_iter().collect();
    found.extend(of_one(facts, constructs));
    found.extend(regions_of_one(facts, constructs));
    found
}

/// Threads of the largest team of each region.
fn teams(facts: &Facts<'_>) -> BTreeMap<RegionId, u32> {
    let mut teams = BTreeMap::new();
    for row in &facts.profile.segments {
        let team: &mut u32 = teams.entry(row.region).or_default();
        *team = (*team).max(row.team_max);
    }
    teams
}

/// The regions inside others in which most threads had no processor.
fn nested(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Option<Finding> {
    let profile = facts.profile;
    let teams = teams(facts);
    let together = |region: RegionId| {
        let (mut threads, mut at) = (1.0, Some(region));
        while let Some(id) = at {
            threads *= f64::from(teams.get(&id).copied().unwrap_or(1).max(1));
            at = profile.regions[id].parent;
        }
        threads
    };
    let inner = profile.regions.iter().enumerate().filter(|(id, region)| {
        region.parent.is_some() && teams.get(&RegionId::from_index(*id)).is_some_and(|&team| team > 1)
    });
    let lost_in = |region: RegionId| -> Ns {
        let rows = facts.ledger.spent.iter().filter(|row| row.account == Account::Oversubscribed);
        rows.filter(|row| constructs.is_in(row.context, facts, region)).map(|row| Ns::of(row.ns)).sum()
    };
    let (region, lost) = inner
        .map(|(id, _)| (RegionId::from_index(id), lost_in(RegionId::from_index(id))))
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let threads = together(region);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::CROWD_THREADS, threads / facts.available.max(1.0))
        || !checks.holds(&limits::CROWD_SHARE, lost / facts.total.max(Ns::SHORTEST))
    {
        return None;
    }
    let context = profile.regions[region].context;
    let place = facts.places.place(context);
    let members = profile.segments.iter().filter(|row| row.region == region).map(|row| row.location);
    let members = members.collect::<std::collections::BTreeSet<LocationId>>().len();
    let mut finding =
        facts.finding(Kind::OmpNestedTeams, Account::Oversubscribed, lost, Ns::ZERO, place.clone());
    finding.victims = vec![Victim { place, threads: members, lost }];
    finding.evidence = vec![
        Figure::count(FigureId::ThreadsOfInnerTeam, f64::from(teams.get(&region).copied().unwrap_or(0))),
        Figure::count(FigureId::ThreadsOfTeams, threads),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
        Figure::time(FigureId::RunnableInInnerRegion, lost),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

/// Barriers of work-sharing that one thread reached outside of any region, in processes that do have teams.
fn of_one(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let profile = facts.profile;
    let has_team =
        |process: ProcessId| constructs.all.iter().any(|one| one.process == process && one.team() > 1);
    type Key = (ProcessId, (Option<FunctionId>, Option<u32>));
    let mut by_place: BTreeMap<Key, Ends> = BTreeMap::new();
    let is_barrier = |kind: OperationKind| matches!(kind.detail, Detail::TeamBarrier | Detail::BarrierOfOne);
    let all = facts.operations.any(is_barrier).then(|| profile.events.iter());
    for event in all.into_iter().flatten() {
        let process = profile.locations[event.location].process;
        if facts.operation(event.operation).is_some_and(is_barrier)
            && !constructs.is_in_region(event.context)
            && has_team(process)
        {
            let key = (process, facts.places.line_key(event.context));
            let ends = by_place.entry(key).or_insert_with(|| Ends {
                context: event.context,
                location: event.location,
                times: 0,
                known_ns: Vec::new(),
            });
            ends.times += u64::from(event.calls);
            if event.calls == 1 {
                ends.known_ns.push(event.begin_ns);
            }
        }
    }
    by_place.into_values().filter_map(|ends| team_of_one(facts, constructs, &ends)).collect()
}

/// Regions that always had a team of one, inside of no other team, in processes that do have teams.
fn regions_of_one(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let teams = teams(facts);
    let is_inside = |region: RegionId| {
        let outer = |&id: &RegionId| facts.profile.regions[id].parent;
        std::iter::successors(outer(&region), outer).any(|id| teams.get(&id).is_some_and(|&team| team > 1))
    };
    let ends = constructs.of_kind(Detail::RegionEnd).filter(|one| {
        let has_teams = constructs.all.iter().any(|other| other.process == one.process && other.team() > 1);
        one.team() == 1 && has_teams && !one.regions().into_iter().any(is_inside)
    });
    ends.filter_map(|end| region_of_one(facts, constructs, end)).collect()
}

fn region_of_one(facts: &Facts<'_>, constructs: &Constructs<'_>, end: &Construct<'_>) -> Option<Finding> {
    let regions = end.regions();
    let rows = facts.ledger.spent.iter().filter(|row| {
        row.account == Account::Compute
            && facts.profile.locations[row.location].process == end.process
            && regions.iter().any(|&region| constructs.is_in(row.context, facts, region))
    });
    let used: Ns = rows.map(|row| Ns::of(row.ns)).sum();
    let lost = used * (facts.available - 1.0).max(0.0);
    let times = end.executions();
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, Ns::ZERO) {
        return None;
    }
    let mut finding = facts.finding(Kind::OmpTeamOfOne, Account::Serial, lost, Ns::ZERO, place(facts, end));
    finding.error = constructs.error(facts, &regions);
    finding.evidence = vec![
        Figure::count(FigureId::RegionExecutions, times as f64),
        Figure::time(FigureId::CpuInRegion, used),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    // A condition keeps regions of little work to one thread, since a team would cost more than it gives.
    let each = used / times.max(1) as f64;
    let is_worth_a_team = limits::ALONE_WORK_S.holds(each) && checks.holds(&limits::ALONE_WORK_S, each);
    finding.sure = if is_worth_a_team { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// How often the end of a loop was reached, and when, as far as that is known of each time.
struct Ends {
    context: ContextId,
    location: LocationId,
    times: u64,
    known_ns: Vec<u64>,
}

impl Ends {
    /// CPU time before each end in such contexts, by context. Where not all ends are known: at any time.
    fn used(&self, facts: &Facts<'_>, is_near: impl Fn(ContextId) -> bool) -> BTreeMap<ContextId, Ns> {
        let mut used: BTreeMap<ContextId, Ns> = BTreeMap::new();
        if self.known_ns.len() as u64 != self.times {
            let rows = facts.ledger.spent.iter();
            let rows = rows.filter(|row| row.location == self.location && row.account == Account::Compute);
            for row in rows.filter(|row| is_near(row.context)) {
                *used.entry(row.context).or_default() += Ns::of(row.ns);
            }
            return used;
        }
        let mut samples = facts.profile.samples.of(self.location).peekable();
        // The last ones without another one between them.
        let mut near: Vec<(ContextId, u64)> = Vec::new();
        for &end_ns in &self.known_ns {
            near.clear();
            while let Some(row) = samples.next_if(|row| row.time_ns <= end_ns) {
                if is_near(row.context) {
                    near.push((row.context, row.cpu_ns.saturating_sub(row.measurement_ns)));
                } else {
                    near.clear();
                }
            }
            for &(context, cpu_ns) in near.iter().rev() {
                *used.entry(context).or_default() += Ns::of(cpu_ns);
            }
        }
        used
    }
}

/// Lines of the source before and after the end of a loop that are taken for the loop.
const LOOP_LINES: u32 = 25;

/// The function that holds such a construct was executed by one thread alone; its processor time could have
/// been divided.
fn team_of_one(facts: &Facts<'_>, constructs: &Constructs<'_>, ends: &Ends) -> Option<Finding> {
    let Ends { context, location, times, .. } = *ends;
    // Of the function that holds the loop what is near it: the rest of the function is no part of the loop.
    let places = &facts.places;
    let line = places.place(context).line.filter(|_| !places.is_declared_only(context));
    let frame = places.own(context);
    // Where no line is known it is all of the function, but never all that a thread does.
    if line.is_none() && places.is_start(frame) {
        return None;
    }
    let is_near = |id: ContextId| {
        let is_there = match line {
            Some(line) => places.line_in(id, frame).is_some_and(|at| at.abs_diff(line) <= LOOP_LINES),
            None => places.is_below(id, frame),
        };
        is_there && !constructs.is_in_region(id)
    };
    let used = ends.used(facts, is_near);
    let used_time = used.values().sum::<Ns>();
    let lost = used_time * (facts.available - 1.0).max(0.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::ALONE_TIMES, times as f64) || !facts.matters(&mut checks, lost, Ns::ZERO) {
        return None;
    }
    let process = facts.profile.locations[location].process;
    let place = facts.in_process(facts.places.place(context), process);
    let mut finding = facts.finding(Kind::OmpTeamOfOne, Account::Serial, lost, Ns::ZERO, place);
    finding.error = facts.error(used.keys().copied());
    finding.evidence = vec![
        Figure::count(FigureId::EndsOutside, times as f64),
        Figure::time(FigureId::CpuOfLinesNear, used_time),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
