//! Delay costs of programs of known truth, and of random ones as a naive twin finds them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proust_profile::{Context, ContextKind, Location, OperationId, SampleRow};

use super::*;

/// The contexts: the program, and where ranks call, work and dawdle.
const CALLS: ContextId = ContextId(1);
const WORKS: ContextId = ContextId(2);
const DAWDLES: ContextId = ContextId(3);

/// Ranks that do one thing after another, each with a clock.
struct Play {
    clocks_ns: Vec<u64>,
    samples: Vec<SampleRow>,
    profile: Profile,
}

impl Play {
    fn new(ranks: usize) -> Play {
        let context = |kind| Context { parent: None, kind, function: None, file: None, line: None };
        let kinds = [ContextKind::Program, ContextKind::Frame, ContextKind::Frame, ContextKind::Frame];
        let profile = Profile {
            contexts: kinds.map(context).to_vec().into(),
            locations: vec![Location::default(); ranks].into(),
            ..Profile::default()
        };
        Play { clocks_ns: vec![0; ranks], samples: Vec::new(), profile }
    }

    fn work(&mut self, rank: usize, context: ContextId, ns: u64) {
        for at in 0..ns / 10 {
            let time_ns = self.clocks_ns[rank] + 10 * at + 5;
            let location = LocationId(rank as u32);
            let row = SampleRow { location, context, time_ns, cpu_ns: 10, ..SampleRow::default() };
            self.samples.push(row);
        }
        self.clocks_ns[rank] += ns;
    }

    fn wait(&mut self, rank: usize, context: ContextId, late: usize) {
        let (begin_ns, until_ns) = (self.clocks_ns[rank], self.clocks_ns[late]);
        if until_ns > begin_ns {
            self.profile.partner_waits.push(PartnerWaitRow {
                location: LocationId(rank as u32),
                context,
                operation: OperationId(0),
                begin_ns,
                until_ns,
                pattern: WaitPattern::LateSender,
                late: LocationId(late as u32),
                late_context: context,
                misordered_ns: 0,
                bytes: 0,
            });
            self.clocks_ns[rank] = until_ns;
        }
    }

    fn message(&mut self, from: usize, to: usize, site: ContextId) {
        self.wait(to, site, from);
        self.clocks_ns[from] += 1;
        self.clocks_ns[to] += 1;
    }

    fn barrier(&mut self, members: &[usize], site: ContextId) {
        let last = members.iter().copied().max_by_key(|&rank| (self.clocks_ns[rank], rank)).unwrap();
        members.iter().for_each(|&rank| self.wait(rank, site, last));
        members.iter().for_each(|&rank| self.clocks_ns[rank] += 1);
    }

    fn profile(mut self) -> Profile {
        self.profile.partner_waits.sort_by_key(|row| (row.location, row.begin_ns));
        self.profile.samples = self.samples.into();
        self.profile
    }
}

fn costs(profile: &Profile) -> DelayCosts {
    DelayCosts::of_waits(profile, |_| true)
}

/// Short and long of a location in a function.
fn of(costs: &DelayCosts, rank: u32, context: ContextId) -> (f64, f64) {
    let is_it = |delay: &&DelaySum| delay.late == LocationId(rank) && delay.activity == (context, None);
    let of_it = || costs.delays.iter().filter(is_it);
    (of_it().map(|delay| delay.short_ns).sum(), of_it().map(|delay| delay.long_ns).sum())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()))
}

/// What must hold of all.
fn assert_sums(profile: &Profile, costs: &DelayCosts) {
    let sum = |of: &dyn Fn(&WaitParts) -> f64| costs.parts.values().map(of).sum::<f64>();
    let (direct_ns, indirect_ns) = (sum(&|parts| parts.direct_ns), sum(&|parts| parts.indirect_ns));
    let waited_ns: u64 = profile.partner_waits.iter().map(PartnerWaitRow::length_ns).sum();
    let short_ns: f64 = costs.delays.iter().map(|delay| delay.short_ns).sum();
    let long_ns: f64 = costs.delays.iter().map(|delay| delay.long_ns).sum();
    assert!(near(direct_ns + indirect_ns, waited_ns as f64), "{costs:#?}");
    assert!(near(short_ns, direct_ns), "{short_ns} {direct_ns} {costs:#?}");
    assert!(near(long_ns, indirect_ns), "{long_ns} {indirect_ns} {costs:#?}");
    assert!(costs.delays.iter().all(|delay| delay.short_ns >= 0.0 && delay.long_ns >= 0.0));
}

/// Each rank of a chain waits for the one before it: directly behind the one that dawdles, indirectly after.
#[test]
fn in_a_chain_the_neighbour_waits_directly_and_those_behind_indirectly() {
    let mut play = Play::new(4);
    play.work(0, DAWDLES, 1000);
    (0..3).for_each(|rank| play.message(rank, rank + 1, CALLS));
    let profile = play.profile();
    let costs = costs(&profile);
    assert_sums(&profile, &costs);
    assert_eq!(of(&costs, 0, DAWDLES), (1000.0, 2000.0));
    let parts = costs.parts[&WaitPattern::LateSender];
    // Besides, ranks 2 and 3 wait for a nanosecond that each message takes.
    assert_eq!((parts.direct_ns, parts.indirect_ns, parts.propagating_ns), (1002.0, 2001.0, 2001.0));
    let delay = costs.delays[0];
    assert_eq!((delay.begin, delay.end, delay.late), (None, CALLS, LocationId(0)));
}

/// A rank is late for its neighbour once; the other side of that one notices some iterations later, in which
/// both have worked alike.
#[test]
fn a_delay_of_iterations_before_is_a_long_term_cost() {
    let mut play = Play::new(3);
    play.barrier(&[0, 1, 2], CALLS);
    play.work(0, DAWDLES, 500);
    play.message(0, 1, CALLS);
    for _ in 0..5 {
        (0..3).for_each(|rank| play.work(rank, WORKS, 100));
        play.message(0, 1, CALLS);
    }
    play.message(1, 2, WORKS);
    let profile = play.profile();
    let costs = costs(&profile);
    assert_sums(&profile, &costs);
    let (short_ns, long_ns) = of(&costs, 0, DAWDLES);
    assert_eq!(short_ns, 500.0);
    assert!((long_ns - 500.0).abs() < 15.0, "{costs:#?}");
    assert!(of(&costs, 1, WORKS).0 < 15.0, "{costs:#?}");
}

/// Work that both do is no delay, nor is work in which the other did as much elsewhere.
#[test]
fn a_partner_that_waited_and_worked_longer_divides_it() {
    let mut play = Play::new(3);
    play.work(0, DAWDLES, 300);
    play.message(0, 1, CALLS);
    play.work(1, WORKS, 100);
    play.message(1, 2, CALLS);
    let profile = play.profile();
    let costs = costs(&profile);
    assert_sums(&profile, &costs);
    // Rank 2 waits 401: 300 since rank 1 waited, 101 since it worked and called.
    assert_eq!(of(&costs, 0, DAWDLES), (300.0, 300.0));
    assert_eq!(of(&costs, 1, WORKS).1, 0.0);
    assert!(near(of(&costs, 1, WORKS).0, 101.0), "{costs:#?}");
}

#[derive(Clone, Debug)]
enum Step {
    Work(usize, u64),
    Message(usize, usize),
    Barrier(Vec<usize>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rank = || 0..4_usize;
    let step = prop_oneof![
        3 => (rank(), 1..200_u64).prop_map(|(rank, ns)| Step::Work(rank, ns)),
        3 => (rank(), 1..4_usize).prop_map(|(rank, by)| Step::Message(rank, (rank + by) % 4)),
        1 => proptest::sample::subsequence(vec![0, 1, 2, 3], 2..=4).prop_map(Step::Barrier),
    ];
    proptest::collection::vec(step, 0..28)
}

fn played(steps: &[Step]) -> Profile {
    let mut play = Play::new(4);
    for (at, step) in steps.iter().enumerate() {
        let site = [CALLS, WORKS][at % 2];
        match step {
            Step::Work(rank, ns) => play.work(*rank, DAWDLES, *ns),
            Step::Message(from, to) => play.message(*from, *to, site),
            Step::Barrier(members) => play.barrier(members, site),
        }
    }
    play.profile()
}

/// By pair: short, long.
type Costs = BTreeMap<(Option<ContextId>, ContextId, LocationId), (f64, f64)>;

/// Follows every wait back by itself, and looks at all rows for each question.
struct Twin<'p> {
    rows: &'p [PartnerWaitRow],
    costs: Costs,
    /// What was passed on to each wait.
    passed_ns: Vec<f64>,
}

impl Twin<'_> {
    fn since(&self, row: &PartnerWaitRow) -> (u64, Option<ContextId>) {
        let group = |row: &PartnerWaitRow| (row.until_ns, row.late);
        let has = |of: (u64, LocationId), location: LocationId| {
            of.1 == location || self.rows.iter().any(|row| group(row) == of && row.location == location)
        };
        let before = self.rows.iter().map(group).filter(|of| *of < group(row));
        let last = before.filter(|of| has(*of, row.location) && has(*of, row.late)).max();
        let site = |of| self.rows.iter().filter(|row| group(row) == of).map(|row| row.context).min();
        (last.map_or(0, |of| of.0.min(row.begin_ns)), last.and_then(site))
    }

    fn waits(&self, location: LocationId, from_ns: u64, before_ns: u64) -> Vec<(usize, u64)> {
        let ended = |row: &PartnerWaitRow| row.until_ns > from_ns && row.until_ns < before_ns;
        let of_one = self.rows.iter().enumerate().filter(|(_, row)| row.location == location && ended(row));
        of_one.map(|(at, row)| (at, row.until_ns - row.begin_ns.max(from_ns))).collect()
    }

    fn follow(&mut self, at: usize, ns: f64, is_first: bool) {
        let row = self.rows[at];
        let (since_ns, begin) = self.since(&row);
        let waits = self.waits(row.late, since_ns, row.until_ns);
        let waited_ns: u64 = waits.iter().map(|(_, ns)| ns).sum();
        let own_ns: u64 = self.waits(row.location, since_ns, row.begin_ns + 1).iter().map(|(_, ns)| ns).sum();
        let worked_ns = (row.until_ns - since_ns - waited_ns) as i64;
        let delay_ns = (worked_ns - (row.begin_ns - since_ns - own_ns) as i64).max(0) as f64;
        let all_ns = delay_ns + waited_ns as f64;
        let cost = self.costs.entry((begin, row.context, row.late)).or_default();
        *(if is_first { &mut cost.0 } else { &mut cost.1 }) += ns * delay_ns / all_ns;
        for (wait, length_ns) in waits {
            let passed_ns = ns * length_ns as f64 / all_ns;
            self.passed_ns[wait] += passed_ns;
            self.follow(wait, passed_ns, false);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_naive_twin_finds_the_same(steps in steps()) {
        let profile = played(&steps);
        let found = costs(&profile);
        assert_sums(&profile, &found);
        let rows = &profile.partner_waits[..];
        let mut twin = Twin { rows, costs: Costs::default(), passed_ns: vec![0.0; rows.len()] };
        (0..rows.len()).for_each(|at| twin.follow(at, rows[at].length_ns() as f64, true));
        let mut of_pairs = Costs::default();
        for delay in &found.delays {
            let sum = of_pairs.entry((delay.begin, delay.end, delay.late)).or_default();
            (sum.0, sum.1) = (sum.0 + delay.short_ns, sum.1 + delay.long_ns);
        }
        for (pair, (short_ns, long_ns)) in &twin.costs {
            let of_pair = of_pairs.remove(pair).unwrap_or_default();
            prop_assert!(near(of_pair.0, *short_ns) && near(of_pair.1, *long_ns), "{pair:?} {of_pair:?}");
        }
        prop_assert!(of_pairs.is_empty(), "{:?}", of_pairs);
        let is_propagating = |at: &usize| twin.passed_ns[*at] > 0.0;
        let propagating_ns: u64 = (0..rows.len()).filter(is_propagating).map(|at| rows[at].length_ns()).sum();
        let found_ns: f64 = found.parts.values().map(|parts| parts.propagating_ns).sum();
        prop_assert!(near(found_ns, propagating_ns as f64), "{found_ns} {propagating_ns}");
    }
}

/// Of waits that do not count only what is passed on to them does.
#[test]
fn waits_out_of_scope_pass_on_but_do_not_count() {
    let mut play = Play::new(3);
    play.work(0, DAWDLES, 1000);
    (0..2).for_each(|rank| play.message(rank, rank + 1, CALLS));
    let profile = play.profile();
    let costs = DelayCosts::of_waits(&profile, |row| row.location == LocationId(2));
    assert_eq!(of(&costs, 0, DAWDLES), (0.0, 1000.0));
    assert_eq!(costs.delays.iter().map(|delay| delay.short_ns + delay.long_ns).sum::<f64>(), 1001.0);
}
