//! Parcels are looked up by many readers in an index, which is made anew from time to time.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::RwLock;
use std::thread;

const SLOTS: usize = 1_000_003;
const PARCELS: usize = 900_000;
const BLOCKS: usize = 28_000;
const BLOCK: usize = 200;
const REFRESHES: usize = 6;
const WAYPOINTS: usize = 40;

struct Parcel {
    number: u64,
    place: [u32; 6],
    version: u32,
}

type Index = Vec<Option<Box<Parcel>>>;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// In the order in which they have come; their numbers are all over the place.
#[inline(never)]
fn make_index(version: u32) -> Index {
    let mut index = Index::new();
    index.resize_with(SLOTS, || None);
    for came in 0..PARCELS {
        let number = (came * 7919 % SLOTS) as u64;
        index[number as usize] = Some(Box::new(Parcel { number, place: [came as u32 % 97; 6], version }));
    }
    index
}

/// How far a parcel has to go from a place to its own, by steps.
fn way(place: &[u32; 6], step: usize) -> u64 {
    let mut value = step as u64;
    for round in 0..WAYPOINTS {
        value = (value * 31 + u64::from(place[round % 6])) % 1_000_033;
    }
    value
}

/// Sums up the ways of the parcels of a block, which are the same in all versions.
#[inline(never)]
fn look_up(index: &Index, block: usize) -> u64 {
    let mut sum = 0;
    for step in 0..BLOCK {
        if let Some(parcel) = &index[(block * BLOCK + step) * 104_729 % SLOTS] {
            debug_assert!(parcel.version as usize <= REFRESHES);
            sum += parcel.number % 1009 + way(&parcel.place, step);
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
