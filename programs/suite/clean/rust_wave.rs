//! A wave on a plate: threads own bands of rows of equal cost and meet at a barrier after each step.

use std::num::NonZero;
use std::sync::{Barrier, RwLock};
use std::thread;

const WIDTH: usize = 1200;
const HEIGHT: usize = 1200;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// One row of the next state, from three rows of this one and the row before.
#[inline(never)]
fn step_row(above: &[f32], here: &[f32], below: &[f32], row: &mut [f32]) {
    for x in 1..WIDTH - 1 {
        let around = above[x] + below[x] + here[x - 1] + here[x + 1] - 4.0 * here[x];
        let next = 2.0 * here[x] - row[x] + 0.2 * around;
        row[x] = next / (1.0 + 0.001 * next.abs());
    }
}

type Rows = Vec<RwLock<Vec<f32>>>;

fn band(states: &[Rows; 2], first: usize, last: usize, steps: usize, barrier: &Barrier) {
    for step in 0..steps {
        let (from, to) = (&states[step % 2], &states[(step + 1) % 2]);
        for y in first.max(1)..last.min(HEIGHT - 1) {
            let (above, here) = (from[y - 1].read().unwrap(), from[y].read().unwrap());
            step_row(&above, &here, &from[y + 1].read().unwrap(), &mut to[y].write().unwrap());
        }
        barrier.wait();
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let rows = || (0..HEIGHT).map(|_| RwLock::new(vec![0.0; WIDTH])).collect::<Rows>();
    let (states, barrier) = ([rows(), rows()], Barrier::new(threads));
    states[0][HEIGHT / 2].write().unwrap()[WIDTH / 2] = 1000.0;
    thread::scope(|scope| {
        for number in 0..threads {
            let (states, barrier) = (&states, &barrier);
            let (first, last) = (HEIGHT * number / threads, HEIGHT * (number + 1) / threads);
            scope.spawn(move || band(states, first, last, 800 * processors(), barrier));
        }
    });
    let sum_of = |row: &RwLock<Vec<f32>>| row.read().unwrap().iter().map(|&x| x as f64).sum::<f64>();
    let sum: f64 = states[0].iter().map(sum_of).sum();
    println!("{sum:.1}");
}
