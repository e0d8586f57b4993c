//! The main thread hands out rounds of jobs to workers by channels and collects what they send back.

use std::num::NonZero;
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn evaluate(job: u64) -> f64 {
    let mut value = job as f64;
    for _ in 0..500_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn next_job(jobs: &Receiver<u64>) -> Option<u64> {
    loop {
        match jobs.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Empty) => thread::sleep(Duration::from_millis(6)), // FAULT: looks now and then
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

fn work(jobs: Receiver<u64>, results: Sender<f64>) {
    while let Some(job) = next_job(&jobs) {
        results.send(evaluate(job)).unwrap();
    }
}

/// What one round finds is where the next begins, so that it has to be complete.
#[inline(never)]
fn search(workers: &[Sender<u64>], results: &Receiver<f64>, rounds: u64) -> f64 {
    let mut best = 0.0;
    for round in 0..rounds {
        for (number, worker) in workers.iter().enumerate() {
            worker.send(round * 31 + number as u64 + best as u64).unwrap();
        }
        best = results.iter().take(workers.len()).fold(0.0, f64::max);
    }
    best
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (sender, results) = channel();
    let (mut workers, mut running) = (Vec::new(), Vec::new());
    for _ in 0..threads {
        let (jobs, receiver) = channel();
        let sender = sender.clone();
        workers.push(jobs);
        running.push(thread::spawn(move || work(receiver, sender)));
    }
    println!("{:.3}", search(&workers, &results, 160));
    drop(workers);
    running.into_iter().for_each(|thread| thread.join().unwrap());
}
