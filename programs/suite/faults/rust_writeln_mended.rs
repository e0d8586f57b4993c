//! Threads compute measurements and write them to a file of their own, line by line.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZero;
use std::thread;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn measure(number: usize) -> f64 {
    let mut value = number as f64;
    for _ in 0..250 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn write_report(name: &str, first: usize, last: usize) -> io::Result<f64> {
    let (mut file, mut sum) = (BufWriter::new(File::create(name)?), 0.0);
    for number in first..last {
        let value = measure(number);
        writeln!(file, "{number} {value:.6}")?;
        sum += value;
    }
    file.flush()?;
    Ok(sum)
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let numbers = processors() * 300_000;
    let running: Vec<_> = (0..threads)
        .map(|thread| {
            let (first, last) = (numbers * thread / threads, numbers * (thread + 1) / threads);
            thread::spawn(move || write_report(&format!("report{thread}"), first, last))
        })
        .collect();
    let sum: f64 = running.into_iter().map(|thread| thread.join().unwrap().unwrap()).sum();
    println!("{sum:.3}");
}
