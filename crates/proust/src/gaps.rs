//! The gaps in a run's data, in words, for the reader of a page that has no room for them.

use proust_compare::scaling::Swept;
use proust_profile::Quality;
use proust_report::{GapsOfRun, SweepNote, bytes, duration};
use proust_words::counted;

/// Notes on standard error that the data of this run are incomplete, if they are.
pub fn note(run: &str, quality: &Quality) {
    let gaps = incomplete(quality);
    if !gaps.is_empty() {
        eprintln!("proust: note: {}", sentence(run, &gaps));
    }
}

/// The same of the runs of a sweep; None where nothing is missing.
pub fn of_sweep(runs: &[Swept], sweep: Option<&str>) -> Option<SweepNote> {
    const SHOWN: usize = 3;
    let of_run = |run: &Swept| GapsOfRun { run: run.name.clone(), gaps: incomplete(&run.quality) };
    let mut first: Vec<GapsOfRun> = runs.iter().map(of_run).filter(|run| !run.gaps.is_empty()).collect();
    let runs = first.len();
    first.truncate(SHOWN);
    (runs > 0).then(|| SweepNote::IncompleteRuns { sweep: sweep.map(str::to_owned), runs, first })
}

/// The same as a sentence without its end.
pub fn sentence(run: &str, gaps: &[String]) -> String {
    format!(
        "the data of {run} are incomplete: {} (`proust report {run} quality` tells more)",
        gaps.join("; ")
    )
}

/// What is missing in the data: all that the quality has a number for.
pub fn incomplete(quality: &Quality) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut counts = |number: u64, noun: &str, rest: &str| {
        if number > 0 {
            gaps.push(format!("{}{rest}", counted(number, noun)));
        }
    };
    counts(quality.unread_logs, "log", " cannot be read or is gone");
    counts(quality.unfollowed_processes, "process", " not followed");
    counts(quality.open_processes, "process", " without an end in order");
    counts(quality.unmeasured_threads, "thread", " not measured");
    counts(quality.untimed_threads, "thread", " without samples");
    counts(quality.late_threads, "thread", " measured from the middle on");
    counts(quality.threads_without_end, "thread", " whose last records are missing");
    counts(quality.dropped, "record", " without room");
    counts(quality.implausible_records, "record", " with a wrong clock");
    let mut gap = |is: bool, text: String| {
        if is {
            gaps.push(text);
        }
    };
    gap(quality.samples == 0, "no samples".into());
    gap(quality.unfinished, "the end of the command is not known".into());
    gap(quality.damaged_bytes > 0, format!("{} of damaged logs", bytes(quality.damaged_bytes)));
    let lost = |seconds: f64, what: &str| format!("{} of CPU time {what}", duration(seconds));
    gap(quality.lost_records_s > 0.0, lost(quality.lost_records_s, "whose records are lost"));
    gap(quality.unrecorded_s > 0.0, lost(quality.unrecorded_s, "whose samples found no room"));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_that_has_a_number_counts() {
        let whole = Quality { samples: 5, ..Quality::default() };
        assert_eq!(incomplete(&whole), [""; 0]);
        assert_eq!(incomplete(&Quality::default()), ["no samples"]);
        let gaps = [
            Quality { unread_logs: 1, ..whole.clone() },
            Quality { unfollowed_processes: 1, ..whole.clone() },
            Quality { open_processes: 1, ..whole.clone() },
            Quality { unmeasured_threads: 1, ..whole.clone() },
            Quality { untimed_threads: 1, ..whole.clone() },
            Quality { late_threads: 1, ..whole.clone() },
            Quality { threads_without_end: 1, ..whole.clone() },
            Quality { dropped: 1, ..whole.clone() },
            Quality { implausible_records: 1, ..whole.clone() },
            Quality { unfinished: true, ..whole.clone() },
            Quality { damaged_bytes: 1, ..whole.clone() },
            Quality { lost_records_s: 0.1, ..whole.clone() },
            Quality { unrecorded_s: 0.1, ..whole.clone() },
        ];
        for gap in gaps {
            assert_eq!(incomplete(&gap).len(), 1, "{gap:?}");
        }
        assert_eq!(incomplete(&Quality { unfollowed_processes: 2, ..whole }), ["2 processes not followed"]);
    }
}
