//! What is counted.

/// A number per (context, location). The identifiers are part of the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
#[non_exhaustive]
pub enum Metric {
    /// Processor time.
    Cpu = 1,
    /// Processor time in user mode.
    User = 2,
    /// Processor time in the kernel.
    System = 3,
    /// Samples.
    Samples = 4,
    /// Processor time inside Proust's own handlers and hooks; part of [`Metric::Cpu`].
    Measurement = 5,
    /// Page faults without I/O.
    MinorFaults = 6,
    /// Page faults with I/O.
    MajorFaults = 7,
    /// Context switches because the thread blocked.
    VoluntarySwitches = 8,
    /// Context switches because another thread got the processor.
    InvoluntarySwitches = 9,
    /// Σ w² over the weights w of the samples, from which standard errors are computed. Kept, but not shown.
    CpuSquares = 10,
    /// Waits: calls of intercepted operations that are not I/O.
    Waits = 11,
    /// Calls of intercepted I/O operations.
    IoCalls = 12,
    /// Of these, the ones that failed.
    IoErrors = 13,
    /// Bytes taken in by I/O operations.
    ReadBytes = 14,
    /// Bytes given out by I/O operations.
    WrittenBytes = 15,
    /// Σ t² over the sums of short waits, each of which is charged to one of their callers, from which
    /// standard errors are computed. Kept, but not shown.
    WaitSquares = 16,
    /// The same of short I/O operations.
    IoSquares = 17,
    /// Time in calls of MPI.
    Mpi = 18,
    /// The part of it after partners had arrived, without the beginning and the end of MPI.
    MpiWork = 19,
    /// The part of it before partners had arrived.
    MpiWait = 20,
    /// Messages of MPI that were sent and completed.
    MpiSends = 21,
    /// Messages of MPI that were received.
    MpiReceives = 22,
    /// Bytes of the messages that were sent.
    MpiSentBytes = 23,
    /// Bytes of the messages that were received.
    MpiReceivedBytes = 24,
    /// Collectives that exchange data or synchronise: each member's calls.
    MpiCollectives = 25,
    /// Bytes that members contributed to these.
    MpiCollectiveBytes = 26,
    /// Calls of MPI that neither start messages nor collectives.
    MpiOtherCalls = 27,
}

/// What is kept, but not shown.
const HIDDEN: [Metric; 3] = [Metric::CpuSquares, Metric::WaitSquares, Metric::IoSquares];

impl Metric {
    /// All metrics that are shown, in their order.
    pub const ALL: [Metric; 24] = [
        Metric::Cpu,
        Metric::User,
        Metric::System,
        Metric::Samples,
        Metric::Measurement,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
        Metric::Waits,
        Metric::IoCalls,
        Metric::IoErrors,
        Metric::ReadBytes,
        Metric::WrittenBytes,
        Metric::Mpi,
        Metric::MpiWork,
        Metric::MpiWait,
        Metric::MpiSends,
        Metric::MpiReceives,
        Metric::MpiSentBytes,
        Metric::MpiReceivedBytes,
        Metric::MpiCollectives,
        Metric::MpiCollectiveBytes,
        Metric::MpiOtherCalls,
    ];

    /// Identifier on the command line, in JSON and in tables.
    pub fn id(self) -> &'static str {
        match self {
            Metric::Cpu => "cpu_s",
            Metric::User => "user_s",
            Metric::System => "system_s",
            Metric::Samples => "samples",
            Metric::Measurement => "measurement_s",
            Metric::MinorFaults => "minor_faults",
            Metric::MajorFaults => "major_faults",
            Metric::VoluntarySwitches => "voluntary_switches",
            Metric::InvoluntarySwitches => "involuntary_switches",
            Metric::CpuSquares => "cpu_s_squares",
            Metric::Waits => "waits",
            Metric::IoCalls => "io_calls",
            Metric::IoErrors => "io_errors",
            Metric::ReadBytes => "read_bytes",
            Metric::WrittenBytes => "written_bytes",
            Metric::WaitSquares => "wait_s_squares",
            Metric::IoSquares => "io_s_squares",
            Metric::Mpi => "mpi_s",
            Metric::MpiWork => "mpi_work_s",
            Metric::MpiWait => "mpi_wait_s",
            Metric::MpiSends => "mpi_sends",
            Metric::MpiReceives => "mpi_receives",
            Metric::MpiSentBytes => "mpi_sent_bytes",
            Metric::MpiReceivedBytes => "mpi_received_bytes",
            Metric::MpiCollectives => "mpi_collectives",
            Metric::MpiCollectiveBytes => "mpi_collective_bytes",
            Metric::MpiOtherCalls => "mpi_other_calls",
        }
    }

    /// Unit of its amounts.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Cpu | Metric::User | Metric::System | Metric::Measurement => "s",
            Metric::Mpi | Metric::MpiWork | Metric::MpiWait => "s",
            Metric::CpuSquares | Metric::WaitSquares | Metric::IoSquares => "s²",
            Metric::ReadBytes | Metric::WrittenBytes => "bytes",
            Metric::MpiSentBytes | Metric::MpiReceivedBytes | Metric::MpiCollectiveBytes => "bytes",
            _ => "count",
        }
    }

    /// The metric that is shown under this identifier.
    pub fn from_id(id: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.id() == id)
    }

    /// The metric with this number in tables.
    pub fn from_number(number: u16) -> Option<Metric> {
        let mut kept = Metric::ALL.into_iter().chain(HIDDEN);
        kept.find(|&metric| metric as u16 == number)
    }
}
