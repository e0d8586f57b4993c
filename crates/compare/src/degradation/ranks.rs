//! At which counts of threads a region is degraded, and by how much.

use crate::scaling::Timing;
use proust_profile::Ns;
use proust_statistics::robust::FEWEST;
use proust_statistics::{self, Change, Matters, change};

/// What counts as degraded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Definition {
    /// The paper's definition 3 to the letter: T(m) > T(m') for some m' < m. Noise of a microsecond makes a
    /// rank.
    Paper,
    /// The same beyond doubt: by more than chance ([`proust_statistics`]), and by enough to matter.
    Robust(Limits),
}

/// By how much a region must be slower for that to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// As a part of its own time: 0.05.
    pub relative: f64,
    /// At least so much.
    pub absolute: Ns,
}

impl Limits {
    /// The usual ones, in a program that takes so long: 5 % of the region, half a percent of the program, a
    /// millisecond.
    pub fn of_program(program: Ns) -> Limits {
        let usual = Matters::of_total(program.as_seconds());
        Limits { relative: usual.relative, absolute: Ns::from_seconds(usual.absolute) }
    }

    fn matters(&self) -> Matters {
        Matters { relative: self.relative, absolute: self.absolute.as_seconds(), ..Matters::of_total(0.0) }
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
    /// Repetitions of one count differ as much among themselves, or its samples are too few.
    Overlap,
    /// Its threads were in the run queue for as long, and repetitions are too few to show how much that
    /// differs.
    Disturbed,
    /// It would be if it were the only place that is judged.
    Places,
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
            Why::Places => "places",
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
    /// The time as it was measured.
    pub measured: Ns,
    /// T(m): the time without the cost of measuring.
    pub time: Ns,
    /// Standard error of the difference between both.
    pub time_error: Ns,
    /// T of the least count ÷ T(m), times that count: definition 1 where it is 1. 0 if the region takes no
    /// time.
    pub speedup: f64,
    /// Speedup ÷ m (definition 2).
    pub efficiency: f64,
    /// The smaller count with which it was fastest, m*; None for the least count.
    pub best: Option<u32>,
    /// T(m) − T(m*); negative where it is faster with m.
    pub excess: Ns,
    /// T(m) less what it were if it scaled from the least count on.
    pub scaling_loss: Ns,
    /// Whether it is degraded; never at the least count.
    pub verdict: Verdict,
    /// What of the excess is more than chance; None where that was not asked for.
    pub change: Option<Change>,
    /// Whether others had its processors for so long that it may be their doing: repetitions show how much
    /// that differs from run to run, and not that it is the same with both counts.
    pub is_disturbed: bool,
    /// The typical time for which its threads were in the run queue: what of the excess may be the doing
    /// of others. 0 where it is known to be the region's own.
    pub others: Ns,
    /// Whether there are more threads than processors.
    pub oversubscribed: bool,
}

impl Rank {
    /// Whether m is a rank.
    pub fn is_degraded(&self) -> bool {
        self.verdict == Verdict::Degraded
    }

    /// Definition 6: the whole time, if it is degraded.
    pub fn strength(&self) -> Ns {
        if self.is_degraded() { self.time } else { Ns::ZERO }
    }

    /// Further repetitions of each count that would probably decide an inconclusive verdict; None where more
    /// of them do not help, or too many would be needed.
    pub fn more_runs(&self) -> Option<u32> {
        match self.verdict {
            Verdict::Inconclusive(Why::OtherWork | Why::TooFine) | Verdict::Degraded | Verdict::Not => None,
            Verdict::Inconclusive(Why::OneRepetition) => Some(FEWEST as u32 - 1),
            Verdict::Inconclusive(_) => self.change.and_then(|change| change.more_runs),
        }
    }

    /// Whether it is degraded, and others had its processors for as long as it lost or longer: then they may
    /// be the whole reason.
    pub fn may_be_of_others(&self) -> bool {
        self.is_degraded() && self.others >= self.loss()
    }

    /// The time saved by using m* threads instead, if it is degraded.
    pub fn loss(&self) -> Ns {
        if self.is_degraded() { self.excess } else { Ns::ZERO }
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
            ranks.max_by_key(|rank| rank.loss())
        };
        worst(false).or_else(|| worst(true))
    }
}

/// Judges a region alone. `timings` are ascending by count; `available` processors are there.
pub fn ranks(timings: &[Timing], definition: Definition, available: u32) -> Degradation {
    let mut ranks: Vec<Rank> = Vec::with_capacity(timings.len());
    let measured = timings;
    let timings: Vec<Timing> = measured.iter().map(Timing::corrected).collect();
    let Some(first) = timings.first() else { return Degradation::default() };
    let (first_time, first_count) = (first.typical(), f64::from(first.count));
    for (at, timing) in timings.iter().enumerate() {
        let time = timing.typical();
        let best = (0..at).min_by_key(|&at| timings[at].typical());
        let count = f64::from(timing.count);
        let speedup = first_time.share_of(time) * first_count;
        let judged = best.map(|best| {
            let too_fine = TooFine::of(&measured[best], &measured[at]);
            judge(&timings[best], timing, &too_fine, definition)
        });
        let (verdict, change) = judged.unwrap_or((Verdict::Not, None));
        let is_disturbed = match (definition, change) {
            (Definition::Robust(limits), Some(change)) => change.is_disturbed(&limits.matters()),
            _ => false,
        };
        ranks.push(Rank {
            count: timing.count,
            measured: measured[at].typical(),
            time,
            time_error: measured[at].added_error,
            speedup,
            efficiency: speedup / count,
            best: best.map(|best| timings[best].count),
            excess: best.map_or(Ns::ZERO, |best| time - timings[best].typical()),
            scaling_loss: time - first_time * (first_count / count),
            verdict,
            change,
            is_disturbed,
            others: match change {
                Some(change) if change.b.disturbed > 0.0 => timing.typical_queued(),
                _ => Ns::ZERO,
            },
            oversubscribed: timing.count > available,
        });
    }
    Degradation { ranks }
}

/// Of many places, each with all counts, some look degraded by chance: a degradation that is not certain
/// among so many is inconclusive.
pub fn correct(places: &mut [Degradation], limits: &Limits) {
    let all = || places.iter().flat_map(|place| &place.ranks).filter_map(|rank| rank.change);
    let mut changes: Vec<Change> = all().collect();
    change::correct(&mut changes, &limits.matters());
    let ranks = places.iter_mut().flat_map(|place| &mut place.ranks).filter(|rank| rank.change.is_some());
    for (rank, change) in ranks.zip(changes) {
        if rank.is_degraded() && change.why == proust_statistics::Why::Places {
            rank.verdict = Verdict::Inconclusive(Why::Places);
        }
        rank.change = Some(change);
    }
}

/// A visit shorter than this was hardly ever interrupted by another program, which would have kept the
/// processor for milliseconds.
const FINE: Ns = Ns::new(200_000);

/// How many times as long a thread must compute as the region took with fewer threads, for that to be no
/// other program's doing: threads spin for a while when a partner has no processor.
const MUCH: f64 = 2.0;

/// A correction beyond this part of a time is no correction any more.
const CORRECTED_MOST: f64 = 0.2;

/// What measuring takes of two times that are compared.
struct TooFine {
    /// The larger part of both.
    share: f64,
    /// Standard error of their difference by it.
    error: Ns,
}

impl TooFine {
    fn of(best: &Timing, timing: &Timing) -> TooFine {
        TooFine {
            share: best.added_share().max(timing.added_share()),
            error: best.added_error.hypot(timing.added_error),
        }
    }
}

fn judge(
    best: &Timing,
    timing: &Timing,
    too_fine: &TooFine,
    definition: Definition,
) -> (Verdict, Option<Change>) {
    let (time, best_time) = (timing.typical(), best.typical());
    let limits = match definition {
        // A region that does not exist with fewer threads has no speedup.
        Definition::Paper if time > best_time && best_time.is_positive() => return (Verdict::Degraded, None),
        Definition::Paper => return (Verdict::Not, None),
        Definition::Robust(limits) => limits,
    };
    // What hardly takes time with fewer threads, such as the begin of further ones, is overhead of what is
    // around it, and is judged there.
    if best_time < limits.absolute {
        return (Verdict::Not, None);
    }
    if too_fine.share > CORRECTED_MOST {
        return (Verdict::Inconclusive(Why::TooFine), None);
    }
    let is_slower = |by: Ns| by > best_time * limits.relative && by >= limits.absolute;
    let difference = time - best_time;
    // What measuring took is not known so well that it could not be the other way round.
    if too_fine.error > difference.abs()
        && is_slower(difference + too_fine.error) != is_slower(difference - too_fine.error)
    {
        return (Verdict::Inconclusive(Why::TooFine), None);
    }
    // One thread alone computes for much longer than all of it took with fewer, a little at each of very many
    // visits: that is no other program's doing.
    let is_fine = timing.visits > 0 && time < FINE * timing.visits as f64;
    let is_its_own = is_fine && timing.busy() >= best.interval().high * MUCH;
    let change = timing.change_from(best, is_its_own, &limits.matters());
    let fewest = timing.times.len().min(best.times.len());
    let verdict = if !is_slower(difference) {
        Verdict::Not
    } else if fewest < 2 {
        Verdict::Inconclusive(Why::OneRepetition)
    } else {
        match (change.verdict, change.why) {
            (proust_statistics::Verdict::More, _) => Verdict::Degraded,
            (proust_statistics::Verdict::Undecided, proust_statistics::Why::Disturbed) => {
                Verdict::Inconclusive(Why::Disturbed)
            }
            (proust_statistics::Verdict::Undecided, _) => Verdict::Inconclusive(Why::Overlap),
            (proust_statistics::Verdict::Less | proust_statistics::Verdict::Same, _) => Verdict::Not,
        }
    };
    (verdict, Some(change))
}
