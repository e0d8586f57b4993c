//! What each metric is, for the guide: those of one family together.

use proust_account::ledger::Account;
use proust_profile::{Metric, Source, Unit};
use proust_query::Measure;

/// Metrics that are explained together.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// These.
    pub measures: Vec<Measure>,
    /// Their units, each once.
    pub units: Vec<Unit>,
    /// What their amounts are known from, each once.
    pub sources: Vec<Source>,
    /// What they are.
    pub about: &'static str,
}

/// All metrics, in the order in which they are listed.
pub fn metric_rows() -> Vec<MetricRow> {
    let mut rows: Vec<MetricRow> = Vec::new();
    for measure in Measure::all() {
        let about = about(measure);
        let at = rows.iter().position(|row| row.about == about).unwrap_or_else(|| {
            rows.push(MetricRow { measures: Vec::new(), units: Vec::new(), sources: Vec::new(), about });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.measures.push(measure);
        if !row.units.contains(&measure.unit()) {
            row.units.push(measure.unit());
        }
        if !row.sources.contains(&measure.source()) {
            row.sources.push(measure.source());
        }
    }
    rows
}

fn about(measure: Measure) -> &'static str {
    match measure {
        Measure::Metric(metric) => about_stored(metric),
        Measure::Wall => "all time of the threads: `active_s` + `passive_s`",
        Measure::Active => "their time on accounts: working, or waiting for a partner or a holder",
        Measure::Queued => "the part of `active_s` in the run queue: `oversubscribed_s` + `preempted_s`",
        Measure::Account(Account::Serial | Account::Narrow) => {
            "empty slots while threads worked here: caused here, but not spent by any thread"
        }
        Measure::Account(_) => "the part of `active_s` on one account; `_` replaces `-`",
        Measure::Passive(_) => "passive time, in total or for one reason",
        Measure::OmpWork | Measure::OmpWait => {
            "the Collector's names for the time of OpenMP's threads: work with a processor, in regions and \
             outside (`compute_s`, `io_s`, `fault_s`, `replicated_s`, `mpi_transfer_s`, `measurement_s`); \
             waiting in any way and work without a processor (`barrier_s`, `lock_s`, `mpi_partner_s`, \
             `queued_s`, `passive_s`). With `runtime_s` and `unattributed_s` they are `wall_s`"
        }
        Measure::Master => "`wall_s` of each process's first thread",
        Measure::Lost => "time that threads lost here themselves, on all accounts that are lost",
        Measure::Empty => {
            "empty slots charged here, to the places that worked or waited while processors were empty"
        }
        Measure::Caused(_) => "loss that this place caused, whichever thread lost it",
    }
}

fn about_stored(metric: Metric) -> &'static str {
    match metric {
        Metric::Cpu | Metric::User | Metric::System => {
            "CPU time, and its parts in user mode and in the kernel"
        }
        Metric::Samples => "samples",
        Metric::Measurement => "the part of `cpu_s` in Proust's own handlers and hooks",
        Metric::MinorFaults | Metric::MajorFaults => "page faults without and with I/O",
        Metric::VoluntarySwitches | Metric::InvoluntarySwitches => {
            "context switches: the thread blocked; another one got the processor"
        }
        Metric::Waits => "calls of intercepted operations that are not I/O",
        Metric::IoCalls | Metric::IoErrors => "calls of I/O operations, and how many failed",
        Metric::ReadBytes | Metric::WrittenBytes => "bytes that they moved",
        Metric::Mpi | Metric::MpiWork | Metric::MpiWait => {
            "time in calls of MPI; after and before partners had arrived, both without the begin and the end \
             of MPI"
        }
        Metric::MpiSends | Metric::MpiReceives | Metric::MpiSentBytes | Metric::MpiReceivedBytes => {
            "messages between two ranks that were completed, at the calls that started them, and their \
             actual bytes"
        }
        Metric::MpiCollectives | Metric::MpiCollectiveBytes => {
            "calls of collectives that exchange data or synchronise, and starts of prepared ones \
             (`MPI_Bcast_init`), and what ranks gave to them"
        }
        Metric::MpiOtherCalls => "all other calls of MPI",
        Metric::BusyWait => {
            "the part of `cpu_s` in loops that do nothing but wait for another thread to write memory"
        }
        Metric::Atomic => {
            "the part of `cpu_s` on instructions that change memory atomically: they take long where other \
             threads change the same memory"
        }
        Metric::PeakResident => {
            "the most memory that a process had resident at once: of several the largest, never their sum. \
             Of whole processes, at the root of the tree, and only where it is asked for"
        }
        Metric::Resident => {
            "memory that a process had resident when a sample of processes read it last (`record \
             --process-samples`): of several their sum. At the root of the tree, and only where it is asked \
             for"
        }
        // Kept only; a test asks that none of these is listed.
        _ => "",
    }
}
