//! What pages of a run note about themselves.

use proust_words::counted;

use super::Worded;
use crate::number::duration;

proust_profile::notes! {
    /// Something that a reader must know about a page.
    pub enum PageNote {
        /// The time in the run queue is known of a thread's whole life only.
        QueueEstimated "queue-estimated" Note {}
        /// Empty slots belong to no selection of threads.
        SlotsLeftOut "slots-left-out" Note {}
        /// These keys select samples, and the ledger is not made of samples.
        LedgerOfAllSamples "ledger-of-all-samples" Caution {
            /// The keys.
            keys: Vec<String>,
        }
        /// The ledger shows all states.
        LedgerOfAllStates "ledger-of-all-states" Caution {}
        /// The number of processors was given.
        ProcessorsGiven "processors-given" Note {
            /// How many.
            processors: u32,
        }
        /// Sums by site are those of the whole run.
        SitesOfWholeRun "sites-of-whole-run" Caution {}
        /// What is known of operations are sums over the whole run.
        OperationsOfWholeRun "operations-of-whole-run" Caution {}
        /// Some facts are those of the whole run.
        QualityOfWholeRun "quality-of-whole-run" Note {}
        /// The account `fault` is an estimate.
        FaultEstimated "fault-estimated" Note {}
        /// A part of the processor time that the account has as work is in loops that only wait.
        BusyWaiting "busy-waiting" Note {
            /// How much, s.
            seconds: f64,
        }
        /// Of some intervals only some executions were recorded alone.
        ExecutionsDrawn "executions-drawn" Note {
            /// Which intervals.
            intervals: Vec<String>,
        }
        /// Several threads were in an interval at once, each for itself.
        IntervalsAlone "intervals-alone" Note {}
        /// Some processors did not execute some intervals.
        IntervalsPartial "intervals-partial" Note {
            /// Which intervals.
            intervals: Vec<String>,
        }
        /// Processors executed some intervals unequally often.
        ExecutionsUneven "executions-uneven" Note {
            /// Which intervals.
            intervals: Vec<String>,
        }
        /// No mark of its own ended some executions.
        ExecutionsUnmarked "executions-unmarked" Note {
            /// Of which intervals.
            intervals: Vec<String>,
        }
        /// The productive time may contain work that several processors repeat.
        MayBeReplicated "may-be-replicated" Note {
            /// Of which intervals.
            intervals: Vec<String>,
        }
        /// A run on one processor has no such intervals.
        IntervalsNotInReference "intervals-not-in-reference" Caution {
            /// The run.
            run: String,
            /// Which intervals.
            intervals: Vec<String>,
        }
        /// A run on one processor executed some intervals unequally often.
        ReferenceUneven "reference-uneven" Caution {
            /// The run.
            run: String,
            /// Which intervals.
            intervals: Vec<String>,
        }
        /// Forecasts stand beside real runs.
        ForecastIsNoMeasurement "forecast-is-no-measurement" Caution {}
        /// Other programs had the processors.
        Preempted "preempted" Caution {
            /// For how long in all.
            seconds: f64,
        }
        /// The host of a virtual machine took processors away.
        Stolen "stolen" Caution {
            /// For how long in all.
            seconds: f64,
        }
        /// A control group had used up its processor time.
        Throttled "throttled" Caution {
            /// For how long in all.
            seconds: f64,
        }
    }
}

impl PageNote {
    /// See [`PageNote::IntervalsPartial`].
    pub(crate) fn partial(intervals: Vec<String>) -> PageNote {
        PageNote::IntervalsPartial { intervals }
    }

    /// See [`PageNote::ExecutionsUneven`].
    pub(crate) fn uneven(intervals: Vec<String>) -> PageNote {
        PageNote::ExecutionsUneven { intervals }
    }

    /// See [`PageNote::ExecutionsUnmarked`].
    pub(crate) fn open(intervals: Vec<String>) -> PageNote {
        PageNote::ExecutionsUnmarked { intervals }
    }

    /// See [`PageNote::MayBeReplicated`].
    pub(crate) fn replicated(intervals: Vec<String>) -> PageNote {
        PageNote::MayBeReplicated { intervals }
    }
}

/// `solve and 3 others`.
fn named(intervals: &[String]) -> String {
    let first = intervals.first().map_or("", String::as_str);
    match intervals.len() {
        0 | 1 => first.to_owned(),
        2 => format!("{first} and another one"),
        n => format!("{first} and {} others", n - 1),
    }
}

impl Worded for PageNote {
    fn text(&self) -> String {
        match self {
            PageNote::QueueEstimated {} => {
                "the time of a thread in the run queue is known as a total and spread evenly over its life: \
                 in a range of time oversubscribed and preempted are estimates"
                    .into()
            }
            PageNote::SlotsLeftOut {} => {
                "empty slots belong to all threads of a run, or rank, together: where only some are selected \
                 the ledger shows what these spent themselves"
                    .into()
            }
            PageNote::LedgerOfAllSamples { keys } => format!(
                "{} selects samples, and the ledger is not made of samples: it is not restricted",
                keys.join(", ")
            ),
            PageNote::LedgerOfAllStates {} => {
                "the ledger shows all states: state selects rows of the other pages".into()
            }
            PageNote::ProcessorsGiven { processors } => {
                format!("{} as given by --processors", counted(*processors, "processor"))
            }
            PageNote::SitesOfWholeRun {} => {
                "work and waits by site are sums over the whole run: a range of time does not restrict \
                 them"
                    .into()
            }
            PageNote::OperationsOfWholeRun {} => {
                "of single operations there are sums over the whole run: in a range of time their number, \
                 potential waits, spread and overlap, iterations of loops and the numbers of the analyzer of \
                 MPI traces are n/a, and Communication is divided over its rows as in the whole run; a mark \
                 makes an interval of the part"
                    .into()
            }
            PageNote::QualityOfWholeRun {} => {
                "samples, paths, rates and times are those of what --where selects; residuals of clocks, \
                 logs, processes and threads are those of the whole run"
                    .into()
            }
            PageNote::FaultEstimated {} => {
                "fault is an estimate from the number of page faults and the system time".into()
            }
            PageNote::BusyWaiting { seconds } => format!(
                "{} of the processor time are in loops that do nothing but wait for another thread to write \
                 memory (busy_wait_s): they are compute here, since no call shows that they wait",
                duration(*seconds)
            ),
            PageNote::ExecutionsDrawn { intervals } => format!(
                "{} marked so often that only some executions were recorded alone ({}{}): numbers and times \
                 of executions are exact; of short executions what lies outside of recorded calls is \
                 accounted for by those that were recorded",
                counted(intervals.len(), "interval"),
                intervals.first().map_or("", String::as_str),
                if intervals.len() > 1 { " and others" } else { "" },
            ),
            PageNote::IntervalsAlone {} => {
                "where several threads of a process are in an interval at once each counts for itself \
                 alone: its total is the time in which these threads were active, without empty slots"
                    .into()
            }
            PageNote::IntervalsPartial { intervals } => format!(
                "not all processors of the run executed {}: characteristics are over those that did",
                named(intervals)
            ),
            PageNote::ExecutionsUneven { intervals } => format!(
                "processors executed {} unequally often: EXE_COUNT is the mean, and times are those of all \
                 executions",
                named(intervals)
            ),
            PageNote::ExecutionsUnmarked { intervals } => format!(
                "some executions of {} were ended by the mark of an interval around them, or with their \
                 thread or process; the page quality lists them",
                named(intervals)
            ),
            PageNote::MayBeReplicated { intervals } => format!(
                "the productive time of {} may contain work that several ranks repeat, since nothing is \
                 marked as parallel or replicated: the efficiency is an upper bound",
                named(intervals)
            ),
            PageNote::IntervalsNotInReference { run, intervals } => {
                format!("{run} has no interval like {}: its time there is not known", named(intervals))
            }
            PageNote::ReferenceUneven { run, intervals } => format!(
                "{run} executed {} not as often as this run: the times cannot be compared",
                named(intervals)
            ),
            PageNote::ForecastIsNoMeasurement {} => {
                "the forecast is computed from this run: on one processor all data share one cache, and the \
                 system has less to do, so that a real run differs either way"
                    .into()
            }
            PageNote::Preempted { seconds } => format!(
                "other programs had the processors for {} in which this run had work to do: measure again on \
                 a quiet machine before you change the program for it",
                duration(*seconds)
            ),
            PageNote::Stolen { seconds } => format!(
                "the host of this virtual machine took processors away for {} while the run lasted (steal \
                 time): it is in preempted as far as the run wanted them",
                duration(*seconds)
            ),
            PageNote::Throttled { seconds } => format!(
                "the control group of this run had used up its processor time for {} (summed over \
                 processors): threads that could have gone on then are in oversubscribed and preempted",
                duration(*seconds)
            ),
        }
    }
}
