//! A lane's records, appended to chunks that are no longer than their bytes.

use proust_log::layout::{
    ENDIAN_MARK, FileHeader, HEADER_BYTES, MAGIC, MAX_CHUNK_BYTES, UNIT_BYTES, VERSION,
};
use proust_log::records::{Completed, Event, Subject, Sum};
use proust_log::shapes::{Shapes, Slot};
use proust_log::writer::{Chunk, Full, LaneWriter};
use proust_log::{Log, Record};
use zerocopy::IntoBytes;

const RECORDS: u64 = if cfg!(miri) { 300 } else { 5000 };

/// A chunk of its own, so that a byte beyond its end is no other one's.
fn chunk(bytes: usize) -> Chunk {
    let memory = Box::leak(vec![0_u64; bytes / 8].into_boxed_slice());
    Chunk { start: memory.as_mut_ptr().cast(), bytes }
}

struct Lane {
    chunks: Vec<Chunk>,
    writer: LaneWriter,
    shapes: Shapes,
}

impl Lane {
    fn new() -> Lane {
        let first = chunk(UNIT_BYTES);
        // SAFETY: zero filled memory of this lane alone, which is never freed.
        let writer = unsafe { LaneWriter::begin(0, first) };
        Lane { chunks: vec![first], writer, shapes: Shapes::none() }
    }

    fn push(&mut self, mut append: impl FnMut(&mut LaneWriter, &mut Shapes) -> Result<(), Full>) {
        if let Some(slots) = self.shapes.wanted_slots() {
            self.shapes.move_to(vec![Slot::default(); slots].leak());
        }
        while append(&mut self.writer, &mut self.shapes) == Err(Full) {
            let next = chunk(UNIT_BYTES);
            // SAFETY: as in `new`.
            unsafe { self.writer.extend(next) };
            self.chunks.push(next);
        }
    }

    /// The log's file.
    fn file(&self) -> Vec<u64> {
        let mut header = FileHeader {
            magic: MAGIC,
            version: VERSION,
            endian_mark: ENDIAN_MARK,
            header_bytes: HEADER_BYTES as u32,
            chunk_bytes: MAX_CHUNK_BYTES as u32,
            ..FileHeader::default()
        };
        header.check = header.check_of_facts();
        let mut file = vec![0_u64; HEADER_BYTES / 8];
        file.as_mut_bytes()[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
        for chunk in &self.chunks {
            // SAFETY: the chunk's memory, of which every byte was written.
            let words = unsafe { core::slice::from_raw_parts(chunk.start.cast::<u64>(), chunk.bytes / 8) };
            file.extend_from_slice(words);
        }
        file
    }
}

fn event(number: u64) -> Event {
    let begin_ns = 1_000_000 + number * 10_000;
    // A few locks, and now and then a time that no short form has.
    let ns = if number % 19 == 0 { 1 << 40 } else { 500 + number % 7 };
    Event { begin_ns, end_ns: begin_ns + ns, object: 0x1000 + number % 6 * 64, node: 3, ..Event::default() }
}

fn sum(number: u64) -> Sum {
    let since_ns = 1_000_000 + number * 10_000;
    Sum { since_ns, until_ns: since_ns + 900, ns: 300, calls: 4, node: (number % 3) as u32, ..Sum::default() }
}

#[test]
fn a_log_is_read_as_it_was_written() {
    let mut lane = Lane::new();
    for number in 0..RECORDS {
        match number % 5 {
            0 => lane.push(|writer, _| writer.push_text(Subject::Host, 0, 7, b"a host with a name")),
            1 => lane.push(|writer, shapes| writer.push_shaped(shapes, 9, 0, &sum(number))),
            2 => lane.push(|writer, _| writer.push(number as u16, 2, &event(number))),
            _ => lane.push(|writer, shapes| writer.push_shaped(shapes, 5, 1, &event(number))),
        }
    }
    lane.push(|writer, _| writer.push_last(1, 1, &Completed {}));
    let file = lane.file();
    let log = Log::parse(file.as_bytes()).expect("a header as it should be");
    assert!(!log.damage().any());
    let mut number = 0;
    for record in log.lanes.iter().flat_map(|lane| lane.records()) {
        match (number % 5, record) {
            (_, Record::Completed(1, 1)) if number == RECORDS => {}
            (0, Record::Text { text, .. }) => assert_eq!(&*text, b"a host with a name"),
            (1, Record::Sum(9, 0, found)) => assert_eq!(found, sum(number)),
            (2, Record::Event(a, 2, found)) => assert_eq!((a, found), (number as u16, event(number))),
            (3 | 4, Record::Event(5, 1, found)) => assert_eq!(found, event(number)),
            (_, other) => panic!("{number}: {other:?}"),
        }
        number += 1;
    }
    assert_eq!(number, RECORDS + 1);
}

#[test]
fn chunks_are_filled_to_their_end_and_no_further() {
    let mut lane = Lane::new();
    let mut written = 0;
    while lane.chunks.len() < 3 {
        lane.push(|writer, _| writer.push(1, 2, &event(written)));
        written += 1;
    }
    // Room that only the last record uses.
    while lane.writer.push_last(1, 2, &event(written)).is_ok() {
        written += 1;
    }
    let file = lane.file();
    let log = Log::parse(file.as_bytes()).expect("a header as it should be");
    let found = log.lanes.iter().flat_map(|lane| lane.records());
    let events = found.enumerate().map(|(number, record)| match record {
        Record::Event(1, 2, found) => assert_eq!(found, event(number as u64)),
        other => panic!("{number}: {other:?}"),
    });
    assert_eq!(events.count() as u64, written);
}
