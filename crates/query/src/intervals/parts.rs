//! Which recorded executions stand for how many: of threads that mark very often not all are recorded alone.
//!
//! The account of an interval is the sum of its parts' accounts, each times a weight:
//!
//! - What is recorded with begin and end stands for itself: executions that are long, or that threads had
//!   while they marked seldom; and operations that are recorded alone, whether the execution around them is
//!   or not.
//! - The rest of the short executions of a thread that marks often, what lies between those operations, is
//!   known by its length for each half second ([`ExecutionSumRow`]), and of what it consists from those of
//!   them that are recorded: these stand for all of that thread and half second.
//!
//! So the time is exact, and so are accounts as far as operations that are recorded alone have them; an
//! execution that is 10 ms long does not stand for others that are 1 µs long (post-stratification, Holt and
//! Smith, "Post Stratification", J. R. Statist. Soc. A 142, 1979).

use std::collections::BTreeMap;

use proust_account::ledger::{
    Executed, InParts, Inside, LedgerError, Processors, Run, Spans, Window, Windows, inside_in_parts,
};
use proust_profile::{
    ContextId, ExecutionEnd, ExecutionRow, ExecutionSumRow, IntervalId, LONG_EXECUTION_NS, LocationId,
    ProcessId, Profile,
};
use rustc_hash::FxHashMap;

/// The parts of things that consist of intervals' executions.
#[derive(Debug)]
pub(super) struct Parts {
    things: usize,
    /// The things themselves are the first parts: of what stands for itself.
    thing_of: Vec<u32>,
    weights: Vec<f64>,
    executed: Vec<Executed>,
    somewhere: Vec<Executed>,
    /// See [`InParts::without_places`].
    without_places: Option<u32>,
}

/// Which of a profile's executions count.
pub(super) struct Counted<'c, T, L> {
    pub profile: &'c Profile,
    pub windows: &'c Windows,
    /// To which thing an interval belongs.
    pub thing_of: T,
    /// By which locations.
    pub has: L,
}

/// The share of a sum that lies within windows: that of its span.
pub(super) fn share_within(windows: &Windows, row: &ExecutionSumRow) -> f64 {
    let span = Window::new(row.begin_ns, row.end_ns);
    match span.length_ns() {
        0 => f64::from(u8::from(super::contains(windows, row.begin_ns))),
        length_ns => windows.within(span).length_ns() as f64 / length_ns as f64,
    }
}

/// The sums of an interval by a location, by begin.
#[derive(Default)]
struct Often {
    sums: Vec<Sum>,
    /// Recorded executions that stand for others, each with the position of their sum.
    drawn: Vec<(usize, Window)>,
    /// Those that stand for themselves.
    certain: Vec<Window>,
    /// Operations that are recorded alone, outside of executions that stand for themselves.
    operations: Vec<Window>,
}

/// The executions of about half a second that are not recorded alone, within the windows.
struct Sum {
    begin_ns: u64,
    end_ns: u64,
    /// Their time outside of operations that are recorded alone, ns.
    rest_ns: f64,
    /// The same of the recorded ones that stand for them.
    drawn_ns: f64,
}

impl Often {
    /// The position of the sum that has what begins at this time.
    fn sum_at(&self, at_ns: u64) -> Option<usize> {
        self.nearest(at_ns).filter(|&(_, distance_ns)| distance_ns == 0).map(|(at, _)| at)
    }

    /// The position of the nearest sum, and how far its span is away, ns.
    fn nearest(&self, at_ns: u64) -> Option<(usize, u64)> {
        let after = self.sums.partition_point(|sum| sum.begin_ns <= at_ns);
        let before = after.checked_sub(1).map(|at| (at, at_ns.saturating_sub(self.sums[at].end_ns)));
        let after = self.sums.get(after).map(|sum| (after, sum.begin_ns - at_ns));
        before.into_iter().chain(after).min_by_key(|(_, distance_ns)| *distance_ns)
    }

    /// Divides the short recorded executions: those beside a sum stand for what is in it, the others for
    /// themselves; but where none is beside one, all stand for others.
    fn divide(&mut self, short: Vec<Window>) {
        let is_beside = |&(_, distance_ns): &(usize, u64)| distance_ns <= BESIDE_NS;
        let has_beside =
            |of: &Often, window: &Window| of.nearest(window.start_ns).is_some_and(|at| is_beside(&at));
        let any = short.iter().any(|window| has_beside(self, window));
        for window in short {
            match self.nearest(window.start_ns).filter(|at| !any || is_beside(at)) {
                Some((at, _)) => self.drawn.push((at, window)),
                None => self.certain.push(window),
            }
        }
    }
}

/// What is recorded this near to a sum is like it: for as long the rate of marks is watched.
const BESIDE_NS: u64 = 10_000_000;

impl Parts {
    /// Those of `things` things.
    pub fn of<T, L>(things: usize, counted: &Counted<'_, T, L>) -> Parts
    where
        T: Fn(IntervalId) -> Option<usize>,
        L: Fn(LocationId) -> bool,
    {
        let mut parts = Parts {
            things,
            thing_of: (0..things as u32).collect(),
            weights: vec![1.0; things],
            executed: Vec::new(),
            somewhere: Vec::new(),
            without_places: None,
        };
        let Counted { profile, windows, thing_of, has } = counted;
        let mut often: BTreeMap<(IntervalId, LocationId), Often> = BTreeMap::new();
        for row in profile.execution_sums.iter().filter(|row| has(row.location)) {
            let Some(thing) = thing_of(row.interval) else { continue };
            let share = share_within(windows, row);
            if share > 0.0 {
                let of = often.entry((row.interval, row.location)).or_default();
                let ExecutionSumRow { begin_ns, end_ns, time_ns, .. } = *row;
                of.sums.push(Sum { begin_ns, end_ns, rest_ns: share * time_ns as f64, drawn_ns: 0.0 });
                let window = Window::new(begin_ns, end_ns);
                parts.somewhere.push(Executed { what: thing as u32, location: row.location, window });
            }
        }
        often.values_mut().for_each(|of| of.sums.sort_by_key(|sum| sum.begin_ns));
        let mut short: FxHashMap<(IntervalId, LocationId), Vec<Window>> = FxHashMap::default();
        for row in profile.executions.iter().filter(|row| has(row.location)) {
            let Some(thing) = thing_of(row.interval) else { continue };
            let window = Window::new(row.begin_ns, row.end_ns);
            let key = (row.interval, row.location);
            match often.get_mut(&key) {
                Some(_) if may_stand_for_others(row) => short.entry(key).or_default().push(window),
                Some(of) => of.certain.push(window),
                None => parts.push(thing, row.location, window),
            }
        }
        for (key, short) in short {
            often.entry(key).or_default().divide(short);
        }
        if !often.is_empty() {
            find_operations(profile, &mut often);
        }
        let mut left_ns: FxHashMap<usize, f64> = FxHashMap::default();
        for ((interval, location), of) in often {
            let Some(thing) = thing_of(interval) else { continue };
            *left_ns.entry(thing).or_default() += parts.add_often(thing, location, of, windows);
        }
        parts.spread(&left_ns, windows);
        parts
    }

    /// Adds an execution that stands for itself.
    pub fn push(&mut self, thing: usize, location: LocationId, window: Window) {
        self.executed.push(Executed { what: thing as u32, location, window });
    }

    /// Nobody asks where time was lost while this thing was executed.
    pub fn without_places(&mut self, thing: usize) {
        self.without_places = Some(thing as u32);
    }

    /// Adds what one location executed often; the time that no recorded execution stands for, ns.
    fn add_often(&mut self, thing: usize, location: LocationId, mut of: Often, windows: &Windows) -> f64 {
        of.certain.iter().for_each(|&window| self.push(thing, location, window));
        let operations: Windows = of.operations.iter().copied().collect();
        let drawn: Windows = of.drawn.iter().map(|(_, window)| *window).collect();
        for &window in operations.as_slice() {
            self.push(thing, location, window);
            if let Some(at) = of.sum_at(window.start_ns) {
                let within = windows.within(window);
                let undrawn_ns = within.length_ns() - within.intersection(&drawn).length_ns();
                of.sums[at].rest_ns -= undrawn_ns as f64;
            }
        }
        let between = operations.complement();
        let mut rests: Vec<(usize, Windows)> = Vec::with_capacity(of.drawn.len());
        for &(at, window) in &of.drawn {
            let rest = between.within(window);
            of.sums[at].drawn_ns += rest.intersection(windows).length_ns() as f64;
            rests.push((at, rest));
        }
        // Half seconds in which as many stand for as many are one part.
        let mut pooled: BTreeMap<i32, (f64, f64)> = BTreeMap::new();
        let mut left_ns = 0.0;
        for sum in &of.sums {
            let rest_ns = sum.rest_ns.max(0.0);
            match bucket(sum) {
                Some(bucket) => {
                    let (all_ns, drawn_ns) = pooled.entry(bucket).or_default();
                    *all_ns += rest_ns + sum.drawn_ns;
                    *drawn_ns += sum.drawn_ns;
                }
                None => left_ns += rest_ns,
            }
        }
        let all_ns: f64 = pooled.values().map(|(all_ns, _)| all_ns).sum();
        let more = if all_ns > 0.0 { (all_ns + left_ns) / all_ns } else { 1.0 };
        let mut part_of: FxHashMap<i32, u32> = FxHashMap::default();
        for (bucket, (all_ns, drawn_ns)) in pooled {
            part_of.insert(bucket, self.thing_of.len() as u32);
            self.thing_of.push(thing as u32);
            self.weights.push(more * all_ns / drawn_ns);
        }
        for (at, rest) in rests {
            // Nothing is drawn where there is no bucket: it lies outside of the windows.
            let part = bucket(&of.sums[at]).and_then(|bucket| part_of.get(&bucket));
            let Some(&what) = part else { continue };
            let pieces = rest.as_slice().iter();
            self.executed.extend(pieces.map(|&window| Executed { what, location, window }));
        }
        if all_ns > 0.0 { 0.0 } else { left_ns }
    }

    /// What no execution of its thread stands for, those of other threads do; without any, all that are
    /// recorded.
    fn spread(&mut self, left_ns: &FxHashMap<usize, f64>, windows: &Windows) {
        for (&thing, &left_ns) in left_ns.iter().filter(|(_, left_ns)| **left_ns > 0.0) {
            let is_of_thing = |part: usize| self.thing_of[part] as usize == thing;
            let of_thing: Vec<usize> = (0..self.thing_of.len()).filter(|&part| is_of_thing(part)).collect();
            let drawn: Vec<usize> = of_thing.iter().copied().filter(|&part| part >= self.things).collect();
            let parts = if drawn.is_empty() { of_thing } else { drawn };
            let represented_ns: f64 = (self.executed.iter())
                .filter(|one| parts.contains(&(one.what as usize)))
                .map(|one| windows.within(one.window).length_ns() as f64 * self.weights[one.what as usize])
                .sum();
            if represented_ns > 0.0 {
                let more = (represented_ns + left_ns) / represented_ns;
                parts.into_iter().for_each(|part| self.weights[part] *= more);
            }
        }
    }

    /// The accounts of the things.
    ///
    /// # Errors
    /// As [`inside_in_parts`].
    pub fn inside(
        &self,
        run: &Run<impl Spans>,
        processors: &Processors,
        windows: &Windows,
    ) -> Result<Vec<Inside>, LedgerError> {
        Ok(self.accounts(run, windows, inside_in_parts(run, processors, windows, &self.in_parts())?))
    }

    /// The executions of all parts.
    pub fn in_parts(&self) -> InParts<'_> {
        InParts {
            thing_of: &self.thing_of,
            executed: &self.executed,
            somewhere: &self.somewhere,
            without_places: self.without_places,
        }
    }

    /// The accounts of the things, from those of the parts.
    pub fn accounts<S>(&self, run: &Run<S>, windows: &Windows, found: Vec<Inside>) -> Vec<Inside> {
        let mut parts: Vec<Vec<(f64, Inside)>> = vec![Vec::new(); self.things];
        for ((part, &thing), &weight) in found.into_iter().zip(&self.thing_of).zip(&self.weights) {
            parts[thing as usize].push((weight, part));
        }
        let mut all: Vec<Inside> = parts.into_iter().map(Inside::weighted).collect();
        for (thing, inside) in
            all.iter_mut().enumerate().filter(|(_, inside)| inside.alone && !self.somewhere.is_empty())
        {
            inside.wall_ns = inside.wall_ns.min(self.most_wall_ns(thing, run, windows));
        }
        all
    }

    /// How long a thing can have been executed in all processes together, ns: how often executions overlap
    /// that are not recorded is not known.
    fn most_wall_ns<S>(&self, thing: usize, run: &Run<S>, windows: &Windows) -> u64 {
        let processes: FxHashMap<LocationId, ProcessId> =
            run.timelines.iter().map(|timeline| (timeline.location, timeline.process)).collect();
        let mut spans: BTreeMap<Option<ProcessId>, Vec<Window>> = BTreeMap::new();
        let all = self.executed.iter().chain(&self.somewhere);
        for one in all.filter(|one| self.thing_of[one.what as usize] as usize == thing) {
            let process = processes.get(&one.location).copied();
            spans.entry(process).or_default().push(one.window);
        }
        let union =
            |spans: Vec<Window>| spans.into_iter().collect::<Windows>().intersection(windows).length_ns();
        spans.into_values().map(union).sum()
    }
}

/// Whether an execution is one of those of which not all are recorded alone.
fn may_stand_for_others(row: &ExecutionRow) -> bool {
    row.end == ExecutionEnd::Marked && !row.inherited && row.end_ns - row.begin_ns < LONG_EXECUTION_NS
}

/// For how many one stands, in steps of a quarter; None = none is recorded.
fn bucket(sum: &Sum) -> Option<i32> {
    let weight = (sum.rest_ns.max(0.0) + sum.drawn_ns) / sum.drawn_ns;
    (sum.drawn_ns > 0.0).then(|| (weight.ln() / 1.25_f64.ln()).round() as i32)
}

/// Finds the operations that are recorded alone, in the intervals that are executed often.
fn find_operations(profile: &Profile, often: &mut BTreeMap<(IntervalId, LocationId), Often>) {
    for of in often.values_mut() {
        of.certain.sort_by_key(|window| window.start_ns);
    }
    let mut of_contexts: FxHashMap<ContextId, IntervalId> = FxHashMap::default();
    of_contexts.extend(profile.interval_contexts.iter().map(|place| (place.context, place.interval)));
    let mut innermost: Vec<Option<IntervalId>> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter_enumerated() {
        let own = of_contexts.get(&id).copied();
        innermost.push(own.or_else(|| innermost[context.parent?.index()]));
    }
    for event in profile.events.iter().filter(|event| !event.summed && event.end_ns > event.begin_ns) {
        let around = |&id: &IntervalId| profile.intervals[id as usize].parent;
        for interval in std::iter::successors(innermost[event.context.index()], around) {
            let Some(of) = often.get_mut(&(interval, event.location)) else { continue };
            let before = of.certain.partition_point(|window| window.start_ns <= event.begin_ns);
            let is_certain = before.checked_sub(1).is_some_and(|at| event.begin_ns < of.certain[at].end_ns);
            if !is_certain {
                of.operations.push(Window::new(event.begin_ns, event.end_ns));
            }
        }
    }
}

#[cfg(test)]
mod tests;
