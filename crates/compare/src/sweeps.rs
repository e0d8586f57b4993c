//! Two sweeps beside each other: the changes of speedup, and of the counts at which places are degraded.
//!
//! This is how a repair for many threads is judged: the speedup curves before and after, and by region its
//! time with each count, the ranks that it lost (they are repaired) and those that it gained (they are new).

use proust_profile::ContextKind;

use crate::degradation::{Assessment, Definition, Degradation};
use crate::joint::Label;
use crate::scaling::Ensemble;
use crate::scaling::Timing;
use crate::{Joint, JointId};
use proust_statistics::{Change, Matters, Observation};

/// Two sweeps, laid over each other.
#[derive(Debug)]
pub struct TwoSweeps<'s> {
    a: &'s Ensemble<'s>,
    b: &'s Ensemble<'s>,
    joint: Joint<'s>,
    /// By node of the joint tree the node of each sweep's own.
    places: [Vec<Option<JointId>>; 2],
    counts: Vec<u32>,
}

/// A count of threads before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct CountChange {
    /// Threads.
    pub count: u32,
    /// In A; None where it was not run.
    pub a: Option<Timing>,
    /// In B.
    pub b: Option<Timing>,
    /// The change of the time; None where a side was not run, or is not there.
    pub change: Option<Change>,
}

/// A place before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceChange {
    /// The place in the joint tree.
    pub node: JointId,
    /// Its ranks in A; None where A has no such place.
    pub a: Option<Degradation>,
    /// Its ranks in B.
    pub b: Option<Degradation>,
    /// Its time by count.
    pub times: Vec<CountChange>,
    /// Counts at which it is degraded in B and was not in A.
    pub gained: Vec<u32>,
    /// Counts at which it was degraded in A and is not in B.
    pub lost: Vec<u32>,
}

impl<'s> TwoSweeps<'s> {
    /// Lays them over each other.
    pub fn new(a: &'s Ensemble<'s>, b: &'s Ensemble<'s>) -> TwoSweeps<'s> {
        let (of_a, of_b) = (a.joint(), b.joint());
        let joint = Joint::of(of_a.outlines().iter().chain(of_b.outlines()).copied());
        let places = [(of_a, 0), (of_b, of_a.runs())].map(|(own, first)| places(&joint, own, first));
        let mut counts: Vec<u32> = a.counts().iter().chain(b.counts()).copied().collect();
        counts.sort_unstable();
        counts.dedup();
        TwoSweeps { a, b, joint, places, counts }
    }

    /// All counts of both, ascending.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The sweep before.
    pub fn a(&self) -> &'s Ensemble<'s> {
        self.a
    }

    /// The sweep after.
    pub fn b(&self) -> &'s Ensemble<'s> {
        self.b
    }

    /// What a place is called.
    pub fn label(&self, node: JointId) -> Label<'s> {
        self.joint.label(node)
    }

    /// The place around it.
    pub fn parent(&self, node: JointId) -> Option<JointId> {
        self.joint.parent(node)
    }

    /// The wall times of the whole program, by count.
    pub fn program(&self) -> Vec<CountChange> {
        if self.joint.is_empty() { Vec::new() } else { self.times(0) }
    }

    fn times(&self, node: JointId) -> Vec<CountChange> {
        let [a, b] = &self.places;
        let timings = |ensemble: &Ensemble<'_>, place: Option<JointId>| {
            let timings = place.map(|place| ensemble.timings(place)).unwrap_or_default();
            // Places are judged without the cost of measuring; the program's wall time is what it was.
            if node == 0 { timings } else { timings.iter().map(Timing::corrected).collect() }
        };
        let (of_a, of_b) = (timings(self.a, a[node as usize]), timings(self.b, b[node as usize]));
        let program = (of_a.iter().chain(&of_b)).map(Timing::typical).max().unwrap_or_default();
        let matters = Matters::of_total(program.as_seconds());
        let at = |timings: &[Timing], count| timings.iter().find(|timing| timing.count == count).cloned();
        (self.counts.iter())
            .map(|&count| {
                let (a, b) = (at(&of_a, count), at(&of_b, count));
                let change =
                    a.as_ref().zip(b.as_ref()).map(|(a, b)| Change::of(&observed(a), &observed(b), &matters));
                CountChange { count, a, b, change }
            })
            .collect()
    }

    /// All places but lines, by these definitions of degradation: those whose ranks differ first, and of them
    /// those that take most time.
    pub fn places(&self, a: Definition, b: Definition) -> Vec<PlaceChange> {
        let (of_a, of_b) = (Assessment::of(self.a, a), Assessment::of(self.b, b));
        let [in_a, in_b] = &self.places;
        let mut found: Vec<PlaceChange> = (0..self.joint.len() as JointId)
            .filter(|&node| !matches!(self.label(node).kind, ContextKind::Line | ContextKind::Loop))
            .map(|node| {
                let judged = |assessment: &Assessment, place: Option<JointId>| {
                    place.map(|place| assessment.places[place as usize].clone())
                };
                let (a, b) = (judged(&of_a, in_a[node as usize]), judged(&of_b, in_b[node as usize]));
                let (gained, lost) = gained_and_lost(a.as_ref(), b.as_ref());
                PlaceChange { node, times: self.times(node), a, b, gained, lost }
            })
            .collect();
        let most = |place: &PlaceChange| {
            let times = place.times.iter().flat_map(|time| [&time.a, &time.b]).flatten();
            times.map(Timing::typical).max().unwrap_or_default()
        };
        let differs = |place: &PlaceChange| !place.gained.is_empty() || !place.lost.is_empty();
        found.retain(|place| most(place).is_positive());
        found.sort_by(|x, y| differs(y).cmp(&differs(x)).then_with(|| most(y).cmp(&most(x))));
        found
    }
}

/// Repetitions as observations; that threads stood in the run queue may have made each longer by as much.
fn observed(timing: &Timing) -> Vec<Observation> {
    let observed = timing.times.iter().enumerate().map(|(n, &time)| {
        let queued = timing.queued.get(n).copied().unwrap_or_default();
        Observation {
            value: time.as_seconds(),
            error: timing.error.as_seconds(),
            disturbed: queued.min(time).as_seconds(),
        }
    });
    observed.collect()
}

/// Ranks that only B has, and ranks that only A has. A place that a side does not have has no ranks there.
pub fn gained_and_lost(a: Option<&Degradation>, b: Option<&Degradation>) -> (Vec<u32>, Vec<u32>) {
    let set = |of: Option<&Degradation>| {
        of.map(|of| of.set().into_iter().chain(of.oversubscribed_set()).collect::<Vec<u32>>())
            .unwrap_or_default()
    };
    let (before, after) = (set(a), set(b));
    let only = |of: &[u32], other: &[u32]| {
        let mut only: Vec<u32> = of.iter().copied().filter(|count| !other.contains(count)).collect();
        only.sort_unstable();
        only
    };
    (only(&after, &before), only(&before, &after))
}

/// For each node of the joint tree of both sweeps the node of a sweep's own: that which is the same in one of
/// its runs. `first` is the position of the sweep's first run in the joint tree.
fn places(joint: &Joint<'_>, own: &Joint<'_>, first: usize) -> Vec<Option<JointId>> {
    let mut places = vec![None; joint.len()];
    for run in 0..own.runs() {
        let outline = own.outlines()[run];
        let mut own_of: Vec<Option<JointId>> = vec![None; outline.len()];
        for node in 0..own.len() as JointId {
            if let Some(in_run) = own.node_in(node, run) {
                own_of[in_run as usize] = Some(node);
            }
        }
        for (node, place) in places.iter_mut().enumerate() {
            if let Some(in_run) = joint.node_in(node as JointId, first + run) {
                *place = place.or(own_of[in_run as usize]);
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use proust_profile::{
        Context, ContextId, Function, FunctionId, Location, LocationId, Ns, Process, Profile,
    };

    use super::*;
    use crate::degradation::{Limits, ranks};
    use crate::scaling::Swept;
    use proust_account::ledger::{Account, Ledger, Row};
    use proust_statistics::Verdict;

    /// A run in which each thread computes for so long in each of these functions, which main calls; the
    /// lines of a build begin somewhere.
    fn run(threads: u32, begin: u32, functions: &[(&str, f64)]) -> Swept {
        let wall: Ns = functions.iter().map(|(_, seconds)| Ns::from_seconds(*seconds)).sum();
        let function = |name: &str| Function {
            name: name.into(),
            file: Some("a.c".into()),
            line: Some(begin),
            ..Function::default()
        };
        let context = |parent, kind, function| Context { parent, kind, function, file: None, line: None };
        let mut profile = Profile {
            processes: vec![Process::default()].into(),
            locations: (0..threads).map(|_| Location { end: wall, ..Location::default() }).collect(),
            functions: vec![function("main")].into(),
            contexts: vec![
                context(None, ContextKind::Program, None),
                context(Some(ContextId(0)), ContextKind::Frame, Some(FunctionId(0))),
            ]
            .into(),
            ..Profile::default()
        };
        (profile.facts.wall, profile.facts.available_processors) = (wall, 4);
        let mut ledger = Ledger { processors: threads, wall_ns: wall.unsigned(), ..Ledger::default() };
        for (name, seconds) in functions {
            profile.functions.push(function(name));
            let id = profile.functions.len() as u32 - 1;
            profile.contexts.push(context(Some(ContextId(1)), ContextKind::Frame, Some(FunctionId(id))));
            let context = profile.contexts.len() as u32 - 1;
            ledger.spent.extend((0..threads).map(|location| Row {
                location: LocationId(location),
                account: Account::Compute,
                context: ContextId(context),
                ns: (seconds * 1e9) as u64,
            }));
        }
        Swept::new(threads, "run", &profile, &ledger)
    }

    #[test]
    fn a_repaired_place_loses_its_ranks_and_a_new_fault_gains_some() {
        // With 1, 2 and 4 threads, three times each: before, `solve` becomes slower and `store` faster;
        // after, `solve` scales, and `store` is gone for `pack`, which does not.
        let side = |begin: u32, of: fn(f64) -> Vec<(&'static str, f64)>| -> Vec<Swept> {
            [1, 2, 4]
                .iter()
                .flat_map(|&n| [0.99, 1.0, 1.01].map(|noise| (n, noise)))
                .map(|(n, noise)| {
                    let functions: Vec<_> =
                        of(f64::from(n)).into_iter().map(|(f, s)| (f, s * noise)).collect();
                    run(n, begin, &functions)
                })
                .collect()
        };
        let before = side(10, |n| vec![("solve", 8.0 * n.sqrt()), ("store", 4.0 / n)]);
        let after = side(70, |n| vec![("solve", 8.0 / n), ("pack", 1.0 * n)]);
        let (a, b) = (Ensemble::new(&before), Ensemble::new(&after));
        let sweeps = TwoSweeps::new(&a, &b);
        assert_eq!(sweeps.counts(), [1, 2, 4]);
        let program = sweeps.program();
        let typical = |side: &Option<Timing>| side.as_ref().unwrap().typical();
        assert!((typical(&program[2].a).as_seconds() - 17.0).abs() < 1e-6);
        assert_eq!(program[2].change.unwrap().verdict, Verdict::Less);
        assert_eq!(program[0].change.unwrap().verdict, Verdict::Less);
        let robust = Definition::Robust(Limits::of_program(Ns::from_seconds(17.0)));
        let places = sweeps.places(robust, robust);
        let of = |name: &str| places.iter().find(|place| sweeps.label(place.node).name == name).unwrap();
        let (solve, store, pack) = (of("solve"), of("store"), of("pack"));
        assert_eq!((&solve.gained[..], &solve.lost[..]), (&[][..], &[2, 4][..]));
        assert_eq!((&store.gained[..], &store.lost[..], &store.b), (&[][..], &[][..], &None));
        assert_eq!((&pack.gained[..], &pack.lost[..], &pack.a), (&[2, 4][..], &[][..], &None));
        assert!(sweeps.parent(solve.node) == sweeps.parent(pack.node));
        // Differences are first.
        assert!(!places[0].lost.is_empty() || !places[0].gained.is_empty());
    }

    /// By the paper's definition, of times with 1, 2, 3 and 4 threads on four processors.
    fn judged(seconds: [f64; 4]) -> Degradation {
        let times = seconds.map(Ns::from_seconds);
        let timings: Vec<Timing> = (1..).zip(times).map(|(count, time)| Timing::new(count, [time])).collect();
        ranks(&timings, Definition::Paper, 4)
    }

    #[test]
    fn ranks_are_gained_and_lost() {
        let (worst, some, none) =
            (judged([10.0, 11.0, 12.0, 13.0]), judged([10.0, 6.0, 7.0, 5.0]), judged([10.0, 6.0, 4.0, 3.0]));
        assert_eq!(gained_and_lost(Some(&worst), Some(&none)), (vec![], vec![2, 3, 4]));
        assert_eq!(gained_and_lost(Some(&some), Some(&worst)), (vec![2, 4], vec![]));
        assert_eq!(gained_and_lost(Some(&worst), Some(&some)), (vec![], vec![2, 4]));
        assert_eq!(gained_and_lost(None, Some(&some)), (vec![3], vec![]));
        assert_eq!(gained_and_lost(Some(&some), Some(&some)), (vec![], vec![]));
    }

    #[test]
    fn the_repair_of_the_paper() {
        // Its program, class A: 260.2 s with one thread, speedups 1.512, 1.557 and 1.061 with two, three and
        // four. At four threads the repair took 245.26 s to 119.36 s and then 115.49 s; lhsx.1 went from
        // 48.653 s to 5.095 s and 1.917 s.
        let before = judged([260.2, 260.2 / 1.512, 260.2 / 1.557, 245.26]);
        assert_eq!(before.set(), [4]);
        let after = judged([260.2, 172.1, 140.0, 119.36]);
        assert_eq!(gained_and_lost(Some(&before), Some(&after)), (vec![], vec![4]));
        let change = |a: f64, b: f64| {
            let observed = |s: f64| [Observation::exact(s)];
            Change::of(&observed(a), &observed(b), &Matters::of_total(245.26))
        };
        let (first, second) = (change(245.26, 119.36), change(245.26, 115.49));
        assert!((100.0 * first.delta / first.a.mean - -51.33).abs() < 0.01);
        assert!((100.0 * second.delta / second.a.mean - -52.91).abs() < 0.01);
        assert_eq!(change(48.653, 5.095).verdict, proust_statistics::Verdict::Less);
    }
}
