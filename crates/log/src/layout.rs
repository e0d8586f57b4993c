//! Headers of the file, its chunks and its lanes.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::children::CHILDREN_MAGIC;

/// First bytes of every log file.
pub const MAGIC: [u8; 8] = *b"PROUSTLG";
/// Version of this layout; a reader refuses other versions.
pub const VERSION: u32 = 27;
/// Reads as this number only in the byte order it was written in.
pub const ENDIAN_MARK: u32 = 0x0102_0304;
/// Bytes before the first chunk.
pub const HEADER_BYTES: usize = 4096;
/// Chunks begin at multiples of so many bytes, and are multiples of it long.
pub const UNIT_BYTES: usize = 4096;
/// Bytes of the largest chunk, its header included.
pub const MAX_CHUNK_BYTES: usize = 64 * 1024;
/// First word of every chunk of a lane.
pub const CHUNK_MAGIC: u32 = 0x4b4e_4843;
/// File name extension of logs.
pub const EXTENSION: &str = "plog";
/// Extension of what lies beside a log under its name: the process's map of code that it made, in perf's
/// format.
pub const MAP_EXTENSION: &str = "map";
/// And a copy of the process's jitdump.
pub const DUMP_EXTENSION: &str = "dump";
/// And the path where the process writes it.
pub const JITDUMP_PATH_EXTENSION: &str = "jitdump-path";
/// Name of the folder of logs inside a run's folder.
pub const LOG_FOLDER: &str = "log";

/// Bytes that a lane asks for when it takes its chunk number `sequence`: one unit at first, since most
/// threads record little, then twice as many each time.
pub const fn chunk_bytes(sequence: u32) -> usize {
    let doublings = (MAX_CHUNK_BYTES / UNIT_BYTES).ilog2();
    UNIT_BYTES << if sequence < doublings { sequence } else { doublings }
}

/// How a process's measurement began.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A new program image (started by `record`, or by exec in a followed process).
    Image = 1,
    /// A forked child that continues in its parent's image.
    Fork = 2,
}

/// How a process's measurement ended, as far as the process itself could say.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process did not get to say: killed, crashed, or still running.
    Open = 0,
    /// `exit` or return from `main`: destructors ran.
    Exit = 1,
    /// `_exit`, `_Exit` or `quick_exit`.
    ImmediateExit = 2,
    /// Replaced by another program image.
    Exec = 3,
    /// The program was about to confine itself to system calls of its own choice: it continued without a
    /// record.
    Confined = 4,
    /// `proust stop`: the program continued without a record.
    Stopped = 5,
}

impl Ending {
    /// The ending with this number; unknown numbers read as [`Ending::Open`].
    pub fn from_number(number: u32) -> Ending {
        match number {
            1 => Ending::Exit,
            2 => Ending::ImmediateExit,
            3 => Ending::Exec,
            4 => Ending::Confined,
            5 => Ending::Stopped,
            _ => Ending::Open,
        }
    }
}

/// The first page of a log. Fields up to `check` are written once; those after it change during the run.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct FileHeader {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// [`ENDIAN_MARK`].
    pub endian_mark: u32,
    /// [`HEADER_BYTES`] of the writer.
    pub header_bytes: u32,
    /// [`MAX_CHUNK_BYTES`] of the writer.
    pub chunk_bytes: u32,
    /// Process id.
    pub pid: u32,
    /// Parent's process id at the start of the measurement.
    pub parent_pid: u32,
    /// Start of the measurement, CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// The same instant, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// CPU time the process had used when its measurement began (loading, or an earlier image).
    pub process_cpu_start_ns: u64,
    /// Kernel tick: a CPU timer fires at most once in it.
    pub tick_ns: u32,
    /// Samples per second of CPU time asked for.
    pub asked_rate_hz: u32,
    /// Bytes of a memory page.
    pub page_bytes: u32,
    /// Processors this process may run on (affinity and CPU bandwidth limit).
    pub available_processors: u32,
    /// Processors the machine has online.
    pub online_processors: u32,
    /// [`Origin`] as number.
    pub origin: u32,
    /// User id the process ran as.
    pub user: u32,
    /// [`crate::records::check_of`] the bytes before this field, widened.
    pub check: u32,
    /// [`Ending`] as number.
    pub ending: u32,
    /// Exit status given to exit, if the process ended so.
    pub exit_status: i32,
    /// End of the measurement, CLOCK_MONOTONIC; 0 while [`Ending::Open`].
    pub end_ns: u64,
    /// CPU clock of the whole process at the end; 0 while [`Ending::Open`].
    pub process_cpu_end_ns: u64,
    /// [`UNIT_BYTES`] handed out to chunks so far.
    pub units: u32,
    /// Lanes handed out so far.
    pub lanes: u32,
    /// Modules numbered so far.
    pub modules: u32,
    /// 1 when a chunk was refused because the run's size budget was used up.
    pub budget_exhausted: u32,
    /// Not 0 when a chunk was refused because the log could not grow: the errno with which the system refused
    /// it.
    pub storage_failed: u32,
    /// Threads that could not be measured at all (no timer or no lane).
    pub unmeasured_threads: u32,
    /// Wall time of the collector's own start in this process.
    pub startup_ns: u64,
    /// Call paths compared with a full unwind (debug mode).
    pub paths_compared: u64,
    /// Of these, the ones that differed.
    pub path_mismatches: u64,
    /// Threads that ended in lanes without room for their last record, and their unrecorded CPU time.
    pub lost_thread_ends: u64,
    /// See `lost_thread_ends`.
    pub lost_thread_cpu_ns: u64,
    /// Collector memory handed out for paths, modules and threads, bytes.
    pub arena_bytes: u64,
    /// Signals with our number that were not ours (passed on to the program's handler).
    pub foreign_signals: u64,
    /// Samples that fell into the collector's own code; their time is part of the thread's next record.
    pub skipped_samples: u64,
    /// Waits shorter than this are in sums, unless a [`crate::records::NoteCode::Coarsened`] names a longer
    /// limit.
    pub sync_threshold_ns: u64,
    /// Forked children that could make no log of their own (another user, a full disk).
    pub unfollowed_children: u64,
    /// The most memory that was resident at once, KiB, as the kernel's `ru_maxrss` has it when threads
    /// record: an image loaded by exec inherits the peak of the one before it. 0 = not read.
    pub peak_resident_kib: u64,
}

/// The first bytes of a chunk. All but `used` is written once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ChunkHeader {
    /// [`CHUNK_MAGIC`].
    pub magic: u32,
    /// The lane that owns the chunk.
    pub lane: u32,
    /// Position of the chunk in its lane, from 0.
    pub sequence: u32,
    /// Bytes in use from the chunk's begin, its header included; stored after each record.
    pub used: u32,
    /// Bytes of the chunk, its header included: a multiple of [`UNIT_BYTES`], at most [`MAX_CHUNK_BYTES`].
    pub bytes: u32,
    /// [`crate::records::check_of`] the other fields but `used`, widened.
    pub check: u32,
}

impl ChunkHeader {
    /// Of a chunk of `bytes` bytes in which nothing is in use but `used` bytes of headers.
    pub fn new(lane: u32, sequence: u32, bytes: u32, used: u32) -> ChunkHeader {
        let header = ChunkHeader { magic: CHUNK_MAGIC, lane, sequence, used, bytes, check: 0 };
        ChunkHeader { check: header.check_of_facts(), ..header }
    }

    /// Of a chunk of slots for forked children ([`crate::children`]), of which `used` bytes of headers are in
    /// use.
    pub fn of_children(bytes: u32, used: u32) -> ChunkHeader {
        let lane = u32::MAX;
        let header = ChunkHeader { magic: CHILDREN_MAGIC, lane, sequence: 0, used, bytes, check: 0 };
        ChunkHeader { check: header.check_of_facts(), ..header }
    }

    /// Whether the chunk has slots for forked children, and no lane's records.
    pub fn is_of_children(&self) -> bool {
        self.magic == CHILDREN_MAGIC
    }

    fn check_of_facts(&self) -> u32 {
        let words = [
            u64::from(self.magic) << 32 | u64::from(self.lane),
            u64::from(self.sequence) << 32 | u64::from(self.bytes),
        ];
        u32::from(crate::records::check_of(words.into_iter()))
    }

    /// The header of the chunk that begins with `bytes`; None if no chunk does, or its header is damaged.
    pub fn begins(bytes: &[u8]) -> Option<ChunkHeader> {
        let (header, _) = ChunkHeader::read_from_prefix(bytes).ok()?;
        let length = header.bytes as usize;
        let is_intact = [CHUNK_MAGIC, CHILDREN_MAGIC].contains(&header.magic)
            && length.is_multiple_of(UNIT_BYTES)
            && (UNIT_BYTES..=MAX_CHUNK_BYTES).contains(&length)
            && header.check == header.check_of_facts();
        is_intact.then_some(header)
    }
}

/// In [`LaneHeader::wait_operation`]: the operation is over, after [`LaneHeader::wait_passed_ns`], and no
/// record says so yet.
pub const WAIT_PASSED: u32 = 1 << 31;

/// The fields that change while a lane's current thread runs; follows the [`ChunkHeader`] of a lane's first
/// chunk.
///
/// It is what is known of a thread that never got to write its last record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct LaneHeader {
    /// Kernel id of the thread that owns the lane now; 0 = none.
    pub tid: u32,
    /// The [`crate::operations::Operation`] that the thread is in, as number; 0 = none. With [`WAIT_PASSED`]:
    /// the one that it was in last, which is over and not recorded yet. Stored after the fields that describe
    /// it, before the thread may block.
    pub wait_operation: u32,
    /// Object of that operation.
    pub wait_object: u64,
    /// Begin of that operation, CLOCK_MONOTONIC.
    pub wait_since_ns: u64,
    /// Context node of that operation, if it is known; 0 = not known.
    pub wait_node: u32,
    /// [`crate::operations::Target`] of that operation.
    pub wait_target: u32,
    /// How long that operation took, if it is over.
    pub wait_passed_ns: u32,
    /// Innermost parallel region that the thread is in; 0 = none.
    pub region: u32,
    /// When the opener of the region at whose end this thread waits continued; 0 = not yet. Written by the
    /// opener; from then on this thread is without work.
    pub wait_released_ns: u64,
    /// How long before that the last of the team had arrived. Written like it.
    pub wait_latency_ns: u64,
    /// Time of the thread's newest sample or begin.
    pub last_ns: u64,
    /// Thread CPU clock at `last_ns`.
    pub last_cpu_ns: u64,
    /// Time at which another thread closed this one (process end); 0 = not closed so.
    pub final_ns: u64,
    /// Thread CPU clock at `final_ns`.
    pub final_cpu_ns: u64,
    /// Samples taken that found no room in the log.
    pub unrecorded_samples: u64,
    /// CPU time of those samples.
    pub unrecorded_cpu_ns: u64,
    /// Time spent in the collector's handlers and hooks.
    pub own_ns: u64,
    /// Timer expirations that were merged into one signal.
    pub overruns: u64,
    /// Operations that found no room in the log.
    pub unrecorded_operations: u64,
    /// Time in those operations.
    pub unrecorded_operation_ns: u64,
    /// Innermost marked interval that the thread is in; 0 = none. Stored last when one begins, and first when
    /// one ends.
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
    /// When it began that interval and those around it, the outermost first.
    pub interval_begins_ns: [u64; OPEN_INTERVALS],
}

/// Of so many intervals that a thread is in its lane's header has the begins.
pub const OPEN_INTERVALS: usize = 8;

impl FileHeader {
    /// Check over the fields before `check`, to be stored in it.
    pub fn check_of_facts(&self) -> u32 {
        let bytes = self.as_bytes();
        let words = bytes[..core::mem::offset_of!(FileHeader, user)]
            .chunks_exact(8)
            .map(|w| u64::from_ne_bytes([w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]]));
        u32::from(crate::records::check_of(words.chain([u64::from(self.user)])))
    }
}
