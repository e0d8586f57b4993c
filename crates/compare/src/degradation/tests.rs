//! The paper's printed figures, and the robust definition on times whose noise is known.

use proptest::prelude::*;
use proust_profile::Ns;

use super::descent::{Tree, paths};
use super::*;
use crate::scaling::{Cause, Causes, Timing};

/// SP class A on 4 processors: speedups 1.512, 1.557 and 1.061; 245.26 s with four threads.
fn sp() -> Vec<Timing> {
    let first_s = 1.061 * 245.26;
    [(1, first_s), (2, first_s / 1.512), (3, first_s / 1.557), (4, 245.26)]
        .map(|(count, time_s)| timed(count, [time_s]))
        .into()
}

fn timed(count: u32, seconds: impl AsRef<[f64]>) -> Timing {
    Timing::new(count, times(seconds))
}

fn times(seconds: impl AsRef<[f64]>) -> Vec<Ns> {
    seconds.as_ref().iter().copied().map(Ns::from_seconds).collect()
}

const SECOND: Ns = Ns::new(1_000_000_000);

fn rounded(number: f64, digits: i32) -> f64 {
    (number * 10f64.powi(digits)).round() / 10f64.powi(digits)
}

#[test]
fn the_whole_program_of_the_paper() {
    let whole = ranks(&sp(), Definition::Paper, 4);
    let speedups: Vec<f64> = whole.ranks.iter().map(|rank| rounded(rank.speedup, 3)).collect();
    assert_eq!(speedups, [1.0, 1.512, 1.557, 1.061]);
    let times: Vec<f64> = whole.ranks.iter().map(|rank| rounded(rank.time.as_seconds(), 1)).collect();
    assert_eq!(times, [260.2, 172.1, 167.1, 245.3]);
    assert_eq!(rounded(whole.ranks[3].efficiency, 3), 0.265);
    // adi behaves as the whole: degraded at 4 only, although it is faster there than with one thread.
    assert_eq!((whole.set(), whole.minimal()), (vec![4], Some((4, 3))));
    assert_eq!(whole.ranks[3].best, Some(3));
    assert_eq!(whole.ranks[3].strength(), Ns::from_seconds(245.26));
    assert_eq!(rounded(whole.ranks[3].loss().as_seconds(), 2), 78.13);
    assert_eq!(whole.ranks[2].strength(), Ns::ZERO);
}

/// What is printed of the leaves is their time with four threads, and that their minimal rank is 2.
const LEAVES: [(&str, f64); 3] = [("lhsx.1", 48.653), ("lhsy.1", 38.743), ("lhsz.1", 44.189)];

#[test]
fn the_leaves_of_the_paper() {
    let mut strength_s = 0.0;
    for (name, with_four_s) in LEAVES {
        // What they took with fewer threads is not printed: any times that grow give what is.
        let timings: Vec<Timing> = (1..=4).map(|m| timed(m, [with_four_s * f64::from(m) / 4.0])).collect();
        let leaf = ranks(&timings, Definition::Paper, 4);
        assert_eq!((leaf.set(), leaf.minimal()), (vec![2, 3, 4], Some((2, 1))), "{name}");
        assert_eq!(leaf.worst().unwrap().count, 4);
        strength_s += leaf.ranks[3].strength().as_seconds();
    }
    assert_eq!(rounded(strength_s, 3), 131.585);
    // Of 245.26 s, as the reference reads it: 53.7 %.
    assert_eq!(rounded(100.0 * strength_s / 245.26, 1), 53.7);
}

#[test]
fn the_repairs_of_the_paper() {
    for (repaired_s, won) in [(119.36, 51.33), (115.49, 52.91)] {
        assert_eq!(rounded(100.0 * (1.0 - repaired_s / 245.26), 2), won);
        // From 167.1 s with three threads on: no rank is left.
        let timings = [(1, 260.2), (2, 165.0), (3, 140.0), (4, repaired_s)].map(|(m, t)| timed(m, [t]));
        let repaired = ranks(&timings, Definition::Paper, 4);
        assert!(repaired.set().is_empty() && repaired.minimal().is_none());
    }
}

/// Two threads look as fast as one, since measuring takes more of what one thread does: they are slower.
#[test]
fn what_measuring_took_is_no_time_of_the_program() {
    let timing = |count, time_s: f64, added_s: f64, added_error_s| Timing {
        added: times([added_s; 3]),
        added_error: Ns::from_seconds(added_error_s),
        ..timed(count, [0.998 * time_s, time_s, 1.002 * time_s])
    };
    let robust = Definition::Robust(Limits { relative: 0.05, absolute: Ns::new(1_000_000) });
    let verdicts = |one: Timing, two: Timing| {
        let judged = ranks(&[one, two], robust, 2);
        assert!(judged.ranks[1].measured == SECOND);
        judged.ranks[1].verdict
    };
    let too_fine = Verdict::Inconclusive(Why::TooFine);
    assert_eq!(verdicts(timing(1, 1.0, 0.0, 0.0), timing(2, 1.0, 0.0, 0.0)), Verdict::Not);
    assert_eq!(verdicts(timing(1, 1.0, 0.15, 0.01), timing(2, 1.0, 0.02, 0.01)), Verdict::Degraded);
    // Not known so well that it could not be as fast,
    assert_eq!(verdicts(timing(1, 1.0, 0.15, 0.1), timing(2, 1.0, 0.02, 0.1)), too_fine);
    // or so much that little is left of the time.
    assert_eq!(verdicts(timing(1, 1.0, 0.25, 0.0), timing(2, 1.0, 0.0, 0.0)), too_fine);
    // The other way round: what only measuring made slower is not degraded.
    let (one, two) = (timing(1, 0.9, 0.0, 0.0), timing(2, 1.0, 0.12, 0.001));
    assert_eq!(ranks(&[one, two], robust, 2).ranks[1].verdict, Verdict::Not);
    let paper = ranks(&[timing(1, 1.0, 0.15, 0.0), timing(2, 1.0, 0.02, 0.0)], Definition::Paper, 2);
    assert_eq!(paper.ranks[1].strength(), Ns::from_seconds(0.98));
}

/// Paths through places given as (parent, excess, degraded).
fn paths_of(places: &[(Option<u32>, f64, bool)]) -> Vec<Vec<u32>> {
    let parents: Vec<Option<u32>> = places.iter().map(|place| place.0).collect();
    let loss = times(places.iter().map(|place| if place.2 { place.1 } else { 0.0 }).collect::<Vec<f64>>());
    paths(&Tree {
        parents: &parents,
        loss: &loss,
        excess: &|_, place| Ns::from_seconds(places[place as usize].1),
        is_degraded: &|_, place| places[place as usize].2,
    })
}

#[test]
fn the_decomposition_of_the_paper() {
    // Figure 4: the program; adi in it; x_solve, y_solve, z_solve; lhsx, lhsy, lhsz; the first loops of
    // these. Excess at four threads.
    let places = [
        (None, 78.1, true),
        (Some(0), 79.0, true),
        (Some(0), -1.0, false),
        (Some(1), 30.0, true),
        (Some(1), 22.0, true),
        (Some(1), 26.0, true),
        (Some(3), 31.0, true),
        (Some(4), 23.0, true),
        (Some(5), 27.0, true),
        (Some(6), 33.0, true),
        (Some(7), 24.0, true),
        (Some(8), 28.0, true),
        (Some(6), -2.0, false),
    ];
    assert_eq!(paths_of(&places), [vec![0, 1, 3, 6, 9], vec![5, 8, 11], vec![4, 7, 10]]);
}

#[test]
fn where_many_parts_are_to_blame_alike_what_is_around_them_is_the_cause() {
    let mut places = vec![(None, 8.0, true)];
    places.extend((0..8).map(|_| (Some(0), 1.0, false)));
    assert_eq!(paths_of(&places), [[0]]);
}

#[test]
fn a_degraded_part_of_a_program_that_scales_is_found() {
    let places = [
        (None, -5.0, false),
        (Some(0), 0.5, true),
        (Some(0), 2.0, true),
        (Some(2), 1.9, false),
        (Some(2), 0.1, false),
    ];
    assert_eq!(paths_of(&places), [vec![2, 3], vec![1]]);
    assert!(paths_of(&[(None, 1.0, false)]).is_empty() && paths_of(&[]).is_empty());
}

fn judged(timings: &[Timing]) -> Verdict {
    let limits = Limits::of_program(SECOND);
    ranks(timings, Definition::Robust(limits), 8).ranks.last().unwrap().verdict
}

#[test]
fn doubt_is_told() {
    let slow = timed(2, [2.0, 2.01, 2.02]);
    let fast = timed(1, [1.0, 1.02, 1.01]);
    assert_eq!(judged(&[fast.clone(), slow.clone()]), Verdict::Degraded);
    assert_eq!(judged(&[slow.clone(), fast.clone()]), Verdict::Not);
    let spread = timed(1, [1.0, 3.0, 1.4]);
    let wide = timed(2, [1.6, 2.0, 3.1]);
    assert_eq!(judged(&[spread, wide]), Verdict::Inconclusive(Why::Overlap));
    let five = timed(1, [1.0, 1.01, 1.02, 1.03, 0.9]);
    let lucky = timed(2, [1.02, 2.0, 2.1, 2.2, 2.3]);
    assert_eq!(judged(&[five, lucky]), Verdict::Degraded, "one run of five was as fast");
    let one = timed(1, [1.0]);
    assert_eq!(judged(&[one, slow.clone()]), Verdict::Inconclusive(Why::OneRepetition));
    let sampled = Timing { error: Ns::from_seconds(0.8), ..slow };
    assert_eq!(judged(&[fast, sampled]), Verdict::Inconclusive(Why::Overlap));
}

/// 64 threads, each preempted for half a percent of the time: a slowdown of 30 % still is one.
#[test]
fn three_repetitions_say_what_a_busy_machine_does() {
    let three = [1.0, 1.004, 0.996];
    let queued = |count: u32, factor: f64| Timing {
        queued: times(three.map(|s| 64.0 * 0.005 * factor * s)),
        ..timed(count, three.map(|s| factor * s))
    };
    let many = ranks(&[queued(32, 1.0), queued(64, 1.3)], Definition::Robust(Limits::of_program(SECOND)), 64);
    assert!(many.ranks[1].is_degraded() && many.ranks[1].is_disturbed, "{:?}", many.ranks[1]);
    assert!(many.ranks[1].may_be_of_others(), "0.42 s in the queue, 0.30 s slower");
    let twice =
        ranks(&[queued(32, 1.0), queued(64, 2.0)], Definition::Robust(Limits::of_program(SECOND)), 64);
    assert!(twice.ranks[1].is_degraded() && !twice.ranks[1].may_be_of_others(), "{:?}", twice.ranks[1]);
    // With two nothing says how much that differs,
    let two = |mut timing: Timing| {
        timing.times.truncate(2);
        timing
    };
    let few = ranks(
        &[two(queued(32, 1.0)), two(queued(64, 1.3))],
        Definition::Robust(Limits::of_program(SECOND)),
        64,
    );
    assert_eq!(few.ranks[1].verdict, Verdict::Inconclusive(Why::Disturbed));
    assert!(few.ranks[1].more_runs().is_some_and(|more| more >= 1), "{:?}", few.ranks[1].more_runs());
    // unless a thread computes for so long itself, a little at each of very many visits.
    let busy = |visits| Timing { busy: times([2.3; 2]), visits, ..two(queued(64, 2.6)) };
    let judged = |visits| judged(&[two(queued(32, 1.0)), Timing { queued: times([9.0; 2]), ..busy(visits) }]);
    assert_eq!(judged(100), Verdict::Inconclusive(Why::Disturbed), "23 ms each");
    assert_eq!(judged(100_000), Verdict::Degraded, "23 µs each");
}

#[test]
fn what_is_undecided_says_how_many_runs_would_decide() {
    let of = |timings: &[Timing]| {
        let judged = ranks(timings, Definition::Robust(Limits::of_program(SECOND)), 8);
        let last = judged.ranks[judged.ranks.len() - 1];
        (last.verdict, last.more_runs())
    };
    let one = [timed(1, [1.0]), timed(2, [1.5])];
    assert_eq!(of(&one), (Verdict::Inconclusive(Why::OneRepetition), Some(2)));
    let near = [timed(1, [1.0, 1.05, 0.95]), timed(2, [1.2, 1.14, 1.26])];
    let (verdict, more) = of(&near);
    assert_eq!(verdict, Verdict::Inconclusive(Why::Overlap));
    let more = more.unwrap() as usize;
    assert!((1..=12).contains(&more), "{more}");
    // With so many it probably is decided; with twice as many it is, if they are spread as these are.
    let again = |times: [f64; 3], count| -> Timing {
        timed(count, (0..2 * (3 + more)).map(|n| times[n % 3]).collect::<Vec<f64>>())
    };
    assert_eq!(of(&[again([1.0, 1.05, 0.95], 1), again([1.2, 1.14, 1.26], 2)]).0, Verdict::Degraded);
    let (verdict, more) = of(&[timed(1, [1.0, 1.01, 1.0]), timed(2, [2.0, 2.01, 2.0])]);
    assert_eq!((verdict, more), (Verdict::Degraded, None));
}

/// Of 200 places that did not change, with three counts of which the best is chosen, hardly a sweep in a
/// hundred has one that is called degraded.
#[test]
fn many_places_are_corrected_for() {
    use proust_statistics::robust::Normals;
    const SWEEPS: usize = 100;
    let limits = Limits { relative: 0.05, absolute: Ns::new(1_000_000) };
    let mut normal = Normals::new(7);
    let (mut alone, mut corrected) = (0, 0);
    for _ in 0..SWEEPS {
        let mut places: Vec<Degradation> = (0..200)
            .map(|_| {
                let mut times = || [(); 5].map(|()| 1.0 + 0.06 * normal.next());
                let timings = [1, 2, 4].map(|count| timed(count, times()));
                ranks(&timings, Definition::Robust(limits), 8)
            })
            .collect();
        alone += usize::from(places.iter().any(Degradation::is_degraded));
        ranks::correct(&mut places, &limits);
        corrected += usize::from(places.iter().any(Degradation::is_degraded));
    }
    assert!(alone > SWEEPS / 2, "there is something to correct: {alone}");
    // At most one of twenty may be expected (Benjamini and Hochberg, 5 %); four standard errors.
    assert!(corrected <= 5 + 9, "{corrected} of {SWEEPS}");
}

#[test]
fn what_does_not_matter_is_no_rank() {
    let flat = [timed(1, [1.0, 1.001, 1.002]), timed(2, [1.01, 1.011, 1.012])];
    assert_eq!(judged(&flat), Verdict::Not, "1 % of its time");
    let short = [timed(1, [1e-4; 3]), timed(2, [3e-4; 3])];
    assert_eq!(judged(&short), Verdict::Not, "0.2 ms of a second");
    let begin = [timed(1, [1e-4; 3]), timed(2, [2e-2; 3])];
    assert_eq!(judged(&begin), Verdict::Not, "overhead of what is around it");
    assert_eq!(ranks(&short, Definition::Paper, 8).set(), [2]);
    assert_eq!(ranks(&flat, Definition::Paper, 8).set(), [2]);
}

#[test]
fn more_threads_than_processors_are_a_set_of_their_own() {
    let timings = [(1, 4.0), (2, 2.0), (4, 5.0)].map(|(m, t)| timed(m, [t, t]));
    let all = ranks(&timings, Definition::Robust(Limits::of_program(SECOND * 4.0)), 2);
    assert_eq!((all.set(), all.oversubscribed_set(), all.minimal()), (vec![], vec![4], None));
    assert!(all.worst().unwrap().oversubscribed);
}

#[test]
fn counts_that_were_left_out_make_a_bracket() {
    let timings = [(1, 4.0), (4, 1.0), (16, 5.0)].map(|(m, t)| timed(m, [t]));
    assert_eq!(ranks(&timings, Definition::Paper, 64).minimal(), Some((16, 4)));
}

#[test]
fn nothing_and_zero_are_no_degradation() {
    assert_eq!(ranks(&[], Definition::Paper, 4), Degradation::default());
    let zero = [timed(1, [0.0; 3]), timed(2, [0.0; 3])];
    let judged = ranks(&zero, Definition::Robust(Limits::of_program(Ns::ZERO)), 4);
    assert!(judged.set().is_empty() && judged.ranks.iter().all(|rank| rank.speedup == 0.0));
}

fn causes(list: &[(Cause, f64)]) -> Causes {
    let mut causes = Causes::default();
    for &(cause, seconds) in list {
        causes[cause] = Ns::from_seconds(seconds);
    }
    causes
}

#[test]
fn advice_follows_what_grew() {
    let before = causes(&[(Cause::Work, 1.0)]);
    let given = |now: &[(Cause, f64)], visits, is_region| {
        let now = causes(now);
        advice(&now, &now.more_than(&before), visits, 2, is_region)
    };
    let inner = [(Cause::Work, 1.1), (Cause::Imbalance, 2.0), (Cause::ReleaseLatency, 3.0)];
    assert_eq!(
        given(&inner, 1_000_000, false),
        Some(Advice::MoveOutwards { visits: 1_000_000, work: Ns::new(550), cost: Ns::new(2500) })
    );
    assert!(matches!(given(&inner, 1_000_000, true), Some(Advice::OpenOnce { .. })));
    assert_eq!(given(&inner, 4, false), Some(Advice::Balance));
    assert_eq!(given(&[(Cause::Work, 4.0)], 1, false), Some(Advice::ShareLessMemory));
    assert_eq!(given(&[(Cause::Work, 1.0), (Cause::Faults, 1.0)], 1, false), Some(Advice::TouchFirst));
    assert_eq!(given(&[(Cause::Work, 1.0), (Cause::Critical, 1.0)], 9, false), Some(Advice::ShortenSection));
    assert_eq!(given(&[(Cause::Work, 1.0), (Cause::Serial, 1.0)], 0, false), Some(Advice::MakeParallel));
    assert_eq!(given(&[(Cause::Work, 0.9)], 0, false), None, "nothing grew");
}

proptest! {
    /// Definition 3 is "for some m' < m": at least as long as the shortest before it.
    #[test]
    fn ranks_by_the_paper_are_those_above_the_least_before(
        times in prop::collection::vec((1_000_000..10_000_000_000_i64).prop_map(Ns::new), 1..8)
    ) {
        let timings: Vec<Timing> =
            times.iter().enumerate().map(|(n, &time)| Timing::new(n as u32 + 1, [time])).collect();
        let all = ranks(&timings, Definition::Paper, 64);
        for (at, rank) in all.ranks.iter().enumerate() {
            let naive = times[..at].iter().any(|&before| times[at] > before);
            prop_assert_eq!(rank.is_degraded(), naive);
            prop_assert!(rank.loss() <= rank.strength());
            prop_assert!((rank.speedup - times[0] / times[at]).abs() < 1e-9 * rank.speedup);
        }
    }

    /// The claim of section 3 for times that add up: if a region is degraded at m, one of its parts is.
    #[test]
    fn a_degraded_region_has_a_degraded_part(
        parts in prop::collection::vec(prop::collection::vec(0.001..10.0_f64, 4), 1..6)
    ) {
        let whole: Vec<Timing> = (0..4)
            .map(|m| timed(m as u32 + 1, [parts.iter().map(|part| part[m]).sum::<f64>()]))
            .collect();
        for m in ranks(&whole, Definition::Paper, 64).set() {
            let has_part = parts.iter().any(|part| {
                let part: Vec<Timing> = (0..4).map(|n| timed(n as u32 + 1, [part[n]])).collect();
                ranks(&part, Definition::Paper, 64).set().contains(&m)
            });
            prop_assert!(has_part);
        }
    }

    /// Whatever the noise of up to 2 % on each side, a region that scales or stays as it is never is flagged.
    #[test]
    fn noise_is_no_rank(noise in prop::collection::vec(0.98..1.02_f64, 9), scales in any::<bool>()) {
        let timings: Vec<Timing> = (0..3)
            .map(|n| {
                let time_s = if scales { 1.0 / f64::from(1 << n) } else { 1.0 };
                let noise = &noise[3 * n as usize..3 * n as usize + 3];
                let times: Vec<f64> = noise.iter().map(|noise| noise * time_s).collect();
                timed(1 << n, times)
            })
            .collect();
        let judged = ranks(&timings, Definition::Robust(Limits::of_program(SECOND)), 64);
        prop_assert!(judged.set().is_empty(), "{:?}", judged);
    }
}
