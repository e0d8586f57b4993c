//! At which counts of threads a region is degraded, and by how much.

use super::timing::Timing;

/// What counts as degraded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Definition {
    /// The paper's definition 3 to the letter: T(m) > T(m') for some m' < m. Noise of a microsecond makes a
    /// rank.
    Paper,
    /// The same beyond doubt: longer than the uncertainty of both times, and by enough to matter.
    Robust(Limits),
}

/// By how much a region must be slower for that to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// As a part of its own time: 0.05.
    pub relative: f64,
    /// At least so much, s.
    pub absolute_s: f64,
}

impl Limits {
    /// The usual ones, in a program that takes so long: 5 % of the region, half a percent of the program, a
    /// millisecond.
    pub fn of_program(program_s: f64) -> Limits {
        Limits { relative: 0.05, absolute_s: (0.005 * program_s).max(0.001) }
    }
}

/// Whether a region is degraded at a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Degraded,
    /// It is not, or by too little to matter.
    Not,
    /// It looks so, and may be chance or another program's doing.
    Inconclusive(Why),
}

/// Why a verdict cannot be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// One repetition says nothing of how repetitions differ.
    OneRepetition,
    /// The repetitions of both counts overlap.
    Overlap,
    /// Without the time that its threads stood in the run queue it would not be.
    Disturbed,
    /// It was not executed as often with both counts.
    OtherWork,
    /// Measuring took too large a part of its time, or a part that is not known well enough.
    TooFine,
}

impl Why {
    /// Identifier in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Why::OneRepetition => "one-repetition",
            Why::Overlap => "overlap",
            Why::Disturbed => "disturbed",
            Why::OtherWork => "other-work",
            Why::TooFine => "too-fine",
        }
    }
}

impl Verdict {
    /// Identifier in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Verdict::Degraded => "degraded",
            Verdict::Not => "not",
            Verdict::Inconclusive(_) => "inconclusive",
        }
    }
}

/// A region with one count of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// Threads, m.
    pub count: u32,
    /// The time as it was measured, s.
    pub measured_s: f64,
    /// T(m): the time without what measuring took, s.
    pub time_s: f64,
    /// Standard error of the difference between both, s.
    pub time_error_s: f64,
    /// T of the least count ÷ T(m), times that count: definition 1 where it is 1. 0 if the region takes no
    /// time.
    pub speedup: f64,
    /// Speedup ÷ m (definition 2).
    pub efficiency: f64,
    /// The smaller count with which it was fastest, m*; None for the least count.
    pub best: Option<u32>,
    /// T(m) − T(m*), s; negative where it is faster with m.
    pub excess_s: f64,
    /// T(m) less what it were if it scaled from the least count on, s.
    pub scaling_loss_s: f64,
    /// Whether it is degraded; never at the least count.
    pub verdict: Verdict,
    /// Whether there are more threads than processors.
    pub oversubscribed: bool,
}

impl Rank {
    /// Whether m is a rank.
    pub fn is_degraded(&self) -> bool {
        self.verdict == Verdict::Degraded
    }

    /// Definition 6, s: the whole time, if it is degraded.
    pub fn strength_s(&self) -> f64 {
        if self.is_degraded() { self.time_s } else { 0.0 }
    }

    /// What would be won by using m* threads instead, s, if it is degraded.
    pub fn loss_s(&self) -> f64 {
        if self.is_degraded() { self.excess_s } else { 0.0 }
    }
}

/// A region with all counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Degradation {
    /// By count, ascending.
    pub ranks: Vec<Rank>,
}

impl Degradation {
    /// Counts at which it is degraded with no more threads than processors (definition 4).
    pub fn set(&self) -> Vec<u32> {
        self.ranks
            .iter()
            .filter(|rank| rank.is_degraded() && !rank.oversubscribed)
            .map(|rank| rank.count)
            .collect()
    }

    /// The same with more threads than processors, which the definition leaves out.
    pub fn oversubscribed_set(&self) -> Vec<u32> {
        self.ranks
            .iter()
            .filter(|rank| rank.is_degraded() && rank.oversubscribed)
            .map(|rank| rank.count)
            .collect()
    }

    /// The least rank (definition 5), and the largest count below it that was tried: with counts left out the
    /// true minimal rank lies above that and up to this.
    pub fn minimal(&self) -> Option<(u32, u32)> {
        let at = self.ranks.iter().position(|rank| rank.is_degraded() && !rank.oversubscribed)?;
        Some((self.ranks[at].count, self.ranks[at.checked_sub(1)?].count))
    }

    /// Whether it is degraded at any count.
    pub fn is_degraded(&self) -> bool {
        self.ranks.iter().any(Rank::is_degraded)
    }

    /// The count at which most is lost, with no more threads than processors if it is degraded there at all.
    pub fn worst(&self) -> Option<&Rank> {
        let worst = |oversubscribed: bool| {
            let ranks = self
                .ranks
                .iter()
                .filter(move |rank| rank.is_degraded() && rank.oversubscribed == oversubscribed);
            ranks.max_by(|a, b| a.loss_s().total_cmp(&b.loss_s()))
        };
        worst(false).or_else(|| worst(true))
    }
}

/// Judges a region. `timings` are ascending by count; `available` processors are there.
pub fn ranks(timings: &[Timing], definition: Definition, available: u32) -> Degradation {
    let mut ranks: Vec<Rank> = Vec::with_capacity(timings.len());
    let measured = timings;
    let timings: Vec<Timing> = measured.iter().map(Timing::corrected).collect();
    let Some(first) = timings.first() else { return Degradation::default() };
    let (first_s, first_count) = (first.typical_s(), f64::from(first.count));
    for (at, timing) in timings.iter().enumerate() {
        let time_s = timing.typical_s();
        let best = (0..at).min_by(|&a, &b| timings[a].typical_s().total_cmp(&timings[b].typical_s()));
        let count = f64::from(timing.count);
        let speedup = if time_s > 0.0 { first_s / time_s * first_count } else { 0.0 };
        ranks.push(Rank {
            count: timing.count,
            measured_s: measured[at].typical_s(),
            time_s,
            time_error_s: measured[at].added_error_s,
            speedup,
            efficiency: speedup / count,
            best: best.map(|best| timings[best].count),
            excess_s: best.map_or(0.0, |best| time_s - timings[best].typical_s()),
            scaling_loss_s: time_s - first_s * first_count / count,
            verdict: best.map_or(Verdict::Not, |best| {
                let too_fine = TooFine::of(&measured[best], &measured[at]);
                verdict(&timings[best], timing, &too_fine, definition)
            }),
            oversubscribed: timing.count > available,
        });
    }
    Degradation { ranks }
}

/// The chance of an error that is accepted where repetitions are not all apart; it takes five on each side.
const CHANCE: f64 = 0.01;

/// A visit shorter than this, s, was hardly ever interrupted by another program, which would have kept the
/// processor for milliseconds.
const FINE_S: f64 = 2e-4;

/// How many times as long a thread must compute as the region took with fewer threads, for that to be no
/// other program's doing: threads spin for a while when a partner has no processor.
const MUCH: f64 = 2.0;

/// A correction beyond this part of a time is no correction any more.
const CORRECTED_MOST: f64 = 0.2;

/// What measuring takes of two times that are compared.
struct TooFine {
    /// The larger part of both.
    share: f64,
    /// Standard error of their difference by it, s.
    error_s: f64,
}

impl TooFine {
    fn of(best: &Timing, timing: &Timing) -> TooFine {
        TooFine {
            share: best.added_share().max(timing.added_share()),
            error_s: best.added_error_s.hypot(timing.added_error_s),
        }
    }
}

fn verdict(best: &Timing, timing: &Timing, too_fine: &TooFine, definition: Definition) -> Verdict {
    let (time_s, best_s) = (timing.typical_s(), best.typical_s());
    let limits = match definition {
        // What is not there at all with fewer threads has no speedup.
        Definition::Paper if time_s > best_s && best_s > 0.0 => return Verdict::Degraded,
        Definition::Paper => return Verdict::Not,
        Definition::Robust(limits) => limits,
    };
    // What hardly takes time with fewer threads, such as the begin of further ones, is overhead of what is
    // around it, and is judged there.
    if best_s < limits.absolute_s {
        return Verdict::Not;
    }
    if too_fine.share > CORRECTED_MOST {
        return Verdict::Inconclusive(Why::TooFine);
    }
    let margin = 1.0 + limits.relative;
    let is_slower = |by_s: f64| by_s > limits.relative * best_s && by_s >= limits.absolute_s;
    let difference_s = time_s - best_s;
    // What measuring took is not known so well that it could not be the other way round.
    if too_fine.error_s > difference_s.abs()
        && is_slower(difference_s + too_fine.error_s) != is_slower(difference_s - too_fine.error_s)
    {
        return Verdict::Inconclusive(Why::TooFine);
    }
    if !is_slower(difference_s) {
        return Verdict::Not;
    }
    if timing.times_s.len() < 2 || best.times_s.len() < 2 {
        return Verdict::Inconclusive(Why::OneRepetition);
    }
    let is_apart = timing.interval().low > margin * best.interval().high;
    if !is_apart && timing.chance_of_longer(margin, best) > CHANCE {
        return Verdict::Inconclusive(Why::Overlap);
    }
    let undisturbed_s = timing.undisturbed_s();
    let is_disturbed = undisturbed_s <= margin * best_s || undisturbed_s - best_s < limits.absolute_s;
    // Unless one thread alone computes for much longer than all of it took with fewer, a little at each of
    // very many visits.
    let is_fine = timing.visits > 0 && time_s < FINE_S * timing.visits as f64;
    let is_its_own = is_fine && timing.busy_s() >= MUCH * best.interval().high;
    if is_disturbed && !is_its_own {
        return Verdict::Inconclusive(Why::Disturbed);
    }
    Verdict::Degraded
}
