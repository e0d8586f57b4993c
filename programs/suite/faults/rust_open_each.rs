//! Threads measure and keep what they find in a file of their own for each of the stations.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZero;
use std::thread;

const STATIONS: u64 = 4;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

fn path(worker: usize, station: u64) -> String {
    format!("station-{worker}-{station}")
}

#[inline(never)]
fn measure(reading: u64) -> f64 {
    let mut value = reading as f64;
    for _ in 0..300 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn keep(worker: usize, reading: u64, value: f64) {
    let path = path(worker, reading % STATIONS);
    let mut file = OpenOptions::new().append(true).open(path).unwrap(); // FAULT: opened for each line
    file.write_all(format!("{reading} {value:.6}\n").as_bytes()).unwrap();
}

fn work(worker: usize, readings: u64) -> f64 {
    let mut sum = 0.0;
    for station in 0..STATIONS {
        File::create(path(worker, station)).unwrap();
    }
    for reading in 0..readings {
        let value = measure(reading);
        keep(worker, reading, value);
        sum += value;
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let readings = 220_000 * processors() as u64 / threads as u64;
    let running: Vec<_> = (0..threads).map(|worker| thread::spawn(move || work(worker, readings))).collect();
    let sum: f64 = running.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{sum:.3}");
}
