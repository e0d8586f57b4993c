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
//! - What is waited at the same barrier for other causes may end with it: who divides work better does so for
//!   all.
//! - Of waits for a section at most twice that: what is done in it may be done elsewhere or left out, and of
//!   two threads the one works in it as long as the other waits.
//! - Processor time that the loss itself burns: L / A where all threads burn alike, L where one does.
//! - Where all threads are idle, L is wall time.
//!
//! No change is perfect: the interval begins at half of the smaller figure, of the time that could be saved
//! at all. It ends where the rest of the run's work would take all processors, T − (CPU − burned) / P. Losses
//! whose side effects are not measured (threads that are created and woken, caches that system calls and
//! locks empty, memory that is copied or cleared, processors taken from others, work that begins late) may
//! end there, too, with twice as much again taken for those effects: programs whose chunks, tasks or sections
//! were made larger saved up to 2.4 times what had been measured (docs/findings-suite.md). It ends a tenth
//! later, since the run that is compared with may last longer; but it is never more than the run lasts.
//!
//! Where the critical path is known, it ends at what a function takes on it, with two standard errors: left
//! out, it makes the path shorter by that, if no other path becomes the longest.

use super::facts::Facts;
use super::finding::{Finding, Kind};
use proust_account::ledger::Account;
use proust_profile::Ns;

/// The part of the ideal that a change may fall short of.
const SHORT: f64 = 0.5;
/// The most that a loss with side effects that are not measured burns, for each second that was measured.
const SIDE: f64 = 3.0;
/// Another run may last longer, and save as much more.
const RUNS: f64 = 1.1;
/// Standard errors on each side.
pub(super) const SIGMAS: f64 = 2.0;

/// How a loss becomes wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One works, the other processors are empty.
    Alone,
    /// Threads wait for each other.
    Waiting,
    /// Threads wait for what one of them does in a section.
    Section,
    /// The same, where the section is short, and what it does has effects elsewhere.
    HotSection,
    /// Processor time, and nothing else.
    Burned,
    /// Processor time, and its effects elsewhere.
    BurnedAndMore,
    /// Time in calls of ranks, and its effects elsewhere. Processors that are empty for another reason, as
    /// where few ranks run or some have nothing to do, stay so.
    Calls,
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
        | Kind::WorkByTurns
        | Kind::OneAtATime
        | Kind::BlockedLoop
        | Kind::OmpSerialPart
        | Kind::OmpTeamOfOne
        | Kind::MpiSerialPhase
        | Kind::IntervalSequential
        | Kind::IntervalNarrow
        | Kind::FirstTouch => Shape::Alone,
        Kind::Convoy | Kind::LongSection => Shape::Section,
        Kind::LockAcrossIo
        | Kind::LockAcrossSleep
        | Kind::InterpreterLock
        | Kind::LateThread
        | Kind::LateWork
        | Kind::OmpUnevenLoop
        | Kind::OmpLargeChunks
        | Kind::OmpSerialTasks
        | Kind::OmpSleepingWaits
        | Kind::BoundTogether
        | Kind::BusyWait
        | Kind::SleepingWorker
        | Kind::UnreadOutput
        | Kind::RoundTrips
        | Kind::UnexplainedWait
        | Kind::MpiLateSender
        | Kind::MpiLateReceiver
        | Kind::MpiImbalance
        | Kind::MpiSerialChain
        | Kind::MpiIdleRank
        | Kind::MpiWrongOrder
        | Kind::IntervalUneven
        | Kind::IntervalVaried
        | Kind::IntervalCompensated
        | Kind::IntervalIo
        | Kind::IntervalOperations => Shape::Waiting,
        Kind::FaultStartup | Kind::SystemStorm | Kind::SlowLibrary | Kind::MuchIo => Shape::Burned,
        Kind::HotSection => Shape::HotSection,
        Kind::LibraryLock
        | Kind::LockSpin
        | Kind::SpinWait
        | Kind::FaultChurn
        | Kind::SmallTasks
        | Kind::HotAtomic
        | Kind::AllocationChurn
        | Kind::MemoryClearing
        | Kind::MemoryCopying
        | Kind::TextScanning
        | Kind::RepeatedPreparation
        | Kind::ExceptionChurn
        | Kind::ProcessExchange
        | Kind::ThreadChurn
        | Kind::ProcessChurn
        | Kind::TinyIo
        | Kind::FileChurn
        | Kind::OmpDeepConstruct
        | Kind::OmpSmallChunks
        | Kind::OmpHotCritical
        | Kind::OmpHotSingle
        | Kind::OmpSpinningWaits
        | Kind::OmpSmallTasks => Shape::BurnedAndMore,
        Kind::MpiSmallMessages
        | Kind::MpiGroupableCollectives
        | Kind::MpiRepeatedSetup
        | Kind::MpiSmallAccesses
        | Kind::MpiMuchData
        | Kind::MpiPolls => Shape::Calls,
        Kind::SyncStorm => Shape::Still,
        Kind::SleepPoll => Shape::StillAndMore,
        Kind::Oversubscription | Kind::OmpNestedTeams => Shape::Crowd,
    }
}

/// From and to.
pub(super) fn range(facts: &Facts<'_>, finding: &Finding) -> (Ns, Ns) {
    let width = match finding.kind {
        Kind::WorkByTurns | Kind::OneAtATime | Kind::BlockedLoop => facts.reach.max(1.0),
        _ => facts.width.max(1.0),
    };
    let wall = facts.wall;
    let empty_ns: u64 = [Account::Serial, Account::Narrow, Account::Asleep, Account::Idle]
        .iter()
        .map(|&account| facts.ledger.accounts[account])
        .sum();
    let active = (facts.total - Ns::of(empty_ns)) / wall.max(Ns::SHORTEST);
    let (low, high) = interval(
        shape(finding.kind),
        &Amounts {
            wall,
            width,
            active: active.clamp(1.0, width),
            cpu: facts.all_cpu,
            lost: finding.lost,
            least: match finding.kind {
                Kind::Oversubscription => finding.lost,
                // Nothing says that the program can change it.
                Kind::UnexplainedWait => Ns::ZERO,
                _ => finding.recoverable,
            },
            error: finding.error,
            burned: finding.burned.min(facts.all_cpu),
            beside: finding.beside,
        },
    );
    let (low, high) = within(finding.on_path, (low, high));
    (low, (high * RUNS).min(wall))
}

/// At most what would be missing on the critical path.
fn within(on_path: Option<Ns>, (low, high): (Ns, Ns)) -> (Ns, Ns) {
    let high = on_path.map_or(high, |on_path| high.min(on_path));
    (low.min(high), high)
}

#[derive(Clone, Copy, Debug)]
struct Amounts {
    wall: Ns,
    width: f64,
    active: f64,
    cpu: Ns,
    lost: Ns,
    /// The part of it that could be saved at all.
    least: Ns,
    error: Ns,
    burned: Ns,
    /// See [`Finding::beside`].
    beside: Ns,
}

fn interval(shape: Shape, of: &Amounts) -> (Ns, Ns) {
    let error = of.error * SIGMAS;
    let least = (of.least.min(of.lost) - error).max(Ns::ZERO);
    let most = of.lost + error;
    // With the rest of the work on all processors.
    let without =
        |burned: Ns| (of.wall - (of.cpu - burned).max(Ns::ZERO) / of.width).clamp(Ns::ZERO, of.wall);
    let left = without(of.burned);
    let (low, high) = match shape {
        Shape::Alone => (least * (SHORT / of.width), (most / (of.width - 1.0).max(1.0)).min(left)),
        Shape::Waiting => {
            let burned = of.burned + of.beside * of.burned.share_of(of.lost);
            (least * (SHORT / of.width), (most + of.beside).min(without(burned)))
        }
        Shape::Section => (least * (SHORT / of.width), (most * 2.0).min(without(of.burned.max(most)))),
        Shape::HotSection => (least * (SHORT / of.width), without((of.burned * SIDE).max(most))),
        Shape::Burned => (least * (SHORT / of.active), most.min(left)),
        Shape::BurnedAndMore => (least * (SHORT / of.width), without(of.burned * SIDE)),
        Shape::Calls => (least * (SHORT / of.width), without(of.burned * SIDE).min(most * SIDE)),
        Shape::Still => (least * SHORT, most.min(of.wall)),
        Shape::StillAndMore => (least * SHORT, left),
        Shape::Crowd => (Ns::ZERO, (most / of.width).min(left)),
    };
    (low.min(high), high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Amounts = Amounts {
        wall: ms(1000),
        width: 2.0,
        active: 2.0,
        cpu: ms(1600),
        lost: ms(400),
        least: ms(400),
        error: Ns::ZERO,
        burned: Ns::ZERO,
        beside: Ns::ZERO,
    };

    const fn ms(ms: u64) -> Ns {
        Ns::of(1_000_000 * ms)
    }

    #[test]
    fn a_serial_phase_saves_what_dividing_it_saves() {
        // 0.4 s alone on two processors: divided 0.2 s are saved; not more than the other work leaves.
        assert_eq!(interval(Shape::Alone, &RUN), (ms(100), ms(200)));
        assert_eq!(interval(Shape::Alone, &Amounts { cpu: ms(1000), ..RUN }), (ms(100), ms(400)));
    }

    /// Two threads of which one always works in the section for which the other waits.
    #[test]
    fn a_section_that_is_left_out_saves_what_is_done_in_it_too() {
        let of = Amounts { cpu: ms(1000), lost: ms(900), least: ms(500), ..RUN };
        assert_eq!(interval(Shape::Section, &of), (ms(125), ms(950)));
        assert_eq!(interval(Shape::Waiting, &of), (ms(125), ms(500)));
    }

    /// Two threads that spin at a barrier: 0.4 s of 1 s for the one that has more to do, and 0.3 s for the
    /// other one.
    #[test]
    fn what_is_waited_at_the_same_place_may_be_saved_as_well() {
        let of = Amounts { cpu: ms(2000), burned: ms(400), beside: ms(300), ..RUN };
        assert_eq!(interval(Shape::Waiting, &of), (ms(100), ms(350)));
        assert_eq!(interval(Shape::Waiting, &Amounts { beside: Ns::ZERO, ..of }), (ms(100), ms(200)));
    }

    #[test]
    fn burned_time_of_one_thread_is_saved_as_it_is() {
        let of_one = Amounts { active: 1.0, cpu: ms(1000), burned: ms(400), ..RUN };
        assert_eq!(interval(Shape::Burned, &of_one), (ms(200), ms(400)));
    }

    #[test]
    fn nothing_saves_more_than_the_run_lasts() {
        for shape in [
            Shape::Alone,
            Shape::Section,
            Shape::Burned,
            Shape::BurnedAndMore,
            Shape::Calls,
            Shape::Still,
            Shape::Crowd,
        ] {
            for lost in [0, 300, 5800, 100_000].map(ms) {
                let of = Amounts { lost, burned: ms(1600), error: ms(100), ..RUN };
                let (low, high) = interval(shape, &of);
                assert!(Ns::ZERO <= low && low <= high && high <= ms(1000), "{shape:?} {lost:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_won_does_not_raise_the_lower_end() {
        // Waits and work of very small tasks may be much more than the run: 0.5 s of it could be won.
        let of = Amounts { lost: ms(4000), least: ms(500), burned: ms(1500), ..RUN };
        assert_eq!(interval(Shape::BurnedAndMore, &of), (ms(125), ms(1000)));
    }

    /// Three ranks wait 0.4 s in all for what takes another one 0.15 s of the path.
    #[test]
    fn no_more_than_what_is_on_the_critical_path_is_saved() {
        let all = interval(Shape::Waiting, &RUN);
        assert_eq!(within(None, all), all);
        assert_eq!(within(Some(ms(150)), all), (ms(100), ms(150)));
        assert_eq!(within(Some(ms(50)), all), (ms(50), ms(50)));
    }

    /// Ranks that mostly wait: 20 ms of calls left out do not give them the time that nothing takes.
    #[test]
    fn calls_of_ranks_that_mostly_wait_save_little() {
        let of = Amounts { cpu: ms(200), lost: ms(20), least: ms(20), burned: ms(20), ..RUN };
        assert_eq!(interval(Shape::Calls, &of), (ms(5), ms(60)));
        // Where all processors compute, the others' share of them counts, too.
        let of = Amounts { cpu: ms(2000), lost: ms(400), burned: ms(400), ..RUN };
        assert_eq!(interval(Shape::Calls, &of), (ms(100), ms(600)));
    }

    #[test]
    fn the_error_of_samples_widens_it() {
        assert_eq!(interval(Shape::Still, &Amounts { error: ms(50), ..RUN }), (ms(150), ms(500)));
    }
}
