//! Workers take batches of numbers by an atomic counter and send one result for each batch through a channel.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

const BATCH: usize = 2000;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn steps_of(number: u64) -> u32 {
    let (mut value, mut steps) = (number, 0);
    while value != 1 {
        value = if value % 2 == 0 { value / 2 } else { 3 * value + 1 };
        steps += 1;
    }
    steps
}

#[inline(never)]
fn longest(batch: usize) -> (u32, u64) {
    let first = (batch * BATCH) as u64 + 1;
    (first..first + BATCH as u64).map(|number| (steps_of(number), number)).max().unwrap()
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (batches, next) = (processors() * 2200, AtomicUsize::new(0));
    let (sender, receiver) = mpsc::channel();
    let best = thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || loop {
                let batch = next.fetch_add(1, Ordering::Relaxed);
                if batch >= batches {
                    break;
                }
                sender.send(longest(batch)).unwrap();
            });
        }
        drop(sender);
        receiver.iter().max().unwrap()
    });
    println!("{} {}", best.0, best.1);
}
