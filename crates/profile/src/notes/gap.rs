//! What is missing in a run's data, by the numbers of its quality.

use crate::{Ns, Quality};

crate::notes! {
    /// Something that is missing in a run's data.
    pub enum Gap {
        /// Logs cannot be read, or are gone.
        UnreadLogs "unread-logs" Caution {
            /// How many.
            logs: u64,
        }
        /// Processes were not followed.
        Unfollowed "unfollowed-processes" Caution {
            /// How many.
            processes: u64,
        }
        /// Processes did not end in order.
        Open "open-processes" Caution {
            /// How many.
            processes: u64,
        }
        /// Threads were not measured.
        Unmeasured "unmeasured-threads" Caution {
            /// How many.
            threads: u64,
        }
        /// Threads could not be sampled.
        Untimed "untimed-threads" Caution {
            /// How many.
            threads: u64,
        }
        /// Threads were measured only from some point on.
        Late "late-threads" Caution {
            /// How many.
            threads: u64,
        }
        /// The last records of threads are missing.
        WithoutEnd "threads-without-end" Caution {
            /// How many.
            threads: u64,
        }
        /// The log had no room for records.
        Dropped "dropped" Caution {
            /// How many.
            records: u64,
        }
        /// The clocks of records contradict their neighbours.
        Implausible "implausible-records" Caution {
            /// How many.
            records: u64,
        }
        /// There is no sample.
        NoSamples "no-samples" Caution {}
        /// It is not known how the command ended.
        Unfinished "unfinished" Caution {}
        /// Bytes of damaged logs were skipped.
        Damaged "damaged-bytes" Caution {
            /// How many.
            bytes: u64,
        }
        /// Records with CPU time are lost.
        LostRecords "lost-records" Caution {
            /// How much.
            #[serde(with = "crate::time::in_seconds")]
            cpu as "cpu_s": Ns,
        }
        /// Samples with CPU time could not be stored.
        Unrecorded "unrecorded" Caution {
            /// How much.
            #[serde(with = "crate::time::in_seconds")]
            cpu as "cpu_s": Ns,
        }
    }
}

impl Gap {
    /// All that the quality has a number for.
    pub fn all_of(quality: &Quality) -> Vec<Gap> {
        let &Quality {
            unread_logs,
            unfollowed_processes,
            open_processes,
            unmeasured_threads,
            untimed_threads,
            late_threads,
            threads_without_end,
            dropped,
            implausible_records,
            damaged_bytes,
            lost_records,
            unrecorded,
            ..
        } = quality;
        let gaps = [
            (unread_logs > 0, Gap::UnreadLogs { logs: unread_logs }),
            (unfollowed_processes > 0, Gap::Unfollowed { processes: unfollowed_processes }),
            (open_processes > 0, Gap::Open { processes: open_processes }),
            (unmeasured_threads > 0, Gap::Unmeasured { threads: unmeasured_threads }),
            (untimed_threads > 0, Gap::Untimed { threads: untimed_threads }),
            (late_threads > 0, Gap::Late { threads: late_threads }),
            (threads_without_end > 0, Gap::WithoutEnd { threads: threads_without_end }),
            (dropped > 0, Gap::Dropped { records: dropped }),
            (implausible_records > 0, Gap::Implausible { records: implausible_records }),
            (quality.samples == 0, Gap::NoSamples {}),
            (quality.unfinished, Gap::Unfinished {}),
            (damaged_bytes > 0, Gap::Damaged { bytes: damaged_bytes }),
            (lost_records.is_positive(), Gap::LostRecords { cpu: lost_records }),
            (unrecorded.is_positive(), Gap::Unrecorded { cpu: unrecorded }),
        ];
        gaps.into_iter().filter(|(is_there, _)| *is_there).map(|(_, gap)| gap).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_quality_that_means_a_gap_counts() {
        let whole = Quality { samples: 5, ..Quality::default() };
        assert_eq!(Gap::all_of(&whole), []);
        assert_eq!(Gap::all_of(&Quality::default()), [Gap::NoSamples {}]);
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
            Quality { lost_records: Ns::new(1), ..whole.clone() },
            Quality { unrecorded: Ns::new(1), ..whole.clone() },
        ];
        for gap in gaps {
            assert_eq!(Gap::all_of(&gap).len(), 1, "{gap:?}");
        }
        let unfollowed = Quality { unfollowed_processes: 2, ..whole };
        assert_eq!(Gap::all_of(&unfollowed), [Gap::Unfollowed { processes: 2 }]);
    }
}
