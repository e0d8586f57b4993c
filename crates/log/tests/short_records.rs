//! Short forms read back as what was written, and damage never makes one into something else.

use proptest::prelude::*;
use proust_log::layout::{
    ChunkHeader, ENDIAN_MARK, FileHeader, HEADER_BYTES, MAGIC, MAX_CHUNK_BYTES, UNIT_BYTES, VERSION,
};
use proust_log::records::{
    Body, Communicator, Completed, Event, Execution, Received, Release, Shaped, Stay, Sum, record_bytes,
};
use proust_log::shapes::{Shapes, Slot};
use proust_log::writer::{Chunk, Full, LaneWriter};
use proust_log::{Log, Record};
use zerocopy::IntoBytes;

/// A record that has a short form, with its head, or one that calls of MPI write beside such.
#[derive(Clone, Debug, PartialEq)]
enum Written {
    Event(u16, u16, Event),
    Release(u16, u16, Release),
    Stay(u16, u16, Stay),
    Execution(u16, Execution),
    Sum(u16, u16, Sum),
    Completed(u16, u16),
    Received(u16, u16, Received),
    Communicator(u16, Communicator),
}

/// A log of one lane in ordinary memory.
struct File {
    memory: Vec<u64>,
    /// Where chunks begin.
    chunks: Vec<usize>,
}

struct Writing {
    file: File,
    next: usize,
    writer: LaneWriter,
    shapes: Shapes,
}

impl Writing {
    fn new(most_chunks: usize) -> Writing {
        let mut memory = vec![0_u64; (HEADER_BYTES + most_chunks * MAX_CHUNK_BYTES) / 8];
        let mut header = FileHeader {
            magic: MAGIC,
            version: VERSION,
            endian_mark: ENDIAN_MARK,
            header_bytes: HEADER_BYTES as u32,
            chunk_bytes: MAX_CHUNK_BYTES as u32,
            ..FileHeader::default()
        };
        header.check = header.check_of_facts();
        memory.as_mut_bytes()[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
        let start = memory.as_mut_ptr().cast::<u8>().wrapping_add(HEADER_BYTES);
        // SAFETY: zero filled memory of this log alone, which lives as long as the writer.
        let writer = unsafe { LaneWriter::begin(0, Chunk { start, bytes: UNIT_BYTES }) };
        let file = File { memory, chunks: vec![HEADER_BYTES] };
        Writing { file, next: HEADER_BYTES + UNIT_BYTES, writer, shapes: Shapes::none() }
    }

    fn push_one<R: Shaped>(&mut self, a: u16, b: u16, record: &R) {
        if let Some(slots) = self.shapes.wanted_slots() {
            self.shapes.move_to(vec![Slot::default(); slots].leak());
        }
        while self.writer.push_shaped(&mut self.shapes, a, b, record) == Err(Full) {
            self.extend();
        }
    }

    fn push_plain<B: Body>(&mut self, a: u16, b: u16, record: &B) {
        while self.writer.push(a, b, record) == Err(Full) {
            self.extend();
        }
    }

    fn extend(&mut self) {
        let bytes = self.writer.wanted_bytes();
        assert!(self.next + bytes <= self.file.memory.len() * 8);
        let start = self.file.memory.as_mut_ptr().cast::<u8>().wrapping_add(self.next);
        // SAFETY: as in `new`, and no other chunk has a part of it.
        unsafe { self.writer.extend(Chunk { start, bytes }) };
        self.file.chunks.push(self.next);
        self.next += bytes;
    }

    fn push(&mut self, record: &Written) {
        match record {
            Written::Event(a, b, event) => self.push_one(*a, *b, event),
            Written::Release(a, b, release) => self.push_one(*a, *b, release),
            Written::Stay(a, b, stay) => self.push_one(*a, *b, stay),
            Written::Execution(a, execution) => self.push_one(*a, 0, execution),
            Written::Sum(a, b, sum) => self.push_one(*a, *b, sum),
            Written::Completed(a, b) => self.push_plain(*a, *b, &Completed {}),
            Written::Received(a, b, received) => self.push_plain(*a, *b, received),
            Written::Communicator(a, communicator) => self.push_plain(*a, 0, communicator),
        }
    }

    fn finish(mut self) -> File {
        self.file.memory.truncate(self.next / 8);
        self.file
    }
}

fn write(records: &[Written]) -> File {
    let mut writing = Writing::new(2 + records.len() / 300);
    records.iter().for_each(|record| writing.push(record));
    writing.finish()
}

/// The records of a log, and whether something was missing.
fn read(bytes: &[u8]) -> (Vec<Written>, bool) {
    let (found, has_gap, others) = read_all(bytes);
    assert!(others.is_empty(), "nobody wrote {others:?}");
    (found, has_gap)
}

/// Likewise, and records of kinds that nobody wrote.
fn read_all(bytes: &[u8]) -> (Vec<Written>, bool, Vec<String>) {
    let log = Log::parse(bytes).expect("the header is intact");
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut has_gap = log.damage().any();
    for lane in &log.lanes {
        for record in lane.records() {
            match record {
                Record::Event(a, b, event) => found.push(Written::Event(a, b, event)),
                Record::Release(a, b, release) => found.push(Written::Release(a, b, release)),
                Record::Stay(a, b, stay) => found.push(Written::Stay(a, b, stay)),
                Record::Execution(a, execution) => found.push(Written::Execution(a, execution)),
                Record::Sum(a, b, sum) => found.push(Written::Sum(a, b, sum)),
                Record::Completed(a, b) => found.push(Written::Completed(a, b)),
                Record::Received(a, b, received) => found.push(Written::Received(a, b, received)),
                Record::Communicator(a, one) => found.push(Written::Communicator(a, one)),
                Record::Gap => has_gap = true,
                other => others.push(format!("{other:?}")),
            }
        }
    }
    (found, has_gap, others)
}

/// A waiting thread's records: a few locks, a few callers, now and then something that does not fit.
fn record() -> impl Strategy<Value = Written> {
    let odd = prop_oneof![20 => Just(0_u64), 1 => 0..u64::MAX / 4];
    (0_u8..8, 0..40_u64, 0..5_u32, 1..2_000_000_u64, any::<bool>(), odd, any::<u16>()).prop_map(
        |(kind, object, node, ns, flag, odd, head)| {
            let (a, b) = (head % 3, head / 3 % 2);
            // Relative to the record before: `in_order` adds that up.
            match kind {
                0 => {
                    let cpu_ns = if flag { ns } else { 0 };
                    let event = Event {
                        begin_ns: ns,
                        end_ns: ns / 2 + odd,
                        cpu_ns,
                        object,
                        node,
                        ..Event::default()
                    };
                    Written::Event(
                        a,
                        b,
                        Event { bytes: object % 7 * 4096, processor: head % 64, request: node % 3, ..event },
                    )
                }
                1 => {
                    let since_ns = if flag { ns / 3 } else { 0 };
                    let release = Release { time_ns: ns, object, since_ns, node, ..Release::default() };
                    Written::Release(
                        a,
                        b,
                        Release { held_ns: ns + odd, weight_ns: 200_000, site: node + 9, ..release },
                    )
                }
                2 => {
                    let sum = Sum {
                        since_ns: ns,
                        until_ns: ns / 2 + odd,
                        ns,
                        bytes: object * 1000,
                        ..Sum::default()
                    };
                    Written::Sum(a, b, Sum { calls: head.into(), errors: node, region: node, ..sum })
                }
                3 => Written::Completed(a, b),
                4 => {
                    let (source, tag) = (node as i32 - 2, object as i32);
                    Written::Received(a, b, Received { source, tag, bytes: ns + odd })
                }
                5 => {
                    let (id, number) = (ns.wrapping_mul(odd + 3), object as u32);
                    let communicator =
                        Communicator { time_ns: ns, id, number, rank: node, ..Default::default() };
                    Written::Communicator(a, Communicator { size: 5, remote_size: node / 2, ..communicator })
                }
                6 => {
                    let execution = Execution { begin_ns: ns, end_ns: ns / 2 + odd, ..Execution::default() };
                    Written::Execution(a, Execution { iterations: object, interval: node, ..execution })
                }
                _ => {
                    let stay = Stay { begin_ns: ns, end_ns: ns / 2 + odd, region: node, ..Stay::default() };
                    Written::Stay(a, b, Stay { fork_ns: ns / 4, interval: node % 2, ..stay })
                }
            }
        },
    )
}

/// Makes times that were relative absolute: each record begins after the one before it.
fn in_order(mut records: Vec<Written>, start_ns: u64) -> Vec<Written> {
    let (mut now_ns, mut cpu_now_ns) = (start_ns, start_ns / 3 + 1);
    for record in &mut records {
        match record {
            Written::Event(_, _, event) => {
                event.begin_ns += now_ns;
                event.end_ns += event.begin_ns;
                cpu_now_ns += event.cpu_ns;
                event.cpu_ns = if event.cpu_ns == 0 { 0 } else { cpu_now_ns };
                now_ns = event.end_ns;
            }
            Written::Release(_, _, release) => {
                release.time_ns += now_ns;
                release.since_ns =
                    if release.since_ns == 0 { 0 } else { release.time_ns.saturating_sub(release.since_ns) };
                now_ns = release.time_ns;
            }
            Written::Sum(_, _, sum) => {
                sum.since_ns += now_ns;
                sum.until_ns += sum.since_ns;
                now_ns = sum.until_ns;
            }
            Written::Execution(_, execution) => {
                execution.begin_ns += now_ns;
                execution.end_ns += execution.begin_ns;
                now_ns = execution.end_ns;
            }
            Written::Stay(_, _, stay) => {
                stay.begin_ns += now_ns;
                stay.fork_ns = stay.begin_ns.saturating_sub(stay.fork_ns);
                stay.end_ns += stay.begin_ns;
                now_ns = stay.end_ns;
            }
            Written::Completed(..) | Written::Received(..) | Written::Communicator(..) => {}
        }
        now_ns %= u64::MAX / 4;
    }
    records
}

/// A thread that waits for each of a few locks in turn, from a few places.
fn lock_heavy(events: u64, locks: u64) -> Vec<Written> {
    (0..events)
        .flat_map(|i| {
            let (begin_ns, object) = (1_000_000_000 + i * 50_000, 0x7000 + i % locks * 64);
            let end_ns = begin_ns + 5_000 + i % 977;
            let event =
                Event { begin_ns, end_ns, object, node: 17, processor: (i % 2) as u16, ..Event::default() };
            let release = Release {
                time_ns: end_ns + 9_000,
                object,
                held_ns: 9_000,
                weight_ns: 200_000,
                since_ns: end_ns,
                node: 18,
                ..Release::default()
            };
            [Written::Event(1, 0, event), Written::Release(170, 0, release)]
        })
        .collect()
}

#[test]
fn a_lock_heavy_log_is_a_third_as_long() {
    for locks in [1, 30, 150] {
        let records = lock_heavy(20_000, locks);
        let file = write(&records);
        let long_bytes = 20_000 * (record_bytes::<Event>() + record_bytes::<Release>());
        let bytes = file.memory.len() * 8 - HEADER_BYTES;
        assert!(bytes * 5 < long_bytes * 2, "{locks} locks: {bytes} of {long_bytes} bytes");
        assert_eq!(read(file.memory.as_bytes()), (records, false));
    }
}

#[test]
fn an_io_heavy_log_is_a_third_as_long() {
    // Reads that wait for what another process writes in pieces of another size; and the others in sums, of
    // which each moved another amount.
    let mut records = Vec::new();
    for i in 0..20_000_u64 {
        let begin_ns = 1_000_000_000 + i * 50_000;
        let event = Event { begin_ns, end_ns: begin_ns + 9_000, object: 3, node: 17, ..Event::default() };
        records.push(Written::Event(0x401, 5, Event { bytes: [512, 488, 1000][i as usize % 3], ..event }));
        if i % 5 == 0 {
            let sum = Sum { since_ns: begin_ns, until_ns: begin_ns + 40_000, ns: 7_000, ..Sum::default() };
            let calls = 7 + (i % 11) as u32;
            records.push(Written::Sum(0x402, 5, Sum { bytes: i * 977 + 1, calls, node: 18, ..sum }));
        }
    }
    let file = write(&records);
    let long_bytes = 20_000 * record_bytes::<Event>() + 4_000 * record_bytes::<Sum>();
    let bytes = file.memory.len() * 8 - HEADER_BYTES;
    assert!(bytes * 5 < long_bytes * 2, "{bytes} of {long_bytes} bytes");
    assert_eq!(read(file.memory.as_bytes()), (records, false));
}

#[test]
fn a_log_of_more_shapes_than_there_are_slots_is_hardly_longer_than_without() {
    let records = lock_heavy(60_000, 5_000);
    let file = write(&records);
    let long_bytes = 60_000 * (record_bytes::<Event>() + record_bytes::<Release>());
    let bytes = file.memory.len() * 8 - HEADER_BYTES;
    assert!(bytes * 20 < long_bytes * 21, "{bytes} of {long_bytes} bytes");
    assert_eq!(read(file.memory.as_bytes()), (records, false));
    // Once they fit again records are short again.
    let mut records = lock_heavy(20_000, 5_000);
    records.extend(in_order(lock_heavy(60_000, 30), 1 << 50));
    let file = write(&records);
    let few = write(&in_order(lock_heavy(60_000, 30), 1 << 50)).memory.len();
    let many = write(&lock_heavy(20_000, 5_000)).memory.len();
    let both = file.memory.len();
    let rest = 33_000 * record_bytes::<Event>() / 8;
    assert!(both < few + many + rest, "{both} of {few} + {many} + {rest}");
    assert!(few + many + rest < 240_000 * record_bytes::<Release>() / 8);
    assert_eq!(read(file.memory.as_bytes()), (records, false));
}

/// A rank of a halo exchange: two receives and two sends are started, and completed together.
#[test]
fn a_call_of_mpi_takes_24_bytes() {
    const ROUNDS: u64 = 4_000;
    let mut records = Vec::new();
    for round in 0..ROUNDS {
        for call in 0..5_u64 {
            let begin_ns = 1_000_000_000 + round * 20_000 + call * 900;
            let event = Event { begin_ns, end_ns: begin_ns + 60 + round % 37, ..Event::default() };
            let event = match call {
                4 => Event { object2: 4, request: 1, node: 9, ..event },
                _ => {
                    let node = call as u32;
                    Event {
                        object: 1,
                        object2: call << 32 | 7,
                        bytes: 4096,
                        request: node + 1,
                        node,
                        ..event
                    }
                }
            };
            records.push(Written::Event(0x2010 + call as u16, 0, event));
        }
    }
    let file = write(&records);
    let bytes = (file.memory.len() * 8 - HEADER_BYTES) as u64;
    // The shapes, heads of chunks, and the rest of the last one are the same for any number of rounds.
    assert!(bytes <= 24 * 5 * ROUNDS + MAX_CHUNK_BYTES as u64 + 2_000, "{bytes}");
    assert_eq!(read(file.memory.as_bytes()), (records, false));
}

#[test]
fn a_missing_chunk_costs_only_what_refers_to_it() {
    let records = lock_heavy(60_000, 4);
    let file = write(&records);
    assert!(file.chunks.len() > 40);
    for &lost in &file.chunks[1..] {
        let mut memory = file.memory.clone();
        let bytes = memory.as_mut_bytes();
        bytes[lost..lost + size_of::<ChunkHeader>()].fill(0x55);
        let (found, has_gap) = read(bytes);
        assert!(has_gap);
        // Shapes are said again after sixteen chunks of 2700 records.
        assert!(records.len() - found.len() <= 17 * 2_730, "{} of {} are left", found.len(), records.len());
        let mut rest = records.iter();
        assert!(found.iter().all(|one| rest.any(|written| written == one)));
    }
}

proptest! {
    #[test]
    fn records_read_back_as_they_were_written(
        records in proptest::collection::vec(record(), 0..1500), start_ns in 0..u64::MAX / 8
    ) {
        let records = in_order(records, start_ns);
        let (found, has_gap) = read(write(&records).memory.as_bytes());
        prop_assert!(!has_gap);
        prop_assert_eq!(found, records);
    }

    #[test]
    fn damage_costs_records_and_invents_none(
        records in proptest::collection::vec(record(), 100..600),
        changes in proptest::collection::vec((0_usize..200_000, any::<u8>()), 1..20)
    ) {
        let records = in_order(records, 1 << 40);
        let mut file = write(&records);
        let bytes = file.memory.as_mut_bytes();
        for (at, value) in changes {
            let at = HEADER_BYTES + at % (bytes.len() - HEADER_BYTES);
            bytes[at] = value;
        }
        let (found, _, others) = read_all(bytes);
        let invented = others.len() + found.iter().filter(|one| !records.contains(one)).count();
        // A check of 16 bits passes one damaged record in 65 536: of a shape all that refer to it.
        prop_assert!(invented == 0 || records.len() > invented * 3, "{} records were invented", invented);
    }
}
