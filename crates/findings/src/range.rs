//! The part of the run's wall time that a finding's advice may save, as an interval.
//!
//! A loss is a sum over processors, and the wall time it corresponds to depends on the others meanwhile. With
//! loss L (the sampled part give or take two standard errors), P processors and A threads active on average
//! (1 ≤ A ≤ P):
//!
//! - A serial phase of length d leaves L = (P − 1) d empty. Divided perfectly it saves L / P; overlapped with
//!   the rest, or left out, d = L / (P − 1).
//! - Of waits at locks and barriers, all threads share the time gained: L / P. If only the waiting threads
//!   are on the critical path, as much as they waited, at most L.
//! - Processor time that the loss itself burns: L / A where all threads burn alike, L where one does.
//! - Where all threads are idle, L is wall time.
//!
//! No change is perfect: the interval begins at half of the smaller figure, of the time that could be saved
//! at all. It ends where the rest of the run's work would take all processors, T − (CPU − burned) / P. Losses
//! whose side effects are not measured (threads that are created and woken, caches that system calls and
//! locks empty, work that begins late) may end there, too, with as much again taken for those effects. So it
//! is never more than the run lasts.

use super::facts::Facts;
use super::finding::{Finding, Kind};
use proust_account::ledger::Account;

/// The part of the ideal that a change may fall short of.
const SHORT: f64 = 0.5;
/// The most that a loss with side effects that are not measured burns, for each second that was measured.
const SIDE: f64 = 2.0;
/// Standard errors on each side.
const SIGMAS: f64 = 2.0;

/// How a loss becomes wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One works, the other processors are empty.
    Alone,
    /// Threads wait for each other.
    Waiting,
    /// Processor time, and nothing else.
    Burned,
    /// Processor time, and its effects elsewhere.
    BurnedAndMore,
    /// No thread does anything.
    Still,
    /// No thread does anything, and one that works meanwhile may be late for the same reason.
    StillAndMore,
    /// The same work by fewer threads: the cost of switching between them is not known.
    Crowd,
}

const fn shape(kind: Kind) -> Shape {
    match kind {
        Kind::SerialPhase
        | Kind::LongTask
        | Kind::IdlePool
        | Kind::OmpSerialPart
        | Kind::OmpTeamOfOne
        | Kind::IntervalSequential
        | Kind::IntervalNarrow
        | Kind::FirstTouch => Shape::Alone,
        Kind::LockAcrossIo
        | Kind::LockAcrossSleep
        | Kind::InterpreterLock
        | Kind::LibraryLock
        | Kind::Convoy
        | Kind::LongSection
        | Kind::LateThread
        | Kind::OmpUnevenLoop
        | Kind::OmpSleepingWaits
        | Kind::BusyWait
        | Kind::MpiLateSender
        | Kind::MpiLateReceiver
        | Kind::MpiImbalance
        | Kind::MpiSerialChain
        | Kind::MpiWrongOrder
        | Kind::IntervalUneven
        | Kind::IntervalVaried
        | Kind::IntervalCompensated
        | Kind::IntervalIo
        | Kind::IntervalOperations => Shape::Waiting,
        Kind::FaultStartup
        | Kind::FaultChurn
        | Kind::MemoryClearing
        | Kind::SystemStorm
        | Kind::SpinWait
        | Kind::SlowLibrary => Shape::Burned,
        Kind::HotSection
        | Kind::LockSpin
        | Kind::SmallTasks
        | Kind::ThreadChurn
        | Kind::TinyIo
        | Kind::OmpDeepConstruct
        | Kind::OmpSmallChunks
        | Kind::OmpHotCritical
        | Kind::OmpSpinningWaits
        | Kind::OmpSmallTasks
        | Kind::MpiSmallMessages
        | Kind::MpiGroupableCollectives => Shape::BurnedAndMore,
        Kind::SyncStorm => Shape::Still,
        Kind::SleepPoll => Shape::StillAndMore,
        Kind::Oversubscription | Kind::OmpNestedTeams => Shape::Crowd,
    }
}

/// From and to, s.
pub(super) fn range(facts: &Facts<'_>, finding: &Finding) -> (f64, f64) {
    let (wall_s, width) = (facts.wall_s, facts.width.max(1.0));
    let empty_ns: u64 = [Account::Serial, Account::Narrow, Account::Asleep, Account::Idle]
        .iter()
        .map(|&account| facts.ledger.accounts[account])
        .sum();
    let active = (facts.total_s - empty_ns as f64 / 1e9) / wall_s.max(f64::MIN_POSITIVE);
    interval(
        shape(finding.kind),
        &Amounts {
            wall_s,
            width,
            active: active.clamp(1.0, width),
            cpu_s: facts.cpu_s,
            lost_s: finding.lost_s,
            least_s: match finding.kind {
                Kind::Oversubscription => finding.lost_s,
                _ => finding.recoverable_s,
            },
            error_s: finding.error_s,
            burned_s: finding.burned_s.min(facts.cpu_s),
        },
    )
}

#[derive(Clone, Copy, Debug)]
struct Amounts {
    wall_s: f64,
    width: f64,
    active: f64,
    cpu_s: f64,
    lost_s: f64,
    /// The part of it that could be saved at all.
    least_s: f64,
    error_s: f64,
    burned_s: f64,
}

fn interval(shape: Shape, of: &Amounts) -> (f64, f64) {
    let error_s = SIGMAS * of.error_s;
    let least_s = (of.least_s.min(of.lost_s) - error_s).max(0.0);
    let most_s = of.lost_s + error_s;
    // With the rest of the work on all processors.
    let without =
        |burned_s: f64| (of.wall_s - (of.cpu_s - burned_s).max(0.0) / of.width).clamp(0.0, of.wall_s);
    let left_s = without(of.burned_s);
    let (low_s, high_s) = match shape {
        Shape::Alone => (SHORT * least_s / of.width, (most_s / (of.width - 1.0).max(1.0)).min(left_s)),
        Shape::Waiting => (SHORT * least_s / of.width, most_s.min(left_s)),
        Shape::Burned => (SHORT * least_s / of.active, most_s.min(left_s)),
        Shape::BurnedAndMore => (SHORT * least_s / of.width, without(SIDE * of.burned_s)),
        Shape::Still => (SHORT * least_s, most_s.min(of.wall_s)),
        Shape::StillAndMore => (SHORT * least_s, left_s),
        Shape::Crowd => (0.0, (most_s / of.width).min(left_s)),
    };
    (low_s.min(high_s), high_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Amounts = Amounts {
        wall_s: 1.0,
        width: 2.0,
        active: 2.0,
        cpu_s: 1.6,
        lost_s: 0.4,
        least_s: 0.4,
        error_s: 0.0,
        burned_s: 0.0,
    };

    fn near(found: (f64, f64), expected: (f64, f64)) {
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_serial_phase_saves_what_dividing_it_saves() {
        // 0.4 s alone on two processors: divided 0.2 s are saved; not more than the other work leaves.
        near(interval(Shape::Alone, &RUN), (0.1, 0.2));
        near(interval(Shape::Alone, &Amounts { cpu_s: 1.0, ..RUN }), (0.1, 0.4));
    }

    #[test]
    fn burned_time_of_one_thread_is_saved_as_it_is() {
        let of_one = Amounts { active: 1.0, cpu_s: 1.0, burned_s: 0.4, ..RUN };
        near(interval(Shape::Burned, &of_one), (0.2, 0.4));
    }

    #[test]
    fn nothing_saves_more_than_the_run_lasts() {
        for shape in
            [Shape::Alone, Shape::Waiting, Shape::Burned, Shape::BurnedAndMore, Shape::Still, Shape::Crowd]
        {
            for lost_s in [0.0, 0.3, 5.8, 100.0] {
                let of = Amounts { lost_s, burned_s: 1.6, error_s: 0.1, ..RUN };
                let (low_s, high_s) = interval(shape, &of);
                assert!(0.0 <= low_s && low_s <= high_s && high_s <= 1.0, "{shape:?} {lost_s}");
            }
        }
    }

    #[test]
    fn what_cannot_be_won_does_not_raise_the_lower_end() {
        // Waits and work of very small tasks may be much more than the run: 0.5 s of it could be won.
        let of = Amounts { lost_s: 4.0, least_s: 0.5, burned_s: 1.5, ..RUN };
        near(interval(Shape::BurnedAndMore, &of), (0.125, 1.0));
    }

    #[test]
    fn the_error_of_samples_widens_it() {
        near(interval(Shape::Still, &Amounts { error_s: 0.05, ..RUN }), (0.15, 0.5));
    }
}
