//! Ridges of many landscapes are found: threads take the next landscape, and each keeps its own sums.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const LANDSCAPES: usize = 800;
const SIDE: usize = 192;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn raise(landscape: usize, heights: &mut [f32]) {
    let mut state = 88172645463325252u64 + landscape as u64 * 7919;
    for height in heights.iter_mut() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *height = (state % 1000) as f32;
    }
}

#[inline(never)]
fn wear(from: &[f32], to: &mut [f32]) {
    for row in 1..SIDE - 1 {
        for column in 1..SIDE - 1 {
            let here = row * SIDE + column;
            let around = from[here - 1] + from[here + 1] + from[here - SIDE] + from[here + SIDE];
            to[here] = from[here] + 0.2 * (around - 4.0 * from[here]);
        }
    }
}

#[inline(never)]
fn ridges(heights: &[f32]) -> usize {
    let is_ridge = |&here: &usize| heights[here] > heights[here - 1] && heights[here] > heights[here + 1];
    (1..heights.len() - 1).filter(is_ridge).count()
}

fn work(next: &AtomicUsize) -> usize {
    let (mut heights, mut worn) = (vec![0.0; SIDE * SIDE], vec![0.0; SIDE * SIDE]);
    let mut found = 0;
    loop {
        let landscape = next.fetch_add(1, Ordering::Relaxed);
        if landscape >= LANDSCAPES {
            return found;
        }
        raise(landscape, &mut heights);
        worn.copy_from_slice(&heights);
        for _ in 0..90 {
            wear(&heights, &mut worn);
            wear(&worn, &mut heights);
        }
        found += ridges(&heights);
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let next = AtomicUsize::new(0);
    let found: usize = thread::scope(|scope| {
        let team: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&next))).collect();
        team.into_iter().map(|member| member.join().unwrap()).sum()
    });
    println!("{found}");
}
