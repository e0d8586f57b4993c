//! A cache behind a mutex, whose guard lives until the value that was missing has been computed.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Mutex;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn expensive(key: u64) -> f64 {
    let mut value = key as f64;
    for _ in 0..60_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn cached(cache: &Mutex<HashMap<u64, f64>>, key: u64) -> f64 {
    let mut known = cache.lock().unwrap();
    *known.entry(key).or_insert_with(|| expensive(key)) // FAULT: computed while the lock is held
}

#[inline(never)]
fn evaluate(value: f64) -> f64 {
    let mut value = value;
    for _ in 0..12_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads: u64 = if asked > 0 { asked } else { processors() as u64 };
    let cache = Mutex::new(HashMap::new());
    let sums: Vec<f64> = std::thread::scope(|scope| {
        let team: Vec<_> = (0..threads)
            .map(|number| {
                let cache = &cache;
                let keys = (0..2400 / threads).map(move |i| i * threads + number);
                scope.spawn(move || keys.map(|key| evaluate(cached(cache, key))).sum())
            })
            .collect();
        team.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{:.3}", sums.iter().sum::<f64>());
}
