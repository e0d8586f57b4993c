//! The critical path of a run: the chain of work that nothing but itself kept waiting, from the begin of MPI
//! to its end.
//!
//! It is followed backwards from the last rank's end. Where that one's last wait before ended, the path goes
//! on in the location that it waited for; waits are not on it. So its parts follow one another without a gap,
//! and its length is the time from the first rank's begin of MPI to the last one's end (Scalasca: Böhme et
//! al., ICPP 2012; [`PathSum`] and [`Impact`] as there).
//!
//! What a location did on its parts of the path is `super::spending`.

use proust_profile::{EventRow, LocationId, Nature, PartnerWaitRow, Profile};
use rustc_hash::FxHashMap as Map;

pub use super::spending::{Activity, Step};
use super::spending::{Amount, Spending, outside_of_waits, waits_of};

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
    /// What ranks did meanwhile.
    pub impact: Impact,
}

impl CriticalPath {
    /// That of the whole run; None where no two processes of one job used MPI.
    pub fn of(profile: &Profile) -> Option<CriticalPath> {
        let ideal = profile.quality.messages.as_ref()?.ideal.as_ref()?;
        let ranks = ranks(profile);
        let steps = steps(&profile.partner_waits, &ranks)?;
        let length_ns = steps.iter().map(|step| step.end_ns - step.begin_ns).sum();
        let mut path = CriticalPath {
            length_ns,
            ranks: ranks.len(),
            is_complete: ideal.ideal_ns.is_some(),
            ..CriticalPath::default()
        };
        let spending = Spending::of(profile);
        let mut on_path: Map<Activity, Amount> = Map::default();
        let mut by_location: Map<LocationId, Vec<Step>> = Map::default();
        steps.iter().for_each(|step| by_location.entry(step.location).or_default().push(*step));
        for (&location, of_one) in &by_location {
            path.by_location.push((location, of_one.iter().map(|step| step.end_ns - step.begin_ns).sum()));
            for (activity, amount) in spending.of_steps(of_one) {
                let sum = on_path.entry(activity).or_default();
                (sum.ns, sum.variance) = (sum.ns + amount.ns, sum.variance + amount.variance);
            }
        }
        path.by_location.sort_unstable_by_key(|&(location, ns)| (u64::MAX - ns, location));
        let of_ranks: Vec<Map<Activity, Amount>> = ranks
            .iter()
            .map(|rank| spending.of_steps(&outside_of_waits(&profile.partner_waits, rank)))
            .collect();
        path.compare(on_path, &of_ranks);
        path.steps = steps;
        Some(path)
    }

    /// What the path did with what each rank did.
    fn compare(&mut self, on_path: Map<Activity, Amount>, of_ranks: &[Map<Activity, Amount>]) {
        let ranks = of_ranks.len() as f64;
        let spent = |rank: &Map<Activity, Amount>, activity: &Activity| {
            rank.get(activity).map_or(0.0, |amount| amount.ns)
        };
        let mut costs: Map<Activity, f64> = Map::default();
        for rank in of_ranks {
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
            let mean_ns = of_ranks.iter().map(|rank| spent(rank, &activity)).sum::<f64>() / ranks;
            PathSum {
                activity,
                on_path_ns: amount.ns,
                error_ns: amount.variance.sqrt(),
                mean_ns,
                imbalance_ns: (amount.ns - mean_ns).max(0.0),
                cost_ns: costs.get(&activity).copied().unwrap_or(0.0),
            }
        };
        self.activities = on_path.into_iter().map(sum).collect();
        self.activities
            .sort_by(|a, b| b.on_path_ns.total_cmp(&a.on_path_ns).then(a.activity.cmp(&b.activity)));
    }
}

/// When the locations that begin MPI were in it: from the end of its begin to the begin of its end.
fn ranks(profile: &Profile) -> Vec<Step> {
    let mut ranks: Vec<Step> = Vec::new();
    for location in profile.events.locations() {
        let kind = |event: &EventRow| profile.operations.get(event.operation).and_then(|info| info.kind);
        let is_of_mpi = |event: &EventRow| kind(event).is_some_and(|kind| kind.is_of_mpi());
        let is_runtime = |event: &EventRow| kind(event).is_some_and(|kind| kind.nature == Nature::Runtime);
        let is_limit = |event: &EventRow| is_of_mpi(event) && is_runtime(event);
        let mut forward = profile.events.of(location);
        let Some(first) = forward.find(is_limit) else { continue };
        let behind = forward.count();
        let mut backward = profile.events.of_backward(location).take(behind);
        let last = backward.find(is_limit).map(|last| last.begin_ns);
        let last_of_mpi = || profile.events.of_backward(location).find(is_of_mpi);
        let end_ns = last.or_else(|| Some(last_of_mpi()?.end_ns)).unwrap_or(first.end_ns);
        let begin_ns = first.end_ns;
        ranks.push(Step { location, begin_ns, end_ns: end_ns.max(begin_ns) });
    }
    ranks
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

#[cfg(test)]
mod tests {
    use proust_profile::{
        Context, ContextId, ContextKind, IdealNetwork, MessageQuality, OperationId, OperationInfo,
        OperationKind, SampleRow, WaitPattern,
    };

    use super::*;

    const INIT: u32 = 0;
    const RECEIVE: u32 = 1;

    fn event(location: u32, operation: u32, begin_ns: u64, end_ns: u64) -> EventRow {
        EventRow {
            location: LocationId(location),
            operation: OperationId(operation),
            context: ContextId(1),
            begin_ns,
            end_ns,
            time_ns: end_ns - begin_ns,
            calls: 1,
            ..EventRow::default()
        }
    }

    fn wait(location: u32, begin_ns: u64, until_ns: u64, late: u32) -> PartnerWaitRow {
        PartnerWaitRow {
            location: LocationId(location),
            context: ContextId(1),
            operation: OperationId(RECEIVE),
            begin_ns,
            until_ns,
            pattern: WaitPattern::LateSender,
            late: LocationId(late),
            late_context: ContextId(1),
            misordered_ns: 0,
            bytes: 0,
        }
    }

    /// Every 10 ns of a time, in a context.
    fn samples(location: u32, context: u32, (from_ns, to_ns): (u64, u64)) -> Vec<SampleRow> {
        let row = |n: u64| SampleRow {
            location: LocationId(location),
            context: ContextId(context),
            time_ns: 10 * n,
            cpu_ns: 10,
            ..SampleRow::default()
        };
        (from_ns / 10 + 1..=to_ns / 10).map(row).collect()
    }

    fn profile(
        events: Vec<EventRow>,
        samples: Vec<SampleRow>,
        partner_waits: Vec<PartnerWaitRow>,
    ) -> Profile {
        use proust_profile::{Detail, Family};
        let kind = |nature| Some(OperationKind { nature, family: Family::Mpi, detail: Detail::Plain });
        let info = |kind| OperationInfo { name: String::new(), kind };
        let context = |kind| Context { parent: None, kind, function: None, file: None, line: None };
        let mut profile = Profile {
            operations: vec![info(kind(Nature::Runtime)), info(kind(Nature::Message))].into(),
            contexts: vec![
                context(ContextKind::Program),
                context(ContextKind::Frame),
                context(ContextKind::Frame),
                context(ContextKind::Frame),
            ]
            .into(),
            events: events.into(),
            samples: samples.into(),
            partner_waits,
            ..Profile::default()
        };
        let ideal = Some(IdealNetwork { time_ns: 0, ideal_ns: Some(1), outside: Vec::new() });
        profile.quality.messages = Some(MessageQuality { ideal, ..MessageQuality::default() });
        profile
    }

    fn assert_sums(path: &CriticalPath) {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}: {path:#?}");
        assert!(path.steps.windows(2).all(|pair| pair[0].end_ns == pair[1].begin_ns));
        let ends = path.steps.last().unwrap().end_ns - path.steps[0].begin_ns;
        assert_eq!(path.length_ns, ends);
        assert_eq!(path.by_location.iter().map(|(_, ns)| ns).sum::<u64>(), ends);
        near(path.activities.iter().map(|sum| sum.on_path_ns).sum(), ends as f64);
        let Impact { activity_ns, imbalance_ns, apart_ns, off_path_ns } = path.impact;
        near(activity_ns + imbalance_ns + apart_ns + off_path_ns, path.ranks as f64 * ends as f64);
        near(path.activities.iter().map(|sum| sum.cost_ns).sum(), imbalance_ns + apart_ns);
        assert!(off_path_ns > -1e-6);
    }

    /// A pipeline of three: each computes 100 when it has what the one before it sent.
    #[test]
    fn a_pipeline_is_all_of_its_ranks_one_after_the_other() {
        let events = vec![
            event(0, INIT, 0, 10),
            event(0, RECEIVE, 110, 111),
            event(0, INIT, 320, 330),
            event(1, INIT, 0, 10),
            event(1, RECEIVE, 10, 120),
            event(1, RECEIVE, 220, 221),
            event(1, INIT, 320, 330),
            event(2, INIT, 0, 10),
            event(2, RECEIVE, 10, 230),
            event(2, INIT, 330, 340),
        ];
        let rows = [(0, 2, (10, 110)), (1, 2, (120, 220)), (2, 3, (230, 330))];
        let rows = rows.into_iter().flat_map(|(location, context, time)| samples(location, context, time));
        let waits = vec![wait(1, 10, 110, 0), wait(2, 10, 220, 1)];
        let path = CriticalPath::of(&profile(events, rows.collect(), waits)).expect("a path");
        assert_sums(&path);
        let steps: Vec<(u32, u64, u64)> =
            path.steps.iter().map(|step| (step.location.0, step.begin_ns, step.end_ns)).collect();
        assert_eq!(steps, [(0, 10, 110), (1, 110, 220), (2, 220, 330)]);
        // Function 2 is on the path in two ranks, and each of these spends half as long in it.
        let of = |context: u32, operation: Option<OperationId>| {
            let is_it = |sum: &&PathSum| sum.activity == (ContextId(context), operation);
            path.activities.iter().find(is_it).copied().unwrap()
        };
        let (two, three, receiving) = (of(2, None), of(3, None), of(1, Some(OperationId(RECEIVE))));
        assert_eq!((two.on_path_ns, three.on_path_ns, receiving.on_path_ns), (200.0, 100.0, 20.0));
        // Of 310 ns after what was recorded rank 0 computes 309 somewhere, by samples in function 2.
        assert!((two.mean_ns - (309.0 + 199.0) / 3.0).abs() < 1.0, "{two:?}");
        assert!((three.imbalance_ns - 200.0 / 3.0).abs() < 1e-6, "{three:?}");
        assert!(path.impact.apart_ns > 0.0);
    }

    /// One rank computes twice as long as the other before they meet.
    #[test]
    fn a_late_rank_is_the_path_and_its_imbalance_is_what_evening_out_would_save() {
        let events = vec![
            event(0, INIT, 0, 10),
            event(0, RECEIVE, 210, 220),
            event(0, INIT, 220, 230),
            event(1, INIT, 0, 10),
            event(1, RECEIVE, 110, 220),
            event(1, INIT, 220, 230),
        ];
        let rows = samples(0, 2, (10, 210)).into_iter().chain(samples(1, 2, (10, 110))).collect();
        let path = CriticalPath::of(&profile(events, rows, vec![wait(1, 110, 210, 0)])).expect("a path");
        assert_sums(&path);
        assert_eq!(path.length_ns, 210);
        assert_eq!(path.by_location[0], (LocationId(0), 200));
        let computing = path.activities[0];
        assert_eq!((computing.on_path_ns, computing.mean_ns, computing.imbalance_ns), (200.0, 150.0, 50.0));
        // All that rank 1 waited is lost for it.
        assert_eq!((computing.cost_ns, path.impact.imbalance_ns, path.impact.apart_ns), (100.0, 100.0, 0.0));
        assert_eq!(path.impact.activity_ns, 320.0);
    }

    #[test]
    fn clocks_that_contradict_each_other_do_not_hang_it() {
        let events = vec![
            event(0, INIT, 0, 10),
            event(0, RECEIVE, 20, 60),
            event(1, INIT, 0, 10),
            event(1, RECEIVE, 20, 60),
        ];
        let waits = vec![wait(0, 20, 50, 1), wait(1, 20, 50, 0)];
        let path = CriticalPath::of(&profile(events, Vec::new(), waits)).expect("a path");
        assert_sums(&path);
        assert_eq!(path.length_ns, 50);
    }

    #[test]
    fn without_ranks_there_is_none() {
        assert_eq!(CriticalPath::of(&profile(Vec::new(), Vec::new(), Vec::new())), None);
        assert_eq!(CriticalPath::of(&Profile::default()), None);
    }
}
