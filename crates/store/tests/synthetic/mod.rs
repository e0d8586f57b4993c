//! Logs as a collector would write them, and a source of names whose answers follow from the addresses.

// Each test file uses a part of it.
#![allow(dead_code)]

pub mod ranks;
pub mod waits;

use std::collections::BTreeMap;
use std::io::{self, Write};

use proust_ingest::{CallPaths, Counter, LogBytes, Making, ingest_logs_by};
use proust_log::layout::{
    ENDIAN_MARK, Ending, FileHeader, HEADER_BYTES, LaneHeader, MAGIC, MAX_CHUNK_BYTES, Origin, VERSION,
    chunk_bytes,
};
use proust_log::operations::{Operation, Target};
use proust_log::records::{
    Body, EVENT_TARGET_SHIFT, Event, Module, Node, Sample, Shaped, Subject, Sum, ThreadBegin, ThreadEnd,
};
use proust_log::shapes::{Shapes, Slot};
use proust_log::writer::{Chunk, Full, LaneWriter};
use proust_profile::{ContextId, ContextKind, InsideRow, Metric, Ns, Profile, RunFile, Spool};
use proust_structure::{Function, ModuleRequest, ModuleStructure, ResolvedAddress, SourceFrame};
use zerocopy::IntoBytes;

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// One lane in the making.
pub struct LaneBuilder {
    writer: LaneWriter,
    shapes: Shapes,
    chunks: Vec<Box<[u64]>>,
}

/// Memory for a chunk, and the chunk.
fn chunk(bytes: usize) -> (Box<[u64]>, Chunk) {
    let mut memory: Box<[u64]> = vec![0; bytes / 8].into();
    let start = memory.as_mut_ptr().cast();
    (memory, Chunk { start, bytes })
}

impl LaneBuilder {
    pub fn new(number: u32) -> LaneBuilder {
        let (memory, first) = chunk(chunk_bytes(0));
        // SAFETY: the chunk is zero filled, as long as a chunk, and lives in `chunks` as long as the writer.
        let writer = unsafe { LaneWriter::begin(number, first) };
        LaneBuilder { writer, shapes: Shapes::none(), chunks: vec![memory] }
    }

    fn with_room(&mut self, mut push: impl FnMut(&mut LaneWriter, &mut Shapes) -> Result<(), Full>) {
        if push(&mut self.writer, &mut self.shapes) == Err(Full) {
            let (memory, next) = chunk(self.writer.wanted_bytes());
            // SAFETY: as in `new`.
            unsafe { self.writer.extend(next) };
            self.chunks.push(memory);
            push(&mut self.writer, &mut self.shapes).unwrap();
        }
    }

    pub fn push<B: Body>(&mut self, a: u16, body: &B) -> &mut Self {
        self.push_head(a, 0, body)
    }

    pub fn push_head<B: Body>(&mut self, a: u16, b: u16, body: &B) -> &mut Self {
        self.with_room(|writer, _| writer.push(a, b, body));
        self
    }

    /// A record in the short form that collectors write.
    pub fn push_shaped<R: Shaped>(&mut self, a: u16, b: u16, record: &R) -> &mut Self {
        if let Some(slots) = self.shapes.wanted_slots() {
            self.shapes.move_to(vec![Slot::default(); slots].leak());
        }
        self.with_room(|writer, shapes| writer.push_shaped(shapes, a, b, record));
        self
    }

    /// An operation that was told alone, its times in milliseconds; a CPU clock of 0 was not read.
    pub fn event(&mut self, operation: Operation, times: (u64, u64), cpu: u64, node: u32) -> &mut Self {
        self.event_on(operation, Target::None, times, cpu, node)
    }

    /// The same with what its descriptor leads to; it moves 100 bytes.
    pub fn event_on(
        &mut self,
        operation: Operation,
        target: Target,
        (begin, end): (u64, u64),
        cpu: u64,
        node: u32,
    ) -> &mut Self {
        let event = Event {
            begin_ns: begin * MS,
            end_ns: end * MS,
            cpu_ns: cpu * MS,
            object: 0x1000,
            bytes: if operation.nature().is_io() { 100 } else { 0 },
            node,
            ..Default::default()
        };
        self.push_shaped(operation as u16, (target as u16) << EVENT_TARGET_SHIFT, &event)
    }

    /// Ten short operations, of which one failed, their times in milliseconds.
    pub fn sum(&mut self, operation: Operation, times: (u64, u64), time: u64, node: u32) -> &mut Self {
        let sum = Sum {
            since_ns: times.0 * MS,
            until_ns: times.1 * MS,
            ns: time * MS,
            bytes: if operation.nature().is_io() { 1000 } else { 0 },
            calls: 10,
            errors: 1,
            node,
            ..Default::default()
        };
        self.push_head(operation as u16, 0, &sum)
    }

    /// A thread begins, its times in milliseconds.
    pub fn begin(&mut self, tid: u32, time: u64, cpu: u64) -> &mut Self {
        self.push(2, &ThreadBegin { time_ns: time * MS, cpu_ns: cpu * MS, tid, ..Default::default() })
    }

    pub fn node(&mut self, id: u32, parent: u32, module: u32, address: u64) -> &mut Self {
        self.push(0, &Node { id, parent, module, reserved: 0, address })
    }

    /// A sample, its times in milliseconds.
    pub fn sample(&mut self, time: u64, cpu: u64, node: u32) -> &mut Self {
        self.push(0, &Sample { time_ns: time * MS, cpu_ns: cpu * MS, node, ..Default::default() })
    }

    /// A thread ends, its times in milliseconds.
    pub fn end(&mut self, tid: u32, time: u64, cpu: u64) -> &mut Self {
        let end = ThreadEnd { time_ns: time * MS, cpu_ns: cpu * MS, tid, ..Default::default() };
        self.with_room(|writer, _| writer.push_last(0, 0, &end));
        self
    }

    pub fn module(&mut self, id: u32, path: &str, build_id: u8, start: u64) -> &mut Self {
        let mut module = Module { id, start, end: start + 0x1000, load_bias: start, ..Default::default() };
        module.build_id[..4].fill(build_id);
        self.push(4, &module).text(Subject::ModulePath, id, path)
    }

    pub fn text(&mut self, subject: Subject, id: u32, text: impl AsRef<[u8]>) -> &mut Self {
        self.with_room(|writer, _| writer.push_text(subject, 0, id, text.as_ref()));
        self
    }

    /// Writes the chunks that will not change any more, and forgets them: all but the one in use. The lane's
    /// header cannot be given afterwards.
    pub fn write_full_chunks(&mut self, to: &mut impl Write) -> io::Result<()> {
        let full = self.chunks.len() - 1;
        self.chunks.drain(..full).try_for_each(|chunk| to.write_all(chunk.as_bytes()))
    }

    /// Writes what is left.
    pub fn write_rest(self, to: &mut impl Write) -> io::Result<()> {
        self.chunks.iter().try_for_each(|chunk| to.write_all(chunk.as_bytes()))
    }

    /// What the lane's header says at the end.
    pub fn header(&mut self, header: LaneHeader) -> &mut Self {
        // SAFETY: the header lies in the first chunk, which lives in `chunks`.
        unsafe { self.writer.header().write(header) };
        self
    }
}

/// A log's header for process `pid`, which ended in order.
pub fn header(pid: u32) -> FileHeader {
    FileHeader {
        magic: MAGIC,
        version: VERSION,
        endian_mark: ENDIAN_MARK,
        header_bytes: HEADER_BYTES as u32,
        chunk_bytes: MAX_CHUNK_BYTES as u32,
        pid,
        parent_pid: 1,
        start_ns: 1000 * MS,
        start_unix_ns: 1_700_000_000_000_000_000,
        tick_ns: 4_000_000,
        asked_rate_hz: 200,
        page_bytes: 4096,
        available_processors: 2,
        online_processors: 4,
        origin: Origin::Image as u32,
        ending: Ending::Exit as u32,
        end_ns: 2000 * MS,
        ..FileHeader::default()
    }
}

/// The bytes of a log before its first chunk.
pub fn head(mut header: FileHeader, lanes: usize) -> Vec<u8> {
    header.check = header.check_of_facts();
    header.lanes = lanes as u32;
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
    bytes
}

/// The bytes of a log.
pub fn log(header: FileHeader, lanes: &[LaneBuilder]) -> Vec<u8> {
    let mut bytes = head(header, lanes.len());
    for chunk in lanes.iter().flat_map(|lane| &lane.chunks) {
        bytes.extend_from_slice(chunk.as_bytes());
    }
    bytes
}

/// The function with number `n` of a module: named `fn`, declared nowhere.
fn function(n: u64) -> Function {
    Function {
        name: format!("f{n}"),
        full_name: format!("f{n}(int)"),
        linkage_name: None,
        file: None,
        line: None,
        address: n << 8,
        size_bytes: 0x100,
    }
}

/// Address `0xFLL` is line LL (0: no line) of function F; `0xI0000 + 0xFLL` is the same, inlined at line 99
/// of function I.
pub fn names(module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
    let mut structure = ModuleStructure::default();
    let file = Some(format!("{}.c", module.path.display()));
    for &address in addresses {
        let mut frames = Vec::new();
        let mut frame = |number: u64, line: u64, inlined: bool| {
            let known = structure.functions.iter().position(|f| *f == function(number));
            let index = known.unwrap_or_else(|| {
                structure.functions.push(function(number));
                structure.functions.len() - 1
            });
            let (file, line) = if line > 0 { (file.clone(), Some(line as u32)) } else { (None, None) };
            frames.push(SourceFrame { function: index as u32, file, line, inlined });
        };
        if address >> 16 > 0 {
            frame(address >> 16, 99, false);
        }
        frame(address >> 8 & 0xff, address & 0xff, address >> 16 > 0);
        let resolved = ResolvedAddress { address, frames, calls: None, waits: false, is_atomic: false };
        structure.addresses.insert(address, resolved);
    }
    structure
}

/// The profile of logs in memory.
pub fn profile_of(logs: &[Vec<u8>], run: Option<&RunFile>) -> Profile {
    profile_within(logs, run, &Spool::default())
}

/// The same, with rows in `spool`.
pub fn profile_within(logs: &[Vec<u8>], run: Option<&RunFile>, spool: &Spool) -> Profile {
    let names_of: Vec<String> = (0..logs.len()).map(|i| format!("log/{i}.plog")).collect();
    let logs: Vec<LogBytes<'_>> =
        logs.iter().zip(&names_of).map(|(bytes, name)| LogBytes::alone(name, Ok(bytes))).collect();
    let making = Making { paths: CallPaths::User, symbols: &names, spool };
    let profile = ingest_logs_by(making, "run", &logs, run, &Counter::default()).unwrap();
    assert_consistent(&profile);
    profile
}

/// What holds in every profile: its invariants, and that every account of CPU time is the same.
pub fn assert_consistent(profile: &Profile) {
    profile.check().unwrap();
    let of_values = |metric: Metric| -> u64 {
        profile.values.iter().filter(|value| value.metric == metric).map(|value| value.amount).sum()
    };
    let cpu = of_values(Metric::Cpu);
    assert_eq!(cpu, profile.locations.iter().map(|l| l.cpu.unsigned()).sum::<u64>(), "locations");
    assert_eq!(cpu, of_values(Metric::User) + of_values(Metric::System), "user and system");
    assert_eq!(cpu, profile.samples.iter().map(|s| s.cpu_ns).sum::<u64>(), "samples");
    let calls: u64 = profile.events.iter().map(|event| u64::from(event.calls)).sum();
    assert_eq!(of_values(Metric::Waits) + of_values(Metric::IoCalls), calls, "operations");
    assert_eq!(calls, profile.quality.events, "operations");
    assert_eq!(of_values(Metric::Samples), profile.quality.samples, "samples");
    let measurement: u64 = profile.locations.iter().map(|l| l.measurement.unsigned()).sum();
    assert_eq!(of_values(Metric::Measurement), measurement, "measurement");
    for location in &profile.locations {
        assert!(location.start >= Ns::ZERO && location.end >= location.start, "{location:?}");
        assert!(location.queued >= Ns::ZERO && location.queued <= location.wall(), "{location:?}");
    }
    assert_operations_consistent(profile);
    for sample in profile.samples.iter() {
        assert_eq!(sample.user_ns + sample.system_ns, sample.cpu_ns);
        assert!(sample.measurement_ns <= sample.cpu_ns);
    }
}

/// Operations lie in the life of their thread, and single ones do not overlap.
fn assert_operations_consistent(profile: &Profile) {
    let mut free = vec![0; profile.locations.len()];
    for event in profile.events.iter() {
        let location = &profile.locations[event.location];
        let (begin, end) = (Ns::of(event.begin_ns), Ns::of(event.end_ns));
        assert!(location.start <= begin && end <= location.end, "{event:?} {location:?}");
        let is_clock = !event.summed && (event.begin_ns, event.bytes) == (event.end_ns, 0);
        assert!((event.calls > 0 || is_clock) && event.errors <= event.calls, "{event:?}");
        if !event.summed {
            assert!(event.begin_ns >= free[event.location.index()], "{event:?}");
            free[event.location.index()] = event.end_ns;
        }
    }
    for id in 0..profile.operations.len() {
        let used = profile.events.iter().any(|event| event.operation.index() == id);
        let lets_go = profile.releases.iter().any(|release| release.operation.index() == id);
        let ends_a_segment = profile.segments.iter().any(|segment| segment.operation.index() == id);
        let is_inside = |row: &InsideRow| [row.operation.index(), row.outer.index()].contains(&id);
        assert!(used || lets_go || ends_a_segment || profile.inside.iter().any(is_inside));
    }
}

/// A context as `f1>f2@m.c:5>:7`: calls with their call sites, lines with their numbers.
pub fn path(profile: &Profile, context: ContextId) -> String {
    let context = &profile.contexts[context];
    let above = match context.parent {
        Some(ContextId(0)) | None => String::new(),
        Some(parent) => path(profile, parent) + ">",
    };
    let name = context.function.map_or("", |f| &profile.functions[f].name);
    let site = match (&context.file, context.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => String::new(),
    };
    match context.kind {
        ContextKind::Program => "program".into(),
        ContextKind::Partial => "partial".into(),
        ContextKind::Line => format!("{above}:{}", context.line.unwrap()),
        ContextKind::Inline => format!("{above}{name}(inlined)@{site}"),
        _ if site.is_empty() => format!("{above}{name}"),
        _ => format!("{above}{name}@{site}"),
    }
}

/// Amounts of a metric by context and thread; CPU time in milliseconds, rounded to a microsecond.
pub fn amounts(profile: &Profile, metric: Metric) -> BTreeMap<(String, u32), f64> {
    let values = profile.values.iter().filter(|value| value.metric == metric);
    let scale = if metric.unit() == proust_profile::Unit::SECONDS { 1e-6 } else { 1.0 };
    values
        .map(|value| {
            let tid = profile.locations[value.location].tid;
            ((path(profile, value.context), tid), (value.amount as f64 * scale * 1e3).round() / 1e3)
        })
        .collect()
}

/// The amounts as they are expected.
pub fn expected<const N: usize>(amounts: [(&str, u32, f64); N]) -> BTreeMap<(String, u32), f64> {
    amounts.into_iter().map(|(path, tid, amount)| ((path.to_owned(), tid), amount)).collect()
}

/// Whether a note has all of these words.
pub fn noted(profile: &Profile, words: &[&str]) -> bool {
    let json = |note| serde_json::to_string(note).expect("a note");
    profile.quality.notes.iter().map(json).any(|note| words.iter().all(|word| note.contains(word)))
}
