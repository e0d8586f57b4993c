//! What is counted: the registry of stored metrics.
//!
//! The amount of several contexts or locations follows from theirs as the metric's kind says: nearly all are
//! sums. Amounts are whole numbers ([`Unit::shown`]). What is neither, such as a ratio, is derived of amounts
//! where it is shown.

use crate::Unit;

/// What an amount is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Clocks and counters, read at samples: the total is exact, where it belongs is sampled.
    Samples,
    /// Intercepted operations, each of which is counted.
    Operations,
    /// Calls of MPI that are matched with those of partners.
    Messages,
    /// The account, which is made of samples and operations.
    Account,
    /// Readings of whole processes.
    Processes,
}

impl Source {
    /// Its word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Source::Samples => "samples",
            Source::Operations => "operations",
            Source::Messages => "messages",
            Source::Account => "account",
            Source::Processes => "processes",
        }
    }

    /// Whether amounts have an error of sampling, at least in part.
    pub fn is_sampled(self) -> bool {
        matches!(self, Source::Samples | Source::Account)
    }
}

/// How amounts of several places become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// They add up.
    Sum,
    /// The largest one: peaks of several places need not be at one time, and their sum is nothing.
    Max,
    /// The last one of a place is its amount, and these add up over places: what they hold together.
    Last,
}

impl Kind {
    /// Its word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Kind::Sum => "sum",
            Kind::Max => "max",
            Kind::Last => "last",
        }
    }

    /// The amount of two places, or groups of places, together.
    pub fn joined(self, one: u128, other: u128) -> u128 {
        match self {
            Kind::Sum | Kind::Last => one + other,
            Kind::Max => one.max(other),
        }
    }

    /// The amount of a place after a later one was read of it.
    pub fn followed(self, before: u64, later: u64) -> u64 {
        match self {
            Kind::Sum => before.saturating_add(later),
            Kind::Max => before.max(later),
            Kind::Last => later,
        }
    }
}

/// What is known of a metric.
#[derive(Clone, Copy, Debug)]
struct MetricSpec {
    id: &'static str,
    unit: Unit,
    source: Source,
    kind: Kind,
}

/// Declares the metrics and their registry: number in tables, identifier, unit, source and kind. Numbers and
/// identifiers are never changed.
macro_rules! metrics {
    (
        shown { $($(#[doc = $about:literal])+
            $shown:ident = $number:literal, $id:literal, $unit:ident, $source:ident, $kind:ident;)* }
        hidden { $($(#[doc = $hidden_about:literal])+
            $hidden:ident = $hidden_number:literal, $hidden_id:literal, $hidden_unit:ident,
            $hidden_source:ident, $hidden_kind:ident;)* }
    ) => {
        /// A number per (context, location). The identifiers are part of the JSON contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Metric {
            $($(#[doc = $about])+ $shown = $number,)*
            $($(#[doc = $hidden_about])+ $hidden = $hidden_number,)*
        }

        impl Metric {
            /// All metrics that are shown, in their order.
            pub const ALL: [Metric; [$($number),*].len()] = [$(Metric::$shown),*];

            /// Its row.
            fn spec(self) -> MetricSpec {
                match self {
                    $(Metric::$shown => {
                        MetricSpec {
                            id: $id,
                            unit: Unit::$unit,
                            source: Source::$source,
                            kind: Kind::$kind,
                        }
                    })*
                    $(Metric::$hidden => MetricSpec {
                        id: $hidden_id,
                        unit: Unit::$hidden_unit,
                        source: Source::$hidden_source,
                        kind: Kind::$hidden_kind,
                    },)*
                }
            }

            /// The metric with this number in tables.
            pub fn from_number(number: u16) -> Option<Metric> {
                match number {
                    $($number => Some(Metric::$shown),)*
                    $($hidden_number => Some(Metric::$hidden),)*
                    _ => None,
                }
            }
        }
    };
}

metrics! {
    shown {
        /// Processor time.
        Cpu = 1, "cpu_s", SECONDS, Samples, Sum;
        /// Processor time in user mode.
        User = 2, "user_s", SECONDS, Samples, Sum;
        /// Processor time in the kernel.
        System = 3, "system_s", SECONDS, Samples, Sum;
        /// Samples.
        Samples = 4, "samples", COUNT, Samples, Sum;
        /// Processor time inside Proust's own handlers and hooks; part of [`Metric::Cpu`].
        Measurement = 5, "measurement_s", SECONDS, Samples, Sum;
        /// Page faults without I/O.
        MinorFaults = 6, "minor_faults", COUNT, Samples, Sum;
        /// Page faults with I/O.
        MajorFaults = 7, "major_faults", COUNT, Samples, Sum;
        /// Context switches because the thread blocked.
        VoluntarySwitches = 8, "voluntary_switches", COUNT, Samples, Sum;
        /// Context switches because another thread got the processor.
        InvoluntarySwitches = 9, "involuntary_switches", COUNT, Samples, Sum;
        /// Waits: calls of intercepted operations that are not I/O.
        Waits = 11, "waits", COUNT, Operations, Sum;
        /// Calls of intercepted I/O operations.
        IoCalls = 12, "io_calls", COUNT, Operations, Sum;
        /// Of these, the ones that failed.
        IoErrors = 13, "io_errors", COUNT, Operations, Sum;
        /// Bytes taken in by I/O operations.
        ReadBytes = 14, "read_bytes", BYTES, Operations, Sum;
        /// Bytes given out by I/O operations.
        WrittenBytes = 15, "written_bytes", BYTES, Operations, Sum;
        /// Time in calls of MPI.
        Mpi = 18, "mpi_s", SECONDS, Operations, Sum;
        /// The part of it after partners had arrived, without the beginning and the end of MPI.
        MpiWork = 19, "mpi_work_s", SECONDS, Messages, Sum;
        /// The part of it before partners had arrived.
        MpiWait = 20, "mpi_wait_s", SECONDS, Messages, Sum;
        /// Messages of MPI that were sent and completed.
        MpiSends = 21, "mpi_sends", COUNT, Messages, Sum;
        /// Messages of MPI that were received.
        MpiReceives = 22, "mpi_receives", COUNT, Messages, Sum;
        /// Bytes of the messages that were sent.
        MpiSentBytes = 23, "mpi_sent_bytes", BYTES, Messages, Sum;
        /// Bytes of the messages that were received.
        MpiReceivedBytes = 24, "mpi_received_bytes", BYTES, Messages, Sum;
        /// Collectives that exchange data or synchronise: each member's calls.
        MpiCollectives = 25, "mpi_collectives", COUNT, Messages, Sum;
        /// Bytes that members contributed to these.
        MpiCollectiveBytes = 26, "mpi_collective_bytes", BYTES, Messages, Sum;
        /// Calls of MPI that neither start messages nor collectives.
        MpiOtherCalls = 27, "mpi_other_calls", COUNT, Operations, Sum;
        /// Processor time in loops that do nothing but wait for another thread to write memory.
        BusyWait = 28, "busy_wait_s", SECONDS, Samples, Sum;
        /// Processor time on instructions that change memory atomically.
        Atomic = 31, "atomic_s", SECONDS, Samples, Sum;
        /// The most memory that a process had resident at once; at the start of its first thread.
        PeakResident = 29, "peak_resident_bytes", BYTES, Processes, Max;
        /// Memory that a process had resident when that was read last; at the start of its first thread.
        Resident = 30, "resident_bytes", BYTES, Processes, Last;
    }
    // Kept, but not shown.
    hidden {
        /// Σ w² over the weights w of the samples, from which standard errors are computed. Kept, but not
        /// shown.
        CpuSquares = 10, "cpu_s_squares", SECONDS_SQUARED, Samples, Sum;
        /// Σ t² over the sums of short waits, each of which is charged to one of their callers, from which
        /// standard errors are computed.
        WaitSquares = 16, "wait_s_squares", SECONDS_SQUARED, Operations, Sum;
        /// The same of short I/O operations.
        IoSquares = 17, "io_s_squares", SECONDS_SQUARED, Operations, Sum;
    }
}

impl Metric {
    /// Identifier on the command line, in JSON and in tables.
    pub fn id(self) -> &'static str {
        self.spec().id
    }

    /// Unit of its amounts.
    pub fn unit(self) -> Unit {
        self.spec().unit
    }

    /// What its amounts are known from.
    pub fn source(self) -> Source {
        self.spec().source
    }

    /// How amounts of several places become one.
    pub fn kind(self) -> Kind {
        self.spec().kind
    }

    /// The metric that is shown under this identifier.
    pub fn from_id(id: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_no_sum_and_what_is_read_last_replaces_what_was_before() {
        let of = |kind: Kind| (kind.joined(3, 5), kind.followed(5, 3));
        assert_eq!([Kind::Sum, Kind::Max, Kind::Last].map(of), [(8, 8), (5, 5), (8, 3)]);
        assert_eq!(Metric::PeakResident.kind(), Kind::Max);
    }
}
