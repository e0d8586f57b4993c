//! Threads measure and keep what they find in a file of their own for each of the stations.

use std::fs::File;
use std::io::{BufWriter, Write};
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
fn keep(files: &mut [BufWriter<File>], reading: u64, value: f64) {
    writeln!(files[(reading % STATIONS) as usize], "{reading} {value:.6}").unwrap();
}

fn work(worker: usize, readings: u64) -> f64 {
    let mut sum = 0.0;
    let create = |station| BufWriter::new(File::create(path(worker, station)).unwrap());
    let mut files: Vec<_> = (0..STATIONS).map(create).collect();
    for reading in 0..readings {
        let value = measure(reading);
        keep(&mut files, reading, value);
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
