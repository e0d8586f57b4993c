//! A thread for each part of a picture, but each is joined before the next is started.

use std::num::NonZero;
use std::thread;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn render(part: usize, parts: usize) -> f64 {
    let lines = 480 * processors() / parts;
    (part * lines..(part + 1) * lines).map(|line| shade(line as f64)).sum()
}

#[inline(never)]
fn shade(line: f64) -> f64 {
    let mut value = line;
    for _ in 0..25_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn render_frame(parts: usize) -> f64 {
    let mut sum = 0.0;
    for part in 0..parts {
        let thread = thread::spawn(move || render(part, parts));
        sum += thread.join().unwrap(); // FAULT: awaited before the next one is started
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let parts = if asked > 0 { asked } else { processors() };
    println!("{:.6}", (0..8).map(|_| render_frame(parts)).sum::<f64>());
}
