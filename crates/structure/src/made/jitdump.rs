//! perf's jitdump: records of code that was loaded or moved, with times
//! (`tools/perf/Documentation/jitdump-specification.txt`).

use std::collections::HashMap;
use std::ops::Range;

/// `JiTD`, in the order of bytes of the machine that wrote it.
const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 40;
/// A record's number, its length, its time.
const HEAD_BYTES: usize = 16;
/// Header flag: times are those of the processor's counter.
const ARCH_TIMESTAMP: u64 = 1;

const LOAD: u32 = 0;
const MOVE: u32 = 1;
const CLOSE: u32 = 3;

/// From a time on, code has this name, or none.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// CLOCK_MONOTONIC; 0 where the file has the times of another clock.
    pub(super) from_ns: u64,
    pub(super) code: Range<u64>,
    pub(super) name: Option<&'a [u8]>,
}

/// The changes in the order of their times; up to the first record that is cut or damaged, or up to the one
/// that closes the file. None of a file in another order of bytes or of another version.
pub(super) fn changes(bytes: &[u8]) -> Vec<Change<'_>> {
    let mut changes = Vec::new();
    let _ = read(bytes, &mut changes);
    // Threads that load code at one time may write in another order.
    changes.sort_by_key(|change| change.from_ns);
    changes
}

fn read<'a>(bytes: &'a [u8], changes: &mut Vec<Change<'a>>) -> Option<()> {
    let header = Fields(bytes);
    if header.u32(0)? != MAGIC || header.u32(4)? != VERSION {
        return None;
    }
    let has_other_clock = header.u64(32)? & ARCH_TIMESTAMP != 0;
    let mut rest = bytes.get((header.u32(8)? as usize).max(HEADER_BYTES)..)?;
    let mut loaded: HashMap<u64, &'a [u8]> = HashMap::new();
    loop {
        let (id, length) = (Fields(rest).u32(0)?, Fields(rest).u32(4)? as usize);
        let time_ns = Fields(rest).u64(8)?;
        let from_ns = if has_other_clock { 0 } else { time_ns };
        let record = rest.get(..length.max(HEAD_BYTES))?.get(HEAD_BYTES..)?;
        rest = rest.get(length.max(HEAD_BYTES)..)?;
        let fields = Fields(record);
        match id {
            LOAD => {
                let (start, size, number) = (fields.u64(16)?, fields.u64(24)?, fields.u64(32)?);
                let name = record.get(40..)?.split(|&byte| byte == 0).next()?;
                loaded.insert(number, name);
                changes.push(Change { from_ns, code: range(start, size), name: Some(name) });
            }
            MOVE => {
                let (from, to) = (fields.u64(16)?, fields.u64(24)?);
                let (size, number) = (fields.u64(32)?, fields.u64(40)?);
                let Some(&name) = loaded.get(&number) else { continue };
                changes.push(Change { from_ns, code: range(from, size), name: None });
                changes.push(Change { from_ns, code: range(to, size), name: Some(name) });
            }
            CLOSE => return Some(()),
            _ => {}
        }
    }
}

fn range(start: u64, size: u64) -> Range<u64> {
    start..start.saturating_add(size)
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn record(id: u32, time_ns: u64, body: &[u8]) -> Vec<u8> {
        let length = (HEAD_BYTES + body.len()) as u32;
        [&id.to_ne_bytes()[..], &length.to_ne_bytes(), &time_ns.to_ne_bytes(), body].concat()
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// A file of these records.
    pub(in super::super) fn dump(flags: u64, records: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [MAGIC, VERSION, HEADER_BYTES as u32, 62, 0, 4711] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(words(&[0, flags]));
        bytes.extend(records.concat());
        bytes
    }

    pub(in super::super) fn load(time_ns: u64, address: u64, size: u64, number: u64, name: &str) -> Vec<u8> {
        let mut body = words(&[4711, address, address, size, number]);
        body.extend(name.as_bytes());
        body.extend([0, 0x90, 0xc3]);
        record(LOAD, time_ns, &body)
    }

    pub(in super::super) fn moved(time_ns: u64, from: u64, to: u64, size: u64, number: u64) -> Vec<u8> {
        record(MOVE, time_ns, &words(&[4711, to, from, to, size, number]))
    }

    pub(in super::super) fn close(time_ns: u64) -> Vec<u8> {
        record(CLOSE, time_ns, &[])
    }
}
