//! The log of a program that waits often is short: what repeats of a wait is written once.

use std::fs;
use std::mem::offset_of;
use std::path::Path;

use proust_log::layout::{CHUNK_MAGIC, ChunkHeader, HEADER_BYTES, LaneHeader};
use proust_log::records::{self, Head, Kind, record_bytes};
use proust_log::{Log, Record};
use zerocopy::FromBytes;

use crate::programs::built;
use crate::recording::{Recorded, record};

/// Bytes of the waits, releases, stays and sums in a run's logs, as they are and as they would be if each
/// were written in full; and how many of these there are. Samples and nodes are as long as ever: how many
/// there are depends on the processor time.
#[derive(Debug, Default)]
struct Size {
    bytes: usize,
    in_full: usize,
    waits: usize,
}

impl Size {
    fn add_bytes(&mut self, log: &[u8]) {
        use Kind::{Base, Event, Release, Shape, Short, Stay, Sum};
        let of_waits = [Short, Shape, Base, Event, Release, Stay, Sum].map(|kind| kind as u8);
        let mut chunk = HEADER_BYTES;
        while let Ok((header, _)) = ChunkHeader::read_from_prefix(&log[chunk..])
            && header.bytes != 0
        {
            // Others are of forked children that record nothing.
            let used = if header.magic == CHUNK_MAGIC { header.used as usize } else { 0 };
            let mut at = chunk + size_of::<ChunkHeader>();
            at += if header.sequence == 0 { size_of::<LaneHeader>() } else { 0 };
            while at < chunk + used {
                let bytes = usize::from(log[at + offset_of!(Head, words)]) * 8;
                if of_waits.contains(&log[at + offset_of!(Head, kind)]) {
                    self.bytes += bytes;
                }
                at += bytes;
            }
            chunk += header.bytes as usize;
        }
    }

    fn add_waits(&mut self, log: &Log<'_>) {
        for record in log.lanes.iter().flat_map(|lane| lane.records()) {
            let bytes = match record {
                Record::Event(..) => record_bytes::<records::Event>(),
                Record::Release(..) => record_bytes::<records::Release>(),
                Record::Stay(..) => record_bytes::<records::Stay>(),
                Record::Sum(..) => record_bytes::<records::Sum>(),
                _ => continue,
            };
            self.in_full += bytes;
            self.waits += 1;
        }
    }

    fn of(dir: &Path) -> Size {
        let mut size = Size::default();
        for log in fs::read_dir(dir.join("log")).unwrap() {
            let bytes = fs::read(log.unwrap().path()).unwrap();
            size.add_bytes(&bytes);
            let log = Log::parse(&bytes).unwrap();
            assert!(!log.damage().any());
            size.add_waits(&log);
        }
        size
    }
}

fn assert_short(recorded: &Recorded) {
    let size = Size::of(&recorded.dir);
    println!("{size:?}, {:.3}", size.bytes as f64 / size.in_full as f64);
    assert!(size.waits > 500, "{size:?}");
    assert!(size.bytes as f64 <= 0.4 * size.in_full as f64, "{size:?}");
}

#[test]
fn a_program_with_many_locks() {
    let Some(program) = built("convoy") else { return };
    assert_short(&record(program, &["2"]).succeeded());
}

#[test]
fn programs_with_much_io() {
    let command = "dd if=/dev/zero bs=1000 count=40000 | dd bs=512 | dd bs=100 of=/dev/null";
    assert_short(&record("sh", &["-c", command]).succeeded());
}
