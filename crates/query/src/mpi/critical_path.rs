//! The critical path of a run: the chain of work that nothing but itself kept waiting, from the begin of MPI
//! to its end.
//!
//! It is followed backwards from the last rank's end. Where that one's last wait before ended, the path goes
//! on in the location that it waited for; waits are not on it. So its parts follow one another without a gap,
//! and its length is the time from the first rank's begin of MPI to the last one's end (Scalasca: Böhme et
//! al., ICPP 2012; [`PathSum`] and [`Impact`] as there).
//!
//! What a location did on its parts of the path is `super::spending`.

use proust_profile::mpi_metrics::waits_of;
use proust_profile::{ContextId, EventRow, LocationId, Nature, PartnerWaitRow, Profile};
use rayon::prelude::*;
use rustc_hash::FxHashMap as Map;

pub use super::spending::{Activities, Activity, Step};
use super::spending::{Amount, Spending, outside_of_waits};

#[cfg(test)]
mod tests;

/// An activity on the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSum {
    /// Which.
    pub activity: Activity,
    /// Its time on the path, ns.
    pub on_path_ns: f64,
    /// One standard error of that, ns.
    pub error_ns: f64,
    /// The mean of what ranks spent in it, ns.
    pub mean_ns: f64,
    /// By how much the path is longer than it would be if all ranks had spent the mean, ns.
    pub imbalance_ns: f64,
    /// Time of all ranks lost for that, ns.
    pub cost_ns: f64,
    /// Of its time on the path, that in operations or on a processor, ns.
    pub active_ns: f64,
    /// Parts of the path in which it was seen. One ends where the path goes on in another location, and where
    /// a wait for this one ends.
    pub parts: u32,
    /// The rank that spent most in it, and how long, ns.
    pub most: (LocationId, f64),
    /// The mean of what the other ranks spent in it, ns.
    pub others_ns: f64,
    /// Time of ranks in the end of MPI while it was on the path, ns: they had nothing else left to do, and
    /// nothing of it counts where it was neither an operation nor on a processor.
    pub at_end_ns: f64,
}

/// What a rank waits at its end of MPI for the last one to come there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndWait {
    /// The rank.
    pub location: LocationId,
    /// Where it ends MPI.
    pub context: ContextId,
    /// From when, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// Until when.
    pub until_ns: u64,
}

/// The time of all ranks, `ranks × length`, by what it was used for; the sum of the four.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impact {
    /// Activities on the path, as far as ranks spent no longer in them than the path did, ns.
    pub activity_ns: f64,
    /// Lost since activities took longer on the path than in ranks that execute them, too, ns.
    pub imbalance_ns: f64,
    /// Lost since ranks never execute what the path does, ns.
    pub apart_ns: f64,
    /// All else that ranks did, ns.
    pub off_path_ns: f64,
}

/// The path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// Its parts, in the order of time.
    pub steps: Vec<Step>,
    /// Its length, ns: the sum of its parts.
    pub length_ns: u64,
    /// Ranks that it may lead through.
    pub ranks: usize,
    /// Whether all messages and collectives are matched; without that, waits are missing that would lead the
    /// path elsewhere.
    pub is_complete: bool,
    /// By location, longest first.
    pub by_location: Vec<(LocationId, u64)>,
    /// By activity, longest first; the sum is the length.
    pub activities: Vec<PathSum>,
    /// Waits at the end of MPI, by location; they are on the runtime's account. None where the ranks do not
    /// all end it, or not together.
    pub end_waits: Vec<EndWait>,
    /// What ranks did meanwhile.
    pub impact: Impact,
}

impl CriticalPath {
    /// That of the whole run; None where no two processes of one job used MPI.
    pub fn of(profile: &Profile) -> Option<CriticalPath> {
        CriticalPath::of_activities(profile, &Activities::functions(profile))
    }

    /// The same by other activities.
    pub fn of_activities(profile: &Profile, activities: &Activities) -> Option<CriticalPath> {
        let ideal = profile.quality.messages.as_ref()?.ideal.as_ref()?;
        let ranks = ranks(profile);
        let times: Vec<Step> = ranks.iter().map(|rank| rank.time).collect();
        let steps = steps(&profile.partner_waits, &times)?;
        let length_ns = steps.iter().map(|step| step.end_ns - step.begin_ns).sum();
        let mut path = CriticalPath {
            length_ns,
            ranks: ranks.len(),
            is_complete: ideal.ideal_ns.is_some(),
            ..CriticalPath::default()
        };
        let spending = Spending::of(profile, activities);
        let by_location = by_location(&steps, &profile.partner_waits);
        let of_one = |(_, steps): &(LocationId, Vec<Step>)| spending.of_steps(steps);
        let parts: Vec<Map<Activity, Amount>> = by_location.par_iter().map(of_one).collect();
        let mut on_path: Map<Activity, Amount> = Map::default();
        for (activity, amount) in parts.into_iter().flatten() {
            on_path.entry(activity).or_default().add(&amount);
        }
        let length = |steps: &[Step]| steps.iter().map(|step| step.end_ns - step.begin_ns).sum();
        path.by_location = by_location.iter().map(|(location, steps)| (*location, length(steps))).collect();
        path.by_location.sort_unstable_by_key(|&(location, ns)| (u64::MAX - ns, location));
        let of_ranks: Vec<(LocationId, Map<Activity, Amount>)> = ranks
            .par_iter()
            .map(|rank| {
                let outside = outside_of_waits(&profile.partner_waits, &rank.time);
                (rank.time.location, spending.of_steps(&outside))
            })
            .collect();
        path.compare(on_path, &of_ranks);
        if is_one_world(profile, ranks.len()) {
            path.end(&spending, &steps, &ranks);
        }
        path.steps = steps;
        Some(path)
    }

    /// The waits at the end of MPI, and what the path did meanwhile.
    fn end(&mut self, spending: &Spending<'_>, steps: &[Step], ranks: &[Rank]) {
        let Some(last_ns) = ranks.iter().map(|rank| rank.time.end_ns).max() else { return };
        let Some(ends) = ranks.iter().map(|rank| rank.ends).collect::<Option<Vec<End>>>() else { return };
        let wait = |(rank, end): (&Rank, &End)| {
            let (begin_ns, until_ns) = (rank.time.end_ns, last_ns.min(end.until_ns));
            EndWait { location: rank.time.location, context: end.context, begin_ns, until_ns }
        };
        let waits = ranks.iter().zip(&ends).map(wait);
        self.end_waits = waits.filter(|wait| wait.until_ns > wait.begin_ns).collect();
        // Instants at which a rank begins or ceases to wait.
        let changes = self.end_waits.iter().flat_map(|wait| [(wait.begin_ns, 1), (wait.until_ns, -1)]);
        let mut changes: Vec<(u64, i64)> = changes.collect();
        changes.sort_unstable();
        let mut waiting = 0;
        let mut at_end: Map<Activity, f64> = Map::default();
        for pair in changes.windows(2) {
            waiting += pair[0].1;
            let (begin_ns, end_ns) = (pair[0].0, pair[1].0);
            if waiting == 0 || begin_ns == end_ns {
                continue;
            }
            let first = steps.partition_point(|step| step.end_ns <= begin_ns);
            for step in steps[first..].iter().take_while(|step| step.begin_ns < end_ns) {
                let (begin_ns, end_ns) = (step.begin_ns.max(begin_ns), step.end_ns.min(end_ns));
                for (activity, amount) in spending.of_steps(&[Step { begin_ns, end_ns, ..*step }]) {
                    *at_end.entry(activity).or_default() += waiting as f64 * amount.active_ns;
                }
            }
        }
        for sum in &mut self.activities {
            sum.at_end_ns = at_end.get(&sum.activity).copied().unwrap_or(0.0);
        }
    }

    /// What the path did with what each rank did.
    fn compare(&mut self, on_path: Map<Activity, Amount>, of_ranks: &[(LocationId, Map<Activity, Amount>)]) {
        let ranks = of_ranks.len() as f64;
        let spent = |rank: &Map<Activity, Amount>, activity: &Activity| {
            rank.get(activity).map_or(0.0, |amount| amount.ns)
        };
        let mut costs: Map<Activity, f64> = Map::default();
        for (_, rank) in of_ranks {
            let excess = |(activity, amount): (&Activity, &Amount)| {
                (*activity, (amount.ns - spent(rank, activity)).max(0.0))
            };
            let excess: Vec<(Activity, f64)> = on_path.iter().map(excess).collect();
            let (all_ns, own_ns): (f64, f64) =
                (excess.iter().map(|(_, ns)| ns).sum(), rank.values().map(|amount| amount.ns).sum());
            let waited_ns = (self.length_ns as f64 - own_ns).max(0.0);
            for (activity, ns) in excess.into_iter().filter(|(_, ns)| *ns > 0.0) {
                let cost_ns = ns * waited_ns / all_ns;
                *costs.entry(activity).or_default() += cost_ns;
                match rank.contains_key(&activity) {
                    true => self.impact.imbalance_ns += cost_ns,
                    false => self.impact.apart_ns += cost_ns,
                }
            }
            let within = |(activity, amount): (&Activity, &Amount)| amount.ns.min(spent(rank, activity));
            self.impact.activity_ns += on_path.iter().map(within).sum::<f64>();
        }
        let Impact { activity_ns, imbalance_ns, apart_ns, .. } = self.impact;
        self.impact.off_path_ns = ranks * self.length_ns as f64 - activity_ns - imbalance_ns - apart_ns;
        let sum = |(activity, amount): (Activity, Amount)| {
            let of_each = || of_ranks.iter().map(|(location, rank)| (*location, spent(rank, &activity)));
            let all_ns = of_each().map(|(_, ns)| ns).sum::<f64>();
            let mean_ns = all_ns / ranks;
            let most = of_each().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).unwrap_or_default();
            PathSum {
                activity,
                on_path_ns: amount.ns,
                error_ns: amount.variance.sqrt(),
                mean_ns,
                imbalance_ns: (amount.ns - mean_ns).max(0.0),
                cost_ns: costs.get(&activity).copied().unwrap_or(0.0),
                active_ns: amount.active_ns,
                parts: amount.parts,
                most,
                others_ns: (all_ns - most.1) / (ranks - 1.0).max(1.0),
                at_end_ns: 0.0,
            }
        };
        self.activities = on_path.into_iter().map(sum).collect();
        self.activities
            .sort_by(|a, b| b.on_path_ns.total_cmp(&a.on_path_ns).then(a.activity.cmp(&b.activity)));
    }
}

/// A location that begins MPI.
#[derive(Clone, Copy, Debug)]
struct Rank {
    /// From the end of its begin to the begin of its end.
    time: Step,
    /// Where and until when it ends MPI, if it does.
    ends: Option<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    context: ContextId,
    until_ns: u64,
}

fn ranks(profile: &Profile) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for location in profile.events.locations() {
        let kind = |event: &EventRow| profile.operations.get(event.operation).and_then(|info| info.kind);
        let is_of_mpi = |event: &EventRow| kind(event).is_some_and(|kind| kind.is_of_mpi());
        let is_runtime = |event: &EventRow| kind(event).is_some_and(|kind| kind.nature == Nature::Runtime);
        let is_limit = |event: &EventRow| is_of_mpi(event) && is_runtime(event);
        let Some(first) = profile.events.of(location).find(is_limit) else { continue };
        let is_last = |event: &EventRow| event.begin_ns >= first.end_ns && is_limit(event);
        let last = profile.events.of_backward(location).find(is_last);
        let last_of_mpi = || profile.events.of_backward(location).find(is_of_mpi);
        let end_ns = last.map(|last| last.begin_ns).or_else(|| Some(last_of_mpi()?.end_ns));
        let begin_ns = first.end_ns;
        let time = Step { location, begin_ns, end_ns: end_ns.unwrap_or(begin_ns).max(begin_ns) };
        ranks
            .push(Rank { time, ends: last.map(|last| End { context: last.context, until_ns: last.end_ns }) });
    }
    ranks
}

/// Whether so many ranks are one job's: those of several do not wait for each other.
fn is_one_world(profile: &Profile, ranks: usize) -> bool {
    let mut worlds = profile.communicators.iter().filter(|one| one.is_world);
    worlds.next().is_some_and(|one| one.size as usize == ranks) && worlds.next().is_none()
}

/// The steps of each location, divided where waits for it end.
fn by_location(steps: &[Step], waits: &[PartnerWaitRow]) -> Vec<(LocationId, Vec<Step>)> {
    let mut ends_ns: Map<LocationId, Vec<u64>> = Map::default();
    for wait in waits {
        let at = steps.partition_point(|step| step.end_ns <= wait.until_ns);
        if steps.get(at).is_some_and(|step| step.location == wait.late && step.begin_ns < wait.until_ns) {
            ends_ns.entry(wait.late).or_default().push(wait.until_ns);
        }
    }
    for ends_ns in ends_ns.values_mut() {
        ends_ns.sort_unstable();
        ends_ns.dedup();
    }
    let mut parts: Map<LocationId, Vec<Step>> = Map::default();
    for step in steps {
        let parts = parts.entry(step.location).or_default();
        let ends_ns = ends_ns.get(&step.location).map_or(&[][..], Vec::as_slice);
        let first = ends_ns.partition_point(|&end_ns| end_ns <= step.begin_ns);
        let within = ends_ns[first..].iter().copied().take_while(|&end_ns| end_ns < step.end_ns);
        let mut begin_ns = step.begin_ns;
        for end_ns in within.chain([step.end_ns]) {
            parts.push(Step { begin_ns, end_ns, ..*step });
            begin_ns = end_ns;
        }
    }
    let mut parts: Vec<(LocationId, Vec<Step>)> = parts.into_iter().collect();
    parts.sort_unstable_by_key(|&(location, _)| location);
    parts
}

fn steps(waits: &[PartnerWaitRow], ranks: &[Step]) -> Option<Vec<Step>> {
    let first_ns = ranks.iter().map(|rank| rank.begin_ns).min()?;
    let last = ranks.iter().max_by_key(|rank| (rank.end_ns, rank.location))?;
    let (mut location, mut end_ns) = (last.location, last.end_ns.max(first_ns));
    let mut steps = Vec::new();
    loop {
        let of_one = waits_of(waits, location);
        // Each step ends before the one behind it, whatever clocks say: the walk has an end.
        let before = of_one.partition_point(|wait| wait.until_ns < end_ns);
        let wait = before.checked_sub(1).map(|at| &of_one[at]).filter(|wait| wait.until_ns > first_ns);
        let begin_ns = wait.map_or(first_ns, |wait| wait.until_ns);
        steps.push(Step { location, begin_ns, end_ns });
        let Some(wait) = wait else { break };
        (location, end_ns) = (wait.late, begin_ns);
    }
    steps.reverse();
    Some(steps)
}
