//! What an uncontended lock of Rust's standard library costs: `{"ns": median per lock and unlock}`.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

fn main() {
    const PAIRS: u32 = 20_000;
    let mutex = Mutex::new(0_u64);
    let mut batches: Vec<f64> = (0..500)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..PAIRS {
                *black_box(&mutex).lock().unwrap() += 1;
            }
            begin.elapsed().as_nanos() as f64 / f64::from(PAIRS)
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    println!("{{\"ns\":{:.3}}}", batches[batches.len() / 2]);
}
