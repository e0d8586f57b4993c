//! Chunks of a vector for scoped threads, sized so that what remains all goes to the last.

use std::num::NonZero;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn simulate(particles: &mut [f64]) {
    for particle in particles.iter_mut() {
        for _ in 0..200 {
            *particle = (*particle * 1.0000001 + 0.75).sqrt() + 0.1;
        }
    }
}

#[inline(never)]
fn step_all(particles: &mut [f64], threads: usize) {
    let size = particles.len() * 2 / (3 * threads);
    let (even, rest) = particles.split_at_mut(size * (threads - 1));
    std::thread::scope(|scope| {
        for chunk in even.chunks_mut(size) {
            scope.spawn(move || simulate(chunk));
        }
        scope.spawn(move || simulate(rest)); // FAULT: the last thread has twice as much or more
    });
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let mut particles: Vec<f64> = (0..processors() * 20_000).map(|i| i as f64).collect();
    for _ in 0..20 {
        step_all(&mut particles, threads);
    }
    println!("{:.6}", particles[0]);
}
