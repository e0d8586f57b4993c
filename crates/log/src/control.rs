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
/// Where in the page the [`Switches`] lie.
pub const SWITCHES_AT: usize = 1024;
/// Where in the page the [`Blocked`] lie.
pub const BLOCKED_AT: usize = 256;
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

/// Option bit, may change during the run: calls that samples interrupt are continued, on kernels too on which
/// samples interrupt none; for tests.
pub const RESUME_CALLS: u32 = 32;
/// Option bit, may change during the run: the sampling handler panics; for tests.
pub const PANIC: u32 = 64;

/// Option bit, changes during the run: recording is switched off, or was and ends for good. It makes hooks
/// look at the [`Switches`], and no more than that: those are written first.
pub const OFF: u32 = 128;

/// Option bit: each process begins paused by itself, until the signal of [`Control::pause_signal`].
pub const BEGIN_PAUSED: u32 = 256;

/// Option bit: of calls of MPI only the call site is kept, not the path that leads to it.
pub const NO_MPI_PATHS: u32 = 512;

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
    /// The signal by which a process is asked for a sample; 0 = none.
    pub sample_signal: u32,
    /// Processes that began to record so far.
    pub processes: u32,
    /// Processor time that the run's control group may use in any stretch of time, in thousandths of a
    /// processor; 0 = all.
    pub quota_milli: u32,
    /// Waits and I/O calls shorter than this are summed and not recorded one by one, ns; [`CALIBRATED`] =
    /// each process finds out what is worth it.
    pub sync_threshold_ns: u64,
    /// System call filters that `record` itself runs under. A process under more of them is not recorded.
    pub filters: u32,
    /// The signal that pauses the recording of a process, or resumes it; 0 = none.
    pub pause_signal: u32,
    /// The most ranks that a host of the run has, of those that have begun so far; 0 = there are none.
    pub ranks: u32,
    /// Zero.
    pub unused: u32,
}

/// [`Control::sync_threshold_ns`] that leaves the choice to each process.
pub const CALIBRATED: u64 = u64::MAX;

/// The request of a command to all processes of the run.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Record nothing from here on.
    Pause = 1,
    /// Record again.
    Resume = 2,
    /// Record nothing for the rest of the run.
    Stop = 3,
    /// Take a sample of each process. Its label is in [`Labels`].
    Sample = 4,
}

impl Command {
    /// The command with this number.
    pub fn from_number(number: u32) -> Option<Command> {
        match number {
            1 => Some(Command::Pause),
            2 => Some(Command::Resume),
            3 => Some(Command::Stop),
            4 => Some(Command::Sample),
            _ => None,
        }
    }
}

/// A command, and when it was given.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Switch {
    /// When, CLOCK_MONOTONIC of the host that `boot` names, outside of any time namespace.
    pub time_ns: u64,
    /// [`boot_number`] of the machine on which it was given.
    pub boot: u32,
    /// A [`Command`].
    pub command: u32,
}

/// Bytes of a label.
pub const LABEL_BYTES: usize = 48;
/// So many labels are kept.
pub const LABELS: usize = 16;
/// Where in the page the [`Labels`] lie.
pub const LABELS_AT: usize = 3200;

/// The labels of the newest commands that have one: that of command number `n` lies at `n` modulo [`LABELS`],
/// ended by a zero if it is shorter. It is written before the command.
pub type Labels = [[u8; LABEL_BYTES]; LABELS];

/// So many commands are kept. A process that sleeps while more are given misses the oldest.
pub const SWITCHES: usize = 128;

/// The commands that switched recording off and on. The command that gives one holds a lock (`flock`) on the
/// file, stores it in its place, then the new count, then the bit [`OFF`] of [`Control::options`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Switches {
    /// How many were given so far. Number `n`, from 0, lies at `n` modulo [`SWITCHES`].
    pub count: u32,
    /// Spare.
    pub reserved: u32,
    /// The newest ones.
    pub ring: [Switch; SWITCHES],
}

/// Processes that load a new image with the signals of requests blocked, until the collector in it has its
/// handlers: such a signal would end an image that has none yet. A word is the process's id, and above it
/// which signals are blocked: 1 = [`Control::sample_signal`], 2 = [`Control::pause_signal`]; 0 = free. Who
/// blocks the signals takes a free word before; the new image frees it, and unblocks them.
pub type Blocked = [u64; 64];

/// The word of a process that has these signals blocked.
pub const fn blocked_word(pid: u32, which: u32) -> u64 {
    pid as u64 | (which as u64) << 32
}

const _: () = assert!(size_of::<Control>() <= BLOCKED_AT);
const _: () = assert!(BLOCKED_AT + size_of::<Blocked>() <= SWITCHES_AT);
const _: () = assert!(SWITCHES_AT + size_of::<Switches>() <= LABELS_AT);
const _: () = assert!(LABELS_AT + size_of::<Labels>() <= CONTROL_BYTES);

/// Where the kernel shows which boot of which machine this is.
pub const BOOT_FILE: &core::ffi::CStr = c"/proc/sys/kernel/random/boot_id";

/// The part of [`BOOT_FILE`]'s content that distinguishes one machine's clocks from another's.
pub fn boot_number(text: &[u8]) -> u32 {
    // FNV-1a
    text.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
