//! Threads add readings to the histories of meters, which lie in shards with a lock each.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const SHARDS: u64 = 64;
const METERS: u64 = 3000;
const BATCH: usize = 500;

struct History {
    readings: u32,
    recent: [f64; 64],
    mean: f64,
}

impl Default for History {
    fn default() -> Self {
        Self { readings: 0, recent: [0.0; 64], mean: 0.0 }
    }
}

struct Histories {
    shards: Vec<Mutex<HashMap<u64, History>>>,
}

impl Histories {
    fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, meter: u64) -> &Mutex<HashMap<u64, History>> {
        &self.shards[((meter >> 8) % SHARDS) as usize]
    }

    #[inline(never)]
    fn add(&self, meter: u64, value: f64) {
        let mut shard = self.shard(meter).lock().unwrap();
        let history = shard.entry(meter).or_default();
        history.recent[history.readings as usize % 64] = value;
        history.readings += 1;
        history.mean += (middle(history.recent) - history.mean) / f64::from(history.readings);
    }

    fn mean(&self) -> f64 {
        let shards = self.shards.iter().map(|shard| shard.lock().unwrap());
        let all: f64 = shards.map(|shard| shard.values().map(|history| history.mean).sum::<f64>()).sum();
        all / METERS as f64
    }
}

fn middle(mut values: [f64; 64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    (values[31] + values[32]) / 2.0
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// Readings come as text; the number of a meter has its kind in the lowest byte, which is zero here.
#[inline(never)]
fn parse(number: usize) -> (u64, f64) {
    let meter = number as u64 * 7919 % METERS;
    let text = format!("{} {}.{}", meter << 8, number % 500, number % 7);
    let (meter, value) = text.split_once(' ').unwrap();
    (meter.parse().unwrap(), value.parse().unwrap())
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (readings, next, histories) = (1_200_000 * processors(), AtomicUsize::new(0), Histories::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let first = next.fetch_add(BATCH, Ordering::Relaxed);
                if first >= readings {
                    break;
                }
                for number in first..first + BATCH {
                    let (meter, value) = parse(number);
                    histories.add(meter, value);
                }
            });
        }
    });
    println!("{:.1}", histories.mean());
}
