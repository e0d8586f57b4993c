//! Loudness of a recording: a file has short records with a head each, of which every thread has a part.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

const HEAD: usize = 16;
const REST: i64 = 80;
const RECORD: usize = HEAD + REST as usize;
const RECORDS: usize = 150_000;
const PASSES: usize = 24;

fn threads_asked() -> usize {
    let asked = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let found = thread::available_parallelism().map_or(2, NonZero::get).max(2);
    if asked > 0 { asked } else { found }
}

fn make_recording(path: &PathBuf) {
    let mut bytes = Vec::with_capacity(RECORD * RECORDS);
    for record in 0..RECORDS {
        bytes.extend_from_slice(&(record as u64 * 7919 % 100_003).to_le_bytes());
        bytes.extend_from_slice(&[0; RECORD - 8]);
    }
    fs::write(path, bytes).unwrap();
}

/// The level in the next record's head; the samples behind it are not wanted.
#[inline(never)]
fn next_level(file: &mut BufReader<File>) -> u64 {
    let mut head = [0; HEAD];
    file.read_exact(&mut head).unwrap();
    file.seek_relative(REST).unwrap();
    u64::from_le_bytes(head[..8].try_into().unwrap())
}

#[inline(never)]
fn loudness(level: u64) -> f64 {
    let mut value = level as f64;
    for _ in 0..90 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

fn measure(path: &PathBuf, first: usize, last: usize) -> f64 {
    let mut file = BufReader::new(File::open(path).unwrap());
    let mut sum = 0.0;
    for _ in 0..PASSES {
        file.seek(SeekFrom::Start((first * RECORD) as u64)).unwrap();
        for _ in first..last {
            sum += loudness(next_level(&mut file));
        }
    }
    sum
}

fn main() {
    let count = threads_asked();
    let path = PathBuf::from(std::env::args().nth(2).unwrap_or("recording".into()));
    make_recording(&path);
    let total: f64 = thread::scope(|scope| {
        let (path, bound) = (&path, |number: usize| RECORDS * number / count);
        let part = |number| scope.spawn(move || measure(path, bound(number), bound(number + 1)));
        let threads: Vec<_> = (0..count).map(part).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{total:.3}");
}
