//! The control page: how `record` and all processes of a run agree.
//!
//! It lies as `control` in the run's folder; each process maps it shared. Options are in it and not in the
//! environment, so that a program that edits its environment cannot damage them.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// File name in the run's folder.
pub const CONTROL_FILE: &str = "control";
/// First bytes of the control page.
pub const CONTROL_MAGIC: [u8; 8] = *b"PROUSTCT";
/// Bytes of the control page.
pub const CONTROL_BYTES: usize = 4096;
/// Environment variable that names the run's folder (absolute path).
pub const RUN_VARIABLE: &str = "PROUST_RUN";
/// File name of the collector library in the run's folder.
pub const COLLECTOR_FILE: &str = "libproust_collector.so";

/// Option bit: compare every call path with a full unwind.
pub const CHECK_PATHS: u32 = 1;
/// Option bit, may change during the run: deliver samples but take no call path and write nothing; for
/// measuring the cost of delivery.
pub const EMPTY_HANDLER: u32 = 2;
/// Option bit, may change during the run: unwind every call path in full, without the memo; for measuring
/// what the memo saves.
pub const NO_MEMO: u32 = 4;
/// Option bit: waits are not intercepted.
pub const NO_WAITS: u32 = 8;
/// Option bit: I/O is not intercepted.
pub const NO_IO: u32 = 16;

/// Option bit, may change during the run: calls that samples interrupt go on, on kernels too on which samples
/// interrupt none; for tests.
pub const RESUME_CALLS: u32 = 32;
/// Option bit, may change during the run: the sampling handler panics; for tests.
pub const PANIC: u32 = 64;

/// The control page.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Control {
    /// [`CONTROL_MAGIC`].
    pub magic: [u8; 8],
    /// [`crate::layout::VERSION`].
    pub version: u32,
    /// Samples per second of CPU time.
    pub rate_hz: u32,
    /// Most bytes all logs of the run may take together.
    pub budget_bytes: u64,
    /// Bytes taken so far; each process adds before it extends its log.
    pub taken_bytes: u64,
    /// Option bits.
    pub options: u32,
    /// 1 = recording is paused.
    pub paused: u32,
    /// Processes that began to record so far.
    pub processes: u32,
    /// Processor time that the run's control group may use in any stretch of time, in thousandths of a
    /// processor; 0 = all.
    pub quota_milli: u32,
    /// Waits and I/O calls shorter than this are summed and not told one by one, ns; [`CALIBRATED`] = each
    /// process finds out what is worth it.
    pub sync_threshold_ns: u64,
    /// System call filters that `record` itself runs under. A process under more of them is not recorded.
    pub filters: u32,
    /// Spare.
    pub reserved: u32,
}

/// [`Control::sync_threshold_ns`] that leaves the choice to each process.
pub const CALIBRATED: u64 = u64::MAX;
