//! Scoped threads, each with an equal chunk of a vector.

use std::num::NonZero;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn smooth(chunk: &mut [f64]) {
    for _ in 0..380 {
        let mut last = chunk[0];
        for value in chunk.iter_mut() {
            *value = (*value * 0.75 + last * 0.25 + 0.001).sqrt();
            last = *value;
        }
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let mut values: Vec<f64> = (0..processors() * 400_000).map(|i| (i % 1000) as f64).collect();
    let size = values.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for chunk in values.chunks_mut(size) {
            scope.spawn(move || smooth(chunk));
        }
    });
    println!("{:.6}", values.iter().sum::<f64>() / values.len() as f64);
}
