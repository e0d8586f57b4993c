//! Documents go through bounded channels: one thread makes them, many code them, and one writes blocks.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZero;
use std::sync::{mpsc, Mutex};
use std::thread;

const SIZE: usize = 16_384;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn code(document: &mut [u8]) {
    for round in 0..12u8 {
        let mut last = round;
        for byte in document.iter_mut() {
            last = last.rotate_left(3).wrapping_mul(31).wrapping_add(*byte);
            *byte ^= last;
        }
    }
}

#[inline(never)]
fn read(number: usize) -> Vec<u8> {
    vec![number as u8; SIZE]
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let path = std::env::args().nth(2).unwrap_or_else(|| "coded".into());
    let threads = if asked > 0 { asked } else { processors() };
    let documents = 3000 * processors();
    let (read_to, to_code) = mpsc::sync_channel::<Vec<u8>>(64);
    let (coded_to, to_write) = mpsc::sync_channel::<Vec<u8>>(64);
    let to_code = Mutex::new(to_code);
    let sum = thread::scope(|scope| {
        scope.spawn(move || (0..documents).for_each(|number| read_to.send(read(number)).unwrap()));
        for _ in 0..threads {
            let (to_code, coded_to) = (&to_code, coded_to.clone());
            scope.spawn(move || loop {
                let taken = to_code.lock().unwrap().recv();
                let Ok(mut document) = taken else { break };
                code(&mut document);
                coded_to.send(document).unwrap();
            });
        }
        drop(coded_to);
        let mut file = BufWriter::with_capacity(1 << 18, File::create(path).unwrap());
        let mut sum = 0;
        for document in to_write {
            sum += document[SIZE - 1] as usize;
            file.write_all(&document[..SIZE / 8]).unwrap();
        }
        sum
    });
    println!("{sum}");
}
