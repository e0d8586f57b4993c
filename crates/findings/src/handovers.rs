//! Waits whose end was also the end of a time in which one location worked alone, or in which none did.
//!
//! Such a wait says why processors were empty: the location that waited works as soon as it may, and could
//! not before. Of several that wait it is the one that goes on first; the others wait for something else, or
//! for their turn. Who only waits for a thread's end leaves it to one that goes on a moment later.

use proust_account::ledger::{PassiveReason, Span, State};
use proust_profile::{ContextId, LocationId, Ns};
use rustc_hash::FxHashMap as Map;

/// What such waits of one location at one place sum up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Handed {
    pub(super) times: u64,
    /// How long the other one had worked alone meanwhile.
    pub(super) waited: Ns,
}

/// Which location waited, where, and for how much work of another.
pub(super) type Wait = (LocationId, ContextId, Handed);

/// All of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Handovers {
    /// By the location that waited, where, and the one of the same program that worked alone meanwhile.
    pub(super) alone: Map<(LocationId, ContextId, LocationId), Handed>,
    /// How long no location did anything before a location went on that had waited, by that location and
    /// where it waited; sleeps are not among them.
    pub(super) still: Map<(LocationId, ContextId), Ns>,
}

/// Watches the sweep.
pub(super) struct Observer<'s> {
    locations: &'s [LocationId],
    /// Which program each executes.
    programs: Vec<usize>,
    /// The one that worked alone last, and how long since then, but for waits.
    worker: Option<usize>,
    alone: Ns,
    still: Ns,
    ended: Option<Ended>,
}

/// The last wait for a thread's or process's end that was over when one had worked alone.
#[derive(Clone, Copy, Debug)]
struct Ended {
    key: Key,
    program: usize,
    credited: Ns,
    at_ns: u64,
}

/// Which location waited, where, and for which.
type Key = (LocationId, ContextId, LocationId);

/// Who waits for a thread's end may go on a moment before the one that was kept from work by it.
const MOMENT_NS: u64 = 1_000_000;

impl<'s> Observer<'s> {
    pub(super) fn new(locations: &'s [LocationId], programs: Vec<usize>) -> Observer<'s> {
        Observer { locations, programs, worker: None, alone: Ns::ZERO, still: Ns::ZERO, ended: None }
    }

    /// No location did anything for so long.
    pub(super) fn still(&mut self, passed: Ns) {
        self.still += passed;
    }

    /// One worked alone.
    pub(super) fn alone(&mut self, at: usize, passed: Ns) {
        if self.worker != Some(at) {
            (self.worker, self.alone) = (Some(at), Ns::ZERO);
        }
        self.alone += passed;
        self.still = Ns::ZERO;
    }

    /// Several did something.
    pub(super) fn several(&mut self) {
        (self.worker, self.alone, self.still) = (None, Ns::ZERO, Ns::ZERO);
    }

    /// A location goes from one span to the next.
    pub(super) fn change(
        &mut self,
        at: usize,
        before: Option<Span>,
        began: Option<Span>,
        now_ns: u64,
        out: &mut Handovers,
    ) {
        let Some((wait, reason)) = before.and_then(|span| match span.state {
            State::Passive(reason) => Some((span, reason)),
            _ => None,
        }) else {
            return;
        };
        if !began.is_some_and(|span| matches!(span.state, State::Working(_))) {
            return;
        }
        let waited = Ns::of(now_ns - wait.start_ns.min(now_ns));
        let location = self.locations[at];
        let still = std::mem::take(&mut self.still).min(waited);
        if still.is_positive() && reason != PassiveReason::Sleep {
            *out.still.entry((location, wait.context)).or_default() += still;
        }
        let is_for_end = matches!(reason, PassiveReason::Join | PassiveReason::Wait);
        if !is_for_end && is_for_another(State::Passive(reason)) && self.takes_over(at, &wait, now_ns, out) {
            return;
        }
        let Some(worker) = self.worker.filter(|&worker| worker != at) else { return };
        if self.alone.is_positive()
            && self.programs[worker] == self.programs[at]
            && is_for_another(State::Passive(reason))
        {
            let key = (location, wait.context, self.locations[worker]);
            let handed = out.alone.entry(key).or_default();
            let credited = std::mem::take(&mut self.alone).min(waited);
            (handed.times, handed.waited) = (handed.times + 1, handed.waited + credited);
            let program = self.programs[at];
            self.ended = is_for_end.then_some(Ended { key, program, credited, at_ns: now_ns });
        }
    }

    /// Whether a location that goes on was kept from work by what another one has just been credited with for
    /// waiting for its end; then that is this one's.
    fn takes_over(&mut self, at: usize, wait: &Span, now_ns: u64, out: &mut Handovers) -> bool {
        let (location, waited) = (self.locations[at], Ns::of(now_ns - wait.start_ns.min(now_ns)));
        let is_its = |ended: &Ended| {
            now_ns <= ended.at_ns + MOMENT_NS
                && waited >= ended.credited
                && ended.program == self.programs[at]
                && ![ended.key.0, ended.key.2].contains(&location)
        };
        let Some(Ended { key, credited, .. }) = self.ended.filter(is_its) else { return false };
        self.ended = None;
        if let Some(before) = out.alone.get_mut(&key) {
            (before.times, before.waited) = (before.times - 1, before.waited - credited);
            if before.times == 0 {
                out.alone.remove(&key);
            }
        }
        let handed = out.alone.entry((location, wait.context, key.2)).or_default();
        (handed.times, handed.waited) = (handed.times + 1, handed.waited + credited);
        true
    }
}

/// Whether a location may wait for another one of its program.
pub(super) fn is_for_another(state: State) -> bool {
    matches!(state, State::Passive(reason) if FOR_ANOTHER.contains(&reason))
}

/// Why a location is passive that waits for another one of its program.
const FOR_ANOTHER: [PassiveReason; 12] = [
    PassiveReason::Poll,
    PassiveReason::Unknown,
    PassiveReason::Condition,
    PassiveReason::Semaphore,
    PassiveReason::Park,
    PassiveReason::Join,
    PassiveReason::Wait,
    PassiveReason::Pipe,
    PassiveReason::Socket,
    PassiveReason::Event,
    PassiveReason::Futex,
    PassiveReason::Queue,
];
