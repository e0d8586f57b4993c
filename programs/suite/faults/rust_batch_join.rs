//! Pictures of different sizes are scaled by threads; as many as there are threads at a time.

use std::num::NonZero;
use std::thread;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// Every so many pictures there is a large one.
fn rows_of(picture: usize) -> u64 {
    if picture * 7919 % 5 < 2 { 60 } else { 8 + (picture * 31 % 5) as u64 }
}

#[inline(never)]
fn scale(picture: usize) -> f64 {
    let mut value = picture as f64;
    for _ in 0..rows_of(picture) * 24_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn scale_all(pictures: &[usize], threads: usize) -> f64 {
    let mut sum = 0.0;
    for batch in pictures.chunks(threads) {
        sum += thread::scope(|scope| {
            let running: Vec<_> = batch.iter().map(|&picture| scope.spawn(move || scale(picture))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).sum::<f64>() // FAULT: waits for the last
        });
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let pictures: Vec<usize> = (0..140 * processors()).collect();
    println!("{:.3}", scale_all(&pictures, threads));
}
