//! Frames of a film are coded by workers, which get them through channels, by turns.

use std::num::NonZero;
use std::sync::mpsc::{channel, Receiver};
use std::thread;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// Every other frame is a whole picture; those between have only what moves.
#[inline(never)]
fn code(frame: usize) -> f64 {
    let rounds = if frame % 2 == 0 { 240_000 } else { 60_000 };
    let mut value = frame as f64;
    for _ in 0..rounds {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

fn work(frames: Receiver<usize>) -> f64 {
    frames.iter().map(code).sum()
}

#[inline(never)]
fn code_all(frames: usize, threads: usize) -> f64 {
    let (mut workers, mut running) = (Vec::new(), Vec::new());
    for _ in 0..threads {
        let (sender, receiver) = channel();
        workers.push(sender);
        running.push(thread::spawn(move || work(receiver)));
    }
    for frame in 0..frames {
        workers[frame % threads].send(frame).unwrap(); // FAULT: the first gets all that take long
    }
    drop(workers);
    running.into_iter().map(|thread| thread.join().unwrap()).sum()
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    println!("{:.3}", code_all(600 * processors(), threads));
}
