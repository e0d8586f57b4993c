//! What appending an event takes in its long and in its short form, and how many bytes each needs.
//!
//! `cargo run --release -p proust-log --example append_cost`
//!
//! A thread waits for one lock after another, as many as the first column says; memory is touched before.

use std::time::Instant;

use proust_log::layout::MAX_CHUNK_BYTES;
use proust_log::records::Event;
use proust_log::shapes::{Shapes, Slot};
use proust_log::writer::{Chunk, Full, LaneWriter};

const EVENTS: u64 = 200_000;
const TURNS: usize = 15;
const CHUNKS: usize = 500;

/// Nanoseconds and bytes an event.
fn cost(memory: &mut [u64], locks: u64, is_short: bool) -> (f64, f64) {
    memory.fill(0);
    let start = memory.as_mut_ptr().cast::<u8>();
    let mut used = 0;
    let mut next = || {
        assert!((used + 1) * MAX_CHUNK_BYTES <= size_of_val(memory));
        used += 1;
        // SAFETY: checked above to be inside the memory.
        Chunk { start: unsafe { start.add((used - 1) * MAX_CHUNK_BYTES) }, bytes: MAX_CHUNK_BYTES }
    };
    // SAFETY: zero filled memory that no other lane uses.
    let mut writer = unsafe { LaneWriter::begin(0, next()) };
    let mut shapes = Shapes::none();
    let begin = Instant::now();
    for i in 0..EVENTS {
        let begin_ns = 1_000_000_000 + i * 20_000;
        let event = Event {
            begin_ns,
            end_ns: begin_ns + 5_000 + i % 997,
            object: 0x7f00_0000 + i % locks * 64,
            node: 12,
            processor: 1,
            ..Event::default()
        };
        loop {
            let written = if is_short {
                if let Some(slots) = shapes.wanted_slots() {
                    shapes.move_to(vec![Slot::default(); slots].leak());
                }
                writer.push_shaped(&mut shapes, 1, 0, &event)
            } else {
                writer.push(1, 0, &event)
            };
            match written {
                Ok(()) => break,
                // SAFETY: as above.
                Err(Full) => unsafe { writer.extend(next()) },
            }
        }
    }
    let ns = begin.elapsed().as_nanos() as f64;
    (ns / EVENTS as f64, (used * MAX_CHUNK_BYTES) as f64 / EVENTS as f64)
}

fn main() {
    let mut memory = vec![1_u64; CHUNKS * MAX_CHUNK_BYTES / 8];
    println!("{:>6} {:>12} {:>8} {:>12} {:>8}", "locks", "long, ns", "bytes", "short, ns", "bytes");
    for locks in [1, 30, 300, 1000, 5000] {
        let best = [false, true].map(|is_short| {
            let turns: Vec<(f64, f64)> = (0..TURNS).map(|_| cost(&mut memory, locks, is_short)).collect();
            let ns = turns.iter().map(|turn| turn.0).fold(f64::INFINITY, f64::min);
            (ns, turns[0].1)
        });
        let [(long_ns, long_bytes), (short_ns, short_bytes)] = best;
        println!("{locks:>6} {long_ns:>12.1} {long_bytes:>8.1} {short_ns:>12.1} {short_bytes:>8.1}");
    }
}
