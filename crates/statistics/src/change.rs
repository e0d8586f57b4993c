//! An amount before and after: whether it changed.

use super::observation::{Estimate, Observation};
use super::quantiles;
use super::robust::{Null, Robust};
use super::{family, robust};

/// Level of the interval that is shown.
const SHOWN: f64 = 0.95;
/// Level of the interval that must lie within the margin for `same`: two one-sided tests of 5 % (Schuirmann,
/// J. Pharmacokinet. Biopharm. 15, 1987). Limits are tested by its ends.
const TWO_SIDES: f64 = 0.9;
/// Level of a decision: chance makes so much of equal amounts in one of a hundred comparisons.
pub(super) const DECISION: f64 = 0.99;
/// From this probability of chance on a change is certain, if it is the only one that is asked for; of many
/// places one may be called certain falsely in a hundred comparisons.
const CERTAIN: f64 = 0.001;
const CERTAIN_OF_PLACES: f64 = 0.01;
/// The median of normal values is less certain than their mean by √(π/2).
const OF_MEDIANS: f64 = 1.2533;
/// More runs than that are not suggested.
const MOST_RUNS: u32 = 30;
/// Of the places that are called changed so many may be expected to be false.
const OF_PLACES: f64 = 0.05;

/// Which differences matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matters {
    /// The least difference as a part of the larger amount.
    pub relative: f64,
    /// The difference that single runs may have without a cause, as a part of the larger amount.
    pub single: f64,
    /// The least difference, in the unit of the amounts.
    pub absolute: f64,
}

impl Matters {
    /// The defaults: 5 %, 10 % where a side is a single run, and half a percent of the whole, at least a
    /// millisecond.
    pub fn of_total(total_s: f64) -> Matters {
        Matters { relative: 0.05, single: 0.1, absolute: (0.005 * total_s.abs()).max(0.001) }
    }
}

/// Whether an amount changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The second is larger.
    More,
    /// The second is smaller.
    Less,
    /// They are the same, or differ by too little to matter.
    #[default]
    Same,
    /// They may be the same or not.
    Undecided,
}

impl Verdict {
    /// All there are.
    pub const ALL: [Verdict; 4] = [Verdict::More, Verdict::Less, Verdict::Same, Verdict::Undecided];

    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Verdict::More => "more",
            Verdict::Less => "less",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        }
    }

    /// Whether it is more or less.
    pub const fn is_change(self) -> bool {
        matches!(self, Verdict::More | Verdict::Less)
    }
}

/// The reason for a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Why {
    /// It is larger than chance, and it matters.
    Significant,
    /// There is none.
    #[default]
    Equal,
    /// It is too small to matter.
    Small,
    /// The samples are too few.
    Samples,
    /// Repetitions differ as much among themselves.
    Spread,
    /// Single runs may differ as much: how much this program's runs differ is not known.
    Single,
    /// Something else ran on the machine, which may have caused as much.
    Disturbed,
    /// It would be a change if it were the only place that is compared.
    Places,
}

impl Why {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Why::Significant => "significant",
            Why::Equal => "equal",
            Why::Small => "small",
            Why::Samples => "samples",
            Why::Spread => "spread",
            Why::Single => "single",
            Why::Disturbed => "disturbed",
            Why::Places => "places",
        }
    }
}

/// How a change is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// By bounds: single runs on both sides.
    #[default]
    Bounds,
    /// By the means, Student's test or Welch's: a side has one run or two.
    Means,
    /// By the medians ([`robust`]): three runs or more on both sides.
    Medians,
}

impl Method {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Method::Bounds => "bounds",
            Method::Means => "means",
            Method::Medians => "medians",
        }
    }
}

/// An amount before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Before.
    pub a: Estimate,
    /// After.
    pub b: Estimate,
    /// After − before, of the means: these sum up over places and accounts.
    pub delta: f64,
    /// After by before, of the means; None where there was nothing before.
    pub ratio: Option<f64>,
    /// Standard error of `delta`.
    pub error: f64,
    /// How it is decided.
    pub method: Method,
    /// After − before as it is decided by: of the medians or of the means.
    pub difference: f64,
    /// Half of the 95 % interval of `difference`.
    pub half: f64,
    /// Half of its 90 % interval, by which limits are tested.
    pub half_of_limits: f64,
    /// The probability that equal sides differ as much: by the repetitions and by sampling, whichever is
    /// larger. Of single runs by sampling alone.
    pub probability: f64,
    /// What it is.
    pub verdict: Verdict,
    /// Why.
    pub why: Why,
    /// Whether it would remain if all places that are compared with it were to be right together, and three
    /// runs of each side say so.
    pub is_certain: bool,
    /// Further runs of each side that would probably decide it; None where it is decided, or more than 30
    /// would be needed.
    pub more_runs: Option<u32>,
}

/// What may be known of a difference without its cause, at some level.
struct Halves {
    spread: f64,
    sampling: f64,
    single: f64,
    disturbed: f64,
}

impl Halves {
    fn largest(&self) -> f64 {
        self.spread.max(self.sampling).max(self.single + self.disturbed)
    }

    /// What of it keeps a difference of this size from being a change.
    fn why(&self, size: f64) -> Why {
        if size <= self.sampling {
            Why::Samples
        } else if size <= self.spread {
            Why::Spread
        } else if size <= self.single {
            Why::Single
        } else if size <= self.single + self.disturbed {
            Why::Disturbed
        } else {
            Why::Spread
        }
    }
}

/// Two sides, and how their difference is measured.
struct Sides {
    method: Method,
    difference: f64,
    /// Standard error by the repetitions, or the robust scale; and the degrees of freedom, which the robust
    /// scale has none of.
    spread: f64,
    degrees: f64,
    null: Option<std::sync::Arc<Null>>,
    /// Standard deviation of a run.
    deviation: f64,
    /// Standard error by sampling.
    sampling: f64,
    single: f64,
    disturbed: f64,
}

impl Sides {
    fn new(observed: (&[Observation], &[Observation]), a: &Estimate, b: &Estimate, single: f64) -> Sides {
        let values = |side: &[Observation]| side.iter().map(|o| o.value).collect::<Vec<f64>>();
        let sampling = a.sampling.hypot(b.sampling);
        let fewest = a.runs.min(b.runs);
        let of_one = if fewest > 1 { 0.0 } else { single * a.mean.abs().max(b.mean.abs()) };
        if let Some(by_medians) = Robust::of(&values(observed.0), &values(observed.1)) {
            return Sides {
                method: Method::Medians,
                difference: by_medians.difference,
                spread: by_medians.scale,
                degrees: f64::INFINITY,
                null: Some(Null::of(a.runs, b.runs)),
                deviation: by_medians.deviation(),
                sampling: OF_MEDIANS * sampling,
                single: 0.0,
                disturbed: 0.0,
            };
        }
        let (spread, degrees, deviation) = of_means(a, b);
        Sides {
            method: if a.runs.max(b.runs) > 1 { Method::Means } else { Method::Bounds },
            difference: b.mean - a.mean,
            spread,
            degrees,
            null: None,
            deviation,
            sampling,
            single: of_one,
            disturbed: a.disturbed.max(b.disturbed),
        }
    }

    fn halves(&self, level: f64) -> Halves {
        let spread = match &self.null {
            Some(null) => null.critical(1.0 - level) * self.spread,
            None if self.spread > 0.0 => quantiles::t(level, self.degrees) * self.spread,
            None => 0.0,
        };
        let sampling = quantiles::t(level, f64::INFINITY) * self.sampling;
        Halves { spread, sampling, single: self.single, disturbed: self.disturbed }
    }

    fn probability(&self) -> f64 {
        let by_spread = match &self.null {
            Some(null) => null.probability(self.difference / self.spread),
            None if self.spread > 0.0 => quantiles::two_sided(self.difference / self.spread, self.degrees),
            None => 0.0,
        };
        let by_sampling = match self.sampling > 0.0 {
            true => quantiles::two_sided(self.difference / self.sampling, f64::INFINITY),
            false => 0.0,
        };
        by_spread.max(by_sampling)
    }

    /// Runs of each side with which Student's test would find a difference of this size in four of five
    /// comparisons.
    fn runs_for(&self, size: f64) -> Option<u32> {
        if self.method == Method::Bounds {
            return Some(robust::FEWEST as u32);
        }
        (robust::FEWEST as u32..=MOST_RUNS).find(|&n| {
            let degrees = 2.0 * f64::from(n) - 2.0;
            let errors = quantiles::t(DECISION, degrees) + quantiles::t(0.6, degrees);
            errors * self.deviation * (2.0 / f64::from(n)).sqrt() <= size
        })
    }
}

/// Standard error of the difference of the means by the repetitions, its degrees of freedom, and the standard
/// deviation of a run.
fn of_means(a: &Estimate, b: &Estimate) -> (f64, f64, f64) {
    let deviation = |side: &Estimate| side.spread * (side.runs as f64).sqrt();
    // A single run may differ as the repetitions of the other side do.
    let (of_a, of_b) = match (a.runs > 1, b.runs > 1) {
        (false, true) => (deviation(b), b.spread),
        (true, false) => (a.spread, deviation(a)),
        _ => (a.spread, b.spread),
    };
    let (squares_a, squares_b) = (of_a * of_a, of_b * of_b);
    let repeated = a.runs > 1 && b.runs > 1;
    let degrees = if !repeated || squares_a + squares_b == 0.0 {
        a.degrees().min(b.degrees())
    } else if a.runs == b.runs {
        // As many on both sides: Student's test, which knows more of few repetitions.
        a.degrees() + b.degrees()
    } else {
        // Welch and Satterthwaite.
        let parts = squares_a.powi(2) / a.degrees() + squares_b.powi(2) / b.degrees();
        (squares_a + squares_b).powi(2) / parts
    };
    ((squares_a + squares_b).sqrt(), degrees, deviation(a).max(deviation(b)))
}

impl Change {
    /// Whether an amount changed. Exchanging the sides exchanges more and less, and nothing else.
    pub fn of(a: &[Observation], b: &[Observation], matters: &Matters) -> Change {
        let (of_a, of_b) = (Estimate::of(a), Estimate::of(b));
        let sides = Sides::new((a, b), &of_a, &of_b, matters.single);
        let spread = of_means(&of_a, &of_b).0;
        let delta = of_b.mean - of_a.mean;
        let decision = sides.halves(DECISION);
        let probability = sides.probability();
        let half_of_limits = sides.halves(TWO_SIDES).largest();
        let margin = matters.absolute.max(matters.relative * of_a.mean.abs().max(of_b.mean.abs()));
        let size = sides.difference.abs();
        // An outlier may turn the means the other way: then nothing is known.
        let is_one_way = sides.difference * delta > 0.0;
        let (verdict, why) = if delta == 0.0 && sides.difference == 0.0 {
            (Verdict::Same, Why::Equal)
        } else if size > margin && size > decision.largest() && is_one_way {
            (if sides.difference > 0.0 { Verdict::More } else { Verdict::Less }, Why::Significant)
        } else if size + half_of_limits <= margin {
            (Verdict::Same, Why::Small)
        } else {
            (Verdict::Undecided, decision.why(size))
        };
        let runs = of_a.runs.min(of_b.runs) as u32;
        let more_runs = (verdict == Verdict::Undecided)
            .then(|| sides.runs_for(size.max(margin)).map(|needed| needed.saturating_sub(runs).max(1)))
            .flatten();
        Change {
            a: of_a,
            b: of_b,
            delta,
            ratio: (of_a.mean != 0.0).then(|| of_b.mean / of_a.mean),
            error: spread.max(of_a.sampling.hypot(of_b.sampling)),
            method: sides.method,
            difference: sides.difference,
            half: sides.halves(SHOWN).largest(),
            half_of_limits,
            probability,
            verdict,
            why,
            is_certain: verdict.is_change() && sides.method == Method::Medians && probability <= CERTAIN,
            more_runs,
        }
    }

    /// The 95 % interval of the difference; of single runs its bounds.
    pub fn interval(&self) -> (f64, f64) {
        (self.difference - self.half, self.difference + self.half)
    }

    /// What B is compared with: the median of A, or its mean, as the method has it.
    pub fn before(&self) -> f64 {
        if self.method == Method::Medians { self.a.median } else { self.a.mean }
    }

    /// Whether what else ran on the machine may have caused a part of it that matters. Repetitions show how
    /// much that differs from run to run, and not that it is the same on both sides.
    pub fn is_disturbed(&self, matters: &Matters) -> bool {
        let disturbed = self.a.disturbed.max(self.b.disturbed);
        disturbed > matters.relative * self.a.mean.abs().max(self.b.mean.abs())
    }
}

/// Corrects changes of many places that are compared at once. Places whose amounts are too small to matter
/// are not counted, however much they differ.
pub fn correct<'c>(changes: impl IntoIterator<Item = &'c mut Change>, matters: &Matters) {
    let mut tested: Vec<&mut Change> = (changes.into_iter())
        .filter(|change| change.a.mean.abs().max(change.b.mean.abs()) > matters.absolute)
        .collect();
    let probabilities: Vec<f64> = tested.iter().map(|change| change.probability).collect();
    let likely = family::benjamini_hochberg(&probabilities, OF_PLACES);
    let certain = family::holm(&probabilities, CERTAIN_OF_PLACES);
    for ((change, is_likely), is_certain) in tested.iter_mut().zip(likely).zip(certain) {
        change.is_certain &= is_certain;
        if change.verdict.is_change() && !is_likely {
            (change.verdict, change.why, change.more_runs) = (Verdict::Undecided, Why::Places, Some(1));
        }
    }
}
