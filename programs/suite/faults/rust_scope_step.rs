//! A wire is heated step by step; in each step all threads have even parts of its cells.

use std::num::NonZero;
use std::thread;

const CELLS: usize = 16_000;
const STEPS: usize = 5000;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn heat(part: &mut [f64], old: &[f64], first: usize) {
    for (number, cell) in part.iter_mut().enumerate() {
        let at = first + number;
        let left = old[at.saturating_sub(1)];
        let right = old[(at + 1).min(old.len() - 1)];
        *cell = ((old[at] * 2.0 + left + right) * 0.25 + 0.01).sqrt() + 0.1;
    }
}

#[inline(never)]
fn step(new: &mut [f64], old: &[f64], threads: usize) {
    let share = new.len().div_ceil(threads);
    thread::scope(|scope| { // FAULT: threads are started, and ended again, for some microseconds of work
        for (number, part) in new.chunks_mut(share).enumerate() {
            scope.spawn(move || heat(part, old, number * share));
        }
    });
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let cells = CELLS * processors();
    let mut old: Vec<f64> = (0..cells).map(|cell| (cell % 101) as f64).collect();
    let mut new = vec![0.0; cells];
    for _ in 0..STEPS {
        step(&mut new, &old, threads);
        std::mem::swap(&mut old, &mut new);
    }
    println!("{:.6}", old.iter().sum::<f64>());
}
