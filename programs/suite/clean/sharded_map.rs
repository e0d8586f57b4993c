//! Threads count pairs of numbers in a map of many shards, each with a lock of its own that is held briefly.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Mutex;

const SHARDS: u64 = 256;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn key_of(number: u64) -> u64 {
    let mut hash = number + 1;
    for _ in 0..1500 {
        hash = (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash
}

#[inline(never)]
fn count(shards: &[Mutex<HashMap<u64, u64>>], key: u64) {
    let mut shard = shards[(key % SHARDS) as usize].lock().unwrap();
    *shard.entry(key / SHARDS % 200).or_insert(0) += 1;
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let numbers = processors() as u64 * 500_000;
    let shards: Vec<_> = (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect();
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let shards = &shards;
            let last = numbers * (thread + 1) / threads as u64;
            scope.spawn(move || {
                for number in numbers * thread / threads as u64..last {
                    count(shards, key_of(number));
                }
            });
        }
    });
    let most = shards.iter().map(|shard| shard.lock().unwrap().values().copied().max().unwrap_or(0)).max();
    println!("{}", most.unwrap_or(0));
}
