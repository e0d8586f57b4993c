//! Addresses are looked up by many readers in an index, which is made anew from time to time.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::RwLock;
use std::thread;

const ADDRESSES: u64 = 1_600_000;
const BLOCKS: usize = 19_000;
const BLOCK: u64 = 250;
const REFRESHES: usize = 16;

type Index = BTreeMap<u64, Box<[u32; 4]>>;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn make_index(version: u32) -> Index {
    (0..ADDRESSES).map(|key| (key * 7, Box::new([key as u32 % 97, 3, version, 1]))).collect()
}

/// The place of each address of a block; what the version says is the same in all of them.
#[inline(never)]
fn look_up(index: &Index, block: usize) -> u64 {
    let mut sum = 0;
    for step in 0..BLOCK {
        let key = (block as u64 * BLOCK + step) * 7919 % (ADDRESSES * 7);
        if let Some((known, place)) = index.range(key..).next() {
            sum += known % 1009 + u64::from(place[0] * place[1]);
        }
    }
    sum
}

fn read_blocks(index: &RwLock<Index>, next: &AtomicUsize) -> u64 {
    let mut sum = 0;
    loop {
        let block = next.fetch_add(1, Ordering::Relaxed);
        if block >= BLOCKS {
            return sum;
        }
        sum += look_up(&index.read().unwrap(), block);
    }
}

#[inline(never)]
fn refresh(index: &RwLock<Index>, version: u32) {
    let made = make_index(version);
    *index.write().unwrap() = made; // FAULT: the old index is taken apart while readers are locked out
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let index = RwLock::new(make_index(0));
    let next = AtomicUsize::new(0);
    let total: u64 = thread::scope(|scope| {
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(|| read_blocks(&index, &next))).collect();
        for version in 1..=REFRESHES {
            refresh(&index, version as u32);
        }
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    });
    println!("{total}");
}
