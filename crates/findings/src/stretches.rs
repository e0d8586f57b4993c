//! Stretches of time in which processors were empty, by the location that worked meanwhile; and those in
//! which none worked because of a sleep.
//!
//! The ledger has the amount of these losses, and the places where the locations that caused them worked. It
//! does not show whether that was one long phase or a thousand short pauses, which are different faults of a
//! program. Time in which the working location has no processor is left out: it would have worked if it
//! could.

use std::collections::BTreeSet;

use proust_profile::{ContextId, LocationId, Ns, ProcessId};

use super::answers::{self, Answers};
use super::handovers::{Handovers, Observer, is_for_another};
use super::remainders::with_remainders;
use super::thresholds::LONG_STRETCH_S;
use proust_account::ledger::{Ledger, Merge, PartKind, PassiveReason, Run, Span, Spans, State, Work};
use rustc_hash::FxHashMap as Map;

/// The most simultaneous sleepers that are kept one by one; where there are more, no location waits for one
/// of them.
const SLEEPERS: usize = 16;

/// A stretch continues after so short a moment in which no location was active: a page fault blocks, a clock
/// is read late.
const PAUSE_NS: u64 = 2_000_000;
/// And after so short a moment in which another one was.
const OTHERS_NS: u64 = 100_000;
/// What one did alone may reach those that wait for it by way of others, within so long.
const AFTER_NS: u64 = 20_000_000;

/// A stretch in which one location worked, and no other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stretch {
    pub(super) location: LocationId,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// Empty slots meanwhile, by where it worked.
    pub(super) empty: Map<ContextId, Ns>,
}

impl Stretch {
    pub(super) fn sum(&self) -> Ns {
        self.empty.values().sum()
    }
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches {
    /// Long ones.
    pub(super) long: Vec<Stretch>,
    /// The time in short ones, or while several work, by location and context.
    pub(super) in_short: Map<(LocationId, ContextId), Ns>,
    /// How many these are.
    pub(super) short: u64,
    /// When no location did anything: the locations that slept, and where. Of several sleepers each has a
    /// part.
    pub(super) asleep: Map<(LocationId, ContextId), Ns>,
    /// How long locations worked, and the part of it beside others that did.
    pub(super) worked: Ns,
    pub(super) beside: Ns,
    /// Waits by whose ends it was over that one location worked alone, or that none did.
    pub(super) handovers: Handovers,
    /// Waits for bytes from elsewhere while no location did anything.
    pub(super) answers: Answers,
    /// Waits that ended during a long stretch or as the next ones after it: by the location that waited,
    /// where, and the one that had worked alone, how much of the stretch they lasted.
    pub(super) awaits: Map<(LocationId, ContextId, LocationId), Ns>,
}

impl Stretches {
    /// `width` is how many locations could work at once; `program_of` numbers the programs that locations
    /// execute.
    pub(super) fn new(
        run: &Run<impl Spans>,
        ledger: &Ledger,
        width: f64,
        program_of: impl Fn(LocationId) -> usize,
    ) -> Stretches {
        let mut stretches = Stretches::default();
        for owner in 0..ledger.slots.len() {
            let share = f64::from(ledger.slots[owner].processors) / f64::from(ledger.processors.max(1));
            let mine: BTreeSet<LocationId> = (ledger.locations.iter())
                .filter(|row| row.slots == Some(owner))
                .map(|row| row.location)
                .collect();
            let timelines = run.timelines.iter().filter(|timeline| mine.contains(&timeline.location));
            let (mut locations, mut processes, mut spans) = (Vec::new(), Vec::new(), Vec::new());
            for timeline in timelines {
                locations.push(timeline.location);
                processes.push(timeline.process);
                spans.push(with_remainders(timeline.spans.spans()));
            }
            let programs = locations.iter().map(|&location| program_of(location)).collect();
            let sweep = Sweep::new(&locations, programs, processes, (width * share).max(1.0));
            sweep.run(spans, &mut stretches);
        }
        stretches
    }
}

/// Goes through the spans of all locations in order of time.
struct Sweep<'s> {
    locations: &'s [LocationId],
    width: f64,
    now: Vec<Option<Span>>,
    working: Members,
    waiting: usize,
    sleeping: Members,
    open: Stretch,
    is_open: bool,
    /// The last long stretch: the location, its begin and end.
    last: Option<(LocationId, u64, u64)>,
    /// How long others were active since it was interrupted, ns.
    others_ns: u64,
    observer: Observer<'s>,
    answers: answers::Observer<'s>,
}

impl<'s> Sweep<'s> {
    fn new(
        locations: &'s [LocationId],
        programs: Vec<usize>,
        processes: Vec<ProcessId>,
        width: f64,
    ) -> Sweep<'s> {
        Sweep {
            locations,
            width,
            now: vec![None; locations.len()],
            working: Members::of(locations.len()),
            waiting: 0,
            sleeping: Members::of(locations.len()),
            open: Stretch::default(),
            is_open: false,
            last: None,
            others_ns: 0,
            observer: Observer::new(locations, programs),
            answers: answers::Observer::new(locations, processes),
        }
    }

    /// `spans`: those of each location.
    fn run(mut self, spans: Vec<impl Iterator<Item = Span>>, out: &mut Stretches) {
        let mut edges = Merge::new(spans);
        let mut last_ns = 0;
        while let Some(edge) = edges.next() {
            if edge.at_ns > last_ns {
                self.pass(last_ns, edge.at_ns, out);
                last_ns = edge.at_ns;
            }
            let (before, began) = (self.now[edge.source], edge.began.copied());
            self.observer.change(edge.source, before, began, edge.at_ns, &mut out.handovers);
            self.answers.change(edge.source, before, began, &mut out.answers);
            self.awaited(edge.source, began, edge.at_ns, out);
            self.enter(edge.source, began);
        }
        self.close(out);
    }

    /// Whether what a location goes on from was a wait for what one did alone, most likely: it lasted for a
    /// long part of that.
    fn awaited(&self, at: usize, began: Option<Span>, now_ns: u64, out: &mut Stretches) {
        let Some(wait) = self.now[at].filter(|span| is_for_another(span.state)) else { return };
        if !began.is_some_and(|span| matches!(span.state, State::Working(_))) {
            return;
        }
        let open = self.is_open.then_some((self.open.location, self.open.start_ns, self.open.end_ns));
        let is_long = |&(_, start_ns, end_ns): &(LocationId, u64, u64)| {
            LONG_STRETCH_S.holds(Ns::of(end_ns.min(now_ns).saturating_sub(wait.start_ns.max(start_ns))))
        };
        let Some((worker, start_ns, end_ns)) = open.filter(is_long).or(self.last.filter(is_long)) else {
            return;
        };
        if worker != self.locations[at] && now_ns <= end_ns + AFTER_NS {
            let lasted = Ns::of(end_ns.min(now_ns) - wait.start_ns.max(start_ns));
            *out.awaits.entry((self.locations[at], wait.context, worker)).or_default() += lasted;
        }
    }

    fn enter(&mut self, at: usize, span: Option<Span>) {
        match self.now[at].map(|span| span.state) {
            Some(State::Working(_)) => self.working.remove(at),
            Some(State::Waiting(_) | State::Polling(_)) => self.waiting -= 1,
            Some(State::Passive(PassiveReason::Sleep)) => self.sleeping.remove(at),
            Some(State::Passive(_)) | None => {}
        }
        self.now[at] = span;
        match span.map(|span| span.state) {
            Some(State::Working(_)) => self.working.insert(at),
            Some(State::Waiting(_) | State::Polling(_)) => self.waiting += 1,
            Some(State::Passive(PassiveReason::Sleep)) => self.sleeping.insert(at),
            Some(State::Passive(_)) | None => {}
        }
    }

    fn pass(&mut self, from_ns: u64, to_ns: u64, out: &mut Stretches) {
        let passed = Ns::of(to_ns - from_ns);
        let working = self.working.all.len();
        let active = working + self.waiting;
        out.worked += passed * working as f64;
        out.beside += passed * working.saturating_sub(1) as f64;
        match self.working.all[..] {
            [] if active == 0 => self.observer.still(passed),
            [at] if active == 1 => self.observer.alone(at, passed),
            _ => self.observer.several(),
        }
        if active == 0 {
            self.interrupt(to_ns, 0, out);
            self.answers.rest(passed, &self.sleeping.all, &mut out.answers);
            if self.sleeping.all.len() <= SLEEPERS {
                let each = passed / self.sleeping.all.len().max(1) as f64;
                for &at in &self.sleeping.all {
                    let Some(span) = &self.now[at] else { continue };
                    let key = (self.locations[at], span.context);
                    *out.asleep.entry(key).or_default() += each;
                }
            }
            return;
        }
        let empty = self.width - active as f64;
        if working == 0 || empty <= 0.0 {
            self.interrupt(to_ns, to_ns - from_ns, out);
            return;
        }
        let each = empty / working as f64;
        if let [at] = self.working.all[..] {
            let location = self.locations[at];
            if self.is_open && self.open.location == location {
                self.others_ns = 0;
            } else {
                self.close(out);
                self.open = Stretch { location, start_ns: from_ns, ..Stretch::default() };
                self.is_open = true;
            }
            self.open.end_ns = to_ns;
            if let Some(span) = &self.now[at] {
                *self.open.empty.entry(span.context).or_default() += passed * (each * on_processor(span));
            }
            return;
        }
        self.interrupt(to_ns, to_ns - from_ns, out);
        out.short += 1;
        for &at in &self.working.all {
            if let Some(span) = &self.now[at] {
                let key = (self.locations[at], span.context);
                *out.in_short.entry(key).or_default() += passed * (each * on_processor(span));
            }
        }
    }

    /// Another one is active until then, or none is.
    fn interrupt(&mut self, to_ns: u64, others_ns: u64, out: &mut Stretches) {
        self.others_ns += others_ns;
        if self.is_open && (self.others_ns > OTHERS_NS || to_ns - self.open.end_ns > PAUSE_NS) {
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut Stretches) {
        self.others_ns = 0;
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let stretch = std::mem::take(&mut self.open);
        if LONG_STRETCH_S.holds(Ns::of(stretch.end_ns - stretch.start_ns)) {
            self.last = Some((stretch.location, stretch.start_ns, stretch.end_ns));
            out.long.push(stretch);
            return;
        }
        out.short += 1;
        for (context, empty) in stretch.empty {
            *out.in_short.entry((stretch.location, context)).or_default() += empty;
        }
    }
}

/// Some of the locations, in no order.
struct Members {
    all: Vec<usize>,
    /// Where in `all` each is.
    place: Vec<usize>,
}

impl Members {
    /// None of so many.
    fn of(count: usize) -> Members {
        Members { all: Vec::new(), place: vec![0; count] }
    }

    /// Adds one that is not among them.
    fn insert(&mut self, one: usize) {
        self.place[one] = self.all.len();
        self.all.push(one);
    }

    /// Takes one of them out.
    fn remove(&mut self, one: usize) {
        let place = self.place[one];
        self.all.swap_remove(place);
        if let Some(&moved) = self.all.get(place) {
            self.place[moved] = place;
        }
    }
}

/// The part of a span of work in which the location was not in the run queue.
fn on_processor(span: &Span) -> f64 {
    if span.state == State::Working(Work::Delayed) {
        return 0.0;
    }
    let length_ns = span.length_ns().max(1) as f64;
    (1.0 - span.parts.get(PartKind::Delayed) as f64 / length_ns).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_account::ledger::{Process, Processors, Timeline, Windows};

    const MS: u64 = 1_000_000;

    fn stretches(of: &[&[(u64, u64, State, ContextId)]], width: f64) -> Stretches {
        let timelines = of.iter().enumerate().map(|(id, spans)| Timeline {
            location: LocationId::from_index(id),
            process: ProcessId(0),
            service: false,
            spans: spans
                .iter()
                .map(|&(start, end, state, context)| Span::new(start * MS, end * MS, state, context))
                .collect::<Vec<_>>(),
        });
        let run = Run {
            timelines: timelines.collect(),
            processes: vec![Process::new(ProcessId(0), 0, 1000 * MS)],
            processor_sets: vec![],
            bound: Default::default(),
        };
        let processors = Processors::given(&run, width as u32).unwrap();
        let ledger = Ledger::of(&run, &processors, &Windows::all()).unwrap();
        Stretches::new(&run, &ledger, width, |_| 0)
    }

    const WORK: State = State::Working(Work::Compute);
    const REST: State = State::Passive(PassiveReason::Condition);
    const SLEEP: State = State::Passive(PassiveReason::Sleep);

    #[test]
    fn a_long_time_alone_is_a_stretch_and_short_ones_are_summed_up() {
        let found = stretches(
            &[
                &[
                    (0, 100, WORK, ContextId(1)),
                    (100, 110, WORK, ContextId(2)),
                    (110, 200, REST, ContextId(3)),
                ],
                &[
                    (0, 30, REST, ContextId(4)),
                    (30, 35, WORK, ContextId(5)),
                    (35, 100, REST, ContextId(4)),
                    (100, 200, WORK, ContextId(6)),
                ],
            ],
            2.0,
        );
        let long: Vec<_> =
            found.long.iter().map(|one| (one.location, one.start_ns / MS, one.end_ns / MS)).collect();
        assert_eq!(long, [(LocationId(0), 0, 30), (LocationId(0), 35, 100), (LocationId(1), 110, 200)]);
        assert_eq!(found.long[0].sum(), Ns::of(30 * MS));
        assert!(found.in_short.is_empty() && found.short == 0);
    }

    #[test]
    fn short_stretches_are_told_by_who_works() {
        let found = stretches(
            &[
                &[(0, 10, WORK, ContextId(1)), (10, 20, REST, ContextId(3)), (20, 30, WORK, ContextId(1))],
                &[(0, 10, REST, ContextId(4)), (10, 20, WORK, ContextId(5)), (20, 30, REST, ContextId(4))],
            ],
            4.0,
        );
        assert_eq!((found.long.len(), found.short), (0, 3));
        assert_eq!(found.in_short[&(LocationId(0), ContextId(1))], Ns::of(60 * MS));
        assert_eq!(found.in_short[&(LocationId(1), ContextId(5))], Ns::of(30 * MS));
    }

    #[test]
    fn who_sleeps_while_nobody_works_is_told() {
        let found = stretches(
            &[
                &[(0, 10, SLEEP, ContextId(1)), (10, 20, WORK, ContextId(2))],
                &[(0, 5, WORK, ContextId(3)), (5, 20, SLEEP, ContextId(4))],
            ],
            2.0,
        );
        assert_eq!(found.asleep[&(LocationId(0), ContextId(1))], Ns::of(2_500_000));
        assert_eq!(found.asleep[&(LocationId(1), ContextId(4))], Ns::of(2_500_000));
    }

    #[test]
    fn what_had_no_processor_is_nobodys_fault() {
        let delayed = Span::new(0, 100 * MS, WORK, ContextId(1)).with(PartKind::Delayed, 60 * MS);
        assert!((on_processor(&delayed) - 0.4).abs() < 1e-9);
        assert_eq!(on_processor(&Span { state: State::Working(Work::Delayed), ..delayed }), 0.0);
    }
}
