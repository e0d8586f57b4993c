//! What delays cost: for every wait for a partner, the work that made that partner late, also where waits in
//! between have passed the lateness on (Böhme et al., ACM TOPC 3(2), 2016).
//!
//! A wait of `w` of location q ends when p arrives. Both have gone on together before, at one instant
//! ([`Since`]). From there to its arrival p worked for `m_p` and waited for others for `W`; q worked for
//! `m_q` until it waited. With `D = max(m_p − m_q, 0)`
//!
//! ```text
//! direct = w · D / (D + W),   indirect = w · W / (D + W),   w ≤ D + W
//! ```
//!
//! The direct part is the short-term cost of p's delay. The indirect part is passed on to p's waits in that
//! time, in proportion to their lengths, and with it what was passed on to the wait itself: as far as it
//! comes from a delay of the one that p waited for, it is that delay's long-term cost. So all short-term
//! costs sum to the direct waits, all long-term costs to the indirect ones, and both to the waits. A wait is
//! propagating where something was passed on to it.
//!
//! `D` and `W` are exact. In Scalasca `D` is the sum over what p did longer than q, function by function;
//! here work is compared as a whole, as for the causes of waits, so that work is no delay where q worked as
//! long at something else. Samples only divide the costs: of all waits at a pair of sites for one location,
//! among the functions in which that location spent more time than those that waited, first among those of
//! which that is certain (more than three standard errors). Work that was too short for a sample is divided
//! as the sampled work is that preceded other waits at the pair, else at the same place, else anywhere.

use proust_account::blame::{Since, each_since};
use proust_profile::{
    Array, ContextId, LocationId, PartnerWaitRow, PartnerWaits, Profile, Spool, WaitPattern,
};
use rustc_hash::FxHashMap as Map;

use super::is_in_scope;
use super::nearby::Nearby;
use super::spending::{Activities, Activity, Spending, Spent, Step, divide_unsampled, outside_of_waits};
use crate::selection::Selection;

#[cfg(test)]
mod tests;

/// A delay between a pair of sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySum {
    /// The late location.
    pub late: LocationId,
    /// What it did.
    pub activity: Activity,
    /// Where both had gone on together; None = they began.
    pub begin: Option<ContextId>,
    /// Where it was waited for.
    pub end: ContextId,
    /// Waits for the location itself, ns.
    pub short_ns: f64,
    /// Waits for others that had to wait for it, ns.
    pub long_ns: f64,
}

/// Waits, by what they come from and lead to, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitParts {
    /// Since the partner worked longer.
    pub direct_ns: f64,
    /// Since the partner had waited itself.
    pub indirect_ns: f64,
    /// Of both, those that made others wait.
    pub propagating_ns: f64,
}

/// The costs of all delays.
#[derive(Clone, Debug, Default)]
pub struct DelayCosts {
    /// By cost, highest first.
    pub delays: Vec<DelaySum>,
    /// The waits in scope by pattern.
    pub parts: Map<WaitPattern, WaitParts>,
}

type Pair = (Option<ContextId>, ContextId, LocationId);

/// The waits for one location at a pair of sites.
#[derive(Debug, Default)]
struct OfPair {
    short_ns: f64,
    long_ns: f64,
    /// The sum of its `D`.
    delay_ns: f64,
    late: Spent,
    early: Spent,
}

/// How a wait is divided.
#[derive(Clone, Copy, Debug)]
struct Division {
    delay_ns: f64,
    waited_ns: f64,
}

impl Division {
    fn share_of_delay(&self) -> f64 {
        self.delay_ns / (self.delay_ns + self.waited_ns)
    }
}

impl DelayCosts {
    /// What the waits in scope cost, and the delays that they come from, wherever these are.
    pub fn of(selection: &Selection<'_>) -> DelayCosts {
        let profile = selection.profile();
        DelayCosts::of_waits(profile, |row| is_in_scope(selection, row))
    }

    fn of_waits(profile: &Profile, counts: impl Fn(&PartnerWaitRow) -> bool) -> DelayCosts {
        let rows = &profile.partner_waits;
        let mut order: Array<(usize, Since)> = Array::new(&rows.spool());
        each_since(profile, |at, since| order.push((at, since)));
        let waits = Waits::of(rows, profile.locations.len());
        let activities = Activities::functions(profile);
        let spending = Spending::of(profile, &activities);
        let mut nearby = Nearby::of(&spending);
        let mut passed = Passed::new(&rows.spool(), rows.len(), profile.locations.len());
        let mut parts: Map<WaitPattern, WaitParts> = Map::default();
        let mut pairs: Map<Pair, OfPair> = Map::default();
        let mut known: Option<((LocationId, u64, u64), Spent)> = None;
        for &(at, since) in order.iter().rev() {
            let row = &rows[at];
            let (own_ns, cost_ns) =
                (if counts(row) { row.length_ns() as f64 } else { 0.0 }, passed.take(row, at));
            if own_ns == 0.0 && cost_ns == 0.0 {
                continue;
            }
            let division = waits.divided(row, since);
            let share = division.share_of_delay();
            let of_pattern = parts.entry(row.pattern).or_default();
            of_pattern.direct_ns += own_ns * share;
            of_pattern.indirect_ns += own_ns * (1.0 - share);
            if cost_ns > 0.0 {
                of_pattern.propagating_ns += own_ns;
            }
            if division.waited_ns > 0.0 {
                let for_each_ns = (own_ns + cost_ns) / (division.delay_ns + division.waited_ns);
                passed.pass(waits.within(row.late, since.time_ns, row.until_ns), for_each_ns);
            }
            if division.delay_ns > 0.0 {
                let pair = pairs.entry((since.site, row.context, row.late)).or_default();
                pair.short_ns += own_ns * share;
                pair.long_ns += cost_ns * share;
                pair.delay_ns += division.delay_ns;
                let step = |location, end_ns| Step { location, begin_ns: since.time_ns, end_ns };
                let mut did = |step: Step| nearby.of_steps(&outside_of_waits(rows, &step));
                // Most that wait for one compare with the same of it.
                let key = (row.late, since.time_ns, row.until_ns);
                let of_late = match &mut known {
                    Some((of, did)) if *of == key => did,
                    other => &mut other.insert((key, did(step(row.late, row.until_ns)))).1,
                };
                add(&mut pair.late, of_late);
                add(&mut pair.early, &did(step(row.location, row.begin_ns)));
            }
        }
        // The work before waits at the same place, and before all waits.
        let mut before: Map<(Option<ContextId>, LocationId), Spent> = Map::default();
        for (&(_, end, late), of_pair) in &pairs {
            for end in [Some(end), None] {
                add(before.entry((end, late)).or_default(), &of_pair.late);
            }
        }
        let mut delays: Vec<DelaySum> = Vec::new();
        for (pair, mut of_pair) in pairs {
            let (_, end, late) = pair;
            for end in [Some(end), None] {
                divide_unsampled(&mut of_pair.late, &before[&(end, late)]);
            }
            divide_unsampled(&mut of_pair.early, &of_pair.late);
            delays.extend(of_pair.delays(pair));
        }
        let cost_ns = |delay: &DelaySum| delay.short_ns + delay.long_ns;
        delays.sort_unstable_by(|a, b| {
            let place = |delay: &DelaySum| (delay.late, delay.activity, delay.begin, delay.end);
            cost_ns(b).total_cmp(&cost_ns(a)).then_with(|| place(a).cmp(&place(b)))
        });
        DelayCosts { delays, parts }
    }
}

impl OfPair {
    /// By activity, so that the sums are those of the pair.
    fn delays(self, (begin, end, late): Pair) -> Vec<DelaySum> {
        let mut longer: Vec<(Activity, f64, bool)> = Vec::new();
        for (&activity, amount) in &self.late {
            let early = self.early.get(&activity).copied().unwrap_or_default();
            let ns = amount.ns - early.ns;
            if ns > 0.0 {
                longer.push((activity, ns, ns > 3.0 * (amount.variance + early.variance).sqrt()));
            }
        }
        if longer.is_empty() {
            longer.extend(self.late.iter().map(|(&activity, amount)| (activity, amount.ns, true)));
        }
        let sum = |is: bool| longer.iter().filter(|one| one.2 == is).map(|one| one.1).sum::<f64>();
        let (certain_ns, chance_ns) = (sum(true), sum(false));
        // Of what is longer by chance only as much counts as is missing.
        let missing_ns = (self.delay_ns - certain_ns).max(0.0).min(chance_ns);
        let of_chance = if certain_ns == 0.0 { 1.0 } else { missing_ns / chance_ns.max(f64::MIN_POSITIVE) };
        let all_ns = certain_ns + chance_ns * of_chance;
        let delay = |(activity, ns, is_certain): (Activity, f64, bool)| {
            let share = if is_certain { ns } else { ns * of_chance } / all_ns;
            let (short_ns, long_ns) = (self.short_ns * share, self.long_ns * share);
            DelaySum { late, activity, begin, end, short_ns, long_ns }
        };
        longer.into_iter().map(delay).filter(|delay| delay.short_ns + delay.long_ns > 0.0).collect()
    }
}

fn add(sums: &mut Spent, more: &Spent) {
    for (&activity, amount) in more {
        sums.entry(activity).or_default().add(amount);
    }
}

/// The waits of each location, to be summed up over a time.
#[derive(Debug)]
struct Waits<'p> {
    rows: &'p [PartnerWaitRow],
    /// By location, its rows.
    ranges: Vec<std::ops::Range<usize>>,
    /// The lengths of all rows before each.
    before_ns: Array<u64>,
}

/// Waits that ended in a time: those that lie in it, and the one that began before it, with what lies in it.
#[derive(Clone, Debug)]
struct Within {
    all: std::ops::Range<usize>,
    cut: Option<(usize, u64)>,
}

impl<'p> Waits<'p> {
    fn of(rows: &'p PartnerWaits, locations: usize) -> Waits<'p> {
        let mut ranges = vec![0..0; locations];
        let (mut before_ns, mut sum_ns) = (Array::new(&rows.spool()), 0);
        before_ns.push(0);
        for (at, row) in rows.iter().enumerate() {
            let range = &mut ranges[row.location.index()];
            *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
            sum_ns += row.length_ns();
            before_ns.push(sum_ns);
        }
        Waits { rows, ranges, before_ns }
    }

    /// Those of a location that ended after `from_ns` and before `to_ns`: they have been ahead of anything
    /// that ends then, whatever clocks say.
    fn within(&self, location: LocationId, from_ns: u64, to_ns: u64) -> Within {
        let range = self.ranges[location.index()].clone();
        let of_one = &self.rows[range.clone()];
        let mut first = range.start + of_one.partition_point(|row| row.until_ns <= from_ns);
        let end = range.start + of_one.partition_point(|row| row.until_ns < to_ns);
        let mut cut = None;
        if let Some(row) = self.rows[..end.max(first)].get(first).filter(|row| row.begin_ns < from_ns) {
            cut = Some((first, row.until_ns - from_ns));
            first += 1;
        }
        Within { all: first..end.max(first), cut }
    }

    fn ns(&self, within: &Within) -> u64 {
        self.before_ns[within.all.end] - self.before_ns[within.all.start] + within.cut.map_or(0, |(_, ns)| ns)
    }

    fn divided(&self, row: &PartnerWaitRow, since: Since) -> Division {
        let waited_ns = self.ns(&self.within(row.late, since.time_ns, row.until_ns));
        // The last one may end where this begins.
        let own_ns = self.ns(&self.within(row.location, since.time_ns, row.begin_ns + 1));
        let worked_ns = (row.until_ns - since.time_ns).saturating_sub(waited_ns);
        let own_worked_ns = (row.begin_ns - since.time_ns).saturating_sub(own_ns);
        let delay_ns = worked_ns.saturating_sub(own_worked_ns);
        // Where clocks contradict each other neither may be known: then it is the partner's.
        let delay_ns = if delay_ns + waited_ns == 0 { 1 } else { delay_ns };
        Division { delay_ns: delay_ns as f64, waited_ns: waited_ns as f64 }
    }
}

/// What is passed on to waits. Those of a location are taken from the last to the first, and all that is
/// passed on to one is so before it is taken.
#[derive(Debug)]
struct Passed {
    /// To a single wait, ns.
    single_ns: Array<f64>,
    /// From this one on, back in time, for each nanosecond; and how many such.
    begins: Array<(f64, u32)>,
    /// No more before this one.
    ends: Array<(f64, u32)>,
    /// By location, what is passed on to each nanosecond of the next wait.
    present: Vec<(f64, u32)>,
}

impl Passed {
    fn new(spool: &Spool, waits: usize, locations: usize) -> Passed {
        Passed {
            single_ns: Array::filled(spool, 0.0, waits),
            begins: Array::filled(spool, (0.0, 0), waits),
            ends: Array::filled(spool, (0.0, 0), waits),
            present: vec![(0.0, 0); locations],
        }
    }

    fn pass(&mut self, within: Within, for_each_ns: f64) {
        if let Some((at, ns)) = within.cut {
            self.single_ns[at] += for_each_ns * ns as f64;
        }
        let (first, end) = (within.all.start, within.all.end);
        if first < end {
            let begin = &mut self.begins[end - 1];
            *begin = (begin.0 + for_each_ns, begin.1 + 1);
            let end = &mut self.ends[first];
            *end = (end.0 + for_each_ns, end.1 + 1);
        }
    }

    fn take(&mut self, row: &PartnerWaitRow, at: usize) -> f64 {
        let present = &mut self.present[row.location.index()];
        *present = (present.0 + self.begins[at].0, present.1 + self.begins[at].1);
        let cost_ns = self.single_ns[at] + present.0 * row.length_ns() as f64;
        *present = (present.0 - self.ends[at].0, present.1 - self.ends[at].1);
        if present.1 == 0 {
            // Exactly nothing, whatever rounding has left.
            present.0 = 0.0;
        }
        cost_ns
    }
}
