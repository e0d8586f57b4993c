//! Workers take documents from a common list until it is empty, and index them.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn index(document: u64) -> f64 {
    let mut value = document as f64;
    for _ in 0..80_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn tokenize(document: u64) -> u64 {
    let mut hash = document + 1;
    for _ in 0..150_000 {
        hash = (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash % 1000
}

#[inline(never)]
fn index_all(documents: &Mutex<Vec<u64>>) -> f64 {
    let mut sum = 0.0;
    while let Some(document) = documents.lock().unwrap().pop() { // FAULT: locked until the end of the body
        sum += index(document);
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let count = 800 * processors() as u64;
    let tokens: Vec<u64> = thread::scope(|scope| {
        let bounds = |thread: u64| count * thread / threads as u64;
        let running: Vec<_> = (0..threads as u64)
            .map(|thread| (bounds(thread), bounds(thread + 1)))
            .map(|(first, last)| scope.spawn(move || (first..last).map(tokenize).collect::<Vec<_>>()))
            .collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let documents = Mutex::new(tokens);
    let sum: f64 = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(|| index_all(&documents))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{sum:.3}");
}
