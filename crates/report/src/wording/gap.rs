//! What is missing in a run's data, for pages that have no room for its notes.

use proust_profile::notes::Gap;
use proust_words::counted;

use super::Worded;
use crate::number::{bytes, duration};

impl Worded for Gap {
    fn text(&self) -> String {
        match *self {
            Gap::UnreadLogs { logs } => format!("{} cannot be read or is gone", counted(logs, "log")),
            Gap::Unfollowed { processes } => format!("{} not followed", counted(processes, "process")),
            Gap::Open { processes } => {
                format!("{} that did not end normally", counted(processes, "process"))
            }
            Gap::Unmeasured { threads } => format!("{} not measured", counted(threads, "thread")),
            Gap::Untimed { threads } => format!("{} without samples", counted(threads, "thread")),
            Gap::Late { threads } => {
                format!("{} measured only from some point on", counted(threads, "thread"))
            }
            Gap::WithoutEnd { threads } => {
                format!("{} whose last records are missing", counted(threads, "thread"))
            }
            Gap::Dropped { records } => format!("{} that could not be stored", counted(records, "record")),
            Gap::Implausible { records } => {
                format!("{} with an implausible time", counted(records, "record"))
            }
            Gap::NoSamples {} => "no samples".into(),
            Gap::Unfinished {} => "the end of the command is not known".into(),
            Gap::Damaged { bytes: skipped } => format!("{} of damaged logs", bytes(skipped)),
            Gap::LostRecords { cpu } => {
                format!("{} of CPU time whose records are lost", duration(cpu.as_seconds()))
            }
            Gap::Unrecorded { cpu } => {
                format!("{} of CPU time whose samples could not be stored", duration(cpu.as_seconds()))
            }
        }
    }
}

/// All gaps of a run, in a sentence without its end.
pub fn gaps_text(run: &str, gaps: &[Gap]) -> String {
    format!(
        "the data of {run} are incomplete: {} (`proust report {run} quality` has the details)",
        gaps_listed(gaps)
    )
}

/// Gaps in a row, for a sentence.
pub fn gaps_listed(gaps: &[Gap]) -> String {
    gaps.iter().map(Worded::text).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use proust_profile::Ns;

    use super::*;

    #[test]
    fn gaps_follow_each_other_in_a_sentence() {
        let gaps = [Gap::Unfollowed { processes: 2 }, Gap::Unrecorded { cpu: Ns::from_seconds(0.5) }];
        let expected = "the data of a.proust are incomplete: 2 processes not followed; 0.500 s of CPU time \
            whose samples could not be stored (`proust report a.proust quality` has the details)";
        assert_eq!(gaps_text("a.proust", &gaps), expected);
    }
}
