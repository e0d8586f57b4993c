//! Whatever happens to a log file, the reader yields all that is intact, and only that.

use proptest::prelude::*;
use proust_log::layout::{
    ChunkHeader, ENDIAN_MARK, Ending, FileHeader, HEADER_BYTES, MAGIC, MAX_CHUNK_BYTES, UNIT_BYTES, VERSION,
    chunk_bytes,
};
use proust_log::operations::{Operation, Target};
use proust_log::records::{
    EVENT_LEFT, EVENT_TARGET_SHIFT, Event, Node, Sample, Subject, Sum, TEXT_BYTES, ThreadBegin, ThreadEnd,
};
use proust_log::writer::{Chunk, Full, LaneWriter};
use proust_log::{Log, LogError, Record};
use std::mem::offset_of;
use zerocopy::{FromBytes, IntoBytes};

/// A log in ordinary memory: `lanes` lanes whose records carry their own number in `time_ns`.
struct Written {
    memory: Vec<u64>,
    per_lane: Vec<Vec<u64>>,
    /// Where chunks begin.
    chunks: Vec<usize>,
}

impl Written {
    fn new(lanes: usize, samples_per_lane: usize) -> Written {
        let most_bytes = HEADER_BYTES + lanes * (samples_per_lane * 450 + 2 * MAX_CHUNK_BYTES);
        let mut memory = vec![0_u64; most_bytes / 8];
        let mut header = FileHeader {
            magic: MAGIC,
            version: VERSION,
            endian_mark: ENDIAN_MARK,
            header_bytes: HEADER_BYTES as u32,
            chunk_bytes: MAX_CHUNK_BYTES as u32,
            pid: 77,
            ..FileHeader::default()
        };
        header.check = header.check_of_facts();
        memory.as_mut_bytes()[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
        let base = memory.as_mut_ptr().cast::<u8>();
        let mut chunks = Vec::new();
        let mut next = HEADER_BYTES;
        let mut take = |wanted: usize| {
            let offset = next;
            // A lane does not always get as much as it wants.
            let bytes = if chunks.len() % 5 == 4 { wanted / 2 } else { wanted };
            let bytes = bytes.next_multiple_of(UNIT_BYTES);
            next += bytes;
            chunks.push(offset);
            assert!(next <= most_bytes);
            // SAFETY: the chunk is inside `memory`, checked on the line above.
            Chunk { start: unsafe { base.add(offset) }, bytes }
        };
        let mut per_lane = Vec::new();
        for lane in 0..lanes {
            // SAFETY: chunks are distinct, zero filled and live as long as `memory`.
            let mut writer = unsafe { LaneWriter::begin(lane as u32, take(chunk_bytes(0))) };
            let mut times = Vec::new();
            writer
                .push(1, 0, &ThreadBegin { time_ns: 1, tid: lane as u32 + 1, ..Default::default() })
                .unwrap();
            for i in 0..samples_per_lane {
                let time_ns = 1000 + i as u64;
                let node = Node { id: i as u32 + 1, parent: 0, address: time_ns * 3, ..Default::default() };
                let sample =
                    Sample { time_ns, cpu_ns: time_ns * 5, node: i as u32 + 1, ..Default::default() };
                while writer.push(0, 0, &node) == Err(Full) {
                    // SAFETY: as above.
                    unsafe { writer.extend(take(writer.wanted_bytes())) };
                }
                while writer.push(0, 0, &sample) == Err(Full) {
                    // SAFETY: as above.
                    unsafe { writer.extend(take(writer.wanted_bytes())) };
                }
                // Operations between samples: their numbers follow from each other.
                let event = Event {
                    begin_ns: time_ns,
                    end_ns: time_ns + 2,
                    cpu_ns: time_ns * 5,
                    object: time_ns * 7,
                    node: i as u32 + 1,
                    ..Default::default()
                };
                while writer.push(Operation::Read as u16, event_head(), &event) == Err(Full) {
                    // SAFETY: as above.
                    unsafe { writer.extend(take(writer.wanted_bytes())) };
                }
                let sum = Sum {
                    since_ns: time_ns,
                    until_ns: time_ns + 5,
                    ns: 3,
                    bytes: time_ns * 11,
                    calls: 2,
                    ..Default::default()
                };
                while writer.push(Operation::MutexLock as u16, 0, &sum) == Err(Full) {
                    // SAFETY: as above.
                    unsafe { writer.extend(take(writer.wanted_bytes())) };
                }
                if i % 7 == 0 {
                    let text = vec![b'x'; i % (TEXT_BYTES + 1)];
                    while writer.push_text(Subject::Argument, 0, i as u32, &text) == Err(Full) {
                        // SAFETY: as above.
                        unsafe { writer.extend(take(writer.wanted_bytes())) };
                    }
                }
                times.push(time_ns);
            }
            writer.push_last(0, 0, &ThreadEnd { time_ns: 9, ..Default::default() }).unwrap();
            per_lane.push(times);
        }
        memory.truncate(next / 8);
        Written { memory, per_lane, chunks }
    }

    fn bytes(&self) -> &[u8] {
        self.memory.as_bytes()
    }
}

fn event_head() -> u16 {
    EVENT_LEFT | (Target::Pipe as u16) << EVENT_TARGET_SHIFT
}

/// In [`times`], a record that nobody wrote.
const INVENTED: u64 = u64::MAX;

/// Sample times of each lane, and [`INVENTED`] for each record that is none of those written.
fn times(log: &Log<'_>) -> Vec<Vec<u64>> {
    log.lanes
        .iter()
        .map(|lane| {
            lane.records()
                .filter_map(|record| match record {
                    Record::Sample(_, s) if s.cpu_ns == s.time_ns.wrapping_mul(5) => Some(s.time_ns),
                    Record::Sample(..) => Some(INVENTED),
                    Record::Event(operation, head, e) => {
                        let expected = Event {
                            end_ns: e.begin_ns.wrapping_add(2),
                            cpu_ns: e.begin_ns.wrapping_mul(5),
                            object: e.begin_ns.wrapping_mul(7),
                            ..e
                        };
                        let is_one = (operation, head) == (Operation::Read as u16, event_head());
                        (!is_one || e != expected).then_some(INVENTED)
                    }
                    Record::Sum(operation, head, s) => {
                        let is_one = (operation, head) == (Operation::MutexLock as u16, 0);
                        let expected = (s.since_ns.wrapping_add(5), 3, s.since_ns.wrapping_mul(11));
                        (!is_one || (s.until_ns, s.ns, s.bytes) != expected).then_some(INVENTED)
                    }
                    Record::Node(n) => (n.address % 3 != 0).then_some(INVENTED),
                    _ => None,
                })
                .collect()
        })
        .collect()
}

#[test]
fn an_intact_log_reads_back_whole() {
    let written = Written::new(3, 3000);
    let log = Log::parse(written.bytes()).unwrap();
    assert_eq!(log.header.pid, 77);
    assert!(!log.damage().any());
    assert_eq!(times(&log), written.per_lane);
    for lane in &log.lanes {
        let mut records = lane.records();
        let all: Vec<_> = records.by_ref().collect();
        assert!(matches!(all.first(), Some(Record::ThreadBegin(1, _))));
        assert!(matches!(all.last(), Some(Record::ThreadEnd(_))));
        assert_eq!(all.iter().filter(|record| matches!(record, Record::Event(..))).count(), 3000);
        assert_eq!(all.iter().filter(|record| matches!(record, Record::Sum(..))).count(), 3000);
        assert_eq!(records.skipped_bytes(), 0);
        assert!(!all.contains(&Record::Gap));
    }
}

#[test]
fn a_log_truncated_anywhere_yields_its_beginning() {
    let written = Written::new(1, 300);
    let whole = &written.per_lane[0];
    let mut last = 0;
    for length in 0..written.bytes().len() {
        match Log::parse(&written.bytes()[..length]) {
            Err(error) => {
                assert_eq!(error, LogError::TooShort { bytes: length });
                assert!(length < HEADER_BYTES);
            }
            // Reading the whole log at each of 200 000 lengths would take minutes: a stride that is coprime
            // to the record sizes meets every phase of them.
            Ok(log) if length % 37 == 0 => {
                let found = times(&log).pop().unwrap_or_default();
                assert_eq!(found[..], whole[..found.len()]);
                assert!(found.len() >= last);
                last = found.len();
            }
            Ok(_) => {}
        }
    }
    assert!(last > 250);
}

/// A log of a process that ended in order, of which the bytes from `at` on are cut off, or zeros.
fn shortened(written: &Written, at: usize, is_cut: bool) -> Vec<u8> {
    let mut bytes = written.bytes().to_vec();
    let (mut header, _) = FileHeader::read_from_prefix(&bytes).unwrap();
    header.ending = Ending::Exit as u32;
    header.units = ((bytes.len() - HEADER_BYTES) / UNIT_BYTES) as u32;
    header.lanes = written.per_lane.len() as u32;
    bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
    match is_cut {
        true => bytes.truncate(at),
        false => bytes[at..].fill(0),
    }
    bytes
}

fn skipped(log: &Log<'_>) -> u64 {
    let mut bytes = log.damage().skipped_bytes;
    for lane in &log.lanes {
        let mut records = lane.records();
        records.by_ref().for_each(drop);
        bytes += records.skipped_bytes();
    }
    bytes
}

#[test]
fn the_end_of_a_log_is_missed() {
    let written = Written::new(2, 100);
    let whole = shortened(&written, written.bytes().len(), true);
    assert_eq!(skipped(&Log::parse(&whole).unwrap()), 0);
    let last = *written.chunks.last().unwrap();
    let (head, _) = ChunkHeader::read_from_prefix(&whole[last..]).unwrap();
    let end = last + head.used as usize;
    for at in (HEADER_BYTES..end).step_by(8) {
        for is_cut in [true, false] {
            let bytes = shortened(&written, at, is_cut);
            let lost = skipped(&Log::parse(&bytes).unwrap());
            // The last fields of a record may be zeros already.
            assert!(lost > 0 || bytes == whole, "{at} of {end} bytes, cut: {is_cut}");
        }
    }
}

/// A kill, or the end of the process, stops a thread between any two stores of a record. What it had written
/// lies behind the mark of what is in use.
#[test]
fn a_record_that_was_never_finished_is_no_damage() {
    let written = Written::new(2, 100);
    let whole = shortened(&written, written.bytes().len(), true);
    let last = *written.chunks.last().unwrap();
    let used_at = last + offset_of!(ChunkHeader, used);
    let end = u32::from_le_bytes(whole[used_at..used_at + 4].try_into().unwrap());
    let last_bytes = size_of::<ThreadEnd>() + 8;
    let begin = end as usize - last_bytes;
    let record = last + begin..last + end as usize;
    for stored in 0_u32..1 << (last_bytes / 8 - 1) {
        let mut bytes = whole.clone();
        bytes[used_at..used_at + 4].copy_from_slice(&(begin as u32).to_le_bytes());
        for (word, place) in record.clone().step_by(8).enumerate() {
            // The head is stored last, the words before it in any order.
            if word == 0 || stored & 1 << (word - 1) == 0 {
                bytes[place..place + 8].fill(0);
            }
        }
        let log = Log::parse(&bytes).unwrap();
        assert_eq!(skipped(&log), 0, "{stored:b}");
        assert_eq!(times(&log), written.per_lane);
        // In use, it is damaged.
        bytes[used_at..used_at + 4].copy_from_slice(&end.to_le_bytes());
        assert!(skipped(&Log::parse(&bytes).unwrap()) > 0, "{stored:b}");
    }
    // A record behind it is evidence that there was one.
    let mut bytes = whole.clone();
    bytes[record.start..record.start + 8].fill(0);
    bytes[used_at..used_at + 4].copy_from_slice(&(begin as u32).to_le_bytes());
    bytes[record.end..record.end + last_bytes].copy_from_slice(&whole[record.clone()]);
    assert!(skipped(&Log::parse(&bytes).unwrap()) > 0);
}

#[test]
fn a_chunk_that_was_never_begun_is_no_damage() {
    let written = Written::new(2, 100);
    let mut head = ChunkHeader::new(7, 3, UNIT_BYTES as u32, 24).as_bytes().to_vec();
    for at in (0..head.len()).step_by(4) {
        let mut bytes = written.bytes().to_vec();
        bytes.extend(&head[..at]);
        bytes.resize(written.bytes().len() + UNIT_BYTES, 0);
        let log = Log::parse(&bytes).unwrap();
        assert!(!log.damage().any(), "{at}");
        assert_eq!(times(&log), written.per_lane);
    }
    // A record behind a damaged header is lost.
    head[0] ^= 1;
    let mut bytes = [written.bytes(), &head[..], &[1; 64]].concat();
    bytes.resize(written.bytes().len() + UNIT_BYTES, 0);
    assert_eq!(Log::parse(&bytes).unwrap().damage().chunks, 1);
}

#[test]
fn a_killed_process_leaves_counters_ahead_of_chunks() {
    let written = Written::new(2, 100);
    let mut bytes = shortened(&written, written.bytes().len(), true);
    let (mut header, _) = FileHeader::read_from_prefix(&bytes).unwrap();
    header.ending = Ending::Open as u32;
    header.units += 3;
    header.lanes += 1;
    bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
    assert_eq!(skipped(&Log::parse(&bytes).unwrap()), 0);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    assert_eq!(Log::parse(&[0; 10_000]).unwrap_err(), LogError::NotALog);
    let mut written = Written::new(1, 1);
    written.memory[1] = (written.memory[1] & !0xffff_ffff) | 99;
    assert_eq!(Log::parse(written.bytes()).unwrap_err(), LogError::Version { found: 99 });
    let mut written = Written::new(1, 1);
    written.memory[1] = (written.memory[1] & 0xffff_ffff) | (u64::from(ENDIAN_MARK.swap_bytes()) << 32);
    assert_eq!(Log::parse(written.bytes()).unwrap_err(), LogError::ByteOrder);
}

#[test]
fn a_flipped_bit_costs_at_most_its_record() {
    let written = Written::new(2, 40);
    let mut bytes = written.bytes().to_vec();
    let in_head = |at: usize| {
        written.chunks.iter().any(|&start| (start..start + size_of::<ChunkHeader>()).contains(&at))
    };
    for bit in (HEADER_BYTES * 8..bytes.len() * 8).step_by(3) {
        // A damaged chunk header loses its chunk, a damaged record only itself.
        if in_head(bit / 8) {
            continue;
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = times(&Log::parse(&bytes).unwrap());
        let lost: usize =
            found.iter().zip(&written.per_lane).map(|(found, whole)| whole.len() - found.len()).sum();
        assert!(lost <= 1, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_chunk_with_a_damaged_head_is_left_out_and_counted() {
    let written = Written::new(2, 300);
    let mut bytes = written.bytes().to_vec();
    assert!(written.chunks.len() > 8);
    for &start in &written.chunks {
        let (head, _) = ChunkHeader::read_from_prefix(&bytes[start..]).unwrap();
        for at in 0..size_of::<ChunkHeader>() {
            // How much is in use stands outside of the check: nothing relies on it.
            let is_used = (offset_of!(ChunkHeader, used)..offset_of!(ChunkHeader, bytes)).contains(&at);
            bytes[start + at] ^= 4;
            let log = Log::parse(&bytes).unwrap();
            let damage = log.damage();
            assert_eq!(damage.chunks, u64::from(!is_used));
            if is_used {
                assert_eq!(times(&log), written.per_lane);
            } else {
                assert!(damage.skipped_bytes <= u64::from(head.bytes));
                for (found, whole) in times(&log).iter().zip(&written.per_lane) {
                    assert!(found.is_sorted() && whole.len() - found.len() <= head.bytes as usize / 200);
                }
            }
            bytes[start + at] ^= 4;
        }
    }
}

#[test]
fn what_was_reserved_and_not_used_is_no_damage() {
    let written = Written::new(3, 100);
    let mut bytes = written.bytes().to_vec();
    bytes.resize(bytes.len() + 7 * UNIT_BYTES + 100, 0);
    let log = Log::parse(&bytes).unwrap();
    assert!(!log.damage().any());
    assert_eq!(times(&log), written.per_lane);
}

#[test]
fn chunks_grow_from_one_unit_to_the_largest() {
    let sizes: Vec<usize> = (0..8).map(chunk_bytes).collect();
    assert_eq!(sizes[..2], [UNIT_BYTES, 2 * UNIT_BYTES]);
    assert!(sizes.is_sorted() && sizes[7] == MAX_CHUNK_BYTES && chunk_bytes(u32::MAX) == MAX_CHUNK_BYTES);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..9000)) {
        let mut file = Written::new(1, 2).bytes().to_vec();
        let at = HEADER_BYTES.min(file.len());
        file.truncate(at);
        file.extend_from_slice(&bytes);
        if let Ok(log) = Log::parse(&file) {
            for lane in &log.lanes { let _ = lane.records().count(); }
        }
        let _ = Log::parse(&bytes);
    }

    #[test]
    fn damaged_bytes_are_not_read_as_samples(
        changes in proptest::collection::vec((0_usize..200_000, any::<u8>()), 1..60)
    ) {
        let written = Written::new(2, 300);
        let mut bytes = written.bytes().to_vec();
        for (at, value) in changes {
            let at = HEADER_BYTES + at % (bytes.len() - HEADER_BYTES);
            bytes[at] = value;
        }
        let log = Log::parse(&bytes).unwrap();
        let mut invented = 0;
        for mut lane in times(&log) {
            let read = lane.len();
            lane.retain(|time| (1000..1300).contains(time));
            invented += read - lane.len() + lane.windows(2).filter(|pair| pair[0] > pair[1]).count();
        }
        // A check of 16 bits passes one damaged record in 65 536; two in one log are no chance.
        prop_assert!(invented <= 1, "{} records were invented", invented);
    }
}
