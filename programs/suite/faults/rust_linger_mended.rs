//! Sessions compute entries of a ledger and wait until the writer has them in its file.

use std::fs::File;
use std::io::Write;
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

const ENTRIES: usize = 700;
const BATCH: usize = 64;

struct Request {
    line: String,
    written: Sender<()>,
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn balance(mut value: f64) -> f64 {
    for _ in 0..120_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

/// Some requests, so that they are written at once; none when all sessions have ended.
#[inline(never)]
fn next_batch(requests: &Receiver<Request>) -> Option<Vec<Request>> {
    let mut batch = vec![requests.recv().ok()?];
    while batch.len() < BATCH {
        let Ok(request) = requests.try_recv() else { break };
        batch.push(request);
    }
    Some(batch)
}

#[inline(never)]
fn write_all(requests: &Receiver<Request>, mut ledger: File) -> usize {
    let mut bytes = 0;
    while let Some(batch) = next_batch(requests) {
        let text: String = batch.iter().map(|request| request.line.as_str()).collect();
        ledger.write_all(text.as_bytes()).unwrap();
        bytes += text.len();
        for request in batch {
            request.written.send(()).unwrap();
        }
    }
    bytes
}

fn enter(first: usize, step: usize, to_writer: Sender<Request>) {
    let (written, is_written) = mpsc::channel();
    for number in (first..ENTRIES).step_by(step) {
        let line = format!("{number:6} {:12.6}\n", balance(number as f64));
        to_writer.send(Request { line, written: written.clone() }).unwrap();
        is_written.recv().unwrap();
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let folder = std::env::args().nth(2).unwrap_or_else(|| ".".into());
    let ledger = File::create(format!("{folder}/ledger")).unwrap();
    let (to_writer, requests) = mpsc::channel();
    thread::scope(|scope| {
        let writer = scope.spawn(move || write_all(&requests, ledger));
        for first in 0..threads {
            let to_writer = to_writer.clone();
            scope.spawn(move || enter(first, threads, to_writer));
        }
        drop(to_writer);
        println!("{} bytes", writer.join().unwrap());
    });
}
